//! DECIMAL arithmetic as Java's BigDecimal does it: exact, then rounded half up to the result's scale.
//! A result with too many digits is NULL.

use arrow::datatypes::i256;

use super::function::Arithmetic;

/// The most digits a DECIMAL holds.
const MAX_DIGITS: u32 = 38;

/// The powers of ten that 128 bits hold.
const POWERS: [i128; MAX_DIGITS as usize + 1] = {
    let mut powers = [1; MAX_DIGITS as usize + 1];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// 10 to the power of `digits`; `None` beyond what 128 bits hold.
pub(super) fn power_of_ten(digits: u32) -> Option<i128> {
    POWERS.get(digits as usize).copied()
}

fn wide_power_of_ten(digits: u32) -> Option<i256> {
    if digits <= MAX_DIGITS {
        return power_of_ten(digits).map(i256::from_i128);
    }
    i256::from_i128(power_of_ten(MAX_DIGITS)?).checked_mul(i256::from_i128(power_of_ten(digits - MAX_DIGITS)?))
}

/// `value / divisor` rounded half away from zero. `divisor` > 0.
fn divide_half_up(value: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (value / divisor, value % divisor);
    if rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2) { quotient + value.signum() } else { quotient }
}

fn wide_divide_half_up(value: i256, divisor: i256) -> Option<i256> {
    let quotient = value.checked_div(divisor)?;
    let rest = value.checked_rem(divisor)?;
    let twice = rest.wrapping_abs().checked_add(rest.wrapping_abs())?;
    if twice < divisor.wrapping_abs() {
        return Some(quotient);
    }
    let negative = (value < i256::ZERO) != (divisor < i256::ZERO);
    if negative { quotient.checked_sub(i256::ONE) } else { quotient.checked_add(i256::ONE) }
}

/// `value` if it has at most `precision` digits.
pub(super) fn within(value: i128, precision: u8) -> Option<i128> {
    let limit = power_of_ten(u32::from(precision))?;
    (value.unsigned_abs() < limit.unsigned_abs()).then_some(value)
}

/// Brings a value from one scale to another, rounding half up; NULL beyond `precision` digits.
pub(super) fn rescale(value: i128, from: u8, to: u8, precision: u8) -> Option<i128> {
    let scaled = if to >= from {
        value.checked_mul(power_of_ten(u32::from(to - from))?)?
    } else {
        divide_half_up(value, power_of_ten(u32::from(from - to))?)
    };
    within(scaled, precision)
}

/// As [`rescale`], from an exact result of 256 bits.
fn wide_rescale(value: i256, from: u32, to: u32, precision: u8) -> Option<i128> {
    let scaled = if to >= from {
        value.checked_mul(wide_power_of_ten(to - from)?)?
    } else {
        wide_divide_half_up(value, wide_power_of_ten(from - to)?)?
    };
    within(scaled.to_i128()?, precision)
}

/// One operation on two DECIMALs of scales `s1` and `s2`, to DECIMAL(`precision`, `scale`).
/// The right side of a division must not be zero.
pub(super) fn operate(
    operator: Arithmetic,
    (left, s1): (i128, u8),
    (right, s2): (i128, u8),
    (precision, scale): (u8, u8),
) -> Option<i128> {
    let (w1, w2, to) = (u32::from(s1), u32::from(s2), u32::from(scale));
    match operator {
        Arithmetic::Multiply => {
            let exact = w1 + w2;
            if exact == to
                && let Some(product) = left.checked_mul(right)
            {
                return within(product, precision);
            }
            let product = i256::from_i128(left).checked_mul(i256::from_i128(right))?;
            wide_rescale(product, exact, to, precision)
        }
        Arithmetic::Divide => divide((left, w1), (right, w2), (precision, to)),
        _ => {
            let common = w1.max(w2);
            if let (Some(a), Some(b)) = (align(left, common - w1), align(right, common - w2))
                && let Some(result) = small(operator, a, b)
            {
                return if to == common {
                    within(result, precision)
                } else {
                    wide_rescale(i256::from_i128(result), common, to, precision)
                };
            }
            let a = i256::from_i128(left).checked_mul(wide_power_of_ten(common - w1)?)?;
            let b = i256::from_i128(right).checked_mul(wide_power_of_ten(common - w2)?)?;
            let result = match operator {
                Arithmetic::Add => a.checked_add(b)?,
                Arithmetic::Subtract => a.checked_sub(b)?,
                _ => a.checked_rem(b)?,
            };
            wide_rescale(result, common, to, precision)
        }
    }
}

fn align(value: i128, digits: u32) -> Option<i128> {
    if digits == 0 { Some(value) } else { value.checked_mul(power_of_ten(digits)?) }
}

fn small(operator: Arithmetic, a: i128, b: i128) -> Option<i128> {
    match operator {
        Arithmetic::Add => a.checked_add(b),
        Arithmetic::Subtract => a.checked_sub(b),
        _ => a.checked_rem(b),
    }
}

/// `left / right`, rounded half up to `scale` digits.
fn divide((left, s1): (i128, u32), (right, s2): (i128, u32), (precision, scale): (u8, u32)) -> Option<i128> {
    // left / 10^s1 / (right / 10^s2) in units of 10^-scale is left * 10^(scale + s2 - s1) / right.
    let (left, right) = (i256::from_i128(left), i256::from_i128(right));
    if scale + s2 < s1 {
        let divisor = right.checked_mul(wide_power_of_ten(s1 - s2 - scale)?)?;
        return within(wide_divide_half_up(left, divisor)?.to_i128()?, precision);
    }
    let digits = scale + s2 - s1;
    if let Some(dividend) = wide_power_of_ten(digits).and_then(|power| left.checked_mul(power)) {
        return within(wide_divide_half_up(dividend, right)?.to_i128()?, precision);
    }
    // Digit by digit, where the dividend does not fit into 256 bits.
    let ten = i256::from_i128(10);
    let mut quotient = left.checked_div(right)?;
    let mut rest = left.checked_rem(right)?;
    for _ in 0..digits {
        let scaled = rest.checked_mul(ten)?;
        quotient = quotient.checked_mul(ten)?.checked_add(scaled.checked_div(right)?)?;
        rest = scaled.checked_rem(right)?;
    }
    let twice = rest.wrapping_abs().checked_add(rest.wrapping_abs())?;
    if twice >= right.wrapping_abs() {
        let negative = (left < i256::ZERO) != (right < i256::ZERO);
        quotient = if negative { quotient.checked_sub(i256::ONE)? } else { quotient.checked_add(i256::ONE)? };
    }
    within(quotient.to_i128()?, precision)
}

/// Compares two DECIMALs of different scales by value.
pub(crate) fn order((left, s1): (i128, u8), (right, s2): (i128, u8)) -> std::cmp::Ordering {
    let common = s1.max(s2);
    let (d1, d2) = (u32::from(common - s1), u32::from(common - s2));
    match (align(left, d1), align(right, d2)) {
        (Some(a), Some(b)) => a.cmp(&b),
        // At most one of them was scaled up, and what overflows is further from zero than the other.
        (None, _) => left.cmp(&0),
        (_, None) => 0.cmp(&right),
    }
}

/// The nearest DOUBLE, as BigDecimal.doubleValue does.
pub(super) fn to_double(value: i128, scale: u8) -> f64 {
    // Both parts exact in a double: one rounding only.
    if value.unsigned_abs() < 1 << 53 && scale <= 22 {
        return value as f64 / 10f64.powi(i32::from(scale));
    }
    super::print::decimal(value, scale).parse().unwrap_or(f64::NAN)
}

/// A DECIMAL from the shortest text of a double, as BigDecimal.valueOf does. `None`: too large.
/// NaN and infinities are the caller's.
pub(super) fn from_double(value: f64, precision: u8, scale: u8) -> Option<i128> {
    let mut buffer = ryu::Buffer::new();
    super::parse::decimal_text(buffer.format_finite(value), precision, scale).ok().flatten()
}

/// The integer part.
pub(super) fn truncate(value: i128, scale: u8) -> i128 {
    power_of_ten(u32::from(scale)).map_or(0, |power| value / power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_rounds_half_up_away_from_zero() {
        // 12.35 / 7.0 at scale 6
        assert_eq!(operate(Arithmetic::Divide, (1235, 2), (70, 1), (15, 6)), Some(1_764_286));
        assert_eq!(operate(Arithmetic::Divide, (-1235, 2), (70, 1), (15, 6)), Some(-1_764_286));
        assert_eq!(operate(Arithmetic::Divide, (-1, 0), (2, 0), (5, 0)), Some(-1));
    }

    #[test]
    fn too_many_digits_give_null() {
        let big = 10i128.pow(37) * 9;
        assert_eq!(operate(Arithmetic::Multiply, (big, 18), (big, 18), (38, 6)), None);
        assert_eq!(operate(Arithmetic::Add, (99, 0), (1, 0), (2, 0)), None);
    }

    #[test]
    fn values_of_unlike_scales_compare_by_value() {
        use std::cmp::Ordering::*;
        assert_eq!(order((10i128.pow(37), 0), (-1, 38)), Greater);
        assert_eq!(order((250, 2), (25, 1)), Equal);
        assert_eq!(order((-(10i128.pow(37)), 0), (1, 38)), Less);
    }
}
