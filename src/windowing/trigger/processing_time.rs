//! The default trigger of processing-time windows.

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::{TimeWindow, Window};

/// Fires when the clock reaches the end of the window. The contents stay. For time windows only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessingTimeTrigger;

impl<T> Trigger<T, TimeWindow> for ProcessingTimeTrigger {
    type State = ();

    fn on_element(
        &self,
        _element: &T,
        _timestamp: EventTime,
        window: &TimeWindow,
        _state: &mut (),
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        context.register_processing_time_timer(window.max_timestamp());
        Ok(TriggerResult::Continue)
    }
    fn on_processing_time(
        &self,
        _time: EventTime,
        _window: &TimeWindow,
        _state: &mut (),
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(TriggerResult::Fire)
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
        if window.max_timestamp() > context.current_processing_time() {
            context.register_processing_time_timer(window.max_timestamp());
        }
        Ok(())
    }
    fn clear(&self, window: &TimeWindow, _state: &mut (), context: &mut TriggerContext<'_>) {
        context.delete_processing_time_timer(window.max_timestamp());
    }
    fn may_leave_unfired(&self) -> bool {
        false
    }
    fn uses_processing_time(&self) -> bool {
        true
    }
    fn describe(&self) -> String {
        String::from("ProcessingTimeTrigger()")
    }
}
