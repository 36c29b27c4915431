//! Keeping the newest stretch of time.

use std::time::Duration;

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::evictor::{Elements, Evictor, EvictorContext};
use crate::windowing::span::Span;
use crate::windowing::window::Window;

/// Takes out the elements that are older than the newest one by `window_size` or more. Does nothing where the first
/// element has no timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeEvictor {
    window_size: Span,
    after: bool,
}

impl TimeEvictor {
    /// Takes elements out before the window function sees them. A `window_size` of 0 takes out all.
    pub fn of(window_size: Duration) -> Self {
        TimeEvictor { window_size: Span::new(window_size), after: false }
    }
    /// Takes elements out after the window function has seen them.
    pub fn of_after(window_size: Duration) -> Self {
        TimeEvictor { window_size: Span::new(window_size), after: true }
    }
    fn evict<T>(&self, elements: &mut Elements<T>) {
        let newest = elements.timestamps().iter().copied().max();
        let first = elements.timestamps().first().copied();
        if let Some(newest) = newest
            && first != Some(EventTime::MIN)
        {
            let cutoff = newest.wrapping_sub(self.window_size.ms());
            elements.evict_where(|_, timestamp| timestamp <= cutoff);
        }
    }
}

impl<T, W: Window> Evictor<T, W> for TimeEvictor {
    fn check(&self) -> Result<()> {
        self.window_size.check("the time of TimeEvictor")
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
        format!("TimeEvictor({}{})", self.window_size.ms(), super::after_text(self.after))
    }
}
