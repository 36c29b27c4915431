//! Asking the trigger, doing what it says, and the timers that make it be asked.

use std::hint::black_box;

use crate::error::{Error, Result};
use crate::time::{EventTime, Watermark};
use crate::windowing::assigner::WindowAssigner;
use crate::windowing::batch::StageTimes;
use crate::windowing::function::{PaneInfo, PaneTiming, WindowContext};
use crate::windowing::operator::Output;
use crate::windowing::operator::contents::Contents;
use crate::windowing::output::{Collector, Place};
use crate::windowing::trigger::{TimeDomain, TimerRequest, Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;
use crate::windowing::{Data, Key};

use super::timers::Timer;
use super::{AHEAD, GeneralOperator};

/// Before all places of timers.
const FIRST: Place = Place { cause: 0, time: EventTime::MIN, hash: 0 };

/// How many timers may fire in one move beyond those that were there, each at or before the time of one before it.
const PATIENCE: usize = 1_000_000;

/// Notices a trigger whose timers make it register timers in the past without end.
struct Patience {
    highest: EventTime,
    left: usize,
}

impl Patience {
    /// With so many timers registered when time moves.
    fn new(timers: usize) -> Self {
        Patience { highest: EventTime::MIN, left: timers.saturating_mul(100).saturating_add(PATIENCE) }
    }
    /// A timer for this time fires.
    fn bears(&mut self, time: EventTime) -> bool {
        if time > self.highest {
            self.highest = time;
        } else {
            self.left -= 1;
        }
        self.left > 0
    }
}

/// Why a trigger was asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cause {
    Element(Place),
    Timer {
        domain: TimeDomain,
        time: EventTime,
        /// The time of this domain before it moved to or over the timer.
        before: EventTime,
        place: Place,
    },
}

impl Cause {
    fn place(self) -> Place {
        match self {
            Cause::Element(place) | Cause::Timer { place, .. } => place,
        }
    }
}

impl<K, T, A, R, C> GeneralOperator<K, T, A, R, C>
where
    K: Key,
    T: Data,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: Contents<K, T, A::Window>,
{
    /// Does what a trigger said, in this order: fire, purge.
    pub(super) fn carry_out(
        &mut self,
        answer: TriggerResult,
        slot: u32,
        at: usize,
        cause: Cause,
        out: &mut Output<'_, C::Out>,
    ) -> Result<()> {
        if answer.is_fire() {
            self.fire(slot, at, cause, out)?;
        }
        if answer.is_purge() {
            let contents = self.panes.at(slot, at).contents.take();
            self.count_out(contents.as_ref());
        }
        Ok(())
    }

    /// Gives the contents of a pane to the window function; without contents nothing happens.
    fn fire(&mut self, slot: u32, at: usize, cause: Cause, out: &mut Output<'_, C::Out>) -> Result<()> {
        let end = self.panes.at(slot, at).window.max_timestamp();
        let timing = self.timing(end, cause);
        let pane = self.panes.at(slot, at);
        let Some(contents) = &mut pane.contents else {
            return Ok(());
        };
        let Some(key) = self.keys.key(slot) else {
            return Err(Error::internal("a window without a key"));
        };
        if self.trigger.is_end_of_stream() {
            self.contents.sort_by_time(contents);
        }
        let held = self.contents.buffered(contents);
        let (info, now) = (PaneInfo { timing, index: pane.fired }, (self.watermark.0, self.clock));
        out.sides.at(end, cause.place());
        let mut context = WindowContext::new(&pane.window, info, now, out.sides);
        let mut collector = Collector::new(out.results, end, cause.place());
        self.contents.fire(key, contents, &mut context, &mut collector)?;
        let left = self.contents.buffered(contents);
        (pane.fired, pane.unseen) = (pane.fired.saturating_add(1), false);
        self.counts.fired += 1;
        // An evictor may only take out, but nobody keeps it from more.
        self.counts.buffered_elements = (self.counts.buffered_elements + left as u64).saturating_sub(held as u64);
        if C::BUFFERS && left == 0 {
            pane.contents = None;
            self.filled -= 1;
        }
        out.hand_on()
    }

    /// These contents are no more.
    fn count_out(&mut self, contents: Option<&C::State>) {
        if let Some(contents) = contents {
            self.counts.buffered_elements -= self.contents.buffered(contents) as u64;
            self.filled -= 1;
        }
    }

    /// Of a firing of a window with this maximum timestamp.
    fn timing(&self, end: EventTime, cause: Cause) -> PaneTiming {
        // A window without end waits for the end of the input, which the watermark tells.
        let own = if end == EventTime::MAX { TimeDomain::EventTime } else { self.domain() };
        let now = match (cause, own) {
            (Cause::Timer { domain, time, before, .. }, _) if domain == own => {
                if time > before && time <= end {
                    return if time == end { PaneTiming::OnTime } else { PaneTiming::Early };
                }
                // A timer in the past comes from the time before.
                if time > before { time } else { before }
            }
            (_, TimeDomain::EventTime) => self.watermark.0,
            (_, TimeDomain::ProcessingTime) => self.clock,
        };
        if now >= end { PaneTiming::Late } else { PaneTiming::Early }
    }

    /// Carries out what the trigger wants done with timers of the pane.
    #[inline]
    pub(super) fn carry_out_requests(&mut self, slot: u32, at: usize) {
        if self.requests.is_empty() {
            return;
        }
        let mut requests = std::mem::take(&mut self.requests);
        for request in requests.drain(..) {
            match request {
                TimerRequest::Register(domain, time) => {
                    if self.ending != Some(domain) || self.is_walked_to(domain, time, slot, at) {
                        self.register(domain, time, slot, at);
                    }
                }
                TimerRequest::Delete(domain, time) => {
                    self.panes.at(slot, at).timers.remove(domain, time);
                }
            }
        }
        self.requests = requests;
    }

    /// Whether a timer that is registered while time is on its way to its very end will fire: only up to the cleanup of
    /// the window, or its end where it is not cleaned up. In a window without end, a trigger that fires at intervals
    /// would go on for ever.
    fn is_walked_to(&mut self, domain: TimeDomain, time: EventTime, slot: u32, at: usize) -> bool {
        let end = self.panes.at(slot, at).window.max_timestamp();
        let cleanup = self.cleanup_time(end);
        let last = if cleanup < EventTime::MAX { cleanup } else { end };
        domain == self.domain() && last < EventTime::MAX && time <= last
    }

    /// Fires the timers up to `target`; the watermark was `before`.
    pub(super) fn fire_event_timers(
        &mut self,
        before: Watermark,
        target: Watermark,
        times: &StageTimes,
        out: &mut Output<'_, C::Out>,
    ) -> Result<()> {
        let (mut last, mut patience) = (FIRST, Patience::new(self.event_timers.count()));
        for number in 0_usize.. {
            let Some(timer) = self.event_timers.pop_until(target.0) else {
                break;
            };
            if number.is_multiple_of(AHEAD) {
                black_box(self.panes.touch(self.event_timers.soon(AHEAD).iter().map(|timer| timer.slot)));
            }
            let Some(at) = self.claim(TimeDomain::EventTime, &timer) else {
                continue;
            };
            if !patience.bears(timer.time) {
                return Err(self.restless());
            }
            // A timer in the past is due when the watermark moves.
            let due_at = timer.time.max(before.0.saturating_add(1));
            let due = times.place_of_timer(due_at, timer.hash);
            let place = Place { time: timer.time, ..due };
            // One that a timer behind it registered comes behind that.
            let place = place.max(last);
            last = place;
            let before = if place.cause == 0 { before } else { times.before(place).max(before) };
            // What the trigger and the function see depends on the place alone, not on how far time moves at once.
            let now = times.that_makes_due(due, due_at, target);
            self.watermark = now.max(self.watermark);
            let cause = Cause::Timer { domain: TimeDomain::EventTime, time: timer.time, before: before.0, place };
            self.fire_timer(timer, at, cause, out)?;
        }
        Ok(())
    }

    /// Fires the timers up to the clock, which was at `before`.
    pub(super) fn fire_clock_timers(&mut self, before: EventTime, out: &mut Output<'_, C::Out>) -> Result<()> {
        let (domain, mut last) = (TimeDomain::ProcessingTime, FIRST);
        let mut patience = Patience::new(self.clock_timers.count());
        while let Some(timer) = self.clock_timers.pop_until(self.clock) {
            let Some(at) = self.claim(domain, &timer) else {
                continue;
            };
            if !patience.bears(timer.time) {
                return Err(self.restless());
            }
            let place = Place::of_timer(0, timer.time, timer.hash).max(last);
            last = place;
            let cause = Cause::Timer { domain, time: timer.time, before, place };
            self.fire_timer(timer, at, cause, out)?;
        }
        Ok(())
    }

    #[cold]
    fn restless(&self) -> Error {
        let trigger = self.trigger.describe();
        Error::usage(format!("{trigger} registers a timer in the past whenever such a timer fires, without end"))
            .help("in on_event_time and on_processing_time register timers behind the time of the one that fires")
    }

    /// Takes a timer off its window; `None` if it is no longer registered.
    fn claim(&mut self, domain: TimeDomain, timer: &Timer<A::Window>) -> Option<usize> {
        if self.keys.hash(timer.slot) != timer.hash {
            // The key is gone, and the slot is another's.
            return None;
        }
        let at = self.panes.find(timer.slot, &timer.window, 1).ok()?;
        self.panes.at(timer.slot, at).timers.remove(domain, timer.time).then_some(at)
    }

    fn fire_timer(
        &mut self,
        timer: Timer<A::Window>,
        at: usize,
        cause: Cause,
        out: &mut Output<'_, C::Out>,
    ) -> Result<()> {
        let Cause::Timer { domain, .. } = cause else {
            return Ok(());
        };
        let Timer { time, slot, window, .. } = timer;
        let state = &mut self.panes.at(slot, at).trigger;
        let mut context = TriggerContext::new(self.watermark.0, self.clock, &mut self.requests);
        let answer = match domain {
            TimeDomain::EventTime => self.trigger.on_event_time(time, &window, state, &mut context)?,
            TimeDomain::ProcessingTime => self.trigger.on_processing_time(time, &window, state, &mut context)?,
        };
        self.carry_out_requests(slot, at);
        self.carry_out(answer, slot, at, cause, out)?;
        if domain == self.domain() && time == self.cleanup_time(window.max_timestamp()) {
            self.clean_up(slot, at);
        }
        Ok(())
    }

    /// Forgets a window, with what is in it.
    pub(super) fn clean_up(&mut self, slot: u32, at: usize) {
        let Some(mut pane) = self.panes.remove(slot, at) else {
            return;
        };
        self.counts.unfired_at_cleanup += u64::from(pane.is_unseen());
        self.count_out(pane.contents.as_ref());
        let mut context = TriggerContext::new(self.watermark.0, self.clock, &mut self.requests);
        self.trigger.clear(&pane.window, &mut pane.trigger, &mut context);
        // Its timers have gone with it.
        self.requests.clear();
    }
}
