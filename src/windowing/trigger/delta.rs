//! Firing when elements have changed enough.

use std::fmt;

use crate::error::{Error, Result};
use crate::time::EventTime;
use crate::windowing::StateData;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Fires when an element differs from the one of the last firing (at first: from the first element) by more than a
/// threshold. The contents stay. It cannot be used with windows that merge.
#[derive(Clone, Copy)]
pub struct DeltaTrigger<F> {
    threshold: f64,
    delta: F,
}

impl<F> DeltaTrigger<F> {
    /// `delta(older, newer)` says by how much two elements differ. Not a number never fires.
    pub fn of<T>(threshold: f64, delta: F) -> Self
    where
        F: Fn(&T, &T) -> f64 + Clone + Send + Sync + 'static,
    {
        DeltaTrigger { threshold, delta }
    }
}

impl<F> fmt::Debug for DeltaTrigger<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeltaTrigger({:?})", self.threshold)
    }
}

impl<T, W, F> Trigger<T, W> for DeltaTrigger<F>
where
    T: StateData,
    W: Window,
    F: Fn(&T, &T) -> f64 + Clone + Send + Sync + 'static,
{
    /// The element of the last firing.
    type State = Option<T>;

    fn check(&self) -> Result<()> {
        if self.threshold.is_nan() {
            return Err(Error::usage("the threshold of DeltaTrigger is not a number").help("give a number"));
        }
        Ok(())
    }
    fn on_element(
        &self,
        element: &T,
        _timestamp: EventTime,
        _window: &W,
        last: &mut Option<T>,
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        let fires = last.as_ref().map(|last| (self.delta)(last, element) > self.threshold);
        if fires.unwrap_or(true) {
            *last = Some(element.clone());
        }
        Ok(TriggerResult::fire_if(fires.unwrap_or(false)))
    }
    fn clear(&self, _window: &W, last: &mut Option<T>, _context: &mut TriggerContext<'_>) {
        *last = None;
    }
    fn describe(&self) -> String {
        format!("DeltaTrigger({:?})", self.threshold)
    }
}
