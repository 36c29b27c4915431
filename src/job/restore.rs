//! Going on from a checkpoint: finds it, sees that it is of this job, and brings sources, sinks and shards to where it stands.

use std::path::{Path, PathBuf};

use super::RunOptions;
use super::checkpoint::fingerprints;
use super::output::OpenSink;
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::sequence::{Origin, Position, SplitPosition};
use crate::format::local_path;
use crate::key::KeyGroups;
use crate::shard::Place;
use crate::shard::columns::Restored;
use crate::shard::columns::program::Program;
use crate::shard::columns::scan::SplitEntry;
use crate::snapshot::{CheckpointFolder, Fingerprint, METADATA, Manifest, SplitState};
use crate::time::Watermark;
use crate::watermark::Peaks;

/// A checkpoint that every byte of has been looked at.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    pub folder: PathBuf,
    pub manifest: Manifest,
    /// The job that goes on from it takes over all checkpoints of the run that wrote it, and removes them in its turn.
    pub claimed: bool,
}

/// Where a script goes on.
#[derive(Debug, Clone)]
pub enum Resume {
    From(Box<Checkpoint>),
    /// Behind this statement, the last that has ended well.
    Behind(u64),
}

/// A split, as a job that goes on knows it.
pub(crate) trait Replayed {
    fn branch(&self) -> usize;
    fn name(&self) -> &str;
    fn bytes(&self) -> u64;
    /// As [`Split::pass_over`](crate::source::Split::pass_over).
    fn pass_over(&self, blocks: usize) -> Result<()>;
}

impl Replayed for SplitEntry {
    fn branch(&self) -> usize {
        self.branch
    }
    fn name(&self) -> &str {
        self.split.name()
    }
    fn bytes(&self) -> u64 {
        self.split.bytes()
    }
    fn pass_over(&self, blocks: usize) -> Result<()> {
        self.split.pass_over(blocks)
    }
}

/// How a job is spoken of to those who wrote it.
pub(crate) struct Words {
    pub job: &'static str,
    /// What to do where the job has changed.
    pub as_it_was: &'static str,
    /// How to have so many key groups.
    pub key_groups: fn(u32) -> String,
}

impl Words {
    const SCRIPT: Words = Words {
        job: "script",
        as_it_was: "restore it with the script as it was, or run this one from its beginning, without --restore",
        key_groups: |groups| format!("SET 'pipeline.max-parallelism' = '{groups}'"),
    };
}

impl Checkpoint {
    /// The checkpoint in a folder, which may also be named by its manifest.
    ///
    /// # Errors
    /// Usage if there is none; Data, with the file and the place, if it is damaged.
    pub fn at(path: &Path) -> Result<Checkpoint> {
        let folder = if path.file_name().is_some_and(|name| name == METADATA) {
            path.parent().unwrap_or(path).to_path_buf()
        } else {
            path.to_path_buf()
        };
        if !folder.join(METADATA).is_file() {
            return Err(Error::usage(format!("{} is no checkpoint: it has no file {METADATA}", folder.display()))
                .help("name a folder chk-N that has one, or say --restore latest"));
        }
        if CheckpointFolder::is_live(&folder) {
            return Err(is_live(&folder));
        }
        let manifest = Manifest::read(&folder.join(METADATA))?;
        manifest.open_state(&folder)?;
        Ok(Checkpoint { folder, manifest, claimed: false })
    }

    /// The newest checkpoint of a script below a folder that is not damaged; `damaged` is told of those that are. Where
    /// the script has come further without one: the last of its statements that have ended well.
    ///
    /// # Errors
    /// Usage if there is none; Unsupported for a folder on another machine.
    pub fn latest(folder: &str, script: &str, damaged: &mut dyn FnMut(&Error)) -> Result<Resume> {
        let root = Path::new(local_path(folder)?);
        let name = |script: &str| Path::new(script).file_name().map(|name| name.to_owned());
        let done = CheckpointFolder::done(root, script);
        if done > 0 {
            CheckpointFolder::clean_up_done(root, script, done)?;
        }
        let found = if root.is_dir() { CheckpointFolder::all(root)? } else { Vec::new() };
        for (folder, manifest) in found {
            let opened = manifest.and_then(|manifest| {
                let ours = name(&manifest.script) == name(script) && manifest.statement > done;
                if ours { manifest.open_state(&folder).map(|_| Some(manifest)) } else { Ok(None) }
            });
            match opened {
                Ok(Some(_)) if CheckpointFolder::is_live(&folder) => return Err(is_live(&folder)),
                Ok(Some(manifest)) => {
                    return Ok(Resume::From(Box::new(Checkpoint { folder, manifest, claimed: true })));
                }
                Ok(None) => {}
                Err(error) => damaged(&error),
            }
        }
        if done > 0 {
            return Ok(Resume::Behind(done));
        }
        let message = format!("no checkpoint of {script} below {} can be restored", root.display());
        Err(Error::usage(message).help("run the job from its beginning, without --restore"))
    }

    /// A script begins anew: that it has ended well before counts no more.
    pub fn begin_anew(folder: &str, script: &str) {
        if let Ok(root) = local_path(folder) {
            CheckpointFolder::forget_done(Path::new(root), script);
        }
    }

    /// The checkpoints of the run that wrote it, if they are the job's to add to and to remove.
    pub(crate) fn run(&self) -> Option<CheckpointFolder> {
        self.claimed.then(|| CheckpointFolder::around(&self.folder))
    }

    /// The state must be that of the script's stages and sinks.
    ///
    /// # Errors
    /// Usage, with the first difference.
    pub(super) fn check_script(&self, program: &Program) -> Result<()> {
        let (stages, sinks) = fingerprints(program);
        self.check((&stages, &sinks), program.groups.groups, &Words::SCRIPT)
    }

    /// The state must be that of these stages and sinks.
    ///
    /// # Errors
    /// Usage, with the first difference.
    pub(crate) fn check(
        &self,
        (stages, sinks): (&[Fingerprint], &[Fingerprint]),
        groups: u32,
        words: &Words,
    ) -> Result<()> {
        let stage = |state: &crate::snapshot::StageState| state.fingerprint.clone();
        let sink = |sink: &crate::snapshot::NamedSink| sink.fingerprint.clone();
        let (had_stages, had_sinks): (Vec<_>, Vec<_>) =
            (self.manifest.stages.iter().map(stage).collect(), self.manifest.sinks.iter().map(sink).collect());
        let changed = difference("operator", &had_stages, stages).or_else(|| difference("sink", &had_sinks, sinks));
        if let Some(changed) = changed {
            return Err(Error::usage(format!("{} is of another {}: {changed}", self.folder.display(), words.job))
                .help(words.as_it_was));
        }
        if self.manifest.key_groups != groups {
            let message =
                format!("{} has {} key groups, the job has {groups}", self.folder.display(), self.manifest.key_groups);
            let had = self.manifest.key_groups;
            return Err(Error::usage(message).help((words.key_groups)(had)));
        }
        Ok(())
    }

    /// Leaves of the splits those that the checkpoint has, and says where the job stands.
    ///
    /// # Errors
    /// Data, with the file that has gone or changed.
    pub(crate) fn place<S: Replayed>(&self, splits: &mut Vec<S>, notice: &mut dyn FnMut(&str)) -> Result<Place> {
        let is = |entry: &S, split: &SplitState| split.branch as usize == entry.branch() && split.name == entry.name();
        let known = |entry: &S| self.manifest.splits.iter().find(|split| is(entry, split));
        for entry in splits.iter().filter(|entry| known(entry).is_none()) {
            notice(&format!(
                "{} came after the checkpoint was taken; it is not read by a job that goes on from there",
                entry.name()
            ));
        }
        splits.retain(|entry| known(entry).is_some());
        if let Some(gone) = self.manifest.splits.iter().find(|split| !splits.iter().any(|entry| is(entry, split))) {
            return Err(changed(gone, "is not there any more"));
        }
        let mut position = Position::default();
        for entry in splits.iter() {
            let Some(split) = known(entry) else { continue };
            if entry.bytes() != split.bytes {
                let how = format!("has {} bytes, and had {} at the checkpoint", entry.bytes(), split.bytes);
                return Err(changed(split, &how));
            }
            entry.pass_over(split.next_block as usize)?;
            position.splits.push(SplitPosition {
                next_block: split.next_block as usize,
                state: split.state,
                origin: Origin {
                    block: split.origin.block as usize,
                    state: split.origin.state,
                    before: Watermark(split.origin.before),
                    second: Watermark(split.origin.second),
                },
                peaks: Peaks { first: split.peaks[0], second: split.peaks[1] },
                idle: split.idle,
            });
        }
        let watermarks = self.manifest.stages.iter().map(|stage| Watermark(stage.watermark)).collect();
        Ok(Place { position, watermarks })
    }

    /// What each of `shards` shards takes over.
    ///
    /// # Errors
    /// As [`Checkpoint::at`].
    pub(crate) fn state(&self, shards: usize) -> Result<Vec<Restored>> {
        let had = self.manifest.shards as usize;
        if had == shards {
            let files = self.manifest.open_state(&self.folder)?;
            let own = |file| Restored { files: vec![file], same_keys: true, counts: true };
            return Ok(files.into_iter().map(own).collect());
        }
        let groups = |shards: usize| KeyGroups::new(self.manifest.key_groups, shards as u32);
        let (before, now) = (groups(had), groups(shards));
        let mut restored = Vec::new();
        for shard in 0..shards {
            let shares = |old: usize| {
                let both = |group: u32| (before.owner_of_group(group), now.owner_of_group(group));
                (0..self.manifest.key_groups).any(|group| both(group) == (old as u32, shard as u32))
            };
            // The first shard also takes over what all of them have counted.
            let mut files = self.manifest.open_state(&self.folder)?;
            files.retain(|file| shard == 0 || shares(file.shard));
            restored.push(Restored { files, same_keys: false, counts: shard == 0 });
        }
        Ok(restored)
    }

    /// Brings the sinks to the checkpoint: what it covers is shown, what was written behind it goes.
    ///
    /// # Errors
    /// As [`Sink::restore`](crate::sink::Sink::restore).
    pub(super) fn restore_sinks(&self, sinks: &[OpenSink]) -> Result<()> {
        sinks.iter().zip(&self.manifest.sinks).try_for_each(|(sink, state)| sink.restore(&state.files))
    }

    /// The options of a run that goes on from here.
    pub(crate) fn adapt(&self, options: &RunOptions) -> RunOptions {
        RunOptions { block_bytes: self.manifest.block_bytes as usize, ..options.clone() }
    }
}

fn is_live(folder: &Path) -> Error {
    Error::usage(format!("the job that took {} still runs", folder.display()))
        .help("end it first: two jobs that go on from one checkpoint would write the same rows twice")
}

/// Says, of a job that has ended with an error, that it can go on from a checkpoint, if it can.
pub(crate) fn resumable(error: Error, folder: &CheckpointFolder, goes_on: &str, notice: &mut dyn FnMut(&str)) -> Error {
    let found = CheckpointFolder::all(folder.path()).unwrap_or_default();
    let Some((newest, _)) = found.first() else { return error };
    let kept = format!("what {} covers was kept", newest.display());
    if error.kind() == ErrorKind::Cancelled {
        return Error::new(ErrorKind::Cancelled, format!("interrupted; {kept}")).help(goes_on);
    }
    notice(&format!("{kept}; {goes_on}"));
    error
}

fn changed(split: &SplitState, how: &str) -> Error {
    Error::new(ErrorKind::Data, format!("{} {how}", split.name))
        .help("a job goes on in the files that it has begun; bring the file back, or run the job from its beginning")
}

/// The first thing in which two lists differ, in words.
fn difference(what: &str, had: &[Fingerprint], has: &[Fingerprint]) -> Option<String> {
    for (number, (had, has)) in had.iter().zip(has).enumerate() {
        if had == has {
            continue;
        }
        if had.title != has.title {
            return Some(format!("{what} {} was {}, it is {}", number + 1, had.title, has.title));
        }
        let (before, after) = excerpts(&had.text, &has.text);
        return Some(format!("{what} {}, {}, had {before}, it has {after}", number + 1, had.title));
    }
    (had.len() != has.len()).then(|| format!("it had {} {what}s, it has {}", had.len(), has.len()))
}

/// Where two texts begin to differ, a few words of each.
fn excerpts(a: &str, b: &str) -> (String, String) {
    const BEFORE: usize = 30;
    const LENGTH: usize = 80;
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let excerpt = |text: &str| {
        let piece: String = text.chars().skip(common.saturating_sub(BEFORE)).take(LENGTH).collect();
        format!("`{}`", piece.trim())
    };
    (excerpt(a), excerpt(b))
}
