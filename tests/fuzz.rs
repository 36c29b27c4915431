//! Random bytes as every kind of input: nothing may panic, hang or fill the memory.
//!
//! Half of the inputs are noise, half are good ones with a few changes, which come further. Each is made from
//! a number, which a failure names, so that it can be tried again alone: `FUZZ_ONLY=number cargo test …`.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use support::random::Random;
use transom::job::{NoReport, RunOptions};
use transom::plan::{Node, ScanSpec};
use transom::runner::run_script;
use transom::source;
use transom::sql::{self, Action, ScriptOptions};

/// Of each kind.
const INPUTS: u64 = 200_000;
/// Of these, every so many run as a whole job, with shards and a sink; the others end behind the decoder.
const WHOLE_JOB_EVERY: u64 = 500;
/// Longer than any input takes on a busy machine.
const HANG: Duration = Duration::from_secs(60);
/// The whole process, with all kinds in turn or side by side.
const PEAK_MEMORY: u64 = 2 << 30;

const SCRIPT: &str = "CREATE TABLE t (id INT, k STRING, d DECIMAL(10, 2), r ROW<a INT, b ARRAY<STRING>>, m MAP<STRING, INT>,
  ts TIMESTAMP(3), day AS CAST(ts AS DATE), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '/nowhere/x.json', 'format' = 'json', 'json.ignore-parse-errors' = 'true');
SET 'table.local-time-zone' = 'Europe/Berlin';
CREATE VIEW v AS SELECT k, r.a AS a, ts, CASE WHEN id > 3 THEN UPPER(k) ELSE k || 'x' END AS u FROM t WHERE id IN (1, 2) OR d < 1.5;
EXPLAIN SELECT window_start, window_end, k, COUNT(*), SUM(a) FILTER (WHERE a > 0), MAX(u)
FROM TABLE(HOP(TABLE v, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, k HAVING COUNT(*) > 1;
SELECT * FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '30' MINUTE));";

const CSV: &str =
    "1,ab,2.50,2024-01-01 00:00:01,\"x, y\"\n2,,-0.1,2024-01-01 00:00:02.5,plain\n3,\"a \"\"b\"\"\",1e3,,\r\n";

const JSON: &str = "{\"id\": 1, \"k\": \"ab\\u00e9\", \"d\": 2.50, \"ts\": \"2024-01-01 00:00:01\", \"s\": \"x\"}\n\
    {\"id\": null, \"k\": {\"deep\": [1, 2, {\"x\": -1e-7}]}, \"d\": \"3\", \"ts\": null, \"extra\": [true, false]}\n";

const COLUMNS: &str = "id INT, k STRING, d DECIMAL(10, 2), ts TIMESTAMP(3), s STRING";

/// Runs `check` on every number, tells where it hangs, and bounds the memory.
fn for_each(kind: &str, mut check: impl FnMut(u64)) {
    if let Some(number) = std::env::var("FUZZ_ONLY").ok().and_then(|text| text.parse().ok()) {
        return check(number);
    }
    let at = Arc::new(AtomicU64::new(0));
    let watched = Arc::clone(&at);
    let name = kind.to_string();
    let started = Instant::now();
    std::thread::spawn(move || {
        let mut seen = u64::MAX;
        loop {
            std::thread::sleep(HANG);
            let now = watched.load(Ordering::Relaxed);
            if now >= INPUTS {
                return;
            }
            if now == seen {
                eprintln!("{name}: input {now} hangs");
                std::process::abort();
            }
            seen = now;
        }
    });
    for number in 0..INPUTS {
        at.store(number, Ordering::Relaxed);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(number)));
        assert!(checked.is_ok(), "{kind}: input {number} panics");
    }
    at.store(INPUTS, Ordering::Relaxed);
    assert!(peak_memory() < PEAK_MEMORY, "{kind}: {} MiB at the peak", peak_memory() >> 20);
    println!("{kind}: {INPUTS} inputs in {:.1} s", started.elapsed().as_secs_f64());
}

/// A folder in memory where there is such a place: the disk is not what is tested.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}

/// The most memory that this process ever held, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) << 10
}

/// Noise, or a changed copy of one of `good`; `tokens` are put in where they may hurt.
fn input(number: u64, good: &[Vec<u8>], tokens: &[&str]) -> Vec<u8> {
    let mut random = Random::new(number);
    if random.below(2) == 0 {
        let length = random.below(200) as usize;
        let printable = random.below(2) == 0;
        return (0..length)
            .map(|_| if printable { 32 + random.below(95) as u8 } else { random.below(256) as u8 })
            .collect();
    }
    let mut bytes = good[random.below(good.len() as u64) as usize].clone();
    for _ in 0..=random.below(4) {
        change(&mut bytes, &mut random, tokens);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, random: &mut Random, tokens: &[&str]) {
    let at = random.below(bytes.len() as u64 + 1) as usize;
    let end = (at + random.below(20) as usize).min(bytes.len());
    match random.below(6) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
        2 => drop(bytes.drain(at..end)),
        3 => {
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len() as u64 + 1) as usize;
            bytes.splice(to..to, copy);
        }
        4 => bytes.truncate(at),
        _ => {
            let token = tokens[random.below(tokens.len() as u64) as usize];
            bytes.splice(at..at, token.bytes());
        }
    }
}

/// The scan of a query over a table with these options.
fn scan(path: &Path, columns: &str, options: &str) -> (ScanSpec, String) {
    let script = format!(
        "CREATE TABLE t ({columns}) WITH ('connector' = 'filesystem', 'path' = '{}', {options});\nSELECT * FROM t;",
        path.display()
    );
    let compiled = sql::compile(&script, &ScriptOptions::default()).expect("a good script");
    let Some(Action::Select { plan, .. }) = compiled.statements.first().map(|statement| &statement.action) else {
        panic!("a SELECT");
    };
    let mut node = &plan.pipelines[0].root;
    loop {
        match node {
            Node::Scan(scan) => return ((**scan).clone(), script),
            other => node = other.inputs()[0],
        }
    }
}

/// Reads random files with each of the tables.
fn read_files(kind: &str, name: &str, good: &[Vec<u8>], tokens: &[&str], tables: &[(&str, &str)]) {
    let folder = scratch();
    let path = folder.path().join(name);
    let scans: Vec<(ScanSpec, String)> =
        tables.iter().map(|(columns, options)| scan(&path, columns, options)).collect();
    for_each(kind, |number| {
        std::fs::write(&path, input(number, good, tokens)).expect("a writable folder");
        let (scan, script) = &scans[number as usize % scans.len()];
        if number % WHOLE_JOB_EVERY == 0 {
            let run = RunOptions { shards: 2, block_bytes: 64, ..RunOptions::default() };
            let _ = run_script(script, &ScriptOptions::default(), &run, &mut NoReport);
        } else {
            let _ = decode(scan, if number % 3 == 0 { 16 } else { 1 << 16 });
        }
    });
}

fn decode(scan: &ScanSpec, block_bytes: usize) -> transom::error::Result<()> {
    let wake: source::Wake = Arc::new(|| {});
    for split in source::open(scan, block_bytes)? {
        let (mut state, mut block) = (0, 0);
        split.start(&wake, true);
        loop {
            let extent = split.extend();
            if block < extent.blocks {
                split.decode(block, state, 64, &mut |_| Ok(()))?;
                state = split.probe(block)?.0[usize::from(state)];
                block += 1;
            } else if extent.complete {
                break;
            } else {
                std::thread::yield_now();
            }
        }
    }
    Ok(())
}

#[test]
fn scripts() {
    let tokens = [
        "(",
        ")",
        "'",
        "`",
        "--",
        "/*",
        "\u{0}",
        "🙂",
        "NULL",
        "CAST(",
        "INTERVAL '",
        "${X}",
        ";",
        "SELECT",
        "<",
        "9999999999999999999999",
        "AS",
    ];
    let good: Vec<Vec<u8>> = SCRIPT
        .split_inclusive(";\n")
        .map(|part| part.as_bytes().to_vec())
        .chain([SCRIPT.as_bytes().to_vec()])
        .collect();
    for_each("script", |number| {
        let bytes = input(number, &good, &tokens);
        let text = String::from_utf8_lossy(&bytes);
        let _ = sql::compile(&text, &ScriptOptions::default());
    });
}

#[test]
fn csv_files() {
    let tokens =
        ["\"", "\"\"", ",", "\n", "\r", "\u{feff}", "#", "\\", "\u{0}", "é", "1e999", "-", "NaN", "2024-02-30"];
    let tables = [
        (COLUMNS, "'format' = 'csv'"),
        (COLUMNS, "'format' = 'csv', 'csv.ignore-parse-errors' = 'true', 'csv.allow-comments' = 'true'"),
        (
            COLUMNS,
            "'format' = 'csv', 'csv.escape-character' = '\\', 'csv.null-literal' = '', 'csv.ignore-parse-errors' = 'true'",
        ),
    ];
    read_files("CSV", "x.csv", &[CSV.as_bytes().to_vec()], &tokens, &tables);
}

#[test]
fn json_files() {
    let tokens =
        ["{", "}", "[", "]", "\"", "\\u", "\\uD800", "null", ":", ",", "\n", "1e999", "-0", "\u{0}", "é", "[[[[[[[["];
    let tables = [
        (COLUMNS, "'format' = 'json'"),
        (COLUMNS, "'format' = 'json', 'json.ignore-parse-errors' = 'true'"),
        (COLUMNS, "'format' = 'json', 'json.fail-on-missing-field' = 'true'"),
    ];
    read_files("JSON", "x.json", &[JSON.as_bytes().to_vec()], &tokens, &tables);
}

#[test]
fn parquet_files() {
    let folder = scratch();
    let good = sample(folder.path(), "parquet", "'format' = 'parquet'");
    let tables = [(COLUMNS, "'format' = 'parquet'"), ("id BIGINT, s BOOLEAN", "'format' = 'parquet'")];
    read_files("Parquet", "x.parquet", &[good], &["PAR1", "\u{0}\u{0}\u{0}\u{0}", "\u{7f}"], &tables);
}

#[test]
fn avro_files() {
    let folder = scratch();
    let good = |codec| sample(folder.path(), "avro", &format!("'format' = 'avro', 'avro.codec' = '{codec}'"));
    let tables = [(COLUMNS, "'format' = 'avro'"), ("id BIGINT, s BOOLEAN", "'format' = 'avro'")];
    let tokens = ["Obj\u{1}", "\u{0}", "\u{7f}", "\"null\"", "\"type\":", "[", "{", "\"long\"", "\"record\""];
    read_files("Avro", "x.avro", &[good("null"), good("snappy"), good("zstandard")], &tokens, &tables);
}

/// A small file of ours.
fn sample(folder: &Path, format: &str, options: &str) -> Vec<u8> {
    std::fs::write(folder.join("in.json"), JSON).expect("a writable folder");
    let script = format!(
        "CREATE TABLE i ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{0}/in.json', 'format' = 'json');
         CREATE TABLE o ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{0}/out.{format}', {options});
         INSERT INTO o SELECT * FROM i;",
        folder.display()
    );
    run_script(&script, &ScriptOptions::default(), &RunOptions::default(), &mut NoReport).expect("a good job");
    std::fs::read(folder.join(format!("out.{format}"))).expect("the file")
}

#[test]
fn gzip_files() {
    use std::io::Write;
    let pack = |text: &str| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(text.as_bytes()).expect("memory");
        packer.finish().expect("memory")
    };
    let good = [pack(CSV), pack(&CSV.repeat(300)), [pack(CSV), pack(CSV)].concat()];
    let tables = [(COLUMNS, "'format' = 'csv'"), (COLUMNS, "'format' = 'csv', 'csv.ignore-parse-errors' = 'true'")];
    read_files("gzip", "x.csv.gz", &good, &["\u{1f}", "\u{0}", "\u{7f}\u{7f}"], &tables);
}
