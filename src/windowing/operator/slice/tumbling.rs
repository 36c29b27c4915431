//! Windows that are one slice each: tumbling ones, above all. Every window has a table of its own; nothing is put
//! together, and a key is forgotten with its last window.

use std::collections::{HashMap, VecDeque};
use std::marker::PhantomData;
use std::ops::Range;

use crate::error::Result;
use crate::snapshot::Archive;
use crate::time::{EventTime, Grid};
use crate::windowing::batch::{KeyedBatch, StageTimes};
use crate::windowing::function::{AggregateFunction, PaneInfo, PaneTiming, ProcessWindowFunction};
use crate::windowing::operator::fire::{Firing, Moment};
use crate::windowing::operator::late::Late;
use crate::windowing::operator::{Lateness, OperatorCounts, Output};
use crate::windowing::window::Window;
use crate::windowing::{Data, Key, Taking};

use super::progress::{ELSEWHERE, Fate, OnGrid, Progress};
use super::table::{BLOCK, Table};

/// The window operator for grids whose windows are one slice long.
pub struct TumblingOperator<K, T, W, F, P, Out>
where
    F: AggregateFunction<T>,
{
    progress: Progress,
    firing: Firing<F, P>,
    late: Late<T>,
    /// By end.
    windows: VecDeque<OpenWindow<K, F::Accumulator>>,
    /// Keys of the window that was dropped last: the next will have about as many.
    last_keys: usize,
    of: PhantomData<fn() -> (W, Out)>,
}

/// A window that is not past the allowed lateness.
struct OpenWindow<K, A> {
    end: i64,
    table: Table<K, A>,
    /// How often it has fired for keys, by place, where a late element made it.
    refired: HashMap<u32, u32>,
}

impl<K, T, W, F, P, Out> TumblingOperator<K, T, W, F, P, Out>
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
        TumblingOperator {
            progress: Progress::new(grid, lateness.allowed_ms),
            firing: Firing::new(function, process),
            late: Late::new(lateness),
            windows: VecDeque::new(),
            last_keys: 0,
            of: PhantomData,
        }
    }

    /// Adds rows from the first on, as long as they are in the window at `at`; the row at which it ends.
    #[inline]
    fn add_run(&mut self, at: usize, batch: &KeyedBatch<K, T>, rows: Range<usize>) -> usize {
        let here = self.progress.here;
        let timestamps = &batch.timestamps[rows.start..rows.end.min(rows.start + BLOCK)];
        let run = timestamps.iter().take_while(|&&timestamp| here.has(timestamp)).count();
        let rows = rows.start..rows.start + run;
        let columns = (&batch.hashes[rows.clone()], &batch.keys[rows.clone()], &batch.values[rows.clone()]);
        self.windows[at].table.add(&self.firing.function, columns);
        rows.end
    }

    /// A row that does not go into a window and nothing else.
    fn take_one(
        &mut self,
        batch: &KeyedBatch<K, T>,
        row: usize,
        times: &StageTimes,
        out: &mut Output<'_, Out>,
    ) -> Result<()> {
        let (value, timestamp, place) = (&batch.values[row], batch.timestamps[row], batch.place(row));
        match self.progress.here.fate {
            Fate::Whole(_) => {}
            Fate::Late => self.late.take(value, timestamp, place, out),
            Fate::Nowhere => {
                // Rows without windows have marks only behind the watermark, so it is asked for exactly.
                self.late.judge(value, (timestamp, place), times.before(place), out);
            }
            Fate::Partly(number, ends) => {
                let here = self.progress.here;
                let at = self.slice(number, ends);
                // The fate of rows in this stretch of time has no position in it.
                self.progress.here = here;
                let OpenWindow { end, table, refired } = &mut self.windows[at];
                let key = (batch.hashes[row], &batch.keys[row]);
                let (of, new) = table.add_one(&self.firing.function, key, value);
                // A key with elements in the window has seen it fire once, when it was complete.
                let times_fired = refired.entry(of).or_insert(u32::from(!new));
                let pane = PaneInfo { timing: PaneTiming::Late, index: *times_fired };
                *times_fired += 1;
                let moment = Moment::new(self.progress.shape.window(*end), pane, times.before(place), place)?;
                let entry = &table.entries()[of as usize];
                self.firing.fire::<K, T, W, Out>(&entry.key, &entry.accumulator, &moment, place.hash, out)?;
            }
        }
        Ok(())
    }

    /// Where the window with this end is, or where it belongs.
    fn find(&self, end: i64) -> Result<usize, usize> {
        // Most are the newest or near it.
        match self.windows.back() {
            Some(last) if last.end < end => Err(self.windows.len()),
            _ => self.windows.binary_search_by_key(&end, |window| window.end),
        }
    }
}

impl<K, T, W, F, P, Out> OnGrid<K, T, Out> for TumblingOperator<K, T, W, F, P, Out>
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
        let mut row = rows.start;
        while row < rows.end {
            let timestamp = batch.timestamps[row];
            if !self.progress.here.has(timestamp) {
                self.go_to(timestamp)?;
            }
            match self.progress.here.fate {
                Fate::Whole(at) => row = self.add_run(at, batch, row..rows.end),
                _ => {
                    self.take_one(batch, row, times, out)?;
                    row += 1;
                }
            }
        }
        Ok(())
    }

    fn slice(&mut self, _number: i64, ends: (i64, i64)) -> usize {
        match self.find(ends.0) {
            Ok(at) => at,
            Err(at) => {
                // Windows before the newest come from stragglers and stay small.
                let table = Table::with_capacity(if at == self.windows.len() { self.last_keys } else { 0 });
                self.windows.insert(at, OpenWindow { end: ends.0, table, refired: HashMap::new() });
                // Positions behind it have moved.
                self.progress.here = ELSEWHERE;
                at
            }
        }
    }

    fn next_end(&self) -> Option<i64> {
        let first = self.windows.partition_point(|window| window.end <= self.progress.fired);
        self.windows.get(first).map(|window| window.end)
    }

    fn fire(&mut self, end: i64, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()> {
        let pane = PaneInfo { timing: PaneTiming::OnTime, index: 0 };
        let Progress { shape, watermark, .. } = self.progress;
        let moment = Moment::on_time(shape.window(end), pane, (times, watermark), 0)?;
        let Ok(at) = self.find(end) else { return Ok(()) };
        let (table, firing) = (&self.windows[at].table, &mut self.firing);
        let order = if out.ordered { table.in_order() } else { Vec::new() };
        let entries = table.entries();
        let mut fire = |of: usize| {
            let entry = &entries[of];
            firing.fire::<K, T, W, Out>(&entry.key, &entry.accumulator, &moment, entry.hash, out)
        };
        if order.is_empty() {
            return (0..entries.len()).try_for_each(fire);
        }
        order.into_iter().try_for_each(|(_, of)| fire(of as usize))
    }

    fn drop_until(&mut self, end: i64) {
        while self.windows.front().is_some_and(|window| window.end <= end) {
            self.last_keys = self.windows.pop_front().map_or(0, |window| window.table.len());
        }
        if self.windows.len() * 4 < self.windows.capacity() {
            self.windows.shrink_to(self.windows.len() * 2);
        }
    }

    fn advance_time(&mut self, time: EventTime) {
        self.firing.advance_clock(time);
    }
    fn archive_state(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        self.firing.archive(archive, taking)?;
        self.late.archive(archive, taking)?;
        let mut ends: Vec<i64> = Vec::new();
        if !archive.is_reading() {
            ends.extend(self.windows.iter().map(|window| window.end));
        }
        archive.cells(&mut ends)?;
        for end in ends {
            let at = self.slice(0, (end, end));
            let OpenWindow { table, refired, .. } = &mut self.windows[at];
            table.archive(refired, archive, taking)?;
        }
        Ok(())
    }
    fn count(&self) -> OperatorCounts {
        let keys: usize = self.windows.iter().map(|window| window.table.len()).sum();
        let tables: usize = self.windows.iter().map(|window| window.table.bytes()).sum();
        OperatorCounts {
            open_windows: keys as u64,
            fired: self.firing.fired,
            accumulators: keys as u64,
            state_bytes: (tables + self.windows.capacity() * size_of::<OpenWindow<K, F::Accumulator>>()) as u64,
            ..self.late.counts()
        }
    }
}
