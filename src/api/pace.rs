//! Splits in the order of arrival: beside records they tell that there are none, and how time goes by.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use super::branch::{AnyBlock, AnySplit};
use super::clock::Clock;
use super::lock;
use super::source::Blocks;
use crate::error::Result;
use crate::exchange::Stamp;
use crate::source::{Extent, Transition, Wake};
use crate::time::EventTime;
use crate::windowing::batch::BlockTimes;

/// How a split keeps pace with the clock and with others.
pub(super) struct Pace {
    pub clock: Clock,
    /// Blocks without records tell the clock when no others come: something waits for it.
    pub ticks: bool,
    /// Without a record for so many milliseconds the split is idle.
    pub idleness_ms: Option<i64>,
    pub member: Option<Member>,
}

/// Splits whose watermarks may not run far ahead of each other.
#[derive(Default)]
pub(super) struct Group {
    members: Mutex<Vec<Arc<Standing>>>,
}

/// How far a split of a group is.
#[derive(Debug)]
struct Standing {
    watermark: AtomicI64,
    /// It waits for records, or has ended: nobody waits for it.
    resting: AtomicBool,
}

/// A split's place in its group.
pub(super) struct Member {
    group: Arc<Group>,
    own: Arc<Standing>,
    max_drift_ms: i64,
}

impl Member {
    pub fn new(group: Arc<Group>, max_drift_ms: i64) -> Self {
        let own = Arc::new(Standing { watermark: AtomicI64::new(EventTime::MIN), resting: AtomicBool::new(false) });
        lock(&group.members).push(own.clone());
        Member { group, own, max_drift_ms }
    }

    /// Not too far ahead of the others. As in Flink, a split without a watermark yet holds nobody back.
    fn may_read(&self) -> bool {
        let watermark = |of: &Standing| of.watermark.load(Ordering::Acquire);
        let members = lock(&self.group.members);
        let counts = members.iter().filter(|member| !member.resting.load(Ordering::Acquire));
        let lowest = counts.map(|member| watermark(member)).filter(|&watermark| watermark > EventTime::MIN).min();
        lowest.is_none_or(|lowest| watermark(&self.own) <= lowest.saturating_add(self.max_drift_ms))
    }

    fn reached(&self, watermark: EventTime) {
        self.own.watermark.fetch_max(watermark, Ordering::AcqRel);
    }
}

/// A split with a pace.
pub(super) struct Paced {
    inner: Arc<dyn AnySplit>,
    pace: Pace,
    made: Mutex<Made>,
}

struct Made {
    blocks: Blocks<Entry>,
    /// Blocks of the split itself, and of these the ones that were read.
    own: usize,
    read: usize,
    /// When the last block with records came, and the last block at all.
    last_records: EventTime,
    last_block: EventTime,
    idle: bool,
}

#[derive(Clone, Copy)]
struct Entry {
    /// The number of a block of the split itself; `None`: without records.
    own: Option<usize>,
    stamp: Stamp,
}

impl Paced {
    pub fn new(inner: Arc<dyn AnySplit>, pace: Pace) -> Self {
        let now = pace.clock.now();
        let blocks = Blocks::new();
        let made = Made { blocks, own: 0, read: 0, last_records: now, last_block: now, idle: false };
        Paced { inner, pace, made: Mutex::new(made) }
    }

    /// The split's own block of this number, if it is there, and whether it has ended.
    fn next_own(&self, number: usize) -> (Option<usize>, bool) {
        let mut extent = self.inner.extent();
        if extent.blocks <= number && !extent.complete {
            extent = self.inner.extend();
        }
        ((number < extent.blocks).then_some(number), extent.complete && extent.blocks <= number + 1)
    }

    /// Adds one block at most. Called by one shard at a time; nothing is locked while the split itself is asked.
    fn grow(&self) {
        let (own, is_read) = {
            let made = lock(&self.made);
            (made.own, made.own == made.read)
        };
        // The watermark is known once all blocks were read.
        let may_read = self.pace.member.as_ref().is_none_or(|member| is_read && member.may_read());
        let next = if may_read { self.next_own(own) } else { (None, false) };
        let now = self.pace.clock.now();
        let mut made = lock(&self.made);
        if let (own, ended) = next
            && (own.is_some() || ended)
        {
            made.push(own, false, now);
            made.blocks.complete = ended;
            self.rests(ended);
            return;
        }
        if !may_read {
            // Whoever is kept from reading is not idle.
            made.last_records = now;
        }
        let waited = now.saturating_sub(made.last_records);
        if !made.idle && self.pace.idleness_ms.is_some_and(|timeout| waited >= timeout) {
            made.push(None, true, now);
            self.rests(true);
        } else if self.pace.ticks && now.saturating_sub(made.last_block) >= self.pace.clock.tick_ms() {
            let idle = made.idle;
            made.push(None, idle, now);
        }
    }

    fn rests(&self, resting: bool) {
        if let Some(member) = &self.pace.member {
            member.own.resting.store(resting, Ordering::Release);
        }
    }

    fn reached(&self, watermark: Option<EventTime>) {
        if let (Some(member), Some(watermark)) = (&self.pace.member, watermark) {
            member.reached(watermark);
        }
    }

    fn own(&self, block: usize) -> Option<usize> {
        lock(&self.made).blocks.get(block).and_then(|entry| entry.own)
    }
}

impl Made {
    fn push(&mut self, own: Option<usize>, idle: bool, now: EventTime) {
        self.blocks.push(Entry { own, stamp: Stamp { clock_ms: now, idle } });
        (self.idle, self.last_block) = (idle, now);
        if own.is_some() {
            self.own += 1;
            self.last_records = now;
        }
    }
}

impl AnySplit for Paced {
    fn extent(&self) -> Extent {
        lock(&self.made).blocks.extent()
    }
    fn extend(&self) -> Extent {
        if !self.extent().complete {
            self.grow();
        }
        self.extent()
    }
    fn stamp(&self, block: usize) -> Stamp {
        lock(&self.made).blocks.get(block).map_or(Stamp::NONE, |entry| entry.stamp)
    }
    fn start(&self, wake: &Wake, alone: bool) {
        self.inner.start(wake, alone);
        self.pace.clock.start(wake);
    }
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }
    fn notices(&self) -> Vec<String> {
        self.inner.notices()
    }
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn why_not_replayed(&self) -> Option<String> {
        Some(String::from("is read in the order of arrival, as inputs without an end and windows of the clock want it"))
    }
    fn pass_over(&self, blocks: usize) -> Result<()> {
        self.inner.pass_over(blocks)
    }
    fn probe(&self, block: usize) -> Result<Transition> {
        self.own(block).map_or(Ok(Transition::IDENTITY), |own| self.inner.probe(own))
    }
    fn read(&self, block: usize, entry: u8) -> Result<AnyBlock> {
        let own = lock(&self.made).blocks.take(block)?.own;
        let Some(own) = own else { return Ok(self.inner.empty()) };
        let read = self.inner.read(own, entry)?;
        self.reached(read.highest);
        lock(&self.made).read += 1;
        Ok(read)
    }
    fn empty(&self) -> AnyBlock {
        self.inner.empty()
    }
    fn times(&self, block: &AnyBlock, start: EventTime) -> BlockTimes {
        let times = self.inner.times(block, start);
        self.reached(Some(times.after));
        times
    }
}
