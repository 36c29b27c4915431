//! From a key's hash to its key group and the shard that owns it.

/// xxh3 of the encoded key columns.
pub type KeyHash = u64;

/// How the key groups are dealt out: `shards` contiguous ranges of `groups` key groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyGroups {
    /// `pipeline.max-parallelism`.
    pub groups: u32,
    pub shards: u32,
}

impl KeyGroups {
    /// # Panics
    /// If there are more shards than key groups, or none.
    pub fn new(groups: u32, shards: u32) -> Self {
        assert!(shards > 0 && groups >= shards, "{groups} key groups for {shards} shards");
        KeyGroups { groups, shards }
    }

    /// The key group: the top bits of the hash, so that a table in hash order is in key group order.
    #[inline]
    pub fn group_of(self, hash: KeyHash) -> u32 {
        (((hash >> 32) * u64::from(self.groups)) >> 32) as u32
    }

    /// The shard that owns a key group; ranges are contiguous and ascend with the shard.
    #[inline]
    pub fn owner_of_group(self, group: u32) -> u32 {
        ((u64::from(group) * u64::from(self.shards)) / u64::from(self.groups)) as u32
    }

    #[inline]
    pub fn owner_of(self, hash: KeyHash) -> u32 {
        self.owner_of_group(self.group_of(hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_ascend_with_the_hash_and_cover_all_shards() {
        for shards in [1, 2, 7, 128] {
            let groups = KeyGroups::new(128, shards);
            let owners: Vec<u32> = (0..=u64::from(u16::MAX)).map(|i| groups.owner_of(i << 48)).collect();
            assert!(owners.is_sorted());
            assert_eq!((owners[0], owners[owners.len() - 1]), (0, shards - 1));
        }
    }
}
