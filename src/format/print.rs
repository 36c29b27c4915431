//! Values to text, as the Java classes that Flink uses print them. Everything appends to a byte buffer.

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

/// An integer in decimal digits.
#[inline]
pub(crate) fn integer(out: &mut Vec<u8>, value: i64) {
    let magnitude = value.unsigned_abs();
    if magnitude >= 100_000_000 {
        out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        return;
    }
    if value < 0 {
        out.push(b'-');
    }
    let digits = eight_digits(magnitude);
    // Without a branch on their number: all eight are written, of which the leading zeros are shifted out.
    let zeros = (digits | 1 << 56).trailing_zeros() & !7;
    let text = (digits | 0x3030_3030_3030_3030) >> zeros;
    let end = out.len() + 8 - zeros as usize / 8;
    out.extend_from_slice(&text.to_le_bytes());
    out.truncate(end);
}

/// The eight decimal digits of a number below 10^8, the first in the lowest byte.
#[inline]
fn eight_digits(value: u64) -> u64 {
    // Halves, quarters, digits: each step splits all parts at once. The multipliers are reciprocals.
    let halves = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let quarters = ((halves - hundreds * 100) << 16) | hundreds;
    let tens = ((quarters * 103) >> 10) & 0x000F_000F_000F_000F;
    ((quarters - tens * 10) << 8) | tens
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

/// A timestamp that counts `per_second` units a second; `between` stands between date and time.
#[inline]
pub(crate) fn timestamp(out: &mut Vec<u8>, value: i64, per_second: i64, between: u8, day: &mut DayText) {
    // Each arm with constants, whose divisions cost no division.
    let (seconds, nanos) = match per_second {
        1_000 => (value.div_euclid(1_000), value.rem_euclid(1_000) * 1_000_000),
        1_000_000 => (value.div_euclid(1_000_000), value.rem_euclid(1_000_000) * 1_000),
        _ => (value.div_euclid(1_000_000_000), value.rem_euclid(1_000_000_000)),
    };
    day.write(out, seconds.div_euclid(86_400));
    out.push(between);
    time(out, seconds.rem_euclid(86_400) as u32, nanos as u32);
}

/// `Double.toString` as of Java 19: the fewest digits that read back as the same number. Older ones
/// sometimes print a digit more.
pub(crate) fn double(out: &mut Vec<u8>, value: f64) {
    if special(out, value) {
        return;
    }
    if value.abs() < 1e-300 {
        // Where one digit would do, Java prints the two that are nearest: 4.9E-324, not 5.0E-324.
        let two = format!("{value:.1e}");
        if two.parse() == Ok(value) {
            return scientific(out, &two);
        }
    }
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(value);
    finite(out, value.abs(), text);
}

/// `Float.toString`.
pub(crate) fn float(out: &mut Vec<u8>, value: f32) {
    if special(out, f64::from(value)) {
        return;
    }
    if value.abs() < 1e-40 {
        let two = format!("{value:.1e}");
        if two.parse() == Ok(value) {
            return scientific(out, &two);
        }
    }
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(value);
    finite(out, f64::from(value.abs()), text);
}

fn special(out: &mut Vec<u8>, value: f64) -> bool {
    let text: &[u8] = if value.is_nan() {
        b"NaN"
    } else if value == f64::INFINITY {
        b"Infinity"
    } else if value == f64::NEG_INFINITY {
        b"-Infinity"
    } else if value == 0.0 {
        if value.is_sign_negative() { b"-0.0" } else { b"0.0" }
    } else {
        return false;
    };
    out.extend_from_slice(text);
    true
}

/// Ryu's shortest digits in Java's notation: plain from 10^-3 up to 10^7, else with an exponent.
fn finite(out: &mut Vec<u8>, magnitude: f64, shortest: &str) {
    if (1e-3..1e7).contains(&magnitude) {
        out.extend_from_slice(shortest.as_bytes());
    } else {
        scientific(out, shortest);
    }
}

fn scientific(out: &mut Vec<u8>, text: &str) {
    let (number, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let mut exponent: i32 = exponent.parse().unwrap_or(0);
    let number = match number.strip_prefix('-') {
        Some(rest) => {
            out.push(b'-');
            rest
        }
        None => number,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let leading = digits.iter().take_while(|b| **b == b'0').count();
    exponent += whole.len() as i32 - 1 - leading as i32;
    let last = digits.iter().rposition(|b| *b != b'0').map_or(leading, |last| last);
    out.push(digits.get(leading).copied().unwrap_or(b'0'));
    out.push(b'.');
    if last > leading {
        out.extend_from_slice(&digits[leading + 1..=last]);
    } else {
        out.push(b'0');
    }
    out.push(b'E');
    integer(out, i64::from(exponent));
}

/// A decimal with all digits of its scale: `BigDecimal.toPlainString`.
pub(crate) fn plain_decimal(out: &mut Vec<u8>, value: i128, scale: u8) {
    if value < 0 {
        out.push(b'-');
    }
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value.unsigned_abs()).as_bytes();
    let scale = usize::from(scale);
    if scale == 0 {
        out.extend_from_slice(digits);
        return;
    }
    if digits.len() > scale {
        out.extend_from_slice(&digits[..digits.len() - scale]);
        out.push(b'.');
        out.extend_from_slice(&digits[digits.len() - scale..]);
    } else {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', scale - digits.len()));
        out.extend_from_slice(digits);
    }
}

/// `BigDecimal.stripTrailingZeros().toString()`: that is how Jackson writes Flink's decimals, 100 as `1E+2`.
pub(crate) fn stripped_decimal(out: &mut Vec<u8>, value: i128, scale: u8) {
    if value == 0 {
        out.push(b'0');
        return;
    }
    let (mut value, mut scale) = (value, i32::from(scale));
    while value % 10 == 0 {
        value /= 10;
        scale -= 1;
    }
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(value.unsigned_abs()).as_bytes();
    let exponent = digits.len() as i32 - 1 - scale;
    if scale >= 0 && exponent >= -6 {
        return plain_decimal(out, value, scale as u8);
    }
    if value < 0 {
        out.push(b'-');
    }
    out.push(digits[0]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits[1..]);
    }
    out.push(b'E');
    if exponent >= 0 {
        out.push(b'+');
    }
    integer(out, i64::from(exponent));
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
    fn doubles_print_as_in_java() {
        let cases = [
            (1e10, "1.0E10"),
            (123456.789, "123456.789"),
            (1e-5, "1.0E-5"),
            (0.001, "0.001"),
            (12345678.0, "1.2345678E7"),
            (9999999.999, "9999999.999"),
            (4.9e-324, "4.9E-324"),
            (1.7976931348623157e308, "1.7976931348623157E308"),
            (-0.0, "-0.0"),
            (123456789012345680.0, "1.2345678901234568E17"),
            (-1.5e-7, "-1.5E-7"),
        ];
        for (value, expected) in cases {
            assert_eq!(text(|out| double(out, value)), expected);
        }
        assert_eq!(text(|out| float(out, 1.1754944e-38)), "1.1754944E-38");
        assert_eq!(text(|out| float(out, 1e-45)), "1.4E-45");
    }

    #[test]
    fn integers_print_whatever_their_length() {
        let mut value = 1i64;
        while value < i64::MAX / 7 {
            for n in [value, -value, value - 1, value * 3 + 7] {
                assert_eq!(text(|out| integer(out, n)), n.to_string());
            }
            value = value * 5 + 3;
        }
        for n in [0, 9, 10, 99_999_999, 100_000_000, 12_340_000, 10_000, i64::MIN, i64::MAX] {
            assert_eq!(text(|out| integer(out, n)), n.to_string());
        }
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
    fn decimals_print_as_in_jackson() {
        let cases = [(100, 0, "1E+2"), (10, 8, "1E-7"), (100, 8, "0.000001"), (-50_000_000, 8, "-0.5"), (2, 0, "2")];
        for (value, scale, expected) in cases {
            assert_eq!(text(|out| stripped_decimal(out, value, scale)), expected);
        }
        assert_eq!(text(|out| plain_decimal(out, 10, 8)), "0.00000010");
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
