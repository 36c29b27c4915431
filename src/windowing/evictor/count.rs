//! Keeping the last elements.

use crate::windowing::evictor::{Elements, Evictor, EvictorContext};
use crate::windowing::window::Window;

/// Keeps the last `max_count` elements, by the order in which the window holds them, and takes out those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountEvictor {
    max_count: u64,
    after: bool,
}

impl CountEvictor {
    /// Takes elements out before the window function sees them.
    pub fn of(max_count: u64) -> Self {
        CountEvictor { max_count, after: false }
    }
    /// Takes elements out after the window function has seen them.
    pub fn of_after(max_count: u64) -> Self {
        CountEvictor { max_count, after: true }
    }
    fn evict<T>(&self, elements: &mut Elements<T>) {
        let kept = usize::try_from(self.max_count).unwrap_or(usize::MAX);
        elements.evict_first(elements.len().saturating_sub(kept));
    }
}

impl<T, W: Window> Evictor<T, W> for CountEvictor {
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
        format!("CountEvictor({}{})", self.max_count, super::after_text(self.after))
    }
}
