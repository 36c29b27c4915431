//! Made data is the same every time, and the reference answers follow Flink's rules.

use std::collections::BTreeMap;

use arrow::array::AsArray;
use arrow::datatypes::{Int64Type, TimestampMillisecondType};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use bench_harness::workload::format::{Format, write};
use bench_harness::workload::generate::{CHUNK_ROWS, Generator};
use bench_harness::workload::reference::{Query, answer};
use bench_harness::workload::{BASE_MS, Distribution, Spec};

#[test]
fn the_same_specification_gives_the_same_bytes() {
    let spec = Spec { late_share: 0.01, distribution: Distribution::Zipf, ..Spec::new(20_000, 500) };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let formats = [Format::Csv, Format::Json, Format::Parquet];
    let files = write(&spec, &formats, first.path()).unwrap();
    for (file, format) in files.iter().zip(formats) {
        // alone or together with others, a format's file is the same
        let again = write(&spec, &[format], second.path()).unwrap();
        assert_eq!(std::fs::read(file).unwrap(), std::fs::read(&again[0]).unwrap(), "{format:?}");
    }
    let csv = std::fs::read_to_string(&files[0]).unwrap();
    assert_eq!(csv.lines().count(), 20_000);
    assert_eq!(csv.lines().next().unwrap().split(',').count(), 4);
}

#[test]
fn the_first_rows_never_change() {
    // data files are cached by name: a change of the generator must change this test and the names
    let chunk = Generator::new(&Spec::new(3, 100_000)).chunk(0);
    let first: Vec<_> =
        (0..3).map(|i| (chunk.ts[i] - BASE_MS, chunk.key[i], chunk.value[i], chunk.channel[i])).collect();
    assert_eq!(first, FIRST_ROWS);
}
const FIRST_ROWS: [(i64, i64, i64, u8); 3] = [(134, 11488, 575, 7), (1409, 72031, 894, 2), (204, 24959, 744, 5)];

#[test]
fn a_parquet_file_holds_the_rows_in_groups_of_a_chunk() {
    let spec = Spec::new(CHUNK_ROWS + 1000, 10);
    let folder = tempfile::tempdir().unwrap();
    let file = write(&spec, &[Format::Parquet], folder.path()).unwrap().remove(0);
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(file).unwrap()).unwrap();
    let groups: Vec<i64> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [CHUNK_ROWS as i64, 1000]);
    let (mut ts, mut value) = (Vec::new(), Vec::new());
    for batch in reader.build().unwrap() {
        let batch = batch.unwrap();
        ts.extend_from_slice(batch.column(0).as_primitive::<TimestampMillisecondType>().values());
        value.extend_from_slice(batch.column(2).as_primitive::<Int64Type>().values());
    }
    let chunks: Vec<_> = Generator::new(&spec).chunks().collect();
    assert_eq!(ts, chunks.iter().flat_map(|chunk| chunk.ts.clone()).collect::<Vec<_>>());
    assert_eq!(value, chunks.iter().flat_map(|chunk| chunk.value.clone()).collect::<Vec<_>>());
}

#[test]
fn another_seed_gives_other_rows_and_another_name() {
    let (spec, other) = (Spec::new(1000, 10), Spec { seed: 43, ..Spec::new(1000, 10) });
    assert_ne!(Generator::new(&spec).chunk(0), Generator::new(&other).chunk(0));
    assert_ne!(spec.stem(), other.stem());
}

#[test]
fn times_are_out_of_order_by_less_than_the_bound() {
    let spec = Spec::new(CHUNK_ROWS + 1000, 10);
    let (mut largest, mut rows) = (0, 0);
    for chunk in Generator::new(&spec).chunks() {
        for &ts in &chunk.ts {
            assert!(ts > largest - 2000 && ts >= BASE_MS);
            largest = largest.max(ts);
            rows += 1;
        }
    }
    assert_eq!(rows, spec.rows);
    // 20 million rows in two hours
    assert!((largest - BASE_MS - 180_360).abs() < 2000, "{}", largest - BASE_MS);
}

#[test]
fn distributions_are_what_they_say() {
    let share_of_top = |distribution| {
        let chunk = Generator::new(&Spec { distribution, ..Spec::new(100_000, 1000) }).chunk(0);
        let mut counts = BTreeMap::new();
        for key in &chunk.key {
            assert!((0..1000).contains(key));
            *counts.entry(key).or_insert(0u32) += 1;
        }
        f64::from(*counts.values().max().unwrap()) / 100_000.0
    };
    assert!(share_of_top(Distribution::Uniform) < 0.002);
    assert!((0.49..0.51).contains(&share_of_top(Distribution::Hot)));
    // 1 / (sum of n^-1.1 up to 1000)
    assert!((0.17..0.19).contains(&share_of_top(Distribution::Zipf)));
}

/// All windows of a small input, found row by row; the reference in the library must agree.
fn naive(spec: &Spec, size_ms: i64, slide_ms: i64) -> (u64, u64, u64) {
    let mut windows: BTreeMap<(i64, i64), u64> = BTreeMap::new();
    let (mut watermark, mut late) = (0, 0);
    for chunk in Generator::new(spec).chunks() {
        for (&ts, &key) in chunk.ts.iter().zip(&chunk.key) {
            let last_start = ts.div_euclid(slide_ms) * slide_ms;
            let open = |start: &i64| start + size_ms - 1 > watermark;
            late += u64::from(!open(&last_start));
            for start in (0..size_ms / slide_ms).map(|i| last_start - i * slide_ms).filter(open) {
                *windows.entry((key, start)).or_insert(0) += 1;
            }
            watermark = watermark.max(ts - 2000);
        }
    }
    (windows.len() as u64, windows.values().sum(), late)
}

#[test]
fn reference_answers_agree_with_a_naive_count_also_with_late_rows() {
    let spec = Spec { late_share: 0.05, late_by_ms: 130_000, rate_per_s: 50.0, ..Spec::new(30_000, 20) };
    for (query, size_ms, slide_ms) in
        [(Query::Tumble, 60_000, 60_000), (Query::Hop, 3_600_000, 60_000), (Query::Hop5, 300_000, 60_000)]
    {
        let answer = answer(&spec, query).unwrap();
        let got = (answer.totals.result_rows, answer.totals.sum_of_counts, answer.late_rows);
        assert_eq!(got, naive(&spec, size_ms, slide_ms), "{query:?}");
    }
    let tumble = answer(&spec, Query::Tumble).unwrap();
    assert!(tumble.late_rows > 1000);
    assert_eq!(tumble.totals.sum_of_counts, spec.rows - tumble.late_rows);
}

#[test]
fn every_row_on_time_is_in_one_session_and_in_the_whole_day() {
    let spec = Spec { rate_per_s: 5.0, ..Spec::new(20_000, 300) };
    let sessions = answer(&spec, Query::Session).unwrap();
    assert_eq!((sessions.totals.sum_of_counts, sessions.late_rows), (20_000, 0));
    assert!(sessions.totals.result_rows > 300 && sessions.totals.result_rows < 20_000);
    // rows every 200 ms for 4000 s: the windows end at 00:10, 00:20, … 24:00
    let day = answer(&spec, Query::Cumulate).unwrap();
    assert_eq!((day.totals.result_rows, day.late_rows), (144, 0));
}
