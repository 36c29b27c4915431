//! What a job came to.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::{CheckpointsTaken, Outcome, Running};
use crate::metrics::Totals;
use crate::plan::Config;
use crate::shard::columns::program::Program;
use crate::watermark::WatermarkRule;

/// The figures of a finished job. `read + repeated = used + filtered + late + malformed + quarantined`.
#[derive(Debug, Clone)]
pub struct JobSummary {
    pub totals: Totals,
    pub shards: usize,
    /// Different files, each read once or more.
    pub files: usize,
    pub readings: usize,
    pub elapsed: Duration,
    /// The rule by which the watermark moved, in words; None without event time.
    pub watermark_rule: Option<String>,
    /// The job has a window operator.
    pub has_windows: bool,
    /// Tables written and the rows of each, in order of the plan.
    pub sinks: Vec<(String, u64)>,
    /// The file of the records that were set aside, where the job has one.
    pub quarantine: Option<String>,
    /// The file of the late rows, where the job has one.
    pub late_rows: Option<String>,
    /// Rows in that file because they missed some of their windows, not all.
    pub rows_partly_late: u64,
    pub checkpoints: CheckpointsTaken,
    /// The savepoint at which the job was stopped; the totals are those up to there.
    pub stopped: Option<PathBuf>,
    /// What is hardly as it was meant, one line each.
    pub warnings: Vec<String>,
}

impl JobSummary {
    /// `partly`: rows that missed some of their windows, where these are kept.
    pub(super) fn new(running: &Running<'_>, outcome: Outcome, (config, partly): (&Config, u64)) -> Self {
        let (program, splits) = (running.program, running.splits);
        let Outcome { totals, written, warnings, checkpoints } = outcome;
        let files: BTreeSet<&str> = splits.iter().map(|entry| entry.split.name()).collect();
        JobSummary {
            totals,
            shards: running.shards,
            files: files.len(),
            readings: splits.len(),
            elapsed: running.started.elapsed(),
            watermark_rule: watermark_rule(program),
            has_windows: !program.stages.is_empty(),
            sinks: tables(program, &written),
            quarantine: config.quarantine.as_ref().map(|spec| spec.path.clone()),
            late_rows: config.late_rows.as_ref().map(|spec| spec.path.clone()),
            rows_partly_late: partly,
            checkpoints,
            stopped: None,
            warnings,
        }
    }

    /// Rows read a second, of wall-clock time.
    pub fn rows_per_second(&self) -> f64 {
        self.totals.rows_read() as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// The tables written, each once, with the rows of all its pipelines.
fn tables(program: &Program, written: &[u64]) -> Vec<(String, u64)> {
    let mut tables: Vec<(String, u64)> = Vec::new();
    for (sink, rows) in program.sinks.iter().zip(written) {
        match tables.iter_mut().find(|(table, _)| *table == sink.table) {
            Some((_, sum)) => *sum += rows,
            None => tables.push((sink.table.clone(), *rows)),
        }
    }
    tables
}

fn watermark_rule(program: &Program) -> Option<String> {
    let expressions: Vec<&str> = program
        .branches
        .iter()
        .filter_map(|branch| branch.scan.watermark.as_ref())
        .map(|watermark| watermark.text.as_str())
        .collect();
    let first = expressions.first()?;
    let same = expressions.iter().all(|text| text == first);
    let of = if same { (*first).to_string() } else { expressions.join(" / ") };
    Some(match program.rule {
        WatermarkRule::PerRow => format!("{of}, after every row"),
        WatermarkRule::Advance { interval_ms } => {
            format!("{of}, when it has advanced by more than {interval_ms} ms")
        }
    })
}
