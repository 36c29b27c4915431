//! Programs that go on from checkpoints: killed at any moment, stopped, changed.
#![cfg(feature = "sql")]

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use transom::api::prelude::*;
use transom::job::RunOptions;

/// The folder of the program that is to be run, in a process of its own.
const FOLDER: &str = "PROGRAM_CHECKPOINTS_FOLDER";
const SHARDS: &str = "PROGRAM_CHECKPOINTS_SHARDS";
const RECORDS: u64 = 6_000;
/// Records of a batch: for many blocks.
const BATCH: usize = 5;
/// Behind each fifty records.
const PAUSE: Duration = Duration::from_millis(4);
/// How often the program is killed at most.
const KILLS: u64 = 25;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Reading {
    meter: String,
    value: i64,
    time: i64,
}

/// Readings that come a little out of order, a few now and then.
fn reading(number: u64, pause: Duration) -> Reading {
    if number.is_multiple_of(50) {
        std::thread::sleep(pause);
    }
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let time = number as i64 * 37 - (mixed % 400) as i64 + (number as i64 / 900) * 5_000;
    Reading { meter: format!("meter-{}", mixed % 11), value: (mixed % 1_000) as i64, time }
}

fn table<T: Data>(
    folder: &Path,
    name: &str,
    fill: impl FnMut(T, &mut RowBuilder) -> Result<()> + Send + 'static,
) -> TableSink<T> {
    let path = folder.join(name);
    let ddl = format!(
        "CREATE TABLE results (line STRING) WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'raw')",
        path.display()
    );
    TableSink::from_ddl(&ddl, fill).expect("a table")
}

/// Windows on all operators: slices, sessions, and elements that are kept whole. Results go into a folder of files, those
/// of the last into one file.
fn program(environment: &StreamExecutionEnvironment, folder: &Path, pause: Duration) {
    let times = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(200))
        .with_timestamp_assigner(|reading: &Reading| reading.time);
    let readings = environment.from_generator(RECORDS, move |number| reading(number, pause));
    let meters = readings.assign_timestamps_and_watermarks(times).key_by(|reading| reading.meter.clone());
    let sum = || Sum::of(|reading: &Reading| reading.value);
    let line = |name: &'static str| move |one: &WindowResult<String, TimeWindow, i64>| format!("{name} {one:?}");
    let sliding = SlidingEventTimeWindows::of(Duration::from_millis(900), Duration::from_millis(300));
    let sliding = meters.window(sliding).allowed_lateness(Duration::from_millis(150)).aggregate(sum());
    let tumbling = meters.window(TumblingEventTimeWindows::of(Duration::from_millis(700))).aggregate(sum());
    let sessions = meters.window(EventTimeSessionWindows::with_gap(Duration::from_millis(250))).aggregate(sum());
    let lines = [
        sliding.map(move |one| line("sliding")(&one)),
        tumbling.map(move |one| line("tumbling")(&one)),
        sessions.map(move |one| line("session")(&one)),
    ];
    let all = lines[0].union(&[&lines[1], &lines[2]]);
    all.sink_to(table(folder, "results", |line: String, row| row.set(0, line.as_str())));
    let last = meters.count_window_sliding(5, 3).apply(|meter, _context, readings, out| {
        out.collect(format!("{meter} {:?}", readings.iter().map(|reading| reading.value).collect::<Vec<_>>()));
        Ok(())
    });
    last.sink_to(table(folder, "last.txt", |line: String, row| row.set(0, line.as_str())));
}

/// Not a test of its own: what the other processes run.
#[test]
fn the_program_in_a_process_of_its_own() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let shards: u32 = std::env::var(SHARDS).ok().and_then(|shards| shards.parse().ok()).unwrap_or(1);
    let environment = StreamExecutionEnvironment::new();
    environment.set_run_options(RunOptions { shards: shards as usize, batch_rows: BATCH, ..RunOptions::default() });
    environment.set_job_name("meters").set_checkpoint_storage(folder.join("checkpoints"));
    environment.enable_checkpointing(Duration::from_millis(3)).on_warning(|_| {});
    if has_checkpoint(&folder.join("checkpoints")) {
        environment.restore(RestoreFrom::Latest);
    }
    // Shards read side by side: the job takes about as long on any number of them.
    program(&environment, &folder, PAUSE * shards);
    environment.execute().expect("the program runs");
}

fn has_checkpoint(storage: &Path) -> bool {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let runs = entries(storage);
    let has = |run: &PathBuf| {
        run.join("done").exists() || entries(run).iter().any(|checkpoint| checkpoint.join("_metadata").exists())
    };
    runs.iter().any(has)
}

fn start(folder: &Path, shards: &str) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--exact", "the_program_in_a_process_of_its_own", "--nocapture"]);
    command.env(FOLDER, folder).env(SHARDS, shards).stdout(Stdio::null());
    command.spawn().expect("a process")
}

/// The lines of the folder table in any order, those of the file as they are.
fn output(folder: &Path) -> (Vec<String>, String) {
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(folder.join("results")).expect("results").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(!name.starts_with('.'), "{name} was left behind");
        let text = std::fs::read_to_string(entry.path()).expect("a part");
        lines.extend(text.lines().map(str::to_string));
    }
    lines.sort();
    (lines, std::fs::read_to_string(folder.join("last.txt")).expect("the file of the last readings"))
}

#[test]
fn a_program_killed_at_random_moments_writes_what_an_undisturbed_one_does() {
    let undisturbed = tempfile::tempdir().expect("a folder");
    let environment = StreamExecutionEnvironment::new();
    environment
        .set_run_options(RunOptions { shards: 2, batch_rows: BATCH, ..RunOptions::default() })
        .on_warning(|_| {});
    program(&environment, undisturbed.path(), Duration::ZERO);
    environment.execute().expect("the program runs");
    let expected = output(undisturbed.path());
    assert!(expected.0.len() > 1_000 && expected.1.lines().count() > 1_000);

    let folder = tempfile::tempdir().expect("a folder");
    let mut kills = 0;
    for (run, shards) in ["1", "2", "7"].into_iter().cycle().enumerate() {
        let mut child = start(folder.path(), shards);
        if run as u64 >= KILLS {
            assert!(child.wait().expect("an end").success());
            break;
        }
        // A moment between the start of the process and the end of the job, other ones at each run.
        std::thread::sleep(Duration::from_millis(25 + (run as u64 * 37) % 90));
        if let Some(status) = child.try_wait().expect("a look") {
            assert!(status.success(), "run {run} has failed");
            break;
        }
        child.kill().expect("a kill");
        child.wait().expect("an end");
        kills += 1;
    }
    assert!(kills > 0);
    assert!(output(folder.path()) == expected, "after {kills} kills the output is another");
}

/// An environment that takes checkpoints, and the notices of its jobs.
fn environment(storage: &Path, shards: usize) -> (StreamExecutionEnvironment, Rc<RefCell<Vec<String>>>) {
    let environment = StreamExecutionEnvironment::new();
    let options = RunOptions { shards, batch_rows: 10, checkpoint_blocks: Some(1), ..RunOptions::default() };
    environment.set_run_options(options).set_job_name("numbers").set_checkpoint_storage(storage);
    environment.enable_checkpointing(Duration::from_secs(3_600));
    let notices = Rc::<RefCell<Vec<String>>>::default();
    let taken = notices.clone();
    environment.on_warning(move |notice| taken.borrow_mut().push(notice.to_string()));
    (environment, notices)
}

fn counts(environment: &StreamExecutionEnvironment, size: u64) -> Collected<WindowResult<i64, GlobalWindow, u64>> {
    environment.from_collection(0..100_i64).key_by(|number| number % 3).count_window(size).aggregate(Count).collect()
}

/// Stops a job at its first checkpoint.
fn stopped(storage: &Path) {
    let (environment, notices) = environment(storage, 2);
    let broken = Rc::new(Cell::new(false));
    let breaks = broken.clone();
    environment.on_checkpoint(move |_| {
        breaks.set(true);
        Err(Error::data("stopped"))
    });
    counts(&environment, 5);
    assert_eq!(environment.execute().expect_err("it was stopped").message(), "stopped");
    assert!(broken.get() && notices.borrow().iter().any(|notice| notice.contains("restore(RestoreFrom::Latest)")));
}

#[test]
fn a_program_goes_on_counting_where_it_stopped_and_a_changed_one_is_refused() {
    let storage = tempfile::tempdir().expect("a folder");
    stopped(storage.path());
    let (changed, _) = environment(storage.path(), 1);
    counts(&changed.restore(RestoreFrom::Latest).clone(), 7);
    let refused = changed.execute().expect_err("another program").to_string();
    assert!(refused.contains("is of another program: operator 1 was `count_window(5)`, it is"), "{refused}");

    let (again, _) = environment(storage.path(), 7);
    let results = counts(&again.restore(RestoreFrom::Latest).clone(), 5);
    let result = again.execute().expect("it goes on");
    assert_eq!((result.records_read, result.operators[0].records_in), (100, 100));
    assert_eq!(result.operators[0].counts.fired, 18, "33 or 34 records a key");
    assert!(results.take().len() < 18, "what was given before is not given again");

    let (ended, notices) = environment(storage.path(), 1);
    counts(&ended.restore(RestoreFrom::Latest).clone(), 5);
    ended.execute().expect("nothing is left to do");
    assert!(notices.borrow().iter().any(|notice| notice.contains("has ended well before")));
}

#[test]
fn a_program_whose_source_cannot_be_read_again_takes_no_checkpoints_and_says_so() {
    let storage = tempfile::tempdir().expect("a folder");
    let (environment, notices) = environment(storage.path(), 2);
    let (sender, source) = channel(10);
    environment
        .from_source(source, WatermarkStrategy::no_watermarks(), "live")
        .key_by(|number: &i64| *number)
        .count_window(1)
        .aggregate(Count)
        .collect();
    let thread = std::thread::spawn(move || (0..20).try_for_each(|number| sender.send(number)));
    environment.execute().expect("it runs");
    thread.join().expect("a sender").expect("sent");
    let notices = notices.borrow();
    assert!(notices.iter().any(|notice| notice.starts_with("no checkpoints are taken: ")), "{notices:?}");
    assert!(!has_checkpoint(storage.path()));
}

/// Two sources, one far behind the other, into windows by key; results into a file.
fn two_sources(environment: &StreamExecutionEnvironment, folder: &Path) {
    let source = |keys: std::ops::Range<i64>, delay: i64| {
        let rows: Vec<(i64, i64)> = (0..60).map(|n| (keys.start + n % 4, n * 400 - (n % 5) * 300 - delay)).collect();
        let times = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(700))
            .with_timestamp_assigner(|row: &(i64, i64)| row.1);
        environment.from_collection(rows).assign_timestamps_and_watermarks(times)
    };
    let counts = source(0..4, 0)
        .union(&[&source(2..6, 6_000)])
        .key_by(|row| row.0)
        .window(TumblingEventTimeWindows::of(Duration::from_secs(2)))
        .aggregate(Count);
    counts.sink_to(table(folder, "counts.txt", |one: WindowResult<i64, TimeWindow, u64>, row| {
        row.set(0, format!("{one:?}").as_str())
    }));
}

#[test]
fn several_sources_keep_their_places_and_the_lowest_watermark_on_any_number_of_shards() {
    let file = |folder: &Path| std::fs::read_to_string(folder.join("counts.txt")).expect("the counts");
    let undisturbed = tempfile::tempdir().expect("a folder");
    let plain = StreamExecutionEnvironment::new();
    plain.set_run_options(RunOptions { shards: 2, batch_rows: 10, ..RunOptions::default() });
    two_sources(&plain, undisturbed.path());
    plain.execute().expect("it runs");

    let folder = tempfile::tempdir().expect("a folder");
    for (run, shards) in [2, 3, 1, 7].into_iter().cycle().enumerate() {
        assert!(run < 20, "each run comes a block further");
        let (environment, _) = environment(&folder.path().join("checkpoints"), shards);
        if run > 0 {
            environment.restore(RestoreFrom::Latest);
        }
        environment.on_checkpoint(|_| Err(Error::data("stopped")));
        two_sources(&environment, folder.path());
        match environment.execute() {
            Err(error) => assert_eq!(error.message(), "stopped"),
            Ok(result) => {
                assert_eq!(result.records_read, 120);
                break;
            }
        }
    }
    assert_eq!(file(folder.path()), file(undisturbed.path()));
}

/// FLINK-24501: what has fired before the restore must not fire again, and counts in the windows to come.
#[test]
fn windows_that_have_fired_before_a_restore_do_not_fire_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state");
    let program = || {
        let mut counts = None;
        let harness = transom::api::testing::TestHarness::new(|times| {
            let all =
                times.window_all(CumulatingEventTimeWindows::of(Duration::from_secs(30), Duration::from_secs(10)));
            counts = Some(all.aggregate(Count).map(|one| (one.window.start, one.window.end, one.value)).collect());
        });
        (harness.expect("a program"), counts.expect("its counts"))
    };
    let (mut harness, before) = program();
    for time in [1_000, 12_000] {
        harness.process_element(time, time).expect("an element");
        harness.process_watermark(time).expect("a watermark");
    }
    assert_eq!(before.take(), [(0, 10_000, 1)]);
    harness.snapshot(&state).expect("a snapshot");
    let (mut harness, after) = program();
    harness.initialize_state(&state).expect("its state");
    for time in [5_000, 25_000] {
        harness.process_element(time, time).expect("an element");
        harness.process_watermark(time).expect("a watermark");
    }
    harness.end_input().expect("an end");
    assert_eq!(after.take(), [(0, 20_000, 3), (0, 30_000, 4)]);
}
