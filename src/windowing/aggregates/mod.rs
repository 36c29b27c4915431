//! Ready-made aggregate functions, generic over the element by a closure that picks the field.
//!
//! ```
//! use transom::windowing::aggregates::{AggregateExt, Average, Count, Max, Quantiles};
//! use transom::windowing::function::AggregateFunction;
//!
//! #[derive(Clone)]
//! struct Request {
//!     status: u16,
//!     millis: i64,
//! }
//!
//! // A tuple of aggregates is one, with a tuple as its result.
//! let aggregate = (
//!     Count.filter(|r: &Request| r.status >= 500),
//!     Average::of(|r: &Request| r.millis),
//!     Max::of(|r: &Request| r.millis).map_result(|max: Option<i64>| max.unwrap_or(0)),
//!     Quantiles::t_digest([0.5, 0.75], |r: &Request| r.millis)?,
//! );
//! let mut accumulator = aggregate.create_accumulator();
//! for (status, millis) in [(200, 10), (200, 20), (503, 60)] {
//!     aggregate.add(&Request { status, millis }, &mut accumulator);
//! }
//! assert_eq!(aggregate.get_result(&accumulator), (1, Some(30.0), 60, Some([20.0, 40.0])));
//! # Ok::<(), transom::error::Error>(())
//! ```
//!
//! A window can be empty when an evictor has emptied it. Then counts and sums are 0, lists have no entries, and
//! everything else is `None`.
//!
//! Values are compared by [`order`](crate::sketch::order): NaN is above all numbers, as for `max` and `maxBy` of Flink's
//! DataStream API. Averages, sums and variances of NaN are NaN; quantiles leave it out.

mod closures;
mod collect;
mod compose;
mod count;
mod distinct;
mod extreme;
mod number;
mod quantile;
mod rate;
mod sum;
mod top;
mod variance;

pub use closures::Aggregate;
pub use collect::Collect;
pub use compose::{AggregateExt, Filtered, Mapped};
pub use count::Count;
pub use distinct::{ApproxCountDistinct, CountDistinct};
pub use extreme::{Extreme, ExtremeBy, FirstBy, Highest, LastBy, Latest, Lowest, Max, MaxBy, Min, MinBy, Rule};
pub use number::Number;
pub use quantile::{HistogramQuantile, QuantileSketch, Quantiles};
pub use rate::{ErrorRate, ErrorShare};
pub use sum::{Average, Sum, SumAndCount};
pub use top::{HeavyHitters, TopK};
pub use variance::{Moments, StdDev, Variance};

#[cfg(test)]
mod tests;
