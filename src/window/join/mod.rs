//! Joins: rows of two inputs side by side.
//!
//! A window join (`windowed`) keeps the rows of each window until the window ends and pairs them then; so a row
//! without a partner is known as such, and is padded with NULLs once. A regular join (`regular`) keeps all rows for
//! good and gives a pair as soon as it has both. Both find partners by encoded key (`keys`) and put the results together
//! alike (`pairs`).

mod keys;
mod pairs;
mod regular;
#[cfg(test)]
mod tests;
mod windowed;

use super::WindowOperator;
use crate::error::{Error, Result};
use crate::expr::EvalContext;
use crate::plan::JoinSpec;
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
    Ok(match (spec.bounds(0), spec.bounds(1)) {
        (Some(left), Some(right)) => Box::new(windowed::WindowJoin::new(spec, [left, right], keys, pairs)?),
        _ => Box::new(regular::RegularJoin::new(spec, keys, pairs)?),
    })
}
