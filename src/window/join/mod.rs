//! Joins: rows of two inputs side by side.
//!
//! A window join (`windowed`) keeps the rows of each window until the window ends and pairs them then; so a row
//! without a partner is known as such, and is padded with NULLs once. A regular join (`regular`) keeps all rows for
//! good and gives a pair as soon as it has both. An interval join (`interval`) does so too, and gives rows up when their
//! time is over. A temporal join (`temporal`) has left rows wait for the watermark, and keeps the versions that they may
//! meet. All find partners by encoded key (`keys`) and put the results together alike (`pairs`); those that keep rows
//! longer than a window number them (`stored`), and `results` brings what comes about row by row into an order that does
//! not depend on the number of shards.

mod interval;
mod keys;
mod pairs;
mod regular;
mod results;
mod stored;
mod temporal;
#[cfg(test)]
mod tests;
mod windowed;

use super::WindowOperator;
use crate::error::{Error, Result};
use crate::expr::EvalContext;
use crate::plan::{JoinSpec, JoinTimes};
use keys::Keys;
use pairs::Pairs;

/// # Errors
/// Unsupported for keys that are nested, script for an unknown zone, internal for a specification that no front end
/// writes.
pub(super) fn operator(spec: &JoinSpec, context: &EvalContext) -> Result<Box<dyn WindowOperator + Send>> {
    let width = spec.inputs[0].len() + spec.inputs[1].len();
    if let Some(beyond) = spec.output.iter().find(|&&column| column >= width) {
        return Err(Error::internal(format!("a join gives column {beyond} of {width}")));
    }
    let (keys, pairs) = (Keys::new(spec)?, Pairs::new(spec, context));
    Ok(match (&spec.times, spec.bounds(0), spec.bounds(1)) {
        (JoinTimes::Windows(_), Some(left), Some(right)) => {
            Box::new(windowed::WindowJoin::new(spec, [left, right], keys, pairs)?)
        }
        (JoinTimes::Windows(_), ..) => return Err(Error::internal("a window join of rows without windows")),
        (JoinTimes::Interval(bounds), ..) => Box::new(interval::IntervalJoin::new(spec, *bounds, keys, pairs)?),
        (JoinTimes::Versions(versions), ..) => Box::new(temporal::TemporalJoin::new(spec, *versions, keys, pairs)?),
        (JoinTimes::Unbounded, ..) => Box::new(regular::RegularJoin::new(spec, keys, pairs)?),
    })
}
