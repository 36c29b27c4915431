//! What an operator names of its state, whichever way it goes.

use std::collections::BTreeMap;
use std::io::Cursor;

use arrow::array::RecordBatch;

use super::format::{PLAIN, SLOTS, VERSION};
use super::reader::StateReader;
use super::spill::Spill;
use super::writer::StateWriter;
use crate::arena::{ArenaVec, Cells, Pod};
use crate::error::{Error, Result};

/// Takes the state that is named, or puts it back, piece by piece in the same order, or moves large columns of it out of
/// memory. What is put back goes into an operator that has just been made.
pub struct Archive<'a>(Way<'a>);

enum Way<'a> {
    Write(&'a mut StateWriter),
    Read(&'a mut StateReader),
    Spill(&'a mut Spill),
}

impl<'a> Archive<'a> {
    pub(super) fn writing(writer: &'a mut StateWriter) -> Self {
        Archive(Way::Write(writer))
    }
    pub(super) fn reading(reader: &'a mut StateReader) -> Self {
        Archive(Way::Read(reader))
    }

    pub(super) fn spilling(spill: &'a mut Spill) -> Self {
        Archive(Way::Spill(spill))
    }

    /// State is put back: what is named has nothing yet.
    pub fn is_reading(&self) -> bool {
        matches!(self.0, Way::Read(_))
    }

    /// Tables of at least so many bytes are sealed before they are named.
    pub fn seal_bytes(&self) -> usize {
        match &self.0 {
            Way::Write(writer) => writer.seal_bytes(),
            Way::Read(_) | Way::Spill(_) => usize::MAX,
        }
    }

    /// The version of the format that is read or written.
    pub fn version(&self) -> u32 {
        match &self.0 {
            Way::Write(_) | Way::Spill(_) => VERSION,
            Way::Read(reader) => reader.version(),
        }
    }

    /// A column, of any length.
    ///
    /// # Errors
    /// Internal if what was written is no such column.
    pub fn cells(&mut self, cells: &mut dyn Cells) -> Result<()> {
        self.kind(cells, PLAIN)
    }

    /// The table of an index of keys: `tag << 32 | number`, or 0.
    ///
    /// # Errors
    /// As [`Archive::cells`].
    pub fn slots(&mut self, cells: &mut ArenaVec<u64>) -> Result<()> {
        self.kind(cells, SLOTS)
    }

    fn kind(&mut self, cells: &mut dyn Cells, kind: u32) -> Result<()> {
        match &mut self.0 {
            Way::Write(writer) => writer.add(cells, kind),
            Way::Spill(spill) => spill.add(cells)?,
            Way::Read(reader) => {
                let stored = reader.next(cells.width())?;
                if !cells.set(stored) {
                    return Err(Error::internal("state that is no whole number of cells"));
                }
            }
        }
        Ok(())
    }

    /// Numbers: a section for all that are named at once.
    ///
    /// # Errors
    /// Internal if what was written are not so many.
    pub fn numbers<T: Pod + Default, const N: usize>(&mut self, numbers: [&mut T; N]) -> Result<()> {
        let mut cells: Vec<T> = numbers.iter().map(|number| **number).collect();
        self.cells(&mut cells)?;
        if cells.len() != N {
            return Err(Error::internal(format!("{} numbers of state, not {N}", cells.len())));
        }
        numbers.into_iter().zip(cells).for_each(|(number, cell)| *number = cell);
        Ok(())
    }

    /// How many there are of something.
    ///
    /// # Errors
    /// As [`Archive::numbers`].
    pub fn count(&mut self, count: &mut usize) -> Result<()> {
        let mut number = *count as u64;
        self.numbers([&mut number])?;
        *count = number as usize;
        Ok(())
    }

    /// A column that need not be there.
    ///
    /// # Errors
    /// As [`Archive::cells`].
    pub fn option<T: Pod>(&mut self, column: &mut Option<ArenaVec<T>>) -> Result<()> {
        let mut there = u8::from(column.is_some());
        self.numbers([&mut there])?;
        if there == 0 { Ok(()) } else { self.cells(column.get_or_insert_with(ArenaVec::new)) }
    }

    /// A list whose items are `N` numbers each.
    ///
    /// # Errors
    /// Internal if what was written is no such list.
    pub fn list<T, C: Pod + Default, const N: usize>(
        &mut self,
        list: &mut Vec<T>,
        to: impl Fn(&T) -> [C; N],
        from: impl Fn([C; N]) -> T,
    ) -> Result<()> {
        let mut cells: Vec<C> = if self.is_reading() { Vec::new() } else { list.iter().flat_map(to).collect() };
        self.cells(&mut cells)?;
        if self.is_reading() {
            let (items, left) = cells.as_chunks::<N>();
            if !left.is_empty() {
                return Err(Error::internal("a list of state that ends in the middle of an item"));
            }
            *list = items.iter().map(|item| from(*item)).collect();
        }
        Ok(())
    }

    /// State by number, or by several: the numbers, then what `each` names of every one. `new` makes an empty one.
    ///
    /// # Errors
    /// Those of `new` and `each`.
    pub fn map<K: Pod + Default + Ord, T>(
        &mut self,
        map: &mut BTreeMap<K, T>,
        new: impl Fn() -> Result<T>,
        mut each: impl FnMut(&mut Archive<'_>, &mut T) -> Result<()>,
    ) -> Result<()> {
        let mut keys: Vec<K> = map.keys().copied().collect();
        self.cells(&mut keys)?;
        for key in keys {
            if self.is_reading() {
                map.insert(key, new()?);
            }
            if let Some(value) = map.get_mut(&key) {
                each(self, value)?;
            }
        }
        Ok(())
    }

    /// Whole rows, as an Arrow stream of their own.
    ///
    /// # Errors
    /// Internal if what was written are no rows.
    pub fn rows(&mut self, batches: &mut Vec<RecordBatch>) -> Result<()> {
        let mut bytes = Vec::new();
        match &mut self.0 {
            Way::Write(writer) => {
                writer.add_rows(batches.clone());
                return Ok(());
            }
            Way::Read(_) => self.cells(&mut bytes)?,
            Way::Spill(_) => {}
        }
        if !bytes.is_empty() {
            let reader = arrow::ipc::reader::StreamReader::try_new(Cursor::new(bytes), None)?;
            *batches = reader.collect::<std::result::Result<_, _>>()?;
        }
        Ok(())
    }
}

/// The rows as an Arrow stream; nothing if there are none.
pub(super) fn stream_of(batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(first) = batches.first() {
        let mut writer = arrow::ipc::writer::StreamWriter::try_new(&mut bytes, &first.schema())?;
        for batch in batches {
            writer.write(batch)?;
        }
        writer.finish()?;
    }
    Ok(bytes)
}

/// Lists of any length, one behind the other.
#[derive(Debug, Clone)]
pub struct Lists<T> {
    ends: Vec<u64>,
    items: Vec<T>,
}

/// Byte strings of any length.
pub type ByteLists = Lists<u8>;

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { ends: Vec::new(), items: Vec::new() }
    }
}

impl<T: Pod + Default> Lists<T> {
    pub fn of<L: IntoIterator<Item = T>>(lists: impl IntoIterator<Item = L>) -> Self {
        let mut all = Lists::default();
        for list in lists {
            all.items.extend(list);
            all.ends.push(all.items.len() as u64);
        }
        all
    }

    /// # Errors
    /// Internal if what was written are no such lists.
    pub fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        archive.cells(&mut self.ends)?;
        archive.cells(&mut self.items)?;
        let within = self.ends.last().copied().unwrap_or(0) == self.items.len() as u64;
        fits(within && self.ends.is_sorted())
    }

    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.items[start as usize..end as usize])
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Items of all lists.
    pub fn items(&self) -> usize {
        self.items.len()
    }
}

/// Refuses what was read where it cannot be the state of whoever reads it.
///
/// # Errors
/// Internal if `fit` is false.
pub fn fits(fit: bool) -> Result<()> {
    if fit { Ok(()) } else { Err(Error::internal("state of another kind than that of the operator that reads it")) }
}
