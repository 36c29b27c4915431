//! The join of rows whose times are near each other.
//!
//! As in Flink, a row meets what its key keeps of the other side, then it is kept itself unless the watermark is so far
//! that no partner can be in time. Rows of a side are given up in two ways: by a timer, of which a key has one a side,
//! set by the first row that is kept and then by the earliest that is left; and whenever a row of the other side comes.
//! So a row may be kept for longer than its time, and a row that is late may still meet it (`969-interval-join-late-disorder`).

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use arrow::array::{Array, AsArray};
use arrow::datatypes::TimestampMillisecondType;

use super::super::{Emit, Wanted, WindowOperator, downcast};
use super::keys::Keys;
use super::pairs::{NONE, Pairs};
use super::results::{Moment, Results, compact, take_over};
use super::stored::Stored;
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::{IntervalBounds, JoinKind, JoinSpec};
use crate::snapshot::{Archive, fits};
use crate::state::KeyIndex;
use crate::time::Watermark;

pub(super) struct IntervalJoin {
    kind: JoinKind,
    bounds: IntervalBounds,
    keys: Keys,
    pairs: Pairs,
    index: KeyIndex,
    sides: [Stored; 2],
    /// By group and side.
    kept: Vec<[Kept; 2]>,
    rows_kept: [usize; 2],
    timers: BinaryHeap<Reverse<Timer>>,
    watermark: Watermark,
    results: Results,
}

/// The rows of a key and side that may yet meet others.
#[derive(Default)]
struct Kept {
    /// By time.
    rows: BTreeMap<i64, Vec<u32>>,
    /// When they are looked through for those whose time is over.
    timer: Option<i64>,
    /// Rows of this time and before were given up. Flink starts with 0.
    expired: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    due: i64,
    hash: KeyHash,
    group: u32,
    side: usize,
}

/// A row as it comes.
#[derive(Clone, Copy)]
struct Arrival {
    side: usize,
    group: u32,
    hash: KeyHash,
    row: u32,
    /// NULL equals nothing, so it has no partner.
    meets: bool,
}

impl IntervalJoin {
    pub(super) fn new(spec: &JoinSpec, bounds: IntervalBounds, keys: Keys, pairs: Pairs) -> Result<Self> {
        if !spec.kind.has_pairs() {
            return Err(Error::internal(format!("an interval {} join of {bounds:?}", spec.kind.name())));
        }
        Ok(IntervalJoin {
            kind: spec.kind,
            bounds,
            index: keys.index(),
            keys,
            pairs,
            sides: Default::default(),
            kept: Vec::new(),
            rows_kept: [0; 2],
            timers: BinaryHeap::new(),
            watermark: Watermark::MIN,
            results: Results::default(),
        })
    }

    fn moment(&self, order: i64, hash: KeyHash, group: u32) -> Moment {
        Moment { order, hash, group, before: self.watermark.put_back(self.bounds.delay_ms()) }
    }

    fn arrive(&mut self, arrival: Arrival, time: Option<i64>) {
        let Arrival { side, group, hash, row, meets } = arrival;
        let moment = self.moment(Moment::under(self.watermark), hash, group);
        let Some(time) = time.filter(|_| !self.bounds.is_empty()) else {
            if self.kind.keeps(side) {
                self.results.push(side, (row, NONE), moment);
            }
            return;
        };
        let (before, behind) = self.bounds.reach(side);
        let (low, high) = (time.saturating_sub(before), time.saturating_add(behind));
        // Flink's clock of an operator starts at 0.
        let now = self.watermark.0.max(0);
        let other = &mut self.kept[group as usize][1 - side];
        if other.expired < high {
            for &partner in other.rows.range(low..=high).flat_map(|(_, rows)| rows).filter(|_| meets) {
                self.results.push(side, (row, partner), moment);
            }
            self.give_up(1 - side, group, expiration(now, before), moment);
        }
        if now < high {
            let own = &mut self.kept[group as usize][side];
            own.rows.entry(time).or_default().push(row);
            self.rows_kept[side] += 1;
            if own.timer.is_none() {
                self.set_timer(side, (group, hash), Some(time));
            }
        } else if self.kind.keeps(side) {
            self.results.push(side, (row, NONE), moment);
        }
    }

    /// Gives up the rows of a side of this time and before.
    fn give_up(&mut self, side: usize, group: u32, expired: i64, moment: Moment) {
        let kept = &mut self.kept[group as usize][side];
        kept.expired = expired;
        while let Some(first) = kept.rows.first_entry()
            && *first.key() <= expired
        {
            let rows = first.remove();
            self.rows_kept[side] -= rows.len();
            for row in rows.into_iter().filter(|_| self.kind.keeps(side)) {
                self.results.push(side, (row, NONE), moment);
            }
        }
    }

    /// `first`: the time of the row that the timer is for; `None`: none is left.
    fn set_timer(&mut self, side: usize, (group, hash): (u32, KeyHash), first: Option<i64>) {
        let due = first.map(|time| time.saturating_add(self.bounds.reach(side).1).saturating_add(1));
        self.kept[group as usize][side].timer = due;
        self.timers.extend(due.map(|due| Reverse(Timer { due, hash, group, side })));
    }

    /// Brings the operator to a watermark: gives up the rows whose time is over.
    fn advance_to(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        if watermark <= self.watermark {
            return Ok(());
        }
        let order = Moment::at(watermark);
        while let Some(&Reverse(timer)) = self.timers.peek()
            && timer.due <= watermark.0
        {
            self.timers.pop();
            let Timer { due, hash, group, side } = timer;
            if self.kept[group as usize][side].timer != Some(due) {
                continue;
            }
            self.flush_if_full(order, emit)?;
            let expired = expiration(watermark.0, self.bounds.reach(side).1);
            self.give_up(side, group, expired, self.moment(order, hash, group));
            let earliest = self.kept[group as usize][side].rows.keys().next().copied();
            self.set_timer(side, (group, hash), earliest);
        }
        self.watermark = watermark;
        Ok(())
    }

    fn flush_if_full(&mut self, order: i64, emit: Emit<'_>) -> Result<()> {
        if self.results.is_full(order) { self.results.flush(&self.pairs, &self.sides, emit) } else { Ok(()) }
    }

    fn compact(&mut self) -> Result<()> {
        for side in 0..2 {
            if self.sides[side].is_sparse(self.rows_kept[side]) {
                compact(side, &mut self.sides[side], &mut self.results, &mut places(&mut self.kept, side))?;
            }
        }
        Ok(())
    }
}

/// Rows of this time and before have no more partners to wait for, whose times lie at most `behind` behind their own.
fn expiration(now: i64, behind: i64) -> i64 {
    if now == i64::MAX { now } else { now.saturating_sub(behind).saturating_sub(1) }
}

impl WindowOperator for IntervalJoin {
    fn process(&mut self, side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        let mut groups = Vec::new();
        let valid = self.keys.groups(side, &batch.rows, &batch.hashes, (&mut self.index, &mut groups))?;
        self.kept.resize_with(self.index.len(), Default::default);
        let column = batch.rows.columns().get(self.bounds.times[side]).and_then(|c| c.as_primitive_opt());
        let times = column.ok_or_else(|| Error::internal("an interval join reads no times"))?;
        let times = arrow::array::PrimitiveArray::<TimestampMillisecondType>::clone(times);
        let first = self.sides[side].push(batch.rows.clone())?;
        self.results.grow(side, self.sides[side].rows());
        let mut marks = batch.marks.iter().peekable();
        for (at, group) in groups.into_iter().enumerate() {
            while let Some(mark) = marks.next_if(|mark| mark.row as usize <= at) {
                self.advance_to(mark.watermark, emit)?;
            }
            self.flush_if_full(Moment::under(self.watermark), emit)?;
            let hash = batch.hashes.get(at).copied().unwrap_or_default();
            let meets = valid.as_ref().is_none_or(|valid| valid.is_valid(at));
            let time = times.is_valid(at).then(|| times.value(at));
            self.arrive(Arrival { side, group, hash, row: first + at as u32, meets }, time);
        }
        marks.try_for_each(|mark| self.advance_to(mark.watermark, emit))
    }

    fn advance(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        self.advance_to(watermark, emit)?;
        self.results.flush(&self.pairs, &self.sides, emit)?;
        self.compact()
    }
    fn late_rows(&self) -> u64 {
        0
    }
    fn open_windows(&self) -> u64 {
        0
    }
    fn fired_windows(&self) -> u64 {
        0
    }
    fn state_bytes(&self) -> u64 {
        let rows: usize = self.sides.iter().map(Stored::bytes).sum();
        let kept = self.kept.capacity() * size_of::<[Kept; 2]>()
            + self.rows_kept.iter().sum::<usize>() * size_of::<(i64, Vec<u32>)>();
        let timers = self.timers.capacity() * size_of::<Timer>();
        (self.index.bytes() + rows + kept + timers + self.results.bytes()) as u64
    }

    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers([&mut self.watermark.0])?;
        self.index.archive(archive)?;
        self.sides.iter_mut().try_for_each(|side| side.archive(archive))?;
        self.results.archive(archive)?;
        let sides = self.kept.iter().flatten();
        let mut states: Vec<[i64; 3]> =
            sides.map(|kept| [i64::from(kept.timer.is_some()), kept.timer.unwrap_or(0), kept.expired]).collect();
        archive.list(&mut states, |state| *state, |state| state)?;
        let rows = |(at, kept): (usize, &Kept)| {
            let rows = kept.rows.iter().flat_map(|(&time, rows)| rows.iter().map(move |&row| (time, row)));
            rows.map(|(time, row)| [at as i64, time, i64::from(row)]).collect::<Vec<_>>()
        };
        let mut kept: Vec<[i64; 3]> = self.kept.iter().flatten().enumerate().flat_map(rows).collect();
        archive.list(&mut kept, |kept| *kept, |kept| kept)?;
        let mut timers: Vec<Timer> = self.timers.iter().map(|Reverse(timer)| *timer).collect();
        let numbers = |t: &Timer| [t.due, t.hash as i64, i64::from(t.group), t.side as i64];
        let timer = |[due, hash, group, side]: [i64; 4]| Timer {
            due,
            hash: hash as KeyHash,
            group: group as u32,
            side: side as usize & 1,
        };
        archive.list(&mut timers, numbers, timer)?;
        if !archive.is_reading() {
            return Ok(());
        }
        fits(states.len() == 2 * self.index.len() && timers.iter().all(|t| (t.group as usize) < self.index.len()))?;
        self.kept.resize_with(self.index.len(), Default::default);
        for (at, [is_set, timer, expired]) in states.into_iter().enumerate() {
            let kept = &mut self.kept[at / 2][at % 2];
            (kept.timer, kept.expired) = ((is_set != 0).then_some(timer), expired);
        }
        for [at, time, row] in kept {
            let (group, side) = (at as usize / 2, at as usize % 2);
            fits(group < self.kept.len() && (row as u32) < self.sides[side].rows())?;
            self.kept[group][side].rows.entry(time).or_default().push(row as u32);
            self.rows_kept[side] += 1;
        }
        self.timers = timers.into_iter().map(Reverse).collect();
        Ok(())
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, _counts: bool) -> Result<()> {
        let mut other: Box<IntervalJoin> = downcast(other)?;
        self.watermark = self.watermark.max(other.watermark);
        let moved = self.index.take_over(&other.index, &|tag, _| wanted(tag))?;
        let mut kept: Vec<[Kept; 2]> =
            moved.from.iter().map(|&theirs| std::mem::take(&mut other.kept[theirs as usize])).collect();
        for side in 0..2 {
            let mut places = places(&mut kept, side);
            self.rows_kept[side] += places.len();
            let from = (&other.sides[side], &other.results);
            take_over(side, (&mut self.sides[side], &mut self.results), from, &mut places)?;
        }
        self.kept.resize_with(self.index.len(), Default::default);
        moved.to.iter().zip(kept).for_each(|(&mine, kept)| self.kept[mine as usize] = kept);
        let numbers = moved.by_origin(other.index.len());
        for Reverse(timer) in other.timers {
            let group = numbers.get(timer.group as usize).copied().unwrap_or(NONE);
            if group != NONE {
                self.timers.push(Reverse(Timer { group, ..timer }));
            }
        }
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The rows of a side that keys keep.
fn places(kept: &mut [[Kept; 2]], side: usize) -> Vec<&mut u32> {
    kept.iter_mut().flat_map(|kept| kept[side].rows.values_mut()).flatten().collect()
}
