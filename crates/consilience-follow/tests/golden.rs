//! States and clusterings keep their bits.

use consilience_conformance::planted;
use consilience_core::{
    BaseClusterer, Features, Fit, Observer, Pair, Partition, Report, Result, Seed,
};
use consilience_follow::{
    AdditiveUpdate, ExactUpdate, MemberGrowth, MultiplicativeUpdate, PairLoss, UpdateRule, Updater,
    UpdaterSetup,
};
use consilience_num::kmeans::{self, KMeansOptions};
use ndarray::Array2;

struct Means;

impl BaseClusterer for Means {
    fn name(&self) -> &'static str {
        "means"
    }

    fn fit(
        &self,
        x: Features<'_>,
        k: usize,
        seed: Seed,
        _: &dyn Observer,
    ) -> Result<Fit<Partition>> {
        let Features::F64(x) = x else { panic!("double precision is wanted") };
        let options = KMeansOptions { seed: seed.0, ..KMeansOptions::new(k) };
        let fit = kmeans::fit(x, None, &options, &mut |_| true);
        Ok(Fit::new(Partition::from_labels(&fit.assignment)?, Report::default()))
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn links(truth: &Partition, count: usize, seed: u64) -> Vec<Pair> {
    let (mut draw, n) = (Seed(seed).stream(), truth.n_objects());
    (0..count)
        .map(|_| (draw.below(n), draw.below(n)))
        .map(|(i, j)| {
            if truth.label(i) == truth.label(j) {
                Pair::must_link(i, j)
            } else {
                Pair::cannot_link(i, j)
            }
        })
        .collect()
}

fn labels(p: &Partition) -> Vec<u8> {
    p.to_signed().into_iter().map(|l| l as u8).collect()
}

/// State after three batches, three read-outs, questions.
fn run(rule: UpdateRule, clusters: usize, missing: f64, grow: bool) -> [u64; 6] {
    let world = planted(Seed(3), &[50, 40, 30], 8, 0.5, missing).unwrap();
    let mut draw = Seed(4).stream();
    let x = Array2::from_shape_fn((120, 3), |(i, j)| {
        f64::from(u8::from(world.truth.label(i) == Some(j))) + 0.4 * draw.normal()
    });
    let setup = UpdaterSetup::new(clusters).rule(rule);
    let mut updater: Updater = setup.updater(world.ensemble.clone()).unwrap();
    for batch in 0..3 {
        updater.update(&links(&world.truth, 40, batch)).unwrap();
        if grow {
            updater.grow(x.view().into(), &MemberGrowth::new(Means).members(10), 0.2, &()).unwrap();
        }
    }
    let read = updater.read_out(&()).unwrap().output;
    let read = read.partition(updater.ensemble(), &()).unwrap();
    let asked = updater.next_questions(5, Seed(1)).unwrap();
    let asked: Vec<u8> = asked.pairs.iter().flat_map(|q| [q.i as u8, q.j as u8]).collect();
    [
        fnv(&updater.to_bytes()),
        fnv(&labels(&read)),
        fnv(&labels(&updater.by_weights().partition().unwrap())),
        fnv(&labels(&updater.by_weights().partition_by_kmeans(Seed(1), &()).unwrap().output)),
        fnv(&labels(&updater.consensus(clusters, Seed(1), &()).unwrap().output)),
        fnv(&asked),
    ]
}

/// As the first edition had them: the state, the read-outs by the metric, by weights, by k-means
/// and without alignment, and the questions.
const EXPECTED: [[u64; 6]; 12] = [
    [
        0x23bd_d00c_a171_4e94,
        0xa1bd_ffd9_2500_9330,
        0x30c4_e63c_128d_475a,
        0xdd70_cd76_28f5_2e23,
        0x4fb3_4273_6972_cba0,
        0x039c_74cd_900e_b3e9,
    ],
    [
        0x7d7c_f1ed_1750_c098,
        0x84cc_ea13_b10a_e7fb,
        0x0259_3a19_8f2c_fc4e,
        0xbd75_9ad3_2818_6ad3,
        0xe580_af71_8b6c_59e1,
        0xd010_437b_e28c_60a7,
    ],
    [
        0x7dc0_8282_2d15_1b5d,
        0xcfe8_39fc_d7fb_3e18,
        0xa2a0_4012_64ba_27d7,
        0xa2a0_4012_64ba_27d7,
        0x3934_f2c3_c8d3_d6c7,
        0x7488_8c3a_3d35_4b6a,
    ],
    [
        0xbfd5_ca6f_b8ee_de22,
        0xa1bd_ffd9_2500_9330,
        0xccd7_a211_1ff6_9654,
        0x01bf_0bd8_b747_5389,
        0x11c9_c7d1_aea9_24e7,
        0xbd76_968d_e21d_e009,
    ],
    [
        0x6286_fef1_8553_3049,
        0x84cc_ea13_b10a_e7fb,
        0x672e_0ba8_814c_24e2,
        0x92b2_cdfe_4503_c8ac,
        0xa30b_d37c_530e_26e9,
        0xa089_b8dd_6b79_dd05,
    ],
    [
        0x47a8_66f7_a352_0ca1,
        0xcfe8_39fc_d7fb_3e18,
        0xbc61_27e5_e4d9_02aa,
        0x602c_7872_c03c_7bac,
        0x3934_f2c3_c8d3_d6c7,
        0xb6ee_39a1_80a4_6ab0,
    ],
    [
        0x6b6e_47de_bd86_8993,
        0xa1bd_ffd9_2500_9330,
        0x9cce_4897_2982_d675,
        0x39d3_b95b_ea29_62e7,
        0x27fc_db47_0e72_ba4a,
        0x64f0_b082_84a6_d5c5,
    ],
    [
        0x9ad9_cb2d_35a1_e64b,
        0x84cc_ea13_b10a_e7fb,
        0xb875_3124_ad5a_cafa,
        0x3b2a_cef3_c0a9_563e,
        0x7abc_4231_e34b_6a03,
        0x3019_a391_b02f_2968,
    ],
    [
        0x2da1_5388_e54b_d6ad,
        0xcfe8_39fc_d7fb_3e18,
        0x1e6b_8357_6e41_76c4,
        0xb615_2bac_71c2_2e97,
        0x3934_f2c3_c8d3_d6c7,
        0x6892_cc23_f0d9_72ee,
    ],
    [
        0x9128_932a_13e9_f79a,
        0xa1bd_ffd9_2500_9330,
        0xfc94_a92e_551e_d1a4,
        0xfb54_b56d_ea0c_ba88,
        0x27fc_db47_0e72_ba4a,
        0x1d94_3bca_87ca_6b4e,
    ],
    [
        0x6583_ba1f_a297_b232,
        0x84cc_ea13_b10a_e7fb,
        0x9600_64ba_ca5b_2f89,
        0x1433_45dc_e613_c065,
        0x9f08_6bd4_2249_b946,
        0xbfd5_00aa_dcc4_87a4,
    ],
    [
        0x5e76_e559_11dc_3584,
        0xcfe8_39fc_d7fb_3e18,
        0x1e6b_8357_6e41_76c4,
        0xb615_2bac_71c2_2e97,
        0x3934_f2c3_c8d3_d6c7,
        0x24bd_d029_3ab5_7cd4,
    ],
];

#[test]
fn bits_are_those_of_the_first_edition() {
    let rules: [UpdateRule; 4] = [
        ExactUpdate::default().into(),
        ExactUpdate::default().loss(PairLoss::Probability).max_iterations(20).into(),
        AdditiveUpdate::default().into(),
        MultiplicativeUpdate::default().into(),
    ];
    let mut expected = EXPECTED.iter();
    for rule in rules {
        for (clusters, missing, grow) in [(3, 0.0, false), (4, 0.1, false), (3, 0.1, true)] {
            let found = run(rule.clone(), clusters, missing, grow);
            assert_eq!(Some(&found), expected.next(), "{} {clusters} {grow}", rule.name());
        }
    }
}
