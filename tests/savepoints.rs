//! Savepoints and signals, with real processes: a job is asked while it runs, and goes on from there.
#![cfg(feature = "sql")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const SCRIPT: &str = "${SETTINGS}
CREATE TABLE made (n BIGINT, k INT, v INT, t AS TO_TIMESTAMP_LTZ(n * 10, 3), WATERMARK FOR t AS t)
WITH ('connector' = 'datagen', 'rows-per-second' = '${RATE}', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1',
  'fields.n.end' = '20000', 'fields.k.min' = '0', 'fields.k.max' = '9', 'fields.v.min' = '0', 'fields.v.max' = '999');
CREATE TABLE results (k INT, ws TIMESTAMP(3), n BIGINT, s INT)
WITH ('connector' = 'filesystem', 'path' = '${OUT}', 'format' = 'csv');
INSERT INTO results SELECT k, window_start, COUNT(*), SUM(v)
FROM TABLE(TUMBLE(TABLE made, DESCRIPTOR(t), INTERVAL '1' SECOND)) GROUP BY k, window_start, window_end;";

const CHECKPOINTS: &str = "SET 'execution.checkpointing.interval' = '1 d';
SET 'execution.checkpointing.dir' = '${ROOT}/chk';";
const SAVEPOINTS: &str = "SET 'execution.checkpointing.savepoint-dir' = '${ROOT}/savepoints';";

/// Longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(60);

struct Job {
    root: tempfile::TempDir,
    /// Below the root.
    out: &'static str,
}

impl Job {
    /// Comes in so many rows a second.
    fn new(settings: &[&str], out: &'static str, rate: u32) -> Job {
        let root = tempfile::tempdir().expect("a temporary folder");
        let script = SCRIPT
            .replace("${SETTINGS}", &settings.join("\n"))
            .replace("${RATE}", &rate.to_string())
            .replace("${OUT}", &root.path().join(out).display().to_string())
            .replace("${ROOT}", &root.path().display().to_string());
        fs::write(root.path().join("job.sql"), script).expect("a writable folder");
        Job { root, out }
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_transom"));
        command.arg("run").arg(self.root.path().join("job.sql")).args(["--shards", "2"]).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Begins, and is at work a little later.
    fn begun(&self) -> Child {
        let child = self.command(&[]).spawn().expect("the binary runs");
        std::thread::sleep(Duration::from_millis(400));
        child
    }

    fn rest(&self, restore: &str) -> Output {
        self.command(&["--restore", restore]).output().expect("the binary runs")
    }

    fn rows(&self) -> Vec<String> {
        let mut rows = Vec::new();
        let path = self.root.path().join(self.out);
        let files = if path.is_dir() {
            fs::read_dir(path).expect("a folder").flatten().map(|entry| entry.path()).collect()
        } else {
            vec![path]
        };
        for file in files.iter().filter(|file| !name(file).starts_with('.') && file.exists()) {
            rows.extend(fs::read_to_string(file).expect("text").lines().map(str::to_string));
        }
        rows.sort();
        rows
    }

    fn hidden(&self) -> usize {
        let folder = self.root.path().join(self.out);
        let folder = if folder.is_dir() { folder } else { self.root.path().to_path_buf() };
        fs::read_dir(folder).expect("a folder").flatten().filter(|entry| name(&entry.path()).starts_with('.')).count()
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The rows of a job that nothing happens to.
fn undisturbed() -> Vec<String> {
    let job = Job::new(&[], "results", 100_000_000);
    ended(job.command(&[]).output().expect("the binary runs"), 0);
    let rows = job.rows();
    assert!(rows.len() > 1_000);
    rows
}

/// What it said.
fn ended(output: Output, code: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

/// Asks until there is somebody to hear it.
fn ask(run: &str, more: &[&str]) -> Output {
    let begun = Instant::now();
    loop {
        let mut command = Command::new(env!("CARGO_BIN_EXE_transom"));
        let output = command.arg("savepoint").arg(run).args(more).output().expect("the binary runs");
        if output.status.code() != Some(2) || begun.elapsed() > PATIENCE {
            return output;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn asked(run: &str, more: &[&str]) -> PathBuf {
    let output = ask(run, more);
    let path = String::from_utf8_lossy(&output.stdout).trim().to_string();
    ended(output, 0);
    assert!(Path::new(&path).join("_metadata").is_file(), "{path}");
    PathBuf::from(path)
}

fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

fn end(child: Child, code: i32) -> String {
    ended(child.wait_with_output().expect("it ends"), code)
}

#[test]
fn a_savepoint_disturbs_nobody_and_may_be_gone_on_from_for_good() {
    let expected = undisturbed();
    for settings in [&[SAVEPOINTS][..], &[SAVEPOINTS, CHECKPOINTS]] {
        for out in ["results", "results.csv"] {
            let job = Job::new(settings, out, 5_000);
            let child = job.begun();
            let savepoint = asked(&child.id().to_string(), &[]);
            assert_eq!(savepoint.parent(), Some(job.root.path().join("savepoints").as_path()));
            let early = ended(job.rest(&savepoint.display().to_string()), 2);
            assert!(early.contains("still runs"), "{early}");
            end(child, 0);
            assert_eq!(job.rows(), expected, "{settings:?} {out}");
            for _ in 0..2 {
                ended(job.rest(&savepoint.display().to_string()), 0);
                assert_eq!(job.rows(), expected, "{settings:?} {out}, gone on");
            }
            assert_eq!(job.hidden(), 0, "{settings:?} {out}");
        }
    }
}

#[test]
fn a_job_that_is_stopped_at_a_savepoint_has_its_rows_up_to_there_and_may_be_gone_on_with() {
    let expected = undisturbed();
    for settings in [&[][..], &[CHECKPOINTS]] {
        for out in ["results", "results.csv"] {
            let job = Job::new(settings, out, 5_000);
            let child = job.begun();
            let to = job.root.path().join("elsewhere");
            let run = if settings.is_empty() {
                child.id().to_string()
            } else {
                job.root.path().join("chk").display().to_string()
            };
            let savepoint = asked(&run, &["--stop", "--to", &to.display().to_string()]);
            let said = end(child, 0);
            assert!(said.contains("stopped with savepoint") && savepoint.starts_with(&to), "{said}");
            let rows = job.rows();
            assert!(!rows.is_empty() && rows.len() < expected.len(), "{} rows", rows.len());
            assert!(rows.iter().all(|row| expected.binary_search(row).is_ok()));
            ended(job.rest(&savepoint.display().to_string()), 0);
            assert_eq!(job.rows(), expected, "{settings:?} {out}");
        }
    }
}

#[test]
fn sigusr1_takes_a_savepoint_and_says_where_it_is() {
    let expected = undisturbed();
    let job = Job::new(&[SAVEPOINTS], "results", 5_000);
    let child = job.begun();
    signal(&child, "USR1");
    let said = end(child, 0);
    let path = said.lines().find_map(|line| line.strip_prefix("note: savepoint ")).expect("a path").to_string();
    assert_eq!(job.rows(), expected);
    ended(job.rest(&path), 0);
    assert_eq!(job.rows(), expected);
}

#[test]
fn a_job_that_is_interrupted_takes_a_last_checkpoint_if_it_takes_any() {
    let expected = undisturbed();
    for interrupt in ["TERM", "INT"] {
        let job = Job::new(&[CHECKPOINTS], "results", 5_000);
        let child = job.begun();
        signal(&child, interrupt);
        let said = end(child, 130);
        assert!(said.contains("chk-1 covers was kept"), "{said}");
        let rows = job.rows();
        assert!(!rows.is_empty() && rows.len() < expected.len(), "{} rows", rows.len());
        ended(job.rest("latest"), 0);
        assert_eq!(job.rows(), expected);
    }
    let job = Job::new(&[], "results", 5_000);
    let child = job.begun();
    signal(&child, "TERM");
    let said = end(child, 130);
    assert!(said.contains("nothing of this statement was kept") && job.hidden() == 0, "{said}");
}

#[test]
fn a_savepoint_that_cannot_be_taken_is_told_and_harms_nobody() {
    let expected = undisturbed();
    let job = Job::new(&[CHECKPOINTS], "results", 5_000);
    fs::write(job.root.path().join("file"), "").expect("a writable folder");
    let child = job.begun();
    let process = child.id().to_string();
    let said = ended(ask(&process, &[]), 1);
    assert!(said.contains("execution.checkpointing.savepoint-dir"), "{said}");
    let said = ended(ask(&process, &["--stop", "--to", &job.root.path().join("file/x").display().to_string()]), 1);
    assert!(said.contains("file/x"), "{said}");
    end(child, 0);
    assert_eq!(job.rows(), expected);
    let said =
        ended(Command::new(env!("CARGO_BIN_EXE_transom")).args(["savepoint", &process]).output().expect("runs"), 2);
    assert!(said.contains("cannot be asked"), "{said}");
}
