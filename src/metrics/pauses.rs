//! How long shards stand still.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Times, to three digits.
#[derive(Debug, Clone)]
pub struct Pauses(Histogram<u64>);

impl Default for Pauses {
    fn default() -> Self {
        let histogram = Histogram::new(3).unwrap_or_else(|_| unreachable!("three digits are allowed"));
        Pauses(histogram)
    }
}

impl Pauses {
    pub fn add(&mut self, pause: Duration) {
        self.0.saturating_record(u64::try_from(pause.as_micros()).unwrap_or(u64::MAX));
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The time that so many percent of the pauses do not exceed, in whole microseconds.
    pub fn percentile(&self, percent: f64) -> Duration {
        Duration::from_micros(self.0.value_at_quantile(percent / 100.0))
    }

    pub fn longest(&self) -> Duration {
        Duration::from_micros(self.0.max())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_times() {
        let mut pauses = Pauses::default();
        assert_eq!((pauses.count(), pauses.longest()), (0, Duration::ZERO));
        (1..=1_000).for_each(|micros| pauses.add(Duration::from_micros(micros)));
        assert_eq!((pauses.count(), pauses.longest()), (1_000, Duration::from_millis(1)));
        assert_eq!(pauses.percentile(50.0), Duration::from_micros(500));
        assert_eq!(pauses.percentile(99.0), Duration::from_micros(990));
    }
}
