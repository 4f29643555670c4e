//! Tables of the papers run again: the paper's figure, ours, the difference, and its cause.
//!
//! `papers trajectories [DRAWS]`: Huang, Lai, Wang 2016, Tables V to IX, on the pools at hand;
//! `papers docs/reproduction.md [DRAWS]` writes the page. With `--all` at the end ECMC, which
//! takes minutes for a draw, is run too.

#[path = "../../../../tests/reference/mod.rs"]
mod reference;

mod figures;
mod others;
mod trajectories;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let all = arguments.iter().any(|a| a == "--all");
    let draws = arguments.get(1).map(|d| d.parse()).transpose()?.unwrap_or(20);
    match arguments.first().map(String::as_str) {
        Some("trajectories") => print!("{}", trajectories::tables(draws, all)?),
        Some(path) if path.ends_with(".md") => {
            let head = HEAD.replace("DRAWS", &draws.to_string());
            let tables = trajectories::tables(draws, all)?;
            std::fs::write(path, [head, tables, others::list()].concat())?;
        }
        _ => println!("papers trajectories [DRAWS], or papers docs/reproduction.md [DRAWS]"),
    }
    Ok(())
}

const HEAD: &str = "\
# What reproduces, and what does not

Tables of the papers run again, written by

```console
cargo run --release --manifest-path eval/Cargo.toml --bin papers -- docs/reproduction.md DRAWS
```

A cell is *paper / ours*, and the difference behind it where it is .02 or more. The paper's draws
are not known: ours are drawn from a seed, so means over draws differ by chance; ± is twice the
standard error of ours.

";
