//! Numbers as text: as Java prints them, appended to a byte buffer, and as people read them.

/// A count for people, with a comma between groups of three digits: 12,345,678.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes for people: 1.5 KiB.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    let unit = (0..UNITS.len() - 1).find(|&unit| bytes >> (10 * (unit + 1)) == 0).unwrap_or(UNITS.len() - 1);
    if unit == 0 {
        format!("{bytes} B")
    } else {
        format!("{:.1} {}", bytes as f64 / f64::powi(1024.0, unit as i32), UNITS[unit])
    }
}

/// A number of bytes as Flink's memory sizes are written: `12GiB`, `500 mb`, `1024`. Units are powers of 1024.
pub fn memory_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" | "bytes" => 0,
        "k" | "kb" | "kib" | "kibibytes" => 10,
        "m" | "mb" | "mib" | "mebibytes" => 20,
        "g" | "gb" | "gib" | "gibibytes" => 30,
        "t" | "tb" | "tib" | "tebibytes" => 40,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(1 << unit)
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

/// Zeros, infinities and NaN; false of every other number, which is not written.
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

/// Any digits, with a point or an exponent or both, as `d.dddE±n`.
pub(crate) fn scientific(out: &mut Vec<u8>, text: &str) {
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
    plain(out, buffer.format(value.unsigned_abs()).as_bytes(), usize::from(scale));
}

/// Digits with a point in front of the last `scale` of them.
fn plain(out: &mut Vec<u8>, digits: &[u8], scale: usize) {
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
    big_decimal(out, value < 0, buffer.format(value.unsigned_abs()).as_bytes(), scale.into());
}

/// `BigDecimal.toString` of so many digits, at least one, times ten to the minus `scale`: `1.50`, `1E+3`, `1E-7`.
pub(crate) fn big_decimal(out: &mut Vec<u8>, negative: bool, digits: &[u8], scale: i64) {
    if negative {
        out.push(b'-');
    }
    let exponent = digits.len() as i64 - 1 - scale;
    if scale >= 0 && exponent >= -6 {
        return plain(out, digits, scale as usize);
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
    integer(out, exponent);
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
    fn memory_sizes_are_read_in_flinks_units() {
        let sizes = [
            ("0", 0),
            ("1024", 1_024),
            ("12GiB", 12 << 30),
            ("500 mb", 500 << 20),
            (" 3k ", 3 << 10),
            ("1 TB", 1 << 40),
        ];
        for (text, size) in sizes {
            assert_eq!(memory_size(text), Some(size), "{text}");
        }
        for text in ["", "GiB", "-1", "1.5g", "12 q", "99999999999999999999", "17179869184 gb"] {
            assert_eq!(memory_size(text), None, "{text}");
        }
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
    fn decimals_print_as_in_jackson() {
        let cases = [(100, 0, "1E+2"), (10, 8, "1E-7"), (100, 8, "0.000001"), (-50_000_000, 8, "-0.5"), (2, 0, "2")];
        for (value, scale, expected) in cases {
            assert_eq!(text(|out| stripped_decimal(out, value, scale)), expected);
        }
        assert_eq!(text(|out| plain_decimal(out, 10, 8)), "0.00000010");
    }
}
