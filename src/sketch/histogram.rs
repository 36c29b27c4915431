//! Counts per bucket, with bounds that are known beforehand, as a histogram of Prometheus has them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Counts values in buckets with fixed upper bounds, which belong to their buckets (`le`); a last bucket without bound
/// takes the rest.
///
/// A quantile is found by interpolation inside its bucket, as `histogram_quantile` of PromQL does it: the answer is in
/// the same bucket as the true one. What is in the last bucket is answered with the highest bound.
/// Merging is exact. Infinite values are in the first and the last bucket; NaN is left out and counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FixedHistogram {
    bounds: Arc<[f64]>,
    /// One more than bounds.
    counts: Box<[u64]>,
    skipped: u64,
}

impl FixedHistogram {
    /// # Errors
    /// Kind Usage if there is no bound, one is not finite, or they do not ascend.
    pub fn new(bounds: &[f64]) -> Result<Self> {
        let fault = if bounds.is_empty() {
            Some(String::from("none"))
        } else if let Some(bound) = bounds.iter().find(|bound| !bound.is_finite()) {
            Some(format!("{bound}"))
        } else {
            bounds.windows(2).find(|pair| pair[0] >= pair[1]).map(|pair| format!("{} behind {}", pair[1], pair[0]))
        };
        if let Some(found) = fault {
            return Err(Error::usage(format!("expected ascending finite bounds of a histogram, found {found}"))
                .help("name the upper bounds of the buckets; what is above the last one has a bucket of its own"));
        }
        Ok(FixedHistogram { bounds: bounds.into(), counts: vec![0; bounds.len() + 1].into(), skipped: 0 })
    }

    pub fn add(&mut self, value: f64) {
        self.add_many(value, 1);
    }

    /// Adds `count` values, all of them `value`.
    pub fn add_many(&mut self, value: f64, count: u64) {
        if value.is_nan() {
            self.skipped += count;
            return;
        }
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        if let Some(counted) = self.counts.get_mut(bucket) {
            *counted += count;
        }
    }

    /// Adds the counts of `other`. Where its bounds are others, the values of each of its buckets count as its upper
    /// bound.
    pub fn merge(&mut self, other: &Self) {
        self.skipped += other.skipped;
        if self.bounds == other.bounds {
            self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
            return;
        }
        let bounds = other.bounds.iter().copied().chain([f64::INFINITY]);
        for (bound, &count) in bounds.zip(&other.counts).filter(|(_, count)| **count > 0) {
            self.add_many(bound, count);
        }
    }

    /// Values that were added, without NaN.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many NaN were left out.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Upper bounds and counts of the buckets; the last bound is infinite.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        self.bounds.iter().copied().chain([f64::INFINITY]).zip(self.counts.iter().copied())
    }

    /// `None` for an empty histogram, and for `q` outside 0 to 1.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let total = self.count();
        if total == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = q * total as f64;
        let mut below = 0;
        // The first bucket starts at 0, unless its values are not positive: then nothing is known about its start.
        let mut lower = self.bounds.first().map(|first| first.min(0.0))?;
        for (&upper, &count) in self.bounds.iter().zip(&self.counts) {
            if count > 0 && (below + count) as f64 >= rank {
                let share = (rank - below as f64) / count as f64;
                return Some((lower + (upper - lower) * share).clamp(lower, upper));
            }
            (below, lower) = (below + count, upper);
        }
        self.bounds.last().copied()
    }

    /// Memory in bytes; the bounds, which clones share, are left out.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.counts.len() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::tests::{Exact, QUANTILES, samples};

    fn of(bounds: &[f64], values: &[f64]) -> FixedHistogram {
        let mut histogram = FixedHistogram::new(bounds).expect("good bounds");
        values.iter().for_each(|value| histogram.add(*value));
        histogram
    }

    #[test]
    fn a_quantile_is_in_the_bucket_of_the_true_one() {
        let bounds = [-10.0, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1_000.0, 1e6];
        for (name, values) in samples(5_000) {
            let (exact, histogram) = (Exact::of(&values), of(&bounds, &values));
            assert_eq!(histogram.count(), 5_000);
            for q in QUANTILES {
                // The rank q * n counts from 1.
                let rank = (q * values.len() as f64).ceil().max(1.0) as usize - 1;
                let truth = exact.at(rank);
                let bucket = bounds.partition_point(|bound| *bound < truth);
                let lower = if bucket == 0 { -10.0 } else { bounds[bucket - 1] };
                let upper = bounds.get(bucket).copied().unwrap_or(1e6);
                let answer = histogram.quantile(q).expect("values");
                assert!((lower..=upper).contains(&answer), "{name} {q}: {answer} for {truth}");
            }
        }
    }

    #[test]
    fn answers_are_those_of_prometheus() {
        let histogram = of(&[0.1, 0.2, 0.5], &[0.05, 0.15, 0.15, 0.3, 7.0]);
        assert_eq!(histogram.quantile(0.0), Some(0.0));
        assert_eq!(histogram.quantile(0.1), Some(0.05));
        assert_eq!(histogram.quantile(0.4), Some(0.15000000000000002));
        assert_eq!(histogram.quantile(0.9), Some(0.5), "in the bucket without bound: the highest bound");
        assert_eq!(of(&[-1.0, 1.0], &[-5.0]).quantile(0.5), Some(-1.0));
        assert_eq!(of(&[1.0], &[]).quantile(0.5), None);
        assert_eq!(of(&[1.0], &[1.0]).quantile(1.5), None);
    }

    #[test]
    fn merging_adds_the_counts() {
        let (one, two) = ([0.5, 3.0, f64::NAN], [f64::INFINITY, f64::NEG_INFINITY, 1.0]);
        let mut merged = of(&[1.0, 2.0], &one);
        merged.merge(&of(&[1.0, 2.0], &two));
        assert_eq!(merged, of(&[1.0, 2.0], &[one, two].concat()));
        assert_eq!(merged.buckets().collect::<Vec<_>>(), [(1.0, 3), (2.0, 0), (f64::INFINITY, 2)]);
        assert_eq!(merged.skipped(), 1);
        merged.merge(&of(&[1.5], &[1.2, 9.0]));
        assert_eq!(merged.buckets().map(|(_, count)| count).collect::<Vec<_>>(), [3, 1, 3]);
    }

    #[test]
    fn bounds_must_be_finite_and_ascend() {
        for (bounds, found) in [(&[][..], "none"), (&[1.0, f64::NAN], "NaN"), (&[1.0, 3.0, 3.0], "3 behind 3")] {
            let error = FixedHistogram::new(bounds).expect_err("bad bounds");
            assert_eq!(error.message(), format!("expected ascending finite bounds of a histogram, found {found}"));
        }
    }
}
