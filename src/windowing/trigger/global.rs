//! The default triggers of global windows.

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::{GlobalWindow, Window};

/// Never fires.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NeverTrigger;

/// Fires once, at the end of the input. For the global window only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndOfStreamTrigger;

impl<T, W: Window> Trigger<T, W> for NeverTrigger {
    type State = ();

    fn on_element(
        &self,
        _element: &T,
        _timestamp: EventTime,
        _window: &W,
        _state: &mut (),
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(TriggerResult::Continue)
    }
    fn clear(&self, _window: &W, _state: &mut (), _context: &mut TriggerContext<'_>) {}
    fn never_fires(&self) -> bool {
        true
    }
    fn describe(&self) -> String {
        String::from("NeverTrigger()")
    }
}

impl<T> Trigger<T, GlobalWindow> for EndOfStreamTrigger {
    type State = ();

    fn on_element(
        &self,
        _element: &T,
        _timestamp: EventTime,
        window: &GlobalWindow,
        _state: &mut (),
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        context.register_event_time_timer(window.max_timestamp());
        Ok(TriggerResult::Continue)
    }
    fn on_event_time(
        &self,
        time: EventTime,
        window: &GlobalWindow,
        _state: &mut (),
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(TriggerResult::fire_if(time == window.max_timestamp()))
    }
    // As in Flink the timer stays: within a trigger that clears another one, the window still fires at the end.
    fn clear(&self, _window: &GlobalWindow, _state: &mut (), _context: &mut TriggerContext<'_>) {}
    fn is_end_of_stream(&self) -> bool {
        true
    }
    fn may_leave_unfired(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        String::from("EndOfStreamTrigger()")
    }
}
