//! Functions of dates, times, timestamps and intervals.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, PrimitiveArray};
use arrow::datatypes::{Date32Type, Int32Type, Int64Type, Time32MillisecondType, TimestampMillisecondType};
use jiff::tz::TimeZone;

use super::calendar::{self, DAY_MS, Moment};
use super::cast::{moments, stored};
use super::formatter::{Compile, Formatter, Patterns, Reading};
use super::function::{Time, Unit};
use super::simple_format::{self, SimpleFormat};
use super::value::{Read, Texts, Value, build, build_texts, numbers, texts};
use super::{EvalContext, parse, zone};
use crate::error::{Error, Result};
use crate::types::Type;

/// What Flink's text functions expect where no pattern is given.
const DEFAULT_PATTERN: &str = "yyyy-MM-dd HH:mm:ss";

/// A function of dates and times.
pub(super) fn time(
    function: Time,
    values: &[Value],
    kinds: &[&Type],
    out: &Type,
    count: usize,
    context: &EvalContext,
) -> Result<ArrayRef> {
    match function {
        Time::CurrentDate | Time::CurrentTime | Time::CurrentTimestamp | Time::LocalTimestamp => {
            return now(function, out, count, context);
        }
        Time::UnixTimestamp if values.is_empty() => {
            return build::<Int64Type>(count, |_| Ok(Some(context.now_ms.div_euclid(1000))));
        }
        _ => {}
    }
    let value = argument(values, 0)?;
    let kind = kinds.first().copied().unwrap_or(&Type::Null);
    match function {
        Time::Extract(unit) => extract(unit, value, kind, count, context),
        Time::Floor(unit) => round(unit, false, value, kind, count, context),
        Time::Ceil(unit) => round(unit, true, value, kind, count, context),
        Time::Difference(unit) => difference(unit, (value, kind), (argument(values, 1)?, kinds[1]), count),
        Time::Between => between((value, kind), (argument(values, 1)?, kinds[1]), out, count),
        Time::Shift { minus } => shift((value, kind), (argument(values, 1)?, kinds[1]), minus, count),
        Time::DateFormat => date_format(value, kind, argument(values, 1)?, count, context),
        Time::ToDate => to_date(value, values.get(1), count, context),
        Time::ToTimestamp => to_timestamp(value, values.get(1), out, count),
        Time::ToTimestampLtz if kind.is_string() => ltz_of_text(value, values.get(1), values.get(2), out, count),
        Time::ToTimestampLtz => ltz_of_number(value, values.get(1), out, count),
        Time::FromUnixTime => from_unix_time(value, values.get(1), count, context),
        Time::UnixTimestamp => unix_timestamp(value, values.get(1), count, context),
        Time::ConvertTz => convert_tz(values, count, context),
        _ => Err(Error::internal(format!("{function:?} as a function of times"))),
    }
}

fn argument(values: &[Value], at: usize) -> Result<&Value> {
    values.get(at).ok_or_else(|| Error::internal("a function of times lacks an argument"))
}

fn now(function: Time, out: &Type, count: usize, context: &EvalContext) -> Result<ArrayRef> {
    let local = || Ok::<i64, Error>(zone::to_local(&zone::zone(&context.time_zone)?, context.now_ms));
    match function {
        Time::CurrentDate => {
            let days = local()?.div_euclid(DAY_MS) as i32;
            build::<Date32Type>(count, |_| Ok(Some(days)))
        }
        Time::CurrentTime => {
            let in_day = local()?.rem_euclid(DAY_MS) as i32;
            build::<Time32MillisecondType>(count, |_| Ok(Some(in_day - in_day % 1000)))
        }
        Time::LocalTimestamp => {
            let local = Moment::from_millis(local()?);
            stored(count, out, |_| Ok(Some(local)))
        }
        _ => stored(count, out, |_| Ok(Some(Moment::from_millis(context.now_ms)))),
    }
}

/// The session's zone for TIMESTAMP_LTZ, UTC for all else.
fn zone_of(kind: &Type, context: &EvalContext) -> Result<TimeZone> {
    if matches!(kind, Type::TimestampLtz(_)) { zone::zone(&context.time_zone) } else { Ok(TimeZone::UTC) }
}

fn extract(unit: Unit, value: &Value, kind: &Type, count: usize, context: &EvalContext) -> Result<ArrayRef> {
    match kind {
        Type::IntervalYearMonth => {
            let values = numbers::<Int32Type>(value)?;
            return build::<Int64Type>(count, |row| {
                Ok(values.read(row).map(|months| {
                    let months = i64::from(months);
                    match unit {
                        Unit::Year => months / 12,
                        Unit::Month => months % 12,
                        Unit::Quarter => months % 12 / 3 + 1,
                        Unit::Decade => months / 120,
                        Unit::Century => months / 1200,
                        Unit::Millennium => months / 12_000,
                        _ => 0,
                    }
                }))
            });
        }
        Type::IntervalDaySecond => {
            let values = numbers::<Int64Type>(value)?;
            return build::<Int64Type>(count, |row| {
                Ok(values.read(row).map(|millis| match unit {
                    Unit::Day => millis / DAY_MS,
                    Unit::Epoch => millis / 1000,
                    _ => part_of_day(unit, Moment::from_millis(millis)),
                }))
            });
        }
        _ => {}
    }
    if *kind == Type::Date && unit_is_of_day(unit) {
        // Flink takes the days since 1970 for milliseconds.
        let days = numbers::<Date32Type>(value)?;
        let part = |days: i32| part_of_day(unit, Moment::from_millis(days.into()));
        return build::<Int64Type>(count, |row| Ok(days.read(row).map(part)));
    }
    let zone = zone_of(kind, context)?;
    let values = moments(value, kind)?;
    build::<Int64Type>(count, |row| {
        Ok(values(row).map(|moment| {
            let local = moment.plus_millis(zone::older_offset_ms(&zone, moment.millis));
            match unit {
                // Of the wall clock, as Flink does it.
                Unit::Epoch => local.millis / 1000,
                _ if unit_is_of_day(unit) => part_of_day(unit, local),
                // Flink cuts toward zero: before 1970, a time of day belongs to the next date.
                _ => part_of_date(unit, local.millis / DAY_MS),
            }
        }))
    })
}

fn unit_is_of_day(unit: Unit) -> bool {
    matches!(unit, Unit::Hour | Unit::Minute | Unit::Second | Unit::Millisecond | Unit::Microsecond | Unit::Nanosecond)
}

fn part_of_day(unit: Unit, moment: Moment) -> i64 {
    let (millis, nanos) = (moment.millis, i64::from(moment.nanos));
    match unit {
        Unit::Hour => millis % DAY_MS / 3_600_000,
        Unit::Minute => millis % 3_600_000 / 60_000,
        Unit::Second => millis % 60_000 / 1000,
        Unit::Millisecond => millis % 1000,
        Unit::Microsecond => millis % 1000 * 1000 + nanos / 1000,
        Unit::Nanosecond => millis % 1000 * 1_000_000 + nanos,
        _ => 0,
    }
}

fn part_of_date(unit: Unit, days: i64) -> i64 {
    let (year, month, day) = calendar::date_of(days);
    let up = |length: i64| if year > 0 { (year + length - 1) / length } else { -((length - year) / length) };
    match unit {
        Unit::Year => year,
        Unit::IsoYear => calendar::iso_week(days).0,
        Unit::Quarter => (month + 2) / 3,
        Unit::Month => month,
        Unit::Day => day,
        Unit::Week => calendar::iso_week(days).1,
        Unit::DayOfYear => calendar::day_of_year(days),
        Unit::DayOfWeek => calendar::iso_day_of_week(days) % 7 + 1,
        Unit::IsoDayOfWeek => calendar::iso_day_of_week(days),
        Unit::Decade => year.div_euclid(10),
        Unit::Century => up(100),
        _ => up(1000),
    }
}

/// FLOOR and CEIL to a unit.
fn round(unit: Unit, up: bool, value: &Value, kind: &Type, count: usize, context: &EvalContext) -> Result<ArrayRef> {
    match kind {
        Type::Date => {
            let values = numbers::<Date32Type>(value)?;
            return build::<Date32Type>(count, |row| {
                Ok(values.read(row).map(|days| calendar::round_days(days.into(), unit, up) as i32))
            });
        }
        Type::Time(_) => {
            let length = unit.millis().unwrap_or(1);
            let values = numbers::<Time32MillisecondType>(value)?;
            return build::<Time32MillisecondType>(count, |row| match values.read(row) {
                None => Ok(None),
                Some(time) => match round_millis(time.into(), length, up) {
                    rounded if rounded >= DAY_MS => Err(Error::data("CEIL of a TIME gives 24:00:00, which is no TIME")),
                    rounded => Ok(Some(rounded as i32)),
                },
            });
        }
        _ => {}
    }
    let zone = zone_of(kind, context)?;
    let values = moments(value, kind)?;
    stored(count, kind, |row| {
        Ok(values(row).map(|moment| {
            // The offset of the instant, not that of the result: after a change of clocks, Flink's days begin odd.
            let offset = zone::older_offset_ms(&zone, moment.millis);
            let local = moment.millis.wrapping_add(offset);
            let rounded = match unit {
                Unit::Week => calendar::round_days(local / DAY_MS, unit, up).wrapping_mul(DAY_MS),
                _ => match unit.millis() {
                    Some(length) => round_millis(local, length, up),
                    None => calendar::round_days(local / DAY_MS, unit, up).wrapping_mul(DAY_MS),
                },
            };
            Moment::from_millis(rounded.wrapping_sub(offset))
        }))
    })
}

fn round_millis(millis: i64, length: i64, up: bool) -> i64 {
    let rest = millis.rem_euclid(length);
    let floor = millis.wrapping_sub(rest);
    if up && rest > 0 { floor.wrapping_add(length) } else { floor }
}

/// TIMESTAMPDIFF: whole units from the first to the second, as INT (nanoseconds as BIGINT). Units below a second count
/// whole seconds, as in Flink.
fn difference(unit: Unit, from: (&Value, &Type), to: (&Value, &Type), count: usize) -> Result<ArrayRef> {
    let (from, to) = (moments(from.0, from.1)?, moments(to.0, to.1)?);
    let counted = |row| {
        from(row).zip(to(row)).map(|(from, to)| {
            let (from, to) = (from.millis, to.millis);
            let months = |length: i64| calendar::months_between(from, to) / length;
            let seconds = |units: i64| (to.wrapping_sub(from) / 1000).wrapping_mul(units);
            match unit {
                Unit::Millennium => months(12_000),
                Unit::Century => months(1200),
                // A decade counts as a year, as in Flink.
                Unit::Decade | Unit::Year => months(12),
                Unit::Quarter => months(3),
                Unit::Month => months(1),
                // Flink counts the seconds in 32 bits.
                Unit::Week => i64::from((to.wrapping_sub(from) / 1000) as i32) / 604_800,
                Unit::Millisecond => seconds(1000),
                Unit::Microsecond => seconds(1_000_000),
                Unit::Nanosecond => seconds(1_000_000_000),
                _ => to.wrapping_sub(from) / unit.millis().unwrap_or(1),
            }
        })
    };
    if unit == Unit::Nanosecond {
        return build::<Int64Type>(count, |row| Ok(counted(row)));
    }
    build::<Int32Type>(count, |row| Ok(counted(row).map(|units| units as i32)))
}

/// `(to - from) DAY TO SECOND` in milliseconds, of years and months in whole months.
fn between(from: (&Value, &Type), to: (&Value, &Type), out: &Type, count: usize) -> Result<ArrayRef> {
    let (from, to) = (moments(from.0, from.1)?, moments(to.0, to.1)?);
    let both = |row| from(row).zip(to(row)).map(|(from, to): (Moment, Moment)| (from.millis, to.millis));
    if *out == Type::IntervalYearMonth {
        return build::<Int32Type>(count, |row| {
            Ok(both(row).map(|(from, to)| calendar::months_between(from, to) as i32))
        });
    }
    build::<Int64Type>(count, |row| Ok(both(row).map(|(from, to)| to.wrapping_sub(from))))
}

/// A date, time or timestamp plus or minus an interval.
fn shift(
    (value, kind): (&Value, &Type),
    (interval, interval_kind): (&Value, &Type),
    minus: bool,
    count: usize,
) -> Result<ArrayRef> {
    let sign = if minus { -1 } else { 1 };
    let months = *interval_kind == Type::IntervalYearMonth;
    if let (false, Type::Timestamp(0..=3) | Type::TimestampLtz(0..=3), Value::Constant(by)) = (months, kind, interval)
        && let Some(by) = by.as_any().downcast_ref::<PrimitiveArray<Int64Type>>()
        && let Some(array) = value.array().as_any().downcast_ref::<PrimitiveArray<TimestampMillisecondType>>()
        && !by.is_null(0)
        && array.len() == count
    {
        let by = by.value(0).wrapping_mul(sign);
        let moved: PrimitiveArray<TimestampMillisecondType> = array.unary(|x| x.wrapping_add(by));
        return Ok(Arc::new(moved.with_data_type(array.data_type().clone())));
    }
    let by: Box<dyn Fn(usize) -> Option<i64>> = if months {
        let values = numbers::<Int32Type>(interval)?;
        Box::new(move |row| values.read(row).map(|x| i64::from(x) * sign))
    } else {
        let values = numbers::<Int64Type>(interval)?;
        Box::new(move |row| values.read(row).map(|x| x.wrapping_mul(sign)))
    };
    match kind {
        Type::Date => {
            let values = numbers::<Date32Type>(value)?;
            build::<Date32Type>(count, |row| {
                Ok(values.read(row).zip(by(row)).map(|(days, by)| {
                    let days = i64::from(days);
                    (if months { calendar::add_months(days, by) } else { days.wrapping_add(by / DAY_MS) }) as i32
                }))
            })
        }
        Type::Time(_) => {
            let values = numbers::<Time32MillisecondType>(value)?;
            build::<Time32MillisecondType>(count, |row| {
                Ok(values.read(row).zip(by(row)).map(|(time, by)| {
                    if months { time } else { i64::from(time).wrapping_add(by).rem_euclid(DAY_MS) as i32 }
                }))
            })
        }
        Type::Timestamp(_) | Type::TimestampLtz(_) => {
            let values = moments(value, kind)?;
            stored(count, kind, |row| {
                Ok(values(row).zip(by(row)).map(|(moment, by)| match months {
                    true => Moment { millis: calendar::add_months_to_millis(moment.millis, by), ..moment },
                    false => moment.plus_millis(by),
                }))
            })
        }
        _ => Err(Error::internal(format!("{kind} plus an interval"))),
    }
}

/// DATE_FORMAT of a timestamp, or of a text that is one.
fn date_format(value: &Value, kind: &Type, pattern: &Value, count: usize, context: &EvalContext) -> Result<ArrayRef> {
    if kind.is_string() {
        return text_format(value, pattern, count, context);
    }
    let mut patterns = Patterns::<Formatter>::new(texts(pattern)?);
    let zone = zone_of(kind, context)?;
    let values = moments(value, kind)?;
    build_texts(count, |row| match (values(row), patterns.at(row)?) {
        (Some(moment), Some(pattern)) => {
            pattern.format(moment.plus_millis(zone::offset_ms(&zone, moment.millis))).map(Some)
        }
        _ => Ok(None),
    })
}

fn text_format(value: &Value, pattern: &Value, count: usize, context: &EvalContext) -> Result<ArrayRef> {
    let zone = zone::zone(&context.time_zone)?;
    let mut patterns = Patterns::<SimpleFormat>::new(texts(pattern)?);
    let default = SimpleFormat::compile(DEFAULT_PATTERN)?;
    let century = simple_format::century(context.now_ms);
    let values = texts(value)?;
    build_texts(count, |row| {
        let millis = values.read(row).and_then(|text| default.read(text, &zone, century));
        match (millis, patterns.at(row)?) {
            (Some(millis), Some(pattern)) => pattern.format(millis, &zone).map(Some),
            _ => Ok(None),
        }
    })
}

/// TO_DATE(text[, pattern]); NULL for what is no date.
fn to_date(value: &Value, pattern: Option<&Value>, count: usize, context: &EvalContext) -> Result<ArrayRef> {
    let values = texts(value)?;
    let Some(pattern) = pattern else {
        return build::<Date32Type>(count, |row| Ok(values.read(row).and_then(parse::parse_date)));
    };
    let mut patterns = Patterns::<SimpleFormat>::new(texts(pattern)?);
    let century = simple_format::century(context.now_ms);
    build::<Date32Type>(count, |row| match (values.read(row), patterns.at(row)?) {
        (Some(text), Some(pattern)) => {
            Ok(pattern.read(text, &TimeZone::UTC, century).map(|millis| millis.div_euclid(DAY_MS) as i32))
        }
        _ => Ok(None),
    })
}

/// TO_TIMESTAMP(text[, pattern]): NULL for what is no timestamp. An offset in the text is read over.
fn to_timestamp(value: &Value, pattern: Option<&Value>, out: &Type, count: usize) -> Result<ArrayRef> {
    let values = texts(value)?;
    let mut patterns = pattern.map(texts).transpose()?.map(Patterns::<Formatter>::new);
    stored(count, out, |row| {
        let text = values.read(row);
        Ok(match &mut patterns {
            None => text.and_then(parse::parse_timestamp),
            // A pattern that means nothing reads nothing.
            Some(patterns) => text.zip(patterns.valid_at(row)).and_then(|(text, pattern)| match pattern.read(text) {
                Reading::Moment(moment) => Some(moment),
                Reading::Impossible => None,
                Reading::Other => parse_jdbc(text),
            }),
        })
    })
}

/// TO_TIMESTAMP_LTZ(text[, pattern[, zone]]), whose zone is UTC unless given. Without a pattern a text that is no
/// timestamp is an error, and so is with one a day that does not exist; another form is NULL.
fn ltz_of_text(
    value: &Value,
    pattern: Option<&Value>,
    zone_name: Option<&Value>,
    out: &Type,
    count: usize,
) -> Result<ArrayRef> {
    let values = texts(value)?;
    let mut patterns = pattern.map(texts).transpose()?.map(Patterns::<Formatter>::new);
    let zones = zone_name.map(texts).transpose()?;
    let mut zones = zones.map(|names| Zones::new(names, zone::known));
    let no_timestamp = |text: &str| {
        let shown: String = text.chars().take(80).collect();
        Err(Error::data(format!("TO_TIMESTAMP_LTZ: '{shown}' is no timestamp"))
            .help("give it a pattern; a text of another form is NULL then"))
    };
    stored(count, out, |row| {
        let Some(text) = values.read(row) else {
            return Ok(None);
        };
        let moment = match &mut patterns {
            None => match parse::parse_timestamp(text) {
                Some(moment) => Some(moment),
                None => return no_timestamp(text),
            },
            Some(patterns) => match patterns.at(row)?.map(|pattern| pattern.read(text)) {
                Some(Reading::Moment(moment)) => Some(moment),
                Some(Reading::Impossible) => return no_timestamp(text),
                Some(Reading::Other) => parse_jdbc(text),
                None => None,
            },
        };
        Ok(match &mut zones {
            None => moment,
            Some(zones) => moment
                .zip(zones.at(row))
                .map(|(moment, zone)| Moment { millis: zone::from_local(zone, moment.millis), ..moment }),
        })
    })
}

/// What Flink falls back to: `yyyy-[m]m-[d]d hh:mm:ss[.f…]` with hours and days that may overflow.
fn parse_jdbc(text: &str) -> Option<Moment> {
    let text = text.trim();
    let whole;
    let text = if (8..=10).contains(&text.len()) {
        whole = format!("{text} 00:00:00");
        whole.as_str()
    } else {
        text
    };
    let (date, time) = text.split_once(' ')?;
    let number = |text: &str, longest: usize| {
        let fits = (1..=longest).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if fits { text.parse::<i64>().ok() } else { None }
    };
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let year = if year.len() == 4 { number(year, 4)? } else { return None };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let mut parts = time.trim().splitn(3, ':');
    let (hour, minute) = (number(parts.next()?, 9)?, number(parts.next()?, 9)?);
    let rest = parts.next()?;
    let (second, fraction) = rest.split_once('.').unwrap_or((rest, "0"));
    let second = number(second, 9)?;
    let nanos = number(fraction, 9)? * 10i64.pow(9 - fraction.len() as u32);
    let millis =
        calendar::days_of(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + nanos / 1_000_000;
    Some(Moment { millis, nanos: (nanos % 1_000_000) as i32 })
}

/// TO_TIMESTAMP_LTZ(n[, digits]): n counts seconds (0), milliseconds (3), or finer units. NULL beyond the year 9999.
fn ltz_of_number(value: &Value, digits: Option<&Value>, out: &Type, count: usize) -> Result<ArrayRef> {
    const YEAR_0: i64 = -62_167_219_200_000;
    const YEAR_10000: i64 = 253_402_300_800_000;
    let values = numbers::<Int64Type>(value)?;
    let digits = digits.map(numbers::<Int32Type>).transpose()?;
    stored(count, out, |row| {
        let digits = digits.as_ref().map_or(Some(3), |digits| digits.read(row));
        let Some((number, digits)) = values.read(row).zip(digits) else {
            return Ok(None);
        };
        let moment = match digits {
            0..=2 => {
                let unit = 10i64.pow(3 - digits as u32);
                number.checked_mul(unit).map(Moment::from_millis)
            }
            3..=9 => {
                let unit = 10i64.pow(digits as u32 - 3);
                let nanos = number.rem_euclid(unit) * (1_000_000 / unit);
                Some(Moment { millis: number.div_euclid(unit), nanos: nanos as i32 })
            }
            _ => return Err(Error::data(format!("TO_TIMESTAMP_LTZ takes a precision of 0 to 9, not {digits}"))),
        };
        Ok(moment.filter(|moment| (YEAR_0..YEAR_10000).contains(&moment.millis)))
    })
}

/// FROM_UNIXTIME(seconds[, pattern]) in the session's zone.
fn from_unix_time(value: &Value, pattern: Option<&Value>, count: usize, context: &EvalContext) -> Result<ArrayRef> {
    let zone = zone::zone(&context.time_zone)?;
    let values = numbers::<Int64Type>(value)?;
    let default = SimpleFormat::compile(DEFAULT_PATTERN)?;
    let mut patterns = pattern.map(texts).transpose()?.map(Patterns::<SimpleFormat>::new);
    build_texts(count, |row| {
        let pattern = match &mut patterns {
            None => Some(&default),
            Some(patterns) => patterns.at(row)?,
        };
        match (values.read(row), pattern) {
            (Some(seconds), Some(pattern)) => pattern.format(seconds.wrapping_mul(1000), &zone).map(Some),
            _ => Ok(None),
        }
    })
}

/// UNIX_TIMESTAMP(text[, pattern]) in the session's zone; the least BIGINT for what is no timestamp.
fn unix_timestamp(value: &Value, pattern: Option<&Value>, count: usize, context: &EvalContext) -> Result<ArrayRef> {
    let zone = zone::zone(&context.time_zone)?;
    let values = texts(value)?;
    let default = SimpleFormat::compile(DEFAULT_PATTERN)?;
    let century = simple_format::century(context.now_ms);
    let mut patterns = pattern.map(texts).transpose()?.map(Patterns::<SimpleFormat>::new);
    build::<Int64Type>(count, |row| {
        let Some(text) = values.read(row) else {
            return Ok(None);
        };
        let pattern = match &mut patterns {
            None => Some(&default),
            Some(patterns) => patterns.at(row)?,
        };
        let Some(pattern) = pattern else {
            return Ok(None);
        };
        let millis = pattern.read(text, &zone, century);
        // Before 1970 the division cuts toward zero, as in Flink.
        Ok(Some(millis.map_or(i64::MIN, |millis| millis / 1000)))
    })
}

/// CONVERT_TZ(text, from, to); an unknown zone is UTC.
fn convert_tz(values: &[Value], count: usize, context: &EvalContext) -> Result<ArrayRef> {
    let text = texts(argument(values, 0)?)?;
    let zones = |at| Ok::<_, Error>(Zones::new(texts(argument(values, at)?)?, |name| Some(zone::lenient(name))));
    let (mut from, mut to) = (zones(1)?, zones(2)?);
    let pattern = SimpleFormat::compile(DEFAULT_PATTERN)?;
    let century = simple_format::century(context.now_ms);
    build_texts(count, |row| match (text.read(row), from.at(row), to.at(row)) {
        (Some(text), Some(from), Some(to)) => match pattern.read(text, from, century) {
            None => Ok(None),
            Some(millis) => pattern.format(millis, to).map(Some),
        },
        _ => Ok(None),
    })
}

/// Looks up the zone of each row, the last one kept.
struct Zones<'a> {
    names: Texts<'a>,
    find: fn(&str) -> Option<TimeZone>,
    last: Option<(String, Option<TimeZone>)>,
}

impl<'a> Zones<'a> {
    fn new(names: Texts<'a>, find: fn(&str) -> Option<TimeZone>) -> Self {
        Zones { names, find, last: None }
    }

    /// `None` for NULL, and for a name that is no zone's.
    fn at(&mut self, row: usize) -> Option<&TimeZone> {
        let name = self.names.read(row)?;
        if self.last.as_ref().is_none_or(|(last, _)| last != name) {
            self.last = Some((name.to_string(), (self.find)(name)));
        }
        self.last.as_ref()?.1.as_ref()
    }
}
