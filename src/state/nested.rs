//! Keys of ROW, ARRAY and MAP: to bytes and back.
//!
//! A ROW is its fields one after the other, an ARRAY the number of its elements and each with its length before it, a
//! MAP the same of keys and values, in the order of the keys' bytes: MAPs with the same entries are one key.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType as ArrowType;

use super::index::decode_column;
use super::key::Cell;
use crate::error::{Error, Result};

pub(super) fn is_nested(data_type: &ArrowType) -> bool {
    matches!(data_type, ArrowType::List(_) | ArrowType::Map(..) | ArrowType::Struct(_))
}

/// The types that a nested type is made of.
pub(super) fn parts(data_type: &ArrowType) -> Vec<&ArrowType> {
    match data_type {
        ArrowType::List(field) | ArrowType::Map(field, _) => vec![field.data_type()],
        ArrowType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        _ => Vec::new(),
    }
}

/// A nested column, ready to be read row by row.
pub(super) enum NestedCell {
    Row(Vec<Cell>),
    Array { offsets: OffsetBuffer<i32>, elements: Box<Cell> },
    Map { offsets: OffsetBuffer<i32>, keys: Box<Cell>, values: Box<Cell> },
}

impl NestedCell {
    pub(super) fn of(column: &ArrayRef) -> Result<NestedCell> {
        let boxed = |column: &ArrayRef| Cell::of(column).map(Box::new);
        Ok(match column.data_type() {
            ArrowType::Struct(_) => {
                NestedCell::Row(column.as_struct().columns().iter().map(Cell::of).collect::<Result<_>>()?)
            }
            ArrowType::List(_) => {
                let lists = column.as_list::<i32>();
                NestedCell::Array { offsets: lists.offsets().clone(), elements: boxed(lists.values())? }
            }
            ArrowType::Map(..) => {
                let maps = column.as_map();
                let offsets = maps.offsets().clone();
                NestedCell::Map { offsets, keys: boxed(maps.keys())?, values: boxed(maps.values())? }
            }
            other => return Err(Error::internal(format!("no nested key of the Arrow type {other}"))),
        })
    }

    /// The row's bytes; it is not NULL.
    pub(super) fn append(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            NestedCell::Row(fields) => fields.iter().for_each(|field| field.append(row, out)),
            NestedCell::Array { offsets, elements } => {
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                out.extend_from_slice(&(range.len() as u32).to_le_bytes());
                range.for_each(|element| append_sized(elements, element, out));
            }
            NestedCell::Map { offsets, keys, values } => {
                let range = offsets[row] as usize..offsets[row + 1] as usize;
                out.extend_from_slice(&(range.len() as u32).to_le_bytes());
                let mut entries: Vec<(Vec<u8>, usize)> = range
                    .map(|entry| {
                        let mut key = Vec::new();
                        append_sized(keys, entry, &mut key);
                        (key, entry)
                    })
                    .collect();
                entries.sort();
                for (key, entry) in entries {
                    out.extend_from_slice(&key);
                    append_sized(values, entry, out);
                }
            }
        }
    }
}

fn append_sized(cell: &Cell, row: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    cell.append(row, out);
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Cuts a nested column's cells off the front of each row, whose flags are cut off already.
pub(super) fn decode(
    data_type: &ArrowType,
    rows: &mut [&[u8]],
    valid: &[bool],
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    match data_type {
        ArrowType::Struct(fields) => {
            // The fields of a NULL are not there, which reads as NULLs.
            let mut own: Vec<&[u8]> =
                rows.iter().zip(valid).map(|(row, valid)| if *valid { *row } else { &[] }).collect();
            let columns = fields.iter().map(|field| decode_column(field.data_type(), &mut own));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            for ((row, rest), _) in rows.iter_mut().zip(own).zip(valid).filter(|(_, valid)| **valid) {
                *row = rest;
            }
            Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, valid.len())?))
        }
        ArrowType::List(field) => {
            let mut cells = Sized::cut(rows, valid, 1);
            let elements = decode_column(field.data_type(), &mut cells.parts[0])?;
            let offsets = OffsetBuffer::from_lengths(cells.counts);
            Ok(Arc::new(ListArray::try_new(field.clone(), offsets, elements, nulls)?))
        }
        ArrowType::Map(entries, sorted) => {
            let ArrowType::Struct(fields) = entries.data_type() else {
                return Err(Error::internal("a MAP key without entries"));
            };
            let mut cells = Sized::cut(rows, valid, 2);
            let columns = fields.iter().zip(&mut cells.parts);
            let columns = columns.map(|(field, cells)| decode_column(field.data_type(), cells));
            let structs = StructArray::try_new(fields.clone(), columns.collect::<Result<Vec<_>>>()?, None)?;
            let offsets = OffsetBuffer::from_lengths(cells.counts);
            Ok(Arc::new(MapArray::try_new(entries.clone(), offsets, structs, nulls, *sorted)?))
        }
        other => Err(Error::internal(format!("no nested key of the Arrow type {other}"))),
    }
}

/// The elements of all rows, by the parts that take turns.
struct Sized<'r> {
    counts: Vec<usize>,
    parts: Vec<Vec<&'r [u8]>>,
}

impl<'r> Sized<'r> {
    fn cut(rows: &mut [&'r [u8]], valid: &[bool], parts: usize) -> Sized<'r> {
        let mut cells = Sized { counts: Vec::with_capacity(rows.len()), parts: vec![Vec::new(); parts] };
        for (row, valid) in rows.iter_mut().zip(valid) {
            let count = if *valid { length(row) } else { 0 };
            for _ in 0..count {
                for part in &mut cells.parts {
                    let size = length(row);
                    let (cell, rest) = row.split_at(size.min(row.len()));
                    *row = rest;
                    part.push(cell);
                }
            }
            cells.counts.push(count);
        }
        cells
    }
}

/// Takes a length off the front.
fn length(row: &mut &[u8]) -> usize {
    match row.split_first_chunk::<4>() {
        Some((length, rest)) => {
            *row = rest;
            u32::from_le_bytes(*length) as usize
        }
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int32Array, Int32Builder, ListBuilder, MapBuilder, StringArray, StringBuilder};
    use arrow::compute::concat;

    use super::super::{KeyEncoder, KeyIndex};
    use super::*;

    fn lists(rows: &[Option<Vec<Option<&str>>>]) -> ArrayRef {
        let mut builder = ListBuilder::new(StringBuilder::new());
        rows.iter().for_each(|row| builder.append_option(row.clone()));
        Arc::new(builder.finish())
    }

    fn maps(rows: &[&[(&str, Option<i32>)]]) -> ArrayRef {
        let mut builder = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
        for row in rows {
            for (key, value) in *row {
                builder.keys().append_value(key);
                builder.values().append_option(*value);
            }
            builder.append(true).unwrap();
        }
        Arc::new(builder.finish())
    }

    fn rows() -> ArrayRef {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(1), None]));
        let lists = lists(&[Some(vec![Some("a"), None]), None, Some(vec![Some("a"), None]), Some(vec![])]);
        let fields = vec![
            arrow::datatypes::Field::new("n", numbers.data_type().clone(), true),
            arrow::datatypes::Field::new("l", lists.data_type().clone(), true),
        ];
        let nulls = NullBuffer::from(vec![true, true, true, false]);
        Arc::new(StructArray::new(fields.into(), vec![numbers, lists], Some(nulls)))
    }

    /// The groups of the rows, and the keys of the groups.
    fn grouped(columns: &[ArrayRef]) -> (Vec<u32>, Vec<ArrayRef>) {
        let types: Vec<_> = columns.iter().map(|column| column.data_type().clone()).collect();
        let encoder = Arc::new(KeyEncoder::new(&types).unwrap());
        let keys = encoder.encode(columns, columns[0].len()).unwrap();
        let (mut hashes, mut groups) = (Vec::new(), Vec::new());
        keys.hash_into(&mut hashes);
        let mut index = KeyIndex::new(encoder);
        index.find_or_insert(&hashes, &keys, &mut groups).unwrap();
        let keys = index.decode(&(0..index.len() as u32).collect::<Vec<_>>()).unwrap();
        (groups, keys)
    }

    #[test]
    fn nested_keys_are_found_again_and_come_back_as_they_were() {
        let (groups, keys) = grouped(&[rows()]);
        assert_eq!(groups, [0, 1, 0, 2]);
        let expected = concat(&[&rows().slice(0, 2), &rows().slice(3, 1)]).unwrap();
        assert_eq!(&keys[0], &expected);
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None, Some("x"), Some("")]));
        let (groups, keys) = grouped(&[texts.clone(), rows(), texts.clone()]);
        assert_eq!(groups, [0, 1, 0, 2]);
        assert_eq!(keys[1].as_ref(), expected.as_ref());
        assert_eq!(keys[2].as_ref(), concat(&[&texts.slice(0, 2), &texts.slice(3, 1)]).unwrap().as_ref());
    }

    #[test]
    fn maps_with_the_same_entries_are_one_key() {
        let column = maps(&[&[("a", Some(1)), ("b", None)], &[("b", None), ("a", Some(1))], &[], &[("a", None)]]);
        let (groups, keys) = grouped(std::slice::from_ref(&column));
        assert_eq!(groups, [0, 0, 1, 2]);
        assert_eq!(keys[0].slice(1, 2).as_ref(), column.slice(2, 2).as_ref());
    }
}
