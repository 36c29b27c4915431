//! Dates, times and intervals: operators and functions.

use super::super::eval::{Arithmetic, DateReader, Function, Time, Unit, is_zone};
use super::functions::Args;
use super::{Expr, call, cannot_apply, convert, kind_of, literal, strict};
use crate::error::{Error, Result, nearest};
use crate::expr::Scalar;
use crate::types::Type;

fn is_interval(kind: &Type) -> bool {
    matches!(kind, Type::IntervalDaySecond | Type::IntervalYearMonth)
}

fn is_point(kind: &Type) -> bool {
    kind.is_timestamp() || matches!(kind, Type::Date | Type::Time(_))
}

/// + - * with an interval, or with a date, time or timestamp; `None` for plain numbers.
pub(super) fn shift(operator: &str, left: &Expr, right: &Expr) -> Result<Option<Expr>> {
    let (a, b) = (kind_of(left), kind_of(right));
    if !is_interval(a) && !is_interval(b) && !is_point(a) && !is_point(b) {
        return Ok(None);
    }
    let refuse = || cannot_apply(operator, &[left, right]);
    let build = |point: &Expr, interval: &Expr| {
        let function = Function::Time(Time::Shift { minus: operator == "-" });
        strict(function, vec![point.clone(), interval.clone()], kind_of(point).clone())
    };
    let scale = |interval: &Expr, number: &Expr| {
        let wide = if *kind_of(interval) == Type::IntervalDaySecond { Type::BigInt } else { Type::Int };
        let args = vec![interval.clone(), convert(number.clone(), &wide)];
        strict(Function::Arithmetic(Arithmetic::Multiply), args, kind_of(interval).clone())
    };
    Ok(Some(match operator {
        "+" if is_point(a) && is_interval(b) => build(left, right),
        "+" if is_interval(a) && is_point(b) => build(right, left),
        "-" if is_point(a) && is_interval(b) => build(left, right),
        "+" | "-" if is_interval(a) && a == b => {
            let function = if operator == "+" { Arithmetic::Add } else { Arithmetic::Subtract };
            strict(Function::Arithmetic(function), vec![left.clone(), right.clone()], a.clone())
        }
        "*" if is_interval(a) && b.is_integer() => scale(left, right),
        "*" if is_interval(b) && a.is_integer() => scale(right, left),
        "-" if is_point(a) && is_point(b) => {
            return Err(refuse().help("write (a - b) DAY TO SECOND, or TIMESTAMPDIFF(SECOND, b, a)"));
        }
        "+" | "-" if is_point(a) && b.is_integer() => {
            return Err(refuse().help("add an interval: + INTERVAL '1' DAY"));
        }
        _ => return Err(refuse()),
    }))
}

/// `(left - right) DAY TO SECOND`, or of years and months: the interval between two times of one type.
///
/// # Errors
/// What is no time, or two types (kind Script).
pub fn time_difference(left: Expr, right: Expr, months: bool) -> Result<Expr> {
    let same = match (kind_of(&left), kind_of(&right)) {
        (Type::Timestamp(_), Type::Timestamp(_))
        | (Type::TimestampLtz(_), Type::TimestampLtz(_))
        | (Type::Date, Type::Date)
        | (Type::Time(_), Type::Time(_)) => true,
        (Type::Null, other) | (other, Type::Null) => is_point(other),
        _ => false,
    };
    if !same {
        return Err(cannot_apply("-", &[&left, &right]).help("CAST one of them to the type of the other"));
    }
    let kind = if months { Type::IntervalYearMonth } else { Type::IntervalDaySecond };
    Ok(strict(Function::Time(Time::Between), vec![right, left], kind))
}

/// `(start, end) OVERLAPS (start, end)`: whether two periods share a moment, their bounds included. An end may be an
/// interval from the start, and stand before it.
///
/// # Errors
/// What is no time, or times that cannot be compared (kind Script).
pub fn overlaps(left: (Expr, Expr), right: (Expr, Expr)) -> Result<Expr> {
    let bounds = |(start, end): (Expr, Expr)| -> Result<(Expr, Expr)> {
        if !is_point(kind_of(&start)) {
            return Err(cannot_apply("OVERLAPS", &[&start, &end]));
        }
        let end = if is_interval(kind_of(&end)) { super::operators::binary("+", start.clone(), end)? } else { end };
        let both = vec![start, end];
        Ok((super::function("LEAST", both.clone())?, super::function("GREATEST", both)?))
    };
    let (left, right) = (bounds(left)?, bounds(right)?);
    let before = super::operators::binary("<=", left.0, right.1)?;
    let after = super::operators::binary("<=", right.0, left.1)?;
    super::operators::binary("AND", before, after)
}

fn unit_of(name: &str, expr: &Expr) -> Result<Unit> {
    const UNITS: [&str; 19] = [
        "MILLENNIUM",
        "CENTURY",
        "DECADE",
        "YEAR",
        "QUARTER",
        "MONTH",
        "WEEK",
        "DAY",
        "DOY",
        "DOW",
        "ISODOW",
        "ISOYEAR",
        "HOUR",
        "MINUTE",
        "SECOND",
        "MILLISECOND",
        "MICROSECOND",
        "NANOSECOND",
        "EPOCH",
    ];
    let text = literal::text_of(expr).ok_or_else(|| Error::script(format!("{name} needs the name of a unit")))?;
    Unit::parse(text).ok_or_else(|| {
        let error = Error::script(format!("{name} knows no unit {text}"));
        match nearest(text, UNITS) {
            Some(unit) => error.help(format!("did you mean {unit}?")),
            None => error,
        }
    })
}

/// The functions of dates and times; `None`: not one of them.
pub(super) fn function(name: &str, args: &mut Args) -> Result<Option<Expr>> {
    let now = |time, kind: Type| Ok(Some(call(Function::Time(time), Vec::new(), kind, false)));
    let of_unit = |unit, args: &mut Args| {
        args.count(1, 1)?;
        extract(args.name(), unit, args.take()).map(Some)
    };
    match name {
        "EXTRACT" => {
            args.count(2, 2)?;
            let unit = unit_of(name, &args.take())?;
            extract(name, unit, args.take()).map(Some)
        }
        "YEAR" => of_unit(Unit::Year, args),
        "QUARTER" => of_unit(Unit::Quarter, args),
        "MONTH" => of_unit(Unit::Month, args),
        "WEEK" => of_unit(Unit::Week, args),
        "DAYOFYEAR" => of_unit(Unit::DayOfYear, args),
        "DAYOFMONTH" => of_unit(Unit::Day, args),
        "DAYOFWEEK" => of_unit(Unit::DayOfWeek, args),
        "HOUR" => of_unit(Unit::Hour, args),
        "MINUTE" => of_unit(Unit::Minute, args),
        "SECOND" => of_unit(Unit::Second, args),
        "TIMESTAMPDIFF" => difference(args).map(Some),
        "TIMESTAMPADD" => add(args).map(Some),
        "CURRENT_DATE" => now(Time::CurrentDate, Type::Date),
        "CURRENT_TIME" | "LOCALTIME" => now(Time::CurrentTime, Type::Time(0)),
        "CURRENT_TIMESTAMP" | "CURRENT_ROW_TIMESTAMP" | "NOW" | "PROCTIME" => {
            now(Time::CurrentTimestamp, Type::TimestampLtz(3))
        }
        "LOCALTIMESTAMP" => now(Time::LocalTimestamp, Type::Timestamp(3)),
        "DATE_FORMAT" => {
            args.count(2, 2)?;
            let value = args.take();
            let kind = kind_of(&value);
            if !kind.is_timestamp() && !kind.is_string() && *kind != Type::Null {
                return Err(Error::script(format!("DATE_FORMAT takes a timestamp or a text, not {kind}"))
                    .help("CAST it to TIMESTAMP(3)"));
            }
            let pattern = args.text()?;
            Ok(Some(call(Function::Time(Time::DateFormat), vec![value, pattern], Type::string(), true)))
        }
        "TO_DATE" => texts(args, (1, 2), Time::ToDate, Type::Date),
        "TO_TIMESTAMP" => texts(args, (1, 2), Time::ToTimestamp, Type::Timestamp(3)),
        "TO_TIMESTAMP_LTZ" => to_timestamp_ltz(args).map(Some),
        "FROM_UNIXTIME" => {
            args.count(1, 2)?;
            let mut all = vec![args.integer(&Type::BigInt)?];
            if args.is_left() {
                all.push(args.text()?);
            }
            Ok(Some(call(Function::Time(Time::FromUnixTime), all, Type::string(), true)))
        }
        "UNIX_TIMESTAMP" => {
            args.count(0, 2)?;
            let mut all = Vec::new();
            while args.is_left() {
                all.push(args.text()?);
            }
            Ok(Some(strict(Function::Time(Time::UnixTimestamp), all, Type::BigInt)))
        }
        "CONVERT_TZ" => texts(args, (3, 3), Time::ConvertTz, Type::string()),
        _ => Ok(None),
    }
}

/// Functions of texts whose result may be NULL.
fn texts(args: &mut Args, count: (usize, usize), time: Time, kind: Type) -> Result<Option<Expr>> {
    args.count(count.0, count.1)?;
    let mut all = Vec::new();
    while args.is_left() {
        all.push(args.text()?);
    }
    Ok(Some(call(Function::Time(time), all, kind, true)))
}

fn extract(name: &str, unit: Unit, value: Expr) -> Result<Expr> {
    let kind = kind_of(&value);
    if !is_point(kind) && !is_interval(kind) && *kind != Type::Null {
        return Err(Error::script(format!("{name} takes a date, time, timestamp or interval, not {kind}")));
    }
    let of_day = matches!(
        unit,
        Unit::Hour | Unit::Minute | Unit::Second | Unit::Millisecond | Unit::Microsecond | Unit::Nanosecond
    );
    if matches!(kind, Type::Time(_)) && !of_day {
        return Err(Error::script(format!("a TIME has no {unit:?}")));
    }
    Ok(strict(Function::Time(Time::Extract(unit)), vec![value], Type::BigInt))
}

/// `FLOOR(x TO unit)` and `CEIL(x TO unit)`.
pub(super) fn round(name: &str, value: Expr, unit: &Expr) -> Result<Expr> {
    let unit = unit_of(name, unit)?;
    let kind = kind_of(&value).clone();
    if !is_point(&kind) && kind != Type::Null {
        return Err(Error::script(format!("{name} TO takes a date, time or timestamp, not {kind}")));
    }
    let fits = !matches!(
        unit,
        Unit::DayOfYear
            | Unit::DayOfWeek
            | Unit::IsoDayOfWeek
            | Unit::IsoYear
            | Unit::Epoch
            | Unit::Microsecond
            | Unit::Nanosecond
    );
    if !fits || (matches!(kind, Type::Time(_)) && unit.millis().is_none_or(|ms| ms > 3_600_000)) {
        return Err(Error::script(format!("{name} does not round {kind} to that unit")));
    }
    let time = if name == "FLOOR" { Time::Floor(unit) } else { Time::Ceil(unit) };
    Ok(strict(Function::Time(time), vec![value], kind))
}

fn difference(args: &mut Args) -> Result<Expr> {
    args.count(3, 3)?;
    let unit = unit_of("TIMESTAMPDIFF", &args.take())?;
    use Unit::{Century, Decade, Microsecond, Millennium, Month, Nanosecond, Quarter, Year};
    let known = unit.millis().is_some()
        || matches!(unit, Millennium | Century | Decade | Year | Quarter | Month | Microsecond | Nanosecond);
    if !known {
        return Err(Error::script("TIMESTAMPDIFF counts units from MILLENNIUM down to NANOSECOND"));
    }
    let (from, to) = (args.take(), args.take());
    let fits = |expr: &Expr| kind_of(expr).is_timestamp() || matches!(kind_of(expr), Type::Date | Type::Null);
    let both_times = matches!((kind_of(&from), kind_of(&to)), (Type::Time(_), Type::Time(_)));
    if !both_times && (!fits(&from) || !fits(&to)) {
        return Err(cannot_apply("TIMESTAMPDIFF", &[&from, &to]));
    }
    let zoned = |expr: &Expr| matches!(kind_of(expr), Type::TimestampLtz(_));
    if zoned(&from) != zoned(&to) {
        return Err(Error::script("TIMESTAMPDIFF takes two TIMESTAMP_LTZ or none").help("CAST one of them"));
    }
    let kind = if unit == Nanosecond { Type::BigInt } else { Type::Int };
    Ok(strict(Function::Time(Time::Difference(unit)), vec![from, to], kind))
}

/// TIMESTAMPADD(unit, n, x) is x plus n intervals.
fn add(args: &mut Args) -> Result<Expr> {
    args.count(3, 3)?;
    let unit = unit_of("TIMESTAMPADD", &args.take())?;
    let interval = match unit {
        Unit::Millennium => literal::literal_interval_year_month(12_000),
        Unit::Century => literal::literal_interval_year_month(1200),
        Unit::Decade => literal::literal_interval_year_month(120),
        Unit::Year => literal::literal_interval_year_month(12),
        Unit::Quarter => literal::literal_interval_year_month(3),
        Unit::Month => literal::literal_interval_year_month(1),
        _ => match unit.millis() {
            Some(millis) => literal::literal_interval_day_second(millis),
            None => return Err(Error::script("TIMESTAMPADD takes units from MILLENNIUM down to MILLISECOND")),
        },
    };
    let number = args.take();
    if !kind_of(&number).is_integer() {
        return Err(Error::script(format!("TIMESTAMPADD takes an integer number of units, not {}", kind_of(&number))));
    }
    let mut point = args.take();
    if *kind_of(&point) == Type::Date && unit.millis().is_some_and(|millis| millis < 86_400_000) {
        point = convert(point, &Type::Timestamp(6));
    }
    let scaled = super::operators::arithmetic("*", interval, number)?;
    super::operators::arithmetic("+", point, scaled)
}

fn to_timestamp_ltz(args: &mut Args) -> Result<Expr> {
    args.count(1, 3)?;
    let first = args.take();
    let kind = kind_of(&first).clone();
    if kind.is_string() {
        let mut all = vec![first];
        while args.is_left() {
            all.push(args.text()?);
        }
        if let Some(name) = all.get(2).and_then(literal::text_of)
            && !is_zone(name)
        {
            return Err(Error::script(format!("unknown time zone '{name}'"))
                .help("use a name like 'Europe/Berlin', 'UTC' or 'GMT+08:00'"));
        }
        if let Some(pattern) = all.get(1).and_then(literal::text_of) {
            DateReader::new(pattern).map_err(|error| Error::script(error.message().to_string()))?;
        }
        // A pattern with more digits of the second makes them part of the type.
        let digits = all.get(1).and_then(literal::text_of).map_or(0, |pattern| pattern.matches('S').count());
        let precision = u8::try_from(digits.clamp(3, 9)).unwrap_or(9);
        return Ok(call(Function::Time(Time::ToTimestampLtz), all, Type::TimestampLtz(precision), true));
    }
    if !kind.is_numeric() && kind != Type::Null {
        return Err(Error::script(format!("TO_TIMESTAMP_LTZ takes a number or a text, not {kind}")));
    }
    let floating = matches!(kind, Type::Float | Type::Double);
    let mut first = first;
    let mut precision = 3;
    let mut second = None;
    if args.is_left() {
        let digits = args.integer(&Type::Int)?;
        if let Some(given) = literal::integer_of(&digits) {
            precision = u8::try_from(given)
                .ok()
                .filter(|digits| *digits <= 9)
                .ok_or_else(|| Error::script(format!("TO_TIMESTAMP_LTZ takes a precision of 0 to 9, not {given}")))?;
        }
        second = Some(digits);
    }
    if floating && second.as_ref().is_some_and(|digits| literal::integer_of(digits) == Some(0)) {
        // Of seconds as a DOUBLE, the milliseconds count.
        let thousand = Expr::literal(Scalar::Double(1000.0), Type::Double.not_null());
        first = super::operators::arithmetic("*", convert(first, &Type::Double), thousand)?;
        second = None;
    }
    if floating {
        first = super::function("FLOOR", vec![first])?;
    }
    let mut all = vec![convert(first, &Type::BigInt)];
    all.extend(second);
    if args.is_left() {
        return Err(Error::script("TO_TIMESTAMP_LTZ of a number takes one or two arguments"));
    }
    Ok(call(Function::Time(Time::ToTimestampLtz), all, Type::TimestampLtz(precision.max(3)), true))
}
