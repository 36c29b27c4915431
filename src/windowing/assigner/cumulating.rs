//! Windows that start together and grow by a step up to a maximum size: those of CUMULATE in Flink SQL.

use std::marker::PhantomData;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::time::{EventTime, Grid};
use crate::windowing::assigner::aligned::{Aligned, check_offset, checked_time, start_of};
use crate::windowing::assigner::{
    AssignerContext, NonMerging, OfEventTime, OfProcessingTime, TimeKind, WindowAssigner,
};
use crate::windowing::trigger::Trigger;
use crate::windowing::window::TimeWindow;

/// Cumulating windows of one kind of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CumulatingWindows<D>(Aligned, PhantomData<D>);

/// Cumulating windows of event time. Flink has them in SQL only. Default trigger:
/// [`EventTimeTrigger`](crate::windowing::trigger::EventTimeTrigger).
pub type CumulatingEventTimeWindows = CumulatingWindows<OfEventTime>;

/// Cumulating windows of processing time: by the clock at which the element comes. Default trigger:
/// [`ProcessingTimeTrigger`](crate::windowing::trigger::ProcessingTimeTrigger).
pub type CumulatingProcessingTimeWindows = CumulatingWindows<OfProcessingTime>;

impl<D> CumulatingWindows<D> {
    /// Windows that start at multiples of `size` and are one `step`, two, … and at last `size` long. The size must be
    /// a multiple of the step.
    pub fn of(size: Duration, step: Duration) -> Self {
        CumulatingWindows(Aligned::new(size, step), PhantomData)
    }
    /// Moves all windows by `offset_ms` milliseconds, less than the size in either direction.
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

impl<D: TimeKind> CumulatingWindows<D> {
    fn name() -> String {
        format!("Cumulating{}Windows", D::NAME)
    }
}

impl<T, D> WindowAssigner<T> for CumulatingWindows<D>
where
    D: TimeKind,
    D::Trigger: Trigger<T, TimeWindow>,
{
    type Window = TimeWindow;
    type DefaultTrigger = D::Trigger;

    fn check(&self) -> Result<()> {
        check(&self.0, &Self::name())
    }
    fn assign_windows(
        &self,
        _element: &T,
        timestamp: EventTime,
        context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        let time = checked_time::<D>(timestamp, context)?;
        assign(&self.0, time, windows);
        Ok(())
    }
    fn default_trigger(&self) -> D::Trigger {
        D::Trigger::default()
    }
    fn is_event_time(&self) -> bool {
        D::IS_EVENT_TIME
    }
    fn grid(&self) -> Option<Grid> {
        let (size, step) = (self.0.size.ms(), self.0.step.ms());
        let fits = D::IS_EVENT_TIME && check(&self.0, "").is_ok();
        fits.then(|| Grid::cumulating(size, step, self.0.offset_ms))
    }
    fn describe(&self) -> String {
        self.0.describe(&Self::name())
    }
}

impl<D> NonMerging for CumulatingWindows<D> {}
