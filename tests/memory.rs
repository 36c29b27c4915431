//! State that does not fit into memory goes to files, and the rows are the same.
#![cfg(feature = "sql")]

mod support;

use std::fs;
use std::path::Path;

use support::read_lines;
use transom::error::Result;
use transom::job::{JobSummary, NoReport, RunOptions};
use transom::runner::run_script;
use transom::sql::ScriptOptions;

const MIB: u64 = 1 << 20;

/// 600 k rows of 200 k keys within three minutes, one in a hundred of them two minutes late; one key in 50 is written.
fn script(folder: &Path, window: &str, aggregates: &str) -> String {
    format!(
        "CREATE TABLE src (n BIGINT, k AS n * 7919 % 200000, v AS n % 1000,
           ts AS TO_TIMESTAMP_LTZ(CASE WHEN n % 100 = 7 THEN n / 4 ELSE n / 4 + 120000 END, 3),
           WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
         WITH ('connector' = 'datagen', 'number-of-rows' = '600000', 'rows-per-second' = '1000000000',
           'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '599999');
         CREATE TABLE out_table (ends TIMESTAMP_LTZ(3), k BIGINT, a BIGINT, b BIGINT)
         WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv');
         INSERT INTO out_table SELECT window_end, k, a, b FROM (
           SELECT window_end, k, {aggregates} FROM {window} GROUP BY window_start, window_end, k) WHERE k % 50 = 0;",
        folder.join("out.csv").display()
    )
}

fn run(folder: &Path, script: &str, memory: Option<u64>) -> Result<(Vec<String>, JobSummary)> {
    let state = folder.join("state");
    let options = RunOptions { shards: 2, memory, state_folder: Some(state.clone()), ..RunOptions::default() };
    let mut summary = run_script(script, &ScriptOptions::default(), &options, &mut NoReport)?;
    assert_eq!(fs::read_dir(&state).expect("the folder of the state").count(), 0, "files that are left");
    let mut rows = Vec::new();
    read_lines(&folder.join("out.csv"), &mut rows);
    fs::remove_file(folder.join("out.csv")).expect("a file");
    rows.sort();
    Ok((rows, summary.jobs.remove(0)))
}

#[test]
fn windows_beyond_memory_give_the_same_rows() {
    let windows = [
        ("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' HOUR)", "COUNT(*) AS a, FIRST_VALUE(v) AS b", 8),
        ("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE)", "SUM(v) AS a, COUNT(DISTINCT v) AS b", 8),
        ("HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '4' MINUTE)", "COUNT(*) AS a, SUM(v) AS b", 24),
        ("HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '4' MINUTE)", "MIN(v) AS a, MAX(v) AS b", 24),
        (
            "CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)",
            "MAX(v) AS a, SUM(v) AS b",
            12,
        ),
    ];
    for (window, aggregates, memory) in windows {
        let folder = tempfile::tempdir().expect("a folder");
        let script = script(folder.path(), window, aggregates);
        let (expected, whole) = run(folder.path(), &script, None).expect("a run in memory");
        let (rows, spilled) = run(folder.path(), &script, Some(memory * MIB)).expect("a run on the disk");
        assert!(!rows.is_empty() && rows == expected, "{window}");
        assert_eq!(whole.totals.state_bytes_spilled, 0);
        assert!(spilled.totals.state_bytes_spilled > MIB, "{window}: {}", spilled.totals.state_bytes_spilled);
        assert_eq!(
            (spilled.totals.rows_late, spilled.totals.windows_fired),
            (whole.totals.rows_late, whole.totals.windows_fired)
        );
    }
}

#[test]
fn state_that_cannot_move_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = "SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' MINUTE)";
    let script = script(folder.path(), session, "COUNT(*) AS a, SUM(v) AS b");
    let error = run(folder.path(), &script, Some(2 * MIB)).expect_err("sessions stay in memory");
    let error = format!("{error:?}");
    assert!(error.contains("more than its part of --memory; operator 1 has"), "{error}");
    assert!(error.contains("give more --memory"), "{error}");
}
