//! Every implementation of ours against the contracts, by seed; and broken ones, which must be found.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use super::trigger::traces;
use super::*;
use crate::error::{ErrorKind, Result};
use crate::random::Random;
use crate::time::EventTime;
use crate::windowing::assigner::*;
use crate::windowing::evictor::*;
use crate::windowing::function::AggregateFunction;
use crate::windowing::trigger::*;
use crate::windowing::window::{GlobalWindow, TimeWindow, Window};

const SEEDS: u64 = 200;

fn ms(ms: i64) -> Duration {
    Duration::from_millis(ms as u64)
}

/// Elements, watermarks and clocks around a window from 0 to 100; at last the input ends.
fn steps(random: &mut Random) -> Vec<Step<i64>> {
    let (mut watermark, mut clock) = (-60, 0);
    let mut steps = Vec::new();
    for _ in 0..random.between(1, 40) {
        steps.push(match random.below(6) {
            0 => {
                watermark += random.between(0, 40);
                Step::Watermark(watermark)
            }
            1 => {
                clock += random.between(0, 40);
                Step::Clock(clock)
            }
            _ => Step::Element(random.between(-9, 9), random.between(-50, 150)),
        });
    }
    steps.push(Step::Watermark(EventTime::MAX));
    steps
}

/// The trigger keeps its contract, alone, purging, with a timeout, and in a box, which acts as it does.
fn try_trigger<W: Window, G: Trigger<i64, W>>(window: &W, make: impl Fn(&mut Random) -> G) {
    for seed in 0..SEEDS {
        let random = &mut Random::new(seed);
        let (trigger, steps) = (make(random), steps(random));
        let holds = |checked: std::result::Result<(), String>| {
            checked.unwrap_or_else(|fault| panic!("seed {seed}, {}: {fault}", trigger.describe()));
        };
        holds(check_trigger(&trigger, window, &steps));
        holds(check_trigger(&PurgingTrigger::of(trigger.clone()), window, &steps));
        let timeout = ProcessingTimeoutTrigger::of(trigger.clone(), ms(random.between(0, 50)))
            .reset_timer_on_new_record(random.below(2) == 0)
            .should_clear_on_timeout(random.below(2) == 0);
        holds(check_trigger(&timeout, window, &steps));
        let boxed = BoxedTrigger::new(trigger.clone());
        holds(check_trigger(&boxed, window, &steps));
        assert_eq!(traces(&boxed, window, &steps), traces(&trigger, window, &steps), "seed {seed}");
    }
}

#[test]
fn our_triggers_keep_the_contract() {
    let time = TimeWindow::new(0, 100);
    try_trigger(&time, |_| EventTimeTrigger);
    try_trigger(&time, |_| ProcessingTimeTrigger);
    try_trigger(&time, |random| SessionCapTrigger::of(ms(random.between(50, 150))));
    try_trigger(&GlobalWindow, |_| EndOfStreamTrigger);
    try_trigger_in_any_window(&time);
    try_trigger_in_any_window(&GlobalWindow);
}

fn try_trigger_in_any_window<W: Window>(window: &W) {
    try_trigger(window, |_| NeverTrigger);
    try_trigger(window, |random| CountTrigger::of(random.below(6)));
    try_trigger(window, |random| ContinuousEventTimeTrigger::of(ms(random.between(1, 70))));
    try_trigger(window, |random| ContinuousProcessingTimeTrigger::of(ms(random.between(1, 70))));
    try_trigger(window, |random| {
        DeltaTrigger::of(random.between(-3, 9) as f64, |older: &i64, newer: &i64| (newer - older) as f64)
    });
    try_trigger(window, |random| EarlyCountTrigger::of(random.below(6)));
    try_trigger(window, |random| EarlyCountTrigger::of(random.below(6)).purging());
}

#[test]
fn our_evictors_keep_the_contract() {
    let delta = |element: &i64, last: &i64| (last - element) as f64;
    for seed in 0..SEEDS {
        let random = &mut Random::new(seed);
        let elements: Vec<(i64, EventTime)> =
            (0..random.below(30)).map(|_| (random.between(-9, 9), random.between(-50, 150))).collect();
        let (window, n) = (TimeWindow::new(0, 100), random.between(0, 12));
        let evictors: [BoxedEvictor<i64, TimeWindow>; 6] = [
            BoxedEvictor::new(CountEvictor::of(n as u64)),
            BoxedEvictor::new(CountEvictor::of_after(n as u64)),
            BoxedEvictor::new(TimeEvictor::of(ms(n * 10))),
            BoxedEvictor::new(TimeEvictor::of_after(ms(n * 10))),
            BoxedEvictor::new(DeltaEvictor::of((n - 6) as f64, delta)),
            BoxedEvictor::new(DeltaEvictor::of_after((n - 6) as f64, delta)),
        ];
        for evictor in evictors {
            let checked = check_evictor(&evictor, &window, &elements);
            checked.unwrap_or_else(|fault| panic!("seed {seed}, {evictor:?}: {fault}"));
        }
    }
}

#[test]
fn our_assigners_keep_the_contract() {
    for seed in 0..SEEDS {
        let random = &mut Random::new(seed);
        let elements: Vec<(i64, EventTime)> =
            (0..random.below(30)).map(|_| (random.between(1, 40), random.between(-300, 300))).collect();
        let (size, step, clock) = (random.between(1, 50), random.between(1, 50), random.between(-300, 300));
        let (tumbling, sliding) = (random.between(1 - size, size - 1), random.between(1 - step, step - 1));
        let (cumulated, cumulating) = (size * step, random.between(1 - size * step, size * step - 1));
        let assigners: Vec<BoxedAssigner<i64, TimeWindow>> = vec![
            BoxedAssigner::new(TumblingEventTimeWindows::of(ms(size)).with_offset_ms(tumbling)),
            BoxedAssigner::new(TumblingProcessingTimeWindows::of(ms(size)).with_offset_ms(tumbling)),
            BoxedAssigner::new(SlidingEventTimeWindows::of(ms(size), ms(step)).with_offset_ms(sliding)),
            BoxedAssigner::new(SlidingProcessingTimeWindows::of(ms(size), ms(step)).with_offset_ms(sliding)),
            BoxedAssigner::new(CumulatingEventTimeWindows::of(ms(cumulated), ms(step)).with_offset_ms(cumulating)),
            BoxedAssigner::new(CumulatingProcessingTimeWindows::of(ms(cumulated), ms(step)).with_offset_ms(cumulating)),
            BoxedAssigner::new(EventTimeSessionWindows::with_gap(ms(size))),
            BoxedAssigner::new(EventTimeSessionWindows::with_dynamic_gap(|gap: &i64| *gap)),
            BoxedAssigner::new(ProcessingTimeSessionWindows::with_gap(ms(size))),
            BoxedAssigner::new(ProcessingTimeSessionWindows::with_dynamic_gap(|gap: &i64| *gap)),
        ];
        for assigner in assigners {
            let checked = check_assigner(&assigner, &elements, clock);
            checked.unwrap_or_else(|fault| panic!("seed {seed}, {assigner:?}: {fault}"));
        }
        check_assigner(&GlobalWindows::create(), &elements, clock).expect("global windows");
        check_assigner(&GlobalWindows::create_with_end_of_stream_trigger(), &elements, clock).expect("global windows");
    }
}

/// What an assigner makes of an element at `timestamp`, or the kind of the error.
fn assigned<A: WindowAssigner<i64>>(assigner: &A, element: i64, timestamp: EventTime) -> Result<Vec<A::Window>> {
    assigner.check()?;
    let mut windows = Vec::new();
    assigner.assign_windows(&element, timestamp, &AssignerContext { processing_time: 0 }, &mut windows)?;
    Ok(windows)
}

#[test]
fn settings_that_flink_refuses_are_refused() {
    fn refused<A: WindowAssigner<i64>>(assigner: A, expected: &str) {
        let error = assigned(&assigner, 0, 0).err().unwrap_or_else(|| panic!("{expected}: accepted"));
        assert_eq!((error.kind(), error.message()), (ErrorKind::Usage, expected));
        assert!(error.remedy().is_some());
    }
    let tumbling = |size| TumblingEventTimeWindows::of(ms(size));
    let sliding = |size, slide| SlidingEventTimeWindows::of(ms(size), ms(slide));
    refused(tumbling(0), "the size of TumblingEventTimeWindows must be positive, not 0 ms");
    let offset = "TumblingEventTimeWindows must have an offset below its size, but 1000 ms is not below 1000 ms";
    refused(tumbling(1000).with_offset_ms(1000), offset);
    let offset = "SlidingEventTimeWindows must have an offset below its slide, but -5 ms is not below 5 ms";
    refused(sliding(10, 5).with_offset_ms(-5), offset);
    let many = "each element would be in 10000001 windows of SlidingEventTimeWindows; 10000000 at most";
    refused(sliding(10_000_001, 1), many);
    refused(
        CumulatingEventTimeWindows::of(ms(10), ms(3)),
        "the size of CumulatingEventTimeWindows must be a multiple of the step, but 10 ms is none of 3 ms",
    );
    refused(
        EventTimeSessionWindows::with_gap(Duration::ZERO),
        "the gap of EventTimeSessionWindows must be positive, not 0 ms",
    );
    assert!(Trigger::<i64, GlobalWindow>::check(&ContinuousEventTimeTrigger::of(Duration::ZERO)).is_err());
}

#[test]
fn elements_that_belong_to_no_window_are_faults_of_the_data() {
    let kind = |result: Result<Vec<TimeWindow>>| result.err().map(|error| error.kind());
    let tumbling = TumblingEventTimeWindows::of(ms(1000));
    assert_eq!(kind(assigned(&tumbling, 0, EventTime::MIN)), Some(ErrorKind::Data));
    assert_eq!(kind(assigned(&tumbling, 0, EventTime::MIN + 1)), None);
    let dynamic = EventTimeSessionWindows::with_dynamic_gap(|gap: &i64| *gap);
    assert_eq!(kind(assigned(&dynamic, 0, 7)), Some(ErrorKind::Data));
    assert_eq!(assigned(&dynamic, 2, 7).ok(), Some(vec![TimeWindow::new(7, 9)]));
    // Flink looks for a missing timestamp only where windows lie on a grid.
    assert_eq!(kind(assigned(&EventTimeSessionWindows::with_gap(ms(5)), 0, EventTime::MIN)), None);
}

#[test]
fn windows_at_the_end_of_time_wrap_around_as_in_flink() {
    let windows = assigned(&TumblingEventTimeWindows::of(ms(1000)), 0, EventTime::MAX - 1).expect("a window");
    assert_eq!(windows, [TimeWindow::new(9_223_372_036_854_775_000, -9_223_372_036_854_775_616)]);
}

#[test]
fn cumulating_windows_come_shortest_first() {
    let windows = assigned(&CumulatingEventTimeWindows::of(ms(30), ms(10)).with_offset_ms(5), 0, 17).expect("windows");
    assert_eq!(windows, [TimeWindow::new(5, 25), TimeWindow::new(5, 35)]);
}

fn answers<W: Window, G: Trigger<i64, W>>(trigger: &G, window: &W, steps: &[Step<i64>]) -> Vec<Vec<TriggerResult>> {
    traces(trigger, window, steps).expect("no error").into_iter().map(|trace| trace.answers).collect()
}

#[test]
fn the_continuous_trigger_fires_for_each_interval_and_at_the_end() {
    use TriggerResult::{Continue, Fire};
    let steps = [Step::Element(1, 25), Step::Watermark(45), Step::Watermark(99), Step::Element(1, 50)];
    let trigger = ContinuousEventTimeTrigger::of(ms(10));
    let window = TimeWindow::new(20, 65);
    let expected = vec![vec![Continue], vec![Fire; 2], vec![Fire; 3], vec![Fire]];
    assert_eq!(answers(&trigger, &window, &steps), expected);
    // In Flink the last watermark would fire for all intervals until the end of time.
    let steps = [Step::Element(1, 25), Step::Watermark(45), Step::Watermark(EventTime::MAX)];
    assert_eq!(answers(&trigger, &GlobalWindow, &steps), vec![vec![Continue], vec![Fire; 2], vec![Fire; 2]]);
}

#[test]
fn a_timeout_fires_what_a_count_has_not() {
    use TriggerResult::{Continue, Fire, FireAndPurge};
    let element = || Step::Element(1, 0);
    let steps =
        [element(), Step::Clock(5), element(), Step::Clock(10), element(), element(), element(), Step::Clock(99)];
    let count = ProcessingTimeoutTrigger::of(CountTrigger::of(3), ms(10));
    let window = TimeWindow::new(0, 100);
    let [wait, fire, none] = [vec![Continue], vec![Fire], vec![]];
    let expected = [&wait, &none, &wait, &fire, &wait, &wait, &fire, &none].map(Clone::clone);
    assert_eq!(answers(&count, &window, &steps), expected);
    // Each element starts it anew: at 15, and purging around it.
    let reset = PurgingTrigger::of(count.reset_timer_on_new_record(true));
    let steps = [element(), Step::Clock(5), element(), Step::Clock(14), Step::Clock(15)];
    let expected = [wait.clone(), none.clone(), wait, none, vec![FireAndPurge]];
    assert_eq!(answers(&reset, &window, &steps), expected);
}

#[test]
fn the_cutoff_of_the_time_evictor_is_evicted_too() {
    let mut elements = Elements::default();
    [(1, 10), (2, 30), (3, 20), (4, 11)].iter().for_each(|&(value, time)| elements.push(value, time));
    let context = EvictorContext { current_watermark: 0, current_processing_time: 0 };
    TimeEvictor::of(ms(10)).evict_before(&mut elements, &GlobalWindow, &context);
    assert_eq!(elements.values(), [2]);
    let mut elements = Elements::default();
    [(1, EventTime::MIN), (2, 30)].iter().for_each(|&(value, time)| elements.push(value, time));
    TimeEvictor::of(ms(10)).evict_before(&mut elements, &GlobalWindow, &context);
    assert_eq!(elements.len(), 2);
}

/// Forgets a timer that it has registered, or what it has seen when windows merge.
#[derive(Clone)]
struct Forgetful {
    timer: bool,
}

impl Trigger<i64, TimeWindow> for Forgetful {
    type State = u64;
    fn on_element(
        &self,
        _: &i64,
        timestamp: EventTime,
        _: &TimeWindow,
        count: &mut u64,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        if self.timer {
            context.register_event_time_timer(timestamp + 3);
        }
        *count += 1;
        Ok(TriggerResult::fire_if(*count == 3))
    }
    fn on_event_time(
        &self,
        _: EventTime,
        _: &TimeWindow,
        _: &mut u64,
        _: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(TriggerResult::Fire)
    }
    fn on_processing_time(
        &self,
        _: EventTime,
        _: &TimeWindow,
        _: &mut u64,
        _: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(TriggerResult::Continue)
    }
    fn can_merge(&self) -> bool {
        true
    }
    fn clear(&self, _: &TimeWindow, _: &mut u64, _: &mut TriggerContext<'_>) {}
    fn describe(&self) -> String {
        String::from("Forgetful")
    }
}

/// Turns the elements round.
#[derive(Clone)]
struct Turning;

impl Evictor<i64, TimeWindow> for Turning {
    fn evict_before(&self, elements: &mut Elements<i64>, _: &TimeWindow, _: &EvictorContext) {
        let (values, times) = (elements.values().to_vec(), elements.timestamps().to_vec());
        elements.evict_first(values.len());
        values.into_iter().zip(times).rev().for_each(|(value, time)| elements.push(value, time));
    }
    fn evict_after(&self, _: &mut Elements<i64>, _: &TimeWindow, _: &EvictorContext) {}
    fn describe(&self) -> String {
        String::from("Turning")
    }
}

/// A sum that subtracts when it merges, where told to.
#[derive(Clone)]
struct Sum {
    subtracts: bool,
}

impl AggregateFunction<i64> for Sum {
    type Accumulator = i64;
    type Output = i64;
    fn create_accumulator(&self) -> i64 {
        0
    }
    fn add(&self, element: &i64, sum: &mut i64) {
        *sum += element;
    }
    fn get_result(&self, sum: &i64) -> i64 {
        *sum
    }
    fn merge(&self, sum: &mut i64, other: &i64) {
        *sum += if self.subtracts { -other } else { *other };
    }
}

#[test]
fn what_breaks_a_contract_is_found() {
    let window = TimeWindow::new(0, 100);
    let fault = check_trigger(&Forgetful { timer: true }, &window, &[Step::Element(1, 5)]);
    assert_eq!(fault, Err(String::from("step 0: clear leaves a timer of EventTime at 8")));
    let three = [Step::Element(1, 5), Step::Element(1, 6), Step::Element(1, 7)];
    let fault = check_trigger(&Forgetful { timer: false }, &window, &three).expect_err("it forgets its count");
    assert!(fault.starts_with("step 2: behind a merge with a new window it acts differently"), "{fault}");
    let fault = check_evictor(&Turning, &window, &[(1, 1), (2, 2)]).expect_err("it turns");
    assert_eq!(fault, "evict_before does more than remove: of [(1, 1), (2, 2)] it makes [(2, 2), (1, 1)]");
    assert_eq!(check_aggregate(&Sum { subtracts: false }, &[1, -5, 7, 7]), Ok(()));
    let fault = check_aggregate(&Sum { subtracts: true }, &[1, -5, 7, 7]).expect_err("it subtracts");
    assert_eq!(fault, "merging into an empty accumulator changes the result: -10 instead of 10");
    // A gap that depends on how often it was asked for.
    let asked = Arc::new(AtomicI64::new(0));
    let moody = EventTimeSessionWindows::with_dynamic_gap(move |_: &i64| 1 + asked.fetch_add(1, Ordering::Relaxed));
    let fault = check_assigner(&moody, &[(1, 5)], 0).expect_err("it is moody");
    assert_eq!(fault, "the element at 5 gets other windows when it is asked for again");
}
