//! Lines of a text, for places in messages.

/// Line ends in `text`. Where `returns` is set, a \r alone is one too.
pub(super) fn count(text: &[u8], returns: bool) -> u64 {
    let ends = memchr::memchr_iter(b'\n', text).count();
    if !returns {
        return ends as u64;
    }
    let alone = memchr::memchr_iter(b'\r', text).filter(|&at| text.get(at + 1) != Some(&b'\n')).count();
    (ends + alone) as u64
}

/// Line and column (in characters) of the end of `text`, which begins at the start of line `first`.
pub(super) fn place(text: &[u8], first: u64, returns: bool) -> (u64, u64) {
    let is_end = |byte: &u8| *byte == b'\n' || (returns && *byte == b'\r');
    let start = text.iter().rposition(is_end).map_or(0, |at| at + 1);
    let column = text[start..].iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64 + 1;
    (first + count(text, returns), column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters() {
        assert_eq!(place(b"", 7, true), (7, 1));
        assert_eq!(place("1\n2\r\n\rää".as_bytes(), 1, true), (4, 3));
        assert_eq!(place(b"1\r2\n3", 1, false), (2, 2));
    }
}
