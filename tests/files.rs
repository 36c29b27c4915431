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

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    std::fs::write(path, text).expect("written");
}

/// Names of the files below a folder, sorted; hidden ones too.
fn listing(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(inner) = waiting.pop() {
        for entry in std::fs::read_dir(inner).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.push(path.strip_prefix(folder).expect("below").display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn partition_columns_come_from_the_names_of_folders() {
    let folder = folder();
    for (place, row) in [
        ("dt=2024-01-01/region=eu", "1,x"),
        ("dt=2024-01-02/region=us", "2,y"),
        ("dt=2024-01-02/region=a b%2Fc", "3,z"),
        ("dt=2024-01-03/region=__DEFAULT_PARTITION__", "4,w"),
    ] {
        write(folder.path(), &format!("p/{place}/a.csv"), &format!("{row}\n"));
    }
    write(folder.path(), "p/dt=2024-01-01/region=eu/_SUCCESS", "");
    let table = |columns: &str| {
        format!(
            "CREATE TABLE p ({columns}) PARTITIONED BY (dt, region) \
             WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'csv');\n"
        )
    };
    let output = |script: String| transom(folder.path(), &script).output().expect("runs");
    let all = succeeds(&output(table("v INT, s STRING, dt DATE, region STRING") + "SELECT * FROM p;"));
    assert_eq!(all, "v,s,dt,region\n1,x,2024-01-01,eu\n2,y,2024-01-02,us\n3,z,2024-01-02,\"a b/c\"\n4,w,2024-01-03,");
    let some = table("dt DATE, v INT, region STRING, s STRING")
        + "SELECT region, dt FROM p WHERE dt > DATE '2024-01-01' AND region IS NOT NULL;";
    assert_eq!(succeeds(&output(some)), "region,dt\n\"a b/c\",2024-01-02\nus,2024-01-02");
    let wrong = table("v INT, s STRING, dt INT, region STRING") + "SELECT * FROM p;";
    fails(&output(wrong), 1, &["'2024-01-01' in 'dt=2024-01-01' is no INT", "declare `dt` as STRING"]);
    write(folder.path(), "p/dt=2024-01-01/other/b.csv", "5,v\n");
    let stray = table("v INT, s STRING, dt DATE, region STRING") + "SELECT * FROM p;";
    fails(&output(stray), 2, &["'other' stands where a folder 'region=…'"]);
}

#[test]
fn rows_go_to_a_folder_for_each_value_of_the_partition_keys() {
    let folder = folder();
    write(folder.path(), "in.csv", "1,2024-01-01,a b/c\n2,2024-01-02,é=\n3,2024-01-02,\n");
    let source = "CREATE TABLE i (v INT, d DATE, r STRING) \
                  WITH ('connector' = 'filesystem', 'path' = 'in.csv', 'format' = 'csv');\n";
    let sink = "CREATE TABLE o (d DATE, v INT, r STRING) PARTITIONED BY (r, d) WITH ('connector' = 'filesystem', \
                'path' = 'out', 'format' = 'json', 'sink.partition-commit.policy.kind' = 'success-file');\n";
    let inserts = "INSERT INTO o SELECT d, v, r FROM i;\n\
                   INSERT INTO o PARTITION (r = 'fix') SELECT d, v FROM i;\n\
                   INSERT INTO o PARTITION (r = 'both', d = '2024-05-05') SELECT v FROM i;\n";
    let script = format!("{source}{sink}{inserts}");
    let output = transom(folder.path(), &script).output().expect("runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let names = listing(&folder.path().join("out"));
    let folders: Vec<&str> = names.iter().filter_map(|name| name.strip_suffix("/_SUCCESS")).collect();
    assert_eq!(
        folders,
        [
            "r=__DEFAULT_PARTITION__/d=2024-01-02",
            "r=a b%2Fc/d=2024-01-01",
            "r=both/d=2024-05-05",
            "r=fix/d=2024-01-01",
            "r=fix/d=2024-01-02",
            "r=é%3D/d=2024-01-02"
        ]
    );
    assert!(names.iter().all(|name| !name.contains(".transom")), "{names:?}");
    let read = format!("{sink}SELECT r, d, v FROM o;");
    let rows = succeeds(&transom(folder.path(), &read).output().expect("runs"));
    assert_eq!(rows.lines().count(), 10);
    for row in ["\"a b/c\",2024-01-01,1", "é=,2024-01-02,2", ",2024-01-02,3", "fix,2024-01-02,3", "both,2024-05-05,1"]
    {
        assert!(rows.lines().any(|line| line == row), "no {row} in\n{rows}");
    }
    let unknown = format!("{source}{sink}INSERT INTO o PARTITION (v = 1) SELECT d, r FROM i;");
    fails(&transom(folder.path(), &unknown).output().expect("runs"), 2, &["'v' is no partition key"]);
}

#[test]
fn many_partitions_need_few_open_files_and_nothing_is_left_of_a_job_that_fails() {
    let folder = folder();
    let input: String = (0..20_000).map(|i| format!("{i},k{}\n", i * 7919 % 500)).collect();
    write(folder.path(), "in.csv", &input);
    let script = |format: &str| {
        format!(
            "CREATE TABLE i (v INT, k STRING) WITH ('connector' = 'filesystem', 'path' = 'in.csv', 'format' = 'csv');\n\
             CREATE TABLE o (v INT, k STRING) PARTITIONED BY (k) \
             WITH ('connector' = 'filesystem', 'path' = 'out-{format}', 'format' = '{format}');\n"
        )
    };
    for format in ["csv", "parquet"] {
        transom(folder.path(), &(script(format) + "INSERT INTO o SELECT v, k FROM i;"));
        let limited = Command::new("sh")
            .args(["-c", &format!("ulimit -n 100; {} run job.sql -q --shards 2", env!("CARGO_BIN_EXE_transom"))])
            .current_dir(folder.path())
            .output()
            .expect("runs");
        assert_eq!(limited.status.code(), Some(0), "{}", text(&limited.stderr));
        let names = listing(&folder.path().join(format!("out-{format}")));
        let folders: std::collections::BTreeSet<&str> =
            names.iter().filter_map(|name| name.split('/').next()).collect();
        assert_eq!(folders.len(), 500);
        if format == "csv" {
            assert!(names.len() <= 1_000, "a shard has one file in a folder");
            let mut values: Vec<i32> = Vec::new();
            for name in &names {
                let content = std::fs::read_to_string(folder.path().join("out-csv").join(name)).expect("read");
                values.extend(content.lines().map(|line| line.parse::<i32>().expect("a number")));
            }
            values.sort_unstable();
            assert!(values.into_iter().eq(0..20_000));
        }
    }
    write(folder.path(), "in.csv", &(input + "x,k\n"));
    let failing = script("json") + "INSERT INTO o SELECT v, k FROM i;";
    fails(&transom(folder.path(), &failing).output().expect("runs"), 1, &["'x' is not an INT"]);
    assert!(!folder.path().join("out-json").exists());
}

#[test]
fn metadata_columns_tell_the_file_of_each_row() {
    let folder = folder();
    write(folder.path(), "d/a.csv", "1\n2\n");
    write(folder.path(), "d/sub/b.csv", "3\n");
    let table = "CREATE TABLE m (v INT, `file.path` STRING NOT NULL METADATA, n STRING METADATA FROM 'file.name' VIRTUAL, \
                 s INT METADATA FROM 'file.size', t TIMESTAMP_LTZ(3) NOT NULL METADATA FROM 'file.modification-time', \
                 up AS UPPER(n)) WITH ('connector' = 'filesystem', 'path' = 'd', 'format' = 'csv');\n";
    let output = |script: &str| transom(folder.path(), &format!("{table}{script}")).output().expect("runs");
    let rows = succeeds(&output("SELECT v, n, s, up FROM m;"));
    assert_eq!(rows, "v,n,s,up\n1,a.csv,4,A.CSV\n2,a.csv,4,A.CSV\n3,b.csv,2,B.CSV");
    let times = succeeds(&output("SELECT v FROM m WHERE YEAR(CAST(t AS TIMESTAMP(3))) > 2020;"));
    assert_eq!(times.lines().count(), 4);
    let paths = succeeds(&output("SELECT `file.path` FROM m WHERE v > 1;"));
    let expected = folder.path().join("d/a.csv");
    assert!(paths.contains(&expected.display().to_string()), "{paths}");
    fails(
        &output("INSERT INTO m SELECT v FROM m;"),
        2,
        &["the metadata column 'file.path' cannot be written", "VIRTUAL"],
    );
    let unknown = table.replace("'file.size'", "'file.sise'") + "SELECT v FROM m;";
    fails(&transom(folder.path(), &unknown).output().expect("runs"), 2, &["no metadata 'file.sise'", "file.size"]);
}

#[test]
fn a_pattern_must_match_the_whole_absolute_path() {
    let folder = folder();
    for name in ["d/a.csv", "d/b.txt", "d/sub/c.csv", "d/_h.csv"] {
        write(folder.path(), name, &format!("{name}\n"));
    }
    let run = |pattern: &str| {
        let script = format!(
            "CREATE TABLE p (v STRING) WITH ('connector' = 'filesystem', 'path' = 'd', 'format' = 'csv', \
             'source.path.regex-pattern' = '{pattern}');\nSELECT v FROM p;"
        );
        transom(folder.path(), &script).output().expect("runs")
    };
    assert_eq!(succeeds(&run(".*\\.csv")), "v\nd/a.csv\nd/sub/c.csv");
    assert_eq!(succeeds(&run(&format!("{}/d/[ab].*", folder.path().display()))), "v\nd/a.csv\nd/b.txt");
    fails(&run("a\\.csv"), 1, &["matches none of d", "whole absolute path", "d/a.csv"]);
    fails(&run("(a"), 2, &["source.path.regex-pattern", "regular expression"]);
}

#[test]
fn what_the_system_refuses_is_told_with_what_to_do() {
    let folder = folder();
    write(folder.path(), "d/a.csv", &rows(10));
    std::os::unix::fs::symlink("nowhere", folder.path().join("d/broken.csv")).expect("linked");
    let read = |path: &str| {
        let script = events(&format!("'path' = '{path}'")) + "SELECT k FROM e;";
        transom(folder.path(), &script).output().expect("runs")
    };
    for path in ["d", "d/*.csv", "d/broken.csv"] {
        fails(&read(path), 1, &["broken.csv", "the link leads to nowhere", "repair the link or remove it"]);
    }
    for path in ["d/a.csv/", "d/a.csv/b.csv"] {
        fails(&read(path), 1, &["Not a directory", "is a file, not a folder"]);
    }
    fails(&read("d/**a.csv"), 2, &["not a valid pattern", "'**' stands alone between two '/'"]);
    let sink = "CREATE TABLE o (k STRING) WITH ('connector' = 'filesystem', 'path' = '-', 'format' = 'json');\n";
    let script = events("'path' = 'd/a.csv'") + sink + "INSERT INTO o SELECT k FROM e;";
    let full = std::fs::File::options().write(true).open("/dev/full").expect("opens");
    let output = transom(folder.path(), &script).stdout(full).stderr(Stdio::piped()).spawn().expect("starts");
    fails(&output.wait_with_output().expect("ends"), 1, &["No space left", "free some space"]);
}

#[test]
fn five_hundred_files_can_be_read_where_few_may_be_open() {
    let folder = folder();
    let mut expected = 0;
    for index in 0..500 {
        expected += index;
        let row = format!("2024-05-01 12:00:00,k,{index}\n");
        write(folder.path(), &format!("d/{index}.csv"), &row);
        if index < 50 {
            std::fs::write(folder.path().join(format!("d/{index}.csv.gz")), packed("gzip", &row)).expect("written");
            expected += index;
        }
    }
    transom(folder.path(), &(events("'path' = 'd'") + COUNT));
    let limited = Command::new("sh")
        .args(["-c", &format!("ulimit -n 32; {} run job.sql -q -o csv --shards 4", env!("CARGO_BIN_EXE_transom"))])
        .current_dir(folder.path())
        .output()
        .expect("runs");
    assert_eq!(succeeds(&limited), format!("window_start,k,n,s\n\"2024-05-01 12:00:00\",k,550,{expected}"));
}
