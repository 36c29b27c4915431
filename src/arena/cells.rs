//! Columns as the bytes that a snapshot keeps.

use std::fs::File;
use std::io;

use super::mapping::Stored;
use super::{ArenaVec, ByteHeap, Pod, SharedBytes};

/// A column whose bytes can be written as they are and taken back. Cells are in the byte order of the machine.
pub trait Cells {
    /// Bytes of one cell.
    fn width(&self) -> usize;
    fn bytes(&self) -> &[u8];
    /// The bytes, to be read while the column goes on; None where they are cheap to copy.
    fn share(&mut self) -> Option<SharedBytes> {
        None
    }
    /// Moves the bytes into a file: see [`ArenaVec::spill`].
    ///
    /// # Errors
    /// Those of the system.
    fn spill(&mut self, _file: &File, _offset: u64) -> io::Result<usize> {
        Ok(0)
    }
    /// Takes the cells that these bytes are, in place of its own: large columns use the memory of the file. False, with
    /// nothing changed, if they are no whole number of cells.
    fn set(&mut self, bytes: Stored) -> bool;
}

/// The bytes of cells that lie one behind the other.
fn bytes_of<T: Pod>(cells: &[T]) -> &[u8] {
    // SAFETY: cells are plain bits without padding (see `Pod`), and every byte of a slice may be read as u8.
    unsafe { std::slice::from_raw_parts(cells.as_ptr().cast::<u8>(), size_of_val(cells)) }
}

fn bytes_of_mut<T: Pod>(cells: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and every bit pattern is a cell, so any bytes may be written.
    unsafe { std::slice::from_raw_parts_mut(cells.as_mut_ptr().cast::<u8>(), size_of_val(cells)) }
}

impl<T: Pod> Cells for ArenaVec<T> {
    fn width(&self) -> usize {
        size_of::<T>()
    }
    fn bytes(&self) -> &[u8] {
        bytes_of(self.as_slice())
    }
    fn share(&mut self) -> Option<SharedBytes> {
        ArenaVec::share(self)
    }
    fn spill(&mut self, file: &File, offset: u64) -> io::Result<usize> {
        ArenaVec::spill(self, file, offset)
    }
    fn set(&mut self, bytes: Stored) -> bool {
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return false;
        }
        self.take(bytes);
        true
    }
}

impl<T: Pod + Default> Cells for Vec<T> {
    fn width(&self) -> usize {
        size_of::<T>()
    }
    fn bytes(&self) -> &[u8] {
        bytes_of(self)
    }
    fn set(&mut self, bytes: Stored) -> bool {
        if !bytes.len().is_multiple_of(size_of::<T>()) {
            return false;
        }
        self.clear();
        self.resize(bytes.len() / size_of::<T>(), T::default());
        bytes_of_mut(self).copy_from_slice(bytes.bytes());
        true
    }
}

impl Cells for ByteHeap {
    fn width(&self) -> usize {
        1
    }
    fn bytes(&self) -> &[u8] {
        Cells::bytes(&self.bytes)
    }
    fn share(&mut self) -> Option<SharedBytes> {
        self.bytes.share()
    }
    fn spill(&mut self, file: &File, offset: u64) -> io::Result<usize> {
        self.bytes.spill(file, offset)
    }
    fn set(&mut self, bytes: Stored) -> bool {
        self.bytes.set(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::arena::Mapping;

    /// The bytes as a range of a file, `before` others in front.
    fn stored(bytes: &[u8], before: usize) -> Stored {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![0xFF; before]).unwrap();
        file.write_all(bytes).unwrap();
        let mut map = Mapping::of(&file).unwrap();
        map.take(before).unwrap();
        map.take(bytes.len()).unwrap()
    }

    #[test]
    fn cells_come_back_from_their_bytes() {
        let mut column = ArenaVec::<[i64; 2]>::new();
        column.extend_from_slice(&[[1, -2], [i64::MAX, 4]]);
        let bytes = Cells::bytes(&column).to_vec();
        assert_eq!((bytes.len(), column.width()), (32, 16));
        let mut other = ArenaVec::<[i64; 2]>::new();
        other.push([7, 7]);
        assert!(!other.set(stored(&bytes[..20], 0)) && other.len() == 1);
        assert!(other.set(stored(&bytes, 3)));
        assert_eq!(other.as_slice(), column.as_slice());
        let mut list: Vec<u16> = vec![1];
        let two: Vec<u8> = [2_u16, 3].iter().flat_map(|cell| cell.to_ne_bytes()).collect();
        assert!(list.set(stored(&two, 0)) && list == [2, 3]);
    }

    #[test]
    fn a_large_column_uses_the_file_and_leaves_it_as_it_is() {
        let cells: Vec<u64> = (0..100_000).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[0; 64]).unwrap();
        file.write_all(bytes_of(&cells)).unwrap();
        let mut map = Mapping::of(&file).unwrap();
        map.take(64).unwrap();
        let mut column = ArenaVec::<u64>::new();
        assert!(column.set(map.take(800_000).unwrap()));
        assert!(map.rest().is_empty() && map.take(1).is_none());
        assert!(column.as_slice() == cells);
        column[5] = 77;
        column.push(100_000);
        assert_eq!((column[5], column[99_999], column[100_000], column.len()), (77, 99_999, 100_000, 100_001));
        column.resize_zeroed(100_010);
        assert_eq!(column[100_009], 0);
        drop(column);
        let again = Mapping::of(&file).unwrap();
        assert!(&again.rest()[64..] == bytes_of(&cells));
    }
}
