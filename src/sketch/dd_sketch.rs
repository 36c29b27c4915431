//! Quantiles with a bound of the relative error: DDSketch (Masson, Rim and Lee, "DDSketch: A Fast and Fully-Mergeable
//! Quantile Sketch with Relative-Error Guarantees", VLDB 2019).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The natural logarithm of how far bins reach down from the highest value: 17 decades, as from 3 years to a nanosecond.
/// So at 1 % there are at most 1958 bins of positive values, and as many of negative ones.
const REACH: f64 = 39.15;

/// Answers quantiles with a relative error of at most its accuracy.
///
/// Bin `i` counts the values above γ^(i−1), up to γ^i, where γ = (1 + accuracy) / (1 − accuracy). Positive and negative
/// values have bins of their own, which reach over 17 decades: what is nearer to 0 is put together in the last one, and
/// the bound does not hold there. 0 is exact; so are the lowest and the highest value. Infinite values have their place
/// in the order; NaN is left out and counted. Merging is exact: parts give what the whole gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DdSketch {
    accuracy: f64,
    /// ln γ.
    width: f64,
    positive: Bins,
    negative: Bins,
    zeros: u64,
    infinite: u64,
    negative_infinite: u64,
    skipped: u64,
    /// Of finite values.
    min: f64,
    max: f64,
}

impl DdSketch {
    /// A sketch with that relative error, for instance 0.01.
    ///
    /// # Errors
    /// Kind Usage for an accuracy that is not from 0.001 to 0.5.
    pub fn new(accuracy: f64) -> Result<Self> {
        if !(0.001..=0.5).contains(&accuracy) {
            return Err(Error::usage(format!("expected a relative accuracy from 0.001 to 0.5, found {accuracy}"))
                .help("0.01 is an error of 1 %"));
        }
        let width = ((1.0 + accuracy) / (1.0 - accuracy)).ln();
        let bins = Bins { counts: VecDeque::new(), first: 0, count: 0, length_max: (REACH / width).ceil() as i32 };
        Ok(DdSketch {
            accuracy,
            width,
            positive: bins.clone(),
            negative: bins,
            zeros: 0,
            infinite: 0,
            negative_infinite: 0,
            skipped: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        })
    }

    /// The bound of the relative error.
    pub fn accuracy(&self) -> f64 {
        self.accuracy
    }

    #[inline]
    pub fn add(&mut self, value: f64) {
        self.add_many(value, 1);
    }

    /// Adds `count` values, all of them `value`.
    #[inline]
    pub fn add_many(&mut self, value: f64, count: u64) {
        if !value.is_finite() {
            return self.add_special(value, count);
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if value > 0.0 {
            self.positive.add(self.bin(value), count);
        } else if value < 0.0 {
            self.negative.add(self.bin(-value), count);
        } else {
            self.zeros += count;
        }
    }

    fn add_special(&mut self, value: f64, count: u64) {
        if value.is_nan() {
            self.skipped += count;
        } else if value > 0.0 {
            self.infinite += count;
        } else {
            self.negative_infinite += count;
        }
    }

    /// Adds what `other` has seen. Where its accuracy is another one, its error adds to ours.
    pub fn merge(&mut self, other: &Self) {
        self.zeros += other.zeros;
        self.infinite += other.infinite;
        self.negative_infinite += other.negative_infinite;
        self.skipped += other.skipped;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        for (bin, count) in other.positive.iter() {
            let bin = if self.width == other.width { bin } else { self.bin(other.middle(bin)) };
            self.positive.add(bin, count);
        }
        for (bin, count) in other.negative.iter() {
            let bin = if self.width == other.width { bin } else { self.bin(other.middle(bin)) };
            self.negative.add(bin, count);
        }
    }

    /// Appends all that it knows, but for the accuracy, as numbers.
    pub(crate) fn append_to(&self, words: &mut Vec<u64>) {
        let specials = [self.zeros, self.infinite, self.negative_infinite, self.skipped];
        words.extend(specials);
        words.extend([self.min.to_bits(), self.max.to_bits()]);
        self.positive.append_to(words);
        self.negative.append_to(words);
    }

    /// A sketch of the accuracy from what [`append_to`](Self::append_to) wrote, which is taken from the front; `None` if it is
    /// no such thing.
    pub(crate) fn read_from(accuracy: f64, words: &mut &[u64]) -> Result<Option<Self>> {
        let mut sketch = DdSketch::new(accuracy)?;
        let Some((&[zeros, infinite, negative_infinite, skipped, min, max], rest)) = words.split_first_chunk() else {
            return Ok(None);
        };
        (sketch.zeros, sketch.infinite, sketch.negative_infinite) = (zeros, infinite, negative_infinite);
        (sketch.skipped, sketch.min, sketch.max) = (skipped, f64::from_bits(min), f64::from_bits(max));
        *words = rest;
        let whole = sketch.positive.read_from(words).is_some() && sketch.negative.read_from(words).is_some();
        Ok(whole.then_some(sketch))
    }

    /// Values that were added, without NaN.
    pub fn count(&self) -> u64 {
        self.positive.count + self.negative.count + self.zeros + self.infinite + self.negative_infinite
    }

    /// How many NaN were left out.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// About the value at place ⌊q (count − 1)⌋ of the ascending order, from 0. `None` for an empty sketch, and for `q`
    /// outside 0 to 1.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let count = self.count();
        if count == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let place = (q * (count - 1) as f64) as u64;
        if place < self.negative_infinite {
            return Some(f64::NEG_INFINITY);
        }
        let place = place - self.negative_infinite;
        let (negative, zeros, positive) = (self.negative.count, self.zeros, self.positive.count);
        if place >= negative + zeros + positive {
            return Some(f64::INFINITY);
        }
        if place == 0 {
            return Some(self.min);
        }
        if place == negative + zeros + positive - 1 {
            return Some(self.max);
        }
        let value = if place < negative {
            -self.middle(self.negative.at(negative - 1 - place))
        } else if place < negative + zeros {
            0.0
        } else {
            self.middle(self.positive.at(place - negative - zeros))
        };
        Some(value.clamp(self.min, self.max))
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + (self.positive.counts.capacity() + self.negative.counts.capacity()) * size_of::<u64>()
    }

    #[inline]
    fn bin(&self, magnitude: f64) -> i32 {
        (magnitude.ln() / self.width).ceil() as i32
    }

    /// The value that is as far from one end of the bin as from the other, by its relative error; above 0 and finite.
    fn middle(&self, bin: i32) -> f64 {
        let middle = (f64::from(bin) * self.width - self.width.exp().ln_1p() + std::f64::consts::LN_2).exp();
        middle.clamp(f64::from_bits(1), f64::MAX)
    }
}

/// Counts of magnitudes: of all bins from the lowest used to the highest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Bins {
    counts: VecDeque<u64>,
    /// The number of the first bin. What is below it counts there, once there are as many bins as there may be.
    first: i32,
    count: u64,
    length_max: i32,
}

impl Bins {
    fn append_to(&self, words: &mut Vec<u64>) {
        words.extend([i64::from(self.first) as u64, self.count, self.counts.len() as u64]);
        words.extend(&self.counts);
    }

    fn read_from(&mut self, words: &mut &[u64]) -> Option<()> {
        let (&[first, count, length], rest) = words.split_first_chunk()?;
        let (counts, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        (self.first, self.count) = (i32::try_from(first as i64).ok()?, count);
        self.counts = counts.iter().copied().collect();
        *words = rest;
        (self.counts.len() <= self.length_max as usize).then_some(())
    }

    #[inline]
    fn add(&mut self, bin: i32, count: u64) {
        self.count += count;
        let place = usize::try_from(bin - self.first).unwrap_or(usize::MAX);
        match self.counts.get_mut(place) {
            Some(counted) => *counted += count,
            None => self.add_outside(bin, count),
        }
    }

    /// Adds to a bin that is not there yet.
    fn add_outside(&mut self, bin: i32, count: u64) {
        if self.counts.is_empty() {
            self.first = bin;
        }
        // The lowest bin that may be there, then the one that counts.
        let lowest = (self.end().max(bin + 1) - self.length_max).max(self.first.min(bin));
        let bin = bin.max(lowest);
        let mut collapsed = 0;
        while self.first < lowest && !self.counts.is_empty() {
            collapsed += self.counts.pop_front().unwrap_or_default();
            self.first += 1;
        }
        self.first = self.first.max(lowest);
        while self.first > bin {
            self.counts.push_front(0);
            self.first -= 1;
        }
        let length = (bin + 1 - self.first) as usize;
        if self.counts.len() < length {
            self.counts.resize(length, 0);
        }
        self.counts[0] += collapsed;
        self.counts[length - 1] += count;
    }

    /// Behind the last bin.
    fn end(&self) -> i32 {
        self.first + self.counts.len() as i32
    }

    fn iter(&self) -> impl Iterator<Item = (i32, u64)> {
        (self.first..).zip(self.counts.iter().copied()).filter(|(_, count)| *count > 0)
    }

    /// The bin with the value at a place in the order of magnitudes.
    fn at(&self, place: u64) -> i32 {
        let mut below = 0;
        for (bin, count) in self.iter() {
            below += count;
            if below > place {
                return bin;
            }
        }
        self.end() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::sketch::tests::{Exact, QUANTILES, samples};

    fn of(accuracy: f64, values: &[f64]) -> DdSketch {
        let mut sketch = DdSketch::new(accuracy).expect("a good accuracy");
        values.iter().for_each(|value| sketch.add(*value));
        sketch
    }

    #[test]
    fn quantiles_have_the_relative_error_that_was_asked_for() {
        for accuracy in [0.001, 0.01, 0.1] {
            for (name, values) in samples(10_000) {
                let (exact, sketch) = (Exact::of(&values), of(accuracy, &values));
                for q in QUANTILES {
                    let truth = exact.at((q * 9_999.0) as usize);
                    let answer = sketch.quantile(q).expect("values");
                    let error = (answer - truth).abs();
                    assert!(error <= truth.abs() * accuracy * (1.0 + 1e-9), "{name} {q}: {answer} for {truth}");
                }
            }
        }
    }

    #[test]
    fn parts_merged_in_any_grouping_are_the_whole_also_where_bins_are_put_together() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            // Exponents of 2 from -1000 to 1000 need far more bins than there are.
            let range = if seed % 2 == 0 { 1_000 } else { 10 };
            let mut part = || -> Vec<f64> {
                let count = random.below(300);
                (0..count)
                    .map(|_| 2f64.powi(random.between(-range, range) as i32) * random.between(-1, 1) as f64)
                    .collect()
            };
            let parts = [part(), part(), part()];
            let whole = of(0.01, &parts.concat());
            let [a, b, c] = [0, 1, 2].map(|i| of(0.01, &parts[i]));
            let (mut left, mut right, mut first) = (a.clone(), b.clone(), a.clone());
            left.merge(&b);
            left.merge(&c);
            right.merge(&c);
            first.merge(&right);
            assert_eq!([&left, &first], [&whole; 2], "seed {seed}");
            assert!(whole.positive.counts.len() <= 1_958 && whole.bytes() < 80_000);
        }
    }

    #[test]
    fn the_bound_holds_in_the_bins_that_are_not_put_together() {
        let values: Vec<f64> = (-1_000..1_000).map(|exponent| 2f64.powi(exponent)).collect();
        let sketch = of(0.01, &values);
        for (place, value) in values.iter().enumerate().skip(1_970) {
            let answer = sketch.quantile(((place as f64 + 0.5) / 1_999.0).min(1.0)).expect("values");
            assert!((answer / value - 1.0).abs() <= 0.01 + 1e-9, "{place}: {answer}");
        }
    }

    #[test]
    fn extremes_are_exact_and_infinite_values_ordered() {
        let sketch = of(0.01, &[f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 0.0, -0.0, f64::INFINITY, f64::NAN]);
        assert_eq!((sketch.count(), sketch.skipped()), (7, 1));
        assert_eq!(sketch.quantile(0.0), Some(f64::MIN));
        assert_eq!(sketch.quantile(1.0 / 3.0), Some(0.0));
        assert_eq!(sketch.quantile(0.9), Some(f64::MAX));
        assert_eq!(sketch.quantile(1.0), Some(f64::INFINITY));
        assert_eq!(of(0.01, &[]).quantile(0.5), None);
        assert_eq!(of(0.01, &[1.0]).quantile(-0.1), None);
    }

    #[test]
    fn another_accuracy_adds_its_error() {
        let (_, values) = samples(2_000).remove(1);
        let (one, two) = values.split_at(1_000);
        let mut merged = of(0.01, one);
        merged.merge(&of(0.02, two));
        let exact = Exact::of(&values);
        for q in QUANTILES {
            let truth = exact.at((q * 1_999.0) as usize);
            let answer = merged.quantile(q).expect("values");
            assert!((answer / truth - 1.0).abs() < 0.0303, "{q}: {answer} for {truth}");
        }
    }

    #[test]
    fn an_accuracy_out_of_range_is_refused() {
        for accuracy in [0.0, -1.0, 1.0, f64::NAN] {
            let error = DdSketch::new(accuracy).expect_err("out of range");
            assert!(error.message().starts_with("expected a relative accuracy from 0.001 to 0.5, found"));
        }
    }
}
