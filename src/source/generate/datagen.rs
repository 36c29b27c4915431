//! The values of `datagen`.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, ListArray, MapArray,
    PrimitiveArray, RecordBatch, RecordBatchOptions, StringBuilder, StructArray, UInt64Array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType as ArrowType, Field as ArrowField, SchemaRef, TimestampMillisecondType};
use arrow::util::display::array_value_to_string;

use super::Generator;
use super::draw::Draw;
use crate::error::Result;
use crate::plan::{DatagenSpec, Generated, ScanSpec, Values};
use crate::types::{Schema, Type};

const DAY_MS: i64 = 86_400_000;
const DIGITS: &[u8; 16] = b"0123456789abcdef";

pub(super) struct Datagen {
    schema: SchemaRef,
    columns: Vec<(Generated, Draw)>,
    clock: Clock,
}

/// The times at which rows are due.
#[derive(Clone, Copy)]
struct Clock {
    start_ms: i64,
    rows_per_second: u64,
}

impl Clock {
    fn due_ms(self, row: u64) -> i64 {
        let passed = u128::from(row) * 1_000 / u128::from(self.rows_per_second);
        self.start_ms.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
    }
}

impl Datagen {
    /// `start_ms`: when the first row is due, since 1970.
    pub(super) fn new(scan: &ScanSpec, spec: &DatagenSpec, start_ms: i64) -> Self {
        let draw = Draw::new(spec.seed);
        let fields = scan.projection.iter().map(|&index| scan.file_schema.fields[index].clone());
        Datagen {
            schema: Schema::new(fields.collect()).to_arrow(),
            columns: scan.projection.iter().map(|&i| (spec.columns[i].clone(), draw.part(i as u64))).collect(),
            clock: Clock { start_ms, rows_per_second: spec.rows_per_second },
        }
    }
}

impl Generator for Datagen {
    fn rows(&self, first: u64, count: usize) -> Result<RecordBatch> {
        let rows = first..first + count as u64;
        let columns = self.columns.iter().map(|(column, draw)| values(column, *draw, rows.clone(), self.clock));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

/// The values of a column at these positions.
fn values(column: &Generated, draw: Draw, rows: Range<u64>, clock: Clock) -> Result<ArrayRef> {
    let nulls = (column.null_rate > 0.0).then(|| {
        let chance = draw.part(0);
        NullBuffer::from_iter(rows.clone().map(|row| chance.unit(row) >= f64::from(column.null_rate)))
    });
    let draw = draw.part(1);
    let to = column.kind.to_arrow();
    let array: ArrayRef = match &column.values {
        Values::Sequence { start } => {
            let numbers = Int64Array::from_iter_values(rows.map(|row| start.wrapping_add(row as i64)));
            // Texts print as numbers do.
            cast(&numbers, &to)?
        }
        Values::Boolean => Arc::new(rows.map(|row| Some(draw.bits(row) >> 63 == 1)).collect::<BooleanArray>()),
        Values::Integer { min, max } => {
            let range = (*max as u64).wrapping_sub(*min as u64);
            let number = |row| match range.checked_add(1) {
                Some(numbers) => min.wrapping_add(draw.below(row, numbers) as i64),
                None => draw.bits(row) as i64,
            };
            cast(&Int64Array::from_iter_values(rows.map(number)), &to)?
        }
        Values::Real { min, max } => reals(&column.kind, (*min, *max), draw, rows)?,
        Values::Text { length, varies } => texts(&column.kind, *length, *varies, draw, rows),
        Values::Past { max_ms } => times(&column.kind, *max_ms, draw, rows, clock)?,
        Values::Array { element, length } => {
            let (offsets, parts) = parts(&rows, *length);
            let elements = values(element, draw, parts, clock)?;
            let ArrowType::List(field) = to else { return Err(mislaid(&column.kind)) };
            Arc::new(ListArray::try_new(field, offsets, elements, nulls.clone())?)
        }
        Values::Map { key, value, length } => {
            let (offsets, parts) = parts(&rows, *length);
            let keys = values(key, draw.part(0), parts.clone(), clock)?;
            let entries = values(value, draw.part(1), parts, clock)?;
            map(&to, &offsets, &keys, &entries, nulls.clone()).unwrap_or_else(|| Err(mislaid(&column.kind)))?
        }
        Values::Row(fields) => {
            let part = |(i, field): (usize, &Generated)| values(field, draw.part(i as u64), rows.clone(), clock);
            let parts = fields.iter().enumerate().map(part).collect::<Result<Vec<_>>>()?;
            let ArrowType::Struct(fields) = to else { return Err(mislaid(&column.kind)) };
            Arc::new(StructArray::try_new(fields, parts, nulls.clone())?)
        }
    };
    match nulls {
        Some(nulls) if array.null_count() == 0 => {
            Ok(arrow::array::make_array(array.to_data().into_builder().nulls(Some(nulls)).build()?))
        }
        _ => Ok(array),
    }
}

fn mislaid(kind: &Type) -> crate::error::Error {
    crate::error::Error::internal(format!("{kind} does not lie in memory as datagen expects"))
}

fn reals(kind: &Type, (min, max): (f64, f64), draw: Draw, rows: Range<u64>) -> Result<ArrayRef> {
    // Weighted, for max - min may be beyond what a double holds.
    let real = |row| {
        let at = draw.unit(row);
        (min * (1.0 - at) + max * at).clamp(min, max)
    };
    if let Type::Decimal(precision, scale) = kind {
        let unit = 10_f64.powi(i32::from(*scale));
        let most = 10_i128.pow(u32::from(*precision)) - 1;
        let digits = rows.map(|row| ((real(row) * unit) as i128).clamp(-most, most));
        let array = Decimal128Array::from_iter_values(digits).with_precision_and_scale(*precision, *scale as i8)?;
        return Ok(Arc::new(array));
    }
    Ok(cast(&Float64Array::from_iter_values(rows.map(real)), &kind.to_arrow())?)
}

/// Hexadecimal digits, or bytes.
fn texts(kind: &Type, length: u32, varies: bool, draw: Draw, rows: Range<u64>) -> ArrayRef {
    let (lengths, draw) = (draw.part(0), draw.part(1));
    let length_of = |row| {
        // Flink's longest text of a length that varies is one shorter than the length that is set.
        if varies { 1 + lengths.below(row, u64::from(length.max(2) - 1)) as usize } else { length as usize }
    };
    let mut bytes = Vec::new();
    if kind.is_string() {
        let mut texts = StringBuilder::new();
        for row in rows {
            fill(&mut bytes, length_of(row), draw.part(row));
            for byte in &mut bytes {
                *byte = DIGITS[usize::from(*byte & 15)];
            }
            texts.append_value(std::str::from_utf8(&bytes).unwrap_or_default());
        }
        return Arc::new(texts.finish());
    }
    let values = rows.map(|row| {
        fill(&mut bytes, length_of(row), draw.part(row));
        Some(bytes.clone())
    });
    Arc::new(values.collect::<BinaryArray>())
}

fn fill(bytes: &mut Vec<u8>, length: usize, draw: Draw) {
    bytes.clear();
    for at in 0..length.div_ceil(8) {
        bytes.extend_from_slice(&draw.bits(at as u64).to_le_bytes());
    }
    bytes.truncate(length);
}

fn times(kind: &Type, max_ms: i64, draw: Draw, rows: Range<u64>, clock: Clock) -> Result<ArrayRef> {
    let time = |row| {
        let past = if max_ms > 0 { draw.below(row, max_ms as u64) as i64 } else { 0 };
        clock.due_ms(row).saturating_sub(past)
    };
    let to = kind.to_arrow();
    Ok(match kind {
        Type::Date => {
            cast(&arrow::array::Int32Array::from_iter_values(rows.map(|row| (time(row) / DAY_MS) as i32)), &to)?
        }
        Type::Time(_) => {
            // A TIME prints with as many digits as its type has; Flink's has none below a second.
            let of_day = rows.map(|row| (time(row).rem_euclid(DAY_MS) / 1_000 * 1_000) as i32);
            cast(&arrow::array::Int32Array::from_iter_values(of_day), &to)?
        }
        _ => {
            let zone = if let ArrowType::Timestamp(_, zone) = &to { zone.clone() } else { None };
            let times = PrimitiveArray::<TimestampMillisecondType>::from_iter_values(rows.map(time));
            cast(&times.with_timezone_opt(zone), &to)?
        }
    })
}

/// Where the elements of these rows begin and end, and their numbers.
fn parts(rows: &Range<u64>, length: u32) -> (OffsetBuffer<i32>, Range<u64>) {
    let count = (rows.end - rows.start) as usize;
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(length as usize, count));
    let length = u64::from(length);
    (offsets, rows.start.wrapping_mul(length)..rows.end.wrapping_mul(length))
}

/// Of equal keys in a row the last one stays.
fn map(
    to: &ArrowType,
    offsets: &OffsetBuffer<i32>,
    keys: &ArrayRef,
    values: &ArrayRef,
    nulls: Option<NullBuffer>,
) -> Option<Result<ArrayRef>> {
    let ArrowType::Map(field, _) = to else { return None };
    let ArrowType::Struct(fields) = field.data_type() else { return None };
    Some(merged(field, fields, offsets, keys, values, nulls))
}

fn merged(
    field: &Arc<ArrowField>,
    fields: &arrow::datatypes::Fields,
    offsets: &OffsetBuffer<i32>,
    keys: &ArrayRef,
    values: &ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let mut kept: Vec<u64> = Vec::with_capacity(keys.len());
    let mut lengths = Vec::with_capacity(offsets.len());
    for row in offsets.windows(2) {
        let mut seen = HashSet::new();
        let start = kept.len();
        for at in (row[0] as usize..row[1] as usize).rev() {
            if seen.insert(array_value_to_string(keys, at)?) {
                kept.push(at as u64);
            }
        }
        kept[start..].reverse();
        lengths.push(kept.len() - start);
    }
    let kept = UInt64Array::from(kept);
    let entries =
        StructArray::try_new(fields.clone(), vec![take(keys, &kept, None)?, take(values, &kept, None)?], None)?;
    Ok(Arc::new(MapArray::try_new(field.clone(), OffsetBuffer::from_lengths(lengths), entries, nulls, false)?))
}
