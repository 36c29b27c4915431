//! Elements that no window took.

use crate::error::Result;
use crate::snapshot::Archive;
use crate::time::{EventTime, Watermark};
use crate::windowing::operator::{Lateness, OperatorCounts, Output};
use crate::windowing::output::Place;
use crate::windowing::state::counters;
use crate::windowing::{Data, Taking};

/// Where they go, and how many there were.
pub(super) struct Late<T> {
    pub lateness: Lateness<T>,
    dropped: u64,
    side_output: u64,
    without_window: u64,
}

impl<T: Data> Late<T> {
    pub fn new(lateness: Lateness<T>) -> Self {
        Late { lateness, dropped: 0, side_output: 0, without_window: 0 }
    }

    /// An element that is too late for all its windows.
    pub fn take<Out>(&mut self, element: &T, timestamp: EventTime, place: Place, out: &mut Output<'_, Out>) {
        match &self.lateness.side_output {
            None => self.dropped += 1,
            Some(tag) => {
                out.sides.at(timestamp, place);
                out.sides.output(tag, element.clone());
                self.side_output += 1;
            }
        }
    }

    /// An element of event time that no window took, at a watermark: it is late if it is behind that itself. The sum wraps
    /// around, as in Flink: with a lateness near the greatest, an element in a gap between windows counts as late.
    pub fn judge<Out>(
        &mut self,
        element: &T,
        (timestamp, place): (EventTime, Place),
        watermark: Watermark,
        out: &mut Output<'_, Out>,
    ) {
        if timestamp.wrapping_add(self.lateness.allowed_ms) <= watermark.0 {
            self.take(element, timestamp, place, out);
        } else {
            self.pass();
        }
    }

    /// An element that no window takes, and that is not late.
    pub fn pass(&mut self) {
        self.without_window += 1;
    }

    /// # Errors
    /// Those of the archive.
    pub fn archive(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        counters(archive, taking, [&mut self.dropped, &mut self.side_output, &mut self.without_window])
    }

    /// Nothing but what is counted here.
    pub fn counts(&self) -> OperatorCounts {
        OperatorCounts {
            late_dropped: self.dropped,
            late_side_output: self.side_output,
            without_window: self.without_window,
            ..OperatorCounts::default()
        }
    }
}
