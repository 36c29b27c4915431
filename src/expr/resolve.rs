//! Builders that apply Flink's typing rules.
//!
//! Every builder gives back an [`Expr`] whose types and nullability are settled, or an error of kind
//! Script (Flink refuses it too) or Unsupported (Flink has it, Transom has not). Errors carry no
//! place; the binder adds it.

use super::Expr;
use crate::error::{Error, Result};
use crate::types::DataType;

fn pending<T>() -> Result<T> {
    Err(Error::internal("expressions are not there yet"))
}

/// A scalar function by its SQL name (any case). Errors carry no place; the binder adds it.
///
/// Units come as string literals: `EXTRACT(unit, x)`, `FLOOR(x, unit)`, `CEIL(x, unit)`,
/// `TIMESTAMPDIFF(unit, a, b)`, `TIMESTAMPADD(unit, n, x)`. `TRIM`, `LTRIM`, `RTRIM` take the text and
/// optionally the characters to strip; `TRIM(LEADING c FROM x)` is `LTRIM(x, c)`.
/// `POSITION(needle IN x)` is `POSITION(needle, x)`; `OVERLAY` takes (x, replacement, start[, length]).
pub fn function(name: &str, args: Vec<Expr>) -> Result<Expr> {
    let _ = args;
    Err(Error::script(format!("unknown function {name}")))
}

/// The names of all supported functions, upper case, for offering the nearest one.
pub fn names() -> &'static [&'static str] {
    &[]
}

/// A binary operator by its SQL spelling: + - * / % || = <> != < <= > >= AND OR,
/// IS DISTINCT FROM, IS NOT DISTINCT FROM.
pub fn binary(operator: &str, left: Expr, right: Expr) -> Result<Expr> {
    let _ = (left, right);
    Err(Error::script(format!("unknown operator {operator}")))
}

/// A prefix operator: `-`, `+` or `NOT`.
pub fn unary(operator: &str, input: Expr) -> Result<Expr> {
    let _ = (operator, input);
    pending()
}

/// CAST or TRY_CAST. A cast to the same type is no cast.
pub fn cast(input: Expr, to: DataType, safe: bool) -> Result<Expr> {
    Ok(Expr::Cast { input: Box::new(input), data_type: to, safe })
}

/// `CASE WHEN condition THEN value … ELSE otherwise END`; without ELSE, NULL. The form with an
/// operand (`CASE x WHEN 1 …`) is for the binder to write as `x = 1`.
pub fn case(branches: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Result<Expr> {
    let _ = (branches, otherwise);
    pending()
}

/// `input IS [NOT] NULL`.
pub fn is_null(input: Expr, negated: bool) -> Result<Expr> {
    let _ = (input, negated);
    pending()
}

/// `input IS [NOT] TRUE`.
pub fn is_true(input: Expr, negated: bool) -> Result<Expr> {
    let _ = (input, negated);
    pending()
}

/// `input IS [NOT] FALSE`.
pub fn is_false(input: Expr, negated: bool) -> Result<Expr> {
    let _ = (input, negated);
    pending()
}

/// `input IS [NOT] UNKNOWN`.
pub fn is_unknown(input: Expr, negated: bool) -> Result<Expr> {
    let _ = (input, negated);
    pending()
}

/// `input [NOT] LIKE pattern [ESCAPE escape]`.
pub fn like(input: Expr, pattern: Expr, escape: Option<Expr>, negated: bool) -> Result<Expr> {
    let _ = (input, pattern, escape, negated);
    pending()
}

/// `input [NOT] SIMILAR TO pattern [ESCAPE escape]`.
pub fn similar(input: Expr, pattern: Expr, escape: Option<Expr>, negated: bool) -> Result<Expr> {
    let _ = (input, pattern, escape, negated);
    pending()
}

/// `input [NOT] BETWEEN low AND high` (asymmetric).
pub fn between(input: Expr, low: Expr, high: Expr, negated: bool) -> Result<Expr> {
    let _ = (input, low, high, negated);
    pending()
}

/// `input [NOT] IN (list)`.
pub fn in_list(input: Expr, list: Vec<Expr>, negated: bool) -> Result<Expr> {
    let _ = (input, list, negated);
    pending()
}

/// The implicit cast of a query column into a sink column; an error where Flink refuses it.
/// NOT NULL of the sink is not judged here.
pub fn coerce_assign(input: Expr, to: &DataType) -> Result<Expr> {
    let _ = (input, to);
    pending()
}

/// The type that CASE branches, UNION columns and the like share; `None` where Flink finds none.
/// Nullable if one of them is.
pub fn common_type(types: &[DataType]) -> Option<DataType> {
    types.first().cloned()
}

/// A number as written, without sign: `1` is INT or BIGINT, `1.5` DECIMAL(2, 1), `1e0` DOUBLE.
pub fn literal_number(text: &str) -> Result<Expr> {
    let _ = text;
    pending()
}

/// CHAR(n) NOT NULL, n counted as Flink does.
pub fn literal_string(text: &str) -> Expr {
    let _ = text;
    literal_null()
}

/// BOOLEAN NOT NULL.
pub fn literal_bool(value: bool) -> Expr {
    let _ = value;
    literal_null()
}

/// NULL without a type of its own.
pub fn literal_null() -> Expr {
    Expr::literal(super::Scalar::Null, crate::types::Type::Null.nullable())
}

/// `TIMESTAMP 'text'`: TIMESTAMP(p) NOT NULL, p the number of fractional digits.
pub fn literal_timestamp(text: &str) -> Result<Expr> {
    let _ = text;
    pending()
}

/// `DATE 'text'`.
pub fn literal_date(text: &str) -> Result<Expr> {
    let _ = text;
    pending()
}

/// `TIME 'text'`.
pub fn literal_time(text: &str) -> Result<Expr> {
    let _ = text;
    pending()
}

/// An INTERVAL of days to seconds, in milliseconds.
pub fn literal_interval_day_second(milliseconds: i64) -> Expr {
    let _ = milliseconds;
    literal_null()
}

/// An INTERVAL of years and months, in months.
pub fn literal_interval_year_month(months: i32) -> Expr {
    let _ = months;
    literal_null()
}
