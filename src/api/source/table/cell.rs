//! From a column of a batch to values of Rust's types.

use std::fmt;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, BooleanArray, StringArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
};

use crate::error::{Error, Result};
use crate::time::EventTime;
use crate::types::{DataType, Field, Type};

/// How a column lies in memory; its type is looked at once a batch.
enum Values<'a> {
    Bool(&'a BooleanArray),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    Decimal(&'a [i128], u8),
    Text(&'a StringArray),
    Bytes(&'a BinaryArray),
    /// Days since 1970, or milliseconds of the day.
    Days(&'a [i32]),
    Millis(&'a [i64]),
    Micros(&'a [i64]),
    /// Nanoseconds since 1970.
    Nanos(&'a [i128]),
    /// ARRAY, MAP, ROW.
    Nested,
}

/// A column of a batch.
pub struct Column<'a> {
    name: &'a str,
    data_type: &'a DataType,
    values: Values<'a>,
    nulls: Option<&'a NullBuffer>,
}

impl<'a> Column<'a> {
    pub(super) fn new(field: &'a Field, array: &'a ArrayRef) -> Result<Self> {
        let values = values(&field.data_type.kind, array).ok_or_else(|| {
            Error::internal(format!("column `{}` lies in memory as no {}", field.name, field.data_type))
        })?;
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        Ok(Column { name: &field.name, data_type: &field.data_type, values, nulls })
    }

    pub(super) fn name(&self) -> &str {
        self.name
    }

    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }

    pub(super) fn i64s(&self) -> Result<&'a [i64]> {
        match self.values {
            Values::I64(values) => self.without_null(values),
            _ => Err(self.mismatch("BIGINT")),
        }
    }
    pub(super) fn i32s(&self) -> Result<&'a [i32]> {
        match self.values {
            Values::I32(values) => self.without_null(values),
            _ => Err(self.mismatch("INT")),
        }
    }
    pub(super) fn f64s(&self) -> Result<&'a [f64]> {
        match self.values {
            Values::F64(values) => self.without_null(values),
            _ => Err(self.mismatch("DOUBLE")),
        }
    }
    pub(super) fn timestamps(&self) -> Result<&'a [EventTime]> {
        match self.values {
            Values::Millis(values) => self.without_null(values),
            _ => Err(self.mismatch("TIMESTAMP(3) or TIMESTAMP_LTZ(3)")),
        }
    }

    fn without_null<V>(&self, values: &'a [V]) -> Result<&'a [V]> {
        if self.nulls.is_some() { Err(self.null()) } else { Ok(values) }
    }

    #[cold]
    fn null(&self) -> Error {
        Error::data(format!("column `{}` is NULL", self.name))
            .help("read it as an Option, or give it a value with a computed column, for example COALESCE(…)")
    }

    /// `wanted`: the SQL types that could be read so.
    #[cold]
    fn mismatch(&self, wanted: &str) -> Error {
        let error = Error::usage(format!("column `{}` is {}, but is read as {wanted}", self.name, self.data_type));
        match self.values {
            Values::Nested => error.help("take what is wanted out of it with a computed column of the DDL"),
            _ => error.help(format!("read it as {}, or CAST it in a computed column of the DDL", self.rust_type())),
        }
    }

    fn rust_type(&self) -> &'static str {
        match self.values {
            Values::Bool(_) => "bool",
            Values::I8(_) => "i8",
            Values::I16(_) => "i16",
            Values::I32(_) => "i32",
            Values::Days(_) => "i32 (days since 1970, or milliseconds of the day)",
            Values::I64(_) => "i64",
            Values::Millis(_) | Values::Micros(_) | Values::Nanos(_) => "i64 (milliseconds since 1970)",
            Values::F32(_) => "f32",
            Values::F64(_) => "f64",
            Values::Decimal(..) => "Decimal",
            Values::Text(_) => "&str",
            Values::Bytes(_) => "&[u8]",
            Values::Nested => "nothing",
        }
    }
}

fn values<'a>(kind: &Type, array: &'a ArrayRef) -> Option<Values<'a>> {
    Some(match array.data_type() {
        ArrowType::Boolean => Values::Bool(array.as_boolean_opt()?),
        ArrowType::Int8 => Values::I8(array.as_primitive_opt::<Int8Type>()?.values()),
        ArrowType::Int16 => Values::I16(array.as_primitive_opt::<Int16Type>()?.values()),
        ArrowType::Int32 => Values::I32(array.as_primitive_opt::<Int32Type>()?.values()),
        ArrowType::Int64 => Values::I64(array.as_primitive_opt::<Int64Type>()?.values()),
        ArrowType::Float32 => Values::F32(array.as_primitive_opt::<Float32Type>()?.values()),
        ArrowType::Float64 => Values::F64(array.as_primitive_opt::<Float64Type>()?.values()),
        ArrowType::Decimal128(..) => {
            let unscaled = array.as_primitive_opt::<Decimal128Type>()?.values();
            match kind {
                Type::Decimal(_, scale) => Values::Decimal(unscaled, *scale),
                _ => Values::Nanos(unscaled),
            }
        }
        ArrowType::Utf8 => Values::Text(array.as_string_opt()?),
        ArrowType::Binary => Values::Bytes(array.as_binary_opt()?),
        ArrowType::Date32 => Values::Days(array.as_primitive_opt::<Date32Type>()?.values()),
        ArrowType::Time32(_) => Values::Days(array.as_primitive_opt::<Time32MillisecondType>()?.values()),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            Values::Millis(array.as_primitive_opt::<TimestampMillisecondType>()?.values())
        }
        ArrowType::Timestamp(..) => Values::Micros(array.as_primitive_opt::<TimestampMicrosecondType>()?.values()),
        _ => Values::Nested,
    })
}

/// A type as which columns may be read.
pub trait FromColumn<'a>: Sized {
    /// The value in a row that is not NULL.
    ///
    /// # Errors
    /// The column has another type.
    fn from_value(column: &Column<'a>, row: usize) -> Result<Self>;

    /// The value in a row.
    ///
    /// # Errors
    /// The column has another type, or is NULL.
    #[inline]
    fn from_column(column: &Column<'a>, row: usize) -> Result<Self> {
        if column.is_null(row) { Err(column.null()) } else { Self::from_value(column, row) }
    }
}

impl<'a, V: FromColumn<'a>> FromColumn<'a> for Option<V> {
    #[inline]
    fn from_value(column: &Column<'a>, row: usize) -> Result<Self> {
        V::from_value(column, row).map(Some)
    }
    #[inline]
    fn from_column(column: &Column<'a>, row: usize) -> Result<Self> {
        if column.is_null(row) { Ok(None) } else { Self::from_value(column, row) }
    }
}

/// Reads a type from the ways in which columns lie in memory.
macro_rules! from_column {
    ($rust:ty, $wanted:literal, |$row:ident| $($values:pat => $value:expr),+) => {
        impl<'a> FromColumn<'a> for $rust {
            #[inline]
            fn from_value(column: &Column<'a>, $row: usize) -> Result<Self> {
                match &column.values {
                    $($values => Ok($value),)+
                    _ => Err(column.mismatch($wanted)),
                }
            }
        }
    };
}

from_column!(bool, "bool", |row| Values::Bool(values) => values.value(row));
from_column!(i8, "i8", |row| Values::I8(values) => values[row]);
from_column!(i16, "i16", |row| Values::I16(values) => values[row], Values::I8(values) => values[row].into());
from_column!(i32, "i32", |row|
    Values::I32(values) | Values::Days(values) => values[row],
    Values::I16(values) => values[row].into(),
    Values::I8(values) => values[row].into());
from_column!(i64, "i64", |row|
    Values::I64(values) | Values::Millis(values) => values[row],
    Values::I32(values) => values[row].into(),
    Values::Micros(values) => values[row].div_euclid(1_000),
    Values::Nanos(values) => values[row].div_euclid(1_000_000) as i64,
    Values::I16(values) => values[row].into(),
    Values::I8(values) => values[row].into());
from_column!(f32, "f32", |row| Values::F32(values) => values[row]);
from_column!(f64, "f64", |row| Values::F64(values) => values[row], Values::F32(values) => values[row].into());
from_column!(&'a str, "&str", |row| Values::Text(values) => values.value(row));
from_column!(String, "String", |row| Values::Text(values) => values.value(row).to_string());
from_column!(&'a [u8], "&[u8]", |row| Values::Bytes(values) => values.value(row));
from_column!(Decimal, "Decimal", |row|
    Values::Decimal(values, scale) => Decimal { unscaled: values[row], scale: *scale });

/// A DECIMAL: `unscaled` divided by ten to the power of `scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    pub unscaled: i128,
    pub scale: u8,
}

impl Decimal {
    /// The nearest `f64`, or one beside it.
    pub fn to_f64(self) -> f64 {
        self.unscaled as f64 / 10f64.powi(i32::from(self.scale))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:0width$}", self.unscaled.unsigned_abs(), width = usize::from(self.scale) + 1);
        let (whole, fraction) = digits.split_at(digits.len() - usize::from(self.scale));
        let (sign, point) = (if self.unscaled < 0 { "-" } else { "" }, if fraction.is_empty() { "" } else { "." });
        write!(f, "{sign}{whole}{point}{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_print_all_their_digits() {
        let print = |unscaled, scale| Decimal { unscaled, scale }.to_string();
        assert_eq!([print(-5, 3), print(1200, 2), print(7, 0)], ["-0.005", "12.00", "7"]);
        assert!((Decimal { unscaled: -5, scale: 3 }.to_f64() + 0.005).abs() < 1e-12);
    }
}
