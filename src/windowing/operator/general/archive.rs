//! The state of the general operator in a checkpoint: keys, the windows of each, the timers of each window.
//!
//! The queues of timers are not written: a window's own set is the truth, and they are made of it.

use crate::error::{Error, Result};
use crate::key::KeyHash;
use crate::snapshot::{Archive, Lists, fits};
use crate::time::EventTime;
use crate::windowing::assigner::WindowAssigner;
use crate::windowing::operator::contents::Contents;
use crate::windowing::state::{counters, keys, times, values};
use crate::windowing::trigger::{TimeDomain, Trigger};
use crate::windowing::window::Window;
use crate::windowing::{Data, Key, Taking};

use super::GeneralOperator;
use super::panes::Pane;
use super::timers::TimerSet;

/// Bits of what is written of each pane.
const UNSEEN: u32 = 1;
const FILLED: u32 = 2;

/// The panes of some keys, one key's behind another's, each property in a column of its own.
struct Stored<K, W, S, R> {
    keys: Vec<(KeyHash, K)>,
    /// How many windows each key has.
    counts: Vec<u32>,
    windows: Vec<W>,
    triggers: Vec<R>,
    /// How often each pane has fired, and its bits.
    fired: Vec<[u32; 2]>,
    /// Of those that have any.
    contents: Vec<S>,
    event_timers: Lists<EventTime>,
    clock_timers: Lists<EventTime>,
}

type StoredOf<K, T, A, R, C> = Stored<
    K,
    <A as WindowAssigner<T>>::Window,
    <C as Contents<K, T, <A as WindowAssigner<T>>::Window>>::State,
    <R as Trigger<T, <A as WindowAssigner<T>>::Window>>::State,
>;

impl<K, T, A, R, C> GeneralOperator<K, T, A, R, C>
where
    K: Key,
    T: Data,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: Contents<K, T, A::Window>,
{
    pub(super) fn archive_all(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        times(archive, [&mut self.watermark.0, &mut self.clock])?;
        counters(archive, taking, [&mut self.counts.fired, &mut self.counts.unfired_at_cleanup])?;
        self.late.archive(archive, taking)?;
        let stored = self.archive_panes(archive)?;
        if archive.is_reading() { self.put_back(stored, taking) } else { Ok(()) }
    }

    /// Keys without windows are left out: they are only kept because they often come back.
    fn archive_panes(&self, archive: &mut Archive<'_>) -> Result<StoredOf<K, T, A, R, C>> {
        let used = self.keys.iter().filter(|(slot, ..)| !archive.is_reading() && self.panes.has_any(*slot));
        let slots: Vec<u32> = used.map(|(slot, ..)| slot).collect();
        let keys_of = slots.iter().filter_map(|&slot| Some((self.keys.hash(slot), self.keys.key(slot)?)));
        let keys = keys(archive, keys_of)?;
        let mut counts: Vec<u32> = slots.iter().map(|&slot| self.panes.of(slot).count() as u32).collect();
        archive.cells(&mut counts)?;
        let panes = || slots.iter().flat_map(|&slot| self.panes.of(slot));
        let windows = values(archive, panes().map(|pane| &pane.window))?;
        let triggers = values(archive, panes().map(|pane| &pane.trigger))?;
        let mut fired: Vec<[u32; 2]> = panes().map(|pane| [pane.fired, bits(pane)]).collect();
        archive.cells(&mut fired)?;
        let contents = values(archive, panes().filter_map(|pane| pane.contents.as_ref()))?;
        let timers = |domain| Lists::of(panes().map(move |pane| pane.timers.of(domain)));
        let (mut event_timers, mut clock_timers) = (timers(TimeDomain::EventTime), timers(TimeDomain::ProcessingTime));
        event_timers.archive(archive)?;
        clock_timers.archive(archive)?;
        Ok(Stored { keys, counts, windows, triggers, fired, contents, event_timers, clock_timers })
    }

    fn put_back(&mut self, stored: StoredOf<K, T, A, R, C>, taking: &Taking<'_>) -> Result<()> {
        let Stored { keys, counts, windows, triggers, fired, contents, event_timers, clock_timers } = stored;
        let all: usize = counts.iter().map(|&count| count as usize).sum();
        let lengths = [windows.len(), triggers.len(), fired.len(), event_timers.len(), clock_timers.len()];
        fits(keys.len() == counts.len() && lengths.iter().all(|&length| length == all))?;
        let mut contents = contents.into_iter();
        let timers = event_timers.iter().zip(clock_timers.iter());
        let mut panes = windows.into_iter().zip(triggers).zip(fired).zip(timers);
        for ((hash, key), count) in keys.into_iter().zip(counts) {
            let slot = (taking.wanted)(hash).then(|| self.keys.slot_or_insert(hash, key).0);
            self.panes.resize(self.keys.slots());
            for (((window, trigger), [fired, bits]), timers) in panes.by_ref().take(count as usize) {
                let contents = if bits & FILLED == 0 { None } else { Some(contents.next().ok_or_else(missing)?) };
                let Some(slot) = slot else { continue };
                let unseen = bits & UNSEEN != 0;
                let pane = Pane { window, contents, trigger, timers: TimerSet::default(), fired, unseen };
                self.insert(slot, pane, timers)?;
            }
        }
        fits(contents.next().is_none())
    }

    fn insert(
        &mut self,
        slot: u32,
        pane: Pane<A::Window, C::State, R::State>,
        (event_timers, clock_timers): (&[EventTime], &[EventTime]),
    ) -> Result<()> {
        let Err(at) = self.panes.find(slot, &pane.window, usize::MAX) else {
            return Err(Error::internal("state that has a window of a key twice"));
        };
        self.filled += u64::from(pane.contents.is_some());
        self.counts.buffered_elements += pane.contents.as_ref().map_or(0, |all| self.contents.buffered(all)) as u64;
        self.panes.insert(slot, at, pane);
        for (domain, times) in [(TimeDomain::EventTime, event_timers), (TimeDomain::ProcessingTime, clock_timers)] {
            times.iter().for_each(|&time| self.register(domain, time, slot, at));
        }
        Ok(())
    }
}

fn bits<W: Window, S, R>(pane: &Pane<W, S, R>) -> u32 {
    let unseen = if pane.unseen { UNSEEN } else { 0 };
    unseen | if pane.contents.is_some() { FILLED } else { 0 }
}

fn missing() -> Error {
    Error::internal("state in which the contents of a window are missing")
}
