//! APPROX_PERCENTILE: ours, a DDSketch for each group.

use std::any::Any;

use arrow::array::{ArrayRef, BooleanArray};

use super::percentile::Fractions;
use super::variance::doubles;
use super::{Accumulator, Setting, same, selected, values};
use crate::error::{Error, Result};
use crate::sketch::DdSketch;
use crate::snapshot::Archive;

/// The bound of the relative error.
const ACCURACY: f64 = 0.01;

pub(super) struct ApproxPercentile {
    fractions: Fractions,
    sketches: Vec<DdSketch>,
    empty: DdSketch,
}

impl ApproxPercentile {
    pub(super) fn new(setting: &Setting) -> Result<Self> {
        let fractions = Fractions::of(setting)?;
        Ok(ApproxPercentile { fractions, sketches: Vec::new(), empty: DdSketch::new(ACCURACY)? })
    }

    fn quantiles(&self, group: u32) -> Option<Vec<f64>> {
        let sketch = &self.sketches[group as usize];
        self.fractions.values().iter().map(|&fraction| sketch.quantile(fraction)).collect()
    }
}

impl Accumulator for ApproxPercentile {
    fn resize(&mut self, groups: usize) {
        self.sketches.resize(groups, self.empty.clone());
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let numbers = doubles(values(args, groups)?)?;
        let mask = selected(args, filter);
        for (row, &group) in groups.iter().enumerate() {
            if mask.as_ref().is_none_or(|mask| mask.value(row)) {
                self.sketches[group as usize].add(numbers[row]);
            }
        }
        Ok(())
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<ApproxPercentile>(other)?;
        for (&from, &to) in from.iter().zip(to) {
            self.sketches[to as usize].merge(&other.sketches[from as usize]);
        }
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        for &group in groups {
            self.sketches[group as usize] = self.empty.clone();
        }
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        self.fractions.column(groups.iter().map(|&group| self.quantiles(group)))
    }
    fn bytes(&self) -> usize {
        self.sketches.iter().map(DdSketch::bytes).sum()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let mut words: Vec<u64> = Vec::new();
        self.sketches.iter().for_each(|sketch| sketch.append_to(&mut words));
        archive.cells(&mut words)?;
        if archive.is_reading() {
            let mut rest = words.as_slice();
            while !rest.is_empty() {
                let wrong = || Error::internal("a sketch of quantiles that is none");
                let sketch = DdSketch::read_from(self.empty.accuracy(), &mut rest)?.ok_or_else(wrong)?;
                self.sketches.push(sketch);
            }
        }
        Ok(())
    }
}
