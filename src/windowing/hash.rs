//! The hash of a key: the same in every process, so that a key always has the same key group.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::key::KeyHash;

/// xxh3 for text and bytes; for numbers, which most keys are, one folded multiplication each.
#[derive(Debug, Clone, Copy, Default)]
struct KeyHasher(u64);

/// An odd number with its bits well mixed (the fraction of the golden ratio).
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

impl KeyHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        self.0 = fold(self.0.rotate_left(23) ^ word ^ MULTIPLIER, 0xD6E8_FEB8_6659_FD93);
    }
}

impl Hasher for KeyHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }
    #[inline]
    fn write_u8(&mut self, word: u8) {
        self.mix(u64::from(word));
    }
    #[inline]
    fn write_u16(&mut self, word: u16) {
        self.mix(u64::from(word));
    }
    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.mix(u64::from(word));
    }
    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }
    #[inline]
    fn write_u128(&mut self, word: u128) {
        self.mix(word as u64);
        self.mix((word >> 64) as u64);
    }
    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }
    #[inline]
    fn finish(&self) -> u64 {
        // The key group is in the upper bits, the place in a table in others: all must depend on all of the key.
        fold(self.0 ^ MULTIPLIER, 0xA076_1D64_78BD_642F) ^ self.0
    }
}

/// The hash of a key.
#[inline]
pub fn key_hash<K: Hash + ?Sized>(key: &K) -> KeyHash {
    let mut hasher = KeyHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyGroups;

    #[test]
    fn equal_keys_have_equal_hashes_and_key_groups_fill_evenly() {
        assert_eq!(key_hash("a"), key_hash(&String::from("a")));
        let groups = KeyGroups::new(128, 1);
        let mut counts = [0u32; 128];
        for key in 0..128_000i64 {
            counts[groups.group_of(key_hash(&key)) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (800..1200).contains(&count)), "{counts:?}");
        let mut counts = [0u32; 128];
        for key in 0..128_000 {
            counts[groups.group_of(key_hash(&format!("user-{key}"))) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (800..1200).contains(&count)), "{counts:?}");
    }

    #[test]
    fn hashes_do_not_change() {
        // Snapshots file keys by these.
        assert_eq!([key_hash(&1i64), key_hash("a"), key_hash(&(1i64, "a"))], HASHES);
    }
    const HASHES: [u64; 3] = [18_288_546_890_828_912_383, 12_491_988_915_920_510_206, 12_814_941_770_485_443_536];
}
