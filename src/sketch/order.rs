//! One order for everything that is compared.

use std::cmp::Ordering;

/// The order of `a` and `b` where what equals nothing, not even itself, is above all else: floating-point numbers with
/// NaN at the top, as Java compares them. `0.0` and `-0.0` are equal.
#[allow(clippy::eq_op, reason = "a value that does not equal itself is what is looked for")]
#[inline]
pub fn order<V: PartialOrd>(a: &V, b: &V) -> Ordering {
    match (a == a, b == b) {
        (true, true) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_above_everything_and_equals_itself() {
        assert_eq!(order(&1.0, &2.0), Ordering::Less);
        assert_eq!(order(&f64::NAN, &f64::INFINITY), Ordering::Greater);
        assert_eq!(order(&f64::INFINITY, &f64::NAN), Ordering::Less);
        assert_eq!(order(&f64::NAN, &-f64::NAN), Ordering::Equal);
        assert_eq!(order(&(1, f64::NAN), &(1, 5.0)), Ordering::Greater);
        assert_eq!(order(&"a", &"b"), Ordering::Less);
    }
}
