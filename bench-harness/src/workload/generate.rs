//! From a specification to rows, a chunk at a time.

use super::random::Random;
use super::{BASE_MS, CHANNELS, Distribution, Spec, VALUE_MAX};

/// Rows of a chunk, and of a row group of a Parquet file. Every chunk has random numbers of its own.
pub const CHUNK_ROWS: u64 = 500_000;
const HOT_SHARE: f64 = 0.5;
/// Knuth's multiplier: scatters the frequent ranks over the keys.
const SCATTER: u64 = 2_654_435_761;

/// Columns of consecutive rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    pub ts: Vec<i64>,
    pub key: Vec<i64>,
    pub value: Vec<i64>,
    /// Index in [`CHANNELS`].
    pub channel: Vec<u8>,
}

/// The rows of a specification.
#[derive(Debug)]
pub struct Generator {
    spec: Spec,
    /// Of the Zipf distribution: the share of rows with this rank or a lower one.
    cumulated: Vec<f64>,
    scatter: u64,
}

impl Generator {
    pub fn new(spec: &Spec) -> Self {
        let mut cumulated = Vec::new();
        if spec.distribution == Distribution::Zipf {
            let (mut sum, mut root) = (0.0, 1.0);
            cumulated.extend((1..=spec.keys).map(|rank| {
                root = tenth_root(rank as f64, root);
                sum += 1.0 / (rank as f64 * root);
                sum
            }));
            cumulated.iter_mut().for_each(|share| *share /= sum);
        }
        let mut scatter = SCATTER;
        while common_divisor(scatter, spec.keys) != 1 {
            scatter += 2;
        }
        Generator { spec: spec.clone(), cumulated, scatter }
    }

    pub fn chunk_count(&self) -> u64 {
        self.spec.rows.div_ceil(CHUNK_ROWS)
    }

    pub fn chunks(&self) -> impl Iterator<Item = Chunk> {
        (0..self.chunk_count()).map(|index| self.chunk(index))
    }

    pub fn chunk(&self, index: u64) -> Chunk {
        let spec = &self.spec;
        let rows = index * CHUNK_ROWS..((index + 1) * CHUNK_ROWS).min(spec.rows);
        let mut random = Random::new(spec.seed, index);
        let mut chunk = Chunk::default();
        let step_ms = 1000.0 / spec.rate_per_s;
        for row in rows {
            let mut ts = BASE_MS + (row as f64 * step_ms) as i64 + spec.disorder_ms as i64;
            if spec.disorder_ms > 0 {
                ts -= random.below(spec.disorder_ms) as i64;
            }
            if spec.late_share > 0.0 && random.unit() < spec.late_share {
                ts -= spec.late_by_ms as i64;
            }
            chunk.ts.push(ts);
            chunk.key.push(self.key(&mut random) as i64);
            chunk.value.push(1 + random.below(VALUE_MAX) as i64);
            chunk.channel.push(random.below(CHANNELS.len() as u64) as u8);
        }
        chunk
    }

    fn key(&self, random: &mut Random) -> u64 {
        let keys = self.spec.keys;
        match self.spec.distribution {
            Distribution::Uniform => random.below(keys),
            Distribution::Hot if random.unit() < HOT_SHARE => 7 % keys,
            Distribution::Hot => random.below(keys),
            Distribution::Zipf => {
                let draw = random.unit();
                let rank = self.cumulated.partition_point(|share| *share <= draw) as u64;
                // rounding may leave the last share just below 1
                (u128::from(rank.min(keys - 1)) * u128::from(self.scatter) % u128::from(keys)) as u64
            }
        }
    }
}

/// Newton's steps from a root nearby. `powf` would do, but its last digit is not the same on every machine.
fn tenth_root(number: f64, mut root: f64) -> f64 {
    for _ in 0..5 {
        let squared = root * root;
        let fourth = squared * squared;
        root = (9.0 * root + number / (fourth * fourth * root)) / 10.0;
    }
    root
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_roots() {
        let mut root = 1.0;
        for number in 1..5000 {
            root = tenth_root(f64::from(number), root);
            assert!((root - f64::from(number).powf(0.1)).abs() < 1e-12, "{number}");
        }
    }
}
