//! Early results by the number of elements.

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::trigger::{Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Fires whenever `every` elements have come since the last early firing, and at the end of the window. The contents
/// stay, so each result is that of all elements so far.
///
/// An element behind the end, within the allowed lateness, fires with the next watermark, unless it fills the count.
/// Flink has no such trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlyCountTrigger {
    every: u64,
    purges: bool,
}

impl EarlyCountTrigger {
    /// 0 and 1 fire for every element.
    pub fn of(every: u64) -> Self {
        EarlyCountTrigger { every, purges: false }
    }
    /// The firing at the end drops the contents: a late element is then alone in its result.
    #[must_use]
    pub fn purging(mut self) -> Self {
        self.purges = true;
        self
    }
}

impl<T, W: Window> Trigger<T, W> for EarlyCountTrigger {
    /// Elements since the last early firing.
    type State = u64;

    fn on_element(
        &self,
        _element: &T,
        _timestamp: EventTime,
        window: &W,
        count: &mut u64,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        context.register_event_time_timer(window.max_timestamp());
        *count += 1;
        let full = *count >= self.every;
        if full {
            *count = 0;
        }
        Ok(TriggerResult::fire_if(full))
    }
    fn on_event_time(
        &self,
        time: EventTime,
        window: &W,
        _count: &mut u64,
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        let ended = time == window.max_timestamp();
        Ok(if ended && self.purges { TriggerResult::FireAndPurge } else { TriggerResult::fire_if(ended) })
    }
    fn can_merge(&self) -> bool {
        true
    }
    fn on_merge(&self, window: &W, count: &mut u64, merged: Vec<u64>, context: &mut TriggerContext<'_>) -> Result<()> {
        *count += merged.iter().sum::<u64>();
        context.register_event_time_timer(window.max_timestamp());
        Ok(())
    }
    fn clear(&self, window: &W, count: &mut u64, context: &mut TriggerContext<'_>) {
        context.delete_event_time_timer(window.max_timestamp());
        *count = 0;
    }
    fn may_leave_unfired(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        format!("EarlyCountTrigger({}{})", self.every, if self.purges { ", purging" } else { "" })
    }
}
