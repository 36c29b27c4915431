//! The fixed parts of both kinds of files. docs/snapshot-format.md shows them byte by byte.

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, ErrorKind, Result};

/// Of the format, as it is written. Version 1 is read too; docs/snapshot-format.md lists what changed.
pub const VERSION: u32 = 2;
/// Sections begin at multiples of this, and the bytes up to the next are zero.
pub const ALIGN: usize = 64;
/// Of the header and of the trailer.
pub(super) const EDGE: usize = 64;

pub(super) const STATE_MAGIC: [u8; 8] = *b"TRANSOMS";
pub(super) const MANIFEST_MAGIC: [u8; 8] = *b"TRANSOMM";

/// Cells that only their operator knows.
pub(super) const PLAIN: u32 = 0;
/// The table of an index of keys: cells of 8 bytes, 0 or the upper half of a key's hash in their own upper half.
pub(super) const SLOTS: u32 = 1;

/// One section of state.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct Section {
    /// The stage whose state it is.
    pub owner: u32,
    /// Bytes of a cell.
    pub width: u32,
    /// What the cells are to whoever looks at the file from outside: [`PLAIN`] or [`SLOTS`].
    pub kind: u32,
    /// The file that has it: this one (0) or one of the bases, counted from 1.
    pub base: u32,
    /// From the start of that file.
    pub offset: u64,
    /// Without the zeros up to the next section.
    pub bytes: u64,
    /// xxh3 of the bytes and of those zeros.
    pub hash: u64,
}

impl Section {
    /// Which of the bases has it, from 0; none: the file itself.
    pub fn number_of_base(&self) -> Option<usize> {
        (self.base as usize).checked_sub(1)
    }
}

/// A file of an earlier checkpoint that has some of the sections. It lies beside the file that refers to it.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct Base {
    pub checkpoint: u64,
    /// Of its directory.
    pub hash: u64,
}

impl Base {
    /// Its name beside the file of this name.
    pub fn name(&self, file: &str) -> String {
        format!("chk-{}.{file}", self.checkpoint)
    }
}

/// The sections of a file of state in the order in which they were named; those that it has itself are in the order of
/// the file.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct Directory {
    pub bases: Vec<Base>,
    pub sections: Vec<Section>,
}

/// Version 1: every file has all sections itself.
pub(super) mod version_1 {
    use super::PLAIN;

    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub struct Section {
        pub owner: u32,
        pub width: u32,
        pub offset: u64,
        pub bytes: u64,
        pub hash: u64,
    }

    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub struct Directory {
        pub sections: Vec<Section>,
    }

    impl From<Directory> for super::Directory {
        fn from(directory: Directory) -> Self {
            let section = |Section { owner, width, offset, bytes, hash }| super::Section {
                owner,
                width,
                kind: PLAIN,
                base: 0,
                offset,
                bytes,
                hash,
            };
            super::Directory { bases: Vec::new(), sections: directory.sections.into_iter().map(section).collect() }
        }
    }
}

/// The first or last 64 bytes of a file: a few numbers, and a checksum of them in the last eight.
pub(super) struct Edge(pub [u8; EDGE]);

impl Edge {
    pub fn new(magic: [u8; 8], numbers: &[u64]) -> Edge {
        let mut bytes = [0; EDGE];
        bytes[..8].copy_from_slice(&magic);
        for (place, number) in bytes[8..EDGE - 8].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let hash = xxh3_64(&bytes[..EDGE - 8]);
        bytes[EDGE - 8..].copy_from_slice(&hash.to_le_bytes());
        Edge(bytes)
    }

    /// The numbers of an edge that is as it was written.
    ///
    /// # Errors
    /// Data: too short, another magic word, another checksum.
    pub fn read(bytes: &[u8], magic: [u8; 8], what: &str) -> Result<[u64; 6]> {
        let bytes: &[u8; EDGE] = bytes.try_into().map_err(|_| damaged(&format!("the {what} is cut off")))?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        if bytes[..8] != magic {
            return Err(damaged(&format!("the {what} is none")));
        }
        if number(EDGE - 8) != xxh3_64(&bytes[..EDGE - 8]) {
            return Err(damaged(&format!("the {what} has another checksum than it says")));
        }
        Ok(std::array::from_fn(|at| number(8 + 8 * at)))
    }
}

/// The length with the zeros up to the next multiple of [`ALIGN`].
pub(super) fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(ALIGN)
}

/// The error for bytes that are not as they were written. Whoever knows the file names it.
pub(super) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Data, format!("damaged: {what}"))
}

/// Whether files of the version can be read.
///
/// # Errors
/// Data if not.
pub(super) fn check_version(version: u64) -> Result<()> {
    if (1..=u64::from(VERSION)).contains(&version) {
        return Ok(());
    }
    let message = format!("written in version {version} of the snapshot format, this is version {VERSION}");
    Err(Error::new(ErrorKind::Data, message).help("restore it with the release of transom that wrote it"))
}
