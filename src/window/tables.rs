//! Tables by slice or by window.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::Wanted;
use crate::arena::Pod;
use crate::error::Result;
use crate::snapshot::{Archive, Spill};
use crate::state::Generations;
use crate::state::table::Shape;

/// Tables of one shape: by start, by end, or by end and start.
pub(super) type Tables<K> = BTreeMap<K, Generations>;

/// The table of a key, made if need be.
pub(super) fn entry<'t, K: Ord>(tables: &'t mut Tables<K>, key: K, shape: &Shape) -> Result<&'t mut Generations> {
    Ok(match tables.entry(key) {
        Entry::Occupied(table) => table.into_mut(),
        Entry::Vacant(place) => place.insert(Generations::new(shape)?),
    })
}

pub(super) fn archive<K: Pod + Default + Ord>(
    tables: &mut Tables<K>,
    shape: &Shape,
    archive: &mut Archive<'_>,
) -> Result<()> {
    archive.map(tables, || Generations::new(shape), |archive, table| table.archive(archive))
}

/// Tables that rows still go to.
const OPEN: usize = 2;

/// Moves tables out of memory: those that rows hardly go to any more, and `open` ones too.
pub(super) fn spill<K: Ord>(tables: &mut Tables<K>, spill: &mut Spill, open: bool) -> Result<()> {
    let closed = if open { tables.len() } else { tables.len().saturating_sub(OPEN) };
    tables.values_mut().take(closed).try_for_each(|table| table.spill(spill))
}

/// Takes over the wanted keys of tables.
pub(super) fn take_over<K: Ord + Copy>(
    mine: &mut Tables<K>,
    theirs: &Tables<K>,
    shape: &Shape,
    wanted: Wanted<'_>,
) -> Result<()> {
    for (&number, table) in theirs {
        let mut taken = Generations::new(shape)?;
        let into = mine.get_mut(&number).unwrap_or(&mut taken);
        into.take_over(table, wanted)?;
        // A table without keys would be looked at all the same.
        if !taken.is_empty() {
            mine.insert(number, taken);
        }
    }
    Ok(())
}
