//! Checkpoints as a user meets them: when there are none, what is said of damaged ones, of changed scripts and inputs, and
//! what a job leaves behind.
#![cfg(feature = "sql")]

mod support;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use support::breaking::{CHECKPOINTS, Piece};
use support::{Job, script};
use transom::error::Error;
use transom::job::{NoReport, RestoreFrom, RunOptions};
use transom::runner::run_script;

const SOURCE: &str = "ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts";
const COUNT: &str = "SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND)) \
    GROUP BY k, window_start, window_end";
const RESULT: [&str; 4] = [r#"{"k":"a","n":1}"#, r#"{"k":"a","n":2}"#, r#"{"k":"a","n":2}"#, r#"{"k":"b","n":1}"#];

fn rows() -> String {
    let rows = [(1, "a"), (2, "b"), (3, "a"), (11, "a"), (21, "a"), (22, "a")];
    rows.map(|(second, key)| format!("2024-05-01 12:00:{second:02},{key},1\n")).concat()
}

fn text(settings: &str, query: &str) -> String {
    format!("{CHECKPOINTS}{settings}{}", script(SOURCE, "k STRING, n BIGINT", query))
}

fn job() -> Job {
    Job::new(&text("", COUNT)).file("src.csv", rows())
}

/// The job, broken off at its third checkpoint.
fn broken() -> Job {
    let job = job();
    assert!(job.piece(2, (1, 3), None).is_broken);
    job
}

fn refused(piece: Piece) -> Error {
    piece.result.map(drop).expect_err("it must not go on")
}

fn says(error: &Error, parts: &[&str]) {
    let text = format!("{error} {} {:?}", error.remedy().unwrap_or_default(), error.place());
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(error.remedy().is_some(), "no remedy: {text}");
}

#[test]
fn a_job_broken_off_anywhere_gives_each_row_once_and_leaves_nothing() {
    let job = job();
    assert_eq!(job.broken_anywhere((2, 7)), RESULT);
    let left = fs::read_dir(job.out().join("results")).expect("a folder of results").flatten();
    let hidden = left.filter(|entry| entry.file_name().to_string_lossy().starts_with('.')).count();
    assert_eq!(hidden, 0);
}

#[test]
fn a_table_that_is_one_file_is_put_together_of_the_pieces_of_all_runs() {
    for (format, header) in [("'format' = 'csv', 'csv.header' = 'true'", Some("k,n")), ("'format' = 'json'", None)] {
        let file = format!("${{OUT}}/results.txt', {format}");
        let text = text("", COUNT).replace("${OUT}/results', 'format' = 'json'", &file);
        let job = Job::new(&text).file("src.csv", rows());
        for nth in 1..=4 {
            assert!(job.piece(2, (1, nth), None).is_broken, "{format}, checkpoint {nth}");
            job.rest(1).result.expect("the rest of the job");
            let lines = job.shown("results.txt");
            assert_eq!(lines.len(), RESULT.len() + header.iter().count(), "{lines:?}");
            assert_eq!(lines.iter().filter(|line| Some(line.as_str()) == header).count(), header.iter().count());
            let files = fs::read_dir(job.out()).expect("the folder of the file").count();
            assert_eq!(files, 1, "{format}: only the file itself");
        }
    }
}

#[test]
fn a_job_that_ends_well_leaves_no_checkpoints_however_many_are_kept() {
    let job = Job::new(&text("SET 'execution.checkpointing.num-retained' = '3';\n", COUNT)).file("src.csv", rows());
    assert!(job.piece(2, (1, 4), None).is_broken);
    assert!(job.checkpoints().len() >= 3, "{:?}", job.checkpoints());
    job.rest(1).result.expect("the rest of the job");
    assert_eq!(job.checkpoints(), Vec::<std::path::PathBuf>::new());
    assert_eq!(job.shown("results"), RESULT);
}

#[test]
fn what_a_run_without_a_checkpoint_of_its_own_has_shown_goes_when_the_job_goes_on_again() {
    let job = broken();
    let newest = job.checkpoints().pop().expect("a checkpoint");
    // Named by its path it is not removed, so that the job can go on from it twice, as after a crash behind the commit.
    for shards in [1, 2] {
        let rest = job.piece(shards, (1, 0), Some(RestoreFrom::Path(newest.clone())));
        rest.result.expect("the rest of the job");
        assert_eq!(job.shown("results"), RESULT, "{shards} shards");
    }
}

#[test]
fn a_job_that_fills_a_quarantine_says_that_it_takes_no_checkpoints() {
    let settings = "SET 'transom.quarantine.path' = '${DATA}/rejected.jsonl';\n";
    let job = Job::new(&text(settings, COUNT)).file("src.csv", rows());
    let piece = job.piece(2, (1, 1), None);
    piece.result.expect("the job runs all the same");
    let expected = "no checkpoints are taken: the job fills a quarantine";
    assert!(piece.said.iter().any(|said| said.contains(expected)), "{:?}", piece.said);
    assert_eq!(job.shown("results"), RESULT);
    assert_eq!(job.checkpoints().len(), 0);
}

#[test]
fn a_job_that_reads_stdin_says_that_it_takes_no_checkpoints() {
    let job = Job::new(&text("", COUNT).replace("${DATA}/src.csv", "-"));
    let path = job.folder.path().join("job.sql");
    fs::write(&path, &job.script).expect("a writable folder");
    let set = |name: &str, folder: &Path| format!("{name}={}", folder.display());
    let mut child = Command::new(env!("CARGO_BIN_EXE_transom"))
        .arg("run")
        .arg(&path)
        .args(["--set", &set("DATA", job.folder.path()), "--set", &set("OUT", &job.out())])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    child.stdin.take().expect("its stdin").write_all(rows().as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("no checkpoints are taken: what stdin has given cannot be read again"), "{stderr}");
    assert_eq!(job.shown("results"), RESULT);
}

#[test]
fn a_changed_script_is_refused_with_the_difference() {
    let mut job = broken();
    job.script = job.script.replace("INTERVAL '10' SECOND", "INTERVAL '20' SECOND");
    let error = refused(job.rest(2));
    assert_eq!(error.exit_code(), 2);
    says(&error, &["is of another script", "operator 1", "without --restore"]);
}

#[test]
fn other_key_groups_are_refused_with_the_setting() {
    let settings = "SET 'pipeline.max-parallelism' = '128';\n";
    let mut job = Job::new(&text(settings, COUNT)).file("src.csv", rows());
    assert!(job.piece(2, (1, 3), None).is_broken);
    job.script = job.script.replace("'128'", "'64'");
    let error = refused(job.rest(2));
    assert_eq!(error.exit_code(), 2);
    says(&error, &["128 key groups, the job has 64", "SET 'pipeline.max-parallelism' = '128'"]);
}

/// Two queries, each with its table; `{FIRST}` is the source of the first.
const TWO: &str = "
    CREATE TABLE src (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '${DATA}/src.csv', 'format' = 'csv');
    CREATE TABLE other (ts TIMESTAMP(3), k STRING, v INT, WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '${DATA}/other.csv', 'format' = 'csv');
    CREATE TABLE gone (n BIGINT) WITH ('connector' = 'filesystem', 'path' = '${OUT}/gone', 'format' = 'json');
    CREATE TABLE results (k STRING, n BIGINT)
        WITH ('connector' = 'filesystem', 'path' = '${OUT}/results', 'format' = 'json');
    EXECUTE STATEMENT SET BEGIN
    INSERT INTO gone SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE {FIRST}, DESCRIPTOR(ts), INTERVAL '3' SECOND))
        GROUP BY window_start, window_end;
    INSERT INTO results ";

#[test]
fn state_that_a_script_has_no_more_is_dropped_where_that_is_allowed() {
    let dropping = |job: &Job, shards: usize| {
        let restore = Some(RestoreFrom::Latest);
        let run = RunOptions { shards, block_bytes: 16, restore, drops_state: true, ..RunOptions::default() };
        run_script(&job.script, &job.options(&job.out()), &run, &mut NoReport).map(drop)
    };
    for source in ["src", "other"] {
        for shards in [2, 3] {
            let text = format!("{CHECKPOINTS}{}{COUNT};\nEND;", TWO.replace("{FIRST}", source));
            let mut job = Job::new(&text).file("src.csv", rows()).file("other.csv", rows());
            assert!(job.piece(2, (1, 4), None).is_broken);
            let first = job.script.find("INSERT INTO gone").expect("the first query");
            let second = job.script.find("INSERT INTO results").expect("the second query");
            job.script.replace_range(first..second, "");
            says(&refused(job.rest(shards)), &["is of another script", "--allow-non-restored-state"]);
            dropping(&job, shards).unwrap_or_else(|error| panic!("{source}: {error}"));
            assert_eq!(job.shown("results"), RESULT, "{source}, {shards} shards");
        }
    }
    // What the checkpoint does not know cannot be made up.
    let mut job = broken();
    job.script = job.script.replace("INTERVAL '10' SECOND", "INTERVAL '20' SECOND");
    says(&dropping(&job, 2).expect_err("it must not go on"), &["is of another script", "without --restore"]);
}

#[test]
fn restore_without_any_checkpoint_says_so() {
    let error = refused(job().rest(1));
    assert_eq!(error.exit_code(), 2);
    says(&error, &["no checkpoint of job.sql", "without --restore"]);
}

/// Flips a bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("a file of the checkpoint");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("a writable file");
}

fn cut_off(path: &Path) {
    let bytes = fs::read(path).expect("a file of the checkpoint");
    fs::write(path, &bytes[..bytes.len() / 2]).expect("a writable file");
}

#[test]
fn a_damaged_newest_checkpoint_is_passed_over_for_an_older_one() {
    for damage in [flip, cut_off] {
        for file in ["_metadata", "shard-1-of-2.state"] {
            let settings = "SET 'execution.checkpointing.num-retained' = '2';\n";
            let job = Job::new(&text(settings, COUNT)).file("src.csv", rows());
            assert!(job.piece(2, (1, 4), None).is_broken);
            let newest = job.checkpoints().pop().expect("a checkpoint");
            damage(&newest.join(file));
            let rest = job.rest(1);
            rest.result.expect("an older one is there");
            let passed_over = rest.said.iter().any(|said| said.contains("passed over") && said.contains(file));
            assert!(passed_over, "{file}: {:?}", rest.said);
            assert_eq!(job.shown("results"), RESULT, "{file}");
            assert_eq!(job.checkpoints().len(), 0, "{file}: {:?}", job.checkpoints());
        }
    }
}

#[test]
fn a_damaged_checkpoint_named_by_its_path_is_refused_with_the_file() {
    for file in ["_metadata", "shard-0-of-2.state"] {
        let job = broken();
        let newest = job.checkpoints().pop().expect("a checkpoint");
        flip(&newest.join(file));
        let error = refused(job.piece(1, (1, 0), Some(RestoreFrom::Path(newest))));
        assert_eq!(error.exit_code(), 1);
        assert!(format!("{error} {:?}", error.place()).contains(file), "{error}");
    }
}

#[test]
fn an_input_that_is_not_as_it_was_is_refused_by_name() {
    type Change = fn(&Path);
    let longer: Change = |path| fs::write(path, rows() + &rows()).expect("a writable file");
    let removed: Change = |path| fs::remove_file(path).expect("a file");
    for (change, how) in [(cut_off as Change, "bytes"), (longer, "bytes"), (removed, "is not there any more")] {
        let script = text("", COUNT).replace("${DATA}/src.csv", "${DATA}/src");
        let job = Job::new(&script);
        let folder = job.folder.path().join("src");
        fs::create_dir(&folder).expect("a writable folder");
        for name in ["a.csv", "b.csv"] {
            fs::write(folder.join(name), rows()).expect("a writable folder");
        }
        assert!(job.piece(2, (1, 3), None).is_broken);
        change(&folder.join("b.csv"));
        says(&refused(job.rest(2)), &["b.csv", how, "from its beginning"]);
    }
}

#[test]
fn a_script_broken_off_in_its_second_insert_does_not_run_the_first_again() {
    let second = "CREATE TABLE more (k STRING, n BIGINT)\n\
        WITH ('connector' = 'filesystem', 'path' = '${OUT}/more', 'format' = 'json');\n\
        INSERT INTO more SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE))\n\
        GROUP BY k, window_start, window_end;\n";
    let job = Job::new(&format!("{}\n{second}", text("", COUNT))).file("src.csv", rows());
    assert!(job.piece(2, (2, 2), None).is_broken);
    assert_eq!(job.shown("results"), RESULT, "the first has ended");
    let rest = job.rest(1);
    assert_eq!(rest.result.expect("the second goes on").jobs.len(), 1);
    assert!(rest.said.iter().any(|said| said.contains("has ended well before")), "{:?}", rest.said);
    assert_eq!(job.shown("results"), RESULT);
    assert_eq!(job.shown("more"), [r#"{"k":"a","n":5}"#, r#"{"k":"b","n":1}"#]);
}

#[test]
fn what_has_ended_well_is_not_run_again_by_a_restore() {
    let job = broken();
    job.rest(2).result.expect("the rest of the job");
    let again = job.rest(2);
    assert_eq!(again.result.expect("nothing is left").jobs.len(), 0);
    assert!(again.said.iter().any(|said| said.contains("has ended well before")), "{:?}", again.said);
    assert_eq!(job.shown("results"), RESULT);
    // A run from the beginning makes that forgotten.
    std::fs::remove_dir_all(job.out()).expect("the output");
    assert!(job.piece(2, (1, 1), None).is_broken);
    assert_eq!(job.rest(2).result.expect("the rest of the job").jobs.len(), 1);
    assert_eq!(job.shown("results"), RESULT);
}
