//! Writes the file of one shard's state.

use std::collections::BTreeMap;
use std::io::{self, Write};

use arrow::array::RecordBatch;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::archive::{Archive, stream_of};
use super::format::{ALIGN, Base, Directory, Edge, PLAIN, STATE_MAGIC, Section, VERSION, padded};
use super::kept::{Kept, Place};
use crate::arena::{Cells, SharedBytes};

/// Zeros to fill up with.
const ZEROS: [u8; ALIGN] = [0; ALIGN];
/// Tables at least so large are sealed at a cut.
const SEAL_BYTES: usize = 1 << 20;

/// Collects the state of a shard's operators, which can go on afterwards, and writes it when there is time. Large columns
/// are not copied: see [`Cells::share`].
pub struct StateWriter {
    sections: Vec<Taken>,
    owner: u32,
    seal_bytes: usize,
}

struct Taken {
    owner: u32,
    width: u32,
    kind: u32,
    state: State,
}

enum State {
    Copied(Vec<u8>),
    Shared(SharedBytes),
    /// To be written as an Arrow stream.
    Rows(Vec<RecordBatch>),
}

/// What a file came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Bytes of the file.
    pub bytes: u64,
    /// xxh3 of its directory, which has the checksums of all sections.
    pub hash: u64,
}

/// Where a file stands among others: the number of its checkpoint, its shard and of how many.
pub type Standing = (u64, usize, usize);

impl Default for StateWriter {
    fn default() -> Self {
        StateWriter::sealing(SEAL_BYTES)
    }
}

impl StateWriter {
    /// Tables of at least `seal_bytes` are sealed when they are named.
    pub fn sealing(seal_bytes: usize) -> Self {
        StateWriter { sections: Vec::new(), owner: 0, seal_bytes }
    }

    /// The state of a stage is named next.
    pub fn stage(&mut self, stage: usize) -> Archive<'_> {
        self.owner = stage as u32;
        Archive::writing(self)
    }

    pub(super) fn seal_bytes(&self) -> usize {
        self.seal_bytes
    }

    pub(super) fn add(&mut self, cells: &mut dyn Cells, kind: u32) {
        let state = match cells.share() {
            Some(shared) => State::Shared(shared),
            None => State::Copied(cells.bytes().to_vec()),
        };
        self.sections.push(Taken { owner: self.owner, width: cells.width() as u32, kind, state });
    }

    pub(super) fn add_rows(&mut self, batches: Vec<RecordBatch>) {
        self.sections.push(Taken { owner: self.owner, width: 1, kind: PLAIN, state: State::Rows(batches) });
    }

    /// The columns that files of earlier checkpoints have as they are: bytes by checkpoint.
    pub(super) fn unchanged(&self, kept: &Kept) -> BTreeMap<u64, u64> {
        let mut unchanged = BTreeMap::new();
        for Taken { state, .. } in &self.sections {
            if let State::Shared(shared) = state
                && let Some(place) = kept.place(shared)
            {
                *unchanged.entry(place.checkpoint).or_insert(0) += shared.bytes().len() as u64;
            }
        }
        unchanged
    }

    /// Writes the whole file, which refers to no other.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_whole(&self, standing: Standing, out: &mut dyn Write) -> io::Result<Written> {
        self.write(standing, &[], &mut Kept::default(), out)
    }

    /// Writes the file, without what files of earlier checkpoints have: `bases` says which may be referred to. `kept` gets
    /// to know what is on the disk then.
    ///
    /// # Errors
    /// Those of `out`.
    pub(super) fn write(
        &self,
        (checkpoint, shard, shards): Standing,
        bases: &[Base],
        kept: &mut Kept,
        out: &mut dyn Write,
    ) -> io::Result<Written> {
        let header = Edge::new(STATE_MAGIC, &[u64::from(VERSION), checkpoint, shard as u64, shards as u64]);
        out.write_all(&header.0)?;
        let mut offset = header.0.len();
        let mut directory = Directory { bases: bases.to_vec(), sections: Vec::with_capacity(self.sections.len()) };
        let base_of = |place: &Place| bases.iter().position(|base| base.checkpoint == place.checkpoint);
        let mut places = Vec::new();
        for Taken { owner, width, kind, state } in &self.sections {
            let (owner, width, kind) = (*owner, *width, *kind);
            let known = match state {
                State::Shared(shared) => kept.place(shared).and_then(|place| Some((place, base_of(&place)?))),
                _ => None,
            };
            if let (State::Shared(shared), Some((place, base))) = (state, known) {
                let (base, bytes) = (base as u32 + 1, shared.bytes().len() as u64);
                directory.sections.push(Section {
                    owner,
                    width,
                    kind,
                    base,
                    offset: place.offset,
                    bytes,
                    hash: place.hash,
                });
                places.push((shared, place));
                continue;
            }
            let stream;
            let bytes = match state {
                State::Copied(bytes) => bytes,
                State::Shared(shared) => shared.bytes(),
                State::Rows(batches) => {
                    stream = stream_of(batches).map_err(io::Error::other)?;
                    &stream
                }
            };
            let hash = write_section(bytes, out)?;
            let section =
                Section { owner, width, kind, base: 0, offset: offset as u64, bytes: bytes.len() as u64, hash };
            if let State::Shared(shared) = state {
                places.push((shared, Place { checkpoint, offset: section.offset, hash }));
            }
            directory.sections.push(section);
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
        let written = Written { bytes: (end + trailer.0.len()) as u64, hash };
        kept.replace(checkpoint, written, bases, &places);
        Ok(written)
    }
}

/// Writes the bytes with the zeros behind them; their checksum.
fn write_section(bytes: &[u8], out: &mut dyn Write) -> io::Result<u64> {
    let zeros = &ZEROS[..padded(bytes.len()) - bytes.len()];
    let mut hash = Xxh3::new();
    hash.update(bytes);
    hash.update(zeros);
    out.write_all(bytes)?;
    out.write_all(zeros)?;
    Ok(hash.digest())
}
