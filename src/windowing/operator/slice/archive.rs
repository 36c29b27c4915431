//! The state of shared slices in a checkpoint: keys, the accumulators of each slice, and what was put together of them.

use crate::error::{Error, Result};
use crate::snapshot::{Archive, fits};
use crate::windowing::function::{AggregateFunction, ProcessWindowFunction};
use crate::windowing::state::{keys, values};
use crate::windowing::window::Window;
use crate::windowing::{Data, Key, StateData, Taking};

use super::SliceOperator;
use super::assembly::Parts;
use super::column::Column;
use super::progress::OnGrid;

/// No number: no slice has the key, so that no window to come has it.
const NONE: u32 = u32::MAX;

/// Slots and the numbers under which keys are written.
struct Numbers {
    /// By slot, where state is written.
    of_slots: Vec<u32>,
    /// By number, where it is read; none for keys that are not wanted.
    slots: Vec<Option<u32>>,
}

impl Numbers {
    /// Values by slot: the numbers of the keys, then the values. What was read, for the keys that are wanted.
    fn column<A: StateData>(&self, column: &Column<A>, archive: &mut Archive<'_>) -> Result<Vec<(u32, A)>> {
        let number = |slot: u32| self.of_slots[slot as usize];
        let mut numbers: Vec<u32> = Vec::new();
        if !archive.is_reading() {
            numbers.extend(column.slots().map(number).filter(|&number| number != NONE));
        }
        archive.cells(&mut numbers)?;
        let known = column.iter().filter(|(slot, _)| number(*slot) != NONE);
        let values = values(archive, known.map(|(_, value)| value))?;
        fits(!archive.is_reading() || numbers.len() == values.len())?;
        let slots = numbers.into_iter().map(|number| self.slot(number));
        let read = slots.zip(values).map(|(slot, value)| Ok(slot?.map(|slot| (slot, value))));
        read.filter_map(Result::transpose).collect()
    }

    fn slot(&self, number: u32) -> Result<Option<u32>> {
        let slot = self.slots.get(number as usize).copied();
        slot.ok_or_else(|| Error::internal("state of a key that is not there"))
    }
}

impl<K, T, W, F, P, Out> SliceOperator<K, T, W, F, P, Out>
where
    K: Key,
    T: Data,
    W: Window,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, W, Out>,
    Out: Data,
{
    pub(super) fn archive_all(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        self.firing.archive(archive, taking)?;
        self.late.archive(archive, taking)?;
        let numbers = self.archive_keys(archive, taking)?;
        let is_ours = self.archive_assembly(&numbers, archive)?;
        self.archive_slices(&numbers, is_ours, archive)?;
        self.archive_refired(&numbers, archive)?;
        if archive.is_reading() {
            self.assembly.link(self.keys.slots(), &mut self.slices);
            numbers.slots.iter().flatten().for_each(|&slot| self.keys.settle(slot));
        }
        Ok(())
    }

    /// Keys without a slice are left out: they are only kept because they often come back.
    fn archive_keys(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<Numbers> {
        let mut numbers = Numbers { of_slots: vec![NONE; self.keys.slots()], slots: Vec::new() };
        (0..).zip(self.keys.held()).for_each(|(number, (slot, ..))| numbers.of_slots[slot as usize] = number);
        let held: Vec<_> = self.keys.held().map(|(_, hash, key)| (hash, key)).collect();
        for (hash, key) in keys(archive, held.into_iter())? {
            let slot = (taking.wanted)(hash).then(|| self.keys.find_or_insert(hash, &key));
            numbers.slots.push(slot);
        }
        Ok(numbers)
    }

    /// Whether what was put together, where it is read, is of the window at which this operator is too.
    fn archive_assembly(&mut self, numbers: &Numbers, archive: &mut Archive<'_>) -> Result<bool> {
        let mut position = self.assembly.position();
        archive.numbers(position.each_mut())?;
        let read = numbers.column(self.assembly.running(), archive)?;
        if !archive.is_reading() {
            return Ok(true);
        }
        let mut parts = Parts { function: &self.firing.function, keys: &mut self.keys, slices: &mut self.slices };
        self.assembly.go_on(position, &mut parts);
        let is_ours = position[0] == self.assembly.position()[0];
        if is_ours {
            read.into_iter().for_each(|(slot, value)| self.assembly.put_back(slot, value, &mut self.keys));
        }
        Ok(is_ours)
    }

    fn archive_slices(&mut self, numbers: &Numbers, is_ours: bool, archive: &mut Archive<'_>) -> Result<()> {
        let mut known: Vec<[i64; 3]> = Vec::new();
        if !archive.is_reading() {
            known.extend(self.slices.iter().map(|slice| [slice.number, slice.ends.0, slice.ends.1]));
        }
        archive.list(&mut known, |slice| *slice, |slice| slice)?;
        let [_, _, front] = self.assembly.position();
        for [number, first, last] in known {
            let at = self.slice(number, (first, last));
            let (column, suffix) = (&self.slices.at(at).column, &self.slices.at(at).suffix);
            let (own, sums) = (numbers.column(column, archive)?, numbers.column(suffix, archive)?);
            let (slots, slice) = (self.keys.slots(), self.slices.at_mut(at));
            for (slot, value) in own {
                slice.column.insert(slot, value, slots);
                self.keys.hold(slot);
            }
            if is_ours && number >= front {
                sums.into_iter().for_each(|(slot, value)| slice.suffix.insert(slot, value, slots));
            }
        }
        Ok(())
    }

    fn archive_refired(&mut self, numbers: &Numbers, archive: &mut Archive<'_>) -> Result<()> {
        let mut ends: Vec<i64> = Vec::new();
        if !archive.is_reading() {
            ends.extend(self.refired.keys());
        }
        archive.cells(&mut ends)?;
        for end in ends {
            let refired = self.refired.entry(end).or_default();
            let mut fired: Vec<[u32; 2]> = Vec::new();
            if !archive.is_reading() {
                fired.extend(refired.iter().map(|(&slot, &times)| [numbers.of_slots[slot as usize], times]));
            }
            archive.cells(&mut fired)?;
            if archive.is_reading() {
                for [number, times] in fired {
                    refired.extend(numbers.slot(number)?.map(|slot| (slot, times)));
                }
            }
        }
        Ok(())
    }
}
