//! Aggregates of closures: elements combined two by two, or added to an accumulator that can't be merged.

use crate::error::Result;
use crate::windowing::function::{AggregateFunction, ProcessWindowFunction, WindowContext, WindowResult};
use crate::windowing::output::Collector;
use crate::windowing::window::Window;
use crate::windowing::{Data, Key, StateData};

/// Elements combined two by two; `None` of none.
#[derive(Clone)]
pub struct Reduce<F> {
    pub function: F,
}

impl<T: StateData, F: Fn(T, &T) -> T + Clone + Send + Sync + 'static> AggregateFunction<T> for Reduce<F> {
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

/// An accumulator that can't be merged, as an aggregate of windows that never do.
#[derive(Clone)]
pub struct Fold<R, F> {
    pub initial: R,
    pub function: F,
}

impl<T, R: StateData, F: Fn(&mut R, &T) + Clone + Send + Sync + 'static> AggregateFunction<T> for Fold<R, F> {
    type Accumulator = R;
    type Output = R;

    fn create_accumulator(&self) -> R {
        self.initial.clone()
    }
    fn add(&self, element: &T, accumulator: &mut R) {
        (self.function)(accumulator, element);
    }
    fn get_result(&self, accumulator: &R) -> R {
        accumulator.clone()
    }
    /// Only windows that never merge have a fold, and only the general operator serves it.
    fn merge(&self, _accumulator: &mut R, _other: &R) {}
}
