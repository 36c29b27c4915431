//! The operator of a case.

use std::marker::PhantomData;
use std::time::Duration;

use super::case::{Case, Ev, Evicting, Firing, Function, Outcome, Value, Windows};
use crate::error::{Error, Result};
use crate::windowing::Data;
use crate::windowing::assigner::{
    BoxedAssigner, CumulatingEventTimeWindows, EventTimeSessionWindows, GlobalWindows, ProcessingTimeSessionWindows,
    SlidingEventTimeWindows, SlidingProcessingTimeWindows, TumblingEventTimeWindows, TumblingProcessingTimeWindows,
    WindowAssigner,
};
use crate::windowing::evictor::{BoxedEvictor, CountEvictor, DeltaEvictor, Evictor, TimeEvictor};
use crate::windowing::function::{AggregateFunction, ProcessWindowFunction, WindowContext};
use crate::windowing::operator::contents::{Accumulated, Aggregating, Buffered};
use crate::windowing::operator::general::GeneralOperator;
use crate::windowing::operator::{KeyedWindowOperator, Lateness, NoEvictor};
use crate::windowing::output::{Collector, OutputTag};
use crate::windowing::trigger::{
    BoxedTrigger, ContinuousEventTimeTrigger, ContinuousProcessingTimeTrigger, CountTrigger, DeltaTrigger,
    EarlyCountTrigger, EndOfStreamTrigger, EventTimeTrigger, NeverTrigger, ProcessingTimeTrigger, PurgingTrigger,
    SessionCapTrigger, Trigger,
};
use crate::windowing::window::{GlobalWindow, TimeWindow, Window};

pub type Operator = Box<dyn KeyedWindowOperator<String, Ev, Outcome>>;

/// Count, sum, minimum and maximum.
#[derive(Clone)]
struct Aggregate(Function);

impl AggregateFunction<Ev> for Aggregate {
    type Accumulator = (i64, i64, i64, i64);
    type Output = Value;

    fn create_accumulator(&self) -> Self::Accumulator {
        (0, 0, i64::MAX, i64::MIN)
    }
    fn add(&self, element: &Ev, all: &mut Self::Accumulator) {
        self.merge(all, &(1, element.v, element.v, element.v));
    }
    fn get_result(&self, &(count, sum, min, max): &Self::Accumulator) -> Value {
        match self.0 {
            Function::Count => Value::Int(count),
            Function::Sum => Value::Int(sum),
            _ if count == 0 => Value::Null,
            Function::Min => Value::Int(min),
            Function::Max => Value::Int(max),
            _ => Value::Float(sum as f64 / count as f64),
        }
    }
    fn merge(&self, all: &mut Self::Accumulator, other: &Self::Accumulator) {
        *all = (all.0 + other.0, all.1.wrapping_add(other.1), all.2.min(other.2), all.3.max(other.3));
    }
}

/// Reports a value with all that the function sees.
#[derive(Clone)]
struct Report;

fn report<W: Window>(key: &str, context: &WindowContext<'_, W>, value: Value) -> Outcome {
    let (window, pane) = (context.window().as_time_window(), context.pane());
    Outcome {
        key: key.to_string(),
        window: window.map(|window| (window.start, window.end)),
        value,
        timing: pane.timing,
        index: pane.index,
        watermark: context.current_watermark(),
        clock: context.current_processing_time(),
    }
}

impl<W: Window> ProcessWindowFunction<Value, String, W, Outcome> for Report {
    fn process(
        &mut self,
        key: &String,
        context: &mut WindowContext<'_, W>,
        elements: &[Value],
        out: &mut Collector<'_, Outcome>,
    ) -> Result<()> {
        elements.iter().for_each(|value| out.collect(report(key, context, value.clone())));
        Ok(())
    }
}

impl<W: Window> ProcessWindowFunction<Ev, String, W, Outcome> for Report {
    fn process(
        &mut self,
        key: &String,
        context: &mut WindowContext<'_, W>,
        elements: &[Ev],
        out: &mut Collector<'_, Outcome>,
    ) -> Result<()> {
        out.collect(report(key, context, Function::List.of(elements.iter())));
        Ok(())
    }
}

fn ms(ms: i64) -> Duration {
    Duration::from_millis(ms as u64)
}

fn delta(older: &Ev, newer: &Ev) -> f64 {
    newer.v.wrapping_sub(older.v) as f64
}

/// A trigger for windows of any kind.
fn any_trigger<W: Window>(
    firing: &Firing,
    own: fn(&Firing) -> Result<BoxedTrigger<Ev, W>>,
) -> Result<BoxedTrigger<Ev, W>> {
    Ok(match firing {
        Firing::Count(n) => BoxedTrigger::new(CountTrigger::of(*n)),
        Firing::Continuous(interval) => BoxedTrigger::new(ContinuousEventTimeTrigger::of(ms(*interval))),
        Firing::ContinuousClock(interval) => BoxedTrigger::new(ContinuousProcessingTimeTrigger::of(ms(*interval))),
        Firing::Delta(threshold) => BoxedTrigger::new(DeltaTrigger::of(*threshold as f64, delta)),
        Firing::Never => BoxedTrigger::new(NeverTrigger),
        Firing::EarlyCount(n) => BoxedTrigger::new(EarlyCountTrigger::of(*n).purging()),
        Firing::Purging(nested) => BoxedTrigger::new(PurgingTrigger::of(any_trigger(nested, own)?)),
        other => own(other)?,
    })
}

fn time_trigger(firing: &Firing) -> Result<BoxedTrigger<Ev, TimeWindow>> {
    Ok(match firing {
        Firing::EventTime => BoxedTrigger::new(EventTimeTrigger),
        Firing::ProcessingTime => BoxedTrigger::new(ProcessingTimeTrigger),
        Firing::SessionCap(max) => BoxedTrigger::new(SessionCapTrigger::of(ms(*max))),
        other => return Err(Error::usage(format!("{other:?} on a time window"))),
    })
}

fn global_trigger(firing: &Firing) -> Result<BoxedTrigger<Ev, GlobalWindow>> {
    match firing {
        Firing::EndOfStream => Ok(BoxedTrigger::new(EndOfStreamTrigger)),
        other => Err(Error::usage(format!("{other:?} on the global window"))),
    }
}

fn evictor<W: Window>((evicting, after): (Evicting, bool)) -> BoxedEvictor<Ev, W> {
    match (evicting, after) {
        (Evicting::Count(n), false) => BoxedEvictor::new(CountEvictor::of(n)),
        (Evicting::Count(n), true) => BoxedEvictor::new(CountEvictor::of_after(n)),
        (Evicting::Time(size), false) => BoxedEvictor::new(TimeEvictor::of(ms(size))),
        (Evicting::Time(size), true) => BoxedEvictor::new(TimeEvictor::of_after(ms(size))),
        (Evicting::Delta(threshold), false) => BoxedEvictor::new(DeltaEvictor::of(threshold as f64, delta)),
        (Evicting::Delta(threshold), true) => BoxedEvictor::new(DeltaEvictor::of_after(threshold as f64, delta)),
    }
}

/// Assigner and trigger are there; contents follow from function and evictor.
fn with_contents<A: WindowAssigner<Ev>>(
    assigner: A,
    trigger: BoxedTrigger<Ev, A::Window>,
    case: &Case,
    tag: &OutputTag<Ev>,
) -> Result<Operator> {
    assigner.check()?;
    trigger.check()?;
    if case.lateness < 0 {
        return Err(Error::usage("the allowed lateness cannot be negative"));
    }
    if assigner.merging().is_some() && !trigger.can_merge() {
        return Err(Error::usage("a trigger that cannot merge"));
    }
    let lateness = Lateness { allowed_ms: case.lateness, side_output: case.side_output.then(|| tag.clone()) };
    fn list<E: Data>(evictor: E) -> Buffered<E, Report, Outcome> {
        Buffered { evictor, process: Report, of: PhantomData }
    }
    let (function, of) = (Aggregate(case.function), PhantomData);
    let evictor = match case.windows {
        Windows::CountSliding { size, .. } => Some(BoxedEvictor::new(CountEvictor::of(size))),
        _ => case.evictor.map(evictor),
    };
    if let Some(evictor) = &evictor {
        evictor.check()?;
    }
    Ok(match (evictor, case.function) {
        (None, Function::List) => Box::new(GeneralOperator::new(assigner, trigger, list(NoEvictor), lateness)),
        (Some(evictor), Function::List) => Box::new(GeneralOperator::new(assigner, trigger, list(evictor), lateness)),
        (None, _) => {
            let contents = Accumulated { function, process: Report, of };
            Box::new(GeneralOperator::new(assigner, trigger, contents, lateness))
        }
        (Some(evictor), _) => {
            let contents = Buffered { evictor, process: Aggregating { function, process: Report }, of };
            Box::new(GeneralOperator::new(assigner, trigger, contents, lateness))
        }
    })
}

fn over_time<A: WindowAssigner<Ev, Window = TimeWindow>>(
    assigner: A,
    case: &Case,
    tag: &OutputTag<Ev>,
) -> Result<Operator> {
    let trigger = match &case.trigger {
        Some(firing) => any_trigger(firing, time_trigger)?,
        None => BoxedTrigger::new(assigner.default_trigger()),
    };
    with_contents(BoxedAssigner::new(assigner), trigger, case, tag)
}

/// # Errors
/// What the parts of the case are refused with.
pub fn build(case: &Case, tag: &OutputTag<Ev>) -> Result<Operator> {
    let global = |default: Firing| {
        let trigger = any_trigger(case.trigger.as_ref().unwrap_or(&default), global_trigger)?;
        with_contents(GlobalWindows::create(), trigger, case, tag)
    };
    match case.windows {
        Windows::Tumbling { size, offset } => {
            over_time(TumblingEventTimeWindows::of(ms(size)).with_offset_ms(offset), case, tag)
        }
        Windows::Sliding { size, slide, offset } => {
            over_time(SlidingEventTimeWindows::of(ms(size), ms(slide)).with_offset_ms(offset), case, tag)
        }
        Windows::Cumulating { size, step, offset } => {
            over_time(CumulatingEventTimeWindows::of(ms(size), ms(step)).with_offset_ms(offset), case, tag)
        }
        Windows::Session { gap } => over_time(EventTimeSessionWindows::with_gap(ms(gap)), case, tag),
        Windows::DynamicSession => {
            over_time(EventTimeSessionWindows::with_dynamic_gap(|element: &Ev| element.gap), case, tag)
        }
        Windows::ClockTumbling { size, offset } => {
            over_time(TumblingProcessingTimeWindows::of(ms(size)).with_offset_ms(offset), case, tag)
        }
        Windows::ClockSliding { size, slide, offset } => {
            over_time(SlidingProcessingTimeWindows::of(ms(size), ms(slide)).with_offset_ms(offset), case, tag)
        }
        Windows::ClockSession { gap } => over_time(ProcessingTimeSessionWindows::with_gap(ms(gap)), case, tag),
        Windows::Global { end_of_stream: false } => global(Firing::Never),
        Windows::Global { end_of_stream: true } => global(Firing::EndOfStream),
        Windows::CountTumbling { size } => global(Firing::Purging(Box::new(Firing::Count(size)))),
        Windows::CountSliding { slide, .. } => global(Firing::Count(slide)),
    }
}
