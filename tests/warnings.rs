//! What a job says of data and results that are no error, but hardly what was meant.
#![cfg(feature = "sql")]

mod support;

use support::{Job, script};
use transom::job::RunOptions;

const MINUTE: i64 = 60_000;
/// 2024-01-01.
const DAY: i64 = 1_704_067_200_000;

/// A time as CSV text.
fn at(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).expect("a time of our calendar");
    time.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string()
}

/// The warnings of a job, which are the same on any number of shards and in blocks of any size.
fn warnings(job: &Job) -> Vec<String> {
    let mut first: Option<Vec<String>> = None;
    for (shards, batch_rows, block_bytes) in [(1, 8_192, 1 << 20), (2, 3, 50), (7, 1, 16)] {
        let run = RunOptions { shards, batch_rows, block_bytes, ..RunOptions::default() };
        let (_, summary) = job.run_with(&run).unwrap_or_else(|error| panic!("{error}"));
        let folder = format!("{}/", job.folder.path().display());
        let found: Vec<String> =
            summary.jobs.iter().flat_map(|job| &job.warnings).map(|text| text.replace(&folder, "")).collect();
        assert_eq!(found, *first.get_or_insert(found.clone()), "{shards} shards, blocks of {block_bytes} bytes");
    }
    first.expect("at least one run")
}

fn warns(job: &Job, parts: &[&str]) {
    let found = warnings(job);
    assert_eq!(found.len(), 1, "{found:#?}");
    for part in parts {
        assert!(found[0].contains(part), "no {part:?} in {}", found[0]);
    }
}

const COUNT: &str = "SELECT window_start, COUNT(*) \
    FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end";
const SINK: &str = "window_start TIMESTAMP(3), n BIGINT";

fn delayed(delay: &str, query: &str, times: &[i64]) -> Job {
    let source = format!("ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL {delay}");
    let csv: String = times.iter().map(|&time| at(time) + "\n").collect();
    Job::new(&script(&source, SINK, query)).file("src.csv", csv)
}

/// 10:00:10, 10:02:10, a row a day ahead, then a row a minute from 10:03 to 10:12.
fn future_rows() -> Vec<i64> {
    let ten = DAY + 600 * MINUTE + 10_000;
    let mut times = vec![ten, ten + 2 * MINUTE, ten + (24 * 60 + 2) * MINUTE];
    times.extend((3..=12).map(|minute| ten + minute * MINUTE));
    times
}

#[test]
fn case_58_the_row_from_the_future_is_named_with_its_jump_and_its_cost() {
    let job = delayed("'1' MINUTE", COUNT, &future_rows());
    warns(
        &job,
        &[
            "src.csv:3: this row alone moved the watermark 1 d ahead",
            "from 2024-01-01 10:01:10 to 2024-01-02 10:01:10",
            "made 10 of the 10 late rows late",
            "CASE WHEN ts < TIMESTAMP",
        ],
    );
    let outcome = job.outcome();
    assert_eq!((outcome.rows.len(), outcome.late), (3, 10));
}

#[test]
fn the_advice_against_a_row_from_the_future_helps() {
    let guard = "ts TIMESTAMP(3), WATERMARK FOR ts AS \
        CASE WHEN ts < TIMESTAMP '2024-01-02 00:00:00' THEN ts - INTERVAL '1' MINUTE END";
    let csv: String = future_rows().iter().map(|&time| at(time) + "\n").collect();
    let job = Job::new(&script(guard, SINK, COUNT)).file("src.csv", csv);
    assert_eq!(warnings(&job), [""; 0]);
    assert_eq!(job.outcome().late, 0);
}

#[test]
fn a_first_row_from_the_future_is_compared_with_those_that_follow() {
    let mut times = future_rows();
    // What comes third now would be late without the row from the future too.
    times.swap(0, 2);
    let job = delayed("'1' MINUTE", COUNT, &times);
    warns(
        &job,
        &["src.csv:1: this row alone moved the watermark 23 h 50 min ahead", "made 11 of the 12 late rows late"],
    );
}

#[test]
fn the_row_is_found_behind_records_in_quarantine() {
    let source = "ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE";
    let lines = future_rows().into_iter().map(|time| format!("\n{},1\nbad\n", at(time)));
    let csv: String = lines.map(|lines| lines.replacen('\n', ",1\n", 1)).collect();
    let script = script(source, SINK, COUNT).replace("'csv')", "'csv', 'csv.null-literal' = '')");
    let quarantine = "SET 'transom.quarantine.path' = '${OUT}/rejected.jsonl';\n";
    let job = Job::new(&format!("{quarantine}{script}")).file("src.csv", csv);
    warns(&job, &["src.csv:8: this row alone moved the watermark 1 d ahead", "made 10 of the 10 late rows late"]);
}

/// As the engine should count: which rows are late for the one row alone that the watermark comes from.
fn cost_by_hand(times: &[i64], delay: i64, window: i64) -> (usize, u64, u64) {
    let late_at = |watermark: i64, time: i64| watermark > 0 && watermark >= (time / window + 1) * window - 1;
    let mut costs: std::collections::BTreeMap<i64, u64> = std::collections::BTreeMap::new();
    let (mut first, mut second, mut late) = (0, 0, 0);
    for &time in times {
        if late_at(first, time) {
            late += 1;
            *costs.entry(first).or_default() += u64::from(!late_at(second, time));
        }
        let value = time - delay;
        second = second.max(value.min(first));
        first = first.max(value);
    }
    let (&mover, &cost) = costs.iter().max_by_key(|&(&mover, &cost)| (cost, -mover)).expect("a late row");
    let line = times.iter().position(|&time| time - delay == mover).expect("a row") + 1;
    (line, cost, late)
}

#[test]
fn the_cost_is_that_of_a_count_row_by_row() {
    let mut state = 7u64;
    let mut roll = move |below: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % below
    };
    for _ in 0..20 {
        let rows = 40 + roll(40);
        let mut times: Vec<i64> = (0..rows).map(|row| DAY + row * 20_000 - roll(150_000)).collect();
        let place = roll(rows / 2) as usize;
        times[place] += 3_600_000 * (1 + roll(40));
        let (line, cost, late) = cost_by_hand(&times, MINUTE, MINUTE);
        let found = warnings(&delayed("'1' MINUTE", COUNT, &times));
        let expected = format!("made {cost} of the {late} late rows late");
        assert_eq!(line, place + 1);
        assert!(
            found[0].contains(&expected) && found[0].starts_with(&format!("src.csv:{line}:")),
            "{found:?} {expected}"
        );
    }
}

#[test]
fn a_file_that_is_read_several_times_and_other_files_do_not_hide_the_row() {
    let csv = |times: &[i64]| times.iter().map(|&time| at(time) + "\n").collect::<String>();
    let script = "CREATE TABLE src (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
        WITH ('connector' = 'filesystem', 'path' = '${DATA}/src*', 'format' = 'csv');
        CREATE TABLE a (n BIGINT) WITH ('connector' = 'blackhole');
        EXECUTE STATEMENT SET BEGIN INSERT INTO a QUERY; INSERT INTO a QUERY; INSERT INTO a QUERY; END";
    let query = COUNT.replace("window_start, COUNT", "COUNT");
    let early: Vec<i64> = (0..5).map(|minute| DAY + minute * MINUTE).collect();
    let job =
        Job::new(&script.replace("QUERY", &query)).file("src1.csv", csv(&early)).file("src2.csv", csv(&future_rows()));
    warns(&job, &["src2.csv:3: this row alone", "made 30 of the 30 late rows of this file late"]);
}

#[test]
fn the_binary_prints_warnings_after_the_summary_and_not_when_quiet() {
    let job = delayed("'1' MINUTE", COUNT, &future_rows());
    let script = format!(
        "CREATE TABLE src (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) \
         WITH ('connector' = 'filesystem', 'path' = 'src.csv', 'format' = 'csv'); {COUNT};"
    );
    std::fs::write(job.folder.path().join("job.sql"), script).expect("a writable folder");
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_transom"));
        let output = command.current_dir(job.folder.path()).args(args).output().expect("the binary runs");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let last = run(&["run", "job.sql"]).lines().last().map(str::to_string);
    assert!(last.is_some_and(|line| line.starts_with("warning: src.csv:3: this row alone")));
    assert_eq!(run(&["run", "job.sql", "--quiet"]), "");
}

#[test]
fn rows_that_are_merely_out_of_order_are_no_surprise() {
    let times: Vec<i64> = (0..500).map(|row| DAY + row * 1_000 - row % 7 * 40_000).collect();
    let job = delayed("'0' SECOND", COUNT, &times);
    assert!(job.outcome().late > 0);
    assert_eq!(warnings(&job), [""; 0]);
}

fn epochs(expression: &str, numbers: &[i64]) -> Job {
    let source =
        format!("t BIGINT, ts AS TO_TIMESTAMP_LTZ({expression}, 3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND");
    let csv: String = numbers.iter().map(|number| format!("{number}\n")).collect();
    Job::new(&script(&source, SINK, COUNT)).file("src.csv", csv)
}

#[test]
fn times_in_another_unit_than_milliseconds_are_noticed() {
    let seconds: Vec<i64> = (0..10).map(|row| DAY / 1_000 + row * 60).collect();
    warns(&epochs("t", &seconds), &["`ts`", "1970-01-20", "look like seconds", "TO_TIMESTAMP_LTZ(column, 0)"]);
    // Beyond the year 9999 Flink's function gives NULL.
    let micros: Vec<i64> = seconds.iter().map(|time| time * 1_000_000).collect();
    let error = epochs("t", &micros).error();
    assert!(error.remedy().is_some_and(|remedy| remedy.contains("looks like microseconds")), "{error}");
    let millis: Vec<i64> = seconds.iter().map(|time| time * 1_000).collect();
    assert_eq!(warnings(&epochs("t", &millis)), [""; 0]);
    assert_eq!(warnings(&epochs("t * 1000", &seconds)), [""; 0]);
}

#[test]
fn a_watermark_that_never_moved_is_noticed() {
    let job = delayed("'1' SECOND", COUNT, &[-90_000_000, -5_000_000, -80_000_000]);
    warns(&job, &["watermark of table src (ts - INTERVAL '1' SECOND) never moved", "start at 1969-12-30 23:00:00"]);
}

#[test]
fn no_output_has_a_reason() {
    let times = [DAY, DAY + MINUTE, DAY + 5 * MINUTE];
    let filter = COUNT.replace(")) GROUP", ")) WHERE ts < TIMESTAMP '2000-01-01 00:00:00' GROUP");
    warns(&delayed("'1' SECOND", &filter, &times), &["no output: of 3 rows read 3 do not pass WHERE"]);
    let having = format!("{COUNT} HAVING COUNT(*) > 1");
    warns(
        &delayed("'1' SECOND", &having, &times),
        &["no output: HAVING or a later filter removed all of the 3 results"],
    );
    warns(&delayed("'1' SECOND", COUNT, &[]), &["no output: the input has no rows (1 file)"]);
    assert_eq!(warnings(&delayed("'1' SECOND", COUNT, &times)), [""; 0]);
}
