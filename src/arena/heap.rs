//! Bytes of varying length, one after the other.

use super::ArenaVec;

/// Where some bytes lie in a [`ByteHeap`]: offset and length.
pub type Span = [u64; 2];

/// An append-only heap of byte strings. Space comes back when the whole heap is dropped, cleared or copied.
#[derive(Default)]
pub struct ByteHeap {
    pub(super) bytes: ArenaVec<u8>,
}

impl ByteHeap {
    pub const fn new() -> Self {
        ByteHeap { bytes: ArenaVec::new() }
    }
    /// Appends, and says where.
    pub fn push(&mut self, bytes: &[u8]) -> Span {
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        [offset, bytes.len() as u64]
    }
    /// # Panics
    /// If the span is not of this heap.
    pub fn get(&self, span: Span) -> &[u8] {
        &self.bytes[span[0] as usize..(span[0] + span[1]) as usize]
    }
    /// Bytes pushed so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
    /// Bytes of memory that the heap holds.
    pub fn bytes(&self) -> usize {
        self.bytes.bytes()
    }
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_find_their_bytes() {
        let mut heap = ByteHeap::new();
        let spans: Vec<Span> = ["", "a", "bcd", ""].iter().map(|s| heap.push(s.as_bytes())).collect();
        assert_eq!(spans.iter().map(|&s| heap.get(s)).collect::<Vec<_>>(), [&b""[..], b"a", b"bcd", b""]);
    }
}
