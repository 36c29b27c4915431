//! State in files: what a checkpoint is made of, written and read back. docs/snapshot-format.md is the map of the bytes.
//!
//! A checkpoint is a folder. Each shard writes one file of state ([`StateWriter`], [`StateFile`]): columns as they lie in
//! memory, one section each, and a directory of the sections. The manifest ([`Manifest`]) comes last: a folder without one
//! is no checkpoint. Every byte of either is covered by a checksum that is looked at before anything else is.
//!
//! An operator names its state once, in [`Archive`] calls that serve both ways: writing takes what is named, reading puts
//! it back.

mod archive;
mod folder;
mod format;
mod kept;
mod manifest;
mod reader;
mod run;
mod spill;
#[cfg(test)]
mod tests;
mod writer;

pub use archive::{Archive, ByteLists, Lists, fits};
pub use folder::{CheckpointFolder, CheckpointRoot, METADATA, Pending};
pub use format::{ALIGN, VERSION};
pub use kept::Kept;
pub use manifest::{
    Closed, ClosedPart, Counts, Fingerprint, Manifest, NamedSink, SinkMark, SinkState, SplitState, StageState,
    StateFileEntry, WatermarkOrigin,
};
pub use reader::{StateFile, StateReader};
pub use run::{RunLock, process_of, same_script};
pub use spill::{Spill, SpillFolder};
pub use writer::{Standing, StateWriter, Written};
