//! Date patterns, worked out from texts: `31/Jan/2024:10:00:00 +0100` is `d/MMM/yyyy:H:mm:ss XX`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::expr::eval::DateReader;

/// Longer texts are no times.
const TEXT_MAX: usize = 48;
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A date pattern that has read every text so far.
#[derive(Debug, Clone)]
pub(crate) struct PatternForm {
    /// Without a fraction of seconds.
    base: String,
    reader: DateReader,
    /// Numbers of fractional digits seen; 0 where there was no fraction.
    fractions: BTreeSet<usize>,
    /// What stands before the fractions, if there were any.
    point: Option<char>,
    /// What stood for the zone in the texts.
    pub offsets: BTreeSet<String>,
    /// The expression for SQL heeds the offsets.
    heeds_offsets: bool,
}

impl PatternForm {
    pub fn new(base: String) -> Option<Self> {
        let reader = DateReader::new(&base).ok()?;
        let (fractions, offsets) = (BTreeSet::new(), BTreeSet::new());
        Some(PatternForm { base, reader, fractions, point: None, offsets, heeds_offsets: false })
    }

    /// Milliseconds since 1970, as the expression gives them that SQL gets: in UTC where it heeds the offsets seen so
    /// far, else on the wall clock.
    pub fn read(&mut self, text: &str) -> Option<i64> {
        if text.len() > TEXT_MAX {
            return None;
        }
        let Fraction { whole, point, digits, millis } = without_fraction(text);
        let read = self.reader.read(&whole).or_else(|| self.widened(&whole))?;
        if !self.fractions.contains(&digits) {
            // Flink's clock has nine digits, and a pattern without seconds has no place for a fraction.
            if digits > 9 || (digits > 0 && !self.base.contains("ss")) {
                return None;
            }
            self.fractions.insert(digits);
        }
        if digits > 0 && *self.point.get_or_insert(point) != point {
            return None;
        }
        let mut ahead = 0;
        if let Some(offset) = offset_of(&whole).filter(|_| self.base.contains('X')) {
            if !self.offsets.contains(offset) {
                minutes_ahead(offset)?;
                self.offsets.insert(offset.to_string());
                self.heeds_offsets = self.offset_length().is_some();
            }
            if self.heeds_offsets {
                ahead = minutes_ahead(offset)?;
            }
        }
        Some(read + millis - ahead * 60_000)
    }

    /// Reads a text with the first offset such as `+02:00`, where all others had a `Z`.
    fn widened(&mut self, text: &str) -> Option<i64> {
        let before = self.base.strip_suffix('X').filter(|before| !before.ends_with('X'))?;
        if self.offsets.iter().any(|offset| offset != "Z") {
            return None;
        }
        let base = format!("{before}XXX");
        let reader = DateReader::new(&base).ok()?;
        let read = reader.read(text)?;
        (self.base, self.reader) = (base, reader);
        Some(read)
    }

    /// The length of the offsets at the end of the texts, if there are several that SQL must heed: `+hh:mm`, `+hhmm` or
    /// `+hh`, and `Z`.
    fn offset_length(&self) -> Option<usize> {
        let mut lengths = self.offsets.iter().filter(|offset| *offset != "Z").map(String::len);
        let length = lengths.next().filter(|_| self.base.ends_with('X') && self.offsets.len() > 1)?;
        (lengths.all(|other| other == length) && !self.in_utc()).then_some(length)
    }

    /// For texts of several offsets at their end: the text with digits for `Z`, and the expression for the minutes that
    /// its clock is ahead of UTC.
    pub fn minutes_ahead_sql(&self, text: &str) -> Option<(String, String)> {
        let length = self.offset_length()?;
        let zero = match length {
            6 => "+00:00",
            5 => "+0000",
            _ => "+00",
        };
        let has_z = self.offsets.contains("Z");
        let text = if has_z { format!("REPLACE({text}, 'Z', '{zero}')") } else { text.to_string() };
        let at = |back: usize| format!("CHAR_LENGTH({text}) - {back}");
        let hours = format!("60 * CAST(SUBSTRING({text}, {}, 3) AS INT)", at(length - 1));
        if length == 3 {
            return Some((text, hours));
        }
        let sign = format!("SUBSTRING({text}, {}, 1)", at(length - 1));
        let minutes = format!("CAST(CONCAT({sign}, SUBSTRING({text}, {})) AS INT)", at(1));
        Some((text, format!("{hours} + {minutes}")))
    }

    /// The pattern with the fractions that were seen.
    pub fn text(&self) -> String {
        let point = self.point.unwrap_or('.');
        let longest_first = self.fractions.iter().rev().filter(|digits| **digits > 0);
        let fractions: Vec<String> = longest_first.map(|digits| format!("{point}{}", "S".repeat(*digits))).collect();
        let always = self.fractions.len() == 1;
        let fraction = match fractions.as_slice() {
            [one] if always => one.clone(),
            several => several.iter().map(|fraction| format!("[{fraction}]")).collect(),
        };
        self.base.replace("ss", &format!("ss{fraction}"))
    }

    /// Whether every text says that it is in UTC.
    pub fn in_utc(&self) -> bool {
        !self.offsets.is_empty()
            && self.offsets.iter().all(|offset| matches!(offset.as_str(), "Z" | "+00:00" | "+0000" | "-0000" | "+00"))
    }

    /// `20240501`, which may be any number.
    pub fn is_bare_number(&self) -> bool {
        self.base.bytes().all(|b| b.is_ascii_alphabetic())
    }

    /// Whether its years have two digits, which SQL counts from 2000.
    pub fn has_short_years(&self) -> bool {
        self.base.contains("yy") && !self.base.contains("yyyy")
    }

    /// Whether it names a time of the day.
    pub fn has_time(&self) -> bool {
        self.base.contains(['H', 'h'])
    }
}

/// Every pattern that reads the text; of `01/02/2024` the American reading comes first.
pub(crate) fn forms(text: &str) -> Vec<PatternForm> {
    if text.len() > TEXT_MAX || !text.is_ascii() || text.len() < 4 {
        return Vec::new();
    }
    let cut = without_fraction(text);
    let parts = parts(&cut.whole);
    let reads = |base: String| {
        let mut form = PatternForm::new(base)?;
        form.read(text).map(|_| form)
    };
    dated(&parts).into_iter().filter_map(reads).collect()
}

/// The pattern for a text that ends in an offset in digits, where other texts end in `Z`.
pub(crate) fn with_offset(text: &str) -> Option<PatternForm> {
    let mut form = forms(text).into_iter().find(|form| form.base.ends_with('X') && !form.offsets.is_empty())?;
    form.offsets.insert("Z".to_string());
    form.heeds_offsets = form.offset_length().is_some();
    Some(form)
}

/// A text and what was taken out of it.
struct Fraction<'a> {
    /// The text without the fraction of its seconds.
    whole: Cow<'a, str>,
    /// What stood before the fraction: a point, or the comma of logs and of half of Europe.
    point: char,
    digits: usize,
    millis: i64,
}

fn without_fraction(text: &str) -> Fraction<'_> {
    // The last colon may stand in the offset: +02:00.
    for (at, _) in text.match_indices(':') {
        let rest = &text[at + 1..];
        let Some(length) = rest.find(['.', ',']) else { continue };
        let (second, point, behind) = (&rest[..length], &rest[length..length + 1], &rest[length + 1..]);
        if second.len() != 2 || !second.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            continue;
        }
        let millis = format!("{:0<3}", &behind[..digits.min(3)]).parse().unwrap_or(0);
        let whole = format!("{}:{second}{}", &text[..at], &behind[digits..]).into();
        return Fraction { whole, point: if point == "," { ',' } else { '.' }, digits, millis };
    }
    Fraction { whole: text.into(), point: '.', digits: 0, millis: 0 }
}

/// What stands behind the time of the day for its zone.
fn offset_of(text: &str) -> Option<&str> {
    let is_offset = |word: &&str| {
        *word == "Z"
            || (word.len() >= 3
                && word.starts_with(['+', '-'])
                && word[1..].bytes().all(|b| b.is_ascii_digit() || b == b':'))
    };
    if let Some(word) = text.split(' ').find(is_offset) {
        return Some(word);
    }
    let time = text.rfind(':').map(|_| text.find(':').unwrap_or(0))?;
    let at = text[time..].find(['+', '-', 'Z']).map(|at| time + at)?;
    Some(&text[at..]).filter(is_offset)
}

/// How far a clock with this offset is ahead of UTC.
fn minutes_ahead(offset: &str) -> Option<i64> {
    if offset == "Z" {
        return Some(0);
    }
    let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
    let hours: i64 = digits.get(..2)?.parse().ok()?;
    let minutes: i64 =
        digits.get(2..).filter(|minutes| !minutes.is_empty()).map_or(Some(0), |minutes| minutes.parse().ok())?;
    let ahead = hours * 60 + minutes;
    Some(if offset.starts_with('-') { -ahead } else { ahead })
}

/// A run of digits, of letters, or one other character.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part<'a> {
    Number(&'a str),
    Word(&'a str),
    Mark(char),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = |is: fn(&char) -> bool| rest.find(|c| !is(&c)).unwrap_or(rest.len());
        let length = match first {
            c if c.is_ascii_digit() => run(char::is_ascii_digit),
            c if c.is_ascii_alphabetic() => run(char::is_ascii_alphabetic),
            c => c.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        found.push(match first {
            c if c.is_ascii_digit() => Part::Number(part),
            c if c.is_ascii_alphabetic() => Part::Word(part),
            c => Part::Mark(c),
        });
        rest = after;
    }
    found
}

/// Patterns of a text that starts with its date.
fn dated(parts: &[Part<'_>]) -> Vec<String> {
    use Part::{Mark, Number, Word};
    if let [Word(day), Mark(','), Mark(' '), rest @ ..] = parts
        && is_name(day, &DAYS)
    {
        return dated(rest).into_iter().map(|rest| format!("{}, {rest}", name_pattern(day, 'E'))).collect();
    }
    // Tue Jan 31 10:00:00 [+0000] 2024, as in C and on Twitter
    if let [Word(day), Mark(' '), Word(month), Mark(' '), Number(_), Mark(' '), rest @ .., Mark(' '), Number(year)] =
        parts
        && is_name(day, &DAYS)
        && is_name(month, &MONTHS)
        && year.len() == 4
    {
        return timed(rest).into_iter().map(|time| format!("EEE MMM d {time} yyyy")).collect();
    }
    let (dates, rest): (Vec<String>, _) = match parts {
        [Number(year), Mark(a @ ('-' | '/' | '.' | ':')), Number(_), Mark(b), Number(_), rest @ ..]
            if year.len() == 4 && a == b =>
        {
            (vec![format!("yyyy{a}M{a}d")], rest)
        }
        [Number(_), Mark(a @ ('-' | '/' | '.')), Number(_), Mark(b), Number(year), rest @ ..] if a == b => {
            let year = year_pattern(year);
            let mut both = vec![format!("M{a}d{a}{year}"), format!("d{a}M{a}{year}")];
            if *a == '.' {
                both.reverse();
            }
            (both, rest)
        }
        [Number(_), Mark(a @ ('-' | '/' | ' ')), Word(month), Mark(b), Number(year), rest @ ..]
            if a == b && is_name(month, &MONTHS) =>
        {
            (vec![format!("d{a}{}{a}{}", name_pattern(month, 'M'), year_pattern(year))], rest)
        }
        [Word(month), Mark(' '), Number(_), Mark(','), Mark(' '), Number(year), rest @ ..]
            if is_name(month, &MONTHS) && year.len() == 4 =>
        {
            (vec![format!("{} d, yyyy", name_pattern(month, 'M'))], rest)
        }
        [Word(month), Mark(a @ (' ' | '-' | '/')), Number(_), Mark(b), Number(year), rest @ ..]
            if is_name(month, &MONTHS) && year.len() == 4 && a == b =>
        {
            (vec![format!("{}{a}d{a}yyyy", name_pattern(month, 'M'))], rest)
        }
        [Number(year), Mark(a @ ('-' | '/')), Number(month)] if year.len() == 4 && month.len() == 2 => {
            return vec![format!("yyyy{a}M")];
        }
        [Number(year)] if year.len() == 4 && ("1500".."2200").contains(year) => return vec!["yyyy".to_string()],
        [Number(date), rest @ ..] if date.len() == 8 => (vec!["yyyyMMdd".to_string()], rest),
        [Number(moment), rest @ ..] if moment.len() == 14 => (vec!["yyyyMMddHHmmss".to_string()], rest),
        _ => return Vec::new(),
    };
    let between = match rest {
        [] => return dates,
        [Mark(','), Mark(' '), ..] => ", ",
        [Mark(' '), ..] => " ",
        [Mark(':'), ..] => ":",
        [Mark('-'), Number(_), ..] => "-",
        [Word("T"), ..] => "'T'",
        _ => return Vec::new(),
    };
    let rest = &rest[if between == ", " { 2 } else { 1 }..];
    let times = timed(rest);
    dates.iter().flat_map(|date| times.iter().map(move |time| format!("{date}{between}{time}"))).collect()
}

/// Patterns of a time of the day with what follows it.
fn timed(parts: &[Part<'_>]) -> Vec<String> {
    use Part::{Mark, Number, Word};
    let (time, rest) = match parts {
        [Number(_), Mark(':'), Number(_), Mark(':'), Number(_), rest @ ..] => ("H:mm:ss", rest),
        [Number(_), Mark(':'), Number(_), rest @ ..] => ("H:mm", rest),
        [Number(time), rest @ ..] if time.len() == 6 => ("HHmmss", rest),
        [Number(time), rest @ ..] if time.len() == 4 => ("HHmm", rest),
        _ => return Vec::new(),
    };
    let half_day = |word: &str| word.eq_ignore_ascii_case("am") || word.eq_ignore_ascii_case("pm");
    let (time, rest) = match rest {
        [Mark(' '), Word(half), rest @ ..] if half_day(half) => (format!("{} a", time.replace('H', "h")), rest),
        [Word(half), rest @ ..] if half_day(half) => (format!("{}a", time.replace('H', "h")), rest),
        rest => (time.to_string(), rest),
    };
    let (blank, zone) = match rest {
        [Mark(' '), zone @ ..] => (" ", zone),
        zone => ("", zone),
    };
    let zone = match zone {
        [] if blank.is_empty() => "".to_string(),
        [Word("Z")] => "X".to_string(),
        [Word(name @ ("UTC" | "GMT"))] => format!("'{name}'"),
        [Mark('+' | '-'), Number(_), Mark(':'), Number(_)] => "XXX".to_string(),
        [Mark('+' | '-'), Number(offset)] if offset.len() == 4 => "XX".to_string(),
        [Mark('+' | '-'), Number(offset)] if offset.len() == 2 => "X".to_string(),
        _ => return Vec::new(),
    };
    vec![format!("{time}{blank}{zone}")]
}

fn is_name(word: &str, names: &[&str]) -> bool {
    word.len() >= 3 && word.is_char_boundary(3) && names.contains(&word[..3].to_ascii_lowercase().as_str())
}

/// `MMM` for Jan, `MMMM` for January.
fn name_pattern(word: &str, letter: char) -> String {
    letter.to_string().repeat(if word.len() > 3 { 4 } else { 3 })
}

fn year_pattern(year: &str) -> &'static str {
    if year.len() == 2 { "yy" } else { "yyyy" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(text: &str) -> Vec<String> {
        forms(text).iter().map(PatternForm::text).collect()
    }

    #[test]
    fn patterns_are_worked_out_from_one_text() {
        for (text, expected) in [
            ("01/31/2024 10:00", "M/d/yyyy H:mm"),
            ("31.1.2024", "d.M.yyyy"),
            ("2024/01/31 10:00:00.5", "yyyy/M/d H:mm:ss.S"),
            ("31/Jan/2024:10:00:00 +0100", "d/MMM/yyyy:H:mm:ss XX"),
            ("Wed, 31 Jan 2024 10:00:00 +0000", "EEE, d MMM yyyy H:mm:ss XX"),
            ("Wed Jan 31 10:00:00 +0000 2024", "EEE MMM d H:mm:ss XX yyyy"),
            ("1/31/2024 1:05:09 PM", "M/d/yyyy h:mm:ss a"),
            ("January 31, 2024", "MMMM d, yyyy"),
            ("20240131T100000Z", "yyyyMMdd'T'HHmmssX"),
            ("2024-01-31 10:00:00+02:00", "yyyy-M-d H:mm:ssXXX"),
            ("2024-01-31 10:00:00 UTC", "yyyy-M-d H:mm:ss 'UTC'"),
            ("2024-01-31 10:00", "yyyy-M-d H:mm"),
            ("31-Jan-24", "d-MMM-yy"),
            ("Jan-1-1995", "MMM-d-yyyy"),
            ("2024-01-31 10:00:00,123", "yyyy-M-d H:mm:ss,SSS"),
            ("1949-01", "yyyy-M"),
            ("1949", "yyyy"),
        ] {
            assert_eq!(patterns(text).first().map(String::as_str), Some(expected), "{text}");
        }
    }

    #[test]
    fn the_order_of_day_and_month_stays_open_until_a_text_settles_it() {
        let mut both = forms("01/02/2024");
        assert_eq!(both.len(), 2);
        both.retain_mut(|form| form.read("13/02/2024").is_some());
        assert_eq!(both.len(), 1);
        assert_eq!(both[0].text(), "d/M/yyyy");
    }

    #[test]
    fn fractions_of_several_lengths_become_optional() {
        let mut form = forms("2024/01/31 10:00:00").remove(0);
        assert_eq!(form.read("2024/01/31 10:00:00.250"), Some(1_706_695_200_250));
        form.read("2024/01/31 10:00:00.123456");
        assert_eq!(form.text(), "yyyy/M/d H:mm:ss[.SSSSSS][.SSS]");
    }

    #[test]
    fn offsets_are_remembered() {
        let mut form = forms("2024-01-31T10:00:00+00:00").remove(0);
        assert!(form.in_utc());
        assert_eq!(form.read("2024-01-31T10:00:00-05:00"), Some(1_706_713_200_000));
        assert!(!form.in_utc());
        assert_eq!(form.offsets.len(), 2);
        assert_eq!(form.read("2024-01-31T10:00:00-05:30"), Some(1_706_715_000_000));
        assert!(
            form.minutes_ahead_sql("c")
                .is_some_and(|(_, sql)| sql.starts_with("60 * CAST(SUBSTRING(c, CHAR_LENGTH(c) - 5, 3)"))
        );
    }

    #[test]
    fn z_is_an_offset_among_others() {
        let mut form = forms("2024/01/31 10:00:00Z").remove(0);
        assert_eq!(form.read("2024/01/31 12:00:00+0200"), Some(1_706_695_200_000));
        assert_eq!(form.text(), "yyyy/M/d H:mm:ssX");
        let (text, minutes) = form.minutes_ahead_sql("c").expect("several offsets");
        assert_eq!(text, "REPLACE(c, 'Z', '+0000')");
        assert!(minutes.contains("REPLACE(c, 'Z', '+0000')"), "{minutes}");
    }

    #[test]
    fn times_are_measured_as_sql_reads_them() {
        // Inside of the text, SQL reads over an offset.
        let mut form = forms("Wed Jan 31 10:00:00 +0000 2024").remove(0);
        assert_eq!(form.read("Wed Jan 31 10:00:00 +0100 2024"), Some(1_706_695_200_000));
        let mut form = forms("2024-01-31 10:00:00+02").remove(0);
        form.read("2024-01-31 10:00:00+01");
        assert_eq!(form.read("2024-01-31 10:00:00+02"), Some(1_706_688_000_000));
    }

    #[test]
    fn what_is_no_time_has_no_pattern() {
        for text in ["", "abc", "192.168.10.1", "12:30", "1/2", "2024-13-45", "10/20", "99999999", "a-b-c", "1234"] {
            assert_eq!(patterns(text), Vec::<String>::new(), "{text}");
        }
    }
}
