//! EXPLAIN with a table to look at: the whole text, as a statement and as a command.
#![cfg(feature = "sql")]

use std::path::Path;
use std::process::Command;

const SCRIPT: &str = "\
CREATE TABLE src (ts TIMESTAMP(3), k STRING, v INT,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'src.csv', 'format' = 'csv');
SET 'table.exec.source.idle-timeout' = '1 min';
EXPLAIN SELECT window_start, MAX(n) AS top FROM (
  SELECT k, window_start, window_end, COUNT(*) AS n
  FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND))
  GROUP BY k, window_start, window_end)
GROUP BY window_start;
";

const TEXT: &str = "\
Card 1 of 2: GroupAggregate
  key          window_start
  windows      none
  watermark    not waited for
  keeps        for each key (20 B), for good: MAX(count$0) 8 B
  gives        changes of a result (changelog: +I, -U, +U), key window_start

Card 2 of 2: WindowAggregate
  key          k
  windows      TUMBLE size 10 s
  time column  ts, TIMESTAMP(3)
  watermark    1 s behind the highest ts of src; moves with every row; no idle timeout
  keeps        for each key (20 B and text) and open window: COUNT(*) 8 B
  gives        each result once (append), when the watermark passes the end of its window

Result: window_start, top
  Calc: window_start, top = max$0, $row_kind
    GroupAggregate (no windows: every row may change a result)
      keys: window_start
      aggregates: max$0 = MAX(count$0)
      input: rows that are added; the state of a key is kept for good
      Calc: window_start, count$0
        WindowAggregate (slice operator)
          keys: k
          windows: TUMBLE size 10 s
          slices: 10 s
          time column: ts
          watermark: moves with every row
          aggregates: count$0 = COUNT(*)
          Calc: k, ts
            Scan src (csv src.csv)
              columns read: ts, k (2 of 3)
              watermark of ts: ts - INTERVAL '1' SECOND, moves with every row

State, estimated from a sample:
  GroupAggregate: not estimated: its key has window_start, which an operator below computes
  WindowAggregate: 2 keys (k) x up to 2 windows open at a time x 28 B, one for each row at most = about 84 B and text
    keys counted in all 3 rows of src.csv

Lint:
  job.sql:4:5   setting-without-effect
    'table.exec.source.idle-timeout' has no effect: an input without new rows holds back the
    watermark until it ends
    instead: for files it makes no difference, and it may stay for Flink
  job.sql:9:10  group-without-window-end
    window_start without window_end makes no window aggregation: every row changes a result, and
    each key is kept for good
    instead: group by window_end as well as window_start
";

const ROWS: &str = "2024-05-01 12:00:01,a,1\n2024-05-01 12:00:02,b,2\n2024-05-01 12:00:11,a,3\n";

fn transom(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_transom")).current_dir(folder).args(args).output();
    String::from_utf8_lossy(&output.expect("the binary runs").stdout).into_owned()
}

/// The text between a heading and the next empty line.
fn section(text: &str, heading: &str) -> String {
    let from = text.find(heading).unwrap_or_else(|| panic!("no {heading} in\n{text}"));
    text[from..].split("\n\n").next().unwrap_or_default().to_string()
}

fn written(script: &str, rows: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("job.sql"), script).expect("a writable folder");
    std::fs::write(folder.path().join("src.csv"), rows).expect("a writable folder");
    folder
}

#[test]
fn a_statement_shows_what_the_command_shows() {
    let folder = written(SCRIPT, ROWS);
    let run = transom(folder.path(), &["run", "job.sql"]);
    assert_eq!(run.trim_end(), TEXT.trim_end(), "\n{run}");
    let explained = transom(folder.path(), &["explain", "job.sql"]);
    assert_eq!(explained, format!("== statement 3, line 5\n{TEXT}\n"), "\n{explained}");
    let shell = transom(folder.path(), &["sql", "-f", "job.sql"]);
    assert_eq!(shell.trim_end(), TEXT.trim_end(), "\n{shell}");
}

#[test]
fn operators_that_keep_rows_are_estimated() {
    let over =
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM src;\n";
    let join = "SELECT a.v FROM src a JOIN src b ON a.k = b.k;\n";
    let text = transom(written(&format!("{SCRIPT}{over}{join}"), ROWS).path(), &["explain", "job.sql"]);
    let of_over = &text[text.find("== statement 4").expect("the OVER")..];
    let expected = "\
State, estimated from a sample:
  Over, rows that wait for the watermark: 1 row of 1 s x 20 B = about 20 B and text
    rows counted in all 3 rows of src.csv
  Over, rows of the frame: 2 keys (k) x up to 2 rows x 20 B = about 80 B and text
    keys counted in all 3 rows of src.csv";
    assert_eq!(section(of_over, "State"), expected);
    assert!(!of_over.contains("Lint:"), "what was told is not told again\n{of_over}");
    let of_join = &text[text.find("== statement 5").expect("the join")..];
    assert!(section(of_join, "State").contains("Join, left side: 3 rows x 12 B = about 36 B and text"), "{of_join}");
}

#[test]
fn the_start_of_the_input_tells_times_that_are_hardly_meant() {
    let table = |time: &str| {
        format!(
            "CREATE TABLE src (ms BIGINT,\n  ts AS {time}, WATERMARK FOR ts AS ts)\nWITH ('connector' = 'filesystem', \
             'path' = 'src.csv', 'format' = 'csv');\nSELECT ts FROM src;\n"
        )
    };
    let lint = |time: &str, row: &str| {
        let text = transom(written(&table(time), row).path(), &["explain", "job.sql"]);
        text.find("Lint:").map(|_| section(&text, "Lint:"))
    };
    let seconds = lint("TO_TIMESTAMP_LTZ(ms, 3)", "1714564800\n").expect("a finding");
    assert!(seconds.contains("job.sql:2:3  times-in-wrong-unit"), "{seconds}");
    assert!(seconds.contains("instead: TO_TIMESTAMP_LTZ(column, 0) reads seconds"), "{seconds}");
    let milliseconds = lint("TO_TIMESTAMP_LTZ(ms, 0)", "1714564800000\n").expect("a finding");
    assert!(milliseconds.contains("job.sql:2:3  null-event-times"), "{milliseconds}");
    assert!(milliseconds.contains("(column,\n             3) reads milliseconds"), "{milliseconds}");
    assert_eq!(lint("TO_TIMESTAMP_LTZ(ms, 3)", "1714564800000\n"), None);
    assert_eq!(lint("TO_TIMESTAMP_LTZ(ms, 0)", "1714564800\n"), None);
}
