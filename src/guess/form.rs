//! The forms in which a time may be written, and how SQL reads each.

use super::names::literal;
use super::pattern::{self, PatternForm};
use crate::format::{TimestampStyle, csv_date, iso_date, timestamp};
use crate::types::Type;

/// Plausible moments: from 1980 to 2100, in seconds since 1970.
const PLAUSIBLE: std::ops::Range<i64> = 315_532_800..4_102_444_800;

/// What a number since 1970 counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EpochUnit {
    Seconds,
    Millis,
    Micros,
    Nanos,
}

impl EpochUnit {
    pub fn per_second(self) -> i64 {
        match self {
            EpochUnit::Seconds => 1,
            EpochUnit::Millis => 1_000,
            EpochUnit::Micros => 1_000_000,
            EpochUnit::Nanos => 1_000_000_000,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            EpochUnit::Seconds => "seconds",
            EpochUnit::Millis => "milliseconds",
            EpochUnit::Micros => "microseconds",
            EpochUnit::Nanos => "nanoseconds",
        }
    }

    /// The unit in which the number is a plausible moment.
    pub fn of(value: i64) -> Option<EpochUnit> {
        [EpochUnit::Seconds, EpochUnit::Millis, EpochUnit::Micros, EpochUnit::Nanos]
            .into_iter()
            .find(|unit| PLAUSIBLE.contains(&value.div_euclid(unit.per_second())))
    }

    /// Milliseconds since 1970.
    pub fn millis(self, value: i64) -> Option<i64> {
        match self {
            EpochUnit::Seconds => value.checked_mul(1_000),
            _ => Some(value.div_euclid(self.per_second() / 1_000)),
        }
    }
}

/// One way to read a text as a moment.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// `2024-05-01 12:00:00`, with `Z` behind it where `zoned`.
    Sql { zoned: bool },
    /// `2024-05-01T12:00:00`, with `Z` behind it where `zoned`.
    Iso { zoned: bool },
    /// `2024-05-01`
    Date,
    /// A whole number since 1970.
    Epoch(EpochUnit),
    /// Seconds since 1970 with a fraction.
    EpochFraction,
    /// Any other form that a date pattern describes.
    Pattern(PatternForm),
}

impl Form {
    /// Every form that reads the text; what is likely comes first.
    pub fn all(text: &str) -> Vec<Form> {
        let plain = [
            Form::Sql { zoned: false },
            Form::Sql { zoned: true },
            Form::Iso { zoned: false },
            Form::Iso { zoned: true },
            Form::Date,
        ];
        let mut forms: Vec<Form> = plain.into_iter().filter_map(|mut form| form.read(text).map(|_| form)).collect();
        if !forms.is_empty() {
            return forms;
        }
        if let Ok(value) = text.parse::<i64>() {
            forms.extend(EpochUnit::of(value).map(Form::Epoch));
        } else if Form::EpochFraction.read(text).is_some() {
            forms.push(Form::EpochFraction);
        }
        forms.extend(pattern::forms(text).into_iter().map(Form::Pattern));
        forms
    }

    /// Milliseconds since 1970, on the wall clock or in UTC; `None` where the text has another form.
    pub fn read(&mut self, text: &str) -> Option<i64> {
        match self {
            Form::Sql { zoned } => moment(text, TimestampStyle::Sql, *zoned),
            Form::Iso { zoned } => moment(text, TimestampStyle::Iso, *zoned),
            Form::Date => {
                let days = iso_date(text.as_bytes()).filter(|_| csv_date(text.as_bytes()).is_some())?;
                days.checked_mul(86_400_000)
            }
            Form::Epoch(unit) => {
                let value: i64 = text.parse().ok()?;
                let plausible = value == 0 || PLAUSIBLE.contains(&value.div_euclid(unit.per_second()));
                if plausible { unit.millis(value) } else { None }
            }
            Form::EpochFraction => {
                let digits = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                let value: f64 = text.parse().ok().filter(|_| digits)?;
                PLAUSIBLE.contains(&(value as i64)).then_some((value * 1_000.0) as i64)
            }
            Form::Pattern(pattern) => pattern.read(text),
        }
    }

    /// Whether the form reads the text after all, as one of a column in which some times end in `Z` and others in an
    /// offset in digits.
    pub fn widen(&mut self, text: &str) -> bool {
        let ends_in_z = matches!(self, Form::Sql { zoned: true } | Form::Iso { zoned: true });
        match pattern::with_offset(text).filter(|_| ends_in_z) {
            Some(pattern) => *self = Form::Pattern(pattern),
            None => return false,
        }
        true
    }

    /// The column type that reads this form as it stands, if there is one. `digits`: of the fraction.
    pub fn column_type(&self, json: Option<TimestampStyle>, digits: u8) -> Option<Type> {
        let digits = digits.max(3);
        let style = match self {
            Form::Date => return Some(Type::Date),
            Form::Sql { .. } => TimestampStyle::Sql,
            Form::Iso { .. } => TimestampStyle::Iso,
            _ => return None,
        };
        match self {
            _ if json.unwrap_or_default() != style => None,
            Form::Sql { zoned: true } | Form::Iso { zoned: true } => Some(Type::TimestampLtz(digits)),
            _ => Some(Type::Timestamp(digits)),
        }
    }

    /// The expression over the column that gives a TIMESTAMP(3) or TIMESTAMP_LTZ(3), and whether it is the latter.
    /// `column` is the name as a script spells it; `kind` is the type that the column is declared with.
    pub fn expression(&self, column: &str, kind: &Type) -> (String, bool) {
        match self {
            Form::Date if *kind == Type::Date => (format!("CAST({column} AS TIMESTAMP(3))"), false),
            Form::Date => (format!("TO_TIMESTAMP({column}, 'yyyy-MM-dd')"), false),
            Form::Sql { zoned } | Form::Iso { zoned } => match kind {
                Type::Timestamp(_) => (format!("CAST({column} AS TIMESTAMP(3))"), false),
                Type::TimestampLtz(_) => (format!("CAST({column} AS TIMESTAMP_LTZ(3))"), true),
                _ => (self.replaced(column, *zoned), *zoned),
            },
            Form::Epoch(unit) => {
                let column = as_number(column, kind, "BIGINT");
                let sql = match unit {
                    EpochUnit::Seconds => format!("TO_TIMESTAMP_LTZ({column}, 0)"),
                    EpochUnit::Millis => format!("TO_TIMESTAMP_LTZ({column}, 3)"),
                    EpochUnit::Micros => format!("TO_TIMESTAMP_LTZ({column} / 1000, 3)"),
                    EpochUnit::Nanos => format!("TO_TIMESTAMP_LTZ({column} / 1000000, 3)"),
                };
                (sql, true)
            }
            Form::EpochFraction => {
                let column = as_number(column, kind, "DOUBLE");
                (format!("TO_TIMESTAMP_LTZ(CAST({column} * 1000 AS BIGINT), 3)"), true)
            }
            Form::Pattern(pattern) => {
                let text = match kind {
                    Type::VarChar(_) => column.to_string(),
                    _ => format!("CAST({column} AS STRING)"),
                };
                if let Some((text, minutes)) = pattern.minutes_ahead_sql(&text) {
                    let clock = format!("TO_TIMESTAMP({text}, {})", literal(&pattern.text()));
                    return (format!("TIMESTAMPADD(MINUTE, -({minutes}), {clock})"), false);
                }
                let function = if pattern.in_utc() { "TO_TIMESTAMP_LTZ" } else { "TO_TIMESTAMP" };
                (format!("{function}({text}, {})", literal(&pattern.text())), pattern.in_utc())
            }
        }
    }

    /// Text that only lacks the blank of the SQL form, or has a `Z` too many.
    fn replaced(&self, column: &str, zoned: bool) -> String {
        let iso = matches!(self, Form::Iso { .. });
        let mut text = column.to_string();
        for (from, to) in [("T", " "), ("Z", "")].into_iter().filter(|(from, _)| if *from == "T" { iso } else { zoned })
        {
            text = format!("REPLACE({text}, '{from}', '{to}')");
        }
        format!("{}({text})", if zoned { "TO_TIMESTAMP_LTZ" } else { "TO_TIMESTAMP" })
    }

    /// What a user should know about how SQL reads this form.
    pub fn note(&self) -> Option<String> {
        let Form::Pattern(pattern) = self else { return None };
        if pattern.has_short_years() {
            return Some("years of two digits are read as 20..".to_string());
        }
        let offsets: Vec<&str> = pattern.offsets.iter().map(String::as_str).collect();
        let list = offsets.join(", ");
        match offsets.len() {
            0 => None,
            _ if pattern.in_utc() => None,
            1 => Some(format!("the times have the offset {list} from UTC; they are read as the clock there showed")),
            _ if pattern.minutes_ahead_sql("").is_some() => {
                Some(format!("the times have several offsets from UTC ({list}) and are brought to UTC"))
            }
            _ => Some(format!(
                "the times have several offsets from UTC ({list}), which SQL reads over: those of different offsets do not \
                 compare"
            )),
        }
    }

    /// Whether only its name can tell that a column of this form is a time.
    pub fn needs_a_name(&self) -> bool {
        match self {
            Form::Epoch(unit) => *unit == EpochUnit::Seconds,
            Form::EpochFraction => true,
            Form::Pattern(pattern) => pattern.is_bare_number(),
            _ => false,
        }
    }

    /// For the report.
    pub fn describe(&self) -> String {
        match self {
            Form::Sql { zoned: false } => "date and time".to_string(),
            Form::Sql { zoned: true } => "date and time in UTC".to_string(),
            Form::Iso { zoned: false } => "ISO-8601".to_string(),
            Form::Iso { zoned: true } => "ISO-8601 in UTC".to_string(),
            Form::Date => "date".to_string(),
            Form::Epoch(unit) => format!("{} since 1970", unit.name()),
            Form::EpochFraction => "seconds since 1970 with a fraction".to_string(),
            Form::Pattern(pattern) => format!("date pattern {}", pattern.text()),
        }
    }
}

/// The column, which may hold its numbers as text.
fn as_number(column: &str, kind: &Type, number: &str) -> String {
    if kind.is_string() { format!("CAST({column} AS {number})") } else { column.to_string() }
}

fn moment(text: &str, style: TimestampStyle, zoned: bool) -> Option<i64> {
    let (seconds, nanos) = timestamp(text.as_bytes(), style, zoned)?;
    seconds.checked_mul(1_000)?.checked_add(i64::from(nanos / 1_000_000))
}

/// Digits behind the point of the seconds.
pub(crate) fn fraction_digits(text: &str) -> u8 {
    let behind = text.rsplit_once(':').and_then(|(_, seconds)| seconds.split_once('.'));
    let digits = behind.map_or(0, |(_, fraction)| fraction.bytes().take_while(u8::is_ascii_digit).count());
    digits.min(9) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expression for the first form that reads the text.
    fn expression(text: &str) -> String {
        let form = Form::all(text).into_iter().next().expect("a form");
        let own = || if text.parse::<f64>().is_ok() { Type::BigInt } else { Type::string() };
        let kind = form.column_type(None, fraction_digits(text)).unwrap_or_else(own);
        form.expression("c", &kind).0
    }

    #[test]
    fn each_form_gets_the_expression_that_reads_it() {
        for (text, expected) in [
            ("2024-05-01 12:00:00", "CAST(c AS TIMESTAMP(3))"),
            ("2024-05-01 12:00:00Z", "CAST(c AS TIMESTAMP_LTZ(3))"),
            ("2024-05-01", "CAST(c AS TIMESTAMP(3))"),
            ("2024-05-01T12:00:00", "TO_TIMESTAMP(REPLACE(c, 'T', ' '))"),
            ("2024-05-01T12:00:00Z", "TO_TIMESTAMP_LTZ(REPLACE(REPLACE(c, 'T', ' '), 'Z', ''))"),
            ("1714564801", "TO_TIMESTAMP_LTZ(c, 0)"),
            ("1714564801000", "TO_TIMESTAMP_LTZ(c, 3)"),
            ("1714564801000000", "TO_TIMESTAMP_LTZ(c / 1000, 3)"),
            ("1714564801000000000", "TO_TIMESTAMP_LTZ(c / 1000000, 3)"),
            ("1714564801.25", "TO_TIMESTAMP_LTZ(CAST(c * 1000 AS BIGINT), 3)"),
            ("01/31/2024 10:00", "TO_TIMESTAMP(c, 'M/d/yyyy H:mm')"),
            ("2024-05-01T12:00:00+02:00", "TO_TIMESTAMP(c, 'yyyy-M-d''T''H:mm:ssXXX')"),
        ] {
            assert_eq!(expression(text), expected, "{text}");
        }
    }

    #[test]
    fn json_has_columns_for_one_style_at_a_time() {
        let iso = Form::Iso { zoned: true };
        assert_eq!(iso.column_type(Some(TimestampStyle::Iso), 0), Some(Type::TimestampLtz(3)));
        assert_eq!(iso.column_type(Some(TimestampStyle::Sql), 0), None);
        assert_eq!(iso.column_type(None, 0), None);
        assert_eq!(Form::Sql { zoned: false }.column_type(None, 6), Some(Type::Timestamp(6)));
    }

    #[test]
    fn numbers_that_are_no_moments_have_no_form() {
        for text in ["12", "-5", "99999999999999999999", "3.14", "abc", ""] {
            assert!(Form::all(text).is_empty(), "{text}");
        }
    }
}
