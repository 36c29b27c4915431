//! Jobs with gigabytes of state: what they take of memory and disk, how long checkpoints hold shards up, how soon a job
//! goes on. Each is a process of its own, whose answer is compared before its figures count.

pub mod job;
mod process;

use std::path::{Path, PathBuf};
use std::time::Duration;

use transom::numbers::{bytes, grouped};

use job::Job;
use process::{Ran, Running};

/// A whole run, as the command line asks for it.
#[derive(Debug, Clone)]
pub struct Plan {
    pub jobs: Vec<Job>,
    /// Keys and memory are divided by it.
    pub scale: u64,
    /// How often a job with checkpoints and its twin without run, in turn.
    pub repeat: usize,
    /// The binary.
    pub transom: PathBuf,
    /// Where state and checkpoints go; its disk is what is measured.
    pub folder: PathBuf,
}

/// Runs the jobs and prints what they took. Returns whether all answers are right.
///
/// # Errors
/// The binary is not there, or a job fails.
pub fn run(plan: &Plan) -> Result<bool, String> {
    if !plan.transom.is_file() {
        return Err(format!("{} is not there: build transom, or name it with --transom", plan.transom.display()));
    }
    let made = std::fs::create_dir_all(&plan.folder).and_then(|()| tempfile::tempdir_in(&plan.folder));
    let folder = made.map_err(|error| format!("cannot create a folder in {}: {error}", plan.folder.display()))?;
    let mut right = true;
    for job in &plan.jobs {
        println!("{}: {}; {} rows", job.name, job.about, grouped(job.rows(plan.scale)));
        let place = folder.path().join(job.name);
        std::fs::create_dir_all(&place).map_err(|error| format!("cannot create {}: {error}", place.display()))?;
        right &= if job.takes_checkpoints() { checkpoints(plan, job, &place)? } else { alone(plan, job, &place)? };
        println!();
    }
    Ok(right)
}

fn say(name: &str, value: &str) {
    println!("  {name:<22}  {value}");
}

fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}

fn start(plan: &Plan, job: &Job, place: &Path, checkpoints: bool, more: &[&str]) -> Result<Running, String> {
    let (output, folder) = (place.join("results.csv").display().to_string(), place.join("checkpoints"));
    let folder = checkpoints.then(|| folder.display().to_string());
    let script = job.script(plan.scale, &output, folder.as_deref());
    let state = place.join("state").display().to_string();
    let memory = job.memory.map(|memory| (memory / plan.scale).to_string());
    let mut args: Vec<&str> = vec!["run", "job.sql"];
    if let Some(memory) = &memory {
        args.extend(["--memory", memory, "--state-dir", &state]);
    }
    args.extend(more);
    Running::start(&plan.transom, (place, &script), &args)
}

/// The answer of the job that has just ended, or what is wrong with it.
fn answer(plan: &Plan, job: &Job, place: &Path) -> Result<bool, String> {
    let path = place.join("results.csv");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap_or(i64::MIN)).collect::<Vec<i64>>();
    let mut got: Vec<Vec<i64>> = text.lines().map(row).collect();
    got.sort();
    let expected = job.expected(plan.scale);
    let right = got == expected;
    let differ = got.iter().zip(&expected).position(|(got, expected)| got != expected).unwrap_or(0);
    say(
        "answer",
        &match right {
            true => format!("right: {} rows compared", grouped(got.len() as u64)),
            false => format!("WRONG: {} rows, not {}; row {differ} of them differs", got.len(), expected.len()),
        },
    );
    std::fs::remove_file(&path).map_err(|error| format!("cannot remove {}: {error}", path.display()))?;
    Ok(right)
}

fn figures(job: &Job, plan: &Plan, ran: &Ran) {
    let rate = job.rows(plan.scale) as f64 / ran.elapsed.as_secs_f64();
    say("time", &format!("{}, {} rows/s", seconds(ran.elapsed), grouped(rate as u64)));
    let Ran { anonymous, resident, .. } = ran;
    say("resident memory", &format!("{} at most, of it {} not of files", bytes(*resident), bytes(*anonymous)));
    summary(ran, "peak state");
}

/// A line of the engine's own summary.
fn summary(ran: &Ran, name: &str) {
    if let Some(line) = ran.line(name) {
        say(name, line);
    }
}

fn alone(plan: &Plan, job: &Job, place: &Path) -> Result<bool, String> {
    let ran = start(plan, job, place, false, &[])?.end()?;
    figures(job, plan, &ran);
    answer(plan, job, place)
}

fn checkpoints(plan: &Plan, job: &Job, place: &Path) -> Result<bool, String> {
    let (mut right, mut plain, mut with) = (true, Vec::new(), Vec::new());
    for _ in 0..plan.repeat.max(1) {
        plain.push(start(plan, job, place, false, &[])?.end()?.elapsed);
        right &= answer(plan, job, place)?;
        let ran = start(plan, job, place, true, &[])?.end()?;
        with.push(ran.elapsed);
        figures(job, plan, &ran);
        summary(&ran, "checkpoints");
        summary(&ran, "pauses");
        let sizes: Vec<String> = ran.checkpoints.values().map(|size| bytes(*size)).collect();
        say("written by each", &sizes.join(", "));
        right &= answer(plan, job, place)?;
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let (plain, with) = (median(&mut plain), median(&mut with));
    let ratio = with.as_secs_f64() / plain.as_secs_f64();
    say("with over without", &format!("{} / {} = {ratio:.2}", seconds(with), seconds(plain)));
    restore(plan, job, place)?;
    Ok(right & answer(plan, job, place)?)
}

/// Kills the job when most of it is done, and measures how soon it goes on.
fn restore(plan: &Plan, job: &Job, place: &Path) -> Result<(), String> {
    let mut running = start(plan, job, place, true, &[])?;
    let killed = running.kill_at_row(job.rows(plan.scale) * 3 / 4)?;
    let mut again = start(plan, job, place, true, &["--restore", "latest"])?;
    let first = again.first_row()?;
    again.end()?;
    let first = first.ok_or("the job went on without a row")?;
    say("restored", &format!("first new row after {}, of a run killed at row {}", seconds(first), grouped(killed)));
    Ok(())
}
