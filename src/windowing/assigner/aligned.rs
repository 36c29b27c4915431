//! Windows that lie the same for all keys: what tumbling, sliding and cumulating assigners share.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::time::EventTime;
use crate::windowing::assigner::{AssignerContext, TimeKind};
use crate::windowing::span::Span;
use crate::windowing::window::TimeWindow;

/// Windows of one element at most, as in Flink.
const WINDOWS_PER_ELEMENT_MAX: i64 = 10_000_000;

/// Windows of `size` that start at every `offset_ms + k * step`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Aligned {
    pub size: Span,
    pub step: Span,
    pub offset_ms: i64,
}

impl Aligned {
    pub(super) fn new(size: Duration, step: Duration) -> Self {
        Aligned { size: Span::new(size), step: Span::new(step), offset_ms: 0 }
    }

    /// `assigner` and `step` name things in a message; the offset must be below the step.
    pub(super) fn check(&self, assigner: &str, step: &str) -> Result<()> {
        self.size.check_positive(&format!("the size of {assigner}"))?;
        self.step.check_positive(&format!("the {step} of {assigner}"))?;
        check_offset(assigner, self.offset_ms, step, self.step.ms())
    }

    /// Appends the windows that hold `time`, from the latest start downwards, as Flink does.
    #[inline]
    pub(super) fn assign(&self, time: EventTime, windows: &mut Vec<TimeWindow>) {
        let (size, step) = (self.size.ms(), self.step.ms());
        let first = time.wrapping_sub(size);
        let mut start = Some(start_of(time, self.offset_ms, step));
        if first <= time && start > Some(time) {
            // It lies before the beginning of time, and its window ends before the element. Flink begins at the other
            // end of time and goes on without end.
            return;
        }
        while let Some(at) = start.filter(|&at| at > first) {
            windows.push(TimeWindow::new(at, at.wrapping_add(size)));
            start = at.checked_sub(step);
        }
    }

    /// An element may be in many windows, but not in more than anybody can wait for.
    pub(super) fn check_windows(&self, assigner: &str, step: &str) -> Result<()> {
        let count = self.size.ms() / self.step.ms();
        if count <= WINDOWS_PER_ELEMENT_MAX {
            return Ok(());
        }
        let message =
            format!("each element would be in {count} windows of {assigner}; {WINDOWS_PER_ELEMENT_MAX} at most");
        Err(Error::usage(message).help(format!("mind the order, size before {step}; choose a longer {step}")))
    }

    /// The one window that holds `time` where windows follow each other without gaps.
    #[inline]
    pub(super) fn assign_one(&self, time: EventTime, windows: &mut Vec<TimeWindow>) {
        let start = start_of(time, self.offset_ms, self.size.ms());
        windows.push(TimeWindow::new(start, start.wrapping_add(self.size.ms())));
    }

    /// Size, step and offset behind the name of an assigner.
    pub(super) fn describe(&self, assigner: &str) -> String {
        format!("{assigner}({}, {}{})", self.size.ms(), self.step.ms(), self.offset_text())
    }

    /// What the offset adds to a description: nothing where there is none.
    pub(super) fn offset_text(&self) -> String {
        if self.offset_ms == 0 { String::new() } else { format!(", offset {}", self.offset_ms) }
    }
}

/// # Errors
/// Kind Usage where the offset is not below `limit_ms`, in either direction.
pub(super) fn check_offset(assigner: &str, offset_ms: i64, limit: &str, limit_ms: i64) -> Result<()> {
    if offset_ms.unsigned_abs() < limit_ms.unsigned_abs() {
        return Ok(());
    }
    let expected = format!("{assigner} must have an offset below its {limit}");
    let message = format!("{expected}, but {offset_ms} ms is not below {limit_ms} ms");
    Err(Error::usage(message).help(format!("take the remainder of the offset by the {limit}")))
}

/// Like [`window_start`](crate::time::window_start), but at the ends of time it wraps around, as Flink's does.
#[inline]
pub(super) fn start_of(time: EventTime, offset_ms: i64, step_ms: i64) -> EventTime {
    time.wrapping_sub(time.wrapping_sub(offset_ms).rem_euclid(step_ms))
}

/// The time of an element for windows on a grid, which of event time refuse elements without a timestamp.
///
/// # Errors
/// Kind Data.
#[inline]
pub(super) fn checked_time<D: TimeKind>(timestamp: EventTime, context: &AssignerContext) -> Result<EventTime> {
    if D::IS_EVENT_TIME {
        check_timestamp(timestamp)?;
    }
    Ok(D::time_of(timestamp, context))
}

/// Refuses the timestamp that means "none".
///
/// # Errors
/// Kind Data.
#[inline]
pub(in crate::windowing) fn check_timestamp(timestamp: EventTime) -> Result<()> {
    if timestamp > EventTime::MIN { Ok(()) } else { Err(no_timestamp()) }
}

#[cold]
fn no_timestamp() -> Error {
    Error::data(
        "record has the timestamp Long.MIN_VALUE (= no timestamp marker), so it belongs to no event-time window",
    )
    .help("assign timestamps and watermarks to the stream before its windows, or use windows of processing time")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(size: u64, slide: u64, offset_ms: i64, time: i64) -> Vec<i64> {
        let mut aligned = Aligned::new(Duration::from_millis(size), Duration::from_millis(slide));
        aligned.offset_ms = offset_ms;
        let mut windows = Vec::new();
        aligned.assign(time, &mut windows);
        windows.iter().map(|window| window.start).collect()
    }

    #[test]
    fn windows_come_from_the_latest_start_downwards() {
        assert_eq!(starts(15, 5, 0, 12), [10, 5, 0]);
        assert_eq!(starts(15, 5, 2, 12), [12, 7, 2]);
        assert_eq!(starts(10, 5, -3, -1), [-3, -8]);
        assert_eq!(starts(5, 10, 0, 7), [0i64; 0]);
    }

    #[test]
    fn the_ends_of_time_end_the_search() {
        assert_eq!(starts(10, 5, 0, i64::MIN + 20).len(), 2);
        // Starts wrap around as the first window does, and as in Flink.
        assert_eq!(starts(10, 5, 0, i64::MIN + 1), [i64::MAX - 1, i64::MAX - 6]);
        // Where only the next start would, Flink goes on without end.
        assert_eq!(starts(11, 5, 0, i64::MIN + 12), [i64::MIN + 8, i64::MIN + 3]);
        assert_eq!(starts(1, 130, 0, i64::MIN + 1), [0i64; 0]);
        assert_eq!(starts(10, 5, 0, i64::MAX).len(), 2);
    }
}
