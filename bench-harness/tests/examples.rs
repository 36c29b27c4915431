//! The scripts in `examples/` give what Flink gave (`datasets/flights/expected`).

use std::fs;
use std::path::{Path, PathBuf};

use bench_harness::conformance::case::Columns;
use bench_harness::conformance::{compare, rows};
use bench_harness::engine::{self, Request};
use bench_harness::json::Json;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The example as it is, but with absolute paths, and its rows in a folder of ours.
fn script(name: &str, columns: &Columns, out: &Path) -> String {
    let text = fs::read_to_string(root().join("examples").join(format!("{name}.sql"))).unwrap();
    let text = text.replace("'datasets/", &format!("'{}/datasets/", root().display()));
    let results = out.join(name).display().to_string();
    if text.contains("INSERT INTO") {
        return text.replace(&format!("'out/{name}'"), &format!("'{results}'"));
    }
    let (head, query) = text.split_once("\nSELECT").expect("an example ends in a query");
    let list: Vec<String> = columns.0.iter().map(|(column, sql_type)| format!("{column} {sql_type}")).collect();
    format!(
        "{head}\nCREATE TABLE results ({}) WITH ('connector' = 'filesystem', 'path' = '{results}', 'format' = 'json');\n\
         INSERT INTO results SELECT{query}",
        list.join(", ")
    )
}

#[test]
fn every_example_gives_the_rows_that_flink_gave() {
    let expected = root().join("datasets/flights/expected");
    let types = Json::parse(&fs::read_to_string(expected.join("columns.json")).unwrap()).unwrap();
    assert_eq!(types.as_fields().len(), fs::read_dir(root().join("examples")).unwrap().filter(is_sql).count());
    let out = tempfile::tempdir().unwrap();
    for (name, columns) in types.as_fields() {
        let columns = Columns::from_json(columns).unwrap();
        let wanted = rows::read_file(&expected.join(format!("{name}.jsonl")), &columns).unwrap();
        assert!(!wanted.is_empty());
        let text = script(name, &columns, out.path());
        assert!(text.contains(&out.path().display().to_string()), "{name} writes elsewhere");
        let request = Request { text, file: name.clone(), ..Request::default() };
        engine::run(&request).unwrap_or_else(|e| panic!("{name}: {e}"));
        let got = rows::read_sink(&out.path().join(name), &columns).unwrap();
        if let Some(difference) = compare::difference(&wanted, &got, &columns) {
            panic!("{name}: {}", difference.describe(&columns));
        }
    }
}

fn is_sql(entry: &std::io::Result<fs::DirEntry>) -> bool {
    entry.as_ref().is_ok_and(|entry| entry.path().extension().is_some_and(|e| e == "sql"))
}
