//! The short cuts for text as it nearly always is. Each gives up (`None`) on anything unusual,
//! which the exact rules of `parse` then decide.

use super::calendar::{days_in_month, days_of};
use super::parse::Moment;

/// The day seen last: times mostly come in order, so its number need not be computed again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DayCache {
    key: (u64, u64),
    seconds: i64,
}

impl Default for DayCache {
    fn default() -> Self {
        // No date that passed the check of its digits has this key.
        DayCache { key: (u64::MAX, u64::MAX), seconds: 0 }
    }
}

const fn word(text: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*text)
}

/// True when `found` (already XORed with a pattern of '0' for digits and of the separators
/// themselves) has digits where `digits` has 0xF0 and nothing at all elsewhere.
#[inline]
fn fits_pattern(found: u64, digits: u64) -> bool {
    let separators = !(digits | digits >> 4);
    let sixes = (digits >> 4) & 0x0606_0606_0606_0606;
    (found | found.wrapping_add(sixes)) & digits == 0 && found & separators == 0
}

const DATE: u64 = word(b"0000-00-");
const DATE_DIGITS: u64 = word(&[0xF0, 0xF0, 0xF0, 0xF0, 0, 0xF0, 0xF0, 0]);
const CLOCK_DIGITS: u64 = word(&[0xF0, 0xF0, 0, 0xF0, 0xF0, 0, 0xF0, 0xF0]);

/// `YYYY-MM-DD HH:MM:SS[.f…]` at `at`, with `between` between date and time: the moment and where it ends.
#[inline]
pub(crate) fn timestamp(bytes: &[u8], at: usize, between: u8, day: &mut DayCache) -> Option<(Moment, usize)> {
    let text = bytes.get(at..)?.first_chunk::<24>()?;
    let (first, rest) = text.split_first_chunk::<8>()?;
    let (second, rest) = rest.split_first_chunk::<8>()?;
    let date = u64::from_le_bytes(*first) ^ DATE;
    let clock = u64::from_le_bytes(*second) ^ word(&[b'0', b'0', between, b'0', b'0', b':', b'0', b'0']);
    if !fits_pattern(date, DATE_DIGITS) || !fits_pattern(clock, CLOCK_DIGITS) {
        return None;
    }
    let key = (date, clock & 0xFFFF);
    if day.key != key {
        *day = DayCache { key, seconds: day_seconds(date, clock)? };
    }
    let byte = |index: u32| (clock >> (index * 8)) as u8;
    let hour = byte(3) * 10 + byte(4);
    let minute = byte(6) * 10 + byte(7);
    let (tens, ones) = (rest[1].wrapping_sub(b'0'), rest[2].wrapping_sub(b'0'));
    if rest[0] != b':' || tens > 5 || ones > 9 || hour > 23 || minute > 59 {
        return None;
    }
    let second = tens * 10 + ones;
    let seconds = day.seconds + i64::from(u32::from(hour) * 3_600 + u32::from(minute) * 60 + u32::from(second));
    if rest[3] != b'.' {
        return Some(((seconds, 0), at + 19));
    }
    let (a, b, c) = (rest[4].wrapping_sub(b'0'), rest[5].wrapping_sub(b'0'), rest[6].wrapping_sub(b'0'));
    if a <= 9 && b <= 9 && c <= 9 && !rest[7].is_ascii_digit() {
        let millis = u32::from(a) * 100 + u32::from(b) * 10 + u32::from(c);
        return Some(((seconds, millis * 1_000_000), at + 23));
    }
    let (nanos, end) = fraction(bytes, at + 20)?;
    Some(((seconds, nanos), end))
}

#[inline(never)]
fn day_seconds(date: u64, clock: u64) -> Option<i64> {
    let digit = |word: u64, index: u32| (word >> (index * 8)) as u8;
    let year = (0..4).fold(0i64, |year, i| year * 10 + i64::from(digit(date, i)));
    let month = u32::from(digit(date, 5) * 10 + digit(date, 6));
    let day = u32::from(digit(clock, 0) * 10 + digit(clock, 1));
    let fits = (1..=12).contains(&month) && day >= 1 && day <= days_in_month(year, month);
    fits.then(|| days_of(year, month, day) * 86_400)
}

fn fraction(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let digits = bytes[at..].iter().take(9).take_while(|b| b.is_ascii_digit()).count();
    let nanos = bytes[at..at + digits].iter().fold(0, |n, b| n * 10 + u32::from(b - b'0'));
    Some((nanos * 10u32.pow(9 - digits as u32), at + digits))
}

/// An optional minus and 1 to 18 digits: the number and where it ends.
#[inline]
pub(crate) fn integer(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let negative = *bytes.get(at)? == b'-';
    let start = at + usize::from(negative);
    let mut end = start;
    let mut value: i64 = 0;
    while let Some(b) = bytes.get(end) {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
        end += 1;
    }
    if end == start || end - start > 18 {
        return None;
    }
    Some((if negative { -value } else { value }, end))
}

/// An optional minus, digits and an optional fraction, together at most 15 digits: exact in a double
/// as a quotient of two exact numbers, so its rounding is the correct one.
#[inline]
pub(crate) fn double(bytes: &[u8], at: usize) -> Option<(f64, usize)> {
    const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let negative = *bytes.get(at)? == b'-';
    let start = at + usize::from(negative);
    let (mut end, mut value, mut point) = (start, 0u64, None);
    while let Some(&b) = bytes.get(end) {
        let digit = b.wrapping_sub(b'0');
        if digit <= 9 {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if b == b'.' && point.is_none() {
            point = Some(end);
        } else {
            break;
        }
        end += 1;
    }
    let digits = end - start - usize::from(point.is_some());
    let fraction = point.map_or(0, |point| end - point - 1);
    if digits == 0 || digits > 15 || fraction == digits || (point.is_some() && fraction == 0) {
        return None;
    }
    let value = value as f64 / POWERS.get(fraction)?;
    Some((if negative { -value } else { value }, end))
}

/// Up to four bytes to look for, eight places at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stops {
    bytes: [u8; 4],
    words: [u64; 4],
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

impl Stops {
    pub fn new(bytes: [u8; 4]) -> Self {
        Stops { bytes, words: bytes.map(|b| u64::from(b) * ONES) }
    }

    /// The first place from `at` on that holds one of the bytes, or the end.
    #[inline]
    pub fn find(&self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*chunk);
            let hits = self.words.iter().fold(0, |hits, stop| {
                let zero = word ^ stop;
                hits | (zero.wrapping_sub(ONES) & !zero)
            }) & HIGHS;
            if hits != 0 {
                // The lowest hit is exact; only places behind a hit may be wrong.
                return at + hits.trailing_zeros() as usize / 8;
            }
            at += 8;
        }
        while let Some(b) = bytes.get(at) {
            if self.bytes.contains(b) {
                break;
            }
            at += 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{self, TimestampStyle};
    use super::*;

    #[test]
    fn the_short_cut_agrees_with_the_exact_rules() {
        let mut day = DayCache::default();
        let texts = [
            "2024-05-01 12:00:00",
            "2024-05-01 12:00:00.1",
            "2024-05-01 12:34:56.789",
            "2024-05-01 12:00:00.123456789",
            "0000-00-00 00:00:00",
            "2024-02-30 00:00:00",
            "1969-12-31 23:59:59.999",
            "2024-13-01 00:00:00",
            "2024-05-01 24:00:00",
            "2024-05-01T12:00:00",
            "2024-05-01 12:00:60",
            "20240501 12:00:00.0",
            "9999-12-31 23:59:59",
            "2024-05-01 1:200:00",
            "/024-05-01 12:00:00",
            ":024-05-01 12:00:00",
        ];
        for text in texts {
            let padded = format!("{text},..............");
            if let Some((moment, end)) = timestamp(padded.as_bytes(), 0, b' ', &mut day) {
                assert_eq!(end, text.len(), "{text}");
                assert_eq!(Some(moment), parse::timestamp(text.as_bytes(), TimestampStyle::Sql, false), "{text}");
            } else {
                assert!(
                    text.contains("-00-") || !text.starts_with("2024-05-01 12:0") || text.ends_with("60"),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn stops_are_found_wherever_they_are() {
        let stops = Stops::new(*b",\n\r\n");
        for length in 0..40 {
            for stop in [b',', b'\n', b'\r'] {
                for place in 0..length {
                    let mut text = vec![0x8Cu8; length];
                    text[place] = stop;
                    for from in 0..=place {
                        assert_eq!(stops.find(&text, from), place);
                    }
                    assert_eq!(stops.find(&text, place + 1), length);
                }
            }
        }
    }

    #[test]
    fn short_doubles_are_rounded_correctly() {
        for text in ["0.1", "-2.5", "123456.789", "999999999999999", "0.3", "1.005", "100", "-0"] {
            let padded = format!("{text},");
            let (value, end) = double(padded.as_bytes(), 0).expect(text);
            assert_eq!((value.to_bits(), end), (text.parse::<f64>().expect(text).to_bits(), text.len()));
        }
        for text in [".5", "5.", "1e3", "", "-", "1234567890123456"] {
            let padded = format!("{text},");
            assert!(double(padded.as_bytes(), 0).is_none_or(|(_, end)| end != text.len()), "{text}");
        }
    }
}
