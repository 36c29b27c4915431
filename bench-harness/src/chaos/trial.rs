//! One job, killed again and again, beside an undisturbed run of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::jobs::Job;
use super::output::Output;
use super::process::{self, Checkpoints, Ended, Folders, Moment};
use super::{Plan, text_of};
use crate::workload::random::Random;

/// Numbers of shards, by turns.
const SHARDS: [u64; 3] = [1, 2, 7];
/// Milliseconds between checkpoints, drawn anew for each run.
const INTERVALS_MS: [u64; 3] = [1, 3, 20];
/// A job that is not over after so many kills makes no progress.
const KILLS_OF_A_ROUND: u64 = 2000;

/// What became of a job.
#[derive(Debug, Default)]
pub struct Told {
    /// Times that the job was brought to its end.
    pub rounds: u64,
    pub kills: u64,
    /// Runs that went on from a checkpoint.
    pub restores: u64,
    /// Kills before the first checkpoint, after which the job began anew.
    pub anew: u64,
    pub checkpoints: u64,
    pub rows: i64,
}

/// A job with its place.
struct Trial<'a> {
    plan: &'a Plan,
    input: &'a Path,
    folder: &'a Path,
    script: PathBuf,
    random: Random,
    told: Told,
}

/// Runs the job undisturbed, then kills it until there were enough kills. `stream`: its own random numbers.
///
/// # Errors
/// What differs, or why the job failed, in words.
pub fn run(plan: &Plan, (job, stream): (Job, u64), (input, folder): (&Path, &Path)) -> Result<Told, String> {
    let script = folder.join(format!("{}.sql", job.name));
    fs::write(&script, job.script()).map_err(text_of("write", &script))?;
    let random = Random::new(plan.seed, stream);
    let mut trial = Trial { plan, input, folder, script, random, told: Told::default() };
    let (expected, whole) = trial.undisturbed()?;
    trial.told.rows = expected.count();
    while trial.told.kills < plan.kills {
        trial.round(&expected, whole).map_err(|what| {
            let Told { rounds, kills, .. } = trial.told;
            format!("round {}, after {kills} kills: {what}", rounds + 1)
        })?;
        trial.told.rounds += 1;
    }
    Ok(trial.told)
}

impl Trial<'_> {
    /// Empty ones.
    fn folders(&self, name: &str) -> Result<Folders, String> {
        let folder = self.folder.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(text_of("remove", &folder))?;
        }
        let folders =
            Folders { out: folder.join("out"), checkpoints: folder.join("chk"), stderr: folder.join("stderr.txt") };
        for folder in [&folders.out, &folders.checkpoints] {
            fs::create_dir_all(folder).map_err(text_of("create", folder))?;
        }
        Ok(folders)
    }

    fn command(&self, folders: &Folders, shards: u64) -> Command {
        let mut command = Command::new(&self.plan.transom);
        command.arg("run").arg(&self.script).args(["--shards", &shards.to_string()]);
        let values = [("IN", self.input), ("OUT", &folders.out), ("CHK", &folders.checkpoints)];
        for (name, path) in values {
            command.args(["--set", &format!("{name}={}", path.display())]);
        }
        command.args(["--set", &format!("ROWS={}", self.plan.rows)]);
        command
    }

    fn undisturbed(&self) -> Result<(Output, Duration), String> {
        let folders = self.folders("undisturbed")?;
        let started = Instant::now();
        let ended = process::run(&mut self.command(&folders, 2), &folders, Moment::Never, &mut 0);
        match ended.map_err(text_of("run", &self.plan.transom))? {
            Ended::Well => Ok((Output::read(&folders.out)?, started.elapsed())),
            ended => Err(format!("undisturbed: {ended:?}")),
        }
    }

    /// Brings the job to its end, with kills on the way, and looks at what it has shown.
    fn round(&mut self, expected: &Output, whole: Duration) -> Result<(), String> {
        let folders = self.folders("killed")?;
        let mut seen = 0;
        let ended = self.run_to_end(&folders, whole, &mut seen)?;
        self.told.checkpoints += seen;
        let output = Output::read(&folders.out)?;
        if let Some(difference) = output.difference(expected) {
            return Err(difference);
        }
        // Whoever was killed after its last checkpoint was gone could not tidy up, and nobody does it later.
        if let (Ended::Well, Some(hidden)) = (&ended, output.hidden.first()) {
            return Err(format!("{} hidden files are left, as {}", output.hidden.len(), hidden.display()));
        }
        let left = Checkpoints::below(&folders.checkpoints);
        if ended == Ended::Well && left != Checkpoints::default() {
            return Err(format!("checkpoints are left: {left:?}"));
        }
        Ok(())
    }

    fn run_to_end(&mut self, folders: &Folders, whole: Duration, seen: &mut u64) -> Result<Ended, String> {
        let mut restores = false;
        for turn in 0..KILLS_OF_A_ROUND {
            let shards = SHARDS[((self.told.rounds + turn) % SHARDS.len() as u64) as usize];
            let mut command = self.command(folders, shards);
            let interval = INTERVALS_MS[self.random.below(INTERVALS_MS.len() as u64) as usize];
            command.args(["-D", &format!("execution.checkpointing.interval={interval} ms")]);
            if restores {
                command.args(["--restore", "latest"]);
                self.told.restores += 1;
            }
            let is_enough = self.told.kills >= self.plan.kills;
            let moment = if is_enough { Moment::Never } else { Moment::draw(&mut self.random, whole) };
            let ended =
                process::run(&mut command, folders, moment, seen).map_err(text_of("run", &self.plan.transom))?;
            match ended {
                Ended::Well => return Ok(ended),
                Ended::Badly(what) => return Err(format!("{shards} shards, restored: {restores}: {what}")),
                Ended::Killed => self.told.kills += 1,
            }
            *seen = Checkpoints::below(&folders.checkpoints).complete.max(*seen);
            restores = Checkpoints::below(&folders.checkpoints).complete > 0;
            if restores {
                continue;
            }
            if *seen > 0 {
                // Checkpoints go when all is done.
                return Ok(Ended::Killed);
            }
            self.told.anew += 1;
            self.folders("killed")?;
        }
        Err(format!("the job was not over after {KILLS_OF_A_ROUND} kills"))
    }
}
