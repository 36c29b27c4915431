//! STDDEV and VAR by Welford's method in double precision, as Flink's planner rewrites them for every numeric type:
//! the sum of squared deviations by the count (or one less), the root of it, and only then a cast to the column's type.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array,
};
use arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};

use super::run::{Run, Step};
use super::{Accumulator, AggregateKind, copy, same, selected, values};
use crate::arena::ArenaVec;
use crate::error::{Error, Result};
use crate::snapshot::Archive;
use crate::types::Type;

pub(super) struct Variance {
    counts: ArenaVec<i64>,
    means: ArenaVec<f64>,
    /// Sums of squared deviations from the mean.
    squares: ArenaVec<f64>,
    kind: AggregateKind,
    output: Type,
}

impl Variance {
    pub(super) fn new(kind: AggregateKind, output: &Type) -> Self {
        let (counts, means, squares) = (ArenaVec::new(), ArenaVec::new(), ArenaVec::new());
        Variance { counts, means, squares, kind, output: output.clone() }
    }

    fn add(&mut self, group: usize, value: f64) {
        let count = &mut self.counts[group];
        *count += 1;
        let mean = &mut self.means[group];
        let before = value - *mean;
        *mean += before / *count as f64;
        self.squares[group] += before * (value - *mean);
    }

    /// Takes a value out again, as Flink does.
    fn remove(&mut self, group: usize, value: f64) {
        let count = &mut self.counts[group];
        *count -= 1;
        if *count == 0 {
            (self.means[group], self.squares[group]) = (0.0, 0.0);
            return;
        }
        let mean = &mut self.means[group];
        let before = value - *mean;
        *mean -= before / *count as f64;
        self.squares[group] -= before * (value - *mean);
    }

    fn value(&self, group: u32) -> Option<f64> {
        let (count, squares) = (self.counts[group as usize], self.squares[group as usize]);
        if count == 0 || squares < 0.0 {
            return None;
        }
        let by = match self.kind {
            AggregateKind::StddevSamp | AggregateKind::VarSamp if count == 1 => return None,
            AggregateKind::StddevSamp | AggregateKind::VarSamp => count - 1,
            _ => count,
        };
        let variance = squares / by as f64;
        let root = matches!(self.kind, AggregateKind::StddevPop | AggregateKind::StddevSamp);
        Some(if root { variance.powf(0.5) } else { variance })
    }

    /// A column of the output's type.
    fn column(&self, values: impl Iterator<Item = Option<f64>>) -> Result<ArrayRef> {
        // Java's casts: NaN is 0, the range saturates at INT and is then cut to the narrower types.
        Ok(match &self.output {
            Type::TinyInt => Arc::new(values.map(|v| v.map(|v| v as i32 as i8)).collect::<Int8Array>()),
            Type::SmallInt => Arc::new(values.map(|v| v.map(|v| v as i32 as i16)).collect::<Int16Array>()),
            Type::Int => Arc::new(values.map(|v| v.map(|v| v as i32)).collect::<Int32Array>()),
            Type::BigInt => Arc::new(values.map(|v| v.map(|v| v as i64)).collect::<Int64Array>()),
            Type::Float => Arc::new(values.map(|v| v.map(|v| v as f32)).collect::<Float32Array>()),
            Type::Double => Arc::new(values.collect::<Float64Array>()),
            Type::Decimal(precision, scale) => {
                let values = values.map(|value| value.and_then(|value| to_decimal(value, *precision, *scale)));
                Arc::new(values.collect::<Decimal128Array>().with_data_type(self.output.to_arrow()))
            }
            other => return Err(Error::internal(format!("STDDEV or VAR with a result of type {other}"))),
        })
    }
}

impl Accumulator for Variance {
    fn resize(&mut self, groups: usize) {
        self.counts.resize_zeroed(groups);
        self.means.resize_zeroed(groups);
        self.squares.resize_zeroed(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let numbers = doubles(values(args, groups)?)?;
        match selected(args, filter) {
            None => groups.iter().zip(numbers).for_each(|(&group, value)| self.add(group as usize, value)),
            Some(mask) => mask.set_indices().for_each(|row| self.add(groups[row] as usize, numbers[row])),
        }
        Ok(())
    }
    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        let numbers = doubles(values(run.args, run.groups)?)?;
        let results = run.each(|row, group, step| {
            match step {
                Step::Add => self.add(group, numbers[row]),
                Step::Remove => self.remove(group, numbers[row]),
                Step::Clear => self.reset(&[group as u32]),
                Step::Skip => {}
            }
            self.value(group as u32)
        });
        self.column(results.into_iter())
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Variance>(other)?;
        for (&from, &to) in from.iter().zip(to) {
            let (from, to) = (from as usize, to as usize);
            let (mine, theirs) = (self.counts[to], other.counts[from]);
            if theirs == 0 {
                continue;
            }
            if mine == 0 {
                (self.means[to], self.squares[to]) = (other.means[from], other.squares[from]);
            } else {
                let total = (mine + theirs) as f64;
                let delta = other.means[from] - self.means[to];
                self.means[to] += theirs as f64 / total * delta;
                self.squares[to] =
                    self.squares[to] + other.squares[from] + mine as f64 * theirs as f64 / total * delta * delta;
            }
            self.counts[to] += theirs;
        }
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        self.counts.touch(groups, |cell| *cell = 0);
        self.means.touch(groups, |cell| *cell = 0.0);
        self.squares.touch(groups, |cell| *cell = 0.0);
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        self.column(groups.iter().map(|&group| self.value(group)))
    }
    fn bytes(&self) -> usize {
        self.counts.bytes() + self.means.bytes() + self.squares.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn take_over(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Variance>(other)?;
        copy(&mut self.counts, &other.counts, from, to);
        copy(&mut self.means, &other.means, from, to);
        copy(&mut self.squares, &other.squares, from, to);
        Ok(())
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.counts)?;
        archive.cells(&mut self.means)?;
        archive.cells(&mut self.squares)
    }
}

/// The numbers of a column, whatever their type, as DOUBLE.
pub(super) fn doubles(array: &ArrayRef) -> Result<Vec<f64>> {
    Ok(match array.data_type() {
        ArrowType::Int8 => array.as_primitive::<Int8Type>().values().iter().map(|&v| f64::from(v)).collect(),
        ArrowType::Int16 => array.as_primitive::<Int16Type>().values().iter().map(|&v| f64::from(v)).collect(),
        ArrowType::Int32 => array.as_primitive::<Int32Type>().values().iter().map(|&v| f64::from(v)).collect(),
        ArrowType::Int64 => array.as_primitive::<Int64Type>().values().iter().map(|&v| v as f64).collect(),
        ArrowType::Float32 => array.as_primitive::<Float32Type>().values().iter().map(|&v| f64::from(v)).collect(),
        ArrowType::Float64 => array.as_primitive::<Float64Type>().values().to_vec(),
        ArrowType::Decimal128(_, scale) => {
            let values = array.as_primitive::<Decimal128Type>().values();
            values.iter().map(|&value| decimal_to_double(value, *scale)).collect()
        }
        other => return Err(Error::internal(format!("an aggregate of numbers over {other} values"))),
    })
}

/// The double nearest to `value / 10^scale`.
fn decimal_to_double(value: i128, scale: i8) -> f64 {
    const EXACT: i128 = 1 << 53;
    if value.abs() < EXACT && (0..=22).contains(&scale) {
        // Both operands are exact, so the quotient is rounded once.
        return value as f64 / 10_f64.powi(i32::from(scale));
    }
    format!("{value}e-{scale}").parse().unwrap_or(f64::NAN)
}

/// As Java's `BigDecimal.valueOf(double)` and a HALF_UP cut to the scale; `None` beyond the precision and for NaN.
fn to_decimal(value: f64, precision: u8, scale: u8) -> Option<i128> {
    if !value.is_finite() {
        return None;
    }
    // The shortest digits that give the double back, as `d.ddde±x`.
    let text = format!("{:e}", value.abs());
    let (digits, exponent) = text.split_once('e')?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let shift = exponent.parse::<i32>().ok()? - fraction.len() as i32 + i32::from(scale);
    let size = if shift >= 0 {
        mantissa.checked_mul(10_i128.checked_pow(shift as u32)?)?
    } else {
        match 10_i128.checked_pow(shift.unsigned_abs()) {
            Some(power) => (mantissa + power / 2) / power,
            None => 0,
        }
    };
    (size < 10_i128.pow(u32::from(precision))).then_some(if value < 0.0 { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_become_decimals_by_their_shortest_digits() {
        assert_eq!(to_decimal(48.190_833_4, 38, 6), Some(48_190_833));
        assert_eq!(to_decimal(0.000_000_5, 38, 6), Some(1));
        assert_eq!(to_decimal(-1.5, 38, 0), Some(-2));
        assert_eq!(to_decimal(1e30, 38, 6), Some(10_i128.pow(36)));
        assert_eq!(to_decimal(1e33, 38, 6), None);
        assert_eq!(to_decimal(1e-300, 38, 6), Some(0));
        assert_eq!(to_decimal(f64::NAN, 38, 6), None);
    }

    #[test]
    fn decimals_become_the_nearest_double() {
        assert_eq!(decimal_to_double(125, 2), 1.25);
        assert_eq!(decimal_to_double(-10, 1), -1.0);
        assert_eq!(decimal_to_double(12_345_678_901_234_567_890, 3), 12_345_678_901_234_567.890);
    }
}
