//! Runs scripts over small inputs through the public door.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod aside;
pub mod breaking;
pub mod random;

use std::path::Path;

use tempfile::TempDir;
use transom::error::Error;
use transom::job::{NoReport, RunOptions};
use transom::runner::{ScriptSummary, run_script};
use transom::sql::ScriptOptions;

/// What a script left behind.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Lines of all files of the sink `results`, sorted.
    pub rows: Vec<String>,
    pub late: u64,
}

/// A script with its input files, in a folder of its own.
pub struct Job {
    pub folder: TempDir,
    pub script: String,
}

impl Job {
    /// `${DATA}` and `${OUT}` in the script stand for the job's folders.
    pub fn new(script: &str) -> Self {
        Job { folder: tempfile::tempdir().expect("a temporary folder"), script: script.to_string() }
    }

    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.folder.path().join(name), content).expect("a writable folder");
        self
    }

    pub fn options(&self, out: &Path) -> ScriptOptions {
        let mut options = ScriptOptions { file: "job.sql".into(), ..ScriptOptions::default() };
        options.variables.insert("DATA".into(), self.folder.path().display().to_string());
        options.variables.insert("OUT".into(), out.display().to_string());
        options
    }

    pub fn run_with(&self, run: &RunOptions) -> Result<(Outcome, ScriptSummary), Error> {
        let out = tempfile::tempdir().expect("a temporary folder");
        let summary = self.run_in(out.path(), run)?;
        let mut rows = Vec::new();
        read_lines(&out.path().join("results"), &mut rows);
        rows.sort();
        let late = summary.jobs.iter().map(|job| job.totals.rows_late).sum();
        Ok((Outcome { rows, late }, summary))
    }

    /// Leaves in the folder `out` what the script writes.
    pub fn run_in(&self, out: &Path, run: &RunOptions) -> Result<ScriptSummary, Error> {
        run_script(&self.script, &self.options(out), run, &mut NoReport)
    }

    pub fn error(&self) -> Error {
        self.run_with(&RunOptions::default()).expect_err("the script must fail")
    }

    /// Runs on 1, 2 and 7 shards, in batches of 1, 7 and 8192 rows, in large and tiny blocks: all must agree.
    pub fn outcome(&self) -> Outcome {
        let mut first: Option<Outcome> = None;
        for shards in [1, 2, 7] {
            for (batch_rows, block_bytes) in [(8_192, 1 << 20), (1, 16), (7, 100)] {
                let run = RunOptions { shards, batch_rows, block_bytes, ..RunOptions::default() };
                let (outcome, summary) = self.run_with(&run).unwrap_or_else(|error| panic!("{error}"));
                for job in &summary.jobs {
                    let t = &job.totals;
                    let accounted = t.rows_used() + t.rows_filtered + t.rows_late + t.rows_malformed;
                    assert_eq!(accounted, t.rows_read() + t.rows_repeated, "the summary adds up");
                }
                let expected = first.get_or_insert(outcome.clone_rows());
                assert_eq!(
                    *expected, outcome,
                    "{shards} shards, batches of {batch_rows}, blocks of {block_bytes} bytes"
                );
            }
        }
        first.expect("at least one run")
    }
}

impl Outcome {
    fn clone_rows(&self) -> Outcome {
        Outcome { rows: self.rows.clone(), late: self.late }
    }
}

/// All lines of a file, or of all files below a folder.
pub fn read_lines(path: &Path, lines: &mut Vec<String>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a readable folder").flatten() {
            read_lines(&entry.path(), lines);
        }
    } else if let Ok(text) = std::fs::read_to_string(path) {
        lines.extend(text.lines().map(str::to_string));
    }
}

/// DDL for a CSV source `src` with these columns and a JSON sink `results` with those.
pub fn script(source: &str, sink: &str, query: &str) -> String {
    format!(
        "CREATE TABLE src ({source}) WITH ('connector' = 'filesystem', 'path' = '${{DATA}}/src.csv', 'format' = 'csv');\n\
         CREATE TABLE results ({sink}) WITH ('connector' = 'filesystem', 'path' = '${{OUT}}/results', 'format' = 'json');\n\
         INSERT INTO results {query};"
    )
}
