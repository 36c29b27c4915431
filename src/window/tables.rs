//! Tables by slice or by window.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::Wanted;
use crate::arena::Pod;
use crate::error::Result;
use crate::snapshot::Archive;
use crate::state::Table;
use crate::state::table::Shape;

/// Tables of one shape: by start, by end, or by end and start.
pub(super) type Tables<K> = BTreeMap<K, Table>;

/// The table of a key, made if need be.
pub(super) fn entry<'t, K: Ord>(tables: &'t mut Tables<K>, key: K, shape: &Shape) -> Result<&'t mut Table> {
    Ok(match tables.entry(key) {
        Entry::Occupied(table) => table.into_mut(),
        Entry::Vacant(place) => place.insert(Table::new(shape)?),
    })
}

pub(super) fn archive<K: Pod + Default + Ord>(
    tables: &mut Tables<K>,
    shape: &Shape,
    archive: &mut Archive<'_>,
) -> Result<()> {
    archive.map(tables, || Table::new(shape), |archive, table| table.archive(archive))
}

/// Takes over the wanted keys of tables.
pub(super) fn take_over<K: Ord + Copy>(
    mine: &mut Tables<K>,
    theirs: &Tables<K>,
    shape: &Shape,
    wanted: Wanted<'_>,
) -> Result<()> {
    for (&number, table) in theirs {
        let mut taken = Table::new(shape)?;
        let into = mine.get_mut(&number).unwrap_or(&mut taken);
        into.take_over(table, wanted)?;
        // A table without keys would be looked at all the same.
        if !taken.is_empty() {
            mine.insert(number, taken);
        }
    }
    Ok(())
}
