//! Elements at the ends of time.

use std::time::Duration;

use crate::api::OperatorKind;
use crate::api::testing::TestHarness;
use crate::windowing::aggregates::Count;
use crate::windowing::assigner::TumblingEventTimeWindows;
use crate::windowing::output::OutputTag;

/// Window starts, ends and counts, and the late elements.
fn results(offset: i64, operator: Option<OperatorKind>, times: &[i64], watermarks: &[i64]) -> Vec<(i64, i64, i64)> {
    let tag = OutputTag::new("late");
    let (mut counts, mut late) = (None, None);
    let mut harness = TestHarness::new(|input| {
        let windows = TumblingEventTimeWindows::of(Duration::from_secs(1)).with_offset_ms(offset);
        let windows = input.key_by(|_: &i64| 1).window(windows).side_output_late_data(&tag);
        let windows = match operator {
            Some(operator) => windows.operator(operator),
            None => windows,
        };
        let results = windows.aggregate(Count);
        late = Some(results.get_side_output(&tag).collect());
        counts = Some(results.collect());
    })
    .unwrap();
    for (number, &time) in times.iter().enumerate() {
        harness.process_element(time, time).unwrap();
        if let Some(&watermark) = watermarks.get(number) {
            harness.process_watermark(watermark).unwrap();
        }
    }
    harness.end_input().unwrap();
    let counts = counts.unwrap().take().into_iter().map(|r| (r.window.start, r.window.end, r.value as i64));
    counts.chain(late.unwrap().take().into_iter().map(|time| (0, 0, time))).collect()
}

#[test]
fn windows_that_wrap_around_the_ends_of_time_are_those_of_the_general_operator() {
    let (min, max) = (i64::MIN, i64::MAX);
    let near = [min + 1, min + 500, min + 807, min + 808, min + 2_000, -1, 0, max - 5_000, max - 900, max - 807, max];
    for offset in [0, 1, 192, 500, 999, -1, -500, -999] {
        for watermarks in [&[][..], &[min + 900, min + 5_000, 0][..], &[min + 1; 11], &[max - 6_000]] {
            let backwards: Vec<i64> = near.iter().rev().copied().collect();
            for times in [&near[..], &backwards] {
                let slices = results(offset, None, times, watermarks);
                let general = results(offset, Some(OperatorKind::General), times, watermarks);
                assert_eq!(slices, general, "offset {offset}, {times:?}, {watermarks:?}");
            }
        }
    }
}
