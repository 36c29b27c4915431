//! Any trigger, with a timeout by the clock.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::span::Span;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Fires when another trigger does, and at the latest when `timeout` has passed since the first element behind a
/// firing.
///
/// As in Flink every timer of the other trigger fires as well, whatever that trigger makes of it. Cannot be used with
/// windows that merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessingTimeoutTrigger<G> {
    nested: G,
    timeout: Span,
    reset_timer_on_new_record: bool,
    should_clear_on_timeout: bool,
}

/// What a [`ProcessingTimeoutTrigger`] remembers of a window.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TimeoutState<S> {
    nested: S,
    timeout: Option<EventTime>,
}

impl<G> ProcessingTimeoutTrigger<G> {
    /// A timeout that starts with the first element and clears the nested trigger when it fires.
    pub fn of(nested: G, timeout: Duration) -> Self {
        let timeout = Span::new(timeout);
        ProcessingTimeoutTrigger { nested, timeout, reset_timer_on_new_record: false, should_clear_on_timeout: true }
    }
    /// Whether each element starts the timeout anew. Unless set: no.
    #[must_use]
    pub fn reset_timer_on_new_record(mut self, reset: bool) -> Self {
        self.reset_timer_on_new_record = reset;
        self
    }
    /// Whether a timer that fires also makes the nested trigger forget what it has seen. Unless set: yes.
    #[must_use]
    pub fn should_clear_on_timeout(mut self, clear: bool) -> Self {
        self.should_clear_on_timeout = clear;
        self
    }

    /// Behind a timer, of which the nested trigger says `result`.
    fn on_timer<T, W: Window>(
        &self,
        result: TriggerResult,
        window: &W,
        state: &mut TimeoutState<G::State>,
        context: &mut TriggerContext<'_>,
    ) -> TriggerResult
    where
        G: Trigger<T, W>,
    {
        if self.should_clear_on_timeout {
            self.clear(window, state, context);
        }
        if result.is_purge() { TriggerResult::FireAndPurge } else { TriggerResult::Fire }
    }
}

impl<T, W: Window, G: Trigger<T, W>> Trigger<T, W> for ProcessingTimeoutTrigger<G> {
    type State = TimeoutState<G::State>;

    fn check(&self) -> Result<()> {
        self.timeout.check("the timeout of ProcessingTimeoutTrigger")?;
        self.nested.check()
    }
    fn on_element(
        &self,
        element: &T,
        timestamp: EventTime,
        window: &W,
        state: &mut Self::State,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        let result = self.nested.on_element(element, timestamp, window, &mut state.nested, context)?;
        if result.is_fire() {
            self.clear(window, state, context);
            return Ok(result);
        }
        if self.reset_timer_on_new_record
            && let Some(time) = state.timeout.take()
        {
            context.delete_processing_time_timer(time);
        }
        if state.timeout.is_none() {
            let time = context.current_processing_time().wrapping_add(self.timeout.ms());
            state.timeout = Some(time);
            context.register_processing_time_timer(time);
        }
        Ok(result)
    }
    fn on_event_time(
        &self,
        time: EventTime,
        window: &W,
        state: &mut Self::State,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        let result = self.nested.on_event_time(time, window, &mut state.nested, context)?;
        Ok(self.on_timer(result, window, state, context))
    }
    fn on_processing_time(
        &self,
        time: EventTime,
        window: &W,
        state: &mut Self::State,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        let result = self.nested.on_processing_time(time, window, &mut state.nested, context)?;
        Ok(self.on_timer(result, window, state, context))
    }
    fn clear(&self, window: &W, state: &mut Self::State, context: &mut TriggerContext<'_>) {
        if let Some(time) = state.timeout.take() {
            context.delete_processing_time_timer(time);
        }
        self.nested.clear(window, &mut state.nested, context);
        state.nested = G::State::default();
    }
    fn uses_processing_time(&self) -> bool {
        true
    }
    fn describe(&self) -> String {
        format!("TimeoutTrigger({})", self.nested.describe())
    }
}
