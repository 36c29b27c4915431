//! PERCENTILE: exact, from all values (`634-agg-percentile`).

use std::any::Any;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Field, Int64Type};

use super::chains::Chains;
use super::variance::doubles;
use super::{Accumulator, Setting, same, selected, values};
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::snapshot::Archive;

pub(super) struct Percentile {
    fractions: Fractions,
    chains: Chains,
    values: ArenaVec<f64>,
    /// How often each value counts; `None` as long as all count once.
    weights: Option<ArenaVec<i64>>,
}

/// Which quantiles a function gives, and in which form.
pub(super) struct Fractions {
    values: Vec<f64>,
    list: bool,
}

impl Fractions {
    pub(super) fn of(setting: &Setting) -> Result<Self> {
        match setting {
            Setting::Fractions { values, list } => Ok(Fractions { values: values.clone(), list: *list }),
            _ => Err(Error::internal("a percentile without fractions")),
        }
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The column of results: for each group its quantiles, or `None` for NULL.
    ///
    /// # Errors
    /// Data if the arrays have more than 2^31 elements.
    pub(super) fn column(&self, groups: impl Iterator<Item = Option<Vec<f64>>>) -> Result<ArrayRef> {
        if !self.list {
            let first = groups.map(|quantiles| quantiles.and_then(|all| all.first().copied()));
            return Ok(Arc::new(first.collect::<Float64Array>()));
        }
        let (mut elements, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new());
        for quantiles in groups {
            valid.push(quantiles.is_some());
            let quantiles = quantiles.unwrap_or_default();
            lengths.push(quantiles.len());
            elements.extend(quantiles);
        }
        if i32::try_from(elements.len()).is_err() {
            return Err(Error::data("the arrays of one result column have more than 2^31 elements"));
        }
        let field = Arc::new(Field::new("element", ArrowType::Float64, true));
        let (offsets, nulls) = (OffsetBuffer::from_lengths(lengths), NullBuffer::from(valid));
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        Ok(Arc::new(ListArray::new(field, offsets, Arc::new(Float64Array::from(elements)), nulls)))
    }
}

impl Percentile {
    pub(super) fn new(setting: &Setting) -> Result<Self> {
        let fractions = Fractions::of(setting)?;
        Ok(Percentile { fractions, chains: Chains::default(), values: ArenaVec::new(), weights: None })
    }

    fn push(&mut self, group: u32, value: f64, weight: i64) -> Result<()> {
        self.chains.push(group)?;
        if weight != 1 && self.weights.is_none() {
            let mut weights = ArenaVec::new();
            weights.resize(self.values.len(), 1);
            self.weights = Some(weights);
        }
        // Java has one NaN.
        self.values.push(if value.is_nan() { f64::NAN } else { value });
        if let Some(weights) = &mut self.weights {
            weights.push(weight);
        }
        Ok(())
    }

    fn weight(&self, entry: u32) -> i64 {
        self.weights.as_ref().map_or(1, |weights| weights[entry as usize])
    }

    /// The values of a group in their order, each once, with what it counts.
    fn counts(&self, group: u32) -> Vec<(f64, i64)> {
        let entries = self.chains.list(group);
        let mut counts: Vec<(f64, i64)> =
            entries.map(|entry| (self.values[entry as usize], self.weight(entry))).collect();
        counts.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        counts.dedup_by(|(value, weight), (kept, sum)| {
            let equal = value.to_bits() == kept.to_bits();
            if equal {
                *sum = sum.wrapping_add(*weight);
            }
            equal
        });
        counts
    }

    fn quantiles(&self, group: u32) -> Option<Vec<f64>> {
        let counts = self.counts(group);
        let total = counts.iter().fold(0_i64, |sum, (_, weight)| sum.wrapping_add(*weight));
        (total > 0).then(|| self.fractions.values.iter().map(|&fraction| quantile(&counts, total, fraction)).collect())
    }
}

/// The value at that fraction of the ranks 1 to `total`; between two ranks, on the line between their values.
/// Step by step as Flink computes it, down to the last digit.
fn quantile(counts: &[(f64, i64)], total: i64, fraction: f64) -> f64 {
    let rank = fraction * (total - 1) as f64 + 1.0;
    let (below, above) = (rank.floor() as i64, rank.ceil() as i64);
    let (mut at, mut reached) = (0, counts[0].1);
    while reached < below && at + 1 < counts.len() {
        at += 1;
        reached = reached.wrapping_add(counts[at].1);
    }
    let value = counts[at].0;
    match counts.get(at + 1) {
        Some((next, _)) if reached < above => (above as f64 - rank) * value + (rank - below as f64) * next,
        _ => value,
    }
}

impl Accumulator for Percentile {
    fn resize(&mut self, groups: usize) {
        self.chains.resize(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let numbers = doubles(values(args, groups)?)?;
        let weights: Option<Int64Array> = match args.get(1) {
            None => None,
            Some(weights) => {
                let wide = cast(weights, &ArrowType::Int64);
                let wide = wide.map_err(|error| Error::internal(format!("the weights of PERCENTILE: {error}")))?;
                Some(wide.as_primitive::<Int64Type>().clone())
            }
        };
        let mask = selected(args, filter);
        for row in 0..groups.len() {
            let weight = weights.as_ref().map_or(1, |weights| weights.value(row));
            if weight > 0 && mask.as_ref().is_none_or(|mask| mask.value(row)) {
                self.push(groups[row], numbers[row], weight)?;
            }
        }
        Ok(())
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Percentile>(other)?;
        for (&from, &to) in from.iter().zip(to) {
            for entry in other.chains.list(from) {
                self.push(to, other.values[entry as usize], other.weight(entry))?;
            }
        }
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        self.chains.reset(groups);
        if let Some(remains) = self.chains.remains() {
            let (mut values, mut weights) = (ArenaVec::new(), ArenaVec::new());
            for &entry in &remains {
                values.push(self.values[entry as usize]);
                weights.push(self.weight(entry));
            }
            self.values = values;
            self.weights = self.weights.is_some().then_some(weights);
            self.chains.renumber();
        }
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        self.fractions.column(groups.iter().map(|&group| self.quantiles(group)))
    }
    fn bytes(&self) -> usize {
        self.chains.bytes() + self.values.bytes() + self.weights.as_ref().map_or(0, ArenaVec::bytes)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.chains.archive(archive)?;
        archive.cells(&mut self.values)?;
        archive.option(&mut self.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_have_flinks_digits() {
        // As Flink 2.3 answered.
        let counts = [(-7.0, 1), (3.0, 1)];
        assert_eq!(quantile(&counts, 2, 0.3), -3.999999999999999);
        assert_eq!(quantile(&counts, 2, 0.9), 1.9999999999999991);
        assert_eq!(quantile(&[(-0.05, 1), (1.5, 1), (3.0, 1)], 3, 0.9), 2.6999999999999997);
        assert_eq!(quantile(&[(1.0, 2), (4.0, 1)], 3, 1.0), 4.0);
        assert_eq!(quantile(&[(1.0, 2), (4.0, 1)], 3, 0.25), 1.0);
    }
}
