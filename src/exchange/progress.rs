//! What every shard may know of the input: which blocks are there, which are taken, and what each block told.
//!
//! Plain atomics, written once per block and read by all; no lock. The values that matter for
//! the answer (transitions, watermarks) are functions of the data alone; only who claims which
//! block depends on timing.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};

use crossbeam::utils::CachePadded;

use super::Order;
use super::arrival::{Arrived, Growing, Log, Stamp};
use super::sequence::Position;
use crate::source::{Extent, Transition};

/// Bits for one state in a packed transition.
const STATE_BITS: u32 = 3;
/// Bits for a packed transition; the number of its block stands above them.
const TRANSITION_BITS: u32 = 24;

/// What one block told. A later block takes the place of one that every shard has processed, so what is told goes
/// with the number of its block (counted from 1; 0: nothing yet).
struct Told {
    transition: AtomicU64,
    /// Of the block of `watermark_of`, or told of no block at all.
    second: AtomicI64,
    watermark: AtomicI64,
    /// The last cut that was asked for when the watermark was told.
    cut: AtomicU64,
    watermark_of: AtomicU64,
}

impl Told {
    const fn nothing() -> Self {
        Told {
            transition: AtomicU64::new(0),
            second: AtomicI64::new(i64::MIN),
            watermark: AtomicI64::new(0),
            cut: AtomicU64::new(0),
            watermark_of: AtomicU64::new(0),
        }
    }
}

struct SplitProgress {
    next: CachePadded<AtomicUsize>,
    /// Twice the number of blocks that are there, and 1 if they are all.
    extent: AtomicUsize,
    /// A ring, as long as blocks may be claimed and not yet processed.
    told: Vec<Told>,
}

impl SplitProgress {
    fn told(&self, block: usize) -> &Told {
        &self.told[block & (self.told.len() - 1)]
    }
}

/// Shared by all shards of a job.
pub struct Progress {
    splits: Vec<SplitProgress>,
    claimed: CachePadded<AtomicU64>,
    /// Per shard: how many blocks of the order it has wholly processed.
    completed: Vec<CachePadded<AtomicU64>>,
    /// The last cut that was asked for; cuts are counted from 1.
    cut: AtomicU64,
    /// Cuts come by themselves, each after so many blocks.
    cut_every: Option<u64>,
    stop: AtomicBool,
    in_flight: u64,
    /// Of the order of arrival.
    log: Option<Log>,
}

impl Progress {
    /// `extents`: of each split. `in_flight`: blocks that may be claimed ahead of the slowest shard.
    pub fn new(extents: &[Extent], shards: usize, in_flight: usize, order: Order) -> Self {
        // Blocks read ahead, which every shard may find allowed at once, and those read because it was their turn.
        let most = (2 * in_flight + shards + 1).next_power_of_two();
        let split = |extent: &Extent| {
            let room = if extent.complete { most.min(extent.blocks.max(1).next_power_of_two()) } else { most };
            SplitProgress {
                next: CachePadded::new(AtomicUsize::new(0)),
                extent: AtomicUsize::new(packed(*extent)),
                told: (0..room).map(|_| Told::nothing()).collect(),
            }
        };
        Progress {
            splits: extents.iter().map(split).collect(),
            claimed: CachePadded::new(AtomicU64::new(0)),
            completed: (0..shards).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
            cut: AtomicU64::new(0),
            cut_every: None,
            stop: AtomicBool::new(false),
            in_flight: in_flight as u64,
            log: (order == Order::Arrival).then(|| Log::new(extents.len(), in_flight)),
        }
    }

    /// Goes on behind the blocks that have had their turn.
    pub fn resume(mut self, position: &Position) -> Self {
        for (split, at) in self.splits.iter_mut().zip(&position.splits) {
            split.next = CachePadded::new(AtomicUsize::new(at.next_block));
        }
        if let Some(log) = &mut self.log {
            log.resume(position.splits.iter().map(|at| at.next_block).collect());
        }
        self
    }

    /// Cuts come by themselves, each after so many blocks.
    pub fn cut_every(mut self, blocks: Option<u64>) -> Self {
        self.cut_every = blocks.map(|blocks| blocks.max(1));
        self
    }

    /// Asks for a cut of the order: behind the next block whose watermark is told from now on. Cuts are numbered
    /// from 1, ascending.
    pub fn request_cut(&self, number: u64) {
        self.cut.fetch_max(number, Ordering::Relaxed);
    }

    /// The cut that was asked for when the watermark of a block was told, which is known by then; `turns`: the place of
    /// the block in the order.
    pub(super) fn cut(&self, split: usize, block: usize, turns: u64) -> u64 {
        match self.cut_every {
            Some(blocks) => turns / blocks,
            None => self.splits[split].told(block).cut.load(Ordering::Relaxed),
        }
    }

    pub fn split_count(&self) -> usize {
        self.splits.len()
    }
    /// The blocks of the split that are there, as far as anybody has noted.
    pub fn extent(&self, split: usize) -> Extent {
        let packed = self.splits[split].extent.load(Ordering::Acquire);
        Extent { blocks: packed >> 1, complete: packed & 1 == 1 }
    }
    /// Notes that a split has grown.
    pub fn note(&self, split: usize, extent: Extent) {
        self.splits[split].extent.fetch_max(packed(extent), Ordering::AcqRel);
    }
    /// The first block of the split that nobody has claimed.
    pub fn unclaimed(&self, split: usize) -> usize {
        self.splits[split].next.load(Ordering::Relaxed)
    }

    /// Claims block `block` of a split if it is still the next one.
    pub fn claim(&self, split: usize, block: usize) -> bool {
        let next = &self.splits[split].next;
        let won = block < self.extent(split).blocks
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

    /// The block at a place in the order of arrival, once it has arrived; None for any other order too. Asked only for
    /// blocks that this shard has not processed yet.
    pub(super) fn arrived(&self, place: u64) -> Option<Arrived> {
        self.log.as_ref()?.at(place)
    }

    /// In which order blocks count.
    pub fn order(&self) -> Order {
        if self.log.is_some() { Order::Arrival } else { Order::LowestWatermark }
    }

    /// In the order of arrival: claims the first block that nobody has claimed, and says its split and number.
    pub fn claim_arrived(&self) -> Option<(usize, usize)> {
        self.log.as_ref()?.claim().map(|arrived| (arrived.split, arrived.block))
    }

    /// In the order of arrival: asks every split for one more block, unless another shard is at it. True if any came.
    /// `extend`: as [`Split::extend`](crate::source::Split::extend); `stamp`: of a new block, by split and number.
    pub fn poll(&self, extend: &dyn Fn(usize) -> Extent, stamp: &dyn Fn(usize, usize) -> Stamp) -> bool {
        self.log.as_ref().is_some_and(|log| log.append(&Polled { progress: self, extend, stamp }))
    }

    /// Whether a block of a split is there; a split that is still growing is asked for it by `extend`.
    pub fn is_there(&self, split: usize, block: usize, extend: impl FnOnce() -> Extent) -> bool {
        let extent = self.extent(split);
        if block < extent.blocks || extent.complete {
            return block < extent.blocks;
        }
        let extent = extend();
        self.note(split, extent);
        block < extent.blocks
    }

    pub fn publish_transition(&self, split: usize, block: usize, transition: Transition) {
        let states = transition.0.iter().rev().fold(0, |packed, &state| (packed << STATE_BITS) | u64::from(state & 7));
        let packed = (block as u64 + 1) << TRANSITION_BITS | states;
        self.splits[split].told(block).transition.store(packed, Ordering::Release);
    }

    /// The state at the block's exit for a state at its entry; None until the block was probed. Asked only for blocks
    /// that this shard has not processed yet.
    pub fn exit_state(&self, split: usize, block: usize, entry: u8) -> Option<u8> {
        let packed = self.splits[split].told(block).transition.load(Ordering::Acquire);
        (packed >> TRANSITION_BITS == block as u64 + 1)
            .then(|| ((packed >> (STATE_BITS * u32::from(entry & 7))) & 7) as u8)
    }

    /// `watermark`: a lower bound of the split's watermark after the block; with the maximum over
    /// the blocks before, exactly that.
    pub fn publish_watermark(&self, split: usize, block: usize, watermark: i64) {
        let told = self.splits[split].told(block);
        told.watermark.store(watermark, Ordering::Relaxed);
        told.cut.store(self.cut.load(Ordering::Relaxed), Ordering::Relaxed);
        told.watermark_of.store(block as u64 + 1, Ordering::Release);
    }

    /// The second highest value of the watermark expression in a block, told before its watermark is.
    pub fn publish_second(&self, split: usize, block: usize, second: i64) {
        self.splits[split].told(block).second.store(second, Ordering::Relaxed);
    }
    /// The lowest number there is where it was not told. Known when the watermark is.
    pub fn second(&self, split: usize, block: usize) -> i64 {
        self.splits[split].told(block).second.load(Ordering::Relaxed)
    }

    /// None until published. Asked only for blocks that this shard has not processed yet.
    pub fn watermark(&self, split: usize, block: usize) -> Option<i64> {
        let told = self.splits[split].told(block);
        (told.watermark_of.load(Ordering::Acquire) == block as u64 + 1).then(|| told.watermark.load(Ordering::Relaxed))
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

struct Polled<'a> {
    progress: &'a Progress,
    extend: &'a dyn Fn(usize) -> Extent,
    stamp: &'a dyn Fn(usize, usize) -> Stamp,
}

impl Growing for Polled<'_> {
    fn is_there(&self, split: usize, block: usize) -> bool {
        self.progress.is_there(split, block, || (self.extend)(split))
    }
    fn stamp(&self, split: usize, block: usize) -> Stamp {
        (self.stamp)(split, block)
    }
    fn processed(&self) -> u64 {
        self.progress.completed_by_all()
    }
}

/// So that of two readings the later one is the greater number.
fn packed(extent: Extent) -> usize {
    extent.blocks.min(usize::MAX >> 1) << 1 | usize::from(extent.complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_claimed_once_and_in_order() {
        let progress = Progress::new(&[Extent::whole(2)], 1, 1, Order::LowestWatermark);
        assert!(!progress.claim(0, 1));
        assert!(progress.claim(0, 0));
        assert!(!progress.claim(0, 0));
        assert!(!progress.may_claim());
        progress.complete(0, 1);
        assert!(progress.may_claim() && progress.claim(0, 1) && !progress.claim(0, 2));
    }

    #[test]
    fn transitions_survive_packing() {
        let progress = Progress::new(&[Extent::whole(1)], 1, 1, Order::LowestWatermark);
        assert_eq!(progress.exit_state(0, 0, 0), None);
        let transition = Transition([7, 0, 3, 3, 1, 2, 6, 5]);
        progress.publish_transition(0, 0, transition);
        for entry in 0..8 {
            assert_eq!(progress.exit_state(0, 0, entry), Some(transition.0[usize::from(entry)]));
        }
    }

    #[test]
    fn a_split_grows_and_what_its_blocks_told_is_theirs_alone() {
        let progress = Progress::new(&[Extent { blocks: 0, complete: false }], 1, 1, Order::LowestWatermark);
        assert!(!progress.claim(0, 0));
        for block in 0..100 {
            assert_eq!((progress.watermark(0, block), progress.exit_state(0, block, 0)), (None, None));
            progress.note(0, Extent { blocks: block + 1, complete: block == 99 });
            progress.note(0, Extent { blocks: block, complete: false });
            assert!(progress.claim(0, block) && !progress.claim(0, block + 1));
            progress.publish_transition(0, block, Transition::IDENTITY);
            progress.publish_watermark(0, block, block as i64 * 10);
            assert_eq!(progress.exit_state(0, block, 3), Some(3));
            assert_eq!(progress.watermark(0, block), Some(block as i64 * 10));
        }
        assert_eq!(progress.extent(0), Extent::whole(100));
    }
}
