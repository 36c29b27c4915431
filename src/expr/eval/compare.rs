//! Comparisons, null tests, IN, GREATEST and LEAST.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Datum, PrimitiveArray};
use arrow::compute::kernels::{cmp, zip::zip};
use arrow::compute::{is_not_null, is_null as null_mask, nullif};
use arrow::datatypes::{ArrowPrimitiveType, Decimal128Type, Float32Type, Float64Type};

use super::decimal;
use super::function::Compare;
use super::nested::place;
use super::same::Comparable;
use super::value::{Read, Value, build_flags, flags, numbers};
use crate::error::{Error, Result};
use crate::types::Type;

/// Compares two values of the same type, or a DECIMAL with a DOUBLE or another DECIMAL.
pub(super) fn compare(
    operator: Compare,
    left: &Value,
    right: &Value,
    kinds: (&Type, &Type),
    count: usize,
) -> Result<ArrayRef> {
    match kinds {
        (Type::Array(_) | Type::Map(..) | Type::Multiset(_) | Type::Row(_), _) => {
            let rows = Comparable::of(&[left.array(), right.array()], kinds.0)?;
            build_flags(count, |row| {
                let (a, b) = (place(left, row), place(right, row));
                let valid = left.array().is_valid(a) && right.array().is_valid(b);
                Ok(valid.then(|| rows.same((0, a), (1, b)) == (operator == Compare::Equal)))
            })
        }
        (Type::Float, Type::Float) => floats::<Float32Type>(operator, left, right, count),
        (Type::Double, Type::Double) => floats::<Float64Type>(operator, left, right, count),
        // Flink tests a DECIMAL and a DOUBLE for equality as doubles, and orders them by Double.compare.
        (Type::Decimal(..), Type::Double) | (Type::Double, Type::Decimal(..))
            if matches!(operator, Compare::Equal | Compare::NotEqual) =>
        {
            let (left, right) = (doubles(left, kinds.0)?, doubles(right, kinds.1)?);
            let equal = operator == Compare::Equal;
            build_flags(count, |row| Ok(left(row).zip(right(row)).map(|(a, b)| (a == b) == equal)))
        }
        (Type::Decimal(..) | Type::Double, Type::Decimal(..) | Type::Double) => {
            let ordering = decimal_order(left, right, kinds)?;
            build_flags(count, |row| Ok(ordering(row).map(|order| operator.holds(order))))
        }
        _ => {
            let kernel: fn(&dyn Datum, &dyn Datum) -> _ = match operator {
                Compare::Equal => cmp::eq,
                Compare::NotEqual => cmp::neq,
                Compare::Less => cmp::lt,
                Compare::LessOrEqual => cmp::lt_eq,
                Compare::Greater => cmp::gt,
                Compare::GreaterOrEqual => cmp::gt_eq,
            };
            Ok(Arc::new(kernel(left, right)?))
        }
    }
}

/// Java's comparison of primitives: NaN equals nothing, 0.0 equals -0.0. Arrow's kernels order totally.
fn floats<T>(operator: Compare, left: &Value, right: &Value, count: usize) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType<Native: PartialOrd>,
{
    fn loop_over<T: ArrowPrimitiveType>(
        left: &Value,
        right: &Value,
        count: usize,
        test: impl Fn(T::Native, T::Native) -> bool,
    ) -> Result<ArrayRef> {
        // The usual cases, without a branch a row.
        let column = |value: &Value| value.array().as_any().downcast_ref::<PrimitiveArray<T>>().cloned();
        match (left, right, column(left), column(right)) {
            (Value::Array(_), Value::Constant(_), Some(a), Some(b)) if !b.is_null(0) => {
                let b = b.value(0);
                return Ok(Arc::new(BooleanArray::from_unary(&a, |a| test(a, b))));
            }
            (Value::Array(_), Value::Array(_), Some(a), Some(b)) if a.len() == b.len() => {
                return Ok(Arc::new(BooleanArray::from_binary(&a, &b, test)));
            }
            _ => {}
        }
        let (left, right) = (numbers::<T>(left)?, numbers::<T>(right)?);
        build_flags(count, |row| Ok(left.read(row).zip(right.read(row)).map(|(a, b)| test(a, b))))
    }
    match operator {
        Compare::Equal => loop_over::<T>(left, right, count, |a, b| a == b),
        Compare::NotEqual => loop_over::<T>(left, right, count, |a, b| a != b),
        Compare::Less => loop_over::<T>(left, right, count, |a, b| a < b),
        Compare::LessOrEqual => loop_over::<T>(left, right, count, |a, b| a <= b),
        Compare::Greater => loop_over::<T>(left, right, count, |a, b| a > b),
        Compare::GreaterOrEqual => loop_over::<T>(left, right, count, |a, b| a >= b),
    }
}

type OrderOf<'a> = Box<dyn Fn(usize) -> Option<Ordering> + 'a>;

/// The order of DECIMALs by value; against a DOUBLE as Java's Double.compare: NaN last, -0.0 before 0.0.
fn decimal_order<'a>(left: &'a Value, right: &'a Value, kinds: (&Type, &Type)) -> Result<OrderOf<'a>> {
    if let (Type::Decimal(_, s1), Type::Decimal(_, s2)) = kinds {
        let (s1, s2) = (*s1, *s2);
        let (left, right) = (numbers::<Decimal128Type>(left)?, numbers::<Decimal128Type>(right)?);
        return Ok(Box::new(move |row| {
            left.read(row).zip(right.read(row)).map(|(a, b)| decimal::order((a, s1), (b, s2)))
        }));
    }
    let (left, right) = (doubles(left, kinds.0)?, doubles(right, kinds.1)?);
    Ok(Box::new(move |row| left(row).zip(right(row)).map(|(a, b)| java_order(a, b))))
}

type DoubleOf<'a> = Box<dyn Fn(usize) -> Option<f64> + 'a>;

fn doubles<'a>(value: &'a Value, kind: &Type) -> Result<DoubleOf<'a>> {
    if let Type::Decimal(_, scale) = kind {
        let scale = *scale;
        let values = numbers::<Decimal128Type>(value)?;
        return Ok(Box::new(move |row| values.read(row).map(|x| decimal::to_double(x, scale))));
    }
    let values = numbers::<Float64Type>(value)?;
    Ok(Box::new(move |row| values.read(row)))
}

/// Java's Double.compare: every NaN is the same and the greatest.
fn java_order(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ => a.total_cmp(&b),
    }
}

/// IS [NOT] DISTINCT FROM: NULL equals NULL, and the result is never NULL.
pub(super) fn distinct(
    left: &Value,
    right: &Value,
    kinds: (&Type, &Type),
    negated: bool,
    count: usize,
) -> Result<ArrayRef> {
    let either_null = kinds.0 == &Type::Null || kinds.1 == &Type::Null;
    let equal = match kinds {
        _ if either_null => None,
        (Type::Decimal(..), Type::Double) | (Type::Double, Type::Decimal(..)) => {
            let ordering = decimal_order(left, right, kinds)?;
            Some(build_flags(count, |row| Ok(ordering(row).map(Ordering::is_eq)))?)
        }
        _ => Some(compare(Compare::Equal, left, right, kinds, count)?),
    };
    let equal = match &equal {
        Some(array) => Some(array.as_any().downcast_ref::<BooleanArray>().ok_or_else(|| Error::internal("no flags"))?),
        None => None,
    };
    let is_null = |value: &Value, row: usize| {
        value.array().is_null(if value.is_constant() { 0 } else { row })
            || value.array().data_type() == &arrow::datatypes::DataType::Null
    };
    build_flags(count, |row| {
        let same = match (is_null(left, row), is_null(right, row)) {
            (true, true) => true,
            (true, false) | (false, true) => false,
            (false, false) => equal.is_some_and(|flags| flags.value(row)),
        };
        Ok(Some(same == negated))
    })
}

pub(super) fn not(value: &Value) -> Result<ArrayRef> {
    let array = value.array().as_any().downcast_ref::<BooleanArray>();
    let array = array.ok_or_else(|| Error::internal("NOT of no BOOLEAN"))?;
    Ok(Arc::new(arrow::compute::not(array)?))
}

/// IS [NOT] NULL.
pub(super) fn is_null(value: &Value, negated: bool) -> Result<ArrayRef> {
    let array = value.array();
    if array.data_type() == &arrow::datatypes::DataType::Null {
        return Ok(Arc::new(BooleanArray::from(vec![!negated; array.len()])));
    }
    Ok(Arc::new(if negated { is_not_null(array)? } else { null_mask(array)? }))
}

/// IS [NOT] TRUE, IS [NOT] FALSE.
pub(super) fn is(value: &Value, wanted: bool, negated: bool) -> Result<ArrayRef> {
    if value.array().data_type() == &arrow::datatypes::DataType::Null {
        return Ok(Arc::new(BooleanArray::from(vec![negated; value.len()])));
    }
    let values = flags(value)?;
    build_flags(value.len(), |row| Ok(Some((values.read(row) == Some(wanted)) != negated)))
}

/// `x IN (list)`: TRUE on a hit, else NULL if a NULL is among them, else FALSE.
pub(super) fn in_list(values: &[Value], kinds: &[&Type], count: usize) -> Result<ArrayRef> {
    let [needle, list @ ..] = values else {
        return Err(Error::internal("IN without arguments"));
    };
    let mut found: Option<BooleanArray> = None;
    for (value, kind) in list.iter().zip(kinds.iter().skip(1)) {
        let null = *kind == &Type::Null || kinds[0] == &Type::Null;
        let equal = if null {
            BooleanArray::new_null(count)
        } else {
            let equal = compare(Compare::Equal, needle, value, (kinds[0], kind), count)?;
            // Two constants compare to one value, beside columns that have one a row.
            let equal = if equal.len() == count { equal } else { Value::Constant(equal).into_array(count)? };
            equal.as_any().downcast_ref::<BooleanArray>().ok_or_else(|| Error::internal("no flags"))?.clone()
        };
        found = Some(match found {
            None => equal,
            Some(found) => arrow::compute::or_kleene(&found, &equal)?,
        });
    }
    let found = found.ok_or_else(|| Error::internal("IN without a list"))?;
    Ok(Arc::new(found))
}

/// As [`compare`], but NaN is the greatest DOUBLE.
fn better_of(operator: Compare, left: &Value, right: &Value, kind: &Type, count: usize) -> Result<ArrayRef> {
    macro_rules! floats {
        ($arrow:ty) => {{
            let (left, right) = (numbers::<$arrow>(left)?, numbers::<$arrow>(right)?);
            build_flags(count, |row| {
                let pair = left.read(row).zip(right.read(row));
                Ok(pair.map(|(a, b)| operator.holds(java_order(a.into(), b.into()))))
            })
        }};
    }
    match kind {
        Type::Float => floats!(Float32Type),
        Type::Double => floats!(Float64Type),
        _ => compare(operator, left, right, (kind, kind), count),
    }
}

/// GREATEST or LEAST of values of one type; NULL if one of them is NULL.
pub(super) fn extreme(values: &[Value], kinds: &[&Type], greatest: bool, count: usize) -> Result<ArrayRef> {
    let mut values = values.iter();
    let Some(first) = values.next() else {
        return Err(Error::internal("GREATEST without arguments"));
    };
    let all = |value: &Value| value.clone().into_array(count);
    let mut best = all(first)?;
    let operator = if greatest { Compare::Greater } else { Compare::Less };
    let mut nulls = null_mask(&best)?;
    for value in values {
        let candidate = Value::Array(all(value)?);
        let better = better_of(operator, &candidate, &Value::Array(best.clone()), kinds[0], count)?;
        let better = better.as_any().downcast_ref::<BooleanArray>().ok_or_else(|| Error::internal("no flags"))?;
        nulls = arrow::compute::or(&nulls, &null_mask(candidate.array())?)?;
        best = zip(better, candidate.array(), &best)?;
    }
    Ok(nullif(&best, &nulls)?)
}
