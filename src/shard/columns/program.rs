//! A plan cut into what one shard does at a time: branches that read, stages that keep state.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use super::copies::Elements;
use super::scan::SplitEntry;
use super::share;
use crate::error::Result;
use crate::expr::{EvalContext, Expr};
use crate::key::KeyGroups;
use crate::plan::{JobPlan, Node, ScanSpec, SinkSpec, StageSpec, WindowSpec};
use crate::shard::dataflow::InputWatermark;
use crate::shard::layout::{Layout, Port, Producer};
use crate::time::Watermark;
use crate::types::Schema;
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

/// Reads one scan, for all who want its rows.
#[derive(Debug, Clone)]
pub struct Branch {
    pub scan: ScanSpec,
    pub ways: Vec<Way>,
}

/// What becomes of the rows of a branch for one who wants them.
#[derive(Debug, Clone)]
pub struct Way {
    /// The number of pipelines so far, with that of the way.
    pipeline: usize,
    /// Which columns of the scan are wanted.
    columns: Vec<usize>,
    pub chain: Vec<Link>,
    pub to: Target,
}

impl Branch {
    /// The ports that take the rows.
    pub fn ports(&self) -> impl Iterator<Item = usize> {
        self.ways.iter().filter_map(|way| match way.to {
            Target::Port(port) => Some(port),
            Target::Sink(_) => None,
        })
    }

    /// A way that wants some of the columns begins with them.
    fn pick_columns(&mut self) {
        let Branch { scan, ways } = self;
        for way in ways.iter_mut().filter(|way| !way.columns.iter().copied().eq(0..scan.columns.len())) {
            let fields = way.columns.iter().map(|&at| scan.schema.fields[at].clone());
            let schema = Schema::new(fields.collect());
            let exprs = way.columns.iter().zip(&schema.fields);
            let exprs = exprs.map(|(&at, field)| Expr::column(at, field.data_type.clone())).collect();
            way.chain.insert(0, Link::Calc { filter: None, exprs, schema: schema.to_arrow() });
        }
    }
}

/// What sends rows to a stage: which way of which branch, or a stage.
#[derive(Debug, Clone, Copy)]
enum Feeder {
    Way(usize, usize),
    Stage(usize),
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
        program.branches.iter_mut().for_each(Branch::pick_columns);
        Ok(Arc::new(program))
    }

    /// The same as the shards see it.
    pub fn layout(&self, splits: &[SplitEntry]) -> Arc<Layout> {
        let splits = splits.iter().map(|entry| entry.branch).collect();
        let delays: Vec<i64> = self.stages.iter().map(|stage| stage.spec.delay_ms()).collect();
        Arc::new(Layout::new(&self.ports, &delays, self.branches.len(), splits))
    }

    /// The side of its stage that a port feeds, and the key columns there.
    pub fn side(&self, port: usize) -> (usize, &[usize]) {
        let side = self.sides[port];
        (side, self.stages[self.ports[port].stage].spec.keys(side))
    }

    /// The sides of a stage that something feeds.
    pub fn sides_of(&self, stage: usize) -> impl Iterator<Item = usize> {
        let ports = self.ports.iter().zip(&self.sides);
        ports.filter(move |(port, _)| port.stage == stage).map(|(_, &side)| side)
    }

    /// The lowest watermark of the other splits that reach the stage of a port. Splits of files are never idle, so the
    /// stage has not reached more than the lowest of its inputs.
    pub fn others(&self, port: usize, inputs: &[InputWatermark]) -> Watermark {
        inputs[self.ports[port].stage].others
    }

    /// By port: which of the rows on their way there need a mark.
    ///
    /// # Errors
    /// As [`Deadlines::new`].
    pub fn deadlines(&self) -> Result<Vec<Deadlines>> {
        let sides = self.ports.iter().zip(&self.sides);
        sides.map(|(port, &side)| Deadlines::new(self.stages[port.stage].spec.lateness(side))).collect()
    }

    /// True if a row of a table may reach the stage more than once, as copies that may differ in being late. Those for
    /// several grouping sets do not.
    pub fn takes_copies(&self, stage: usize) -> bool {
        let copies = |way: &Way| way.chain.iter().any(|link| matches!(link, Link::Assign { .. } | Link::Unnest { .. }));
        let feeds = |way: &Way| matches!(way.to, Target::Port(port) if self.ports[port].stage == stage);
        self.branches.iter().flat_map(|branch| &branch.ways).any(|way| feeds(way) && copies(way))
    }

    /// True if rows without elements are left out, as those that a filter removes.
    pub fn unnests(&self) -> bool {
        let ways = self.branches.iter().flat_map(|branch| &branch.ways);
        ways.flat_map(|way| &way.chain).any(|link| matches!(link, Link::Unnest { .. }))
    }

    /// Adds what produces `node`'s rows; `after` is the work between the node and its destination.
    /// Returns what was added, for the stage that waits for it.
    fn lower(&mut self, node: &Node, mut after: Vec<Link>, to: Destination) -> Vec<Feeder> {
        match node {
            Node::Scan(scan) => self.read(scan, after, to),
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
                let feeders = inputs.iter().map(|input| self.lower(input, Vec::new(), Destination::Stage)).collect();
                let stage = self.add_stage(spec, feeders, after, to);
                if to == Destination::Stage { vec![Feeder::Stage(stage)] } else { Vec::new() }
            }
        }
    }

    /// Adds a way for the rows of a scan, of a branch that reads the table already if there is one.
    fn read(&mut self, scan: &ScanSpec, chain: Vec<Link>, to: Destination) -> Vec<Feeder> {
        // Two ways of one reading that meet again in a stage would have a late row of the first move the stage's watermark
        // past the rows of the second. Those of different pipelines never meet.
        let pipeline = self.sinks.len();
        let of_this = |branch: &Branch| branch.ways.iter().any(|way| way.pipeline == pipeline);
        let free = self.branches.iter_mut().enumerate().filter(|(_, branch)| !of_this(branch));
        let mut shared = free.map(|(at, branch)| (at, share::absorb(&mut branch.scan, scan)));
        let shared = shared.find_map(|(branch, columns)| Some((branch, columns?)));
        let (branch, columns) = shared.unwrap_or_else(|| {
            self.branches.push(Branch { scan: scan.clone(), ways: Vec::new() });
            (self.branches.len() - 1, (0..scan.columns.len()).collect())
        });
        let ways = &mut self.branches[branch].ways;
        let (target, feeders) = match to {
            Destination::Sink(sink) => (Target::Sink(sink), Vec::new()),
            Destination::Stage => (Target::Port(usize::MAX), vec![Feeder::Way(branch, ways.len())]),
        };
        ways.push(Way { pipeline, columns, chain, to: target });
        feeders
    }

    fn add_stage(&mut self, spec: &StageSpec, feeders: Vec<Vec<Feeder>>, chain: Vec<Link>, to: Destination) -> usize {
        let stage = self.stages.len();
        let of_side = |(side, feeders): (usize, Vec<Feeder>)| feeders.into_iter().map(move |from| (side, from));
        for (side, from) in feeders.into_iter().enumerate().flat_map(of_side) {
            let port = self.ports.len();
            self.sides.push(side);
            match from {
                Feeder::Way(branch, way) => {
                    self.ports.push(Port { stage, from: Producer::Branch(branch) });
                    self.branches[branch].ways[way].to = Target::Port(port);
                }
                Feeder::Stage(feeder) => {
                    self.ports.push(Port { stage, from: Producer::Stage(feeder) });
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
