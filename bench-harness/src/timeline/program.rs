//! A script's program, built with the DataStream API.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use transom::api::{Collected, DataStream, KeyedStream, OperatorKind, WindowedStream};
use transom::error::{Error, Result};
use transom::windowing::assigner::{
    BoxedAssigner, EventTimeSessionWindows, GlobalWindows, SlidingEventTimeWindows, TumblingEventTimeWindows,
    WindowAssigner,
};
use transom::windowing::evictor::{BoxedEvictor, CountEvictor, DeltaEvictor, Evictor, TimeEvictor};
use transom::windowing::function::{AggregateFunction, WindowContext};
use transom::windowing::output::{Collector, OutputTag};
use transom::windowing::trigger::{
    BoxedTrigger, ContinuousEventTimeTrigger, CountTrigger, DeltaTrigger, EarlyCountTrigger, EventTimeTrigger,
    PurgingTrigger, SessionCapTrigger, Trigger,
};
use transom::windowing::window::{GlobalWindow, TimeWindow, Window};

use super::script::{EvictorKind, EvictorSpec, Function, Script, TriggerSpec, Value, WindowSpec};

/// An element of a script.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Event {
    pub key: String,
    /// Its timestamp, milliseconds.
    pub time: i64,
    pub value: i64,
    /// Of a dynamic session, milliseconds.
    pub gap: i64,
}

/// Which of the API's ways to the same results a program takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// An aggregate, on the operator that the planner picks.
    Aggregate,
    /// An aggregate, on the general operator.
    General,
    /// A function over the elements.
    Elements,
}

/// The forms that a function allows.
pub fn forms(function: Function) -> &'static [Form] {
    match function {
        Function::List => &[Form::Elements],
        _ => &[Form::Aggregate, Form::General, Form::Elements],
    }
}

/// Results of a program: key, window where it is one of time, value.
pub type Found = (String, Option<(i64, i64)>, Value);

/// What a program gives.
pub struct Taken {
    pub results: Collected<Found>,
    pub late: Option<Collected<Event>>,
}

/// The streams of a program that come out of its windows.
pub struct Streams {
    pub results: DataStream<Found>,
    pub late: Option<DataStream<Event>>,
}

/// A program that keeps what it gives.
///
/// # Errors
/// As [`streams`].
pub fn build(script: &Script, form: Form, input: &DataStream<Event>) -> Result<Taken> {
    let Streams { results, late } = streams(script, form, input)?;
    let late = late.map(|late| late.collect());
    Ok(Taken { results: results.collect(), late })
}

/// # Errors
/// What `Duration` or the type system keeps a program from saying.
pub fn streams(script: &Script, form: Form, input: &DataStream<Event>) -> Result<Streams> {
    let keyed = input.key_by(|event| event.key.clone());
    let finish = Finish { script, form, lateness: duration(script.allowed_lateness_ms, "the allowed lateness")? };
    let of_global = || settings(script, global_trigger);
    match script.window {
        WindowSpec::Global { end_of_stream: false } => {
            let (trigger, evictor) = of_global()?;
            Ok(finish.window(&keyed, BoxedAssigner::new(GlobalWindows::create()), trigger, evictor))
        }
        WindowSpec::Global { end_of_stream: true } => {
            let (trigger, evictor) = of_global()?;
            let assigner = BoxedAssigner::new(GlobalWindows::create_with_end_of_stream_trigger());
            Ok(finish.window(&keyed, assigner, trigger, evictor))
        }
        WindowSpec::CountTumbling { size } => {
            let (trigger, evictor) = of_global()?;
            Ok(finish.set(keyed.count_window(size), trigger, evictor))
        }
        WindowSpec::CountSliding { size, slide } => {
            let (trigger, evictor) = of_global()?;
            Ok(finish.set(keyed.count_window_sliding(size, slide), trigger, evictor))
        }
        _ => {
            let (trigger, evictor) = settings(script, time_trigger)?;
            Ok(finish.window(&keyed, time_assigner(script.window)?, trigger, evictor))
        }
    }
}

fn duration(ms: i64, what: &str) -> Result<Duration> {
    let ms = u64::try_from(ms).map_err(|_| Error::usage(format!("{what} is negative: no Duration says that")))?;
    Ok(Duration::from_millis(ms))
}

type Settings<W> = (Option<BoxedTrigger<Event, W>>, Option<BoxedEvictor<Event, W>>);

fn settings<W: Window>(
    script: &Script,
    trigger: fn(&TriggerSpec) -> Result<BoxedTrigger<Event, W>>,
) -> Result<Settings<W>> {
    Ok((script.trigger.as_ref().map(trigger).transpose()?, script.evictor.map(evictor).transpose()?))
}

fn time_assigner(window: WindowSpec) -> Result<BoxedAssigner<Event, TimeWindow>> {
    Ok(match window {
        WindowSpec::Tumbling { size_ms, offset_ms } => {
            let windows = TumblingEventTimeWindows::of(duration(size_ms, "the size")?);
            BoxedAssigner::new(windows.with_offset_ms(offset_ms))
        }
        WindowSpec::Sliding { size_ms, slide_ms, offset_ms } => {
            let (size, slide) = (duration(size_ms, "the size")?, duration(slide_ms, "the slide")?);
            BoxedAssigner::new(SlidingEventTimeWindows::of(size, slide).with_offset_ms(offset_ms))
        }
        WindowSpec::Session { gap_ms } => {
            BoxedAssigner::new(EventTimeSessionWindows::with_gap(duration(gap_ms, "the gap")?))
        }
        WindowSpec::SessionDynamic => {
            BoxedAssigner::new(EventTimeSessionWindows::with_dynamic_gap(|event: &Event| event.gap))
        }
        WindowSpec::Global { .. } | WindowSpec::CountTumbling { .. } | WindowSpec::CountSliding { .. } => {
            return Err(Error::internal("windows without a time"));
        }
    })
}

fn time_trigger(spec: &TriggerSpec) -> Result<BoxedTrigger<Event, TimeWindow>> {
    Ok(match spec {
        TriggerSpec::EventTime => BoxedTrigger::new(EventTimeTrigger),
        TriggerSpec::SessionCap { max_ms } => {
            BoxedTrigger::new(SessionCapTrigger::of(duration(*max_ms, "the maximum")?))
        }
        TriggerSpec::Purging(of) => BoxedTrigger::new(PurgingTrigger::of(time_trigger(of)?)),
        other => any_trigger(other)?,
    })
}

fn global_trigger(spec: &TriggerSpec) -> Result<BoxedTrigger<Event, GlobalWindow>> {
    match spec {
        TriggerSpec::Purging(of) => Ok(BoxedTrigger::new(PurgingTrigger::of(global_trigger(of)?))),
        other => any_trigger(other),
    }
}

/// The triggers for windows of every kind.
fn any_trigger<W: Window>(spec: &TriggerSpec) -> Result<BoxedTrigger<Event, W>> {
    Ok(match spec {
        TriggerSpec::Count(n) => BoxedTrigger::new(CountTrigger::of(*n)),
        TriggerSpec::ContinuousEventTime { interval_ms } => {
            BoxedTrigger::new(ContinuousEventTimeTrigger::of(duration(*interval_ms, "the interval")?))
        }
        TriggerSpec::Delta { threshold } => BoxedTrigger::new(DeltaTrigger::of(*threshold, rise)),
        TriggerSpec::EarlyCount(n) => BoxedTrigger::new(EarlyCountTrigger::of(*n).purging()),
        TriggerSpec::EventTime | TriggerSpec::SessionCap { .. } | TriggerSpec::Purging(_) => {
            return Err(Error::usage("a trigger of time windows with other windows: such a program does not compile"));
        }
    })
}

fn rise(older: &Event, newer: &Event) -> f64 {
    newer.value.wrapping_sub(older.value) as f64
}

fn evictor<W: Window>(spec: EvictorSpec) -> Result<BoxedEvictor<Event, W>> {
    Ok(match (spec.kind, spec.after) {
        (EvictorKind::Count(n), false) => BoxedEvictor::new(CountEvictor::of(n)),
        (EvictorKind::Count(n), true) => BoxedEvictor::new(CountEvictor::of_after(n)),
        (EvictorKind::Time { window_ms }, false) => {
            BoxedEvictor::new(TimeEvictor::of(duration(window_ms, "the evictor's time")?))
        }
        (EvictorKind::Time { window_ms }, true) => {
            BoxedEvictor::new(TimeEvictor::of_after(duration(window_ms, "the evictor's time")?))
        }
        (EvictorKind::Delta { threshold }, false) => BoxedEvictor::new(DeltaEvictor::of(threshold, rise)),
        (EvictorKind::Delta { threshold }, true) => BoxedEvictor::new(DeltaEvictor::of_after(threshold, rise)),
    })
}

/// What all windows have in common.
struct Finish<'a> {
    script: &'a Script,
    form: Form,
    lateness: Duration,
}

impl Finish<'_> {
    fn window<W: Window>(
        &self,
        keyed: &KeyedStream<String, Event>,
        assigner: BoxedAssigner<Event, W>,
        trigger: Option<BoxedTrigger<Event, W>>,
        evictor: Option<BoxedEvictor<Event, W>>,
    ) -> Streams {
        self.set(keyed.window(assigner), trigger, evictor)
    }

    fn set<A, Tr, E>(
        &self,
        windows: WindowedStream<String, Event, A, Tr, E>,
        trigger: Option<BoxedTrigger<Event, A::Window>>,
        evictor: Option<BoxedEvictor<Event, A::Window>>,
    ) -> Streams
    where
        A: WindowAssigner<Event>,
        Tr: Trigger<Event, A::Window>,
        E: Evictor<Event, A::Window>,
    {
        match (trigger, evictor) {
            (None, None) => self.results(windows),
            (Some(trigger), None) => self.results(windows.trigger(trigger)),
            (None, Some(evictor)) => self.results(windows.evictor(evictor)),
            (Some(trigger), Some(evictor)) => self.results(windows.trigger(trigger).evictor(evictor)),
        }
    }

    fn results<A, Tr, E>(&self, windows: WindowedStream<String, Event, A, Tr, E>) -> Streams
    where
        A: WindowAssigner<Event>,
        Tr: Trigger<Event, A::Window>,
        E: Evictor<Event, A::Window>,
    {
        let tag = OutputTag::new("late");
        let mut windows = windows.allowed_lateness(self.lateness);
        if self.script.side_output_late {
            windows = windows.side_output_late_data(&tag);
        }
        if self.form == Form::General {
            windows = windows.operator(OperatorKind::General);
        }
        let summary = Summary(self.script.function);
        let results = match self.form {
            Form::Elements => windows.process(
                move |key: &String,
                      context: &mut WindowContext<'_, A::Window>,
                      elements: &[Event],
                      out: &mut Collector<'_, Found>| {
                    out.collect(found(key, context, summary.of(elements)));
                    Ok(())
                },
            ),
            Form::Aggregate | Form::General => windows.aggregate_with(
                summary,
                |key: &String,
                 context: &mut WindowContext<'_, A::Window>,
                 values: &[Value],
                 out: &mut Collector<'_, Found>| {
                    values.iter().for_each(|value| out.collect(found(key, context, value.clone())));
                    Ok(())
                },
            ),
        };
        let late = self.script.side_output_late.then(|| results.get_side_output(&tag));
        Streams { results: (*results).clone(), late }
    }
}

fn found<W: Window>(key: &str, context: &WindowContext<'_, W>, value: Value) -> Found {
    let window = context.window().as_time_window().map(|window| (window.start, window.end));
    (key.to_string(), window, value)
}

/// The functions of the scripts, as an aggregate.
#[derive(Debug, Clone, Copy)]
struct Summary(Function);

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Accumulator {
    count: i64,
    sum: i64,
    min: i64,
    max: i64,
}

impl Summary {
    fn of(self, elements: &[Event]) -> Value {
        if self.0 == Function::List {
            return Value::List(elements.iter().map(|event| event.value).collect());
        }
        let mut accumulator = self.create_accumulator();
        elements.iter().for_each(|event| self.add(event, &mut accumulator));
        self.get_result(&accumulator)
    }
}

impl AggregateFunction<Event> for Summary {
    type Accumulator = Accumulator;
    type Output = Value;

    fn create_accumulator(&self) -> Accumulator {
        Accumulator { count: 0, sum: 0, min: i64::MAX, max: i64::MIN }
    }
    fn add(&self, element: &Event, accumulator: &mut Accumulator) {
        let Event { value, .. } = *element;
        accumulator.count += 1;
        accumulator.sum = accumulator.sum.wrapping_add(value);
        accumulator.min = accumulator.min.min(value);
        accumulator.max = accumulator.max.max(value);
    }
    fn get_result(&self, accumulator: &Accumulator) -> Value {
        let Accumulator { count, sum, min, max } = *accumulator;
        match self.0 {
            Function::Count => Value::Integer(count),
            Function::Sum => Value::Integer(sum),
            _ if count == 0 => Value::Null,
            Function::Min => Value::Integer(min),
            Function::Max => Value::Integer(max),
            Function::Avg => Value::Double(sum as f64 / count as f64),
            // A list is made of the elements, not of an accumulator.
            Function::List => Value::Null,
        }
    }
    fn merge(&self, accumulator: &mut Accumulator, other: &Accumulator) {
        accumulator.count += other.count;
        accumulator.sum = accumulator.sum.wrapping_add(other.sum);
        accumulator.min = accumulator.min.min(other.min);
        accumulator.max = accumulator.max.max(other.max);
    }
}
