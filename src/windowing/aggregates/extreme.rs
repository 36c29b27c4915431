//! The lowest and the highest: values of a field, or the elements that have them.

use std::cmp::Ordering;
use std::marker::PhantomData;

use crate::sketch::order;
use crate::windowing::function::AggregateFunction;
use crate::windowing::{Data, StateData};

/// Which of two values stays: says whether a new one takes the place of the one before it.
pub trait Rule: Data {
    /// `order`: of the new value, against the one before it.
    fn replaces(order: Ordering) -> bool;
}

/// The lowest; of equal ones the first.
#[derive(Debug, Clone, Copy)]
pub struct Lowest;
/// The highest; of equal ones the first.
#[derive(Debug, Clone, Copy)]
pub struct Highest;
/// The highest; of equal ones the last.
#[derive(Debug, Clone, Copy)]
pub struct Latest;

impl Rule for Lowest {
    fn replaces(order: Ordering) -> bool {
        order == Ordering::Less
    }
}
impl Rule for Highest {
    fn replaces(order: Ordering) -> bool {
        order == Ordering::Greater
    }
}
impl Rule for Latest {
    fn replaces(order: Ordering) -> bool {
        order != Ordering::Less
    }
}

/// The lowest value of a field; `None` for no elements.
pub type Min<F> = Extreme<F, Lowest>;
/// The highest value of a field; `None` for no elements.
pub type Max<F> = Extreme<F, Highest>;
/// The element with the lowest value of a field, of several the one that came first; `None` for no elements.
pub type MinBy<F> = ExtremeBy<F, Lowest>;
/// The element with the highest value of a field, of several the one that came first; `None` for no elements.
pub type MaxBy<F> = ExtremeBy<F, Highest>;
/// The element with the earliest time, of several the one that came first; `None` for no elements.
pub type FirstBy<F> = ExtremeBy<F, Lowest>;
/// The element with the latest time, of several the one that came last; `None` for no elements.
pub type LastBy<F> = ExtremeBy<F, Latest>;

/// A value of a field, by a [`Rule`]: see [`Min`] and [`Max`].
#[derive(Debug, Clone, Copy)]
pub struct Extreme<F, R> {
    field: F,
    rule: PhantomData<R>,
}

impl<F, R: Rule> Extreme<F, R> {
    pub fn of<T, V: PartialOrd>(field: F) -> Self
    where
        F: Fn(&T) -> V,
    {
        Extreme { field, rule: PhantomData }
    }
}

impl<T, V: PartialOrd + StateData, F: Fn(&T) -> V + Data, R: Rule> AggregateFunction<T> for Extreme<F, R> {
    type Accumulator = Option<V>;
    type Output = Option<V>;

    fn create_accumulator(&self) -> Option<V> {
        None
    }
    #[inline]
    fn add(&self, element: &T, kept: &mut Option<V>) {
        let value = (self.field)(element);
        if kept.as_ref().is_none_or(|kept| R::replaces(order(&value, kept))) {
            *kept = Some(value);
        }
    }
    fn get_result(&self, kept: &Option<V>) -> Option<V> {
        kept.clone()
    }
    fn merge(&self, kept: &mut Option<V>, other: &Option<V>) {
        if let Some(value) = other
            && kept.as_ref().is_none_or(|kept| R::replaces(order(value, kept)))
        {
            *kept = Some(value.clone());
        }
    }
}

/// An element, by a [`Rule`] for one of its fields: see [`MinBy`], [`MaxBy`], [`FirstBy`] and [`LastBy`].
#[derive(Debug, Clone, Copy)]
pub struct ExtremeBy<F, R> {
    field: F,
    rule: PhantomData<R>,
}

impl<F, R: Rule> ExtremeBy<F, R> {
    pub fn of<T, V: PartialOrd>(field: F) -> Self
    where
        F: Fn(&T) -> V,
    {
        ExtremeBy { field, rule: PhantomData }
    }
}

impl<T: StateData, V: PartialOrd + StateData, F: Fn(&T) -> V + Data, R: Rule> AggregateFunction<T> for ExtremeBy<F, R> {
    type Accumulator = Option<(V, T)>;
    type Output = Option<T>;

    fn create_accumulator(&self) -> Option<(V, T)> {
        None
    }
    #[inline]
    fn add(&self, element: &T, kept: &mut Option<(V, T)>) {
        let value = (self.field)(element);
        if kept.as_ref().is_none_or(|(kept, _)| R::replaces(order(&value, kept))) {
            *kept = Some((value, element.clone()));
        }
    }
    fn get_result(&self, kept: &Option<(V, T)>) -> Option<T> {
        kept.as_ref().map(|(_, element)| element.clone())
    }
    fn merge(&self, kept: &mut Option<(V, T)>, other: &Option<(V, T)>) {
        if let Some((value, _)) = other
            && kept.as_ref().is_none_or(|(kept, _)| R::replaces(order(value, kept)))
        {
            kept.clone_from(other);
        }
    }
}
