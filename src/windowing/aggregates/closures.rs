//! An aggregate function of four closures.

use crate::windowing::function::AggregateFunction;
use crate::windowing::{Data, StateData};

/// An aggregate function for which no type of its own is worth while.
#[derive(Debug, Clone, Copy)]
pub struct Aggregate<C, A, M, R> {
    create: C,
    add: A,
    merge: M,
    result: R,
}

impl<C, A, M, R> Aggregate<C, A, M, R> {
    /// `create` makes an empty accumulator, `add` adds an element to it, `merge` adds what another accumulator has seen
    /// afterwards, `result` makes the result. The contract is that of [`AggregateFunction`].
    pub fn new<T, Accumulator, Output>(create: C, add: A, merge: M, result: R) -> Self
    where
        C: Fn() -> Accumulator,
        A: Fn(&mut Accumulator, &T),
        M: Fn(&mut Accumulator, &Accumulator),
        R: Fn(&Accumulator) -> Output,
    {
        Aggregate { create, add, merge, result }
    }
}

impl<T, Accumulator, Output, C, A, M, R> AggregateFunction<T> for Aggregate<C, A, M, R>
where
    Accumulator: StateData,
    Output: Data,
    C: Fn() -> Accumulator + Data,
    A: Fn(&mut Accumulator, &T) + Data,
    M: Fn(&mut Accumulator, &Accumulator) + Data,
    R: Fn(&Accumulator) -> Output + Data,
{
    type Accumulator = Accumulator;
    type Output = Output;

    fn create_accumulator(&self) -> Accumulator {
        (self.create)()
    }
    fn add(&self, element: &T, accumulator: &mut Accumulator) {
        (self.add)(accumulator, element);
    }
    fn get_result(&self, accumulator: &Accumulator) -> Output {
        (self.result)(accumulator)
    }
    fn merge(&self, accumulator: &mut Accumulator, other: &Accumulator) {
        (self.merge)(accumulator, other);
    }
}
