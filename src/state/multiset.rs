//! COLLECT: the different values of a group, each with how often it came. NULLs are left out.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int32Array, MapArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::DataType as ArrowType;

use super::sets::{Sets, pass};
use crate::aggregate::Accumulator;
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::snapshot::Archive;
use crate::types::{DataType, Type};

pub(super) struct Multiset {
    sets: Sets,
    /// Of each entry of the sets.
    counts: ArenaVec<i64>,
    /// Each value counts once.
    distinct: bool,
    output: ArrowType,
}

impl Multiset {
    pub(super) fn new(input: &DataType, distinct: bool) -> Result<Self> {
        let output = Type::Multiset(Box::new(input.clone())).to_arrow();
        Ok(Multiset { sets: Sets::new(&[input.kind.to_arrow()])?, counts: ArenaVec::new(), distinct, output })
    }

    /// Adds values, each as often as `times` says of its row.
    fn add(&mut self, groups: &[u32], values: &[ArrayRef], times: impl Fn(usize) -> i64) -> Result<()> {
        let found = self.sets.insert(groups, values)?;
        self.counts.resize_zeroed(self.sets.len());
        for (row, entry) in found.into_iter().enumerate() {
            let count = &mut self.counts[entry as usize];
            *count = if self.distinct { 1 } else { *count + times(row) };
        }
        Ok(())
    }
}

impl Accumulator for Multiset {
    fn resize(&mut self, groups: usize) {
        self.sets.resize(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let (groups, values) = pass(groups, args, filter, false)?;
        self.add(&groups, &values, |_| 1)
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other: &Multiset =
            other.as_any().downcast_ref().ok_or_else(|| Error::internal("merging different aggregates"))?;
        let (mut entries, mut groups) = (Vec::new(), Vec::new());
        for (&from, &to) in from.iter().zip(to) {
            other.sets.append_to(from, &mut entries);
            groups.resize(entries.len(), to);
        }
        let values = other.sets.values(&entries)?;
        self.add(&groups, &values, |row| other.counts[entries[row] as usize])
    }
    fn reset(&mut self, groups: &[u32]) {
        self.sets.reset(groups);
        // A rebuild only saves memory; it cannot fail for keys that were encoded before.
        if let Ok(Some(kept)) = self.sets.collect() {
            let mut counts = ArenaVec::new();
            counts.extend_from_slice(&self.counts.gather(&kept, |count| count));
            self.counts = counts;
        }
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let ArrowType::Map(field, sorted) = &self.output else { return Err(Error::internal("a MULTISET is no map")) };
        let ArrowType::Struct(fields) = field.data_type() else { return Err(Error::internal("a map without entries")) };
        let (mut entries, mut lengths) = (Vec::new(), Vec::with_capacity(groups.len()));
        for &group in groups {
            let before = entries.len();
            self.sets.append_to(group, &mut entries);
            lengths.push(entries.len() - before);
        }
        if i32::try_from(entries.len()).is_err() {
            return Err(Error::data("the MULTISETs of one result column have more than 2^31 elements"));
        }
        let counts = self.counts.gather(&entries, |count| i32::try_from(count).unwrap_or(i32::MAX));
        let mut columns = self.sets.values(&entries)?;
        columns.push(Arc::new(Int32Array::from(counts)));
        let map = StructArray::try_new(fields.clone(), columns, None).and_then(|pairs| {
            MapArray::try_new(field.clone(), OffsetBuffer::from_lengths(lengths), pairs, None, *sorted)
        });
        Ok(Arc::new(map.map_err(|error| Error::internal(format!("a column of MULTISETs: {error}")))?))
    }
    fn bytes(&self) -> usize {
        self.sets.bytes() + self.counts.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.sets.archive(archive)?;
        archive.cells(&mut self.counts)
    }
}
