//! MIN and MAX of everything that fits a fixed-width cell.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, TimestampMicrosecondType, TimestampMillisecondType,
};

use super::numeric::nulls_of;
use super::run::{Run, Step, column, one_by_one};
use super::seen::Seen;
use super::text::TextExtreme;
use super::{Accumulator, same, selected, values};
use crate::arena::{ArenaVec, Pod};
use crate::error::{Error, Result};
use crate::snapshot::Archive;
use crate::types::Type;

/// A cell that a minimum or maximum is kept in.
trait Cell: Pod {
    /// Gives way to every value, and to nothing but values.
    fn empty(max: bool) -> Self;
    /// The cell after a value. On a tie the first value stays.
    fn better<const MAX: bool>(self, value: Self) -> Self;
}

macro_rules! integer_cell {
    ($($native:ty),*) => { $(impl Cell for $native {
        fn empty(max: bool) -> Self { if max { Self::MIN } else { Self::MAX } }
        #[inline]
        fn better<const MAX: bool>(self, value: Self) -> Self {
            if MAX { self.max(value) } else { self.min(value) }
        }
    })* };
}
integer_cell!(u8, i8, i16, i32, i64, i128);

macro_rules! float_cell {
    ($($native:ty, $empty:expr);*) => { $(impl Cell for $native {
        /// A NaN that no value has: values that are NaN become the one NaN.
        fn empty(_max: bool) -> Self { Self::from_bits($empty) }
        /// As Java's `>`: a NaN that comes first stays, a later one is passed over; so is 0.0 after -0.0.
        #[inline]
        fn better<const MAX: bool>(self, value: Self) -> Self {
            let better = if MAX { value > self } else { value < self };
            if better { return value }
            if self.to_bits() != $empty { return self }
            if value.is_nan() && value.to_bits() != $empty { Self::NAN } else { value }
        }
    })* };
}
float_cell!(f32, 0x7fa5_5a5a; f64, 0x7ff5_a5a5_5a5a_a5a5);

struct Extreme<T: ArrowPrimitiveType<Native: Cell>, const MAX: bool> {
    cells: ArenaVec<T::Native>,
    seen: Seen,
    output: ArrowType,
}

/// MIN or MAX of a column of type `input`.
pub(super) fn extreme(input: &Type, output: &Type, max: bool) -> Result<Box<dyn Accumulator>> {
    fn of<T: ArrowPrimitiveType<Native: Cell>>(output: ArrowType, max: bool) -> Box<dyn Accumulator> {
        let (cells, seen) = (ArenaVec::new(), Seen::default());
        if max {
            Box::new(Extreme::<T, true> { cells, seen, output })
        } else {
            Box::new(Extreme::<T, false> { cells, seen, output })
        }
    }
    let to = output.to_arrow();
    Ok(match input {
        Type::Boolean => Box::new(Truth { inner: of::<Int8Type>(ArrowType::Int8, max) }),
        Type::TinyInt => of::<Int8Type>(to, max),
        Type::SmallInt => of::<Int16Type>(to, max),
        Type::Int | Type::IntervalYearMonth => of::<Int32Type>(to, max),
        Type::BigInt | Type::IntervalDaySecond => of::<Int64Type>(to, max),
        Type::Float => of::<Float32Type>(to, max),
        Type::Double => of::<Float64Type>(to, max),
        Type::Decimal(..) | Type::Timestamp(7..) | Type::TimestampLtz(7..) => of::<Decimal128Type>(to, max),
        Type::Date => of::<Date32Type>(to, max),
        Type::Time(_) => of::<Time32MillisecondType>(to, max),
        Type::Timestamp(0..=3) | Type::TimestampLtz(0..=3) => of::<TimestampMillisecondType>(to, max),
        Type::Timestamp(_) | Type::TimestampLtz(_) => of::<TimestampMicrosecondType>(to, max),
        Type::Char(_) | Type::VarChar(_) => Box::new(TextExtreme::new(max)),
        other => return Err(Error::internal(format!("MIN or MAX of {other}"))),
    })
}

fn typed<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<&[T::Native]> {
    let wrong = || Error::internal(format!("MIN or MAX of {} over {} values", T::DATA_TYPE, array.data_type()));
    Ok(array.as_primitive_opt::<T>().ok_or_else(wrong)?.values())
}

impl<T: ArrowPrimitiveType<Native: Cell>, const MAX: bool> Accumulator for Extreme<T, MAX> {
    fn resize(&mut self, groups: usize) {
        self.cells.resize(groups, T::Native::empty(MAX));
        self.seen.resize(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let numbers = typed::<T>(values(args, groups)?)?;
        match selected(args, filter) {
            None => {
                self.cells.scatter(groups, numbers, |cell, value| *cell = cell.better::<MAX>(value));
                self.seen.mark_all(groups);
            }
            Some(mask) => {
                for row in mask.set_indices() {
                    let cell = &mut self.cells[groups[row] as usize];
                    *cell = cell.better::<MAX>(numbers[row]);
                }
                self.seen.mark(groups, mask.set_indices());
            }
        }
        Ok(())
    }
    fn run(&mut self, run: &Run<'_>) -> Result<ArrayRef> {
        if !run.steps.is_empty() {
            return one_by_one(self, run);
        }
        let numbers = typed::<T>(values(run.args, run.groups)?)?;
        let (cells, seen) = (self.cells.as_mut_slice(), self.seen.column().as_mut_slice());
        let results = run.each(|row, group, step| {
            let (cell, seen) = (&mut cells[group], &mut seen[group]);
            if step == Step::Add {
                (*cell, *seen) = (cell.better::<MAX>(numbers[row]), 1);
            }
            (*seen > 0).then_some(*cell)
        });
        Ok(Arc::new(column::<T>(results).with_data_type(self.output.clone())))
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        let other = same::<Self>(other)?;
        self.cells.combine(to, &other.cells, from, |cell, value| *cell = cell.better::<MAX>(value));
        self.seen.merge(&other.seen, from, to, false);
        Ok(())
    }
    fn reset(&mut self, groups: &[u32]) {
        self.cells.touch(groups, |cell| *cell = T::Native::empty(MAX));
        self.seen.reset(groups);
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let cells = self.cells.gather(groups, |cell| cell);
        let array = PrimitiveArray::<T>::new(cells.into(), self.seen.nulls(groups));
        Ok(Arc::new(array.with_data_type(self.output.clone())))
    }
    fn bytes(&self) -> usize {
        self.cells.bytes() + self.seen.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.cells)?;
        self.seen.archive(archive)
    }
}

/// BOOLEAN as the numbers 0 and 1.
struct Truth {
    inner: Box<dyn Accumulator>,
}

impl Accumulator for Truth {
    fn resize(&mut self, groups: usize) {
        self.inner.resize(groups);
    }
    fn update(&mut self, groups: &[u32], args: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<()> {
        let array = values(args, groups)?;
        let wrong = || Error::internal(format!("MIN or MAX of BOOLEAN over {} values", array.data_type()));
        let truths = array.as_boolean_opt().ok_or_else(wrong)?;
        let numbers: Vec<i8> = truths.values().iter().map(i8::from).collect();
        let numbers: ArrayRef = Arc::new(PrimitiveArray::<Int8Type>::new(numbers.into(), truths.nulls().cloned()));
        self.inner.update(groups, &[numbers], filter)
    }
    fn merge(&mut self, other: &dyn Accumulator, from: &[u32], to: &[u32]) -> Result<()> {
        self.inner.merge(&*same::<Truth>(other)?.inner, from, to)
    }
    fn reset(&mut self, groups: &[u32]) {
        self.inner.reset(groups);
    }
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        let numbers = self.inner.result(groups)?;
        let numbers = numbers.as_primitive::<Int8Type>();
        let truths = numbers.values().iter().map(|&number| number == 1).collect();
        Ok(Arc::new(BooleanArray::new(truths, numbers.nulls().cloned())))
    }
    fn bytes(&self) -> usize {
        self.inner.bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        self.inner.archive(archive)
    }
}

/// Aggregates over a bare NULL.
pub(super) struct AlwaysNull {
    output: ArrowType,
}

impl AlwaysNull {
    pub(super) fn new(output: ArrowType) -> Self {
        AlwaysNull { output }
    }
}

impl Accumulator for AlwaysNull {
    fn resize(&mut self, _groups: usize) {}
    fn update(&mut self, _: &[u32], _: &[ArrayRef], _: Option<&BooleanArray>) -> Result<()> {
        Ok(())
    }
    fn merge(&mut self, _: &dyn Accumulator, _: &[u32], _: &[u32]) -> Result<()> {
        Ok(())
    }
    fn invertible(&self) -> bool {
        true
    }
    fn retract(&mut self, _: &dyn Accumulator, _: &[u32], _: &[u32]) -> Result<()> {
        Ok(())
    }
    fn reset(&mut self, _groups: &[u32]) {}
    fn result(&self, groups: &[u32]) -> Result<ArrayRef> {
        Ok(nulls_of(&self.output, groups.len()))
    }
    fn bytes(&self) -> usize {
        0
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn archive(&mut self, _archive: &mut Archive<'_>) -> Result<()> {
        Ok(())
    }
}
