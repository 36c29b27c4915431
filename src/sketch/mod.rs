//! Summaries of many values in little memory, with a bound of the error.
//!
//! | sketch              | answers                         | error                                                   |
//! |---------------------|---------------------------------|---------------------------------------------------------|
//! | [`HyperLogLog`]     | how many different values       | relative, 1.04 / √(2^precision) standard error          |
//! | [`TDigest`]         | quantiles                       | in rank, at most 2π √(q (1 − q)) / compression          |
//! | [`DdSketch`]        | quantiles                       | relative, the accuracy that was asked for               |
//! | [`FixedHistogram`]  | counts per bucket, quantiles    | the width of a bucket                                   |
//! | [`TopK`]            | the k highest                   | none                                                    |
//! | [`SpaceSaving`]     | the most frequent               | in counts, at most values / counters; said for each     |
//!
//! All of them take values one by one (`add`), take over what another one has seen (`merge`), and can be asked at any
//! time. Merging is associative: the parts of a stream, summed up apart and merged in any grouping, answer as the whole
//! does; exactly, except for [`TDigest`] and [`SpaceSaving`], which then stay within their bounds. Nothing depends on
//! chance: the same values in the same order give the same answer in every process.
//!
//! Values of type `f64` may be infinite and have their place in the order. NaN has none: the sketches leave it out and
//! count it (`skipped`).

mod dd_sketch;
mod histogram;
mod hyper_log_log;
mod order;
mod space_saving;
mod t_digest;
mod top_k;

pub use dd_sketch::DdSketch;
pub use histogram::FixedHistogram;
pub use hyper_log_log::HyperLogLog;
pub use order::order;
pub use space_saving::{HeavyHitter, SpaceSaving};
pub use t_digest::TDigest;
pub use top_k::TopK;

use crate::error::{Error, Result};

#[cfg(test)]
mod tests;

/// Checks the quantiles that somebody wants to ask for.
///
/// # Errors
/// Kind Usage for a number outside 0 to 1.
pub fn check_quantiles(quantiles: &[f64]) -> Result<()> {
    match quantiles.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        None => Ok(()),
        Some(q) => Err(Error::usage(format!("expected a quantile from 0 to 1, found {q}"))
            .help("write the 95th percentile as 0.95")),
    }
}
