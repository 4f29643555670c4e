//! From what files hold to what methods take, where the reader in [`io`](crate::io) and the method
//! know nothing of each other.

use consilience_core::{Error, ErrorKind, MemoryBudget, Result, ensure, room};
use consilience_crowd::{Answers, GroupAnswer, KeywordAnswer, PairAnswer};
use consilience_io::{AnswerForm, AnswerTable};

/// The answers of a file, of any form, about so many objects: at least
/// [`AnswerTable::n_objects`], and more where some were answered by nobody. Two objects that are
/// described by keywords are the same where they share one.
///
/// ```
/// use consilience::crowd::CrowdClustering;
/// use consilience::io::{Format, Input};
///
/// let mut text = "worker,task,item,group\n".to_owned();
/// for (worker, item) in ["ann", "bob", "eve"].iter().flat_map(|w| (0..8).map(move |i| (w, i))) {
///     let group = if item < 4 { "cats" } else { "dogs" };
///     text += &format!("{worker},monday,photo {item},{group}\n");
/// }
/// let table = Input::in_memory(text.as_bytes(), Format::Csv).answers(&())?.output;
/// let answers = consilience::files::answers(&table, table.n_objects())?;
/// let result = CrowdClustering::new(2).fit(&answers, &())?.output;
/// assert_eq!(result.partition.sizes(), [4, 4]);
/// // Results number workers as the table does, and objects as its ids.
/// assert_eq!(table.worker(result.workers[1].worker), "bob");
/// assert_eq!(table.ids().unwrap().get(7), "photo 7");
/// # Ok::<(), consilience::Error>(())
/// ```
///
/// # Errors
/// Those of [`Answers::from_groupings`], [`Answers::from_keywords`] and [`Answers::from_pairs`],
/// with workers, tasks and objects as they are called in the file;
/// [`ErrorKind::ShapeMismatch`] where the file names more objects, and
/// [`ErrorKind::OutOfRange`] where it numbers more.
pub fn answers(table: &AnswerTable, objects: usize) -> Result<Answers> {
    answers_within(table, objects, 1, MemoryBudget::default())
}

/// As [`answers`], for a given memory budget; two objects that are described by keywords are the
/// same where they share so many. Other forms of answers have no use for the number.
///
/// # Errors
/// As [`answers`].
pub fn answers_within(
    table: &AnswerTable,
    objects: usize,
    shared: usize,
    budget: MemoryBudget,
) -> Result<Answers> {
    let named = table.ids().map_or(0, consilience_io::ObjectIds::n_objects);
    ensure!(named <= objects, shape("the answers name {named} objects; expected {objects}"));
    let rows = table.rows().iter();
    match table.form() {
        AnswerForm::Groupings => {
            let rows =
                rows.map(|&[worker, task, item, group]| GroupAnswer { worker, task, item, group });
            Answers::from_groupings(objects, &room::collected(rows)?)
        }
        AnswerForm::Keywords => {
            let rows = rows.map(|&[worker, task, item, keyword]| KeywordAnswer {
                worker,
                task,
                item,
                keyword,
            });
            Answers::from_keywords_within(objects, &room::collected(rows)?, shared, budget)
        }
        AnswerForm::Pairs => {
            let rows =
                rows.map(|&[worker, i, j, same]| PairAnswer { worker, i, j, same: same != 0 });
            Answers::from_pairs(objects, &room::collected(rows)?)
        }
        other => Err(Error::invalid(format!("answers of the form {other:?}"))),
    }
    .map_err(|error| called(table, error))
}

/// The same error with things as they are called in the file.
fn called(table: &AnswerTable, error: Error) -> Error {
    let what = match (table.form(), error.kind()) {
        (AnswerForm::Pairs, ErrorKind::Contradiction) => unlike_itself(table),
        (AnswerForm::Groupings, ErrorKind::Contradiction | ErrorKind::InvalidParameter) => {
            twice(table)
        }
        _ => None,
    };
    what.map_or(error.clone(), |what| Error::new(error.kind(), what))
}

fn unlike_itself(table: &AnswerTable) -> Option<String> {
    let r = table.rows().iter().position(|&[_, i, j, same]| i == j && same == 0)?;
    let [worker, i, ..] = table.rows()[r];
    let (worker, object) = (table.worker(worker), table.object(i));
    Some(format!("row {r}: worker {worker} calls object {object} different from itself"))
}

fn twice(table: &AnswerTable) -> Option<String> {
    let rows = table.rows();
    let place = |r: usize| (rows[r][0], rows[r][1], rows[r][2]);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|&r| (place(r), r));
    let pair = order.windows(2).find(|pair| place(pair[0]) == place(pair[1]))?;
    let (a, b) = (rows[pair[0]], rows[pair[1]]);
    let at = format!(
        "item {} is twice in task {} of worker {} (rows {} and {})",
        table.object(a[2]),
        table.task(a[1]),
        table.worker(a[0]),
        pair[0],
        pair[1]
    );
    Some(match a[3] == b[3] {
        true => at,
        false => format!("{at}, in groups {} and {}", table.group(a[3]), table.group(b[3])),
    })
}

#[cfg(test)]
mod tests {
    use consilience_io::{Format, Input};

    use super::*;

    fn table(text: &str) -> AnswerTable {
        Input::in_memory(text.as_bytes(), Format::Csv).answers(&()).unwrap().output
    }

    #[test]
    fn every_form_is_read_as_by_hand() {
        let of = |text: &str| answers(&table(text), 4).unwrap();
        let pairs = [(0, 1, true), (2, 3, false)].map(|(i, j, same)| PairAnswer {
            worker: i / 2,
            i,
            j,
            same,
        });
        assert_eq!(
            of("worker,i,j,same\nann,0,1,yes\nbob,2,3,no\n"),
            Answers::from_pairs(4, &pairs).unwrap()
        );
        let group = |item, group| GroupAnswer { worker: 5, task: 0, item, group };
        assert_eq!(
            of("worker,task,item,group\n5,0,0,a\n5,0,1,b\n5,0,2,a\n"),
            Answers::from_groupings(4, &[group(0, 0), group(1, 1), group(2, 0)]).unwrap()
        );
        let text = "worker,task,item,keyword\n5,0,0,a\n5,0,0,b\n5,0,1,b\n5,0,1,a\n5,0,2,a\n";
        let same = |shared| {
            let budget = MemoryBudget::default();
            let answers = answers_within(&table(text), 3, shared, budget).unwrap();
            answers.pairs().filter(|pair| pair.same).count()
        };
        assert_eq!((same(1), same(2)), (3, 1));
    }

    #[test]
    fn what_is_wrong_is_called_as_in_the_file() {
        let wrong = |text: &str| {
            let table = table(text);
            answers(&table, table.n_objects()).unwrap_err().to_string()
        };
        let said = wrong("worker,i,j,same\nzoe,tom,rex,yes\nann,rex,rex,no\n");
        assert_eq!(said, "row 1: worker ann calls object rex different from itself");
        let said = wrong("worker,task,item,group\nzoe,x,tom,a\nann,y,rex,a\nann,y,rex,b\n");
        let expected =
            "item rex is twice in task y of worker ann (rows 1 and 2), in groups a and b";
        assert_eq!(said, expected);
        let said = wrong("worker,task,item,group\nann,y,rex,a\nann,y,rex,a\n");
        assert_eq!(said, "item rex is twice in task y of worker ann (rows 0 and 1)");
        // Numbers are names too.
        let said = wrong("worker,task,item,group\n9,7,3,1\n9,7,3,2\n");
        let expected = "item 3 is twice in task 7 of worker 9 (rows 0 and 1), in groups 1 and 2";
        assert_eq!(said, expected);
        let few = answers(&table("worker,i,j,same\nzoe,tom,rex,yes\n"), 1).unwrap_err();
        assert_eq!(few.kind(), ErrorKind::ShapeMismatch);
    }
}
