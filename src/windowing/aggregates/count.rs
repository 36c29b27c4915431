//! COUNT(*).

use crate::windowing::function::AggregateFunction;

/// The number of elements.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count;

impl<T> AggregateFunction<T> for Count {
    type Accumulator = u64;
    type Output = u64;

    fn create_accumulator(&self) -> u64 {
        0
    }
    #[inline]
    fn add(&self, _: &T, count: &mut u64) {
        *count += 1;
    }
    fn get_result(&self, count: &u64) -> u64 {
        *count
    }
    fn merge(&self, count: &mut u64, other: &u64) {
        *count += other;
    }
}
