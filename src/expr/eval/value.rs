//! What an expression evaluates to, and how kernels read and build columns.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, BooleanBuilder, Datum, PrimitiveArray, PrimitiveBuilder,
    StringArray, StringBuilder, UInt32Array, make_array,
};
use arrow::compute::take;

use crate::error::{Error, Result};
use crate::types::Type;

/// A column of values, or one value for all rows.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Array(ArrayRef),
    /// One row long.
    Constant(ArrayRef),
}

impl Datum for Value {
    fn get(&self) -> (&dyn Array, bool) {
        (self.array().as_ref(), self.is_constant())
    }
}

impl Value {
    pub(super) fn array(&self) -> &ArrayRef {
        match self {
            Value::Array(array) | Value::Constant(array) => array,
        }
    }
    pub(super) fn is_constant(&self) -> bool {
        matches!(self, Value::Constant(_))
    }
    /// The column, constants spread over all rows.
    pub(super) fn into_array(self, count: usize) -> Result<ArrayRef> {
        match self {
            Value::Array(array) => Ok(array),
            Value::Constant(array) if count == 1 => Ok(array),
            Value::Constant(array) => Ok(take(&array, &UInt32Array::from(vec![0u32; count]), None)?),
        }
    }
    /// A value of the same kind of shape.
    pub(super) fn with(&self, array: ArrayRef) -> Value {
        match self {
            Value::Array(_) => Value::Array(array),
            Value::Constant(_) => Value::Constant(array),
        }
    }
    /// Rows stored: 1 for a constant.
    pub(super) fn len(&self) -> usize {
        self.array().len()
    }
}

/// Reads one value a row, whatever the shape.
pub(super) trait Read {
    type Item;
    fn read(&self, row: usize) -> Option<Self::Item>;
}

/// Reads numbers, dates and times.
pub(super) struct Numbers<'a, T: ArrowPrimitiveType> {
    array: &'a PrimitiveArray<T>,
    constant: bool,
}

/// Reads strings.
pub(super) struct Texts<'a> {
    array: &'a StringArray,
    constant: bool,
}

/// Reads booleans.
pub(super) struct Flags<'a> {
    array: &'a BooleanArray,
    constant: bool,
}

fn downcast<A: 'static>(value: &Value) -> Result<&A> {
    value.array().as_any().downcast_ref::<A>().ok_or_else(|| {
        Error::internal(format!("a kernel got {} instead of {}", value.array().data_type(), std::any::type_name::<A>()))
    })
}

/// Numbers of the Arrow type `T`.
pub(super) fn numbers<T: ArrowPrimitiveType>(value: &Value) -> Result<Numbers<'_, T>> {
    Ok(Numbers { array: downcast(value)?, constant: value.is_constant() })
}

/// Strings.
pub(super) fn texts(value: &Value) -> Result<Texts<'_>> {
    Ok(Texts { array: downcast(value)?, constant: value.is_constant() })
}

/// Booleans.
pub(super) fn flags(value: &Value) -> Result<Flags<'_>> {
    Ok(Flags { array: downcast(value)?, constant: value.is_constant() })
}

impl<T: ArrowPrimitiveType> Read for Numbers<'_, T> {
    type Item = T::Native;
    #[inline]
    fn read(&self, row: usize) -> Option<T::Native> {
        let row = if self.constant { 0 } else { row };
        (!self.array.is_null(row)).then(|| self.array.value(row))
    }
}

impl<'a> Read for Texts<'a> {
    type Item = &'a str;
    #[inline]
    fn read(&self, row: usize) -> Option<&'a str> {
        let row = if self.constant { 0 } else { row };
        (!self.array.is_null(row)).then(|| self.array.value(row))
    }
}

impl Texts<'_> {
    /// The only value, where it is the same for all rows.
    pub(super) fn constant(&self) -> Option<Option<&str>> {
        self.constant.then(|| (!self.array.is_null(0)).then(|| self.array.value(0)))
    }
}

impl Read for Flags<'_> {
    type Item = bool;
    #[inline]
    fn read(&self, row: usize) -> Option<bool> {
        let row = if self.constant { 0 } else { row };
        (!self.array.is_null(row)).then(|| self.array.value(row))
    }
}

/// Builds a column of numbers from one closure call a row.
pub(super) fn build<T: ArrowPrimitiveType>(
    count: usize,
    mut each: impl FnMut(usize) -> Result<Option<T::Native>>,
) -> Result<ArrayRef> {
    let mut builder = PrimitiveBuilder::<T>::with_capacity(count);
    for row in 0..count {
        builder.append_option(each(row)?);
    }
    Ok(Arc::new(builder.finish()))
}

/// Builds a column of booleans.
pub(super) fn build_flags(count: usize, mut each: impl FnMut(usize) -> Result<Option<bool>>) -> Result<ArrayRef> {
    let mut builder = BooleanBuilder::with_capacity(count);
    for row in 0..count {
        builder.append_option(each(row)?);
    }
    Ok(Arc::new(builder.finish()))
}

/// Builds a column of strings.
pub(super) fn build_texts<S: AsRef<str>>(
    count: usize,
    mut each: impl FnMut(usize) -> Result<Option<S>>,
) -> Result<ArrayRef> {
    let mut builder = StringBuilder::with_capacity(count, count * 8);
    for row in 0..count {
        builder.append_option(each(row)?);
    }
    Ok(Arc::new(builder.finish()))
}

/// The same bits under the Arrow type of `kind`, which must have the same layout.
pub(super) fn retype(array: ArrayRef, kind: &Type) -> Result<ArrayRef> {
    let wanted = kind.to_arrow();
    if *array.data_type() == wanted {
        return Ok(array);
    }
    Ok(make_array(array.to_data().into_builder().data_type(wanted).build()?))
}
