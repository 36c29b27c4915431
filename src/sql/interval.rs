//! Interval literals: `INTERVAL '1 02:03:04.5' DAY TO SECOND` and all shorter forms.

use sqlparser::ast::{DateTimeField, Expr, Interval, UnaryOperator, Value};

use crate::error::{Error, Result};

/// The value of an interval literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntervalValue {
    Milliseconds(i64),
    Months(i32),
}

/// Units from the largest; DAY to SECOND count milliseconds, YEAR and MONTH months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
}

impl Unit {
    fn of(field: &DateTimeField) -> Option<Unit> {
        Some(match field {
            DateTimeField::Year => Unit::Year,
            DateTimeField::Quarter => Unit::Quarter,
            DateTimeField::Month => Unit::Month,
            DateTimeField::Weeks => Unit::Week,
            DateTimeField::Day => Unit::Day,
            DateTimeField::Hour => Unit::Hour,
            DateTimeField::Minute => Unit::Minute,
            DateTimeField::Second => Unit::Second,
            _ => return None,
        })
    }
    /// Milliseconds or months.
    fn factor(self) -> i64 {
        match self {
            Unit::Year => 12,
            Unit::Quarter => 3,
            Unit::Month => 1,
            Unit::Week => 7 * 86_400_000,
            Unit::Day => 86_400_000,
            Unit::Hour => 3_600_000,
            Unit::Minute => 60_000,
            Unit::Second => 1_000,
        }
    }
    fn is_months(self) -> bool {
        self <= Unit::Month
    }
    /// The largest value allowed after a larger unit.
    fn limit(self) -> i64 {
        match self {
            Unit::Month => 11,
            Unit::Hour => 23,
            Unit::Minute | Unit::Second => 59,
            _ => i64::MAX,
        }
    }
}

/// Whether the interval is written as text, not as a difference of times.
pub(super) fn is_literal(interval: &Interval) -> bool {
    text_of(&interval.value).is_some()
}

/// Whether the units of an interval are years and months.
pub(super) fn counts_months(interval: &Interval) -> Result<bool> {
    Ok(units(interval)?.0.is_months())
}

/// The first and the last unit of an interval.
fn units(interval: &Interval) -> Result<(Unit, Unit)> {
    let no_unit = || Error::script("the interval has no unit of time");
    let leading = interval.leading_field.as_ref().and_then(Unit::of).ok_or_else(no_unit)?;
    let last = interval.last_field.as_ref().map_or(Some(leading), Unit::of).ok_or_else(no_unit)?;
    if last < leading || leading.is_months() != last.is_months() {
        return Err(Error::script(format!("there are no intervals of {}", unit_name(leading, last))));
    }
    Ok((leading, last))
}

/// The value of an interval literal. The error carries no place.
pub(super) fn evaluate(interval: &Interval) -> Result<IntervalValue> {
    let (text, negative) = text_of(&interval.value).ok_or_else(|| {
        Error::script("an interval is written as a string with a unit").help("write INTERVAL '10' SECOND")
    })?;
    let (leading, last) = units(interval)?;
    let illegal = || {
        Error::script(format!("'{text}' is no interval of {}", unit_name(leading, last)))
            .help("write for instance INTERVAL '10' SECOND, INTERVAL '1:30' MINUTE TO SECOND or INTERVAL '1 02:03:04' DAY TO SECOND")
    };
    check_digits(text, leading, interval.leading_precision)?;
    let total = parse(text, leading, last).ok_or_else(illegal)?;
    let total = if negative { -total } else { total };
    if leading.is_months() {
        return i32::try_from(total).map(IntervalValue::Months).map_err(|_| illegal());
    }
    Ok(IntervalValue::Milliseconds(total))
}

/// Digits that the first number may have where the interval does not say, as in MINUTE(3).
const LEADING_DIGITS: u64 = 2;

/// Flink takes no number with more digits than its unit announces.
fn check_digits(text: &str, leading: Unit, precision: Option<u64>) -> Result<()> {
    let number = text.trim().trim_start_matches(['+', '-']);
    let digits = number.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let value = digits.trim_start_matches('0');
    let allowed = precision.unwrap_or(LEADING_DIGITS);
    if value.len() as u64 <= allowed {
        return Ok(());
    }
    let name = unit_name(leading, leading);
    Err(Error::script(format!("{value} has more than the {allowed} digits of {name} in an interval"))
        .help(format!("write {name}({}), or take a larger unit", value.len())))
}

fn unit_name(leading: Unit, last: Unit) -> String {
    let name = |unit: Unit| format!("{unit:?}").to_uppercase();
    if leading == last { name(leading) } else { format!("{} TO {}", name(leading), name(last)) }
}

fn text_of(value: &Expr) -> Option<(&str, bool)> {
    match value {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some((text, false)),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => text_of(expr).map(|(text, negative)| (text, !negative)),
        _ => None,
    }
}

/// `[sign] first separator second …`, the separators being `-` for months, a blank after days, else `:`.
fn parse(text: &str, leading: Unit, last: Unit) -> Option<i64> {
    let text = text.trim();
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut total = 0_i64;
    let mut unit = leading;
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let value: i64 = rest[..digits].parse().ok()?;
        if unit != leading && value > unit.limit() {
            return None;
        }
        total = total.checked_add(value.checked_mul(unit.factor())?)?;
        rest = &rest[digits..];
        if unit == last {
            break;
        }
        let separator = match unit {
            Unit::Year => '-',
            Unit::Day => ' ',
            _ => ':',
        };
        rest = rest.strip_prefix(separator)?;
        unit = next_unit(unit)?;
    }
    if let Some(fraction) = rest.strip_prefix('.').filter(|_| last == Unit::Second) {
        if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let padded = format!("{fraction:0<3}");
        total = total.checked_add(padded[..3].parse::<i64>().ok()?)?;
        rest = "";
    }
    rest.is_empty().then_some(if negative { -total } else { total })
}

fn next_unit(unit: Unit) -> Option<Unit> {
    Some(match unit {
        Unit::Year => Unit::Month,
        Unit::Day => Unit::Hour,
        Unit::Hour => Unit::Minute,
        Unit::Minute => Unit::Second,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Unit::{Day, Hour, Minute, Month, Second, Week, Year};

    #[test]
    fn intervals_are_read_in_all_forms() {
        let cases = [
            ("10", Second, Second, 10_000),
            ("-4", Second, Second, -4_000),
            ("0.5", Second, Second, 500),
            ("0.001", Second, Second, 1),
            ("+2", Minute, Minute, 120_000),
            ("1", Week, Week, 604_800_000),
            ("0 00:01:30", Day, Second, 90_000),
            ("1:30", Minute, Second, 90_000),
            ("00:30", Minute, Second, 30_000),
            ("1 2", Day, Hour, 93_600_000),
            ("-1 02:03:04.5", Day, Second, -93_784_500),
            ("100:59", Hour, Minute, 363_540_000),
            ("1-2", Year, Month, 14),
        ];
        for (text, leading, last, expected) in cases {
            assert_eq!(parse(text, leading, last), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_malformed_interval_is_none() {
        let cases = [
            ("", Second, Second),
            ("x", Second, Second),
            ("1:60", Minute, Second),
            ("1.", Second, Second),
            ("1.5", Minute, Minute),
            ("1-12", Year, Month),
            ("1 25", Day, Hour),
            ("1", Day, Second),
            ("99999999999999999999", Second, Second),
            ("9223372036854775807", Day, Day),
        ];
        for (text, leading, last) in cases {
            assert_eq!(parse(text, leading, last), None, "{text}");
        }
    }
}
