//! Firing at regular intervals of the clock.

use std::time::Duration;

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::trigger::interval::{Interval, Next};
use crate::windowing::trigger::{TimeDomain, Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Fires whenever the clock reaches a multiple of the interval (counted from 1970), and at the end of the window if the
/// clock reaches that. The contents stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContinuousProcessingTimeTrigger {
    interval: Interval,
}

impl ContinuousProcessingTimeTrigger {
    /// `interval`: at least 1 ms.
    pub fn of(interval: Duration) -> Self {
        ContinuousProcessingTimeTrigger { interval: Interval::new(interval, TimeDomain::ProcessingTime) }
    }
}

impl<T, W: Window> Trigger<T, W> for ContinuousProcessingTimeTrigger {
    /// The time of the next firing.
    type State = Next;

    fn check(&self) -> Result<()> {
        self.interval.check("ContinuousProcessingTimeTrigger")
    }
    fn on_element(
        &self,
        _element: &T,
        _timestamp: EventTime,
        window: &W,
        next: &mut Next,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        self.interval.begin(context.current_processing_time(), window, next, context);
        Ok(TriggerResult::Continue)
    }
    fn on_processing_time(
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
    fn clear(&self, _window: &W, next: &mut Next, context: &mut TriggerContext<'_>) {
        self.interval.clear(next, context);
    }
    fn uses_processing_time(&self) -> bool {
        true
    }
    fn describe(&self) -> String {
        format!("ContinuousProcessingTimeTrigger({})", self.interval.ms())
    }
}
