//! `docs/functions.md` says what the code does.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use transom::error::ErrorKind;
use transom::expr::resolve;

/// A row of a table: what stands in backticks in the first and the last cell, and the status.
struct Row {
    first: Vec<String>,
    last: Vec<String>,
    status: String,
}

fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(|part| part.replace("\\|", "|")).collect()
}

/// The rows of all tables with a status, by their headings.
fn rows() -> Vec<(String, Row)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/functions.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut heading, mut rows) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            heading = title.to_string();
        }
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().replace('\u{1}', "\\|")).collect();
        if let [_, first, status, last, _] = cells.as_slice()
            && ["same", "differs", "refused"].contains(&status.as_str())
        {
            let row = Row { first: quoted(first), last: quoted(last), status: status.clone() };
            rows.push((heading.clone(), row));
        }
    }
    rows
}

/// The scalar functions with one of the statuses.
fn listed(statuses: &[&str]) -> Vec<String> {
    let rows = rows();
    let names = rows.iter().filter(|(heading, row)| {
        !["Operators", "Aggregate functions"].contains(&heading.as_str()) && statuses.contains(&row.status.as_str())
    });
    names.flat_map(|(_, row)| row.first.clone()).collect()
}

/// What the binary answers to a script: standard output, and standard error where it fails.
fn run(script: &str) -> Result<String, String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_transom"))
        .args(["run", "-q", "-o", "csv", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

#[test]
fn every_function_is_listed_once() {
    let all = listed(&["same", "differs", "refused"]);
    let once: BTreeSet<&String> = all.iter().collect();
    assert_eq!(all.len(), once.len());
    let known: BTreeSet<String> = resolve::names().iter().map(ToString::to_string).collect();
    let here: BTreeSet<String> = listed(&["same", "differs"]).into_iter().collect();
    assert_eq!(here, known);
}

#[test]
fn what_is_refused_is_refused_by_name() {
    let refused: BTreeSet<String> = listed(&["refused"]).into_iter().collect();
    for name in &refused {
        let error = resolve::function(name, Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}");
        assert!(error.message().starts_with(name.as_str()), "{name}");
    }
    // Constructors are syntax and stand among the operators; the others belong to GROUP BY.
    let elsewhere = ["ARRAY", "MAP", "ROW", "GROUPING", "GROUPING_ID", "GROUP_ID", "PERCENTILE"];
    let names = resolve::refused_names().iter().filter(|name| !elsewhere.contains(name));
    assert_eq!(refused, names.map(ToString::to_string).collect());
}

#[test]
fn show_functions_lists_what_is_there() {
    let answer = run("SHOW FUNCTIONS;").unwrap();
    let shown: BTreeSet<String> = answer.lines().skip(1).map(str::to_string).collect();
    let aggregates = transom::aggregate::names().map(str::to_string);
    assert_eq!(shown, listed(&["same", "differs"]).into_iter().chain(aggregates).collect());
}

#[test]
fn the_examples_of_the_operators_are_accepted_and_refused() {
    const TABLE: &str = "CREATE TABLE t (i INT, s STRING, b BOOLEAN, ts TIMESTAMP(3), r ROW<f INT>, a ARRAY<INT>, \
        m MAP<STRING, INT>) WITH ('connector' = 'datagen', 'number-of-rows' = '1');\n";
    let rows = rows();
    let operators: Vec<&Row> = rows.iter().filter(|(h, _)| h == "Operators").map(|(_, row)| row).collect();
    let same: Vec<String> =
        operators.iter().filter(|row| row.status == "same").flat_map(|row| row.last.clone()).collect();
    assert!(same.len() > 40);
    let columns: Vec<String> = same.iter().enumerate().map(|(i, example)| format!("{example} AS c{i}")).collect();
    run(&format!("{TABLE}EXPLAIN SELECT {} FROM t;", columns.join(",\n"))).unwrap();
    for example in operators.iter().filter(|row| row.status == "refused").flat_map(|row| row.last.clone()) {
        let error = run(&format!("{TABLE}EXPLAIN SELECT {example} FROM t;")).unwrap_err();
        assert!(error.contains("not supported"), "{example}: {error}");
    }
}
