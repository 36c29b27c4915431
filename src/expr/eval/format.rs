//! Java's date patterns: DATE_FORMAT, TO_TIMESTAMP and their kin.

use std::fmt::Write;

use super::calendar::{self, DAY_MS, Moment};
use super::value::{Read, Texts};
use crate::calendar::is_leap;
use crate::error::{Error, Result};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// One piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Literal(String),
    Field(char, usize),
    OptionalStart,
    OptionalEnd,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    items: Vec<Item>,
}

/// Compiles the pattern of each row, the last one kept.
pub(super) struct Patterns<'a> {
    texts: Texts<'a>,
    last: Option<(String, Pattern)>,
}

impl<'a> Patterns<'a> {
    pub(super) fn new(texts: Texts<'a>) -> Self {
        Patterns { texts, last: None }
    }

    /// `None`: the pattern is NULL.
    pub(super) fn at(&mut self, row: usize) -> Result<Option<&Pattern>> {
        let Some(text) = self.texts.read(row) else {
            return Ok(None);
        };
        if self.last.as_ref().is_none_or(|(last, _)| last != text) {
            self.last = Some((text.to_string(), Pattern::parse(text)?));
        }
        Ok(self.last.as_ref().map(|(_, pattern)| pattern))
    }
}

impl Pattern {
    /// # Errors
    /// Kind Data for letters that mean nothing, as Flink fails the job then.
    pub(super) fn parse(text: &str) -> Result<Pattern> {
        let mut items = Vec::new();
        let mut literal = String::new();
        let mut chars = text.chars().peekable();
        let flush = |literal: &mut String, items: &mut Vec<Item>| {
            if !literal.is_empty() {
                items.push(Item::Literal(std::mem::take(literal)));
            }
        };
        while let Some(c) = chars.next() {
            match c {
                '\'' => {
                    if chars.next_if_eq(&'\'').is_some() {
                        literal.push('\'');
                        continue;
                    }
                    loop {
                        match chars.next() {
                            Some('\'') if chars.next_if_eq(&'\'').is_some() => literal.push('\''),
                            Some('\'') => break,
                            Some(c) => literal.push(c),
                            None => return Err(bad_pattern(text, "a quote is not closed")),
                        }
                    }
                }
                '[' | ']' => {
                    flush(&mut literal, &mut items);
                    items.push(if c == '[' { Item::OptionalStart } else { Item::OptionalEnd });
                }
                c if c.is_ascii_alphabetic() => {
                    flush(&mut literal, &mut items);
                    let mut count = 1;
                    while chars.next_if_eq(&c).is_some() {
                        count += 1;
                    }
                    if !"GyuYMLdDEecQqwWFgHkKhmsSnNAaBXxZzVO".contains(c) {
                        return Err(bad_pattern(text, &format!("unknown pattern letter: {c}")));
                    }
                    items.push(Item::Field(c, count));
                }
                '{' | '}' | '#' => return Err(bad_pattern(text, &format!("reserved character: {c}"))),
                c => literal.push(c),
            }
        }
        flush(&mut literal, &mut items);
        Ok(Pattern { items })
    }

    /// A moment on the wall clock as text.
    ///
    /// # Errors
    /// Kind Data for a zone's letters: the wall clock has none.
    pub(super) fn format(&self, moment: Moment) -> Result<String> {
        let mut text = String::new();
        let days = moment.millis.div_euclid(DAY_MS);
        let in_day = moment.millis.rem_euclid(DAY_MS);
        for item in &self.items {
            match item {
                Item::Literal(literal) => text.push_str(literal),
                Item::OptionalStart | Item::OptionalEnd => {}
                Item::Field('X' | 'x' | 'Z' | 'z' | 'V' | 'O', _) => {
                    return Err(Error::data("a timestamp has no time zone that a date pattern could show"));
                }
                Item::Field(letter, count) if "GyuYMLdDEecQqwWFg".contains(*letter) => {
                    format_date(&mut text, *letter, *count, days);
                }
                Item::Field(letter, count) => format_time(&mut text, *letter, *count, in_day, moment),
            }
        }
        Ok(text)
    }

    /// Reads a text as Java's DateTimeFormatter does: the whole of it, all parts in range, a day beyond
    /// the month's last cut to it, an offset read over.
    pub(super) fn parse_smart(&self, text: &str) -> Option<Moment> {
        let fields = parse_items(&self.items, text, Fields::default())?;
        fields.smart()
    }

    /// Reads the beginning of a text as Java's SimpleDateFormat does: parts out of range carry over.
    /// Milliseconds on the wall clock, and how many milliseconds that clock is ahead of UTC where the text says it.
    pub(super) fn parse_with_offset(&self, text: &str) -> Option<(i64, Option<i64>)> {
        let mut fields = Fields::default();
        let mut rest = text;
        for (at, item) in self.items.iter().enumerate() {
            match item {
                Item::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Item::Field(letter, count) => {
                    let adjacent = matches!(self.items.get(at + 1), Some(Item::Field(next, _)) if is_number(*next, 1));
                    rest = rest.trim_start_matches([' ', '\t']);
                    let width = if adjacent { *count } else { 18 };
                    let behind = read_field(&mut fields, *letter, *count, rest, (1, width))?;
                    if *letter == 'S' {
                        // Milliseconds, however many digits they have.
                        let digits = &rest[..rest.len() - behind.len()];
                        fields.nanos = Some(digits.parse::<i64>().ok()?.saturating_mul(1_000_000));
                    }
                    rest = behind;
                }
                Item::OptionalStart | Item::OptionalEnd => return None,
            }
        }
        Some((fields.lenient()?, fields.offset.map(|seconds| seconds * 1000)))
    }

    /// As [`Pattern::parse_with_offset`]; an offset is read over.
    pub(super) fn parse_lenient(&self, text: &str) -> Option<i64> {
        self.parse_with_offset(text).map(|(local, _)| local)
    }
}

/// Reads texts by one pattern, as TO_TIMESTAMP does.
#[derive(Debug, Clone)]
pub(crate) struct DateReader(Pattern);

impl DateReader {
    /// # Errors
    /// Kind Data for a pattern that means nothing.
    pub(crate) fn new(pattern: &str) -> Result<Self> {
        Pattern::parse(pattern).map(DateReader)
    }

    /// Milliseconds on the wall clock; `None` where the text has another form.
    pub(crate) fn read(&self, text: &str) -> Option<i64> {
        self.0.parse_smart(text).map(|moment| moment.millis)
    }
}

fn bad_pattern(pattern: &str, why: &str) -> Error {
    Error::data(format!("'{pattern}' is no date pattern: {why}"))
}

fn push_number(text: &mut String, value: i64, width: usize) {
    let _ = write!(text, "{value:0width$}");
}

fn push_name(text: &mut String, name: &str, count: usize) {
    match count {
        4 => text.push_str(name),
        5 => text.push_str(&name[..1]),
        _ => text.push_str(&name[..3]),
    }
}

fn push_year(text: &mut String, year: i64, count: usize) {
    if count == 2 {
        push_number(text, year.rem_euclid(100), 2);
        return;
    }
    if count >= 4 && year > 10i64.pow(count.min(18) as u32) - 1 {
        text.push('+');
    }
    if year < 0 {
        text.push('-');
    }
    push_number(text, year.abs(), count);
}

fn format_date(text: &mut String, letter: char, count: usize, days: i64) {
    let (year, month, day) = calendar::date_of(days);
    let sunday_first = calendar::iso_day_of_week(days) % 7 + 1;
    match letter {
        'G' => text.push_str(match (year > 0, count) {
            (true, 4) => "Anno Domini",
            (false, 4) => "Before Christ",
            (true, 5) => "A",
            (false, 5) => "B",
            (true, _) => "AD",
            (false, _) => "BC",
        }),
        'y' => push_year(text, if year > 0 { year } else { 1 - year }, count),
        'u' => push_year(text, year, count),
        'Y' => push_year(text, week_of_us_year(days).0, count),
        'w' => push_number(text, week_of_us_year(days).1, count),
        // The week of the month, from Sunday; and the day of the month's own weeks, which begin on its first day.
        'W' => push_number(text, (day - 1 + calendar::iso_day_of_week(days - day + 1) % 7) / 7 + 1, count),
        'F' => push_number(text, (day - 1) % 7 + 1, count),
        // The modified Julian day.
        'g' => push_number(text, days + 40_587, count),
        'M' | 'L' if count >= 3 => push_name(text, MONTHS[(month - 1) as usize % 12], count),
        'M' | 'L' => push_number(text, month, count),
        'd' => push_number(text, day, count),
        'D' => push_number(text, calendar::day_of_year(days), count),
        'E' => push_name(text, DAYS[(calendar::iso_day_of_week(days) - 1) as usize % 7], count),
        'e' | 'c' if count >= 3 => push_name(text, DAYS[(calendar::iso_day_of_week(days) - 1) as usize % 7], count),
        'e' | 'c' => push_number(text, sunday_first, count),
        _ => {
            let quarter = (month + 2) / 3;
            match count {
                1 | 2 | 5 => push_number(text, quarter, if count == 2 { 2 } else { 1 }),
                3 => {
                    let _ = write!(text, "Q{quarter}");
                }
                _ => text.push_str(["1st", "2nd", "3rd", "4th"][(quarter - 1) as usize % 4]),
            }
            if count == 4 {
                text.push_str(" quarter");
            }
        }
    }
}

/// Weeks of the American locale: they start on Sunday, and January 1st is in week 1.
fn week_of_us_year(days: i64) -> (i64, i64) {
    let (year, _, _) = calendar::date_of(days);
    let start = |year: i64| {
        let first = calendar::days_of(year, 1, 1);
        first - calendar::iso_day_of_week(first) % 7
    };
    if days >= start(year + 1) {
        return (year + 1, 1);
    }
    (year, (days - start(year)) / 7 + 1)
}

fn format_time(text: &mut String, letter: char, count: usize, in_day: i64, moment: Moment) {
    let hour = in_day / 3_600_000;
    let nanos = moment.nano_of_second();
    match letter {
        'H' => push_number(text, hour, count),
        'k' => push_number(text, if hour == 0 { 24 } else { hour }, count),
        'K' => push_number(text, hour % 12, count),
        'h' => push_number(text, if hour % 12 == 0 { 12 } else { hour % 12 }, count),
        'm' => push_number(text, in_day / 60_000 % 60, count),
        's' => push_number(text, in_day / 1000 % 60, count),
        'S' => {
            let digits = format!("{nanos:09}");
            text.push_str(&digits[..count.min(9)]);
        }
        'n' => push_number(text, nanos, count),
        'N' => push_number(text, in_day / 1000 * 1_000_000_000 + nanos, count),
        'A' => push_number(text, in_day, count),
        'B' => text.push_str(day_period(in_day, count)),
        _ => text.push_str(if hour < 12 { "AM" } else { "PM" }),
    }
}

/// The part of the day as English names it.
fn day_period(in_day: i64, count: usize) -> &'static str {
    match in_day / 60_000 {
        0 if count == 5 => "mi",
        0 => "midnight",
        720 if count == 5 => "n",
        720 => "noon",
        360..=719 => "in the morning",
        721..=1079 => "in the afternoon",
        1080..=1259 => "in the evening",
        _ => "at night",
    }
}

/// What a text said.
#[derive(Debug, Clone, Default)]
struct Fields {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: Option<i64>,
    /// 0..=11.
    hour_of_half: Option<i64>,
    afternoon: Option<bool>,
    minute: Option<i64>,
    second: Option<i64>,
    nanos: Option<i64>,
    /// Seconds ahead of UTC.
    offset: Option<i64>,
}

fn is_number(letter: char, count: usize) -> bool {
    match letter {
        'M' | 'L' => count < 3,
        'y' | 'u' | 'd' | 'D' | 'H' | 'k' | 'K' | 'h' | 'm' | 's' | 'S' | 'n' | 'Q' => true,
        _ => false,
    }
}

/// The fewest and the most digits that Java reads for a field.
fn width_of(letter: char, count: usize) -> (usize, usize) {
    match (letter, count) {
        ('y' | 'u', 2) => (2, 2),
        ('y' | 'u', 4..) => (count, 19),
        ('S', _) => (count, count),
        (_, 1) => (1, 19),
        ('y' | 'u', _) => (count, 19),
        _ => (count, count),
    }
}

/// Reads all items; optional sections are tried, then left out.
fn parse_items(items: &[Item], text: &str, mut fields: Fields) -> Option<Fields> {
    let Some((item, rest_items)) = items.split_first() else {
        return text.is_empty().then_some(fields);
    };
    match item {
        Item::Literal(literal) => parse_items(rest_items, text.strip_prefix(literal.as_str())?, fields),
        Item::OptionalEnd => parse_items(rest_items, text, fields),
        Item::OptionalStart => parse_items(rest_items, text, fields.clone())
            .or_else(|| parse_items(after_optional(rest_items), text, fields)),
        Item::Field(letter, count) => {
            let (fewest, mut most) = width_of(*letter, *count);
            if is_number(*letter, *count) {
                // Fields that follow without a gap keep their digits.
                let reserved: usize = rest_items
                    .iter()
                    .map_while(|item| match item {
                        Item::Field(letter, count) if is_number(*letter, *count) => {
                            let (fewest, most) = width_of(*letter, *count);
                            (fewest == most).then_some(fewest)
                        }
                        _ => None,
                    })
                    .sum();
                let digits = text.bytes().take_while(u8::is_ascii_digit).count();
                most = most.min(digits.saturating_sub(reserved).max(fewest));
                // A year of four letters takes more digits only behind a plus sign.
                if matches!(letter, 'y' | 'u') && *count >= 4 && !text.starts_with('+') {
                    most = most.min(*count);
                }
            }
            let text =
                if matches!(letter, 'y' | 'u') && *count >= 4 { text.strip_prefix('+').unwrap_or(text) } else { text };
            let rest = read_field(&mut fields, *letter, *count, text, (fewest, most))?;
            parse_items(rest_items, rest, fields)
        }
    }
}

fn after_optional(items: &[Item]) -> &[Item] {
    let mut depth = 1;
    for (at, item) in items.iter().enumerate() {
        match item {
            Item::OptionalStart => depth += 1,
            Item::OptionalEnd => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &items[at + 1..];
        }
    }
    &[]
}

/// Reads one field; gives back the rest of the text.
fn read_field<'a>(
    fields: &mut Fields,
    letter: char,
    count: usize,
    text: &'a str,
    width: (usize, usize),
) -> Option<&'a str> {
    if !is_number(letter, count) {
        return read_name(fields, letter, text);
    }
    let digits = text.bytes().take(width.1).take_while(u8::is_ascii_digit).count();
    if digits < width.0 || digits == 0 || digits > 18 {
        return None;
    }
    let (number, rest) = text.split_at(digits);
    let value: i64 = number.parse().ok()?;
    match letter {
        'y' | 'u' => fields.year = Some(if count == 2 && digits == 2 { 2000 + value } else { value }),
        'M' | 'L' => fields.month = Some(value),
        'd' => fields.day = Some(value),
        'D' => fields.day_of_year = Some(value),
        'H' => fields.hour = Some(value),
        'k' => fields.hour = Some(if value == 24 { 0 } else { value }),
        'K' => fields.hour_of_half = Some(value),
        'h' => fields.hour_of_half = Some(if value == 12 { 0 } else { value }),
        'm' => fields.minute = Some(value),
        's' => fields.second = Some(value),
        'S' => fields.nanos = Some(if digits <= 9 { value * 10i64.pow(9 - digits as u32) } else { value }),
        'n' => fields.nanos = Some(value),
        _ => {}
    }
    Some(rest)
}

fn read_name<'a>(fields: &mut Fields, letter: char, text: &'a str) -> Option<&'a str> {
    let starts = |name: &str| text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    match letter {
        'M' | 'L' => {
            let (at, length) = MONTHS.iter().enumerate().find_map(|(at, name)| {
                if starts(name) { Some((at, name.len())) } else { starts(&name[..3]).then_some((at, 3)) }
            })?;
            fields.month = Some(at as i64 + 1);
            text.get(length..)
        }
        'E' => {
            let name = DAYS.iter().find(|name| starts(&name[..3]))?;
            text.get(if starts(name) { name.len() } else { 3 }..)
        }
        'a' => {
            fields.afternoon = Some(if starts("AM") {
                false
            } else if starts("PM") {
                true
            } else {
                return None;
            });
            text.get(2..)
        }
        'G' => {
            if starts("AD") {
                text.get(2..)
            } else {
                None
            }
        }
        'X' | 'x' | 'Z' => {
            let (seconds, rest) = read_offset(text)?;
            fields.offset = Some(seconds);
            Some(rest)
        }
        _ => None,
    }
}

/// `Z`, or a sign with hours, and minutes and seconds with or without colons: in seconds, and what follows.
fn read_offset(text: &str) -> Option<(i64, &str)> {
    if let Some(rest) = text.strip_prefix('Z') {
        return Some((0, rest));
    }
    let rest = text.strip_prefix(['+', '-'])?;
    let length = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b':').count();
    let (offset, rest) = rest.split_at(length);
    let digits: Vec<i64> = offset.bytes().filter(u8::is_ascii_digit).map(|digit| i64::from(digit - b'0')).collect();
    if length < 2 {
        return None;
    }
    let part = |at: usize| digits.get(at).unwrap_or(&0) * 10 + digits.get(at + 1).unwrap_or(&0);
    let seconds = part(0) * 3600 + part(2) * 60 + part(4);
    Some((if text.starts_with('-') { -seconds } else { seconds }, rest))
}

impl Fields {
    fn hour(&self) -> i64 {
        match (self.hour, self.hour_of_half) {
            (Some(hour), _) => hour,
            (None, Some(half)) => half + if self.afternoon == Some(true) { 12 } else { 0 },
            (None, None) => 0,
        }
    }

    fn smart(&self) -> Option<Moment> {
        let (year, month, day) = (self.year.unwrap_or(1970), self.month.unwrap_or(1), self.day.unwrap_or(1));
        let (hour, minute) = (self.hour(), self.minute.unwrap_or(0));
        let (second, nanos) = (self.second.unwrap_or(0), self.nanos.unwrap_or(0));
        let midnight = hour == 24 && minute == 0 && second == 0 && nanos == 0;
        let in_range = (1..=999_999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && (hour <= 23 || midnight)
            && minute <= 59
            && second <= 59
            && nanos <= 999_999_999;
        if !in_range {
            return None;
        }
        let days = match self.day_of_year {
            Some(day) if (1..=365 + i64::from(is_leap(year))).contains(&day) => calendar::days_of(year, 1, 1) + day - 1,
            Some(_) => return None,
            None => calendar::days_of(year, month, day.min(calendar::days_in_month(year, month))),
        };
        let millis = days * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + nanos / 1_000_000;
        Some(Moment { millis, nanos: (nanos % 1_000_000) as i32 })
    }

    fn lenient(&self) -> Option<i64> {
        let year = self.year.unwrap_or(1970);
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        let days = match self.day_of_year {
            Some(day) => java_days(year, 1, day),
            None => java_days(year, month, day),
        };
        let seconds = self
            .hour()
            .checked_mul(3600)?
            .checked_add(self.minute.unwrap_or(0).checked_mul(60)?)?
            .checked_add(self.second.unwrap_or(0))?;
        days.checked_mul(DAY_MS)?
            .checked_add(seconds.checked_mul(1000)?)?
            .checked_add(self.nanos.unwrap_or(0) / 1_000_000)
    }
}

/// Java's older classes know the Julian calendar: it holds before October 15th, 1582.
fn java_days(year: i64, month: i64, day: i64) -> i64 {
    let days = calendar::days_of(year, month, day);
    if days >= calendar::days_of(1582, 10, 15) || year > 1582 {
        return days;
    }
    let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
    // In the Julian calendar every fourth year is a leap year; day 0 of it is known from January 1st, year 1.
    let before: i64 = (1..month).map(|m| calendar::days_in_month(if year.rem_euclid(4) == 0 { 4 } else { 1 }, m)).sum();
    let first = (year - 1).saturating_mul(365).saturating_add((year - 1).div_euclid(4) - 719_164);
    first.saturating_add(before).saturating_add(day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smart(pattern: &str, text: &str) -> Option<String> {
        let moment = Pattern::parse(pattern).unwrap().parse_smart(text)?;
        Some(super::super::print::timestamp(moment, 3))
    }

    #[test]
    fn patterns_read_what_javas_formatter_reads() {
        let cases = [
            ("yyyyMMdd", "20240229", Some("2024-02-29 00:00:00.000")),
            ("dd MMM yyyy", "29 Feb 2024", Some("2024-02-29 00:00:00.000")),
            ("HH:mm", "12:34", Some("1970-01-01 12:34:00.000")),
            ("yy-MM-dd", "24-02-29", Some("2024-02-29 00:00:00.000")),
            ("yyyy-MM-dd hh:mm:ss a", "2024-02-29 01:02:03 PM", Some("2024-02-29 13:02:03.000")),
            ("yyyy-DDD", "2024-060", Some("2024-02-29 00:00:00.000")),
            ("yyyy-MM-dd HH:mm:ssXXX", "2024-02-29 12:34:56+02:00", Some("2024-02-29 12:34:56.000")),
            ("yyyy-MM-dd", "2024-02-30", Some("2024-02-29 00:00:00.000")),
            ("d/M/yyyy", "1/2/2024", Some("2024-02-01 00:00:00.000")),
            ("yyyy-MM-dd[ HH:mm]", "2024-02-01", Some("2024-02-01 00:00:00.000")),
            ("yyyy-MM-dd", "2024-2-1", None),
            ("yyyy", "x", None),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(smart(pattern, text).as_deref(), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn the_lenient_reader_carries_over_and_ignores_what_follows() {
        let pattern = Pattern::parse("yyyy-MM-dd HH:mm:ss").unwrap();
        assert_eq!(pattern.parse_lenient("2024-02-30 25:00:00"), Some(1_709_341_200_000));
        assert_eq!(pattern.parse_lenient("1969-12-31 23:59:59.999"), Some(-1000));
        assert_eq!(pattern.parse_lenient("2023-01-01"), None);
        // The year 1 in the Julian calendar.
        assert_eq!(Pattern::parse("yyyy").unwrap().parse_lenient("1"), Some(-62_135_769_600_000));
    }

    #[test]
    fn patterns_print_what_javas_formatter_prints() {
        let moment = Moment::from_millis(1_709_210_096_789);
        let print = |pattern: &str| Pattern::parse(pattern).unwrap().format(moment).unwrap();
        assert_eq!(print("yy M d h a k K m s S SS E EEEE MMMM"), "24 2 29 12 PM 12 0 34 56 7 78 Thu Thursday February");
        assert_eq!(print("u D n N A"), "2024 60 789000000 45296789000000 45296789");
        assert_eq!(print("yyyy'T'HH''"), "2024T12'");
        assert_eq!(print("YYYY-ww Q G"), "2024-09 1 AD");
        assert!(Pattern::parse("b").is_err());
        assert!(Pattern::parse("XXX").unwrap().format(moment).is_err());
    }
}
