//! Evaluation of expressions over record batches.
//!
//! An expression gives a `Value`: a column, or one constant that is never spread over the rows
//! while kernels can take it as it is. AND, OR, CASE and COALESCE compute an operand that may fail
//! only for the rows that reach it.

mod arithmetic;
mod calendar;
mod cast;
mod codes;
mod collect;
mod compare;
mod conditional;
mod decimal;
mod formatter;
mod function;
mod hash;
mod java_regex;
mod json;
mod math;
mod nested;
mod nested_cast;
mod parse;
mod pattern;
mod print;
mod printf;
mod random;
mod same;
mod simple_format;
mod split;
mod strings;
mod times;
mod url;
mod value;
mod words;
mod zone;

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, Time32MillisecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, new_empty_array, new_null_array,
};
use arrow::compute::prep_null_mask_filter;

use super::{Expr, Scalar};
use crate::error::{Error, Result};
use crate::types::{DataType, Type};
pub(crate) use decimal::order as decimal_order;
pub(crate) use formatter::DateReader;
pub use function::{
    Arithmetic, Code, Compare, Function, Hash, Json, JsonShape, Math, Nested, OnExists, OnQuery, OnValue, Random, Text,
    Time, Unit, Wrapper,
};
pub(crate) use json::Path as JsonPath;
pub(crate) use parse::{parse_date, parse_time, parse_timestamp};
use value::Value;

/// Whether that is a name of a time zone.
pub(crate) fn is_zone(name: &str) -> bool {
    zone::known(name).is_some()
}

/// What evaluation may depend on besides the row.
#[derive(Debug, Clone)]
pub struct EvalContext {
    /// `table.local-time-zone`.
    pub time_zone: String,
    /// Milliseconds since 1970, fixed when the job starts: CURRENT_TIMESTAMP and its kin.
    pub now_ms: i64,
}

/// The rows an expression is computed for. Columns that the expression does not read may have any length.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    columns: &'a [ArrayRef],
    count: usize,
}

impl Expr {
    /// One value a row of `batch`, of Arrow type `self.data_type().kind.to_arrow()`.
    ///
    /// # Errors
    /// A computation that Flink fails the job for (CAST of bad text, division by zero): kind Data.
    pub fn eval(&self, batch: &RecordBatch, context: &EvalContext) -> Result<ArrayRef> {
        let count = batch.num_rows();
        if count == 0 {
            return Ok(new_empty_array(&self.data_type().kind.to_arrow()));
        }
        self.value(Rows { columns: batch.columns(), count }, context)?.into_array(count)
    }

    /// Which rows of `batch` pass: NULL counts as false. For BOOLEAN expressions.
    ///
    /// # Errors
    /// As [`Expr::eval`].
    pub fn eval_filter(&self, batch: &RecordBatch, context: &EvalContext) -> Result<BooleanArray> {
        let array = self.eval(batch, context)?;
        let Some(mask) = array.as_any().downcast_ref::<BooleanArray>() else {
            if array.null_count() == array.len() || array.data_type() == &arrow::datatypes::DataType::Null {
                return Ok(BooleanArray::from(vec![false; array.len()]));
            }
            return Err(Error::internal(format!("a filter of type {}", self.data_type())));
        };
        Ok(if mask.null_count() > 0 { prep_null_mask_filter(mask) } else { mask.clone() })
    }

    fn value(&self, rows: Rows<'_>, context: &EvalContext) -> Result<Value> {
        match self {
            Expr::Column { index, .. } => match rows.columns.get(*index) {
                Some(column) => Ok(Value::Array(Arc::clone(column))),
                None => Err(Error::internal(format!("an expression reads column {index} of {}", rows.columns.len()))),
            },
            Expr::Literal { value, data_type } => Ok(Value::Constant(constant(value, &data_type.kind)?)),
            Expr::Cast { input, data_type, safe } => {
                let value = input.value(rows, context)?;
                cast::cast(&value, &input.data_type().kind, &data_type.kind, *safe, context)
            }
            Expr::Case { branches, otherwise, data_type } => {
                conditional::case(branches, otherwise, data_type, rows, context)
            }
            Expr::Call { function, args, data_type } => call(*function, args, data_type, rows, context),
        }
    }

    /// Whether computing it can fail the job; if not, it may be computed for rows that do not need it.
    fn can_fail(&self) -> bool {
        let own = match self {
            Expr::Cast { input, data_type, safe } => cast_can_fail(&input.data_type().kind, &data_type.kind, *safe),
            Expr::Call { function, args, data_type } => call_can_fail(*function, args, &data_type.kind),
            _ => false,
        };
        own || self.children().into_iter().any(Expr::can_fail)
    }
}

fn cast_can_fail(from: &Type, to: &Type, safe: bool) -> bool {
    if nested_cast::is_nested(from) {
        return !to.is_string();
    }
    let bad_text = !safe && from.is_string() && !to.is_string() && !nested_cast::is_binary(to);
    let nan = matches!(from, Type::Float | Type::Double) && matches!(to, Type::Decimal(..));
    bad_text || nan
}

fn call_can_fail(function: Function, args: &[Expr], kind: &Type) -> bool {
    let floating = matches!(kind, Type::Float | Type::Double);
    let literal = |at: usize| matches!(args.get(at), Some(Expr::Literal { .. }));
    match function {
        Function::Arithmetic(Arithmetic::Divide | Arithmetic::Remainder) => {
            !floating && !args.get(1).is_some_and(is_nonzero_literal)
        }
        Function::Math(Math::Round | Math::Truncate) => floating,
        Function::Time(
            Time::Shift { .. } | Time::Floor(_) | Time::Extract(_) | Time::Difference(_) | Time::Between,
        ) => false,
        Function::Time(_) => true,
        Function::Like => !literal(1) || args.len() > 2,
        Function::Similar => !literal(1),
        Function::Text(text) if text.is_pattern() => !literal(1),
        Function::Text(Text::Repeat | Text::PadStart | Text::PadEnd | Text::Replace) => true,
        Function::Hash(Hash::Sha2) => !literal(1),
        Function::Json(json) => !matches!(json, Json::Is(_) | Json::Text | Json::Quote | Json::Unquote),
        Function::Code(Code::FromBase64 | Code::Encode | Code::Decode) | Function::Random(_) => true,
        Function::Nested(Nested::Map | Nested::Single | Nested::FromArrays | Nested::TextToMap) => true,
        _ => false,
    }
}

fn is_nonzero_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Literal { value: Scalar::Int(n), .. } => *n != 0,
        Expr::Literal { value: Scalar::Decimal(n), .. } => *n != 0,
        Expr::Cast { input, .. } => input.data_type().kind.is_integer() && is_nonzero_literal(input),
        _ => false,
    }
}

fn call(
    function: Function,
    args: &[Expr],
    data_type: &DataType,
    rows: Rows<'_>,
    context: &EvalContext,
) -> Result<Value> {
    match function {
        Function::And | Function::Or => return conditional::logic(function == Function::And, args, rows, context),
        Function::Coalesce => return conditional::coalesce(args, data_type, rows, context),
        _ => {}
    }
    let values = args.iter().map(|arg| arg.value(rows, context)).collect::<Result<Vec<_>>>()?;
    let all_constant = values.iter().all(Value::is_constant) && !matches!(function, Function::Random(_));
    let count = if all_constant { 1 } else { rows.count };
    let array = kernel(function, args, &values, data_type, count, context)?;
    Ok(if all_constant { Value::Constant(array) } else { Value::Array(array) })
}

fn kernel(
    function: Function,
    args: &[Expr],
    values: &[Value],
    data_type: &DataType,
    count: usize,
    context: &EvalContext,
) -> Result<ArrayRef> {
    let kinds: Vec<&Type> = args.iter().map(|arg| &arg.data_type().kind).collect();
    let two = || match values {
        [left, right] => Ok((left, right)),
        _ => Err(Error::internal(format!("{function:?} of {} arguments", values.len()))),
    };
    let one = || values.first().ok_or_else(|| Error::internal(format!("{function:?} without arguments")));
    // A NULL literal among the operands of a strict kernel makes the result NULL; kernels never see the type NULL.
    let strict =
        !matches!(function, Function::IsNull { .. } | Function::Is { .. } | Function::Distinct { .. } | Function::In)
            && !matches!(function, Function::Text(Text::ConcatWithSeparator | Text::Printf));
    if strict && kinds.contains(&&Type::Null) {
        return Ok(new_null_array(&data_type.kind.to_arrow(), count));
    }
    match function {
        Function::Arithmetic(operator) => {
            let (left, right) = two()?;
            arithmetic::binary(operator, left, right, (kinds[0], kinds[1]), &data_type.kind, count)
        }
        Function::Negate => arithmetic::negate(one()?, count),
        Function::Compare(operator) => {
            let (left, right) = two()?;
            compare::compare(operator, left, right, (kinds[0], kinds[1]), count)
        }
        Function::Distinct { negated } => {
            let (left, right) = two()?;
            compare::distinct(left, right, (kinds[0], kinds[1]), negated, count)
        }
        Function::Not => compare::not(one()?),
        Function::IsNull { negated } => compare::is_null(one()?, negated),
        Function::Is { value, negated } => compare::is(one()?, value, negated),
        Function::In => compare::in_list(values, &kinds, count),
        Function::Greatest | Function::Least => compare::extreme(values, &kinds, function == Function::Greatest, count),
        Function::Like => pattern::like(values, count),
        Function::Similar => pattern::similar(values, count),
        Function::Text(text) if text.is_pattern() => pattern::regexp(text, values, count),
        Function::Text(Text::ParseUrl) => url::parse_url(values, count),
        Function::Text(Text::Printf) => printf::printf(values, &kinds, count),
        Function::Text(text) => strings::text(text, values, count),
        Function::Code(function) => codes::code(function, values, &kinds, count),
        Function::Random(function) => random::random(function, values, count),
        Function::Math(math) => math::math(math, values, &kinds, &data_type.kind, count),
        Function::Time(time) => times::time(time, values, &kinds, &data_type.kind, count, context),
        Function::Json(function) => json::json(function, args, values, &data_type.kind, count, context),
        Function::Hash(function) => hash::hash(function, values, count),
        Function::Nested(function) => nested::nested(function, values, &kinds, &data_type.kind, count),
        Function::And | Function::Or | Function::Coalesce => Err(Error::internal(format!("{function:?} as a kernel"))),
    }
}

/// A literal as an array of one row.
fn constant(value: &Scalar, kind: &Type) -> Result<ArrayRef> {
    let mismatch = || Error::internal(format!("a literal {value:?} of type {kind}"));
    let number = || match value {
        Scalar::Int(number) => Ok(*number),
        _ => Err(mismatch()),
    };
    if *value == Scalar::Null {
        return Ok(new_null_array(&kind.to_arrow(), 1));
    }
    Ok(match kind {
        Type::Boolean => match value {
            Scalar::Boolean(flag) => Arc::new(BooleanArray::from(vec![*flag])) as ArrayRef,
            _ => return Err(mismatch()),
        },
        Type::TinyInt => Arc::new(Int8Array::from(vec![number()? as i8])),
        Type::SmallInt => Arc::new(Int16Array::from(vec![number()? as i16])),
        Type::Int | Type::IntervalYearMonth => Arc::new(Int32Array::from(vec![number()? as i32])),
        Type::BigInt | Type::IntervalDaySecond => Arc::new(Int64Array::from(vec![number()?])),
        Type::Date => Arc::new(Date32Array::from(vec![number()? as i32])),
        Type::Time(_) => Arc::new(Time32MillisecondArray::from(vec![number()? as i32])),
        Type::Timestamp(precision @ 0..=6) | Type::TimestampLtz(precision @ 0..=6) => {
            let array: ArrayRef = match precision {
                0..=3 => Arc::new(TimestampMillisecondArray::from(vec![number()?])),
                _ => Arc::new(TimestampMicrosecondArray::from(vec![number()?])),
            };
            value::retype(array, kind)?
        }
        Type::Float => match value {
            Scalar::Float(number) => Arc::new(Float32Array::from(vec![*number])),
            _ => return Err(mismatch()),
        },
        Type::Double => match value {
            Scalar::Double(number) => Arc::new(Float64Array::from(vec![*number])),
            _ => return Err(mismatch()),
        },
        Type::Decimal(..) | Type::Timestamp(_) | Type::TimestampLtz(_) => match value {
            Scalar::Decimal(number) => value::retype(Arc::new(Decimal128Array::from(vec![*number])), kind)?,
            _ => return Err(mismatch()),
        },
        Type::Char(_) | Type::VarChar(_) => match value {
            Scalar::String(text) => Arc::new(StringArray::from(vec![text.as_str()])),
            _ => return Err(mismatch()),
        },
        Type::Binary(_) | Type::VarBinary(_) => match value {
            Scalar::Binary(bytes) => Arc::new(BinaryArray::from(vec![bytes.as_slice()])),
            _ => return Err(mismatch()),
        },
        Type::Null | Type::Array(_) | Type::Map(..) | Type::Multiset(_) | Type::Row(_) => return Err(mismatch()),
    })
}

/// The same bits under another type, so that tests can make columns of any moment.
#[cfg(test)]
pub(crate) fn retype_for_tests(array: ArrayRef, kind: &Type) -> ArrayRef {
    value::retype(array, kind).expect("the same layout")
}
