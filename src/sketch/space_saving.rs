//! The most frequent values: Space-Saving (Metwally, Agrawal and El Abbadi, "Efficient Computation of Frequent and
//! Top-k Elements in Data Streams", 2005), merged as in "Mergeable Summaries" (Agarwal and others, 2012).

use std::collections::HashMap;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A value and how often it was there: at most `count` times, and at least `count - error` times.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HeavyHitter<V> {
    pub value: V,
    pub count: u64,
    pub error: u64,
}

impl<V> HeavyHitter<V> {
    /// Times that are certain.
    pub fn guaranteed(&self) -> u64 {
        self.count.saturating_sub(self.error)
    }
}

/// Counts the most frequent values with a fixed number of counters.
///
/// A value that has no counter was there at most [`floor`](Self::floor) times, which is at most the count of all
/// values divided by the number of counters; so every value that is more frequent has one. Counts are exact until there
/// are more different values than counters. Merged sketches keep these bounds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound(deserialize = "V: Deserialize<'de> + Hash + Eq"))]
pub struct SpaceSaving<V> {
    capacity: usize,
    counters: Vec<HeavyHitter<V>>,
    numbers: HashMap<V, usize>,
    /// Numbers of counters, a heap with the lowest count on top.
    heap: Vec<usize>,
    /// Where in the heap a counter's number is.
    places: Vec<usize>,
    total: u64,
}

impl<V: Hash + Eq + Clone> SpaceSaving<V> {
    /// # Errors
    /// Kind Usage for 0 counters.
    pub fn new(counters: usize) -> Result<Self> {
        if counters == 0 {
            return Err(Error::usage("expected at least 1 counter for heavy hitters, found 0")
                .help("1000 counters find every value that is more than a thousandth of all"));
        }
        Ok(SpaceSaving {
            capacity: counters,
            counters: Vec::new(),
            numbers: HashMap::new(),
            heap: Vec::new(),
            places: Vec::new(),
            total: 0,
        })
    }

    pub fn add(&mut self, value: V) {
        self.total += 1;
        if let Some(&number) = self.numbers.get(&value) {
            self.counters[number].count += 1;
            self.sink(self.places[number]);
        } else if self.counters.len() < self.capacity {
            self.push(HeavyHitter { value, count: 1, error: 0 });
        } else {
            let number = self.heap[0];
            let counter = &mut self.counters[number];
            self.numbers.remove(&counter.value);
            self.numbers.insert(value.clone(), number);
            *counter = HeavyHitter { value, count: counter.count + 1, error: counter.count };
            self.sink(0);
        }
    }

    /// Adds what `other` has seen. The number of counters stays.
    pub fn merge(&mut self, other: &Self) {
        // A value without a counter may have been there as often as the lowest counter says.
        let (our_floor, their_floor) = (self.floor(), other.floor());
        let mut all = std::mem::take(&mut self.counters);
        for counter in &mut all {
            let theirs = other.numbers.get(&counter.value).and_then(|&number| other.counters.get(number));
            counter.count += theirs.map_or(their_floor, |theirs| theirs.count);
            counter.error += theirs.map_or(their_floor, |theirs| theirs.error);
        }
        for theirs in other.counters.iter().filter(|theirs| !self.numbers.contains_key(&theirs.value)) {
            let (count, error) = (theirs.count + our_floor, theirs.error + our_floor);
            all.push(HeavyHitter { value: theirs.value.clone(), count, error });
        }
        all.sort_by_key(|counter| (std::cmp::Reverse(counter.count), counter.error));
        all.truncate(self.capacity);
        self.total += other.total;
        self.numbers.clear();
        self.heap.clear();
        self.places.clear();
        // From the lowest: so each is in its place in the heap.
        all.into_iter().rev().for_each(|counter| self.push(counter));
    }

    /// The counters from the highest count to the lowest; of equal counts, that with the smaller error first.
    pub fn heaviest(&self) -> Vec<HeavyHitter<V>> {
        let mut all = self.counters.clone();
        all.sort_by_key(|counter| (std::cmp::Reverse(counter.count), counter.error));
        all
    }

    /// How often a value was there.
    pub fn get(&self, value: &V) -> Option<&HeavyHitter<V>> {
        self.numbers.get(value).and_then(|&number| self.counters.get(number))
    }

    /// How often a value that has no counter can have been there.
    pub fn floor(&self) -> u64 {
        match self.heap.first() {
            Some(&lowest) if self.counters.len() >= self.capacity => self.counters[lowest].count,
            _ => 0,
        }
    }

    /// All values that were added.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Memory in bytes, without what values point to.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.counters.capacity() * size_of::<HeavyHitter<V>>()
            + self.numbers.capacity() * (size_of::<(V, usize)>() + 1)
            + (self.heap.capacity() + self.places.capacity()) * size_of::<usize>()
    }

    /// Gives a value without a counter one. Its count is not below any other, or 1.
    fn push(&mut self, counter: HeavyHitter<V>) {
        let number = self.counters.len();
        self.numbers.insert(counter.value.clone(), number);
        self.counters.push(counter);
        self.heap.push(number);
        self.places.push(number);
        self.rise(number);
    }

    fn count_at(&self, place: usize) -> u64 {
        self.counters[self.heap[place]].count
    }

    fn swap(&mut self, one: usize, two: usize) {
        self.heap.swap(one, two);
        self.places[self.heap[one]] = one;
        self.places[self.heap[two]] = two;
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 && self.count_at(place) < self.count_at((place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    fn sink(&mut self, mut place: usize) {
        while let Some(child) = self.lower_child(place)
            && self.count_at(child) < self.count_at(place)
        {
            self.swap(place, child);
            place = child;
        }
    }

    fn lower_child(&self, place: usize) -> Option<usize> {
        (2 * place + 1..self.heap.len().min(2 * place + 3)).min_by_key(|child| self.count_at(*child))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::sketch::tests::zipf;

    fn of(counters: usize, values: &[u64]) -> SpaceSaving<u64> {
        let mut sketch = SpaceSaving::new(counters).expect("counters");
        values.iter().for_each(|value| sketch.add(*value));
        sketch
    }

    fn exact(values: &[u64]) -> HashMap<u64, u64> {
        let mut counts = HashMap::new();
        values.iter().for_each(|value| *counts.entry(*value).or_default() += 1);
        counts
    }

    fn check(name: &str, sketch: &SpaceSaving<u64>, values: &[u64]) {
        let counts = exact(values);
        let total = values.len() as u64;
        assert_eq!(sketch.total(), total, "{name}");
        assert!(sketch.floor() <= total / sketch.capacity as u64, "{name}: floor {}", sketch.floor());
        let heaviest = sketch.heaviest();
        assert!(heaviest.len() <= sketch.capacity && heaviest.is_sorted_by(|a, b| a.count >= b.count));
        for counter in &heaviest {
            let truth = counts.get(&counter.value).copied().unwrap_or_default();
            assert!(counter.guaranteed() <= truth && truth <= counter.count, "{name}: {counter:?} of {truth}");
            assert!(counter.error <= total / sketch.capacity as u64, "{name}: {counter:?}");
        }
        for (value, &truth) in &counts {
            assert!(sketch.get(value).is_some() || truth <= sketch.floor(), "{name}: {value} was there {truth} times");
        }
    }

    fn streams() -> Vec<(&'static str, Vec<u64>)> {
        let mut random = Random::new(11);
        let mut of = |next: &dyn Fn(&mut Random) -> u64| (0..20_000).map(|_| next(&mut random)).collect::<Vec<_>>();
        let mut ascending = of(&zipf);
        ascending.sort_unstable();
        vec![
            ("zipf", of(&zipf)),
            ("zipf, ascending", ascending),
            ("uniform", of(&|random| random.below(1_000))),
            ("constant", vec![7; 20_000]),
            ("all different", (0..20_000).collect()),
        ]
    }

    #[test]
    fn counts_are_within_their_errors_and_no_frequent_value_is_missing() {
        for (name, values) in streams() {
            for counters in [1, 10, 100, 2_000] {
                check(name, &of(counters, &values), &values);
            }
        }
    }

    #[test]
    fn merged_sketches_keep_the_bounds_and_count_on() {
        for (name, values) in streams() {
            for (counters, pieces) in [(10, 2), (100, 3), (100, 50), (2_000, 20)] {
                let mut parts = values.chunks(values.len() / (pieces + 1));
                let tail = parts.next_back().unwrap_or_default();
                let mut merged = of(counters, &[]);
                parts.for_each(|part| merged.merge(&of(counters, part)));
                tail.iter().for_each(|value| merged.add(*value));
                check(name, &merged, &values);
            }
        }
    }

    #[test]
    fn few_values_are_counted_exactly() {
        let values = [3, 1, 3, 2, 3, 2];
        let (one, two) = values.split_at(2);
        let mut merged = of(3, one);
        merged.merge(&of(3, two));
        for sketch in [merged, of(3, &values)] {
            let counts: Vec<_> = sketch.heaviest().iter().map(|c| (c.value, c.count, c.error)).collect();
            assert_eq!(counts, [(3, 3, 0), (2, 2, 0), (1, 1, 0)]);
            assert_eq!(sketch.get(&9), None);
        }
    }

    #[test]
    fn no_counters_are_refused() {
        assert!(SpaceSaving::<u64>::new(0).is_err());
    }
}
