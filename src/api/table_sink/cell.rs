//! From values of Rust's types to columns of a batch.

use std::sync::Arc;

use arrow::array::{
    ArrayBuilder, ArrayRef, ArrowPrimitiveType, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder,
    Float32Builder, Float64Builder, Int8Builder, Int16Builder, Int32Builder, Int64Builder, PrimitiveBuilder,
    StringBuilder, Time32MillisecondBuilder, TimestampMicrosecondBuilder, TimestampMillisecondBuilder, new_null_array,
};

use crate::api::source::Decimal;
use crate::types::Type;

/// A value for a column of a table. Made of integers, `f32`, `f64`, `bool`, `&str`, `&String`, `&[u8]`, [`Decimal`] and
/// `Option`s of these.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    Null,
    Bool(bool),
    Integer(i64),
    Single(f32),
    Double(f64),
    Decimal(Decimal),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl Cell<'_> {
    /// For messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Cell::Null => "NULL".to_string(),
            Cell::Bool(value) => format!("the bool {value}"),
            Cell::Integer(value) => format!("the integer {value}"),
            Cell::Single(value) => format!("the f32 {value}"),
            Cell::Double(value) => format!("the f64 {value}"),
            Cell::Decimal(value) => format!("the Decimal {value}"),
            Cell::Text(text) => format!("the text '{}'", text.chars().take(40).collect::<String>()),
            Cell::Bytes(bytes) => format!("{} bytes", bytes.len()),
        }
    }
}

/// Makes cells of values by a variant and a conversion.
macro_rules! cell_of {
    ($($rust:ty => |$value:ident| $cell:expr),+ $(,)?) => {
        $(impl<'a> From<$rust> for Cell<'a> {
            #[inline]
            fn from($value: $rust) -> Self {
                $cell
            }
        })+
    };
}

cell_of! {
    bool => |value| Cell::Bool(value),
    i8 => |value| Cell::Integer(value.into()),
    i16 => |value| Cell::Integer(value.into()),
    i32 => |value| Cell::Integer(value.into()),
    i64 => |value| Cell::Integer(value),
    u8 => |value| Cell::Integer(value.into()),
    u16 => |value| Cell::Integer(value.into()),
    u32 => |value| Cell::Integer(value.into()),
    f32 => |value| Cell::Single(value),
    f64 => |value| Cell::Double(value),
    Decimal => |value| Cell::Decimal(value),
    &'a str => |value| Cell::Text(value),
    &'a String => |value| Cell::Text(value),
    &'a [u8] => |value| Cell::Bytes(value),
}

impl<'a, V: Into<Cell<'a>>> From<Option<V>> for Cell<'a> {
    #[inline]
    fn from(value: Option<V>) -> Self {
        value.map_or(Cell::Null, Into::into)
    }
}

/// A column that is being made.
pub(super) enum ColumnBuilder {
    Bool(BooleanBuilder),
    I8(Int8Builder),
    I16(Int16Builder),
    I32(Int32Builder),
    I64(Int64Builder),
    F32(Float32Builder),
    F64(Float64Builder),
    /// With precision and scale.
    Decimal(Decimal128Builder, u8, u8),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Date(Date32Builder),
    Time(Time32MillisecondBuilder),
    Millis(TimestampMillisecondBuilder),
    Micros(TimestampMicrosecondBuilder),
    /// Nanoseconds since 1970.
    Nanos(Decimal128Builder),
    /// Of a type without values here: so many NULLs.
    Nulls(usize),
}

/// Does the same for every kind of column but those of NULLs.
macro_rules! for_each_kind {
    ($self:expr, $column:ident => $with_column:expr, $count:ident => $with_count:expr) => {
        match $self {
            ColumnBuilder::Bool($column) => $with_column,
            ColumnBuilder::I8($column) => $with_column,
            ColumnBuilder::I16($column) => $with_column,
            ColumnBuilder::I32($column) => $with_column,
            ColumnBuilder::I64($column) => $with_column,
            ColumnBuilder::F32($column) => $with_column,
            ColumnBuilder::F64($column) => $with_column,
            ColumnBuilder::Decimal($column, ..) => $with_column,
            ColumnBuilder::Text($column) => $with_column,
            ColumnBuilder::Bytes($column) => $with_column,
            ColumnBuilder::Date($column) => $with_column,
            ColumnBuilder::Time($column) => $with_column,
            ColumnBuilder::Millis($column) => $with_column,
            ColumnBuilder::Micros($column) => $with_column,
            ColumnBuilder::Nanos($column) => $with_column,
            ColumnBuilder::Nulls($count) => $with_count,
        }
    };
}

/// Milliseconds of a day.
const DAY_MS: i32 = 86_400_000;

impl ColumnBuilder {
    pub fn new(kind: &Type) -> Self {
        match kind {
            Type::Boolean => ColumnBuilder::Bool(BooleanBuilder::new()),
            Type::TinyInt => ColumnBuilder::I8(Int8Builder::new()),
            Type::SmallInt => ColumnBuilder::I16(Int16Builder::new()),
            Type::Int => ColumnBuilder::I32(Int32Builder::new()),
            Type::BigInt => ColumnBuilder::I64(Int64Builder::new()),
            Type::Float => ColumnBuilder::F32(Float32Builder::new()),
            Type::Double => ColumnBuilder::F64(Float64Builder::new()),
            Type::Decimal(precision, scale) => {
                let builder = Decimal128Builder::new().with_data_type(kind.to_arrow());
                ColumnBuilder::Decimal(builder, *precision, *scale)
            }
            Type::Char(_) | Type::VarChar(_) => ColumnBuilder::Text(StringBuilder::new()),
            Type::Binary(_) | Type::VarBinary(_) => ColumnBuilder::Bytes(BinaryBuilder::new()),
            Type::Date => ColumnBuilder::Date(Date32Builder::new()),
            Type::Time(_) => ColumnBuilder::Time(Time32MillisecondBuilder::new()),
            Type::Timestamp(0..=3) | Type::TimestampLtz(0..=3) => {
                ColumnBuilder::Millis(TimestampMillisecondBuilder::new().with_data_type(kind.to_arrow()))
            }
            Type::Timestamp(4..=6) | Type::TimestampLtz(4..=6) => {
                ColumnBuilder::Micros(TimestampMicrosecondBuilder::new().with_data_type(kind.to_arrow()))
            }
            Type::Timestamp(_) | Type::TimestampLtz(_) => {
                ColumnBuilder::Nanos(Decimal128Builder::new().with_data_type(kind.to_arrow()))
            }
            Type::Null
            | Type::IntervalYearMonth
            | Type::IntervalDaySecond
            | Type::Array(_)
            | Type::Map(..)
            | Type::Multiset(_)
            | Type::Row(_) => ColumnBuilder::Nulls(0),
        }
    }

    /// What it wants to be given.
    pub fn wants(&self) -> &'static str {
        match self {
            ColumnBuilder::Bool(_) => "a bool",
            ColumnBuilder::I8(_) | ColumnBuilder::I16(_) | ColumnBuilder::I32(_) | ColumnBuilder::I64(_) => {
                "an integer"
            }
            ColumnBuilder::F32(_) => "an f32",
            ColumnBuilder::F64(_) => "an f64",
            ColumnBuilder::Decimal(..) => "a Decimal or an integer",
            ColumnBuilder::Text(_) => "a &str",
            ColumnBuilder::Bytes(_) => "a &[u8]",
            ColumnBuilder::Date(_) => "the days since 1970 as an integer",
            ColumnBuilder::Time(_) => "the milliseconds of the day as an integer",
            ColumnBuilder::Millis(_) | ColumnBuilder::Micros(_) | ColumnBuilder::Nanos(_) => {
                "the milliseconds since 1970 as an integer"
            }
            ColumnBuilder::Nulls(_) => "nothing: columns of this type can only be NULL",
        }
    }

    /// Whether a value of this kind fits, if it is in range.
    pub fn takes(&self, cell: Cell<'_>) -> bool {
        match cell {
            Cell::Null => true,
            Cell::Bool(_) => matches!(self, ColumnBuilder::Bool(_)),
            Cell::Integer(_) => !matches!(
                self,
                ColumnBuilder::Bool(_)
                    | ColumnBuilder::F32(_)
                    | ColumnBuilder::F64(_)
                    | ColumnBuilder::Text(_)
                    | ColumnBuilder::Bytes(_)
                    | ColumnBuilder::Nulls(_)
            ),
            Cell::Single(_) => matches!(self, ColumnBuilder::F32(_) | ColumnBuilder::F64(_)),
            Cell::Double(_) => matches!(self, ColumnBuilder::F64(_)),
            Cell::Decimal(_) => matches!(self, ColumnBuilder::Decimal(..)),
            Cell::Text(_) => matches!(self, ColumnBuilder::Text(_)),
            Cell::Bytes(_) => matches!(self, ColumnBuilder::Bytes(_)),
        }
    }

    /// Appends a value; false, and nothing appended, if it is of another type or out of range.
    #[inline]
    pub fn push(&mut self, cell: Cell<'_>) -> bool {
        match (self, cell) {
            (column, Cell::Null) => column.push_null(),
            (ColumnBuilder::Bool(column), Cell::Bool(value)) => column.append_value(value),
            (ColumnBuilder::I64(column), Cell::Integer(value)) => column.append_value(value),
            (ColumnBuilder::I32(column), Cell::Integer(value)) => return append(column, value.try_into().ok()),
            (ColumnBuilder::I16(column), Cell::Integer(value)) => return append(column, value.try_into().ok()),
            (ColumnBuilder::I8(column), Cell::Integer(value)) => return append(column, value.try_into().ok()),
            (ColumnBuilder::F32(column), Cell::Single(value)) => column.append_value(value),
            (ColumnBuilder::F64(column), Cell::Single(value)) => column.append_value(value.into()),
            (ColumnBuilder::F64(column), Cell::Double(value)) => column.append_value(value),
            (ColumnBuilder::Decimal(column, precision, scale), Cell::Integer(value)) => {
                let value = Decimal { unscaled: value.into(), scale: 0 };
                return append(column, rescaled(value, *precision, *scale));
            }
            (ColumnBuilder::Decimal(column, precision, scale), Cell::Decimal(value)) => {
                return append(column, rescaled(value, *precision, *scale));
            }
            (ColumnBuilder::Text(column), Cell::Text(text)) => column.append_value(text),
            (ColumnBuilder::Bytes(column), Cell::Bytes(bytes)) => column.append_value(bytes),
            (ColumnBuilder::Date(column), Cell::Integer(days)) => return append(column, days.try_into().ok()),
            (ColumnBuilder::Time(column), Cell::Integer(ms)) => {
                return append(column, i32::try_from(ms).ok().filter(|ms| (0..DAY_MS).contains(ms)));
            }
            (ColumnBuilder::Millis(column), Cell::Integer(ms)) => column.append_value(ms),
            (ColumnBuilder::Micros(column), Cell::Integer(ms)) => return append(column, ms.checked_mul(1_000)),
            (ColumnBuilder::Nanos(column), Cell::Integer(ms)) => column.append_value(i128::from(ms) * 1_000_000),
            _ => return false,
        }
        true
    }

    fn push_null(&mut self) {
        for_each_kind!(self, column => column.append_null(), count => *count += 1);
    }

    /// Values so far, those that are NULL too.
    #[inline]
    pub fn len(&self) -> usize {
        for_each_kind!(self, column => column.len(), count => *count)
    }

    /// The values so far; then there are none.
    pub fn finish(&mut self, kind: &Type) -> ArrayRef {
        for_each_kind!(self, column => Arc::new(column.finish()), count => {
            let nulls = std::mem::take(count);
            new_null_array(&kind.to_arrow(), nulls)
        })
    }
}

/// Appends a value that is in range.
fn append<P: ArrowPrimitiveType>(column: &mut PrimitiveBuilder<P>, value: Option<P::Native>) -> bool {
    if let Some(value) = value {
        column.append_value(value);
    }
    value.is_some()
}

/// The unscaled value of a DECIMAL column of some precision and scale; `None` if it does not fit without loss.
fn rescaled(value: Decimal, precision: u8, scale: u8) -> Option<i128> {
    let factor = 10i128.checked_pow(u32::from(scale.abs_diff(value.scale)))?;
    let unscaled = if scale >= value.scale {
        value.unscaled.checked_mul(factor)?
    } else {
        (value.unscaled % factor == 0).then(|| value.unscaled / factor)?
    };
    let limit = 10u128.checked_pow(u32::from(precision))?;
    (unscaled.unsigned_abs() < limit).then_some(unscaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_rescaled_without_loss_or_refused() {
        let rescale = |unscaled, from, (precision, to)| rescaled(Decimal { unscaled, scale: from }, precision, to);
        assert_eq!(rescale(125, 2, (5, 3)), Some(1_250));
        assert_eq!(rescale(120, 2, (5, 1)), Some(12));
        assert_eq!(rescale(125, 2, (5, 1)), None);
        assert_eq!(rescale(-9_999, 0, (5, 1)), Some(-99_990));
        assert_eq!(rescale(10_000, 0, (5, 1)), None);
        assert_eq!(rescale(i128::MAX, 0, (38, 2)), None);
    }

    #[test]
    fn a_value_out_of_range_leaves_the_column_as_it_was() {
        let mut column = ColumnBuilder::new(&Type::TinyInt);
        assert!(column.push(Cell::from(127i64)) && column.push(Cell::from(None::<i32>)));
        assert!(!column.push(Cell::from(128i64)) && column.takes(Cell::from(128i64)));
        assert!(!column.push(Cell::from("x")) && !column.takes(Cell::from("x")));
        assert_eq!((column.len(), column.finish(&Type::TinyInt).null_count(), column.len()), (2, 1, 0));
    }
}
