//! Which checkpoints a job takes: what the settings ask for, and why there may be none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::output::OpenSink;
use super::restore::Checkpoint;
use super::{Report, now_ms};
use crate::error::Result;
use crate::format::local_path;
use crate::io::files::Disk;
use crate::plan::Config;
use crate::shard::columns::scan::SplitEntry;
use crate::snapshot::{CheckpointFolder, CheckpointRoot, RunLock};
use crate::source::STDIN;

/// What a job that can go on from checkpoints takes of them.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Those that come by themselves.
    pub checkpoints: Option<Periodic>,
    /// Where savepoints go for which nobody names another folder.
    pub savepoints: Option<PathBuf>,
}

/// Where checkpoints go, and when they are taken.
#[derive(Debug, Clone)]
pub struct Periodic {
    pub folder: CheckpointFolder,
    /// From the end of one to the start of the next.
    pub interval: Duration,
    /// How many complete ones are kept.
    pub retained: u64,
}

impl Periodic {
    /// In the folder of the run that is gone on from, if it is the job's to take over, else in one of its own below `root`.
    pub(crate) fn new(
        (disk, root): (&Disk, &Path),
        restored: Option<&Checkpoint>,
        interval: Duration,
        retained: u64,
    ) -> Periodic {
        let own = || CheckpointRoot::on(disk.clone(), root).run(&format!("{:x}-{:x}", now_ms(), std::process::id()));
        let folder = restored.and_then(|checkpoint| checkpoint.run(disk)).unwrap_or_else(own);
        Periodic { folder, interval, retained }
    }
}

/// What the settings ask for, or why the job cannot go on from a checkpoint. Where they ask for
/// checkpoints and there can be none, a notice says why.
pub(super) fn schedule(
    config: &Config,
    splits: &[SplitEntry],
    (disk, restored): (&Disk, Option<&Checkpoint>),
    report: &mut dyn Report,
) -> std::result::Result<Schedule, String> {
    let settings = &config.checkpoints;
    let periodic = |(interval, folder): (u64, PathBuf)| {
        Periodic::new((disk, &folder), restored, Duration::from_millis(interval), settings.retained)
    };
    let possible = obstacle(config, splits).map_or(Ok(()), Err);
    let wanted = settings.interval_ms.map(|interval| {
        let folder = possible.clone().and_then(|()| folder(config));
        folder.map(|folder| (interval, folder)).inspect_err(|why| {
            report.notice(&format!("no checkpoints are taken: {why}"));
        })
    });
    let savepoints = settings.savepoints.as_ref().map(|folder| local_path(folder).map_or(folder.as_str(), |path| path));
    possible.map(|()| Schedule {
        checkpoints: wanted.and_then(std::result::Result::ok).map(periodic),
        savepoints: savepoints.map(PathBuf::from),
    })
}

/// Says that the run lives and which files it may leave, and removes what others have left that live no more.
///
/// # Errors
/// Io, with the file that cannot be written.
pub(crate) fn begin(folder: &CheckpointFolder, sinks: &[OpenSink]) -> Result<RunLock> {
    let lock = folder.lock()?;
    folder.note_files(&sinks.iter().filter_map(OpenSink::hidden_files).collect::<Vec<_>>())?;
    folder.root().clean_up()?;
    Ok(lock)
}

/// Notes that a statement of a job has ended well, and removes what was kept to go back to: the checkpoints of the run, and
/// of the one that it took over.
///
/// # Errors
/// Io: it cannot be noted.
pub(crate) fn end(
    (folder, claimed): (Option<&CheckpointFolder>, Option<&CheckpointFolder>),
    (script, statement): (&str, usize),
    sinks: &[OpenSink],
) -> Result<()> {
    if let Some(folder) = folder {
        folder.mark_done(script, statement)?;
    }
    let folders = || folder.into_iter().chain(claimed);
    folders().for_each(CheckpointFolder::forget);
    sinks.iter().for_each(OpenSink::settle);
    folders().for_each(CheckpointFolder::leave);
    Ok(())
}

/// Where checkpoints go, or why there are none.
fn folder(config: &Config) -> std::result::Result<PathBuf, String> {
    let Some(folder) = &config.checkpoints.folder else {
        return Err("SET 'execution.checkpointing.dir' says where to".to_string());
    };
    let Ok(path) = local_path(folder) else {
        return Err(format!("{folder} is not on this machine; -D execution.checkpointing.dir=PATH says where to"));
    };
    Ok(PathBuf::from(path))
}

/// Why a job cannot go on from a checkpoint.
fn obstacle(config: &Config, splits: &[SplitEntry]) -> Option<String> {
    if splits.iter().any(|entry| entry.split.name() == STDIN) {
        return Some("what stdin has given cannot be read again".to_string());
    }
    let asides = [("quarantine", config.quarantine.is_some()), ("file of late rows", config.late_rows.is_some())];
    let aside = asides.into_iter().find(|(_, is_set)| *is_set);
    aside.map(|(what, _)| format!("the job fills a {what}, which is written as a whole"))
}
