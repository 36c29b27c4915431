//! Patterns of Java's DateTimeFormatter, by which DATE_FORMAT prints and TO_TIMESTAMP reads.

mod print;
mod read;
mod settle;

use std::iter::Peekable;
use std::str::Chars;

use super::calendar::Moment;
use super::value::{Read, Texts};
use crate::error::{Error, Result};

pub(super) const MONTHS: [&str; 12] = [
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
/// From Monday.
pub(super) const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const QUARTERS: [&str; 4] = ["1st", "2nd", "3rd", "4th"];

/// A part of the day with a name: minutes of the day from (included) and to (excluded).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Period {
    name: &'static str,
    narrow: &'static str,
    from: i64,
    to: i64,
}

impl Period {
    const fn new(name: &'static str, narrow: &'static str, from: i64, to: i64) -> Self {
        Period { name, narrow, from, to }
    }

    fn holds(&self, minute: i64) -> bool {
        if self.from <= self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }

    fn middle(&self) -> i64 {
        let to = if self.from <= self.to { self.to } else { self.to + 1440 };
        (self.from + to) / 2 % 1440
    }
}

/// The first one that holds counts.
const PERIODS: [Period; 6] = [
    Period::new("midnight", "mi", 0, 1),
    Period::new("noon", "n", 720, 721),
    Period::new("in the morning", "in the morning", 360, 720),
    Period::new("in the afternoon", "in the afternoon", 720, 1080),
    Period::new("in the evening", "in the evening", 1080, 1260),
    Period::new("at night", "at night", 1260, 360),
];

/// One piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Literal(String),
    Number {
        letter: char,
        count: usize,
        width: Width,
    },
    /// Names, offsets, zones.
    Name(char, usize),
    /// Filled up with blanks on the left.
    Padded(usize, Box<Item>),
    Optional(Vec<Item>),
}

/// How many digits a number may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Width {
    fewest: usize,
    most: usize,
    sign: Sign,
    /// Digits that belong to the numbers of fixed width right behind this one.
    behind: usize,
}

/// Which signs a number may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// A minus.
    Normal,
    None,
    /// A minus; a plus if and only if there are more digits than letters.
    Exceeds,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct Formatter {
    items: Vec<Item>,
}

/// A pattern that is compiled from a text.
pub(super) trait Compile: Sized {
    /// # Errors
    /// Kind Data for a pattern that means nothing.
    fn compile(text: &str) -> Result<Self>;
}

/// Compiles the pattern of each row, the last one kept.
pub(super) struct Patterns<'a, P> {
    texts: Texts<'a>,
    last: Option<(String, Result<P>)>,
}

impl<'a, P: Compile> Patterns<'a, P> {
    pub(super) fn new(texts: Texts<'a>) -> Self {
        Patterns { texts, last: None }
    }

    /// `None`: the pattern is NULL.
    pub(super) fn at(&mut self, row: usize) -> Result<Option<&P>> {
        match self.kept(row) {
            None => Ok(None),
            Some(Ok(pattern)) => Ok(Some(pattern)),
            Some(Err(error)) => Err(error.clone()),
        }
    }

    /// As [`Patterns::at`], `None` too for a pattern that means nothing.
    pub(super) fn valid_at(&mut self, row: usize) -> Option<&P> {
        self.kept(row)?.as_ref().ok()
    }

    fn kept(&mut self, row: usize) -> Option<&Result<P>> {
        let text = self.texts.read(row)?;
        if self.last.as_ref().is_none_or(|(last, _)| last != text) {
            self.last = Some((text.to_string(), P::compile(text)));
        }
        self.last.as_ref().map(|(_, pattern)| pattern)
    }
}

impl Compile for Formatter {
    fn compile(text: &str) -> Result<Self> {
        let mut chars = text.chars().peekable();
        match items(&mut chars, false) {
            Ok(items) => Ok(Formatter { items }),
            Err(why) => Err(bad_pattern(text, &why)),
        }
    }
}

pub(super) fn bad_pattern(pattern: &str, why: &str) -> Error {
    Error::data(format!("'{pattern}' is no date pattern: {why}"))
}

/// What stands between quotes, and `''`; the opening quote has been read.
pub(super) fn quoted(chars: &mut Peekable<Chars<'_>>, literal: &mut String) -> Result<(), String> {
    if chars.next_if_eq(&'\'').is_some() {
        literal.push('\'');
        return Ok(());
    }
    loop {
        match chars.next() {
            Some('\'') if chars.next_if_eq(&'\'').is_some() => literal.push('\''),
            Some('\'') => return Ok(()),
            Some(c) => literal.push(c),
            None => return Err("a quote is not closed".to_string()),
        }
    }
}

/// How often a letter comes in a row; it has been read once.
pub(super) fn repeated(chars: &mut Peekable<Chars<'_>>, letter: char) -> usize {
    let mut count = 1;
    while chars.next_if_eq(&letter).is_some() {
        count += 1;
    }
    count
}

/// Reads up to the end, or to the `]` of an optional section.
fn items(chars: &mut Peekable<Chars<'_>>, optional: bool) -> Result<Vec<Item>, String> {
    let mut items: Vec<Item> = Vec::new();
    // The number that gives its surplus digits to those of fixed width behind it.
    let mut open = None;
    while let Some(c) = chars.next() {
        let item = match c {
            '[' => Item::Optional(self::items(chars, true)?),
            ']' if optional => return Ok(items),
            ']' => return Err("a ] without its [".to_string()),
            '{' | '}' | '#' => return Err(format!("{c} is reserved")),
            '\'' => {
                let mut literal = String::new();
                quoted(chars, &mut literal)?;
                Item::Literal(literal)
            }
            'p' => {
                let width = repeated(chars, 'p');
                let Some(letter) = chars.next_if(char::is_ascii_alphabetic).filter(|letter| *letter != 'p') else {
                    return Err("p pads the letter behind it".to_string());
                };
                Item::Padded(width, Box::new(field(letter, repeated(chars, letter))?))
            }
            c if c.is_ascii_alphabetic() => field(c, repeated(chars, c))?,
            c => Item::Literal(c.to_string()),
        };
        match &item {
            Item::Number { width, .. } if width.fewest == width.most && width.sign == Sign::None => {
                let before = open.and_then(|at: usize| items.get_mut(at));
                match before {
                    Some(Item::Number { width: wide, .. }) => wide.behind += width.most,
                    _ => open = Some(items.len()),
                }
            }
            Item::Number { .. } => open = Some(items.len()),
            _ => open = None,
        }
        items.push(item);
    }
    // Java closes what is open at the end.
    Ok(items)
}

/// A letter that comes `count` times.
fn field(letter: char, count: usize) -> Result<Item, String> {
    let number =
        |fewest, most, sign| Ok(Item::Number { letter, count, width: Width { fewest, most, sign, behind: 0 } });
    let too_many = || Err(format!("{letter} comes {count} times"));
    match letter {
        'y' | 'u' | 'Y' if count == 2 => number(2, 2, Sign::None),
        'y' | 'u' | 'Y' if count <= 19 => number(count, 19, if count < 4 { Sign::Normal } else { Sign::Exceeds }),
        'g' if count <= 19 => number(count, 19, Sign::Normal),
        'A' | 'n' | 'N' if count <= 19 => number(count, 19, Sign::None),
        'S' if count <= 9 => number(count, count, Sign::None),
        'D' if count == 2 || count == 3 => number(count, 3, Sign::None),
        'w' if count <= 2 => number(count, 2, Sign::None),
        'e' if count <= 2 => number(count, count, Sign::None),
        'c' | 'W' if count == 1 => number(1, 1, Sign::None),
        'M' | 'L' | 'Q' | 'q' | 'd' | 'H' | 'k' | 'K' | 'h' | 'm' | 's' | 'F' | 'D' if count == 1 => {
            number(1, 19, Sign::Normal)
        }
        'M' | 'L' | 'Q' | 'q' | 'd' | 'H' | 'k' | 'K' | 'h' | 'm' | 's' if count == 2 => number(2, 2, Sign::None),
        'M' | 'L' | 'Q' | 'q' | 'e' | 'c' if (3..=5).contains(&count) => Ok(Item::Name(letter, count)),
        'G' | 'E' | 'X' | 'x' | 'Z' if count <= 5 => Ok(Item::Name(letter, count)),
        'a' if count == 1 => Ok(Item::Name(letter, count)),
        'B' if matches!(count, 1 | 4 | 5) => Ok(Item::Name(letter, count)),
        'V' if count == 2 => Ok(Item::Name(letter, count)),
        'v' | 'O' if matches!(count, 1 | 4) => Ok(Item::Name(letter, count)),
        'z' if count <= 4 => Ok(Item::Name(letter, count)),
        'b' | 'C' | 'f' | 'i' | 'I' | 'j' | 'J' | 'l' | 'o' | 'P' | 'r' | 'R' | 't' | 'T' | 'U' | 'p' => {
            Err(format!("unknown pattern letter: {letter}"))
        }
        _ => too_many(),
    }
}

/// What a text is by a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    Moment(Moment),
    /// It has the pattern's form, but no such day exists.
    Impossible,
    /// It has another form.
    Other,
}

impl Formatter {
    /// A moment on the wall clock as text.
    ///
    /// # Errors
    /// Kind Data for a zone's letters: the wall clock has none.
    pub(super) fn format(&self, moment: Moment) -> Result<String> {
        let mut text = String::new();
        print::items(&self.items, moment, &mut text)?;
        Ok(text)
    }

    /// Reads the whole of a text: all parts in range, a day beyond the month's last cut to it, an offset or a zone
    /// read over.
    pub(super) fn read(&self, text: &str) -> Reading {
        let mut fields = settle::Fields::default();
        match read::items(&self.items, text, &mut fields) {
            Some("") => settle::moment(fields),
            _ => Reading::Other,
        }
    }
}

/// Reads texts by one pattern, as TO_TIMESTAMP does.
#[derive(Debug, Clone)]
pub(crate) struct DateReader(Formatter);

impl DateReader {
    /// # Errors
    /// Kind Data for a pattern that means nothing.
    pub(crate) fn new(pattern: &str) -> Result<Self> {
        Formatter::compile(pattern).map(DateReader)
    }

    /// Milliseconds on the wall clock; `None` where the text has another form.
    pub(crate) fn read(&self, text: &str) -> Option<i64> {
        match self.0.read(text) {
            Reading::Moment(moment) => Some(moment.millis),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pattern: &str, text: &str) -> Option<String> {
        match Formatter::compile(pattern).unwrap().read(text) {
            Reading::Moment(moment) => Some(super::super::print::timestamp(moment, 3)),
            _ => None,
        }
    }

    #[test]
    fn patterns_read_what_javas_formatter_reads() {
        let cases = [
            ("yyyyMMdd", "20240229", Some("2024-02-29 00:00:00.000")),
            ("dd MMM yyyy", "29 Feb 2024", Some("2024-02-29 00:00:00.000")),
            ("dd MMM yyyy", "29 FEB 2024", None),
            ("HH:mm", "12:34", Some("1970-01-01 12:34:00.000")),
            ("yy-MM-dd", "24-02-29", Some("2024-02-29 00:00:00.000")),
            ("yyyy-MM-dd hh:mm:ss a", "2024-02-29 01:02:03 PM", Some("2024-02-29 13:02:03.000")),
            ("yyyy-MM-dd a", "2024-02-29 PM", Some("2024-02-29 18:00:00.000")),
            ("yyyy-DDD", "2024-060", Some("2024-02-29 00:00:00.000")),
            ("yyyy-MM-dd HH:mm:ssXXX", "2024-02-29 12:34:56+02:00", Some("2024-02-29 12:34:56.000")),
            ("yyyy-MM-dd HH:mm:ssXXX", "2024-02-29 12:34:56+0200", None),
            ("yyyy-MM-dd HH:mm:ss VV", "2024-02-29 12:34:56 Europe/Berlin", Some("2024-02-29 12:34:56.000")),
            ("yyyy-MM-dd", "2024-02-30", Some("2024-02-29 00:00:00.000")),
            ("d/M/yyyy", "1/2/2024", Some("2024-02-01 00:00:00.000")),
            ("yyyy-MM-dd[ HH:mm]", "2024-02-01", Some("2024-02-01 00:00:00.000")),
            ("YYYY-'W'ww-e", "2024-W09-5", Some("2024-02-29 00:00:00.000")),
            ("EEE d MMM yyyy", "Thu 29 Feb 2024", Some("2024-02-29 00:00:00.000")),
            ("EEE d MMM yyyy", "Fri 29 Feb 2024", None),
            ("ppH yyyy", " 9 2024", Some("2024-01-01 09:00:00.000")),
            ("h B", "9 at night", Some("1970-01-01 21:00:00.000")),
            ("yyyy-MM-dd", "2024-2-1", None),
            ("yyyy-MM-dd", "+2024-02-01", None),
            ("yyyy", "x", None),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(read(pattern, text).as_deref(), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn patterns_print_what_javas_formatter_prints() {
        let moment = Moment::from_millis(1_709_210_096_789);
        let print = |pattern: &str| Formatter::compile(pattern).unwrap().format(moment).unwrap();
        assert_eq!(print("yy M d h a k K m s S SS E EEEE MMMM"), "24 2 29 12 PM 12 0 34 56 7 78 Thu Thursday February");
        assert_eq!(print("u D n N A"), "2024 60 789000000 45296789000000 45296789");
        assert_eq!(print("yyyy'T'HH''"), "2024T12'");
        assert_eq!(print("YYYY-ww Q G"), "2024-09 1 AD");
        assert_eq!(print("pppH"), " 12");
        assert!(Formatter::compile("XXX").unwrap().format(moment).is_err());
    }

    #[test]
    fn a_letter_may_come_only_as_often_as_java_knows_it() {
        for pattern in ["b", "ddd", "yyyy]", "{", "'", "cc", "V", "HHH", "p", "S123456789S", "SSSSSSSSSS"] {
            assert_eq!(Formatter::compile(pattern).is_err(), pattern != "S123456789S", "{pattern}");
        }
        assert!(Formatter::compile("yyyy[").is_ok());
    }
}
