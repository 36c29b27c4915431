//! Firing a window whose contents are an accumulator.

use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::snapshot::Archive;
use crate::time::{EventTime, Watermark};
use crate::windowing::batch::StageTimes;
use crate::windowing::function::{AggregateFunction, PaneInfo, ProcessWindowFunction, WindowContext};
use crate::windowing::operator::Output;
use crate::windowing::output::{Collector, Place};
use crate::windowing::state::{counters, times};
use crate::windowing::window::{TimeWindow, Window};
use crate::windowing::{Key, Taking};

/// A window at the moment when it fires, for one key after the other.
pub(super) struct Moment<W> {
    pub window: W,
    pub pane: PaneInfo,
    pub watermark: Watermark,
    /// Of the first key; of others their hash is put in.
    pub place: Place,
}

impl<W: Window> Moment<W> {
    pub fn new(window: TimeWindow, pane: PaneInfo, watermark: Watermark, place: Place) -> Result<Self> {
        let window =
            W::of_time_window(window).ok_or_else(|| Error::internal("windows on a grid that are no time windows"))?;
        Ok(Moment { window, pane, watermark, place })
    }

    /// When the watermark reaches the end of the window, on its way to `target`.
    pub fn on_time(
        window: TimeWindow,
        pane: PaneInfo,
        (times, target): (&StageTimes, Watermark),
        hash: KeyHash,
    ) -> Result<Self> {
        let end = window.max_timestamp();
        let place = times.place_of_timer(end, hash);
        Moment::new(window, pane, times.that_makes_due(place, end, target), place)
    }
}

/// What makes results of accumulators.
pub(super) struct Firing<F, P> {
    pub function: F,
    process: P,
    /// Processing time.
    clock: EventTime,
    pub fired: u64,
}

impl<F, P> Firing<F, P> {
    pub fn new(function: F, process: P) -> Self {
        Firing { function, process, clock: 0, fired: 0 }
    }

    /// The processing time.
    pub fn clock(&self) -> EventTime {
        self.clock
    }
    /// A clock that goes back is ignored.
    pub fn advance_clock(&mut self, time: EventTime) {
        self.clock = self.clock.max(time);
    }

    /// # Errors
    /// Those of the archive.
    pub fn archive(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        times(archive, [&mut self.clock])?;
        counters(archive, taking, [&mut self.fired])
    }

    /// Gives one key's accumulator to the window function.
    #[inline]
    pub fn fire<K, T, W, Out>(
        &mut self,
        key: &K,
        accumulator: &F::Accumulator,
        moment: &Moment<W>,
        hash: KeyHash,
        out: &mut Output<'_, Out>,
    ) -> Result<()>
    where
        K: Key,
        W: Window,
        F: AggregateFunction<T>,
        P: ProcessWindowFunction<F::Output, K, W, Out>,
    {
        let place = Place { hash, ..moment.place };
        let timestamp = moment.window.max_timestamp();
        out.sides.at(timestamp, place);
        let times = (moment.watermark.0, self.clock);
        let mut context = WindowContext::new(&moment.window, moment.pane, times, out.sides);
        let result = self.function.get_result(accumulator);
        self.fired += 1;
        let mut collector = Collector::new(out.results, timestamp, place);
        self.process.process(key, &mut context, std::slice::from_ref(&result), &mut collector)?;
        out.hand_on()
    }
}
