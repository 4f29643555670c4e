//! What objects are called, and clusters as the classes among known labels are.

use consilience::io::ObjectIds;
use consilience::{Partition, scores::Contingency};

use crate::failure::Outcome;
use crate::files::Labels;

/// An object by its id, or by its number where there are none.
pub(crate) fn of_object(object: usize, ids: Option<&ObjectIds>) -> String {
    ids.map_or_else(|| object.to_string(), |ids| ids.get(object).to_owned())
}

/// What a class is called in a table of labels, where negative numbers are no labels.
fn name_of(class: &str) -> String {
    let negative = class.parse::<f64>().is_ok_and(|number| number < 0.0);
    if negative { format!("class {class}") } else { class.to_owned() }
}

/// For each cluster the class that most of its labelled objects have, if any has a label.
fn classes_of(found: &Partition, known: &Labels) -> Outcome<Vec<Option<usize>>> {
    let mut best: Vec<Option<(u64, usize)>> = vec![None; found.n_clusters()];
    for (cluster, class, count) in Contingency::new(found, &known.partition)?.cells() {
        if best[cluster].is_none_or(|(most, _)| count > most) {
            best[cluster] = Some((count, class));
        }
    }
    Ok(best.into_iter().map(|best| best.map(|(_, class)| class)).collect())
}

/// A name for every cluster: that of the class that most of its labelled objects have, with a
/// number behind it where a cluster before has the name, and `cluster 3` where none of its objects
/// has a label. Nothing where classes are numbers.
pub(crate) fn of_clusters(found: &Partition, known: &Labels) -> Outcome<Option<Vec<String>>> {
    if !known.text {
        return Ok(None);
    }
    let mut names: Vec<String> = Vec::new();
    for (cluster, class) in classes_of(found, known)?.into_iter().enumerate() {
        let class = &class
            .map_or_else(|| format!("cluster {cluster}"), |class| name_of(&known.names[class]));
        let again = (2..).map(|count| format!("{class} {count}"));
        let fresh = std::iter::once(class.clone()).chain(again).find(|name| !names.contains(name));
        names.extend(fresh);
    }
    Ok(Some(names))
}

/// A number for every cluster where classes are whole numbers: that of the class that most of its
/// labelled objects have, and the least that is none of a class where a cluster before has it or
/// none of its objects has a label.
pub(crate) fn numbers_of(found: &Partition, known: &Labels) -> Outcome<Option<Vec<usize>>> {
    let numbers = known.names.iter().map(|name| name.parse::<u32>().map(|n| n as usize));
    let (Ok(classes), false) = (numbers.collect::<Result<Vec<_>, _>>(), known.text) else {
        return Ok(None);
    };
    let mut free = (0..).filter(|number| !classes.contains(number));
    let mut given = vec![false; classes.len()];
    let mut number = |class: Option<usize>| match class {
        Some(class) if !std::mem::replace(&mut given[class], true) => Some(classes[class]),
        _ => free.next(),
    };
    Ok(classes_of(found, known)?.into_iter().map(&mut number).collect())
}
