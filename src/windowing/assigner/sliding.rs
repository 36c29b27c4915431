//! Windows of one size that start every slide: they overlap where the slide is smaller, and leave gaps where it is
//! larger.

use std::time::Duration;

use crate::error::Result;
use crate::time::{EventTime, Grid};
use crate::windowing::assigner::aligned::{Aligned, check_timestamp};
use crate::windowing::assigner::{AssignerContext, NonMerging, WindowAssigner};
use crate::windowing::trigger::{EventTimeTrigger, ProcessingTimeTrigger};
use crate::windowing::window::TimeWindow;

/// Sliding windows of event time. Default trigger: [`EventTimeTrigger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlidingEventTimeWindows(Aligned);

/// Sliding windows of processing time: by the clock at which the element comes. Default trigger:
/// [`ProcessingTimeTrigger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlidingProcessingTimeWindows(Aligned);

impl SlidingEventTimeWindows {
    /// Windows of `size` that start at multiples of `slide`, both at least 1 ms.
    pub fn of(size: Duration, slide: Duration) -> Self {
        SlidingEventTimeWindows(Aligned::new(size, slide))
    }
    /// Moves all windows by `offset_ms` milliseconds, less than the slide in either direction.
    #[must_use]
    pub fn with_offset_ms(mut self, offset_ms: i64) -> Self {
        self.0.offset_ms = offset_ms;
        self
    }
}

impl SlidingProcessingTimeWindows {
    /// As [`SlidingEventTimeWindows::of`].
    pub fn of(size: Duration, slide: Duration) -> Self {
        SlidingProcessingTimeWindows(Aligned::new(size, slide))
    }
    /// As [`SlidingEventTimeWindows::with_offset_ms`].
    #[must_use]
    pub fn with_offset_ms(mut self, offset_ms: i64) -> Self {
        self.0.offset_ms = offset_ms;
        self
    }
}

fn check(aligned: &Aligned, assigner: &str) -> Result<()> {
    aligned.check(assigner, "slide")?;
    aligned.check_windows(assigner, "slide")
}

fn describe(aligned: &Aligned, assigner: &str) -> String {
    format!("{assigner}({}, {}{})", aligned.size.ms(), aligned.step.ms(), aligned.offset_text())
}

impl<T> WindowAssigner<T> for SlidingEventTimeWindows {
    type Window = TimeWindow;
    type DefaultTrigger = EventTimeTrigger;

    fn check(&self) -> Result<()> {
        check(&self.0, "SlidingEventTimeWindows")
    }
    fn assign_windows(
        &self,
        _element: &T,
        timestamp: EventTime,
        _context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        check_timestamp(timestamp)?;
        self.0.assign(timestamp, windows);
        Ok(())
    }
    fn default_trigger(&self) -> EventTimeTrigger {
        EventTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        true
    }
    fn grid(&self) -> Option<Grid> {
        let (size, slide) = (self.0.size.ms(), self.0.step.ms());
        (size > 0 && slide > 0).then(|| Grid::sliding(size, slide, self.0.offset_ms))
    }
    fn describe(&self) -> String {
        describe(&self.0, "SlidingEventTimeWindows")
    }
}

impl<T> WindowAssigner<T> for SlidingProcessingTimeWindows {
    type Window = TimeWindow;
    type DefaultTrigger = ProcessingTimeTrigger;

    fn check(&self) -> Result<()> {
        check(&self.0, "SlidingProcessingTimeWindows")
    }
    fn assign_windows(
        &self,
        _element: &T,
        _timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        self.0.assign(context.processing_time, windows);
        Ok(())
    }
    fn default_trigger(&self) -> ProcessingTimeTrigger {
        ProcessingTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        describe(&self.0, "SlidingProcessingTimeWindows")
    }
}

impl NonMerging for SlidingEventTimeWindows {}
impl NonMerging for SlidingProcessingTimeWindows {}
