//! Streams that are used in odd ways: on several ways at once, again, or wrongly.

use std::sync::Arc;
use std::time::Duration;

use crate::api::prelude::*;
use crate::api::source::tests::environment;
use crate::api::source::{OpenOptions, RecordSplit, Source, SourceBlock};
use crate::error::ErrorKind;
use crate::source::Extent;

/// A time in milliseconds, which is a key too.
type Row = (i64, i64);

const RUNS: [(usize, usize); 6] = [(1, 8192), (1, 1), (2, 8192), (2, 7), (7, 3), (3, 1)];

fn ascending() -> WatermarkStrategy<Row> {
    WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|row: &Row| row.0)
}

/// Ascending, but for each seventh.
fn rows(count: i64) -> Vec<Row> {
    (0..count).map(|n| (if n % 7 == 0 { n - 25 } else { n }, n)).collect()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn watermarks_may_be_assigned_behind_functions_of_single_records() {
    for (shards, block) in RUNS {
        let environment = environment(shards, block);
        let read = environment.from_collection(0..100i64).map(|n| (n, n)).filter(|row| row.0 % 2 == 0);
        let timed = read.flat_map(|row, out| out.extend([row, row])).assign_timestamps_and_watermarks(ascending());
        let counts = timed.key_by(|_| ()).window(TumblingEventTimeWindows::of(ms(10))).aggregate(Count).collect();
        environment.execute().unwrap();
        assert_eq!(counts.take().iter().map(|count| count.value).collect::<Vec<_>>(), [10; 10]);
    }
}

#[test]
fn a_stream_is_used_with_watermarks_or_without() {
    let environment = environment(2, 7);
    let read = environment.from_collection(rows(9)).map(|row| row);
    read.assign_timestamps_and_watermarks(ascending()).for_each(|_| {});
    read.for_each(|_| {});
    let error = environment.execute().unwrap_err();
    assert!(error.message().contains("is used with and without the watermarks"), "{error}");
}

#[test]
fn a_side_output_may_be_taken_twice() {
    let environment = environment(2, 7);
    let late = OutputTag::new("late");
    let windows = environment
        .from_collection(rows(100))
        .assign_timestamps_and_watermarks(ascending())
        .key_by(|row| row.1 % 3)
        .window(TumblingEventTimeWindows::of(ms(10)))
        .side_output_late_data(&late)
        .aggregate(Count);
    let (once, again) = (windows.get_side_output(&late).collect(), windows.get_side_output(&late).collect());
    windows.for_each(|_| {});
    environment.execute().unwrap();
    let once = once.take();
    assert!(once.len() > 5);
    assert_eq!(once, again.take());
}

#[test]
fn streams_of_two_environments_are_a_fault_of_the_program() {
    let (one, other) = (environment(1, 1), environment(1, 1));
    let united = one.from_collection(rows(3)).union(&[&other.from_collection(rows(3))]);
    united.for_each(|_| {});
    let error = one.execute().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().contains("graphs.rs") && error.message().contains("two environments"), "{error}");
}

/// Each row becomes several, of other keys, which come together again on two ways and in two windows.
fn on_several_ways(shards: usize, block: usize) -> (Vec<String>, u64) {
    let environment = environment(shards, block);
    let timed = environment.from_collection(rows(300)).assign_timestamps_and_watermarks(ascending());
    let several = timed.flat_map(|(time, n), out| out.extend((0..n % 4).map(|at| (time, (n + 7 * at) % 10))));
    let late = OutputTag::new("late");
    let sessions = timed
        .union(&[&several, &several])
        .key_by(|row| row.1 % 10)
        .window(EventTimeSessionWindows::with_gap(ms(4)))
        .trigger(EarlyCountTrigger::of(2))
        .side_output_late_data(&late)
        .apply(|key, context: &mut WindowContext<'_, TimeWindow>, rows: &[Row], out: &mut Collector<'_, String>| {
            let (window, now) = (context.window(), context.current_watermark());
            out.collect(format!("{key} {window:?} at {now}: {rows:?}"));
            Ok(())
        });
    let lists = sessions
        .union(&[&sessions, &sessions.get_side_output(&late).map(|row| format!("late {row:?}"))])
        .key_by(|text| text.len() % 2)
        .window(GlobalWindows::create())
        .trigger(CountTrigger::of(5))
        .evictor(CountEvictor::of(5))
        .apply(|key, _, texts: &[String], out: &mut Collector<'_, String>| {
            out.collect(format!("{key}: {texts:?}"));
            Ok(())
        })
        .collect();
    let result = environment.execute().unwrap();
    (lists.take(), result.operators[0].counts.late_side_output)
}

#[test]
fn rows_that_become_several_are_looked_at_in_one_order_and_behind_the_same_watermarks() {
    let (lists, late) = on_several_ways(1, 8192);
    assert!(lists.len() > 50 && late > 10, "{} {late}", lists.len());
    for (shards, block) in RUNS {
        assert!(on_several_ways(shards, block) == (lists.clone(), late), "{shards} shards, blocks of {block}");
    }
}

#[test]
fn at_the_end_of_the_input_every_operator_shows_the_end_of_time() {
    for (shards, block) in RUNS {
        for operator in [None, Some(OperatorKind::General)] {
            let environment = environment(shards, block);
            let timed = environment.from_collection(rows(50)).assign_timestamps_and_watermarks(ascending());
            let keyed = timed.key_by(|_| ());
            let now = |_: &(), context: &mut WindowContext<'_, TimeWindow>, _: &[u64], out: &mut Collector<'_, i64>| {
                out.collect(context.current_watermark());
                Ok(())
            };
            let mut tumbling = keyed.window(TumblingEventTimeWindows::of(ms(40)));
            let mut sessions = keyed.window(EventTimeSessionWindows::with_gap(ms(40)));
            if let Some(operator) = operator {
                (tumbling, sessions) = (tumbling.operator(operator), sessions.operator(operator));
            }
            let tumbling = tumbling.aggregate_with(Count, now).collect();
            let sessions = sessions.aggregate_with(Count, now).collect();
            environment.execute().unwrap();
            // Row 1 closes the first window, which is before 1970; row 40 the second.
            assert_eq!((tumbling.take(), sessions.take()), (vec![0, 39, i64::MAX], vec![i64::MAX]), "{operator:?}");
        }
    }
}

/// Registers a timer before the one that fires, each time.
#[derive(Clone)]
struct Backwards;

impl<W: Window> Trigger<Row, W> for Backwards {
    type State = ();
    fn on_element(
        &self,
        row: &Row,
        _: i64,
        _: &W,
        _: &mut (),
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        context.register_event_time_timer(row.0);
        Ok(TriggerResult::Continue)
    }
    fn on_event_time(&self, time: i64, _: &W, _: &mut (), context: &mut TriggerContext<'_>) -> Result<TriggerResult> {
        context.register_event_time_timer(time - 1);
        Ok(TriggerResult::Continue)
    }
    fn on_processing_time(&self, _: i64, _: &W, _: &mut (), _: &mut TriggerContext<'_>) -> Result<TriggerResult> {
        Ok(TriggerResult::Continue)
    }
    fn clear(&self, _: &W, _: &mut (), _: &mut TriggerContext<'_>) {}
    fn describe(&self) -> String {
        String::from("Backwards")
    }
}

#[test]
fn a_trigger_that_goes_back_for_ever_is_an_error() {
    let environment = environment(2, 7);
    let timed = environment.from_collection(rows(20)).assign_timestamps_and_watermarks(ascending());
    let windows = timed.key_by(|_| ()).window(TumblingEventTimeWindows::of(ms(100)));
    windows.trigger(Backwards).aggregate(Count).for_each(|_| {});
    let error = environment.execute().unwrap_err();
    assert!(error.message().contains("Backwards registers a timer in the past"), "{error}");
}

/// Gives fewer timestamps than records, or panics where it is asked for its extent.
struct Careless {
    panics: bool,
}

impl Source<Row> for Careless {
    fn open(&self, _: &OpenOptions) -> Result<Vec<Arc<dyn RecordSplit<Row>>>> {
        Ok(vec![Arc::new(Careless { panics: self.panics })])
    }
}

impl RecordSplit<Row> for Careless {
    fn extent(&self) -> Extent {
        assert!(!self.panics, "no extent");
        Extent::whole(1)
    }
    fn read(&self, _: usize) -> Result<SourceBlock<Row>> {
        Ok(SourceBlock { timestamps: Some(vec![1]), ..SourceBlock::of(rows(2)) })
    }
}

#[test]
fn a_source_that_is_careless_is_told_so() {
    let told = |panics| {
        let environment = environment(2, 7);
        environment.from_source(Careless { panics }, WatermarkStrategy::no_watermarks(), "careless").for_each(|_| {});
        environment.execute().unwrap_err().message().to_string()
    };
    assert_eq!(told(false), "a source gave a block of 2 records with 1 timestamps");
    assert!(told(true).contains("no extent"));
}

#[test]
fn a_stream_of_a_program_that_has_run_is_a_fault_of_the_next() {
    let environment = StreamExecutionEnvironment::new();
    environment.on_warning(|_| {});
    let old = environment.from_collection(rows(3));
    let kept = old.collect();
    environment.execute().unwrap();
    assert_eq!(kept.take().len(), 3);
    environment.from_collection(rows(2)).for_each(|_| ());
    old.collect();
    let error = environment.execute().unwrap_err().to_string();
    assert!(error.contains("graphs.rs") && error.contains("a program that has run"), "{error}");
}
