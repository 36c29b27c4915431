//! Triggers: when the contents of a window are given to the window function.
//!
//! | trigger                             | fires                                                                      |
//! |-------------------------------------|----------------------------------------------------------------------------|
//! | [`EventTimeTrigger`]                | when the watermark reaches the end of a time window, and for late elements |
//! | [`ProcessingTimeTrigger`]           | when the clock reaches the end of a time window                            |
//! | [`CountTrigger`]                    | every n elements                                                           |
//! | [`DeltaTrigger`]                    | when an element differs enough from that of the last firing                |
//! | [`ContinuousEventTimeTrigger`]      | whenever the watermark reaches a multiple of an interval, and at the end   |
//! | [`ContinuousProcessingTimeTrigger`] | whenever the clock reaches a multiple of an interval                       |
//! | [`EarlyCountTrigger`]               | every n elements, and at the end                                           |
//! | [`SessionCapTrigger`]               | at the end, or with a purge when a session becomes too long                |
//! | [`EndOfStreamTrigger`]              | at the end of the input                                                    |
//! | [`NeverTrigger`]                    | never                                                                      |
//! | [`PurgingTrigger`]                  | when another trigger does, and drops the contents then                     |
//! | [`ProcessingTimeoutTrigger`]        | when another trigger does, or when a timeout has passed by the clock       |
//! | [`BoxedTrigger`]                    | as the trigger within, whose type is known at run time only                |
//!
//! A trigger of one's own fires when an element says so:
//!
//! ```
//! use transom::error::Result;
//! use transom::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
//! use transom::windowing::window::Window;
//!
//! #[derive(Clone)]
//! struct OnFlush;
//!
//! impl<W: Window> Trigger<String, W> for OnFlush {
//!     type State = ();
//!     fn on_element(
//!         &self, element: &String, _: i64, _: &W, _: &mut (), _: &mut TriggerContext<'_>,
//!     ) -> Result<TriggerResult> {
//!         Ok(TriggerResult::fire_if(element == "flush"))
//!     }
//!     fn on_event_time(&self, _: i64, _: &W, _: &mut (), _: &mut TriggerContext<'_>) -> Result<TriggerResult> {
//!         Ok(TriggerResult::Continue)
//!     }
//!     fn on_processing_time(&self, _: i64, _: &W, _: &mut (), _: &mut TriggerContext<'_>) -> Result<TriggerResult> {
//!         Ok(TriggerResult::Continue)
//!     }
//!     fn clear(&self, _: &W, _: &mut (), _: &mut TriggerContext<'_>) {}
//!     fn describe(&self) -> String {
//!         String::from("OnFlush")
//!     }
//! }
//! ```

mod boxed;
mod continuous_event_time;
mod continuous_processing_time;
mod count;
mod delta;
mod early_count;
mod event_time;
mod global;
mod interval;
mod processing_time;
mod processing_timeout;
mod purging;
mod session_cap;

pub use boxed::{BoxedState, BoxedTrigger};
pub use continuous_event_time::ContinuousEventTimeTrigger;
pub use continuous_processing_time::ContinuousProcessingTimeTrigger;
pub use count::CountTrigger;
pub use delta::DeltaTrigger;
pub use early_count::EarlyCountTrigger;
pub use event_time::EventTimeTrigger;
pub use global::{EndOfStreamTrigger, NeverTrigger};
pub use processing_time::ProcessingTimeTrigger;
pub use processing_timeout::{ProcessingTimeoutTrigger, TimeoutState};
pub use purging::PurgingTrigger;
pub use session_cap::SessionCapTrigger;

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::StateData;
use crate::windowing::window::Window;

/// What happens to a window after a trigger was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerResult {
    /// Nothing.
    Continue,
    /// The window function sees the contents; they stay.
    Fire,
    /// The contents are dropped unseen; the window itself and the trigger's state stay.
    Purge,
    /// Both, in this order.
    FireAndPurge,
}

impl TriggerResult {
    /// `Fire` where `fires`, else `Continue`.
    pub fn fire_if(fires: bool) -> Self {
        if fires { TriggerResult::Fire } else { TriggerResult::Continue }
    }
    pub fn is_fire(self) -> bool {
        matches!(self, TriggerResult::Fire | TriggerResult::FireAndPurge)
    }
    pub fn is_purge(self) -> bool {
        matches!(self, TriggerResult::Purge | TriggerResult::FireAndPurge)
    }
}

/// What drives a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeDomain {
    /// The watermark of the operator.
    EventTime,
    /// The clock of the job.
    ProcessingTime,
}

/// Something a trigger wants done with a timer of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerRequest {
    Register(TimeDomain, EventTime),
    Delete(TimeDomain, EventTime),
}

/// What a trigger sees of the operator. Timers belong to the window (of one key) for which the trigger is asked;
/// registering one twice is registering it once. A timer in the past fires when time next moves, not at once.
#[derive(Debug)]
pub struct TriggerContext<'a> {
    watermark: EventTime,
    processing_time: EventTime,
    requests: &'a mut Vec<TimerRequest>,
}

impl<'a> TriggerContext<'a> {
    /// Requests are appended to `requests`, in order; whoever asks the trigger carries them out.
    pub fn new(watermark: EventTime, processing_time: EventTime, requests: &'a mut Vec<TimerRequest>) -> Self {
        TriggerContext { watermark, processing_time, requests }
    }
    /// In milliseconds; `i64::MIN` before the first watermark.
    pub fn current_watermark(&self) -> EventTime {
        self.watermark
    }
    /// In milliseconds since 1970.
    pub fn current_processing_time(&self) -> EventTime {
        self.processing_time
    }
    pub fn register_timer(&mut self, domain: TimeDomain, time: EventTime) {
        self.requests.push(TimerRequest::Register(domain, time));
    }
    pub fn register_event_time_timer(&mut self, time: EventTime) {
        self.register_timer(TimeDomain::EventTime, time);
    }
    pub fn register_processing_time_timer(&mut self, time: EventTime) {
        self.register_timer(TimeDomain::ProcessingTime, time);
    }
    pub fn delete_timer(&mut self, domain: TimeDomain, time: EventTime) {
        self.requests.push(TimerRequest::Delete(domain, time));
    }
    pub fn delete_event_time_timer(&mut self, time: EventTime) {
        self.delete_timer(TimeDomain::EventTime, time);
    }
    pub fn delete_processing_time_timer(&mut self, time: EventTime) {
        self.delete_timer(TimeDomain::ProcessingTime, time);
    }
}

/// Decides when a window fires. One value serves all keys and windows of a shard; what it must remember of one window
/// of one key is its `State`.
///
/// Contract: answers depend on the element, the times, the window and the state alone. `clear` deletes every timer that
/// is still registered, though one at the window's own end may stay. `on_merge` is called only where `can_merge` is
/// true. See [`check_trigger`](crate::windowing::contract::check_trigger).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no trigger of windows `{W}` with elements `{T}`",
    label = "not for these windows",
    note = "time triggers need windows that end; a global window takes CountTrigger, DeltaTrigger or one of your own"
)]
pub trait Trigger<T, W: Window>: Clone + Send + Sync + 'static {
    /// Of one window of one key; as good as absent while it is the default.
    type State: StateData + Default;

    /// Faults of the settings, found before anything runs.
    ///
    /// # Errors
    /// Kind Usage, with what was expected.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// An element was added to the window.
    ///
    /// # Errors
    /// Whatever the trigger's own code fails with: the job ends with it.
    fn on_element(
        &self,
        element: &T,
        timestamp: EventTime,
        window: &W,
        state: &mut Self::State,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult>;

    /// A timer that the watermark reached.
    ///
    /// # Errors
    /// As [`Trigger::on_element`].
    fn on_event_time(
        &self,
        _time: EventTime,
        _window: &W,
        _state: &mut Self::State,
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(TriggerResult::Continue)
    }

    /// A timer that the clock reached.
    ///
    /// # Errors
    /// As [`Trigger::on_element`].
    fn on_processing_time(
        &self,
        _time: EventTime,
        _window: &W,
        _state: &mut Self::State,
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(TriggerResult::Continue)
    }

    /// Whether it may be used with windows that merge.
    fn can_merge(&self) -> bool {
        false
    }

    /// `merged` windows became `window`: their states are handed over, and timers of theirs are deleted behind this.
    ///
    /// # Errors
    /// As [`Trigger::on_element`].
    fn on_merge(
        &self,
        _window: &W,
        _state: &mut Self::State,
        _merged: Vec<Self::State>,
        _context: &mut TriggerContext<'_>,
    ) -> Result<()> {
        Ok(())
    }

    /// The window goes away: deletes what timers there are. Its state is dropped behind this.
    fn clear(&self, window: &W, state: &mut Self::State, context: &mut TriggerContext<'_>);

    /// True for a trigger that fires a window once when the watermark reaches its end, and again for each late element:
    /// windows on a grid, and sessions, are then served without a timer per window.
    fn is_default_event_time(&self) -> bool {
        false
    }

    /// True for the trigger that fires at the end of the input only. Windows of whole elements then hold them in the
    /// order of their timestamps, for Flink sorts the input of such a job.
    fn is_end_of_stream(&self) -> bool {
        false
    }

    /// Registers timers of processing time: then the job goes by the clock even while no record comes.
    fn uses_processing_time(&self) -> bool {
        false
    }

    /// May leave elements in a window that no firing has seen when the window is cleaned up (a count that is not full).
    fn may_leave_unfired(&self) -> bool {
        true
    }

    /// Never fires (what a global window without a trigger has).
    fn never_fires(&self) -> bool {
        false
    }

    /// Flink's name with its settings, as `explain` shows it.
    fn describe(&self) -> String;
}
