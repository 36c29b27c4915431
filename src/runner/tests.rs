//! Jobs with checkpoints on a disk that breaks: at every call that decides on what a crash leaves, the machine stops, the
//! call fails, or the disk is full. Whatever happens, going on gives the rows of a job that nothing has happened to.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::io::simulated::{Fault, Random, Shared, Simulated};
use crate::io::uring::Executor;
use crate::job::{Report, RestoreFrom, RunOptions};
use crate::runner::run_script;
use crate::sql::ScriptOptions;

const SCRIPT: &str = "SET 'execution.checkpointing.interval' = '1 d';
    SET 'execution.checkpointing.dir' = '${ROOT}/state/chk';
    CREATE TABLE src (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '${DATA}', 'format' = 'csv');
    CREATE TABLE results (n BIGINT, k STRING) ${PARTITIONED}
        WITH ('connector' = 'filesystem', 'path' = '${ROOT}/out/${PATH}', ${FORMAT});
    INSERT INTO results SELECT COUNT(*), k
        FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;";

/// Folder, partitions, one file.
const SINKS: [[&str; 3]; 3] = [
    ["", "results", "'format' = 'json'"],
    ["PARTITIONED BY (k)", "results", "'format' = 'csv', 'sink.partition-commit.policy.kind' = 'success-file'"],
    ["", "results.csv", "'format' = 'csv'"],
];

/// A job on a disk that may break.
struct Job {
    root: tempfile::TempDir,
    data: tempfile::TempDir,
    script: String,
}

#[derive(Default)]
struct Said(Vec<String>);

impl Report for Said {
    fn warning(&mut self, text: &str) {
        self.0.push(text.to_string());
    }
}

impl Job {
    fn new([partitioned, path, format]: [&str; 3]) -> Job {
        let (root, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let rows = [(1, "a"), (2, "b"), (3, "a"), (11, "a"), (21, "a"), (22, "c")];
        let rows = rows.map(|(second, key)| format!("2024-05-01 12:00:{second:02},{key},1\n")).concat();
        fs::write(data.path().join("src.csv"), rows).unwrap();
        let script = SCRIPT
            .replace("${PARTITIONED}", partitioned)
            .replace("${PATH}", path)
            .replace("${FORMAT}", format)
            .replace("${ROOT}", &root.path().display().to_string())
            .replace("${DATA}", &data.path().join("src.csv").display().to_string());
        Job { root, data, script }
    }

    /// Runs on the disk as it is, which breaks as `fault` says.
    fn run(&self, fault: Option<Fault>, restore: Option<RestoreFrom>) -> (Result<()>, Shared) {
        let disk = Shared(Arc::new(Simulated::new(self.root.path(), fault)));
        let options = RunOptions {
            shards: 2,
            block_bytes: 40,
            checkpoint_blocks: Some(1),
            executor: Executor::Threads,
            disk: Arc::new(disk.clone()),
            restore,
            ..RunOptions::default()
        };
        let script = ScriptOptions { file: "job.sql".to_string(), ..ScriptOptions::default() };
        let mut said = Said::default();
        let result = run_script(&self.script, &script, &options, &mut said).map(drop);
        // A call that was made to fail is no damage.
        let passed_over = said.0.iter().find(|text| text.contains("passed over") && !text.contains("os error 5"));
        assert_eq!(passed_over, None, "a checkpoint that is complete is damaged");
        (result, disk)
    }

    /// Goes on as a user would: from the latest checkpoint, or from the beginning where there is none.
    fn go_on(&self, fault: Option<Fault>) -> (Result<()>, Shared) {
        let (result, disk) = self.run(fault, Some(RestoreFrom::Latest));
        match result {
            Err(error) if error.kind() == ErrorKind::Usage => {
                assert!(error.to_string().contains("no checkpoint of"), "{error}");
                self.run(fault, None)
            }
            result => (result, disk),
        }
    }

    /// The rows that a reader of the table finds.
    fn rows(&self) -> Vec<String> {
        let mut files = Vec::new();
        files_below(&self.root.path().join("out"), &mut files);
        let shown = |path: &&PathBuf| !name(path).starts_with(['.', '_']);
        let folder = |path: &Path| name(path.parent().unwrap()).to_string();
        let lines = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            text.lines().map(|line| format!("{} {line}", folder(path))).collect::<Vec<_>>()
        };
        let mut rows: Vec<String> = files.iter().filter(shown).flat_map(lines).collect();
        rows.sort();
        rows
    }

    /// Files that nobody should find behind a job that has ended well.
    fn left(&self) -> Vec<PathBuf> {
        let (mut files, mut state) = (Vec::new(), Vec::new());
        files_below(&self.root.path().join("out"), &mut files);
        files_below(&self.root.path().join("state"), &mut state);
        files.retain(|path| name(path).starts_with('.'));
        state.retain(|path| name(path) != "done");
        files.extend(state);
        files
    }
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

/// An undisturbed job: its rows, and how many calls it makes.
fn undisturbed(sink: [&str; 3]) -> (Vec<String>, u64) {
    let job = Job::new(sink);
    let (result, disk) = job.run(None, None);
    result.unwrap();
    let rows = job.rows();
    assert_eq!((rows.len(), job.left()), (5, Vec::new()));
    (rows, disk.0.calls())
}

/// Each call for the first sink, every third for the others: what they have in common is broken often enough.
fn some_of(calls: u64, sink: usize) -> impl Iterator<Item = u64> {
    (1..=calls).filter(move |at| sink == 0 || at % 3 == sink as u64)
}

fn names_a_file(error: &Error, job: &Job) {
    let text = format!("{error} {:?}", error.place());
    let paths = [&job.root, &job.data].map(|folder| folder.path().display().to_string());
    assert!(paths.iter().any(|path| text.contains(path)), "{text}");
}

#[test]
fn a_crash_at_any_call_loses_no_row_and_doubles_none() {
    for (number, sink) in SINKS.into_iter().enumerate() {
        let (rows, calls) = undisturbed(sink);
        for at in some_of(calls, number) {
            let told = format!("{sink:?}, crash at call {at} of {calls}");
            let (job, mut random) = (Job::new(sink), Random(at));
            let (result, disk) = job.run(Some(Fault::Crash(at)), None);
            result.as_ref().err().into_iter().for_each(|error| names_a_file(error, &job));
            disk.0.crash(&mut random);
            // Going on may be broken off as well.
            for _ in 0..random.below(3) {
                let (_, disk) = job.go_on(Some(Fault::Crash(1 + random.below(calls))));
                disk.0.crash(&mut random);
            }
            job.go_on(None).0.unwrap_or_else(|error| panic!("{told}: {error}"));
            assert_eq!(job.rows(), rows, "{told}");
            assert_eq!(job.left(), Vec::<PathBuf>::new(), "{told}");
        }
    }
}

#[test]
fn a_call_that_fails_stops_the_job_and_harms_nothing() {
    for (number, sink) in SINKS.into_iter().enumerate() {
        let (rows, calls) = undisturbed(sink);
        for at in some_of(calls, number) {
            for (fault, crashes) in [(Fault::Fails(at), false), (Fault::Fails(at), true), (Fault::Full(at), false)] {
                let told = format!("{sink:?}, {fault:?} of {calls}, crash: {crashes}");
                let job = Job::new(sink);
                let (result, disk) = job.run(Some(fault), None);
                if let Err(error) = &result {
                    assert_eq!(error.kind(), ErrorKind::Io, "{told}: {error}");
                    names_a_file(error, &job);
                }
                if crashes {
                    disk.0.crash(&mut Random(at));
                }
                if result.is_err() || crashes {
                    job.go_on(None).0.unwrap_or_else(|error| panic!("{told}: {error}"));
                }
                assert_eq!(job.rows(), rows, "{told}");
            }
        }
    }
}
