//! Dates and times to text, as the Java classes that Flink uses print them. Everything appends to a byte buffer.

use crate::calendar::date_of;

/// Pairs of digits, so that two are written at once.
const PAIRS: &[u8; 200] =
    b"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

#[inline]
fn pair(value: u32) -> [u8; 2] {
    let at = (value as usize % 100) * 2;
    [PAIRS[at], PAIRS[at + 1]]
}

/// `ISO_LOCAL_DATE`: four digits of the year, a sign and more where it has more.
pub(crate) fn date(out: &mut Vec<u8>, days: i64) {
    let (year, month, day) = date_of(days);
    if (0..=9_999).contains(&year) {
        let ([a, b], [c, d]) = (pair(year as u32 / 100), pair(year as u32));
        let ([e, f], [g, h]) = (pair(month), pair(day));
        out.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
        return;
    }
    out.push(if year < 0 { b'-' } else { b'+' });
    let digits = itoa::Buffer::new().format(year.unsigned_abs()).to_owned();
    out.extend(std::iter::repeat_n(b'0', 4usize.saturating_sub(digits.len())));
    out.extend_from_slice(digits.as_bytes());
    let ([e, f], [g, h]) = (pair(month), pair(day));
    out.extend_from_slice(&[b'-', e, f, b'-', g, h]);
}

/// `HH:mm:ss` and the fraction without its trailing zeros.
#[inline]
pub(crate) fn time(out: &mut Vec<u8>, second_of_day: u32, nanos: u32) {
    let ([a, b], [c, d]) = (pair(second_of_day / 3_600), pair(second_of_day / 60 % 60));
    let [e, f] = pair(second_of_day % 60);
    if nanos == 0 {
        out.extend_from_slice(&[a, b, b':', c, d, b':', e, f]);
        return;
    }
    let millis = nanos / 1_000_000;
    let ([g, h], i) = (pair(millis / 10), b'0' + (millis % 10) as u8);
    out.extend_from_slice(&[a, b, b':', c, d, b':', e, f, b'.', g, h, i]);
    if !nanos.is_multiple_of(1_000_000) {
        let [j, k] = pair(nanos / 10_000 % 100);
        let ([l, m], [n, o]) = (pair(nanos / 100 % 100), pair(nanos % 100));
        out.extend_from_slice(&[j, k, l, m, n, o]);
    }
    while out.last() == Some(&b'0') {
        out.pop();
    }
}

/// The text of the day written last: rows of one window share it.
#[derive(Debug)]
pub(crate) struct DayText {
    days: i64,
    text: [u8; 10],
}

impl Default for DayText {
    fn default() -> Self {
        DayText { days: i64::MIN, text: [0; 10] }
    }
}

impl DayText {
    #[inline]
    fn write(&mut self, out: &mut Vec<u8>, days: i64) {
        if days == self.days {
            out.extend_from_slice(&self.text);
            return;
        }
        let start = out.len();
        date(out, days);
        // Years of more than four digits are rare enough to be computed each time.
        if let Ok(text) = <[u8; 10]>::try_from(&out[start..]) {
            *self = DayText { days, text };
        }
    }
}

/// A timestamp in nanoseconds since 1970; `between` stands between date and time.
pub(crate) fn wide_timestamp(out: &mut Vec<u8>, nanos: i128, between: u8, day: &mut DayText) {
    let seconds = nanos.div_euclid(1_000_000_000) as i64;
    day.write(out, seconds.div_euclid(86_400));
    out.push(between);
    time(out, seconds.rem_euclid(86_400) as u32, nanos.rem_euclid(1_000_000_000) as u32);
}

/// A timestamp that counts 1,000 or 1,000,000 units a second; `between` stands between date and time.
#[inline]
pub(crate) fn timestamp(out: &mut Vec<u8>, value: i64, per_second: i64, between: u8, day: &mut DayText) {
    // Each arm with constants, whose divisions cost no division.
    let (seconds, nanos) = match per_second {
        1_000 => (value.div_euclid(1_000), value.rem_euclid(1_000) * 1_000_000),
        _ => (value.div_euclid(1_000_000), value.rem_euclid(1_000_000) * 1_000),
    };
    day.write(out, seconds.div_euclid(86_400));
    out.push(between);
    time(out, seconds.rem_euclid(86_400) as u32, nanos as u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn fractions_print_without_trailing_zeros() {
        for (nanos, expected) in [
            (0, "00:00:01"),
            (120_000_000, "00:00:01.12"),
            (1, "00:00:01.000000001"),
            (10_203_040, "00:00:01.01020304"),
        ] {
            assert_eq!(text(|out| time(out, 1, nanos)), expected);
        }
    }

    #[test]
    fn nine_digits_reach_all_years() {
        let mut day = DayText::default();
        for (nanos, expected) in [
            (-62_135_596_800_000_000_000, "0001-01-01 00:00:00"),
            (-1, "1969-12-31 23:59:59.999999999"),
            (253_402_300_799_999_999_999, "9999-12-31 23:59:59.999999999"),
        ] {
            let mut out = Vec::new();
            wide_timestamp(&mut out, nanos, b' ', &mut day);
            assert_eq!(String::from_utf8(out).expect("ASCII"), expected);
        }
    }

    #[test]
    fn far_years_print_with_their_sign() {
        let mut day = DayText::default();
        let mut shown = |value, between| {
            let mut out = Vec::new();
            timestamp(&mut out, value, 1_000, between, &mut day);
            String::from_utf8(out).expect("ASCII")
        };
        assert_eq!(shown(253_402_300_799_000, b' '), "9999-12-31 23:59:59");
        assert_eq!(shown(253_402_300_800_000, b' '), "+10000-01-01 00:00:00");
        assert_eq!(shown(253_402_300_798_000, b' '), "9999-12-31 23:59:58");
        assert_eq!(shown(-62_167_219_200_001, b'T'), "-0001-12-31T23:59:59.999");
        assert_eq!(shown(i64::MIN, b' '), "-292275055-05-16 16:47:04.192");
    }
}
