//! Lengths of time at the door: given as [`Duration`], checked once, counted in milliseconds from then on.

use std::time::Duration;

use crate::error::{Error, Result};

/// A length of time that may still be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    given: Duration,
    ms: i64,
}

impl Span {
    pub(crate) fn new(given: Duration) -> Self {
        Span { given, ms: i64::try_from(given.as_millis()).unwrap_or(i64::MAX) }
    }

    /// Milliseconds; only meaningful once the span has been checked.
    #[inline]
    pub(crate) fn ms(self) -> i64 {
        self.ms
    }

    /// `what` names the span in a message: "the size of TumblingEventTimeWindows".
    ///
    /// # Errors
    /// Kind Usage where the span is not counted in whole milliseconds, or in more than an `i64` holds.
    pub(crate) fn check(self, what: &str) -> Result<()> {
        if self.given.subsec_nanos() % 1_000_000 != 0 {
            let message = format!("{what} must be whole milliseconds, not {:?}", self.given);
            return Err(Error::usage(message).help("times are counted in milliseconds, as in Flink; round it"));
        }
        if self.given.as_millis() > i64::MAX as u128 {
            let message = format!("{what} must be at most {} ms, not {:?}", i64::MAX, self.given);
            return Err(Error::usage(message).help("choose a shorter one"));
        }
        Ok(())
    }

    /// # Errors
    /// As [`Span::check`], and where the span is 0.
    pub(crate) fn check_positive(self, what: &str) -> Result<()> {
        self.check(what)?;
        if self.ms == 0 {
            return Err(Error::usage(format!("{what} must be positive, not 0 ms")).help("give at least 1 ms"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_whole_milliseconds_that_fit() {
        let check = |given| Span::new(given).check("the size").map_err(|error| error.message().to_string());
        assert_eq!(check(Duration::from_millis(7)), Ok(()));
        assert_eq!(check(Duration::from_micros(1500)), Err("the size must be whole milliseconds, not 1.5ms".into()));
        assert!(check(Duration::MAX - Duration::from_nanos(999_999_999)).is_err());
        assert!(Span::new(Duration::ZERO).check_positive("the size").is_err());
    }
}
