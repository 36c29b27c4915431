//! The reading side of a shard: claims blocks, has them read, and keeps each until its turn.

use std::sync::Arc;

use super::dataflow::Dataflow;
use crate::error::{Error, Result};
use crate::exchange::Order;
use crate::exchange::progress::Progress;
use crate::exchange::sequence::{Sequencer, Step};

/// A block that waits for the state in which it begins.
struct Claim {
    split: usize,
    block: usize,
}

/// A block between its reading and its turn.
struct Held<B> {
    split: usize,
    block: usize,
    rows: B,
    /// Its watermark has been told to the others.
    published: bool,
}

/// One shard's reader.
pub(super) struct Reader<B> {
    progress: Arc<Progress>,
    claim: Option<Claim>,
    pending: Vec<Held<B>>,
    /// Blocks that could not be read. The error waits for the block's turn, so that the first one in the order is
    /// reported, whoever comes upon another one earlier.
    failed: Vec<(Claim, Error)>,
    /// Per split: the state at the entry of block `known.0` is `known.1`.
    entries: Vec<(usize, u8)>,
}

/// Blocks that a shard may have read besides the one whose turn it is.
const AHEAD_PER_SHARD: usize = 2;
/// Splits, by turn, among which a shard looks for a block to read ahead.
const SPLITS_CONSIDERED: usize = 16;

impl<B> Reader<B> {
    pub fn new(progress: Arc<Progress>, sequencer: &Sequencer) -> Self {
        let entries = sequencer.position().splits.iter().map(|split| (split.next_block, split.state)).collect();
        Reader { progress, claim: None, pending: Vec::new(), failed: Vec::new(), entries }
    }

    /// Claims a block if there is one to claim, and tells the others how its state changes; else asks splits for more.
    /// True if anything came of it.
    pub fn claim<F: Dataflow<Block = B>>(&mut self, sequencer: &Sequencer, flow: &F) -> bool {
        if self.claim.is_some() {
            return false;
        }
        match self.progress.order() {
            Order::LowestWatermark => self.claim_by_turn(sequencer, flow),
            Order::Arrival => self.claim_arrived(flow),
        }
    }

    /// Where nothing is to be claimed, looks for new blocks instead.
    fn claim_arrived<F: Dataflow<Block = B>>(&mut self, flow: &F) -> bool {
        // Blocks are claimed in their order, so what this shard has comes before what it would claim.
        if self.pending.len() >= AHEAD_PER_SHARD {
            return false;
        }
        if let Some((split, block)) = self.progress.claim_arrived() {
            self.probe(Claim { split, block }, flow);
            return true;
        }
        self.progress.poll(&|split| flow.extend(split), &|split, block| flow.stamp(split, block))
    }

    fn claim_by_turn<F: Dataflow<Block = B>>(&mut self, sequencer: &Sequencer, flow: &F) -> bool {
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
            let is_there = || self.progress.is_there(split, block, || flow.extend(split));
            if wanted && is_there() && self.progress.claim(split, block) {
                self.probe(Claim { split, block }, flow);
                return true;
            }
        }
        false
    }

    fn probe<F: Dataflow<Block = B>>(&mut self, claim: Claim, flow: &F) {
        match flow.probe(claim.split, claim.block) {
            Ok(transition) => {
                self.progress.publish_transition(claim.split, claim.block, transition);
                self.claim = Some(claim);
            }
            Err(error) => self.failed.push((claim, error)),
        }
    }

    /// Has the claimed block read if the state in which it begins is known. True if it did.
    pub fn read<F: Dataflow<Block = B>>(&mut self, flow: &mut F) -> bool {
        let Some(Claim { split, block }) = self.claim else { return false };
        let Some(entry) = self.entry_state(split, block) else { return false };
        self.claim = None;
        match flow.read(split, block, entry) {
            Ok(rows) => {
                let peaks = flow.peaks(&rows);
                if let Some(peaks) = peaks {
                    self.progress.publish_second(split, block, peaks.second);
                    self.progress.publish_watermark(split, block, peaks.first);
                }
                self.pending.push(Held { split, block, rows, published: peaks.is_some() });
            }
            Err(error) => self.failed.push((Claim { split, block }, error)),
        }
        true
    }

    /// The block, if this shard holds the one whose turn it is; its watermark is published by then.
    ///
    /// # Errors
    /// What kept the block from being read.
    pub fn take_turn<F: Dataflow<Block = B>>(&mut self, step: &Step, flow: &mut F) -> Result<Option<B>> {
        let &Step { split, block, start, .. } = step;
        if let Some(index) = self.failed.iter().position(|(claim, _)| (claim.split, claim.block) == (split, block)) {
            return Err(self.failed.swap_remove(index).1);
        }
        let Some(index) = self.pending.iter().position(|held| (held.split, held.block) == (split, block)) else {
            return Ok(None);
        };
        let mut held = self.pending.swap_remove(index);
        if !held.published {
            self.progress.publish_watermark(split, block, flow.after(&mut held.rows, start).0);
        }
        Ok(Some(held.rows))
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
}
