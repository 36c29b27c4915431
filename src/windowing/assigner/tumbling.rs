//! Windows of one size that neither overlap nor leave gaps.

use std::time::Duration;

use crate::error::Result;
use crate::time::{EventTime, Grid};
use crate::windowing::assigner::aligned::{Aligned, check_timestamp};
use crate::windowing::assigner::{AssignerContext, NonMerging, WindowAssigner};
use crate::windowing::trigger::{EventTimeTrigger, ProcessingTimeTrigger};
use crate::windowing::window::TimeWindow;

/// Tumbling windows of event time. Default trigger: [`EventTimeTrigger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TumblingEventTimeWindows(Aligned);

/// Tumbling windows of processing time: by the clock at which the element comes. Default trigger:
/// [`ProcessingTimeTrigger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TumblingProcessingTimeWindows(Aligned);

impl TumblingEventTimeWindows {
    /// Windows of `size`, at least 1 ms, that start at multiples of it.
    pub fn of(size: Duration) -> Self {
        TumblingEventTimeWindows(Aligned::new(size, size))
    }
    /// Moves all windows by `offset_ms` milliseconds, less than the size in either direction: days of UTC+8 are
    /// windows of 24 hours with an offset of -8 hours.
    #[must_use]
    pub fn with_offset_ms(mut self, offset_ms: i64) -> Self {
        self.0.offset_ms = offset_ms;
        self
    }
}

impl TumblingProcessingTimeWindows {
    /// As [`TumblingEventTimeWindows::of`].
    pub fn of(size: Duration) -> Self {
        TumblingProcessingTimeWindows(Aligned::new(size, size))
    }
    /// As [`TumblingEventTimeWindows::with_offset_ms`].
    #[must_use]
    pub fn with_offset_ms(mut self, offset_ms: i64) -> Self {
        self.0.offset_ms = offset_ms;
        self
    }
}

impl<T> WindowAssigner<T> for TumblingEventTimeWindows {
    type Window = TimeWindow;
    type DefaultTrigger = EventTimeTrigger;

    fn check(&self) -> Result<()> {
        self.0.check("TumblingEventTimeWindows", "size")
    }
    fn assign_windows(
        &self,
        _element: &T,
        timestamp: EventTime,
        _context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        check_timestamp(timestamp)?;
        self.0.assign_one(timestamp, windows);
        Ok(())
    }
    fn default_trigger(&self) -> EventTimeTrigger {
        EventTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        true
    }
    fn grid(&self) -> Option<Grid> {
        let size = self.0.size.ms();
        (size > 0).then(|| Grid::sliding(size, size, self.0.offset_ms))
    }
    fn describe(&self) -> String {
        format!("TumblingEventTimeWindows({}{})", self.0.size.ms(), self.0.offset_text())
    }
}

impl<T> WindowAssigner<T> for TumblingProcessingTimeWindows {
    type Window = TimeWindow;
    type DefaultTrigger = ProcessingTimeTrigger;

    fn check(&self) -> Result<()> {
        self.0.check("TumblingProcessingTimeWindows", "size")
    }
    fn assign_windows(
        &self,
        _element: &T,
        _timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        self.0.assign_one(context.processing_time, windows);
        Ok(())
    }
    fn default_trigger(&self) -> ProcessingTimeTrigger {
        ProcessingTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        format!("TumblingProcessingTimeWindows({}{})", self.0.size.ms(), self.0.offset_text())
    }
}

impl NonMerging for TumblingEventTimeWindows {}
impl NonMerging for TumblingProcessingTimeWindows {}
