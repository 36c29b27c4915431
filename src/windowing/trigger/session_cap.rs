//! Sessions that do not grow without end.

use std::time::Duration;

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::span::Span;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::{TimeWindow, Window};

/// Fires when the watermark reaches the end of the window, and drops the contents with a firing as soon as an element
/// makes the window longer than a maximum. For time windows, which are best sessions.
///
/// The window itself goes on: while the session lasts, each further element fires alone. Flink has no such trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCapTrigger {
    max: Span,
}

impl SessionCapTrigger {
    /// `max`: how long a window may be, from the first element to the gap behind the last.
    pub fn of(max: Duration) -> Self {
        SessionCapTrigger { max: Span::new(max) }
    }
}

impl<T> Trigger<T, TimeWindow> for SessionCapTrigger {
    type State = ();

    fn check(&self) -> Result<()> {
        self.max.check("the maximum of SessionCapTrigger")
    }
    fn on_element(
        &self,
        _element: &T,
        _timestamp: EventTime,
        window: &TimeWindow,
        _state: &mut (),
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        if window.end.wrapping_sub(window.start) > self.max.ms() {
            return Ok(TriggerResult::FireAndPurge);
        }
        context.register_event_time_timer(window.max_timestamp());
        Ok(TriggerResult::Continue)
    }
    fn on_event_time(
        &self,
        time: EventTime,
        window: &TimeWindow,
        _state: &mut (),
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(TriggerResult::fire_if(time == window.max_timestamp()))
    }
    fn can_merge(&self) -> bool {
        true
    }
    fn on_merge(
        &self,
        window: &TimeWindow,
        _state: &mut (),
        _merged: Vec<()>,
        context: &mut TriggerContext<'_>,
    ) -> Result<()> {
        context.register_event_time_timer(window.max_timestamp());
        Ok(())
    }
    fn clear(&self, window: &TimeWindow, _state: &mut (), context: &mut TriggerContext<'_>) {
        context.delete_event_time_timer(window.max_timestamp());
    }
    fn may_leave_unfired(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        format!("SessionCapTrigger({})", self.max.ms())
    }
}
