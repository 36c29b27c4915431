//! Bytes as text in base 64, by the rules of Jackson's default variant: padding is wanted, and blanks may stand
//! between groups of four characters.

use ::base64::Engine;
use ::base64::engine::general_purpose::STANDARD;

/// Appends what `text` stands for; false if it is no base 64, `out` may then have bytes too many.
pub(crate) fn decode(text: &[u8], out: &mut Vec<u8>) -> bool {
    let mut rest = text;
    loop {
        while let [..=b' ', tail @ ..] = rest {
            rest = tail;
        }
        if rest.is_empty() {
            return true;
        }
        let Some((group, tail)) = rest.split_first_chunk::<4>() else { return false };
        let digits = match group {
            [_, _, b'=', b'='] => 2,
            [_, _, _, b'='] => 3,
            _ => 4,
        };
        let mut bits = 0u32;
        for byte in &group[..digits] {
            let Some(value) = value_of(*byte) else { return false };
            bits = bits << 6 | value;
        }
        bits <<= 6 * (4 - digits);
        let [_, first, second, third] = bits.to_be_bytes();
        out.extend_from_slice(&[first, second, third][..digits - 1]);
        rest = tail;
    }
}

/// Whether `text` ends behind the first character of a group: Jackson then reads on behind the closing quote.
pub(crate) fn overruns(text: &[u8]) -> bool {
    let mut rest = text;
    loop {
        while let [..=b' ', tail @ ..] = rest {
            rest = tail;
        }
        match rest {
            [] => return false,
            [only] => return value_of(*only).is_some(),
            [group @ .., _] if group.len() < 3 => return false,
            _ => {}
        }
        let valid = |b: &u8| value_of(*b).is_some();
        let group = &rest[..4];
        if !group[..2].iter().all(valid) || !group[2..].iter().all(|b| valid(b) || *b == b'=') {
            return false;
        }
        rest = &rest[4..];
    }
}

fn value_of(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// Appends `bytes` as text.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    // The room is exact, so the writer cannot fail.
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or(0);
    out.truncate(start + written);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_from_their_text() {
        for length in 0..40u8 {
            let bytes: Vec<u8> = (0..length).map(|b| b.wrapping_mul(37) ^ 0xA5).collect();
            let (mut text, mut back) = (Vec::new(), Vec::new());
            encode(&bytes, &mut text);
            assert!(decode(&text, &mut back));
            assert_eq!(back, bytes);
        }
    }

    #[test]
    fn odd_texts_are_judged_as_by_jackson() {
        for (text, expected) in [
            ("aGVsbG8=", Some("hello")),
            ("aGVs bG8=", Some("hello")),
            (" aGVs\nbG8=\t", Some("hello")),
            ("YQ==YQ==", Some("aa")),
            ("", Some("")),
            ("aGVsbG8", None),
            ("aGVsb_8=", None),
            ("aGVsbG8==", None),
            ("=aGVsbG8=", None),
            ("aG VsbG8=", None),
            ("a", None),
            ("!!", None),
        ] {
            let mut out = Vec::new();
            let read = decode(text.as_bytes(), &mut out).then_some(out);
            assert_eq!(read.as_deref(), expected.map(str::as_bytes), "{text}");
        }
        for (text, expected) in
            [("a", true), ("aGVsbG8=x", true), ("aGVsbG8", false), ("!!", false), ("aGVsbG8==", false)]
        {
            assert_eq!(overruns(text.as_bytes()), expected, "{text}");
        }
    }
}
