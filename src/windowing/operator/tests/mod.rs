//! The operators for slices and sessions against the general one, and all against a slow machine.

pub mod restored;
mod timeline;
mod twin;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::random::Random;
use crate::time::Grid;
use crate::windowing::assigner::{
    BoxedAssigner, CumulatingEventTimeWindows, EventTimeSessionWindows, SlidingEventTimeWindows,
    TumblingEventTimeWindows, WindowAssigner,
};
use crate::windowing::function::{AggregateFunction, PaneInfo, ProcessWindowFunction, WindowContext};
use crate::windowing::operator::contents::Accumulated;
use crate::windowing::operator::edge::WithEdge;
use crate::windowing::operator::general::GeneralOperator;
use crate::windowing::operator::session::SessionOperator;
use crate::windowing::operator::slice::on_grid;
use crate::windowing::operator::{KeyedWindowOperator, Lateness};
use crate::windowing::output::{Collector, OutputTag, Place};
use crate::windowing::trigger::EventTimeTrigger;
use crate::windowing::window::TimeWindow;
use std::marker::PhantomData;
use std::time::Duration;
use timeline::{Outcome, Row, make, run};
use twin::Twin;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    value: i64,
    gap: i64,
}

/// Count, sum, and a sum of fractions.
pub type Value = (u64, i64, f64);

#[derive(Debug, Clone, PartialEq)]
pub struct Fired {
    key: u32,
    start: i64,
    end: i64,
    info: PaneInfo,
    watermark: i64,
    clock: i64,
    value: Value,
}

#[derive(Debug, Clone, Copy)]
struct Sums;

impl AggregateFunction<Element> for Sums {
    type Accumulator = Value;
    type Output = Value;

    fn create_accumulator(&self) -> Value {
        (0, 0, 0.0)
    }
    fn add(&self, element: &Element, sums: &mut Value) {
        *sums = (sums.0 + 1, sums.1 + element.value, sums.2 + 1.0 / (10 + element.value) as f64);
    }
    fn get_result(&self, sums: &Value) -> Value {
        *sums
    }
    fn merge(&self, sums: &mut Value, other: &Value) {
        *sums = (sums.0 + other.0, sums.1 + other.1, sums.2 + other.2);
    }
}

fn aggregate<'e>(elements: impl Iterator<Item = &'e Element>) -> Value {
    let mut sums = Sums.create_accumulator();
    elements.for_each(|element| Sums.add(element, &mut sums));
    sums
}

#[derive(Debug, Clone, Copy)]
struct Tell;

impl ProcessWindowFunction<Value, u32, TimeWindow, Fired> for Tell {
    fn process(
        &mut self,
        &key: &u32,
        context: &mut WindowContext<'_, TimeWindow>,
        values: &[Value],
        out: &mut Collector<'_, Fired>,
    ) -> Result<()> {
        let (&TimeWindow { start, end }, info) = (context.window(), context.pane());
        let (watermark, clock) = (context.current_watermark(), context.current_processing_time());
        values.iter().for_each(|&value| out.collect(Fired { key, start, end, info, watermark, clock, value }));
        Ok(())
    }
}

/// Windows and lateness.
#[derive(Debug, Clone)]
pub struct Kind {
    windows: Windows,
    lateness: i64,
    side_output: bool,
}

#[derive(Debug, Clone, Copy)]
enum Windows {
    Grid(Grid),
    Session(i64),
    DynamicSession,
}

type Operator = Box<dyn KeyedWindowOperator<u32, Element, Fired>>;

impl Kind {
    fn random(random: &mut Random, sessions: bool) -> Self {
        let most = if random.below(2) == 0 { 12 } else { 60 };
        let size = 1 + random.below(most) as i64;
        let windows = match (sessions, random.below(4)) {
            (true, 0) => Windows::DynamicSession,
            (true, _) => Windows::Session(size),
            (_, 0) => Windows::Grid(Grid::sliding(size, size, random.between(1 - size, size - 1))),
            (_, 1) => {
                let step = 1 + random.below(6) as i64;
                let steps = 1 + random.below(6) as i64;
                Windows::Grid(Grid::cumulating(step * steps, step, random.between(1 - step * steps, step * steps - 1)))
            }
            _ => {
                let slide = match random.below(3) {
                    0 => 1 + random.below(size as u64 + 10) as i64,
                    1 => (size / (1 + random.below(8) as i64)).max(1),
                    _ => 1 + random.below(4) as i64,
                };
                Windows::Grid(Grid::sliding(size, slide, random.between(1 - slide, slide - 1)))
            }
        };
        let lateness = match random.below(8) {
            0..3 => 0,
            3 => 10_000,
            4 => i64::MAX - 5_000_000,
            _ => random.below(3 * size as u64) as i64,
        };
        Kind { windows, lateness, side_output: random.below(2) == 0 }
    }

    /// About the length of a window.
    fn span(&self) -> i64 {
        match self.windows {
            Windows::Grid(grid) => grid.size.max(grid.slide),
            Windows::Session(gap) => gap * 3,
            Windows::DynamicSession => 20,
        }
    }

    fn is_session(&self) -> bool {
        !matches!(self.windows, Windows::Grid(_))
    }

    /// The windows of a row, in the order in which it is given to them.
    fn windows(&self, row: &Row) -> Vec<(i128, i128)> {
        let time = i128::from(row.timestamp);
        match self.windows {
            Windows::Session(gap) => vec![(time, time + i128::from(gap))],
            Windows::DynamicSession => vec![(time, time + i128::from(row.element.gap))],
            Windows::Grid(grid) => {
                let [size, slide, offset, slice] = [grid.size, grid.slide, grid.offset, grid.slice].map(i128::from);
                let mut start = (time - offset).div_euclid(slide) * slide + offset;
                if grid.cumulates {
                    let ends = (1..=size / slice).map(|steps| (start, start + steps * slice));
                    return ends.filter(|&(_, end)| end > time).collect();
                }
                let mut windows = Vec::new();
                while start + size > time {
                    windows.push((start, start + size));
                    start -= slide;
                }
                windows
            }
        }
    }

    fn lateness(&self, tag: &OutputTag<Element>) -> Lateness<Element> {
        Lateness { allowed_ms: self.lateness, side_output: self.side_output.then(|| tag.clone()) }
    }

    fn fast(&self, tag: &OutputTag<Element>) -> Operator {
        let lateness = self.lateness(tag);
        match self.windows {
            Windows::Grid(grid) => on_grid::<u32, Element, TimeWindow, _, _, _>(grid, lateness, Sums, Tell),
            Windows::Session(gap) => Box::new(SessionOperator::new(session(gap), lateness, Sums, Tell)),
            Windows::DynamicSession => Box::new(SessionOperator::new(dynamic_session(), lateness, Sums, Tell)),
        }
    }

    /// As programs have it.
    fn with_edge(&self, tag: &OutputTag<Element>) -> Operator {
        let (kind, tag) = (self.clone(), tag.clone());
        match self.windows {
            Windows::Grid(grid) => {
                let slices = self.fast(&tag);
                Box::new(WithEdge::new(grid, slices, move || kind.general_operator(on(grid), &tag)))
            }
            Windows::Session(_) | Windows::DynamicSession => self.fast(&tag),
        }
    }

    fn general(&self, tag: &OutputTag<Element>) -> Operator {
        match self.windows {
            Windows::Session(gap) => self.general_with(session(gap), tag),
            Windows::DynamicSession => self.general_with(dynamic_session(), tag),
            Windows::Grid(grid) => self.general_with(on(grid), tag),
        }
    }

    fn general_with<A>(&self, assigner: A, tag: &OutputTag<Element>) -> Operator
    where
        A: WindowAssigner<Element, Window = TimeWindow>,
    {
        Box::new(self.general_operator(assigner, tag))
    }

    fn general_operator<A>(&self, assigner: A, tag: &OutputTag<Element>) -> General<A>
    where
        A: WindowAssigner<Element, Window = TimeWindow>,
    {
        assigner.check().unwrap();
        let contents = Accumulated { function: Sums, process: Tell, of: PhantomData };
        GeneralOperator::new(assigner, EventTimeTrigger, contents, self.lateness(tag))
    }
}

type General<A> = GeneralOperator<u32, Element, A, EventTimeTrigger, Accumulated<Sums, Tell, Fired>>;

/// The windows on a grid.
fn on(grid: Grid) -> BoxedAssigner<Element, TimeWindow> {
    let (size, offset) = (ms(grid.size), grid.offset);
    match (grid.cumulates, grid.size == grid.slide) {
        (true, _) => BoxedAssigner::new(CumulatingEventTimeWindows::of(size, ms(grid.slice)).with_offset_ms(offset)),
        (_, true) => BoxedAssigner::new(TumblingEventTimeWindows::of(size).with_offset_ms(offset)),
        _ => BoxedAssigner::new(SlidingEventTimeWindows::of(size, ms(grid.slide)).with_offset_ms(offset)),
    }
}

fn ms(length: i64) -> Duration {
    Duration::from_millis(length as u64)
}

fn session(gap: i64) -> EventTimeSessionWindows {
    EventTimeSessionWindows::with_gap(ms(gap))
}

fn dynamic_session() -> impl WindowAssigner<Element, Window = TimeWindow> {
    EventTimeSessionWindows::with_dynamic_gap(|element: &Element| element.gap)
}

/// Equal, but that sums of fractions may be added in another order, and that keys with one hash may.
fn assert_like(found: &[Outcome], expected: &[Outcome], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (number, (found, expected)) in found.iter().zip(expected).enumerate() {
        let comparable = |outcome: &Outcome| {
            let mut outcome = outcome.clone();
            for (_, _, fired) in &mut outcome.results {
                fired.value.2 = fired.value.2 as f32 as f64;
            }
            outcome.results = by_key(&outcome.results);
            outcome
        };
        assert_eq!(comparable(found), comparable(expected), "{what}, block {number}");
    }
}

fn compare(seed: u64, sessions: bool) {
    let mut random = Random::new(seed);
    let kind = Kind::random(&mut random, sessions);
    let blocks = make(&mut random, &kind);
    let tag = OutputTag::new("late");
    let expected = Twin::new(&kind).run(&blocks);
    let what = format!("seed {seed}: {kind:?}");
    let one = run(&blocks, &mut *kind.fast(&tag), &tag, (&mut random, 1), |_| true);
    assert_like(&one, &expected, &what);
    let general = run(&blocks, &mut *kind.general(&tag), &tag, (&mut random, 9), |_| true);
    assert_like(&general, &expected, &format!("general, {what}"));
    for most in [3, 30] {
        let many = run(&blocks, &mut *kind.fast(&tag), &tag, (&mut random, most), |_| true);
        for (many, one) in many.iter().zip(&one) {
            assert_eq!(many.counts, one.counts, "{what}, batches of up to {most}");
            assert_eq!(many.late, one.late, "{what}, batches of up to {most}");
            assert_eq!(by_key(&many.results), by_key(&one.results), "{what}, batches of up to {most}");
        }
    }
    // On two shards: the same to the last bit.
    let even = run(&blocks, &mut *kind.fast(&tag), &tag, (&mut random, 30), |key| key % 2 == 0);
    let odd = run(&blocks, &mut *kind.fast(&tag), &tag, (&mut random, 30), |key| key % 2 == 1);
    for ((even, odd), one) in even.into_iter().zip(odd).zip(one) {
        let results: Vec<_> = even.results.into_iter().chain(odd.results).collect();
        assert_eq!(by_key(&results), by_key(&one.results), "{what}, two shards");
    }
}

type Results = Vec<(Place, i64, Fired)>;

/// In the order of places; keys with one hash come in any order.
fn by_key(results: &Results) -> Results {
    let mut results = results.clone();
    results.sort_by_key(|(place, _, fired)| (*place, fired.key));
    results
}

#[test]
fn slices_answer_as_one_row_after_the_other_does() {
    (0..4_000).for_each(|seed| compare(seed, false));
}

#[test]
fn sessions_answer_as_one_row_after_the_other_does() {
    (0..3_000).for_each(|seed| compare(seed, true));
}
