//! What a job came to.

use std::time::Duration;

use crate::metrics::Totals;
use crate::shard::program::Program;
use crate::watermark::WatermarkRule;

/// The figures of a finished job. `read = used + filtered + late + malformed`.
#[derive(Debug, Clone)]
pub struct JobSummary {
    pub totals: Totals,
    pub shards: usize,
    pub files: usize,
    pub elapsed: Duration,
    /// The rule by which the watermark moved, in words; None without event time.
    pub watermark_rule: Option<String>,
    /// Tables written, in order of the plan.
    pub sinks: Vec<String>,
}

impl JobSummary {
    pub(super) fn new(program: &Program, totals: Totals, shards: usize, files: usize, elapsed: Duration) -> Self {
        JobSummary { totals, shards, files, elapsed, watermark_rule: watermark_rule(program), sinks: tables(program) }
    }

    /// Rows read a second, of wall-clock time.
    pub fn rows_per_second(&self) -> f64 {
        self.totals.rows_read() as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// The tables written, each once.
fn tables(program: &Program) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    for sink in &program.sinks {
        if !tables.contains(&sink.table) {
            tables.push(sink.table.clone());
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
