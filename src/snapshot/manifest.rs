//! What a checkpoint says of itself: where reading stopped, what belongs to it, which parts of sinks it covers.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::format::{EDGE, Edge, MANIFEST_MAGIC, VERSION, check_version, damaged};
use crate::error::{Error, Result};
use crate::io::files::{Files, disk};

/// Written last; where it is, the checkpoint is complete.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Manifest {
    pub checkpoint: u64,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// The release that wrote it.
    pub release: String,
    /// The file of the script, as its name was given.
    pub script: String,
    /// In which statement of the script the job runs, counted from 1.
    pub statement: u64,
    pub key_groups: u32,
    pub shards: u32,
    /// Bytes per block of a text file: blocks are counted by it.
    pub block_bytes: u64,
    pub stages: Vec<StageState>,
    pub splits: Vec<SplitState>,
    pub sinks: Vec<NamedSink>,
    pub counts: Counts,
    pub files: Vec<StateFileEntry>,
}

/// What must be the same where state is to be taken over.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Fingerprint {
    /// For messages.
    pub title: String,
    /// All of the specification.
    pub text: String,
}

impl Fingerprint {
    /// The same, wherever in the script it stands, and whatever the script's file is called.
    #[must_use]
    pub fn without_places(&self) -> Fingerprint {
        const BEGIN: &str = "Place { file: ";
        let (mut text, mut rest) = (String::with_capacity(self.text.len()), self.text.as_str());
        while let Some(at) = rest.find(BEGIN) {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            // The name is quoted, with quotes within it escaped; then come three numbers.
            let Some(end) = rest.find(", line: ").and_then(|line| Some(line + rest[line..].find('}')? + 1)) else {
                break;
            };
            text.push_str("Place");
            rest = &rest[end..];
        }
        text.push_str(rest);
        Fingerprint { title: self.title.clone(), text }
    }
}

/// A stage at the cut.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct StageState {
    pub fingerprint: Fingerprint,
    /// Milliseconds since 1970.
    pub watermark: i64,
}

/// A split at the cut: the blocks before `next_block` count, no other does.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct SplitState {
    /// The scan that reads it, counted from 0.
    pub branch: u32,
    /// The file's path.
    pub name: String,
    /// Of the file.
    pub bytes: u64,
    pub next_block: u64,
    /// The state in which that block begins.
    pub state: u8,
    /// It holds nobody back until its next block.
    pub idle: bool,
    /// The two highest values of its watermark expression.
    pub peaks: [i64; 2],
    pub origin: WatermarkOrigin,
}

/// The block from which a split's watermark comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct WatermarkOrigin {
    pub block: u64,
    pub state: u8,
    pub before: i64,
    pub second: i64,
}

/// A sink at the cut.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct NamedSink {
    pub fingerprint: Fingerprint,
    pub files: SinkState,
}

/// The files of a sink at the cut; nothing for one that has none.
#[derive(Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct SinkState {
    /// Of this run and of those before it that it goes back to.
    pub marks: Vec<SinkMark>,
    /// Files that are complete and have their rows before the cut, those that are visible already left out.
    pub parts: Vec<ClosedPart>,
}

/// What the names of the files of a run have in common.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct SinkMark {
    pub mark: String,
    /// By shard: the number of its first file behind the cut.
    pub next: Vec<u64>,
}

/// A file of a sink that is complete. In order of number and shard.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct ClosedPart {
    pub number: u64,
    pub shard: u32,
    /// Where it is written.
    pub hidden: String,
    /// Where it belongs; empty for a piece of the one file of the table.
    pub visible: String,
}

/// What the writer of a shard has completed at a cut.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closed {
    pub parts: Vec<ClosedPart>,
    /// The number of its next file.
    pub next: u64,
}

/// What was counted up to the cut, in the order of the job's totals, then the rows of each sink.
#[derive(Debug, Clone, Default, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Counts {
    pub totals: Vec<u64>,
    pub written: Vec<u64>,
}

/// A file of state of the checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct StateFileEntry {
    /// In the folder of the checkpoint.
    pub name: String,
    pub bytes: u64,
    /// Of its directory.
    pub hash: u64,
}

impl Manifest {
    /// The bytes of the file.
    ///
    /// # Errors
    /// Internal if it cannot be archived.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let body = rkyv::to_bytes::<rkyv::rancor::Error>(self)
            .map_err(|error| Error::internal(format!("a manifest that cannot be written: {error}")))?;
        let numbers = [u64::from(VERSION), self.checkpoint, body.len() as u64, xxh3_64(&body)];
        let mut bytes = Edge::new(MANIFEST_MAGIC, &numbers).0.to_vec();
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }

    /// # Errors
    /// Data, with the place, if any byte is not as it was written, or another version wrote it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Manifest> {
        let header = Edge::read(bytes.get(..EDGE).unwrap_or_default(), MANIFEST_MAGIC, "header")?;
        let [version, checkpoint, length, hash, ..] = header;
        check_version(version)?;
        let body = &bytes[EDGE..];
        if body.len() as u64 != length {
            return Err(damaged(&format!("{} bytes behind the header, not {length}", body.len())));
        }
        if xxh3_64(body) != hash {
            return Err(damaged("the manifest has another checksum than its header says"));
        }
        // Archived data begins at a multiple of its alignment.
        let mut aligned = rkyv::util::AlignedVec::<16>::with_capacity(body.len());
        aligned.extend_from_slice(body);
        let manifest = rkyv::from_bytes::<Manifest, rkyv::rancor::Error>(&aligned);
        let manifest = manifest.map_err(|error| damaged(&format!("the manifest cannot be read: {error}")))?;
        if manifest.checkpoint == checkpoint { Ok(manifest) } else { Err(damaged("the header is of another manifest")) }
    }

    /// Reads the file at a path.
    ///
    /// # Errors
    /// Io, or as [`Manifest::from_bytes`], with the path.
    pub fn read(path: &Path) -> Result<Manifest> {
        Self::read_on(&*disk(), path)
    }

    pub(super) fn read_on(disk: &dyn Files, path: &Path) -> Result<Manifest> {
        let bytes = disk.read(path).map_err(|error| Error::io("read", path.display(), error))?;
        Self::from_bytes(&bytes).map_err(|error| error.in_file(path.display().to_string()))
    }
}
