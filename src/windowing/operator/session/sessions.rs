//! The open sessions of one key.

use crate::time::EventTime;
use crate::windowing::window::{TimeWindow, Window};

/// A run of elements none of which is further than its gap from the next.
#[derive(Debug, Clone)]
pub(super) struct Session<A> {
    pub window: TimeWindow,
    pub accumulator: A,
    /// The time of its entry in the queue: not behind the time at which something is due. `EventTime::MAX`: none.
    pub timer: EventTime,
    /// How often it has fired.
    pub fired: u32,
}

/// Sessions that neither overlap nor touch, ascending. Most keys have one, the last.
#[derive(Debug, Clone)]
pub(super) struct Sessions<A> {
    last: Option<Session<A>>,
    before: Vec<Session<A>>,
}

impl<A> Default for Sessions<A> {
    fn default() -> Self {
        Sessions { last: None, before: Vec::new() }
    }
}

impl<A> Sessions<A> {
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }
    /// Bytes outside of the value itself.
    pub fn bytes(&self) -> usize {
        self.before.capacity() * size_of::<Session<A>>()
    }

    /// The last session, if the window joins it and no other.
    #[inline]
    pub fn joined_last(&mut self, window: TimeWindow) -> Option<&mut Session<A>> {
        let alone = self.before.last().is_none_or(|before| before.window.end < window.start);
        self.last.as_mut().filter(|last| alone && last.window.intersects(&window))
    }

    /// Takes out the sessions that the window joins, ascending.
    pub fn take_joined(&mut self, window: TimeWindow) -> Vec<Session<A>> {
        if self.before.is_empty() {
            return self.last.take_if(|last| last.window.intersects(&window)).into_iter().collect();
        }
        self.before.extend(self.last.take());
        let joined = self.before.extract_if(.., |session| session.window.intersects(&window)).collect();
        self.last = self.before.pop();
        joined
    }

    /// Puts in a session that touches no other.
    pub fn insert(&mut self, session: Session<A>) {
        match &mut self.last {
            Some(last) if session.window.start < last.window.start => {
                let at = self.before.partition_point(|before| before.window.start < session.window.start);
                self.before.insert(at, session);
            }
            last => self.before.extend(last.replace(session)),
        }
    }

    /// Ascending.
    pub fn iter(&self) -> impl Iterator<Item = &Session<A>> {
        self.before.iter().chain(&self.last)
    }

    fn position(&mut self, is: impl Fn(&Session<A>) -> bool) -> Option<&mut Session<A>> {
        self.last.iter_mut().chain(&mut self.before).find(|session| is(session))
    }
    /// The session whose entry in the queue has this time.
    pub fn with_timer(&mut self, timer: EventTime) -> Option<&mut Session<A>> {
        self.position(|session| session.timer == timer)
    }
    /// The session that ends there.
    pub fn with_end(&mut self, max_timestamp: EventTime) -> Option<&mut Session<A>> {
        self.position(|session| session.window.max_timestamp() == max_timestamp)
    }

    /// Takes out the session that ends there.
    pub fn remove(&mut self, max_timestamp: EventTime) {
        let ends = |session: &Session<A>| session.window.max_timestamp() == max_timestamp;
        if self.last.as_ref().is_some_and(ends) {
            self.last = self.before.pop();
        } else {
            self.before.retain(|session| !ends(session));
        }
        if self.before.is_empty() {
            self.before = Vec::new();
        }
    }
}
