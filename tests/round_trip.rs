//! Every type through every format: written by Transom and read back, written by Transom and read by pyarrow, DuckDB
//! and fastavro, and written by those in their own ways and read by Transom. The values of the second and third are in
//! `tests/support/round_trip.py`.
#![cfg(feature = "sql")]

mod support;

use std::io::Write;
use std::path::Path;
use std::process::Command;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use serde_json::Value;
use transom::error::Error;
use transom::job::{Report, RunOptions};
use transom::runner::run_script;
use transom::sql::ScriptOptions;

/// Keeps the rows of a SELECT.
#[derive(Default)]
struct Rows(Vec<RecordBatch>);

impl Report for Rows {
    fn rows(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.0.push(batch.clone());
        Ok(())
    }
}

/// The rows that the last statement of a script selects.
fn select(script: &str) -> RecordBatch {
    let mut rows = Rows::default();
    let run = RunOptions { shards: 2, batch_rows: 2, ..RunOptions::default() };
    run_script(script, &ScriptOptions::default(), &run, &mut rows).unwrap_or_else(|error| {
        let remedy = error.remedy().unwrap_or_default();
        panic!("{error} ({remedy})\n{script}")
    });
    let schema = rows.0.first().unwrap_or_else(|| panic!("no rows\n{script}")).schema();
    concat_batches(&schema, &rows.0).expect("one schema")
}

fn table(name: &str, columns: &str, path: &Path, options: &str) -> String {
    let path = path.display();
    format!("CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'path' = '{path}', {options});\n")
}

/// A format as options, and the extension of its files.
const TEXT_FORMATS: [(&str, &str); 2] =
    [("'format' = 'csv', 'csv.null-literal' = 'n/a'", "csv"), ("'format' = 'json'", "json")];

fn avro(codec: &str) -> String {
    format!("'format' = 'avro', 'avro.codec' = '{codec}', 'avro.timestamp_mapping.legacy' = 'false'")
}

fn parquet(codec: &str, version: &str) -> String {
    format!("'format' = 'parquet', 'parquet.compression' = '{codec}', 'parquet.writer.version' = 'PARQUET_{version}_0'")
}

fn binary_formats() -> Vec<(String, &'static str, String)> {
    let avro_codecs = ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"];
    let mut formats: Vec<_> = avro_codecs.iter().map(|codec| (avro(codec), "avro", format!("avro_{codec}"))).collect();
    for codec in ["UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4_RAW"] {
        for version in ["1", "2"] {
            formats.push((parquet(codec, version), "parquet", format!("parquet_{codec}_{version}")));
        }
    }
    formats
}

/// Columns with their expressions over (id INT, t STRING).
const TYPES: [(&str, &str, &str); 20] = [
    ("id", "INT", "id"),
    ("flag", "BOOLEAN", "id = 1"),
    ("tiny", "TINYINT", "CAST(id - 100 AS TINYINT)"),
    ("small", "SMALLINT", "CAST(id * -10000 AS SMALLINT)"),
    ("big", "BIGINT", "CAST(id AS BIGINT) * 4611686018427387900"),
    ("real", "FLOAT", "CAST(id AS FLOAT) / 3"),
    ("dbl", "DOUBLE", "CAST(id AS DOUBLE) / 3"),
    ("dec38", "DECIMAL(38, 0)", "CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0))"),
    ("frac38", "DECIMAL(38, 38)", "CAST('-0.00000000000000000000000000000000000001' AS DECIMAL(38, 38))"),
    ("fixed", "CHAR(2)", "CAST('ä€' AS CHAR(2))"),
    ("text", "STRING", "t"),
    ("day1", "DATE", "DATE '0001-01-01'"),
    ("day9", "DATE", "DATE '9999-12-31'"),
    ("clock", "TIME(3)", "TIME '23:59:59.999'"),
    ("ts3", "TIMESTAMP(3)", "TIMESTAMP '0001-01-01 00:00:00.001'"),
    ("ts6", "TIMESTAMP(6)", "TIMESTAMP '9999-12-31 23:59:59.999999'"),
    ("ts9", "TIMESTAMP(9)", "TIMESTAMP '2024-02-29 23:59:59.123456789'"),
    ("ltz3", "TIMESTAMP_LTZ(3)", "TO_TIMESTAMP_LTZ(-62135596800000 + id, 3)"),
    ("none", "STRING", "CAST(NULL AS STRING)"),
    ("day0", "DATE", "CAST(NULL AS DATE)"),
];

/// Bytes and nested types.
const MORE_TYPES: [(&str, &str, &str); 5] = [
    ("bytes", "BYTES", "CAST(t AS BYTES)"),
    ("ints", "ARRAY<INT>", "ARRAY[id, CAST(NULL AS INT), 7]"),
    ("pairs", "MAP<STRING, INT>", "MAP[t, id, 'other', CAST(NULL AS INT)]"),
    ("pair", "ROW<x INT, y STRING>", "CAST(ROW(id, t) AS ROW<x INT, y STRING>)"),
    (
        "deep",
        "ARRAY<ROW<x INT, y ARRAY<STRING>>>",
        "CAST(ARRAY[ROW(id, ARRAY[t, 'é'])] AS ARRAY<ROW<x INT, y ARRAY<STRING>>>)",
    ),
];

#[test]
fn what_transom_writes_it_reads_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("source.csv");
    std::fs::write(&source, "1,\"a,\"\"b\"\"\n\\c\té😀\"\n2,\n").expect("written");
    let source = table("source", "id INT, t STRING", &source, "'format' = 'csv'");
    let text: Vec<_> = TEXT_FORMATS.iter().map(|(options, end)| (options.to_string(), *end, end.to_string())).collect();
    let json = vec![text[1].clone()];
    let all: Vec<_> = TYPES.iter().chain(&MORE_TYPES).collect();
    for (formats, types) in [(text, TYPES.iter().collect()), (json, all.clone()), (binary_formats(), all)] {
        let columns: Vec<_> = types.iter().map(|(name, kind, _)| format!("{name} {kind}")).collect();
        let values: Vec<_> = types.iter().map(|(name, _, value)| format!("{value} AS {name}")).collect();
        let query = format!("SELECT {} FROM source", values.join(", "));
        let expected = select(&format!("{source}{query};"));
        assert_eq!(expected.num_rows(), 2);
        for (options, end, name) in formats {
            let out = table("o", &columns.join(", "), &folder.path().join(format!("{name}.{end}")), &options);
            let back = select(&format!("{source}{out}INSERT INTO o {query};\nSELECT * FROM o;"));
            for (index, (column, _, _)) in types.iter().enumerate() {
                assert_eq!(back.column(index), expected.column(index), "{name}: `{column}`");
            }
        }
    }
}

/// The Python that has the peers, or why there is none.
fn python() -> Result<String, String> {
    let python = std::env::var("TRANSOM_PEERS_PYTHON").unwrap_or_else(|_| "python3".to_string());
    match peer(&python, &["probe"]) {
        Ok(_) => Ok(python),
        Err(why) => Err(format!("{python}: {}", why.trim().lines().last().unwrap_or_default())),
    }
}

fn peer(python: &str, arguments: &[&str]) -> Result<String, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/round_trip.py");
    let output = Command::new(python).arg(script).args(arguments).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Says aloud that a test did not run; where peers are required, it fails.
fn skipped(test: &str, why: &str) {
    assert!(std::env::var_os("TRANSOM_PEERS_REQUIRED").is_none(), "{test}: {why}");
    let how = "pip install -r tests/support/requirements.txt, and set TRANSOM_PEERS_PYTHON to that Python";
    // Not by a macro, whose output the test harness keeps to itself.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why} ({how})");
}

/// The declaration of the columns of a manifest.
fn declared(manifest: &Value, names: &Value) -> String {
    let names = names.as_array().expect("names").iter().map(|name| name.as_str().expect("a name"));
    let columns: Vec<_> =
        names.map(|name| format!("{name} {}", manifest["types"][name].as_str().expect("a type"))).collect();
    columns.join(", ")
}

fn options_of(format: &str) -> String {
    match format {
        "csv" => TEXT_FORMATS[0].0.to_string(),
        "avro" => avro("null"),
        format => format!("'format' = '{format}'"),
    }
}

/// Compares by names, since files have their columns in any number and order.
fn assert_same(file: &str, found: &RecordBatch, base: &RecordBatch) {
    for (index, field) in found.schema().fields().iter().enumerate() {
        let expected = base.column_by_name(field.name()).expect("a column of the base");
        assert_eq!(found.column(index), expected, "{file}: `{}`", field.name());
    }
}

#[test]
fn peers_read_what_transom_writes_and_transom_reads_what_they_write() {
    const TEST: &str = "peers_read_what_transom_writes_and_transom_reads_what_they_write";
    let python = match python() {
        Ok(python) => python,
        Err(why) => return skipped(TEST, &why),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::create_dir(folder.join("out")).expect("made");
    let shown = folder.display().to_string();
    peer(&python, &["write", &shown]).unwrap_or_else(|error| panic!("{error}"));
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let files = manifest["files"].as_array().expect("files");

    // What they write.
    let source = |file: &Value| {
        let name = file["file"].as_str().expect("a name");
        let options = options_of(file["format"].as_str().expect("a format"));
        table("source", &declared(&manifest, &file["columns"]), &folder.join(name), &options)
    };
    let base = format!("{}SELECT * FROM source;", source(&files[0]));
    let base = select(&base);
    assert_eq!(base.num_rows(), 3);
    for file in files {
        let name = file["file"].as_str().expect("a name");
        if file["empty"] == Value::Bool(true) {
            let mut rows = Rows::default();
            let script = format!("{}SELECT * FROM source;", source(file));
            run_script(&script, &ScriptOptions::default(), &RunOptions::default(), &mut rows).expect("no rows");
            assert!(rows.0.is_empty(), "{name}");
            continue;
        }
        assert_same(name, &select(&format!("{}SELECT * FROM source;", source(file))), &base);
    }

    // What Transom writes.
    let source = source(&files[0]);
    let text = TEXT_FORMATS.iter().map(|(options, end)| (options.to_string(), *end, "text".to_string()));
    for (options, end, name) in binary_formats().into_iter().chain(text) {
        let names = if end == "csv" { &manifest["text"] } else { &manifest["columns"] };
        let list: Vec<_> = names.as_array().expect("names").iter().filter_map(Value::as_str).collect();
        let out = folder.join("out").join(format!("{name}.{end}"));
        let out = table("o", &declared(&manifest, names), &out, &options);
        let back = format!("{source}{out}INSERT INTO o SELECT {} FROM source;\nSELECT * FROM o;", list.join(", "));
        assert_same(&format!("{name}.{end}"), &select(&back), &base);
    }
    let said = peer(&python, &["check", &shown]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(said.trim(), "34 readings");
}
