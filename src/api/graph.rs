//! The graph that a program builds: sources, window stages and sinks, each made anew for every shard.

use std::sync::Arc;

use super::branch::AnyBranch;
use super::explain::OperatorCard;
use super::sink::AnySink;
use super::stage::AnyStage;
use crate::error::Error;

/// Who gives records to a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Branch(usize),
    Stage(usize),
}

/// One input of a stage: it takes what one producer sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Port {
    pub stage: usize,
    pub from: From,
}

/// Makes what one shard needs of a stream's consumers.
pub(super) struct Instantiate<'a> {
    /// Whose records they take.
    pub from: From,
    pub ports: &'a mut Vec<Port>,
    pub shards: usize,
}

impl Instantiate<'_> {
    /// The port through which the present producer reaches a stage.
    pub fn port(&mut self, stage: usize) -> usize {
        let port = Port { stage, from: self.from };
        self.ports.iter().position(|known| *known == port).unwrap_or_else(|| {
            self.ports.push(port);
            self.ports.len() - 1
        })
    }
}

type MakeStage = Arc<dyn Fn(&mut Instantiate<'_>) -> Box<dyn AnyStage> + Send + Sync>;

pub(super) struct StageEntry {
    pub make: MakeStage,
    pub card: OperatorCard,
}

/// What a program has built so far.
#[derive(Default)]
pub(super) struct Graph {
    pub branches: Vec<Arc<dyn AnyBranch>>,
    pub stages: Vec<StageEntry>,
    pub sinks: Vec<Box<dyn AnySink>>,
    /// Faults of the program, in the order of its lines; execution begins with the first.
    pub faults: Vec<Error>,
    pub warnings: Vec<String>,
}
