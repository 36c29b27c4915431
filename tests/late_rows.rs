//! Rows that come too late, written down: which, where they stand, what they missed.
#![cfg(feature = "sql")]

mod support;

use serde_json::Value;
use support::{Job, read_lines};
use transom::job::{JobSummary, RunOptions};

/// Lines of the file, and the summaries of the jobs.
fn run(job: &Job, shards: usize, batch_rows: usize, block_bytes: usize) -> (Vec<String>, Vec<JobSummary>) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let run = RunOptions { shards, batch_rows, block_bytes, ..RunOptions::default() };
    let summary = job.run_in(out.path(), &run).unwrap_or_else(|error| panic!("{error}"));
    let mut lines = Vec::new();
    read_lines(&out.path().join("late.jsonl"), &mut lines);
    let folder = job.folder.path().display().to_string();
    (lines.iter().map(|line| line.replace(&folder, "")).collect(), summary.jobs)
}

/// The entries, the same in all ways to run the job: on any number of shards the file is the same to the byte, and in
/// blocks of any size it has the same lines. As many rows are dropped as are late.
fn in_all_ways(job: &Job) -> Vec<Value> {
    let mut all: Option<Vec<String>> = None;
    let mut last = Vec::new();
    for block_bytes in [7, 64, 1 << 20] {
        let mut first: Option<Vec<String>> = None;
        for (shards, batch_rows) in [(1, 8_192), (2, 1), (7, 5)] {
            let (lines, jobs) = run(job, shards, batch_rows, block_bytes);
            let late: u64 = jobs.iter().map(|job| job.totals.rows_late + job.totals.copies_late).sum();
            let dropped = lines.iter().filter(|line| line.contains("\"dropped\":true")).count() as u64;
            assert_eq!(dropped, late, "{lines:#?}");
            let partly: u64 = jobs.iter().map(|job| job.rows_partly_late).sum();
            assert_eq!(lines.len() as u64, dropped + partly);
            assert_eq!(lines, *first.get_or_insert(lines.clone()), "{shards} shards, blocks of {block_bytes}");
            last = lines;
        }
        let mut sorted = last.clone();
        sorted.sort();
        assert_eq!(sorted, *all.get_or_insert(sorted.clone()), "blocks of {block_bytes} bytes");
    }
    last.iter().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

/// Line, whether dropped, ends of the windows missed (minutes and seconds), number of windows.
fn short(entries: &[Value]) -> Vec<(u64, bool, Vec<String>, u64)> {
    let end = |window: &Value| window["end"].as_str().expect("a time")[14..19].to_string();
    let entry = |entry: &Value| {
        let place = entry.get("line").unwrap_or(&entry["row"]);
        let missed = entry["missed"].as_array().expect("a list").iter().map(end).collect();
        (
            place.as_u64().expect("a place"),
            entry["dropped"].as_bool().expect("a flag"),
            missed,
            entry["of"].as_u64().expect("a number"),
        )
    };
    entries.iter().map(entry).collect()
}

fn entry(place: u64, dropped: bool, missed: &[&str], of: u64) -> (u64, bool, Vec<String>, u64) {
    (place, dropped, missed.iter().map(ToString::to_string).collect(), of)
}

fn script(format: &str, statements: &str) -> String {
    format!(
        "SET 'transom.late-rows.path' = '${{OUT}}/late.jsonl';\n\
         CREATE TABLE src (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)\n\
         WITH ('connector' = 'filesystem', 'path' = '${{DATA}}/in*', {format});\n\
         CREATE TABLE results (k STRING, n BIGINT)\n\
         WITH ('connector' = 'filesystem', 'path' = '${{OUT}}/results', 'format' = 'json');\n\
         CREATE TABLE others (k STRING, n BIGINT)\n\
         WITH ('connector' = 'filesystem', 'path' = '${{OUT}}/others', 'format' = 'json');\n\
         {statements}"
    )
}

fn insert(window: &str) -> String {
    format!("INSERT INTO results SELECT k, COUNT(*) AS n FROM TABLE({window}) GROUP BY k, window_start, window_end;")
}

const TUMBLE: &str = "TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)";
const HOP: &str = "HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)";
const CUMULATE: &str = "CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '30' SECOND)";
const SESSION: &str = "SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)";

/// The watermark is 30 from the second row on, and 51 from the sixth on.
const CSV: &str = "2024-05-01 12:00:12,a,1\n\
    2024-05-01 12:00:31,b,2\n\
    2024-05-01 12:00:09,a,3\n\
    2024-05-01 12:00:16,\"a\nb\",4\n\
    2024-05-01 12:00:31,c,5\n\
    2024-05-01 12:00:52,a,6\n\
    2024-05-01 12:00:33,b,7\n\
    2024-05-01 12:00:49,é,8\n";

fn csv(query: &str) -> Job {
    Job::new(&script("'format' = 'csv'", query)).file("in.csv", CSV)
}

#[test]
fn a_dropped_row_is_written_down_with_place_watermark_and_window() {
    let (lines, _) = run(&csv(&insert(TUMBLE)), 2, 8_192, 1 << 20);
    assert_eq!(
        lines[0],
        "{\"file\":\"/in.csv\",\"line\":3,\"column\":1,\"table\":\"src\",\"operator\":1,\
         \"event_time\":\"2024-05-01 12:00:09.000\",\"watermark\":\"2024-05-01 12:00:30.000\",\"dropped\":true,\
         \"missed\":[{\"start\":\"2024-05-01 12:00:00.000\",\"end\":\"2024-05-01 12:00:10.000\"}],\
         \"missed_count\":1,\"of\":1,\"text\":\"2024-05-01 12:00:09,a,3\"}"
    );
    let late = in_all_ways(&csv(&insert(TUMBLE)));
    let expected = [
        entry(3, true, &["00:10"], 1),
        entry(4, true, &["00:20"], 1),
        entry(8, true, &["00:40"], 1),
        entry(9, true, &["00:50"], 1),
    ];
    assert_eq!(short(&late), expected);
    assert_eq!(late[1]["text"], "2024-05-01 12:00:16,\"a\nb\",4");
}

#[test]
fn rows_that_miss_some_of_their_windows_are_told_apart() {
    let late = in_all_ways(&csv(&insert(HOP)));
    let expected = [
        entry(3, true, &["00:10", "00:15", "00:20", "00:25"], 4),
        entry(4, false, &["00:20", "00:25", "00:30"], 4),
        entry(8, true, &["00:35", "00:40", "00:45", "00:50"], 4),
        entry(9, false, &["00:50"], 4),
    ];
    assert_eq!(short(&late), expected);
    let late = in_all_ways(&csv(&insert(CUMULATE)));
    let expected = [
        entry(3, true, &["00:10", "00:20", "00:30"], 3),
        entry(4, true, &["00:20", "00:30"], 2),
        entry(8, false, &["00:40", "00:50"], 3),
        entry(9, false, &["00:50"], 2),
    ];
    assert_eq!(short(&late), expected);
}

#[test]
fn of_sessions_the_one_that_the_row_would_have_opened_is_missed() {
    let late = in_all_ways(&csv(&insert(SESSION)));
    assert_eq!(
        short(&late),
        [entry(3, true, &["00:14"], 1), entry(4, true, &["00:21"], 1), entry(8, true, &["00:38"], 1)]
    );
}

/// Writes a Parquet file by way of a script.
fn parquet() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let columns = "ts TIMESTAMP(3), k STRING, v INT";
    let script = format!(
        "CREATE TABLE a ({columns}) WITH ('connector' = 'filesystem', 'path' = '${{DATA}}/in.csv', 'format' = 'csv');\n\
         CREATE TABLE b ({columns}) WITH ('connector' = 'filesystem', 'path' = '${{OUT}}/in.parquet', 'format' = 'parquet');\n\
         INSERT INTO b SELECT * FROM a;"
    );
    let run = RunOptions { shards: 1, ..RunOptions::default() };
    Job::new(&script).file("in.csv", CSV).run_in(folder.path(), &run).expect("a file");
    std::fs::read(folder.path().join("in.parquet")).expect("a file")
}

fn gzipped(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn rows_of_every_kind_of_file_have_their_places() {
    let json: String = (1..).zip(CSV.replace("\"a\nb\"", "ab").lines()).fold(String::new(), |text, (v, line)| {
        let cells: Vec<&str> = line.split(',').collect();
        text + &format!("{{\"ts\":\"{}\",\"k\":\"{}\",\"v\":{v}}}\n", cells[0], cells[1])
    });
    let places = |entries: &[Value]| short(entries).into_iter().map(|entry| entry.0).collect::<Vec<_>>();
    let of = |format: &str, name: &str, content: &[u8]| {
        let job = Job::new(&script(&format!("'format' = '{format}'"), &insert(TUMBLE))).file(name, content);
        in_all_ways(&job)
    };
    assert_eq!(places(&of("csv", "in.csv.gz", &gzipped(CSV))), [3, 4, 8, 9]);
    let late = of("json", "in.json", json.as_bytes());
    assert_eq!(places(&late), [3, 4, 7, 8]);
    assert_eq!(late[0]["text"], "{\"ts\":\"2024-05-01 12:00:09\",\"k\":\"a\",\"v\":3}");
    let late = of("parquet", "in.parquet", &parquet());
    assert_eq!(places(&late), [3, 4, 7, 8]);
    assert_eq!(late[0]["row"], 3);
}

#[test]
fn a_quarantine_does_not_shift_the_places() {
    let with = script("'format' = 'csv', 'csv.null-literal' = 'NULL'", &insert(TUMBLE));
    let with = format!("SET 'transom.quarantine.path' = '${{OUT}}/rejected.jsonl';\n{with}");
    let job = Job::new(&with)
        .file("in.csv", CSV.replace("2024-05-01 12:00:31,b,2\n", "NULL,b,1\nno time\n2024-05-01 12:00:31,b,2\n"));
    assert_eq!(short(&in_all_ways(&job)).iter().map(|entry| entry.0).collect::<Vec<_>>(), [5, 6, 10, 11]);
}

#[test]
fn each_operator_that_drops_a_row_has_an_entry() {
    let second = insert(SESSION).replace("results", "others");
    let both = format!("EXECUTE STATEMENT SET BEGIN {} {second} END;", insert(TUMBLE));
    let late = in_all_ways(&csv(&both));
    let of = |operator: u64| late.iter().filter(|entry| entry["operator"] == operator).count();
    assert_eq!((late.len(), of(1), of(2)), (7, 4, 3));
    // Statements one after the other fill the same file.
    let late = in_all_ways(&csv(&format!("{} {second}", insert(TUMBLE))));
    assert_eq!(late.len(), 7);
}

#[test]
fn operators_without_windows_of_their_own_write_down_too() {
    let places = |query: &str| {
        let job = csv(&format!("INSERT INTO results {query};"));
        short(&in_all_ways(&job))
            .into_iter()
            .map(|(at, dropped, missed, of)| {
                assert!(dropped);
                (at, missed.len() as u64, of)
            })
            .collect::<Vec<_>>()
    };
    let over = "SELECT k, COUNT(*) OVER (PARTITION BY k ORDER BY ts) AS n FROM src";
    assert_eq!(places(over), [(3, 0, 0), (4, 0, 0), (8, 0, 0), (9, 0, 0)]);
    let top = format!(
        "SELECT k, n FROM (SELECT k, CAST(v AS BIGINT) AS n, ROW_NUMBER() OVER (PARTITION BY window_start, window_end \
         ORDER BY v DESC) AS place FROM TABLE({TUMBLE})) WHERE place <= 2"
    );
    assert_eq!(places(&top), [(3, 1, 1), (4, 1, 1), (8, 1, 1), (9, 1, 1)]);
    // Each row comes once for each of its windows.
    let copies = places(&top.replace(TUMBLE, HOP));
    assert_eq!(copies.iter().filter(|(at, ..)| *at == 4).count(), 3);
    assert_eq!(copies.len(), 4 + 3 + 4 + 1);
    let rows = format!("SELECT k, CAST(v AS BIGINT) AS n FROM TABLE({SESSION})");
    assert_eq!(places(&rows), [(3, 1, 1), (4, 1, 1), (8, 1, 1)]);
    let sets = format!("SELECT k, COUNT(*) AS n FROM TABLE({TUMBLE}) GROUP BY window_start, window_end, ROLLUP (k)");
    assert_eq!(places(&sets).len(), 4);
}

/// What is late depends on how inputs that are read side by side take turns, but not on the number of shards.
fn on_any_number_of_shards(job: &Job) -> Vec<String> {
    let (first, _) = run(job, 1, 8_192, 1 << 20);
    for shards in [2, 7] {
        assert_eq!(run(job, shards, 3, 1 << 20).0, first, "{shards} shards");
    }
    first
}

#[test]
fn inputs_that_are_read_side_by_side_have_places_of_their_own() {
    let job = csv(&insert(TUMBLE)).file("in2.csv", CSV.replace("12:00:09,a,3", "12:00:14,a,3"));
    let late = on_any_number_of_shards(&job);
    assert!(late.iter().any(|line| line.contains("/in2.csv")), "{late:#?}");
    let join = format!(
        "INSERT INTO results SELECT a.k, CAST(b.v AS BIGINT) AS n FROM (SELECT * FROM TABLE({TUMBLE})) a \
         JOIN (SELECT * FROM TABLE({TUMBLE})) b \
         ON a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end;"
    );
    // The first reading has its turn while the watermark of the second is still where it starts.
    assert_eq!(on_any_number_of_shards(&csv(&join)).len(), 4);
}

#[test]
fn windows_that_take_late_rows_for_a_while_are_missed_after_that() {
    let query = "SET 'table.exec.emit.late-fire.enabled' = 'true';\n\
        SET 'table.exec.emit.late-fire.delay' = '0 s';\n\
        SET 'table.exec.emit.allow-lateness' = '15 s';\n\
        CREATE TABLE nothing (k STRING, n BIGINT) WITH ('connector' = 'blackhole');\n\
        INSERT INTO nothing SELECT k, COUNT(*) AS n FROM src GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);";
    assert_eq!(short(&in_all_ways(&csv(query))), [entry(3, true, &["00:10"], 1)]);
}

#[test]
fn without_late_rows_there_is_an_empty_file() {
    let job = Job::new(&script("'format' = 'csv'", &insert(TUMBLE))).file("in.csv", "2024-05-01 12:00:12,a,1\n");
    let out = tempfile::tempdir().expect("a temporary folder");
    job.run_in(out.path(), &RunOptions::default()).expect("a good job");
    assert_eq!(std::fs::read_to_string(out.path().join("late.jsonl")).expect("a file"), "");
}

#[test]
fn the_file_must_be_the_jobs_own() {
    let at = |path: &str| {
        let with = script("'format' = 'csv'", &insert(TUMBLE)).replacen("${OUT}/late.jsonl", path, 1);
        Job::new(&with).file("in.csv", CSV).error()
    };
    let error = at("${DATA}/in.csv");
    assert!(error.message().contains("'transom.late-rows.path' would replace"), "{error}");
    assert!(at("").message().contains("transom.late-rows.path"));
    assert!(at("${DATA}").message().contains("it is a folder"));
    let quarantine = "SET 'transom.quarantine.path' = '${OUT}/late.jsonl';\n";
    let with = format!("{quarantine}{}", script("'format' = 'csv'", &insert(TUMBLE)));
    let error = Job::new(&with).file("in.csv", CSV).error();
    assert!(error.message().contains("are both"), "{error}");
}
