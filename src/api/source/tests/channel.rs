//! Channels: order, back-pressure, idleness, alignment.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::environment;
use crate::api::source::{StreamSender, channel};
use crate::api::{Collected, JobClient, ManualClock, StreamExecutionEnvironment, WatermarkStrategy};
use crate::error::ErrorKind;
use crate::windowing::assigner::TumblingEventTimeWindows;

/// Waits until something holds, which it does soon or never.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(20), "{what} did not happen");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn records_of_several_senders_all_arrive_and_keep_the_order_of_their_sender() {
    for (shards, rows) in [(1, 8192), (2, 3), (7, 1)] {
        let environment = environment(shards, rows);
        let (sender, source) = channel::<(usize, u32)>(16);
        let stream = environment.from_source(source, WatermarkStrategy::no_watermarks(), "numbers");
        let records = stream.filter(|record| record.1 % 10 != 9).collect();
        let threads: Vec<_> = (0..3)
            .map(|number| {
                let sender = sender.clone();
                thread::spawn(move || (0..1_000).try_for_each(|n| sender.send((number, n))).unwrap())
            })
            .collect();
        drop(sender);
        let result = environment.execute().unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((result.records_read, result.records_filtered), (3_000, 300));
        let records = records.take();
        for number in 0..3 {
            let own: Vec<u32> = records.iter().filter(|record| record.0 == number).map(|record| record.1).collect();
            assert_eq!(own, (0..1_000).filter(|n| n % 10 != 9).collect::<Vec<_>>(), "{shards} shards, {rows} rows");
        }
    }
}

#[test]
fn a_slow_reader_holds_the_senders_back() {
    let environment = environment(2, 1);
    let (sender, source) = channel::<u32>(4);
    let (release, gate) = mpsc::channel::<()>();
    let mut seen = 0;
    environment.from_source(source, WatermarkStrategy::no_watermarks(), "numbers").sink(move |number, _| {
        if number == 0 {
            gate.recv().unwrap();
        }
        assert_eq!(number, seen);
        seen += 1;
        Ok(())
    });
    let client = environment.execute_async().unwrap();
    let mut sent = 0u32;
    let mut full_since = None;
    // Full, and it stays so.
    eventually("a full channel", || match sender.try_send(sent).unwrap() {
        None => {
            sent += 1;
            full_since = None;
            false
        }
        Some(_) => full_since.get_or_insert_with(Instant::now).elapsed() > Duration::from_millis(50),
    });
    assert!(sent < 10_000, "{sent} records were taken in");
    release.send(()).unwrap();
    drop(sender);
    assert_eq!(client.wait().unwrap().records_read, u64::from(sent));
}

/// Counts per second of two united channels; the first one counts as idle after 100 ms.
struct Two {
    clock: ManualClock,
    senders: [StreamSender<i64>; 2],
    counts: Collected<(i64, i64)>,
    client: JobClient,
}

fn two(environment: &StreamExecutionEnvironment, strategies: [WatermarkStrategy<i64>; 2]) -> Two {
    let clock = ManualClock::new();
    environment.set_clock(clock.clone());
    let [first, second] = strategies;
    let (a, source_a) = channel::<i64>(64);
    let (b, source_b) = channel::<i64>(64);
    let second = environment.from_source(source_b, second, "b");
    let united = environment.from_source(source_a, first, "a").union(&[&second]);
    let windows = united.map(|_| 1).key_by(|_| ()).window(TumblingEventTimeWindows::of(Duration::from_secs(1)));
    let counts = windows.reduce(|sum: i64, one| sum + one).map(|sum| (sum.window.start, sum.value)).collect();
    Two { clock, senders: [a, b], counts, client: environment.execute_async().unwrap() }
}

fn monotonous() -> WatermarkStrategy<i64> {
    WatermarkStrategy::for_monotonous_timestamps()
}

#[test]
fn an_idle_channel_holds_nobody_back_until_its_next_record() {
    for shards in [1, 2, 7] {
        let environment = environment(shards, 8192);
        let idle = monotonous().with_idleness(Duration::from_millis(100));
        let Two { clock, senders: [a, b], counts, client } = two(&environment, [idle, monotonous()]);
        let read = |n| eventually("reading", || client.progress().records_read == n);
        a.send_with_timestamp(0, 100).unwrap();
        read(1);
        b.send_with_timestamp(0, 5_000).unwrap();
        read(2);
        assert!(counts.take().is_empty(), "the first channel is at 100");
        clock.advance(Duration::from_millis(100));
        let mut fired = Vec::new();
        eventually("the first window", || {
            fired.extend(counts.take());
            !fired.is_empty()
        });
        assert_eq!(fired, [(0, 1)]);
        // Behind the watermark of the union: it is late, and the channel holds the others back no more than before.
        a.send_with_timestamp(0, 200).unwrap();
        read(3);
        b.send_with_timestamp(0, 6_500).unwrap();
        read(4);
        drop((a, b));
        let result = client.wait().unwrap();
        assert_eq!(result.late_records_dropped(), 1);
        assert_eq!(counts.take(), [(5_000, 1), (6_000, 1)]);
    }
}

#[test]
fn a_channel_ahead_of_its_group_is_not_read_until_the_others_catch_up() {
    let environment = environment(2, 1);
    let aligned = || monotonous().with_watermark_alignment("group", Duration::from_secs(1));
    let Two { senders: [a, b], client, .. } = two(&environment, [aligned(), aligned()]);
    let read = |n| eventually("reading", || client.progress().records_read == n);
    b.send_with_timestamp(0, 0).unwrap();
    read(1);
    for second in [0, 1, 5, 6, 7, 8] {
        a.send_with_timestamp(0, second * 1_000).unwrap();
    }
    // That it is too far ahead is known once a record has been read that is.
    read(4);
    thread::sleep(Duration::from_millis(60));
    assert_eq!(client.progress().records_read, 4);
    b.send_with_timestamp(0, 5_000).unwrap();
    read(7);
    thread::sleep(Duration::from_millis(60));
    assert_eq!(client.progress().records_read, 7, "the record at 8 s waits");
    drop(b);
    read(8);
    drop(a);
    client.wait().unwrap();
}

#[test]
fn a_cancelled_job_ends_without_the_end_of_its_input() {
    let environment = environment(2, 8192);
    let (sender, source) = channel::<u32>(4);
    environment.from_source(source, WatermarkStrategy::no_watermarks(), "numbers").for_each(|_| {});
    let client = environment.execute_async().unwrap();
    sender.send(1).unwrap();
    assert!(!client.is_finished());
    client.cancel();
    let error = client.wait().unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Cancelled, "the job was cancelled"));
    assert_eq!(sender.send(2).unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(sender.try_send(2).unwrap_err().kind(), ErrorKind::Cancelled);
}

#[test]
fn a_channel_without_senders_is_empty_and_one_without_a_reader_takes_nothing() {
    let environment = environment(1, 1);
    let (sender, source) = channel::<u32>(1);
    let numbers = environment.from_source(source, WatermarkStrategy::no_watermarks(), "numbers").collect();
    drop(sender);
    environment.execute().unwrap();
    assert!(numbers.take().is_empty());
    let (sender, source) = channel::<u32>(0);
    drop(source);
    assert!(sender.send(1).is_err());
}
