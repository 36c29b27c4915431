//! Builders that apply Flink's typing rules.

use super::Expr;
use crate::error::{Error, Result};
use crate::types::DataType;

/// A scalar function by its SQL name (any case). Errors carry no place; the binder adds it.
pub fn function(name: &str, args: Vec<Expr>) -> Result<Expr> {
    let _ = args;
    Err(Error::script(format!("unknown function {name}")))
}

/// A binary operator by its SQL spelling: + - * / % || = <> < <= > >= AND OR, IS [NOT] DISTINCT FROM.
pub fn binary(operator: &str, left: Expr, right: Expr) -> Result<Expr> {
    let _ = (left, right);
    Err(Error::script(format!("unknown operator {operator}")))
}

/// CAST or TRY_CAST. A cast to the same type is no cast.
pub fn cast(input: Expr, to: DataType, safe: bool) -> Result<Expr> {
    Ok(Expr::Cast { input: Box::new(input), data_type: to, safe })
}
