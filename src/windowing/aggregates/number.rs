//! What can be added up.

use crate::windowing::StateData;

/// A number. Integers wrap around where a sum does not fit, as Flink's do.
pub trait Number: Copy + StateData {
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    /// The nearest double.
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($($integer:ty),+; $($float:ty),+) => {
        $(impl Number for $integer {
            const ZERO: Self = 0;
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn to_f64(self) -> f64 {
                self as f64
            }
        })+
        $(impl Number for $float {
            const ZERO: Self = 0.0;
            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        })+
    };
}

numbers!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize; f32, f64);
