//! Firing at regular intervals of the clock.

use std::time::Duration;

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::span::Span;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Fires whenever the clock reaches a multiple of the interval (counted from 1970), and at the end of the window if the
/// clock reaches that. The contents stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContinuousProcessingTimeTrigger {
    interval: Span,
}

impl ContinuousProcessingTimeTrigger {
    /// `interval`: at least 1 ms.
    pub fn of(interval: Duration) -> Self {
        ContinuousProcessingTimeTrigger { interval: Span::new(interval) }
    }

    /// The timer one interval behind `start`, or at the end of the window where that comes first.
    fn register_next<W: Window>(
        &self,
        start: EventTime,
        window: &W,
        next: &mut Option<EventTime>,
        context: &mut TriggerContext<'_>,
    ) {
        let time = start.wrapping_add(self.interval.ms()).min(window.max_timestamp());
        *next = Some(time);
        context.register_processing_time_timer(time);
    }
}

impl<T, W: Window> Trigger<T, W> for ContinuousProcessingTimeTrigger {
    /// The time of the next firing.
    type State = Option<EventTime>;

    fn check(&self) -> Result<()> {
        self.interval.check_positive("the interval of ContinuousProcessingTimeTrigger")
    }
    fn on_element(
        &self,
        _element: &T,
        _timestamp: EventTime,
        window: &W,
        next: &mut Option<EventTime>,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        if next.is_none() {
            let now = context.current_processing_time();
            self.register_next(now - now % self.interval.ms(), window, next, context);
        }
        Ok(TriggerResult::Continue)
    }
    fn on_processing_time(
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
            context.register_processing_time_timer(time);
        }
        Ok(())
    }
    fn clear(&self, _window: &W, next: &mut Option<EventTime>, context: &mut TriggerContext<'_>) {
        if let Some(time) = next.take() {
            context.delete_processing_time_timer(time);
        }
    }
    fn uses_processing_time(&self) -> bool {
        true
    }
    fn describe(&self) -> String {
        format!("ContinuousProcessingTimeTrigger({})", self.interval.ms())
    }
}
