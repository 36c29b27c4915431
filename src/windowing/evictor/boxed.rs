//! Evictors whose type is known at run time only.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::windowing::evictor::{Elements, Evictor, EvictorContext};
use crate::windowing::window::Window;

/// Any evictor for elements of type `T` in windows of type `W`, for programs that choose one at run time.
pub struct BoxedEvictor<T, W>(Arc<dyn Erased<T, W>>);

impl<T, W: Window> BoxedEvictor<T, W> {
    /// Forgets the type of `evictor`.
    pub fn new(evictor: impl Evictor<T, W>) -> Self {
        BoxedEvictor(Arc::new(evictor))
    }
}

impl<T, W> Clone for BoxedEvictor<T, W> {
    fn clone(&self) -> Self {
        BoxedEvictor(Arc::clone(&self.0))
    }
}

impl<T, W> fmt::Debug for BoxedEvictor<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.describe())
    }
}

/// [`Evictor`] without `Clone`.
trait Erased<T, W>: Send + Sync {
    fn check(&self) -> Result<()>;
    fn evict_before(&self, elements: &mut Elements<T>, window: &W, context: &EvictorContext);
    fn evict_after(&self, elements: &mut Elements<T>, window: &W, context: &EvictorContext);
    fn describe(&self) -> String;
}

impl<T, W: Window, E: Evictor<T, W>> Erased<T, W> for E {
    fn check(&self) -> Result<()> {
        Evictor::check(self)
    }
    fn evict_before(&self, elements: &mut Elements<T>, window: &W, context: &EvictorContext) {
        Evictor::evict_before(self, elements, window, context);
    }
    fn evict_after(&self, elements: &mut Elements<T>, window: &W, context: &EvictorContext) {
        Evictor::evict_after(self, elements, window, context);
    }
    fn describe(&self) -> String {
        Evictor::describe(self)
    }
}

impl<T: 'static, W: Window> Evictor<T, W> for BoxedEvictor<T, W> {
    fn check(&self) -> Result<()> {
        self.0.check()
    }
    fn evict_before(&self, elements: &mut Elements<T>, window: &W, context: &EvictorContext) {
        self.0.evict_before(elements, window, context);
    }
    fn evict_after(&self, elements: &mut Elements<T>, window: &W, context: &EvictorContext) {
        self.0.evict_after(elements, window, context);
    }
    fn describe(&self) -> String {
        self.0.describe()
    }
}
