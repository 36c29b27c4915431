//! How far the windows on a grid are: which have fired, and which are past the allowed lateness.

use std::ops::Range;

use crate::error::Result;
use crate::snapshot::Archive;
use crate::time::{EventTime, Grid, Watermark};
use crate::windowing::assigner::check_timestamp;
use crate::windowing::batch::{KeyedBatch, StageTimes};
use crate::windowing::operator::{KeyedWindowOperator, MarkRule, OperatorCounts, Output};
use crate::windowing::state::times;
use crate::windowing::{Data, Taking};

use super::shape::Shape;

/// What becomes of rows in one slice.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fate {
    /// All windows are to come: rows go to the slice at this position.
    Whole(usize),
    /// Some windows have fired: the slice's number and the ends of its windows.
    Partly(i64, (i64, i64)),
    Late,
    /// No window is there.
    Nowhere,
}

/// The stretch of time in which the last row was, and what becomes of rows there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Here {
    pub from: EventTime,
    pub to: EventTime,
    pub fate: Fate,
}

/// No stretch of time.
pub(super) const ELSEWHERE: Here = Here { from: EventTime::MAX, to: EventTime::MIN, fate: Fate::Nowhere };

impl Here {
    #[inline]
    pub fn has(&self, timestamp: EventTime) -> bool {
        timestamp >= self.from && timestamp < self.to
    }
}

/// An operator's place in time.
pub(super) struct Progress {
    pub grid: Grid,
    pub shape: Shape,
    /// Milliseconds.
    lateness: i64,
    pub watermark: Watermark,
    /// Below this watermark nothing happens.
    next: Watermark,
    /// Windows that end there or before have fired.
    pub fired: i64,
    /// Windows that end there or before are past the allowed lateness.
    pub cleaned: i64,
    pub here: Here,
}

impl Progress {
    pub fn new(grid: Grid, lateness: i64) -> Self {
        Progress {
            grid,
            shape: Shape::new(grid),
            lateness,
            watermark: Watermark::MIN,
            next: Watermark::MIN,
            fired: i64::MIN,
            cleaned: i64::MIN,
            here: ELSEWHERE,
        }
    }

    /// # Errors
    /// Those of the archive.
    pub fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.here = ELSEWHERE;
        let Progress { watermark, next, fired, cleaned, .. } = self;
        times(archive, [&mut watermark.0, &mut next.0, fired, cleaned])
    }

    /// Whether a watermark changes nothing: no window fires and no row's fate is another.
    #[inline]
    fn passes_over(&mut self, watermark: Watermark) -> bool {
        if watermark < self.next {
            self.watermark = self.watermark.max(watermark);
            return true;
        }
        false
    }
}

/// An operator for windows on a grid.
pub(super) trait OnGrid<K, T, Out> {
    fn progress(&self) -> &Progress;
    fn progress_mut(&mut self) -> &mut Progress;
    /// Takes rows at the watermark reached.
    fn take(
        &mut self,
        batch: &KeyedBatch<K, T>,
        rows: Range<usize>,
        times: &StageTimes,
        out: &mut Output<'_, Out>,
    ) -> Result<()>;
    /// The position of a slice, which is made if need be.
    fn slice(&mut self, number: i64, ends: (i64, i64)) -> usize;
    /// The end of the first window with elements that has not fired.
    fn next_end(&self) -> Option<i64>;
    /// Fires the window with this end for all its keys.
    fn fire(&mut self, end: i64, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()>;
    /// Drops the slices all of whose windows end at `end` or before.
    fn drop_until(&mut self, end: i64);
    /// The input is over and nothing is left.
    fn end(&mut self) {}
    /// Moves the processing time.
    fn advance_time(&mut self, time: EventTime);
    fn count(&self) -> OperatorCounts;
    /// As [`KeyedWindowOperator::archive`], but for the progress.
    fn archive_state(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()>;

    /// Goes to the stretch of time in which there is `time`.
    fn go_to(&mut self, time: EventTime) -> Result<()> {
        check_timestamp(time)?;
        let Progress { shape, fired, cleaned, watermark, .. } = *self.progress();
        let number = shape.number(time);
        // The last slice of all has no end that an `i64` could be compared with.
        let (from, to) = (shape.time(number), shape.time(number.saturating_add(1)));
        let fate = match shape.ends(number) {
            None => Fate::Nowhere,
            Some((_, last)) if last <= cleaned || watermark == Watermark::MAX => Fate::Late,
            Some(ends) if ends.0 <= fired => Fate::Partly(number, ends),
            Some(ends) => Fate::Whole(self.slice(number, ends)),
        };
        self.progress_mut().here = Here { from, to, fate };
        Ok(())
    }

    fn clean(&mut self, end: i64) {
        self.drop_until(end);
        self.progress_mut().cleaned = end;
    }
}

/// An operator on a grid as the others see it: how rows and time alternate is the same for all of them.
pub(super) struct GridOperator<O>(pub O);

impl<K, T, Out, O> KeyedWindowOperator<K, T, Out> for GridOperator<O>
where
    T: Data,
    O: OnGrid<K, T, Out> + Send,
{
    fn process(&mut self, batch: KeyedBatch<K, T>, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()> {
        let mut from = 0;
        for mark in &batch.marks {
            if self.0.progress_mut().passes_over(mark.watermark) {
                continue;
            }
            let to = (mark.row as usize).clamp(from, batch.len());
            self.0.take(&batch, from..to, times, out)?;
            self.advance(mark.watermark, times, out)?;
            from = to;
        }
        self.0.take(&batch, from..batch.len(), times, out)
    }

    fn advance(&mut self, watermark: Watermark, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()> {
        let progress = self.0.progress_mut();
        if watermark <= progress.watermark {
            return Ok(());
        }
        progress.watermark = watermark;
        if progress.passes_over(watermark) {
            return Ok(());
        }
        progress.here = ELSEWHERE;
        let (shape, lateness) = (progress.shape, progress.lateness);
        let fired = shape.horizon(watermark);
        let cleaned = shape.horizon(Watermark(watermark.0.saturating_sub(lateness)));
        while let Some(end) = self.0.next_end().filter(|&end| end <= fired) {
            self.0.fire(end, times, out)?;
            self.0.progress_mut().fired = end;
            self.0.clean(cleaned.min(end));
        }
        self.0.progress_mut().fired = fired;
        self.0.clean(cleaned);
        if watermark == Watermark::MAX {
            self.0.end();
        }
        let late = shape.closed_at(cleaned).0.saturating_add(lateness);
        self.0.progress_mut().next = shape.closed_at(fired).min(Watermark(late));
        Ok(())
    }

    fn advance_clock(&mut self, time: EventTime, _: &StageTimes, _: &mut Output<'_, Out>) -> Result<()> {
        self.0.advance_time(time);
        Ok(())
    }
    fn counts(&self) -> OperatorCounts {
        self.0.count()
    }
    fn mark_rule(&self) -> MarkRule {
        MarkRule::FirstWindow(self.0.progress().grid)
    }
    fn archive(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        self.0.progress_mut().archive(archive)?;
        self.0.archive_state(archive, taking)
    }
}
