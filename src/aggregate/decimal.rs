//! SUM and AVG of DECIMAL. Both sum with 38 digits; what goes beyond is NULL.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, Decimal128Type, i256};

use super::numeric::stepped as count_step;
use super::run::{Run, Step};
use super::{Accumulator, copy, same, selected, values};
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::snapshot::Archive;
use crate::types::Type;

/// One more than the largest value of 38 digits.
const LIMIT: i128 = 10_i128.pow(38);
/// No value yet. Out of range for every DECIMAL, as is [`POISON`].
const EMPTY: i128 = i128::MIN;
/// A sum that overflowed and stays NULL.
const POISON: i128 = i128::MAX;

/// `LATCH`: an overflow stays; otherwise the sum is NULL, which is as good as empty, and the next value starts over.
#[inline]
fn add(sum: i128, value: i128, latch: bool) -> i128 {
    if sum == EMPTY || value == EMPTY {
        return if sum == EMPTY { value } else { sum };
    }
    if sum == POISON || value == POISON {
        return POISON;
    }
    match sum.checked_add(value) {
        Some(total) if -LIMIT < total && total < LIMIT => total,
        _ if latch => POISON,
        _ => EMPTY,
    }
}

fn add_all(
    sums: &mut ArenaVec<i128>,
    groups: &[u32],
    args: &[ArrayRef],
    filter: Option<&BooleanArray>,
    latch: bool,
) -> Result<Option<arrow::buffer::BooleanBuffer>> {
    let numbers = decimals(values(args, groups)?)?;
    let mask = selected(args, filter);
    match &mask {
        None => sums.scatter(groups, numbers, |cell, value| *cell = add(*cell, value, latch)),
        Some(mask) => {
            for row in mask.set_indices() {
                let cell = &mut sums[groups[row] as usize];
                *cell = add(*cell, numbers[row], latch);
            }
        }
    }
    Ok(mask)
}

fn decimals(array: &ArrayRef) -> Result<&[i128]> {
    let wrong = || Error::internal(format!("SUM or AVG of DECIMAL over {} values", array.data_type()));
    Ok(array.as_primitive_opt::<Decimal128Type>().ok_or_else(wrong)?.values())
}

fn numbers<'a>(run: &Run<'a>) -> Result<&'a [i128]> {
    decimals(values(run.args, run.groups)?)
}

fn column(values: Vec<Option<i128>>, output: &ArrowType) -> ArrayRef {
    let nulls = values.contains(&None).then(|| values.iter().map(Option::is_some).collect::<NullBuffer>());
    let values: Vec<i128> = values.into_iter().map(Option::unwrap_or_default).collect();
    Arc::new(PrimitiveArray::<Decimal128Type>::new(values.into(), nulls).with_data_type(output.clone()))
}

fn decimal_type(output: &Type) -> Result<ArrowType> {
    match output {
        Type::Decimal(..) => Ok(output.to_arrow()),
        other => Err(Error::internal(format!("an aggregate of DECIMAL with a result of type {other}"))),
    }
}

/// Adds a value to a sum, or takes one out.
#[inline]
fn stepped(sum: &mut i128, value: i128, step: Step, latch: bool) {
    match step {
        Step::Add => *sum = add(*sum, value, latch),
        Step::Remove => *sum = add(*sum, -value, latch),
        Step::Clear => *sum = EMPTY,
        Step::Skip => {}
    }
}

pub(super) struct Sum {
    sums: ArenaVec<i128>,
    /// How many values are in each sum, where they are taken out again.
    live: ArenaVec<i64>,
    latch: bool,
    output: ArrowType,
}

impl Sum {
    pub(super) fn new(output: &Type, latch: bool) -> Result<Self> {
        Ok(Sum { sums: ArenaVec::new(), live: ArenaVec::new(), latch, output: decimal_type(output)? })
    }
}

impl Accumulator for Sum {
    fn resize(&mut self, groups: usize) {
        self.sums.resize(groups, EMPTY);
        if !self.live.is_empty() {
            self.live.resize_zeroed(groups);
        }
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let mask = add_all(&mut self.sums, groups, args, filter, self.latch)?;
        match mask {
            _ if self.live.is_empty() => {}
            None => self.live.touch(groups, |live| *live += 1),
            Some(mask) => mask.set_indices().for_each(|row| self.live[groups[row] as usize] += 1),
        }
        Ok(())
    }
    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        let numbers = numbers(run)?;
        if self.live.is_empty() {
            // Whoever has added values in bulk takes none of them out again: it is enough to know of them.
            self.sums.iter().for_each(|&sum| self.live.push((sum != EMPTY).into()));
        }
        let (sums, live, latch) = (self.sums.as_mut_slice(), self.live.as_mut_slice(), self.latch);
        let results = run.each(|row, group, step| {
            let (sum, live) = (&mut sums[group], &mut live[group]);
            count_step(live, step);
            stepped(sum, numbers[row], step, latch);
            (*live != 0 && *sum != EMPTY && *sum != POISON).then_some(*sum)
        });
        Ok(column(results, &self.output))
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let latch = self.latch;
        self.sums.combine(to, &same::<Sum>(other)?.sums, from, |cell, value| *cell = add(*cell, value, latch));
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        self.sums.touch(groups, |cell| *cell = EMPTY);
        if !self.live.is_empty() {
            self.live.touch(groups, |cell| *cell = 0);
        }
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let mut sums = self.sums.gather(groups, |sum| (sum != EMPTY && sum != POISON).then_some(sum));
        for (sum, &group) in sums.iter_mut().zip(groups) {
            if self.live.as_slice().get(group as usize) == Some(&0) {
                *sum = None;
            }
        }
        Ok(column(sums, &self.output))
    }
    fn bytes(&self) -> usize {
        self.sums.bytes() + self.live.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn take_over(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Sum>(other)?;
        copy(&mut self.sums, &other.sums, from, to);
        if !other.live.is_empty() {
            self.live.resize_zeroed(self.sums.len());
            copy(&mut self.live, &other.live, from, to);
        }
        Ok(())
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.sums)?;
        archive.cells(&mut self.live)
    }
}

pub(super) struct Avg {
    sums: ArenaVec<i128>,
    counts: ArenaVec<i64>,
    /// Digits that the result has more than the input.
    extra: u32,
    output: ArrowType,
}

impl Avg {
    pub(super) fn new(input: &Type, output: &Type) -> Result<Self> {
        let (Type::Decimal(_, from), Type::Decimal(_, to)) = (input, output) else {
            return Err(Error::internal(format!("AVG of {input} with a result of type {output}")));
        };
        let extra = u32::from(to.saturating_sub(*from));
        Ok(Avg { sums: ArenaVec::new(), counts: ArenaVec::new(), extra, output: decimal_type(output)? })
    }
}

impl Accumulator for Avg {
    fn resize(&mut self, groups: usize) {
        self.sums.resize(groups, EMPTY);
        self.counts.resize_zeroed(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        match add_all(&mut self.sums, groups, args, filter, true)? {
            None => self.counts.touch(groups, |cell| *cell += 1),
            Some(mask) => mask.set_indices().for_each(|row| self.counts[groups[row] as usize] += 1),
        }
        Ok(())
    }
    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        let (numbers, extra) = (numbers(run)?, self.extra);
        let (sums, counts) = (self.sums.as_mut_slice(), self.counts.as_mut_slice());
        let results = run.each(|row, group, step| {
            let (sum, count) = (&mut sums[group], &mut counts[group]);
            count_step(count, step);
            stepped(sum, numbers[row], step, true);
            let sum = (*sum != EMPTY && *sum != POISON).then_some(*sum)?;
            divide(sum, *count, extra)
        });
        Ok(column(results, &self.output))
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Avg>(other)?;
        self.sums.combine(to, &other.sums, from, |cell, value| *cell = add(*cell, value, true));
        self.counts.combine(to, &other.counts, from, |cell, value| *cell += value);
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        self.sums.touch(groups, |cell| *cell = EMPTY);
        self.counts.touch(groups, |cell| *cell = 0);
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let counts = self.counts.gather(groups, |count| count);
        let sums = self.sums.gather(groups, |sum| (sum != EMPTY && sum != POISON).then_some(sum));
        let averages = sums.iter().zip(counts).map(|(sum, count)| sum.and_then(|sum| divide(sum, count, self.extra)));
        Ok(column(averages.collect(), &self.output))
    }
    fn bytes(&self) -> usize {
        self.sums.bytes() + self.counts.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn take_over(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Avg>(other)?;
        copy(&mut self.sums, &other.sums, from, to);
        copy(&mut self.counts, &other.counts, from, to);
        Ok(())
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.sums)?;
        archive.cells(&mut self.counts)
    }
}

/// `sum / count` with `extra` more digits, as Flink divides: first to 38 significant digits, then to the scale,
/// HALF_UP both times. `None` beyond 38 digits, or for a count of 0.
fn divide(sum: i128, count: i64, extra: u32) -> Option<i128> {
    if count <= 0 {
        return None;
    }
    let count = i128::from(count);
    let size = match sum.checked_abs()?.checked_mul(10_i128.pow(extra)) {
        // Far fewer digits than 38: the first rounding keeps so many that it cannot tip the second.
        Some(scaled) if scaled / count < 10_i128.pow(18) => (scaled + count / 2) / count,
        _ => divide_long(i256::from_i128(sum.checked_abs()?), i256::from_i128(count), extra)?,
    };
    let quotient = if sum < 0 { -size } else { size };
    (-LIMIT < quotient && quotient < LIMIT).then_some(quotient)
}

fn divide_long(sum: i256, count: i256, extra: u32) -> Option<i128> {
    let ten = i256::from_i128(10);
    let power = |digits: u32| ten.checked_pow(digits);
    let half_up = |value: i256, by: i256| -> Option<i256> {
        let (quotient, rest) = (value.checked_div(by)?, value.checked_rem(by)?);
        let up = rest.checked_mul(i256::from_i128(2))? >= by;
        Some(if up { quotient.checked_add(i256::ONE)? } else { quotient })
    };
    let scaled = sum.checked_mul(power(extra)?)?;
    let whole = scaled.checked_div(count)?;
    let digits = (0..=76).find(|&digits| power(digits).is_none_or(|power| whole < power))?;
    let kept = 38_u32.checked_sub(digits)?;
    let first = half_up(scaled.checked_mul(power(kept)?)?, count)?;
    half_up(first, power(kept)?)?.to_i128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_round_half_up_at_every_size() {
        assert_eq!(divide(-635, 3, 4), Some(-2_116_667));
        assert_eq!(divide(5, 2, 0), Some(3));
        assert_eq!(divide(-5, 2, 0), Some(-3));
        assert_eq!(divide(4, 3, 0), Some(1));
        assert_eq!(divide(7, 0, 6), None);
        let nines = LIMIT - 1;
        assert_eq!(divide(nines, 1, 0), Some(nines));
        assert_eq!(divide(nines, 1, 3), None);
        assert_eq!(divide(nines, 1000, 3), Some(nines));
        assert_eq!(divide(nines, 2, 0), Some(LIMIT / 2));
        // Two roundings: 37 digits and 0.46.. become .5 first, then one more.
        let sum = (10_i128.pow(36) * 3) * 15 + 7;
        assert_eq!(divide(sum, 15, 0), Some(10_i128.pow(36) * 3 + 1));
    }

    #[test]
    fn sums_overflow_into_null() {
        assert_eq!(add(LIMIT - 1, 1, false), EMPTY);
        assert_eq!(add(LIMIT - 1, 1, true), POISON);
        assert_eq!(add(-(LIMIT - 1), -(LIMIT - 1), true), POISON);
        assert_eq!(add(POISON, 5, true), POISON);
        assert_eq!(add(EMPTY, 5, false), 5);
        assert_eq!(add(5, EMPTY, false), 5);
    }
}
