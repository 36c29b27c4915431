//! Windows of one size that neither overlap nor leave gaps.

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

/// Tumbling windows of one kind of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TumblingWindows<D>(Aligned, PhantomData<D>);

/// Tumbling windows of event time. Default trigger: [`EventTimeTrigger`](crate::windowing::trigger::EventTimeTrigger).
pub type TumblingEventTimeWindows = TumblingWindows<OfEventTime>;

/// Tumbling windows of processing time: by the clock at which the element comes. Default trigger:
/// [`ProcessingTimeTrigger`](crate::windowing::trigger::ProcessingTimeTrigger).
pub type TumblingProcessingTimeWindows = TumblingWindows<OfProcessingTime>;

impl<D> TumblingWindows<D> {
    /// Windows of `size`, at least 1 ms, that start at multiples of it.
    pub fn of(size: Duration) -> Self {
        TumblingWindows(Aligned::new(size, size), PhantomData)
    }
    /// Moves all windows by `offset_ms` milliseconds, less than the size in either direction: days of UTC+8 are
    /// windows of 24 hours with an offset of -8 hours.
    #[must_use]
    pub fn with_offset_ms(mut self, offset_ms: i64) -> Self {
        self.0.offset_ms = offset_ms;
        self
    }
}

impl<D: TimeKind> TumblingWindows<D> {
    fn name() -> String {
        format!("Tumbling{}Windows", D::NAME)
    }
}

impl<T, D> WindowAssigner<T> for TumblingWindows<D>
where
    D: TimeKind,
    D::Trigger: Trigger<T, TimeWindow>,
{
    type Window = TimeWindow;
    type DefaultTrigger = D::Trigger;

    fn check(&self) -> Result<()> {
        self.0.check(&Self::name(), "size")
    }
    fn assign_windows(
        &self,
        _element: &T,
        timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        let time = checked_time::<D>(timestamp, context)?;
        self.0.assign_one(time, windows);
        Ok(())
    }
    fn default_trigger(&self) -> D::Trigger {
        D::Trigger::default()
    }
    fn is_event_time(&self) -> bool {
        D::IS_EVENT_TIME
    }
    fn grid(&self) -> Option<Grid> {
        let size = self.0.size.ms();
        (D::IS_EVENT_TIME && size > 0).then(|| Grid::sliding(size, size, self.0.offset_ms))
    }
    fn describe(&self) -> String {
        format!("{}({}{})", Self::name(), self.0.size.ms(), self.0.offset_text())
    }
}

impl<D> NonMerging for TumblingWindows<D> {}
