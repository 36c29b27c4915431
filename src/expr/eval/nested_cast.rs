//! CAST of ROW, ARRAY and MAP, part by part, and of BYTES.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, ListArray, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::DataType as ArrowType;

use super::EvalContext;
use super::cast::cast;
use super::nested::{Lists, Maps, field, map_column, without_hidden};
use super::value::{Read, Value, build_texts, texts};
use crate::error::{Error, Result};
use crate::types::Type;

pub(super) fn is_nested(kind: &Type) -> bool {
    kind.is_nested()
}

pub(super) fn is_binary(kind: &Type) -> bool {
    matches!(kind, Type::Binary(_) | Type::VarBinary(_))
}

/// Between nested types of one shape. `safe`: a part that cannot be cast makes the whole value NULL.
pub(super) fn nested(array: &ArrayRef, from: &Type, to: &Type, safe: bool, context: &EvalContext) -> Result<ArrayRef> {
    let array = without_hidden(array)?;
    let part = |column: &ArrayRef, from: &Type, to: &Type| {
        Ok::<_, Error>(cast(&Value::Array(column.clone()), from, to, safe, context)?.array().clone())
    };
    match (from, to) {
        (Type::Array(a), Type::Array(b)) => {
            let ArrowType::List(arrow) = to.to_arrow() else { return Err(mismatch(from, to)) };
            let lists = Lists::of(&Value::Array(array.clone()))?;
            let elements = part(&lists.elements, &a.kind, &b.kind)?;
            let lost = if safe { lost_of_lists(&lists, &[(&lists.elements, &elements)]) } else { None };
            let offsets = lists.offset_buffer();
            let nulls = NullBuffer::union(array.nulls(), lost.as_ref());
            Ok(Arc::new(ListArray::try_new(arrow, offsets, elements, nulls)?))
        }
        (Type::Map(..), Type::Map(..)) | (Type::Multiset(_), Type::Multiset(_)) => {
            let (Some((k1, v1)), Some((k2, v2))) = (from.entries(), to.entries()) else {
                return Err(mismatch(from, to));
            };
            let maps = Maps::of(&Value::Array(array.clone()))?;
            let (keys, values) = (part(&maps.keys, k1, k2)?, part(&maps.values, v1, v2)?);
            let pairs = [(&maps.keys, &keys), (&maps.values, &values)];
            let lost = if safe { lost_of_lists(&maps.lists, &pairs) } else { None };
            let nulls = NullBuffer::union(array.nulls(), lost.as_ref());
            map_column(keys, values, maps.lists.offset_buffer(), nulls, to)
        }
        (Type::Row(a), Type::Row(b)) if a.len() == b.len() => {
            let ArrowType::Struct(arrow) = to.to_arrow() else { return Err(mismatch(from, to)) };
            let mut columns = Vec::with_capacity(a.len());
            let mut nulls = array.nulls().cloned();
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                let before = field(&array, index)?;
                let after = part(&before, &a.data_type.kind, &b.data_type.kind)?;
                if safe && let Some(lost) = lost(&before, &after) {
                    nulls = NullBuffer::union(nulls.as_ref(), Some(&lost));
                }
                columns.push(after);
            }
            Ok(Arc::new(StructArray::try_new_with_length(arrow, columns, nulls, array.len())?))
        }
        _ => Err(mismatch(from, to)),
    }
}

fn mismatch(from: &Type, to: &Type) -> Error {
    Error::internal(format!("a cast of {from} to {to}"))
}

/// Where a value became NULL that was none; `None` if nowhere.
fn lost(before: &ArrayRef, after: &ArrayRef) -> Option<NullBuffer> {
    if before.logical_null_count() == after.logical_null_count() {
        return None;
    }
    let (before, after) = (before.logical_nulls(), after.logical_nulls()?);
    let kept = (0..after.len()).map(|row| {
        let was_null = before.as_ref().is_some_and(|nulls| nulls.is_null(row));
        was_null || after.is_valid(row)
    });
    Some(kept.collect())
}

/// The rows that hold an element that [`lost`] its value.
fn lost_of_lists(lists: &Lists, parts: &[(&ArrayRef, &ArrayRef)]) -> Option<NullBuffer> {
    let kept: Vec<NullBuffer> = parts.iter().filter_map(|(before, after)| lost(before, after)).collect();
    if kept.is_empty() {
        return None;
    }
    let whole = |row: usize| {
        let mut range = lists.range(row).unwrap_or(0..0);
        range.all(|element| kept.iter().all(|kept| kept.is_valid(element)))
    };
    Some((0..lists.len()).map(whole).collect())
}

/// ROW, ARRAY or MAP as text: `(1, x)`, `[1, NULL]`, `{a=1}`.
pub(super) fn to_text(value: &Value, from: &Type, context: &EvalContext) -> Result<ArrayRef> {
    let array = without_hidden(value.array())?;
    let part =
        |column: &ArrayRef, kind: &Type| cast(&Value::Array(column.clone()), kind, &Type::string(), false, context);
    match from {
        Type::Array(element) => {
            let lists = Lists::of(&Value::Array(array.clone()))?;
            let elements = part(&lists.elements, &element.kind)?;
            let elements = texts(&elements)?;
            build_texts(lists.len(), |row| {
                let Some(range) = lists.range(row) else { return Ok(None) };
                Ok(Some(enclosed('[', range.map(|at| Cow::Borrowed(shown(elements.read(at)))), ']')))
            })
        }
        Type::Map(..) | Type::Multiset(_) => {
            let (key, element) = from.entries().ok_or_else(|| Error::internal("a map without entries"))?;
            let maps = Maps::of(&Value::Array(array.clone()))?;
            let (keys, values) = (part(&maps.keys, key)?, part(&maps.values, element)?);
            let (keys, values) = (texts(&keys)?, texts(&values)?);
            build_texts(maps.len(), |row| {
                let Some(range) = maps.range(row) else { return Ok(None) };
                let entry = |at| Cow::Owned(format!("{}={}", shown(keys.read(at)), shown(values.read(at))));
                Ok(Some(enclosed('{', range.map(entry), '}')))
            })
        }
        Type::Row(fields) => {
            let columns = fields.iter().enumerate();
            let columns = columns.map(|(index, named)| part(&field(&array, index)?, &named.data_type.kind));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let columns = columns.iter().map(texts).collect::<Result<Vec<_>>>()?;
            build_texts(array.len(), |row| {
                let fields = columns.iter().map(|column| Cow::Borrowed(shown(column.read(row))));
                Ok(array.is_valid(row).then(|| enclosed('(', fields, ')')))
            })
        }
        _ => Err(Error::internal(format!("a cast of {from} to text"))),
    }
}

fn shown(text: Option<&str>) -> &str {
    text.unwrap_or("NULL")
}

fn enclosed<'a>(open: char, parts: impl Iterator<Item = Cow<'a, str>>, close: char) -> String {
    let mut text = String::from(open);
    for (i, part) in parts.enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        text.push_str(&part);
    }
    text.push(close);
    text
}

/// Text or BYTES as BYTES: BINARY(n) is filled with zeros and cut, VARBINARY(n) is cut.
pub(super) fn to_bytes<'a>(value: &'a Value, from: &Type, to: &Type) -> Result<ArrayRef> {
    let (length, pads) = match to {
        Type::Binary(length) => (*length as usize, true),
        Type::VarBinary(length) => (*length as usize, false),
        _ => return Err(mismatch(from, to)),
    };
    let array = value.array();
    let bytes_of: Box<dyn Fn(usize) -> &'a [u8] + 'a> = if from.is_string() {
        let texts = array.as_string_opt::<i32>().ok_or_else(|| mismatch(from, to))?;
        Box::new(move |row| texts.value(row).as_bytes())
    } else {
        let bytes = array.as_binary_opt::<i32>().ok_or_else(|| mismatch(from, to))?;
        Box::new(move |row| bytes.value(row))
    };
    let mut builder = BinaryBuilder::with_capacity(array.len(), array.len() * 8);
    for row in 0..array.len() {
        if array.is_null(row) {
            builder.append_null();
            continue;
        }
        let bytes = bytes_of(row);
        if bytes.len() >= length {
            builder.append_value(&bytes[..length]);
        } else if pads {
            let mut padded = bytes.to_vec();
            padded.resize(length, 0);
            builder.append_value(&padded);
        } else {
            builder.append_value(bytes);
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// BYTES read as UTF-8; what is none becomes U+FFFD.
pub(super) fn bytes_to_text(value: &Value) -> Result<ArrayRef> {
    let array = value.array();
    let bytes = array.as_binary_opt::<i32>().ok_or_else(|| Error::internal("a cast of no BYTES to text"))?;
    build_texts(array.len(), |row| Ok(array.is_valid(row).then(|| String::from_utf8_lossy(bytes.value(row)))))
}
