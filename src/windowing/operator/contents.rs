//! What a window of one key holds: an accumulator, or the elements themselves.

use std::marker::PhantomData;

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::evictor::{Elements, Evictor, EvictorContext};
use crate::windowing::function::{AggregateFunction, ProcessWindowFunction, WindowContext};
use crate::windowing::output::Collector;
use crate::windowing::window::Window;
use crate::windowing::{Data, Key, StateData};

/// The contents of windows, and what becomes of them when one fires.
pub trait Contents<K, T, W: Window>: Clone + Send + Sync + 'static {
    /// Of one window of one key.
    type State: StateData;
    type Out: Data;
    /// Keeps elements whole.
    const BUFFERS: bool;

    fn create(&self) -> Self::State;
    fn add(&self, state: &mut Self::State, value: T, timestamp: EventTime);
    /// `other` merges into `state`, behind it.
    fn merge(&self, state: &mut Self::State, other: Self::State);
    /// Gives the contents to the window function; evictors act before and after it.
    ///
    /// # Errors
    /// Those of the function.
    fn fire(
        &mut self,
        key: &K,
        state: &mut Self::State,
        context: &mut WindowContext<'_, W>,
        out: &mut Collector<'_, Self::Out>,
    ) -> Result<()>;
    /// Puts elements that are kept whole in the order of their timestamps; those of equal ones stay as they are.
    fn sort_by_time(&self, _state: &mut Self::State) {}
    /// Elements kept whole.
    fn buffered(&self, state: &Self::State) -> usize;
}

/// One accumulator; its result goes to `process`.
#[derive(Clone)]
pub struct Accumulated<F, P, Out> {
    pub function: F,
    pub process: P,
    pub of: PhantomData<fn() -> Out>,
}

/// All elements; `evictor` takes some out, the rest goes to `process`.
#[derive(Clone)]
pub struct Buffered<E, P, Out> {
    pub evictor: E,
    pub process: P,
    pub of: PhantomData<fn() -> Out>,
}

/// The window function of an aggregate over elements that are kept whole: its result goes to `process`.
#[derive(Clone)]
pub struct Aggregating<F, P> {
    pub function: F,
    pub process: P,
}

impl<K, T, W, F, P, Out> ProcessWindowFunction<T, K, W, Out> for Aggregating<F, P>
where
    W: Window,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, W, Out>,
{
    fn process(
        &mut self,
        key: &K,
        context: &mut WindowContext<'_, W>,
        elements: &[T],
        out: &mut Collector<'_, Out>,
    ) -> Result<()> {
        let mut accumulator = self.function.create_accumulator();
        elements.iter().for_each(|element| self.function.add(element, &mut accumulator));
        let result = self.function.get_result(&accumulator);
        self.process.process(key, context, std::slice::from_ref(&result), out)
    }
}

impl<K, T, W, F, P, Out> Contents<K, T, W> for Accumulated<F, P, Out>
where
    K: Key,
    T: Data,
    W: Window,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, W, Out>,
    Out: Data,
{
    type State = F::Accumulator;
    type Out = Out;
    const BUFFERS: bool = false;

    fn create(&self) -> Self::State {
        self.function.create_accumulator()
    }
    fn add(&self, state: &mut Self::State, value: T, _timestamp: EventTime) {
        self.function.add(&value, state);
    }
    fn merge(&self, state: &mut Self::State, other: Self::State) {
        self.function.merge(state, &other);
    }
    fn fire(
        &mut self,
        key: &K,
        state: &mut Self::State,
        context: &mut WindowContext<'_, W>,
        out: &mut Collector<'_, Out>,
    ) -> Result<()> {
        let result = self.function.get_result(state);
        self.process.process(key, context, std::slice::from_ref(&result), out)
    }
    fn buffered(&self, _state: &Self::State) -> usize {
        0
    }
}

impl<K, T, W, E, P, Out> Contents<K, T, W> for Buffered<E, P, Out>
where
    K: Key,
    T: StateData,
    W: Window,
    E: Evictor<T, W>,
    P: ProcessWindowFunction<T, K, W, Out>,
    Out: Data,
{
    type State = Elements<T>;
    type Out = Out;
    const BUFFERS: bool = true;

    fn create(&self) -> Self::State {
        Elements::default()
    }
    fn add(&self, state: &mut Self::State, value: T, timestamp: EventTime) {
        state.push(value, timestamp);
    }
    fn merge(&self, state: &mut Self::State, other: Self::State) {
        state.append(other);
    }
    fn fire(
        &mut self,
        key: &K,
        state: &mut Self::State,
        context: &mut WindowContext<'_, W>,
        out: &mut Collector<'_, Out>,
    ) -> Result<()> {
        let window = context.window().clone();
        let evicting = EvictorContext {
            current_watermark: context.current_watermark(),
            current_processing_time: context.current_processing_time(),
        };
        self.evictor.evict_before(state, &window, &evicting);
        self.process.process(key, context, state.values(), out)?;
        self.evictor.evict_after(state, &window, &evicting);
        Ok(())
    }
    fn sort_by_time(&self, state: &mut Self::State) {
        state.sort_by_time();
    }
    fn buffered(&self, state: &Self::State) -> usize {
        state.len()
    }
}
