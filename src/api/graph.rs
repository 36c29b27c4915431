//! The graph that a program builds: sources, window stages and sinks, each made anew for every shard.

use std::sync::Arc;

use super::branch::{AnyBranch, AnyChain};
use super::explain::{OperatorCard, SinkCard};
use super::push::{Node, Push};
use super::sink::AnySink;
use super::stage::AnyStage;
use crate::error::{Error, Result};
use crate::shard::{Port, Producer};
use crate::snapshot::{StateFile, StateWriter};
use crate::windowing::{Data, Taking};

/// A producer whose records go to a sink, perhaps those of a side output.
pub(super) struct Gives {
    pub from: Producer,
    pub side: Option<String>,
    pub sink: usize,
}

/// Makes what one shard needs of a stream's consumers.
pub(super) struct Instantiate<'a> {
    /// Whose records they take.
    pub from: Producer,
    pub ports: &'a mut Vec<Port>,
    pub shard: usize,
    pub shards: usize,
    /// The side output whose consumers are made.
    pub side: Option<String>,
    pub gives: Vec<Gives>,
    /// What was made so far wants records in the order of their places.
    pub wants_order: bool,
}

impl Instantiate<'_> {
    /// Before the graph has any producer.
    pub fn new(ports: &mut Vec<Port>, (shard, shards): (usize, usize)) -> Instantiate<'_> {
        Instantiate {
            from: Producer::Branch(0),
            ports,
            shard,
            shards,
            side: None,
            gives: Vec::new(),
            wants_order: false,
        }
    }

    /// What is made gives to a sink, which wants the records of a producer in order or does not.
    pub fn gives_to(&mut self, sink: usize, in_order: bool) {
        self.wants_order |= in_order;
        self.gives.push(Gives { from: self.from, side: self.side.clone(), sink });
    }

    /// A port through which the present producer reaches a stage: each way there is one of its own, so that records of
    /// one place come in the same order on any number of shards.
    pub fn port(&mut self, stage: usize) -> usize {
        self.wants_order = true;
        self.ports.push(Port { stage, from: self.from });
        self.ports.len() - 1
    }
}

type MakeStage = Arc<dyn Fn(&mut Instantiate<'_>) -> Box<dyn AnyStage> + Send + Sync>;

pub(super) struct StageEntry {
    pub make: MakeStage,
    pub card: OperatorCard,
    /// The types of its key, its elements and what it makes of them, in Rust's words.
    pub types: String,
}

/// What a program has built so far.
#[derive(Default)]
pub(super) struct Graph {
    pub branches: Vec<Arc<dyn AnyBranch>>,
    pub stages: Vec<StageEntry>,
    pub sinks: Vec<Box<dyn AnySink>>,
    /// One a sink.
    pub sink_cards: Vec<SinkCard>,
    /// Faults of the program, in the order of its lines; execution begins with the first.
    pub faults: Vec<Error>,
    pub warnings: Vec<String>,
}

/// Branches and stages of a graph, made for one shard.
pub(super) struct Instance {
    /// By branch.
    pub chains: Vec<Box<dyn AnyChain>>,
    pub stages: Vec<Box<dyn AnyStage>>,
}

impl Instance {
    /// Names the state of all stages.
    ///
    /// # Errors
    /// As [`AnyStage::archive`].
    pub fn save(&mut self) -> Result<StateWriter> {
        let mut state = StateWriter::default();
        for (number, stage) in self.stages.iter_mut().enumerate() {
            stage.archive(&mut state.stage(number), &Taking::ALL)?;
        }
        Ok(state)
    }

    /// Takes what is wanted of the state in these files.
    ///
    /// # Errors
    /// As [`AnyStage::archive`].
    pub fn restore(&mut self, files: Vec<StateFile>, taking: &Taking<'_>) -> Result<()> {
        for file in files {
            let mut reader = file.into_reader();
            for (number, stage) in self.stages.iter_mut().enumerate() {
                stage.archive(&mut reader.stage(number), taking)?;
                reader.end_stage()?;
            }
        }
        Ok(())
    }
}

/// Who feeds whom.
pub(super) struct Edges {
    pub ports: Vec<Port>,
    pub gives: Vec<Gives>,
}

impl Graph {
    /// Who feeds whom: found by making the parts of one shard.
    pub fn edges(&self) -> Edges {
        let mut ports = Vec::new();
        let mut instantiate = Instantiate::new(&mut ports, (0, 1));
        self.instantiate_into(&mut instantiate);
        let gives = instantiate.gives;
        Edges { ports, gives }
    }

    /// As [`Graph::instantiate`] for one shard, with a further branch: what takes the records of `input`.
    pub fn instantiate_with_input<T: Data>(&self, input: &Node<T>) -> (Box<dyn Push<T>>, Instance, Vec<Port>) {
        let mut ports = Vec::new();
        let mut instantiate = Instantiate::new(&mut ports, (0, 1));
        instantiate.from = Producer::Branch(self.branches.len());
        let input = input.instantiate(&mut instantiate);
        let instance = self.instantiate_into(&mut instantiate);
        (input, instance, ports)
    }

    /// What shard `shard` of `shards` needs. The ports that are found are the same for all shards.
    pub fn instantiate(&self, shard: usize, shards: usize) -> (Instance, Vec<Port>) {
        let mut ports = Vec::new();
        let instance = self.instantiate_into(&mut Instantiate::new(&mut ports, (shard, shards)));
        (instance, ports)
    }

    fn instantiate_into(&self, instantiate: &mut Instantiate<'_>) -> Instance {
        let mut instance = Instance { chains: Vec::new(), stages: Vec::new() };
        for (number, branch) in self.branches.iter().enumerate() {
            instantiate.from = Producer::Branch(number);
            instance.chains.push(branch.instantiate(instantiate));
        }
        for (number, stage) in self.stages.iter().enumerate() {
            instantiate.from = Producer::Stage(number);
            instance.stages.push((stage.make)(instantiate));
        }
        instance
    }
}
