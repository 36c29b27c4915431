//! Blocks between being made and being read.

use std::collections::VecDeque;

use crate::error::{Error, Result};
use crate::source::Extent;

/// Blocks of one split, numbered from 0. Each is read once.
pub(in crate::api) struct Blocks<B> {
    waiting: VecDeque<Option<B>>,
    /// Number of the first one in `waiting`.
    first: usize,
    /// There will be no more.
    pub complete: bool,
}

impl<B> Blocks<B> {
    pub fn new() -> Self {
        Blocks { waiting: VecDeque::new(), first: 0, complete: false }
    }
    pub fn push(&mut self, block: B) {
        self.waiting.push_back(Some(block));
    }
    pub fn extent(&self) -> Extent {
        Extent { blocks: self.first + self.waiting.len(), complete: self.complete }
    }
    /// A block that has not been taken.
    pub fn get(&self, block: usize) -> Option<&B> {
        self.waiting.get(block.checked_sub(self.first)?)?.as_ref()
    }

    /// # Errors
    /// Internal: it was taken before, or is not there yet.
    pub fn take(&mut self, block: usize) -> Result<B> {
        let index = block.checked_sub(self.first);
        let taken = index.and_then(|index| self.waiting.get_mut(index)).and_then(Option::take);
        while self.waiting.front().is_some_and(Option::is_none) {
            self.waiting.pop_front();
            self.first += 1;
        }
        taken.ok_or_else(|| Error::internal("a block of records was asked for twice, or too early"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_taken_once_in_any_order() {
        let mut blocks = Blocks::new();
        (0..3).for_each(|number| blocks.push(number * 10));
        assert_eq!(blocks.get(1), Some(&10));
        assert_eq!((blocks.take(1).unwrap(), blocks.get(1)), (10, None));
        assert_eq!((blocks.take(0).unwrap(), blocks.take(2).unwrap()), (0, 20));
        assert!(blocks.take(2).is_err() && blocks.take(3).is_err());
        blocks.push(30);
        assert_eq!((blocks.extent(), blocks.take(3).unwrap()), (Extent { blocks: 4, complete: false }, 30));
    }
}
