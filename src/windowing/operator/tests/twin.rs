//! A slow machine that keeps all elements of each window and handles one row after the other.

use std::collections::BTreeMap;

use super::timeline::{Block, Outcome, Row};
use super::{Fired, Kind, aggregate};
use crate::time::EventTime;
use crate::windowing::function::{PaneInfo, PaneTiming};
use crate::windowing::output::Place;

struct Pane {
    rows: Vec<Row>,
    fired: u32,
}

pub struct Twin<'k> {
    kind: &'k Kind,
    /// By key and window.
    panes: BTreeMap<(u32, i128, i128), Pane>,
    watermark: i64,
    clock: i64,
    counts: [u64; 4],
}

impl<'k> Twin<'k> {
    pub fn new(kind: &'k Kind) -> Self {
        Twin { kind, panes: BTreeMap::new(), watermark: i64::MIN, clock: 0, counts: [0; 4] }
    }

    fn cleanup(&self, end: i128) -> i128 {
        (end - 1 + i128::from(self.kind.lateness)).min(i128::from(i64::MAX))
    }

    fn advance(&mut self, watermark: i64, row: u32, outcome: &mut Outcome) {
        if watermark <= self.watermark {
            return;
        }
        let before = std::mem::replace(&mut self.watermark, watermark);
        let mut due: Vec<_> = Vec::new();
        for (&(key, start, end), pane) in &self.panes {
            if end - 1 > i128::from(before) && end - 1 <= i128::from(watermark) {
                due.push((end - 1, pane.rows[0].hash, key, start));
            }
        }
        due.sort_unstable();
        for (max, hash, key, start) in due {
            let place = Place::of_timer(row, max as i64, hash);
            self.fire((key, start, max + 1), PaneTiming::OnTime, place, outcome);
        }
        let ended = |end: i128| {
            let cleanup = self.cleanup(end);
            cleanup <= i128::from(watermark) && cleanup < i128::from(i64::MAX)
        };
        let old: Vec<_> = self.panes.keys().copied().filter(|&(_, _, end)| ended(end)).collect();
        old.iter().for_each(|window| drop(self.panes.remove(window)));
    }

    fn fire(&mut self, window: (u32, i128, i128), timing: PaneTiming, place: Place, outcome: &mut Outcome) {
        let pane = self.panes.get_mut(&window).unwrap();
        let (key, start, end) = (window.0, window.1 as EventTime, window.2 as EventTime);
        let value = aggregate(pane.rows.iter().map(|row| &row.element));
        let info = PaneInfo { timing, index: pane.fired };
        let (watermark, clock) = (self.watermark, self.clock);
        outcome.results.push((place, end - 1, Fired { key, start, end, info, watermark, clock, value }));
        pane.fired += 1;
        self.counts[2] += 1;
    }

    fn take(&mut self, row: &Row, place: Place, outcome: &mut Outcome) {
        let mut taken = false;
        for (mut start, mut end) in self.kind.windows(row) {
            let mut pane = Pane { rows: Vec::new(), fired: 0 };
            if self.kind.is_session() {
                let joins = |&(key, from, to): &(u32, i128, i128)| key == row.key && from <= end && to >= start;
                let joined: Vec<_> = self.panes.keys().copied().filter(joins).collect();
                for window in joined {
                    let other = self.panes.remove(&window).unwrap();
                    (start, end) = (start.min(window.1), end.max(window.2));
                    pane.rows.extend(other.rows);
                    pane.fired = pane.fired.max(other.fired);
                }
            }
            if self.cleanup(end) <= i128::from(self.watermark) {
                continue;
            }
            taken = true;
            let window = (row.key, start, end);
            self.panes.entry(window).or_insert(pane).rows.push(row.clone());
            if end - 1 <= i128::from(self.watermark) {
                self.fire(window, PaneTiming::Late, place, outcome);
            }
        }
        if !taken && row.timestamp.wrapping_add(self.kind.lateness) <= self.watermark {
            self.counts[usize::from(self.kind.side_output)] += 1;
            if self.kind.side_output {
                outcome.late.push((place, row.timestamp, row.element.clone()));
            }
        }
    }

    pub fn run(&mut self, blocks: &[Block]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for Block { rows, times } in blocks {
            self.clock = self.clock.max(times.block.processing_time);
            let mut outcome = Outcome { results: Vec::new(), late: Vec::new(), counts: [0; 4] };
            for (number, row) in (0..).zip(rows) {
                let place = Place::of_row(number, row.hash);
                self.advance(times.before(place).0, number, &mut outcome);
                self.take(row, place, &mut outcome);
            }
            self.advance(times.after().0, rows.len() as u32, &mut outcome);
            outcome.counts = [self.counts[0], self.counts[1], self.counts[2], self.panes.len() as u64];
            outcomes.push(outcome);
        }
        outcomes
    }
}
