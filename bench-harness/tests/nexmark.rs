//! The queries in `datasets/nexmark`: those that its README says run give, on the events of the connector `nexmark`, what
//! Flink gave on the same events written to a file; the others are refused with a reason that stands there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bench_harness::conformance::case::{Expected, SinkExpectation, SqlCase};
use bench_harness::conformance::{compare, rows};
use bench_harness::engine::{self, Request, Tuning};
use transom::error::{ErrorKind, Result};

/// What the README says of a query.
enum Said {
    Runs,
    /// Its rows depend on the time of the day, so that there is nothing to compare.
    RunsByTheClock,
    /// For one of these reasons: which of several is found first does not matter.
    Refused(Vec<String>),
}

fn datasets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets").canonicalize().unwrap()
}

/// The rows `| [0](q0.sql) | what it asks | runs |` of the README's table.
fn queries() -> Vec<(u32, Said)> {
    let text = fs::read_to_string(datasets().join("nexmark/README.md")).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("| ["));
    let query = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let number = cells[1].trim_start_matches('[').split(']').next().unwrap().parse().unwrap();
        assert_eq!(cells[1], format!("[{number}](q{number}.sql)"));
        let said = match (cells[3], cells[3].strip_prefix("refused: ")) {
            ("runs", _) => Said::Runs,
            ("runs, by the clock", _) => Said::RunsByTheClock,
            (_, Some(reasons)) => Said::Refused(reasons.split(", ").map(str::to_string).collect()),
            _ => panic!("neither runs nor refused: {line}"),
        };
        (number, said)
    };
    lines.map(query).collect()
}

fn read(name: &str) -> String {
    fs::read_to_string(datasets().join("nexmark").join(name)).unwrap()
}

/// The tables and the query, with few and short events, half of them persons and auctions, and a file as the sink.
fn script(number: u32) -> String {
    let few = "'bid.proportion' = '6', 'seed' = '10', 'person.avg-size' = '1b', 'auction.avg-size' = '1b', \
        'bid.avg-size' = '60b'";
    let tables = read("tables.sql").replace("'bid.proportion' = '46'", few);
    assert!(tables.contains(few));
    let file = "'connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'debezium-json'";
    let query = read(&format!("q{number}.sql")).replace("'connector' = 'blackhole'", file);
    assert!(query.contains("'${OUT}/results'"), "q{number}");
    // so that the rows can be read and compared
    format!("{tables}{}", query.replace("'format' = 'csv',\n  'sink.", "'format' = 'json',\n  'sink."))
}

fn run(number: u32, events: usize, shards: usize, out: &Path) -> Result<()> {
    let variables = [
        ("EVENTS", events.to_string()),
        ("RATE", "10".to_string()),
        ("OUT", out.display().to_string()),
        ("SIDE", "side.csv".to_string()),
    ];
    let variables: BTreeMap<String, String> = variables.map(|(name, value)| (name.to_string(), value)).into();
    let tuning = Tuning { shards: Some(shards), ..Tuning::default() };
    engine::run(&Request { text: script(number), file: format!("q{number}.sql"), variables, tuning, restores: None })
}

/// Where Flink's rows of a query are, and how many events they are of.
fn recorded(number: u32) -> (SinkExpectation, usize) {
    let cases = datasets().join("conformance/sql");
    let stateless = cases.join("810-nexmark-stateless");
    let of_query = fs::read_dir(&cases).unwrap().map(|entry| entry.unwrap().path()).find(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with('8') && name.ends_with(&format!("-nexmark-q{number}"))
    });
    let (folder, sink) = match of_query {
        Some(folder) => (folder, "results".to_string()),
        None if number == 0 => (stateless.clone(), "results".to_string()),
        None => (stateless.clone(), format!("q{number}")),
    };
    let Expected::Sinks(sinks) = SqlCase::load(&folder).unwrap().expected else { panic!("q{number} fails in Flink") };
    let sink =
        sinks.into_iter().find(|known| known.sink == sink).unwrap_or_else(|| panic!("q{number} is not recorded"));
    let events = [folder, stateless].map(|folder| folder.join("events.json"));
    let events = events.iter().find(|file| file.exists()).unwrap();
    (sink, fs::read_to_string(events).unwrap().lines().count())
}

fn is_refused(number: u32, reasons: &[String]) {
    let out = tempfile::tempdir().unwrap();
    let Err(error) = run(number, 10, 1, out.path()) else { panic!("q{number} runs: the README says that it does not") };
    assert_eq!(error.kind(), ErrorKind::Unsupported, "q{number}: {error}");
    let known = reasons.iter().any(|reason| error.to_string().contains(reason));
    assert!(known, "q{number} is refused for another reason than {reasons:?}: {error}");
}

fn gives_what_flink_gave(number: u32) {
    let (sink, events) = recorded(number);
    let expected = rows::read_file(&sink.file, &sink.columns).unwrap();
    assert!(!expected.is_empty(), "q{number}");
    for shards in [1, 3] {
        let out = tempfile::tempdir().unwrap();
        run(number, events, shards, out.path()).unwrap_or_else(|error| panic!("q{number}: {error}"));
        let got = rows::read_sink(&out.path().join("results"), &sink.columns).unwrap();
        if let Some(difference) = compare::difference(&expected, &got, &sink.columns) {
            panic!("q{number} on {shards} shards: {}", difference.describe(&sink.columns));
        }
    }
}

#[test]
fn queries_that_run_give_what_flink_gives_and_the_others_are_refused_by_name() {
    let queries = queries();
    assert_eq!(queries.iter().map(|&(number, _)| number).collect::<Vec<_>>(), (0..=23).collect::<Vec<_>>());
    for (number, said) in queries {
        match said {
            Said::Runs => gives_what_flink_gave(number),
            Said::RunsByTheClock => {
                let out = tempfile::tempdir().unwrap();
                run(number, 10, 1, out.path()).unwrap_or_else(|error| panic!("q{number}: {error}"));
            }
            Said::Refused(reasons) => is_refused(number, &reasons),
        }
    }
}
