//! What every shard may know of the input: which blocks are taken, and what each block told.
//!
//! Plain atomics, written once per block and read by all; no lock. The values that matter for
//! the answer (transitions, watermarks) are functions of the data alone; only who claims which
//! block depends on timing.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crossbeam::utils::CachePadded;

use crate::source::Transition;

const UNKNOWN: i64 = i64::MIN;
/// Bits for one state in a packed transition.
const STATE_BITS: u32 = 3;
const KNOWN: u32 = 1 << 31;

struct SplitProgress {
    next: CachePadded<AtomicUsize>,
    transitions: Vec<AtomicU32>,
    watermarks: Vec<AtomicI64>,
    seconds: Vec<AtomicI64>,
}

/// Shared by all shards of a job.
pub struct Progress {
    splits: Vec<SplitProgress>,
    claimed: CachePadded<AtomicU64>,
    /// Per shard: how many blocks of the order it has wholly processed.
    completed: Vec<CachePadded<AtomicU64>>,
    stop: AtomicBool,
    in_flight: u64,
}

impl Progress {
    /// `block_counts`: of each split. `in_flight`: blocks that may be claimed ahead of the slowest shard.
    pub fn new(block_counts: &[usize], shards: usize, in_flight: usize) -> Self {
        let split = |&blocks: &usize| SplitProgress {
            next: CachePadded::new(AtomicUsize::new(0)),
            transitions: (0..blocks).map(|_| AtomicU32::new(0)).collect(),
            watermarks: (0..blocks).map(|_| AtomicI64::new(UNKNOWN)).collect(),
            seconds: (0..blocks).map(|_| AtomicI64::new(UNKNOWN)).collect(),
        };
        Progress {
            splits: block_counts.iter().map(split).collect(),
            claimed: CachePadded::new(AtomicU64::new(0)),
            completed: (0..shards).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
            stop: AtomicBool::new(false),
            in_flight: in_flight as u64,
        }
    }

    pub fn split_count(&self) -> usize {
        self.splits.len()
    }
    pub fn block_count(&self, split: usize) -> usize {
        self.splits[split].watermarks.len()
    }
    /// The first block of the split that nobody has claimed.
    pub fn unclaimed(&self, split: usize) -> usize {
        self.splits[split].next.load(Ordering::Relaxed)
    }

    /// Claims block `block` of a split if it is still the next one.
    pub fn claim(&self, split: usize, block: usize) -> bool {
        let next = &self.splits[split].next;
        let won = block < self.block_count(split)
            && next.compare_exchange(block, block + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if won {
            self.claimed.fetch_add(1, Ordering::Relaxed);
        }
        won
    }

    /// Whether the block whose turn it is may be read, `turns` blocks having had theirs: not while all that may
    /// be in flight waits for the slowest shard. What waits there needs no further block, so it will end.
    pub fn may_continue(&self, turns: u64) -> bool {
        turns.saturating_sub(self.completed_by_all()) < self.in_flight
    }

    /// Whether one more block may be read ahead.
    pub fn may_claim(&self) -> bool {
        self.claimed.load(Ordering::Relaxed).saturating_sub(self.completed_by_all()) < self.in_flight
    }

    pub fn publish_transition(&self, split: usize, block: usize, transition: Transition) {
        let packed = transition.0.iter().rev().fold(0, |packed, &state| (packed << STATE_BITS) | u32::from(state & 7));
        self.splits[split].transitions[block].store(packed | KNOWN, Ordering::Release);
    }

    /// The state at the block's exit for a state at its entry; None until the block was probed.
    pub fn exit_state(&self, split: usize, block: usize, entry: u8) -> Option<u8> {
        let packed = self.splits[split].transitions[block].load(Ordering::Acquire);
        (packed & KNOWN != 0).then(|| ((packed >> (STATE_BITS * u32::from(entry & 7))) & 7) as u8)
    }

    /// `watermark`: a lower bound of the split's watermark after the block; with the maximum over
    /// the blocks before, exactly that.
    pub fn publish_watermark(&self, split: usize, block: usize, watermark: i64) {
        self.splits[split].watermarks[block].store(watermark.max(UNKNOWN + 1), Ordering::Release);
    }

    /// The second highest value of the watermark expression in a block, told before its watermark is.
    pub fn publish_second(&self, split: usize, block: usize, second: i64) {
        self.splits[split].seconds[block].store(second, Ordering::Relaxed);
    }
    /// The lowest number there is where it was not told. Known when the watermark is.
    pub fn second(&self, split: usize, block: usize) -> i64 {
        self.splits[split].seconds[block].load(Ordering::Relaxed)
    }

    /// None until published.
    pub fn watermark(&self, split: usize, block: usize) -> Option<i64> {
        let watermark = self.splits[split].watermarks[block].load(Ordering::Acquire);
        (watermark != UNKNOWN).then_some(watermark)
    }

    /// Says that `shard` has processed the first `blocks` blocks of the order, output included.
    pub fn complete(&self, shard: usize, blocks: u64) {
        self.completed[shard].store(blocks, Ordering::Release);
    }
    /// Blocks of the order that every shard has processed.
    pub fn completed_by_all(&self) -> u64 {
        self.completed.iter().map(|blocks| blocks.load(Ordering::Acquire)).min().unwrap_or(0)
    }

    /// Asks every shard to end without finishing.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_claimed_once_and_in_order() {
        let progress = Progress::new(&[2], 1, 1);
        assert!(!progress.claim(0, 1));
        assert!(progress.claim(0, 0));
        assert!(!progress.claim(0, 0));
        assert!(!progress.may_claim());
        progress.complete(0, 1);
        assert!(progress.may_claim() && progress.claim(0, 1) && !progress.claim(0, 2));
    }

    #[test]
    fn transitions_survive_packing() {
        let progress = Progress::new(&[1], 1, 1);
        assert_eq!(progress.exit_state(0, 0, 0), None);
        let transition = Transition([7, 0, 3, 3, 1, 2, 6, 5]);
        progress.publish_transition(0, 0, transition);
        for entry in 0..8 {
            assert_eq!(progress.exit_state(0, 0, entry), Some(transition.0[usize::from(entry)]));
        }
    }
}
