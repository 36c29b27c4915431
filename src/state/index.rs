//! From key to dense group number.
//!
//! Open addressing over cells of 8 bytes: the upper half of the key's hash (its tag) and the group plus one. The keys
//! lie in columns by group, so that an index of few keys is small and results are read off in order. A cell's place
//! comes from the tag alone: growing and merging need neither the keys nor the full hashes.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, BooleanArray, NullArray, PrimitiveArray, StringArray, new_null_array};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes as adt;
use arrow::datatypes::DataType as ArrowType;

use super::key::{EncodedKeys, KeyEncoder, Layout};
use super::nested;
use super::slots::{BLOCK, Slots, spread};
use crate::arena::{ArenaVec, ByteHeap};
use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::snapshot::Archive;

/// No group.
pub const NONE: u32 = u32::MAX;

/// The upper half of a key hash; ascending tags are ascending key groups.
pub type Tag = u32;

/// Groups that went from one index to another, by number there and here.
#[derive(Debug, Clone, Default)]
pub struct Moved {
    pub from: Vec<u32>,
    pub to: Vec<u32>,
}

impl Moved {
    /// By number there, of `count` groups: the number here, or [`NONE`] for a group that stayed.
    pub fn by_origin(&self, count: usize) -> Vec<u32> {
        let mut numbers = vec![NONE; count];
        self.pairs().for_each(|(from, to)| numbers[from as usize] = to);
        numbers
    }

    /// The numbers there and here.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        self.from.iter().copied().zip(self.to.iter().copied())
    }
}

/// Keys and their groups `0..len`, in the order of arrival.
pub struct KeyIndex {
    encoder: Arc<KeyEncoder>,
    slots: Slots,
    store: Store,
    len: u32,
}

/// The keys by group.
enum Store {
    Empty,
    Word {
        keys: ArenaVec<u64>,
        null: u32,
    },
    /// `masks` is empty as long as no key has a NULL.
    Pair {
        keys: ArenaVec<[u64; 2]>,
        masks: ArenaVec<u8>,
    },
    /// Group `g` has the bytes up to `ends[g]`.
    Bytes {
        ends: ArenaVec<u64>,
        heap: ByteHeap,
        null: u32,
    },
}

/// Keys by row, to be compared with and appended to those by group.
trait Rows {
    fn same(&self, group: u32, row: usize) -> bool;
    fn push(&mut self, row: usize);
    /// Writes the rows from `start` on that are not of the supposed groups (counted from 0, in order) to the front of
    /// `missed`, and says how many there are.
    fn mismatches(&self, groups: &[u32], start: usize, missed: &mut [u16; BLOCK], len: u32) -> usize {
        let mut misses = 0;
        for (i, &group) in groups.iter().enumerate() {
            missed[misses] = i as u16;
            misses += usize::from(group >= len || !self.same(group, start + i));
        }
        misses
    }
}

/// Appends the group of each of `rows` keys to `out`.
#[inline]
fn resolve(
    slots: &mut Slots,
    len: &mut u32,
    keys: &mut impl Rows,
    rows: usize,
    tag: impl Fn(usize) -> Tag,
    out: &mut Vec<u32>,
) {
    let (mut missed, mut tags) = ([0_u16; BLOCK], [0; BLOCK]);
    let begin = out.len();
    out.resize(begin + rows, NONE);
    for start in (0..rows).step_by(BLOCK) {
        let count = BLOCK.min(rows - start);
        let tags = &mut tags[..count];
        tags.iter_mut().enumerate().for_each(|(i, out)| *out = tag(start + i));
        let groups = &mut out[begin + start..begin + start + count];
        slots.reserve_one(*len);
        slots.cells.probe(slots.bits, tags, groups, spread, |tag, near| {
            // The group of the cell with the right tag; of several such cells some mixture that fits no key. Without
            // comparisons, lest the compiler makes branches of them.
            let pick = |cell: u64| {
                let same = u64::from((cell >> 32) as u32 ^ tag).wrapping_sub(1) >> 32;
                cell as u32 & same as u32
            };
            (pick(near[0]) | pick(near[1]) | pick(near[2])).wrapping_sub(1)
        });
        let misses = keys.mismatches(groups, start, &mut missed, *len);
        for &i in &missed[..misses] {
            let (i, row) = (usize::from(i), start + usize::from(i));
            slots.reserve_one(*len);
            let group = slots.find_or_insert(tags[i], *len, |group| keys.same(group, row));
            if group == *len {
                keys.push(row);
                *len += 1;
            }
            groups[i] = group;
        }
    }
}

struct WordRows<'a, const NULLS: bool> {
    keys: &'a mut ArenaVec<u64>,
    null: &'a mut u32,
    words: &'a [u64],
    nulls: Option<&'a NullBuffer>,
}

impl<const NULLS: bool> WordRows<'_, NULLS> {
    #[inline]
    fn is_null(&self, row: usize) -> bool {
        NULLS && self.nulls.is_some_and(|nulls| nulls.is_null(row))
    }
}

impl<const NULLS: bool> Rows for WordRows<'_, NULLS> {
    #[inline]
    fn same(&self, group: u32, row: usize) -> bool {
        if self.is_null(row) {
            return group == *self.null;
        }
        self.keys[group as usize] == self.words[row] && group != *self.null
    }
    #[inline]
    fn push(&mut self, row: usize) {
        if self.is_null(row) {
            *self.null = self.keys.len() as u32;
            return self.keys.push(0);
        }
        self.keys.push(self.words[row]);
    }
    #[inline]
    fn mismatches(&self, groups: &[u32], start: usize, missed: &mut [u16; BLOCK], len: u32) -> usize {
        if !NULLS && *self.null == NONE {
            return self.keys.mismatches(groups, &self.words[start..start + groups.len()], missed);
        }
        let mut misses = 0;
        for (i, &group) in groups.iter().enumerate() {
            missed[misses] = i as u16;
            misses += usize::from(group >= len || !self.same(group, start + i));
        }
        misses
    }
}

struct PairRows<'a, M: Fn(usize) -> u8, K: Fn(usize) -> [u64; 2]> {
    keys: &'a mut ArenaVec<[u64; 2]>,
    masks: &'a mut ArenaVec<u8>,
    key: K,
    mask: M,
}

impl<M: Fn(usize) -> u8, K: Fn(usize) -> [u64; 2]> Rows for PairRows<'_, M, K> {
    #[inline]
    fn same(&self, group: u32, row: usize) -> bool {
        let mask = self.masks.get(group as usize).copied().unwrap_or(0);
        self.keys[group as usize] == (self.key)(row) && mask == (self.mask)(row)
    }
    #[inline]
    fn push(&mut self, row: usize) {
        let mask = (self.mask)(row);
        if mask != 0 || !self.masks.is_empty() {
            // From the first NULL on there is a mask for every group.
            self.masks.resize_zeroed(self.keys.len());
            self.masks.push(mask);
        }
        self.keys.push((self.key)(row));
    }
}

struct ByteRows<'a, K: Fn(usize) -> Option<&'a [u8]>> {
    ends: &'a mut ArenaVec<u64>,
    heap: &'a mut ByteHeap,
    null: &'a mut u32,
    key: K,
}

impl<'a, K: Fn(usize) -> Option<&'a [u8]>> Rows for ByteRows<'a, K> {
    #[inline]
    fn same(&self, group: u32, row: usize) -> bool {
        match (self.key)(row) {
            None => group == *self.null,
            Some(key) => group != *self.null && bytes_of(self.ends, self.heap, group) == key,
        }
    }
    #[inline]
    fn push(&mut self, row: usize) {
        match (self.key)(row) {
            None => *self.null = self.ends.len() as u32,
            Some(key) => drop(self.heap.push(key)),
        }
        self.ends.push(self.heap.len() as u64);
    }
}

#[inline]
fn bytes_of<'h>(ends: &[u64], heap: &'h ByteHeap, group: u32) -> &'h [u8] {
    let start = if group == 0 { 0 } else { ends[group as usize - 1] };
    heap.get([start, ends[group as usize] - start])
}

impl KeyIndex {
    pub fn new(encoder: Arc<KeyEncoder>) -> Self {
        let store = match encoder.layout() {
            Layout::Empty => Store::Empty,
            Layout::Word => Store::Word { keys: ArenaVec::new(), null: NONE },
            Layout::Pair => Store::Pair { keys: ArenaVec::new(), masks: ArenaVec::new() },
            Layout::Text | Layout::Rows => Store::Bytes { ends: ArenaVec::new(), heap: ByteHeap::new(), null: NONE },
        };
        KeyIndex { encoder, slots: Slots::new(), store, len: 0 }
    }

    /// Makes room for that many keys in all.
    pub fn reserve(&mut self, keys: usize) {
        if keys > self.len() && !matches!(self.store, Store::Empty) {
            let bits = Slots::bits_for(keys);
            if bits > self.slots.bits {
                self.slots.grow(bits);
            }
        }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.len as usize
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub fn encoder(&self) -> &Arc<KeyEncoder> {
        &self.encoder
    }
    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        let store = match &self.store {
            Store::Empty => 0,
            Store::Word { keys, .. } => keys.bytes(),
            Store::Pair { keys, masks } => keys.bytes() + masks.bytes(),
            Store::Bytes { ends, heap, .. } => ends.bytes() + heap.bytes(),
        };
        store + self.slots.cells.bytes()
    }

    /// Appends the group of each key to `out`; new keys get the next groups, in the order of the rows.
    ///
    /// `hashes` are those of [`EncodedKeys::hash_into`]; without key columns they are not looked at.
    ///
    /// # Errors
    /// Internal if the keys have another layout, or there are fewer hashes than keys.
    pub fn find_or_insert(&mut self, hashes: &[KeyHash], keys: &EncodedKeys, out: &mut Vec<u32>) -> Result<()> {
        let rows = keys.rows();
        if hashes.len() < rows && !matches!(self.store, Store::Empty) {
            return Err(Error::internal(format!("{} hashes for {rows} keys", hashes.len())));
        }
        let (slots, len) = (&mut self.slots, &mut self.len);
        let tag = |row: usize| (hashes[row] >> 32) as Tag;
        match (&mut self.store, keys) {
            (Store::Empty, EncodedKeys::Empty { .. }) => {
                *len |= u32::from(rows > 0);
                out.resize(out.len() + rows, 0);
            }
            (Store::Word { keys, null }, EncodedKeys::Word { words, nulls }) => {
                let nulls = nulls.as_ref();
                if nulls.is_none() {
                    resolve(slots, len, &mut WordRows::<false> { keys, null, words, nulls }, rows, tag, out);
                } else {
                    resolve(slots, len, &mut WordRows::<true> { keys, null, words, nulls }, rows, tag, out);
                }
            }
            (Store::Pair { keys, masks }, EncodedKeys::Pair { pairs, masks: row_masks }) => {
                let mask = |row: usize| row_masks.as_ref().map_or(0, |masks| masks[row]);
                resolve(slots, len, &mut PairRows { keys, masks, key: |row| pairs[row], mask }, rows, tag, out);
            }
            (Store::Bytes { ends, heap, null }, EncodedKeys::Bytes { offsets, data, nulls }) => {
                let key = |row: usize| {
                    let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
                    valid.then(|| &data[offsets[row] as usize..offsets[row + 1] as usize])
                };
                resolve(slots, len, &mut ByteRows { ends, heap, null, key }, rows, tag, out);
            }
            _ => return Err(Error::internal("keys of another layout than the index")),
        }
        Ok(())
    }

    /// Inserts keys of another index of the same layout: `from` are its groups with their tags, in any order;
    /// appends this index's groups to `out`.
    pub fn absorb(&mut self, other: &KeyIndex, from: &[(Tag, u32)], out: &mut Vec<u32>) -> Result<()> {
        // Entries in table order fill a table from one end: without room for all of them they would pile up there.
        self.reserve(self.len() + from.len());
        let (slots, len, rows) = (&mut self.slots, &mut self.len, from.len());
        let tag = |row: usize| from[row].0;
        let group = |row: usize| from[row].1;
        match (&mut self.store, &other.store) {
            (Store::Empty, Store::Empty) => {
                *len |= u32::from(rows > 0);
                out.resize(out.len() + rows, 0);
            }
            (Store::Word { keys, null }, Store::Word { keys: others, null: other_null }) => {
                let words: Vec<u64> = from.iter().map(|&(_, group)| others[group as usize]).collect();
                if *other_null == NONE {
                    let mut rows_of = WordRows::<false> { keys, null, words: &words, nulls: None };
                    resolve(slots, len, &mut rows_of, rows, tag, out);
                } else {
                    let nulls: NullBuffer = (0..rows).map(|row| group(row) != *other_null).collect();
                    let mut rows_of = WordRows::<true> { keys, null, words: &words, nulls: Some(&nulls) };
                    resolve(slots, len, &mut rows_of, rows, tag, out);
                }
            }
            (Store::Pair { keys, masks }, Store::Pair { keys: others, masks: other_masks }) => {
                let key = |row: usize| others[group(row) as usize];
                let mask = |row: usize| other_masks.get(group(row) as usize).copied().unwrap_or(0);
                resolve(slots, len, &mut PairRows { keys, masks, key, mask }, rows, tag, out);
            }
            (
                Store::Bytes { ends, heap, null },
                Store::Bytes { ends: other_ends, heap: other_heap, null: other_null },
            ) => {
                let key = |row: usize| {
                    let group = group(row);
                    (group != *other_null).then(|| bytes_of(other_ends, other_heap, group))
                };
                resolve(slots, len, &mut ByteRows { ends, heap, null, key }, rows, tag, out);
            }
            _ => return Err(Error::internal("two key indexes of different layouts")),
        }
        Ok(())
    }

    /// The groups of keys of another index of the same layout, or [`NONE`]: `from` are its groups with their tags.
    ///
    /// # Errors
    /// As [`KeyIndex::absorb`].
    pub fn find(&self, other: &KeyIndex, from: &[(Tag, u32)]) -> Result<Vec<u32>> {
        if self.is_empty() {
            return Ok(vec![NONE; from.len()]);
        }
        match (&self.store, &other.store) {
            (Store::Empty, Store::Empty) => Ok(vec![0; from.len()]),
            (Store::Word { keys, null }, Store::Word { keys: others, null: other_null }) => {
                Ok(self.slots.find(from, |group, there| match (group == *null, there == *other_null) {
                    (false, false) => keys[group as usize] == others[there as usize],
                    (null, other_null) => null && other_null,
                }))
            }
            (Store::Pair { keys, masks }, Store::Pair { keys: others, masks: other_masks }) => {
                let mask = |masks: &ArenaVec<u8>, group: u32| masks.get(group as usize).copied().unwrap_or(0);
                Ok(self.slots.find(from, |group, there| {
                    keys[group as usize] == others[there as usize] && mask(masks, group) == mask(other_masks, there)
                }))
            }
            (
                Store::Bytes { ends, heap, null },
                Store::Bytes { ends: other_ends, heap: other_heap, null: other_null },
            ) => Ok(self.slots.find(from, |group, there| match (group == *null, there == *other_null) {
                (false, false) => bytes_of(ends, heap, group) == bytes_of(other_ends, other_heap, there),
                (null, other_null) => null && other_null,
            })),
            _ => Err(Error::internal("two key indexes of different layouts")),
        }
    }

    /// # Errors
    /// Those of the archive; internal if what was written is no index of these keys.
    pub fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.numbers([&mut self.len])?;
        match &mut self.store {
            Store::Empty => return Ok(()),
            Store::Word { keys, null } => {
                archive.cells(keys)?;
                archive.numbers([null])?;
            }
            Store::Pair { keys, masks } => {
                archive.cells(keys)?;
                archive.cells(masks)?;
            }
            Store::Bytes { ends, heap, null } => {
                archive.cells(ends)?;
                archive.cells(heap)?;
                archive.numbers([null])?;
            }
        }
        archive.slots(&mut self.slots.cells)?;
        let cells = self.slots.cells.len();
        self.slots.bits = if cells == 0 { 0 } else { cells.trailing_zeros() };
        let keys = match &self.store {
            Store::Empty => self.len(),
            Store::Word { keys, .. } => keys.len(),
            Store::Pair { keys, .. } => keys.len(),
            Store::Bytes { ends, .. } => ends.len(),
        };
        let fits = (cells == 0 && self.len == 0) || (cells.is_power_of_two() && cells > self.len());
        if keys == self.len() && fits { Ok(()) } else { Err(Error::internal("state that is no index of keys")) }
    }

    /// Takes over those keys of another index that are `wanted`, by tag and group, none of which is here: their groups
    /// there, in ascending order, and here.
    ///
    /// # Errors
    /// As [`KeyIndex::absorb`].
    pub fn take_over(&mut self, other: &KeyIndex, wanted: &dyn Fn(Tag, u32) -> bool) -> Result<Moved> {
        let mut entries = other.entries();
        entries.retain(|&(tag, group)| wanted(tag, group));
        entries.sort_unstable_by_key(|&(_, group)| group);
        let mut to = Vec::with_capacity(entries.len());
        self.absorb(other, &entries, &mut to)?;
        Ok(Moved { from: entries.into_iter().map(|(_, group)| group).collect(), to })
    }

    /// All groups with their tags, in the order of the table (which is about that of any other table).
    pub fn entries(&self) -> Vec<(Tag, u32)> {
        if matches!(self.store, Store::Empty) {
            return (0..self.len).map(|group| (0, group)).collect();
        }
        let mut entries = Vec::with_capacity(self.len as usize);
        let cells = self.slots.cells.iter().filter(|&&cell| cell != 0);
        entries.extend(cells.map(|&cell| ((cell >> 32) as Tag, cell as u32 - 1)));
        entries
    }

    /// The groups that are wanted, with their tags, by hash; equal tags by key, so that the order depends on the keys
    /// alone.
    pub fn in_order(&self, wanted: impl Fn(u32) -> bool) -> Vec<(Tag, u32)> {
        let mut entries = self.entries();
        entries.retain(|&(_, group)| wanted(group));
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| self.compare(a.1, b.1)));
        entries
    }

    /// Any fixed order of the keys of two groups.
    pub fn compare(&self, a: u32, b: u32) -> Ordering {
        let (x, y) = (a as usize, b as usize);
        match &self.store {
            Store::Empty => Ordering::Equal,
            Store::Word { keys, null } => (a == *null, keys[x]).cmp(&(b == *null, keys[y])),
            Store::Pair { keys, masks } => (masks.get(x), keys[x]).cmp(&(masks.get(y), keys[y])),
            Store::Bytes { ends, heap, null } => {
                (a == *null, bytes_of(ends, heap, a)).cmp(&(b == *null, bytes_of(ends, heap, b)))
            }
        }
    }

    /// The key columns of the groups, in their order.
    ///
    /// # Errors
    /// Data if the keys of a string column exceed 2 GiB.
    pub fn decode(&self, groups: &[u32]) -> Result<Vec<ArrayRef>> {
        let types = self.encoder.types();
        match &self.store {
            Store::Empty => Ok(Vec::new()),
            Store::Word { keys, null } => {
                let nulls = (*null != NONE).then(|| groups.iter().map(|group| group != null).collect());
                Ok(vec![column_of_words(&types[0], keys.gather(groups, |word| word), nulls)?])
            }
            Store::Pair { keys, masks } => {
                let nulls = |column: usize| -> Option<NullBuffer> {
                    let valid = |&group: &u32| masks.get(group as usize).is_none_or(|mask| mask >> column & 1 == 0);
                    (!masks.is_empty()).then(|| groups.iter().map(valid).collect())
                };
                if types.len() == 1 {
                    let values = keys.gather(groups, |[low, high]| (i128::from(high as i64) << 64) | i128::from(low));
                    return Ok(vec![decimals(&types[0], values, nulls(0))]);
                }
                let column = |i: usize| column_of_words(&types[i], keys.gather(groups, |pair| pair[i]), nulls(i));
                Ok(vec![column(0)?, column(1)?])
            }
            Store::Bytes { ends, heap, null } if self.encoder.layout() == Layout::Text => {
                let mut column = TextColumn::default();
                for group in groups {
                    column.push((group != null).then(|| bytes_of(ends, heap, *group)))?;
                }
                Ok(vec![column.finish(&types[0])])
            }
            Store::Bytes { ends, heap, .. } => {
                let mut rows: Vec<&[u8]> = groups.iter().map(|&group| bytes_of(ends, heap, group)).collect();
                types.iter().map(|data_type| decode_column(data_type, &mut rows)).collect()
            }
        }
    }
}

/// Cuts one column's cell off the front of each row.
pub(super) fn decode_column(data_type: &ArrowType, rows: &mut [&[u8]]) -> Result<ArrayRef> {
    let mut flags = rows.iter_mut().map(|row| {
        let null = row.first() != Some(&0);
        *row = row.get(1..).unwrap_or_default();
        !null
    });
    let valid: Vec<bool> = flags.by_ref().collect();
    drop(flags);
    let nulls = valid.contains(&false).then(|| NullBuffer::from(valid.clone()));
    if nested::is_nested(data_type) {
        return nested::decode(data_type, rows, &valid, nulls);
    }
    let cells = rows.iter_mut().zip(&valid);
    match data_type {
        ArrowType::Utf8 | ArrowType::Binary => {
            let mut column = TextColumn::default();
            for (row, &valid) in cells {
                column.push(valid.then(|| {
                    let length = u32::from_le_bytes(cut(row)) as usize;
                    let (cell, rest) = row.split_at(length.min(row.len()));
                    *row = rest;
                    cell
                }))?;
            }
            Ok(column.finish(data_type))
        }
        ArrowType::Decimal128(..) => {
            let values = cells.map(|(row, &valid)| if valid { i128::from_le_bytes(cut(row)) } else { 0 }).collect();
            Ok(decimals(data_type, values, nulls))
        }
        _ => {
            let words = cells.map(|(row, &valid)| if valid { u64::from_le_bytes(cut(row)) } else { 0 }).collect();
            column_of_words(data_type, words, nulls)
        }
    }
}

/// Takes N bytes off the front; zeros if there are fewer, which no row of ours has.
fn cut<const N: usize>(row: &mut &[u8]) -> [u8; N] {
    match row.split_first_chunk::<N>() {
        Some((cell, rest)) => {
            *row = rest;
            *cell
        }
        None => [0; N],
    }
}

fn decimals(data_type: &ArrowType, values: Vec<i128>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<adt::Decimal128Type>::new(values.into(), nulls).with_data_type(data_type.clone()))
}

#[derive(Default)]
struct TextColumn {
    data: Vec<u8>,
    ends: Vec<i32>,
    valid: Vec<bool>,
}

impl TextColumn {
    fn push(&mut self, cell: Option<&[u8]>) -> Result<()> {
        self.data.extend_from_slice(cell.unwrap_or_default());
        let end = i32::try_from(self.data.len()).map_err(|_| Error::data("group keys of one batch exceed 2 GiB"))?;
        self.ends.push(end);
        self.valid.push(cell.is_some());
        Ok(())
    }

    fn finish(self, data_type: &ArrowType) -> ArrayRef {
        let offsets: Vec<i32> = std::iter::once(0).chain(self.ends).collect();
        let nulls = self.valid.contains(&false).then(|| NullBuffer::from(self.valid));
        let binary = BinaryArray::new(OffsetBuffer::new(offsets.into()), self.data.into(), nulls);
        if *data_type == ArrowType::Binary {
            return Arc::new(binary);
        }
        // The bytes came from a string column; the check is cheap beside the copy.
        match StringArray::try_from_binary(binary) {
            Ok(strings) => Arc::new(strings),
            Err(_) => new_null_array(data_type, 0),
        }
    }
}

/// Undoes [`super::key`]'s words.
fn column_of_words(data_type: &ArrowType, words: Vec<u64>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    fn primitive<T: adt::ArrowPrimitiveType>(
        data_type: &ArrowType,
        words: Vec<u64>,
        nulls: Option<NullBuffer>,
        value: impl Fn(u64) -> T::Native,
    ) -> ArrayRef {
        let values: Vec<T::Native> = words.into_iter().map(value).collect();
        Arc::new(PrimitiveArray::<T>::new(values.into(), nulls).with_data_type(data_type.clone()))
    }
    use arrow::datatypes::TimeUnit::{Microsecond, Millisecond, Second};
    let t = data_type;
    Ok(match data_type {
        ArrowType::Null => Arc::new(NullArray::new(words.len())),
        ArrowType::Boolean => Arc::new(BooleanArray::new(words.iter().map(|&word| word != 0).collect(), nulls)),
        ArrowType::Int8 => primitive::<adt::Int8Type>(t, words, nulls, |w| w as i8),
        ArrowType::Int16 => primitive::<adt::Int16Type>(t, words, nulls, |w| w as i16),
        ArrowType::Int32 => primitive::<adt::Int32Type>(t, words, nulls, |w| w as i32),
        ArrowType::UInt32 => primitive::<adt::UInt32Type>(t, words, nulls, |w| w as u32),
        ArrowType::Date32 => primitive::<adt::Date32Type>(t, words, nulls, |w| w as i32),
        ArrowType::Time32(Millisecond) => primitive::<adt::Time32MillisecondType>(t, words, nulls, |w| w as i32),
        ArrowType::Float32 => primitive::<adt::Float32Type>(t, words, nulls, |w| f32::from_bits(w as u32)),
        ArrowType::Float64 => primitive::<adt::Float64Type>(t, words, nulls, f64::from_bits),
        ArrowType::Int64 => primitive::<adt::Int64Type>(t, words, nulls, |w| w as i64),
        ArrowType::Timestamp(Second, _) => primitive::<adt::TimestampSecondType>(t, words, nulls, |w| w as i64),
        ArrowType::Timestamp(Millisecond, _) => {
            primitive::<adt::TimestampMillisecondType>(t, words, nulls, |w| w as i64)
        }
        ArrowType::Timestamp(Microsecond, _) => {
            primitive::<adt::TimestampMicrosecondType>(t, words, nulls, |w| w as i64)
        }
        other => return Err(Error::internal(format!("no key column of the Arrow type {other}"))),
    })
}
