//! Contents that combine elements without an [`AggregateFunction`] of the user's.

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::evictor::{Elements, Evictor, EvictorContext};
use crate::windowing::function::{AggregateFunction, ProcessWindowFunction, WindowContext, WindowResult};
use crate::windowing::operator::contents::Contents;
use crate::windowing::output::Collector;
use crate::windowing::window::Window;
use crate::windowing::{Data, Key};

/// Elements combined two by two; `None` of none.
#[derive(Clone)]
pub struct Reduce<F> {
    pub function: F,
}

impl<T: Data, F: Fn(T, &T) -> T + Clone + Send + Sync + 'static> AggregateFunction<T> for Reduce<F> {
    type Accumulator = Option<T>;
    type Output = Option<T>;

    fn create_accumulator(&self) -> Option<T> {
        None
    }
    fn add(&self, element: &T, accumulator: &mut Option<T>) {
        *accumulator = Some(match accumulator.take() {
            Some(so_far) => (self.function)(so_far, element),
            None => element.clone(),
        });
    }
    fn get_result(&self, accumulator: &Option<T>) -> Option<T> {
        accumulator.clone()
    }
    fn merge(&self, accumulator: &mut Option<T>, other: &Option<T>) {
        if let Some(other) = other {
            self.add(other, accumulator);
        }
    }
}

/// Turns what a [`Reduce`] came to into results: none of a window that an evictor has emptied.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmitReduced;

impl<T: Data, K: Key, W: Window> ProcessWindowFunction<Option<T>, K, W, WindowResult<K, W, T>> for EmitReduced {
    fn process(
        &mut self,
        key: &K,
        context: &mut WindowContext<'_, W>,
        elements: &[Option<T>],
        out: &mut Collector<'_, WindowResult<K, W, T>>,
    ) -> Result<()> {
        for value in elements.iter().flatten().cloned() {
            let (key, window) = (key.clone(), context.window().clone());
            out.collect(WindowResult { key, window, pane: context.pane(), value });
        }
        Ok(())
    }
}

/// An accumulator that can't be merged. With an evictor it is made of the elements that are left, at each firing.
#[derive(Clone)]
pub struct Fold<E, R, F> {
    pub evictor: E,
    pub initial: R,
    pub function: F,
}

/// What a window of a [`Fold`] holds.
#[derive(Clone)]
pub enum Folded<T, R> {
    Accumulator(R),
    Elements(Elements<T>),
}

impl<K, T, W, E, R, F> Contents<K, T, W> for Fold<E, R, F>
where
    K: Key,
    T: Data,
    W: Window,
    E: Evictor<T, W>,
    R: Data,
    F: Fn(&mut R, &T) + Clone + Send + Sync + 'static,
{
    type State = Folded<T, R>;
    type Out = WindowResult<K, W, R>;
    const BUFFERS: bool = !E::NONE;

    fn create(&self) -> Self::State {
        if E::NONE { Folded::Accumulator(self.initial.clone()) } else { Folded::Elements(Elements::default()) }
    }
    fn add(&self, state: &mut Self::State, value: T, timestamp: EventTime) {
        match state {
            Folded::Accumulator(accumulator) => (self.function)(accumulator, &value),
            Folded::Elements(elements) => elements.push(value, timestamp),
        }
    }
    /// Only windows that never merge have a fold.
    fn merge(&self, _state: &mut Self::State, _other: Self::State) {}
    fn fire(
        &mut self,
        key: &K,
        state: &mut Self::State,
        context: &mut WindowContext<'_, W>,
        out: &mut Collector<'_, Self::Out>,
    ) -> Result<()> {
        let (window, pane) = (context.window().clone(), context.pane());
        let evicting = EvictorContext {
            current_watermark: context.current_watermark(),
            current_processing_time: context.current_processing_time(),
        };
        let value = match state {
            Folded::Accumulator(accumulator) => accumulator.clone(),
            Folded::Elements(elements) => {
                self.evictor.evict_before(elements, &window, &evicting);
                let mut accumulator = self.initial.clone();
                elements.values().iter().for_each(|value| (self.function)(&mut accumulator, value));
                self.evictor.evict_after(elements, &window, &evicting);
                accumulator
            }
        };
        out.collect(WindowResult { key: key.clone(), window, pane, value });
        Ok(())
    }
    fn buffered(&self, state: &Self::State) -> usize {
        match state {
            Folded::Accumulator(_) => 0,
            Folded::Elements(elements) => elements.len(),
        }
    }
}
