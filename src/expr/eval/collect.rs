//! Functions of ARRAY and MAP.

use arrow::array::ArrayRef;

use super::function::Nested;
use super::value::Value;
use crate::error::{Error, Result};
use crate::types::Type;

pub(super) fn collect(
    function: Nested,
    values: &[Value],
    _kinds: &[&Type],
    _to: &Type,
    _count: usize,
) -> Result<ArrayRef> {
    Err(Error::internal(format!("{function:?} of {} arguments", values.len())))
}
