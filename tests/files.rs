//! Files, pipes and folders as a user has them: compressed, on stdin, broken in the middle.
#![cfg(feature = "sql")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

fn transom(folder: &Path, script: &str) -> Command {
    std::fs::write(folder.join("job.sql"), script).expect("a writable folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_transom"));
    command.current_dir(folder).args(["run", "job.sql", "-q", "-o", "csv"]).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A table of events, one row a second and key.
fn events(options: &str) -> String {
    format!(
        "CREATE TABLE e (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts) \
         WITH ('connector' = 'filesystem', 'format' = 'csv', {options});\n"
    )
}

const COUNT: &str = "SELECT window_start, k, COUNT(*) AS n, SUM(v) AS s \
    FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, k;\n";

fn rows(count: usize) -> String {
    let row = |i: usize| {
        format!("2024-05-01 {:02}:{:02}:{:02},k{},{}\n", i / 3600 % 24, i / 60 % 60, i % 60, i % 3, i * 7919 % 100)
    };
    (0..count).map(row).collect()
}

fn packed(tool: &str, text: &str) -> Vec<u8> {
    let mut child =
        Command::new(tool).arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the tool");
    let mut input = child.stdin.take().expect("a pipe");
    let bytes = text.as_bytes().to_vec();
    let writer = std::thread::spawn(move || input.write_all(&bytes).expect("taken"));
    let output = child.wait_with_output().expect("the tool ends");
    writer.join().expect("written");
    output.stdout
}

fn succeeds(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut lines: Vec<&str> = std::str::from_utf8(&output.stdout).expect("UTF-8").lines().collect();
    lines[1..].sort_unstable();
    lines.join("\n")
}

fn fails(output: &Output, code: i32, says: &[&str]) {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    for part in says {
        assert!(stderr.contains(part), "no {part:?} in:\n{stderr}");
    }
    assert!(stderr.contains("help:"), "no remedy in:\n{stderr}");
}

#[test]
fn compressed_files_give_what_the_plain_file_gives() {
    let folder = folder();
    let plain = rows(50_000);
    std::fs::write(folder.path().join("e.csv"), &plain).expect("written");
    let expected = succeeds(&transom(folder.path(), &(events("'path' = 'e.csv'") + COUNT)).output().expect("runs"));
    assert!(expected.lines().count() > 2_000);
    for tool in ["gzip", "bzip2"] {
        let half = plain.len() / 2;
        let parts = [packed(tool, &plain[..half]), packed(tool, &plain[half..])].concat();
        for name in [format!("e.{}", if tool == "gzip" { "gz" } else { "bz2" }), "unnamed".to_string()] {
            std::fs::write(folder.path().join(&name), &parts).expect("written");
            let script = events(&format!("'path' = '{name}'")) + COUNT;
            let output = transom(folder.path(), &script).output().expect("runs");
            assert_eq!(succeeds(&output), expected, "{name}");
        }
    }
}

#[test]
fn a_damaged_file_is_an_error_at_its_place() {
    let folder = folder();
    let bytes = packed("gzip", &rows(20_000));
    let run = |bytes: &[u8]| {
        std::fs::write(folder.path().join("e.csv.gz"), bytes).expect("written");
        transom(folder.path(), &(events("'path' = 'e.csv.gz'") + COUNT)).output().expect("runs")
    };
    fails(&run(&bytes[..bytes.len() / 2]), 1, &["e.csv.gz:", "ends too early", "gzip -dc e.csv.gz"]);
    let mut damaged = bytes.clone();
    let middle = bytes.len() / 2;
    damaged[middle..middle + 40].fill(0xFF);
    fails(&run(&damaged), 1, &["e.csv.gz:", "damaged", "copy the file again"]);
    let trailing = [bytes.as_slice(), b"rubbish"].concat();
    fails(&run(&trailing), 1, &["e.csv.gz:", "behind the end of the compressed data"]);
    // What is wrong in a line is told with its number in the unpacked text.
    let wrong = format!("{}2024-05-01 12:00:00,k,x\n", rows(30_000));
    fails(&run(&packed("gzip", &wrong)), 1, &["e.csv.gz:30001:23", "'x' is not an INT"]);
    fails(&run(&packed("gzip", &rows(3).replace("2024", "20x4"))), 1, &["e.csv.gz:1:1"]);
}

fn with_stdin(folder: &Path, script: &str, bytes: Vec<u8>) -> Output {
    let mut child = piped(transom(folder, script));
    let mut input = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        // The job may end before it has read everything.
        let _ = input.write_all(&bytes);
    });
    let output = child.wait_with_output().expect("ends");
    writer.join().expect("ends");
    output
}

fn piped(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts")
}

#[test]
fn stdin_gives_what_the_file_gives_whatever_it_is() {
    let folder = folder();
    let plain = rows(50_000);
    std::fs::write(folder.path().join("e.csv"), &plain).expect("written");
    std::fs::write(folder.path().join("e.gz"), packed("gzip", &plain)).expect("written");
    let expected = succeeds(&transom(folder.path(), &(events("'path' = 'e.csv'") + COUNT)).output().expect("runs"));
    let script = events("'path' = '-'") + COUNT;
    assert_eq!(succeeds(&with_stdin(folder.path(), &script, plain.into_bytes())), expected);
    assert_eq!(succeeds(&with_stdin(folder.path(), &script, packed("gzip", &rows(50_000)))), expected);
    for file in ["e.csv", "e.gz"] {
        let file = std::fs::File::open(folder.path().join(file)).expect("opens");
        assert_eq!(succeeds(&transom(folder.path(), &script).stdin(file).output().expect("runs")), expected);
    }
    let header = "window_start,k,n,s";
    assert_eq!(succeeds(&with_stdin(folder.path(), &script, Vec::new())), header);
    assert_eq!(succeeds(&transom(folder.path(), &script).output().expect("runs")), header);
    let closed = Command::new("sh")
        .args(["-c", &format!("{} run job.sql -q -o csv <&-", env!("CARGO_BIN_EXE_transom"))])
        .current_dir(folder.path())
        .output();
    assert_eq!(succeeds(&closed.expect("runs")), header);
    fails(&with_stdin(folder.path(), &script, b"2024-05-01 12:00:00,k\n".to_vec()), 1, &["<stdin>:1:1", "2 fields"]);
    let cut = packed("gzip", &rows(20_000));
    fails(&with_stdin(folder.path(), &script, cut[..cut.len() / 2].to_vec()), 1, &["<stdin>:", "ends too early"]);
    fails(&with_stdin(folder.path(), &script, b"PK\x03\x04".to_vec()), 2, &["stdin is a zip archive", "unzip -p"]);
}

#[test]
fn rows_of_windows_that_fire_are_shown_while_stdin_is_open() {
    let folder = folder();
    for output in ["table", "csv", "json"] {
        transom(folder.path(), &(events("'path' = '-'") + COUNT));
        let mut command = Command::new(env!("CARGO_BIN_EXE_transom"));
        command.current_dir(folder.path()).args(["run", "job.sql", "-q", "-o", output]);
        let mut child = piped(command);
        let mut input = child.stdin.take().expect("a pipe");
        // The last record is not whole yet.
        input.write_all(b"2024-05-01 12:00:01,first,1\n2024-05-01 12:01:00,second,2\n2024-05").expect("taken");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let shown = lines.by_ref().map(|line| line.expect("UTF-8")).find(|line| line.contains("first"));
        assert!(shown.is_some(), "{output}");
        input.write_all(b"-01 12:01:01,second,3\n").expect("taken");
        drop(input);
        assert!(lines.map(|line| line.expect("UTF-8")).any(|line| line.contains("second") && line.contains('5')));
        assert!(child.wait().expect("ends").success());
    }
}

#[test]
fn a_job_ends_when_its_reader_does_though_stdin_goes_on() {
    let folder = folder();
    for script in [
        events("'path' = '-'") + "SELECT k, v FROM e;",
        events("'path' = '-'")
            + "CREATE TABLE o (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'json');\n\
               INSERT INTO o SELECT k, v FROM e;",
    ] {
        let mut child = piped(transom(folder.path(), &script));
        let mut input = child.stdin.take().expect("a pipe");
        let writer = std::thread::spawn(move || {
            let row = rows(1_000);
            while input.write_all(row.as_bytes()).is_ok() {}
        });
        let mut stdout = child.stdout.take().expect("a pipe");
        let mut some = [0; 20];
        stdout.read_exact(&mut some).expect("rows");
        drop(stdout);
        let started = Instant::now();
        assert_eq!(child.wait().expect("ends").code(), Some(0));
        assert!(started.elapsed() < Duration::from_secs(20));
        let mut said = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("UTF-8");
        assert_eq!(said, "");
        writer.join().expect("ends");
    }
}

#[test]
fn a_table_that_is_stdout_prints_rows_of_its_format_in_order() {
    let folder = folder();
    let sink = "CREATE TABLE o (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'json');\n";
    let script = events("'path' = '-'") + sink + "INSERT INTO o SELECT k, v FROM e WHERE v < 50;";
    let input = rows(5_000);
    let output = with_stdin(folder.path(), &script, input.clone().into_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let expected: String = input
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|cells| cells[2].parse::<i32>().is_ok_and(|v| v < 50))
        .map(|cells| format!("{{\"k\":\"{}\",\"v\":{}}}\n", cells[1], cells[2]))
        .collect();
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn stdin_is_read_once() {
    let folder = folder();
    let stdin = events("'path' = '-'");
    let other = stdin.replace("TABLE e", "TABLE f");
    let both = format!("{stdin}{other}SELECT k FROM e UNION ALL SELECT k FROM f;");
    fails(&transom(folder.path(), &both).output().expect("runs"), 2, &["stdin can be read once", "`e`", "`f`"]);
    let twice = format!("{stdin}SELECT k FROM e; SELECT v FROM e;");
    fails(&transom(folder.path(), &twice).output().expect("runs"), 2, &["statement 2", "statement 3"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_transom"));
    command.current_dir(folder.path()).args(["run", "-"]);
    let mut child = piped(command);
    let script = format!("{stdin}SELECT k FROM e;");
    child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("taken");
    fails(&child.wait_with_output().expect("ends"), 2, &["stdin can be read once", "the script itself"]);
    let parquet = stdin.replace("'csv'", "'parquet'") + "SELECT k FROM e;";
    fails(&transom(folder.path(), &parquet).output().expect("runs"), 2, &["parquet cannot be read from stdin"]);
}
