//! What the files of earlier checkpoints have of a shard's state, so that it is not written again.

use std::collections::{BTreeMap, HashMap};

use super::format::Base;
use super::writer::Written;
use crate::arena::SharedBytes;

/// A file of which less than one part in so many is still wanted is not kept for it: what is wanted is written anew.
const WANTED_PARTS: u64 = 3;

/// What the newest checkpoint of a run has of the state of one shard, in its own file or in earlier ones.
#[derive(Debug, Default)]
pub struct Kept {
    /// By checkpoint: the files that the newest checkpoint's folder has, its own among them.
    files: BTreeMap<u64, Written>,
    /// By id and length of the memory.
    places: HashMap<(u64, usize), Place>,
    newest: u64,
}

/// Where a column lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// In whose file.
    pub checkpoint: u64,
    pub offset: u64,
    pub hash: u64,
}

impl Kept {
    pub(super) fn place(&self, shared: &SharedBytes) -> Option<Place> {
        self.places.get(&(shared.id(), shared.bytes().len())).copied()
    }

    /// The checkpoint in whose folder the files are.
    pub(super) fn newest(&self) -> u64 {
        self.newest
    }

    /// The files to refer to: those of which enough is wanted. `wanted`: bytes by checkpoint.
    pub(super) fn bases(&self, wanted: &BTreeMap<u64, u64>) -> Vec<Base> {
        let enough = |(checkpoint, file): (&u64, &Written)| {
            let bytes = wanted.get(checkpoint).copied().unwrap_or(0);
            (bytes > 0 && bytes >= file.bytes / WANTED_PARTS)
                .then_some(Base { checkpoint: *checkpoint, hash: file.hash })
        };
        self.files.iter().filter_map(enough).collect()
    }

    /// A newer checkpoint is written.
    pub(super) fn replace(
        &mut self,
        checkpoint: u64,
        written: Written,
        bases: &[Base],
        places: &[(&SharedBytes, Place)],
    ) {
        self.files.retain(|checkpoint, _| bases.iter().any(|base| base.checkpoint == *checkpoint));
        self.files.insert(checkpoint, written);
        self.places = places.iter().map(|(shared, place)| ((shared.id(), shared.bytes().len()), *place)).collect();
        self.newest = checkpoint;
    }
}
