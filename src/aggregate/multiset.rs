//! MIN and MAX where rows are taken out again: all values are kept, each with how often it is there.

use std::any::Any;
use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::row::{RowConverter, Rows, SortField};

use super::run::{Run, Step};
use super::{Accumulator, same, values};
use crate::error::{Error, Result};
use crate::snapshot::{Archive, ByteLists, fits};
use crate::types::DataType;

/// Memory of an entry besides its bytes, roughly.
const ENTRY_BYTES: usize = 64;

pub(super) struct Multiset {
    converter: RowConverter,
    /// By group and value, in the order of the values.
    counts: BTreeMap<(u32, Box<[u8]>), u64>,
    value_bytes: usize,
    max: bool,
}

impl Multiset {
    pub(super) fn new(input: &DataType, max: bool) -> Result<Self> {
        let converter = RowConverter::new(vec![SortField::new(input.kind.to_arrow())])?;
        Ok(Multiset { converter, counts: BTreeMap::new(), value_bytes: 0, max })
    }

    fn change(&mut self, group: u32, value: &[u8], step: Step) {
        let key = (group, Box::from(value));
        match step {
            Step::Add => {
                let count = self.counts.entry(key).or_insert(0);
                self.value_bytes += if *count == 0 { value.len() } else { 0 };
                *count += 1;
            }
            Step::Remove => match self.counts.get_mut(&key) {
                Some(count) if *count > 1 => *count -= 1,
                Some(_) => {
                    self.value_bytes -= value.len();
                    self.counts.remove(&key);
                }
                None => {}
            },
            Step::Clear | Step::Skip => {}
        }
    }

    fn clear(&mut self, group: u32) {
        let values: Vec<Box<[u8]>> = self.entries(group).map(Box::from).collect();
        for value in values {
            self.value_bytes -= value.len();
            self.counts.remove(&(group, value));
        }
    }

    fn entries(&self, group: u32) -> impl DoubleEndedIterator<Item = &[u8]> {
        let nothing = || Box::from(&[][..]);
        // No value is encoded as no bytes, so that every entry of the group lies in between.
        let range = match group.checked_add(1) {
            Some(next) => self.counts.range((group, nothing())..(next, nothing())),
            None => self.counts.range((group, nothing())..),
        };
        range.map(|((_, value), _)| &**value)
    }

    fn best(&self, group: u32) -> Option<&[u8]> {
        let mut entries = self.entries(group);
        if self.max { entries.next_back() } else { entries.next() }
    }

    fn encoded(&self, values: &ArrayRef) -> Result<Rows> {
        Ok(self.converter.convert_columns(std::slice::from_ref(values))?)
    }

    /// The values of these bytes; none is NULL.
    fn decoded(&self, best: &[Option<Box<[u8]>>]) -> Result<ArrayRef> {
        let null = self.encoded(&arrow::array::new_null_array(&self.data_type()?, 1))?;
        let parser = self.converter.parser();
        let rows = best.iter().map(|value| parser.parse(value.as_deref().unwrap_or_else(|| null.row(0).data())));
        let mut columns = self.converter.convert_rows(rows)?;
        columns.pop().ok_or_else(|| Error::internal("a value of no column"))
    }

    fn data_type(&self) -> Result<arrow::datatypes::DataType> {
        let empty: [arrow::row::Row<'_>; 0] = [];
        let columns = self.converter.convert_rows(empty)?;
        Ok(columns.first().ok_or_else(|| Error::internal("a value of no column"))?.data_type().clone())
    }
}

impl Accumulator for Multiset {
    fn resize(&mut self, _groups: usize) {}

    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        self.run(&Run { groups, args, filter, steps: &[] }).map(|_| ())
    }

    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        let rows = self.encoded(values(run.args, run.groups)?)?;
        let best = run.each(|row, group, step| {
            let group = group as u32;
            match step {
                Step::Clear => self.clear(group),
                step => self.change(group, rows.row(row).data(), step),
            }
            self.best(group).map(Box::from)
        });
        self.decoded(&best)
    }

    fn merge(&mut self, _: &dyn Accumulator, _: &[u32], _: &[u32]) -> Result<()> {
        Err(Error::internal("groups of a changing result are not merged"))
    }

    fn reset(&mut self, groups: &[u32]) {
        groups.iter().for_each(|&group| self.clear(group));
    }

    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let best: Vec<Option<Box<[u8]>>> = groups.iter().map(|&group| self.best(group).map(Box::from)).collect();
        self.decoded(&best)
    }

    fn bytes(&self) -> usize {
        self.value_bytes + self.counts.len() * ENTRY_BYTES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
    fn take_over(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Multiset>(other)?;
        for (&from, &to) in from.iter().zip(to) {
            for value in other.entries(from) {
                let count = other.counts.get(&(from, Box::from(value))).copied().unwrap_or(0);
                self.value_bytes += value.len();
                self.counts.insert((to, Box::from(value)), count);
            }
        }
        Ok(())
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let mut groups: Vec<u32> = self.counts.keys().map(|(group, _)| *group).collect();
        let mut counts: Vec<u64> = self.counts.values().copied().collect();
        let mut values = ByteLists::of(self.counts.keys().map(|(_, value)| value.iter().copied()));
        archive.cells(&mut groups)?;
        archive.cells(&mut counts)?;
        values.archive(archive)?;
        fits(groups.len() == counts.len() && groups.len() == values.len())?;
        if archive.is_reading() {
            let entries = groups.into_iter().zip(values.iter()).zip(counts);
            self.counts = entries.map(|((group, value), count)| ((group, Box::from(value)), count)).collect();
            self.value_bytes = values.items();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{AsArray, StringArray};

    use super::*;
    use crate::types::Type;

    #[test]
    fn the_next_best_follows_when_the_best_is_taken_out() {
        let mut best = Multiset::new(&Type::string().nullable(), true).expect("texts have an order");
        let values: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), Some(""), None, Some("b"), Some("")]));
        let steps = [Step::Add, Step::Add, Step::Add, Step::Remove, Step::Clear];
        let run = Run { groups: &[7, 7, 7, 7, 7], args: &[values], filter: None, steps: &steps };
        let results = best.run(&run).expect("values fit");
        let results: Vec<_> = results.as_string::<i32>().iter().collect();
        assert_eq!(results, [Some("b"), Some("b"), Some("b"), Some(""), None]);
        assert_eq!(best.bytes(), 0);
    }
}
