//! MIN and MAX of strings, by their bytes (`407-agg-min-max-order`).

use std::any::Any;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StringBuilder};

use super::{Accumulator, same, selected, values};
use crate::arena::{ArenaVec, ByteHeap, Span};
use crate::error::{Error, Result};
use crate::snapshot::Archive;

/// The span of a group without a value.
const EMPTY: Span = [0, u64::MAX];
/// Garbage below this is not worth a copy.
const GARBAGE_MIN: usize = 16 << 10;
const TEXT_MAX: usize = i32::MAX as usize;

pub(super) struct TextExtreme {
    spans: ArenaVec<Span>,
    heap: ByteHeap,
    /// Bytes of the heap that spans refer to.
    live: usize,
    max: bool,
}

impl TextExtreme {
    pub(super) fn new(max: bool) -> Self {
        TextExtreme { spans: ArenaVec::new(), heap: ByteHeap::new(), live: 0, max }
    }

    fn put(&mut self, group: u32, value: &[u8]) {
        let old = self.spans[group as usize];
        if old != EMPTY {
            let current = self.heap.get(old);
            if !(if self.max { value > current } else { value < current }) {
                return;
            }
            self.live -= old[1] as usize;
        }
        self.live += value.len();
        self.spans[group as usize] = self.heap.push(value);
    }

    /// Copies the live strings together once garbage outweighs them.
    fn collect(&mut self) {
        if self.heap.len() < 2 * self.live + GARBAGE_MIN {
            return;
        }
        let mut heap = ByteHeap::new();
        for span in self.spans.iter_mut().filter(|span| **span != EMPTY) {
            *span = heap.push(self.heap.get(*span));
        }
        self.heap = heap;
    }
}

impl Accumulator for TextExtreme {
    fn resize(&mut self, groups: usize) {
        self.spans.resize(groups, EMPTY);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let array = values(args, groups)?;
        let wrong = || Error::internal(format!("MIN or MAX of STRING over {} values", array.data_type()));
        let strings = array.as_string_opt::<i32>().ok_or_else(wrong)?;
        match selected(args, filter) {
            None => (0..groups.len()).for_each(|row| self.put(groups[row], strings.value(row).as_bytes())),
            Some(mask) => mask.set_indices().for_each(|row| self.put(groups[row], strings.value(row).as_bytes())),
        }
        self.collect();
        Ok(())
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<TextExtreme>(other)?;
        for (&from, &to) in from.iter().zip(to) {
            let span = other.spans[from as usize];
            if span != EMPTY {
                self.put(to, other.heap.get(span));
            }
        }
        self.collect();
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        for &group in groups {
            let old = std::mem::replace(&mut self.spans[group as usize], EMPTY);
            self.live -= if old == EMPTY { 0 } else { old[1] as usize };
        }
        self.collect();
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let spans = self.spans.gather(groups, |span| span);
        let bytes: usize = spans.iter().filter(|&&span| span != EMPTY).map(|span| span[1] as usize).sum();
        if bytes > TEXT_MAX {
            return Err(Error::data("the strings of one result column exceed 2 GiB"));
        }
        let mut column = StringBuilder::with_capacity(spans.len(), bytes);
        for span in spans {
            // The bytes came from a string column.
            column.append_option((span != EMPTY).then(|| std::str::from_utf8(self.heap.get(span)).unwrap_or_default()));
        }
        Ok(Arc::new(column.finish()))
    }
    fn bytes(&self) -> usize {
        self.spans.bytes() + self.heap.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.spans)?;
        archive.cells(&mut self.heap)?;
        archive.count(&mut self.live)
    }
}
