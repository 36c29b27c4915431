//! Flink's format `raw`: each line of a file is one value of the table's only column, as bytes.

pub(crate) mod decode;
pub(crate) mod encode;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::types::{Schema, Type};

/// Flink's `raw.*` options.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawOptions {
    /// `raw.charset`, of texts.
    pub charset: Charset,
    /// `raw.endianness`, of numbers.
    pub little_endian: bool,
}

/// How a text lies in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Charset {
    #[default]
    Utf8,
    Latin1,
    Ascii,
    /// With a mark of the order in front, big-endian where there is none.
    Utf16,
    Utf16Be,
    Utf16Le,
}

impl RawOptions {
    pub(crate) fn from_options(options: &mut Options, schema: &Schema) -> Result<Self> {
        let place = options.place_of("format");
        let [field] = schema.fields.as_slice() else {
            let error =
                format!("format 'raw' is for a table of one column, but {} has {}", options.owner, schema.fields.len());
            return Err(Error::script(error).at_place(place).help("declare one column, or use another format"));
        };
        let kind = &field.data_type.kind;
        let number = kind.is_integer() || matches!(kind, Type::Boolean | Type::Float | Type::Double);
        if !(number || kind.is_string() || matches!(kind, Type::Binary(_) | Type::VarBinary(_))) {
            let error =
                format!("column `{}` of {}: format 'raw' cannot hold the type {kind}", field.name, options.owner);
            return Err(Error::script(error).at_place(place).help("declare it STRING and cast it in the query"));
        }
        let charset = match options.take("raw.charset") {
            None => Charset::default(),
            Some(name) => Charset::of(&name).ok_or_else(|| {
                options.invalid("raw.charset", "one of UTF-8, ISO-8859-1, US-ASCII, UTF-16, UTF-16BE, UTF-16LE")
            })?,
        };
        let endianness = options.take("raw.endianness").map(|value| value.to_ascii_lowercase());
        let little_endian = match endianness.as_deref() {
            None | Some("big-endian") => false,
            Some("little-endian") => true,
            Some(_) => return Err(options.invalid("raw.endianness", "'big-endian' or 'little-endian'")),
        };
        Ok(RawOptions { charset, little_endian })
    }
}

impl Charset {
    fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Charset::Utf8,
            "iso-8859-1" | "iso8859-1" | "iso8859_1" | "latin1" | "l1" => Charset::Latin1,
            "us-ascii" | "ascii" => Charset::Ascii,
            "utf-16" | "utf16" => Charset::Utf16,
            "utf-16be" => Charset::Utf16Be,
            "utf-16le" => Charset::Utf16Le,
            _ => return None,
        })
    }

    /// The text that `bytes` stand for; what is no character becomes U+FFFD, as in Java.
    pub(crate) fn decode(self, bytes: &[u8], out: &mut Vec<u8>) {
        let (bytes, little) = match (self, bytes) {
            (Charset::Utf8, _) => return out.extend_from_slice(String::from_utf8_lossy(bytes).as_bytes()),
            (Charset::Latin1, _) => return bytes.iter().for_each(|byte| push(out, char::from(*byte))),
            (Charset::Ascii, _) => {
                let character =
                    |byte: &u8| if byte.is_ascii() { char::from(*byte) } else { char::REPLACEMENT_CHARACTER };
                return bytes.iter().for_each(|byte| push(out, character(byte)));
            }
            (Charset::Utf16, [0xFF, 0xFE, rest @ ..]) => (rest, true),
            (Charset::Utf16, [0xFE, 0xFF, rest @ ..]) => (rest, false),
            (Charset::Utf16Le, _) => (bytes, true),
            _ => (bytes, false),
        };
        let (pairs, rest) = bytes.as_chunks::<2>();
        let units = pairs.iter().map(|pair| if little { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) });
        for character in char::decode_utf16(units) {
            push(out, character.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if !rest.is_empty() {
            push(out, char::REPLACEMENT_CHARACTER);
        }
    }

    /// The bytes of a text; what the charset does not have becomes a question mark, as in Java.
    pub(crate) fn encode(self, text: &str, out: &mut Vec<u8>) {
        let highest = match self {
            Charset::Utf8 => return out.extend_from_slice(text.as_bytes()),
            Charset::Latin1 => 0xFF,
            Charset::Ascii => 0x7F,
            Charset::Utf16 | Charset::Utf16Be | Charset::Utf16Le => {
                if self == Charset::Utf16 && !text.is_empty() {
                    out.extend_from_slice(&[0xFE, 0xFF]);
                }
                let bytes = |unit: u16| if self == Charset::Utf16Le { unit.to_le_bytes() } else { unit.to_be_bytes() };
                return out.extend(text.encode_utf16().flat_map(bytes));
            }
        };
        out.extend(text.chars().map(|c| u8::try_from(u32::from(c)).ok().filter(|b| *b <= highest).unwrap_or(b'?')));
    }
}

fn push(out: &mut Vec<u8>, character: char) {
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}
