//! SUM and AVG.

use serde::{Deserialize, Serialize};

use crate::windowing::Data;
use crate::windowing::aggregates::Number;
use crate::windowing::function::AggregateFunction;

/// The sum of a field, in the field's type: integers wrap around, as in Flink. Widen the field in the closure where
/// that could happen.
#[derive(Debug, Clone, Copy)]
pub struct Sum<F>(F);

impl<F> Sum<F> {
    pub fn of<T, V: Number>(field: F) -> Self
    where
        F: Fn(&T) -> V,
    {
        Sum(field)
    }
}

impl<T, V: Number, F: Fn(&T) -> V + Data> AggregateFunction<T> for Sum<F> {
    type Accumulator = V;
    type Output = V;

    fn create_accumulator(&self) -> V {
        V::ZERO
    }
    #[inline]
    fn add(&self, element: &T, sum: &mut V) {
        *sum = sum.plus((self.0)(element));
    }
    fn get_result(&self, sum: &V) -> V {
        *sum
    }
    fn merge(&self, sum: &mut V, other: &V) {
        *sum = sum.plus(*other);
    }
}

/// The mean of a field, as a double (Flink SQL's AVG of integers is cut to an integer instead). `None` for no elements.
#[derive(Debug, Clone, Copy)]
pub struct Average<F>(F);

impl<F> Average<F> {
    pub fn of<T, V: Number>(field: F) -> Self
    where
        F: Fn(&T) -> V,
    {
        Average(field)
    }
}

/// The accumulator of [`Average`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SumAndCount {
    pub sum: f64,
    pub count: u64,
}

impl<T, V: Number, F: Fn(&T) -> V + Data> AggregateFunction<T> for Average<F> {
    type Accumulator = SumAndCount;
    type Output = Option<f64>;

    fn create_accumulator(&self) -> SumAndCount {
        SumAndCount::default()
    }
    #[inline]
    fn add(&self, element: &T, mean: &mut SumAndCount) {
        mean.sum += (self.0)(element).to_f64();
        mean.count += 1;
    }
    fn get_result(&self, mean: &SumAndCount) -> Option<f64> {
        (mean.count > 0).then(|| mean.sum / mean.count as f64)
    }
    fn merge(&self, mean: &mut SumAndCount, other: &SumAndCount) {
        mean.sum += other.sum;
        mean.count += other.count;
    }
}
