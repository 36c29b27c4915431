//! Reads the file of one shard's state, after it has looked at every byte.

use std::fs::File;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::archive::Archive;
use super::format::{Directory, EDGE, Edge, STATE_MAGIC, Section, VERSION, damaged, other_version, padded};
use crate::arena::{Mapping, Stored};
use crate::error::{Error, Result};

/// A file of state that is as it was written.
pub struct StateFile {
    map: Mapping,
    sections: Vec<Section>,
    /// Of its directory.
    pub hash: u64,
    pub checkpoint: u64,
    pub shard: usize,
    pub shards: usize,
}

impl StateFile {
    /// Opens a file and checks all of it.
    ///
    /// # Errors
    /// Io if it cannot be opened; Data, with its path and the place, if any byte is not as it was written.
    pub fn open(path: &Path) -> Result<StateFile> {
        let failed = |error| Error::io("read", path.display(), error);
        let file = File::open(path).map_err(failed)?;
        let map = Mapping::of(&file).map_err(failed)?;
        Self::checked(map).map_err(|error| error.in_file(path.display().to_string()))
    }

    fn checked(mut map: Mapping) -> Result<StateFile> {
        let bytes = map.rest();
        let header = Edge::read(bytes.get(..EDGE).unwrap_or_default(), STATE_MAGIC, "header")?;
        if header[0] != u64::from(VERSION) {
            return Err(other_version(header[0]));
        }
        let end = bytes.len() - EDGE;
        let trailer = Edge::read(&bytes[end..], STATE_MAGIC, "trailer")?;
        let [version, checkpoint, offset, length, hash, _] = trailer;
        if version != header[0] || checkpoint != header[1] {
            return Err(damaged("the trailer belongs to another file"));
        }
        let (offset, length) = (offset as usize, length as usize);
        let whole = offset.checked_add(length).filter(|&stop| offset >= EDGE && stop <= end && padded(stop) == end);
        if whole.is_none() || !offset.is_multiple_of(super::ALIGN) {
            return Err(damaged("the directory is not where the trailer says"));
        }
        let directory = &bytes[offset..offset + length];
        if xxh3_64(directory) != hash || bytes[offset + length..end].iter().any(|&byte| byte != 0) {
            return Err(damaged(&format!("the directory, at byte {offset}, has another checksum than it should")));
        }
        let sections = sections(directory)?;
        check(&sections, bytes, offset)?;
        map.take(EDGE);
        let (shard, shards) = (header[2] as usize, header[3] as usize);
        Ok(StateFile { map, sections, hash, checkpoint, shard, shards })
    }

    /// Bytes of state, by stage, of the stages that have any.
    pub fn bytes_by_stage(&self) -> Vec<(usize, u64)> {
        let mut found: Vec<(usize, u64)> = Vec::new();
        for section in &self.sections {
            match found.last_mut() {
                Some((stage, bytes)) if *stage == section.owner as usize => *bytes += section.bytes,
                _ => found.push((section.owner as usize, section.bytes)),
            }
        }
        found
    }

    /// Hands the state out, stage by stage.
    pub fn into_reader(self) -> StateReader {
        StateReader { map: self.map, sections: self.sections.into_iter().peekable(), stage: 0 }
    }
}

fn sections(directory: &[u8]) -> Result<Vec<Section>> {
    let directory = rkyv::from_bytes::<Directory, rkyv::rancor::Error>(directory);
    Ok(directory.map_err(|error| damaged(&format!("the directory cannot be read: {error}")))?.sections)
}

/// Sections lie one behind the other, and each has its checksum.
fn check(sections: &[Section], bytes: &[u8], end: usize) -> Result<()> {
    let mut at = EDGE;
    for (number, section) in sections.iter().enumerate() {
        let length = padded(section.bytes as usize);
        let wrong = || damaged(&format!("section {number}, at byte {at}, lies elsewhere than the directory says"));
        let stop = at.checked_add(length).filter(|&stop| stop <= end).ok_or_else(wrong)?;
        if section.offset != at as u64 || section.width == 0 || section.bytes % u64::from(section.width) != 0 {
            return Err(wrong());
        }
        if xxh3_64(&bytes[at..stop]) != section.hash {
            let stage = section.owner;
            return Err(damaged(&format!(
                "section {number}, at byte {at}, of stage {stage} has another checksum than it should"
            )));
        }
        at = stop;
    }
    if at == end { Ok(()) } else { Err(damaged(&format!("there is something behind the last section, at byte {at}"))) }
}

/// Hands the sections of a file out in their order.
pub struct StateReader {
    map: Mapping,
    sections: std::iter::Peekable<std::vec::IntoIter<Section>>,
    stage: u32,
}

impl StateReader {
    /// The state of a stage is asked for next. What is left of stages before it is passed over.
    pub fn stage(&mut self, stage: usize) -> Archive<'_> {
        self.stage = stage as u32;
        while self.sections.next_if(|section| section.owner < self.stage).is_some_and(|section| self.skip(&section)) {}
        Archive::reading(self)
    }

    /// All of the stage's state has been asked for.
    ///
    /// # Errors
    /// Internal if not: another version of the operator has written it.
    pub fn end_stage(&mut self) -> Result<()> {
        let left = self.sections.next_if(|section| section.owner == self.stage).is_some();
        if left { Err(Error::internal(format!("state of stage {} is left over", self.stage))) } else { Ok(()) }
    }

    fn skip(&mut self, section: &Section) -> bool {
        self.map.take(padded(section.bytes as usize)).is_some()
    }

    pub(super) fn next(&mut self, width: usize) -> Result<Stored> {
        let stage = self.stage;
        let missing = || Error::internal(format!("the state of stage {stage} ends early"));
        let section = self.sections.next_if(|section| section.owner == stage).ok_or_else(missing)?;
        if section.width as usize != width {
            let got = section.width;
            return Err(Error::internal(format!("state of stage {stage}: cells of {got} bytes, not of {width}")));
        }
        let bytes = self.map.take(section.bytes as usize).ok_or_else(missing)?;
        self.map.take(padded(section.bytes as usize) - section.bytes as usize).ok_or_else(missing)?;
        Ok(bytes)
    }
}
