//! VAR and STDDEV.

use serde::{Deserialize, Serialize};

use crate::windowing::Data;
use crate::windowing::aggregates::Number;
use crate::windowing::function::AggregateFunction;

/// Count, mean and squared deviations of the values so far: the accumulator of [`Variance`] and [`StdDev`]. Values are
/// added by Welford's method ("Note on a method for calculating corrected sums of squares and products", 1962), merged
/// by that of Chan, Golub and LeVeque (1979).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    pub count: u64,
    pub mean: f64,
    /// The sum of squared deviations from the mean.
    pub squares: f64,
}

impl Moments {
    #[inline]
    fn add(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    fn merge(&mut self, other: &Self) {
        if self.count == 0 || other.count == 0 {
            if self.count == 0 {
                *self = *other;
            }
            return;
        }
        let (mine, theirs) = (self.count as f64, other.count as f64);
        let delta = other.mean - self.mean;
        self.mean += theirs / (mine + theirs) * delta;
        self.squares += other.squares + mine * theirs / (mine + theirs) * delta * delta;
        self.count += other.count;
    }

    fn variance(&self, of: Of) -> Option<f64> {
        let by = match of {
            Of::Population => self.count,
            Of::Sample => self.count.saturating_sub(1),
        };
        (by > 0).then(|| self.squares / by as f64)
    }
}

#[derive(Debug, Clone, Copy)]
enum Of {
    Population,
    Sample,
}

/// The variance of a field.
#[derive(Debug, Clone, Copy)]
pub struct Variance<F> {
    field: F,
    of: Of,
}

impl<F> Variance<F> {
    /// VAR_POP: by the count; `None` for no elements.
    pub fn population<T, V: Number>(field: F) -> Self
    where
        F: Fn(&T) -> V,
    {
        Variance { field, of: Of::Population }
    }
    /// VAR_SAMP: by one less than the count; `None` for fewer than two elements.
    pub fn sample<T, V: Number>(field: F) -> Self
    where
        F: Fn(&T) -> V,
    {
        Variance { field, of: Of::Sample }
    }
}

impl<T, V: Number, F: Fn(&T) -> V + Data> AggregateFunction<T> for Variance<F> {
    type Accumulator = Moments;
    type Output = Option<f64>;

    fn create_accumulator(&self) -> Moments {
        Moments::default()
    }
    #[inline]
    fn add(&self, element: &T, moments: &mut Moments) {
        moments.add((self.field)(element).to_f64());
    }
    fn get_result(&self, moments: &Moments) -> Option<f64> {
        moments.variance(self.of)
    }
    fn merge(&self, moments: &mut Moments, other: &Moments) {
        moments.merge(other);
    }
}

/// The standard deviation of a field: the root of its variance.
#[derive(Debug, Clone, Copy)]
pub struct StdDev<F>(Variance<F>);

impl<F> StdDev<F> {
    /// STDDEV_POP; `None` for no elements.
    pub fn population<T, V: Number>(field: F) -> Self
    where
        F: Fn(&T) -> V,
    {
        StdDev(Variance::population(field))
    }
    /// STDDEV_SAMP; `None` for fewer than two elements.
    pub fn sample<T, V: Number>(field: F) -> Self
    where
        F: Fn(&T) -> V,
    {
        StdDev(Variance::sample(field))
    }
}

impl<T, V: Number, F: Fn(&T) -> V + Data> AggregateFunction<T> for StdDev<F> {
    type Accumulator = Moments;
    type Output = Option<f64>;

    fn create_accumulator(&self) -> Moments {
        Moments::default()
    }
    #[inline]
    fn add(&self, element: &T, moments: &mut Moments) {
        self.0.add(element, moments);
    }
    fn get_result(&self, moments: &Moments) -> Option<f64> {
        moments.variance(self.0.of).map(f64::sqrt)
    }
    fn merge(&self, moments: &mut Moments, other: &Moments) {
        moments.merge(other);
    }
}
