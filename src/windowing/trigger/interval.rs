//! Firing at regular intervals of one kind of time: what the continuous triggers share.

use std::time::Duration;

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::span::Span;
use crate::windowing::trigger::{TimeDomain, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// The time of the next firing, if one is to come.
pub(super) type Next = Option<EventTime>;

/// An interval of the watermark or of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    span: Span,
    domain: TimeDomain,
}

impl Interval {
    pub fn new(interval: Duration, domain: TimeDomain) -> Self {
        Interval { span: Span::new(interval), domain }
    }
    pub fn ms(&self) -> i64 {
        self.span.ms()
    }
    pub fn check(&self, trigger: &str) -> Result<()> {
        self.span.check_positive(&format!("the interval of {trigger}"))
    }

    /// Begins with the first multiple of the interval behind `time`, where nothing is to come yet. Before 1970 it rounds
    /// towards it, as Flink does.
    pub fn begin<W: Window>(&self, time: EventTime, window: &W, next: &mut Next, context: &mut TriggerContext<'_>) {
        if next.is_none() {
            self.register(time - time % self.ms(), window, next, context);
        }
    }

    /// A timer of this kind of time: fires at the end of the window, and when the next firing was due.
    pub fn on_timer<W: Window>(
        &self,
        time: EventTime,
        window: &W,
        next: &mut Next,
        context: &mut TriggerContext<'_>,
    ) -> TriggerResult {
        if time == window.max_timestamp() {
            return TriggerResult::Fire;
        }
        let due = *next == Some(time);
        if due {
            self.register(time, window, next, context);
        }
        TriggerResult::fire_if(due)
    }

    /// The first of the firings of windows that became one.
    pub fn merge(&self, next: &mut Next, merged: Vec<Next>, context: &mut TriggerContext<'_>) {
        *next = merged.into_iter().chain([*next]).flatten().min();
        if let Some(time) = *next {
            context.register_timer(self.domain, time);
        }
    }

    pub fn clear(&self, next: &mut Next, context: &mut TriggerContext<'_>) {
        if let Some(time) = next.take() {
            context.delete_timer(self.domain, time);
        }
    }

    /// The timer one interval behind `start`, or at the end of the window where that comes first.
    fn register<W: Window>(&self, start: EventTime, window: &W, next: &mut Next, context: &mut TriggerContext<'_>) {
        // Flink's sum wraps around: near the end of time it would begin at the other end and fire for ever.
        let time = start.saturating_add(self.ms()).min(window.max_timestamp());
        *next = Some(time);
        context.register_timer(self.domain, time);
    }
}
