//! The share of elements that are errors.

use serde::{Deserialize, Serialize};

use crate::windowing::Data;
use crate::windowing::function::AggregateFunction;

/// Counts elements, and those that are errors.
#[derive(Debug, Clone, Copy)]
pub struct ErrorRate<F>(F);

impl<F> ErrorRate<F> {
    pub fn of<T>(is_error: F) -> Self
    where
        F: Fn(&T) -> bool,
    {
        ErrorRate(is_error)
    }
}

/// The result of [`ErrorRate`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorShare {
    pub total: u64,
    pub errors: u64,
    /// `errors` of `total`, from 0 to 1; `None` for no elements.
    pub rate: Option<f64>,
}

impl<T, F: Fn(&T) -> bool + Data> AggregateFunction<T> for ErrorRate<F> {
    /// Total and errors.
    type Accumulator = (u64, u64);
    type Output = ErrorShare;

    fn create_accumulator(&self) -> (u64, u64) {
        (0, 0)
    }
    #[inline]
    fn add(&self, element: &T, (total, errors): &mut (u64, u64)) {
        *total += 1;
        *errors += u64::from((self.0)(element));
    }
    fn get_result(&self, &(total, errors): &(u64, u64)) -> ErrorShare {
        ErrorShare { total, errors, rate: (total > 0).then(|| errors as f64 / total as f64) }
    }
    fn merge(&self, (total, errors): &mut (u64, u64), other: &(u64, u64)) {
        *total += other.0;
        *errors += other.1;
    }
}
