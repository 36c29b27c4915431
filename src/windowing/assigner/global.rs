//! One window for all elements of a key.

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::assigner::{AssignerContext, NonMerging, WindowAssigner};
use crate::windowing::trigger::{EndOfStreamTrigger, NeverTrigger, Trigger};
use crate::windowing::window::GlobalWindow;

/// Puts all elements of a key into one window, which fires when its trigger says so. `D`: the default trigger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GlobalWindows<D = NeverTrigger>(D);

impl GlobalWindows<NeverTrigger> {
    /// The window never fires by itself: give it a trigger.
    pub fn create() -> Self {
        GlobalWindows(NeverTrigger)
    }
    /// The window fires once, at the end of the input.
    pub fn create_with_end_of_stream_trigger() -> GlobalWindows<EndOfStreamTrigger> {
        GlobalWindows(EndOfStreamTrigger)
    }
}

impl<T, D: Trigger<T, GlobalWindow>> WindowAssigner<T> for GlobalWindows<D> {
    type Window = GlobalWindow;
    type DefaultTrigger = D;

    fn assign_windows(
        &self,
        _element: &T,
        _timestamp: EventTime,
        _context: &AssignerContext,
        windows: &mut Vec<GlobalWindow>,
    ) -> Result<()> {
        windows.push(GlobalWindow);
        Ok(())
    }
    fn default_trigger(&self) -> D {
        self.0.clone()
    }
    fn is_event_time(&self) -> bool {
        false
    }
    fn uses_processing_time(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        format!("GlobalWindows(trigger={})", self.0.describe().trim_end_matches("()"))
    }
}

impl<D> NonMerging for GlobalWindows<D> {}
