//! The two kinds of time that windows go by.

use std::fmt::Debug;

use crate::time::EventTime;
use crate::windowing::assigner::AssignerContext;
use crate::windowing::trigger::{EventTimeTrigger, ProcessingTimeTrigger};

/// Event time or processing time, as a type: what windows of the one and of the other differ in.
pub trait TimeKind: Debug + Clone + Copy + PartialEq + Eq + Send + Sync + 'static {
    /// The default trigger of such windows.
    type Trigger: Default;
    /// Within the name of an assigner.
    const NAME: &'static str;
    const IS_EVENT_TIME: bool;
    /// The time that decides where an element belongs, in milliseconds.
    fn time_of(timestamp: EventTime, context: &AssignerContext) -> EventTime;
}

/// The timestamp of the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfEventTime;

/// The clock at which the element comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfProcessingTime;

impl TimeKind for OfEventTime {
    type Trigger = EventTimeTrigger;
    const NAME: &'static str = "EventTime";
    const IS_EVENT_TIME: bool = true;
    fn time_of(timestamp: EventTime, _context: &AssignerContext) -> EventTime {
        timestamp
    }
}

impl TimeKind for OfProcessingTime {
    type Trigger = ProcessingTimeTrigger;
    const NAME: &'static str = "ProcessingTime";
    const IS_EVENT_TIME: bool = false;
    fn time_of(_timestamp: EventTime, context: &AssignerContext) -> EventTime {
        context.processing_time
    }
}
