//! The order of arrival: a log of blocks, in the order in which they came into being.
//!
//! For inputs that may have no end and for processing time. Whoever finds nothing to read asks the splits for one more
//! block each, one shard at a time and never waiting for another, and appends what there is; all shards follow the log.
//! It is a ring: a slot is written anew only when every shard has processed the block that it held.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};

use crossbeam::utils::CachePadded;

/// What a block tells beside its watermark, at the moment when it comes into being.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The processing time in milliseconds since 1970. It never goes back from one block to the next.
    pub clock_ms: i64,
    /// From here on the split holds nobody back, until its next block that is not idle. Such a block has no rows.
    pub idle: bool,
}

impl Stamp {
    /// Of blocks that count in another order than that of their arrival: there is no processing time.
    pub const NONE: Stamp = Stamp { clock_ms: i64::MIN, idle: false };
}

/// A block in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrived {
    pub split: usize,
    pub block: usize,
    pub stamp: Stamp,
}

struct Slot {
    split: AtomicUsize,
    block: AtomicUsize,
    clock_ms: AtomicI64,
    idle: AtomicBool,
}

/// See the module.
pub(super) struct Log {
    slots: Vec<Slot>,
    /// Blocks appended, and of these the ones that a shard has claimed.
    length: CachePadded<AtomicU64>,
    claimed: CachePadded<AtomicU64>,
    appending: Mutex<Appending>,
}

/// Of whoever appends.
struct Appending {
    /// By split: its blocks in the log.
    logged: Vec<usize>,
    /// The split that is asked next.
    next: usize,
    clock_ms: i64,
}

/// Splits as the log sees them.
pub(super) trait Growing {
    /// Whether the block is there, perhaps because it is made now.
    fn is_there(&self, split: usize, block: usize) -> bool;
    /// Asked for once a block, in the order of the log.
    fn stamp(&self, split: usize, block: usize) -> Stamp;
    /// Blocks of the log that every shard has processed.
    fn processed(&self) -> u64;
}

impl Log {
    /// `room`: blocks that may be in the log and not yet processed by all.
    pub fn new(splits: usize, room: usize) -> Self {
        let slot = || Slot {
            split: AtomicUsize::new(0),
            block: AtomicUsize::new(0),
            clock_ms: AtomicI64::new(0),
            idle: AtomicBool::new(false),
        };
        Log {
            slots: (0..room.max(1)).map(|_| slot()).collect(),
            length: CachePadded::new(AtomicU64::new(0)),
            claimed: CachePadded::new(AtomicU64::new(0)),
            appending: Mutex::new(Appending { logged: vec![0; splits], next: 0, clock_ms: i64::MIN }),
        }
    }

    /// `logged`: by split, its blocks that have had their turn.
    pub fn resume(&mut self, logged: Vec<usize>) {
        self.appending.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner).logged = logged;
    }

    fn slot(&self, place: u64) -> &Slot {
        &self.slots[(place % self.slots.len() as u64) as usize]
    }

    /// The block at a place that the asking shard has not processed yet; None while it has not arrived.
    pub fn at(&self, place: u64) -> Option<Arrived> {
        if place >= self.length.load(Ordering::Acquire) {
            return None;
        }
        let slot = self.slot(place);
        let stamp = Stamp { clock_ms: slot.clock_ms.load(Ordering::Relaxed), idle: slot.idle.load(Ordering::Relaxed) };
        let (split, block) = (slot.split.load(Ordering::Relaxed), slot.block.load(Ordering::Relaxed));
        Some(Arrived { split, block, stamp })
    }

    /// Claims the first block that nobody has claimed; None also where another shard was faster.
    pub fn claim(&self) -> Option<Arrived> {
        let place = self.claimed.load(Ordering::Acquire);
        // Not overwritten meanwhile: nobody can have processed a block that was not claimed yet, and this shard will
        // not process it before it has returned from here.
        let arrived = self.at(place)?;
        self.claimed.compare_exchange(place, place + 1, Ordering::AcqRel, Ordering::Relaxed).ok().map(|_| arrived)
    }

    /// Asks every split once for one more block, as long as there is room. True if any came; false also while another
    /// shard asks.
    pub fn append(&self, splits: &dyn Growing) -> bool {
        let Ok(mut appending) = self.appending.try_lock() else { return false };
        let Appending { logged, next, clock_ms } = &mut *appending;
        let before = self.length.load(Ordering::Relaxed);
        let mut length = before;
        for _ in 0..logged.len() {
            if length - splits.processed() >= self.slots.len() as u64 {
                break;
            }
            let split = *next;
            *next = (split + 1) % logged.len();
            let block = logged[split];
            if !splits.is_there(split, block) {
                continue;
            }
            let stamp = splits.stamp(split, block);
            *clock_ms = stamp.clock_ms.max(*clock_ms);
            logged[split] += 1;
            let slot = self.slot(length);
            slot.split.store(split, Ordering::Relaxed);
            slot.block.store(block, Ordering::Relaxed);
            slot.clock_ms.store(*clock_ms, Ordering::Relaxed);
            slot.idle.store(stamp.idle, Ordering::Relaxed);
            length += 1;
            self.length.store(length, Ordering::Release);
        }
        length > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two {
        processed: u64,
    }

    impl Growing for Two {
        fn is_there(&self, split: usize, block: usize) -> bool {
            block < [1, 9][split]
        }
        fn stamp(&self, split: usize, block: usize) -> Stamp {
            // A clock that is set back.
            Stamp { clock_ms: 100 - block as i64, idle: split == 0 }
        }
        fn processed(&self) -> u64 {
            self.processed
        }
    }

    #[test]
    fn blocks_arrive_once_in_turn_and_no_more_than_there_is_room_for() {
        let log = Log::new(2, 3);
        assert_eq!((log.at(0), log.claim()), (None, None));
        assert!(log.append(&Two { processed: 0 }) && log.append(&Two { processed: 0 }));
        assert!(!log.append(&Two { processed: 0 }), "full");
        let arrived = |split, block| Arrived { split, block, stamp: Stamp { clock_ms: 100, idle: split == 0 } };
        let claimed: Vec<_> = std::iter::from_fn(|| log.claim()).collect();
        assert_eq!(claimed, [arrived(0, 0), arrived(1, 0), arrived(1, 1)]);
        assert!(log.append(&Two { processed: 2 }));
        assert_eq!((log.at(2), log.at(3)), (Some(arrived(1, 1)), Some(arrived(1, 2))));
        assert_eq!(log.at(4), None);
    }
}
