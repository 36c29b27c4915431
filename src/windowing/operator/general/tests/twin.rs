//! The window operator once more, slow and plain: lists that are searched from end to end, everything computed anew at
//! each firing. Written from Flink's rules; it shares no code with the operator.

use super::case::{Case, Ev, Outcome, Windows};
use super::drive::{Block, BlockOutput};
use super::rules::{Answer, Memory, Rules, Wish};
use crate::windowing::function::PaneTiming;
use crate::windowing::hash::key_hash;

/// Start and end; the global window is all of time and has no end.
pub type Span = (i64, i64);

pub const GLOBAL: Span = (i64::MIN, i64::MIN);

/// The last timestamp of a window; that of the global one is the last of all.
pub fn last_of(window: Span) -> i64 {
    window.1.wrapping_sub(1)
}

struct Held {
    key: String,
    window: Span,
    elements: Vec<Ev>,
    memory: Memory,
    fired: u32,
    unseen: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Alarm {
    clocked: bool,
    time: i64,
    key: String,
    window: Span,
}

/// Why a window may fire.
#[derive(Clone, Copy)]
enum Why {
    Element,
    Alarm { clocked: bool, time: i64, before: i64 },
}

pub struct Twin {
    case: Case,
    rules: Rules,
    held: Vec<Held>,
    alarms: Vec<Alarm>,
    watermark: i64,
    clock: i64,
    /// The domain whose time is on its way to the end: `true` for the clock.
    ending: Option<bool>,
    out: BlockOutput,
    pub late_dropped: u64,
    pub without_window: u64,
    pub late_side_output: u64,
    pub fired: u64,
    unfired: u64,
}

impl Twin {
    pub fn new(case: &Case) -> Twin {
        Twin {
            case: case.clone(),
            rules: Rules::of(case),
            held: Vec::new(),
            alarms: Vec::new(),
            watermark: i64::MIN,
            clock: 0,
            ending: None,
            out: BlockOutput::default(),
            late_dropped: 0,
            without_window: 0,
            late_side_output: 0,
            fired: 0,
            unfired: 0,
        }
    }

    pub fn run(&mut self, block: &Block) -> BlockOutput {
        let before = std::mem::replace(&mut self.clock, block.clock);
        self.ring(true, self.clock, before);
        for (element, watermark) in &block.rows {
            self.advance(*watermark);
            self.element(element);
        }
        self.advance(block.after);
        std::mem::take(&mut self.out)
    }

    pub fn open_windows(&self) -> u64 {
        self.held.len() as u64
    }
    pub fn with_contents(&self) -> u64 {
        self.held.iter().filter(|held| !held.elements.is_empty()).count() as u64
    }
    pub fn elements(&self) -> u64 {
        self.held.iter().map(|held| held.elements.len() as u64).sum()
    }
    pub fn unfired(&self) -> u64 {
        let left = self.held.iter().filter(|held| held.unseen && !held.elements.is_empty()).count() as u64;
        self.unfired + if self.watermark == i64::MAX { left } else { 0 }
    }

    fn is_event_time(&self) -> bool {
        !self.case.windows.is_clocked() && !self.case.windows.is_global()
    }

    fn gone_at(&self, window: Span) -> i64 {
        let last = last_of(window);
        if self.is_event_time() { last.saturating_add(self.case.lateness) } else { last }
    }

    fn advance(&mut self, watermark: i64) {
        if watermark <= self.watermark {
            return;
        }
        let before = std::mem::replace(&mut self.watermark, watermark);
        self.ring(false, watermark, before);
    }

    /// Lets the alarms up to `now` go off, the first one each time.
    fn ring(&mut self, clocked: bool, now: i64, before: i64) {
        self.ending = (now == i64::MAX).then_some(clocked);
        loop {
            let due = self.alarms.iter().filter(|alarm| alarm.clocked == clocked && alarm.time <= now);
            let Some(first) = due.min_by_key(|a| (a.time, key_hash(&a.key), a.window)).cloned() else {
                break;
            };
            self.alarms.retain(|alarm| *alarm != first);
            let Some(at) = self.place(&first.key, first.window) else {
                continue;
            };
            let Alarm { time, window, .. } = first;
            let mut wishes = Vec::new();
            let memory = &mut self.held[at].memory;
            let answer = if clocked {
                self.rules.on_clock(time, window, memory, &mut wishes)
            } else {
                self.rules.on_watermark(time, window, memory, &mut wishes)
            };
            self.grant(at, wishes);
            self.act(at, answer, Why::Alarm { clocked, time, before });
            if clocked != self.is_event_time() && time == self.gone_at(window) {
                self.forget(at);
            }
        }
        self.ending = None;
    }

    fn place(&self, key: &str, window: Span) -> Option<usize> {
        self.held.iter().position(|held| held.key == key && held.window == window)
    }

    /// Sets and takes off alarms as the trigger wishes.
    fn grant(&mut self, at: usize, wishes: Vec<Wish>) {
        let (key, window) = (self.held[at].key.clone(), self.held[at].window);
        for Wish { set, clocked, time } in wishes {
            let alarm = Alarm { clocked, time, key: key.clone(), window };
            if !set {
                self.alarms.retain(|other| *other != alarm);
                continue;
            }
            if self.ending == Some(clocked) {
                let (gone, last) = (self.gone_at(window), last_of(window));
                let limit = if gone < i64::MAX { gone } else { last };
                if clocked == self.is_event_time() || limit == i64::MAX || time > limit {
                    continue;
                }
            }
            self.set(alarm);
        }
    }

    fn set(&mut self, alarm: Alarm) {
        if !self.alarms.contains(&alarm) {
            self.alarms.push(alarm);
        }
    }

    fn act(&mut self, at: usize, answer: Answer, why: Why) {
        if answer.fire && !self.held[at].elements.is_empty() {
            self.fire(at, why);
        }
        if answer.purge {
            self.held[at].elements.clear();
        }
    }

    fn fire(&mut self, at: usize, why: Why) {
        let (last, timing) = (last_of(self.held[at].window), self.timing(self.held[at].window, why));
        let held = &mut self.held[at];
        if self.rules.is_end_of_stream() {
            // Flink sorts the input of such a job.
            held.elements.sort_by_key(|element| element.t);
        }
        self.rules.evict(false, &mut held.elements, last);
        let value = self.case.function.of(held.elements.iter());
        self.rules.evict(true, &mut held.elements, last);
        let window = (held.window != GLOBAL).then_some(held.window);
        let (key, index) = (held.key.clone(), held.fired);
        held.fired += 1;
        held.unseen = false;
        self.fired += 1;
        let (watermark, clock) = (self.watermark, self.clock);
        self.out.0.push(Outcome { key, window, value, timing, index, watermark, clock });
    }

    fn timing(&self, window: Span, why: Why) -> PaneTiming {
        let (last, by_clock) = (last_of(window), self.case.windows.is_clocked() && last_of(window) < i64::MAX);
        let now = match why {
            Why::Alarm { clocked, time, before } if clocked == by_clock => {
                if time > before && time == last {
                    return PaneTiming::OnTime;
                }
                before.max(time)
            }
            _ if by_clock => self.clock,
            _ => self.watermark,
        };
        if now >= last { PaneTiming::Late } else { PaneTiming::Early }
    }

    fn forget(&mut self, at: usize) {
        let mut held = self.held.remove(at);
        self.unfired += u64::from(held.unseen && !held.elements.is_empty());
        self.clear(&mut held.memory, &held.key, held.window);
    }

    /// The trigger cleans up behind itself.
    fn clear(&mut self, memory: &mut Memory, key: &str, window: Span) {
        let mut wishes = Vec::new();
        self.rules.clear(window, memory, &mut wishes);
        for Wish { clocked, time, .. } in wishes {
            self.alarms.retain(|alarm| *alarm != Alarm { clocked, time, key: key.to_string(), window });
        }
    }

    fn element(&mut self, element: &Ev) {
        let mut skipped = true;
        for mut window in self.rules.windows_of(element, self.clock) {
            if self.case.windows.is_merging() {
                window = self.merge(&element.k, window);
            }
            if self.is_event_time() && self.gone_at(window) <= self.watermark {
                continue;
            }
            skipped = false;
            let at = self.place(&element.k, window).unwrap_or_else(|| self.open(&element.k, window));
            self.held[at].elements.push(element.clone());
            self.held[at].unseen = true;
            let mut wishes = Vec::new();
            let memory = &mut self.held[at].memory;
            let now = (self.watermark, self.clock);
            let answer = self.rules.on_element(element, window, memory, now, &mut wishes);
            self.grant(at, wishes);
            self.act(at, answer, Why::Element);
            if self.gone_at(window) < i64::MAX {
                let clocked = !self.is_event_time();
                self.set(Alarm { clocked, time: self.gone_at(window), key: element.k.clone(), window });
            }
        }
        let late = self.is_event_time() && element.t.wrapping_add(self.case.lateness) <= self.watermark;
        if skipped && late {
            if self.case.side_output {
                self.late_side_output += 1;
                self.out.1.push(element.clone());
            } else {
                self.late_dropped += 1;
            }
        }
        self.without_window += u64::from(skipped && !late);
    }

    fn open(&mut self, key: &str, window: Span) -> usize {
        let key = key.to_string();
        self.held.push(Held { key, window, elements: Vec::new(), memory: Memory::default(), fired: 0, unseen: false });
        self.held.len() - 1
    }

    /// Makes one window of a new one and all that it touches; those come first, in their order.
    fn merge(&mut self, key: &str, window: Span) -> Span {
        let touches = |held: &&Held| held.key == key && held.window.0 <= window.1 && held.window.1 >= window.0;
        let mut parts: Vec<Span> = self.held.iter().filter(touches).map(|held| held.window).collect();
        parts.sort_unstable();
        let whole = parts.iter().fold(window, |all, part| (all.0.min(part.0), all.1.max(part.1)));
        if parts.is_empty() || parts == [whole] {
            return whole;
        }
        let (mut elements, mut memories, mut fired, mut unseen) = (Vec::new(), Vec::new(), 0, false);
        for part in parts {
            let at = self.place(key, part).expect("it was found");
            let held = self.held.remove(at);
            unseen |= held.unseen && !held.elements.is_empty();
            fired = held.fired.max(fired);
            elements.extend(held.elements);
            memories.push(held.memory);
            self.alarms.retain(|alarm| alarm.key != key || alarm.window != part);
        }
        let at = self.open(key, whole);
        let mut wishes = Vec::new();
        let now = (self.watermark, self.clock);
        self.rules.on_merge(whole, &mut self.held[at].memory, memories, now, &mut wishes);
        self.grant(at, wishes);
        (self.held[at].elements, self.held[at].fired, self.held[at].unseen) = (elements, fired, unseen);
        whole
    }
}

impl Windows {
    /// Windows of this kind hold all elements of a key in one.
    pub fn spans_of(&self, element: &Ev, clock: i64) -> Vec<Span> {
        let start_of = |time: i64, offset: i64, step: i64| {
            // Java's remainder is negative for negative numbers.
            let remainder = time.wrapping_sub(offset) % step;
            time.wrapping_sub(if remainder < 0 { remainder + step } else { remainder })
        };
        let sliding = |time: i64, size: i64, slide: i64, offset: i64| {
            let (mut spans, mut start) = (Vec::new(), i128::from(start_of(time, offset, slide)));
            while start > i128::from(time.wrapping_sub(size)) && start >= i128::from(i64::MIN) {
                spans.push((start as i64, (start as i64).wrapping_add(size)));
                start -= i128::from(slide);
            }
            spans
        };
        let from = |start: i64, length: i64| vec![(start, start.wrapping_add(length))];
        match *self {
            Windows::Tumbling { size, offset } => from(start_of(element.t, offset, size), size),
            Windows::ClockTumbling { size, offset } => from(start_of(clock, offset, size), size),
            Windows::Sliding { size, slide, offset } => sliding(element.t, size, slide, offset),
            Windows::ClockSliding { size, slide, offset } => sliding(clock, size, slide, offset),
            Windows::Cumulating { size, step, offset } => {
                let start = start_of(element.t, offset, size);
                let lengths = (1..=size / step).map(|steps| steps * step);
                let holding = lengths.filter(|length| element.t.wrapping_sub(start) < *length);
                holding.map(|length| (start, start.wrapping_add(length))).collect()
            }
            Windows::Session { gap } => from(element.t, gap),
            Windows::DynamicSession => from(element.t, element.gap),
            Windows::ClockSession { gap } => from(clock, gap),
            Windows::Global { .. } | Windows::CountTumbling { .. } | Windows::CountSliding { .. } => vec![GLOBAL],
        }
    }
}
