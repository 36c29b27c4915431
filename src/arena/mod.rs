//! Growable columns in memory of their own: the only room with `unsafe`.
//!
//! State is many columns of very different sizes: three keys in one slice, a million in the next, and all of it
//! gone when the slice expires. Small columns therefore come from the allocator, large ones from anonymous
//! mappings, and freed mappings wait in a bounded pool of the thread (a shard is a thread), so that the next slice
//! finds pages that are already there. Nothing outside this room sees a pointer.
#![allow(unsafe_code)]

mod cells;
mod column;
mod heap;
mod mapping;
mod region;
mod shared;

pub use cells::Cells;
pub use column::{ArenaVec, Pod};
pub use heap::{ByteHeap, Span};
pub use mapping::{Mapping, Stored};
pub use region::pooled_bytes;
pub use shared::SharedBytes;
