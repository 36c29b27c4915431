//! Columns of ROW, ARRAY and MAP under construction: columns within a column.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray, MapArray, StructArray, UInt32Array};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, FieldRef, Fields};

use super::column::{Column, Values, inner, take_offsets};
use crate::error::{Error, Result};
use crate::types::{Field, Type};

/// A column of columns.
#[derive(Debug)]
pub(crate) enum Nested {
    Row(RowColumn),
    Array(ArrayColumn),
    Map(MapColumn),
}

/// One column a field.
#[derive(Debug)]
pub(crate) struct RowColumn {
    pub rows: usize,
    pub columns: Vec<Column>,
    pub names: Names,
    fields: Fields,
}

/// Elements, end to end.
#[derive(Debug)]
pub(crate) struct ArrayColumn {
    pub elements: Column,
    /// Where each array ends, after a leading 0.
    offsets: Vec<i32>,
    field: FieldRef,
}

/// Keys and values, end to end.
#[derive(Debug)]
pub(crate) struct MapColumn {
    pub keys: Column,
    pub values: Column,
    /// Where each map ends, after a leading 0.
    offsets: Vec<i32>,
    /// Entries whose key came again, ascending.
    dropped: Vec<u32>,
    entries: FieldRef,
}

/// The positions of fields by their names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: Vec<String>,
    positions: HashMap<Vec<u8>, usize>,
}

impl Names {
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<String> = names.map(str::to_string).collect();
        let positions = names.iter().enumerate().map(|(at, name)| (name.as_bytes().to_vec(), at)).collect();
        Names { names, positions }
    }

    /// The position of `name`; `guess` is looked at first.
    #[inline]
    pub fn position(&self, name: &[u8], guess: usize) -> Option<usize> {
        if self.names.get(guess).is_some_and(|guessed| guessed.as_bytes() == name) {
            return Some(guess);
        }
        self.positions.get(name).copied()
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn get(&self, position: usize) -> &str {
        self.names.get(position).map_or("", String::as_str)
    }
}

impl Nested {
    pub fn new(kind: &Type) -> Option<Self> {
        match (kind, kind.to_arrow()) {
            (Type::Row(fields), DataType::Struct(arrow)) => Some(Nested::Row(RowColumn::new(fields, arrow)?)),
            (Type::Array(element), DataType::List(field)) => {
                let elements = Column::new(&element.kind)?;
                Some(Nested::Array(ArrayColumn { elements, offsets: vec![0], field }))
            }
            (kind, DataType::Map(entries, _)) => {
                let (key, value) = kind.entries()?;
                let (keys, values) = (Column::new(key)?, Column::new(value)?);
                Some(Nested::Map(MapColumn { keys, values, offsets: vec![0], dropped: Vec::new(), entries }))
            }
            _ => None,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Nested::Row(row) => row.rows,
            Nested::Array(array) => array.offsets.len() - 1,
            Nested::Map(map) => map.offsets.len() - 1,
        }
    }

    /// Takes back all rows from `rows` on, and what an unfinished one has appended.
    pub fn truncate(&mut self, rows: usize) {
        match self {
            Nested::Row(row) => {
                row.rows = row.rows.min(rows);
                row.columns.iter_mut().for_each(|column| column.truncate(row.rows));
            }
            Nested::Array(array) => {
                array.offsets.truncate(rows + 1);
                array.elements.truncate(array.start());
            }
            Nested::Map(map) => {
                map.offsets.truncate(rows + 1);
                let end = map.start();
                map.keys.truncate(end);
                map.values.truncate(end);
                while map.dropped.last().is_some_and(|entry| *entry as usize >= end) {
                    map.dropped.pop();
                }
            }
        }
    }

    /// Appends what stands under a NULL.
    pub fn push_null(&mut self) {
        match self {
            Nested::Row(row) => {
                row.columns.iter_mut().for_each(Column::push_null);
                row.rows += 1;
            }
            Nested::Array(array) => array.end_value(),
            Nested::Map(map) => map.end_value(),
        }
    }

    pub fn text_bytes(&self) -> usize {
        match self {
            Nested::Row(row) => row.columns.iter().map(Column::text_bytes).sum(),
            Nested::Array(array) => array.elements.text_bytes().max(array.elements.len()),
            Nested::Map(map) => map.keys.text_bytes() + map.values.text_bytes(),
        }
    }

    pub fn take(&mut self, nulls: Option<NullBuffer>, rows: usize) -> Result<ArrayRef> {
        Ok(match self {
            Nested::Row(row) => Arc::new(row.take(nulls, rows)?),
            Nested::Array(array) => {
                let offsets = take_offsets(&mut array.offsets, rows);
                let elements = array.elements.take(rows)?;
                Arc::new(ListArray::try_new(array.field.clone(), offsets, elements, nulls).map_err(inner)?)
            }
            Nested::Map(map) => Arc::new(map.take(nulls, rows)?),
        })
    }
}

impl RowColumn {
    fn new(fields: &[Field], arrow: Fields) -> Option<Self> {
        let columns = fields.iter().map(|field| Column::new(&field.data_type.kind)).collect::<Option<Vec<_>>>()?;
        let names = Names::new(fields.iter().map(|field| field.name.as_str()));
        Some(RowColumn { rows: 0, columns, names, fields: arrow })
    }

    fn take(&mut self, nulls: Option<NullBuffer>, rows: usize) -> Result<StructArray> {
        let length = std::mem::take(&mut self.rows);
        let arrays = self.columns.iter_mut().map(|column| column.take(rows)).collect::<Result<Vec<_>>>()?;
        StructArray::try_new_with_length(self.fields.clone(), arrays, nulls, length).map_err(inner)
    }
}

impl ArrayColumn {
    /// Where the elements of the next array start.
    pub fn start(&self) -> usize {
        self.offsets.last().map_or(0, |end| *end as usize)
    }

    /// Ends the array whose elements were appended.
    pub fn end_value(&mut self) {
        self.offsets.push(self.elements.len() as i32);
    }
}

impl MapColumn {
    fn start(&self) -> usize {
        self.offsets.last().map_or(0, |end| *end as usize)
    }

    /// Ends the map whose entries were appended. Of entries with the same key the last one counts.
    pub fn end_value(&mut self) {
        let (start, end) = (self.start(), self.keys.len());
        if end - start > 1
            && let Values::Text(keys) = &self.keys.values
        {
            let mut order: Vec<usize> = (start..end).collect();
            order.sort_by(|a, b| keys.get(*a).cmp(keys.get(*b)).then(a.cmp(b)));
            let again = order.windows(2).filter(|pair| keys.get(pair[0]) == keys.get(pair[1]));
            let first = self.dropped.len();
            self.dropped.extend(again.map(|pair| pair[0] as u32));
            self.dropped[first..].sort_unstable();
        }
        self.offsets.push(end as i32);
    }

    fn take(&mut self, nulls: Option<NullBuffer>, rows: usize) -> Result<MapArray> {
        let mut offsets = take_offsets(&mut self.offsets, rows);
        let length = self.keys.len();
        let mut columns = vec![self.keys.take(rows)?, self.values.take(rows)?];
        if !self.dropped.is_empty() {
            let dropped = std::mem::take(&mut self.dropped);
            let before = |entry: i32| dropped.partition_point(|drop| (*drop as usize) < entry as usize) as i32;
            offsets = OffsetBuffer::new(offsets.iter().map(|end| end - before(*end)).collect::<ScalarBuffer<i32>>());
            let kept: UInt32Array =
                (0..length as u32).filter(|entry| dropped.binary_search(entry).is_err()).collect::<Vec<_>>().into();
            for column in &mut columns {
                *column = arrow::compute::take(column, &kept, None).map_err(inner)?;
            }
        }
        let DataType::Struct(fields) = self.entries.data_type() else {
            return Err(Error::internal("a map without entries"));
        };
        let length = columns.first().map_or(0, |keys| keys.len());
        let entries = StructArray::try_new_with_length(fields.clone(), columns, None, length).map_err(inner)?;
        MapArray::try_new(self.entries.clone(), offsets, entries, nulls, false).map_err(inner)
    }
}
