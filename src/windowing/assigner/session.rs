//! Sessions: windows of one key that last as long as elements are never further apart than a gap.

use std::marker::PhantomData;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::time::EventTime;
use crate::windowing::assigner::merge::merge_time_windows;
use crate::windowing::assigner::{
    AssignerContext, MergeWindows, OfEventTime, OfProcessingTime, TimeKind, WindowAssigner,
};
use crate::windowing::span::Span;
use crate::windowing::trigger::Trigger;
use crate::windowing::window::TimeWindow;

/// Sessions of one kind of time, with the same gap for all elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionWindows<D>(Span, PhantomData<D>);

/// Sessions of one kind of time whose gap follows from the element.
#[derive(Debug, Clone, Copy)]
pub struct DynamicSessionWindows<F, D>(F, PhantomData<D>);

/// Sessions of event time with the same gap for all elements. Default trigger:
/// [`EventTimeTrigger`](crate::windowing::trigger::EventTimeTrigger).
///
/// As in Flink, an element without timestamp is no fault here: it is in the session at the begin of time.
pub type EventTimeSessionWindows = SessionWindows<OfEventTime>;

/// Sessions of processing time with the same gap for all elements. Default trigger:
/// [`ProcessingTimeTrigger`](crate::windowing::trigger::ProcessingTimeTrigger).
pub type ProcessingTimeSessionWindows = SessionWindows<OfProcessingTime>;

/// Sessions of event time whose gap follows from the element; made by [`EventTimeSessionWindows::with_dynamic_gap`].
pub type DynamicEventTimeSessionWindows<F> = DynamicSessionWindows<F, OfEventTime>;

/// Sessions of processing time whose gap follows from the element; made by
/// [`ProcessingTimeSessionWindows::with_dynamic_gap`].
pub type DynamicProcessingTimeSessionWindows<F> = DynamicSessionWindows<F, OfProcessingTime>;

impl<D> SessionWindows<D> {
    /// An element at `t` is in the session from `t` to `t + gap`; the gap is at least 1 ms. Sessions that overlap or
    /// touch are one.
    pub fn with_gap(gap: Duration) -> Self {
        SessionWindows(Span::new(gap), PhantomData)
    }
    /// `gap` gives the gap of an element in milliseconds; the job fails where that is below 1.
    pub fn with_dynamic_gap<T, F>(gap: F) -> DynamicSessionWindows<F, D>
    where
        F: Fn(&T) -> i64 + Clone + Send + Sync + 'static,
    {
        DynamicSessionWindows(gap, PhantomData)
    }
}

#[inline]
fn session(time: EventTime, gap_ms: i64) -> TimeWindow {
    TimeWindow::new(time, time.wrapping_add(gap_ms))
}

#[cold]
fn bad_gap(time: EventTime, gap_ms: i64) -> Error {
    let message = format!("the gap of a session must be positive, but that of the element at {time} is {gap_ms} ms");
    Error::data(message).help("let the function return at least 1, or filter such elements out before the windows")
}

impl<T, D> WindowAssigner<T> for SessionWindows<D>
where
    D: TimeKind,
    D::Trigger: Trigger<T, TimeWindow>,
{
    type Window = TimeWindow;
    type DefaultTrigger = D::Trigger;

    fn check(&self) -> Result<()> {
        self.0.check_positive(&format!("the gap of {}SessionWindows", D::NAME))
    }
    fn assign_windows(
        &self,
        _element: &T,
        timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        windows.push(session(D::time_of(timestamp, context), self.0.ms()));
        Ok(())
    }
    fn default_trigger(&self) -> D::Trigger {
        D::Trigger::default()
    }
    fn is_event_time(&self) -> bool {
        D::IS_EVENT_TIME
    }
    fn merging(&self) -> Option<MergeWindows<TimeWindow>> {
        Some(merge_time_windows)
    }
    fn is_session(&self) -> bool {
        D::IS_EVENT_TIME
    }
    fn session_gap(&self) -> Option<i64> {
        D::IS_EVENT_TIME.then(|| self.0.ms())
    }
    fn describe(&self) -> String {
        format!("{}SessionWindows({})", D::NAME, self.0.ms())
    }
}

impl<T, F, D> WindowAssigner<T> for DynamicSessionWindows<F, D>
where
    F: Fn(&T) -> i64 + Clone + Send + Sync + 'static,
    D: TimeKind,
    D::Trigger: Trigger<T, TimeWindow>,
{
    type Window = TimeWindow;
    type DefaultTrigger = D::Trigger;

    fn assign_windows(
        &self,
        element: &T,
        timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        let (time, gap_ms) = (D::time_of(timestamp, context), (self.0)(element));
        if gap_ms <= 0 {
            return Err(bad_gap(time, gap_ms));
        }
        windows.push(session(time, gap_ms));
        Ok(())
    }
    fn default_trigger(&self) -> D::Trigger {
        D::Trigger::default()
    }
    fn is_event_time(&self) -> bool {
        D::IS_EVENT_TIME
    }
    fn merging(&self) -> Option<MergeWindows<TimeWindow>> {
        Some(merge_time_windows)
    }
    fn is_session(&self) -> bool {
        D::IS_EVENT_TIME
    }
    fn describe(&self) -> String {
        format!("Dynamic{}SessionWindows()", D::NAME)
    }
}
