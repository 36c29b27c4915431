//! `transom schema` and `transom window` as somebody meets them who has a file and no SQL yet.
#![cfg(feature = "sql")]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

fn transom(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_transom")).current_dir(folder).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).expect("a writable folder");
    }
    folder
}

/// What the command prints; it must succeed.
fn prints(folder: &Path, args: &[&str]) -> String {
    let output = transom(folder, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The sorted rows of a window command, as CSV without the header.
fn rows(folder: &Path, args: &[&str]) -> Vec<String> {
    let printed = prints(folder, &[&["window"], args, &["-q", "-o", "csv"]].concat());
    let mut rows: Vec<String> = printed.lines().skip(1).map(|line| line.replace('"', "")).collect();
    rows.sort();
    rows
}

/// The command must fail with this code, say all of these, and say what to do.
fn fails(folder: &Path, args: &[&str], code: i32, says: &[&str]) {
    let output = transom(folder, args);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    for part in says {
        assert!(stderr.contains(part), "no {part:?} in:\n{stderr}");
    }
    assert!(stderr.contains("help") || stderr.contains("--help"), "no remedy in:\n{stderr}");
}

const TRIPS: &str = "id,city,started,amount,note\n\
    1,rome,2024-01-31 10:00:00,2.50,\"a, b\"\n\
    2,oslo,2024-01-31 10:00:30,,x\n\
    3,rome,2024-01-31 10:00:20,7.25,\n\
    4,rome,2024-01-31 10:02:00,1.00,y\n";

fn trips() -> TempDir {
    folder(&[("trips.csv", TRIPS)])
}

#[test]
fn the_statement_is_printed_alone_and_the_reasons_go_to_stderr() {
    let folder = trips();
    let output = transom(folder.path(), &["schema", "trips.csv"]);
    assert_eq!(
        text(&output.stdout),
        "CREATE TABLE trips (\n  id BIGINT,\n  city STRING,\n  started TIMESTAMP(3),\n  amount DECIMAL(18, 2),\n  \
         note STRING,\n  WATERMARK FOR started AS started - INTERVAL '10' SECOND\n) WITH (\n  \
         'connector' = 'filesystem',\n  'path' = 'trips.csv',\n  'format' = 'csv',\n  'csv.header' = 'true',\n  \
         'csv.null-literal' = ''\n);\n"
    );
    let report = text(&output.stderr);
    for part in
        ["4, all there are", "empty is NULL", "started (date and time)", "1 of 4 rows", "10.0 s at most", "a, b"]
    {
        assert!(report.contains(part), "no {part:?} in:\n{report}");
    }
}

/// Files of many kinds; each with an aggregate over them and its expected row.
const KINDS: [(&str, &str, &str, &str); 19] = [
    ("semicolons.csv", "ts;v\n2024-01-31 10:00:00;1\n2024-01-31 10:00:01;2\n", "sum(v)", "3"),
    ("tabs.tsv", "2024-01-31 10:00:00\t1\n2024-01-31 10:00:01\t2\n", "sum(f1)", "3"),
    ("single.csv", "ts,v\n'2024-01-31 10:00:00','1'\n'2024-01-31 10:00:01','2,5'\n", "max(v)", "2,5"),
    ("iso.csv", "ts,v\n2024-01-31T10:00:00.5Z,1\n2024-01-31T10:00:01Z,2\n", "sum(v)", "3"),
    ("american.csv", "when,v\n1/31/2024 10:00 AM,1\n1/31/2024 10:00 AM,2\n", "sum(v)", "3"),
    ("european.csv", "Datum;Zeit;v\n31.01.2024;10:00:00;1\n31.01.2024;10:00:01;2\n", "sum(v)", "3"),
    ("minutes.csv", "Datum;Uhrzeit;v\n31.01.2024;10:00;1\n31.01.2024;10:01;2\n", "sum(v)", "3"),
    ("iso_minutes.csv", "d,t,v\n2024-01-31,10:00,1\n2024-01-31,10:01:05,2\n", "sum(v)", "3"),
    ("parts.csv", "year,month,day,hour,v\n2024,1,31,10,1\n2024,1,31,10,2\n", "sum(v)", "3"),
    ("seconds.csv", "ts,v\n1706695200,1\n1706695201,2\n", "sum(v)", "3"),
    ("fraction.csv", "ts,v\n1706695200.25,1\n1706695201.75,2\n", "sum(v)", "3"),
    ("nanos.csv", "ts,v\n1706695200000000000,1\n1706695201000000000,NA\n", "count(v)", "1"),
    ("offsets.csv", "ts,v\n2024-01-31T11:00:00+01:00,1\n2024-01-31T05:00:01-05:00,2\n", "sum(v)", "3"),
    (
        "mixed.csv",
        "when,v\n2024-01-31T12:00:00+02:00,1\n2024-01-31T10:10:00Z,2\n2024-01-31T11:30:00.5+01:00,3\n",
        "sum(v)",
        "6",
    ),
    ("z_first.csv", "when,v\n2024-01-31T10:10:00.25Z,2\n2024-01-31T12:00:00+02:00,1\n", "sum(v)", "3"),
    ("hours.csv", "when,v\n2024-01-31 12:00:00+02,1\n2024-01-31 10:10:00Z,2\n", "sum(v)", "3"),
    (
        "iso.jsonl",
        "{\"ts\":\"2024-01-31T10:00:00Z\",\"v\":1}\n{\"ts\":\"2024-01-31T10:00:01Z\",\"v\":2}\n",
        "sum(v)",
        "3",
    ),
    (
        "nested.json",
        "{\"a\":{\"ts\":1706695200000,\"value\":1}}\n{\"a\":{\"ts\":1706695201000,\"value\":2}}\n",
        "sum(a.`value`)",
        "3",
    ),
    (
        "access.log",
        "1.2.3.4 - - [31/Jan/2024:10:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n\
         1.2.3.4 - - [31/Jan/2024:10:00:01 +0000] \"GET /a HTTP/1.1\" 404 -\n",
        "sum(bytes_sent)",
        "5",
    ),
];

#[test]
fn files_of_many_kinds_are_windowed_without_a_word_of_sql_about_them() {
    for (name, content, aggregate, expected) in KINDS {
        let folder = folder(&[(name, content)]);
        let found = rows(folder.path(), &[name, "--tumble", "1h", "--agg", aggregate]);
        assert_eq!(found, [format!("2024-01-31 10:00:00,2024-01-31 11:00:00,{expected}")], "{name}");
    }
}

#[test]
fn every_statement_runs_as_it_stands() {
    for (name, content, _, _) in KINDS {
        let folder = folder(&[(name, content)]);
        let statement = prints(folder.path(), &["schema", name, "--table", "t"]);
        std::fs::write(folder.path().join("job.sql"), format!("{statement}SELECT * FROM t;"))
            .expect("a writable folder");
        let printed = prints(folder.path(), &["run", "job.sql", "-q"]);
        assert!(printed.ends_with(" rows)\n"), "{name}: {printed}");
    }
}

#[test]
fn the_script_that_is_shown_gives_the_same_rows() {
    let folder = trips();
    for windows in [
        &["--tumble", "1m"][..],
        &["--hop", "2m/1m", "--offset", "30s"],
        &["--session", "1m", "--where", "amount > 1"],
        &["--cumulate", "1h/30m", "--key", "upper(city) AS c"],
    ] {
        let args = [&["trips.csv", "--key", "city", "--agg", "count(*), sum(amount) AS total"], windows].concat();
        let script = prints(folder.path(), &[&["window", "--show-sql"], args.as_slice()].concat());
        std::fs::write(folder.path().join("job.sql"), &script).expect("a writable folder");
        let printed = prints(folder.path(), &["run", "job.sql", "-q", "-o", "csv"]);
        let mut again: Vec<String> = printed.lines().skip(1).map(|line| line.replace('"', "")).collect();
        again.sort();
        assert!(!again.is_empty());
        assert_eq!(rows(folder.path(), &args), again, "{script}");
    }
}

#[test]
fn without_flags_the_time_is_guessed_and_rows_are_counted() {
    let folder = trips();
    let output = transom(folder.path(), &["window", "trips.csv", "--tumble", "1m"]);
    assert!(text(&output.stderr).contains("note: event time: started"), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("2024-01-31 10:00:00.000 | 2024-01-31 10:01:00.000 |     3"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn wrong_flags_are_answered_with_what_would_be_right() {
    let folder = trips();
    let window = |args: &[&'static str]| [&["window", "trips.csv"], args].concat();
    let path = folder.path();
    fails(path, &window(&["--tumble", "1m", "--key", "citty"]), 2, &["--key", "'citty'", "did you mean 'city'"]);
    fails(path, &window(&["--tumble", "1m", "--time", "startd"]), 2, &["--time", "did you mean 'started'"]);
    fails(path, &window(&["--tumble", "1m", "--time", "id"]), 2, &["`id` is BIGINT", "started"]);
    fails(path, &window(&["--tumble", "1m", "--agg", "sum(amont)"]), 2, &["--agg", "amont", "amount"]);
    fails(path, &window(&["--tumble", "1m", "--where", "amount >"]), 2, &["--where"]);
    fails(path, &window(&["--tumble", "1m", "--agg", "sum(amount"]), 2, &["bracket"]);
    fails(path, &window(&["--hop", "1m/5m"]), 2, &["wrong way round"]);
    fails(path, &window(&["--hop", "5m/2m"]), 2, &["a multiple of the second, for example"]);
    fails(path, &window(&["--tumble", "1m", "--delay", "-5m"]), 2, &["'-5m' is below zero"]);
    fails(path, &window(&["--tumble", "1m", "--where", ""]), 2, &["--where", "a condition of SQL"]);
    fails(path, &window(&["--tumble", "1y"]), 2, &["1h30m"]);
    fails(path, &window(&[]), 2, &["--tumble"]);
    fails(path, &["schema", "nothing.csv"], 1, &["nothing.csv", "No such file"]);
}

#[test]
fn what_cannot_be_read_is_refused_with_the_way_to_read_it() {
    for (name, content, says) in [
        ("a.json", "[\n{\"a\":1}\n]", "jq -c '.[]'"),
        ("b.json", "{\n \"a\": 1\n}\n", "jq -c ."),
        ("c.csv", "Made in 2024,,\na,b,c\n1,2,3\n2,3,4\n", "tail -n +2"),
        ("d.dat", "1  2.5  3\n4  5.5  6\n7  8.5  9\n", "tr -s"),
        ("e.txt", "Once upon a time\nthere was a log\n", "REGEXP_EXTRACT"),
        ("f.csv", "", "empty"),
    ] {
        let folder = folder(&[(name, content)]);
        let stderr = text(&transom(folder.path(), &["schema", name]).stderr);
        assert!(stderr.contains(says), "no {says:?} in:\n{stderr}");
    }
    let deep = format!("{{\"a\":{}{}}}\n", "[".repeat(300), "]".repeat(300));
    let folder = folder(&[("deep.json", &deep)]);
    fails(folder.path(), &["schema", "deep.json"], 1, &["levels deep", "jq -c"]);
    std::fs::write(folder.path().join("g.csv"), b"name,v\nM\xFCller,1\n").expect("a writable folder");
    fails(folder.path(), &["schema", "g.csv"], 1, &["UTF-8", "iconv"]);
}

#[test]
fn what_is_wrong_with_a_csv_file_is_said_with_its_consequence() {
    for (content, says) in [
        ("ts,a\n2024-01-31 10:00:00,1\n2024-01-31 10:00:01,1,2\n", "too many fields or with wrong quotes is dropped"),
        ("ts,x,x\n2024-01-31 10:00:00,1,2\n", "names `x` more than once"),
        ("ts;x\n2024-01-31 10:00:00;1,25\n", "CAST(REPLACE(x, ',', '.') AS DECIMAL(18, 2))"),
    ] {
        let folder = folder(&[("a.csv", content)]);
        let stderr = text(&transom(folder.path(), &["schema", "a.csv"]).stderr);
        assert!(stderr.contains(says), "no {says:?} in:\n{stderr}");
    }
}

#[test]
fn lines_of_a_log_without_a_time_can_be_set_aside() {
    let log = "2024-01-31 10:00:00,000 INFO a\n\tat x.y(Z.java:1)\n2024-01-31 10:00:01,500 WARN b\n";
    let folder = folder(&[("app.log", log)]);
    fails(folder.path(), &["window", "app.log", "--tumble", "1h"], 1, &["note: 1 of 3 lines", "help: --quarantine"]);
    let found = rows(folder.path(), &["app.log", "--tumble", "1h", "--quarantine", "rejected.jsonl"]);
    assert_eq!(found, ["2024-01-31 10:00:00,2024-01-31 11:00:00,2"]);
}

#[test]
fn folders_named_after_values_become_columns() {
    let folder = folder(&[]);
    for (day, hour) in [("2024-01-31", "9"), ("2024-01-31", "10"), ("2024-02-01", "0")] {
        let path = folder.path().join(format!("in/day={day}/hour={hour}"));
        std::fs::create_dir_all(&path).expect("a writable folder");
        std::fs::write(path.join("a.csv"), format!("ts,v\n{day} 10:00:00,1\n")).expect("a writable folder");
    }
    let statement = prints(folder.path(), &["schema", "in", "-q"]);
    for part in ["day DATE", "`hour` INT", "PARTITIONED BY (day, `hour`)"] {
        assert!(statement.replace("`day`", "day").contains(part), "no {part} in:\n{statement}");
    }
    let found = rows(folder.path(), &["in", "--tumble", "1d", "--agg", "sum(v), max(`hour`)"]);
    let unknown = folder.path().join("in/day=2024-02-01/hour=__HIVE_DEFAULT_PARTITION__");
    std::fs::create_dir_all(&unknown).expect("a writable folder");
    std::fs::write(unknown.join("a.csv"), "ts,v\n2024-02-01 10:00:00,1\n").expect("a writable folder");
    let counted = rows(folder.path(), &["in", "--tumble", "10d", "--agg", "count(*), count(`hour`)"]);
    assert_eq!(counted, ["2024-01-28 00:00:00,2024-02-07 00:00:00,4,3"]);
    assert_eq!(found, ["2024-01-31 00:00:00,2024-02-01 00:00:00,2,10", "2024-02-01 00:00:00,2024-02-02 00:00:00,1,0"]);
}

#[test]
fn a_row_beyond_the_sample_that_does_not_fit_says_how_to_widen_its_column() {
    let folder = folder(&[("late.csv", "ts,v\n2024-01-31 10:00:00,1\n2024-01-31 10:00:01,x\n")]);
    let path = folder.path();
    let args = ["window", "late.csv", "--tumble", "1m", "--rows", "1", "--agg", "max(v)"];
    fails(path, &args, 1, &["column `v`", "'x'", "--schema", "make v a STRING"]);
    assert_eq!(
        rows(path, &["late.csv", "--tumble", "1m", "--agg", "max(v)"]),
        ["2024-01-31 10:00:00,2024-01-31 10:01:00,x"]
    );
}

#[test]
fn a_table_may_be_given_as_text_or_as_a_file() {
    let folder = trips();
    let statement =
        prints(folder.path(), &["schema", "trips.csv", "-q"]).replace("amount DECIMAL(18, 2)", "amount STRING");
    std::fs::write(folder.path().join("t.sql"), statement.replace("trips.csv", "elsewhere.csv"))
        .expect("a writable folder");
    let expected = ["2024-01-31 00:00:00,2024-02-01 00:00:00,7.25"];
    for schema in ["t.sql", &statement] {
        assert_eq!(
            rows(folder.path(), &["trips.csv", "--schema", schema, "--tumble", "1d", "--agg", "max(amount)"]),
            expected
        );
    }
    let args = ["window", "trips.csv", "--tumble", "1d", "--schema"];
    fails(folder.path(), &[&args[..], &["SELECT 1"]].concat(), 2, &["CREATE TABLE"]);
    fails(folder.path(), &[&args[..], &["CREATE TABLE t (a INT) WITH ('path'='x')"]].concat(), 2, &["--schema"]);
}

#[test]
fn results_go_to_a_file_in_the_format_of_its_name() {
    let folder = trips();
    for (name, first) in [("out.csv", "city,window_start,window_end,count"), ("out.jsonl", "{\"city\":")] {
        prints(folder.path(), &["window", "trips.csv", "-k", "city", "--tumble", "1h", "--to", name]);
        let written = std::fs::read_to_string(folder.path().join(name)).expect("a result");
        assert!(written.starts_with(first), "{written}");
    }
    prints(folder.path(), &["window", "trips.csv", "-k", "city", "--tumble", "1h", "--to", "out.parquet", "-q"]);
    let again =
        rows(folder.path(), &["out.parquet", "--time", "window_start", "--tumble", "1d", "--agg", "sum(`count`)"]);
    assert_eq!(again, ["2024-01-31 00:00:00,2024-02-01 00:00:00,4"]);
    fails(folder.path(), &["window", "trips.csv", "--tumble", "1h", "--to", "out.xls"], 2, &["out.xls", ".parquet"]);
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("packed")
}

/// Rows of stdin, given at once.
fn piped(input: &[u8], args: &[&str]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_transom"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // `schema` reads no more than it looks at.
    let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("a writer");
    assert_eq!(output.status.code(), Some(0));
    text(&output.stdout)
}

fn many(count: usize) -> String {
    let row = |n: usize| format!("2024-01-31 {:02}:{:02}:{:02},{}\n", n / 3600 % 24, n / 60 % 60, n % 60, n % 7);
    format!("ts,v\n{}", (0..count).map(row).collect::<String>())
}

#[test]
fn what_was_looked_at_of_stdin_is_read_again() {
    let text = many(80_000);
    let args = ["window", "-", "--tumble", "1d", "--agg", "count(*), sum(v)", "-q", "-o", "csv"];
    let sum: usize = (0..80_000).map(|n| n % 7).sum();
    for input in [text.clone().into_bytes(), packed(text.as_bytes())] {
        let printed = piped(&input, &args);
        assert!(printed.contains(&format!("80000,{sum}")), "{printed}");
    }
    assert!(piped(text.as_bytes(), &["schema", "-", "-q"]).contains("'path' = '-'"));
}

#[test]
fn a_pipe_that_ends_early_ends_the_command_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_transom"))
        .args(["window", "-", "--tumble", "1s", "-q", "-o", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        // Goes on until nobody reads.
        let text = many(80_000);
        let rows = text.strip_prefix("ts,v\n").unwrap_or(&text);
        let mut written = stdin.write_all(text.as_bytes());
        while written.is_ok() {
            written = stdin.write_all(rows.as_bytes());
        }
    });
    let mut first = [0; 20];
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut first).expect("rows come before the end");
    drop(stdout);
    let output = child.wait_with_output().expect("the binary ends");
    writer.join().expect("the writer ends");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

#[test]
fn folders_globs_and_packed_files_are_looked_at_like_one() {
    let folder = folder(&[("a.csv", "ts,v\n2024-01-31 10:00:00,1\n"), ("b.csv", "ts,v\n2024-01-31 10:00:01,2\n")]);
    std::fs::create_dir(folder.path().join("in")).expect("a writable folder");
    let packed = packed(b"ts,v\n2024-01-31 10:00:00,1\n2024-01-31 10:00:01,2\n");
    std::fs::write(folder.path().join("in/c.csv.gz"), packed).expect("a writable folder");
    for path in ["*.csv", "in", "in/c.csv.gz"] {
        let found = rows(folder.path(), &[path, "--tumble", "1h", "--agg", "sum(v)"]);
        assert_eq!(found, ["2024-01-31 10:00:00,2024-01-31 11:00:00,3"], "{path}");
    }
}

#[test]
fn a_large_file_is_looked_at_in_places_and_whole_where_asked_for() {
    let folder = folder(&[]);
    let mut text = String::from("ts,v\n");
    // In order, but for one row near the end of the file that no sample is bound to see.
    for n in 0..900_000u32 {
        let second = if n == 880_000 { n - 3_000 } else { n };
        text.push_str(&format!("{},{n}\n", 1_706_695_200 + second));
    }
    std::fs::write(folder.path().join("big.csv"), &text).expect("a writable folder");
    let sampled = prints(folder.path(), &["schema", "big.csv", "-q"]);
    assert!(sampled.contains("TO_TIMESTAMP_LTZ(ts, 0)"), "{sampled}");
    let all = prints(folder.path(), &["schema", "big.csv", "-q", "--all"]);
    assert!(all.contains("INTERVAL '1' HOUR"), "{all}");
}

/// Real files with rows that another program computed; see datasets/README.md.
#[test]
fn real_files_give_the_rows_that_another_program_computed() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("datasets/real");
    let cases = std::fs::read_to_string(root.join("cases.tsv")).expect("datasets/real/cases.tsv");
    let mut count = 0;
    for line in cases.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let expected = root.join("expected").join(cells.next().expect("a file of expected rows"));
        let args: Vec<&str> = cells.collect();
        let expected = std::fs::read_to_string(&expected).expect("expected rows");
        let mut expected: Vec<&str> = expected.lines().collect();
        expected.sort_unstable();
        assert_eq!(rows(&root, &args), expected, "{line}");
        count += 1;
    }
    assert!(count >= 8, "{count} cases");
}
