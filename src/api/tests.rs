//! Programs from end to end.

mod edges;
mod graphs;
mod jobs;
mod processing_time;
#[cfg(feature = "sql")]
mod sinks;

use std::time::Duration;

use super::testing::TestHarness;
use super::{StreamExecutionEnvironment, WatermarkStrategy};
use crate::windowing::assigner::{EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows};
use crate::windowing::function::AggregateFunction;
use crate::windowing::output::OutputTag;

#[derive(Clone)]
struct Sum;

impl AggregateFunction<(i64, i64)> for Sum {
    type Accumulator = i64;
    type Output = i64;
    fn create_accumulator(&self) -> i64 {
        0
    }
    fn add(&self, element: &(i64, i64), sum: &mut i64) {
        *sum += element.1;
    }
    fn get_result(&self, sum: &i64) -> i64 {
        *sum
    }
    fn merge(&self, sum: &mut i64, other: &i64) {
        *sum += other;
    }
}

/// Key, start, value of a cascade: sums per key and window, then the list of all sums per larger window.
fn cascade(shards: usize, rows: usize) -> Vec<(i64, Vec<i64>)> {
    let environment = StreamExecutionEnvironment::new();
    let options = crate::job::RunOptions { shards, batch_rows: rows, ..crate::job::RunOptions::default() };
    environment.set_run_options(options).on_warning(|_| {});
    let records = (0..5_000i64).map(|n| (n * 7 % 13, n));
    let stream = environment.from_collection(records).assign_timestamps_and_watermarks(
        WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(20))
            .with_timestamp_assigner(|record: &(i64, i64)| record.1 ^ 15),
    );
    let sums = stream
        .filter(|record| record.1 % 3 != 0)
        .key_by(|record| record.0)
        .window(SlidingEventTimeWindows::of(Duration::from_millis(100), Duration::from_millis(40)))
        .aggregate(Sum);
    let lists = sums
        .key_by(|sum| sum.key % 2)
        .window(TumblingEventTimeWindows::of(Duration::from_millis(500)))
        .process(
            |_: &i64,
             context: &mut crate::windowing::function::WindowContext<'_, _>,
             sums: &[_],
             out: &mut crate::windowing::output::Collector<'_, _>| {
                let sums: &[crate::windowing::function::WindowResult<
                    i64,
                    crate::windowing::window::TimeWindow,
                    i64,
                >] = sums;
                let window: &crate::windowing::window::TimeWindow = context.window();
                out.collect((window.start, sums.iter().map(|sum| sum.value).collect::<Vec<i64>>()));
                Ok(())
            },
        )
        .collect();
    environment.execute().unwrap();
    lists.take()
}

#[test]
fn the_same_rows_in_the_same_order_on_any_number_of_shards_and_in_blocks_of_any_size() {
    let whole = cascade(1, 8192);
    assert!(whole.len() > 15);
    for (shards, rows) in [(1, 1), (1, 7), (2, 8192), (2, 7), (7, 100), (7, 1)] {
        assert_eq!(cascade(shards, rows), whole, "{shards} shards, blocks of {rows}");
    }
}

#[test]
fn late_elements_go_to_their_side_output() {
    let tag = OutputTag::new("late");
    let (mut sums, mut late) = (None, None);
    let mut harness = TestHarness::new(|input| {
        let windows = input.key_by(|record: &(i64, i64)| record.0);
        let results = windows
            .window(EventTimeSessionWindows::with_gap(Duration::from_millis(10)))
            .side_output_late_data(&tag)
            .aggregate(Sum);
        late = Some(results.get_side_output(&tag).collect());
        sums = Some(results.collect());
    })
    .unwrap();
    harness.process_element((1, 5), 100).unwrap();
    harness.process_watermark(200).unwrap();
    harness.process_element((1, 6), 150).unwrap();
    harness.end_input().unwrap();
    let sums = sums.unwrap().take();
    assert_eq!(sums.iter().map(|sum| (sum.key, sum.window.start, sum.value)).collect::<Vec<_>>(), [(1, 100, 5)]);
    assert_eq!(late.unwrap().take(), [(1, 6)]);
}
