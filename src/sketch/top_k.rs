//! The k highest of many, exactly.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::sketch::order;

/// The `k` values with the highest scores, highest first; of equal scores the one that came first is higher.
///
/// Scores have the order of [`order`]: NaN is above all numbers. For the lowest, score by [`std::cmp::Reverse`].
/// Memory: `k` pairs of score and value at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopK<S, V> {
    k: usize,
    best: Vec<(S, V)>,
}

impl<S: PartialOrd, V> TopK<S, V> {
    pub fn new(k: usize) -> Self {
        TopK { k, best: Vec::new() }
    }

    /// Adds a value, which is made only if its score is high enough.
    #[inline]
    pub fn add_with(&mut self, score: S, value: impl FnOnce() -> V) {
        if self.best.len() >= self.k {
            match self.best.last() {
                Some((lowest, _)) if order(&score, lowest) == Ordering::Greater => self.best.pop(),
                _ => return,
            };
        }
        let place = self.best.partition_point(|(higher, _)| order(higher, &score) != Ordering::Less);
        self.best.insert(place, (score, value()));
    }

    pub fn add(&mut self, score: S, value: V) {
        self.add_with(score, || value);
    }

    /// Adds what `other` has kept, which came after all that was added here.
    pub fn merge(&mut self, other: &Self)
    where
        S: Clone,
        V: Clone,
    {
        for (score, value) in &other.best {
            self.add_with(score.clone(), || value.clone());
        }
    }

    /// Highest first.
    pub fn best(&self) -> &[(S, V)] {
        &self.best
    }

    /// Memory in bytes, without what scores and values point to.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.best.capacity() * size_of::<(S, V)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_best_are_those_of_a_stable_sort_also_when_parts_are_merged() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let (k, count) = (random.below(8) as usize, random.below(60) as usize);
            let scored: Vec<(u64, usize)> = (0..count).map(|number| (random.below(10), number)).collect();
            let mut expected = scored.clone();
            expected.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
            expected.truncate(k);

            let of = |part: &[(u64, usize)]| {
                let mut top = TopK::new(k);
                part.iter().for_each(|&(score, number)| top.add(score, number));
                top
            };
            let (one, two) = scored.split_at(random.below(count as u64 + 1) as usize);
            let mut merged = of(one);
            merged.merge(&of(two));
            assert_eq!(of(&scored).best(), expected, "seed {seed}");
            assert_eq!(merged.best(), expected, "seed {seed}");
        }
    }

    #[test]
    fn nan_is_above_all_numbers() {
        let mut top = TopK::new(2);
        for (place, score) in [1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().enumerate() {
            top.add(score, place);
        }
        assert_eq!(top.best().iter().map(|(_, place)| *place).collect::<Vec<_>>(), [1, 2]);
    }
}
