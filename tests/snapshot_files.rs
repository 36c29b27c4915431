//! Checkpoints as files: what an earlier version wrote is still read, and `transom checkpoint` tells what is in it.
#![cfg(feature = "sql")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::{Job, read_lines, script};
use tempfile::TempDir;
use transom::error::{Error, Result};
use transom::job::{Completed, JobSummary, Report, RunOptions};
use transom::runner::run_script;
use transom::snapshot::VERSION;
use transom::sql::ScriptOptions;

const TABLES: [&str; 4] = ["minutes", "best.csv", "visits", "near"];
const GOLDEN: &str = "checkpoints/run/chk-1";

/// The versions that there are golden files of, the newest last.
const VERSIONS: [u32; 2] = [1, VERSION];

fn golden_of(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/checkpoints/version-{version}"))
}

fn golden() -> PathBuf {
    golden_of(VERSION)
}

/// A copy of the newest golden files.
fn copy() -> TempDir {
    copy_of(VERSION)
}

fn copy_of(version: u32) -> TempDir {
    fn copy_folder(from: &Path, to: &Path) {
        fs::create_dir_all(to).expect("a writable folder");
        for entry in fs::read_dir(from).expect("a readable folder").flatten() {
            let to = to.join(entry.file_name());
            if entry.path().is_dir() {
                copy_folder(&entry.path(), &to);
            } else {
                fs::copy(entry.path(), to).expect("a copy");
            }
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy_folder(&golden_of(version), folder.path());
    folder
}

fn transom(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_transom")).current_dir(folder).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The rows of a table, in the order of their texts.
fn rows(path: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    read_lines(path, &mut rows);
    rows.sort();
    rows
}

/// Runs `transom checkpoint`: what it prints, and its exit code.
fn checkpoint(folder: &Path, args: &[&str]) -> (String, Option<i32>) {
    let output = transom(folder, &[&["checkpoint"], args].concat());
    (text(&output.stdout) + &text(&output.stderr), output.status.code())
}

#[test]
fn a_checkpoint_of_each_version_is_gone_on_from() {
    let ways = [(GOLDEN, "2"), (GOLDEN, "1"), (GOLDEN, "3"), ("latest", "2")];
    for (version, (from, shards)) in VERSIONS.into_iter().flat_map(|version| ways.map(|way| (version, way))) {
        let folder = copy_of(version);
        let before = rows(&folder.path().join("out/minutes")).len();
        let output = transom(folder.path(), &["run", "job.sql", "--restore", from, "--shards", shards]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        for table in TABLES {
            let (expected, got) =
                (golden_of(version).join("expected").join(table), folder.path().join("out").join(table));
            assert_eq!(rows(&got), rows(&expected), "{table}, version {version}, from {from} on {shards} shards");
        }
        let after = rows(&folder.path().join("out/minutes")).len();
        assert!(0 < before && before < after, "some windows had fired at the checkpoint, others had not");
        // `latest` takes the checkpoint for its own.
        assert_eq!(folder.path().join(GOLDEN).exists(), from != "latest");
    }
}

#[test]
fn a_folder_of_checkpoints_is_listed() {
    let folder = copy();
    let root = folder.path().join("checkpoints/run");
    let (listed, code) = checkpoint(folder.path(), &["ls", "checkpoints"]);
    assert_eq!(code, Some(0));
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(lines[1].starts_with(GOLDEN) && lines[1].ends_with("complete"), "{listed}");
    assert_eq!(lines[0].find("script"), lines[1].find("job.sql"));
    // One is not complete, of one a file is too short, and one has a damaged manifest.
    for number in [5, 6, 7] {
        fs::create_dir(root.join(format!("chk-{number}"))).unwrap();
    }
    for name in ["_metadata", "shard-0-of-2.state", "shard-1-of-2.state"] {
        let bytes = fs::read(root.join("chk-1").join(name)).unwrap();
        fs::write(root.join("chk-6").join(name), if name == "shard-1-of-2.state" { &bytes[1..] } else { &bytes })
            .unwrap();
        fs::write(root.join("chk-7").join(name), &bytes[..100]).unwrap();
    }
    let (listed, code) = checkpoint(folder.path(), &["ls", "checkpoints/run"]);
    assert_eq!(code, Some(0));
    let line = |number: u64| listed.lines().find(|line| line.contains(&format!("chk-{number} "))).unwrap_or_default();
    assert!(line(1).ends_with("complete") && line(5).ends_with("not complete"), "{listed}");
    assert!(line(6).contains("shard-1-of-2.state: damaged: "), "{listed}");
    assert!(line(7).contains("_metadata: damaged: 36 bytes behind the header"), "{listed}");
    assert_eq!(checkpoint(folder.path(), &["ls", "out"]), ("no checkpoints below out\n".to_string(), Some(0)));
    let (message, code) = checkpoint(folder.path(), &["ls", "nowhere"]);
    assert!(code == Some(2) && message.contains("nowhere is no folder"), "{message}");
}

#[test]
fn a_checkpoint_tells_what_is_in_it() {
    let folder = copy();
    let (shown, code) = checkpoint(folder.path(), &["show", GOLDEN]);
    assert_eq!(code, Some(0), "{shown}");
    let says = [
        "checkpoint  1, in checkpoints/run/chk-1",
        "script  job.sql, statement 9",
        "128 key groups on 2 shards",
        "of 200 B in text files",
        "bids.csv",
        "sales.json",
        "WindowTopN",
        "IntervalJoin",
        "table `best`",
        "a piece of the table's file",
    ];
    for part in says {
        assert!(shown.contains(part), "no {part:?} in:\n{shown}");
    }
    let (message, code) = checkpoint(folder.path(), &["show", "out"]);
    assert!(code == Some(2) && message.contains("out is no checkpoint"), "{message}");
}

#[test]
fn damage_is_named_with_its_place() {
    let folder = copy();
    let verify = |paths: &[&str]| checkpoint(folder.path(), &[&["verify"], paths].concat());
    let (said, code) = verify(&[GOLDEN]);
    assert!(code == Some(0) && said.starts_with("OK       checkpoints/run/chk-1: "), "{said}");
    let (said, code) = verify(&["out", GOLDEN]);
    assert!(code == Some(2) && said.starts_with("MISSING  out is no") && said.contains("\nOK "), "{said}");
    for (name, byte, place) in [
        ("shard-0-of-2.state", 10, "the header has another checksum than it says"),
        ("shard-1-of-2.state", 64, "section 0, at byte 64, of stage 0 has another checksum than it should"),
        ("_metadata", 200, "the manifest has another checksum than its header says"),
    ] {
        let path = folder.path().join(GOLDEN).join(name);
        let whole = fs::read(&path).unwrap();
        let mut spoilt = whole.clone();
        spoilt[byte] ^= 1;
        fs::write(&path, &spoilt).unwrap();
        let (said, code) = verify(&[GOLDEN]);
        assert!(code == Some(1) && said.contains(&format!("{name}: damaged: {place}")), "{said}");
        let output = transom(folder.path(), &["run", "job.sql", "--restore", GOLDEN]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        fs::write(&path, whole).unwrap();
    }
    let (_, code) = verify(&[&format!("{GOLDEN}/_metadata")]);
    assert_eq!(code, Some(0));
}

/// Counts the checkpoints that it hears of.
#[derive(Default)]
struct Counting {
    heard: u64,
    told: Option<(u64, u64, u64)>,
}

impl Report for Counting {
    fn checkpointed(&mut self, _checkpoint: &Completed) -> Result<()> {
        self.heard += 1;
        Ok(())
    }
    fn statement_ends(&mut self, summary: &JobSummary) -> Result<()> {
        let taken = &summary.checkpoints;
        self.told = taken.last.as_ref().map(|last| (taken.count, last.number, last.bytes));
        Ok(())
    }
}

#[test]
fn the_summary_tells_the_checkpoints_that_were_taken() {
    let rows: String = (10..60).map(|second| format!("2024-05-01 12:00:{second},{}\n", second % 7)).collect();
    let script = script(
        "ts TIMESTAMP(3), v INT, WATERMARK FOR ts AS ts",
        "window_start TIMESTAMP(3), n BIGINT",
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND))
         GROUP BY window_start, window_end",
    );
    let settings = "SET 'execution.checkpointing.interval' = '1 h'; SET 'execution.checkpointing.dir' = '${DATA}/chk';";
    let job = Job::new("").file("src.csv", rows);
    let options = job.options(job.folder.path());
    let run = RunOptions { shards: 2, block_bytes: 200, checkpoint_blocks: Some(2), ..RunOptions::default() };
    let mut report = Counting::default();
    run_script(&format!("{settings}{script}"), &options, &run, &mut report).unwrap();
    let (count, last, bytes) = report.told.expect("some were taken");
    assert!(count > 1 && count == report.heard && count == last && bytes > 0, "{:?} {}", report.told, report.heard);
}

/// Breaks the job off at its first checkpoint.
struct Breaking;

impl Report for Breaking {
    fn checkpointed(&mut self, _checkpoint: &Completed) -> Result<()> {
        Err(Error::cancelled())
    }
}

#[test]
#[ignore = "makes the golden files"]
fn make() {
    let folder = golden();
    std::env::set_current_dir(&folder).expect("the folder of the golden files");
    let script = fs::read_to_string("job.sql").expect("the script");
    for made in ["out", "checkpoints", "expected"] {
        let _ = fs::remove_dir_all(made);
    }
    let options = ScriptOptions { file: "job.sql".into(), ..ScriptOptions::default() };
    let run = RunOptions { shards: 2, block_bytes: 200, ..RunOptions::default() };
    run_script(&script, &options, &run, &mut transom::job::NoReport).expect("a run to the end");
    fs::create_dir("expected").expect("a folder");
    for table in TABLES {
        let lines: String = rows(&Path::new("out").join(table)).iter().map(|row| format!("{row}\n")).collect();
        fs::write(Path::new("expected").join(table), lines).expect("a file");
    }
    fs::remove_dir_all("out").expect("the output");
    let _ = fs::remove_dir_all("checkpoints");
    let broken = RunOptions { checkpoint_blocks: Some(7), ..run };
    run_script(&script, &options, &broken, &mut Breaking).expect_err("it is broken off");
    let made = fs::read_dir("checkpoints").expect("checkpoints").flatten().next().expect("a run").path();
    for note in ["files", "lock"] {
        // Of the run that made them alone.
        fs::remove_file(made.join(note)).expect("a note of the run");
    }
    fs::rename(made, "checkpoints/run").expect("a name that stays");
}
