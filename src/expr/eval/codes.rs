//! Numbers, bytes and strings written in codes: HEX, BIN, Base64, character sets, URLs, addresses.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryArray, BinaryBuilder};
use arrow::datatypes::Int64Type;
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::function::Code;
use super::value::{Read, Texts, Value, build, build_texts, numbers, texts};
use crate::error::{Error, Result};
use crate::types::Type;

/// As Java's basic decoder: padding may be missing, and bits beyond the last byte do not count.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Reads strings and BYTES alike.
enum Octets<'a> {
    Text(Texts<'a>),
    Bytes { array: &'a BinaryArray, constant: bool },
}

impl<'a> Octets<'a> {
    fn new(value: &'a Value, kind: &Type) -> Result<Self> {
        if kind.is_string() {
            return Ok(Octets::Text(texts(value)?));
        }
        let array = value.array().as_any().downcast_ref::<BinaryArray>();
        let array = array.ok_or_else(|| Error::internal(format!("bytes of type {kind}")))?;
        Ok(Octets::Bytes { array, constant: value.is_constant() })
    }

    fn at(&self, row: usize) -> Option<&[u8]> {
        match self {
            Octets::Text(texts) => texts.read(row).map(str::as_bytes),
            Octets::Bytes { array, constant } => {
                let row = if *constant { 0 } else { row };
                (!array.is_null(row)).then(|| array.value(row))
            }
        }
    }
}

/// A function of codes. Integer arguments are BIGINT.
pub(super) fn code(function: Code, values: &[Value], kinds: &[&Type], count: usize) -> Result<ArrayRef> {
    let missing = || Error::internal(format!("{function:?} lacks an argument"));
    let value = values.first().ok_or_else(missing)?;
    let octets = || Octets::new(value, kinds[0]);
    match function {
        Code::HexOfNumber => each_number(value, count, |number| Some(format!("{number:X}"))),
        Code::Bin => each_number(value, count, |number| Some(format!("{number:b}"))),
        Code::InetNtoa => each_number(value, count, |number| {
            u32::try_from(number).ok().map(|address| std::net::Ipv4Addr::from(address).to_string())
        }),
        Code::InetAton => {
            let values = texts(value)?;
            build::<Int64Type>(count, |row| Ok(values.read(row).and_then(address)))
        }
        Code::HexOfText => each(&octets()?, count, |bytes| Ok(Some(hex(bytes)))),
        Code::ToBase64 => each(&octets()?, count, |bytes| Ok(Some(BASE64.encode(bytes)))),
        Code::FromBase64 => each(&octets()?, count, |bytes| from_base64(bytes).map(Some)),
        Code::UrlEncode => each(&octets()?, count, |bytes| Ok(Some(url_encode(bytes)))),
        Code::UrlDecode => each(&octets()?, count, |bytes| Ok(url_decode(bytes))),
        Code::Unhex => bytes(count, |row, octets| Ok(octets.at(row).and_then(unhex)), &octets()?),
        Code::Encode => {
            let names = texts(values.get(1).ok_or_else(missing)?)?;
            let input = texts(value)?;
            bytes(
                count,
                |row, _| match (input.read(row), names.read(row)) {
                    (Some(text), Some(name)) => Charset::of(name).map(|charset| Some(charset.encode(text))),
                    _ => Ok(None),
                },
                &octets()?,
            )
        }
        Code::Decode => {
            let names = texts(values.get(1).ok_or_else(missing)?)?;
            let input = octets()?;
            build_texts(count, |row| match (input.at(row), names.read(row)) {
                (Some(bytes), Some(name)) => Charset::of(name).map(|charset| Some(charset.decode(bytes))),
                _ => Ok(None),
            })
        }
    }
}

fn each_number(value: &Value, count: usize, print: impl Fn(i64) -> Option<String>) -> Result<ArrayRef> {
    let values = numbers::<Int64Type>(value)?;
    build_texts(count, |row| Ok(values.read(row).and_then(&print)))
}

fn each(octets: &Octets<'_>, count: usize, write: impl Fn(&[u8]) -> Result<Option<String>>) -> Result<ArrayRef> {
    build_texts(count, |row| octets.at(row).map_or(Ok(None), &write))
}

fn bytes(
    count: usize,
    each: impl Fn(usize, &Octets<'_>) -> Result<Option<Vec<u8>>>,
    octets: &Octets<'_>,
) -> Result<ArrayRef> {
    let mut builder = BinaryBuilder::with_capacity(count, count * 8);
    for row in 0..count {
        builder.append_option(each(row, octets)?);
    }
    Ok(Arc::new(builder.finish()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// The bytes of hexadecimal digits. Of an odd number of digits, Flink reads the first one as 0, whatever it is.
fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    let odd = text.len() % 2;
    // The first of an odd number of digits counts for nothing, but must be one.
    text.first().filter(|_| odd == 1).map_or(Some(0), |byte| digit(*byte))?;
    let mut bytes = vec![0; odd];
    for pair in text[odd..].chunks_exact(2) {
        bytes.push((digit(pair[0])? * 16 + digit(pair[1])?) as u8);
    }
    Some(bytes)
}

fn from_base64(text: &[u8]) -> Result<String> {
    // Java takes no padding or all of it.
    let whole = !text.contains(&b'=') || text.len().is_multiple_of(4);
    match BASE64.decode(text) {
        Ok(bytes) if whole => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        _ => {
            let shown: String = String::from_utf8_lossy(text).chars().take(80).collect();
            Err(Error::data(format!("FROM_BASE64: '{shown}' is not Base64"))
                .help("letters, digits, + and / in groups of four, without blanks"))
        }
    }
}

/// As a form is encoded: a blank is a plus.
fn url_encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => text.push(char::from(*byte)),
            b' ' => text.push('+'),
            _ => {
                let _ = write!(text, "%{byte:02X}");
            }
        }
    }
    text
}

/// `None` for a `%` without two hexadecimal digits.
fn url_decode(text: &[u8]) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => {
                let digit = |at: usize| rest.get(at).and_then(|byte| (*byte as char).to_digit(16));
                let value = digit(0)? * 16 + digit(1)?;
                rest = &rest[2..];
                value as u8
            }
            byte => *byte,
        });
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The number of an IPv4 address: 1.2.3.4, and 127.1 for 127.0.0.1. No part passes 255.
fn address(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split('.').collect();
    let part = |text: &str| {
        let plain = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u32>().ok().filter(|number| plain && *number <= 255)
    };
    let (last, leading) = parts.split_last()?;
    if leading.len() > 3 {
        return None;
    }
    let mut number = part(last)?;
    for (at, text) in leading.iter().enumerate() {
        number |= part(text)? << (24 - 8 * at);
    }
    Some(number.into())
}

/// Java's standard character sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::expr) enum Charset {
    Utf8,
    Ascii,
    Latin1,
    /// `marked`: begins with a byte-order mark.
    Utf16 {
        little: bool,
        marked: bool,
    },
}

impl Charset {
    /// By its name, any case.
    ///
    /// # Errors
    /// A name that is none of the standard ones.
    pub(in crate::expr) fn of(name: &str) -> Result<Charset> {
        Ok(match name.to_ascii_uppercase().as_str() {
            "UTF-8" | "UTF8" => Charset::Utf8,
            "US-ASCII" | "ASCII" => Charset::Ascii,
            "ISO-8859-1" | "ISO8859-1" | "ISO8859_1" | "LATIN1" => Charset::Latin1,
            "UTF-16" | "UTF16" | "UTF_16" => Charset::Utf16 { little: false, marked: true },
            "UTF-16BE" => Charset::Utf16 { little: false, marked: false },
            "UTF-16LE" => Charset::Utf16 { little: true, marked: false },
            _ => {
                return Err(Error::data(format!("'{name}' is not a known character set"))
                    .help("take UTF-8, US-ASCII, ISO-8859-1, UTF-16, UTF-16BE or UTF-16LE"));
            }
        })
    }

    /// What the set does not have becomes a question mark.
    fn encode(self, text: &str) -> Vec<u8> {
        let narrow =
            |most: u32| text.chars().map(move |c| if u32::from(c) <= most { u32::from(c) as u8 } else { b'?' });
        match self {
            Charset::Utf8 => text.as_bytes().to_vec(),
            Charset::Ascii => narrow(0x7F).collect(),
            Charset::Latin1 => narrow(0xFF).collect(),
            Charset::Utf16 { little, marked } => {
                let mark = (marked && !text.is_empty()).then_some(0xFEFF);
                let units = mark.into_iter().chain(text.encode_utf16());
                units.flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
            }
        }
    }

    /// What is no text becomes U+FFFD.
    fn decode(self, bytes: &[u8]) -> String {
        match self {
            Charset::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            Charset::Ascii => {
                bytes.iter().map(|b| if b.is_ascii() { char::from(*b) } else { char::REPLACEMENT_CHARACTER }).collect()
            }
            Charset::Latin1 => bytes.iter().map(|byte| char::from(*byte)).collect(),
            Charset::Utf16 { little, marked } => {
                let (little, bytes) = match bytes {
                    [0xFE, 0xFF, rest @ ..] if marked => (false, rest),
                    [0xFF, 0xFE, rest @ ..] if marked => (true, rest),
                    _ => (little, bytes),
                };
                let unit = |pair: &[u8]| {
                    let pair = [pair[0], pair[1]];
                    if little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
                };
                let pairs = bytes.chunks_exact(2);
                let cut = !pairs.remainder().is_empty();
                let decoded = char::decode_utf16(pairs.map(unit));
                let mut text: String = decoded.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
                if cut {
                    text.push(char::REPLACEMENT_CHARACTER);
                }
                text
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_flinks() {
        assert_eq!(hex("ß".as_bytes()), "C39F");
        assert_eq!(unhex(b"4a6F"), Some(b"Jo".to_vec()));
        assert_eq!(unhex(b"F"), Some(vec![0]));
        assert_eq!((unhex(b"zz"), unhex(b"")), (None, Some(Vec::new())));
        assert_eq!(url_encode("a b+c/ß~*".as_bytes()), "a+b%2Bc%2F%C3%9F%7E*");
        assert_eq!(url_decode(b"a+b%20%C3%9F").as_deref(), Some("a b ß"));
        assert_eq!((url_decode(b"a%2"), url_decode(b"%zz"), url_decode(b"%")), (None, None, None));
        assert_eq!(from_base64(b"YQ").unwrap(), "a");
        assert_eq!(from_base64(b"YQ==").unwrap(), "a");
        for wrong in [&b"YQ="[..], b"Y Q=", b"!", b"a", b"_w=="] {
            assert!(from_base64(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn addresses_may_leave_parts_out() {
        for (text, number) in [
            ("1.2.3.4", Some(16_909_060)),
            ("127.1", Some(2_130_706_433)),
            ("1.2.3", Some(16_908_291)),
            ("1", Some(1)),
            ("01.2.3.4", Some(16_909_060)),
            ("1.257", None),
            ("", None),
            ("1.2.3.4.5", None),
            (" 1.2.3.4", None),
            ("1.2.3.-4", None),
        ] {
            assert_eq!(address(text), number, "{text}");
        }
    }

    #[test]
    fn character_sets_are_javas() {
        let set = |name: &str| Charset::of(name).unwrap();
        assert_eq!(set("US-ASCII").encode("aß😀"), b"a??");
        assert_eq!(set("UTF-16").encode("aß"), [0xFE, 0xFF, 0, b'a', 0, 0xDF]);
        assert_eq!(set("utf-16le").encode("a"), [b'a', 0]);
        assert_eq!(set("UTF-16").decode(&[0xFE, 0xFF, 0, b'a']), "a");
        assert_eq!(set("UTF-16").decode(&[0, b'a', 0]), "a\u{FFFD}");
        assert_eq!(set("US-ASCII").decode(&[0xFF]), "\u{FFFD}");
        assert!(Charset::of("junk").is_err());
    }
}
