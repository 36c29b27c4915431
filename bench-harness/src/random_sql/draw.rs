//! Choices of the generator, all from one seed.

use crate::workload::random::Random;

/// Draws what a case is made of.
#[derive(Debug)]
pub struct Draw(Random);

impl Draw {
    /// Case `number` of a seed does not depend on how many cases are drawn.
    pub fn new(seed: u64, number: u64) -> Self {
        Draw(Random::new(seed, number))
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.saturating_sub(low).max(0).unsigned_abs() + 1;
        low + self.0.below(span) as i64
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.0.below(100) < percent
    }

    /// One of a list that is not empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.0.below(from.len() as u64) as usize]
    }

    /// At most `count` different ones, in the order of the list.
    pub fn some<T: Clone>(&mut self, from: &[T], count: usize) -> Vec<T> {
        let mut left = count.min(from.len());
        let mut chosen = Vec::new();
        for (index, item) in from.iter().enumerate() {
            let rest = (from.len() - index) as u64;
            if self.0.below(rest) < left as u64 {
                chosen.push(item.clone());
                left -= 1;
            }
        }
        chosen
    }
}
