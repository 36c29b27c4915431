//! The k highest elements, and the most frequent values.

use std::hash::Hash;

use crate::error::Result;
use crate::sketch::{self, HeavyHitter, SpaceSaving};
use crate::windowing::function::AggregateFunction;
use crate::windowing::{Data, StateData};

/// The `k` elements with the highest scores, highest first; of equal scores the one that came first is higher. For the
/// lowest, score by [`std::cmp::Reverse`].
#[derive(Debug, Clone, Copy)]
pub struct TopK<F> {
    k: usize,
    score: F,
}

impl<F> TopK<F> {
    pub fn of<T, S: PartialOrd>(k: usize, score: F) -> Self
    where
        F: Fn(&T) -> S,
    {
        TopK { k, score }
    }
}

impl<T: StateData, S: PartialOrd + StateData, F: Fn(&T) -> S + Data> AggregateFunction<T> for TopK<F> {
    type Accumulator = sketch::TopK<S, T>;
    type Output = Vec<T>;

    fn create_accumulator(&self) -> Self::Accumulator {
        sketch::TopK::new(self.k)
    }
    #[inline]
    fn add(&self, element: &T, top: &mut Self::Accumulator) {
        top.add_with((self.score)(element), || element.clone());
    }
    fn get_result(&self, top: &Self::Accumulator) -> Vec<T> {
        top.best().iter().map(|(_, element)| element.clone()).collect()
    }
    fn merge(&self, top: &mut Self::Accumulator, other: &Self::Accumulator) {
        top.merge(other);
    }
}

/// The most frequent values of a field with their counts and the errors of these, by [`SpaceSaving`].
///
/// With `counters` counters every value is found that is more than one in `counters` of all; no count is more than that
/// too high, and none is too low. Counts are exact where there are no more different values than counters.
#[derive(Debug, Clone)]
pub struct HeavyHitters<V, F> {
    k: usize,
    empty: SpaceSaving<V>,
    field: F,
}

impl<V: Hash + Eq + Clone, F> HeavyHitters<V, F> {
    /// The `k` most frequent of those that have a counter.
    ///
    /// # Errors
    /// Kind Usage for 0 counters.
    pub fn of<T>(k: usize, counters: usize, field: F) -> Result<Self>
    where
        F: Fn(&T) -> V,
    {
        Ok(HeavyHitters { k, empty: SpaceSaving::new(counters)?, field })
    }
}

impl<T, V: Hash + Eq + StateData, F: Fn(&T) -> V + Data> AggregateFunction<T> for HeavyHitters<V, F> {
    type Accumulator = SpaceSaving<V>;
    type Output = Vec<HeavyHitter<V>>;

    fn create_accumulator(&self) -> SpaceSaving<V> {
        self.empty.clone()
    }
    fn add(&self, element: &T, counted: &mut SpaceSaving<V>) {
        counted.add((self.field)(element));
    }
    fn get_result(&self, counted: &SpaceSaving<V>) -> Vec<HeavyHitter<V>> {
        let mut heaviest = counted.heaviest();
        heaviest.truncate(self.k);
        heaviest
    }
    fn merge(&self, counted: &mut SpaceSaving<V>, other: &SpaceSaving<V>) {
        counted.merge(other);
    }
}
