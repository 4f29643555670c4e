//! Witnesses: small golden values of the published methods, computed from the papers' formulas by
//! plain loops over single objects. Nothing of the library is used, not even to read or to draw.
//!
//! `witnesses FOLDER` writes one JSON file for each family of methods; `tests/witnesses.rs` holds
//! the library to them.

mod completion;
mod numbers;
mod pcc;
mod record;
mod trees;
mod updates;
mod walks;
mod weights;
mod worlds;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "tests/witnesses".to_string());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let families = [
        ("walks", walks::cases()),
        ("weights", weights::cases()),
        ("completion", completion::cases()),
        ("pcc", pcc::cases()),
        ("updates", updates::cases()),
    ];
    for (name, cases) in families {
        let path = folder.join(format!("{name}.json"));
        std::fs::write(&path, record::file(&cases))?;
        println!("{}: {} cases", path.display(), cases.len());
    }
    Ok(())
}
