//! Evictors: which elements of a window are taken out before or after the window function has seen them.

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::window::Window;

/// The elements of a window in the order in which the window holds them, with their timestamps.
#[derive(Debug, Clone)]
pub struct Elements<T> {
    values: Vec<T>,
    timestamps: Vec<EventTime>,
}

impl<T> Default for Elements<T> {
    fn default() -> Self {
        Elements { values: Vec::new(), timestamps: Vec::new() }
    }
}

impl<T> Elements<T> {
    pub fn len(&self) -> usize {
        self.values.len()
    }
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// Milliseconds, one an element.
    pub fn timestamps(&self) -> &[EventTime] {
        &self.timestamps
    }
    pub fn push(&mut self, value: T, timestamp: EventTime) {
        self.values.push(value);
        self.timestamps.push(timestamp);
    }
    pub fn append(&mut self, mut other: Elements<T>) {
        self.values.append(&mut other.values);
        self.timestamps.append(&mut other.timestamps);
    }
    /// Takes out the first `count` elements.
    pub fn evict_first(&mut self, count: usize) {
        let count = count.min(self.len());
        self.values.drain(..count);
        self.timestamps.drain(..count);
    }
    /// Takes out the elements for which `evicts` holds.
    pub fn evict_where(&mut self, mut evicts: impl FnMut(&T, EventTime) -> bool) {
        let keep: Vec<bool> = self.values.iter().zip(&self.timestamps).map(|(v, &t)| !evicts(v, t)).collect();
        let mut kept = keep.iter();
        self.values.retain(|_| *kept.next().unwrap_or(&true));
        let mut kept = keep.iter();
        self.timestamps.retain(|_| *kept.next().unwrap_or(&true));
    }
}

/// What an evictor sees of the operator.
#[derive(Debug, Clone, Copy)]
pub struct EvictorContext {
    pub current_watermark: EventTime,
    /// Milliseconds since 1970.
    pub current_processing_time: EventTime,
}

/// Takes elements out of a window when it fires. Contract: it removes only.
pub trait Evictor<T, W: Window>: Clone + Send + Sync + 'static {
    /// Takes nothing out, ever: there is no evictor, and elements need not be kept whole for it.
    const NONE: bool = false;

    /// Faults of the settings, found before anything runs.
    ///
    /// # Errors
    /// Kind Usage, with what was expected.
    fn check(&self) -> Result<()> {
        Ok(())
    }
    /// Before the window function sees the elements.
    fn evict_before(&self, elements: &mut Elements<T>, window: &W, context: &EvictorContext);
    /// After the window function has seen them; what is taken out is gone at the next firing.
    fn evict_after(&self, elements: &mut Elements<T>, window: &W, context: &EvictorContext);
    /// Flink's name with its settings, as `explain` shows it.
    fn describe(&self) -> String;
}
