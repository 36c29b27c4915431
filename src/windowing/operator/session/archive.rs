//! The state of sessions in a checkpoint: keys, the open sessions of each, and when something is due for them.

use std::cmp::Reverse;

use crate::error::Result;
use crate::snapshot::{Archive, fits};
use crate::time::EventTime;
use crate::windowing::assigner::WindowAssigner;
use crate::windowing::function::{AggregateFunction, ProcessWindowFunction};
use crate::windowing::state::{keys, times, values};
use crate::windowing::window::TimeWindow;
use crate::windowing::{Data, Key, Taking};

use super::SessionOperator;
use super::sessions::{Session, Sessions};

impl<K, T, A, F, P, Out> SessionOperator<K, T, A, F, P, Out>
where
    K: Key,
    T: Data,
    A: WindowAssigner<T>,
    F: AggregateFunction<T>,
    P: ProcessWindowFunction<F::Output, K, A::Window, Out>,
    Out: Data,
{
    pub(super) fn archive_all(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        times(archive, [&mut self.watermark.0])?;
        self.firing.archive(archive, taking)?;
        self.late.archive(archive, taking)?;
        let used = self.keys.iter().filter(|_| !archive.is_reading());
        let own: Vec<_> = used.map(|(slot, hash, key)| (hash, key, &self.sessions[slot as usize])).collect();
        let keys = keys(archive, own.iter().map(|(hash, key, _)| (*hash, *key)))?;
        let mut counts: Vec<u32> = own.iter().map(|(.., sessions)| sessions.iter().count() as u32).collect();
        archive.cells(&mut counts)?;
        let sessions = || own.iter().flat_map(|(.., sessions)| sessions.iter());
        let mut windows: Vec<[EventTime; 2]> = sessions().map(|one| [one.window.start, one.window.end]).collect();
        archive.cells(&mut windows)?;
        let mut timers: Vec<EventTime> = sessions().map(|one| one.timer).collect();
        archive.cells(&mut timers)?;
        let mut fired: Vec<u32> = sessions().map(|one| one.fired).collect();
        archive.cells(&mut fired)?;
        let accumulators: Vec<F::Accumulator> = values(archive, sessions().map(|one| &one.accumulator))?;
        if !archive.is_reading() {
            return Ok(());
        }
        let all: usize = counts.iter().map(|&count| count as usize).sum();
        let lengths = [windows.len(), timers.len(), fired.len(), accumulators.len()];
        fits(keys.len() == counts.len() && lengths.iter().all(|&length| length == all))?;
        let whole = windows.into_iter().zip(accumulators).zip(timers.into_iter().zip(fired));
        let mut sessions = whole.map(|(([start, end], accumulator), (timer, fired))| Session {
            window: TimeWindow { start, end },
            accumulator,
            timer,
            fired,
        });
        for ((hash, key), count) in keys.into_iter().zip(counts) {
            let sessions = sessions.by_ref().take(count as usize);
            match (taking.wanted)(hash) {
                true => self.put_back((hash, key), sessions),
                false => sessions.for_each(drop),
            }
        }
        Ok(())
    }

    fn put_back(&mut self, (hash, key): (u64, K), sessions: impl Iterator<Item = Session<F::Accumulator>>) {
        let (slot, _) = self.keys.slot_or_insert(hash, key);
        let slots = self.sessions.len().max(slot as usize + 1);
        self.sessions.resize_with(slots, Sessions::default);
        for session in sessions {
            // What sessions that have merged left in the queue is nobody's, and not written.
            if session.timer < EventTime::MAX {
                self.queue.push(Reverse((session.timer, slot)));
            }
            self.open += 1;
            self.sessions[slot as usize].insert(session);
        }
    }
}
