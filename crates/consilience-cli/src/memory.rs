//! How much memory the methods may take: `--memory`, or what the machine has available.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use consilience::MemoryBudget;

use crate::failure::{Failure, Outcome};

/// What is taken for available at least: how `auto` chooses must not depend on what else runs, and
/// its tables stay below this.
const LEAST: u64 = 1 << 30;

static BUDGET: OnceLock<MemoryBudget> = OnceLock::new();

/// Sets the budget of the whole program.
pub(crate) fn limit(size: Option<&str>) -> Outcome<()> {
    let bytes = match size {
        Some(size) => parse(size).ok_or_else(|| {
            Failure::Bad(format!("--memory {size}: expected a size such as 500M, 4G or 1.5T"))
        })?,
        None => available(),
    };
    BUDGET.get_or_init(|| MemoryBudget::bytes(bytes));
    Ok(())
}

/// What every reader and method is given.
pub(crate) fn budget() -> MemoryBudget {
    BUDGET.get().copied().unwrap_or_default()
}

/// Bytes, with or without a unit: `4096`, `500M`, `4GB`, `4GiB`. K, M, G and T are powers of 1024.
fn parse(size: &str) -> Option<u64> {
    let size = size.trim();
    let digits = size.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(size.len());
    let (number, unit) = size.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let unit = unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit);
    let shift = match unit {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift).filter(|&bytes| bytes > 0);
    }
    let bytes = number.parse::<f64>().ok()? * (1u64 << shift) as f64;
    (bytes >= 1.0 && bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// What the machine has left, the container and the limits of the process; where the system does
/// not say, the library's default.
fn available() -> u64 {
    let free =
        field("/proc/meminfo", "MemAvailable:").map(|kilobytes| kilobytes.max(LEAST >> 10) << 10);
    let limits = [free, container(), process()];
    limits.into_iter().flatten().min().unwrap_or_else(|| MemoryBudget::default().n_bytes())
}

/// What the control group of this process, or one around it, leaves.
fn container() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let unified = groups.lines().find_map(|line| line.strip_prefix("0::/"));
    let older = groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(":/")?;
        controllers.split(',').any(|name| name == "memory").then_some(path)
    });
    let newer = unified.and_then(|path| {
        left("/sys/fs/cgroup", path, ["memory.max", "memory.current"], "inactive_file")
    });
    let files = ["memory.limit_in_bytes", "memory.usage_in_bytes"];
    let older =
        older.and_then(|path| left("/sys/fs/cgroup/memory", path, files, "total_inactive_file"));
    newer.into_iter().chain(older).min()
}

/// What the groups on the way to a path leave at least.
fn left(root: &str, path: &str, [limit, used]: [&str; 2], cache: &str) -> Option<u64> {
    let number = |folder: &Path, name: &str| -> Option<u64> {
        fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok()
    };
    let root = PathBuf::from(root);
    let inner = root.join(path);
    inner
        .ancestors()
        .take_while(|folder| folder.starts_with(&root))
        .filter_map(|folder| {
            let limit = number(folder, limit)?;
            // Files that the system remembers are given up when memory is needed.
            let remembered = field(folder.join("memory.stat"), cache).unwrap_or(0);
            let used = number(folder, used).unwrap_or(0).saturating_sub(remembered);
            Some(limit.saturating_sub(used).max(LEAST.min(limit)))
        })
        .min()
}

/// What the limits of the process leave (`ulimit -v`, `ulimit -d`).
fn process() -> Option<u64> {
    let left = |limit: &str, used: &str| {
        let used = field("/proc/self/status", used).unwrap_or(0);
        Some(field("/proc/self/limits", limit)?.saturating_sub(used << 10))
    };
    let (address, data) = (left("Max address space", "VmSize:"), left("Max data size", "VmData:"));
    address.into_iter().chain(data).min()
}

/// The number behind a name in a file of the system.
pub(crate) fn field(path: impl AsRef<Path>, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_every_unit() {
        for (text, bytes) in [
            ("4096", 4096),
            ("500M", 500 << 20),
            ("4g", 4 << 30),
            ("4GB", 4 << 30),
            ("4 GiB", 4 << 30),
            ("1.5k", 1536),
            ("2T", 2 << 40),
        ] {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
        for text in ["", "0", "G", "-1", "4X", "1e9", "nan", "99999999999T", "4G4"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn something_is_available() {
        assert!(available() > 0);
    }
}
