//! Files in memory: read where they lie, written to without anybody else seeing it.

use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use memmap2::{MmapMut, MmapOptions};

/// A file mapped as this process's own copy: pages come in when they are looked at and are copied when they are changed;
/// the file stays as it is. Its bytes are handed out once, from the start to the end.
///
/// Whoever shortens the file while it is mapped ends the process (SIGBUS), as with any mapping. Snapshots are written
/// once and then only deleted, which does no harm.
pub struct Mapping {
    memory: Arc<Memory>,
    /// Bytes that were handed out.
    taken: usize,
}

struct Memory {
    /// Kept for its drop alone: the bytes are reached through `pointer`.
    _map: MmapMut,
    pointer: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory is this value's own. Several may hold it, each of them a range that no other has: `Mapping` those
// bytes that it has not handed out, `Stored` those that it was given.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn of(mut map: MmapMut) -> Memory {
        let len = map.len();
        let Some(pointer) = NonNull::new(map.as_mut_ptr()) else { unreachable!("a mapping is never at 0") };
        Memory { _map: map, pointer, len }
    }
}

impl Mapping {
    /// Maps all of a file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn of(file: &File) -> io::Result<Mapping> {
        // SAFETY: the mapping is private, so nobody writes to it from outside; that the file may be shortened is said
        // above.
        let map = unsafe { MmapOptions::new().map_copy(file) }?;
        Ok(Mapping { memory: Arc::new(Memory::of(map)), taken: 0 })
    }

    /// Maps a range of a file, all of it handed out.
    ///
    /// # Errors
    /// Those of the system.
    pub fn part(file: &File, offset: u64, len: usize) -> io::Result<Stored> {
        // SAFETY: as in `of`.
        let map = unsafe { MmapOptions::new().offset(offset).len(len).map_copy(file) }?;
        Ok(Stored { memory: Arc::new(Memory::of(map)), start: 0, len })
    }

    /// The bytes that were not handed out.
    pub fn rest(&self) -> &[u8] {
        let (memory, taken) = (&self.memory, self.taken);
        // SAFETY: the range lies within the mapping, and nobody else has it.
        unsafe { std::slice::from_raw_parts(memory.pointer.add(taken).as_ptr(), memory.len - taken) }
    }

    /// Hands out the next bytes, or nothing if there are not so many.
    pub fn take(&mut self, len: usize) -> Option<Stored> {
        let start = self.taken;
        self.taken = start.checked_add(len).filter(|&end| end <= self.memory.len)?;
        Some(Stored { memory: self.memory.clone(), start, len })
    }
}

/// Bytes of a mapped file that nobody else has.
pub struct Stored {
    memory: Arc<Memory>,
    start: usize,
    len: usize,
}

impl Stored {
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the range lies within the mapping, which lives as long as `self.memory`, and nobody else has it.
        unsafe { std::slice::from_raw_parts(self.pointer().as_ptr(), self.len) }
    }

    pub(super) fn pointer(&self) -> NonNull<u8> {
        // SAFETY: `start` lies within the mapping.
        unsafe { self.memory.pointer.add(self.start) }
    }
    pub(super) fn len(&self) -> usize {
        self.len
    }
}
