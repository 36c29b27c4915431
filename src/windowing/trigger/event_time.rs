//! The default trigger of event-time windows.

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::{TimeWindow, Window};

/// Fires when the watermark reaches the end of the window, and for each element that comes behind it. The contents
/// stay. For time windows only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventTimeTrigger;

impl<T> Trigger<T, TimeWindow> for EventTimeTrigger {
    type State = ();

    fn on_element(
        &self,
        _element: &T,
        _timestamp: EventTime,
        window: &TimeWindow,
        _state: &mut (),
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        if window.max_timestamp() <= context.current_watermark() {
            return Ok(TriggerResult::Fire);
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
        // Where the end has passed, the element that merged the windows fires the result itself.
        if window.max_timestamp() > context.current_watermark() {
            context.register_event_time_timer(window.max_timestamp());
        }
        Ok(())
    }
    fn clear(&self, window: &TimeWindow, _state: &mut (), context: &mut TriggerContext<'_>) {
        context.delete_event_time_timer(window.max_timestamp());
    }
    fn is_default_event_time(&self) -> bool {
        true
    }
    fn may_leave_unfired(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        String::from("EventTimeTrigger()")
    }
}
