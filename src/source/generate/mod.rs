//! Tables whose rows are computed from their numbers, so that any shard can make any block.

mod datagen;
mod draw;
mod nexmark;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;

use super::aside::numbered;
use super::{BlockStats, Extent, Position, Split, Wake};
use crate::error::Result;
use crate::format::rows_as_json;
use crate::plan::{DatagenSpec, NexmarkSpec, ScanSpec};
use datagen::Datagen;
use nexmark::Nexmark;

/// Rows of a block where no pace is kept.
const BLOCK_ROWS: u64 = 1 << 16;
/// With a pace a block comes about so often in a second, so that rows come smoothly.
const BLOCKS_PER_SECOND: u64 = 20;

/// Computes rows from their numbers, which count from 0.
trait Generator: Send + Sync {
    /// The scan's projected columns of `count` rows.
    fn rows(&self, first: u64, count: usize) -> Result<RecordBatch>;
}

/// A table of computed rows.
pub(super) struct GeneratedSplit {
    name: String,
    /// `None`: without end.
    rows: Option<u64>,
    block_rows: u64,
    /// Rows that may come in a second.
    pace: Option<u64>,
    started: OnceLock<Instant>,
    /// Rows that were made before the job went on.
    passed: AtomicU64,
    generator: Box<dyn Generator>,
}

pub(super) fn datagen(scan: &ScanSpec, spec: &DatagenSpec) -> GeneratedSplit {
    let generator = Box::new(Datagen::new(scan, spec, now_ms()));
    GeneratedSplit::new("<datagen>", spec.rows, Some(spec.rows_per_second), generator)
}

pub(super) fn nexmark(scan: &ScanSpec, spec: &NexmarkSpec) -> Result<GeneratedSplit> {
    let generator = Box::new(Nexmark::new(scan, spec)?);
    Ok(GeneratedSplit::new("<nexmark>", spec.events, spec.pace, generator))
}

/// One row without columns.
pub(super) fn one_row() -> GeneratedSplit {
    GeneratedSplit::new("<values>", Some(1), None, Box::new(OneRow))
}

struct OneRow;

impl Generator for OneRow {
    fn rows(&self, _first: u64, count: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(RecordBatch::try_new_with_options(Schema::empty().into(), Vec::new(), &options)?)
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

impl GeneratedSplit {
    fn new(name: &str, rows: Option<u64>, pace: Option<u64>, generator: Box<dyn Generator>) -> Self {
        let block_rows = pace.map_or(BLOCK_ROWS, |pace| (pace / BLOCKS_PER_SECOND).clamp(1, BLOCK_ROWS));
        let (name, started, passed) = (name.to_string(), OnceLock::new(), AtomicU64::new(0));
        GeneratedSplit { name, rows, block_rows, pace, started, passed, generator }
    }

    /// The numbers of the rows that are due by now.
    fn due(&self) -> u64 {
        let total = self.rows.unwrap_or(u64::MAX);
        let Some(pace) = self.pace else { return total };
        let elapsed = self.started.get().map_or(0, |started| started.elapsed().as_micros());
        let due = elapsed.saturating_mul(u128::from(pace)) / 1_000_000;
        let due = u64::try_from(due).unwrap_or(u64::MAX);
        due.saturating_add(self.passed.load(Ordering::Relaxed)).min(total)
    }
}

impl Split for GeneratedSplit {
    fn name(&self) -> &str {
        &self.name
    }
    fn extent(&self) -> Extent {
        let due = self.due();
        let complete = self.rows.is_none_or(|rows| due == rows) && (self.pace.is_none() || self.rows.is_some());
        let blocks = if complete { due.div_ceil(self.block_rows) } else { due / self.block_rows };
        // A table without an end or a pace has more blocks than anybody will ask for.
        Extent { blocks: usize::try_from(blocks).unwrap_or(usize::MAX), complete }
    }
    fn pass_over(&self, blocks: usize) -> Result<()> {
        self.passed.store((blocks as u64).saturating_mul(self.block_rows), Ordering::Relaxed);
        Ok(())
    }
    fn start(&self, _wake: &Wake, _alone: bool) {
        // Nobody has to be woken: a shard that waits looks again often enough for the pace.
        self.started.get_or_init(Instant::now);
    }
    fn bytes(&self) -> u64 {
        0
    }
    fn decode(
        &self,
        block: usize,
        _entry: u8,
        batch_rows: usize,
        out: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<BlockStats> {
        let start = (block as u64).saturating_mul(self.block_rows);
        let end = start.saturating_add(self.block_rows).min(self.rows.unwrap_or(u64::MAX));
        let mut first = start;
        while first < end {
            let count = (end - first).min(batch_rows as u64);
            out(self.generator.rows(first, count as usize)?)?;
            first += count;
        }
        Ok(BlockStats { rows: end.saturating_sub(start), ..BlockStats::default() })
    }
    fn records(&self, block: usize, _entry: u8, rows: &[u64]) -> Result<Vec<(Position, String)>> {
        let start = (block as u64).saturating_mul(self.block_rows);
        let mut texts = Vec::with_capacity(rows.len());
        for &row in rows {
            rows_as_json(&self.generator.rows(start + row, 1)?, row, rows, &mut texts)?;
        }
        Ok(numbered(start, rows.iter().copied(), texts))
    }
}

#[cfg(test)]
mod tests;
