//! The rows of a window, named and taken over.

use super::{Entry, Group, Range, Ranking};
use crate::error::Result;
use crate::snapshot::{Archive, ByteLists, Lists, fits};
use crate::state::index::Tag;
use crate::window::Wanted;
use crate::window::kept::Place;

impl Group {
    fn tag(&self) -> Tag {
        (self.hash >> 32) as Tag
    }
}

impl Ranking {
    /// Names its rows, of which no group has less than it makes use of.
    pub(super) fn archive(&mut self, archive: &mut Archive<'_>, range: Range) -> Result<()> {
        if !archive.is_reading() {
            self.settle()?;
        }
        self.index.archive(archive)?;
        let entries = self.groups.iter().flat_map(|group| &group.entries);
        let mut keys = ByteLists::of(entries.map(|entry| entry.key.iter().copied()));
        let mut arrivals = Lists::of(self.groups.iter().map(|group| group.entries.iter().map(|entry| entry.arrival)));
        archive.list(
            &mut self.groups,
            |group| [group.hash, u64::from(group.full)],
            |[hash, full]| Group { hash, entries: Vec::new(), full: full != 0 },
        )?;
        keys.archive(archive)?;
        arrivals.archive(archive)?;
        self.rows.archive(archive, keys.len())?;
        fits(self.groups.len() == self.index.len() && arrivals.len() == self.groups.len())?;
        if archive.is_reading() {
            self.wanted = keys.len();
            let mut keys = keys.iter().zip(0..);
            for (group, arrivals) in self.groups.iter_mut().zip(arrivals.iter()) {
                let entries = arrivals.iter().zip(&mut keys);
                let entry =
                    |(&arrival, (key, at)): (&u64, (&[u8], u32))| Entry { key: key.into(), arrival, place: (0, at) };
                group.entries = entries.map(entry).collect();
                fits(group.entries.len() == arrivals.len() && (!group.full || arrivals.len() >= range.last))?;
            }
        }
        Ok(())
    }

    /// Takes over the wanted groups. They go by the hashes of their rows: without keys, rows are dealt out by the ends of
    /// their windows.
    pub(super) fn take_over(&mut self, other: Ranking, wanted: Wanted<'_>) -> Result<()> {
        let moved: Vec<(u32, Group)> = (0..).zip(other.groups).filter(|(_, group)| wanted(group.tag())).collect();
        let keys: Vec<(Tag, u32)> = moved.iter().map(|(number, group)| (group.tag(), *number)).collect();
        self.index.absorb(&other.index, &keys, &mut Vec::new())?;
        let places: Vec<Place> = moved.iter().flat_map(|(_, group)| &group.entries).map(|entry| entry.place).collect();
        let batch = self.rows.take_over(&other.rows, &places)?;
        self.wanted += places.len();
        let mut at = 0..;
        for (_, mut group) in moved {
            group.entries.iter_mut().zip(&mut at).for_each(|(entry, at)| entry.place = (batch, at));
            self.groups.push(group);
        }
        fits(self.groups.len() == self.index.len())
    }
}
