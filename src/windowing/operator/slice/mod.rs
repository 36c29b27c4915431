//! The operators for windows on a grid with the default trigger and an aggregate.
//!
//! Where windows share slices, a row updates one accumulator, that of its key and slice, however many windows it is in; `assembly` puts windows
//! together when they fire. Keys have a slot each, and a slice has a column of accumulators by slot. Where every window is
//! a slice of its own, it has a table of its own (`tumbling`).
//!
//! With an allowed lateness, slices stay until the last window with them is past it. An element that comes behind the
//! end of some of its windows makes these fire at once (`late`).

mod archive;
mod assembly;
mod column;
mod keys;
mod late;
mod order;
mod progress;
mod shape;
mod slices;
mod table;
mod tumbling;

use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;
use std::ops::Range;

use crate::error::Result;
use crate::snapshot::Archive;
use crate::time::{EventTime, Grid};
use crate::windowing::batch::{KeyedBatch, StageTimes};
use crate::windowing::function::{AggregateFunction, PaneInfo, PaneTiming, ProcessWindowFunction};
use crate::windowing::operator::fire::{Firing, Moment};
use crate::windowing::operator::late::Late;
use crate::windowing::operator::{KeyedWindowOperator, Lateness, OperatorCounts, Output};
use crate::windowing::window::Window;
use crate::windowing::{Data, Key, Taking};

use assembly::{Assembly, Parts};
use column::Column;
use keys::Keys;
use progress::{ELSEWHERE, Fate, GridOperator, Here, OnGrid, Progress};
use shape::Shape;
use slices::{Slice, Slices};
use tumbling::TumblingOperator;

/// Rows whose slots are looked up at a time, and their accumulators read: few enough to stay in the nearest cache.
const BLOCK: usize = 256;

/// The window operator for grids whose windows share slices.
pub struct SliceOperator<K, T, W, F, P, Out>
where
    F: AggregateFunction<T>,
{
    progress: Progress,
    firing: Firing<F, P>,
    late: Late<T>,
    keys: Keys<K>,
    slices: Slices<F::Accumulator>,
    assembly: Assembly<F::Accumulator>,
    /// How often windows have fired for keys, by end and slot, where a late element made them.
    refired: BTreeMap<i64, HashMap<u32, u32>>,
    /// For reuse: slots of rows, of a window's keys.
    slots: Vec<u32>,
    members: Vec<u32>,
    of: PhantomData<fn() -> (W, Out)>,
}

/// The operator that serves a grid best.
pub fn on_grid<K, T, W, F, P, Out>(
    grid: Grid,
    lateness: Lateness<T>,
    function: F,
    process: P,
) -> Box<dyn KeyedWindowOperator<K, T, Out>>
where
    K: Key,
    T: Data,
    W: Window,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, W, Out>,
    Out: Data,
{
    if grid.shares_slices() {
        return Box::new(GridOperator(SliceOperator::<K, T, W, F, P, Out>::new(grid, lateness, function, process)));
    }
    Box::new(GridOperator(TumblingOperator::<K, T, W, F, P, Out>::new(grid, lateness, function, process)))
}

/// Adds an element to a key's value in a column. `holds`: the column is one that keeps the key known.
#[inline]
fn add<K, T, F>(
    column: &mut Column<F::Accumulator>,
    function: &F,
    keys: &mut Keys<K>,
    slot: u32,
    element: &T,
    holds: bool,
) where
    K: Eq + Clone,
    F: AggregateFunction<T>,
{
    match column.get_mut(slot) {
        Some(accumulator) => function.add(element, accumulator),
        None => {
            let mut accumulator = function.create_accumulator();
            function.add(element, &mut accumulator);
            column.insert(slot, accumulator, keys.slots());
            if holds {
                keys.hold(slot);
            }
        }
    }
}

impl<K, T, W, F, P, Out> SliceOperator<K, T, W, F, P, Out>
where
    K: Key,
    T: Data,
    W: Window,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, W, Out>,
    Out: Data,
{
    /// An operator without state. The grid is that of the windows' assigner, the trigger its default.
    pub fn new(grid: Grid, lateness: Lateness<T>, function: F, process: P) -> Self {
        let (shape, keeps) = (Shape::new(grid), lateness.allowed_ms > 0);
        SliceOperator {
            progress: Progress::new(grid, lateness.allowed_ms),
            firing: Firing::new(function, process),
            late: Late::new(lateness),
            keys: Keys::new(),
            slices: Slices::new(),
            assembly: Assembly::new(shape, keeps),
            refired: BTreeMap::new(),
            slots: Vec::new(),
            members: Vec::new(),
            of: PhantomData,
        }
    }

    /// Adds rows from the first on, as long as they are in the slice at `at`; the row at which it ends. `base`: the row
    /// to which the first of `self.slots` belongs.
    #[inline]
    fn add_run(&mut self, at: usize, batch: &KeyedBatch<K, T>, rows: Range<usize>, base: usize) -> usize {
        let (function, column) = (&self.firing.function, &mut self.slices.at_mut(at).column);
        let Here { from, to, .. } = self.progress.here;
        let mut row = rows.start;
        loop {
            let rest = self.slots[row - base..].iter().zip(&batch.timestamps[row..rows.end]).zip(&batch.values[row..]);
            let within = |timestamp: EventTime| timestamp >= from && timestamp < to;
            let mut added = 0;
            match &mut *column {
                Column::Dense { values, .. } => {
                    for ((&slot, &timestamp), value) in rest {
                        let Some(Some(accumulator)) = values.get_mut(slot as usize) else { break };
                        if !within(timestamp) {
                            break;
                        }
                        function.add(value, accumulator);
                        added += 1;
                    }
                }
                Column::Sparse(column) => {
                    for ((&slot, &timestamp), value) in rest {
                        let Some(accumulator) = column.get_mut(slot) else { break };
                        if !within(timestamp) {
                            break;
                        }
                        function.add(value, accumulator);
                        added += 1;
                    }
                }
            }
            row += added;
            if row == rows.end || !within(batch.timestamps[row]) {
                return row;
            }
            // A key that is new, or new in the slice.
            let slot = self.keys.find_or_insert(batch.hashes[row], &batch.keys[row]);
            add(column, function, &mut self.keys, slot, &batch.values[row], true);
            row += 1;
            if row == rows.end {
                return row;
            }
        }
    }

    /// Windows of keys with elements in them. Looks at all slices.
    fn open_windows(&self) -> u64 {
        let Progress { shape, cleaned, .. } = self.progress;
        // Windows of a key's neighbouring slices are the same windows.
        let (mut counted, mut count) = (vec![cleaned; self.keys.slots()], 0);
        let mut take = |slot: u32, ends: (i64, i64)| {
            let first = ends.0.max(shape.end_after(counted[slot as usize]));
            if first <= ends.1 {
                count += ((ends.1 - first) / shape.step()) as u64 + 1;
                counted[slot as usize] = ends.1;
            }
        };
        for (slot, ends) in self.assembly.moved() {
            take(slot, ends);
        }
        for slice in self.slices.iter() {
            slice.column.slots().for_each(|slot| take(slot, slice.ends));
        }
        count
    }
}

/// Puts the slots of a window's keys into `members`; perhaps others among them. `entries`: how many `collect` will look
/// at. `ordered`: in the order of their hashes.
fn members<K: Eq + Clone>(
    keys: &mut Keys<K>,
    entries: usize,
    ordered: bool,
    collect: impl FnOnce(&mut Vec<u32>),
    members: &mut Vec<u32>,
) {
    members.clear();
    // Sorting a few beats looking at all keys.
    if ordered && entries * 4 >= keys.slots() {
        return members.extend(keys.ordered());
    }
    collect(members);
    if ordered {
        keys.sort(members);
    }
}

/// Fires a window for the keys at `slots` that have a part of it.
fn emit<'a, K, T, W, F, P, Out>(
    firing: &mut Firing<F, P>,
    keys: &Keys<K>,
    slots: &[u32],
    moment: &Moment<W>,
    mut parts: impl FnMut(u32) -> [Option<&'a F::Accumulator>; 2],
    out: &mut Output<'_, Out>,
) -> Result<()>
where
    K: Key,
    W: Window,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, W, Out>,
    F::Accumulator: 'a,
{
    for &slot in slots {
        let merged;
        let accumulator = match parts(slot) {
            [Some(front), Some(back)] => {
                let mut sum = front.clone();
                firing.function.merge(&mut sum, back);
                merged = sum;
                &merged
            }
            [Some(one), None] | [None, Some(one)] => one,
            [None, None] => continue,
        };
        firing.fire::<K, T, W, Out>(keys.key(slot)?, accumulator, moment, keys.hash(slot), out)?;
    }
    Ok(())
}

impl<K, T, W, F, P, Out> OnGrid<K, T, Out> for SliceOperator<K, T, W, F, P, Out>
where
    K: Key,
    T: Data,
    W: Window,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, W, Out>,
    Out: Data,
{
    fn progress(&self) -> &Progress {
        &self.progress
    }
    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn take(
        &mut self,
        batch: &KeyedBatch<K, T>,
        rows: Range<usize>,
        times: &StageTimes,
        out: &mut Output<'_, Out>,
    ) -> Result<()> {
        for first in rows.clone().step_by(BLOCK) {
            let rows = first..rows.end.min(first + BLOCK);
            self.slots.clear();
            self.keys.find_all(&batch.hashes[rows.clone()], &batch.keys[rows.clone()], &mut self.slots);
            if let Fate::Whole(at) = self.progress.here.fate {
                self.slices.at(at).column.touch(&self.slots);
            }
            let mut row = rows.start;
            while row < rows.end {
                let timestamp = batch.timestamps[row];
                if !self.progress.here.has(timestamp) {
                    self.go_to(timestamp)?;
                }
                match self.progress.here.fate {
                    Fate::Whole(at) => row = self.add_run(at, batch, row..rows.end, rows.start),
                    _ => {
                        self.take_one(batch, row, times, out)?;
                        row += 1;
                    }
                }
            }
        }
        Ok(())
    }

    fn slice(&mut self, number: i64, ends: (i64, i64)) -> usize {
        match self.slices.find(number) {
            Ok(at) => at,
            Err(at) => {
                self.slices.insert(at, Slice::new(number, ends));
                // Positions behind it have moved.
                self.progress.here = ELSEWHERE;
                at
            }
        }
    }

    fn next_end(&self) -> Option<i64> {
        let Progress { shape, fired, .. } = self.progress;
        let slice = self.slices.first_behind(fired)?;
        Some(slice.ends.0.max(shape.end_after(fired)))
    }

    fn fire(&mut self, end: i64, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()> {
        let pane = PaneInfo { timing: PaneTiming::OnTime, index: 0 };
        let Progress { shape, watermark, .. } = self.progress;
        let moment = Moment::on_time(shape.window(end), pane, (times, watermark), 0)?;
        let Firing { function, .. } = &self.firing;
        let mut parts = Parts { function, keys: &mut self.keys, slices: &mut self.slices };
        self.assembly.prepare::<K, T, F>(end, &mut parts);
        let (assembly, slices) = (&self.assembly, &self.slices);
        let entries = assembly.entries(slices);
        let collect = |slots: &mut Vec<u32>| assembly.slots(slices, slots);
        members(&mut self.keys, entries, out.ordered, collect, &mut self.members);
        let mut seen = 0;
        let part = |slot| assembly.parts(slices, slot, &mut seen);
        emit::<K, T, W, F, P, Out>(&mut self.firing, &self.keys, &self.members, &moment, part, out)?;
        let Firing { function, .. } = &self.firing;
        let mut parts = Parts { function, keys: &mut self.keys, slices: &mut self.slices };
        self.assembly.fired(end, &mut parts);
        Ok(())
    }

    fn drop_until(&mut self, end: i64) {
        let mut removed = false;
        while let Some(slice) = self.slices.pop_until(end) {
            slice.column.slots().for_each(|slot| self.keys.release(slot));
            removed = true;
        }
        if removed {
            self.keys.sweep();
        }
        if self.refired.first_key_value().is_some_and(|(&first, _)| first <= end) {
            self.refired = self.refired.split_off(&end.saturating_add(1));
        }
    }

    fn end(&mut self) {
        if self.slices.is_empty() {
            self.assembly = Assembly::new(self.progress.shape, self.late.lateness.allowed_ms > 0);
            self.keys.clear();
        }
    }

    fn advance_time(&mut self, time: EventTime) {
        self.firing.advance_clock(time);
    }
    fn archive_state(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        self.archive_all(archive, taking)
    }
    fn count(&self) -> OperatorCounts {
        OperatorCounts {
            open_windows: self.open_windows(),
            fired: self.firing.fired,
            accumulators: (self.slices.accumulators() + self.assembly.accumulators()) as u64,
            state_bytes: (self.slices.bytes() + self.assembly.bytes() + self.keys.bytes()) as u64,
            ..self.late.counts()
        }
    }
}
