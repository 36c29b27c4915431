//! How jobs end: well, with errors, with panics.

use std::time::{Duration, Instant};

use crate::api::source::tests::environment;
use crate::api::source::{IteratorSource, channel};
use crate::api::{StreamExecutionEnvironment, WatermarkStrategy};
use crate::error::{Error, ErrorKind};
use crate::windowing::assigner::TumblingEventTimeWindows;

/// Runs a program on several numbers of shards; all runs give the same error.
fn fault(build: impl Fn(&StreamExecutionEnvironment)) -> (ErrorKind, String) {
    let run = |(shards, rows): (usize, usize)| {
        let environment = environment(shards, rows);
        build(&environment);
        let error = environment.execute().unwrap_err();
        (error.kind(), error.message().to_string())
    };
    let faults = [(1, 8192), (2, 7), (7, 1)].map(run);
    assert!(faults.iter().all(|fault| *fault == faults[0]), "{faults:?}");
    faults[0].clone()
}

#[test]
fn a_source_that_fails_in_the_middle_ends_the_job_with_its_error() {
    let fault = fault(|environment| {
        let records = (0..100).map(|n| if n == 50 { Err(Error::data("the disk is gone")) } else { Ok(n) });
        let source = IteratorSource::fallible(records);
        environment.from_source(source, WatermarkStrategy::no_watermarks(), "numbers").for_each(|n| assert!(n < 50));
    });
    assert_eq!(fault, (ErrorKind::Data, "the disk is gone".to_string()));
}

#[test]
fn a_panic_in_a_function_of_the_program_is_an_error() {
    let said = |place: &str| (ErrorKind::Data, format!("the program panicked while its job was running: {place}"));
    let numbers = |environment: &StreamExecutionEnvironment| environment.from_sequence(0, 99);
    let in_map = fault(|environment| {
        let bad = |n: i64| if n == 70 { panic!("no {n}, please") } else { n };
        numbers(environment).map(bad).for_each(|_| {});
    });
    assert_eq!(in_map, said("no 70, please"));
    let in_window = fault(|environment| {
        let timed = numbers(environment).assign_timestamps_and_watermarks(
            WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|n: &i64| *n),
        );
        let windows = timed.key_by(|n| n % 3).window(TumblingEventTimeWindows::of(Duration::from_millis(10)));
        windows.reduce(|_, _| panic!("in a window")).for_each(|_| {});
    });
    assert_eq!(in_window, said("in a window"));
    let in_sink = fault(|environment| numbers(environment).for_each(|n| assert!(n != 5, "five")));
    assert_eq!(in_sink, said("five"));
    let in_parallel_sink = fault(|environment| {
        numbers(environment).add_parallel_sink(|_| |n, _| if n == 5 { panic!("five") } else { Ok(()) });
    });
    assert_eq!(in_parallel_sink, said("five"));
    let in_iterator = fault(|environment| {
        environment.from_collection((0..100).inspect(|n| assert!(*n != 60, "sixty"))).for_each(|_| {});
    });
    assert_eq!(in_iterator, said("sixty"));
}

#[test]
fn an_error_of_a_sink_ends_the_job() {
    let fault = fault(|environment| {
        let full = |n, _| if n == 40 { Err(Error::data("full")) } else { Ok(()) };
        environment.from_sequence(0, 99).sink(full);
    });
    assert_eq!(fault, (ErrorKind::Data, "full".to_string()));
}

#[test]
fn empty_inputs_end_well_and_hold_nobody_back() {
    for shards in [1, 2, 7] {
        let environment = environment(shards, 3);
        let timed = || WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|n: &i64| *n);
        let empty = environment.from_collection(Vec::new()).assign_timestamps_and_watermarks(timed());
        let some = environment.from_sequence(-5, 14).assign_timestamps_and_watermarks(timed());
        let windows =
            empty.union(&[&some]).key_by(|_| ()).window(TumblingEventTimeWindows::of(Duration::from_millis(10)));
        let counts = windows.aggregate(crate::windowing::aggregates::Count).collect();
        let nothing = empty.collect();
        let result = environment.execute().unwrap();
        let counts: Vec<(i64, u64)> = counts.take().iter().map(|count| (count.window.start, count.value)).collect();
        assert_eq!(counts, [(-10, 5), (0, 10), (10, 5)]);
        assert_eq!((nothing.take().len(), result.records_read), (0, 20));
        let minutes = &result.operators[0];
        assert_eq!((minutes.records_in, minutes.records_in_windows(), minutes.records_out), (20, 20, 3));
    }
}

#[test]
fn a_parallel_sink_gets_every_record_on_some_shard() {
    let sums = std::sync::Arc::new(std::sync::Mutex::new(vec![0; 3]));
    let environment = environment(3, 7);
    let shared = sums.clone();
    environment.from_sequence(1, 1_000).add_parallel_sink(move |shard| {
        let sums = shared.clone();
        move |number, _| {
            sums.lock().unwrap()[shard] += number;
            Ok(())
        }
    });
    environment.execute().unwrap();
    assert_eq!(sums.lock().unwrap().iter().sum::<i64>(), 500_500);
}

#[test]
fn sequences_and_generators_are_made_in_their_order() {
    let environment = environment(2, 3);
    let all = environment.from_sequence(i64::MAX - 3, i64::MAX).collect();
    let none = environment.from_sequence(5, 4).collect();
    let squares = environment.from_generator(5, |n| n * n).collect();
    environment.execute().unwrap();
    assert_eq!(all.take(), [i64::MAX - 3, i64::MAX - 2, i64::MAX - 1, i64::MAX]);
    assert_eq!((none.take(), squares.take()), (vec![], vec![0, 1, 4, 9, 16]));
}

#[test]
fn what_a_live_input_gives_does_not_wait_for_the_next_look_of_the_jobs_thread() {
    let (sender, source) = channel::<u64>(8);
    let environment = StreamExecutionEnvironment::new();
    let (told, heard) = std::sync::mpsc::channel();
    let numbers = environment.from_source(source, WatermarkStrategy::no_watermarks(), "numbers");
    numbers.for_each(move |number| told.send(number).unwrap_or_default());
    let job = environment.execute_async().unwrap();
    // The shortest of many ways, for the machine may be busy.
    let mut shortest = Duration::MAX;
    for number in 0..20 {
        let sent = Instant::now();
        sender.send(number).unwrap();
        assert_eq!(heard.recv_timeout(Duration::from_secs(60)), Ok(number));
        shortest = shortest.min(sent.elapsed());
    }
    assert!(shortest < Duration::from_millis(60), "{shortest:?}");
    drop(sender);
    job.wait().unwrap();
}
