//! JSON_STRING, JSON_QUOTE and JSON_UNQUOTE.

use std::fmt::Write;

use arrow::array::{Array, ArrayRef, AsArray};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::super::EvalContext;
use super::super::cast::{cast, moments};
use super::super::nested::{Lists, Maps, field, without_hidden};
use super::super::print;
use super::super::value::{Read, Texts, Value, build_texts, flags, texts};
use super::tree::{big_decimal, java_order, write_text};
use crate::error::{Error, Result};
use crate::types::Type;

/// The JSON texts of a column; NULL stays NULL.
pub(super) fn of(value: &Value, kind: &Type, context: &EvalContext) -> Result<ArrayRef> {
    let part = |column: &ArrayRef, kind: &Type| {
        Ok::<_, Error>(Value::Array(of(&Value::Array(column.clone()), kind, context)?))
    };
    let count = value.len();
    match kind {
        Type::Char(_) | Type::VarChar(_) => {
            let strings = texts(value)?;
            build_texts(count, |row| Ok(strings.read(row).map(text_of)))
        }
        Type::Boolean => {
            let flags = flags(value)?;
            build_texts(count, |row| Ok(flags.read(row).map(|flag| if flag { "true" } else { "false" })))
        }
        Type::Binary(_) | Type::VarBinary(_) => {
            let bytes = value.array().as_binary_opt::<i32>().ok_or_else(|| wrong(kind))?;
            build_texts(count, |row| Ok(bytes.is_valid(row).then(|| text_of(&STANDARD.encode(bytes.value(row))))))
        }
        Type::Timestamp(_) | Type::TimestampLtz(_) => {
            let zone = if matches!(kind, Type::TimestampLtz(_)) { "Z" } else { "" };
            let moments = moments(value, kind)?;
            build_texts(count, |row| {
                Ok(moments(row).map(|moment| {
                    let text = print::timestamp(moment, 9).replacen(' ', "T", 1);
                    format!("\"{}{zone}\"", text.trim_end_matches('0').trim_end_matches('.'))
                }))
            })
        }
        Type::Float => of(&cast(value, kind, &Type::Double, false, context)?, &Type::Double, context),
        Type::Array(element) => {
            let lists = Lists::of(&Value::Array(without_hidden(value.array())?))?;
            let elements = part(&lists.elements, &element.kind)?;
            let elements = texts(&elements)?;
            build_texts(count, |row| {
                let Some(range) = lists.range(row) else { return Ok(None) };
                let shown: Vec<&str> = range.map(|at| elements.read(at).unwrap_or("null")).collect();
                Ok(Some(format!("[{}]", shown.join(","))))
            })
        }
        Type::Map(..) | Type::Multiset(_) => {
            let (_, element) = kind.entries().ok_or_else(|| wrong(kind))?;
            let maps = Maps::of(&Value::Array(without_hidden(value.array())?))?;
            let values = part(&maps.values, element)?;
            let keys = Value::Array(maps.keys.clone());
            let (keys, values) = (texts(&keys)?, texts(&values)?);
            build_texts(count, |row| {
                let Some(range) = maps.range(row) else { return Ok(None) };
                Ok(Some(members(range.map(|at| (keys.read(at).unwrap_or_default(), values.read(at))))))
            })
        }
        Type::Row(fields) => {
            let columns = fields.iter().enumerate();
            let columns = columns.map(|(at, own)| part(&field(value.array(), at)?, &own.data_type.kind));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let columns = columns.iter().map(texts).collect::<Result<Vec<_>>>()?;
            build_texts(count, |row| {
                let named = fields.iter().zip(&columns).map(|(own, column)| (own.name.as_str(), column.read(row)));
                Ok(value.array().is_valid(row).then(|| members(named)))
            })
        }
        // Numbers: as the cast shows them, or as a BigDecimal does.
        kind if kind.is_numeric() || *kind == Type::Null => {
            let shown = cast(value, kind, &Type::string(), false, context)?;
            let shown = texts(&shown)?;
            let number = |text: &str| big_decimal(text).unwrap_or_else(|| text_of(text));
            build_texts(count, |row| Ok(shown.read(row).map(number)))
        }
        other => Err(wrong(other)),
    }
}

fn wrong(kind: &Type) -> Error {
    Error::internal(format!("JSON of {kind}"))
}

fn text_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_text(text, &mut out);
    out
}

/// An object with its names in order.
fn members<'a>(named: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let mut named: Vec<(&str, Option<&str>)> = named.collect();
    named.sort_by(|(a, _), (b, _)| java_order(a, b));
    let mut out = String::from("{");
    for (i, (name, value)) in named.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_text(name, &mut out);
        out.push(':');
        out.push_str(value.unwrap_or("null"));
    }
    out.push('}');
    out
}

/// JSON_QUOTE: all beyond ASCII becomes `\u` and the hexadecimal code, of which characters beyond U+FFFF have five
/// digits, followed by the second half of their pair.
pub(super) fn quoted(input: &Texts<'_>, count: usize) -> Result<ArrayRef> {
    build_texts(count, |row| {
        Ok(input.read(row).map(|text| {
            let mut out = String::from("\"");
            for c in text.chars() {
                match c {
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    '/' => out.push_str("\\/"),
                    '\u{8}' => out.push_str("\\b"),
                    '\u{c}' => out.push_str("\\f"),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    c if c.is_ascii() => out.push(c),
                    c => {
                        let _ = write!(out, "\\u{:04x}", c as u32);
                        if let [_, low] = c.encode_utf16(&mut [0; 2]) {
                            let _ = write!(out, "\\u{low:04x}");
                        }
                    }
                }
            }
            out.push('"');
            out
        }))
    })
}

/// JSON_UNQUOTE: what is no quoted text, or has an escape that is none, stays as it is.
pub(super) fn unquoted(input: &Texts<'_>, count: usize) -> Result<ArrayRef> {
    build_texts(count, |row| Ok(input.read(row).map(|text| unquote(text).unwrap_or_else(|| text.to_string()))))
}

fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut units: Vec<u16> = Vec::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            continue;
        }
        units.push(match chars.next()? {
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            c @ ('"' | '\\' | '/') => c as u16,
            'u' => {
                let mut unit = 0;
                for _ in 0..4 {
                    unit = unit * 16 + chars.next()?.to_digit(16)?;
                }
                unit as u16
            }
            _ => return None,
        });
    }
    Some(char::decode_utf16(units).map(|c| c.unwrap_or('?')).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_quoted_text_stays() {
        let unquoted = |text: &str| unquote(text).unwrap_or_else(|| text.to_string());
        let texts = ["\"abc", "abc\"", "[1, 2]", "\"\\x\"", "\"a\\u00\"", "", "\"", "{\"a\":1}"];
        for text in texts {
            assert_eq!(unquoted(text), text);
        }
        assert_eq!(unquoted("\"a\\u00e9\\n\\\\\\\"\\/\""), "aé\n\\\"/");
        assert_eq!(unquoted("\"a\"b\""), "a\"b");
        assert_eq!(unquoted("\"\\ud83d\\ude00\""), "😀");
        assert_eq!(unquoted("\"\""), "");
    }
}
