//! Single values of columns: compared, and as bytes.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes as adt;
use arrow::datatypes::DataType as ArrowType;
use arrow::datatypes::TimeUnit::{Microsecond, Millisecond};

/// A column and a row of it.
pub(super) type Cell<'a> = (&'a ArrayRef, usize);

/// Whether a cell holds a value.
#[inline]
pub(super) fn is_valid((array, row): Cell<'_>) -> bool {
    array.is_valid(row)
}

/// Bytes that are the same for equal values of a column and for no others; all NaN are one value, -0.0 and 0.0 are two.
/// `None` for NULL.
pub(super) fn bytes_of(cell: Cell<'_>) -> Option<Vec<u8>> {
    if !is_valid(cell) {
        return None;
    }
    Some(match cell.0.data_type() {
        ArrowType::Float32 => {
            let value = float32(cell);
            (if value.is_nan() { f32::NAN } else { value }).to_bits().to_le_bytes().to_vec()
        }
        ArrowType::Float64 => {
            let value = float64(cell);
            (if value.is_nan() { f64::NAN } else { value }).to_bits().to_le_bytes().to_vec()
        }
        ArrowType::Utf8 => text(cell).as_bytes().to_vec(),
        ArrowType::Decimal128(..) => wide(cell).to_le_bytes().to_vec(),
        _ => number(cell).to_le_bytes().to_vec(),
    })
}

/// As MIN and MAX compare that rows may leave: NaN above all, -0.0 below 0.0.
pub(super) fn total_order(a: Cell<'_>, b: Cell<'_>) -> Ordering {
    match a.0.data_type() {
        ArrowType::Float32 => {
            let (x, y) = (float32(a), float32(b));
            x.is_nan().cmp(&y.is_nan()).then(x.total_cmp(&y))
        }
        ArrowType::Float64 => {
            let (x, y) = (float64(a), float64(b));
            x.is_nan().cmp(&y.is_nan()).then(x.total_cmp(&y))
        }
        _ => java_order(a, b).unwrap_or(Ordering::Equal),
    }
}

/// As Java's `<` and `>`: neither holds for a NaN, nor between -0.0 and 0.0.
pub(super) fn java_order(a: Cell<'_>, b: Cell<'_>) -> Option<Ordering> {
    match a.0.data_type() {
        ArrowType::Float32 => float32(a).partial_cmp(&float32(b)),
        ArrowType::Float64 => float64(a).partial_cmp(&float64(b)),
        ArrowType::Utf8 => Some(text(a).cmp(text(b))),
        ArrowType::Decimal128(..) => Some(wide(a).cmp(&wide(b))),
        _ => Some(number(a).cmp(&number(b))),
    }
}

fn float32((array, row): Cell<'_>) -> f32 {
    array.as_primitive::<adt::Float32Type>().value(row)
}

fn float64((array, row): Cell<'_>) -> f64 {
    array.as_primitive::<adt::Float64Type>().value(row)
}

fn text((array, row): Cell<'_>) -> &str {
    array.as_string::<i32>().value(row)
}

fn wide((array, row): Cell<'_>) -> i128 {
    array.as_primitive::<adt::Decimal128Type>().value(row)
}

/// Values of the types that are held as numbers of up to 64 bits.
fn number((array, row): Cell<'_>) -> i64 {
    match array.data_type() {
        ArrowType::Boolean => i64::from(array.as_boolean().value(row)),
        ArrowType::Int8 => array.as_primitive::<adt::Int8Type>().value(row).into(),
        ArrowType::Int16 => array.as_primitive::<adt::Int16Type>().value(row).into(),
        ArrowType::Int32 => array.as_primitive::<adt::Int32Type>().value(row).into(),
        ArrowType::Int64 => array.as_primitive::<adt::Int64Type>().value(row),
        ArrowType::Date32 => array.as_primitive::<adt::Date32Type>().value(row).into(),
        ArrowType::Time32(Millisecond) => array.as_primitive::<adt::Time32MillisecondType>().value(row).into(),
        ArrowType::Timestamp(Millisecond, _) => array.as_primitive::<adt::TimestampMillisecondType>().value(row),
        ArrowType::Timestamp(Microsecond, _) => array.as_primitive::<adt::TimestampMicrosecondType>().value(row),
        _ => 0,
    }
}
