//! The ends of time: windows on a grid that begin before the first timestamp that there is, or end beyond the last.
//!
//! In Flink such a start or end wraps around: the window is complete at the first watermark. Slices know no such windows;
//! they are left to the general operator, which is made with the first element that has no others. Of windows that
//! overlap, an element is in those alone that do not wrap, if there are any.

use crate::batch::Mark;
use crate::error::Result;
use crate::snapshot::Archive;
use crate::time::{EventTime, Grid, Watermark, window_start};
use crate::windowing::batch::{KeyedBatch, StageTimes};
use crate::windowing::operator::{KeyedWindowOperator, MarkRule, OperatorCounts, Output};
use crate::windowing::output::{Places, Records};
use crate::windowing::state::times;
use crate::windowing::{Data, Key, Taking};

/// `within` for all elements but those at the ends of time.
pub struct WithEdge<K, T, Out, G, M> {
    within: Box<dyn KeyedWindowOperator<K, T, Out>>,
    beyond: Option<G>,
    make: M,
    /// The first and the last time that have a window within time.
    times: (EventTime, EventTime),
    reached: Watermark,
}

impl<K, T, Out, G, M: Fn() -> G> WithEdge<K, T, Out, G, M> {
    pub fn new(grid: Grid, within: Box<dyn KeyedWindowOperator<K, T, Out>>, make: M) -> Self {
        let first = window_start(EventTime::MIN + (grid.slide - 1), grid.offset, grid.slide);
        let last = match grid.cumulates {
            true => grid.slice_of(EventTime::MAX) - 1,
            false => window_start(EventTime::MAX - grid.size, grid.offset, grid.slide) + (grid.size - 1),
        };
        // Nor where the distance from the offset has no number: Flink's wraps around there too.
        let first = first.max(EventTime::MIN + grid.offset.rem_euclid(grid.slide));
        let last = last.min(EventTime::MAX + grid.offset.min(0));
        WithEdge { within, beyond: None, make, times: (first, last), reached: Watermark::MIN }
    }

    fn is_within(&self, timestamp: EventTime) -> bool {
        timestamp >= self.times.0 && timestamp <= self.times.1
    }

    fn split(&self, batch: KeyedBatch<K, T>, times: &StageTimes) -> [KeyedBatch<K, T>; 2] {
        let mut parts = [KeyedBatch::default(), KeyedBatch::default()];
        let mut places = [Vec::new(), Vec::new()];
        let KeyedBatch { keys, hashes, values, timestamps, places: from, marks } = batch;
        let mut marks = marks.into_iter().peekable();
        for (row, ((key, hash), (value, timestamp))) in
            keys.into_iter().zip(hashes).zip(values.into_iter().zip(timestamps)).enumerate()
        {
            let (beyond, place) = (usize::from(!self.is_within(timestamp)), from.of(row, hash));
            let part = &mut parts[beyond];
            let mark = marks.next_if(|mark| mark.row as usize == row).map(|mark| mark.watermark);
            // The general operator wants to know of every move.
            let mark = if beyond == 1 { Some(times.before(place)) } else { mark };
            part.marks.extend(mark.map(|watermark| Mark { row: part.values.len() as u32, watermark }));
            part.push((key, hash), value, timestamp);
            places[beyond].push(place);
        }
        for (part, places) in parts.iter_mut().zip(places) {
            part.places = Places::Each(places);
        }
        parts
    }
}

impl<K, T, Out, G, M> KeyedWindowOperator<K, T, Out> for WithEdge<K, T, Out, G, M>
where
    K: Key,
    T: Data,
    Out: Data,
    G: KeyedWindowOperator<K, T, Out>,
    M: Fn() -> G + Send,
{
    fn process(&mut self, batch: KeyedBatch<K, T>, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()> {
        if batch.timestamps.iter().all(|&timestamp| self.is_within(timestamp)) {
            return self.within.process(batch, times, out);
        }
        let [within, beyond] = self.split(batch, times);
        let general = self.beyond.get_or_insert_with(&self.make);
        // It was not there when time moved; it has nothing yet that could fire.
        general.advance(self.reached, times, out)?;
        let before = out.results.len();
        self.within.process(within, times, out)?;
        general.process(beyond, times, out)?;
        in_order(out.results, before);
        Ok(())
    }

    fn advance(&mut self, watermark: Watermark, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()> {
        self.reached = self.reached.max(watermark);
        let before = out.results.len();
        self.within.advance(watermark, times, out)?;
        if let Some(general) = &mut self.beyond {
            general.advance(watermark, times, out)?;
            in_order(out.results, before);
        }
        Ok(())
    }

    fn advance_clock(&mut self, time: EventTime, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()> {
        self.within.advance_clock(time, times, out)?;
        self.beyond.as_mut().map_or(Ok(()), |general| general.advance_clock(time, times, out))
    }

    fn counts(&self) -> OperatorCounts {
        let beyond = self.beyond.as_ref().map_or_else(OperatorCounts::default, G::counts);
        self.within.counts().and(beyond)
    }

    fn mark_rule(&self) -> MarkRule {
        self.within.mark_rule()
    }

    fn archive(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        times(archive, [&mut self.reached.0])?;
        self.within.archive(archive, taking)?;
        let mut is_there = u8::from(self.beyond.is_some());
        archive.numbers([&mut is_there])?;
        if is_there == 0 {
            return Ok(());
        }
        self.beyond.get_or_insert_with(&self.make).archive(archive, taking)
    }
}

/// Puts the results from `first` on into the order of their places.
fn in_order<Out: Data>(results: &mut Records<Out>, first: usize) {
    let first = first.min(results.len());
    let mut order: Vec<usize> = (first..results.len()).collect();
    order.sort_by_key(|&at| results.places[at]);
    let sorted: Vec<_> =
        order.into_iter().map(|at| (results.values[at].clone(), results.timestamps[at], results.places[at])).collect();
    results.values.truncate(first);
    results.timestamps.truncate(first);
    results.places.truncate(first);
    sorted.into_iter().for_each(|(value, timestamp, place)| results.push(value, timestamp, place));
}
