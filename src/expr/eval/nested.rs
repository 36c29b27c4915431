//! Values of ROW, ARRAY and MAP: put together and taken apart.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, NullBufferBuilder, StructArray, UInt32Array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{interleave, nullif, take};
use arrow::datatypes::{DataType as ArrowType, Int32Type};

use super::function::Nested;
use super::same::Comparable;
use super::value::{Read, Value, build, numbers};
use super::{collect, split};
use crate::error::{Error, Result};
use crate::types::Type;

/// The kernels of nested values. `kinds`: the types of the arguments, `to` the type of the result.
pub(super) fn nested(function: Nested, values: &[Value], kinds: &[&Type], to: &Type, count: usize) -> Result<ArrayRef> {
    match (function, values) {
        (Nested::Field(index), [row]) => field(row.array(), index),
        (Nested::Element, [array, index]) => element(array, index, count),
        (Nested::Lookup, [map, key]) => lookup(map, key, kinds[1], count),
        (Nested::Row, fields) => row(fields, to, count),
        (Nested::Array, elements) => array(elements, to, count),
        (Nested::Map, entries) => map(entries, kinds, to, count),
        (Nested::Cardinality, [value]) => cardinality(value, kinds[0], count),
        (Nested::Single, [array]) => single(array, count),
        (Nested::SplitText, _) => split::split(values, to, count),
        (Nested::TextToMap, _) => split::to_map(values, to, count),
        _ => collect::collect(function, values, kinds, to, count),
    }
}

/// An ARRAY column, read as ranges of its elements.
pub(super) struct Lists {
    /// The elements of all rows, and no others before or behind them.
    pub elements: ArrayRef,
    offsets: Vec<usize>,
    nulls: Option<NullBuffer>,
    constant: bool,
}

impl Lists {
    pub(super) fn of(value: &Value) -> Result<Lists> {
        let lists = value.array().as_list_opt::<i32>().ok_or_else(|| wrong("ARRAY", value.array()))?;
        Ok(Lists::new(lists.values(), lists.offsets(), lists.nulls(), value.is_constant()))
    }

    fn new(elements: &ArrayRef, offsets: &OffsetBuffer<i32>, nulls: Option<&NullBuffer>, constant: bool) -> Lists {
        let first = offsets.first() as usize;
        let last = offsets.last() as usize;
        Lists {
            elements: elements.slice(first, last - first),
            offsets: offsets.iter().map(|&offset| offset as usize - first).collect(),
            nulls: nulls.cloned(),
            constant,
        }
    }

    /// Where the elements of a row are; `None` for NULL.
    pub(super) fn range(&self, row: usize) -> Option<Range<usize>> {
        let row = if self.constant { 0 } else { row };
        let valid = self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        valid.then(|| self.offsets[row]..self.offsets[row + 1])
    }

    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The ends of the rows among the elements.
    pub(super) fn offset_buffer(&self) -> OffsetBuffer<i32> {
        OffsetBuffer::from_lengths(self.offsets.windows(2).map(|ends| ends[1] - ends[0]))
    }
}

/// A MAP column, read as ranges of its keys and values.
pub(super) struct Maps {
    pub keys: ArrayRef,
    pub values: ArrayRef,
    pub lists: Lists,
}

impl Maps {
    pub(super) fn of(value: &Value) -> Result<Maps> {
        let maps = value.array().as_map_opt().ok_or_else(|| wrong("MAP", value.array()))?;
        let entries: ArrayRef = Arc::new(maps.entries().clone());
        let lists = Lists::new(&entries, maps.offsets(), maps.nulls(), value.is_constant());
        let entries = lists.elements.as_struct();
        Ok(Maps { keys: entries.column(0).clone(), values: entries.column(1).clone(), lists })
    }

    pub(super) fn range(&self, row: usize) -> Option<Range<usize>> {
        self.lists.range(row)
    }

    pub(super) fn len(&self) -> usize {
        self.lists.len()
    }
}

fn wrong(wanted: &str, array: &ArrayRef) -> Error {
    Error::internal(format!("a kernel got {} instead of {wanted}", array.data_type()))
}

/// Builds a column of ARRAYs, or the keys or values of one of MAPs, from elements of other columns.
pub(super) struct Picks {
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
    /// Number of the source and place in it.
    pub picked: Vec<(usize, usize)>,
}

impl Picks {
    pub(super) fn new(count: usize) -> Picks {
        let mut offsets = Vec::with_capacity(count + 1);
        offsets.push(0);
        Picks { offsets, nulls: NullBufferBuilder::new(count), picked: Vec::new() }
    }

    /// Ends the row.
    pub(super) fn end(&mut self, valid: bool) -> Result<()> {
        let end = i32::try_from(self.picked.len())
            .map_err(|_| Error::data("the ARRAYs of one batch have more than 2,147,483,647 elements"))?;
        self.offsets.push(end);
        self.nulls.append(valid);
        Ok(())
    }

    /// Ends the row with some picks; `None`: NULL.
    pub(super) fn end_with(&mut self, picks: Option<impl Iterator<Item = (usize, usize)>>) -> Result<()> {
        let valid = picks.is_some();
        self.picked.extend(picks.into_iter().flatten());
        self.end(valid)
    }

    /// The column, of ARRAY type `to`.
    pub(super) fn lists(mut self, sources: &[&dyn Array], to: &Type) -> Result<ArrayRef> {
        let ArrowType::List(field) = to.to_arrow() else {
            return Err(Error::internal(format!("an ARRAY of type {to}")));
        };
        let elements = relabel(interleave(sources, &self.picked)?, field.data_type())?;
        let offsets = OffsetBuffer::new(self.offsets.into());
        Ok(Arc::new(ListArray::try_new(field, offsets, elements, self.nulls.finish())?))
    }
}

/// Builds a column of MAPs from keys and values of other columns.
pub(super) struct MapPicks {
    keys: Picks,
    values: Vec<(usize, usize)>,
}

impl MapPicks {
    pub(super) fn new(count: usize) -> MapPicks {
        MapPicks { keys: Picks::new(count), values: Vec::new() }
    }

    /// Takes entries: where the key lies, and where the value.
    pub(super) fn extend(&mut self, entries: Vec<((usize, usize), (usize, usize))>) {
        for (key, value) in entries {
            self.keys.picked.push(key);
            self.values.push(value);
        }
    }

    /// Ends the row.
    pub(super) fn end(&mut self, valid: bool) -> Result<()> {
        self.keys.end(valid)
    }

    /// The column, of MAP type `to`.
    pub(super) fn maps(mut self, keys: &[&dyn Array], values: &[&dyn Array], to: &Type) -> Result<ArrayRef> {
        let keys = interleave(keys, &self.keys.picked)?;
        let values = interleave(values, &self.values)?;
        map_column(keys, values, OffsetBuffer::new(self.keys.offsets.into()), self.keys.nulls.finish(), to)
    }
}

/// A MAP column of its parts.
pub(super) fn map_column(
    keys: ArrayRef,
    values: ArrayRef,
    offsets: OffsetBuffer<i32>,
    nulls: Option<NullBuffer>,
    to: &Type,
) -> Result<ArrayRef> {
    let ArrowType::Map(entries, sorted) = to.to_arrow() else {
        return Err(Error::internal(format!("a MAP of type {to}")));
    };
    let ArrowType::Struct(fields) = entries.data_type() else {
        return Err(Error::internal("a MAP without entries"));
    };
    if keys.logical_null_count() > 0 {
        return Err(Error::data("a key of a MAP is NULL").help("give it a value: COALESCE(key, '')"));
    }
    let columns = vec![relabel(keys, fields[0].data_type())?, relabel(values, fields[1].data_type())?];
    let structs = StructArray::try_new(fields.clone(), columns, None)?;
    Ok(Arc::new(MapArray::try_new(entries, offsets, structs, nulls, sorted)?))
}

/// The same values under another Arrow type that differs in the names and nullability of fields only.
pub(super) fn relabel(array: ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(array);
    }
    let nulls = array.nulls().cloned();
    match (to, array.data_type()) {
        (ArrowType::Struct(fields), ArrowType::Struct(_)) => {
            let columns = array.as_struct().columns().iter().zip(fields);
            let columns = columns.map(|(column, field)| relabel(column.clone(), field.data_type()));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len())?))
        }
        (ArrowType::List(field), ArrowType::List(_)) => {
            let lists = array.as_list::<i32>();
            let elements = relabel(lists.values().clone(), field.data_type())?;
            Ok(Arc::new(ListArray::try_new(field.clone(), lists.offsets().clone(), elements, nulls)?))
        }
        (ArrowType::Map(field, sorted), ArrowType::Map(..)) => {
            let maps = array.as_map();
            let entries: ArrayRef = Arc::new(maps.entries().clone());
            let entries = relabel(entries, field.data_type())?.as_struct().clone();
            Ok(Arc::new(MapArray::try_new(field.clone(), maps.offsets().clone(), entries, nulls, *sorted)?))
        }
        (to, from) => Err(Error::internal(format!("{from} in the place of {to}"))),
    }
}

/// The field of a ROW; NULL where the ROW is.
pub(super) fn field(row: &ArrayRef, index: usize) -> Result<ArrayRef> {
    let rows = row.as_struct_opt().ok_or_else(|| wrong("ROW", row))?;
    let column = rows.columns().get(index).ok_or_else(|| wrong("a wider ROW", row))?;
    match rows.nulls() {
        Some(nulls) if nulls.null_count() > 0 => {
            let missing = (!nulls.inner()).into();
            Ok(nullif(column, &missing)?)
        }
        _ => Ok(column.clone()),
    }
}

/// `array[index]`, counted from 1; NULL outside.
fn element(array: &Value, index: &Value, count: usize) -> Result<ArrayRef> {
    let lists = Lists::of(array)?;
    let index = numbers::<Int32Type>(index)?;
    let places: UInt32Array = (0..count)
        .map(|row| {
            let range = lists.range(row)?;
            let at = usize::try_from(index.read(row)?).ok()?.checked_sub(1)?;
            (at < range.len()).then_some((range.start + at) as u32)
        })
        .collect();
    Ok(take(&lists.elements, &places, None)?)
}

/// `map[key]`; NULL where the key is not there.
fn lookup(map: &Value, key: &Value, kind: &Type, count: usize) -> Result<ArrayRef> {
    let maps = Maps::of(map)?;
    let rows = Comparable::of(&[&maps.keys, key.array()], kind)?;
    let at = |row: usize| if key.is_constant() { 0 } else { row };
    let places: UInt32Array = (0..count)
        .map(|row| {
            let mut range = maps.range(row)?;
            range.find(|&entry| rows.same((0, entry), (1, at(row)))).map(|entry| entry as u32)
        })
        .collect();
    Ok(take(&maps.values, &places, None)?)
}

fn row(fields: &[Value], to: &Type, count: usize) -> Result<ArrayRef> {
    let ArrowType::Struct(names) = to.to_arrow() else {
        return Err(Error::internal(format!("a ROW of type {to}")));
    };
    let columns = fields.iter().zip(&names);
    let columns = columns.map(|(value, field)| relabel(value.clone().into_array(count)?, field.data_type()));
    Ok(Arc::new(StructArray::try_new(names.clone(), columns.collect::<Result<Vec<_>>>()?, None)?))
}

fn array(elements: &[Value], to: &Type, count: usize) -> Result<ArrayRef> {
    let sources: Vec<&dyn Array> = elements.iter().map(|value| value.array().as_ref()).collect();
    let mut picks = Picks::new(count);
    for row in 0..count {
        picks.picked.extend(elements.iter().enumerate().map(|(i, value)| (i, place(value, row))));
        picks.end(true)?;
    }
    picks.lists(&sources, to)
}

/// Where the value of a row lies.
pub(super) fn place(value: &Value, row: usize) -> usize {
    if value.is_constant() { 0 } else { row }
}

/// Keys and values take turns; of equal keys the last one counts.
fn map(entries: &[Value], kinds: &[&Type], to: &Type, count: usize) -> Result<ArrayRef> {
    let keys: Vec<&Value> = entries.iter().step_by(2).collect();
    let values: Vec<&Value> = entries.iter().skip(1).step_by(2).collect();
    let arrays: Vec<&ArrayRef> = keys.iter().map(|key| key.array()).collect();
    let rows = Comparable::of(&arrays, kinds[0])?;
    let mut picks = MapPicks::new(count);
    for row in 0..count {
        let mut entries: Vec<((usize, usize), (usize, usize))> = Vec::with_capacity(keys.len());
        for (i, (key, value)) in keys.iter().zip(&values).enumerate() {
            let (key, value) = ((i, place(key, row)), (i, place(value, row)));
            match entries.iter_mut().find(|(other, _)| rows.same(*other, key)) {
                Some(entry) => entry.1 = value,
                None => entries.push((key, value)),
            }
        }
        picks.extend(entries);
        picks.end(true)?;
    }
    let keys: Vec<&dyn Array> = keys.iter().map(|key| key.array().as_ref()).collect();
    let values: Vec<&dyn Array> = values.iter().map(|value| value.array().as_ref()).collect();
    picks.maps(&keys, &values, to)
}

fn cardinality(value: &Value, kind: &Type, count: usize) -> Result<ArrayRef> {
    if let Type::Map(..) = kind {
        let maps = Maps::of(value)?;
        return build::<Int32Type>(count, |row| Ok(maps.range(row).map(|range| range.len() as i32)));
    }
    let lists = Lists::of(value)?;
    build::<Int32Type>(count, |row| Ok(lists.range(row).map(|range| range.len() as i32)))
}

/// ELEMENT: the only element of an ARRAY, NULL of an empty one.
fn single(array: &Value, count: usize) -> Result<ArrayRef> {
    let lists = Lists::of(array)?;
    let mut places = Vec::with_capacity(count);
    for row in 0..count {
        let range = lists.range(row).unwrap_or(0..0);
        if range.len() > 1 {
            return Err(Error::data(format!("ELEMENT of an ARRAY with {} elements", range.len()))
                .help("ELEMENT takes arrays of at most one element; array[1] gives the first of many"));
        }
        places.push((!range.is_empty()).then_some(range.start as u32));
    }
    Ok(take(&lists.elements, &UInt32Array::from(places), None)?)
}

/// A column of MAPs or ARRAYs has no row that takes part only by chance: elements of NULLs are left out.
pub(super) fn without_hidden(array: &ArrayRef) -> Result<ArrayRef> {
    let hidden = match array.data_type() {
        ArrowType::List(_) => hides(array.as_list::<i32>().offsets(), array),
        ArrowType::Map(..) => hides(array.as_map().offsets(), array),
        _ => false,
    };
    if !hidden {
        return Ok(array.clone());
    }
    let all: UInt32Array = (0..array.len()).map(|row| array.is_valid(row).then_some(row as u32)).collect();
    Ok(take(array, &all, None)?)
}

fn hides(offsets: &OffsetBuffer<i32>, array: &ArrayRef) -> bool {
    array.null_count() > 0 && offsets.windows(2).enumerate().any(|(row, ends)| ends[0] < ends[1] && array.is_null(row))
}
