//! + - * / % and negation of numbers.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow::compute::kernels::numeric;
use arrow::datatypes::{
    ArrowNativeTypeOp, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};

use super::decimal;
use super::function::Arithmetic;
use super::value::{Read, Value, build, numbers, retype};
use crate::error::{Error, Result};
use crate::types::Type;

/// Integer division by zero, in Java's words.
fn division_by_zero() -> Error {
    Error::data("division by zero").help("guard it: CASE WHEN b = 0 THEN NULL ELSE a / b END, or NULLIF(b, 0)")
}

/// A binary operator. The resolver has cast both sides to `out`, save for DECIMALs, whose scales may differ.
pub(super) fn binary(
    operator: Arithmetic,
    left: &Value,
    right: &Value,
    kinds: (&Type, &Type),
    out: &Type,
    count: usize,
) -> Result<ArrayRef> {
    if let Type::Decimal(precision, scale) = out {
        return decimals(operator, (left, kinds.0), (right, kinds.1), (*precision, *scale), count);
    }
    let array = match (operator, out) {
        (Arithmetic::Add, _) => numeric::add_wrapping(left, right)?,
        (Arithmetic::Subtract, _) => numeric::sub_wrapping(left, right)?,
        (Arithmetic::Multiply, _) => numeric::mul_wrapping(left, right)?,
        (Arithmetic::Divide, Type::Float | Type::Double) => numeric::div(left, right)?,
        (Arithmetic::Remainder, Type::Float | Type::Double) => numeric::rem(left, right)?,
        (_, Type::TinyInt) => divide::<Int8Type>(operator, left, right, count)?,
        (_, Type::SmallInt) => divide::<Int16Type>(operator, left, right, count)?,
        (_, Type::Int | Type::IntervalYearMonth) => divide::<Int32Type>(operator, left, right, count)?,
        _ => divide::<Int64Type>(operator, left, right, count)?,
    };
    debug_assert_eq!(array.len(), count);
    Ok(array)
}

/// Division and remainder of integers: MIN / -1 wraps as in Java, a zero divisor fails.
fn divide<T>(operator: Arithmetic, left: &Value, right: &Value, count: usize) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType<Native: ArrowNativeTypeOp>,
{
    let zero = T::Native::ZERO;
    let apply = |a: T::Native, b: T::Native| match operator {
        Arithmetic::Divide => a.div_wrapping(b),
        _ => a.mod_wrapping(b),
    };
    // The usual case: a column by a constant, which needs no check a row.
    if let (Value::Array(array), Value::Constant(divisor)) = (left, right)
        && let Some(array) = array.as_any().downcast_ref::<PrimitiveArray<T>>()
        && let Some(divisor) = divisor.as_any().downcast_ref::<PrimitiveArray<T>>()
        && !divisor.is_null(0)
        && divisor.value(0) != zero
    {
        let divisor = divisor.value(0);
        return Ok(Arc::new(array.unary::<_, T>(|a| apply(a, divisor))));
    }
    let (left, right) = (numbers::<T>(left)?, numbers::<T>(right)?);
    build::<T>(count, |row| match (left.read(row), right.read(row)) {
        (Some(_), Some(b)) if b == zero => Err(division_by_zero()),
        (Some(a), Some(b)) => Ok(Some(apply(a, b))),
        _ => Ok(None),
    })
}

fn decimals(
    operator: Arithmetic,
    (left, left_kind): (&Value, &Type),
    (right, right_kind): (&Value, &Type),
    to: (u8, u8),
    count: usize,
) -> Result<ArrayRef> {
    let scale = |kind: &Type| match kind {
        Type::Decimal(_, scale) => Ok(*scale),
        _ => Err(Error::internal(format!("DECIMAL arithmetic on {kind}"))),
    };
    let (s1, s2) = (scale(left_kind)?, scale(right_kind)?);
    let (left, right) = (numbers::<Decimal128Type>(left)?, numbers::<Decimal128Type>(right)?);
    let divides = matches!(operator, Arithmetic::Divide | Arithmetic::Remainder);
    let array = build::<Decimal128Type>(count, |row| match (left.read(row), right.read(row)) {
        (Some(_), Some(0)) if divides => Err(division_by_zero()),
        (Some(a), Some(b)) => Ok(decimal::operate(operator, (a, s1), (b, s2), to)),
        _ => Ok(None),
    })?;
    retype(array, &Type::Decimal(to.0, to.1))
}

/// -x; the least integer stays as it is, as in Java.
pub(super) fn negate(value: &Value, count: usize) -> Result<ArrayRef> {
    let array = value.array();
    debug_assert_eq!(array.len(), count);
    fn each<T: ArrowPrimitiveType<Native: ArrowNativeTypeOp>>(array: &ArrayRef) -> Option<ArrayRef> {
        let array = array.as_any().downcast_ref::<PrimitiveArray<T>>()?;
        let negated: PrimitiveArray<T> = array.unary(|x| x.neg_wrapping());
        Some(Arc::new(negated.with_data_type(array.data_type().clone())))
    }
    each::<Int32Type>(array)
        .or_else(|| each::<Int64Type>(array))
        .or_else(|| each::<Float64Type>(array))
        .or_else(|| each::<Float32Type>(array))
        .or_else(|| each::<Decimal128Type>(array))
        .or_else(|| each::<Int16Type>(array))
        .or_else(|| each::<Int8Type>(array))
        .ok_or_else(|| Error::internal(format!("the negative of {}", array.data_type())))
}
