//! One block of memory: from the allocator when small, a mapping when large, recycled through a pool.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::MmapMut;

use super::mapping::{Mapping, Stored};

/// Alignment of every region; the widest cell is 16 bytes.
pub(super) const ALIGN: usize = 16;
/// Up to here the allocator is cheaper than a mapping, and its memory is shared with the neighbours.
const HEAP_MAX: usize = 32 << 10;
const REGION_MIN: usize = 64;
/// From here on huge pages pay: a table under random access misses the TLB on every row otherwise.
const HUGE_MIN: usize = 4 << 20;
/// Freed mappings kept by a thread: enough for the slices of a window in turn, too little to be missed elsewhere.
const POOL_BYTES_MAX: usize = 96 << 20;

enum Source {
    Nothing,
    Heap,
    Map(MmapMut),
    /// A range of a file, as this process's own copy. Kept for its drop alone.
    File(#[expect(dead_code, reason = "it keeps the mapping alive")] Stored),
    /// Memory that others read too, and nobody writes to.
    Shared(Arc<Frozen>),
}

/// Memory that does not change any more.
pub(super) struct Frozen {
    region: Region,
    /// No other frozen memory of this process has it, now or later.
    id: u64,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

impl Frozen {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The first bytes.
    ///
    /// # Panics
    /// If there are not so many.
    pub(super) fn bytes(&self, len: usize) -> &[u8] {
        assert!(len <= self.region.capacity, "{len} bytes of a region of {}", self.region.capacity);
        // SAFETY: the region owns the bytes, they are initialised (mappings are zeroed), and nobody writes to a region
        // as long as it is frozen: `Region::own` makes another one first.
        unsafe { std::slice::from_raw_parts(self.region.pointer.as_ptr(), len) }
    }
}

/// Bytes `[0, capacity)` that this value owns. Bytes from `dirty` on are zero.
pub(super) struct Region {
    pointer: NonNull<u8>,
    capacity: usize,
    dirty: usize,
    source: Source,
}

// SAFETY: a region owns its memory and nothing in it refers to the thread that made it.
unsafe impl Send for Region {}
// SAFETY: a shared region gives out its address only; the column above it hands out `&[T]` for `&self`.
unsafe impl Sync for Region {}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { asked: false, regions: Vec::new(), bytes: 0 }) };
}

struct Pool {
    /// This thread makes regions. One that only drops what others have made keeps nothing.
    asked: bool,
    /// Mappings only, oldest first. A few dozen: a linear search is cheaper than the page faults it saves.
    regions: Vec<Region>,
    bytes: usize,
}

/// Bytes of freed mappings that this thread keeps for reuse.
pub fn pooled_bytes() -> usize {
    POOL.try_with(|pool| pool.borrow().bytes).unwrap_or(0)
}

impl Region {
    pub(super) const fn empty() -> Self {
        // The address is never read: the capacity is 0. It is aligned, so that empty slices are valid.
        let pointer = NonNull::without_provenance(std::num::NonZeroUsize::new(ALIGN).unwrap());
        Region { pointer, capacity: 0, dirty: 0, source: Source::Nothing }
    }

    /// A region of at least `bytes` (the next power of two). Ends the process when the system has no memory left,
    /// as every allocation in Rust does.
    pub(super) fn of(bytes: usize) -> Self {
        let capacity = bytes.max(REGION_MIN).next_power_of_two();
        if capacity > HEAP_MAX {
            return Self::pooled(capacity).unwrap_or_else(|| Self::mapped(capacity));
        }
        let Ok(layout) = Layout::from_size_align(capacity, ALIGN) else { unreachable!("capacity is small") };
        // SAFETY: the layout has a size above 0.
        let pointer = unsafe { alloc_zeroed(layout) };
        let Some(pointer) = NonNull::new(pointer) else { handle_alloc_error(layout) };
        Region { pointer, capacity, dirty: 0, source: Source::Heap }
    }

    /// A region of exactly these bytes of a file, which are not copied; the bytes again where a copy is cheaper, or
    /// they do not lie as cells must.
    pub(super) fn stored(bytes: Stored) -> Result<Self, Stored> {
        let (pointer, capacity) = (bytes.pointer(), bytes.len());
        if capacity <= HEAP_MAX || !pointer.as_ptr().addr().is_multiple_of(ALIGN) {
            return Err(bytes);
        }
        Ok(Region { pointer, capacity, dirty: capacity, source: Source::File(bytes) })
    }

    fn pooled(capacity: usize) -> Option<Self> {
        POOL.try_with(|pool| {
            let pool = &mut *pool.borrow_mut();
            pool.asked = true;
            let at = pool.regions.iter().rposition(|region| region.capacity == capacity)?;
            pool.bytes -= capacity;
            Some(pool.regions.remove(at))
        })
        .ok()
        .flatten()
    }

    fn mapped(capacity: usize) -> Self {
        let Ok(mut map) = MmapMut::map_anon(capacity) else {
            let layout = Layout::from_size_align(capacity, ALIGN).unwrap_or(Layout::new::<u128>());
            handle_alloc_error(layout)
        };
        if capacity >= HUGE_MIN {
            // Advice only: without huge pages the column works the same.
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        let Some(pointer) = NonNull::new(map.as_mut_ptr()) else { unreachable!("a mapping is never at 0") };
        Region { pointer, capacity, dirty: 0, source: Source::Map(map) }
    }

    /// Lets others read the memory: it does not change any more. None where a copy is cheaper.
    pub(super) fn share(&mut self) -> Option<Arc<Frozen>> {
        if let Source::Shared(frozen) = &self.source {
            return Some(frozen.clone());
        }
        if self.capacity <= HEAP_MAX {
            return None;
        }
        let region = std::mem::replace(self, Region::empty());
        let pointer = region.pointer;
        let frozen = Arc::new(Frozen { region, id: NEXT_ID.fetch_add(1, Ordering::Relaxed) });
        // With room for nothing: whoever wants to append asks for more, and so comes to `own` first.
        *self = Region { pointer, capacity: 0, dirty: 0, source: Source::Shared(frozen.clone()) };
        Some(frozen)
    }

    /// Makes the memory this value's own again, before its first `used` bytes are written to.
    #[inline]
    pub(super) fn own(&mut self, used: usize) {
        if matches!(self.source, Source::Shared(_)) {
            self.unshare(used);
        }
    }

    #[cold]
    fn unshare(&mut self, used: usize) {
        let Source::Shared(frozen) = std::mem::replace(&mut self.source, Source::Nothing) else { return };
        *self = match Arc::try_unwrap(frozen) {
            Ok(Frozen { mut region, .. }) => {
                if matches!(region.source, Source::File(_)) {
                    // All of it may be other than zero, though none of it was counted as memory.
                    region.dirty = region.capacity;
                }
                region
            }
            Err(frozen) => {
                let mut copy = Region::of(frozen.region.capacity);
                copy.fill(frozen.bytes(used));
                copy
            }
        };
    }

    /// Moves the first `used` bytes into a file at `offset`, a multiple of the size of a page, and goes on with them there.
    /// False where they are in such a file, or too few.
    pub(super) fn spill(&mut self, used: usize, file: &File, offset: u64) -> io::Result<bool> {
        let Some(frozen) = self.share() else { return Ok(false) };
        // What was spilled, and not written to since, does not count as memory.
        if used <= HEAP_MAX || frozen.region.dirty == 0 {
            return Ok(false);
        }
        file.write_all_at(frozen.bytes(used), offset)?;
        let Ok(mut region) = Region::stored(Mapping::part(file, offset, used)?) else { return Ok(false) };
        // What is in a file does not count as memory.
        region.dirty = 0;
        // The same bytes: a checkpoint that has them need not write them again.
        let (pointer, id) = (region.pointer, frozen.id);
        let frozen = Arc::new(Frozen { region, id });
        *self = Region { pointer, capacity: 0, dirty: 0, source: Source::Shared(frozen) };
        Ok(true)
    }

    pub(super) fn pointer(&self) -> NonNull<u8> {
        self.pointer
    }
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }
    /// Bytes that may be other than zero.
    pub(super) fn dirty(&self) -> usize {
        self.dirty
    }
    /// What the region costs in physical memory, but for page rounding.
    pub(super) fn held(&self) -> usize {
        match &self.source {
            Source::Shared(frozen) => frozen.region.dirty,
            _ => self.dirty,
        }
    }
    /// Says that bytes below `end` have been written.
    pub(super) fn soil(&mut self, end: usize) {
        self.dirty = self.dirty.max(end);
    }

    /// Writes bytes at the start.
    ///
    /// # Panics
    /// If there is no room for them.
    pub(super) fn fill(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.capacity, "{} bytes in a region of {}", bytes.len(), self.capacity);
        // SAFETY: the region has room, as was checked, and is not the memory of `bytes`: `self` is borrowed alone.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.pointer.as_ptr(), bytes.len()) };
        self.soil(bytes.len());
    }

    /// A larger region with the first `used` bytes of this one.
    pub(super) fn grown(self, bytes: usize, used: usize) -> Self {
        let mut larger = Region::of(bytes);
        debug_assert!(used <= self.capacity && used <= larger.capacity);
        // SAFETY: both regions own at least `used` bytes and are different allocations.
        unsafe { std::ptr::copy_nonoverlapping(self.pointer.as_ptr(), larger.pointer.as_ptr(), used) };
        larger.soil(used);
        larger
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.source, Source::Nothing) {
            // The mapping of a file goes with the last of its ranges, shared memory with the last who reads it.
            Source::Nothing | Source::File(_) | Source::Shared(_) => {}
            Source::Heap => {
                let Ok(layout) = Layout::from_size_align(self.capacity, ALIGN) else { return };
                // SAFETY: allocated in `of` with this very layout, and freed once: `source` is Nothing now.
                unsafe { dealloc(self.pointer.as_ptr(), layout) };
            }
            Source::Map(map) => {
                let freed = Region {
                    pointer: self.pointer,
                    capacity: self.capacity,
                    dirty: self.dirty,
                    source: Source::Map(map),
                };
                recycle(freed);
            }
        }
    }
}

/// Puts a mapping into the pool, or gives it back to the system when the pool is full or gone (thread end).
fn recycle(region: Region) {
    let mut region = Some(region);
    let _ = POOL.try_with(|pool| {
        let pool = &mut *pool.borrow_mut();
        if let Some(region) = region.take_if(|r| pool.asked && pool.bytes + r.capacity <= POOL_BYTES_MAX) {
            pool.bytes += region.capacity;
            pool.regions.push(region);
        }
    });
    if let Some(mut region) = region {
        // Dropping the mapping unmaps it; `Region::drop` then finds nothing to do.
        drop(std::mem::replace(&mut region.source, Source::Nothing));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // At thread end: unmap instead of coming back here.
        for region in &mut self.regions {
            drop(std::mem::replace(&mut region.source, Source::Nothing));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_mapping_is_used_again() {
        std::thread::spawn(|| {
            let first = Region::of(100_000);
            let address = first.pointer();
            assert_eq!((first.capacity(), pooled_bytes()), (131_072, 0));
            drop(first);
            assert_eq!(pooled_bytes(), 131_072);
            let second = Region::of(70_000);
            assert_eq!((second.pointer(), pooled_bytes()), (address, 0));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn the_pool_is_bounded() {
        std::thread::spawn(|| {
            let regions: Vec<Region> = (0..20).map(|_| Region::of(16 << 20)).collect();
            drop(regions);
            assert_eq!(pooled_bytes(), POOL_BYTES_MAX);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn small_regions_stay_small() {
        assert_eq!(Region::of(1).capacity(), REGION_MIN);
        assert_eq!(Region::of(65).capacity(), 128);
    }
}
