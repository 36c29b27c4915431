//! The short cuts for text as it nearly always is. Each gives up (`None`) on anything unusual,
//! which the exact rules of `parse` then decide.

use super::parse::Moment;
use crate::calendar::{days_in_month, days_of};

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
const TAIL: u64 = word(b":00.000\0");
const CLOCK: u64 = word(&[b'0', b'0', 0, b'0', b'0', b':', b'0', b'0']);
const TAIL_DIGITS: u64 = word(&[0, 0xF0, 0xF0, 0, 0xF0, 0xF0, 0xF0, 0]);
const DATE_DIGITS: u64 = word(&[0xF0, 0xF0, 0xF0, 0xF0, 0, 0xF0, 0xF0, 0]);
const CLOCK_DIGITS: u64 = word(&[0xF0, 0xF0, 0, 0xF0, 0xF0, 0, 0xF0, 0xF0]);

/// `YYYY-MM-DD HH:MM:SS[.f…]` at `at`, with `between` between date and time: the moment and where it ends.
#[inline]
pub(crate) fn timestamp(bytes: &[u8], at: usize, between: u8, day: &mut DayCache) -> Option<(Moment, usize)> {
    let text = bytes.get(at..)?.first_chunk::<24>()?;
    let (first, rest) = text.split_first_chunk::<8>()?;
    let (second, rest) = rest.split_first_chunk::<8>()?;
    let date = u64::from_le_bytes(*first) ^ DATE;
    let clock = u64::from_le_bytes(*second) ^ (CLOCK | u64::from(between) << 16);
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

/// What the short cuts say where they give up.
pub(crate) const NOWHERE: usize = usize::MAX;

/// The milliseconds of a timestamp with no or three fractional digits, and where it ends; or [`NOWHERE`].
#[inline(always)]
pub(crate) fn milliseconds(bytes: &[u8], at: usize, between: u8, day: &mut DayCache) -> (i64, usize) {
    let Some(text) = bytes.get(at..).and_then(|rest| rest.first_chunk::<24>()) else { return (0, NOWHERE) };
    let word = |from: usize| u64::from_le_bytes(std::array::from_fn(|i| text[from + i]));
    let date = word(0) ^ DATE;
    let clock = word(8) ^ (CLOCK | u64::from(between) << 16);
    let tail = word(16) ^ TAIL;
    let (tail, length) =
        if tail as u32 >> 24 == 0 { (tail & 0x00FF_FFFF_FFFF_FFFF, 23) } else { (tail & 0x00FF_FFFF, 19) };
    if !(fits_pattern(date, DATE_DIGITS) & fits_pattern(clock, CLOCK_DIGITS) & fits_pattern(tail, TAIL_DIGITS)) {
        return (0, NOWHERE);
    }
    let key = (date, clock & 0xFFFF);
    if day.key != key {
        match day_seconds(date, clock) {
            Some(seconds) => *day = DayCache { key, seconds },
            None => return (0, NOWHERE),
        }
    }
    // Digits to pairs: each byte ten times plus the next.
    let clock = clock.wrapping_mul(10).wrapping_add(clock >> 8);
    let pairs = tail.wrapping_mul(10).wrapping_add(tail >> 8);
    let (hour, minute, second) = (clock >> 24 & 0xFF, clock >> 48 & 0xFF, pairs >> 8 & 0xFF);
    let millis = (tail >> 32 & 0xFF) * 100 + (pairs >> 40 & 0xFF);
    if (hour > 23) | (minute > 59) | (second > 59) {
        return (0, NOWHERE);
    }
    (day.seconds * 1_000 + (hour * 3_600_000 + minute * 60_000 + second * 1_000 + millis) as i64, at + length)
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
#[inline(never)]
pub(crate) fn integer(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let negative = *bytes.get(at)? == b'-';
    let start = at + usize::from(negative);
    let (value, length) = match bytes.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(chunk) => eight_digits(u64::from_le_bytes(*chunk)),
        // So near the end of the text: the long way.
        None => (0, 8),
    };
    if length == 8 {
        return long_integer(bytes, start, negative);
    }
    if length == 0 {
        return None;
    }
    Some((if negative { -value } else { value }, start + length))
}

/// As [`integer`], with [`NOWHERE`] for the end where it gives up.
#[inline(always)]
pub(crate) fn plain_integer(bytes: &[u8], at: usize) -> (i64, usize) {
    let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { return (0, NOWHERE) };
    let (value, length) = eight_digits(u64::from_le_bytes(*chunk));
    if length.wrapping_sub(1) < 7 {
        return (value, at + length);
    }
    integer(bytes, at).unwrap_or((0, NOWHERE))
}

/// The number that the digits at the start of eight characters make, and how many there are. Without a
/// branch on their count, which would be mispredicted all the time.
#[inline(always)]
fn eight_digits(word: u64) -> (i64, usize) {
    let digits = word ^ 0x3030_3030_3030_3030;
    // The high bit of each byte that is no digit; of those behind the first it may be wrong.
    let others = (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & HIGHS;
    if others == 0 {
        return (0, 8);
    }
    let bits = others.trailing_zeros() & !7;
    if bits == 0 {
        return (0, 0);
    }
    // Moved to the end, so that zeros lead; then pairs, fours and eights are put together.
    let aligned = digits << (64 - bits);
    let pairs = aligned.wrapping_mul(10).wrapping_add(aligned >> 8);
    let low = (pairs & 0x0000_00FF_0000_00FF).wrapping_mul(100 + (1_000_000 << 32));
    let high = (pairs >> 16 & 0x0000_00FF_0000_00FF).wrapping_mul(1 + (10_000 << 32));
    ((low.wrapping_add(high) >> 32) as i64, bits as usize / 8)
}

#[inline(never)]
fn long_integer(bytes: &[u8], start: usize, negative: bool) -> Option<(i64, usize)> {
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

/// Bytes to look for, eight places at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stops {
    first: u64,
    second: u64,
    /// 16 in every byte where line ends are looked for too: then any control character is looked at.
    below: u64,
    bytes: [u8; 4],
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

impl Stops {
    /// Two bytes and the line ends.
    pub fn with_line_ends(first: u8, second: u8) -> Self {
        Stops { below: 16 * ONES, bytes: [first, second, b'\n', b'\r'], ..Stops::new(first, second) }
    }

    /// Two bytes.
    pub fn new(first: u8, second: u8) -> Self {
        Stops {
            first: u64::from(first) * ONES,
            second: u64::from(second) * ONES,
            below: 0,
            bytes: [first, second, first, second],
        }
    }

    /// The first place from `at` on that holds one of the bytes, or the end.
    #[inline]
    pub fn find(&self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*chunk);
            let (first, second) = (word ^ self.first, word ^ self.second);
            let hits = (first.wrapping_sub(ONES) & !first)
                | (second.wrapping_sub(ONES) & !second)
                | (word.wrapping_sub(self.below) & !word);
            let hits = hits & HIGHS;
            if hits == 0 {
                at += 8;
                continue;
            }
            // The lowest hit is exact; only places behind a hit may be wrong.
            at += hits.trailing_zeros() as usize / 8;
            if self.below == 0 || self.bytes.contains(&bytes[at]) {
                return at;
            }
            at += 1;
        }
        while let Some(byte) = bytes.get(at) {
            if self.bytes.contains(byte) {
                break;
            }
            at += 1;
        }
        at
    }
}

/// Appends `length` bytes of `source` that start at `at`; short ones by a copy of fixed size, which is faster.
#[inline]
pub(crate) fn append(out: &mut Vec<u8>, source: &[u8], at: usize, length: usize) {
    if length <= 16
        && let Some(window) = source.get(at..).and_then(|rest| rest.first_chunk::<16>())
    {
        let end = out.len() + length;
        out.extend_from_slice(window);
        out.truncate(end);
    } else {
        out.extend_from_slice(&source[at..at + length]);
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
            let exact = parse::timestamp(text.as_bytes(), TimestampStyle::Sql, false);
            let (millis, end) = milliseconds(padded.as_bytes(), 0, b' ', &mut day);
            if end == text.len() {
                assert_eq!(Some(millis), exact.and_then(|moment| parse::in_units(moment, 1_000)), "{text}");
            }
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
        let stops = Stops::with_line_ends(b',', b'\\');
        for length in 0..40 {
            for (place, stop) in (0..length).flat_map(|place| [b',', b'\n', b'\r', b'\\'].map(|stop| (place, stop))) {
                for filler in [0x8Cu8, b'\t', b'-', 0x0B, 0xFF, 0] {
                    let mut text = vec![filler; length];
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
    fn integers_of_any_length_are_read() {
        for text in ["0", "7", "-1", "12", "1234567", "12345678", "-123456789", "999999999999999999", "0001"] {
            let padded = format!("{text},x,y,z,..");
            assert_eq!(integer(padded.as_bytes(), 0), Some((text.parse().expect(text), text.len())), "{text}");
            if let Some((value, end)) = integer(text.as_bytes(), 0) {
                assert_eq!((value, end), (text.parse().expect(text), text.len()));
            }
        }
        for text in ["", "-", "x", "/1", ":1", "1234567890123456789", "\u{b1}1234567"] {
            assert_eq!(integer(format!("{text},.......").as_bytes(), 0), None, "{text}");
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
