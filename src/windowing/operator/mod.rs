//! Window operators over records: rows and time in, results out.
//!
//! * `slice`: windows on a grid with the default trigger and an aggregate. A row updates one accumulator, that of its
//!   key and slice; a window is put together when it fires.
//! * `session`: sessions with the default trigger and an aggregate.
//! * `general`: any assigner, trigger, evictor and function, a state per key and window, and timers.
//!
//! `edge` leaves windows that wrap around the ends of time, which slices do not know, to the general operator.
//!
//! They give the same results wherever more than one can serve. A row counts against the watermark before it, which
//! the marks of a batch carry: see [`MarkRule`].

mod cells;
pub mod contents;
pub mod edge;
mod fire;
pub mod general;
pub mod index;
mod late;
pub mod reduce;
pub mod session;
pub mod slice;

use crate::error::Result;
use crate::snapshot::Archive;
use crate::time::{EventTime, Grid, Watermark};
use crate::windowing::batch::{KeyedBatch, StageTimes};
use crate::windowing::evictor::Evictor;
use crate::windowing::output::{OutputTag, Records, SideOutputs};
use crate::windowing::window::Window;
use crate::windowing::{Data, Taking};

/// Results that an operator keeps before it hands them on: few enough to stay near the core.
const RESULTS_KEPT: usize = 4_096;

/// Takes many results.
pub type HandOn<'a, Out> = dyn FnMut(&mut Records<Out>) -> Result<()> + 'a;

/// Takes what an operator hands on.
pub struct Output<'a, Out> {
    pub results: &'a mut Records<Out>,
    pub sides: &'a mut SideOutputs,
    /// The results of a window are wanted in the order of their places; else any order of its keys will do.
    pub ordered: bool,
    hand_on: Option<&'a mut HandOn<'a, Out>>,
}

impl<'a, Out> Output<'a, Out> {
    /// All results, in their order.
    pub fn new(results: &'a mut Records<Out>, sides: &'a mut SideOutputs) -> Self {
        Output { results, sides, ordered: true, hand_on: None }
    }

    /// Gives results to `hand_on` whenever there are many, which leaves none; the last are left behind.
    #[must_use]
    pub fn handing_on(mut self, ordered: bool, hand_on: &'a mut HandOn<'a, Out>) -> Self {
        (self.ordered, self.hand_on) = (ordered, Some(hand_on));
        self
    }

    /// For operators to call behind each firing.
    ///
    /// # Errors
    /// Of whoever takes the results.
    #[inline]
    pub(super) fn hand_on(&mut self) -> Result<()> {
        match &mut self.hand_on {
            Some(hand_on) if self.results.len() >= RESULTS_KEPT => hand_on(self.results),
            _ => Ok(()),
        }
    }
}

/// What an operator counts. Of one shard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperatorCounts {
    /// Elements too late for all their windows that went to no side output (Flink's `numLateRecordsDropped`).
    pub late_dropped: u64,
    /// Elements too late for all their windows that went to the side output.
    pub late_side_output: u64,
    /// Elements that no window takes, although they are not late: those in the gaps between windows.
    pub without_window: u64,
    /// Windows of one key that have state now.
    pub open_windows: u64,
    /// Firings.
    pub fired: u64,
    /// Windows that were cleaned up with elements in them that no firing had seen.
    pub unfired_at_cleanup: u64,
    /// Elements kept whole, for an evictor or a function over elements.
    pub buffered_elements: u64,
    /// Accumulators: one per key and slice, or per key and window.
    pub accumulators: u64,
    /// Bytes of state: what the operator itself allocates, not what the user's own types point to.
    pub state_bytes: u64,
}

impl OperatorCounts {
    /// Those of two shards together.
    #[must_use]
    pub fn and(self, other: OperatorCounts) -> OperatorCounts {
        OperatorCounts {
            late_dropped: self.late_dropped + other.late_dropped,
            late_side_output: self.late_side_output + other.late_side_output,
            without_window: self.without_window + other.without_window,
            open_windows: self.open_windows + other.open_windows,
            fired: self.fired + other.fired,
            unfired_at_cleanup: self.unfired_at_cleanup + other.unfired_at_cleanup,
            buffered_elements: self.buffered_elements + other.buffered_elements,
            accumulators: self.accumulators + other.accumulators,
            state_bytes: self.state_bytes + other.state_bytes,
        }
    }
}

/// Which rows of a batch need a mark with the watermark before them. All others may be taken in bulk, at the
/// operator's watermark, with the same results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MarkRule {
    /// Where the watermark has moved since the last mark of the batch (and at its first row).
    EveryMove,
    /// Where the watermark before the row closes the first window (on the grid) that would take it, or where the row is
    /// in no window and behind the watermark.
    FirstWindow(Grid),
    /// Where the row's own time is at or behind the watermark before it: a session that ends there has fired.
    OwnTime,
}

impl MarkRule {
    /// Whether a row at `timestamp`, before which the watermark was `watermark`, needs a mark; `last`: the watermark
    /// of the mark before it in the batch.
    #[inline]
    pub fn wants(self, timestamp: EventTime, watermark: Watermark, last: Option<Watermark>) -> bool {
        match self {
            MarkRule::EveryMove => last != Some(watermark),
            MarkRule::FirstWindow(grid) => {
                // A window with the row ends behind the row: most rows are ahead of the watermark and done here.
                watermark.0 >= timestamp
                    && watermark.closes(grid.first_end(grid.slice_of(timestamp)).unwrap_or(timestamp))
            }
            MarkRule::OwnTime => watermark.closes(timestamp),
        }
    }
}

/// One shard's part of a keyed window operator.
///
/// For each block: [`advance_clock`](Self::advance_clock), then the block's batches in order, then
/// [`advance`](Self::advance) with the watermark after it.
pub trait KeyedWindowOperator<K, T, Out>: Send {
    /// Takes rows in order. Before the row of a mark it advances to the mark's watermark (and may fire).
    ///
    /// # Errors
    /// Those of the assigner, trigger and function.
    fn process(&mut self, batch: KeyedBatch<K, T>, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()>;

    /// Moves the watermark: timers that it reaches fire, in the order of their times, then of the keys' hashes. A
    /// watermark that goes back is ignored.
    ///
    /// # Errors
    /// As [`process`](Self::process).
    fn advance(&mut self, watermark: Watermark, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()>;

    /// Moves the processing time to `time` (milliseconds since 1970): timers that it reaches fire, in the same order,
    /// with places before the block's first row. A clock that goes back is ignored.
    ///
    /// # Errors
    /// As [`process`](Self::process).
    fn advance_clock(&mut self, time: EventTime, times: &StageTimes, out: &mut Output<'_, Out>) -> Result<()>;

    fn counts(&self) -> OperatorCounts;

    /// Which rows need marks; the same through the operator's life.
    fn mark_rule(&self) -> MarkRule;

    /// Names its state, all that an operator of the same program must know to go on in its place. Between two blocks.
    /// State is put back into an operator that was just made, once or several times: it adds what `taking` wants of each
    /// to what it has. No key may come twice.
    ///
    /// # Errors
    /// Those of the archive; Data where values of the program's types cannot be written or read.
    fn archive(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()>;
}

/// What all window operators are told beside assigner, trigger and contents.
#[derive(Debug, Clone)]
pub struct Lateness<T> {
    /// Milliseconds for which windows are kept behind their end, 0 or more.
    pub allowed_ms: i64,
    /// Where elements go that are later than that; `None`: they are dropped and counted.
    pub side_output: Option<OutputTag<T>>,
}

/// No evictor: accumulators suffice.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvictor;

impl<T: Data, W: Window> Evictor<T, W> for NoEvictor {
    const NONE: bool = true;

    fn evict_before(
        &self,
        _: &mut crate::windowing::evictor::Elements<T>,
        _: &W,
        _: &crate::windowing::evictor::EvictorContext,
    ) {
    }
    fn evict_after(
        &self,
        _: &mut crate::windowing::evictor::Elements<T>,
        _: &W,
        _: &crate::windowing::evictor::EvictorContext,
    ) {
    }
    fn describe(&self) -> String {
        String::from("none")
    }
}

#[cfg(test)]
mod tests;
