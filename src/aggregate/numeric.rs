//! COUNT, SUM and AVG of integers and floats.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array, PrimitiveArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};

use super::run::{Run, Step, column};
use super::seen::Seen;
use super::{Accumulator, copy, same, selected, values};
use crate::arena::{ArenaVec, Pod};
use crate::error::{Error, Result};
use crate::snapshot::Archive;
use crate::types::Type;

/// COUNT(*) and COUNT(x).
#[derive(Default)]
pub(super) struct Count {
    counts: ArenaVec<i64>,
}

impl Accumulator for Count {
    fn resize(&mut self, groups: usize) {
        self.counts.resize_zeroed(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        count(&mut self.counts, groups, selected(args, filter).as_ref());
        Ok(())
    }
    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        let counts = self.counts.as_mut_slice();
        let results = run.each(|_, group, step| {
            let count = &mut counts[group];
            stepped(count, step);
            *count
        });
        Ok(Arc::new(Int64Array::from(results)))
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        self.counts.combine(to, &same::<Count>(other)?.counts, from, |cell, value| *cell += value);
        Ok(())
    }
    fn invertible(&self) -> bool {
        true
    }
    fn retract(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        self.counts.combine(to, &same::<Count>(other)?.counts, from, |cell, value| *cell -= value);
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        self.counts.touch(groups, |cell| *cell = 0);
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        Ok(Arc::new(Int64Array::from(self.counts.gather(groups, |count| count))))
    }
    fn bytes(&self) -> usize {
        self.counts.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.counts)
    }
}

/// How many values are there after one more step.
#[inline]
pub(super) fn stepped(count: &mut i64, step: Step) {
    match step {
        Step::Add => *count += 1,
        Step::Remove => *count -= 1,
        Step::Clear => *count = 0,
        Step::Skip => {}
    }
}

fn count(counts: &mut ArenaVec<i64>, groups: &[u32], mask: Option<&BooleanBuffer>) {
    match mask {
        None => counts.touch(groups, |cell| *cell += 1),
        Some(mask) => mask.set_indices().for_each(|row| counts[groups[row] as usize] += 1),
    }
}

/// How sums of an input type are kept: integers wrap in 64 bits (and so in every narrower type), floats add in
/// their own width from -0.0, which leaves the first value as it is.
trait Summed: ArrowPrimitiveType {
    type Sum: Pod + PartialEq;
    const ZERO: Self::Sum;
    const INVERTIBLE: bool;
    fn add(sum: Self::Sum, value: Self::Sum) -> Self::Sum;
    fn sub(sum: Self::Sum, value: Self::Sum) -> Self::Sum;
    fn widen(value: Self::Native) -> Self::Sum;
    fn narrow(sum: Self::Sum) -> Self::Native;
}

macro_rules! summed_integer {
    ($($arrow:ty),*) => { $(impl Summed for $arrow {
        type Sum = i64;
        const ZERO: i64 = 0;
        const INVERTIBLE: bool = true;
        #[inline]
        fn add(sum: i64, value: i64) -> i64 { sum.wrapping_add(value) }
        #[inline]
        fn sub(sum: i64, value: i64) -> i64 { sum.wrapping_sub(value) }
        #[inline]
        fn widen(value: Self::Native) -> i64 { i64::from(value) }
        #[inline]
        fn narrow(sum: i64) -> Self::Native { sum as Self::Native }
    })* };
}
summed_integer!(Int8Type, Int16Type, Int32Type, Int64Type);

macro_rules! summed_float {
    ($($arrow:ty),*) => { $(impl Summed for $arrow {
        type Sum = Self::Native;
        const ZERO: Self::Native = -0.0;
        // Subtracting slices would leave residue (field case 46). Where rows are taken out again, Flink subtracts too.
        const INVERTIBLE: bool = false;
        #[inline]
        fn add(sum: Self::Native, value: Self::Native) -> Self::Native { sum + value }
        #[inline]
        fn sub(sum: Self::Native, value: Self::Native) -> Self::Native { sum - value }
        #[inline]
        fn widen(value: Self::Native) -> Self::Native { value }
        #[inline]
        fn narrow(sum: Self::Native) -> Self::Native { sum }
    })* };
}
summed_float!(Float32Type, Float64Type);

/// Adds the selected values to their groups' sums.
fn add<T: Summed>(
    sums: &mut ArenaVec<T::Sum>,
    groups: &[u32],
    values: &ArrayRef,
    mask: Option<&BooleanBuffer>,
) -> Result<()> {
    let values = values.as_primitive_opt::<T>().ok_or_else(|| wrong::<T>(values))?.values();
    match mask {
        None => sums.scatter(groups, values, |cell, value| *cell = T::add(*cell, T::widen(value))),
        Some(mask) => {
            for row in mask.set_indices() {
                let cell = &mut sums[groups[row] as usize];
                *cell = T::add(*cell, T::widen(values[row]));
            }
        }
    }
    Ok(())
}

fn wrong<T: ArrowPrimitiveType>(values: &ArrayRef) -> Error {
    Error::internal(format!("an aggregate of {} over {} values", T::DATA_TYPE, values.data_type()))
}

struct Sum<T: Summed> {
    sums: ArenaVec<T::Sum>,
    seen: Seen,
    tracking: bool,
}

/// SUM of integers and floats.
pub(super) fn sum(output: &Type) -> Result<Box<dyn Accumulator>> {
    fn of<T: Summed>() -> Box<dyn Accumulator> {
        Box::new(Sum::<T> { sums: ArenaVec::new(), seen: Seen::default(), tracking: false })
    }
    Ok(match output {
        Type::TinyInt => of::<Int8Type>(),
        Type::SmallInt => of::<Int16Type>(),
        Type::Int => of::<Int32Type>(),
        Type::BigInt => of::<Int64Type>(),
        Type::Float => of::<Float32Type>(),
        Type::Double => of::<Float64Type>(),
        other => return Err(Error::internal(format!("SUM with a result of type {other}"))),
    })
}

impl<T: Summed> Accumulator for Sum<T> {
    fn resize(&mut self, groups: usize) {
        self.sums.resize(groups, T::ZERO);
        self.seen.resize(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let mask = selected(args, filter);
        add::<T>(&mut self.sums, groups, values(args, groups)?, mask.as_ref())?;
        match &mask {
            None => self.seen.mark_all(groups),
            Some(mask) => self.seen.mark(groups, mask.set_indices()),
        }
        Ok(())
    }
    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        let array = values(run.args, run.groups)?;
        let numbers = array.as_primitive_opt::<T>().ok_or_else(|| wrong::<T>(array))?.values();
        let (sums, seen) = (self.sums.as_mut_slice(), self.seen.column().as_mut_slice());
        let results = run.each(|row, group, step| {
            let (sum, seen) = (&mut sums[group], &mut seen[group]);
            match step {
                Step::Add => (*sum, *seen) = (T::add(*sum, T::widen(numbers[row])), seen.saturating_add(1)),
                Step::Remove => (*sum, *seen) = (T::sub(*sum, T::widen(numbers[row])), seen.saturating_sub(1)),
                Step::Clear => (*sum, *seen) = (T::ZERO, 0),
                Step::Skip => {}
            }
            (*seen > 0).then(|| T::narrow(*sum))
        });
        Ok(Arc::new(column::<T>(results)))
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Sum<T>>(other)?;
        // Groups that have seen nothing hold the neutral element.
        self.sums.combine(to, &other.sums, from, |cell, value| *cell = T::add(*cell, value));
        self.seen.merge(&other.seen, from, to, self.tracking);
        Ok(())
    }
    fn invertible(&self) -> bool {
        T::INVERTIBLE
    }
    fn track_merges(&mut self) {
        self.tracking = true;
    }
    fn retract(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Sum<T>>(other)?;
        self.sums.combine(to, &other.sums, from, |cell, value| *cell = T::sub(*cell, value));
        self.seen.retract(&other.seen, from, to);
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        self.sums.touch(groups, |cell| *cell = T::ZERO);
        self.seen.reset(groups);
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let sums = self.sums.gather(groups, T::narrow);
        Ok(Arc::new(PrimitiveArray::<T>::new(sums.into(), self.seen.nulls(groups))))
    }
    fn bytes(&self) -> usize {
        self.sums.bytes() + self.seen.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn take_over(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Sum<T>>(other)?;
        copy(&mut self.sums, &other.sums, from, to);
        self.seen.take_over(&other.seen, from, to);
        Ok(())
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.sums)?;
        self.seen.archive(archive)
    }
}

/// AVG of integers: a wrapping 64-bit sum by the count, truncated. Of floats: a 64-bit sum from 0.0.
trait Averaged: Summed {
    type Wide: Pod;
    const START: Self::Wide;
    /// `rewritten`: the sum has the type of the column.
    fn plus(sum: Self::Wide, value: Self::Native, rewritten: bool) -> Self::Wide;
    fn join(sum: Self::Wide, other: Self::Wide, rewritten: bool) -> Self::Wide;
    fn minus(sum: Self::Wide, other: Self::Wide, rewritten: bool) -> Self::Wide;
    fn wide(value: Self::Native) -> Self::Wide;
    fn quotient(sum: Self::Wide, count: i64, rewritten: bool) -> Self::Native;
}

macro_rules! averaged_integer {
    ($($arrow:ty),*) => { $(impl Averaged for $arrow {
        type Wide = i64;
        const START: i64 = 0;
        #[inline]
        fn plus(sum: i64, value: Self::Native, _: bool) -> i64 { sum.wrapping_add(i64::from(value)) }
        #[inline]
        fn join(sum: i64, other: i64, _: bool) -> i64 { sum.wrapping_add(other) }
        #[inline]
        fn minus(sum: i64, other: i64, _: bool) -> i64 { sum.wrapping_sub(other) }
        #[inline]
        fn wide(value: Self::Native) -> i64 { i64::from(value) }
        #[inline]
        fn quotient(sum: i64, count: i64, rewritten: bool) -> Self::Native {
            let sum = if rewritten { i64::from(sum as Self::Native) } else { sum };
            sum.wrapping_div(count) as Self::Native
        }
    })* };
}
averaged_integer!(Int8Type, Int16Type, Int32Type, Int64Type);

macro_rules! averaged_float {
    ($($arrow:ty),*) => { $(impl Averaged for $arrow {
        type Wide = f64;
        const START: f64 = 0.0;
        #[inline]
        fn plus(sum: f64, value: Self::Native, rewritten: bool) -> f64 { Self::join(sum, f64::from(value), rewritten) }
        #[inline]
        fn join(sum: f64, other: f64, rewritten: bool) -> f64 {
            if rewritten { f64::from((sum + other) as Self::Native) } else { sum + other }
        }
        #[inline]
        fn minus(sum: f64, other: f64, rewritten: bool) -> f64 { Self::join(sum, -other, rewritten) }
        #[inline]
        fn wide(value: Self::Native) -> f64 { f64::from(value) }
        #[inline]
        fn quotient(sum: f64, count: i64, _: bool) -> Self::Native { (sum / count as f64) as Self::Native }
    })* };
}
averaged_float!(Float32Type, Float64Type);

struct Avg<T: Averaged> {
    sums: ArenaVec<T::Wide>,
    counts: ArenaVec<i64>,
    rewritten: bool,
}

/// AVG of integers and floats.
pub(super) fn avg(output: &Type, rewritten: bool) -> Result<Box<dyn Accumulator>> {
    fn of<T: Averaged>(rewritten: bool) -> Box<dyn Accumulator> {
        Box::new(Avg::<T> { sums: ArenaVec::new(), counts: ArenaVec::new(), rewritten })
    }
    Ok(match output {
        Type::TinyInt => of::<Int8Type>(rewritten),
        Type::SmallInt => of::<Int16Type>(rewritten),
        Type::Int => of::<Int32Type>(rewritten),
        Type::BigInt => of::<Int64Type>(rewritten),
        Type::Float => of::<Float32Type>(rewritten),
        Type::Double => of::<Float64Type>(rewritten),
        other => return Err(Error::internal(format!("AVG with a result of type {other}"))),
    })
}

impl<T: Averaged> Accumulator for Avg<T> {
    fn resize(&mut self, groups: usize) {
        self.sums.resize(groups, T::START);
        self.counts.resize_zeroed(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let array = values(args, groups)?;
        let numbers = array.as_primitive_opt::<T>().ok_or_else(|| wrong::<T>(array))?.values();
        let (mask, rewritten) = (selected(args, filter), self.rewritten);
        match &mask {
            None => self.sums.scatter(groups, numbers, |cell, value| *cell = T::plus(*cell, value, rewritten)),
            Some(mask) => {
                for row in mask.set_indices() {
                    let cell = &mut self.sums[groups[row] as usize];
                    *cell = T::plus(*cell, numbers[row], rewritten);
                }
            }
        }
        count(&mut self.counts, groups, mask.as_ref());
        Ok(())
    }
    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        let array = values(run.args, run.groups)?;
        let numbers = array.as_primitive_opt::<T>().ok_or_else(|| wrong::<T>(array))?.values();
        let rewritten = self.rewritten;
        let (sums, counts) = (self.sums.as_mut_slice(), self.counts.as_mut_slice());
        let results = run.each(|row, group, step| {
            let (sum, count) = (&mut sums[group], &mut counts[group]);
            stepped(count, step);
            match step {
                Step::Add => *sum = T::plus(*sum, numbers[row], rewritten),
                Step::Remove => *sum = T::minus(*sum, T::wide(numbers[row]), rewritten),
                Step::Clear => *sum = T::START,
                Step::Skip => {}
            }
            (*count != 0).then(|| T::quotient(*sum, *count, rewritten))
        });
        Ok(Arc::new(column::<T>(results)))
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let (other, rewritten) = (same::<Avg<T>>(other)?, self.rewritten);
        self.sums.combine(to, &other.sums, from, |cell, value| *cell = T::join(*cell, value, rewritten));
        self.counts.combine(to, &other.counts, from, |cell, value| *cell += value);
        Ok(())
    }
    fn invertible(&self) -> bool {
        T::INVERTIBLE
    }
    fn retract(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Avg<T>>(other)?;
        self.sums.combine(to, &other.sums, from, |cell, value| *cell = T::minus(*cell, value, false));
        self.counts.combine(to, &other.counts, from, |cell, value| *cell -= value);
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        self.sums.touch(groups, |cell| *cell = T::START);
        self.counts.touch(groups, |cell| *cell = 0);
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let counts = self.counts.gather(groups, |count| count);
        let sums = self.sums.gather(groups, |sum| sum);
        let quotients = sums.iter().zip(&counts).map(|(&sum, &count)| T::quotient(sum, count.max(1), self.rewritten));
        let averages: Vec<T::Native> = quotients.collect();
        let nulls = counts.contains(&0).then(|| counts.iter().map(|&count| count != 0).collect::<NullBuffer>());
        Ok(Arc::new(PrimitiveArray::<T>::new(averages.into(), nulls)))
    }
    fn bytes(&self) -> usize {
        self.sums.bytes() + self.counts.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn take_over(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Avg<T>>(other)?;
        copy(&mut self.sums, &other.sums, from, to);
        copy(&mut self.counts, &other.counts, from, to);
        Ok(())
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.sums)?;
        archive.cells(&mut self.counts)
    }
}

/// Converts to the Arrow type of a result; only used for columns of NULLs.
pub(super) fn nulls_of(data_type: &ArrowType, rows: usize) -> ArrayRef {
    arrow::array::new_null_array(data_type, rows)
}
