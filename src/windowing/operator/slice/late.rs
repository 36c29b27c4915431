//! Elements behind the end of a window of theirs.

use crate::error::Result;
use crate::windowing::batch::{KeyedBatch, StageTimes};
use crate::windowing::function::{AggregateFunction, PaneInfo, PaneTiming, ProcessWindowFunction};
use crate::windowing::operator::Output;
use crate::windowing::operator::fire::Moment;
use crate::windowing::output::Place;
use crate::windowing::window::Window;
use crate::windowing::{Data, Key};

use super::SliceOperator;
use super::assembly::Parts;
use super::progress::{Fate, OnGrid, Progress};

impl<K, T, W, F, P, Out> SliceOperator<K, T, W, F, P, Out>
where
    K: Key,
    T: Data,
    W: Window,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, W, Out>,
    Out: Data,
{
    /// A row that does not go into a slice and nothing else.
    pub(super) fn take_one(
        &mut self,
        batch: &KeyedBatch<K, T>,
        row: usize,
        times: &StageTimes,
        out: &mut Output<'_, Out>,
    ) -> Result<()> {
        let (timestamp, place) = (batch.timestamps[row], batch.place(row));
        match self.progress.here.fate {
            Fate::Whole(_) => {}
            Fate::Late => self.late.take(&batch.values[row], timestamp, place, out),
            Fate::Nowhere => {
                // Rows without windows have marks only behind the watermark, so it is asked for exactly.
                self.late.judge(&batch.values[row], (timestamp, place), times.before(place), out);
            }
            Fate::Partly(number, ends) => {
                let slot = self.keys.find_or_insert(batch.hashes[row], &batch.keys[row]);
                let had = self.add_late(number, ends, slot, &batch.values[row]);
                self.refire((number, ends), (slot, had), place, times, out)?;
            }
        }
        Ok(())
    }

    /// Adds an element to a slice of which windows have fired. True if the slice had elements of the key before.
    fn add_late(&mut self, number: i64, ends: (i64, i64), slot: u32, element: &T) -> bool {
        let here = self.progress.here;
        let at = self.slice(number, ends);
        // The fate of rows in this stretch of time has no position in it.
        self.progress.here = here;
        let had = self.slices.at(at).column.get(slot).is_some();
        let mut parts = Parts { function: &self.firing.function, keys: &mut self.keys, slices: &mut self.slices };
        let Progress { shape, fired, .. } = self.progress;
        if ends.1 > fired {
            // Whether windows were put together must not depend on other keys: what is merged with what would.
            let last = shape.end_after(fired).saturating_sub(shape.step());
            self.assembly.prepare::<K, T, F>(last, &mut parts);
        }
        self.assembly.add_late(at, slot, element, &mut parts);
        had
    }

    /// Fires the windows of a slice that have fired and are not past the allowed lateness, in the order in which they
    /// are assigned: sliding ones from the latest start downwards, cumulating ones from the shortest upwards.
    fn refire(
        &mut self,
        (number, ends): (i64, (i64, i64)),
        (slot, had): (u32, bool),
        place: Place,
        times: &StageTimes,
        out: &mut Output<'_, Out>,
    ) -> Result<()> {
        let Progress { shape, fired, cleaned, .. } = self.progress;
        let step = shape.step();
        let first = ends.0.max(shape.end_after(cleaned));
        let last = ends.1.min(shape.end_after(fired).saturating_sub(step));
        if first > last {
            return Ok(());
        }
        let parts = self.around(number, (first, last), slot);
        let count = (last - first) / step;
        for i in 0..=count {
            let end = if shape.cumulates() { first + i * step } else { last - i * step };
            let start = shape.start(end);
            let (accumulator, others) = parts.window::<T, F>(&self.firing.function, start, end);
            // A key with elements in the window has seen it fire once, when it was complete.
            let times_fired = self.refired.entry(end).or_default().entry(slot).or_insert(u32::from(had || others));
            let pane = PaneInfo { timing: PaneTiming::Late, index: *times_fired };
            *times_fired += 1;
            let moment = Moment::new(shape.window(end), pane, times.before(place), place)?;
            self.firing.fire::<K, T, W, Out>(self.keys.key(slot)?, &accumulator, &moment, place.hash, out)?;
        }
        Ok(())
    }

    /// A key's accumulators on both sides of a slice, as far as windows with these ends have them.
    fn around(&self, number: i64, (first, last): (i64, i64), slot: u32) -> Around<F::Accumulator> {
        let function = &self.firing.function;
        let mut around = Around { lower: Vec::new(), upper: Vec::new() };
        let in_slices = |range: std::ops::Range<usize>| {
            range.filter_map(|at| {
                let slice = self.slices.at(at);
                Some((slice.number, slice.column.get(slot)?))
            })
        };
        let shape = self.progress.shape;
        let lowest = shape.start(first).min(shape.start(last));
        for (number, accumulator) in in_slices(self.slices.range(lowest, number + 1)).rev() {
            let mut sum = accumulator.clone();
            if let Some((_, behind)) = around.lower.last() {
                function.merge(&mut sum, behind);
            }
            around.lower.push((number, sum));
        }
        for (number, accumulator) in in_slices(self.slices.range(number + 1, last)) {
            let sum = match around.upper.last() {
                None => accumulator.clone(),
                Some((_, sum)) => {
                    let mut sum: F::Accumulator = sum.clone();
                    function.merge(&mut sum, accumulator);
                    sum
                }
            };
            around.upper.push((number, sum));
        }
        around
    }
}

/// Sums of a key's slices: from each slice up to the one in the middle, descending; and from behind that up to each
/// slice, ascending.
struct Around<A> {
    lower: Vec<(i64, A)>,
    upper: Vec<(i64, A)>,
}

impl<A: Clone> Around<A> {
    /// The key's accumulator of a window, and whether it has elements in other slices than the one in the middle.
    fn window<T, F: AggregateFunction<T, Accumulator = A>>(&self, function: &F, start: i64, end: i64) -> (A, bool) {
        let below = self.lower.partition_point(|&(number, _)| number >= start);
        let above = self.upper.partition_point(|&(number, _)| number < end);
        let mut sum = match below {
            0 => function.create_accumulator(),
            below => self.lower[below - 1].1.clone(),
        };
        if above > 0 {
            function.merge(&mut sum, &self.upper[above - 1].1);
        }
        (sum, below > 1 || above > 0)
    }
}
