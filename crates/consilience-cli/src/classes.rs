//! Notes on names of classes that are hardly meant as such.

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::Labels;
use crate::terminal::Terminal;

/// How people write that an object has no label, beside what every reader takes for it.
const NO_LABEL: [&str; 14] = [
    "-",
    "--",
    ".",
    "n.a.",
    "none",
    "unknown",
    "unlabelled",
    "unlabeled",
    "unassigned",
    "undefined",
    "undetermined",
    "missing",
    "unsure",
    "not sure",
];

/// Says which classes have a name that may mean no label, and which differ in case alone.
pub(crate) fn note(path: &Path, labels: &Labels, terminal: &Terminal) {
    let sizes = labels.partition.sizes();
    let labelled: usize = sizes.iter().sum();
    let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, size) in labels.names.iter().zip(&sizes) {
        let plain = name.trim().to_lowercase();
        if NO_LABEL.contains(&&plain[..]) {
            terminal.note(format!(
                "{}: {size} of {labelled} labels are {name:?}, which counts as a class; where it \
                 means that there is no label, leave the cell empty",
                path.display()
            ));
        }
        alike.entry(plain).or_default().push(name);
    }
    for names in alike.values().filter(|names| names.len() > 1) {
        let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        terminal.note(format!(
            "{}: {} are different classes; their names differ in case alone",
            path.display(),
            quoted.join(" and ")
        ));
    }
}
