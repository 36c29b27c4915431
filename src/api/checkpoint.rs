//! Checkpoints of a program: where it goes on, whether it is the one that took the checkpoint, and its cuts while it runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::branch::AnySplit;
use super::flow::Saved;
use super::graph::{Edges, Graph};
use super::run::{Settings, Splits};
use crate::error::{Error, ErrorKind, Result};
use crate::job::checkpoint::{Coordinator, Identity, Share};
use crate::job::drive::NextCut;
use crate::job::restore::{Replayed, Words};
use crate::job::schedule::Periodic;
use crate::job::{Checkpoint, Completed, RestoreFrom, Resume};
use crate::shard::{Place, Producer};
use crate::snapshot::{Closed, Counts, Fingerprint};

/// What to do to go on, for messages.
pub(super) const GOES_ON: &str = "restore(RestoreFrom::Latest) goes on from there";

const WORDS: Words = Words {
    job: "program",
    as_it_was: "restore it with the program as it was, or run this one from its beginning, without restore",
    key_groups: |groups| format!("set_max_parallelism({groups})"),
};

/// What the program says of its checkpoints.
#[derive(Debug, Clone)]
pub(super) struct CheckpointSettings {
    /// From the end of one to the start of the next; none: no checkpoints are taken.
    pub interval: Option<Duration>,
    pub storage: Option<PathBuf>,
    /// How many are kept.
    pub retained: u64,
    /// The name of the job; none: that of the program's file.
    pub job: Option<String>,
}

impl Default for CheckpointSettings {
    fn default() -> Self {
        CheckpointSettings { interval: None, storage: None, retained: 1, job: None }
    }
}

impl CheckpointSettings {
    pub fn job(&self) -> String {
        let own = || std::env::current_exe().ok()?.file_name().map(|name| name.to_string_lossy().into_owned());
        self.job.clone().or_else(own).unwrap_or_else(|| String::from("program"))
    }
}

/// Where a program begins.
pub(super) enum Start {
    New,
    From(Box<Checkpoint>),
    /// It has ended well before.
    Behind,
}

/// # Errors
/// There is nothing to restore, or it is damaged.
pub(super) fn start(settings: &Settings, notice: &dyn Fn(&str)) -> Result<Start> {
    let (checkpoints, number) = (&settings.checkpoints, settings.execution);
    let disk = &settings.options.disk;
    let resume = match &settings.options.restore {
        None => {
            if let (Some(storage), 1) = (&checkpoints.storage, number) {
                Checkpoint::begin_anew((disk, &storage.to_string_lossy()), &checkpoints.job())?;
            }
            return Ok(Start::New);
        }
        Some(RestoreFrom::Path(path)) => Resume::From(Box::new(Checkpoint::at(path).map_err(in_words)?)),
        Some(RestoreFrom::Latest) => {
            let Some(storage) = &checkpoints.storage else {
                return Err(Error::usage("nothing says where the latest checkpoint is")
                    .help("set_checkpoint_storage(path) does"));
            };
            let mut damaged = |error: &Error| notice(&format!("a checkpoint is passed over: {error}"));
            Checkpoint::latest((disk, &storage.to_string_lossy()), &checkpoints.job(), &mut damaged)
                .map_err(in_words)?
        }
    };
    Ok(match resume {
        Resume::From(checkpoint) if checkpoint.manifest.statement == number => Start::From(checkpoint),
        Resume::From(checkpoint) if checkpoint.manifest.statement > number => Start::Behind,
        Resume::Behind(done) if done >= number => Start::Behind,
        // What the program executes behind the one that was restored.
        Resume::From(_) | Resume::Behind(_) => Start::New,
    })
}

/// Remedies for those who write programs.
fn in_words(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Usage => error.help("name a folder chk-N of this job, or run the program without restore"),
        _ => error,
    }
}

/// What the operators and the sinks of a program are known by: all that decides on what they keep and write, but for what
/// is in closures.
pub(super) fn fingerprints(graph: &Graph, edges: &Edges, block_rows: usize) -> [Vec<Fingerprint>; 2] {
    let producer = |from: Producer| match from {
        Producer::Stage(number) => format!("operator {}", number + 1),
        Producer::Branch(number) => {
            let card = graph.branches[number].card();
            let times = (card.timestamps, card.watermarks, card.idleness);
            format!("source {} `{}` in blocks of {block_rows} records, {times:?}", number + 1, card.name)
        }
    };
    let stage = |(number, entry): (usize, &super::graph::StageEntry)| {
        let (card, ports) = (&entry.card, edges.ports.iter().filter(|port| port.stage == number));
        let from: Vec<String> = ports.map(|port| producer(port.from)).collect();
        let text = format!(
            "{}, {}, evictor {}, allowed lateness {} ms, late elements to {:?}, {:?} operator of {}, from {}",
            card.assigner,
            card.trigger,
            card.evictor,
            card.allowed_lateness_ms,
            card.late_side_output,
            card.operator,
            entry.types,
            from.join(" and ")
        );
        Fingerprint { title: format!("`{}`", card.name), text }
    };
    let sink = |(number, card): (usize, &super::explain::SinkCard)| {
        let given = edges.gives.iter().filter(|gives| gives.sink == number);
        let from = given.map(|gives| format!("{} {:?}", producer(gives.from), gives.side)).collect::<Vec<_>>();
        let text = format!("{} from {}", graph.sinks[number].describe(), from.join(" and "));
        Fingerprint { title: format!("`{}`", card.name), text }
    };
    [graph.stages.iter().enumerate().map(stage).collect(), graph.sink_cards.iter().enumerate().map(sink).collect()]
}

/// The checkpoint must be of this program.
///
/// # Errors
/// Usage, with the first difference.
pub(super) fn check(checkpoint: &Checkpoint, [stages, sinks]: &[Vec<Fingerprint>; 2], groups: u32) -> Result<()> {
    checkpoint.check((stages, sinks), groups, &WORDS)
}

impl Replayed for (usize, Arc<dyn AnySplit>) {
    fn branch(&self) -> usize {
        self.0
    }
    fn name(&self) -> &str {
        self.1.name()
    }
    fn bytes(&self) -> u64 {
        self.1.bytes()
    }
    fn pass_over(&self, blocks: usize) -> Result<()> {
        self.1.pass_over(blocks)
    }
}

/// Leaves of the splits those that the checkpoint has, and says where the job stands.
///
/// # Errors
/// Data, with what has gone or changed; Usage where a split can't go on in the middle.
pub(super) fn place(checkpoint: &Checkpoint, splits: &mut Splits, notice: &dyn Fn(&str)) -> Result<Place> {
    if let Some(why) = why_not_replayed(splits) {
        return Err(Error::usage(format!("the program can't go on from a checkpoint: {why}"))
            .help("run it from its beginning, without restore"));
    }
    checkpoint.place(splits, &mut |text| notice(text))
}

fn why_not_replayed(splits: &Splits) -> Option<String> {
    splits.iter().find_map(|(_, split)| Some(format!("{} {}", split.name(), split.why_not_replayed()?)))
}

/// When checkpoints are taken, and where to, if the program asks for them and can go on from one; else a notice says why
/// not.
pub(super) fn schedule(
    settings: &Settings,
    splits: &Splits,
    restored: Option<&Checkpoint>,
    notice: &dyn Fn(&str),
) -> Option<Periodic> {
    let CheckpointSettings { interval, storage, retained, .. } = &settings.checkpoints;
    let interval = (*interval)?;
    let why_not = match storage {
        None => Some(String::from("set_checkpoint_storage(path) says where to")),
        Some(_) => why_not_replayed(splits),
    };
    if let Some(why) = why_not {
        notice(&format!("no checkpoints are taken: {why}"));
        return None;
    }
    let storage = storage.as_deref().unwrap_or(Path::new("."));
    Some(Periodic::new((&settings.options.disk, storage), restored, interval, (*retained).max(1)))
}

/// What a program's manifests say, whatever the cut.
pub(super) fn identity(
    settings: &Settings,
    (shards, block_bytes): (usize, usize),
    splits: &Splits,
    [stages, sinks]: [Vec<Fingerprint>; 2],
    base: Counts,
) -> Identity {
    let split =
        |(branch, split): &(usize, Arc<dyn AnySplit>)| (*branch as u32, split.name().to_string(), split.bytes());
    Identity {
        script: settings.checkpoints.job(),
        statement: settings.execution,
        key_groups: settings.key_groups,
        shards: shards as u32,
        block_bytes: block_bytes as u64,
        stages,
        sinks,
        splits: splits.iter().map(split).collect(),
        base,
    }
}

/// The cuts of a running program, on the thread that executes it.
pub(super) struct Cuts {
    coordinator: Coordinator,
    shards: usize,
    /// What shards have said of cuts that others have not come to, by number.
    arrived: BTreeMap<u64, Vec<Saved>>,
}

impl Cuts {
    pub fn new(coordinator: Coordinator, shards: usize) -> Self {
        Cuts { coordinator, shards, arrived: BTreeMap::new() }
    }

    /// A shard has come to a cut. What all have said, when it is the last: then all records before the cut have been
    /// told, and none behind it was given to a sink.
    pub fn arrive(&mut self, saved: Saved) -> Option<Vec<Saved>> {
        let number = saved.cut.number;
        let all = self.arrived.entry(number).or_default();
        all.push(saved);
        if all.len() == self.shards { self.arrived.remove(&number) } else { None }
    }

    /// Has a checkpoint written. `closed`: the files that sinks have completed, which one writer each has written.
    ///
    /// # Errors
    /// As [`Coordinator::take`].
    pub fn hand_over(&mut self, saved: Vec<Saved>, closed: Vec<Closed>) -> Result<Option<Completed>> {
        let (mut closed, mut completed) = (Some(closed), None);
        for Saved { shard, cut, state, pause, counts, .. } in saved {
            let share = Share { state, closed: closed.take().unwrap_or_default(), pause, counts };
            completed = self.coordinator.take(cut, shard, share)?.or(completed);
        }
        Ok(completed)
    }

    pub fn next_cut(&mut self) -> Option<NextCut> {
        self.coordinator.next_cut()
    }
    /// # Errors
    /// As [`Coordinator::completed`].
    pub fn completed(&mut self) -> Result<Option<Completed>> {
        self.coordinator.completed()
    }
    /// # Errors
    /// As [`Coordinator::last`].
    pub fn last(&mut self) -> Result<Option<Completed>> {
        self.coordinator.last()
    }
}
