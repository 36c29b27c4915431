//! The join of rows with the version of a table that was valid at their time.
//!
//! As in Flink, a left row waits until the watermark reaches its time; then it meets the version that its key has for
//! that time. A key has one timer, for the lowest time of its rows that have come. When it fires, left rows up to the
//! watermark are given in the order in which they came, and versions are given up that a newer one up to the watermark
//! has replaced. So a left row that is late goes out with the next watermark, and meets what is left by then
//! (`927-temporal-join-late`).

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::super::rows::times;
use super::super::{Emit, Wanted, WindowOperator, downcast};
use super::keys::Keys;
use super::pairs::{NONE, Pairs};
use super::results::{Moment, Results, compact, take_over};
use super::stored::Stored;
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::{JoinKind, JoinSpec, Versions};
use crate::snapshot::{Archive, fits};
use crate::state::KeyIndex;
use crate::time::Watermark;

pub(super) struct TemporalJoin {
    kind: JoinKind,
    versions: Versions,
    keys: Keys,
    pairs: Pairs,
    index: KeyIndex,
    sides: [Stored; 2],
    /// By group.
    kept: Vec<Kept>,
    rows_kept: [usize; 2],
    timers: BinaryHeap<Reverse<(i64, KeyHash, u32)>>,
    watermark: Watermark,
    results: Results,
}

/// What is kept of a key.
#[derive(Default)]
struct Kept {
    /// Left rows with their times, in the order in which they came.
    waiting: Vec<(i64, u32)>,
    /// By the time from which they are valid.
    versions: BTreeMap<i64, u32>,
    timer: Option<i64>,
    /// The time of the last version that came.
    last: Option<i64>,
}

impl TemporalJoin {
    pub(super) fn new(spec: &JoinSpec, versions: Versions, keys: Keys, pairs: Pairs) -> Result<Self> {
        if !matches!(spec.kind, JoinKind::Inner | JoinKind::Left) {
            return Err(Error::internal(format!("a temporal {} join", spec.kind.name())));
        }
        Ok(TemporalJoin {
            kind: spec.kind,
            versions,
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

    fn arrive(&mut self, side: usize, (group, hash): (u32, KeyHash), time: i64, row: u32) {
        let kept = &mut self.kept[group as usize];
        if side == 0 {
            kept.waiting.push((time, row));
            self.rows_kept[0] += 1;
        } else {
            if self.versions.in_order && kept.last.is_some_and(|last| time < last) {
                return;
            }
            kept.last = Some(time);
            self.rows_kept[1] += usize::from(kept.versions.insert(time, row).is_none());
        }
        self.wake(group, hash, time);
    }

    /// Sets the timer of a key unless it has an earlier one.
    fn wake(&mut self, group: u32, hash: KeyHash, time: i64) {
        let timer = &mut self.kept[group as usize].timer;
        if timer.is_none_or(|timer| time < timer) {
            *timer = Some(time);
            self.timers.push(Reverse((time, hash, group)));
        }
    }

    /// Brings the operator to a watermark: takes the rows whose time it has reached.
    fn advance_to(&mut self, watermark: Watermark, emit: Emit<'_>) -> Result<()> {
        if watermark <= self.watermark {
            return Ok(());
        }
        let order = Moment::at(watermark);
        while let Some(&Reverse((due, hash, group))) = self.timers.peek()
            && due <= watermark.0
        {
            self.timers.pop();
            if self.kept[group as usize].timer != Some(due) {
                continue;
            }
            self.kept[group as usize].timer = None;
            if self.results.is_full(order) {
                self.results.flush(&self.pairs, &self.sides, emit)?;
            }
            let moment = Moment { order, hash, group, before: self.watermark };
            self.take(watermark.0, moment);
        }
        self.watermark = watermark;
        Ok(())
    }

    /// Takes the left rows of a key up to a time, and gives up versions that ended before it.
    fn take(&mut self, now: i64, moment: Moment) {
        let Kept { waiting, versions, .. } = &mut self.kept[moment.group as usize];
        for &(time, row) in waiting.iter().filter(|(time, _)| *time <= now) {
            if let Some((_, &version)) = versions.range(..=time).next_back() {
                self.results.push(0, (row, version), moment);
            }
            if self.kind.keeps(0) {
                self.results.push(0, (row, NONE), moment);
            }
        }
        let before = waiting.len();
        waiting.retain(|(time, _)| *time > now);
        self.rows_kept[0] -= before - waiting.len();
        let next = waiting.iter().map(|(time, _)| *time).min();
        if let Some(valid) = versions.range(..=now).next_back().map(|(time, _)| *time) {
            let newer = versions.split_off(&valid);
            self.rows_kept[1] -= std::mem::replace(versions, newer).len();
        }
        if let Some(time) = next {
            self.wake(moment.group, moment.hash, time);
        }
    }

    fn compact(&mut self) -> Result<()> {
        for side in 0..2 {
            if !self.sides[side].is_sparse(self.rows_kept[side]) {
                continue;
            }
            compact(side, &mut self.sides[side], &mut self.results, &mut places(&mut self.kept, side))?;
        }
        Ok(())
    }
}

impl WindowOperator for TemporalJoin {
    fn process(&mut self, side: usize, batch: &EventBatch, emit: Emit<'_>) -> Result<()> {
        let mut groups = Vec::new();
        self.keys.groups(side, &batch.rows, &batch.hashes, (&mut self.index, &mut groups))?;
        self.kept.resize_with(self.index.len(), Default::default);
        let times = times(&batch.rows, self.versions.times[side])?;
        let first = self.sides[side].push(batch.rows.clone())?;
        self.results.grow(side, self.sides[side].rows());
        let mut marks = batch.marks.iter().peekable();
        for (at, (group, &time)) in groups.into_iter().zip(times.iter()).enumerate() {
            while let Some(mark) = marks.next_if(|mark| mark.row as usize <= at) {
                self.advance_to(mark.watermark, emit)?;
            }
            let hash = batch.hashes.get(at).copied().unwrap_or_default();
            self.arrive(side, (group, hash), time, first + at as u32);
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
        let kept =
            self.kept.capacity() * size_of::<Kept>() + self.rows_kept.iter().sum::<usize>() * size_of::<(i64, u32)>();
        let timers = self.timers.capacity() * size_of::<Reverse<(i64, KeyHash, u32)>>();
        (self.index.bytes() + rows + kept + timers + self.results.bytes()) as u64
    }

    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers([&mut self.watermark.0])?;
        self.index.archive(archive)?;
        self.sides.iter_mut().try_for_each(|side| side.archive(archive))?;
        self.results.archive(archive)?;
        let set = |time: Option<i64>| [i64::from(time.is_some()), time.unwrap_or(0)];
        let read = |is_set: i64, time: i64| (is_set != 0).then_some(time);
        let state = |kept: &Kept| [set(kept.timer), set(kept.last)].concat().try_into().unwrap_or_default();
        let mut states: Vec<[i64; 4]> = self.kept.iter().map(state).collect();
        archive.list(&mut states, |state| *state, |state| state)?;
        let rows = |(group, kept): (usize, &Kept)| {
            let waiting = kept.waiting.iter().map(|&(time, row)| (0, time, row));
            let versions = kept.versions.iter().map(|(&time, &row)| (1, time, row));
            let rows = waiting.chain(versions);
            rows.map(|(side, time, row)| [group as i64, side, time, i64::from(row)]).collect::<Vec<_>>()
        };
        let mut kept: Vec<[i64; 4]> = self.kept.iter().enumerate().flat_map(rows).collect();
        archive.list(&mut kept, |kept| *kept, |kept| kept)?;
        let mut timers: Vec<(i64, KeyHash, u32)> = self.timers.iter().map(|Reverse(timer)| *timer).collect();
        let numbers = |&(due, hash, group): &(i64, KeyHash, u32)| [due, hash as i64, i64::from(group)];
        archive.list(&mut timers, numbers, |[due, hash, group]| (due, hash as KeyHash, group as u32))?;
        if !archive.is_reading() {
            return Ok(());
        }
        let groups = self.index.len();
        fits(states.len() == groups && timers.iter().all(|&(_, _, group)| (group as usize) < groups))?;
        let state = |[timer_set, timer, last_set, last]: [i64; 4]| Kept {
            timer: read(timer_set, timer),
            last: read(last_set, last),
            ..Kept::default()
        };
        self.kept = states.into_iter().map(state).collect();
        for [group, side, time, row] in kept {
            let (side, row) = (side as usize & 1, row as u32);
            fits((group as usize) < groups && row < self.sides[side].rows())?;
            let kept = &mut self.kept[group as usize];
            match side {
                0 => kept.waiting.push((time, row)),
                _ => drop(kept.versions.insert(time, row)),
            }
            self.rows_kept[side] += 1;
        }
        self.timers = timers.into_iter().map(Reverse).collect();
        Ok(())
    }

    fn take_over(&mut self, other: Box<dyn WindowOperator + Send>, wanted: Wanted<'_>, _counts: bool) -> Result<()> {
        let mut other: Box<TemporalJoin> = downcast(other)?;
        self.watermark = self.watermark.max(other.watermark);
        let moved = self.index.take_over(&other.index, &|tag, _| wanted(tag))?;
        let mut kept: Vec<Kept> =
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
        for Reverse((due, hash, group)) in other.timers {
            let group = numbers.get(group as usize).copied().unwrap_or(NONE);
            if group != NONE {
                self.timers.push(Reverse((due, hash, group)));
            }
        }
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The rows of a side that keys keep.
fn places(kept: &mut [Kept], side: usize) -> Vec<&mut u32> {
    match side {
        0 => kept.iter_mut().flat_map(|kept| &mut kept.waiting).map(|(_, row)| row).collect(),
        _ => kept.iter_mut().flat_map(|kept| kept.versions.values_mut()).collect(),
    }
}
