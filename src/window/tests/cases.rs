//! The field cases and conformance cases by their numbers.

use super::*;

const SECOND: i64 = 1000;
const HOUR: i64 = 3600 * SECOND;
const DAY: i64 = 24 * HOUR;

fn hop(size: i64, slide: i64) -> WindowSpec {
    WindowSpec::Hop { size_ms: size * SECOND, slide_ms: slide * SECOND, offset_ms: 0 }
}
fn tumble(size_ms: i64) -> WindowSpec {
    WindowSpec::Tumble { size_ms, offset_ms: 0 }
}
fn cumulate(size: i64, step: i64) -> WindowSpec {
    WindowSpec::Cumulate { size_ms: size * SECOND, step_ms: step * SECOND, offset_ms: 0 }
}

/// Rows of the answer as `keys and aggregates [start,end)`, bounds in seconds, in order of end.
fn windows(spec: &WindowAggregateSpec, rows: &[Row], delay: i64) -> (Vec<String>, u64) {
    let answer = run(spec, rows, delay, 3);
    let show = |row: &String| {
        let (cells, bounds) = row.split_once(" | ").unwrap();
        let bounds: Vec<f64> = bounds.split(' ').map(|t| t.parse::<f64>().unwrap() / 1000.0).collect();
        format!("{cells} [{},{})", bounds[0], bounds[1])
    };
    (answer.rows.iter().map(show).collect(), answer.late)
}

fn counts(window: WindowSpec, rows: &[(f64, i64)], delay: i64) -> (Vec<String>, u64) {
    let rows: Vec<Row> = rows.iter().map(|&(seconds, key)| at(seconds, key)).collect();
    windows(&spec(window, &[KEY], &[call("COUNT", None)]), &rows, delay)
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn field_case_1_late_for_one_hop_window_is_not_late_for_the_next() {
    let got = counts(hop(10, 5), &[(1.0, 1), (7.0, 1), (2.0, 1)], 0);
    assert_eq!(got, (strings(&["1 1 [-5,5)", "1 3 [0,10)", "1 1 [5,15)"]), 0));
}

#[test]
fn field_case_2_rows_behind_the_watermark_open_and_join_sessions() {
    let session = WindowSpec::Session { gap_ms: 10 * SECOND };
    let got = counts(session, &[(40.0, 1), (25.0, 1), (5.0, 1)], 10 * SECOND);
    assert_eq!(got, (strings(&["1 1 [25,35)", "1 1 [40,50)"]), 1));
}

#[test]
fn case_026_sessions_keep_late_rows_that_merge() {
    let rows: Vec<Row> = [
        (10.0, 1, 1),
        (30.0, 1, 2),
        (15.0, 1, 4),
        (26.0, 1, 8),
        (21.0, 1, 16),
        (20.0, 1, 32),
        (60.0, 2, 1),
        (50.0, 1, 64),
        (57.0, 1, 128),
        (52.0, 1, 256),
        (90.0, 2, 1),
    ]
    .into_iter()
    .map(|(seconds, key, number)| Row { number: Some(number), ..at(seconds, key) })
    .collect();
    let spec =
        spec(WindowSpec::Session { gap_ms: 5 * SECOND }, &[KEY], &[call("COUNT", None), call("SUM", Some(NUMBER))]);
    let (mut got, late) = windows(&spec, &rows, 2 * SECOND);
    got.sort();
    let expected = ["1 1 1 [10,15)", "1 2 384 [52,62)", "1 4 58 [20,35)", "2 1 1 [60,65)", "2 1 1 [90,95)"];
    assert_eq!((got, late), (strings(&expected), 2));
}

#[test]
fn field_case_5_cumulate_windows_fire_once_each() {
    let got = counts(cumulate(30, 10), &[(1.0, 1), (12.0, 1), (5.0, 1), (25.0, 1)], 0);
    assert_eq!(got, (strings(&["1 1 [0,10)", "1 3 [0,20)", "1 4 [0,30)"]), 0));
}

#[test]
fn case_411_a_row_late_for_two_steps_counts_in_the_others() {
    let rows: Vec<Row> =
        [(1.0, 1, 1), (12.0, 1, 2), (2.0, 2, 4), (3.0, 1, 8), (19.999, 1, 16), (4.0, 2, 32), (21.0, 1, 64)]
            .into_iter()
            .map(|(seconds, key, number)| Row { number: Some(number), ..at(seconds, key) })
            .collect();
    let spec = spec(cumulate(20, 5), &[KEY], &[call("SUM", Some(NUMBER)), call("COUNT", None)]);
    let (mut got, late) = windows(&spec, &rows, 0);
    got.sort();
    let mut expected = strings(&[
        "1 1 1 [0,5)",
        "1 1 1 [0,10)",
        "1 11 3 [0,15)",
        "1 27 4 [0,20)",
        "2 4 1 [0,15)",
        "2 4 1 [0,20)",
        "1 64 1 [20,25)",
        "1 64 1 [20,30)",
        "1 64 1 [20,35)",
        "1 64 1 [20,40)",
    ]);
    expected.sort();
    assert_eq!((got, late), (expected, 1));
}

fn decimal(key: i64, decimal: i128) -> Row {
    Row { decimal: Some(decimal), ..at(2.0, key) }
}

/// Case 13's three rows: two that overflow together, then 1.000.
fn overflowing() -> Vec<Row> {
    let nines = 10_i128.pow(38) - 1;
    vec![decimal(1, nines), decimal(1, nines), decimal(1, 1000)]
}

#[test]
fn field_case_13_a_decimal_sum_overflows_and_starts_over() {
    let sums = |calls: &[AggregateCall]| windows(&spec(tumble(10 * SECOND), &[KEY], calls), &overflowing(), 0).0;
    let (sum, avg) = (call("SUM", Some(DECIMAL)), call("AVG", Some(DECIMAL)));
    let (count, star) = (call("COUNT", Some(DECIMAL)), call("COUNT", None));
    // 321, 380: apart.
    assert_eq!(sums(&[sum.clone(), count.clone()]), ["1 1.000 3 [0,10)"]);
    assert_eq!(sums(&[sum.clone(), avg.clone()]), ["1 1.000 NULL [0,10)"]);
    assert_eq!(sums(&[sum.clone(), avg.clone(), star]), ["1 1.000 NULL 3 [0,10)"]);
    // 319, 320: from one sum that stays NULL.
    assert_eq!(sums(&[sum.clone(), avg.clone(), count]), ["1 NULL NULL 3 [0,10)"]);
    assert_eq!(sums(&[sum, call("VAR_SAMP", Some(NUMBER))]), ["1 NULL 0 [0,10)"]);
}

#[test]
fn averages_of_integers_beside_their_sum_and_count_wrap_as_the_sum_does() {
    let rows = [i32::MAX, i32::MAX, 5].map(|number| Row { number: Some(number), ..at(1.0, 1) });
    let (sum, avg, count) = (call("SUM", Some(NUMBER)), call("AVG", Some(NUMBER)), call("COUNT", Some(NUMBER)));
    let of = |calls: &[AggregateCall]| windows(&spec(tumble(10 * SECOND), &[], calls), &rows, 0).0;
    assert_eq!(of(&[sum.clone(), avg.clone()]), ["3 1431655766 [0,10)"]);
    assert_eq!(of(&[sum, avg, count]), ["3 1 3 [0,10)"]);
}

#[test]
fn field_case_19_buckets_before_1970_round_down() {
    let got = counts(tumble(10 * SECOND), &[(-0.001, 1), (-10.0, 1), (-10.001, 1)], 0);
    assert_eq!(got, (strings(&["1 1 [-20,-10)", "1 2 [-10,0)"]), 0));
}

#[test]
fn field_case_20_nothing_is_late_before_1970() {
    let got = counts(tumble(10 * SECOND), &[(-100.0, 1), (-50.0, 1), (-95.0, 1)], 0);
    assert_eq!(got, (strings(&["1 2 [-100,-90)", "1 1 [-50,-40)"]), 0));
}

#[test]
fn field_case_22_the_second_window_takes_the_first_ones_window_time() {
    // Results of 5-minute windows carry window_time = end - 1; the watermark comes behind them.
    let minute = 60 * SECOND;
    let of = |end: i64, number: i32| Row { time: end * minute - 1, number: Some(number), ..Row::default() };
    let rows = [of(485, 4), of(490, 5), of(495, 3)];
    let spec = spec(tumble(10 * minute), &[], &[call("SUM", Some(NUMBER))]);
    let got = windows(&spec, &rows, 0);
    assert_eq!(got, (strings(&["9 [28800,29400)", "3 [29400,30000)"]), 0));
}

#[test]
fn field_case_43_sliding_windows_whose_slide_does_not_divide_the_size() {
    let window = WindowSpec::Hop { size_ms: 1600, slide_ms: 700, offset_ms: 0 };
    let got = counts(window, &[(1_709_315_512.577, 1)], 0);
    let expected = ["1 1 [1709315511.4,1709315513)", "1 1 [1709315512.1,1709315513.7)"];
    assert_eq!(got, (strings(&expected), 0));
}

#[test]
fn field_case_44_distinct_across_slices_is_a_union() {
    let rows = [1.0, 6.0, 2.0].map(|seconds| Row { text: Some("x".into()), ..at(seconds, 1) });
    let calls = [call("DISTINCT COUNT", Some(TEXT))];
    let got = windows(&spec(hop(10, 5), &[], &calls), &rows, 0);
    assert_eq!(got, (strings(&["1 [-5,5)", "1 [0,10)", "1 [5,15)"]), 0));
    let got = windows(&spec(cumulate(10, 5), &[], &calls), &rows, 0);
    assert_eq!(got, (strings(&["1 [0,5)", "1 [0,10)"]), 0));
}

#[test]
fn field_case_46_floats_leave_no_residue() {
    let row = |seconds: f64, double: Option<f64>| Row { double, ..at(seconds, 1) };
    let rows = [row(1.0, Some(1e16)), row(6.0, Some(1.0)), row(16.0, None)];
    let calls = [call("SUM", Some(DOUBLE)), call("AVG", Some(DOUBLE)), call("COUNT", None)];
    let got = windows(&spec(hop(10, 5), &[], &calls), &rows, 0).0;
    let expected = [
        "1e16 1e16 1 [-5,5)",
        "1e16 5000000000000000.0 2 [0,10)",
        "1.0 1.0 1 [5,15)",
        "NULL NULL 1 [10,20)",
        "NULL NULL 1 [15,25)",
    ];
    assert_eq!(got, expected);
}

#[test]
fn field_case_47_a_group_whose_rows_all_fail_the_filter_exists() {
    let rows = [Row { condition: Some(false), ..at(1.0, 1) }];
    let calls = [filtered("COUNT", None), filtered("SUM", Some(NUMBER)), call("COUNT", None)];
    for window in [tumble(10 * SECOND), WindowSpec::Session { gap_ms: 5 * SECOND }, hop(10, 10)] {
        let got = windows(&spec(window, &[KEY], &calls), &rows, 0).0;
        assert!(got[0].starts_with("1 0 NULL 1 ["), "{got:?}");
    }
}

#[test]
fn field_case_61_the_years_1_and_9999_and_the_limits_of_time() {
    let (first, last) = (-62_135_596_800_000, 253_402_300_799_999);
    let rows = [first, last].map(|time| Row { time, ..Row::default() });
    let got = run(&spec(tumble(DAY), &[], &[call("COUNT", None)]), &rows, 0, 10);
    let ends = [(first, first + DAY), (last + 1 - DAY, last + 1)];
    let expected = ends.map(|(start, end)| format!("1 | {start} {end} {}", end - 1));
    assert_eq!((got.rows, got.late), (expected.to_vec(), 0));
    let limits = [i64::MIN, i64::MAX].map(|time| Row { time, ..Row::default() });
    for window in [tumble(DAY), hop(10, 5), cumulate(10, 5), WindowSpec::Session { gap_ms: DAY }] {
        for calls in [call("COUNT", None), call("MAX", Some(NUMBER))] {
            run(&spec(window.clone(), &[], &[calls]), &limits, 0, 10);
        }
    }
}

#[test]
fn field_case_64_the_same_rows_in_any_batches_give_the_same_windows_and_late_rows() {
    let rows: Vec<Row> = (0..1000)
        .map(|i| {
            let late = if i % 50 == 49 {
                6.0
            } else if i % 170 == 3 {
                14.0
            } else {
                0.0
            };
            let key = i64::from(i % 10 == 0);
            Row { decimal: Some(i128::from(i) * 7), number: Some(i), ..at(f64::from(i) / 20.0 - late, key) }
        })
        .collect();
    let calls = [
        call("COUNT", None),
        call("SUM", Some(DECIMAL)),
        call("AVG", Some(NUMBER)),
        call("MIN", Some(NUMBER)),
        call("DISTINCT COUNT", Some(NUMBER)),
    ];
    let spec = spec(hop(10, 5), &[KEY], &calls);
    let whole = run(&spec, &rows, 0, 8192).sorted();
    assert!(whole.late > 0);
    for batch_rows in [1, 3, 64] {
        assert_eq!(run(&spec, &rows, 0, batch_rows).sorted(), whole);
    }
}

fn zoned(zone: &str, size: i64, rows: &[i64], delay: i64) -> (Vec<String>, u64) {
    let spec = zoned_spec(tumble(size), &[], &[call("COUNT", None)], Some(zone));
    let rows: Vec<Row> = rows.iter().map(|&time| Row { time, ..Row::default() }).collect();
    let answer = run(&spec, &rows, delay, 2);
    (answer.rows, answer.late)
}

/// `count | start end time` with the first two from a local date and time.
fn local(count: i64, start: &str, end: &str, time: i64) -> String {
    let millis = |text: &str| {
        let civil: jiff::civil::DateTime = text.parse().unwrap();
        jiff::tz::Offset::UTC.to_timestamp(civil).unwrap().as_millisecond()
    };
    format!("{count} | {} {} {time}", millis(start), millis(end))
}

#[test]
fn field_case_7_windows_are_cut_in_the_session_zone() {
    let got = zoned("GMT+08:00", 10 * SECOND, &[0], 0).0;
    assert_eq!(got, [local(1, "1970-01-01T08:00:00", "1970-01-01T08:00:10", 9999)]);
    let expected = [
        local(1, "2024-03-01T00:00", "2024-03-02T00:00", 1_709_308_799_999),
        local(1, "2024-03-02T00:00", "2024-03-03T00:00", 1_709_395_199_999),
    ];
    assert_eq!(zoned("GMT+08:00", DAY, &[1_709_308_799_000, 1_709_308_800_000], 0).0, expected);
    assert_eq!(zoned("Asia/Shanghai", DAY, &[1_709_308_799_000, 1_709_308_800_000], HOUR).0, expected);
}

#[test]
fn field_case_8_the_repeated_hour_is_one_window_that_waits_for_its_second_pass() {
    let time = 1_636_275_599_999;
    let first = |count| local(count, "2021-11-07T01:00", "2021-11-07T02:00", time);
    let second = local(1, "2021-11-07T02:00", "2021-11-07T03:00", time + 2 * HOUR);
    let rows = [1_636_273_800_000, 1_636_277_400_000, 1_636_281_000_000];
    assert_eq!(zoned("America/Los_Angeles", HOUR, &rows, 0), (vec![first(2), second.clone()], 0));
    // Case 311.
    let rows = [
        1_636_273_800_000,
        1_636_277_400_000,
        1_636_274_400_000,
        1_636_279_199_998,
        1_636_275_000_000,
        1_636_279_199_999,
        1_636_275_300_000,
        1_636_281_000_000,
    ];
    assert_eq!(zoned("America/Los_Angeles", HOUR, &rows, 0), (vec![first(6), second], 1));
}

#[test]
fn field_case_8_the_missing_hour_has_no_window() {
    let got = zoned("America/Los_Angeles", HOUR, &[1_615_714_200_000, 1_615_717_800_000], 0).0;
    let expected = [
        local(1, "2021-03-14T01:00", "2021-03-14T02:00", 1_615_715_999_999),
        local(1, "2021-03-14T03:00", "2021-03-14T04:00", 1_615_719_599_999),
    ];
    assert_eq!(got, expected);
}

#[test]
fn case_413_a_midnight_that_does_not_exist() {
    let rows = [
        1_541_246_400_000,
        1_541_300_399_999,
        1_541_300_400_000,
        1_541_332_800_000,
        1_541_383_199_999,
        1_541_383_200_000,
    ];
    let got = zoned("America/Sao_Paulo", DAY, &rows, 0);
    let day = |count, day: i64, end: i64| {
        local(count, &format!("2018-11-{day:02}T00:00"), &format!("2018-11-{:02}T00:00", day + 1), end - 1)
    };
    let (third, fourth) = (1_541_300_400_000, 1_541_383_200_000);
    assert_eq!(got, (vec![day(2, 3, third), day(3, 4, fourth), day(1, 5, fourth + DAY)], 0));
}

#[test]
fn case_134_the_missing_hour_parts_sessions() {
    let rows = [1_711_846_790_000, 1_711_846_796_000, 1_711_846_803_000, 1_711_846_850_000];
    let rows = rows.map(|time| Row { time, ..Row::default() });
    let session = WindowSpec::Session { gap_ms: 10 * SECOND };
    let spec = zoned_spec(session, &[], &[call("COUNT", None)], Some("Europe/Berlin"));
    let got: Vec<String> = run(&spec, &rows, 2 * SECOND, 10).rows;
    let got: Vec<&str> = got.iter().map(|row| row.rsplit_once(' ').unwrap().0).collect();
    let expected = [
        local(2, "2024-03-31T01:59:50", "2024-03-31T02:00:06", 0),
        local(1, "2024-03-31T03:00:03", "2024-03-31T03:00:13", 0),
        local(1, "2024-03-31T03:00:50", "2024-03-31T03:01:00", 0),
    ];
    assert_eq!(got, expected.each_ref().map(|row| row.rsplit_once(' ').unwrap().0));
}

#[test]
fn wrong_specifications_are_errors_and_no_panics() {
    let operator = |spec: &WindowAggregateSpec| operator(&StageSpec::Aggregate(spec.clone()), &context());
    let count = call("COUNT", None);
    assert!(operator(&spec(tumble(0), &[], std::slice::from_ref(&count))).is_err());
    assert!(operator(&spec(WindowSpec::Session { gap_ms: 0 }, &[], std::slice::from_ref(&count))).is_err());
    assert!(operator(&zoned_spec(tumble(1), &[], std::slice::from_ref(&count), Some("Nowhere"))).is_err());
    let mut missing = spec(tumble(1), &[KEY], std::slice::from_ref(&count));
    missing.keys = vec![99];
    assert!(operator(&missing).is_err());
    let sound = spec(tumble(1), &[KEY], &[count]);
    let mut operator = operator(&sound).unwrap();
    let rows = batch_of(&[at(1.0, 1)], &sound.input);
    let unhashed = EventBatch { rows, hashes: Vec::new(), marks: Vec::new() };
    assert!(operator.process(0, &unhashed, &mut |_| Ok(())).is_err());
}
