//! Kills jobs with `kill -9` at random moments and lets them go on from their checkpoints, on other numbers of shards by
//! turns: what they have shown in the end must be what an undisturbed run shows.

mod input;
pub mod jobs;
mod output;
mod process;
mod trial;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Instant;

use transom::numbers::grouped;

use jobs::Job;
use trial::Told;

/// A whole run, as the command line asks for it.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Of each job.
    pub kills: u64,
    pub seed: u64,
    /// Of the larger table.
    pub rows: u64,
    pub jobs: Vec<Job>,
    /// The binary.
    pub transom: PathBuf,
}

/// Runs the jobs and prints what differs. Returns whether nothing does.
///
/// # Errors
/// The binary is not there, or inputs cannot be written.
pub fn run(plan: &Plan) -> Result<bool, String> {
    if !plan.transom.is_file() {
        return Err(format!("{} is not there: build transom, or name it with --transom", plan.transom.display()));
    }
    let folder = tempfile::tempdir().map_err(|error| format!("cannot create a folder: {error}"))?;
    let input = folder.path().join("in");
    input::write(&input, plan.rows, plan.seed).map_err(text_of("write below", &input))?;
    let started = Instant::now();
    let (mut total, mut failed) = (Told::default(), 0);
    let width = plan.jobs.iter().map(|job| job.name.len()).max().unwrap_or(0);
    for &job in &plan.jobs {
        let place = folder.path().join(job.name);
        std::fs::create_dir_all(&place).map_err(text_of("create", &place))?;
        // Its own whichever other jobs are chosen.
        let stream = jobs::JOBS.iter().position(|known| *known == job).unwrap_or(0) as u64;
        match trial::run(plan, (job, 1000 + stream), (&input, &place)) {
            Ok(told) => {
                println!("{:width$}  {}  equal", job.name, line(&told));
                total.add(&told);
                std::fs::remove_dir_all(&place).map_err(text_of("remove", &place))?;
            }
            Err(what) => {
                println!("{:width$}  DIFFERS: {what}", job.name);
                failed += 1;
            }
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("\n{} jobs equal, {failed} not, in {seconds:.1} s, seed {}", plan.jobs.len() - failed, plan.seed);
    println!("of the equal ones: {}", line(&total));
    if failed > 0 {
        println!("their files are kept in {}", folder.keep().display());
    }
    Ok(failed == 0)
}

/// Kills = restores + begun anew + rounds that a kill has ended.
fn line(told: &Told) -> String {
    let Told { rounds, kills, restores, anew, checkpoints, rows } = told;
    let after = kills.saturating_sub(restores + anew);
    format!(
        "{kills} kills = {restores} restores + {anew} anew + {after} at the end; {rounds} rounds, {checkpoints} checkpoints, {} rows",
        grouped(rows.unsigned_abs())
    )
}

impl Told {
    fn add(&mut self, more: &Told) {
        self.rounds += more.rounds;
        self.kills += more.kills;
        self.restores += more.restores;
        self.anew += more.anew;
        self.checkpoints += more.checkpoints;
        self.rows += more.rows;
    }
}

/// Says of an error what could not be done with a file.
fn text_of<E: Display>(what: &'static str, path: &Path) -> impl Fn(E) -> String {
    let path = path.display().to_string();
    move |error| format!("cannot {what} {path}: {error}")
}
