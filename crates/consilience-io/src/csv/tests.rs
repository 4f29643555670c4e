use super::*;
use crate::label_table::LabelTable;
use crate::{Format, Input};

fn read(text: &[u8]) -> Result<LabelTable> {
    let (wanted, mut notes) = (Wanted::default(), Vec::new());
    labels(text, &(), &Allowance::unlimited(), &wanted, &mut notes)?.into_table()
}

fn partition(text: &str) -> Vec<i64> {
    read(text.as_bytes()).unwrap().partition().unwrap().to_signed()
}

#[test]
fn blank_lines_of_one_column_are_unlabelled_objects() {
    assert_eq!(partition("label\n5\n\n\n6\n5\n\n"), vec![0, -1, -1, 1, 0]);
    assert_eq!(partition("5\r\n\r\n6\r\n\"\"\r\n5"), vec![0, -1, 1, -1, 0]);
    assert_eq!(partition("\u{feff}label\n\n7\n"), vec![-1, 0]);
    assert_eq!(partition("label\n5\n\nnan\n\"\"\n"), vec![0, -1, -1, -1]);
}

#[test]
fn blank_lines_at_the_end_are_told() {
    let notes = |text: &str| {
        let (wanted, unlimited) = (Wanted::default(), Allowance::unlimited());
        let (mut of_labels, mut of_features) = (Vec::new(), Vec::new());
        labels(text.as_bytes(), &(), &unlimited, &wanted, &mut of_labels).unwrap();
        features(text.as_bytes(), &(), &unlimited, &wanted, &mut of_features).unwrap();
        assert_eq!(of_labels, of_features, "{text:?}");
        of_labels
    };
    let said = notes("label\n5\n6\n\n \r\n\n");
    assert!(said.len() == 1 && said[0].starts_with("3 blank lines at the end"), "{said:?}");
    // What an editor leaves, and blank lines that say nothing in any table of several columns.
    for text in ["label\n5\n6\n\n", "label\n5\n6", "a,b\n1,2\n\n\n"] {
        assert!(notes(text).is_empty(), "{text:?}");
    }
}

fn wrong(text: &[u8]) -> String {
    match read(text) {
        Err(error) => error.message().to_owned(),
        Ok(_) => panic!("expected an error"),
    }
}

#[test]
fn a_name_in_quotes_may_go_on_in_the_next_line() {
    let text = "\"first\nmember\",\"second\"\n5,1\n6,1\n";
    let table = read(text.as_bytes()).unwrap();
    assert_eq!(table.ensemble().members()[0].to_signed(), [0, 1]);
    assert_eq!(table.column_names(), ["first\nmember", "second"]);
    assert_eq!(partition("\"first\nmember\"\n5\n6\n"), [0, 1]);
    assert!(wrong(b"\"a\nb\"\n5\n0.5\n").starts_with("row 1 (line 4)"));
    // Inches.
    assert_eq!(partition("height 5\"\n5\n6\n"), [0, 1]);
    assert!(wrong(b"\"a\nb\",c\n5,5\n0.5,5\n").starts_with("row 1 (line 4)"));
}

#[test]
fn text_of_another_kind_is_named() {
    assert!(wrong(b"\xff\xfea\x00\n\x00").contains("UTF-16"));
    assert!(wrong(b"a\x00\n\x00").contains("zero bytes"));
    #[cfg(feature = "compression")]
    assert!(wrong(b"\x1f\x8b\x08").contains("truncated"));
    assert_eq!(partition("a b\n5\t\n"), [0]);
}

#[test]
fn a_row_without_an_end_is_refused() {
    let (unlimited, any) = (Allowance::unlimited(), Wanted::default());
    let endless = std::io::repeat(b'1');
    let read = labels(endless, &(), &unlimited, &any, &mut Vec::new());
    assert!(read.is_err_and(|error| error.message().contains("no end of the row")));
    let quoted = b"a,b\n\"".chain(std::io::repeat(b'\n'));
    let read = labels(quoted, &(), &unlimited, &any, &mut Vec::new());
    assert!(read.is_err_and(|error| error.message().contains("no end of the row")));
}

#[test]
fn lines_are_counted_as_editors_do() {
    assert!(wrong(b"label\n5\n\n\n.5\n").starts_with("row 3 (line 5), column 0 (label): 0.5 is"));
    assert!(wrong(b"a,b\n1,2\n1,.5\n").starts_with("row 1 (line 3), column 1 (b): 0.5 is"));
    assert!(wrong(b"1,2\n1,2,3\n").starts_with("row 1 (line 2) has 3 columns, expected 2"));
    assert!(wrong(b"1\n1,2\n").starts_with("row 1 (line 2) has 2 columns, expected 1"));
}

#[test]
fn text_is_a_name_and_numbers_stay_numbers() {
    let table = read(b"species,site\ncat,01\ndog,1.0\n,-1\nnan,NA\ncat,north\n").unwrap();
    let members = table.ensemble().members();
    assert_eq!(members[0].to_signed(), [0, 1, -1, -1, 0]);
    assert_eq!(members[1].to_signed(), [0, 0, -1, -1, 1]);
    assert_eq!(table.cluster_names(0), ["cat", "dog"]);
    assert_eq!(table.cluster_names(1), ["1", "north"]);
    assert!(table.has_names(0) && table.ids().is_none());
}

#[test]
fn a_first_row_that_comes_again_is_no_header() {
    assert_eq!(partition("red\nblue\nred\n"), [0, 1, 0]);
    assert_eq!(partition("colour\nred\nblue\nred\n"), [0, 1, 0]);
    assert_eq!(partition("label\nlabel\nred\n"), [0, 1]);
    let table = read(b"red,1\nblue,2\nblue,1\nred,1\n").unwrap();
    assert_eq!(table.ensemble().members()[0].to_signed(), [0, 1, 1, 0]);
    assert_eq!(table.ensemble().members()[1].to_signed(), [0, 1, 0, 0]);
    assert_eq!(table.cluster_names(0), ["red", "blue"]);
    // Half a header is one.
    assert_eq!(read(b"a,2\n1,2\n1,3\n").unwrap().ensemble().n_objects(), 2);
    // Ids without a header.
    let table = read(b"p1,3\np2,4\np3,3\n").unwrap();
    assert_eq!(table.partition().unwrap().to_signed(), [0, 1, 0]);
    assert_eq!(table.ids().unwrap().iter().collect::<Vec<_>>(), ["p1", "p2", "p3"]);
    let table = read(b"p1,red\np2,blue\np3,red\n").unwrap();
    assert_eq!((table.ensemble().n_objects(), table.ids().unwrap().get(0)), (3, "p1"));
}

/// What programs write where columns are called by numbers; never an object like those below.
#[test]
fn a_first_row_that_counts_may_be_a_header() {
    let rows = |header: &str, below: &str| {
        let text = format!("{header}\n{}", below.repeat(3));
        let read = Input::in_memory(text.as_bytes(), Format::Csv).data_table(&()).unwrap();
        (read.output.n_objects(), read.report.notes.len())
    };
    for header in ["0,1,2", "1,2,3", "2018,2019,2020", "\"0\",\"1\",\"2\""] {
        assert_eq!(rows(header, "0.5,1.5,2.5\n7,8,9\n"), (6, 1), "{header}");
    }
    // Others have the same, it does not count, or nearly nothing is known.
    assert_eq!(rows("0,1,2", "0,1,5\n7,8,9\n"), (7, 1));
    assert_eq!(rows("0,1,3", "0.5,1.5,2.5\n"), (4, 0));
    assert_eq!(rows("5,6,7", "0.5,1.5,2.5\n"), (4, 0));
    // Two columns must begin with fractions, and be new.
    assert_eq!(rows("0,1", "0.5,1.5\n"), (3, 1));
    assert_eq!(rows("0,1", "0.5,1.5\n0,1\n"), (7, 1));
    assert_eq!(rows("0,1", "5,1.5\n"), (4, 0));
    assert_eq!(rows("0,1", ""), (1, 0));
    assert_eq!(rows("0", "0.5\n"), (4, 0));
    assert_eq!(rows("0,1,2", ""), (1, 0));
    // Labels that come again, in enough columns.
    let labels = "0,1,2,3,4\n1,0,2,4,3\n".repeat(3);
    let table = read(format!("0,1,2,3,4\n{labels}").as_bytes()).unwrap();
    assert_eq!((table.ensemble().n_objects(), table.column_names()[4].as_str()), (6, "4"));
    let table = read(format!("1,2,3\n{}", "1,1,2\n2,1,1\n".repeat(3)).as_bytes()).unwrap();
    assert_eq!((table.ensemble().n_objects(), table.column_names()[0].as_str()), (6, "1"));
    let table = read(format!("0,1,2\n{}", "1,1,2\n0,0,1\n".repeat(3)).as_bytes()).unwrap();
    assert_eq!(table.ensemble().n_objects(), 7);
}

#[test]
fn what_is_so_is_one() {
    for text in ["a,b\n1.5,True\n2.5,FALSE\n", "1.5,True\n2.5,false\n"] {
        let read = Input::in_memory(text.as_bytes(), Format::Csv).features(&()).unwrap();
        let table = read.output.into_f64().unwrap();
        assert_eq!(table, ndarray::array![[1.5, 1.0], [2.5, 0.0]]);
    }
}

#[test]
fn ids_are_kept_as_they_are() {
    let table = read(b"ID,m\n007,1\n\"a, \"\"b\"\"\nc\",2\n7,1\n").unwrap();
    let ids: Vec<_> = table.ids().unwrap().iter().collect();
    assert_eq!(ids, ["007", "a, \"b\"\nc", "7"]);
    assert_eq!(table.partition().unwrap().to_signed(), [0, 1, 0]);
    assert!(wrong(b"id,m\na,1\na,2\n").contains("more than once: \"a\""));
    assert!(wrong(b"id,m\na,1\n,2\n").contains("without an id, the first in row 1"));
    // Text that is not unique is a member, and so is the only column.
    assert_eq!(read(b"x,m\na,1\na,2\n").unwrap().ensemble().n_members(), 2);
    assert_eq!(read(b"x\na\nb\n").unwrap().ensemble().n_members(), 1);
}
