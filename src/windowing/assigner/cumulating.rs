//! Windows that start together and grow by a step up to a maximum size: those of CUMULATE in Flink SQL.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::time::{EventTime, Grid};
use crate::windowing::assigner::aligned::{Aligned, check_offset, check_timestamp, start_of};
use crate::windowing::assigner::{AssignerContext, NonMerging, WindowAssigner};
use crate::windowing::trigger::{EventTimeTrigger, ProcessingTimeTrigger};
use crate::windowing::window::TimeWindow;

/// Cumulating windows of event time. Flink has them in SQL only. Default trigger: [`EventTimeTrigger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CumulatingEventTimeWindows(Aligned);

/// Cumulating windows of processing time: by the clock at which the element comes. Default trigger:
/// [`ProcessingTimeTrigger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CumulatingProcessingTimeWindows(Aligned);

impl CumulatingEventTimeWindows {
    /// Windows that start at multiples of `size` and are one `step`, two, … and at last `size` long. The size must be
    /// a multiple of the step.
    pub fn of(size: Duration, step: Duration) -> Self {
        CumulatingEventTimeWindows(Aligned::new(size, step))
    }
    /// Moves all windows by `offset_ms` milliseconds, less than the size in either direction.
    #[must_use]
    pub fn with_offset_ms(mut self, offset_ms: i64) -> Self {
        self.0.offset_ms = offset_ms;
        self
    }
}

impl CumulatingProcessingTimeWindows {
    /// As [`CumulatingEventTimeWindows::of`].
    pub fn of(size: Duration, step: Duration) -> Self {
        CumulatingProcessingTimeWindows(Aligned::new(size, step))
    }
    /// As [`CumulatingEventTimeWindows::with_offset_ms`].
    #[must_use]
    pub fn with_offset_ms(mut self, offset_ms: i64) -> Self {
        self.0.offset_ms = offset_ms;
        self
    }
}

fn check(aligned: &Aligned, assigner: &str) -> Result<()> {
    let (size, step) = (aligned.size.ms(), aligned.step.ms());
    aligned.size.check_positive(&format!("the size of {assigner}"))?;
    aligned.step.check_positive(&format!("the step of {assigner}"))?;
    if size % step != 0 {
        let message =
            format!("the size of {assigner} must be a multiple of the step, but {size} ms is none of {step} ms");
        return Err(Error::usage(message).help("mind the order, size before step; choose a step that divides the size"));
    }
    aligned.check_windows(assigner, "step")?;
    check_offset(assigner, aligned.offset_ms, "size", size)
}

/// Appends the windows that hold `time`, the shortest first.
fn assign(aligned: &Aligned, time: EventTime, windows: &mut Vec<TimeWindow>) {
    let (size, step) = (aligned.size.ms(), aligned.step.ms());
    let start = start_of(time, aligned.offset_ms, size);
    // How many steps into its window of full size the time is.
    let steps = time.wrapping_sub(start) / step;
    windows.extend((steps + 1..=size / step).map(|steps| TimeWindow::new(start, start.wrapping_add(steps * step))));
}

fn describe(aligned: &Aligned, assigner: &str) -> String {
    format!("{assigner}({}, {}{})", aligned.size.ms(), aligned.step.ms(), aligned.offset_text())
}

impl<T> WindowAssigner<T> for CumulatingEventTimeWindows {
    type Window = TimeWindow;
    type DefaultTrigger = EventTimeTrigger;

    fn check(&self) -> Result<()> {
        check(&self.0, "CumulatingEventTimeWindows")
    }
    fn assign_windows(
        &self,
        _element: &T,
        timestamp: EventTime,
        _context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        check_timestamp(timestamp)?;
        assign(&self.0, timestamp, windows);
        Ok(())
    }
    fn default_trigger(&self) -> EventTimeTrigger {
        EventTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        true
    }
    fn grid(&self) -> Option<Grid> {
        let (size, step) = (self.0.size.ms(), self.0.step.ms());
        check(&self.0, "").is_ok().then(|| Grid::cumulating(size, step, self.0.offset_ms))
    }
    fn describe(&self) -> String {
        describe(&self.0, "CumulatingEventTimeWindows")
    }
}

impl<T> WindowAssigner<T> for CumulatingProcessingTimeWindows {
    type Window = TimeWindow;
    type DefaultTrigger = ProcessingTimeTrigger;

    fn check(&self) -> Result<()> {
        check(&self.0, "CumulatingProcessingTimeWindows")
    }
    fn assign_windows(
        &self,
        _element: &T,
        _timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        assign(&self.0, context.processing_time, windows);
        Ok(())
    }
    fn default_trigger(&self) -> ProcessingTimeTrigger {
        ProcessingTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        describe(&self.0, "CumulatingProcessingTimeWindows")
    }
}

impl NonMerging for CumulatingEventTimeWindows {}
impl NonMerging for CumulatingProcessingTimeWindows {}
