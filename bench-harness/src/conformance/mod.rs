//! Runs recorded cases and compares the engine's answers with Flink's.

pub mod case;
pub mod compare;
pub mod decimal;
pub mod judge;
pub mod report;
pub mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::engine::{Restores, Tuning};
use crate::supervise::Supervisor;
use case::{Case, Kind};
use judge::Verdict;
use report::Report;

/// A whole run, as the command line asks for it.
#[derive(Debug, Clone)]
pub struct Plan {
    pub paths: Vec<PathBuf>,
    /// `*` and `?` patterns of case names; empty: all.
    pub only: Vec<String>,
    pub tuning: Tuning,
    pub jobs: usize,
    pub time_limit: Duration,
    pub isolate: bool,
    pub show_skipped: bool,
    pub skip_unsupported: bool,
    /// Judge also the cases that are left to later.
    pub all: bool,
    /// Break runs off at every checkpoint, and go on from it.
    pub restore: bool,
}

/// Runs the cases and prints what differs. Returns whether none failed.
///
/// # Errors
/// A path without cases, a case that cannot be read.
pub fn run(plan: &Plan) -> Result<bool, String> {
    let mut cases = case::find(&plan.paths)?;
    if !plan.only.is_empty() {
        cases.retain(|case| plan.only.iter().any(|pattern| case::matches(pattern, &case.name)));
    }
    if cases.is_empty() {
        return Err(format!("no case matches --only {}", plan.only.join(" --only ")));
    }
    let width = cases.iter().map(|case| case.name.chars().count()).max().unwrap_or(0);
    let later = if plan.all { BTreeSet::new() } else { left_to_later(&plan.paths)? };
    let mut report = Report::new(width, plan.show_skipped, plan.skip_unsupported, later);
    let started = Instant::now();
    let restores = plan.restore.then(Restores::default);
    judge_all(&cases, (plan, &restores), |case, verdict| report.add(case, verdict));
    if let Some(restores) = restores {
        println!("\nruns went on from checkpoints {} times", restores.count());
    }
    report.close(started.elapsed());
    Ok(report.all_passed())
}

/// What the `later.txt` of the given folders, or of the folder around them, name.
fn left_to_later(paths: &[PathBuf]) -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    for path in paths {
        let around = path.ancestors().take(3).map(|folder| folder.join("later.txt"));
        if let Some(list) = around.into_iter().find(|list| list.is_file()) {
            names.extend(read_list(&list)?);
        }
    }
    Ok(names)
}

/// Names, one a line; `#` starts a comment.
fn read_list(path: &Path) -> Result<BTreeSet<String>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    let name = |line: &str| line.split('#').next().unwrap_or_default().trim().to_string();
    Ok(text.lines().map(name).filter(|name| !name.is_empty()).collect())
}

/// Judges the cases on `plan.jobs` threads and hands out the verdicts in the order of the cases.
fn judge_all(cases: &[Case], (plan, restores): (&Plan, &Option<Restores>), mut out: impl FnMut(&Case, Verdict)) {
    let supervisor = Supervisor { time_limit: plan.time_limit, isolate: plan.isolate };
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.clamp(1, cases.len()) {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { break };
                    let verdict = match &case.kind {
                        Kind::Sql(sql) => judge::judge(sql, (plan.tuning, restores.clone()), &supervisor),
                        Kind::Timeline(timeline) => {
                            judge::judge_timeline(timeline, (plan.tuning, restores.clone()), &supervisor)
                        }
                    };
                    if sender.send((index, verdict)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        for (index, verdict) in receiver {
            waiting.insert(index, verdict);
            while let Some(verdict) = waiting.remove(&due) {
                out(&cases[due], verdict);
                due += 1;
            }
        }
    });
}
