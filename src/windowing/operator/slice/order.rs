//! The order of firing: by the hash of the key.

use crate::key::KeyHash;

/// Below this many a plain sort is as good.
const FEW: usize = 256;
/// Keys that come to lie in one bucket, on average.
const IN_BUCKET: usize = 4;

/// Sorts keys by hash, then by number. Hashes are spread evenly between the least and the greatest of them, so where one
/// comes to lie can nearly be told from itself alone.
pub(super) fn sort(keys: &mut Vec<(KeyHash, u32)>) {
    let bounds = keys.iter().fold((KeyHash::MAX, 0), |(low, high), &(hash, _)| (hash.min(low), hash.max(high)));
    if keys.len() < FEW || bounds.0 == bounds.1 {
        return keys.sort_unstable();
    }
    let (low, span) = (bounds.0, bounds.1 - bounds.0);
    let buckets = (keys.len() / IN_BUCKET).next_power_of_two();
    let shift = (KeyHash::BITS - span.leading_zeros()).saturating_sub(buckets.trailing_zeros());
    let bucket = |hash: KeyHash| ((hash - low) >> shift) as usize;
    let mut starts = vec![0_u32; buckets + 1];
    keys.iter().for_each(|&(hash, _)| starts[bucket(hash) + 1] += 1);
    (1..=buckets).for_each(|at| starts[at] += starts[at - 1]);
    let mut sorted = vec![(0, 0); keys.len()];
    for &key in keys.iter() {
        let at = &mut starts[bucket(key.0)];
        sorted[*at as usize] = key;
        *at += 1;
    }
    // Each bucket now ends where the next began; within them, few keys are out of place.
    let mut first = 0;
    for &end in &starts[..buckets] {
        let bucket = &mut sorted[first..end as usize];
        if bucket.len() > 1 {
            bucket.sort_unstable();
        }
        first = end as usize;
    }
    *keys = sorted;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::windowing::hash::key_hash;

    #[test]
    fn it_sorts_whatever_the_hashes() {
        let mut random = Random::new(11);
        let hashes: [fn(u64) -> KeyHash; 5] = [
            |n| key_hash(&n),
            |n| n,
            |n| n % 3,
            |n| key_hash(&n) >> 20 | 5 << 60,
            |n| if n == 7 { u64::MAX } else { n },
        ];
        for hash in hashes {
            for count in [0, 1, 2, 255, 256, 257, 1000, 4096, 10_000] {
                let mut keys: Vec<_> = (0..count).map(|n| (hash(random.below(count.max(1) * 3)), n as u32)).collect();
                let mut expected = keys.clone();
                expected.sort();
                sort(&mut keys);
                assert_eq!(keys, expected);
            }
        }
    }
}
