//! What a window is: a time window, or the one that holds everything.

use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::StateData;
use crate::time::EventTime;

/// A bucket of elements of one key. Windows are values: equal windows of a key are one.
pub trait Window: StateData + Ord + Hash + Debug {
    /// The last timestamp that belongs to the window, in milliseconds: it is complete when the watermark reaches it.
    fn max_timestamp(&self) -> EventTime;
    /// The window as a stretch of time, where it is one.
    fn as_time_window(&self) -> Option<TimeWindow> {
        None
    }
    /// The window that is a stretch of time, for kinds of windows that are.
    fn of_time_window(_window: TimeWindow) -> Option<Self> {
        None
    }
}

/// All times from `start` to `end`, without `end`. Milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimeWindow {
    pub start: EventTime,
    pub end: EventTime,
}

impl TimeWindow {
    pub fn new(start: EventTime, end: EventTime) -> Self {
        TimeWindow { start, end }
    }

    /// True where the windows overlap or touch: such sessions are one.
    pub fn intersects(&self, other: &TimeWindow) -> bool {
        self.start <= other.end && self.end >= other.start
    }

    /// The smallest window that covers both.
    pub fn cover(&self, other: &TimeWindow) -> TimeWindow {
        TimeWindow { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl Window for TimeWindow {
    fn max_timestamp(&self) -> EventTime {
        self.end.wrapping_sub(1)
    }
    fn as_time_window(&self) -> Option<TimeWindow> {
        Some(*self)
    }
    fn of_time_window(window: TimeWindow) -> Option<Self> {
        Some(window)
    }
}

/// The one window of all elements of a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GlobalWindow;

impl Window for GlobalWindow {
    fn max_timestamp(&self) -> EventTime {
        EventTime::MAX
    }
}
