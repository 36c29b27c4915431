//! Numbers as people write them on a command line: 20M, 100k, 5_000.

/// # Errors
/// What a count looks like.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    digits
        .replace('_', "")
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(unit))
        .ok_or_else(|| format!("'{text}' is not a count; write 5000, 100k or 20M"))
}

/// The shortest form that [`parse_count`] reads back.
pub fn short_count(count: u64) -> String {
    for (unit, letter) in [(1_000_000, "M"), (1_000, "k")] {
        if count >= unit && count.is_multiple_of(unit) {
            return format!("{}{letter}", count / unit);
        }
    }
    count.to_string()
}

#[cfg(test)]
mod tests {
    use transom::numbers::grouped;

    use super::*;

    #[test]
    fn counts_read_back_as_written() {
        for (text, count) in [("20M", 20_000_000), ("100k", 100_000), ("1_500", 1500), ("7", 7), ("2g", 2_000_000_000)]
        {
            assert_eq!(parse_count(text), Ok(count));
        }
        assert_eq!(parse_count(&short_count(1500)), Ok(1500));
        assert_eq!(short_count(20_000_000), "20M");
        assert!(parse_count("").is_err() && parse_count("-1").is_err() && parse_count("Mk").is_err());
        assert!(parse_count("99999999999999999G").is_err());
    }

    #[test]
    fn groups_of_three_digits() {
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(grouped(999), "999");
    }
}
