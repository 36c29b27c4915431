//! Values to summarize, and exact answers about them.

use crate::random::Random;

pub(super) const QUANTILES: [f64; 9] = [0.0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0];

/// A number from 0 to 1, without 1.
pub(super) fn unit(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1u64 << 53) as f64
}

/// From 1 to 10000, each number `k` with a frequency like 1 / k.
pub(super) fn zipf(random: &mut Random) -> u64 {
    10_000f64.powf(unit(random)) as u64
}

/// Values in several shapes.
pub(super) fn samples(count: usize) -> Vec<(&'static str, Vec<f64>)> {
    let mut random = Random::new(42);
    let mut of = |next: &dyn Fn(&mut Random) -> f64| (0..count).map(|_| next(&mut random)).collect::<Vec<f64>>();
    vec![
        ("uniform", of(&|random| 100.0 * unit(random))),
        ("zipf", of(&|random| zipf(random) as f64)),
        ("ascending", (0..count).map(|i| i as f64).collect()),
        ("descending", (0..count).rev().map(|i| i as f64).collect()),
        ("constant", vec![3.5; count]),
        ("heavy tail", of(&|random| (1.0 - unit(random)).powf(-2.0))),
        ("both signs", of(&|random| (unit(random) - 0.5).powi(3) * 1e4)),
    ]
}

/// Values in ascending order.
pub(super) struct Exact(Vec<f64>);

impl Exact {
    pub(super) fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Exact(sorted)
    }
    /// The value at a place, from 0; behind the last place, the last value.
    pub(super) fn at(&self, place: usize) -> f64 {
        self.0[place.min(self.0.len() - 1)]
    }
}
