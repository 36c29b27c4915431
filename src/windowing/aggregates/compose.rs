//! Aggregates made of aggregates: some of the elements, another result, several at once.

use std::marker::PhantomData;

use crate::windowing::Data;
use crate::windowing::function::AggregateFunction;

/// What can be made of any aggregate function.
pub trait AggregateExt<T>: AggregateFunction<T> {
    /// Takes only the elements for which `predicate` holds, as FILTER (WHERE …).
    fn filter<P>(self, predicate: P) -> Filtered<Self, P>
    where
        P: Fn(&T) -> bool + Data,
    {
        Filtered { aggregate: self, predicate }
    }

    /// Makes something else of the result.
    fn map_result<F, R>(self, map: F) -> Mapped<Self, F, T>
    where
        F: Fn(Self::Output) -> R + Data,
        R: Data,
    {
        Mapped { aggregate: self, map, of: PhantomData }
    }
}

impl<T, A: AggregateFunction<T>> AggregateExt<T> for A {}

/// An aggregate over some of the elements.
#[derive(Debug, Clone, Copy)]
pub struct Filtered<A, P> {
    aggregate: A,
    predicate: P,
}

impl<T, A: AggregateFunction<T>, P: Fn(&T) -> bool + Data> AggregateFunction<T> for Filtered<A, P> {
    type Accumulator = A::Accumulator;
    type Output = A::Output;

    fn create_accumulator(&self) -> A::Accumulator {
        self.aggregate.create_accumulator()
    }
    #[inline]
    fn add(&self, element: &T, accumulator: &mut A::Accumulator) {
        if (self.predicate)(element) {
            self.aggregate.add(element, accumulator);
        }
    }
    fn get_result(&self, accumulator: &A::Accumulator) -> A::Output {
        self.aggregate.get_result(accumulator)
    }
    fn merge(&self, accumulator: &mut A::Accumulator, other: &A::Accumulator) {
        self.aggregate.merge(accumulator, other);
    }
}

/// An aggregate of elements `T` with another result.
pub struct Mapped<A, F, T> {
    aggregate: A,
    map: F,
    of: PhantomData<fn(&T)>,
}

impl<A: Clone, F: Clone, T> Clone for Mapped<A, F, T> {
    fn clone(&self) -> Self {
        Mapped { aggregate: self.aggregate.clone(), map: self.map.clone(), of: PhantomData }
    }
}

impl<T, A, F, R> AggregateFunction<T> for Mapped<A, F, T>
where
    T: 'static,
    A: AggregateFunction<T>,
    F: Fn(A::Output) -> R + Data,
    R: Data,
{
    type Accumulator = A::Accumulator;
    type Output = R;

    fn create_accumulator(&self) -> A::Accumulator {
        self.aggregate.create_accumulator()
    }
    #[inline]
    fn add(&self, element: &T, accumulator: &mut A::Accumulator) {
        self.aggregate.add(element, accumulator);
    }
    fn get_result(&self, accumulator: &A::Accumulator) -> R {
        (self.map)(self.aggregate.get_result(accumulator))
    }
    fn merge(&self, accumulator: &mut A::Accumulator, other: &A::Accumulator) {
        self.aggregate.merge(accumulator, other);
    }
}

/// A tuple of aggregates over the same elements is an aggregate with a tuple as its result.
macro_rules! tuple {
    ($($part:ident $index:tt),+) => {
        impl<Element, $($part: AggregateFunction<Element>),+> AggregateFunction<Element> for ($($part,)+) {
            type Accumulator = ($($part::Accumulator,)+);
            type Output = ($($part::Output,)+);

            fn create_accumulator(&self) -> Self::Accumulator {
                ($(self.$index.create_accumulator(),)+)
            }
            #[inline]
            fn add(&self, element: &Element, accumulator: &mut Self::Accumulator) {
                $(self.$index.add(element, &mut accumulator.$index);)+
            }
            fn get_result(&self, accumulator: &Self::Accumulator) -> Self::Output {
                ($(self.$index.get_result(&accumulator.$index),)+)
            }
            fn merge(&self, accumulator: &mut Self::Accumulator, other: &Self::Accumulator) {
                $(self.$index.merge(&mut accumulator.$index, &other.$index);)+
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
