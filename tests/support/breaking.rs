//! Breaks jobs off at checkpoints and lets them go on from there.

use std::path::PathBuf;

use transom::error::{Error, Result};
use transom::job::{Completed, Report, RestoreFrom, RunOptions};
use transom::plan::JobPlan;
use transom::runner::{ScriptSummary, run_script};

use super::{Job, read_lines};

/// What the script needs for checkpoints, which come after each block.
pub const CHECKPOINTS: &str = "SET 'execution.checkpointing.interval' = '1 d';\n\
    SET 'execution.checkpointing.dir' = '${DATA}/chk';\n";

/// How a piece of a job ended.
pub struct Piece {
    pub result: Result<ScriptSummary, Error>,
    /// It was broken off, or else it came to its end.
    pub is_broken: bool,
    /// Notices and warnings.
    pub said: Vec<String>,
}

/// Stops the job of a statement at one of its checkpoints.
struct Breaking {
    statement: usize,
    begun: usize,
    /// Until the one at which it stops.
    left: u64,
    said: Vec<String>,
}

impl Report for Breaking {
    fn notice(&mut self, text: &str) {
        self.said.push(text.to_string());
    }
    fn warning(&mut self, text: &str) {
        self.said.push(text.to_string());
    }
    fn statement_begins(&mut self, _plan: &JobPlan) -> Result<()> {
        self.begun += 1;
        Ok(())
    }
    fn checkpointed(&mut self, _checkpoint: &Completed) -> Result<()> {
        if self.begun != self.statement || self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        if self.left == 0 { Err(Error::cancelled()) } else { Ok(()) }
    }
}

impl Job {
    /// Runs until checkpoint `nth` of the `statement`th job of this run, both counted from 1; with 0 to the end.
    pub fn piece(&self, shards: usize, (statement, nth): (usize, u64), restore: Option<RestoreFrom>) -> Piece {
        let run = RunOptions { shards, block_bytes: 16, checkpoint_blocks: Some(1), restore, ..RunOptions::default() };
        let mut report = Breaking { statement, begun: 0, left: nth, said: Vec::new() };
        let result = run_script(&self.script, &self.options(&self.out()), &run, &mut report);
        Piece { result, is_broken: nth > 0 && report.left == 0, said: report.said }
    }

    /// Runs to the end from the newest checkpoint.
    pub fn rest(&self, shards: usize) -> Piece {
        self.piece(shards, (1, 0), Some(RestoreFrom::Latest))
    }

    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Lines of a sink, sorted.
    pub fn shown(&self, sink: &str) -> Vec<String> {
        let mut rows = Vec::new();
        read_lines(&self.out().join(sink), &mut rows);
        rows.sort();
        rows
    }

    /// The checkpoints that there are, complete or not, the oldest first.
    pub fn checkpoints(&self) -> Vec<PathBuf> {
        let entries = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        let all = entries(self.folder.path().join("chk")).flat_map(entries);
        let mut found: Vec<PathBuf> = all.filter(|path| path.is_dir()).collect();
        found.sort_by_key(|path| {
            path.to_string_lossy().rsplit('-').next().and_then(|number| number.parse::<u64>().ok())
        });
        found
    }

    /// Breaks the job off at each of its checkpoints in turn, goes on from there on another number of shards, and gives the
    /// rows of `results`, which must be the same each time.
    pub fn broken_anywhere(&self, (before, after): (usize, usize)) -> Vec<String> {
        let mut first: Option<Vec<String>> = None;
        for nth in 1.. {
            let _ = std::fs::remove_dir_all(self.out());
            let piece = self.piece(before, (1, nth), None);
            if !piece.is_broken {
                assert!(nth > 1, "no checkpoint was taken: {:?}", piece.said);
                break;
            }
            self.rest(after).result.unwrap_or_else(|error| panic!("checkpoint {nth}: {error}"));
            assert_eq!(self.checkpoints(), Vec::<PathBuf>::new(), "left by a job that has ended well");
            let rows = self.shown("results");
            assert_eq!(*first.get_or_insert(rows.clone()), rows, "broken off at checkpoint {nth}");
        }
        first.expect("at least one checkpoint")
    }
}
