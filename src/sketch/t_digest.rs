//! Quantiles with a bound of the error in rank that is tightest at the ends: the merging t-digest (Dunning and Ertl,
//! "Computing Extremely Accurate Quantiles Using t-Digests", 2019), with the scale function k1.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Values next to each other in the order, by their mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Centroid {
    mean: f64,
    weight: u64,
}

/// Answers quantiles by the means of groups of neighbours; groups are small at the ends of the order.
///
/// The answer for `q` is a value whose rank is at most 2π √(q (1 − q)) / compression off, as a share of the count; at a
/// compression of 200 that is 1.6 % for the median and 0.3 % for the 99th percentile. In practice it is far less. It is
/// exact as long as there are at most twice as many values as the compression says, and for the lowest and the highest
/// value. Merged digests keep to the bound, but are not the same digest as that of all values in one: groups of two
/// digests may overlap. Infinite values have their place in the order; NaN is left out and counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TDigest {
    compression: f64,
    /// Ascending.
    centroids: Vec<Centroid>,
    /// Values that are in no centroid yet, as they came.
    recent: Vec<f64>,
    /// Of the centroids.
    weight: u64,
    infinite: u64,
    negative_infinite: u64,
    skipped: u64,
    /// Of finite values.
    min: f64,
    max: f64,
}

impl Default for TDigest {
    fn default() -> Self {
        TDigest::with(Self::COMPRESSION_DEFAULT)
    }
}

impl TDigest {
    pub const COMPRESSION_DEFAULT: f64 = 200.0;

    /// A digest of at most about `compression` groups, 16 bytes each.
    ///
    /// # Errors
    /// Kind Usage for a compression outside 20 to 10000.
    pub fn new(compression: f64) -> Result<Self> {
        if !(20.0..=10_000.0).contains(&compression) {
            return Err(Error::usage(format!("expected a t-digest compression from 20 to 10000, found {compression}"))
                .help("200 finds the 99th percentile within 0.3 % of the rank; twice as much halves the error"));
        }
        Ok(TDigest::with(compression))
    }

    fn with(compression: f64) -> Self {
        TDigest {
            compression,
            centroids: Vec::new(),
            recent: Vec::new(),
            weight: 0,
            infinite: 0,
            negative_infinite: 0,
            skipped: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }

    pub fn compression(&self) -> f64 {
        self.compression
    }

    #[inline]
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return self.add_special(value);
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if self.recent.len() >= self.recent_max() {
            self.compress();
        }
        self.recent.push(value);
    }

    fn add_special(&mut self, value: f64) {
        if value.is_nan() {
            self.skipped += 1;
        } else if value > 0.0 {
            self.infinite += 1;
        } else {
            self.negative_infinite += 1;
        }
    }

    /// Adds what `other` has seen. The compression stays.
    pub fn merge(&mut self, other: &Self) {
        self.infinite += other.infinite;
        self.negative_infinite += other.negative_infinite;
        self.skipped += other.skipped;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.weight += other.weight;
        if !other.centroids.is_empty() {
            self.centroids = in_order(&self.centroids, &other.centroids);
        }
        self.recent.extend_from_slice(&other.recent);
        // Nothing is grouped that fits: a window of few values is exact, of however many slices it is made.
        if self.centroids.len() as f64 > 2.0 * self.compression || self.recent.len() > self.recent_max() {
            self.compress();
        }
    }

    /// Values that were added, without NaN.
    pub fn count(&self) -> u64 {
        self.finite() + self.infinite + self.negative_infinite
    }

    /// How many NaN were left out.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// About the value at place q (count − 1) of the ascending order, from 0; between two places by interpolation, as
    /// PERCENTILE does it. `None` for an empty digest, and for `q` outside 0 to 1.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.quantiles(&[q]).pop().flatten()
    }

    /// [`quantile`](Self::quantile) for several at once, which sorts the values once.
    pub fn quantiles(&self, quantiles: &[f64]) -> Vec<Option<f64>> {
        let sorted = self.sorted();
        quantiles.iter().map(|&q| self.quantile_in(&sorted, q)).collect()
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.centroids.capacity() * size_of::<Centroid>()
            + self.recent.capacity() * size_of::<f64>()
    }

    fn finite(&self) -> u64 {
        self.weight + self.recent.len() as u64
    }

    #[inline]
    fn recent_max(&self) -> usize {
        (2.0 * self.compression) as usize
    }

    /// Centroids and recent values.
    fn sorted(&self) -> Vec<Centroid> {
        let mut recent = self.recent.clone();
        recent.sort_unstable_by(f64::total_cmp);
        let recent: Vec<Centroid> = recent.into_iter().map(|mean| Centroid { mean, weight: 1 }).collect();
        in_order(&self.centroids, &recent)
    }

    /// Puts neighbours together as long as a group spans at most 1 on the scale.
    fn compress(&mut self) {
        let all = self.sorted();
        self.weight = self.finite();
        self.recent.clear();
        self.recent.shrink_to(self.recent_max());
        self.centroids = Vec::with_capacity(all.len().min(self.compression as usize));
        let total = self.weight as f64;
        let (mut done, mut limit) = (0u64, total * self.group_end(0.0));
        for next in all {
            match self.centroids.last_mut() {
                Some(group) if (done + group.weight + next.weight) as f64 <= limit => group.take(next),
                Some(group) => {
                    done += group.weight;
                    limit = total * self.group_end(done as f64 / total);
                    self.centroids.push(next);
                }
                None => self.centroids.push(next),
            }
        }
    }

    /// Where a group ends that starts at `q`, both as shares of the weight: 1 further on the scale
    /// k1(q) = compression / 2π · asin(2q − 1).
    fn group_end(&self, q: f64) -> f64 {
        let angle = (2.0 * q - 1.0).clamp(-1.0, 1.0).asin() + 2.0 * PI / self.compression;
        if angle >= PI / 2.0 { 1.0 } else { (angle.sin() + 1.0) / 2.0 }
    }

    fn quantile_in(&self, sorted: &[Centroid], q: f64) -> Option<f64> {
        if self.count() == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let place = q * (self.count() - 1) as f64 - self.negative_infinite as f64;
        let finite = self.finite();
        if place < 0.0 && self.negative_infinite > 0 {
            return Some(f64::NEG_INFINITY);
        }
        if finite == 0 || place > (finite - 1) as f64 {
            return Some(f64::INFINITY);
        }
        // A recent value may lie behind the mean of a group that holds the lowest or the highest.
        if place == 0.0 || place == (finite - 1) as f64 {
            return Some(if place == 0.0 { self.min } else { self.max });
        }
        // The mean of a group has the place in its middle.
        let (mut done, mut before) = (0u64, (0.0, self.min));
        for group in sorted {
            let middle = done as f64 + (group.weight - 1) as f64 / 2.0;
            if place <= middle {
                return Some(between(before, (middle, group.mean), place));
            }
            before = (middle, group.mean);
            done += group.weight;
        }
        Some(between(before, ((finite - 1) as f64, self.max), place))
    }
}

impl Centroid {
    fn take(&mut self, other: Centroid) {
        let weight = self.weight + other.weight;
        self.mean = mix(self.mean, other.mean, other.weight as f64 / weight as f64);
        self.weight = weight;
    }
}

/// Two ascending lists in one; of equal means those of the first come first.
fn in_order(a: &[Centroid], b: &[Centroid]) -> Vec<Centroid> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let mut rest = a;
    for centroid in b {
        let before = rest.iter().take_while(|first| first.mean <= centroid.mean).count();
        all.extend_from_slice(&rest[..before]);
        all.push(*centroid);
        rest = &rest[before..];
    }
    all.extend_from_slice(rest);
    all
}

/// From `a` to `b`, without ever leaving them or overflowing.
fn mix(a: f64, b: f64, share: f64) -> f64 {
    (a * (1.0 - share) + b * share).clamp(a.min(b), a.max(b))
}

/// The value at `place`, by those at two places around it.
fn between(before: (f64, f64), after: (f64, f64), place: f64) -> f64 {
    let distance = after.0 - before.0;
    if distance <= 0.0 { after.1 } else { mix(before.1, after.1, (place - before.0) / distance) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::sketch::tests::{Exact, QUANTILES, samples};

    fn of(compression: f64, values: &[f64]) -> TDigest {
        let mut digest = TDigest::new(compression).expect("a good compression");
        values.iter().for_each(|value| digest.add(*value));
        digest
    }

    /// The answer lies between values whose ranks are within the bound.
    fn check(name: &str, digest: &TDigest, exact: &Exact) {
        let last = (digest.count() - 1) as f64;
        for q in QUANTILES {
            let bound = 2.0 * PI * (q * (1.0 - q)).sqrt() / digest.compression * last;
            let low = exact.at((q * last - bound).floor().max(0.0) as usize);
            let high = exact.at((q * last + bound).ceil() as usize);
            let answer = digest.quantile(q).expect("values");
            assert!((low..=high).contains(&answer), "{name} {q}: {answer}, expected {low} to {high}");
        }
    }

    #[test]
    fn quantiles_are_within_the_bound_of_the_rank() {
        for compression in [20.0, 100.0, 200.0, 1_000.0] {
            for (name, values) in samples(20_000) {
                let digest = of(compression, &values);
                check(name, &digest, &Exact::of(&values));
                assert_eq!(digest.count(), 20_000);
                assert!(digest.centroids.len() as f64 <= compression, "{name}: {}", digest.centroids.len());
            }
        }
    }

    #[test]
    fn merged_digests_are_within_the_bound_in_any_grouping() {
        for (name, values) in samples(20_000) {
            let exact = Exact::of(&values);
            for pieces in [2, 7, 60, 1_000] {
                let parts: Vec<TDigest> = values.chunks(values.len() / pieces).map(|part| of(100.0, part)).collect();
                let mut in_a_row = of(100.0, &[]);
                parts.iter().for_each(|part| in_a_row.merge(part));
                check(name, &in_a_row, &exact);
                let mut pairs = parts;
                while pairs.len() > 1 {
                    let pair = |pair: &[TDigest]| {
                        let mut merged = pair[0].clone();
                        pair.iter().skip(1).for_each(|second| merged.merge(second));
                        merged
                    };
                    pairs = pairs.chunks(2).map(pair).collect();
                }
                check(name, &pairs[0], &exact);
                for digest in [&in_a_row, &pairs[0]] {
                    assert!(digest.bytes() <= 7_104, "{}", digest.bytes());
                }
            }
        }
    }

    #[test]
    fn few_values_are_exact_also_when_merged() {
        let mut random = Random::new(3);
        let values: Vec<f64> = (0..400).map(|_| random.between(-500, 500) as f64).collect();
        let (exact, mut merged) = (Exact::of(&values), of(200.0, &[]));
        values.chunks(9).for_each(|part| merged.merge(&of(200.0, part)));
        let whole = of(200.0, &values);
        for place in 0..400 {
            let q = place as f64 / 399.0;
            for answer in [whole.quantile(q), merged.quantile(q)] {
                assert!((answer.expect("values") - exact.at(place)).abs() < 1e-9, "{place}");
            }
        }
        let digest = of(200.0, &[1.0, 2.0, 4.0, 8.0]);
        assert_eq!(digest.quantiles(&[0.0, 0.5, 0.75, 1.0]), [1.0, 3.0, 5.0, 8.0].map(Some));
    }

    #[test]
    fn extremes_are_exact_and_infinite_values_ordered() {
        let (_, mut values) = samples(10_000).remove(5);
        let highest = Exact::of(&values).at(9_999);
        values.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NAN]);
        let digest = of(50.0, &values);
        assert_eq!((digest.count(), digest.skipped()), (10_003, 1));
        let place = |place: f64| digest.quantile(place / 10_002.0);
        assert_eq!(place(0.0), Some(f64::NEG_INFINITY));
        assert_eq!(place(1.0), Some(f64::NEG_INFINITY));
        assert_eq!(place(10_002.0), Some(f64::INFINITY));
        assert!((place(10_001.0).expect("a value") / highest - 1.0).abs() < 1e-6);
        assert_eq!(of(50.0, &[f64::MAX, f64::MIN]).quantile(0.5), Some(0.0));
        assert_eq!(of(50.0, &[f64::NAN]).quantile(0.5), None);
        assert_eq!(of(50.0, &[1.0]).quantile(f64::NAN), None);
    }

    #[test]
    fn a_compression_out_of_range_is_refused() {
        for compression in [0.0, 19.9, 1e9, f64::NAN] {
            let error = TDigest::new(compression).expect_err("out of range");
            assert!(error.message().starts_with("expected a t-digest compression from 20 to 10000, found"));
        }
    }
}
