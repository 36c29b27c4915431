//! Sessions: windows of one key that last as long as elements are never further apart than a gap.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::time::EventTime;
use crate::windowing::assigner::merge::merge_time_windows;
use crate::windowing::assigner::{AssignerContext, MergeWindows, WindowAssigner};
use crate::windowing::span::Span;
use crate::windowing::trigger::{EventTimeTrigger, ProcessingTimeTrigger};
use crate::windowing::window::TimeWindow;

/// Sessions of event time with the same gap for all elements. Default trigger: [`EventTimeTrigger`].
///
/// As in Flink, an element without timestamp is no fault here: it is in the session at the begin of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTimeSessionWindows(Span);

/// Sessions of processing time with the same gap for all elements. Default trigger: [`ProcessingTimeTrigger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessingTimeSessionWindows(Span);

/// Sessions of event time whose gap follows from the element; made by [`EventTimeSessionWindows::with_dynamic_gap`].
#[derive(Debug, Clone, Copy)]
pub struct DynamicEventTimeSessionWindows<F>(F);

/// Sessions of processing time whose gap follows from the element; made by
/// [`ProcessingTimeSessionWindows::with_dynamic_gap`].
#[derive(Debug, Clone, Copy)]
pub struct DynamicProcessingTimeSessionWindows<F>(F);

impl EventTimeSessionWindows {
    /// An element at `t` is in the session from `t` to `t + gap`; the gap is at least 1 ms. Sessions that overlap or
    /// touch are one.
    pub fn with_gap(gap: Duration) -> Self {
        EventTimeSessionWindows(Span::new(gap))
    }
    /// `gap` gives the gap of an element in milliseconds; the job fails where that is below 1.
    pub fn with_dynamic_gap<T, F>(gap: F) -> DynamicEventTimeSessionWindows<F>
    where
        F: Fn(&T) -> i64 + Clone + Send + Sync + 'static,
    {
        DynamicEventTimeSessionWindows(gap)
    }
}

impl ProcessingTimeSessionWindows {
    /// As [`EventTimeSessionWindows::with_gap`].
    pub fn with_gap(gap: Duration) -> Self {
        ProcessingTimeSessionWindows(Span::new(gap))
    }
    /// As [`EventTimeSessionWindows::with_dynamic_gap`].
    pub fn with_dynamic_gap<T, F>(gap: F) -> DynamicProcessingTimeSessionWindows<F>
    where
        F: Fn(&T) -> i64 + Clone + Send + Sync + 'static,
    {
        DynamicProcessingTimeSessionWindows(gap)
    }
}

#[inline]
fn session(time: EventTime, gap_ms: i64) -> TimeWindow {
    TimeWindow::new(time, time.wrapping_add(gap_ms))
}

#[inline]
fn dynamic_session(time: EventTime, gap_ms: i64) -> Result<TimeWindow> {
    if gap_ms > 0 { Ok(session(time, gap_ms)) } else { Err(bad_gap(time, gap_ms)) }
}

#[cold]
fn bad_gap(time: EventTime, gap_ms: i64) -> Error {
    let message = format!("the gap of a session must be positive, but that of the element at {time} is {gap_ms} ms");
    Error::data(message).help("let the function return at least 1, or filter such elements out before the windows")
}

impl<T> WindowAssigner<T> for EventTimeSessionWindows {
    type Window = TimeWindow;
    type DefaultTrigger = EventTimeTrigger;

    fn check(&self) -> Result<()> {
        self.0.check_positive("the gap of EventTimeSessionWindows")
    }
    fn assign_windows(
        &self,
        _element: &T,
        timestamp: EventTime,
        _context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        windows.push(session(timestamp, self.0.ms()));
        Ok(())
    }
    fn default_trigger(&self) -> EventTimeTrigger {
        EventTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        true
    }
    fn merging(&self) -> Option<MergeWindows<TimeWindow>> {
        Some(merge_time_windows)
    }
    fn is_session(&self) -> bool {
        true
    }
    fn session_gap(&self) -> Option<i64> {
        Some(self.0.ms())
    }
    fn describe(&self) -> String {
        format!("EventTimeSessionWindows({})", self.0.ms())
    }
}

impl<T> WindowAssigner<T> for ProcessingTimeSessionWindows {
    type Window = TimeWindow;
    type DefaultTrigger = ProcessingTimeTrigger;

    fn check(&self) -> Result<()> {
        self.0.check_positive("the gap of ProcessingTimeSessionWindows")
    }
    fn assign_windows(
        &self,
        _element: &T,
        _timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        windows.push(session(context.processing_time, self.0.ms()));
        Ok(())
    }
    fn default_trigger(&self) -> ProcessingTimeTrigger {
        ProcessingTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        false
    }
    fn merging(&self) -> Option<MergeWindows<TimeWindow>> {
        Some(merge_time_windows)
    }
    fn describe(&self) -> String {
        format!("ProcessingTimeSessionWindows({})", self.0.ms())
    }
}

impl<T, F> WindowAssigner<T> for DynamicEventTimeSessionWindows<F>
where
    F: Fn(&T) -> i64 + Clone + Send + Sync + 'static,
{
    type Window = TimeWindow;
    type DefaultTrigger = EventTimeTrigger;

    fn assign_windows(
        &self,
        element: &T,
        timestamp: EventTime,
        _context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        windows.push(dynamic_session(timestamp, (self.0)(element))?);
        Ok(())
    }
    fn default_trigger(&self) -> EventTimeTrigger {
        EventTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        true
    }
    fn merging(&self) -> Option<MergeWindows<TimeWindow>> {
        Some(merge_time_windows)
    }
    fn is_session(&self) -> bool {
        true
    }
    fn describe(&self) -> String {
        String::from("DynamicEventTimeSessionWindows()")
    }
}

impl<T, F> WindowAssigner<T> for DynamicProcessingTimeSessionWindows<F>
where
    F: Fn(&T) -> i64 + Clone + Send + Sync + 'static,
{
    type Window = TimeWindow;
    type DefaultTrigger = ProcessingTimeTrigger;

    fn assign_windows(
        &self,
        element: &T,
        _timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        windows.push(dynamic_session(context.processing_time, (self.0)(element))?);
        Ok(())
    }
    fn default_trigger(&self) -> ProcessingTimeTrigger {
        ProcessingTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        false
    }
    fn merging(&self) -> Option<MergeWindows<TimeWindow>> {
        Some(merge_time_windows)
    }
    fn describe(&self) -> String {
        String::from("DynamicProcessingTimeSessionWindows()")
    }
}
