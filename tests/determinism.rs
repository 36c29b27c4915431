//! One job over a million rows, one in a hundred of them late, gives the same bytes on any number of
//! shards and from every format.
#![cfg(feature = "sql")]

mod support;

use std::fmt::Write;
use std::path::Path;

use support::read_lines;
use transom::job::{NoReport, RunOptions};
use transom::runner::run_script;
use transom::sql::ScriptOptions;

const ROWS: u64 = 1_000_000;
/// 2024-01-01, in milliseconds since 1970.
const BASE_MS: u64 = 1_704_067_200_000;

/// Milliseconds of the day as time text.
fn clock(ms: u64) -> String {
    let of_day = ms % 86_400_000;
    format!("{:02}:{:02}:{:02}.{:03}", of_day / 3_600_000, of_day / 60_000 % 60, of_day / 1000 % 60, of_day % 1000)
}

/// Rows 10 ms apart on one day, up to 2 s out of order; one in a hundred is five minutes behind.
fn write_inputs(folder: &Path) {
    let (mut csv, mut json) = (String::new(), String::new());
    let mut state = 7_u64;
    for row in 0..ROWS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = state >> 33;
        let behind = if random.is_multiple_of(100) { 300_000 } else { random / 100 % 2_000 };
        let time = format!("2024-01-01 {}", clock(BASE_MS + 600_000 + row * 10 - behind));
        let (key, value) = (random / 7 % 5_000, random % 1_000);
        let price = value as f64 * 0.37;
        let _ = writeln!(csv, "{time},k{key},{value},{price}");
        let _ = writeln!(json, "{{\"ts\":\"{time}\",\"k\":\"k{key}\",\"v\":{value},\"p\":{price}}}");
    }
    std::fs::write(folder.join("events.csv"), csv).expect("a writable folder");
    std::fs::write(folder.join("events.json"), json).expect("a writable folder");
}

const COLUMNS: &str = "ts TIMESTAMP(3), k STRING, v INT, p DOUBLE";

fn run(script: &str, folder: &Path, out: &Path, shards: usize, batch_rows: usize) -> u64 {
    let mut options = ScriptOptions::default();
    options.variables.insert("DATA".into(), folder.display().to_string());
    options.variables.insert("OUT".into(), out.display().to_string());
    let run = RunOptions { shards, batch_rows, ..RunOptions::default() };
    let summary = run_script(script, &options, &run, &mut NoReport).unwrap_or_else(|error| panic!("{error}"));
    let totals = summary.jobs[0].totals;
    assert_eq!(totals.rows_read(), ROWS);
    totals.rows_late
}

fn windows(format: &str, window: &str) -> String {
    format!(
        "CREATE TABLE events ({COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH \
         ('connector' = 'filesystem', 'path' = '${{DATA}}/events.{format}', 'format' = '{format}');
         CREATE TABLE results (k STRING, s TIMESTAMP(3), e TIMESTAMP(3), n BIGINT, v INT, p DOUBLE, d BIGINT) WITH \
         ('connector' = 'filesystem', 'path' = '${{OUT}}/results', 'format' = 'csv');
         INSERT INTO results SELECT k, window_start, window_end, COUNT(*), SUM(v), SUM(p), COUNT(DISTINCT v) \
         FROM TABLE({window}) GROUP BY k, window_start, window_end;"
    )
}

#[test]
fn a_million_rows_give_the_same_bytes_on_any_number_of_shards_and_from_every_format() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write_inputs(folder.path());
    let to_parquet = format!(
        "CREATE TABLE events ({COLUMNS}) WITH \
         ('connector' = 'filesystem', 'path' = '${{DATA}}/events.csv', 'format' = 'csv');
         CREATE TABLE copy ({COLUMNS}) WITH \
         ('connector' = 'filesystem', 'path' = '${{DATA}}/events.parquet', 'format' = 'parquet');
         INSERT INTO copy SELECT * FROM events;"
    );
    run(&to_parquet, folder.path(), folder.path(), 1, 8_192);
    for window in [
        "TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
        "HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE)",
        "SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' SECOND)",
    ] {
        let mut first: Option<(Vec<String>, u64)> = None;
        for (format, shards, batch_rows) in [
            ("csv", 1, 8_192),
            ("csv", 2, 8_192),
            ("csv", 7, 1_000),
            ("json", 2, 8_192),
            ("parquet", 2, 8_192),
            ("csv", 2, 8_192),
        ] {
            let out = tempfile::tempdir().expect("a temporary folder");
            let late = run(&windows(format, window), folder.path(), out.path(), shards, batch_rows);
            let mut rows = Vec::new();
            read_lines(&out.path().join("results"), &mut rows);
            rows.sort_unstable();
            assert!(!rows.is_empty());
            let expected = first.get_or_insert_with(|| (rows.clone(), late));
            assert!(*expected == (rows, late), "{window} from {format} on {shards} shards differs");
        }
        let late = first.map_or(0, |(_, late)| late);
        assert!(late > 0, "{window}: some rows are late");
    }
}

#[test]
fn the_first_broken_record_is_reported_on_any_number_of_shards() {
    let folder = tempfile::tempdir().expect("a folder");
    // A quote that is not closed turns every quote behind it round: each block from there on is broken somewhere.
    let (mut csv, good) = (String::new(), "\"a\"\"b\n\",1\n");
    csv.push_str(&good.repeat(3_000));
    csv.push_str("\"open,1\n");
    csv.push_str(&good.repeat(3_000));
    std::fs::write(folder.path().join("events.csv"), csv).expect("a writable folder");
    let script = format!(
        "CREATE TABLE events (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '{}/events.csv', \
         'format' = 'csv');
         CREATE TABLE results (v INT) WITH ('connector' = 'blackhole');
         INSERT INTO results SELECT v FROM events;",
        folder.path().display()
    );
    for round in 0..20 {
        let run = RunOptions { shards: 1 + round % 5, block_bytes: 64, ..RunOptions::default() };
        let error = run_script(&script, &ScriptOptions::default(), &run, &mut NoReport).expect_err("must fail");
        let place = error.place().expect("a place");
        assert_eq!((place.line, place.column), (6_002, 2), "{} shards: {error}", run.shards);
    }
}
