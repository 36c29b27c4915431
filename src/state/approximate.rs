//! APPROX_COUNT_DISTINCT: ours, a HyperLogLog for each group.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array};

use super::key::KeyEncoder;
use super::sets::pass;
use crate::aggregate::Accumulator;
use crate::error::{Error, Result};
use crate::sketch::HyperLogLog;
use crate::snapshot::Archive;
use crate::types::DataType;

pub(super) struct ApproxCountDistinct {
    encoder: KeyEncoder,
    sketches: Vec<HyperLogLog>,
}

impl ApproxCountDistinct {
    pub(super) fn new(input: &DataType) -> Result<Self> {
        Ok(ApproxCountDistinct { encoder: KeyEncoder::new(&[input.kind.to_arrow()])?, sketches: Vec::new() })
    }
}

impl Accumulator for ApproxCountDistinct {
    fn resize(&mut self, groups: usize) {
        self.sketches.resize(groups, HyperLogLog::default());
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let (groups, values) = pass(groups, args, filter, false)?;
        let mut hashes = Vec::with_capacity(groups.len());
        self.encoder.encode(&values, groups.len())?.hash_into(&mut hashes);
        for (group, hash) in groups.into_iter().zip(hashes) {
            self.sketches[group as usize].add(hash);
        }
        Ok(())
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other: &ApproxCountDistinct =
            other.as_any().downcast_ref().ok_or_else(|| Error::internal("merging different aggregates"))?;
        for (&from, &to) in from.iter().zip(to) {
            self.sketches[to as usize].merge(&other.sketches[from as usize]);
        }
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        for &group in groups {
            self.sketches[group as usize] = HyperLogLog::default();
        }
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let count = |&group: &u32| i64::try_from(self.sketches[group as usize].count()).unwrap_or(i64::MAX);
        Ok(Arc::new(groups.iter().map(count).collect::<Int64Array>()))
    }
    fn bytes(&self) -> usize {
        self.sketches.iter().map(HyperLogLog::bytes).sum()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let mut words: Vec<u32> = Vec::new();
        self.sketches.iter().for_each(|sketch| sketch.append_to(&mut words));
        archive.cells(&mut words)?;
        if archive.is_reading() {
            let mut rest = words.as_slice();
            while !rest.is_empty() {
                let wrong = || Error::internal("a sketch of distinct values that is none");
                self.sketches.push(HyperLogLog::read_from(&mut rest).ok_or_else(wrong)?);
            }
        }
        Ok(())
    }
}
