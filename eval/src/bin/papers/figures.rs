//! The papers' figures, as printed.

/// Pools that are at hand.
pub(crate) const POOLS: [&str; 4] = ["MF", "IS", "LS", "PD"];

/// Values of K of Table VI; 0 stands for all.
pub(crate) const NEIGHBOURS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 0];
/// Values of T of Tables VII and VIII.
pub(crate) const STEPS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Table V: microclusters and links.
pub(crate) const GRAPHS: [[f64; 2]; 4] =
    [[242.0, 12_978.0], [297.0, 19_778.0], [1_064.0, 219_753.0], [1_095.0, 208_146.0]];

/// Table VI: share of preserved links, in percent.
pub(crate) const PRESERVED: [[f64; 8]; 4] = [
    [2.4, 3.4, 6.6, 11.4, 21.1, 43.5, 82.1, 100.0],
    [2.0, 3.2, 5.9, 10.5, 19.4, 37.9, 70.1, 100.0],
    [0.8, 1.1, 2.3, 3.8, 6.9, 12.4, 23.9, 100.0],
    [0.9, 1.2, 2.4, 4.0, 7.1, 13.5, 28.1, 100.0],
];

/// Tables VII (PTA) and VIII (PTGP): K varied at T = 10, then T varied at K = 10.
pub(crate) const SWEEPS: [[[[f64; 8]; 2]; 4]; 2] = [
    [
        [
            [0.585, 0.597, 0.630, 0.627, 0.605, 0.560, 0.538, 0.535],
            [0.613, 0.617, 0.619, 0.620, 0.620, 0.620, 0.619, 0.615],
        ],
        [
            [0.574, 0.612, 0.632, 0.615, 0.595, 0.592, 0.610, 0.609],
            [0.613, 0.616, 0.611, 0.612, 0.611, 0.612, 0.611, 0.612],
        ],
        [
            [0.599, 0.595, 0.615, 0.618, 0.621, 0.612, 0.586, 0.539],
            [0.600, 0.613, 0.618, 0.620, 0.620, 0.627, 0.632, 0.637],
        ],
        [
            [0.714, 0.715, 0.757, 0.765, 0.761, 0.735, 0.698, 0.678],
            [0.722, 0.759, 0.768, 0.765, 0.762, 0.762, 0.761, 0.760],
        ],
    ],
    [
        [
            [0.609, 0.610, 0.627, 0.621, 0.596, 0.536, 0.499, 0.495],
            [0.619, 0.617, 0.619, 0.616, 0.610, 0.607, 0.599, 0.597],
        ],
        [
            [0.610, 0.615, 0.623, 0.616, 0.589, 0.582, 0.603, 0.594],
            [0.615, 0.618, 0.614, 0.611, 0.613, 0.611, 0.608, 0.616],
        ],
        [
            [0.604, 0.607, 0.615, 0.623, 0.623, 0.621, 0.586, 0.505],
            [0.615, 0.616, 0.616, 0.615, 0.626, 0.629, 0.631, 0.631],
        ],
        [
            [0.746, 0.747, 0.759, 0.762, 0.756, 0.727, 0.696, 0.649],
            [0.749, 0.751, 0.759, 0.765, 0.766, 0.761, 0.760, 0.758],
        ],
    ],
];

/// A method of Table IX: its name there, ours, and the parameters of its published form.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) ours: &'static str,
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    /// Best k and true k for each pool; NaN where the paper has none.
    pub(crate) paper: [[f64; 2]; 4],
    /// Where ours is not the paper's to the letter.
    pub(crate) cause: &'static str,
}

const CL: (&str, &str) = ("linkage", "complete");
const SL: (&str, &str) = ("linkage", "single");
const COMPLETED: &str =
    "its thresholds and C are not printed in the paper; ours follow the ensemble";
const SCALED: &str = "";
const NONE: [f64; 2] = [f64::NAN; 2];

macro_rules! methods {
    ($($name:literal $ours:literal $parameters:expr, $paper:expr, $cause:expr;)*) => {
        &[$(Method {
            name: $name, ours: $ours, parameters: $parameters, paper: $paper, cause: $cause,
        }),*]
    };
}

/// Table IX.
pub(crate) const METHODS: &[Method] = methods! {
    "PTA-AL" "pta-al" &[("published", "true")],
        [[0.631, 0.614], [0.623, 0.607], [0.626, 0.622], [0.757, 0.732]],
        "";
    "PTA-CL" "pta-cl" &[("published", "true")],
        [[0.629, 0.611], [0.620, 0.609], [0.595, 0.584], [0.749, 0.733]],
        "";
    "PTA-SL" "pta-sl" &[("published", "true")],
        [[0.612, 0.522], [0.616, 0.521], [0.552, 0.114], [0.700, 0.445]],
        "";
    "PTGP" "ptgp" &[("published", "true")],
        [[0.626, 0.613], [0.625, 0.611], [0.627, 0.625], [0.755, 0.738]],
        "";
    "CSPA" "cspa" &[],
        [[0.597, 0.591], [0.605, 0.605], [0.511, 0.475], [0.669, 0.661]],
        "spectral cut; the paper's is METIS, whose balance suits equal classes";
    "HGPA" "hgpa" &[("cut", "hypergraph")],
        [[0.485, 0.231], [0.500, 0.457], [0.406, 0.324], [0.584, 0.193]],
        "our hypergraph cut; HMETIS is not free";
    "MCLA" "mcla" &[],
        [[0.617, 0.596], [0.623, 0.609], [0.550, 0.518], [0.699, 0.676]],
        "spectral cut of the meta-graph; the paper's is METIS";
    "CSPA, METIS" "cspa" &[("cut", "metis")],
        [[0.597, 0.591], [0.605, 0.605], [0.511, 0.475], [0.669, 0.661]],
        "the published cut";
    "HGPA, METIS" "hgpa" &[("cut", "metis")],
        [[0.485, 0.231], [0.500, 0.457], [0.406, 0.324], [0.584, 0.193]],
        "METIS on a graph with a node for each hyperedge; the paper's is HMETIS";
    "MCLA, METIS" "mcla" &[("cut", "metis")],
        [[0.617, 0.596], [0.623, 0.609], [0.550, 0.518], [0.699, 0.676]],
        "the published cut; unknown what else differs on LS and PD";
    "SRW, seeds as published" "srw" &[("seeds", "agreement")],
        [[0.468, 0.197], [0.509, 0.175], [0.434, 0.124], [0.469, 0.109]],
        "the least size of a region is not printed in the paper: 5 objects here";
    "SRW" "srw" &[],
        [[0.468, 0.197], [0.509, 0.175], [0.434, 0.124], [0.469, 0.109]],
        "unknown; seeds are ours (groups of average linkage)";
    "GP-MGLA" "gp-mgla" &[],
        [[0.618, 0.604], [0.613, 0.608], [0.615, 0.607], [0.754, 0.731]],
        "";
    "EAC-AL" "eac-al" &[],
        [[0.603, 0.578], [0.612, 0.605], [0.596, 0.569], [0.740, 0.699]],
        "";
    "EAC-CL" "eac-cl" &[],
        [[0.572, 0.508], [0.622, 0.442], [0.459, 0.282], [0.615, 0.382]],
        "a guess: ties are broken in another order";
    "EAC-SL" "eac-sl" &[],
        [[0.531, 0.173], [0.542, 0.413], [0.079, 0.002], [0.367, 0.013]],
        "a guess: ties, as above";
    "SRS-AL" "srs-al" &[],
        [[0.613, 0.584], [0.614, 0.603], [0.603, 0.583], NONE],
        SCALED;
    "SRS-CL" "srs-al" &[CL],
        [[0.587, 0.547], [0.625, 0.585], [0.536, 0.453], NONE],
        SCALED;
    "SRS-SL" "srs-al" &[SL],
        [[0.484, 0.189], [0.579, 0.358], [0.065, 0.001], NONE],
        SCALED;
    "WCT-AL" "wct-al" &[],
        [[0.605, 0.579], [0.617, 0.606], [0.617, 0.603], [0.752, 0.695]],
        SCALED;
    "WCT-CL" "wct-al" &[CL],
        [[0.579, 0.546], [0.634, 0.612], [0.540, 0.459], [0.694, 0.621]],
        SCALED;
    "WCT-SL" "wct-al" &[SL],
        [[0.596, 0.247], [0.599, 0.415], [0.213, 0.002], [0.575, 0.015]],
        SCALED;
    "ECMC-AL" "ecmc-al" &[("entries", "true")],
        [[0.588, 0.333], [0.593, 0.277], [0.584, 0.018], NONE],
        COMPLETED;
    "ECMC-CL" "ecmc-al" &[("entries", "true"), CL],
        [[0.591, 0.520], [0.560, 0.411], [0.402, 0.204], NONE],
        COMPLETED;
    "ECMC-SL" "ecmc-al" &[("entries", "true"), SL],
        [[0.416, 0.166], [0.560, 0.200], [0.071, 0.001], NONE],
        COMPLETED;
    "WEAC-AL" "weac-al" &[],
        [[0.606, 0.583], [0.610, 0.605], [0.608, 0.596], [0.751, 0.716]],
        "";
    "WEAC-CL" "weac-al" &[CL],
        [[0.581, 0.520], [0.618, 0.431], [0.456, 0.235], [0.606, 0.349]],
        "";
    "WEAC-SL" "weac-al" &[SL],
        [[0.602, 0.268], [0.605, 0.417], [0.228, 0.002], [0.609, 0.029]],
        "";
};
