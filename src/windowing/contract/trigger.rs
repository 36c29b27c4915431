use std::collections::BTreeSet;

use crate::time::EventTime;
use crate::windowing::trigger::{TimeDomain, TimerRequest, Trigger, TriggerContext, TriggerResult};
use crate::windowing::window::Window;

/// Timers that one step may make due: a trigger that needs more never comes to an end.
const FIRINGS_PER_STEP_MAX: usize = 100_000;

/// What happens to the window of a trigger. Times are milliseconds; neither watermark nor clock goes back.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<T> {
    /// An element with its timestamp is added to the window.
    Element(T, EventTime),
    /// The watermark moves.
    Watermark(EventTime),
    /// The clock moves.
    Clock(EventTime),
}

/// What a trigger did in one step: its answers, and the timers that there are behind it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trace {
    pub answers: Vec<TriggerResult>,
    pub timers: BTreeSet<(TimeDomain, EventTime)>,
}

/// Checks that a trigger, taken through `steps` for one window, does the same whenever it is asked, with copies of
/// itself and of its state; that its timers come to an end (those that it registers in a window without end while time
/// is on its way to `i64::MAX` do not count: operators leave them out); that [`Trigger::clear`] leaves none behind (but
/// for one at the window's own end); and, where it can merge, that an element of a new window which merges into this
/// one acts as one of this window.
///
/// # Errors
/// A sentence that says which of this does not hold, or the message of an error of the trigger.
pub fn check_trigger<T, W, G>(trigger: &G, window: &W, steps: &[Step<T>]) -> Result<(), String>
where
    W: Window,
    G: Trigger<T, W>,
{
    trigger.check().map_err(|error| error.message().to_string())?;
    let mut bench = Bench::new(trigger.clone(), window.clone());
    for (number, step) in steps.iter().enumerate() {
        // Everything is copied before the step, and the copy goes the same step.
        let mut copy = bench.clone();
        let mut merged = bench.clone();
        let trace = bench.take(step)?;
        if copy.take(step)? != trace {
            return Err(format!("step {number}: a copy of the trigger and its state acts differently"));
        }
        let left = copy.clear();
        if let Some((domain, time)) = left.first() {
            return Err(format!("step {number}: clear leaves a timer of {domain:?} at {time}"));
        }
        if trigger.can_merge() && matches!(step, Step::Element(..)) {
            merged.merge_into_itself()?;
            let other = bench.ahead(merged.take(step)?);
            let trace = bench.ahead(trace);
            if other != trace {
                let both = format!("{other:?} instead of {trace:?}");
                return Err(format!("step {number}: behind a merge with a new window it acts differently: {both}"));
            }
        }
    }
    Ok(())
}

/// The traces of all steps.
#[cfg(test)]
pub(super) fn traces<T, W, G>(trigger: &G, window: &W, steps: &[Step<T>]) -> Result<Vec<Trace>, String>
where
    W: Window,
    G: Trigger<T, W>,
{
    let mut bench = Bench::new(trigger.clone(), window.clone());
    steps.iter().map(|step| bench.take(step)).collect()
}

/// One window with its trigger, its timers and the two clocks.
#[derive(Clone)]
struct Bench<W, G, S> {
    trigger: G,
    window: W,
    state: S,
    timers: BTreeSet<(TimeDomain, EventTime)>,
    watermark: EventTime,
    clock: EventTime,
}

impl<W: Window, G, S: Clone + Default> Bench<W, G, S> {
    fn new(trigger: G, window: W) -> Self {
        let (watermark, clock) = (EventTime::MIN, 0);
        Bench { trigger, window, state: S::default(), timers: BTreeSet::new(), watermark, clock }
    }

    fn take<T>(&mut self, step: &Step<T>) -> Result<Trace, String>
    where
        G: Trigger<T, W, State = S>,
    {
        let mut answers = Vec::new();
        match step {
            Step::Element(element, timestamp) => answers.push(self.ask(|trigger, window, state, context| {
                trigger.on_element(element, *timestamp, window, state, context)
            })?),
            Step::Watermark(time) => {
                self.watermark = self.watermark.max(*time);
                self.fire(TimeDomain::EventTime, self.watermark, &mut answers)?;
            }
            Step::Clock(time) => {
                self.clock = self.clock.max(*time);
                self.fire(TimeDomain::ProcessingTime, self.clock, &mut answers)?;
            }
        }
        Ok(Trace { answers, timers: self.timers.clone() })
    }

    /// Fires the timers up to `now`, in order, with those that are registered meanwhile.
    fn fire<T>(&mut self, domain: TimeDomain, now: EventTime, answers: &mut Vec<TriggerResult>) -> Result<(), String>
    where
        G: Trigger<T, W, State = S>,
    {
        while let Some(timer) = self.timers.range((domain, EventTime::MIN)..=(domain, now)).next().copied() {
            self.timers.remove(&timer);
            if answers.len() == FIRINGS_PER_STEP_MAX {
                return Err(format!("timers of {domain:?} go on without end, now at {}", timer.1));
            }
            answers.push(self.ask(|trigger, window, state, context| match domain {
                TimeDomain::EventTime => trigger.on_event_time(timer.1, window, state, context),
                TimeDomain::ProcessingTime => trigger.on_processing_time(timer.1, window, state, context),
            })?);
        }
        Ok(())
    }

    fn ask<R>(
        &mut self,
        question: impl FnOnce(&G, &W, &mut S, &mut TriggerContext<'_>) -> crate::error::Result<R>,
    ) -> Result<R, String> {
        let mut requests = Vec::new();
        let mut context = TriggerContext::new(self.watermark, self.clock, &mut requests);
        let answer = question(&self.trigger, &self.window, &mut self.state, &mut context);
        for request in requests {
            match request {
                TimerRequest::Register(domain, _) if self.is_endless(domain) => false,
                TimerRequest::Register(domain, time) => self.timers.insert((domain, time)),
                TimerRequest::Delete(domain, time) => self.timers.remove(&(domain, time)),
            };
        }
        answer.map_err(|error| error.message().to_string())
    }

    /// Whether a timer that is registered now could be followed by others for ever.
    fn is_endless(&self, domain: TimeDomain) -> bool {
        let now = if domain == TimeDomain::EventTime { self.watermark } else { self.clock };
        now == EventTime::MAX && self.window.max_timestamp() == EventTime::MAX
    }

    /// The timers that are left behind `clear`, but for those at the window's own end.
    fn clear<T>(&mut self) -> Vec<(TimeDomain, EventTime)>
    where
        G: Trigger<T, W, State = S>,
    {
        let cleared = self.ask(|trigger, window, state, context| {
            trigger.clear(window, state, context);
            Ok(())
        });
        debug_assert!(cleared.is_ok(), "clear cannot fail");
        let end = self.window.max_timestamp();
        self.timers.iter().copied().filter(|(_, time)| *time != end).collect()
    }

    /// Without the timers in the past, of which a merge may register one again that has fired, and at the end of the
    /// window, which a merge may register where an element would not.
    fn ahead(&self, mut trace: Trace) -> Trace {
        let end = self.window.max_timestamp();
        trace.timers.retain(|&(domain, time)| {
            let now = if domain == TimeDomain::EventTime { self.watermark } else { self.clock };
            time > now && time != end
        });
        trace
    }

    /// What happens where the window of a new element merges with this one and is no larger.
    fn merge_into_itself<T>(&mut self) -> Result<(), String>
    where
        G: Trigger<T, W, State = S>,
    {
        let old = std::mem::take(&mut self.state);
        self.timers.clear();
        self.ask(|trigger, window, state, context| trigger.on_merge(window, state, vec![old], context))
    }
}
