//! What people have hit with windows of the DataStream API, each as a small program with the right results. The numbers
//! are those of the project's list of field cases; those of SQL are in `field_cases.rs`.

use std::time::Duration;

use transom::api::{JobExecutionResult, StreamExecutionEnvironment, WatermarkStrategy};
use transom::job::RunOptions;
use transom::windowing::aggregates::Count;
use transom::windowing::assigner::TumblingEventTimeWindows;
use transom::windowing::evictor::CountEvictor;
use transom::windowing::output::OutputTag;
use transom::windowing::trigger::{CountTrigger, EventTimeTrigger, PurgingTrigger};

/// Milliseconds since 1970 and a value, all of one key. Timestamps ascend but for the late ones.
type Row = (i64, i64);
/// Start of the window in seconds, and what its function gave.
type Found = (i64, i64);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn rows(seconds: &[f64]) -> Vec<Row> {
    seconds.iter().map(|seconds| ((seconds * 1000.0) as i64, 1)).collect()
}

/// An environment of some number of shards that reads blocks of some size.
fn environment(shards: usize, batch_rows: usize) -> StreamExecutionEnvironment {
    let environment = StreamExecutionEnvironment::new();
    environment.on_warning(|_| {});
    environment.set_run_options(RunOptions { shards, batch_rows, ..RunOptions::default() });
    environment
}

fn ascending() -> WatermarkStrategy<Row> {
    WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|row: &Row| row.0)
}

const RUNS: [(usize, usize); 3] = [(1, 8192), (2, 1), (7, 2)];

/// Fires on time and for each late row; the counts of all firings, and the rows that came too late even for that.
fn counted_with_lateness(run: (usize, usize), purging: bool) -> (Vec<Found>, Vec<Row>, JobExecutionResult) {
    let environment = environment(run.0, run.1);
    let stream = environment.from_collection(rows(&[1.0, 12.0, 3.0, 4.0, 15.5, 2.0]));
    let late = OutputTag::new("late");
    let windows = stream
        .assign_timestamps_and_watermarks(ascending())
        .key_by(|_| ())
        .window(TumblingEventTimeWindows::of(seconds(10)))
        .allowed_lateness(seconds(5))
        .side_output_late_data(&late);
    let counts = match purging {
        true => windows.trigger(PurgingTrigger::of(EventTimeTrigger)).aggregate(Count),
        false => windows.aggregate(Count),
    };
    let (late, counts) = (counts.get_side_output(&late).collect(), counts.collect());
    let result = environment.execute().unwrap();
    let counts = counts.take().into_iter().map(|count| (count.window.start / 1000, count.value as i64)).collect();
    (counts, late.take(), result)
}

#[test]
fn case_37_a_window_fires_again_for_each_late_row_within_the_lateness_then_rows_go_aside() {
    for run in RUNS {
        let (counts, late, result) = counted_with_lateness(run, false);
        assert_eq!(counts, [(0, 1), (0, 2), (0, 3), (10, 2)], "{run:?}");
        assert_eq!(late, rows(&[2.0]));
        assert_eq!(result.operators[0].counts.late_side_output, 1);
        assert_eq!(result.late_records_dropped(), 0, "it went to the side output");
    }
}

#[test]
fn case_38_purging_drops_the_rows_of_a_window_but_the_window_stays() {
    for run in RUNS {
        let (counts, late, _) = counted_with_lateness(run, true);
        assert_eq!(counts, [(0, 1), (0, 1), (0, 1), (10, 2)], "{run:?}");
        assert_eq!(late, rows(&[2.0]));
    }
}

#[test]
fn case_40_a_trigger_of_ones_own_replaces_the_one_at_the_end_and_one_is_told_what_it_cost() {
    for run in RUNS {
        let environment = environment(run.0, run.1);
        let counts = environment
            .from_collection(rows(&[1.0, 2.0, 3.0, 12.0]))
            .assign_timestamps_and_watermarks(ascending())
            .key_by(|_| ())
            .window(TumblingEventTimeWindows::of(seconds(10)))
            .trigger(CountTrigger::of(2))
            .aggregate(Count)
            .collect();
        let result = environment.execute().unwrap();
        let counts: Vec<Found> =
            counts.take().into_iter().map(|count| (count.window.start / 1000, count.value as i64)).collect();
        assert_eq!(counts, [(0, 2)], "{run:?}");
        // Row 3 went with the first window, row 12 with the second.
        assert_eq!(result.operators[0].counts.unfired_at_cleanup, 2);
        let told = |text: &str| result.warnings.iter().any(|warning| warning.contains(text));
        assert!(told("2 windows of TumblingEventTimeWindows(10000") && told("that no firing has seen"));
        assert!(told("is the only trigger of TumblingEventTimeWindows(10000"), "{:?}", result.warnings);
    }
}

#[test]
fn case_41_rows_that_were_evicted_do_not_come_back() {
    for run in RUNS {
        let environment = environment(run.0, run.1);
        let sums = environment
            .from_collection(vec![(1_000, 1), (2_000, 2), (3_000, 3), (12_000, 0), (4_000, 4)])
            .assign_timestamps_and_watermarks(ascending())
            .key_by(|_| ())
            .window(TumblingEventTimeWindows::of(seconds(10)))
            .evictor(CountEvictor::of(2))
            .allowed_lateness(seconds(60))
            .aggregate(transom::windowing::aggregates::Sum::of(|row: &Row| row.1))
            .collect();
        environment.execute().unwrap();
        let sums: Vec<Found> = sums.take().into_iter().map(|sum| (sum.window.start / 1000, sum.value)).collect();
        assert_eq!(sums, [(0, 5), (0, 7), (10, 0)], "{run:?}");
    }
}
