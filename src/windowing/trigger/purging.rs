//! Any trigger, with its firings emptying the window.

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Turns every firing of another trigger into one that drops the contents afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PurgingTrigger<G>(G);

impl<G> PurgingTrigger<G> {
    /// `nested` decides when.
    pub fn of(nested: G) -> Self {
        PurgingTrigger(nested)
    }
}

fn purging(result: TriggerResult) -> TriggerResult {
    if result.is_fire() { TriggerResult::FireAndPurge } else { result }
}

impl<T, W: Window, G: Trigger<T, W>> Trigger<T, W> for PurgingTrigger<G> {
    type State = G::State;

    fn check(&self) -> Result<()> {
        self.0.check()
    }
    fn on_element(
        &self,
        element: &T,
        timestamp: EventTime,
        window: &W,
        state: &mut G::State,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        self.0.on_element(element, timestamp, window, state, context).map(purging)
    }
    fn on_event_time(
        &self,
        time: EventTime,
        window: &W,
        state: &mut G::State,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        self.0.on_event_time(time, window, state, context).map(purging)
    }
    fn on_processing_time(
        &self,
        time: EventTime,
        window: &W,
        state: &mut G::State,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        self.0.on_processing_time(time, window, state, context).map(purging)
    }
    fn can_merge(&self) -> bool {
        self.0.can_merge()
    }
    fn on_merge(
        &self,
        window: &W,
        state: &mut G::State,
        merged: Vec<G::State>,
        context: &mut TriggerContext<'_>,
    ) -> Result<()> {
        self.0.on_merge(window, state, merged, context)
    }
    fn clear(&self, window: &W, state: &mut G::State, context: &mut TriggerContext<'_>) {
        self.0.clear(window, state, context);
    }
    fn may_leave_unfired(&self) -> bool {
        self.0.may_leave_unfired()
    }
    fn uses_processing_time(&self) -> bool {
        self.0.uses_processing_time()
    }
    fn describe(&self) -> String {
        format!("PurgingTrigger({})", self.0.describe())
    }
}
