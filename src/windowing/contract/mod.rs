//! Tries implementations of the traits of windows against their contracts, for tests of one's own.
//!
//! Each function says in a sentence what is broken. The more different the elements, the more it finds.
//!
//! ```
//! use std::time::Duration;
//! use transom::windowing::assigner::TumblingEventTimeWindows;
//! use transom::windowing::contract::{Step, check_assigner, check_evictor, check_trigger};
//! use transom::windowing::evictor::CountEvictor;
//! use transom::windowing::trigger::{CountTrigger, PurgingTrigger};
//! use transom::windowing::window::TimeWindow;
//!
//! let elements: Vec<(&str, i64)> = vec![("a", 0), ("b", 999), ("c", 1000)];
//! check_assigner(&TumblingEventTimeWindows::of(Duration::from_secs(1)), &elements, 0)?;
//!
//! let window = TimeWindow::new(0, 1000);
//! let steps = vec![Step::Element("a", 0), Step::Element("b", 5), Step::Watermark(999), Step::Element("c", 7)];
//! check_trigger(&PurgingTrigger::of(CountTrigger::of(2)), &window, &steps)?;
//! check_evictor(&CountEvictor::of(2), &window, &elements)?;
//! # Ok::<(), String>(())
//! ```

mod aggregate;
mod assigner;
mod evictor;
#[cfg(test)]
mod tests;
mod trigger;

pub use aggregate::check_aggregate;
pub use assigner::check_assigner;
pub use evictor::check_evictor;
pub use trigger::{Step, check_trigger};
