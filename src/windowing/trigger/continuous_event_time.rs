//! Firing at regular intervals of event time.

use std::time::Duration;

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::span::Span;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Fires whenever the watermark reaches a multiple of the interval (counted from 1970, not from the start of the
/// window), at the end of the window, and for each element that comes behind it. The contents stay.
///
/// A watermark that jumps over several intervals fires once for each, but in a global window, which has no end, the
/// last one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContinuousEventTimeTrigger {
    interval: Span,
}

impl ContinuousEventTimeTrigger {
    /// `interval`: at least 1 ms.
    pub fn of(interval: Duration) -> Self {
        ContinuousEventTimeTrigger { interval: Span::new(interval) }
    }

    /// The timer one interval behind `start`, or at the end of the window where that comes first.
    fn register_next<W: Window>(
        &self,
        start: EventTime,
        window: &W,
        next: &mut Option<EventTime>,
        context: &mut TriggerContext<'_>,
    ) {
        // Flink's sum wraps around: near the end of time it would begin at the other end and fire for ever.
        let time = start.saturating_add(self.interval.ms()).min(window.max_timestamp());
        *next = Some(time);
        context.register_event_time_timer(time);
    }
}

impl<T, W: Window> Trigger<T, W> for ContinuousEventTimeTrigger {
    /// The time of the next firing.
    type State = Option<EventTime>;

    fn check(&self) -> Result<()> {
        self.interval.check_positive("the interval of ContinuousEventTimeTrigger")
    }
    fn on_element(
        &self,
        _element: &T,
        timestamp: EventTime,
        window: &W,
        next: &mut Option<EventTime>,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        if window.max_timestamp() <= context.current_watermark() {
            return Ok(TriggerResult::Fire);
        }
        context.register_event_time_timer(window.max_timestamp());
        if next.is_none() {
            // Before 1970 this rounds towards it, as Flink does.
            self.register_next(timestamp - timestamp % self.interval.ms(), window, next, context);
        }
        Ok(TriggerResult::Continue)
    }
    fn on_event_time(
        &self,
        time: EventTime,
        window: &W,
        next: &mut Option<EventTime>,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        if time == window.max_timestamp() {
            return Ok(TriggerResult::Fire);
        }
        let due = *next == Some(time);
        if due {
            self.register_next(time, window, next, context);
        }
        Ok(TriggerResult::fire_if(due))
    }
    fn can_merge(&self) -> bool {
        true
    }
    fn on_merge(
        &self,
        _window: &W,
        next: &mut Option<EventTime>,
        merged: Vec<Option<EventTime>>,
        context: &mut TriggerContext<'_>,
    ) -> Result<()> {
        *next = merged.into_iter().chain([*next]).flatten().min();
        if let Some(time) = *next {
            context.register_event_time_timer(time);
        }
        Ok(())
    }
    // As in Flink the timer at the end of the window stays: within a trigger that clears another one, the window still
    // fires at its end.
    fn clear(&self, _window: &W, next: &mut Option<EventTime>, context: &mut TriggerContext<'_>) {
        if let Some(time) = next.take() {
            context.delete_event_time_timer(time);
        }
    }
    fn may_leave_unfired(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        format!("ContinuousEventTimeTrigger({})", self.interval.ms())
    }
}
