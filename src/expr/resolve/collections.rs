//! Functions of ARRAY and MAP by name.

use super::super::eval::{Function, Nested};
use super::functions::Args;
use super::{Expr, call, kind_of};
use crate::error::Result;
use crate::types::Type;

/// The function of that name (upper case), if it is one of ARRAY or MAP.
pub(super) fn function(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    Ok(Some(match name {
        "CARDINALITY" => {
            args.count(1, 1)?;
            let value = args.take();
            if !matches!(kind_of(&value), Type::Array(_) | Type::Map(..)) {
                return Err(args.mismatch("an ARRAY or a MAP", &value));
            }
            let nullable = value.data_type().nullable;
            call(Function::Nested(Nested::Cardinality), vec![value], Type::Int, nullable)
        }
        _ => return Ok(None),
    }))
}
