//! The quarantine with inputs of every kind: streams, headers, partitions, raw lines, Avro and made-up tables.
#![cfg(feature = "sql")]

mod support;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use support::Job;
use support::aside::{COUNT, in_all_ways, script};

/// One text with whole, broken and timeless records, the last one without a line end.
fn csv() -> String {
    let mut text = String::new();
    for row in 0..40 {
        text.push_str(&match row % 8 {
            2 => "NULL,b,2\n".to_string(),
            3 => "2024-05-01 12:00:02,\"two\nlines\",x\n".to_string(),
            5 => "2024-05-01 12:00:03,\"é\"b,3\r\n".to_string(),
            6 => ",,\n".to_string(),
            _ => format!("2024-05-01 12:00:{row:02},a,{row}\n"),
        });
    }
    text + "yesterday,a,8"
}

const JSON: &str = "{\"ts\":\"2024-05-01 12:00:01\",\"k\":\"a\",\"v\":1}\n\
    {\"k\":\"é\",\"v\":2}\n\
    {\"ts\":\"2024-05-01 12:00:02\",\"k\":\"a\",\"v\":\"x\"}\n\
    \n\
    {\"ts\":\n\
    [{\"ts\":\"2024-05-01 12:00:03\",\"k\":\"a\",\"v\":1},{\"ts\":null,\"k\":\"b\"}]\n\
    {\"ts\":\"2024-05-01 12:00:05\",\"k\":\"a\",\"v\":1}";

/// Two members, cut inside a record.
fn gzip(text: &str) -> Vec<u8> {
    let cut = text.len() / 2;
    let members = [&text.as_bytes()[..cut], b"", &text.as_bytes()[cut..]];
    let packed = members.map(|member| {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(member).and_then(|()| writer.finish()).expect("packed")
    });
    packed.concat()
}

fn set(lines: &[String]) -> BTreeSet<String> {
    lines.iter().map(|line| line.replace(".gz", "")).collect()
}

#[test]
fn a_compressed_file_gives_what_the_plain_file_gives() {
    let csv_format = "'format' = 'csv', 'csv.null-literal' = 'NULL'";
    let inputs = [("csv", csv_format, csv()), ("json", "'format' = 'json'", JSON.to_string())];
    for (name, format, text) in inputs {
        for ignore in ["", ", 'NAME.ignore-parse-errors' = 'true'"] {
            let script = script(&format!("{format}{}", ignore.replace("NAME", name)));
            let plain = in_all_ways(&Job::new(&script).file("in.txt", &text));
            let packed = in_all_ways(&Job::new(&script).file("in.txt.gz", gzip(&text)));
            assert!(plain.0.len() >= 6, "{:#?}", plain.0);
            assert_eq!(set(&plain.0), set(&packed.0), "{name}{ignore}");
            let counts = |(_, summary): &(_, transom::job::JobSummary)| {
                let totals = &summary.totals;
                (totals.rows_read(), totals.rows_without_time, totals.rows_unreadable, totals.rows_malformed)
            };
            assert_eq!(counts(&plain), counts(&packed), "{name}{ignore}");
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn transom(folder: &Path, script: &str, args: &[&str], stdin: &[u8]) -> Output {
    std::fs::write(folder.join("job.sql"), script).expect("a writable folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_transom"));
    command.current_dir(folder).args(["run", "job.sql", "--quiet"]).args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let (mut input, bytes) = (child.stdin.take().expect("a pipe"), stdin.to_vec());
    // The job may end before it has read everything.
    let writer = std::thread::spawn(move || drop(input.write_all(&bytes)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("it ends");
    output
}

fn table(path: &str, format: &str) -> String {
    format!(
        "CREATE TABLE src (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)\n\
         WITH ('connector' = 'filesystem', 'path' = '{path}', {format});\n{COUNT};"
    )
}

const CSV_FORMAT: &str = "'format' = 'csv', 'csv.null-literal' = 'NULL'";

#[test]
fn stdin_gives_what_the_file_gives() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let filler: String = (0..30_000).map(|row| format!("2024-05-01 12:00:01,\"a\n\",{row}\n")).collect();
    // Windows fire and rows come late in between.
    let csv = [csv() + "\n", filler, csv()].concat();
    std::fs::write(folder.path().join("src.csv"), &csv).expect("a writable folder");
    let rejected = |script: &str, shards: &str, stdin: &[u8]| {
        let args = ["--quarantine", "rejected.jsonl", "--shards", shards, "-o", "csv"];
        let output = transom(folder.path(), script, &args, stdin);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let lines = std::fs::read_to_string(folder.path().join("rejected.jsonl")).expect("written");
        (lines, text(&output.stdout))
    };
    for format in [CSV_FORMAT.to_string(), format!("{CSV_FORMAT}, 'csv.ignore-parse-errors' = 'true'")] {
        let file = rejected(&table("src.csv", &format), "2", b"");
        assert!(file.0.lines().count() >= 30, "{}", file.0);
        for shards in ["1", "2", "7"] {
            for stdin in [csv.clone().into_bytes(), gzip(&csv)] {
                let (lines, rows) = rejected(&table("-", &format), shards, &stdin);
                assert_eq!((lines.replace("<stdin>", "src.csv"), rows), file, "{shards} shards");
            }
        }
    }
}

#[test]
fn a_null_event_time_in_a_stream_is_told_with_its_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut csv: String = (0..100_000).map(|row| format!("2024-05-01 12:00:01,\"a\nb\",{row}\n")).collect();
    csv.push_str("NULL,b,2\n");
    std::fs::write(folder.path().join("src.csv.gz"), gzip(&csv)).expect("a writable folder");
    for (path, shown, stdin) in [("src.csv.gz", "src.csv.gz", ""), ("-", "<stdin>", csv.as_str())] {
        for format in [CSV_FORMAT.to_string(), format!("{CSV_FORMAT}, 'csv.ignore-parse-errors' = 'true'")] {
            let output = transom(folder.path(), &table(path, &format), &[], stdin.as_bytes());
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{stderr}");
            let place = format!("{shown}:200001:1");
            for part in ["the event time `ts` of table src is NULL", &place, "transom.quarantine.path"] {
                assert!(stderr.contains(part), "no {part:?} in:\n{stderr}");
            }
        }
    }
}

fn has(lines: &[String], file: &str, line: u64, column: u64, reason: &str) {
    let place =
        format!("{{\"file\":\"{file}\",\"line\":{line},\"column\":{column},\"table\":\"src\",\"reason\":\"{reason}");
    assert!(lines.iter().any(|found| found.starts_with(&place)), "no {place} in {lines:#?}");
}

const NULL_TIME: &str = "the event time `ts` is NULL";

#[test]
fn the_lines_of_files_with_a_header_are_numbered_with_it() {
    let headed = script(&format!("{CSV_FORMAT}, 'csv.header' = 'true'"));
    let first = "ts,\"k\",v\n2024-05-01 12:00:01,a,1\nNULL,b,2\n2024-05-01 12:00:02,c,x\n";
    let second = "v,ts,k\n1,NULL,a\nx,2024-05-01 12:00:03,b\n1,2024-05-01 12:00:03,b\n";
    for packed in [false, true] {
        let ending = if packed { ".gz" } else { "" };
        let content = |text: &str| if packed { gzip(text) } else { text.as_bytes().to_vec() };
        let job = Job::new(&headed);
        let job = job.file(&format!("in1{ending}"), content(first)).file(&format!("in2{ending}"), content(second));
        let (lines, summary) = in_all_ways(&job);
        let (one, two) = (format!("/in1{ending}"), format!("/in2{ending}"));
        has(&lines, &one, 3, 1, NULL_TIME);
        has(&lines, &one, 4, 23, "column `v`: 'x' is not an INT");
        has(&lines, &two, 2, 1, NULL_TIME);
        has(&lines, &two, 3, 1, "column `v`: 'x' is not an INT");
        assert_eq!((summary.totals.rows_without_time, summary.totals.rows_unreadable), (4, 2));
    }
}

#[test]
fn files_of_partitions_are_named_with_their_folders() {
    for (format, ignores) in
        [(CSV_FORMAT.to_string(), false), (format!("{CSV_FORMAT}, 'csv.ignore-parse-errors' = 'true'"), true)]
    {
        let script = script(&format).replace(
            "WITH ('connector' = 'filesystem', 'path' = '${DATA}/in*'",
            "PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '${DATA}/in'",
        );
        let job = Job::new(&script);
        for key in ["a", "b"] {
            std::fs::create_dir_all(job.folder.path().join(format!("in/k={key}"))).expect("a writable folder");
        }
        let job = job.file("in/k=a/x.csv", "2024-05-01 12:00:01,1\nNULL,2\n2024-05-01 12:00:02,x\n");
        let job = job.file("in/k=b/x.csv.gz", gzip("2024-05-01 12:00:01,1\n2024-05-01 12:00:02,x\nNULL,2\n"));
        let (lines, summary) = in_all_ways(&job);
        has(&lines, "/in/k=a/x.csv", 2, 1, NULL_TIME);
        has(&lines, "/in/k=b/x.csv.gz", 3, 1, NULL_TIME);
        assert_eq!(summary.totals.rows_without_time, 4);
        if !ignores {
            has(&lines, "/in/k=a/x.csv", 3, 21, "column `v`: 'x' is not an INT");
            has(&lines, "/in/k=b/x.csv.gz", 2, 21, "column `v`: 'x' is not an INT");
        }
        assert_eq!(summary.totals.rows_unreadable, if ignores { 0 } else { 2 });
    }
}

/// The script with another table `src`: its columns and options, and the columns of `whole`.
fn with_table(src: &str, options: &str, whole: &str, columns: &str) -> String {
    let script = script("'format' = 'csv'");
    let (set, rest) = script.split_once('\n').expect("a SET");
    let (_, rest) = rest.split_once(");\n").expect("a table");
    let rest = rest.replace("(ts TIMESTAMP(3), k STRING, v INT)", &format!("({whole})"));
    let rest = rest.replace("SELECT ts, k, v", &format!("SELECT {columns}"));
    format!("{set}\nCREATE TABLE src ({src}, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ({options});\n{rest}")
}

#[test]
fn raw_lines_without_a_time_are_set_aside() {
    let options = "'connector' = 'filesystem', 'path' = '${DATA}/in*', 'format' = 'raw'";
    let src = "line STRING, ts AS TO_TIMESTAMP(SUBSTRING(line FROM 1 FOR 19))";
    let script = with_table(src, options, "line STRING", "line");
    let log = "2024-05-01 12:00:01 start\nno time é\n\n2024-05-01 12:00:02 end\nlast";
    for (name, content) in [("in.log", log.as_bytes().to_vec()), ("in.log.gz", gzip(log))] {
        let (lines, summary) = in_all_ways(&Job::new(&script).file(name, content));
        for line in [2, 3, 5] {
            has(&lines, &format!("/{name}"), line, 1, NULL_TIME);
        }
        assert!(lines.iter().any(|line| line.ends_with("\"text\":\"no time é\"}")), "{lines:#?}");
        assert_eq!((summary.totals.rows_without_time, summary.totals.rows_unreadable), (3, 0));
    }
}

#[test]
fn raw_lines_that_are_no_value_are_set_aside() {
    let options = "'connector' = 'filesystem', 'path' = '${DATA}/in*', 'format' = 'raw'";
    let script = with_table("n SMALLINT, ts AS TO_TIMESTAMP_LTZ(n, 3)", options, "n SMALLINT", "n");
    let binary = b"\x01\x02\nx\n\x03\x04\nlonger\n\x05\x06";
    let (lines, summary) = in_all_ways(&Job::new(&script).file("in.bin", binary));
    has(&lines, "/in.bin", 2, 1, "");
    has(&lines, "/in.bin", 4, 1, "");
    assert_eq!((summary.totals.rows_without_time, summary.totals.rows_unreadable), (0, 2));
}

#[test]
fn avro_records_are_set_aside_with_their_number_and_as_json() {
    let job = Job::new(&script("'format' = 'avro'"));
    let mut csv = String::new();
    for row in 0..6_000u64 {
        let key = format!("key {row} ").repeat(5);
        csv.push_str(&match row % 1_000 {
            10 => format!(",{key},{row}\n"),
            11 => format!("2024-05-01 12:00:05,{key},{}\n", row + (1 << 40)),
            _ => format!("2024-05-01 12:00:{:02},{key},{row}\n", row % 60),
        });
    }
    std::fs::write(job.folder.path().join("rows.csv"), csv).expect("a writable folder");
    let columns = "ts TIMESTAMP(3), k STRING, v BIGINT";
    let write = format!(
        "CREATE TABLE a ({columns}) WITH ('connector' = 'filesystem', 'path' = 'rows.csv', 'format' = 'csv', 'csv.null-literal' = '');\n\
         CREATE TABLE b ({columns}) WITH ('connector' = 'filesystem', 'path' = 'in.avro', 'format' = 'avro');\n\
         INSERT INTO b SELECT * FROM a;"
    );
    let output = transom(job.folder.path(), &write, &["--shards", "1"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (lines, summary) = in_all_ways(&job);
    for row in (0..6_000u64).step_by(1_000) {
        let null =
            format!("{{\"file\":\"/in.avro\",\"row\":{},\"table\":\"src\",\"reason\":\"{NULL_TIME}\",", row + 11);
        let text = format!("\"text\":\"{{\\\"ts\\\":null,\\\"k\\\":\\\"key {} ", row + 10);
        assert!(lines.iter().any(|line| line.starts_with(&(null.clone() + &text))), "no {null}{text}: {lines:#?}");
        let wide = row + 11 + (1 << 40);
        let unfit =
            format!("\"row\":{},\"table\":\"src\",\"reason\":\"field `v`: {wide} does not fit into INT\"", row + 12);
        let found = lines.iter().find(|line| line.contains(&unfit)).unwrap_or_else(|| panic!("no {unfit}: {lines:#?}"));
        // The columns that can be read.
        assert!(found.contains("\\\"ts\\\":\\\"2024-05-01T12:00:05\\\"") && !found.contains("\\\"v\\\""), "{found}");
    }
    // One reading serves both queries.
    assert_eq!((summary.totals.rows_without_time, summary.totals.rows_unreadable), (6, 6));
}

#[test]
fn made_up_rows_without_a_time_are_set_aside_with_their_number() {
    let options = "'connector' = 'datagen', 'number-of-rows' = '300', 'fields.ts.null-rate' = '0.2', \
        'fields.k.length' = '3'";
    let src = "ts TIMESTAMP(3), k STRING, v INT";
    let script = with_table(src, options, src, "ts, k, v");
    let (lines, summary) = in_all_ways(&Job::new(&script));
    assert_eq!(summary.totals.rows_unreadable, 0);
    assert!((30..90).contains(&summary.totals.rows_without_time), "{}", summary.totals.rows_without_time);
    for line in &lines {
        assert!(line.contains("\"row\":") && line.contains(NULL_TIME) && line.contains("{\\\"ts\\\":null"), "{line}");
    }
}

#[test]
fn nested_avro_values_that_do_not_fit_do_not_spoil_the_records_around_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let csv: String = (0..40u64)
        .map(|row| format!("2024-05-01 12:00:01,{row},{}\n", if row % 4 == 2 { row << 40 } else { row }))
        .collect();
    std::fs::write(folder.path().join("rows.csv"), csv).expect("a writable folder");
    let files = "WITH ('connector' = 'filesystem', 'path'";
    let script = format!(
        "CREATE TABLE a (ts TIMESTAMP(3), k STRING, v BIGINT) {files} = 'rows.csv', 'format' = 'csv');\n\
         CREATE TABLE b (ts TIMESTAMP(3), r ROW<a ARRAY<BIGINT>, k STRING>) {files} = 'in.avro', 'format' = 'avro');\n\
         CREATE TABLE c (ts TIMESTAMP(3), r ROW<a ARRAY<INT>, k STRING>) {files} = 'in.avro', 'format' = 'avro');\n\
         CREATE TABLE o (k STRING, n INT, v INT) {files} = 'out.csv', 'format' = 'csv');\n\
         INSERT INTO b SELECT ts, ROW(ARRAY[1, v], k) FROM a;\n\
         INSERT INTO o SELECT r.k, CARDINALITY(r.a), r.a[2] FROM c;"
    );
    let output = transom(folder.path(), &script, &["--quarantine", "rejected.jsonl", "--shards", "1"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let rejected = std::fs::read_to_string(folder.path().join("rejected.jsonl")).expect("written");
    assert_eq!(rejected.lines().count(), 10, "{rejected}");
    let third = "{\"file\":\"in.avro\",\"row\":3,\"table\":\"c\",\"reason\":\"field `r`: field `a`: 2199023255552 does not fit into INT\",\"text\":\"{}\"}";
    assert_eq!(rejected.lines().next(), Some(third));
    let mut rows = Vec::new();
    support::read_lines(&folder.path().join("out.csv"), &mut rows);
    let expected: Vec<String> = (0..40).filter(|row| row % 4 != 2).map(|row| format!("{row},2,{row}")).collect();
    assert_eq!(rows, expected);
}
