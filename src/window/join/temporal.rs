//! The join of rows with the version of a table that was valid at their time.
//!
//! As in Flink, a left row waits until the watermark reaches its time; then it meets the version that its key has for
//! that time. A key has one timer, for the lowest time of its rows that have come. When it fires, left rows up to the
//! watermark are given in the order in which they came, and versions are given up that a newer one up to the watermark
//! has replaced. So a left row that is late goes out with the next watermark, and meets what is left by then
//! (`927-temporal-join-late`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::super::rows::times;
use super::super::{Emit, WindowOperator};
use super::keys::Keys;
use super::pairs::{NONE, Pairs};
use super::results::{Moment, Results, compact};
use super::stored::Stored;
use crate::batch::EventBatch;
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::plan::{JoinKind, JoinSpec, Versions};
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
            let mut places: Vec<&mut u32> = Vec::with_capacity(self.rows_kept[side]);
            for kept in &mut self.kept {
                match side {
                    0 => places.extend(kept.waiting.iter_mut().map(|(_, row)| row)),
                    _ => places.extend(kept.versions.values_mut()),
                }
            }
            compact(side, &mut self.sides[side], &mut self.results, &mut places)?;
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
}
