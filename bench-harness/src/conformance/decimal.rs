//! Numbers by their written digits.

/// A decimal number in its one shortest form: equal values are equal structs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    /// Without zeros at either end; empty for zero.
    digits: String,
    /// Power of ten of the last digit.
    exponent: i64,
}

impl Decimal {
    /// `None` if the text is no JSON number.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.len() + fraction.len() == 0 || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let kept = all.trim_end_matches('0');
        let digits = kept.trim_start_matches('0').to_string();
        if digits.is_empty() {
            return Some(Decimal { negative: false, digits, exponent: 0 });
        }
        let exponent = exponent.checked_sub(fraction.len() as i64)?.checked_add((all.len() - kept.len()) as i64)?;
        Some(Decimal { negative, digits, exponent })
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn the_same_number_is_equal_however_it_is_written() {
        for (a, b) in [("1.50", "1.5"), ("1e3", "1000"), ("-0", "0.00"), ("0.001", "1E-3"), ("12e-1", "1.2")] {
            assert_eq!(Decimal::parse(a), Decimal::parse(b), "{a} {b}");
        }
        for (a, b) in [("1", "-1"), ("10", "1"), ("123456789012345678901", "123456789012345678902"), ("0.1", "0.01")] {
            assert_ne!(Decimal::parse(a), Decimal::parse(b), "{a} {b}");
        }
        for text in ["", "-", ".", "1x", "e5", "NaN"] {
            assert_eq!(Decimal::parse(text), None);
        }
    }
}
