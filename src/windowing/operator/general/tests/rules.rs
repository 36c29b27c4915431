//! Triggers and evictors of the twin, from Flink's rules.

use super::case::{Case, Ev, Evicting, Firing, Windows};
use super::twin::{Span, last_of};

#[derive(Debug, Clone, Copy, Default)]
pub struct Answer {
    pub fire: bool,
    pub purge: bool,
}

const NOTHING: Answer = Answer { fire: false, purge: false };
const FIRE: Answer = Answer { fire: true, purge: false };

fn fire_if(fire: bool) -> Answer {
    Answer { fire, purge: false }
}

/// An alarm to be set or taken off.
pub struct Wish {
    pub set: bool,
    pub clocked: bool,
    pub time: i64,
}

fn alarm(time: i64) -> Wish {
    Wish { set: true, clocked: false, time }
}
fn clock_alarm(time: i64) -> Wish {
    Wish { set: true, clocked: true, time }
}

/// What any trigger may remember.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    count: u64,
    next: Option<i64>,
    last: Option<i64>,
}

pub struct Rules {
    windows: Windows,
    firing: Firing,
    purging: bool,
    evictor: Option<(Evicting, bool)>,
}

impl Rules {
    pub fn of(case: &Case) -> Rules {
        let own = |firing| case.trigger.clone().unwrap_or(firing);
        let mut firing = match case.windows {
            Windows::Global { end_of_stream: true } => own(Firing::EndOfStream),
            Windows::Global { end_of_stream: false } => own(Firing::Never),
            Windows::CountTumbling { size } => Firing::Purging(Box::new(Firing::Count(size))),
            Windows::CountSliding { slide, .. } => Firing::Count(slide),
            _ if case.windows.is_clocked() => own(Firing::ProcessingTime),
            _ => own(Firing::EventTime),
        };
        let evictor = match case.windows {
            Windows::CountSliding { size, .. } => Some((Evicting::Count(size), false)),
            _ => case.evictor,
        };
        let mut purging = false;
        while let Firing::Purging(nested) = firing {
            (firing, purging) = (*nested, true);
        }
        Rules { windows: case.windows.clone(), firing, purging, evictor }
    }

    pub fn windows_of(&self, element: &Ev, clock: i64) -> Vec<Span> {
        self.windows.spans_of(element, clock)
    }

    pub fn is_end_of_stream(&self) -> bool {
        self.firing == Firing::EndOfStream && !self.purging
    }

    fn purging(&self, answer: Answer) -> Answer {
        Answer { purge: answer.purge || self.purging && answer.fire, ..answer }
    }

    pub fn on_element(
        &self,
        element: &Ev,
        window: Span,
        memory: &mut Memory,
        (watermark, clock): (i64, i64),
        wishes: &mut Vec<Wish>,
    ) -> Answer {
        let last = last_of(window);
        let answer = match self.firing {
            Firing::EventTime if last <= watermark => FIRE,
            Firing::EventTime | Firing::EndOfStream => {
                wishes.push(alarm(last));
                NOTHING
            }
            Firing::ProcessingTime => {
                wishes.push(clock_alarm(last));
                NOTHING
            }
            Firing::Count(n) | Firing::EarlyCount(n) => {
                if matches!(self.firing, Firing::EarlyCount(_)) {
                    wishes.push(alarm(last));
                }
                memory.count += 1;
                let full = memory.count >= n;
                if full {
                    memory.count = 0;
                }
                fire_if(full)
            }
            Firing::Continuous(_) if last <= watermark => FIRE,
            Firing::Continuous(interval) => {
                wishes.push(alarm(last));
                if memory.next.is_none() {
                    let next = (element.t - element.t % interval).wrapping_add(interval).min(last);
                    memory.next = Some(next);
                    wishes.push(alarm(next));
                }
                NOTHING
            }
            Firing::ContinuousClock(interval) => {
                if memory.next.is_none() {
                    let next = (clock - clock % interval).wrapping_add(interval).min(last);
                    memory.next = Some(next);
                    wishes.push(clock_alarm(next));
                }
                NOTHING
            }
            Firing::Delta(threshold) => match memory.last {
                Some(old) if element.v.wrapping_sub(old) > threshold => {
                    memory.last = Some(element.v);
                    FIRE
                }
                old => {
                    memory.last = old.or(Some(element.v));
                    NOTHING
                }
            },
            Firing::SessionCap(max) => {
                if window.1.wrapping_sub(window.0) > max {
                    Answer { fire: true, purge: true }
                } else {
                    wishes.push(alarm(last));
                    NOTHING
                }
            }
            Firing::Never | Firing::Purging(_) => NOTHING,
        };
        self.purging(answer)
    }

    pub fn on_watermark(&self, time: i64, window: Span, memory: &mut Memory, wishes: &mut Vec<Wish>) -> Answer {
        let last = last_of(window);
        let answer = match self.firing {
            Firing::EventTime | Firing::EndOfStream | Firing::SessionCap(_) => fire_if(time == last),
            Firing::EarlyCount(_) => Answer { fire: time == last, purge: time == last },
            Firing::Continuous(_) if time == last => FIRE,
            Firing::Continuous(interval) if memory.next == Some(time) => {
                let next = time.wrapping_add(interval).min(last);
                memory.next = Some(next);
                wishes.push(alarm(next));
                FIRE
            }
            _ => NOTHING,
        };
        self.purging(answer)
    }

    pub fn on_clock(&self, time: i64, window: Span, memory: &mut Memory, wishes: &mut Vec<Wish>) -> Answer {
        let last = last_of(window);
        let answer = match self.firing {
            Firing::ProcessingTime => FIRE,
            Firing::ContinuousClock(_) if time == last => FIRE,
            Firing::ContinuousClock(interval) if memory.next == Some(time) => {
                let next = time.wrapping_add(interval).min(last);
                memory.next = Some(next);
                wishes.push(clock_alarm(next));
                FIRE
            }
            _ => NOTHING,
        };
        self.purging(answer)
    }

    pub fn on_merge(
        &self,
        window: Span,
        memory: &mut Memory,
        merged: Vec<Memory>,
        (watermark, clock): (i64, i64),
        wishes: &mut Vec<Wish>,
    ) {
        let last = last_of(window);
        memory.count = merged.iter().map(|one| one.count).sum();
        memory.next = merged.iter().filter_map(|one| one.next).min();
        match self.firing {
            Firing::EventTime if last > watermark => wishes.push(alarm(last)),
            Firing::ProcessingTime if last > clock => wishes.push(clock_alarm(last)),
            Firing::EarlyCount(_) | Firing::SessionCap(_) => wishes.push(alarm(last)),
            Firing::Continuous(_) => wishes.extend(memory.next.map(alarm)),
            Firing::ContinuousClock(_) => wishes.extend(memory.next.map(clock_alarm)),
            _ => (),
        }
    }

    pub fn clear(&self, window: Span, memory: &mut Memory, wishes: &mut Vec<Wish>) {
        let (last, mut off) = (last_of(window), |clocked, time| wishes.push(Wish { set: false, clocked, time }));
        match self.firing {
            Firing::EventTime | Firing::EarlyCount(_) | Firing::SessionCap(_) => off(false, last),
            Firing::ProcessingTime => off(true, last),
            Firing::Continuous(_) => memory.next.into_iter().for_each(|next| off(false, next)),
            Firing::ContinuousClock(_) => memory.next.into_iter().for_each(|next| off(true, next)),
            _ => (),
        }
        *memory = Memory::default();
    }

    /// Takes elements out of a window, if the evictor does so at this time.
    pub fn evict(&self, after: bool, elements: &mut Vec<Ev>, _last: i64) {
        let Some((evicting, _)) = self.evictor.filter(|(_, when)| *when == after) else {
            return;
        };
        match evicting {
            Evicting::Count(n) => {
                while elements.len() as u64 > n {
                    elements.remove(0);
                }
            }
            Evicting::Time(size) => {
                let latest = elements.iter().map(|element| element.t).max().unwrap_or(0);
                elements.retain(|element| element.t > latest.wrapping_sub(size));
            }
            Evicting::Delta(threshold) => {
                let last = elements.last().map_or(0, |element| element.v);
                elements.retain(|element| last.wrapping_sub(element.v) < threshold);
            }
        }
    }
}
