//! Evictors: which elements of a window are taken out before or after the window function has seen them.
//!
//! [`CountEvictor`] keeps the last elements, [`TimeEvictor`] the newest stretch of time, [`DeltaEvictor`] those close
//! to the last one; [`BoxedEvictor`] holds any evictor. With an evictor a window keeps its elements whole. One's own:
//!
//! ```
//! use transom::windowing::evictor::{Elements, Evictor, EvictorContext};
//! use transom::windowing::window::Window;
//!
//! /// Leaves out what is not a number.
//! #[derive(Clone)]
//! struct NotANumber;
//!
//! impl<W: Window> Evictor<f64, W> for NotANumber {
//!     fn evict_before(&self, elements: &mut Elements<f64>, _: &W, _: &EvictorContext) {
//!         elements.evict_where(|value, _timestamp| value.is_nan());
//!     }
//!     fn evict_after(&self, _: &mut Elements<f64>, _: &W, _: &EvictorContext) {}
//!     fn describe(&self) -> String {
//!         String::from("NotANumber")
//!     }
//! }
//! ```

mod boxed;
mod count;
mod delta;
mod time;

pub use boxed::BoxedEvictor;
pub use count::CountEvictor;
pub use delta::DeltaEvictor;
pub use time::TimeEvictor;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::time::EventTime;
use crate::windowing::window::Window;

/// The elements of a window in the order in which the window holds them, with their timestamps.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
    /// Puts them in the order of their timestamps; those of equal ones stay as they are.
    pub fn sort_by_time(&mut self) {
        if !self.timestamps.is_sorted() {
            let mut elements: Vec<_> = self.timestamps.drain(..).zip(self.values.drain(..)).collect();
            elements.sort_by_key(|(timestamp, _)| *timestamp);
            (self.timestamps, self.values) = elements.into_iter().unzip();
        }
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

/// Takes elements out of a window when it fires. Contract: it removes only; see
/// [`check_evictor`](crate::windowing::contract::check_evictor).
#[diagnostic::on_unimplemented(message = "`{Self}` is no evictor of windows `{W}` with elements `{T}`")]
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

/// What a description says of an evictor that acts behind the window function.
fn after_text(after: bool) -> &'static str {
    if after { ", after" } else { "" }
}
