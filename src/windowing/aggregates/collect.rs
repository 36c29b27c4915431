//! All values of a field.

use crate::windowing::function::AggregateFunction;
use crate::windowing::{Data, StateData};

/// A list of all values of a field, as they came.
///
/// Nothing bounds the list: a window keeps as many values as it has elements, and a merge copies them. Where the first,
/// the highest or some of them suffice, [`FirstBy`](super::FirstBy) and [`TopK`](super::TopK) take less.
#[derive(Debug, Clone, Copy)]
pub struct Collect<F>(F);

impl<F> Collect<F> {
    pub fn of<T, V>(field: F) -> Self
    where
        F: Fn(&T) -> V,
    {
        Collect(field)
    }
}

impl<T, V: StateData, F: Fn(&T) -> V + Data> AggregateFunction<T> for Collect<F> {
    type Accumulator = Vec<V>;
    type Output = Vec<V>;

    fn create_accumulator(&self) -> Vec<V> {
        Vec::new()
    }
    fn add(&self, element: &T, values: &mut Vec<V>) {
        values.push((self.0)(element));
    }
    fn get_result(&self, values: &Vec<V>) -> Vec<V> {
        values.clone()
    }
    fn merge(&self, values: &mut Vec<V>, other: &Vec<V>) {
        values.extend_from_slice(other);
    }
}
