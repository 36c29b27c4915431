//! The clock of processing time.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::lock;
use crate::source::Wake;
use crate::time::EventTime;

/// What processing time is read from. It is looked at when a block of records comes into being, and travels with it: all
/// shards see the same time at the same place, and a job in which nothing depends on it never sees it.
#[derive(Debug, Clone, Default)]
pub struct Clock(Kind);

#[derive(Debug, Clone, Default)]
enum Kind {
    #[default]
    System,
    Manual(ManualClock),
}

impl Clock {
    /// The time of day.
    pub fn system() -> Self {
        Clock(Kind::System)
    }

    /// Milliseconds since 1970.
    pub fn now(&self) -> EventTime {
        match &self.0 {
            Kind::System => {
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as EventTime)
            }
            Kind::Manual(clock) => clock.now(),
        }
    }

    /// How far it must have gone for shards to be told although no record comes.
    pub(super) fn tick_ms(&self) -> i64 {
        match &self.0 {
            Kind::System => SYSTEM_TICK_MS,
            Kind::Manual(_) => 1,
        }
    }

    /// The job begins: `wake` is called when the clock has been moved by hand.
    pub(super) fn start(&self, wake: &Wake) {
        if let Kind::Manual(clock) = &self.0 {
            lock(&clock.0.wakes).push(wake.clone());
        }
    }
}

/// Timers fire so late at most when nothing else happens, beside the time that a sleeping shard takes to look around.
const SYSTEM_TICK_MS: i64 = 5;

/// A clock that moves by hand, for tests. Clones are the same clock.
#[derive(Clone, Default)]
pub struct ManualClock(Arc<Shared>);

#[derive(Default)]
struct Shared {
    now: AtomicI64,
    wakes: Mutex<Vec<Wake>>,
}

impl ManualClock {
    /// At 0, that is 1970.
    pub fn new() -> Self {
        Self::default()
    }

    /// Milliseconds since 1970.
    pub fn now(&self) -> EventTime {
        self.0.now.load(Ordering::Acquire)
    }

    /// Sets it to `time`, milliseconds since 1970. A time that goes back is ignored.
    pub fn set(&self, time: EventTime) {
        self.0.now.fetch_max(time, Ordering::AcqRel);
        self.wake();
    }

    /// Moves it on, by whole milliseconds.
    pub fn advance(&self, by: Duration) {
        let by = EventTime::try_from(by.as_millis()).unwrap_or(EventTime::MAX);
        let add = |now: EventTime| Some(now.saturating_add(by));
        let _ = self.0.now.fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
        self.wake();
    }

    fn wake(&self) {
        lock(&self.0.wakes).iter().for_each(|wake| wake());
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManualClock({} ms)", self.now())
    }
}

impl From<ManualClock> for Clock {
    fn from(clock: ManualClock) -> Self {
        Clock(Kind::Manual(clock))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_by_hand_and_never_back() {
        let manual = ManualClock::new();
        let clock = Clock::from(manual.clone());
        manual.set(70);
        manual.set(50);
        manual.advance(Duration::from_millis(7));
        assert_eq!((clock.now(), manual.now()), (77, 77));
        manual.advance(Duration::MAX);
        assert_eq!(clock.now(), EventTime::MAX);
    }
}
