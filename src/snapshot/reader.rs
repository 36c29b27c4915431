//! Reads the file of one shard's state, after it has looked at every byte.

use std::fs::File;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::archive::Archive;
use super::format::{
    Directory, EDGE, Edge, SLOTS, STATE_MAGIC, Section, VERSION, check_version, damaged, padded, version_1,
};
use crate::arena::{Mapping, Stored};
use crate::error::{Error, Result};
use crate::key::KeyGroups;

/// A file of state that is as it was written, with the files of earlier checkpoints that have some of its sections.
pub struct StateFile {
    file: Mapped,
    bases: Vec<Mapped>,
}

/// One file.
struct Mapped {
    path: PathBuf,
    file: File,
    map: Mapping,
    header: Header,
    directory: Directory,
    /// Of the directory.
    hash: u64,
}

#[derive(Clone, Copy)]
struct Header {
    version: u64,
    checkpoint: u64,
    shard: usize,
    shards: usize,
}

impl StateFile {
    /// Opens a file and checks all of it, and what it refers to.
    ///
    /// # Errors
    /// Io if one cannot be opened; Data, with its path and the place, if any byte is not as it was written.
    pub fn open(path: &Path) -> Result<StateFile> {
        let opened = Self::open_checked(path)?;
        opened.check()?;
        Ok(opened)
    }

    /// Opens a file whose sections have been looked at before.
    ///
    /// # Errors
    /// As [`StateFile::open`], for the edges and the directories of the files.
    pub fn open_checked(path: &Path) -> Result<StateFile> {
        let file = Mapped::open(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bases = file.directory.bases.iter().map(|base| {
            let beside = Mapped::open(&path.with_file_name(base.name(&name)))?;
            let same = beside.hash == base.hash && beside.header.checkpoint == base.checkpoint;
            if same { Ok(beside) } else { Err(beside.fault(&damaged("it is not the file that was referred to"))) }
        });
        let bases = bases.collect::<Result<Vec<_>>>()?;
        let opened = StateFile { file, bases };
        opened.refer()?;
        Ok(opened)
    }

    /// Sections of other files are sections of these files.
    fn refer(&self) -> Result<()> {
        for (number, section) in self.file.directory.sections.iter().enumerate().filter(|(_, s)| s.base > 0) {
            let at = |base: &Mapped| {
                let own = base.directory.sections.iter().filter(|own| own.base == 0);
                own.map(|own| (own.offset, own.bytes, own.width, own.hash))
                    .any(|own| own == (section.offset, section.bytes, section.width, section.hash))
            };
            if !section.number_of_base().and_then(|base| self.bases.get(base)).is_some_and(at) {
                return Err(self.file.fault(&damaged(&format!("section {number} is not where the directory says"))));
            }
        }
        Ok(())
    }

    /// Every section has its checksum, here and where this file refers to.
    fn check(&self) -> Result<()> {
        self.file.check_own()?;
        for (number, section) in self.file.directory.sections.iter().enumerate() {
            if let Some(base) = section.number_of_base().and_then(|base| self.bases.get(base)) {
                base.check(number, section)?;
            }
        }
        Ok(())
    }

    /// Of its directory.
    pub fn hash(&self) -> u64 {
        self.file.hash
    }
    pub fn checkpoint(&self) -> u64 {
        self.file.header.checkpoint
    }
    pub fn shard(&self) -> usize {
        self.file.header.shard
    }
    pub fn shards(&self) -> usize {
        self.file.header.shards
    }

    /// Bytes of state, by stage, of the stages that have any; those of earlier checkpoints too.
    pub fn bytes_by_stage(&self) -> Vec<(usize, u64)> {
        let mut found: Vec<(usize, u64)> = Vec::new();
        for section in &self.file.directory.sections {
            match found.last_mut() {
                Some((stage, bytes)) if *stage == section.owner as usize => *bytes += section.bytes,
                _ => found.push((section.owner as usize, section.bytes)),
            }
        }
        found
    }

    /// How many keys of a stage each of so many key groups has, by the upper halves of their hashes. A key counts once for
    /// each table that has it: for each slice, and once more where it has moved on to a younger one.
    pub fn keys_by_group(&self, stage: usize, groups: KeyGroups) -> Vec<u64> {
        let mut keys = vec![0; groups.groups as usize];
        for section in &self.file.directory.sections {
            if section.owner as usize != stage || section.kind != SLOTS || section.width != 8 {
                continue;
            }
            let file = match section.number_of_base() {
                None => Some(&self.file),
                Some(base) => self.bases.get(base),
            };
            let (at, bytes) = (section.offset as usize, section.bytes as usize);
            let cells = file.and_then(|file| file.map.rest().get(at..at + bytes)).unwrap_or_default();
            let cells = cells.as_chunks::<8>().0.iter().map(|cell| u64::from_ne_bytes(*cell));
            // The lower half of a cell is no part of the hash.
            cells.filter(|cell| *cell != 0).for_each(|cell| keys[groups.group_of(cell >> 32 << 32) as usize] += 1);
        }
        keys
    }

    /// Bytes that lie in files of earlier checkpoints.
    pub fn bytes_referred(&self) -> u64 {
        self.file.directory.sections.iter().filter(|section| section.base > 0).map(|section| section.bytes).sum()
    }

    /// Hands the state out, stage by stage.
    pub fn into_reader(self) -> StateReader {
        let Mapped { mut map, directory, header, .. } = self.file;
        map.take(EDGE);
        let bases = self.bases.into_iter().map(|base| base.file).collect();
        let sections = directory.sections.into_iter().peekable();
        StateReader { map, bases, sections, stage: 0, version: header.version as u32 }
    }
}

impl Mapped {
    /// Opens a file and checks its edges and its directory.
    fn open(path: &Path) -> Result<Mapped> {
        let failed = |error| Error::io("read", path.display(), error);
        let file = File::open(path).map_err(failed)?;
        let map = Mapping::of(&file).map_err(failed)?;
        let at = |error: Error| error.in_file(path.display().to_string());
        let (header, directory, hash) = edges(map.rest()).map_err(at)?;
        Ok(Mapped { path: path.to_path_buf(), file, map, header, directory, hash })
    }

    fn fault(&self, error: &Error) -> Error {
        error.clone().in_file(self.path.display().to_string())
    }

    /// Its own sections lie one behind the other, and each has its checksum.
    fn check_own(&self) -> Result<()> {
        let sections = self.directory.sections.iter().enumerate().filter(|(_, section)| section.base == 0);
        sections.into_iter().try_for_each(|(number, section)| self.check(number, section))
    }

    fn check(&self, number: usize, section: &Section) -> Result<()> {
        let at = section.offset as usize;
        let bytes = self.map.rest().get(at..at + padded(section.bytes as usize));
        if bytes.is_some_and(|bytes| xxh3_64(bytes) == section.hash) {
            return Ok(());
        }
        let stage = section.owner;
        let what = format!("section {number}, at byte {at}, of stage {stage} has another checksum than it should");
        Err(self.fault(&damaged(&what)))
    }
}

/// What the edges and the directory of a file say, and the checksum of the directory.
fn edges(bytes: &[u8]) -> Result<(Header, Directory, u64)> {
    let header = Edge::read(bytes.get(..EDGE).unwrap_or_default(), STATE_MAGIC, "header")?;
    check_version(header[0])?;
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
    let directory = directory_of(directory, version)?;
    check_places(&directory.sections, offset)?;
    let header = Header { version, checkpoint, shard: header[2] as usize, shards: header[3] as usize };
    Ok((header, directory, hash))
}

fn directory_of(bytes: &[u8], version: u64) -> Result<Directory> {
    let directory = if version < u64::from(VERSION) {
        rkyv::from_bytes::<version_1::Directory, rkyv::rancor::Error>(bytes).map(Directory::from)
    } else {
        rkyv::from_bytes::<Directory, rkyv::rancor::Error>(bytes)
    };
    directory.map_err(|error| damaged(&format!("the directory cannot be read: {error}")))
}

/// The sections that the file has itself lie one behind the other up to the directory.
fn check_places(sections: &[Section], end: usize) -> Result<()> {
    let mut at = EDGE;
    for (number, section) in sections.iter().enumerate() {
        let wrong = || damaged(&format!("section {number}, at byte {at}, lies elsewhere than the directory says"));
        if section.width == 0 || section.bytes % u64::from(section.width) != 0 {
            return Err(wrong());
        }
        if section.base > 0 {
            continue;
        }
        let stop = at.checked_add(padded(section.bytes as usize)).filter(|&stop| stop <= end).ok_or_else(wrong)?;
        if section.offset != at as u64 {
            return Err(wrong());
        }
        at = stop;
    }
    if at == end { Ok(()) } else { Err(damaged(&format!("there is something behind the last section, at byte {at}"))) }
}

/// Hands the sections of a file out in their order.
pub struct StateReader {
    map: Mapping,
    bases: Vec<File>,
    sections: std::iter::Peekable<std::vec::IntoIter<Section>>,
    stage: u32,
    version: u32,
}

impl StateReader {
    /// The state of a stage is asked for next. What is left of stages before it is passed over.
    pub fn stage(&mut self, stage: usize) -> Archive<'_> {
        self.stage = stage as u32;
        while self.sections.next_if(|section| section.owner < self.stage).is_some_and(|section| self.skip(&section)) {}
        Archive::reading(self)
    }

    pub(super) fn version(&self) -> u32 {
        self.version
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
        section.base > 0 || self.map.take(padded(section.bytes as usize)).is_some()
    }

    pub(super) fn next(&mut self, width: usize) -> Result<Stored> {
        let stage = self.stage;
        let missing = || Error::internal(format!("the state of stage {stage} ends early"));
        let section = self.sections.next_if(|section| section.owner == stage).ok_or_else(missing)?;
        if section.width as usize != width {
            let got = section.width;
            return Err(Error::internal(format!("state of stage {stage}: cells of {got} bytes, not of {width}")));
        }
        let bytes = section.bytes as usize;
        if let Some(base) = section.number_of_base() {
            let file = self.bases.get(base).ok_or_else(missing)?;
            let part = Mapping::part(file, section.offset, bytes);
            return part.map_err(|error| Error::io("read", format!("a file of stage {stage}"), error));
        }
        let stored = self.map.take(bytes).ok_or_else(missing)?;
        self.map.take(padded(bytes) - bytes).ok_or_else(missing)?;
        Ok(stored)
    }
}
