//! Records that a job does without: where they go, what is said of them, what is counted.
#![cfg(feature = "sql")]

mod support;

use std::path::Path;
use std::process::{Command, Output};

use support::Job;
use support::aside::{COUNT, in_all_ways, script};
use tempfile::TempDir;

const CSV: &[u8] = b"2024-05-01 12:00:01,a,1\n\
    NULL,b,2\n\
    2024-05-01 12:00:02,\"two\nlines\",x\n\
    2024-05-01 12:00:03,\"a\"b,3\n\
    2024-05-01 12:00:04,caf\xE9,4\n\
    2024-05-01 12:00:05,a,5,6\n\
    2024-05-01 12:00:06,a,7\n\
    yesterday,a,8\n";

fn csv_job(options: &str) -> Job {
    let format = format!("'format' = 'csv', 'csv.null-literal' = 'NULL'{options}");
    Job::new(&script(&format)).file("in1.csv", CSV).file("in2.csv", "2024-05-01 12:00:09,z,1\n,,\n")
}

#[test]
fn csv_records_go_into_quarantine_with_place_and_reason() {
    let (lines, summary) = in_all_ways(&csv_job(""));
    let of_whole: Vec<&String> = lines.iter().filter(|line| line.contains("in1.csv")).collect();
    for (line, column, reason, text) in [
        (2, 1, "the event time `ts` is NULL", "NULL,b,2"),
        (4, 8, "column `v`: 'x' is not an INT", "2024-05-01 12:00:02,\\\"two\\nlines\\\",x"),
        (5, 24, "'b' behind a closing quote; expected ',' or the end of the line", "2024-05-01 12:00:03,\\\"a\\\"b,3"),
        (
            6,
            24,
            "the file is not UTF-8: here is the byte 0xE9, which is 'é' in Latin-1",
            "2024-05-01 12:00:04,caf\u{FFFD},4",
        ),
        (7, 25, "the table has 3 columns, but this record has more", "2024-05-01 12:00:05,a,5,6"),
        (9, 1, "column `ts`: 'yesterday' is not a TIMESTAMP(3)", "yesterday,a,8"),
    ] {
        let expected = format!(
            "{{\"file\":\"/in1.csv\",\"line\":{line},\"column\":{column},\"table\":\"src\",\"reason\":\"{reason}\",\"text\":\"{text}\"}}"
        );
        assert!(of_whole.contains(&&expected), "no {expected} in {of_whole:#?}");
    }
    // The file is read twice, for two queries, as one wants the digits of `ts` that TIMESTAMP(3) hides; only one of them
    // reads `v`.
    assert_eq!(summary.totals.rows_without_time, 2);
    assert_eq!(summary.totals.rows_unreadable, 4 + 5 + 2);
    assert_eq!(summary.totals.rows_malformed, 0);
}

#[test]
fn with_ignored_errors_only_what_would_be_skipped_or_has_no_time_is_set_aside() {
    let (lines, summary) = in_all_ways(&csv_job(", 'csv.ignore-parse-errors' = 'true'"));
    assert!(!lines.iter().any(|line| line.contains("is not an INT")), "{lines:#?}");
    // NULL, yesterday, and the record of `,,`.
    assert_eq!(summary.totals.rows_without_time, 2 * 3);
    assert_eq!(summary.totals.rows_unreadable, 2 * 3);
    assert_eq!(summary.totals.rows_malformed, 0);
}

const JSON: &[u8] = b"{\"ts\":\"2024-05-01 12:00:01\",\"k\":\"a\",\"v\":1}\n\
    {\"k\":\"a\",\"v\":2}\n\
    {\"ts\":\"2024-05-01 12:00:02\",\"k\":\"a\",\"v\":\"x\"}\n\
    \n\
    {\"ts\":\n\
    [{\"ts\":\"2024-05-01 12:00:03\",\"k\":\"a\",\"v\":1},{\"ts\":null,\"k\":\"b\"}]\n\
    {\"ts\":\"2024-05-01 12:00:04\",\"k\":\"\xFF\",\"v\":1}\n\
    {\"ts\":\"2024-05-01 12:00:05\",\"k\":\"a\",\"v\":1}\n";

#[test]
fn json_lines_go_into_quarantine_with_place_and_reason() {
    let job = Job::new(&script("'format' = 'json'")).file("in.json", JSON);
    let (lines, summary) = in_all_ways(&job);
    let has = |line: u64, reason: &str| {
        let found = lines.iter().any(|l| l.contains(&format!("\"line\":{line},")) && l.contains(reason));
        assert!(found, "no {reason:?} in line {line}: {lines:#?}");
    };
    has(2, "the event time `ts` is NULL");
    has(3, "'x' is not an INT");
    has(5, "this line is not a JSON object");
    has(6, "the event time `ts` is NULL");
    has(7, "the file is not UTF-8: here is the byte 0xFF");
    assert_eq!(summary.totals.rows_without_time, 4);
    assert_eq!(summary.totals.rows_unreadable, 3 + 2);
    let ignoring = Job::new(&script("'format' = 'json', 'json.ignore-parse-errors' = 'true'")).file("in.json", JSON);
    let totals = in_all_ways(&ignoring).1.totals;
    assert_eq!((totals.rows_without_time, totals.rows_unreadable, totals.rows_malformed), (4, 4, 0));
}

#[test]
fn case_11_an_ignored_error_in_the_event_time_fails_the_job_unless_there_is_a_quarantine() {
    let json = "{\"ts\":\"2024-01-01 00:00:01\",\"v\":\"x\"}\n{\"ts\":\"oops\",\"v\":1}\n";
    let with = script("'format' = 'json', 'json.ignore-parse-errors' = 'true'");
    let without = with.replacen("SET 'transom.quarantine.path'", "SET 'pipeline.name'", 1);
    let error = Job::new(&without).file("in.json", json).error();
    assert_eq!(error.message(), "the event time `ts` of table src is NULL");
    assert_eq!(error.place().map(|place| (place.line, place.column)), Some((2, 1)));
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("filter") && remedy.contains("quarantine")), "{error}");
    let (lines, _) = in_all_ways(&Job::new(&with).file("in.json", json));
    let line = "\"line\":2,\"column\":1,\"table\":\"src\",\"reason\":\"the event time `ts` is NULL\"";
    assert!(lines.len() == 2 && lines.iter().all(|found| found.contains(line)), "{lines:#?}");
}

/// Writes a Parquet file by way of a script.
fn parquet_file(folder: &Path, columns: &str, csv: &str) {
    std::fs::write(folder.join("rows.csv"), csv).expect("a writable folder");
    let script = format!(
        "CREATE TABLE a ({columns}) WITH ('connector' = 'filesystem', 'path' = 'rows.csv', 'format' = 'csv', 'csv.null-literal' = '');\n\
         CREATE TABLE b ({columns}) WITH ('connector' = 'filesystem', 'path' = 'in.parquet', 'format' = 'parquet');\n\
         INSERT INTO b SELECT * FROM a;"
    );
    std::fs::write(folder.join("write.sql"), script).expect("a writable folder");
    let output = transom(folder, &["run", "write.sql", "--quiet", "--shards", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn parquet_rows_go_into_quarantine_with_their_number_and_as_json() {
    let job = Job::new(&script("'format' = 'parquet'").replace("v INT", "v DECIMAL(38, 10)"));
    let mut csv = String::new();
    for row in 0..10 {
        csv.push_str(&format!("2024-05-01 12:00:0{row},a,{row}\n"));
    }
    csv.push_str(
        ",b,11\n2024-05-01 12:00:11,c,99999999999999999999999999999999999999\n,d,13\n2024-05-01 12:00:13,e,14\n",
    );
    parquet_file(job.folder.path(), "ts TIMESTAMP(3), k STRING, v DECIMAL(38, 0)", &csv);
    let (lines, summary) = in_all_ways(&job);
    // One reading serves both queries.
    assert_eq!(summary.totals.rows_without_time, 2);
    assert_eq!(summary.totals.rows_unreadable, 1);
    let null = "\"row\":11,\"table\":\"src\",\"reason\":\"the event time `ts` is NULL\",\"text\":\"{\\\"ts\\\":null";
    assert!(lines.iter().any(|line| line.contains(null)), "{lines:#?}");
    let wide = "\\\"k\\\":\\\"c\\\",\\\"v\\\":99999999999999999999999999999999999999}\"}";
    assert!(lines.iter().any(|line| line.contains("\"row\":12,") && line.ends_with(wide)), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("\"row\":13,")), "{lines:#?}");
}

fn transom(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_transom")).current_dir(folder).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder(script: &str, csv: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("job.sql"), script).expect("a writable folder");
    std::fs::write(folder.path().join("src.csv"), csv).expect("a writable folder");
    folder
}

const TABLE: &str = "CREATE TABLE src (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)\n\
    WITH ('connector' = 'filesystem', 'path' = 'src.csv', 'format' = 'csv', 'csv.null-literal' = '');\n";

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a readable folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_flag_names_the_file_and_the_summary_counts_the_reasons() {
    let folder = folder(&format!("{TABLE}{COUNT};"), "2024-05-01 12:00:01,a,1\n,b,2\nx,c,3\n");
    let output = transom(folder.path(), &["run", "job.sql", "--quarantine", "rejected.jsonl"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    for line in [
        "     rows read  3 = 1 used + 0 filtered + 0 late + 0 malformed + 2 quarantined\n",
        "   quarantined  1 unreadable + 1 event time NULL, to rejected.jsonl\n",
    ] {
        assert!(stderr.contains(line), "no {line:?} in:\n{stderr}");
    }
    assert_eq!(names(folder.path()), ["job.sql", "rejected.jsonl", "src.csv"]);
    let quiet = transom(folder.path(), &["run", "job.sql", "--quarantine", "rejected.jsonl", "--quiet"]);
    assert_eq!(text(&quiet.stderr), "");
}

#[test]
fn without_it_a_null_event_time_fails_with_file_line_column_and_what_to_do() {
    let mut csv: String = (0..200_000).map(|row| format!("2024-05-01 12:00:01,\"a\nb\",{row}\n")).collect();
    csv.push_str(",b,2\n");
    let folder = folder(&format!("{TABLE}{COUNT};"), &csv);
    let output = transom(folder.path(), &["run", "job.sql", "--quiet"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    for part in ["the event time `ts` of table src is NULL", "src.csv:400001:1", "COALESCE", "transom.quarantine.path"]
    {
        assert!(stderr.contains(part), "no {part:?} in:\n{stderr}");
    }
}

#[test]
fn too_many_of_them_fail_the_job_and_the_first_ones_are_kept() {
    let csv: String = (0..50).map(|row| format!("{row};b;2\n")).collect();
    let script = format!("SET 'transom.quarantine.max-rows' = '10';\n{TABLE}{COUNT};");
    let folder = folder(&script, &csv);
    for shards in ["1", "2", "7"] {
        let args = ["run", "job.sql", "--quarantine", "rejected.jsonl", "--shards", shards];
        let output = transom(folder.path(), &args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        for part in [
            "more than 10 records cannot be used; the first 10 are in rejected.jsonl",
            "a wrong delimiter",
            "10 records that were set aside before the job failed: see rejected.jsonl",
        ] {
            assert!(stderr.contains(part), "no {part:?} in:\n{stderr}");
        }
        let kept = std::fs::read_to_string(folder.path().join("rejected.jsonl")).expect("kept");
        assert_eq!(kept.lines().count(), 10);
        assert!(kept.lines().next().is_some_and(|line| line.contains("\"line\":1,")), "{kept}");
    }
    assert_eq!(names(folder.path()), ["job.sql", "rejected.jsonl", "src.csv"]);
}

#[test]
fn the_statements_of_a_script_share_the_file_and_a_new_run_begins_it_anew() {
    let folder = folder(&format!("{TABLE}{COUNT};\n{COUNT};"), "2024-05-01 12:00:01,a,1\n,b,2\n");
    for _ in 0..2 {
        let output = transom(folder.path(), &["run", "job.sql", "--quarantine", "rejected.jsonl"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let rows = std::fs::read_to_string(folder.path().join("rejected.jsonl")).expect("written");
        assert_eq!(rows.lines().count(), 2);
    }
    std::fs::write(folder.path().join("src.csv"), "2024-05-01 12:00:01,a,1\n").expect("a writable folder");
    transom(folder.path(), &["run", "job.sql", "--quarantine", "rejected.jsonl"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("rejected.jsonl")).expect("written"), "");
}

#[test]
fn a_file_that_the_job_reads_or_writes_is_no_quarantine() {
    let sink = "CREATE TABLE o (n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'o.json', 'format' = 'json');\n";
    let insert = "INSERT INTO o SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND)) \
        GROUP BY window_start, window_end;";
    let folder = folder(&format!("{TABLE}{sink}{insert}"), "2024-05-01 12:00:01,a,1\n");
    for (file, does) in [("./src.csv", "reads"), ("o.json", "writes"), (".", "is a folder")] {
        let output = transom(folder.path(), &["run", "job.sql", "--quarantine", file]);
        assert!(text(&output.stderr).contains(does), "{}", text(&output.stderr));
        assert_ne!(output.status.code(), Some(0));
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("src.csv")).expect("kept"), "2024-05-01 12:00:01,a,1\n");
}

#[test]
fn a_long_record_is_cut() {
    let long = "é".repeat(3_000);
    let folder = folder(&format!("{TABLE}{COUNT};"), &format!("x,{long},3\n"));
    transom(folder.path(), &["run", "job.sql", "--quarantine", "deep/er/rejected.jsonl"]);
    let rows = std::fs::read_to_string(folder.path().join("deep/er/rejected.jsonl")).expect("written");
    let kept = format!("\"text\":\"x,{}…\"", "é".repeat(998));
    assert!(rows.trim_end().ends_with(&format!("{kept}}}")), "{rows}");
}
