//! SUM of OVER. What leaves a frame is subtracted, as Flink does it: floats keep the residue, and a DECIMAL that has
//! overflowed stays NULL until the key's state is cleared.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type,
};

use super::function::{Function, move_groups, same};
use super::store::{Place, Store};
use crate::arena::Pod;
use crate::error::{Error, Result};
use crate::snapshot::{Archive, fits};
use crate::state::index::Moved;
use crate::types::Type;

/// How values of a type are summed. Sums start at zero, so that that of -0.0 alone is 0.0.
trait Summed: ArrowPrimitiveType<Native: Pod> {
    const ZERO: Self::Native;
    /// `None`: beyond the range of the type.
    fn add(sum: Self::Native, value: Self::Native) -> Option<Self::Native>;
    fn subtract(sum: Self::Native, value: Self::Native) -> Option<Self::Native>;
}

macro_rules! summed {
    ($($arrow:ty, $zero:expr, |$a:ident, $b:ident| $add:expr, $subtract:expr);*) => { $(impl Summed for $arrow {
        const ZERO: Self::Native = $zero;
        #[inline]
        fn add($a: Self::Native, $b: Self::Native) -> Option<Self::Native> { $add }
        #[inline]
        fn subtract($a: Self::Native, $b: Self::Native) -> Option<Self::Native> { $subtract }
    })* };
}
summed!(
    Int8Type, 0, |a, b| Some(a.wrapping_add(b)), Some(a.wrapping_sub(b));
    Int16Type, 0, |a, b| Some(a.wrapping_add(b)), Some(a.wrapping_sub(b));
    Int32Type, 0, |a, b| Some(a.wrapping_add(b)), Some(a.wrapping_sub(b));
    Int64Type, 0, |a, b| Some(a.wrapping_add(b)), Some(a.wrapping_sub(b));
    Float32Type, 0.0, |a, b| Some(a + b), Some(a - b);
    Float64Type, 0.0, |a, b| Some(a + b), Some(a - b);
    Decimal128Type, 0, |a, b| in_range(a.checked_add(b)), in_range(a.checked_sub(b))
);

/// Sums of DECIMAL have 38 digits.
fn in_range(sum: Option<i128>) -> Option<i128> {
    sum.filter(|sum| sum.unsigned_abs() < 10_u128.pow(38))
}

struct Sum<T: Summed> {
    argument: usize,
    /// By group: the sum, `None` once it has overflowed, and how many values are in it.
    groups: Vec<(Option<T::Native>, u64)>,
    results: Vec<Option<T::Native>>,
    output: ArrowType,
}

/// SUM of a column, with a result of type `output`.
pub(super) fn sum(output: &Type, argument: usize) -> Result<Box<dyn Function>> {
    fn of<T: Summed>(argument: usize, output: ArrowType) -> Box<dyn Function> {
        Box::new(Sum::<T> { argument, groups: Vec::new(), results: Vec::new(), output })
    }
    let arrow = output.to_arrow();
    Ok(match output {
        Type::TinyInt => of::<Int8Type>(argument, arrow),
        Type::SmallInt => of::<Int16Type>(argument, arrow),
        Type::Int => of::<Int32Type>(argument, arrow),
        Type::BigInt => of::<Int64Type>(argument, arrow),
        Type::Float => of::<Float32Type>(argument, arrow),
        Type::Double => of::<Float64Type>(argument, arrow),
        Type::Decimal(..) => of::<Decimal128Type>(argument, arrow),
        other => return Err(Error::internal(format!("SUM of OVER with a result of type {other}"))),
    })
}

impl<T: Summed> Sum<T> {
    fn value(&self, store: &Store, place: Place) -> Option<T::Native> {
        let (array, row) = store.cell(place, self.argument);
        let values = array.as_primitive_opt::<T>()?;
        values.is_valid(row).then(|| values.value(row))
    }
}

impl<T: Summed> Function for Sum<T> {
    fn resize(&mut self, groups: usize) {
        self.groups.resize(groups, (Some(T::ZERO), 0));
    }
    fn add(&mut self, group: u32, store: &Store, place: Place) {
        let Some(value) = self.value(store, place) else { return };
        let (sum, count) = &mut self.groups[group as usize];
        *sum = sum.and_then(|sum| T::add(sum, value));
        *count += 1;
    }
    fn retract(&mut self, group: u32, store: &Store, place: Place) {
        let Some(value) = self.value(store, place) else { return };
        let (sum, count) = &mut self.groups[group as usize];
        *sum = sum.and_then(|sum| T::subtract(sum, value));
        *count = count.saturating_sub(1);
    }
    fn reset(&mut self, group: u32) {
        self.groups[group as usize] = (Some(T::ZERO), 0);
    }
    fn push(&mut self, group: u32) {
        let (sum, count) = self.groups[group as usize];
        self.results.push(sum.filter(|_| count > 0));
    }
    fn finish(&mut self, _store: &Store) -> Result<ArrayRef> {
        let results = std::mem::take(&mut self.results);
        Ok(Arc::new(results.into_iter().collect::<PrimitiveArray<T>>().with_data_type(self.output.clone())))
    }
    fn bytes(&self) -> usize {
        self.groups.capacity() * size_of::<(Option<T::Native>, u64)>()
    }
    fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let mut sums: Vec<T::Native> = self.groups.iter().map(|(sum, _)| sum.unwrap_or(T::ZERO)).collect();
        let mut overflowed: Vec<u8> = self.groups.iter().map(|(sum, _)| u8::from(sum.is_none())).collect();
        let mut counts: Vec<u64> = self.groups.iter().map(|(_, count)| *count).collect();
        archive.cells(&mut sums)?;
        archive.cells(&mut overflowed)?;
        archive.cells(&mut counts)?;
        fits(sums.len() == counts.len() && overflowed.len() == counts.len())?;
        let sums = sums.into_iter().zip(overflowed).map(|(sum, overflowed)| (overflowed == 0).then_some(sum));
        self.groups = sums.zip(counts).collect();
        Ok(())
    }
    fn take_over(&mut self, other: Box<dyn Function>, moved: &Moved) -> Result<()> {
        let mut other: Box<Sum<T>> = same(other)?;
        move_groups(&mut self.groups, &mut other.groups, moved);
        Ok(())
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
