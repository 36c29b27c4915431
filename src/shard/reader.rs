//! The reading side of a shard: claims blocks, decodes them, and keeps each until its turn.

use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType as ArrowType, Int64Type, SchemaRef, TimeUnit};

use super::chain;
use crate::error::{Error, Result};
use crate::exchange::progress::Progress;
use crate::exchange::sequence::Sequencer;
use crate::expr::EvalContext;
use crate::plan::ScanSpec;
use crate::source::{BlockStats, Split};
use crate::time::Watermark;
use crate::watermark::WatermarkRule;

/// A file of a branch's table.
#[derive(Clone)]
pub struct SplitEntry {
    pub branch: usize,
    pub split: Arc<dyn Split>,
}

/// A batch of a scan's columns.
pub struct ScanBatch {
    pub rows: RecordBatch,
    /// The watermark expression of each row in milliseconds, for tables that have one.
    pub watermarks: Option<Int64Array>,
}

/// A block between its decoding and its turn.
pub struct Block {
    pub split: usize,
    pub block: usize,
    pub batches: Vec<ScanBatch>,
    pub stats: BlockStats,
    /// Its watermark has been told to the others.
    published: bool,
}

/// A block that waits for the state in which it begins.
struct Claim {
    split: usize,
    block: usize,
}

/// One shard's reader.
pub struct Reader {
    progress: Arc<Progress>,
    splits: Arc<Vec<SplitEntry>>,
    claim: Option<Claim>,
    pending: Vec<Block>,
    /// Blocks that could not be read. The error waits for the block's turn, so that the first one in the order is
    /// reported, whoever comes upon another one earlier.
    failed: Vec<(Claim, Error)>,
    /// Per split: the state at the entry of block `known.0` is `known.1`.
    entries: Vec<(usize, u8)>,
}

/// Decoded blocks that a shard may hold besides the one whose turn it is.
const AHEAD_PER_SHARD: usize = 2;
/// Splits, by turn, among which a shard looks for a block to read ahead.
const SPLITS_CONSIDERED: usize = 16;

impl Reader {
    pub fn new(progress: Arc<Progress>, splits: Arc<Vec<SplitEntry>>) -> Self {
        let entries = vec![(0, 0); splits.len()];
        Reader { progress, splits, claim: None, pending: Vec::new(), failed: Vec::new(), entries }
    }

    /// Claims a block if there is one to claim, and tells the others how its state changes. True if it did.
    pub fn claim(&mut self, sequencer: &Sequencer) -> bool {
        if self.claim.is_some() {
            return false;
        }
        let ahead_allowed = self.pending.len() < AHEAD_PER_SHARD && self.progress.may_claim();
        let may_continue = self.progress.may_continue(sequencer.turns());
        let alone = sequencer.is_last_split();
        let considered = if ahead_allowed { SPLITS_CONSIDERED } else { 1 };
        for (turn, split) in sequencer.by_turn().take(considered).enumerate() {
            let block = self.progress.unclaimed(split);
            let its_turn = turn == 0 && block == sequencer.sequenced(split) && may_continue;
            // With several splits the next blocks in the order are most likely those of other
            // splits, so only little of one split is read ahead.
            let near = alone || block < sequencer.sequenced(split) + 2;
            let wanted = its_turn || (ahead_allowed && near);
            if wanted && self.is_there(split, block) && self.progress.claim(split, block) {
                self.probe(Claim { split, block });
                return true;
            }
        }
        false
    }

    /// Whether the block can be claimed; a split that is still growing is asked for it.
    fn is_there(&self, split: usize, block: usize) -> bool {
        let extent = self.progress.extent(split);
        if block < extent.blocks || extent.complete {
            return block < extent.blocks;
        }
        let extent = self.splits[split].split.extend();
        self.progress.note(split, extent);
        block < extent.blocks
    }

    fn probe(&mut self, claim: Claim) {
        match self.splits[claim.split].split.probe(claim.block) {
            Ok(transition) => {
                self.progress.publish_transition(claim.split, claim.block, transition);
                self.claim = Some(claim);
            }
            Err(error) => self.failed.push((claim, error)),
        }
    }

    /// Decodes the claimed block if the state in which it begins is known. True if it did.
    pub fn decode<'a>(
        &mut self,
        scan_of: &dyn Fn(usize) -> ScanContext<'a>,
        batch_rows: usize,
        rule: WatermarkRule,
    ) -> Result<bool> {
        let Some(Claim { split, block }) = self.claim else { return Ok(false) };
        let Some(entry) = self.entry_state(split, block) else { return Ok(false) };
        let source = self.splits[split].split.clone();
        let scan = scan_of(self.splits[split].branch);
        let mut batches = Vec::new();
        let mut rows_before = 0;
        let result = source.decode(block, entry, batch_rows, &mut |batch| {
            let decoded = scan.evaluate(&batch).map_err(|fault| match fault {
                Fault::NullTime(row) => self.null_time(&scan, split, block, rows_before + row),
                Fault::Error(error) => error.in_file(source.name()),
            })?;
            rows_before += batch.num_rows();
            batches.push(decoded);
            Ok(())
        });
        self.claim = None;
        let stats = match result {
            Ok(stats) => stats,
            Err(error) => {
                self.failed.push((Claim { split, block }, error));
                return Ok(true);
            }
        };
        let published = rule.is_prefix_maximum();
        if published {
            let watermark = after(rule, Watermark::MIN, &batches);
            self.progress.publish_watermark(split, block, watermark.0);
        }
        self.pending.push(Block { split, block, batches, stats, published });
        Ok(true)
    }

    /// The block, if this shard holds the one whose turn it is; its watermark is published by then.
    ///
    /// # Errors
    /// What kept the block from being decoded.
    pub fn take_turn(
        &mut self,
        split: usize,
        block: usize,
        start: Watermark,
        rule: WatermarkRule,
    ) -> Result<Option<Block>> {
        if let Some(index) = self.failed.iter().position(|(claim, _)| (claim.split, claim.block) == (split, block)) {
            return Err(self.failed.swap_remove(index).1);
        }
        let Some(index) = self.pending.iter().position(|held| (held.split, held.block) == (split, block)) else {
            return Ok(None);
        };
        let held = self.pending.swap_remove(index);
        if !held.published {
            self.progress.publish_watermark(split, block, after(rule, start, &held.batches).0);
        }
        Ok(Some(held))
    }

    /// Follows the state of a split past a block that has had its turn, before another block takes its place among
    /// what is told.
    pub fn pass(&mut self, split: usize, block: usize) {
        let (known, state) = self.entries[split];
        if known == block {
            self.entries[split] = (block + 1, self.progress.exit_state(split, block, state).unwrap_or(state));
        }
    }

    fn entry_state(&mut self, split: usize, block: usize) -> Option<u8> {
        let (mut known, mut state) = self.entries[split];
        while known < block {
            let Some(exit) = self.progress.exit_state(split, known, state) else {
                self.entries[split] = (known, state);
                return None;
            };
            (known, state) = (known + 1, exit);
        }
        self.entries[split] = (known, state);
        Some(state)
    }

    /// Counts the rows before the block, which only an error needs.
    fn null_time(&self, scan: &ScanContext, split: usize, block: usize, row: usize) -> Error {
        let source = &self.splits[split].split;
        let (mut state, mut rows) = (0, row as u64 + 1);
        let first_line = source.first_line(block);
        let behind =
            first_line.filter(|line| *line > 1).map(|line| format!(" from line {line} on")).unwrap_or_default();
        for earlier in 0..if first_line.is_some() { 0 } else { block } {
            let counted = source.decode(earlier, state, 8_192, &mut |_| Ok(())).map_or(0, |stats| stats.rows);
            rows += counted;
            state = source.probe(earlier).map_or(0, |transition| transition.0[usize::from(state & 7)]);
        }
        let column = &scan.spec.schema.fields[scan.spec.watermark.as_ref().map_or(0, |w| w.time)].name;
        Error::data(format!(
            "{}: row {rows}{behind}: the event time `{column}` of table {} is NULL",
            source.name(),
            scan.spec.table
        ))
        .help(format!("filter or repair such rows before they are read, or make `{column}` a computed column, for example COALESCE(…)"))
    }
}

fn after(rule: WatermarkRule, start: Watermark, batches: &[ScanBatch]) -> Watermark {
    let watermarks = batches.iter().filter_map(|batch| batch.watermarks.as_ref());
    watermarks.fold(start, |current, values| rule.after(current, values))
}

/// What it takes to turn decoded columns into a scan's columns.
pub struct ScanContext<'a> {
    pub spec: &'a ScanSpec,
    pub schema: &'a SchemaRef,
    pub context: &'a EvalContext,
}

enum Fault {
    NullTime(usize),
    Error(Error),
}

impl ScanContext<'_> {
    fn evaluate(&self, physical: &RecordBatch) -> std::result::Result<ScanBatch, Fault> {
        let rows = chain::project(&self.spec.columns, self.schema, physical, self.context).map_err(Fault::Error)?;
        let Some(watermark) = &self.spec.watermark else { return Ok(ScanBatch { rows, watermarks: None }) };
        if let Some(nulls) = rows.column(watermark.time).nulls().filter(|nulls| nulls.null_count() > 0) {
            let row = (0..rows.num_rows()).find(|&row| nulls.is_null(row)).unwrap_or(0);
            return Err(Fault::NullTime(row));
        }
        let values = watermark.expression.eval(&rows, self.context).map_err(Fault::Error)?;
        let milliseconds = arrow::compute::cast(&values, &ArrowType::Timestamp(TimeUnit::Millisecond, None))
            .and_then(|values| arrow::compute::cast(&values, &ArrowType::Int64))
            .map_err(|error| Fault::Error(error.into()))?;
        Ok(ScanBatch { rows, watermarks: Some(milliseconds.as_primitive::<Int64Type>().clone()) })
    }
}
