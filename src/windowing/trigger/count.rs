//! Firing by the number of elements.

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Fires whenever `max_count` elements have come since the last firing; the contents stay. It takes the place of the
/// firing at the end of a window: what has come since the last firing is dropped with the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountTrigger {
    max_count: u64,
}

impl CountTrigger {
    /// 0 and 1 fire for every element.
    pub fn of(max_count: u64) -> Self {
        CountTrigger { max_count }
    }
}

impl<T, W: Window> Trigger<T, W> for CountTrigger {
    /// Elements since the last firing.
    type State = u64;

    fn on_element(
        &self,
        _element: &T,
        _timestamp: EventTime,
        _window: &W,
        count: &mut u64,
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        *count += 1;
        let full = *count >= self.max_count;
        if full {
            *count = 0;
        }
        Ok(TriggerResult::fire_if(full))
    }
    fn can_merge(&self) -> bool {
        true
    }
    fn on_merge(
        &self,
        _window: &W,
        count: &mut u64,
        merged: Vec<u64>,
        _context: &mut TriggerContext<'_>,
    ) -> Result<()> {
        *count += merged.iter().sum::<u64>();
        Ok(())
    }
    fn clear(&self, _window: &W, count: &mut u64, _context: &mut TriggerContext<'_>) {
        *count = 0;
    }
    fn describe(&self) -> String {
        format!("CountTrigger({})", self.max_count)
    }
}
