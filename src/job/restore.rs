//! Going on from a checkpoint: finds it, sees that it is of this job, and brings sources, sinks and shards to where it stands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::checkpoint::fingerprints;
use super::output::OpenSink;
use super::{Report, RunOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::sequence::{Origin, Position, SplitPosition};
use crate::format::local_path;
use crate::io::files::Disk;
use crate::key::KeyGroups;
use crate::shard::Place;
use crate::shard::columns::Restored;
use crate::shard::columns::program::Program;
use crate::shard::columns::scan::SplitEntry;
use crate::snapshot::{
    CheckpointFolder, CheckpointRoot, Counts, Fingerprint, METADATA, Manifest, SplitState, same_script,
};
use crate::time::Watermark;
use crate::watermark::Peaks;

/// A checkpoint that every byte of has been looked at.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    pub folder: PathBuf,
    pub manifest: Manifest,
    /// Whose state in its files each stage of the job takes over; none: each its own.
    stages: Option<Vec<usize>>,
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
        Ok(Checkpoint { folder, manifest, stages: None, claimed: false })
    }

    /// The newest checkpoint of a script below a folder that is not damaged; `damaged` is told of those that are. Where
    /// the script has come further without one: the last of its statements that have ended well.
    ///
    /// # Errors
    /// Usage if there is none; Unsupported for a folder on another machine.
    pub fn latest((disk, folder): (&Disk, &str), script: &str, damaged: &mut dyn FnMut(&Error)) -> Result<Resume> {
        let folder = local_path(folder)?;
        let root = CheckpointRoot::on(disk.clone(), Path::new(folder));
        let done = root.done(script);
        if done > 0 {
            root.clean_up_done(script, done)?;
        }
        for (folder, manifest) in root.all()? {
            let opened = manifest.and_then(|manifest| {
                let ours = same_script(&manifest.script, script) && manifest.statement > done;
                if ours { manifest.open_state(&folder).map(|_| Some(manifest)) } else { Ok(None) }
            });
            match opened {
                Ok(Some(_)) if CheckpointFolder::is_live(&folder) => return Err(is_live(&folder)),
                Ok(Some(manifest)) => {
                    return Ok(Resume::From(Box::new(Checkpoint { folder, manifest, stages: None, claimed: true })));
                }
                Ok(None) => {}
                Err(error) => damaged(&error),
            }
        }
        if done > 0 {
            return Ok(Resume::Behind(done));
        }
        let message = format!("no checkpoint of {script} below {folder} can be restored");
        Err(Error::usage(message).help(
            "run the job from its beginning, without --restore; rows that its tables show from before come again, so remove \
             those files first",
        ))
    }

    /// A script begins anew: that it has ended well before counts no more.
    ///
    /// # Errors
    /// Io, with the note of it that cannot be removed.
    pub fn begin_anew((disk, folder): (&Disk, &str), script: &str) -> Result<()> {
        let Ok(folder) = local_path(folder) else { return Ok(()) };
        CheckpointRoot::on(disk.clone(), Path::new(folder)).forget_done(script)
    }

    /// The number of the first checkpoint of a job, and what was counted before: those behind the one that it goes on from.
    pub(crate) fn next(from: Option<&Checkpoint>) -> (u64, Counts) {
        from.map_or((1, Counts::default()), |from| (from.manifest.checkpoint + 1, from.manifest.counts.clone()))
    }

    /// The checkpoints of the run that wrote it, if they are the job's to add to and to remove.
    pub(crate) fn run(&self, disk: &Disk) -> Option<CheckpointFolder> {
        self.claimed.then(|| CheckpointFolder::around(disk.clone(), &self.folder))
    }

    /// The checkpoint as the script takes it over. Its state must be that of the script's stages and sinks; with `drops`
    /// it may have more, which is left out, with a notice.
    ///
    /// # Errors
    /// Usage, with the first difference.
    pub(super) fn fit(&self, program: &Program, drops: bool, report: &mut dyn Report) -> Result<Checkpoint> {
        let (stages, sinks) = fingerprints(program);
        self.check_key_groups(program.groups.groups, &Words::SCRIPT)?;
        let Some(changed) = self.difference(&stages, &sinks) else { return Ok(self.clone()) };
        let refused = self.is_another(&changed, &Words::SCRIPT);
        let (had_stages, had_sinks) = self.fingerprints();
        match (positions(&had_stages, &stages), positions(&had_sinks, &sinks)) {
            (Some(stages), Some(sinks)) if drops => {
                let dropped = dropped("operator", &had_stages, &stages).chain(dropped("sink", &had_sinks, &sinks));
                dropped.for_each(|text| report.notice(&text));
                Ok(self.part(stages, &sinks))
            }
            (Some(_), Some(_)) => Err(refused.help(
                "restore it with the script as it was; --allow-non-restored-state drops what the script has no more",
            )),
            _ => Err(refused),
        }
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
        self.check_key_groups(groups, words)?;
        self.difference(stages, sinks).map_or(Ok(()), |changed| Err(self.is_another(&changed, words)))
    }

    fn check_key_groups(&self, groups: u32, words: &Words) -> Result<()> {
        let had = self.manifest.key_groups;
        if had == groups {
            return Ok(());
        }
        let message = format!("{} has {had} key groups, the job has {groups}", self.folder.display());
        Err(Error::usage(message).help((words.key_groups)(had)))
    }

    /// What the stages and the sinks were known by.
    fn fingerprints(&self) -> (Vec<Fingerprint>, Vec<Fingerprint>) {
        let stages = self.manifest.stages.iter().map(|stage| stage.fingerprint.without_places());
        let sinks = self.manifest.sinks.iter().map(|sink| sink.fingerprint.without_places());
        (stages.collect(), sinks.collect())
    }

    fn difference(&self, stages: &[Fingerprint], sinks: &[Fingerprint]) -> Option<String> {
        let (had_stages, had_sinks) = self.fingerprints();
        difference("operator", &had_stages, stages).or_else(|| difference("sink", &had_sinks, sinks))
    }

    fn is_another(&self, changed: &str, words: &Words) -> Error {
        let message = format!("{} is of another {}: {changed}", self.folder.display(), words.job);
        Error::usage(message).help(words.as_it_was)
    }

    /// What it has of some stages and sinks.
    fn part(&self, stages: Vec<usize>, sinks: &[usize]) -> Checkpoint {
        let mut part = self.clone();
        let Manifest { stages: had, sinks: had_sinks, counts, .. } = &self.manifest;
        part.manifest.stages = stages.iter().map(|&stage| had[stage].clone()).collect();
        part.manifest.sinks = sinks.iter().map(|&sink| had_sinks[sink].clone()).collect();
        part.manifest.counts.written =
            sinks.iter().map(|&sink| counts.written.get(sink).copied().unwrap_or(0)).collect();
        part.stages = Some(stages);
        part
    }

    /// Numbers the scans of the checkpoint as the job has them, which has fewer: by the files that they read.
    ///
    /// # Errors
    /// Usage, if that does not say which is which.
    fn renumbered<S: Replayed>(&self, splits: &[S]) -> Result<Vec<SplitState>> {
        if self.stages.is_none() {
            return Ok(self.manifest.splits.clone());
        }
        let mut had: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        self.manifest.splits.iter().for_each(|split| _ = had.entry(split.branch).or_default().insert(&split.name));
        let mut has: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
        splits.iter().for_each(|entry| _ = has.entry(entry.branch() as u32).or_default().insert(entry.name()));
        let mut numbered = Vec::new();
        for (branch, files) in &has {
            let same = |all: &BTreeMap<u32, BTreeSet<&str>>| -> Vec<u32> {
                all.iter().filter(|(_, others)| !others.is_disjoint(files)).map(|(number, _)| *number).collect()
            };
            let (before, now) = (same(&had), same(&has));
            let at = now.iter().position(|number| number == branch).filter(|_| before.len() == now.len());
            let Some(old) = at.map(|at| before[at]) else {
                let file = files.first().copied().unwrap_or_default();
                let message = format!("{} does not say how far this script has read {file}", self.folder.display());
                return Err(Error::usage(message)
                    .help("restore it with all statements that read this file, or begin anew, without --restore"));
            };
            let ours = self.manifest.splits.iter().filter(|split| split.branch == old);
            numbered.extend(ours.map(|split| SplitState { branch: *branch, ..split.clone() }));
        }
        Ok(numbered)
    }

    /// Leaves of the splits those that the checkpoint has, and says where the job stands.
    ///
    /// # Errors
    /// Data, with the file that has gone or changed.
    pub(crate) fn place<S: Replayed>(&self, splits: &mut Vec<S>, notice: &mut dyn FnMut(&str)) -> Result<Place> {
        let had = self.renumbered(splits)?;
        let is = |entry: &S, split: &SplitState| split.branch as usize == entry.branch() && split.name == entry.name();
        let known = |entry: &S| had.iter().find(|split| is(entry, split));
        for entry in splits.iter().filter(|entry| known(entry).is_none()) {
            notice(&format!(
                "{} came after the checkpoint was taken; it is not read by a job that goes on from there",
                entry.name()
            ));
        }
        splits.retain(|entry| known(entry).is_some());
        if let Some(gone) = had.iter().find(|split| !splits.iter().any(|entry| is(entry, split))) {
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

    /// What each of `shards` shards takes over. Whoever found the checkpoint has looked at every byte of it.
    ///
    /// # Errors
    /// As [`Checkpoint::at`].
    pub(crate) fn state(&self, shards: usize) -> Result<Vec<Restored>> {
        let had = self.manifest.shards as usize;
        if had == shards {
            let files = self.manifest.reopen_state(&self.folder)?;
            let own = |file| Restored { files: vec![file], stages: self.stages.clone(), same_keys: true, counts: true };
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
            let mut files = self.manifest.reopen_state(&self.folder)?;
            files.retain(|file| shard == 0 || shares(file.shard()));
            restored.push(Restored { files, stages: self.stages.clone(), same_keys: false, counts: shard == 0 });
        }
        Ok(restored)
    }

    /// Brings the sinks to the checkpoint: what it covers is shown, what was written behind it goes.
    ///
    /// # Errors
    /// As [`Sink::restore`](crate::sink::Sink::restore).
    pub(super) fn restore_sinks(&self, disk: &Disk, sinks: &[OpenSink]) -> Result<()> {
        // Pieces of a table that is one file go with the job; a savepoint has them too.
        for part in self.manifest.sinks.iter().flat_map(|sink| &sink.files.parts).filter(|part| part.visible.is_empty())
        {
            let hidden = Path::new(&part.hidden);
            let kept = hidden.file_name().map(|name| self.folder.join(name)).filter(|kept| kept.exists());
            if let Some(kept) = kept.filter(|_| !hidden.exists()) {
                disk.link(&kept, hidden).map_err(|error| Error::io("bring back", hidden.display(), error))?;
            }
        }
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
    let found = folder.own().all().unwrap_or_default();
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

/// Where each of the wanted is among those that there were, in the same order; none if one is not.
fn positions(had: &[Fingerprint], wanted: &[Fingerprint]) -> Option<Vec<usize>> {
    let mut had = had.iter().enumerate();
    wanted.iter().map(|wanted| had.find(|(_, had)| *had == wanted).map(|(at, _)| at)).collect()
}

/// What is told of those that are not taken over.
fn dropped(what: &str, had: &[Fingerprint], taken: &[usize]) -> impl Iterator<Item = String> {
    let left: Vec<String> = had
        .iter()
        .enumerate()
        .filter(|(at, _)| !taken.contains(at))
        .map(|(at, had)| format!("dropped from the checkpoint: {what} {}, {}", at + 1, had.title))
        .collect();
    left.into_iter()
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
