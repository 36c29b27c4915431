//! Windows and triggers of processing time, by a clock that the tests move.

use std::time::Duration;

use crate::api::source::tests::channel::eventually;
use crate::api::source::tests::environment;
use crate::api::source::{StreamSender, channel};
use crate::api::testing::TestHarness;
use crate::api::{Collected, DataStream, JobClient, ManualClock, WatermarkStrategy};
use crate::windowing::assigner::{
    ProcessingTimeSessionWindows, SlidingProcessingTimeWindows, TumblingEventTimeWindows,
    TumblingProcessingTimeWindows, WindowAssigner,
};
use crate::windowing::function::WindowResult;
use crate::windowing::trigger::{ContinuousProcessingTimeTrigger, Trigger};
use crate::windowing::window::TimeWindow;

/// Key, start of the window, sum.
type Sum = (char, i64, i64);
type Record = (char, i64);

/// What happens to a program.
enum Event {
    /// The clock is set.
    Clock(i64),
    Records(&'static [Record]),
    /// Exactly these results have come since the last time.
    Expect(&'static [Sum]),
}
use Event::{Clock, Expect, Records};

fn sums<A, G>(records: &DataStream<Record>, assigner: A, trigger: Option<G>) -> Collected<Sum>
where
    A: WindowAssigner<Record, Window = TimeWindow>,
    G: Trigger<Record, TimeWindow>,
{
    let windows = records.key_by(|record| record.0).window(assigner);
    let add = |sum: Record, record: &Record| (sum.0, sum.1 + record.1);
    let flat = |sum: WindowResult<char, TimeWindow, Record>| (sum.key, sum.window.start, sum.value.1);
    match trigger {
        None => windows.reduce(add).map(flat).collect(),
        Some(trigger) => windows.trigger(trigger).reduce(add).map(flat).collect(),
    }
}

/// A program that runs on shards and is fed through a channel.
struct Running {
    clock: ManualClock,
    sender: StreamSender<Record>,
    sums: Collected<Sum>,
    client: JobClient,
    sent: u64,
}

impl Running {
    fn follow(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Clock(time) => self.clock.set(*time),
                Records(records) => {
                    records.iter().for_each(|record| self.sender.send(*record).unwrap());
                    self.sent += records.len() as u64;
                    eventually("reading", || self.client.progress().records_read == self.sent);
                }
                Expect(expected) => {
                    let mut found = Vec::new();
                    eventually("a firing", || {
                        found.extend(self.sums.take());
                        found.len() >= expected.len()
                    });
                    found.sort_unstable();
                    assert_eq!(found, *expected);
                }
            }
        }
    }
}

/// The same events through the environment, on several numbers of shards, and through the harness.
fn follow<A, G>(assigner: &A, trigger: Option<&G>, events: &[Event], open_at_end: u64)
where
    A: WindowAssigner<Record, Window = TimeWindow>,
    G: Trigger<Record, TimeWindow>,
{
    for shards in [1, 2, 7] {
        let (environment, clock) = (environment(shards, 8192), ManualClock::new());
        environment.set_clock(clock.clone());
        let (sender, source) = channel(64);
        let records = environment.from_source(source, WatermarkStrategy::no_watermarks(), "records");
        let sums = sums(&records, assigner.clone(), trigger.cloned());
        let client = environment.execute_async().unwrap();
        let mut running = Running { clock, sender, sums, client, sent: 0 };
        running.follow(events);
        let Running { sender, sums, client, .. } = running;
        drop(sender);
        let result = client.wait().unwrap();
        assert_eq!((sums.take(), result.operators[0].counts.open_windows), (vec![], open_at_end));
        let warned =
            result.warnings.iter().any(|warning| warning.contains("waited for the clock when the input ended"));
        assert_eq!(warned, open_at_end > 0, "{:?}", result.warnings);
    }
    let mut found = None;
    let build = |records: DataStream<Record>| found = Some(sums(&records, assigner.clone(), trigger.cloned()));
    let mut harness = TestHarness::new(build).unwrap();
    let found = found.unwrap();
    for event in events {
        match event {
            Clock(time) => harness.set_processing_time(*time).unwrap(),
            Records(records) => {
                harness.process_elements(records.iter().map(|record| (*record, i64::MIN)).collect()).unwrap();
            }
            Expect(expected) => {
                let mut found = found.take();
                found.sort_unstable();
                assert_eq!(found, *expected, "harness");
            }
        }
    }
}

const NO_TRIGGER: Option<&ContinuousProcessingTimeTrigger> = None;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[test]
fn tumbling_windows_fire_when_the_clock_reaches_their_last_millisecond() {
    let events = [
        Clock(100),
        Records(&[('a', 1), ('b', 10)]),
        Clock(998),
        Records(&[('a', 2)]),
        Expect(&[]),
        Clock(999),
        Expect(&[('a', 0, 3), ('b', 0, 10)]),
        Clock(5_500),
        Records(&[('a', 4)]),
        Clock(6_100),
        Expect(&[('a', 5_000, 4)]),
        Records(&[('b', 7), ('a', 8)]),
    ];
    follow(&TumblingProcessingTimeWindows::of(ms(1_000)), NO_TRIGGER, &events, 2);
}

#[test]
fn a_record_is_in_all_sliding_windows_of_its_time_of_arrival() {
    let events = [
        Clock(1_200),
        Records(&[('a', 1)]),
        Clock(1_499),
        Expect(&[('a', 500, 1)]),
        Clock(1_700),
        Records(&[('a', 2)]),
        Clock(1_999),
        Expect(&[('a', 1_000, 3)]),
        Clock(10_000),
        Expect(&[('a', 1_500, 2)]),
    ];
    follow(&SlidingProcessingTimeWindows::of(ms(1_000), ms(500)), NO_TRIGGER, &events, 0);
}

#[test]
fn sessions_end_when_the_clock_has_passed_the_gap() {
    let events = [
        Clock(1_000),
        Records(&[('a', 1), ('b', 5)]),
        Clock(1_400),
        Records(&[('a', 2)]),
        Clock(1_499),
        Expect(&[('b', 1_000, 5)]),
        Clock(1_899),
        Expect(&[('a', 1_000, 3)]),
        Clock(2_000),
        Records(&[('a', 4)]),
    ];
    follow(&ProcessingTimeSessionWindows::with_gap(ms(500)), NO_TRIGGER, &events, 1);
}

#[test]
fn a_continuous_trigger_fires_event_time_windows_by_the_clock() {
    let trigger = ContinuousProcessingTimeTrigger::of(ms(100));
    let events = [
        Clock(10),
        Records(&[('a', 1)]),
        Clock(99),
        Expect(&[]),
        Clock(100),
        Expect(&[('a', 0, 1)]),
        Records(&[('a', 2)]),
        Clock(200),
        Expect(&[('a', 0, 3)]),
    ];
    // The end of the input cleans the window up, without another firing.
    for shards in [1, 2, 7] {
        let (environment, clock) = (environment(shards, 8192), ManualClock::new());
        environment.set_clock(clock.clone());
        let (sender, source) = channel::<Record>(64);
        let strategy = WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|_: &Record| 5);
        let records = environment.from_source(source, strategy, "records");
        let sums = sums(&records, TumblingEventTimeWindows::of(ms(1_000)), Some(trigger));
        let client = environment.execute_async().unwrap();
        let mut running = Running { clock, sender, sums, client, sent: 0 };
        running.follow(&events);
        drop(running.sender);
        let result = running.client.wait().unwrap();
        assert_eq!((running.sums.take(), result.operators[0].counts.open_windows), (vec![], 0));
    }
}
