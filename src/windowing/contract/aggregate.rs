use std::fmt::Debug;

use crate::windowing::function::AggregateFunction;

/// Checks that adding elements to several accumulators and merging them, in any grouping, is adding all to one; that
/// merging an empty accumulator changes nothing; and that asking for the result changes nothing.
///
/// Results are compared exactly: for sums of floating point take elements whose sums are exact. The time grows with
/// the cube of the number of elements; a dozen suffices.
///
/// # Errors
/// A sentence that says which of this does not hold.
pub fn check_aggregate<T, F>(function: &F, elements: &[T]) -> Result<(), String>
where
    F: AggregateFunction<T>,
    F::Output: PartialEq + Debug,
{
    let all = of(function, elements);
    let expected = function.get_result(&all);
    let same = |what: &str, accumulator: &F::Accumulator| {
        let got = function.get_result(accumulator);
        if got == expected { Ok(()) } else { Err(format!("{what}: {got:?} instead of {expected:?}")) }
    };
    same("asking for the result twice gives two", &all)?;
    same("a copy of the function counts differently", &of(&function.clone(), elements))?;
    same("a copy of the accumulator gives another result", &all.clone())?;
    let empty = function.create_accumulator();
    same("merging an empty accumulator changes the result", &merged(function, &all, &empty))?;
    same("merging into an empty accumulator changes the result", &merged(function, &empty, &all))?;
    for first in 0..=elements.len() {
        for second in first..=elements.len() {
            let (a, b) = (of(function, &elements[..first]), of(function, &elements[first..second]));
            let c = of(function, &elements[second..]);
            let at = format!("of {} elements, cut at {first} and {second}", elements.len());
            let left = merged(function, &merged(function, &a, &b), &c);
            same(&format!("(a + b) + c is not the whole, {at}"), &left)?;
            let right = merged(function, &a, &merged(function, &b, &c));
            same(&format!("a + (b + c) is not the whole, {at}"), &right)?;
            let mut added = merged(function, &a, &b);
            elements[second..].iter().for_each(|element| function.add(element, &mut added));
            same(&format!("adding behind a merge is not the whole, {at}"), &added)?;
        }
    }
    Ok(())
}

fn of<T, F: AggregateFunction<T>>(function: &F, elements: &[T]) -> F::Accumulator {
    let mut accumulator = function.create_accumulator();
    elements.iter().for_each(|element| function.add(element, &mut accumulator));
    accumulator
}

fn merged<T, F: AggregateFunction<T>>(function: &F, into: &F::Accumulator, other: &F::Accumulator) -> F::Accumulator {
    let mut result = into.clone();
    function.merge(&mut result, other);
    result
}
