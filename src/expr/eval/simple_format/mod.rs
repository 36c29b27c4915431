//! Patterns of Java's older SimpleDateFormat, by which FROM_UNIXTIME, UNIX_TIMESTAMP, CONVERT_TZ, TO_DATE and
//! DATE_FORMAT of a text work. Its letters mean other things in part, days before October 15th, 1582 are those of the
//! Julian calendar, and what it reads may be out of range and carries over.

mod print;
mod read;
mod settle;

use jiff::tz::TimeZone;

use super::formatter::{Compile, bad_pattern, quoted, repeated};
use crate::error::{Error, Result};

/// One piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Literal(String),
    Field(char, usize),
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct SimpleFormat {
    items: Vec<Item>,
}

impl Compile for SimpleFormat {
    fn compile(text: &str) -> Result<Self> {
        let mut items = Vec::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let mut literal = String::new();
            match c {
                '\'' => quoted(&mut chars, &mut literal).map_err(|why| bad_pattern(text, &why))?,
                c if c.is_ascii_alphabetic() => {
                    let count = repeated(&mut chars, c);
                    if !"GyYMLdkHKhmsSEuDFwWazZX".contains(c) {
                        return Err(bad_pattern(text, &format!("unknown pattern letter: {c}")));
                    }
                    if c == 'X' && count > 3 {
                        return Err(bad_pattern(text, &format!("X comes {count} times")));
                    }
                    items.push(Item::Field(c, count));
                    continue;
                }
                c => literal.push(c),
            }
            match items.last_mut() {
                Some(Item::Literal(last)) => last.push_str(&literal),
                _ => items.push(Item::Literal(literal)),
            }
        }
        Ok(SimpleFormat { items })
    }
}

impl SimpleFormat {
    /// An instant (milliseconds since 1970) as the clocks of a zone show it.
    ///
    /// # Errors
    /// Kind Unsupported for the long name of a zone, or a zone without an abbreviation.
    pub(super) fn format(&self, millis: i64, zone: &TimeZone) -> Result<String> {
        print::items(&self.items, millis, zone)
    }

    /// The instant that the beginning of a text says, by the clocks of a zone unless it names one itself.
    /// `century`: what two digits of a year count from, as milliseconds since 1970.
    pub(super) fn read(&self, text: &str, zone: &TimeZone, century: i64) -> Option<i64> {
        let parsed = read::items(&self.items, text, century)?;
        settle::instant(&parsed, zone)
    }
}

/// Two digits of a year are the year among the hundred from 80 years ago on.
pub(super) fn century(now_ms: i64) -> i64 {
    super::calendar::add_months_to_millis(now_ms, -80 * 12)
}

fn nameless_zone() -> Error {
    Error::unsupported("the name of this time zone in a date pattern").help("take Z or XXX for its offset")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::eval::zone::zone;

    /// In 2026.
    const NOW: i64 = 1_790_000_000_000;

    fn read(pattern: &str, text: &str) -> Option<i64> {
        SimpleFormat::compile(pattern).unwrap().read(text, &zone("America/New_York").unwrap(), century(NOW))
    }

    #[test]
    fn what_is_read_carries_over_and_what_follows_is_ignored() {
        assert_eq!(read("yyyy-MM-dd HH:mm:ss", "2024-02-30 25:00:00"), Some(1_709_359_200_000));
        assert_eq!(read("yyyy-MM-dd HH:mm:ss", "1970-01-01 00:00:00.999"), Some(18_000_000));
        assert_eq!(read("yyyy-MM-dd HH:mm:ss", "2023-01-01"), None);
        // The year 24 in the Julian calendar, and the offset that Java's older classes take before 1900.
        assert_eq!(read("yyyy-MM-dd", "24-02-29"), Some(-61_404_894_000_000));
        assert_eq!(read("yyyy-MM-dd", "-2024-01-01"), Some(-126_039_956_400_000));
    }

    #[test]
    fn a_year_of_two_digits_is_near() {
        assert_eq!(read("MM/dd/yy", "02/29/24"), Some(1_709_182_800_000));
        assert_eq!(read("MM/dd/yy", "12/31/47"), Some(-694_378_800_000));
        assert_eq!(read("MM/dd/y", "02/29/24"), Some(1_709_182_800_000));
    }

    #[test]
    fn weeks_eras_and_zones_are_read() {
        assert_eq!(read("YYYY-ww", "2024-09"), Some(1_708_837_200_000));
        assert_eq!(read("YYYY-MM-dd", "2024-02-29"), Some(1_703_998_800_000));
        assert_eq!(read("w yyyy", "9 2024"), Some(1_708_837_200_000));
        assert_eq!(read("G yyyy-MM-dd", "BC 0044-03-15"), Some(-63_517_978_800_000));
        assert_eq!(read("yyyy-MM-dd HH:mm:ss z", "2024-02-29 12:34:56 PST"), Some(1_709_238_896_000));
        assert_eq!(read("yyyy-MM-dd'T'HH:mm:ssX", "2024-02-29T12:34:56+02:30"), Some(1_709_202_896_000));
        assert_eq!(read("yyyy-MM-dd'T'HH:mm:ssXXX", "2024-02-29T12:34:56+0230"), None);
        assert_eq!(read("yyyy-MM-dd a", "2024-02-29 PM"), Some(1_709_226_000_000));
    }

    #[test]
    fn instants_are_printed_with_its_own_letters() {
        let print = |pattern: &str, seconds: i64| {
            let pattern = SimpleFormat::compile(pattern).unwrap();
            pattern.format(seconds * 1000, &zone("America/New_York").unwrap()).unwrap()
        };
        assert_eq!(print("u F MMMMM EEEEE GGGG [yyyy]", 1_709_210_096), "4 5 February Thursday AD [2024]");
        assert_eq!(print("yyyy-MM-dd HH:mm:ss", -62_135_596_800), "0001-01-02 19:00:00");
        assert_eq!(print("yyyy-MM-dd", -12_219_300_000), "1582-10-04");
        assert_eq!(print("yyyy z Z X XXX", 1_709_210_096), "2024 EST -0500 -05 -05:00");
        assert!(SimpleFormat::compile("Q").is_err());
    }
}
