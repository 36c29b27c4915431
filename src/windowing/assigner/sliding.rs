//! Windows of one size that start every slide: they overlap where the slide is smaller, and leave gaps where it is
//! larger.

use std::marker::PhantomData;
use std::time::Duration;

use crate::error::Result;
use crate::time::{EventTime, Grid};
use crate::windowing::assigner::aligned::{Aligned, checked_time};
use crate::windowing::assigner::{
    AssignerContext, NonMerging, OfEventTime, OfProcessingTime, TimeKind, WindowAssigner,
};
use crate::windowing::trigger::Trigger;
use crate::windowing::window::TimeWindow;

/// Sliding windows of one kind of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlidingWindows<D>(Aligned, PhantomData<D>);

/// Sliding windows of event time. Default trigger: [`EventTimeTrigger`](crate::windowing::trigger::EventTimeTrigger).
pub type SlidingEventTimeWindows = SlidingWindows<OfEventTime>;

/// Sliding windows of processing time: by the clock at which the element comes. Default trigger:
/// [`ProcessingTimeTrigger`](crate::windowing::trigger::ProcessingTimeTrigger).
pub type SlidingProcessingTimeWindows = SlidingWindows<OfProcessingTime>;

impl<D> SlidingWindows<D> {
    /// Windows of `size` that start at multiples of `slide`, both at least 1 ms.
    pub fn of(size: Duration, slide: Duration) -> Self {
        SlidingWindows(Aligned::new(size, slide), PhantomData)
    }
    /// Moves all windows by `offset_ms` milliseconds, less than the slide in either direction.
    #[must_use]
    pub fn with_offset_ms(mut self, offset_ms: i64) -> Self {
        self.0.offset_ms = offset_ms;
        self
    }
}

impl<D: TimeKind> SlidingWindows<D> {
    fn name() -> String {
        format!("Sliding{}Windows", D::NAME)
    }
}

impl<T, D> WindowAssigner<T> for SlidingWindows<D>
where
    D: TimeKind,
    D::Trigger: Trigger<T, TimeWindow>,
{
    type Window = TimeWindow;
    type DefaultTrigger = D::Trigger;

    fn check(&self) -> Result<()> {
        self.0.check(&Self::name(), "slide")?;
        self.0.check_windows(&Self::name(), "slide")
    }
    fn assign_windows(
        &self,
        _element: &T,
        timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        let time = checked_time::<D>(timestamp, context)?;
        self.0.assign(time, windows);
        Ok(())
    }
    fn default_trigger(&self) -> D::Trigger {
        D::Trigger::default()
    }
    fn is_event_time(&self) -> bool {
        D::IS_EVENT_TIME
    }
    fn grid(&self) -> Option<Grid> {
        let (size, slide) = (self.0.size.ms(), self.0.step.ms());
        (D::IS_EVENT_TIME && size > 0 && slide > 0).then(|| Grid::sliding(size, slide, self.0.offset_ms))
    }
    fn describe(&self) -> String {
        self.0.describe(&Self::name())
    }
}

impl<D> NonMerging for SlidingWindows<D> {}
