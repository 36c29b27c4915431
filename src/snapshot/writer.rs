//! Writes the file of one shard's state.

use std::io::{self, Write};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::archive::Archive;
use super::format::{ALIGN, Directory, Edge, STATE_MAGIC, Section, VERSION, padded};

/// Zeros to fill up with.
const ZEROS: [u8; ALIGN] = [0; ALIGN];

/// Collects the state of a shard's operators, which can go on afterwards, and writes it when there is time.
#[derive(Default)]
pub struct StateWriter {
    sections: Vec<Taken>,
    owner: u32,
}

struct Taken {
    owner: u32,
    width: u32,
    bytes: Vec<u8>,
}

/// What a file came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Bytes of the file.
    pub bytes: u64,
    /// xxh3 of its directory, which has the checksums of all sections.
    pub hash: u64,
}

impl StateWriter {
    /// The state of a stage is named next.
    pub fn stage(&mut self, stage: usize) -> Archive<'_> {
        self.owner = stage as u32;
        Archive::writing(self)
    }

    pub(super) fn add(&mut self, width: usize, bytes: &[u8]) {
        self.sections.push(Taken { owner: self.owner, width: width as u32, bytes: bytes.to_vec() });
    }

    /// Bytes of state that were taken.
    pub fn bytes(&self) -> u64 {
        self.sections.iter().map(|section| section.bytes.len() as u64).sum()
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, checkpoint: u64, (shard, shards): (usize, usize), out: &mut dyn Write) -> io::Result<Written> {
        let header = Edge::new(STATE_MAGIC, &[u64::from(VERSION), checkpoint, shard as u64, shards as u64]);
        out.write_all(&header.0)?;
        let mut offset = header.0.len();
        let mut directory = Directory { sections: Vec::with_capacity(self.sections.len()) };
        for Taken { owner, width, bytes } in &self.sections {
            let zeros = &ZEROS[..padded(bytes.len()) - bytes.len()];
            let mut hash = Xxh3::new();
            hash.update(bytes);
            hash.update(zeros);
            out.write_all(bytes)?;
            out.write_all(zeros)?;
            directory.sections.push(Section {
                owner: *owner,
                width: *width,
                offset: offset as u64,
                bytes: bytes.len() as u64,
                hash: hash.digest(),
            });
            offset += padded(bytes.len());
        }
        let directory = rkyv::to_bytes::<rkyv::rancor::Error>(&directory).map_err(io::Error::other)?;
        let hash = xxh3_64(&directory);
        out.write_all(&directory)?;
        out.write_all(&ZEROS[..padded(directory.len()) - directory.len()])?;
        let end = offset + padded(directory.len());
        let trailer =
            Edge::new(STATE_MAGIC, &[u64::from(VERSION), checkpoint, offset as u64, directory.len() as u64, hash]);
        out.write_all(&trailer.0)?;
        Ok(Written { bytes: (end + trailer.0.len()) as u64, hash })
    }
}
