//! What OVER knows of a key: how far it has come, the rows of its frame, and when its state is cleared.
//!
//! With a frame of a length in time, Flink clears a key's state one and a half times that length behind its rows. The
//! sums of floats begin anew then, and rows that the key has passed are taken again. So it is done here, in the same
//! order: a clearing takes place before the rows of later times, and after those before it.

use std::collections::VecDeque;

use super::store::Place;
use crate::error::Result;
use crate::snapshot::{Archive, Lists, fits};

#[derive(Default)]
pub(super) struct Group {
    /// The time that the key has come to; rows behind it are late. 0 at the start, as in Flink.
    pub reached: i64,
    /// Rows of the frame with their times, ascending.
    pub frame: VecDeque<(i64, Place)>,
    /// The clearing that stands.
    clearing: Option<Timer>,
    /// Timers whose effect is known, but not due for the rows looked at so far.
    settled: VecDeque<(Timer, Effect)>,
}

/// Goes off at `at`, or, if it was set behind the watermark, with what comes next: at `due`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Timer {
    pub due: i64,
    pub at: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Clears,
    /// A later row has moved the clearing; the timer has only moved the key on.
    MovesOn,
}

impl Group {
    /// A row arrives that the frame of `length` milliseconds will need; before it the watermark is `watermark`.
    pub fn arrive(&mut self, time: i64, length: i64, watermark: i64) {
        let lowest = time.saturating_add(length).saturating_add(1);
        if let Some(standing) = self.clearing {
            if standing.at >= lowest {
                return;
            }
            self.settled.push_back((standing, Effect::MovesOn));
        }
        let at = time.saturating_add(length.saturating_add(length / 2)).saturating_add(1);
        self.clearing = Some(Timer { due: at.max(watermark.saturating_add(1)), at });
    }

    /// The clearing that stands has taken place if it was due at this watermark.
    pub fn settle(&mut self, watermark: i64) {
        if let Some(standing) = self.clearing.filter(|standing| standing.due <= watermark) {
            self.settled.push_back((standing, Effect::Clears));
            self.clearing = None;
        }
    }

    /// Goes through the timers before `timer`; true if the state was cleared.
    pub fn pass(&mut self, timer: Timer) -> bool {
        let mut cleared = false;
        while let Some(&(earlier, effect)) = self.settled.front()
            && earlier < timer
        {
            self.settled.pop_front();
            match effect {
                Effect::Clears => {
                    self.reached = 0;
                    self.frame.clear();
                    cleared = true;
                }
                Effect::MovesOn => self.reached = earlier.at,
            }
        }
        cleared
    }
}

/// Names what is known of each of the groups.
pub(super) fn archive(groups: &mut Vec<Group>, archive: &mut Archive<'_>) -> Result<()> {
    fn numbers(timer: &Timer) -> [i64; 2] {
        [timer.due, timer.at]
    }
    fn timer(&[due, at]: &[i64; 2]) -> Timer {
        Timer { due, at }
    }
    let of_frame = |group: &Group| group.frame.iter().map(|&(time, place)| [time, place as i64]).collect::<Vec<_>>();
    let mut reached: Vec<i64> = groups.iter().map(|group| group.reached).collect();
    let mut frames = Lists::of(groups.iter().map(of_frame));
    let mut clearings = Lists::of(groups.iter().map(|group| group.clearing.as_ref().map(numbers)));
    let mut settled = Lists::of(groups.iter().map(|group| group.settled.iter().map(|(timer, _)| numbers(timer))));
    let effects = groups.iter().flat_map(|group| &group.settled).map(|(_, effect)| *effect);
    let mut clears: Vec<u8> = effects.map(|effect| u8::from(effect == Effect::Clears)).collect();
    archive.cells(&mut reached)?;
    frames.archive(archive)?;
    clearings.archive(archive)?;
    settled.archive(archive)?;
    archive.cells(&mut clears)?;
    fits([frames.len(), clearings.len(), settled.len()] == [reached.len(); 3] && clears.len() == settled.items())?;
    if archive.is_reading() {
        let mut effects = clears.iter().map(|&clears| if clears == 0 { Effect::MovesOn } else { Effect::Clears });
        let lists = frames.iter().zip(clearings.iter()).zip(settled.iter());
        for (reached, ((frame, clearing), settled)) in reached.into_iter().zip(lists) {
            groups.push(Group {
                reached,
                frame: frame.iter().map(|&[time, place]| (time, place as Place)).collect(),
                clearing: clearing.first().map(timer),
                settled: settled.iter().map(timer).zip(&mut effects).collect(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(at: i64) -> Timer {
        Timer { due: at, at }
    }

    #[test]
    fn the_state_is_cleared_half_a_length_behind_the_frame() {
        let mut group = Group::default();
        group.arrive(100, 10, 90);
        group.reached = 100;
        group.settle(115);
        assert!(!group.pass(timer(i64::MAX)), "not before 116");
        group.settle(116);
        assert!(!group.pass(timer(116)), "not before its own time");
        assert!(group.pass(timer(117)));
        assert_eq!(group.reached, 0);
    }

    #[test]
    fn a_later_row_moves_the_clearing_and_the_timer_moves_the_key_on() {
        let mut group = Group::default();
        group.arrive(100, 10, 90);
        // 116 is far enough behind 105.
        group.arrive(105, 10, 95);
        group.arrive(106, 10, 95);
        group.settle(121);
        assert!(!group.pass(timer(122)));
        assert_eq!(group.reached, 116);
        group.settle(122);
        assert!(group.pass(timer(123)));
    }

    #[test]
    fn a_clearing_set_in_the_past_waits_for_the_next_watermark() {
        let mut group = Group::default();
        group.arrive(100, 10, 500);
        group.settle(500);
        assert!(!group.pass(timer(501)));
        group.settle(501);
        assert!(group.pass(Timer { due: 501, at: 200 }));
    }
}
