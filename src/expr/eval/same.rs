//! Equality and order of values of any type.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType as ArrowType, Float32Type, Float64Type};
use arrow::row::{Row, RowConverter, Rows, SortField};

use crate::error::{Error, Result};
use crate::types::Type;

/// Columns of one type as bytes that are equal, and ordered, as the values are. NULL equals NULL and comes
/// first, NaN equals NaN and comes last, -0.0 comes before 0.0, MAPs with the same entries are equal.
pub(super) struct Comparable {
    columns: Vec<Rows>,
}

impl Comparable {
    pub(super) fn of(arrays: &[&ArrayRef], kind: &Type) -> Result<Comparable> {
        let wanted = kind.to_arrow();
        let converter = RowConverter::new(vec![SortField::new(wanted.clone())])?;
        let columns = arrays.iter().map(|array| {
            let array = super::nested::relabel((*array).clone(), &wanted)?;
            Ok(converter.convert_columns(&[canonical(&array)?])?)
        });
        Ok(Comparable { columns: columns.collect::<Result<Vec<_>>>()? })
    }

    /// Whether two values, each named by its column and its row, are the same.
    pub(super) fn same(&self, a: (usize, usize), b: (usize, usize)) -> bool {
        self.at(a) == self.at(b)
    }

    pub(super) fn at(&self, (column, row): (usize, usize)) -> Row<'_> {
        self.columns[column].row(row)
    }
}

/// One NaN, and the entries of MAPs in the order of their keys.
fn canonical(array: &ArrayRef) -> Result<ArrayRef> {
    let nulls = array.nulls().cloned();
    Ok(match array.data_type() {
        ArrowType::Float32 => {
            let numbers = array.as_primitive::<Float32Type>();
            Arc::new(numbers.unary::<_, Float32Type>(|x| if x.is_nan() { f32::NAN } else { x }))
        }
        ArrowType::Float64 => {
            let numbers = array.as_primitive::<Float64Type>();
            Arc::new(numbers.unary::<_, Float64Type>(|x| if x.is_nan() { f64::NAN } else { x }))
        }
        ArrowType::Struct(fields) => {
            let columns = array.as_struct().columns().iter().map(canonical).collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, array.len())?)
        }
        ArrowType::List(field) => {
            let lists = array.as_list::<i32>();
            let elements = canonical(lists.values())?;
            Arc::new(ListArray::try_new(field.clone(), lists.offsets().clone(), elements, nulls)?)
        }
        ArrowType::Map(field, sorted) => {
            let maps = array.as_map();
            let entries = canonical(&(Arc::new(maps.entries().clone()) as ArrayRef))?;
            let order = key_order(maps, &entries)?;
            let entries = take(&entries, &order, None)?;
            let entries = entries.as_struct_opt().ok_or_else(|| Error::internal("a MAP without entries"))?.clone();
            Arc::new(MapArray::try_new(field.clone(), maps.offsets().clone(), entries, nulls, *sorted)?)
        }
        _ => array.clone(),
    })
}

/// The places of the entries, sorted by key within each MAP.
fn key_order(maps: &MapArray, entries: &ArrayRef) -> Result<UInt32Array> {
    let keys = entries.as_struct().column(0);
    let converter = RowConverter::new(vec![SortField::new(keys.data_type().clone())])?;
    let keys = converter.convert_columns(std::slice::from_ref(keys))?;
    let mut order: Vec<u32> = (0..entries.len() as u32).collect();
    for ends in maps.offsets().windows(2) {
        order[ends[0] as usize..ends[1] as usize].sort_by_key(|&entry| keys.row(entry as usize));
    }
    Ok(UInt32Array::from(order))
}
