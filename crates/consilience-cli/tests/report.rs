//! `consilience report`: the page, its numbers and what makes it again; `completions` and `man`.

mod common;

use common::{Folder, prepared};
use serde_json::Value;

/// The numbers inside a page.
fn inside(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"findings\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_page_shows_what_consensus_finds() {
    let folder = prepared();
    let command = "report pool.csv --features x.csv --truth truth.csv --clusters 4 --methods \
                   pta-al,ptgp,mm --seed 3 -o out.html";
    let reply = folder.json(command);
    assert_eq!((&reply["method"], &reply["clusters"]), (&"pta-al".into(), &4.into()), "{reply}");
    assert_eq!((&reply["report"], &reply["n"]), (&"out.html".into(), &120.into()));
    let page = folder.text("out.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 5_000_000);
    let numbers = inside(&page);
    let alone =
        folder.json("consensus pool.csv --method pta-al --clusters 4 --truth truth.csv --seed 3");
    assert_eq!(reply["scores"], alone["scores"]);
    assert_eq!(numbers["answer"]["clusters"], alone["clusters"]);
    assert_eq!(numbers["answer"]["verdict"], reply["verdict"]);
    let names = numbers["methods"]["candidates"].as_array().unwrap();
    let names: Vec<&str> = names.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["pta-al", "ptgp", "mm"]);
    assert_eq!(numbers["tree"]["is_answer"], true);
    assert!(numbers["features"].is_object() && numbers["truth"].is_object());
    assert!(numbers["input"]["fingerprint"].as_str().unwrap().len() == 16);
    // The command on the page makes the page again.
    let again = numbers["input"]["command"].as_str().unwrap();
    folder.ok(again.strip_prefix("consilience ").unwrap());
    assert!(page == folder.text("out.html"));
}

#[test]
fn numbers_alone_and_the_same_at_any_number_of_threads() {
    let folder = prepared();
    folder.ok("report pool.csv -o one.html --threads 1");
    folder.ok("report pool.csv -o two.html --threads 2");
    let one = folder.text("one.html").replace("one.html", "two.html");
    assert!(one == folder.text("two.html"));
    folder.ok("report pool.csv -o two.json");
    let numbers: Value = serde_json::from_str(&folder.text("two.json")).unwrap();
    let mut page = inside(&one);
    page["input"]["command"] = numbers["input"]["command"].clone();
    assert_eq!(page, numbers);
    assert_eq!(numbers["input"]["command"], "consilience report pool.csv -o two.json");
}

#[test]
fn a_range_gives_one_of_its_numbers() {
    let folder = prepared();
    let reply = folder.json("report pool.csv -o out.html --clusters 5..7 --columns 0,2,4,6");
    let chosen = reply["clusters"].as_u64().unwrap();
    assert!((5..=7).contains(&chosen) && reply["members"] == 4, "{reply}");
    let page = folder.text("out.html");
    let rows = inside(&page)["number"]["rows"].as_array().unwrap().clone();
    let tried: Vec<u64> = rows.iter().map(|r| r["clusters"].as_u64().unwrap()).collect();
    assert_eq!(tried, [5, 6, 7]);
    assert!(page.contains("--columns 0,2,4,6 --clusters 5..7"));
}

#[test]
fn words_that_begin_with_a_dash_are_repeated() {
    let folder = prepared();
    let mut command = folder.command("report pool.csv --clusters 4");
    let output = command.args(["--title=-x y", "--output=-o.html"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let again = inside(&folder.text("-o.html"))["input"]["command"].clone();
    let expected = "consilience report pool.csv --clusters 4 --title='-x y' -o ./-o.html";
    assert_eq!(again, expected);
}

#[test]
fn confidence_is_that_of_the_labelled_objects() {
    let folder = prepared();
    folder.write("some.csv", "0,0\n0,0\n1,1\n1,1\n-1,-1\n-1,-1\n-1,-1\n");
    let line = "consensus some.csv --method lwea --clusters 2 --diagnose";
    assert_eq!(folder.json(line)["diagnostics"]["confidence"], 1.0);
}

#[test]
fn names_of_files_are_never_markup() {
    let folder = prepared();
    let name = "<script>alert(1)<&'script>.csv";
    folder.write(name, folder.read("pool.csv"));
    let mut command = folder.command("report --clusters 4 -o out.html --title");
    let output = command.arg("</title><b>bold").arg(name).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = folder.text("out.html");
    assert!(!page.contains("<script>alert") && !page.contains("<b>bold"));
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(inside(&page)["title"], "</title><b>bold");
}

#[test]
fn what_is_wrong_is_named() {
    let folder = prepared();
    folder.fails("report pool.csv -o out.pdf", &["out.pdf", ".html", ".json"]);
    folder.fails("report pool.csv -o out.html --clusters few", &["few", "2..20"]);
    folder.fails("report pool.csv -o out.html --clusters 0", &["0", "120"]);
    folder.fails("report pool.csv -o out.html --clusters 9..2", &["9..=2"]);
    folder.fails("report pool.csv -o out.html --methods lwea,nope", &["nope", "pta-al"]);
    folder.fails("report pool.csv -o out.html --columns 12", &["12", "0..=11"]);
    folder.write("short.csv", "0\n1\n");
    folder.fails("report pool.csv -o out.html --truth short.csv", &["short.csv", "120"]);
    folder.fails("report pool.csv -o out.html --features short.csv", &["short.csv", "120"]);
    folder.write("none.csv", "-1,-1\n-1,-1\n");
    folder.fails("report none.csv -o out.html", &["no object is labelled"]);
}

#[test]
fn completions_and_pages_know_every_command() {
    let folder = Folder::new();
    let commands = [
        "ask",
        "completions",
        "complete",
        "consensus",
        "cluster",
        "crowd",
        "demo",
        "generate",
        "man",
        "plot",
        "predict",
        "report",
        "score",
        "update",
    ];
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = folder.ok(&format!("completions {shell}")).stdout;
        for command in commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    folder.fails("completions tcsh", &["tcsh", "bash"]);
    assert!(folder.ok("man .").stdout.starts_with("15 pages"));
    let names = folder.names();
    assert_eq!(names.len(), commands.len() + 1);
    for command in commands {
        let page = folder.text(&format!("consilience-{command}.1"));
        assert!(page.contains(&format!("consilience\\-{command}")), "{page}");
        assert!(page.contains(&format!("Example: consilience {command}")), "{page}");
    }
    folder.fails("man nowhere", &["nowhere"]);
}

#[test]
fn help_fits_a_screen_with_examples_before_options() {
    let folder = Folder::new();
    for command in
        ["", "generate", "consensus", "cluster", "update", "plot", "report", "man", "score"]
    {
        let help = folder.ok(&format!("{command} --help")).stdout;
        assert!(help.lines().count() <= 40, "{help}");
        let at = |what: &str| help.find(what).unwrap_or_else(|| panic!("{what}: {help}"));
        assert!(at("Example: consilience") < at("Usage:"), "{help}");
    }
}

#[test]
fn columns_go_by_their_names_and_rows_may_stand_for_many() {
    let folder = Folder::new();
    folder.write("pool.csv", "by_size,by_colour,third\n0,0,1\n0,0,0\n1,0,0\n1,1,1\n1,1,0\n");
    folder.write("x.csv", "length,weight\n1,0.5\n1.1,1\n4,2\n4.2,2.5\n4.1,2\n");
    folder.write("counts.csv", "3\n1\n2\n1\n4\n");
    let asked = "report pool.csv --features x.csv --clusters 2";
    let reply = folder.json(&format!("{asked} --counts counts.csv -o out.html"));
    assert_eq!(reply["n"], 11);
    let page = folder.text("out.html");
    assert!(["by_size", "by_colour", "length", "weight"].iter().all(|name| page.contains(name)));
    assert!(page.contains("--counts counts.csv"));
    // The table that an ensemble was generated from, with its categories and holes.
    folder.write("x.csv", "length,colour,weight\n1,a,\n1.1,b,1\n4,a,2\n4.2,a,2.5\n4.1,c,2\n");
    folder.fails(&format!("{asked} -o no.html"), &["colour", "--drop"]);
    folder.fails(&format!("{asked} -o no.html --drop colour"), &["weight", "--missing"]);
    let reply = folder.json(&format!("{asked} -o out.html --drop colour --missing mean"));
    assert_eq!(reply["clusters"], 2);
    assert!(folder.text("out.html").contains("--drop colour --missing mean"));
}
