//! Keeping the elements that are close to the last one.

use std::fmt;

use crate::error::{Error, Result};
use crate::windowing::Data;
use crate::windowing::evictor::{Elements, Evictor, EvictorContext};
use crate::windowing::window::Window;

/// Takes out the elements from which the last one differs by a threshold or more.
#[derive(Clone, Copy)]
pub struct DeltaEvictor<F> {
    threshold: f64,
    delta: F,
    after: bool,
}

impl<F> DeltaEvictor<F> {
    /// Takes elements out before the window function sees them. `delta(element, last)` says by how much they differ;
    /// not a number keeps the element.
    pub fn of<T>(threshold: f64, delta: F) -> Self
    where
        F: Fn(&T, &T) -> f64 + Clone + Send + Sync + 'static,
    {
        DeltaEvictor { threshold, delta, after: false }
    }
    /// Takes elements out after the window function has seen them.
    pub fn of_after<T>(threshold: f64, delta: F) -> Self
    where
        F: Fn(&T, &T) -> f64 + Clone + Send + Sync + 'static,
    {
        DeltaEvictor { threshold, delta, after: true }
    }
    fn evict<T: Data>(&self, elements: &mut Elements<T>)
    where
        F: Fn(&T, &T) -> f64,
    {
        if let Some(last) = elements.values().last().cloned() {
            elements.evict_where(|value, _| (self.delta)(value, &last) >= self.threshold);
        }
    }
}

impl<F> fmt::Debug for DeltaEvictor<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeltaEvictor({:?}{})", self.threshold, super::after_text(self.after))
    }
}

impl<T, W, F> Evictor<T, W> for DeltaEvictor<F>
where
    T: Data,
    W: Window,
    F: Fn(&T, &T) -> f64 + Clone + Send + Sync + 'static,
{
    fn check(&self) -> Result<()> {
        if self.threshold.is_nan() {
            return Err(Error::usage("the threshold of DeltaEvictor is not a number").help("give a number"));
        }
        Ok(())
    }
    fn evict_before(&self, elements: &mut Elements<T>, _window: &W, _context: &EvictorContext) {
        if !self.after {
            self.evict(elements);
        }
    }
    fn evict_after(&self, elements: &mut Elements<T>, _window: &W, _context: &EvictorContext) {
        if self.after {
            self.evict(elements);
        }
    }
    fn describe(&self) -> String {
        format!("{self:?}")
    }
}
