//! What a stored clustering keeps of the way from features to the completed similarity.

use std::sync::Arc;

use consilience_core::stored::{Kind, Parts, Restored};
use consilience_core::{Error, Features, Result, Seed, ensure};
use consilience_num::near::SelfTunedGraph;
use ndarray::Array2;

use super::Embedder;
use super::coordinates::Extension;
use super::neighbours::Graph;
use super::representatives::Representatives;
use crate::frame::Frame;

const EMBEDDER: &str = "completed-similarity";

inventory::submit! {
    Kind { name: EMBEDDER, restore: restored }
}

impl Embedder {
    pub(super) fn parts(&self) -> Parts {
        let parts = Parts::new(EMBEDDER).table("root", &self.root);
        match &*self.extension {
            Extension::Linear { frame, constant, map } => {
                let parts = frame.stored(parts).table("map", map);
                constant.iter().fold(parts, |parts, &constant| parts.number("constant", constant))
            }
            Extension::Graph { frame, graph } => {
                let parts = graph.graph.stored(frame.stored(parts));
                parts.table("vectors", &graph.z).row("values", graph.values.iter().copied())
            }
            Extension::Representatives { frame, own } => {
                let halves = [own.groups.0 >> 32, own.groups.0 & u64::from(u32::MAX)];
                frame
                    .stored(parts)
                    .table("representatives", &own.marks)
                    .row("seed of groups", halves.map(|half| half as f64))
                    .number("width", own.width)
                    .table("map", &own.map)
            }
        }
    }
}

fn restored(parts: &mut Parts) -> Result<Restored> {
    let root = parts.take_table("root")?;
    let frame = Frame::restored(parts)?;
    let (extension, columns) = if parts.has("vectors") {
        graph(frame, parts)?
    } else if parts.has("representatives") {
        representatives(frame, parts)?
    } else {
        linear(frame, parts)?
    };
    let (k, outputs) = root.dim();
    ensure!(
        (1..=columns).contains(&k) && outputs > 0,
        shape("`root` of {k} x {outputs} numbers for {columns} coordinates")
    );
    Ok(Restored::Map(Arc::new(Embedder { extension: Arc::new(extension), root })))
}

/// The extension, and how many coordinates it gives.
type Extended = (Extension, usize);

fn linear(frame: Frame, parts: &mut Parts) -> Result<Extended> {
    let constant = if parts.has("constant") { Some(parts.take_number("constant")?) } else { None };
    let map = parts.take_table("map")?;
    check_rows("map", &map, frame.n_features() + usize::from(constant.is_some()))?;
    let columns = map.ncols();
    Ok((Extension::Linear { frame, constant, map }, columns))
}

fn graph(frame: Frame, parts: &mut Parts) -> Result<Extended> {
    let graph = SelfTunedGraph::restored(parts, frame.n_features())?;
    let (z, values) = (parts.take_table("vectors")?, parts.take_row("values")?);
    check_rows("vectors", &z, graph.degrees().len())?;
    let columns = z.ncols();
    ensure!(
        values.len() == columns,
        shape("{} `values` of {columns} `vectors`; expected one each", values.len())
    );
    if let Some(bad) = values.iter().find(|&&v| v == 0.0) {
        return Err(Error::invalid(format!("an eigenvalue {bad}; expected another than 0")));
    }
    let graph = Box::new(Graph { graph, z, values });
    Ok((Extension::Graph { frame, graph }, columns))
}

fn representatives(frame: Frame, parts: &mut Parts) -> Result<Extended> {
    let marks = parts.take_table("representatives")?;
    Features::from(marks.view()).check()?;
    let d = frame.n_features();
    ensure!(
        marks.ncols() == d,
        shape("`representatives` of {} columns; expected {d}", marks.ncols())
    );
    let halves = parts.take_row("seed of groups")?;
    let seed = match halves[..] {
        [high, low] => Seed((half(high)? << 32) | half(low)?),
        _ => return Err(Error::shape(format!("a seed of {} halves", halves.len()))),
    };
    let width = parts.take_positive("width")?;
    let map = parts.take_table("map")?;
    check_rows("map", &map, marks.nrows())?;
    let columns = map.ncols();
    let mut own = Representatives::of(marks, seed)?;
    own.width = width;
    own.map = map;
    Ok((Extension::Representatives { frame, own: Box::new(own) }, columns))
}

/// Half of the bits of a seed.
fn half(value: f64) -> Result<u64> {
    ensure!(
        (0.0..=f64::from(u32::MAX)).contains(&value) && value.fract() == 0.0,
        invalid("half a seed is {value}; expected a whole number of 32 bits")
    );
    Ok(value as u64)
}

fn check_rows(name: &str, table: &Array2<f64>, rows: usize) -> Result<()> {
    ensure!(table.nrows() == rows, shape("`{name}` of {} rows; expected {rows}", table.nrows()));
    Ok(())
}
