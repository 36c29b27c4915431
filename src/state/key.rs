//! Key columns to comparable bits and to hashes.
//!
//! Four layouts, chosen by the column types alone, so that every batch and every shard encodes a key alike:
//! no column; one column of at most 8 bytes (a word); a DECIMAL or two such columns (a pair of words); anything else
//! (bytes: a lone string as it is, several columns one after the other). Words are sign-extended; floats go by their
//! bits, with one NaN: -0.0 and 0.0 are different keys (`401-key-double-zero-nan`). NULL is a value of its own and
//! kept beside the bits.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes as adt;
use arrow::datatypes::DataType as ArrowType;
use xxhash_rust::xxh3::xxh3_64;

use super::nested::{NestedCell, is_nested, parts};
use crate::error::{Error, Result};
use crate::key::KeyHash;

/// How the keys of some column types are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// No key column: one group.
    Empty,
    /// One column of at most 8 bytes.
    Word,
    /// One DECIMAL, or two columns of at most 8 bytes each.
    Pair,
    /// One string or binary column: its bytes.
    Text,
    /// Several columns, or one of a nested type: for each a NULL flag, then the bytes (strings with their length before them).
    Rows,
}

/// The keys of some rows, in the layout of their encoder.
#[derive(Debug, Clone)]
pub enum EncodedKeys {
    Empty {
        rows: usize,
    },
    /// A NULL's word is arbitrary.
    Word {
        words: ScalarBuffer<u64>,
        nulls: Option<NullBuffer>,
    },
    /// Words of a NULL are 0; `masks` has a bit per column that is NULL, absent when none is in any row.
    Pair {
        pairs: Vec<[u64; 2]>,
        masks: Option<Vec<u8>>,
    },
    /// Also for [`Layout::Rows`], which has no `nulls`.
    Bytes {
        offsets: OffsetBuffer<i32>,
        data: Buffer,
        nulls: Option<NullBuffer>,
    },
}

impl EncodedKeys {
    pub fn rows(&self) -> usize {
        match self {
            EncodedKeys::Empty { rows } => *rows,
            EncodedKeys::Word { words, .. } => words.len(),
            EncodedKeys::Pair { pairs, .. } => pairs.len(),
            EncodedKeys::Bytes { offsets, .. } => offsets.len() - 1,
        }
    }

    /// Appends one hash a row.
    pub fn hash_into(&self, out: &mut Vec<KeyHash>) {
        match self {
            EncodedKeys::Empty { rows } => out.resize(out.len() + rows, hash_bytes(&[])),
            EncodedKeys::Word { words, nulls: None } => out.extend(words.iter().map(|&word| hash_word(word))),
            EncodedKeys::Word { words, nulls: Some(nulls) } => {
                let null = hash_bytes(&[]);
                let rows = words.iter().zip(nulls.iter());
                out.extend(rows.map(|(&word, valid)| if valid { hash_word(word) } else { null }));
            }
            EncodedKeys::Pair { pairs, masks } => {
                let mask = |row: usize| masks.as_ref().map_or(0, |masks| masks[row]);
                out.extend(pairs.iter().enumerate().map(|(row, pair)| hash_pair(*pair, mask(row))));
            }
            EncodedKeys::Bytes { offsets, data, nulls } => {
                let null = hash_bytes(&[]);
                out.extend(offsets.windows(2).enumerate().map(|(row, ends)| {
                    let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
                    if valid { hash_bytes(&data[ends[0] as usize..ends[1] as usize]) } else { null }
                }));
            }
        }
    }
}

/// Encodes key columns of fixed types.
#[derive(Debug, Clone)]
pub struct KeyEncoder {
    types: Vec<ArrowType>,
    layout: Layout,
}

impl KeyEncoder {
    /// # Errors
    /// Unsupported for types that cannot be a key.
    pub fn new(types: &[ArrowType]) -> Result<Self> {
        types.iter().try_for_each(check)?;
        let widths: Vec<Option<usize>> = types.iter().map(width).collect();
        let layout = match widths.as_slice() {
            [] => Layout::Empty,
            [Some(8)] => Layout::Word,
            [Some(16)] | [Some(8), Some(8)] => Layout::Pair,
            [None] if is_bytes(&types[0]) => Layout::Text,
            _ => Layout::Rows,
        };
        Ok(KeyEncoder { types: types.to_vec(), layout })
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }
    pub fn types(&self) -> &[ArrowType] {
        &self.types
    }

    /// The keys of `rows` rows; `columns` have the encoder's types. Borrows the columns' memory where it can.
    ///
    /// # Errors
    /// Internal if a column has another type; data if the keys of one batch exceed 2 GiB.
    pub fn encode(&self, columns: &[ArrayRef], rows: usize) -> Result<EncodedKeys> {
        let same = columns.len() == self.types.len()
            && columns.iter().zip(&self.types).all(|(column, data_type)| column.data_type() == data_type);
        if !same {
            let got: Vec<_> = columns.iter().map(|c| c.data_type().to_string()).collect();
            return Err(Error::internal(format!("key columns of the types {got:?}, encoder for {:?}", self.types)));
        }
        match self.layout {
            Layout::Empty => Ok(EncodedKeys::Empty { rows }),
            Layout::Word => Ok(EncodedKeys::Word { words: words(&columns[0])?, nulls: nulls(&columns[0]) }),
            Layout::Pair => pairs(columns),
            Layout::Text => text(&columns[0]),
            Layout::Rows => encode_rows(columns, rows),
        }
    }
}

/// Hashes the key columns of a batch: one hash a row, appended to `out`.
///
/// xxh3 of the encoded key: equal keys have equal hashes in every batch, whatever its size or memory layout.
///
/// # Errors
/// See [`KeyEncoder::new`] and [`KeyEncoder::encode`].
pub fn hash_keys(batch: &RecordBatch, keys: &[usize], out: &mut Vec<KeyHash>) -> Result<()> {
    let columns: Vec<ArrayRef> = keys.iter().map(|&key| batch.column(key).clone()).collect();
    let types: Vec<ArrowType> = columns.iter().map(|column| column.data_type().clone()).collect();
    KeyEncoder::new(&types)?.encode(&columns, batch.num_rows())?.hash_into(out);
    Ok(())
}

/// xxh3 of the word's 8 little-endian bytes: the algorithm's own path for that length, so that it is inlined.
#[inline]
pub fn hash_word(word: u64) -> KeyHash {
    // Bytes 8..16 and 16..24 of the default secret, and the multiplier, as the specification has them.
    const FLIP: u64 = 0x1cad_21f7_2c81_017c ^ 0xdb97_9083_e96d_d4de;
    const PRIME: u64 = 0x9fb2_1c65_1e98_df25;
    let mut hash = word.rotate_left(32) ^ FLIP;
    hash ^= hash.rotate_left(49) ^ hash.rotate_left(24);
    hash = hash.wrapping_mul(PRIME);
    hash ^= (hash >> 35).wrapping_add(8);
    hash = hash.wrapping_mul(PRIME);
    hash ^ (hash >> 28)
}

fn hash_pair(pair: [u64; 2], mask: u8) -> KeyHash {
    let mut bytes = [0; 17];
    bytes[..8].copy_from_slice(&pair[0].to_le_bytes());
    bytes[8..16].copy_from_slice(&pair[1].to_le_bytes());
    bytes[16] = mask;
    hash_bytes(if mask == 0 { &bytes[..16] } else { &bytes })
}

#[inline]
pub(crate) fn hash_bytes(bytes: &[u8]) -> KeyHash {
    xxh3_64(bytes)
}

/// 8 for columns that fit a word, 16 for DECIMAL, `None` for others.
fn width(data_type: &ArrowType) -> Option<usize> {
    match data_type {
        ArrowType::Null
        | ArrowType::Boolean
        | ArrowType::Int8
        | ArrowType::Int16
        | ArrowType::Int32
        | ArrowType::Int64
        | ArrowType::UInt32
        | ArrowType::Float32
        | ArrowType::Float64
        | ArrowType::Date32
        | ArrowType::Time32(adt::TimeUnit::Millisecond)
        | ArrowType::Timestamp(..) => Some(8),
        ArrowType::Decimal128(..) => Some(16),
        _ => None,
    }
}

/// Refuses types that have no key, at any depth.
fn check(data_type: &ArrowType) -> Result<()> {
    if is_nested(data_type) {
        return parts(data_type).into_iter().try_for_each(check);
    }
    if width(data_type).is_none() && !is_bytes(data_type) {
        return Err(Error::unsupported(format_args!("GROUP BY a column of the Arrow type {data_type}")));
    }
    Ok(())
}

fn is_bytes(data_type: &ArrowType) -> bool {
    matches!(data_type, ArrowType::Utf8 | ArrowType::Binary)
}

fn nulls(column: &ArrayRef) -> Option<NullBuffer> {
    column.logical_nulls().filter(|nulls| nulls.null_count() > 0)
}

/// One word a row.
fn words(column: &ArrayRef) -> Result<ScalarBuffer<u64>> {
    fn wide<T: adt::ArrowPrimitiveType>(column: &ArrayRef, word: impl Fn(T::Native) -> u64) -> ScalarBuffer<u64> {
        column.as_primitive::<T>().values().iter().map(|&value| word(value)).collect::<Vec<_>>().into()
    }
    fn same<T: adt::ArrowPrimitiveType>(column: &ArrayRef) -> ScalarBuffer<u64> {
        let values = column.as_primitive::<T>().values();
        ScalarBuffer::new(values.inner().clone(), 0, values.len())
    }
    use arrow::datatypes::TimeUnit::{Microsecond, Millisecond, Second};
    Ok(match column.data_type() {
        ArrowType::Null => vec![0; column.len()].into(),
        ArrowType::Boolean => {
            let values: &BooleanArray = column.as_boolean();
            values.values().iter().map(u64::from).collect::<Vec<_>>().into()
        }
        ArrowType::Int8 => wide::<adt::Int8Type>(column, |v| i64::from(v) as u64),
        ArrowType::Int16 => wide::<adt::Int16Type>(column, |v| i64::from(v) as u64),
        ArrowType::Int32 => wide::<adt::Int32Type>(column, |v| i64::from(v) as u64),
        ArrowType::UInt32 => wide::<adt::UInt32Type>(column, u64::from),
        ArrowType::Date32 => wide::<adt::Date32Type>(column, |v| i64::from(v) as u64),
        ArrowType::Time32(Millisecond) => wide::<adt::Time32MillisecondType>(column, |v| i64::from(v) as u64),
        ArrowType::Float32 => {
            wide::<adt::Float32Type>(column, |v| u64::from(if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() }))
        }
        ArrowType::Float64 => {
            wide::<adt::Float64Type>(column, |v| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() })
        }
        ArrowType::Int64 => same::<adt::Int64Type>(column),
        ArrowType::Timestamp(Second, _) => same::<adt::TimestampSecondType>(column),
        ArrowType::Timestamp(Millisecond, _) => same::<adt::TimestampMillisecondType>(column),
        ArrowType::Timestamp(Microsecond, _) => same::<adt::TimestampMicrosecondType>(column),
        other => return Err(Error::internal(format!("no key word for the Arrow type {other}"))),
    })
}

/// A DECIMAL as its two halves, or two columns side by side.
fn pairs(columns: &[ArrayRef]) -> Result<EncodedKeys> {
    let all_nulls: Vec<Option<NullBuffer>> = columns.iter().map(nulls).collect();
    let mut pairs: Vec<[u64; 2]> = match columns {
        [decimal] => {
            let values = decimal.as_primitive::<adt::Decimal128Type>().values();
            values.iter().map(|&value| [value as u64, (value >> 64) as u64]).collect()
        }
        [a, b] => words(a)?.iter().zip(words(b)?.iter()).map(|(&a, &b)| [a, b]).collect(),
        _ => return Err(Error::internal("a pair of key words of other than one or two columns")),
    };
    if all_nulls.iter().all(Option::is_none) {
        return Ok(EncodedKeys::Pair { pairs, masks: None });
    }
    let mut masks = vec![0; pairs.len()];
    for (column, nulls) in all_nulls.iter().enumerate() {
        let Some(nulls) = nulls else { continue };
        for row in (0..pairs.len()).filter(|&row| nulls.is_null(row)) {
            masks[row] |= 1 << column;
            if columns.len() == 1 { pairs[row] = [0, 0] } else { pairs[row][column] = 0 }
        }
    }
    Ok(EncodedKeys::Pair { pairs, masks: Some(masks) })
}

fn text(column: &ArrayRef) -> Result<EncodedKeys> {
    let (offsets, data) = match column.data_type() {
        ArrowType::Utf8 => {
            let strings = column.as_string::<i32>();
            (strings.offsets().clone(), strings.values().clone())
        }
        _ => {
            let binary = column.as_binary::<i32>();
            (binary.offsets().clone(), binary.values().clone())
        }
    };
    Ok(EncodedKeys::Bytes { offsets, data, nulls: nulls(column) })
}

/// One column of a row encoding, ready to be read row by row.
pub(super) enum Cell {
    Word { words: ScalarBuffer<u64>, nulls: Option<NullBuffer> },
    Wide { values: ScalarBuffer<i128>, nulls: Option<NullBuffer> },
    Text { offsets: OffsetBuffer<i32>, data: Buffer, nulls: Option<NullBuffer> },
    Nested { cell: NestedCell, nulls: Option<NullBuffer> },
}

impl Cell {
    pub(super) fn of(column: &ArrayRef) -> Result<Self> {
        let nulls = nulls(column);
        Ok(match width(column.data_type()) {
            Some(8) => Cell::Word { words: words(column)?, nulls },
            Some(_) => Cell::Wide { values: column.as_primitive::<adt::Decimal128Type>().values().clone(), nulls },
            None if is_nested(column.data_type()) => Cell::Nested { cell: NestedCell::of(column)?, nulls },
            None => match text(column)? {
                EncodedKeys::Bytes { offsets, data, nulls } => Cell::Text { offsets, data, nulls },
                _ => return Err(Error::internal("a text column without bytes")),
            },
        })
    }

    pub(super) fn append(&self, row: usize, out: &mut Vec<u8>) {
        let (Cell::Word { nulls, .. }
        | Cell::Wide { nulls, .. }
        | Cell::Text { nulls, .. }
        | Cell::Nested { nulls, .. }) = self;
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return out.push(1);
        }
        out.push(0);
        match self {
            Cell::Word { words, .. } => out.extend_from_slice(&words[row].to_le_bytes()),
            Cell::Wide { values, .. } => out.extend_from_slice(&values[row].to_le_bytes()),
            Cell::Text { offsets, data, .. } => {
                let bytes = &data[offsets[row] as usize..offsets[row + 1] as usize];
                out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                out.extend_from_slice(bytes);
            }
            Cell::Nested { cell, .. } => cell.append(row, out),
        }
    }
}

fn encode_rows(columns: &[ArrayRef], rows: usize) -> Result<EncodedKeys> {
    let cells = columns.iter().map(Cell::of).collect::<Result<Vec<_>>>()?;
    let mut data = Vec::with_capacity(rows * 16 * columns.len());
    let mut offsets = Vec::with_capacity(rows + 1);
    offsets.push(0);
    for row in 0..rows {
        cells.iter().for_each(|cell| cell.append(row, &mut data));
        let end = i32::try_from(data.len())
            .map_err(|_| Error::data("the group keys of one batch exceed 2 GiB").help("use a smaller batch size"))?;
        offsets.push(end);
    }
    Ok(EncodedKeys::Bytes { offsets: OffsetBuffer::new(offsets.into()), data: data.into(), nulls: None })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Decimal128Array, Float64Array, Int32Array, Int64Array, StringArray};

    use super::*;

    fn hashes(columns: &[ArrayRef]) -> Vec<u64> {
        let types: Vec<_> = columns.iter().map(|c| c.data_type().clone()).collect();
        let mut out = Vec::new();
        KeyEncoder::new(&types).unwrap().encode(columns, columns[0].len()).unwrap().hash_into(&mut out);
        out
    }

    #[test]
    fn the_inlined_word_hash_is_xxh3() {
        for word in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef, 42 << 33] {
            assert_eq!(hash_word(word), xxh3_64(&word.to_le_bytes()));
        }
    }

    #[test]
    fn a_key_has_the_same_hash_in_every_batch() {
        let strings: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some(""), Some("bc")]));
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(2), None, Some(-4)]));
        let small: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, None, Some(-4)]));
        let decimals: ArrayRef = Arc::new(Decimal128Array::from(vec![Some(1), None, Some(i128::MIN), Some(0)]));
        for columns in [
            vec![strings.clone()],
            vec![numbers.clone()],
            vec![decimals.clone()],
            vec![numbers.clone(), small.clone()],
            vec![strings, numbers, small, decimals],
        ] {
            let whole = hashes(&columns);
            for (row, &hash) in whole.iter().enumerate() {
                let one: Vec<ArrayRef> = columns.iter().map(|c| c.slice(row, 1)).collect();
                assert_eq!(hashes(&one), [hash]);
            }
            let distinct: std::collections::BTreeSet<u64> = whole.iter().copied().collect();
            assert!(distinct.len() >= 3, "{columns:?}");
        }
    }

    #[test]
    fn zeros_differ_and_all_nans_are_one() {
        let nan = f64::from_bits(0xfff8_0000_0000_0001);
        let keys: ArrayRef = Arc::new(Float64Array::from(vec![0.0, -0.0, f64::NAN, nan]));
        let hashes = hashes(&[keys]);
        assert_ne!(hashes[0], hashes[1]);
        assert_eq!(hashes[2], hashes[3]);
    }
}
