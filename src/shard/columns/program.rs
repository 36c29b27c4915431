//! A plan cut into what one shard does at a time: branches that read, stages that keep state.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use super::copies::Elements;
use super::scan::SplitEntry;
use crate::error::Result;
use crate::expr::{EvalContext, Expr};
use crate::key::KeyGroups;
use crate::plan::{JobPlan, Node, ScanSpec, SinkSpec, StageSpec, WindowSpec};
use crate::shard::layout::{Layout, Port, Producer};
use crate::watermark::WatermarkRule;
use crate::window::Deadlines;

/// Work without state on each batch.
#[derive(Debug, Clone)]
pub enum Link {
    Calc { filter: Option<Expr>, exprs: Vec<Expr>, schema: SchemaRef },
    Assign { window: WindowSpec, time: usize, schema: SchemaRef },
    Expand { copies: Vec<Vec<Expr>>, schema: SchemaRef },
    Unnest { elements: Elements, schema: SchemaRef },
}

impl Link {
    /// Of the rows that it gives.
    pub fn schema(&self) -> &SchemaRef {
        match self {
            Link::Calc { schema, .. }
            | Link::Assign { schema, .. }
            | Link::Expand { schema, .. }
            | Link::Unnest { schema, .. } => schema,
        }
    }
}

/// Where rows go at the end of a chain of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// An input of a stage, after an exchange by key.
    Port(usize),
    Sink(usize),
}

/// Reads one scan.
#[derive(Debug, Clone)]
pub struct Branch {
    pub scan: ScanSpec,
    pub chain: Vec<Link>,
    pub to: Target,
}

/// A stateful operator and what follows it on the same shard.
#[derive(Debug, Clone)]
pub struct Stage {
    pub spec: StageSpec,
    pub chain: Vec<Link>,
    pub to: Target,
}

/// The same for all shards of a job.
#[derive(Debug, Clone)]
pub struct Program {
    pub branches: Vec<Branch>,
    /// A stage comes after those that feed it.
    pub stages: Vec<Stage>,
    pub ports: Vec<Port>,
    /// By port: which side of its stage it feeds.
    pub sides: Vec<usize>,
    pub sinks: Vec<SinkSpec>,
    pub rule: WatermarkRule,
    pub groups: KeyGroups,
    pub context: EvalContext,
    pub batch_rows: usize,
}

impl Program {
    /// `shards` must not exceed the plan's key groups.
    pub fn new(plan: &JobPlan, shards: usize, batch_rows: usize, now_ms: i64) -> Result<Arc<Self>> {
        let mut program = Program {
            branches: Vec::new(),
            stages: Vec::new(),
            ports: Vec::new(),
            sides: Vec::new(),
            sinks: Vec::new(),
            rule: WatermarkRule::from_interval(plan.config.watermark_interval_ms),
            groups: KeyGroups::new(plan.config.key_groups, shards as u32),
            context: EvalContext { time_zone: plan.config.time_zone.clone(), now_ms },
            batch_rows,
        };
        for pipeline in &plan.pipelines {
            program.sinks.push(pipeline.sink.clone());
            let sink = program.sinks.len() - 1;
            program.lower(&pipeline.root, Vec::new(), Destination::Sink(sink));
        }
        Ok(Arc::new(program))
    }

    /// The same as the shards see it.
    pub fn layout(&self, splits: &[SplitEntry]) -> Arc<Layout> {
        let splits = splits.iter().map(|entry| entry.branch).collect();
        Arc::new(Layout::new(&self.ports, self.stages.len(), self.branches.len(), splits))
    }

    /// True if a row of a table may reach the stage more than once, as copies that may differ in being late. Those for
    /// several grouping sets do not.
    pub fn takes_copies(&self, stage: usize) -> bool {
        let feeders = self.ports.iter().filter(|port| port.stage == stage);
        feeders.into_iter().any(|port| match port.from {
            Producer::Branch(branch) => {
                let links = &self.branches[branch].chain;
                links.iter().any(|link| matches!(link, Link::Assign { .. } | Link::Unnest { .. }))
            }
            Producer::Stage(_) => false,
        })
    }

    /// True if rows without elements are left out, as those that a filter removes.
    pub fn unnests(&self) -> bool {
        self.branches.iter().flat_map(|branch| &branch.chain).any(|link| matches!(link, Link::Unnest { .. }))
    }

    /// The side of its stage that a port feeds, and the key columns there.
    pub fn side(&self, port: usize) -> (usize, &[usize]) {
        let side = self.sides[port];
        (side, self.stages[self.ports[port].stage].spec.keys(side))
    }

    /// By port: which of the rows on their way there need a mark.
    ///
    /// # Errors
    /// As [`Deadlines::new`].
    pub fn deadlines(&self) -> Result<Vec<Deadlines>> {
        let sides = self.ports.iter().zip(&self.sides);
        sides.map(|(port, &side)| Deadlines::new(self.stages[port.stage].spec.lateness(side))).collect()
    }

    /// Adds what produces `node`'s rows; `after` is the work between the node and its destination.
    /// Returns what was added, for the stage that waits for it.
    fn lower(&mut self, node: &Node, mut after: Vec<Link>, to: Destination) -> Vec<Producer> {
        match node {
            Node::Scan(scan) => {
                let Destination::Sink(sink) = to else {
                    self.branches.push(Branch { scan: (**scan).clone(), chain: after, to: Target::Port(usize::MAX) });
                    return vec![Producer::Branch(self.branches.len() - 1)];
                };
                self.branches.push(Branch { scan: (**scan).clone(), chain: after, to: Target::Sink(sink) });
                Vec::new()
            }
            Node::Calc { input, filter, exprs, schema } => {
                let link = Link::Calc { filter: filter.clone(), exprs: exprs.clone(), schema: schema.to_arrow() };
                after.insert(0, link);
                self.lower(input, after, to)
            }
            Node::AssignWindows { input, window, time, schema } => {
                after.insert(0, Link::Assign { window: window.clone(), time: *time, schema: schema.to_arrow() });
                self.lower(input, after, to)
            }
            Node::Expand { input, copies, schema } => {
                after.insert(0, Link::Expand { copies: copies.clone(), schema: schema.to_arrow() });
                self.lower(input, after, to)
            }
            Node::Unnest { input, collection, keep, outer, ordinality, condition, schema } => {
                let elements = Elements {
                    collection: *collection,
                    keep: keep.clone(),
                    outer: *outer,
                    ordinality: *ordinality,
                    condition: condition.clone(),
                };
                after.insert(0, Link::Unnest { elements, schema: schema.to_arrow() });
                self.lower(input, after, to)
            }
            Node::UnionAll { inputs, .. } => {
                inputs.iter().flat_map(|input| self.lower(input, after.clone(), to)).collect()
            }
            Node::Stage { inputs, spec } => {
                let producers = inputs.iter().map(|input| self.lower(input, Vec::new(), Destination::Stage)).collect();
                let stage = self.add_stage(spec, producers, after, to);
                if to == Destination::Stage { vec![Producer::Stage(stage)] } else { Vec::new() }
            }
        }
    }

    fn add_stage(
        &mut self,
        spec: &StageSpec,
        producers: Vec<Vec<Producer>>,
        chain: Vec<Link>,
        to: Destination,
    ) -> usize {
        let stage = self.stages.len();
        let of_side = |(side, producers): (usize, Vec<Producer>)| producers.into_iter().map(move |from| (side, from));
        for (side, from) in producers.into_iter().enumerate().flat_map(of_side) {
            let port = self.ports.len();
            self.ports.push(Port { stage, from });
            self.sides.push(side);
            match from {
                Producer::Branch(branch) => self.branches[branch].to = Target::Port(port),
                Producer::Stage(feeder) => {
                    self.stages[feeder].to = Target::Port(port);
                    // What a later stage adds up must not depend on the number of shards.
                    self.stages[feeder].spec.set_ordered();
                }
            }
        }
        let to = match to {
            Destination::Sink(sink) => Target::Sink(sink),
            Destination::Stage => Target::Port(usize::MAX),
        };
        self.stages.push(Stage { spec: spec.clone(), chain, to });
        stage
    }
}

/// Where a node's rows go, while the stage that takes them is not built yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Destination {
    Sink(usize),
    Stage,
}
