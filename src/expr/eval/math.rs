//! Functions of numbers.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow::datatypes::{
    ArrowNativeTypeOp, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};

use super::function::Math;
use super::value::{Read, Value, build, numbers, retype};
use super::{decimal, print};
use crate::error::{Error, Result};
use crate::types::Type;

/// A function of numbers. Those that keep their type get it as it is, all others DOUBLEs.
pub(super) fn math(function: Math, values: &[Value], kinds: &[&Type], out: &Type, count: usize) -> Result<ArrayRef> {
    match function {
        Math::Pi => return build::<Float64Type>(count, |_| Ok(Some(std::f64::consts::PI))),
        Math::E => return build::<Float64Type>(count, |_| Ok(Some(std::f64::consts::E))),
        Math::Power | Math::Atan2 | Math::LogBase => {
            let (a, b) = (doubles(values, 0)?, doubles(values, 1)?);
            return build::<Float64Type>(count, |row| {
                Ok(a.read(row).zip(b.read(row)).map(|(a, b)| match function {
                    Math::Power => java_power(a, b),
                    Math::Atan2 => a.atan2(b),
                    _ => b.ln() / a.ln(),
                }))
            });
        }
        Math::Abs | Math::Sign | Math::Ceil | Math::Floor | Math::Round | Math::Truncate => {}
        _ => {
            let a = doubles(values, 0)?;
            return build::<Float64Type>(count, |row| Ok(a.read(row).map(|x| of_double(function, x))));
        }
    }
    let value = values.first().ok_or_else(|| Error::internal("a function of numbers lacks its argument"))?;
    let kind = kinds.first().copied().unwrap_or(&Type::Null);
    if matches!(function, Math::Round | Math::Truncate) {
        return round(function, value, kind, values.get(1), out, count);
    }
    match kind {
        Type::Decimal(_, scale) => of_decimals(function, value, *scale, out, count),
        Type::Float => of_floats::<Float32Type>(function, value, |x| of_kept(function, x.into()) as f32),
        Type::Double => of_floats::<Float64Type>(function, value, |x| of_kept(function, x)),
        _ if matches!(function, Math::Ceil | Math::Floor) => Ok(value.array().clone()),
        Type::TinyInt => of_integers::<Int8Type>(function, value),
        Type::SmallInt => of_integers::<Int16Type>(function, value),
        Type::Int => of_integers::<Int32Type>(function, value),
        Type::BigInt => of_integers::<Int64Type>(function, value),
        _ => Err(Error::internal(format!("{function:?} of {kind}"))),
    }
}

fn doubles(values: &[Value], at: usize) -> Result<super::value::Numbers<'_, Float64Type>> {
    numbers::<Float64Type>(values.get(at).ok_or_else(|| Error::internal("a function of numbers lacks an argument"))?)
}

/// Java's Math.pow differs from C's: 1 to a NaN or infinite power is NaN.
fn java_power(base: f64, exponent: f64) -> f64 {
    if exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite()) { f64::NAN } else { base.powf(exponent) }
}

fn of_double(function: Math, x: f64) -> f64 {
    match function {
        Math::Sqrt => x.sqrt(),
        Math::Ln => x.ln(),
        Math::Log10 => x.log10(),
        // Flink divides by the natural logarithm of 2.
        Math::Log2 => x.ln() / 2f64.ln(),
        Math::Exp => x.exp(),
        Math::Sin => x.sin(),
        Math::Cos => x.cos(),
        Math::Tan => x.tan(),
        Math::Cot => 1.0 / x.tan(),
        Math::Sinh => x.sinh(),
        Math::Cosh => x.cosh(),
        Math::Tanh => x.tanh(),
        Math::Asin => x.asin(),
        Math::Acos => x.acos(),
        Math::Atan => x.atan(),
        Math::Degrees => x * (180.0 / std::f64::consts::PI),
        Math::Radians => x * (std::f64::consts::PI / 180.0),
        _ => of_kept(function, x),
    }
}

fn of_kept(function: Math, x: f64) -> f64 {
    match function {
        Math::Ceil => x.ceil(),
        Math::Floor => x.floor(),
        Math::Abs => x.abs(),
        // Java's signum keeps zeros and NaN.
        _ if x == 0.0 || x.is_nan() => x,
        _ => x.signum(),
    }
}

fn of_floats<T: ArrowPrimitiveType>(
    _function: Math,
    value: &Value,
    each: impl Fn(T::Native) -> T::Native,
) -> Result<ArrayRef> {
    let array = downcast::<T>(value)?;
    Ok(Arc::new(array.unary::<_, T>(each)))
}

fn downcast<T: ArrowPrimitiveType>(value: &Value) -> Result<&PrimitiveArray<T>> {
    let array = value.array().as_any().downcast_ref::<PrimitiveArray<T>>();
    array.ok_or_else(|| Error::internal(format!("a function of numbers got {}", value.array().data_type())))
}

/// ABS and SIGN; the least integer is its own absolute value, as in Java.
fn of_integers<T>(function: Math, value: &Value) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType<Native: ArrowNativeTypeOp>,
{
    let zero = T::Native::ZERO;
    let one = T::Native::ONE;
    let array = downcast::<T>(value)?;
    Ok(Arc::new(array.unary::<_, T>(|x| match function {
        Math::Abs => {
            if x < zero {
                x.neg_wrapping()
            } else {
                x
            }
        }
        _ if x == zero => zero,
        _ if x < zero => one.neg_wrapping(),
        _ => one,
    })))
}

fn of_decimals(function: Math, value: &Value, scale: u8, out: &Type, count: usize) -> Result<ArrayRef> {
    let Type::Decimal(precision, _) = out else {
        return Err(Error::internal(format!("{function:?} of a DECIMAL gives {out}")));
    };
    let one = decimal::power_of_ten(scale.into()).unwrap_or(i128::MAX);
    let values = numbers::<Decimal128Type>(value)?;
    let array = build::<Decimal128Type>(count, |row| {
        Ok(values.read(row).and_then(|x| match function {
            Math::Abs => Some(x.wrapping_abs()),
            Math::Sign => decimal::within(x.signum().checked_mul(one)?, *precision),
            Math::Ceil => decimal::within(x.div_euclid(one) + i128::from(x.rem_euclid(one) != 0), *precision),
            _ => decimal::within(x.div_euclid(one), *precision),
        }))
    })?;
    retype(array, out)
}

/// ROUND (half up) and TRUNCATE (toward zero) to a number of digits, negative ones left of the point.
fn round(
    function: Math,
    value: &Value,
    kind: &Type,
    digits: Option<&Value>,
    out: &Type,
    count: usize,
) -> Result<ArrayRef> {
    let digits = digits.map(numbers::<Int32Type>).transpose()?;
    let digits = |row| digits.as_ref().map_or(Some(0), |digits| digits.read(row));
    let half_up = function == Math::Round;
    macro_rules! integers {
        ($arrow:ty) => {{
            let values = numbers::<$arrow>(value)?;
            build::<$arrow>(count, |row| {
                Ok(values.read(row).zip(digits(row)).map(|(x, d)| round_unscaled(x.into(), d, half_up) as _))
            })
        }};
    }
    match kind {
        Type::TinyInt => integers!(Int8Type),
        Type::SmallInt => integers!(Int16Type),
        Type::Int => integers!(Int32Type),
        Type::BigInt => integers!(Int64Type),
        Type::Decimal(_, scale) => {
            let Type::Decimal(precision, to) = out else {
                return Err(Error::internal(format!("{function:?} of a DECIMAL gives {out}")));
            };
            let values = numbers::<Decimal128Type>(value)?;
            let array = build::<Decimal128Type>(count, |row| {
                Ok(values.read(row).zip(digits(row)).and_then(|(x, d)| {
                    let kept = d.saturating_sub(i32::from(*scale));
                    let rounded = if kept < 0 { round_unscaled(x, kept, half_up) } else { x };
                    decimal::rescale(rounded, *scale, *to, *precision)
                }))
            })?;
            retype(array, out)
        }
        Type::Float => {
            let values = numbers::<Float32Type>(value)?;
            build::<Float32Type>(count, |row| {
                let pair = values.read(row).zip(digits(row));
                let rounded = pair.map(|(x, d)| round_text(&print::float(x), x.into(), d, half_up));
                rounded.transpose().map(|rounded| rounded.map(|x| x as f32))
            })
        }
        _ => {
            let values = numbers::<Float64Type>(value)?;
            build::<Float64Type>(count, |row| {
                let pair = values.read(row).zip(digits(row));
                pair.map(|(x, d)| round_text(&print::double(x), x, d, half_up)).transpose()
            })
        }
    }
}

/// Rounds away the last `-digits` digits.
fn round_unscaled(x: i128, digits: i32, half_up: bool) -> i128 {
    if digits >= 0 {
        return x;
    }
    let Some(unit) = decimal::power_of_ten(digits.unsigned_abs()) else {
        return 0;
    };
    let rest = x % unit;
    let cut = x - rest;
    if half_up && rest.unsigned_abs() >= unit.unsigned_abs().div_ceil(2) {
        cut.saturating_add(unit * x.signum())
    } else {
        cut
    }
}

/// Rounds the shortest decimal text of a double, as Flink's BigDecimal does.
fn round_text(text: &str, x: f64, digits: i32, half_up: bool) -> Result<f64> {
    if !x.is_finite() {
        return Err(Error::data(format!("{text} cannot be rounded")));
    }
    if digits > 340 {
        return Ok(x);
    }
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let (mantissa, exponent) =
        magnitude.split_once('E').map_or((magnitude, 0), |(m, e)| (m, e.parse::<i32>().unwrap_or(0)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let all = all.trim_start_matches('0');
    // The number is `all` * 10^-scale; the digits beyond `digits` go.
    let scale = fraction.len() as i32 - exponent;
    let gone = scale.saturating_sub(digits);
    if gone <= 0 {
        return Ok(x);
    }
    let kept = all.len() as i64 - i64::from(gone);
    if kept < 0 {
        return Ok(0.0);
    }
    let (head, tail) = all.split_at(kept as usize);
    let mut number: u128 = head.parse().unwrap_or(0);
    if half_up && tail.bytes().next().is_some_and(|digit| digit >= b'5') {
        number += 1;
    }
    let rounded: f64 = format!("{number}e{}", digits.saturating_neg()).parse().unwrap_or(x);
    // BigDecimal has no negative zero.
    Ok(if rounded == 0.0 { 0.0 } else { sign * rounded })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_round_by_their_shortest_text() {
        let round = |x: f64, digits| round_text(&print::double(x), x, digits, true).unwrap();
        assert_eq!(round(2.345, 2), 2.35);
        assert_eq!(round(1.005, 2), 1.01);
        assert_eq!(round(-2.5, 0), -3.0);
        assert_eq!(round(1e300, 2), 1e300);
        assert_eq!(round(123.0, -2), 100.0);
        assert_eq!(round(0.001, 2), 0.0);
        assert!(round_text("NaN", f64::NAN, 2, true).is_err());
        assert_eq!(round_text("-2.345", -2.345, 2, false).unwrap(), -2.34);
    }

    #[test]
    fn integers_round_left_of_the_point() {
        assert_eq!(round_unscaled(125, -1, true), 130);
        assert_eq!(round_unscaled(-125, -1, true), -130);
        assert_eq!(round_unscaled(125, -1, false), 120);
        assert_eq!(round_unscaled(125, -50, true), 0);
    }
}
