//! SPLIT and STR_TO_MAP: strings cut into ARRAYs and MAPs.
use arrow::array::ArrayRef;

use super::value::Value;
use crate::error::{Error, Result};
use crate::types::Type;

pub(super) fn split(_values: &[Value], _to: &Type, _count: usize) -> Result<ArrayRef> {
    Err(Error::internal("split"))
}
pub(super) fn to_map(_values: &[Value], _to: &Type, _count: usize) -> Result<ArrayRef> {
    Err(Error::internal("split"))
}
