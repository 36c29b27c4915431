//! The binary as a user meets it: what it says about bad input, where it says it, and how it exits.
#![cfg(feature = "sql")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn transom(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_transom")).current_dir(folder).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const GOOD: &str = "2024-05-01 12:00:01,a,1\n2024-05-01 12:00:02,b,2\n2024-05-01 12:00:11,a,3\n";

fn table(format_options: &str) -> String {
    format!(
        "CREATE TABLE src (ts TIMESTAMP(3), k STRING, v INT,\n  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)\n\
         WITH ('connector' = 'filesystem', 'path' = 'src.csv', {format_options});\n"
    )
}

const COUNT: &str = "SELECT k, window_start, COUNT(*) AS n\n\
    FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND))\n\
    GROUP BY k, window_start, window_end;\n";

fn folder(script: &str, data: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("job.sql"), script).expect("a writable folder");
    std::fs::write(folder.path().join("src.csv"), data).expect("a writable folder");
    folder
}

/// Runs the script; it must fail with this code and say all of these.
fn fails(script: &str, data: &str, code: i32, says: &[&str]) {
    let folder = folder(script, data);
    let output = transom(folder.path(), &["run", "job.sql", "--quiet"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    for part in says {
        assert!(stderr.contains(part), "no {part:?} in:\n{stderr}");
    }
    assert!(stderr.contains("help:"), "no remedy in:\n{stderr}");
}

fn query_fails(query: &str, says: &[&str]) {
    fails(&format!("{}{query}", table("'format' = 'csv'")), GOOD, 2, says);
}

#[test]
fn a_row_counts_once_whatever_its_grouping_sets_and_elements() {
    const LATE: &str = "2024-05-01 12:00:01,a,1\n2024-05-01 12:00:30,a,2\n2024-05-01 12:00:02,b,3\n";
    let sets = "SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) \
                GROUP BY window_start, window_end, CUBE (k, v);";
    let unnest = "SELECT k, x FROM (SELECT * FROM src WHERE v > 1) CROSS JOIN UNNEST(ARRAY[v, v]) AS u (x);";
    let none = "SELECT k, x FROM src JOIN UNNEST(ARRAY[v, v]) AS u (x) ON x > 2;";
    let counts = [
        (sets, "3 = 2 used + 0 filtered + 1 late + 0 malformed"),
        (unnest, "3 = 2 used + 1 filtered + 0 late + 0 malformed"),
        (none, "3 = 1 used + 2 filtered + 0 late + 0 malformed"),
    ];
    for (query, figures) in counts {
        let folder = folder(&format!("{}{query}", table("'format' = 'csv'")), LATE);
        let output = transom(folder.path(), &["run", "job.sql"]);
        assert!(text(&output.stderr).contains(figures), "{query}\n{}", text(&output.stderr));
    }
}

#[test]
fn a_late_row_costs_the_other_side_of_a_union_nothing() {
    const LATE: &str = "2024-05-01 12:00:01,a,1\n2024-05-01 12:00:30,a,2\n2024-05-01 12:00:02,b,3\n";
    let union = "CREATE VIEW u AS SELECT k, ts FROM src UNION ALL SELECT 'other', ts FROM src;\n\
                 SELECT k FROM TABLE(TUMBLE(TABLE u, DESCRIPTOR(ts), INTERVAL '10' SECOND)) \
                 WHERE k <> 'b' GROUP BY window_start, window_end, k;";
    let folder = folder(&format!("{}{union}", table("'format' = 'csv'")), LATE);
    let output = transom(folder.path(), &["run", "job.sql", "-o", "csv"]);
    let rows = text(&output.stdout);
    let mut rows: Vec<&str> = rows.lines().skip(1).collect();
    rows.sort_unstable();
    assert_eq!(rows, ["a", "a", "other", "other"]);
}

#[test]
fn a_script_needs_no_table() {
    let folder = folder("SELECT 1, 'a' AS b UNION ALL VALUES (2, 'bc');", "");
    let output = transom(folder.path(), &["run", "job.sql", "-o", "csv"]);
    assert_eq!(text(&output.stdout), "EXPR$0,b\n1,a\n2,bc\n");
}

#[test]
fn a_select_prints_a_table_and_nothing_else_on_stdout() {
    let folder = folder(&format!("{}{COUNT}", table("'format' = 'csv'")), GOOD);
    let output = transom(folder.path(), &["run", "job.sql"]);
    let expected = " k | window_start            | n\n\
                    ---+-------------------------+---\n\
                    \x20a | 2024-05-01 12:00:00.000 | 1\n\
                    \x20b | 2024-05-01 12:00:00.000 | 1\n\
                    \x20a | 2024-05-01 12:00:10.000 | 1\n\
                    (3 rows)\n";
    let mut lines: Vec<String> = text(&output.stdout).lines().map(str::to_string).collect();
    let mut expected: Vec<String> = expected.lines().map(str::to_string).collect();
    lines[2..4].sort();
    expected[2..4].sort();
    assert_eq!(lines, expected);
    assert!(
        text(&output.stderr).contains("3 = 3 used + 0 filtered + 0 late + 0 malformed"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_select_prints_csv_and_json() {
    let folder = folder(&format!("{}{COUNT}", table("'format' = 'csv'")), GOOD);
    let csv = text(&transom(folder.path(), &["run", "job.sql", "-q", "-o", "csv"]).stdout);
    assert!(csv.starts_with("k,window_start,n\n"), "{csv}");
    assert_eq!(csv.lines().count(), 4);
    let json = text(&transom(folder.path(), &["run", "job.sql", "-q", "-o", "json"]).stdout);
    assert!(json.contains("{\"k\":\"b\",\"window_start\":\"2024-05-01 12:00:00\",\"n\":1}"), "{json}");
}

#[test]
fn the_print_connector_prints_as_flink_does() {
    let sink =
        "CREATE TABLE p (k STRING, s TIMESTAMP(3), n BIGINT) WITH ('connector' = 'print', 'print-identifier' = 'P');\n";
    let folder = folder(&format!("{}{sink}INSERT INTO p {COUNT}", table("'format' = 'csv'")), GOOD);
    let output = transom(folder.path(), &["run", "job.sql", "-q"]);
    assert!(text(&output.stdout).contains("P> +I[a, 2024-05-01T12:00:10, 1]\n"), "{}", text(&output.stdout));
}

#[test]
fn explain_shows_the_window_operator_and_runs_nothing() {
    let folder = folder(&format!("{}{COUNT}", table("'format' = 'csv'")), "not read");
    let output = transom(folder.path(), &["explain", "job.sql"]);
    let plan = text(&output.stdout);
    for part in ["TUMBLE", "10", "k", "slice", "ts - INTERVAL '1' SECOND"] {
        assert!(plan.contains(part), "no {part:?} in:\n{plan}");
    }
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn an_unknown_column_is_named_with_its_place_and_the_nearest_name() {
    query_fails(
        "SELECT window_strt, COUNT(*) FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_strt, window_end;",
        &["window_strt", "job.sql:4:", "did you mean"],
    );
}

#[test]
fn an_unknown_function_offers_the_nearest_name() {
    query_fails("SELECT UPPERR(k) FROM src;", &["UPPERR", "job.sql:4:8", "UPPER"]);
}

#[test]
fn an_unknown_option_offers_the_nearest_name() {
    fails(
        &format!("{}{COUNT}", table("'format' = 'csv', 'csv.null-litral' = ''")),
        GOOD,
        2,
        &["csv.null-litral", "job.sql:3:", "csv.null-literal"],
    );
}

#[test]
fn an_unknown_format_offers_the_nearest_name() {
    fails(&format!("{}{COUNT}", table("'format' = 'cvs'")), GOOD, 2, &["cvs", "csv", "job.sql:3:"]);
}

#[test]
fn a_flink_format_that_is_not_ours_is_refused_by_name() {
    fails(&format!("{}{COUNT}", table("'format' = 'orc'")), GOOD, 2, &["orc", "Flink"]);
}

#[test]
fn a_window_needs_a_watermark_on_its_time_column() {
    let script = format!(
        "CREATE TABLE src (ts TIMESTAMP(3), k STRING, v INT)\nWITH ('connector' = 'filesystem', 'path' = 'src.csv', 'format' = 'csv');\n{COUNT}"
    );
    fails(&script, GOOD, 2, &["ts", "WATERMARK", "job.sql:4:"]);
}

#[test]
fn a_window_over_a_column_that_is_no_time_is_refused() {
    query_fails(
        "SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(v), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;",
        &["v", "job.sql:4:"],
    );
}

#[test]
fn window_sizes_must_be_positive_and_fit_each_other() {
    for (window, says) in [
        ("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '0' SECOND)", "0"),
        ("TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '-10' SECOND)", "-10"),
        ("HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '10' SECOND)", "multiple"),
        ("CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '4' SECOND, INTERVAL '10' SECOND)", "multiple"),
    ] {
        query_fails(
            &format!("SELECT COUNT(*) FROM TABLE({window}) GROUP BY window_start, window_end;"),
            &[says, "job.sql:4:"],
        );
    }
}

#[test]
fn what_is_flinks_but_not_ours_is_refused_by_name() {
    query_fails("SELECT a.k FROM src a LEFT JOIN src b ON a.k = b.k;", &["LEFT OUTER join", "Flink"]);
    query_fails("SELECT * FROM src MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS A.v > 1);", &["MATCH_RECOGNIZE", "Flink"]);
}

#[test]
fn a_syntax_error_shows_its_line_with_a_caret() {
    query_fails("SELEC k FROM src;", &["job.sql:4:1", "SELEC k FROM src;", "^"]);
}

#[test]
fn an_undefined_variable_says_how_to_set_it() {
    let script = table("'format' = 'csv'").replace("'src.csv'", "'${DATA}/src.csv'");
    fails(&script, GOOD, 2, &["DATA", "--set", "job.sql:3:"]);
}

#[test]
fn a_missing_file_is_named() {
    let script = format!("{}{COUNT}", table("'format' = 'csv'")).replace("src.csv", "nowhere.csv");
    fails(&script, GOOD, 1, &["nowhere.csv"]);
}

#[test]
fn an_empty_file_gives_no_rows() {
    let folder = folder(&format!("{}{COUNT}", table("'format' = 'csv'")), "");
    let output = transom(folder.path(), &["run", "job.sql", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("(0 rows)"));
}

#[test]
fn malformed_csv_is_named_by_file_line_and_column() {
    let data = "2024-05-01 12:00:01,a,1\n2024-05-01 12:00:02,b,x\n";
    fails(
        &format!("{}{COUNT}", table("'format' = 'csv'")).replace("COUNT(*)", "SUM(v)"),
        data,
        1,
        &["src.csv:2:23", "x", "v", "csv.ignore-parse-errors"],
    );
}

#[test]
fn ignored_parse_errors_read_as_null() {
    let data = "2024-05-01 12:00:01,a,1\n2024-05-01 12:00:02,a,x\n";
    let query = COUNT.replace("COUNT(*)", "COUNT(v)");
    let folder = folder(&format!("{}{query}", table("'format' = 'csv', 'csv.ignore-parse-errors' = 'true'")), data);
    let output = transom(folder.path(), &["run", "job.sql", "-q", "-o", "json"]);
    assert_eq!(text(&output.stdout), "{\"k\":\"a\",\"window_start\":\"2024-05-01 12:00:00\",\"n\":1}\n");
}

#[test]
fn malformed_json_is_named_by_file_and_line() {
    let script = format!("{}{COUNT}", table("'format' = 'json'"));
    let data = "{\"ts\":\"2024-05-01 12:00:01\",\"k\":\"a\",\"v\":1}\n{\"ts\":oops\n";
    fails(&script, data, 1, &["src.csv:2", "json.ignore-parse-errors"]);
    let lenient = format!("{}{COUNT}", table("'format' = 'json', 'json.ignore-parse-errors' = 'true'"));
    let folder = folder(&lenient, data);
    let output = transom(folder.path(), &["run", "job.sql"]);
    assert!(
        text(&output.stderr).contains("2 = 1 used + 0 filtered + 0 late + 1 malformed"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_null_event_time_fails_the_job_and_names_the_place() {
    let data = "2024-05-01 12:00:01,a,1\n,b,2\n";
    let script = format!("{}{COUNT}", table("'format' = 'csv', 'csv.null-literal' = ''"));
    fails(&script, data, 1, &["src.csv:2:1", "`ts`", "NULL", "COALESCE"]);
}

#[test]
fn a_number_that_does_not_fit_its_type_is_named() {
    let data = "2024-05-01 12:00:01,a,99999999999\n";
    let script = format!("{}{COUNT}", table("'format' = 'csv'")).replace("COUNT(*)", "SUM(v)");
    fails(&script, data, 1, &["src.csv:1:23", "99999999999", "INT"]);
}

#[test]
fn a_truncated_parquet_file_is_named() {
    let script = format!("{}{COUNT}", table("'format' = 'parquet'"));
    fails(&script, "PAR1 and then nothing", 1, &["src.csv"]);
}

#[test]
fn a_failed_job_leaves_no_output() {
    let sink = "CREATE TABLE out (k STRING, s TIMESTAMP(3), n INT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');\n";
    let query = COUNT.replace("COUNT(*)", "SUM(v)");
    let data = "2024-05-01 12:00:01,a,1\n2024-05-01 12:01:02,b,2\n2024-05-01 12:05:02,b,x\n";
    let folder = folder(&format!("{}{sink}INSERT INTO out {query}", table("'format' = 'csv'")), data);
    let output = transom(folder.path(), &["run", "job.sql", "-q"]);
    assert_eq!(output.status.code(), Some(1));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    let visible = left.iter().filter(|name| !["job.sql", "src.csv"].contains(&name.to_str().unwrap())).count();
    assert_eq!(visible, 0, "{left:?}");
}

#[test]
fn wrong_flags_and_missing_scripts_exit_with_2() {
    let folder = folder("", "");
    for args in [
        &["run"][..],
        &["run", "job.sql", "--shards", "0"],
        &["run", "nowhere.sql"],
        &["run", "job.sql", "--set", "x"],
        &["fly"],
    ] {
        let output = transom(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let rows: String = (0..200_000).map(|row| format!("2024-05-01 12:00:01,k{row},1\n")).collect();
    let folder = folder(&format!("{}SELECT k, v FROM src;", table("'format' = 'csv'")), &rows);
    let mut child = Command::new(env!("CARGO_BIN_EXE_transom"))
        .current_dir(folder.path())
        .args(["run", "job.sql", "-o", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("error"), "{}", text(&output.stderr));
}

#[test]
fn a_script_comes_from_stdin_too() {
    use std::io::Write;
    let folder = folder("", GOOD);
    let mut child = Command::new(env!("CARGO_BIN_EXE_transom"))
        .current_dir(folder.path())
        .args(["run", "-", "-q", "-o", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let script = format!("{}{COUNT}", table("'format' = 'csv'"));
    child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(text(&output.stdout).lines().count(), 4);
}

#[test]
fn plain_threads_give_the_same_rows() {
    let folder = folder(&format!("{}{COUNT}", table("'format' = 'csv'")), GOOD);
    let on = |executor: &str| text(&transom(folder.path(), &["run", "job.sql", "-q", "--executor", executor]).stdout);
    assert_eq!(on("auto"), on("threads"));
}

#[test]
fn a_byte_order_mark_before_a_script_is_skipped() {
    let folder = folder(&format!("\u{feff}{}{COUNT}", table("'format' = 'csv'")), GOOD);
    let output = transom(folder.path(), &["run", "job.sql", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

fn sink(name: &str, path: &str) -> String {
    format!(
        "CREATE TABLE {name} (ts TIMESTAMP(3), k STRING, v INT)\n\
         WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv');\n"
    )
}

#[test]
fn a_script_that_writes_a_file_twice_is_refused() {
    let tables = format!("{}{}{}", table("'format' = 'csv'"), sink("a", "out.csv"), sink("b", "./out.csv"));
    let two = "INSERT INTO a SELECT * FROM src;\nINSERT INTO b SELECT * FROM src;\n";
    let says = ["out.csv would be written twice", "UNION ALL"];
    fails(&format!("{tables}{two}"), GOOD, 2, &[&says[..], &["job.sql:9:1", "statement 4"]].concat());
    fails(&format!("{tables}EXECUTE STATEMENT SET BEGIN\n{two}END;\n"), GOOD, 2, &says);
}

#[test]
fn a_job_does_not_replace_the_file_it_reads() {
    let script = format!("{}INSERT INTO src SELECT * FROM src;\n", table("'format' = 'csv'"));
    fails(&script, GOOD, 2, &["table `src` would replace", "src.csv, which this statement reads"]);
    let folder = folder(&script, GOOD);
    transom(folder.path(), &["run", "job.sql"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("src.csv")).unwrap(), GOOD);
}

#[test]
fn a_print_sink_prints_instants_in_utc_as_flink_does() {
    let script = format!(
        "{}CREATE TABLE p (t TIMESTAMP_LTZ(3), c TIME, d DECIMAL(12, 10)) WITH ('connector' = 'print');\n\
         SET 'table.local-time-zone' = 'Europe/Berlin';\n\
         INSERT INTO p SELECT CAST(TIMESTAMP '2024-07-01 12:00:00' AS TIMESTAMP_LTZ(3)), TIME '12:00:00', 0 FROM src\n\
         WHERE v = 1;\n",
        table("'format' = 'csv'")
    );
    let folder = folder(&script, GOOD);
    let output = transom(folder.path(), &["run", "job.sql", "-q"]);
    assert_eq!(text(&output.stdout), "+I[2024-07-01T10:00:00Z, 12:00, 0E-10]\n", "{}", text(&output.stderr));
}

const PER_WINDOW: &str = "SELECT window_start, COUNT(*) AS n\n\
    FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(EVENT_TIME), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;\n";

/// A script over `src.csv` whose event time is the column `event_time`.
fn windows(columns: &str, event_time: &str, format: &str) -> String {
    format!(
        "CREATE TABLE src ({columns},\n  WATERMARK FOR {event_time} AS {event_time})\n\
         WITH ('connector' = 'filesystem', 'path' = 'src.csv', {format});\n{}",
        PER_WINDOW.replace("EVENT_TIME", event_time)
    )
}

#[test]
fn the_advice_for_a_time_of_another_form_leads_to_rows() {
    let (csv, json) = ("'format' = 'csv'", "'format' = 'json'");
    let iso = format!("{json}, 'json.timestamp-format.standard' = 'ISO-8601'");
    let replaced = "ts STRING, rt AS TO_TIMESTAMP(REPLACE(REPLACE(ts, 'T', ' '), 'Z', ''))";
    let plain = "ts TIMESTAMP(3)";
    // The data, its format, what the remedy says, and the table that follows it.
    for (data, format, says, columns, event_time, followed) in [
        ("2024-05-01T12:00:01Z\n", csv, &replaced["ts STRING, ".len()..], replaced, "rt", csv),
        ("{\"ts\":\"2024-05-01T12:00:01\"}\n", json, "'json.timestamp-format.standard'", plain, "ts", iso.as_str()),
        ("{\"ts\":\"2024-05-01T12:00:01Z\"}\n", json, "TIMESTAMP_LTZ(3)", "ts TIMESTAMP_LTZ(3)", "ts", &iso),
        (
            "1714564801000\n",
            csv,
            "declare it BIGINT and add rt AS TO_TIMESTAMP_LTZ(ts, 3)",
            "ts BIGINT, rt AS TO_TIMESTAMP_LTZ(ts, 3)",
            "rt",
            csv,
        ),
        (
            "{\"ts\":1714564801}\n",
            json,
            "declare it BIGINT and add rt AS TO_TIMESTAMP_LTZ(ts, 0)",
            "ts BIGINT, rt AS TO_TIMESTAMP_LTZ(ts, 0)",
            "rt",
            json,
        ),
        (
            "1714564801000000\n",
            csv,
            "rt AS TO_TIMESTAMP_LTZ(ts / 1000, 3)",
            "ts BIGINT, rt AS TO_TIMESTAMP_LTZ(ts / 1000, 3)",
            "rt",
            csv,
        ),
        (
            "2024-05-01\n",
            csv,
            "declare it DATE and add rt AS CAST(ts AS TIMESTAMP(3))",
            "ts DATE, rt AS CAST(ts AS TIMESTAMP(3))",
            "rt",
            csv,
        ),
        ("2024-05-01 12:00:01Z\n", csv, "declare it TIMESTAMP_LTZ(3)", "ts TIMESTAMP_LTZ(3)", "ts", csv),
    ] {
        fails(&windows(plain, "ts", format), data, 1, &["is not a TIMESTAMP(3)", "src.csv:1:", says]);
        counts_one_row(&windows(columns, event_time, followed), data);
    }
}

#[test]
fn the_advice_for_a_header_leads_to_rows() {
    let script = windows("ts TIMESTAMP(3)", "ts", "'format' = 'csv'");
    let says = [
        "'ts' is not a TIMESTAMP(3)",
        "src.csv:1:1",
        "line 1 looks like a header: set 'csv.header' = 'true' to read it as one",
    ];
    let data = "ts\n2024-05-01 12:00:01\n";
    fails(&script, data, 1, &says);
    counts_one_row(&windows("ts TIMESTAMP(3)", "ts", "'format' = 'csv', 'csv.header' = 'true'"), data);
}

fn counts_one_row(script: &str, data: &str) {
    let folder = folder(script, data);
    let output = transom(folder.path(), &["run", "job.sql", "-q", "-o", "csv"]);
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{script}{}", text(&output.stderr));
    assert!(
        stdout
            .lines()
            .nth(1)
            .is_some_and(|row| row.trim_start_matches('"').starts_with("2024-05-01 ") && row.ends_with(",1")),
        "{stdout}"
    );
}
