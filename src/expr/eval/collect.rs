//! Functions of ARRAY and MAP. Elements are the same if `IS NOT DISTINCT FROM` says so: NULL is a value, too.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ListArray, StructArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type, Int32Type};
use arrow::row::Row;

use super::function::Nested;
use super::nested::{Lists, Maps, Picks, place, relabel};
use super::same::Comparable;
use super::value::{Read, Value, build, build_flags, build_texts, flags, numbers, texts};
use crate::error::{Error, Result};
use crate::types::Type;

pub(super) fn collect(
    function: Nested,
    values: &[Value],
    kinds: &[&Type],
    to: &Type,
    count: usize,
) -> Result<ArrayRef> {
    match (function, values) {
        (Nested::Contains | Nested::Position, [array, needle]) => {
            let found = Search::new(array, needle, kinds[1])?;
            if function == Nested::Contains {
                return build_flags(count, |row| Ok(found.at(row).map(|place| place > 0)));
            }
            build::<Int32Type>(count, |row| Ok(found.at(row).filter(|_| !found.is_null(row))))
        }
        (Nested::Remove, [array, needle]) => remove(array, needle, kinds[1], to, count),
        (Nested::Distinct, [array]) => sets(&[array], kinds, to, count, |_, _| true),
        (Nested::Union, [_, _]) => sets(&values.iter().collect::<Vec<_>>(), kinds, to, count, |_, _| true),
        (Nested::Intersect | Nested::Except, [array, other]) => {
            let wanted = function == Nested::Intersect;
            let others = Lists::of(other)?;
            let rows = Comparable::of(&[&others.elements], element_of(kinds)?)?;
            let other_set = |row: usize| {
                let range = others.range(row)?;
                Some(range.map(|at| rows.at((0, at)).as_ref().to_vec()).collect::<HashSet<_>>())
            };
            let sets_of_rows: Vec<_> = (0..others.len()).map(other_set).collect();
            let of = |row: usize| sets_of_rows[place(other, row)].as_ref();
            let keep = |row: usize, element: &Row| of(row).is_some_and(|set| set.contains(element.as_ref()) == wanted);
            let result = sets(&[array], kinds, to, count, keep)?;
            let missing = (0..count).map(|row| Some(of(row).is_none())).collect();
            Ok(arrow::compute::nullif(&result, &missing)?)
        }
        (Nested::Slice, [array, bounds @ ..]) => slice(array, bounds, to, count),
        (Nested::Reverse, [array]) => reorder(array, to, count, |_, range| Ok(Some(range.rev().collect()))),
        (Nested::Sort, [array, ascending, nulls_first]) => sort(array, ascending, nulls_first, kinds, to, count),
        (Nested::Min | Nested::Max, [array]) => extreme(array, function == Nested::Max, kinds, count),
        (Nested::Append | Nested::Prepend, [array, element]) => {
            add(array, element, function == Nested::Prepend, to, count)
        }
        (Nested::Concat, arrays) => concat(arrays, to, count),
        (Nested::Join, [array, rest @ ..]) => join(array, rest, count),
        (Nested::Keys | Nested::Values | Nested::Entries, [map]) => parts(function, map, to, count),
        (Nested::FromArrays, [keys, values]) => from_arrays(keys, values, to, count),
        (Nested::MapUnion, maps) => union(maps, to, count),
        _ => Err(Error::internal(format!("{function:?} of {} arguments", values.len()))),
    }
}

/// The element type of the first argument.
fn element_of<'t>(kinds: &[&'t Type]) -> Result<&'t Type> {
    match kinds.first() {
        Some(Type::Array(element)) => Ok(&element.kind),
        _ => Err(Error::internal(format!("a function of ARRAY over {kinds:?}"))),
    }
}

/// Looks for one value in the array of each row.
struct Search<'a> {
    lists: Lists,
    needle: &'a Value,
    rows: Comparable,
}

impl<'a> Search<'a> {
    fn new(array: &Value, needle: &'a Value, kind: &Type) -> Result<Self> {
        let lists = Lists::of(array)?;
        let rows = Comparable::of(&[&lists.elements, needle.array()], kind)?;
        Ok(Search { lists, needle, rows })
    }

    fn matches(&self, row: usize, element: usize) -> bool {
        self.rows.same((0, element), (1, place(self.needle, row)))
    }

    /// The place of the value counted from 1, 0 if it is not there; `None` if there is no array.
    fn at(&self, row: usize) -> Option<i32> {
        let mut range = self.lists.range(row)?;
        Some(range.position(|element| self.matches(row, element)).map_or(0, |at| at as i32 + 1))
    }

    fn is_null(&self, row: usize) -> bool {
        self.needle.array().is_null(place(self.needle, row))
    }
}

fn remove(array: &Value, needle: &Value, kind: &Type, to: &Type, count: usize) -> Result<ArrayRef> {
    let search = Search::new(array, needle, kind)?;
    let mut picks = Picks::new(count);
    for row in 0..count {
        let range = search.lists.range(row);
        picks.end_with(range.map(|range| range.filter(|at| !search.matches(row, *at)).map(|at| (0, at))))?;
    }
    picks.lists(&[search.lists.elements.as_ref()], to)
}

/// The different elements of one or more arrays in the order of their first places, as far as `keep` says.
fn sets(
    arrays: &[&Value],
    kinds: &[&Type],
    to: &Type,
    count: usize,
    keep: impl Fn(usize, &Row) -> bool,
) -> Result<ArrayRef> {
    let lists = arrays.iter().map(|array| Lists::of(array)).collect::<Result<Vec<_>>>()?;
    let elements: Vec<&ArrayRef> = lists.iter().map(|lists| &lists.elements).collect();
    let rows = Comparable::of(&elements, element_of(kinds)?)?;
    let mut picks = Picks::new(count);
    let mut seen = HashSet::new();
    for row in 0..count {
        seen.clear();
        let ranges: Option<Vec<Range<usize>>> = lists.iter().map(|lists| lists.range(row)).collect();
        let valid = ranges.is_some();
        for (source, range) in ranges.into_iter().flatten().enumerate() {
            for at in range {
                let element = rows.at((source, at));
                if keep(row, &element) && seen.insert(element) {
                    picks.picked.push((source, at));
                }
            }
        }
        picks.end(valid)?;
    }
    let sources: Vec<&dyn Array> = elements.iter().map(|array| array.as_ref()).collect();
    picks.lists(&sources, to)
}

/// Some elements of each array in another order; `None`: NULL.
fn reorder(
    array: &Value,
    to: &Type,
    count: usize,
    mut order: impl FnMut(usize, Range<usize>) -> Result<Option<Vec<usize>>>,
) -> Result<ArrayRef> {
    let lists = Lists::of(array)?;
    let mut picks = Picks::new(count);
    for row in 0..count {
        let ordered = match lists.range(row) {
            Some(range) => order(row, range)?,
            None => None,
        };
        picks.end_with(ordered.map(|places| places.into_iter().map(|at| (0, at))))?;
    }
    picks.lists(&[lists.elements.as_ref()], to)
}

/// ARRAY_SLICE: bounds count from 1, negative ones from the end; both belong to the slice.
fn slice(array: &Value, bounds: &[Value], to: &Type, count: usize) -> Result<ArrayRef> {
    let bounds = bounds.iter().map(numbers::<Int32Type>).collect::<Result<Vec<_>>>()?;
    reorder(array, to, count, |row, range| {
        let length = range.len() as i64;
        let bound = |at: usize, missing: i64| match bounds.get(at) {
            Some(bound) => bound.read(row).map(i64::from),
            None => Some(missing),
        };
        let (Some(start), Some(end)) = (bound(0, 1), bound(1, length)) else { return Ok(None) };
        let from_end = |bound: i64| if bound < 0 { bound + length + 1 } else { bound };
        // An end of 0 is the first element, too.
        let end = match from_end(end) {
            0 => 1,
            end => end.min(length),
        };
        let (start, end) = (from_end(start).max(1), end.min(length));
        let places = (start..=end).map(|at| range.start + at as usize - 1);
        Ok(Some(places.collect()))
    })
}

fn sort(
    array: &Value,
    ascending: &Value,
    nulls_first: &Value,
    kinds: &[&Type],
    to: &Type,
    count: usize,
) -> Result<ArrayRef> {
    let lists = Lists::of(array)?;
    let rows = Comparable::of(&[&lists.elements], element_of(kinds)?)?;
    let (ascending, nulls_first) = (flags(ascending)?, flags(nulls_first)?);
    reorder(array, to, count, |row, range| {
        let (Some(ascending), Some(nulls_first)) = (ascending.read(row), nulls_first.read(row)) else {
            return Ok(None);
        };
        let (nulls, mut places): (Vec<usize>, Vec<usize>) = range.partition(|at| lists.elements.is_null(*at));
        places.sort_by_key(|at| rows.at((0, *at)));
        if !ascending {
            places.reverse();
        }
        Ok(Some(if nulls_first { [nulls, places].concat() } else { [places, nulls].concat() }))
    })
}

/// ARRAY_MIN or ARRAY_MAX of what is not NULL.
fn extreme(array: &Value, max: bool, kinds: &[&Type], count: usize) -> Result<ArrayRef> {
    let lists = Lists::of(array)?;
    let rows = Comparable::of(&[&lists.elements], element_of(kinds)?)?;
    let elements = Value::Array(lists.elements.clone());
    // As Java's `<` and `>`: a NaN that comes first stays, a later one is passed over.
    let is_nan: Box<dyn Fn(usize) -> bool> = match element_of(kinds)? {
        Type::Float => {
            let numbers = numbers::<Float32Type>(&elements)?;
            Box::new(move |at| numbers.read(at).is_some_and(f32::is_nan))
        }
        Type::Double => {
            let numbers = numbers::<Float64Type>(&elements)?;
            Box::new(move |at| numbers.read(at).is_some_and(f64::is_nan))
        }
        _ => Box::new(|_| false),
    };
    let better = |best: usize, at: usize| {
        let (a, b) = (rows.at((0, at)), rows.at((0, best)));
        let wins = !is_nan(at) && !is_nan(best) && if max { a > b } else { a < b };
        if wins { at } else { best }
    };
    let best = |row: usize| {
        let places = lists.range(row)?.filter(|at| lists.elements.is_valid(*at));
        places.reduce(better).map(|at| at as u32)
    };
    let places: UInt32Array = (0..count).map(best).collect();
    Ok(take(&lists.elements, &places, None)?)
}

fn add(array: &Value, element: &Value, before: bool, to: &Type, count: usize) -> Result<ArrayRef> {
    let lists = Lists::of(array)?;
    let mut picks = Picks::new(count);
    for row in 0..count {
        let added = (1, place(element, row));
        picks.end_with(lists.range(row).map(|range| {
            let first = before.then_some(added);
            let last = (!before).then_some(added);
            first.into_iter().chain(range.map(|at| (0, at))).chain(last)
        }))?;
    }
    picks.lists(&[lists.elements.as_ref(), element.array().as_ref()], to)
}

fn concat(arrays: &[Value], to: &Type, count: usize) -> Result<ArrayRef> {
    let lists = arrays.iter().map(Lists::of).collect::<Result<Vec<_>>>()?;
    let mut picks = Picks::new(count);
    for row in 0..count {
        let ranges: Option<Vec<Range<usize>>> = lists.iter().map(|lists| lists.range(row)).collect();
        let places = |(source, range): (usize, Range<usize>)| range.map(move |at| (source, at));
        picks.end_with(ranges.map(|ranges| ranges.into_iter().enumerate().flat_map(places)))?;
    }
    let sources: Vec<&dyn Array> = lists.iter().map(|lists| lists.elements.as_ref()).collect();
    picks.lists(&sources, to)
}

/// ARRAY_JOIN: NULLs are left out, or replaced.
fn join(array: &Value, rest: &[Value], count: usize) -> Result<ArrayRef> {
    let lists = Lists::of(array)?;
    let elements = Value::Array(lists.elements.clone());
    let elements = texts(&elements)?;
    let rest = rest.iter().map(texts).collect::<Result<Vec<_>>>()?;
    build_texts(count, |row| {
        let read: Option<Vec<&str>> = rest.iter().map(|texts| texts.read(row)).collect();
        let (Some(range), Some(rest)) = (lists.range(row), read) else { return Ok(None) };
        let Some((delimiter, replacement)) = rest.split_first() else { return Ok(None) };
        let shown: Vec<&str> = range.filter_map(|at| elements.read(at).or(replacement.first().copied())).collect();
        Ok(Some(shown.join(delimiter)))
    })
}

/// The keys, values or entries of a MAP as an ARRAY.
fn parts(function: Nested, map: &Value, to: &Type, count: usize) -> Result<ArrayRef> {
    let maps = Maps::of(map)?;
    let ArrowType::List(field) = to.to_arrow() else {
        return Err(Error::internal(format!("an ARRAY of type {to}")));
    };
    let elements: ArrayRef = match function {
        Nested::Keys => maps.keys.clone(),
        Nested::Values => maps.values.clone(),
        _ => {
            let ArrowType::Struct(names) = field.data_type() else {
                return Err(Error::internal("entries that are no ROWs"));
            };
            let columns = [maps.keys.clone(), maps.values.clone()].into_iter().zip(names);
            let columns = columns.map(|(column, name)| relabel(column, name.data_type()));
            Arc::new(StructArray::try_new(names.clone(), columns.collect::<Result<Vec<_>>>()?, None)?)
        }
    };
    let elements = relabel(elements, field.data_type())?;
    let lists = ListArray::try_new(field, maps.lists.offset_buffer(), elements, map.array().nulls().cloned())?;
    map.with(Arc::new(lists)).into_array(count)
}

/// Where each different key of a row lies first, and its last value.
#[derive(Default)]
struct Entries<'r> {
    at: HashMap<Row<'r>, usize>,
    picked: Vec<((usize, usize), (usize, usize))>,
}

impl<'r> Entries<'r> {
    fn put(&mut self, row: Row<'r>, key: (usize, usize), value: (usize, usize)) {
        match self.at.get(&row) {
            Some(at) => self.picked[*at].1 = value,
            None => {
                self.at.insert(row, self.picked.len());
                self.picked.push((key, value));
            }
        }
    }
}

fn from_arrays(keys: &Value, values: &Value, to: &Type, count: usize) -> Result<ArrayRef> {
    let (keys, values) = (Lists::of(keys)?, Lists::of(values)?);
    let Type::Map(key, _) = to else {
        return Err(Error::internal(format!("a MAP of type {to}")));
    };
    let rows = Comparable::of(&[&keys.elements], &key.kind)?;
    let mut picks = super::nested::MapPicks::new(count);
    for row in 0..count {
        let (Some(names), Some(range)) = (keys.range(row), values.range(row)) else {
            picks.end(false)?;
            continue;
        };
        if names.len() != range.len() {
            let (names, values) = (names.len(), range.len());
            return Err(Error::data(format!("MAP_FROM_ARRAYS of {names} keys and {values} values"))
                .help("the two arrays need the same length"));
        }
        let mut entries = Entries::default();
        names.zip(range).for_each(|(key, value)| entries.put(rows.at((0, key)), (0, key), (0, value)));
        picks.extend(entries.picked);
        picks.end(true)?;
    }
    picks.maps(&[keys.elements.as_ref()], &[values.elements.as_ref()], to)
}

/// MAP_UNION: of equal keys the last one's value counts.
fn union(maps: &[Value], to: &Type, count: usize) -> Result<ArrayRef> {
    let maps = maps.iter().map(Maps::of).collect::<Result<Vec<_>>>()?;
    let Type::Map(key, _) = to else {
        return Err(Error::internal(format!("a MAP of type {to}")));
    };
    let keys: Vec<&ArrayRef> = maps.iter().map(|map| &map.keys).collect();
    let rows = Comparable::of(&keys, &key.kind)?;
    let mut picks = super::nested::MapPicks::new(count);
    for row in 0..count {
        let ranges: Option<Vec<Range<usize>>> = maps.iter().map(|map| map.range(row)).collect();
        let valid = ranges.is_some();
        let mut entries = Entries::default();
        for (source, range) in ranges.into_iter().flatten().enumerate() {
            range.for_each(|at| entries.put(rows.at((source, at)), (source, at), (source, at)));
        }
        picks.extend(entries.picked);
        picks.end(valid)?;
    }
    let keys: Vec<&dyn Array> = maps.iter().map(|map| map.keys.as_ref()).collect();
    let values: Vec<&dyn Array> = maps.iter().map(|map| map.values.as_ref()).collect();
    picks.maps(&keys, &values, to)
}
