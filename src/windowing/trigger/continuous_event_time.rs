//! Firing at regular intervals of event time.

use std::time::Duration;

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::trigger::interval::{Interval, Next};
use crate::windowing::trigger::{TimeDomain, Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Fires whenever the watermark reaches a multiple of the interval (counted from 1970, not from the start of the
/// window), at the end of the window, and for each element that comes behind it. The contents stay.
///
/// A watermark that jumps over several intervals fires once for each, but in a global window, which has no end, the
/// last one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContinuousEventTimeTrigger {
    interval: Interval,
}

impl ContinuousEventTimeTrigger {
    /// `interval`: at least 1 ms.
    pub fn of(interval: Duration) -> Self {
        ContinuousEventTimeTrigger { interval: Interval::new(interval, TimeDomain::EventTime) }
    }
}

impl<T, W: Window> Trigger<T, W> for ContinuousEventTimeTrigger {
    /// The time of the next firing.
    type State = Next;

    fn check(&self) -> Result<()> {
        self.interval.check("ContinuousEventTimeTrigger")
    }
    fn on_element(
        &self,
        _element: &T,
        timestamp: EventTime,
        window: &W,
        next: &mut Next,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        if window.max_timestamp() <= context.current_watermark() {
            return Ok(TriggerResult::Fire);
        }
        context.register_event_time_timer(window.max_timestamp());
        self.interval.begin(timestamp, window, next, context);
        Ok(TriggerResult::Continue)
    }
    fn on_event_time(
        &self,
        time: EventTime,
        window: &W,
        next: &mut Next,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(self.interval.on_timer(time, window, next, context))
    }
    fn can_merge(&self) -> bool {
        true
    }
    fn on_merge(
        &self,
        _window: &W,
        next: &mut Next,
        merged: Vec<Next>,
        context: &mut TriggerContext<'_>,
    ) -> Result<()> {
        self.interval.merge(next, merged, context);
        Ok(())
    }
    // As in Flink the timer at the end of the window stays: within a trigger that clears another one, the window still
    // fires at its end.
    fn clear(&self, _window: &W, next: &mut Next, context: &mut TriggerContext<'_>) {
        self.interval.clear(next, context);
    }
    fn may_leave_unfired(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        format!("ContinuousEventTimeTrigger({})", self.interval.ms())
    }
}
