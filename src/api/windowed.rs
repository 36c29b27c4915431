//! Windows of a keyed stream: trigger, evictor, lateness, and the function that makes results.

use std::any::type_name;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

use super::explain::{OperatorCard, OperatorKind};
use super::keyed::KeyedStream;
use super::push::Node;
use super::stage::{SideNodes, WindowStage};
use super::stream::{DataStream, SingleOutputStreamOperator};
use super::warnings::{self, WindowFacts};
use crate::error::{Error, Result};
use crate::windowing::assigner::{NonMerging, WindowAssigner};
use crate::windowing::evictor::Evictor;
use crate::windowing::function::{AggregateFunction, EmitResult, ProcessWindowFunction, WindowContext, WindowResult};
use crate::windowing::operator::contents::{Accumulated, Aggregating, Buffered, Contents};
use crate::windowing::operator::edge::WithEdge;
use crate::windowing::operator::general::GeneralOperator;
use crate::windowing::operator::reduce::{EmitReduced, Fold, Reduce};
use crate::windowing::operator::session::SessionOperator;
use crate::windowing::operator::slice::on_grid;
use crate::windowing::operator::{KeyedWindowOperator, Lateness, MarkRule, NoEvictor};
use crate::windowing::output::{Collector, OutputTag};
use crate::windowing::span::Span;
use crate::windowing::trigger::Trigger;
use crate::windowing::window::{TimeWindow, Window as _};
use crate::windowing::{Data, Key, StateData};

/// Windows of a stream whose function is still to come.
#[must_use = "a window does nothing before it has a function: aggregate, reduce, fold or process"]
pub struct WindowedStream<K, T, A, Tr, E = NoEvictor> {
    keyed: KeyedStream<K, T>,
    assigner: A,
    trigger: Tr,
    evictor: E,
    lateness: Lateness<T>,
    name: Option<String>,
    operator: Option<OperatorKind>,
    fault: Option<Error>,
    location: &'static Location<'static>,
}

impl<K, T, A, Tr, E> WindowedStream<K, T, A, Tr, E>
where
    K: Key,
    T: StateData,
    A: WindowAssigner<T>,
    Tr: Trigger<T, A::Window>,
    E: Evictor<T, A::Window>,
{
    pub(super) fn new(
        keyed: KeyedStream<K, T>,
        assigner: A,
        trigger: Tr,
        evictor: E,
        location: &'static Location<'static>,
    ) -> Self {
        let lateness = Lateness { allowed_ms: 0, side_output: None };
        let (name, operator, fault) = (None, None, None);
        WindowedStream { keyed, assigner, trigger, evictor, lateness, name, operator, fault, location }
    }

    /// In place of the assigner's default trigger.
    ///
    /// It must be one for this kind of window. A global window has no end for a time trigger to wait for: this does not
    /// compile, as it does not in Java.
    ///
    /// ```compile_fail,E0277
    /// use transom::api::prelude::*;
    /// let keyed = StreamExecutionEnvironment::new().from_collection([1i64, 2]).key_by(|n| n % 2);
    /// keyed.window(GlobalWindows::create()).trigger(EventTimeTrigger).aggregate(Count);
    /// ```
    ///
    /// A count trigger is for any window:
    ///
    /// ```
    /// use transom::api::prelude::*;
    /// let keyed = StreamExecutionEnvironment::new().from_collection([1i64, 2]).key_by(|n| n % 2);
    /// keyed.window(GlobalWindows::create()).trigger(CountTrigger::of(2)).aggregate(Count);
    /// ```
    pub fn trigger<N: Trigger<T, A::Window>>(self, trigger: N) -> WindowedStream<K, T, A, N, E> {
        let WindowedStream { keyed, assigner, evictor, lateness, name, operator, fault, location, .. } = self;
        WindowedStream { keyed, assigner, trigger, evictor, lateness, name, operator, fault, location }
    }

    /// Takes elements out of a window when it fires. All elements are then kept whole.
    pub fn evictor<N: Evictor<T, A::Window>>(self, evictor: N) -> WindowedStream<K, T, A, Tr, N> {
        let WindowedStream { keyed, assigner, trigger, lateness, name, operator, fault, location, .. } = self;
        WindowedStream { keyed, assigner, trigger, evictor, lateness, name, operator, fault, location }
    }

    /// Keeps event-time windows for `lateness` behind their end: an element that comes by then fires its window again,
    /// with the complete result. The default is zero.
    pub fn allowed_lateness(mut self, lateness: Duration) -> Self {
        let span = Span::new(lateness);
        self.fault = self.fault.or(span.check("the allowed lateness").err());
        self.lateness.allowed_ms = span.ms();
        self
    }

    /// Elements that come later than the allowed lateness go to this side output instead of being dropped and counted.
    pub fn side_output_late_data(mut self, tag: &OutputTag<T>) -> Self {
        self.lateness.side_output = Some(tag.clone());
        self
    }

    /// The operator's name in messages and in `explain`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Insists on an operator instead of the fastest that can serve; one that can't serve is a fault of the program. The
    /// results are the same.
    pub fn operator(mut self, operator: OperatorKind) -> Self {
        self.operator = Some(operator);
        self
    }

    /// One result per firing: that of `function` over the window's elements, with key, window and pane.
    pub fn aggregate<F: AggregateFunction<T>>(
        self,
        function: F,
    ) -> SingleOutputStreamOperator<WindowResult<K, A::Window, F::Output>> {
        self.aggregate_with(function, EmitResult)
    }

    /// The result of `function` goes to `process`, which sees key and window: a slice of that one value.
    pub fn aggregate_with<F, P, Out>(self, function: F, process: P) -> SingleOutputStreamOperator<Out>
    where
        F: AggregateFunction<T>,
        P: ProcessWindowFunction<F::Output, K, A::Window, Out>,
        Out: Data,
    {
        if !E::NONE {
            return self.general_aggregate(function, process, EVICTED);
        }
        match self.serves() {
            (OperatorKind::Slice, because) => match self.assigner.grid() {
                Some(grid) => {
                    let contents =
                        Accumulated { function: function.clone(), process: process.clone(), of: PhantomData };
                    let (general, lateness) = (self.general_operator(contents), self.lateness.clone());
                    let make = move || {
                        let (function, process) = (function.clone(), process.clone());
                        let slices = on_grid::<_, _, A::Window, _, _, _>(grid, lateness.clone(), function, process);
                        Box::new(WithEdge::new(grid, slices, general.clone())) as _
                    };
                    let rule = (MarkRule::FirstWindow(grid), type_name::<(K, T, F)>());
                    self.stage(OperatorKind::Slice, because, PER_SLICE, rule, make)
                }
                None => self.general_aggregate(function, process, because),
            },
            (OperatorKind::Session, because) => {
                let (assigner, lateness) = (self.assigner.clone(), self.lateness.clone());
                let make = move || {
                    let (function, process) = (function.clone(), process.clone());
                    Box::new(SessionOperator::new(assigner.clone(), lateness.clone(), function, process)) as _
                };
                let rule = (MarkRule::OwnTime, type_name::<(K, T, A, F)>());
                self.stage(OperatorKind::Session, because, PER_SESSION, rule, make)
            }
            (OperatorKind::General, because) => self.general_aggregate(function, process, because),
        }
    }

    /// As [`aggregate_with`](Self::aggregate_with), with a closure whose types the compiler finds by itself. It is
    /// called once a firing, with the result of `function`.
    ///
    /// ```
    /// use transom::api::prelude::*;
    /// # fn main() -> Result<()> {
    /// let environment = StreamExecutionEnvironment::new();
    /// let keyed = environment.from_collection([1i64, 2, 3, 4, 5]).key_by(|n| n % 2);
    /// let sums = keyed.count_window(2).aggregate_apply(Sum::of(|n: &i64| *n), |key, context, sum, out| {
    ///     out.collect(format!("{key}: {sum} (pane {})", context.pane().index));
    ///     Ok(())
    /// });
    /// let sums = sums.collect();
    /// environment.execute()?;
    /// assert_eq!(sums.take(), ["1: 4 (pane 0)", "0: 6 (pane 0)"]);
    /// # Ok(()) }
    /// ```
    pub fn aggregate_apply<F, Out>(
        self,
        function: F,
        mut apply: impl FnMut(&K, &mut WindowContext<'_, A::Window>, &F::Output, &mut Collector<'_, Out>) -> Result<()>
        + Clone
        + Send
        + Sync
        + 'static,
    ) -> SingleOutputStreamOperator<Out>
    where
        F: AggregateFunction<T>,
        Out: Data,
    {
        let process = move |key: &K,
                            context: &mut WindowContext<'_, A::Window>,
                            values: &[F::Output],
                            out: &mut Collector<'_, Out>| {
            values.iter().try_for_each(|value| apply(key, context, value, out))
        };
        self.aggregate_with(function, process)
    }

    /// Combines elements two by two: `function(so_far, element)`.
    pub fn reduce(
        self,
        function: impl Fn(T, &T) -> T + Clone + Send + Sync + 'static,
    ) -> SingleOutputStreamOperator<WindowResult<K, A::Window, T>> {
        self.aggregate_with(Reduce { function }, EmitReduced)
    }

    /// All elements of the window go to `process`: they are kept whole until the window is cleaned up.
    pub fn process<P, Out>(self, process: P) -> SingleOutputStreamOperator<Out>
    where
        P: ProcessWindowFunction<T, K, A::Window, Out>,
        Out: Data,
    {
        let evictor = self.evictor.clone();
        self.general(Buffered { evictor, process, of: PhantomData }, "the function wants all elements")
    }

    /// As [`process`](Self::process), with a closure whose types the compiler finds by itself.
    pub fn apply<Out: Data>(
        self,
        function: impl FnMut(&K, &mut WindowContext<'_, A::Window>, &[T], &mut Collector<'_, Out>) -> Result<()>
        + Clone
        + Send
        + Sync
        + 'static,
    ) -> SingleOutputStreamOperator<Out> {
        self.process(function)
    }

    /// Adds elements to an accumulator that can't be merged with another. Not for sessions, whose windows merge.
    ///
    /// On a session this does not compile: two sessions may become one, and nobody knows how to make one of their two
    /// values. Use an aggregate, whose accumulators merge.
    ///
    /// ```compile_fail,E0277
    /// use transom::api::prelude::*;
    /// let keyed = StreamExecutionEnvironment::new().from_collection([1i64, 2]).key_by(|n| n % 2);
    /// let sessions = EventTimeSessionWindows::with_gap(Duration::from_secs(60));
    /// keyed.window(sessions).fold(0, |sum: &mut i64, n| *sum += n);
    /// ```
    ///
    /// On windows that do not merge it does:
    ///
    /// ```
    /// use transom::api::prelude::*;
    /// let keyed = StreamExecutionEnvironment::new().from_collection([1i64, 2]).key_by(|n| n % 2);
    /// let minutes = TumblingEventTimeWindows::of(Duration::from_secs(60));
    /// keyed.window(minutes).fold(0, |sum: &mut i64, n| *sum += n);
    /// ```
    pub fn fold<R: StateData>(
        self,
        initial: R,
        function: impl Fn(&mut R, &T) + Clone + Send + Sync + 'static,
    ) -> SingleOutputStreamOperator<WindowResult<K, A::Window, R>>
    where
        A: NonMerging,
    {
        self.general_aggregate(Fold { initial, function }, EmitResult, "an accumulator that can't be merged")
    }

    /// The operator that serves an aggregate without an evictor, and why.
    fn serves(&self) -> (OperatorKind, &'static str) {
        let merges = self.assigner.merging().is_some();
        let fastest = if self.check_settings().is_err() {
            (OperatorKind::General, "it never runs")
        } else if !self.trigger.is_default_event_time() {
            (OperatorKind::General, "the trigger is not the one of event time")
        } else if self.assigner.grid().is_some() {
            (OperatorKind::Slice, "windows on a grid, the event-time trigger, an aggregate that merges")
        } else if merges && self.assigner.is_session() {
            (OperatorKind::Session, "sessions, the event-time trigger, an aggregate")
        } else {
            (OperatorKind::General, "windows of no fixed grid")
        };
        match self.operator {
            Some(OperatorKind::General) if fastest.0 != OperatorKind::General => {
                (OperatorKind::General, "the program asks for it")
            }
            _ => fastest,
        }
    }

    /// An aggregate on the general operator: of elements that are kept whole where there is an evictor.
    fn general_aggregate<F, P, Out>(
        self,
        function: F,
        process: P,
        because: &'static str,
    ) -> SingleOutputStreamOperator<Out>
    where
        F: AggregateFunction<T>,
        P: ProcessWindowFunction<F::Output, K, A::Window, Out>,
        Out: Data,
    {
        if E::NONE {
            return self.general(Accumulated { function, process, of: PhantomData }, because);
        }
        let evictor = self.evictor.clone();
        self.general(Buffered { evictor, process: Aggregating { function, process }, of: PhantomData }, because)
    }

    /// Makes general operators with these contents.
    fn general_operator<C>(
        &self,
        contents: C,
    ) -> impl Fn() -> GeneralOperator<K, T, A, Tr, C> + Clone + Send + Sync + use<K, T, A, Tr, E, C>
    where
        C: Contents<K, T, A::Window>,
    {
        let (assigner, trigger, lateness) = (self.assigner.clone(), self.trigger.clone(), self.lateness.clone());
        move || GeneralOperator::new(assigner.clone(), trigger.clone(), contents.clone(), lateness.clone())
    }

    fn general<C>(self, contents: C, because: &'static str) -> SingleOutputStreamOperator<C::Out>
    where
        C: Contents<K, T, A::Window>,
    {
        let holds = match (C::BUFFERS, E::NONE) {
            (true, false) => EVICTABLE,
            (true, true) => BUFFERED,
            _ => PER_WINDOW,
        };
        let make = self.general_operator(contents);
        let make = move || Box::new(make()) as _;
        let rule = (MarkRule::EveryMove, type_name::<(K, T, A, Tr, C)>());
        self.stage(OperatorKind::General, because, holds, rule, make)
    }

    fn stage<Out: Data>(
        self,
        kind: OperatorKind,
        because: &'static str,
        holds: &'static str,
        (rule, types): (MarkRule, &str),
        make: impl Fn() -> Box<dyn KeyedWindowOperator<K, T, Out>> + Send + Sync + 'static,
    ) -> SingleOutputStreamOperator<Out> {
        let environment = self.keyed.environment.clone();
        environment.note_fault(self.check(kind).err(), self.location);
        let card = self.card(kind, because, holds);
        environment.note_warnings(warnings::of_window(&card, self.facts(holds == BUFFERED || holds == EVICTABLE)));
        let (node, sides) = (Node::new(), SideNodes::default());
        let (out, drains) = (node.clone(), sides.clone());
        let location = self.location;
        let stage = environment.add_stage(card, types, move |instantiate| {
            Box::new(WindowStage::new(make(), &out, &drains, instantiate, location))
        });
        (self.keyed.connect)(stage, rule);
        SingleOutputStreamOperator::new(DataStream { environment, node, origin: None }, sides)
    }

    /// Faults of the settings.
    fn check_settings(&self) -> Result<()> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.assigner.check()?;
        self.trigger.check()?;
        self.evictor.check()?;
        if self.assigner.merging().is_some() && !self.trigger.can_merge() {
            return Err(Error::usage(format!(
                "{} can't be used with {}: a trigger of windows that merge must merge too",
                self.trigger.describe(),
                self.assigner.describe()
            ))
            .help("give it `can_merge` and `on_merge`, or use windows that do not merge"));
        }
        Ok(())
    }

    /// Faults of the settings, and an operator asked for that can't serve.
    fn check(&self, kind: OperatorKind) -> Result<()> {
        self.check_settings()?;
        match self.operator {
            Some(wanted) if wanted != kind => Err(Error::usage(format!(
                "the {wanted:?} operator can't serve {} with {} and this function: the {kind:?} operator does",
                self.assigner.describe(),
                self.trigger.describe()
            ))
            .help("leave out `.operator(…)`: the fastest operator that can serve is taken")),
            _ => Ok(()),
        }
    }

    fn facts(&self, buffers: bool) -> WindowFacts {
        WindowFacts {
            buffers,
            evicts: !E::NONE,
            may_leave_unfired: self.trigger.may_leave_unfired(),
            ends: self.assigner.is_event_time() || A::Window::of_time_window(TimeWindow::new(0, 1)).is_some(),
        }
    }

    fn card(&self, operator: OperatorKind, because: &str, holds: &str) -> OperatorCard {
        OperatorCard {
            name: self.name.clone().unwrap_or_else(|| self.assigner.describe()),
            assigner: self.assigner.describe(),
            trigger: self.trigger.describe(),
            evictor: self.evictor.describe(),
            allowed_lateness_ms: self.lateness.allowed_ms,
            late_side_output: self.lateness.side_output.as_ref().map(|tag| tag.name().to_string()),
            operator,
            because: because.to_string(),
            holds: holds.to_string(),
            unkeyed: self.keyed.unkeyed,
            event_time: self.assigner.is_event_time(),
            processing_time: self.assigner.uses_processing_time() || self.trigger.uses_processing_time(),
            session_gap_ms: self.assigner.session_gap(),
            never_fires: self.trigger.never_fires(),
            location: self.location,
        }
    }
}

const EVICTED: &str = "an evictor wants all elements";
const PER_SLICE: &str = "one accumulator per key and slice";
const PER_SESSION: &str = "one accumulator per key and open session";
const PER_WINDOW: &str = "one accumulator per key and window";
const BUFFERED: &str = "buffers every element of every open window, once a window, until the window is cleaned up";
const EVICTABLE: &str = "buffers every element of every open window, once a window, until the evictor takes it out or the \
                         window is cleaned up";
