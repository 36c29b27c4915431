//! Windows that merge.
//!
//! An element's window is put beside those that its key has, and the assigner says which of them become one. Contents
//! come together in the order of the windows, the element's own last. (Flink goes by the hashes of the windows where
//! more than two come together.)

use crate::error::{Error, Result};
use crate::windowing::assigner::{MergeWindows, WindowAssigner};
use crate::windowing::operator::Output;
use crate::windowing::operator::contents::Contents;
use crate::windowing::trigger::{Trigger, TriggerContext};
use crate::windowing::window::Window;
use crate::windowing::{Data, Key};

use super::panes::Pane;
use super::{GeneralOperator, Row};

impl<K, T, A, R, C> GeneralOperator<K, T, A, R, C>
where
    K: Key,
    T: Data,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: Contents<K, T, A::Window>,
{
    /// Gives an element to windows that merge.
    pub(super) fn take_merging(
        &mut self,
        row: Row<T>,
        merging: MergeWindows<A::Window>,
        windows: &mut Vec<A::Window>,
        out: &mut Output<'_, C::Out>,
    ) -> Result<()> {
        let mut is_taken = false;
        for (left, window) in (0..windows.len()).rev().zip(windows.drain(..)) {
            let window = self.merge_in(row.slot, window, merging)?;
            // Lateness is that of the merged window.
            if self.is_window_late(&window) {
                if let Ok(at) = self.panes.find(row.slot, &window, usize::MAX) {
                    self.clean_up(row.slot, at);
                }
                continue;
            }
            let at = self.panes.find_or_insert(row.slot, window, usize::MAX);
            if left == 0 {
                return self.add(row, at, out);
            }
            is_taken = true;
            self.add(row.clone(), at, out)?;
        }
        if !is_taken {
            self.take_late(&row, out);
        }
        Ok(())
    }

    /// Merges what a new window of the key brings together, and returns the window that takes its elements.
    fn merge_in(&mut self, slot: u32, window: A::Window, merging: MergeWindows<A::Window>) -> Result<A::Window> {
        if !self.panes.has_any(slot) || self.panes.find(slot, &window, usize::MAX).is_ok() {
            return Ok(window);
        }
        let mut known: Vec<A::Window> = self.panes.of(slot).map(|pane| pane.window.clone()).collect();
        known.push(window.clone());
        let mut taker = window.clone();
        for merge in merging(&known) {
            let mut merged = merge.merged;
            if let Some(at) = merged.iter().position(|one| *one == window) {
                merged.remove(at);
                taker = merge.result.clone();
            }
            // The new window alone, or inside of another: nothing changes.
            if !merged.is_empty() && merged != [merge.result.clone()] {
                self.merge(slot, merged, merge.result)?;
            }
        }
        Ok(taker)
    }

    /// Makes one of `merged`.
    fn merge(&mut self, slot: u32, mut merged: Vec<A::Window>, result: A::Window) -> Result<()> {
        self.check_merged(&result)?;
        merged.sort_unstable();
        let mut states = Vec::with_capacity(merged.len());
        let mut whole = Pane::<A::Window, C::State, R::State>::new(result);
        for window in merged {
            let Some(part) = self.panes.find(slot, &window, usize::MAX).ok().and_then(|at| self.panes.remove(slot, at))
            else {
                continue;
            };
            whole.unseen |= part.is_unseen();
            whole.fired = whole.fired.max(part.fired);
            states.push(part.trigger);
            whole.contents = match (whole.contents.take(), part.contents) {
                (Some(mut contents), Some(more)) => {
                    self.contents.merge(&mut contents, more);
                    self.filled -= 1;
                    Some(contents)
                }
                (contents, more) => contents.or(more),
            };
        }
        let mut context = TriggerContext::new(self.watermark.0, self.clock, &mut self.requests);
        self.trigger.on_merge(&whole.window, &mut whole.trigger, states, &mut context)?;
        let (Ok(at) | Err(at)) = self.panes.find(slot, &whole.window, usize::MAX);
        self.panes.insert(slot, at, whole);
        self.carry_out_requests(slot, at);
        Ok(())
    }

    fn check_merged(&self, result: &A::Window) -> Result<()> {
        let (time, now) = if self.assigner.is_event_time() {
            ("watermark", self.watermark.0)
        } else {
            ("processing time", self.clock)
        };
        if self.cleanup_time(result.max_timestamp()) > now {
            return Ok(());
        }
        let message = format!("windows were merged into {result:?}, which ends at or before the current {time}, {now}");
        Err(Error::data(message).help("let the assigner merge windows into one that covers them all"))
    }
}
