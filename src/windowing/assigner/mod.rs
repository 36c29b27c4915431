//! Window assigners: to which windows an element belongs.
//!
//! Tumbling, sliding and cumulating windows lie the same for all keys; sessions follow the elements of a key; the
//! global window holds all elements of a key. All but the last come in event time and in processing time.
//!
//! ```
//! use std::time::Duration;
//! use transom::windowing::assigner::{AssignerContext, SlidingEventTimeWindows, WindowAssigner};
//! use transom::windowing::window::TimeWindow;
//!
//! let assigner = SlidingEventTimeWindows::of(Duration::from_secs(10), Duration::from_secs(5));
//! let context = AssignerContext { processing_time: 0 };
//! let mut windows = Vec::new();
//! assigner.assign_windows(&"an element", 12_000, &context, &mut windows)?;
//! assert_eq!(windows, [TimeWindow::new(10_000, 20_000), TimeWindow::new(5_000, 15_000)]);
//! # Ok::<(), transom::error::Error>(())
//! ```

mod aligned;
mod boxed;
mod cumulating;
mod global;
mod kind;
mod merge;
mod session;
mod sliding;
mod tumbling;

pub(super) use aligned::check_timestamp;
pub use boxed::BoxedAssigner;
pub use cumulating::{CumulatingEventTimeWindows, CumulatingProcessingTimeWindows, CumulatingWindows};
pub use global::GlobalWindows;
pub use kind::{OfEventTime, OfProcessingTime, TimeKind};
pub use merge::merge_time_windows;
pub use session::{
    DynamicEventTimeSessionWindows, DynamicProcessingTimeSessionWindows, DynamicSessionWindows,
    EventTimeSessionWindows, ProcessingTimeSessionWindows, SessionWindows,
};
pub use sliding::{SlidingEventTimeWindows, SlidingProcessingTimeWindows, SlidingWindows};
pub use tumbling::{TumblingEventTimeWindows, TumblingProcessingTimeWindows, TumblingWindows};

use crate::error::Result;
use crate::time::{EventTime, Grid};
use crate::windowing::trigger::Trigger;
use crate::windowing::window::Window;

/// What an assigner may look at beside the element.
#[derive(Debug, Clone, Copy)]
pub struct AssignerContext {
    /// Milliseconds since 1970.
    pub processing_time: EventTime,
}

/// Windows that became one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge<W> {
    pub result: W,
    /// Two at least.
    pub merged: Vec<W>,
}

/// Finds the windows (of one key) that are to be one. Windows that stay alone are not reported.
pub type MergeWindows<W> = fn(&[W]) -> Vec<Merge<W>>;

/// Gives each element its windows.
///
/// Contract: the windows follow from the element, its timestamp and the context alone; see
/// [`check_assigner`](crate::windowing::contract::check_assigner). [`check`](WindowAssigner::check) comes before all
/// else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` assigns no windows to elements `{T}`",
    note = "for windows by number see `count_window`; a trigger goes behind a window: `.window(…).trigger(…)`"
)]
pub trait WindowAssigner<T>: Clone + Send + Sync + 'static {
    type Window: Window;
    /// The trigger of a window operator that was given none.
    type DefaultTrigger: Trigger<T, Self::Window>;

    /// Faults of the settings, found before anything runs.
    ///
    /// # Errors
    /// Kind Usage, with what was expected.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Appends the element's windows to `windows`, which comes empty.
    ///
    /// # Errors
    /// Kind Data where the element can have no window (a session gap below 1 ms, a timestamp that is none).
    fn assign_windows(
        &self,
        element: &T,
        timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<Self::Window>,
    ) -> Result<()>;

    fn default_trigger(&self) -> Self::DefaultTrigger;

    /// Windows of event time: elements may come too late for them, and they are cleaned up by the watermark. Else by
    /// the clock.
    fn is_event_time(&self) -> bool;

    /// Its windows follow the clock.
    fn uses_processing_time(&self) -> bool {
        !self.is_event_time()
    }

    /// How windows merge; `None`: never.
    fn merging(&self) -> Option<MergeWindows<Self::Window>> {
        None
    }

    /// The grid on which all windows lie, for time windows that follow from the timestamp alone: they can then be put
    /// together from slices.
    fn grid(&self) -> Option<Grid> {
        None
    }

    /// Sessions of event time: each element opens a window from its timestamp on, and windows that touch are one.
    fn is_session(&self) -> bool {
        false
    }

    /// The gap of event-time sessions, in milliseconds, where it is the same for all elements.
    fn session_gap(&self) -> Option<i64> {
        None
    }

    /// Flink's name with its settings, as `explain` shows it.
    fn describe(&self) -> String;
}

/// Assigners whose windows never merge: an aggregate that cannot merge may be used with them.
#[diagnostic::on_unimplemented(
    message = "windows of `{Self}` merge, so an accumulator that can't be merged can't be used with them",
    label = "these windows merge",
    note = "use an aggregate, whose accumulators merge, in place of `fold`"
)]
pub trait NonMerging {}
