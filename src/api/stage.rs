//! A window operator in the graph, on one shard: rows from all senders in, results on to the next chain.

use std::any::Any;
use std::panic::Location;
use std::sync::{Arc, Mutex};

use super::context::{Context, Part};
use super::graph::Instantiate;
use super::push::{Batch, Node, Push};
use super::{lock, placed};
use crate::error::{Error, Result};
use crate::snapshot::Archive;
use crate::time::Watermark;
use crate::windowing::batch::KeyedBatch;
use crate::windowing::operator::{KeyedWindowOperator, OperatorCounts, Output};
use crate::windowing::output::{OutputTag, Places, Records, SideOutputs};
use crate::windowing::state::counters;
use crate::windowing::{Data, Key, Taking};

/// What a stage counts. Of one shard, or of all together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StageCounts {
    pub operator: OperatorCounts,
    pub records_in: u64,
    /// Without side outputs.
    pub records_out: u64,
    /// Firings before the input ended.
    pub fired_before_end: u64,
}

impl StageCounts {
    /// Those of two shards together.
    pub fn and(self, other: StageCounts) -> StageCounts {
        StageCounts {
            operator: self.operator.and(other.operator),
            records_in: self.records_in + other.records_in,
            records_out: self.records_out + other.records_out,
            fired_before_end: self.fired_before_end + other.fired_before_end,
        }
    }
}

/// A stage of some types.
pub(super) trait AnyStage: Send {
    /// Takes what all senders have for one block, and moves to the watermark behind it.
    fn run(&mut self, parts: Vec<Part>, number: usize, watermark: Watermark, context: &mut Context<'_>) -> Result<()>;
    fn counts(&self) -> StageCounts;
    /// As [`KeyedWindowOperator::archive`].
    fn archive(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()>;
}

/// Takes the records of one side output, on one shard.
trait Drain: Send {
    fn drain(&mut self, sides: &mut SideOutputs, context: &mut Context<'_>) -> Result<()>;
}

type MakeDrain = Arc<dyn Fn(&mut Instantiate<'_>) -> Box<dyn Drain> + Send + Sync>;

/// A side output that somebody takes.
#[derive(Clone)]
struct SideNode {
    tag: u64,
    /// A [`Node`] of the tag's type.
    node: Arc<dyn Any + Send + Sync>,
    make: MakeDrain,
}

/// The side outputs of a stage that somebody takes.
#[derive(Clone, Default)]
pub(super) struct SideNodes(Arc<Mutex<Vec<SideNode>>>);

impl SideNodes {
    /// The stream of a tag's records: one, however often it is asked for.
    pub fn node<X: Data>(&self, tag: &OutputTag<X>) -> Arc<Node<X>> {
        let mut nodes = lock(&self.0);
        let known = nodes.iter().find(|side| side.tag == tag.id());
        if let Some(node) = known.and_then(|side| side.node.clone().downcast().ok()) {
            return node;
        }
        let (node, tag) = (Node::new(), tag.clone());
        let (id, next) = (tag.id(), node.clone());
        let make: MakeDrain = Arc::new(move |instantiate| {
            instantiate.side = Some(tag.name().to_string());
            let next = next.instantiate(instantiate);
            instantiate.side = None;
            Box::new(SideDrain { tag: tag.clone(), next })
        });
        nodes.push(SideNode { tag: id, node: node.clone(), make });
        node
    }
    fn instantiate(&self, instantiate: &mut Instantiate<'_>) -> Vec<Box<dyn Drain>> {
        let made = lock(&self.0).clone();
        made.iter().map(|side| (side.make)(instantiate)).collect()
    }
}

struct SideDrain<X> {
    tag: OutputTag<X>,
    next: Box<dyn Push<X>>,
}

impl<X: Data> Drain for SideDrain<X> {
    fn drain(&mut self, sides: &mut SideOutputs, context: &mut Context<'_>) -> Result<()> {
        let records = sides.take(&self.tag);
        if !records.is_empty() {
            self.next.push(Batch::of_results(records), context)?;
        }
        self.next.end_block(context)
    }
}

pub(super) struct WindowStage<K, T, Out> {
    operator: Box<dyn KeyedWindowOperator<K, T, Out>>,
    next: Box<dyn Push<Out>>,
    drains: Vec<Box<dyn Drain>>,
    location: &'static Location<'static>,
    /// Whoever takes the results wants them in the order of their places.
    ordered: bool,
    records_in: u64,
    records_out: u64,
    fired_before_end: u64,
}

impl<K: Key, T: Data, Out: Data> WindowStage<K, T, Out> {
    pub fn new(
        operator: Box<dyn KeyedWindowOperator<K, T, Out>>,
        node: &Node<Out>,
        sides: &SideNodes,
        instantiate: &mut Instantiate<'_>,
        location: &'static Location<'static>,
    ) -> Self {
        instantiate.wants_order = false;
        let next = node.instantiate(instantiate);
        let ordered = instantiate.wants_order;
        let drains = sides.instantiate(instantiate);
        WindowStage { operator, next, drains, location, ordered, records_in: 0, records_out: 0, fired_before_end: 0 }
    }
}

impl<K: Key, T: Data, Out: Data> AnyStage for WindowStage<K, T, Out> {
    fn run(&mut self, parts: Vec<Part>, number: usize, watermark: Watermark, context: &mut Context<'_>) -> Result<()> {
        let times = context.times_of(number);
        let (mut results, mut sides) = (Records::default(), SideOutputs::default());
        let WindowStage { operator, next, records_in, records_out, fired_before_end, .. } = self;
        // An error of what takes the results is not one of the window.
        let mut taken = true;
        let mut hand_on = |results: &mut Records<Out>| {
            *records_out += results.len() as u64;
            let handed = next.push(Batch::of_results(std::mem::take(results)), context);
            taken &= handed.is_ok();
            handed
        };
        let mut out = Output::new(&mut results, &mut sides).handing_on(self.ordered, &mut hand_on);
        let operate = || {
            operator.advance_clock(times.block.processing_time, &times, &mut out)?;
            let batches = parts.into_iter().filter_map(|part| part.rows).map(typed).collect::<Result<Vec<_>>>()?;
            for batch in in_order(batches) {
                *records_in += batch.len() as u64;
                operator.process(batch, &times, &mut out)?;
            }
            if watermark == Watermark::MAX {
                // As far as the records come; the end of the input is a move of its own.
                operator.advance(times.after(), &times, &mut out)?;
                *fired_before_end = operator.counts().fired;
            }
            operator.advance(watermark, &times, &mut out)
        };
        let operated = operate();
        if !results.is_empty() && operated.is_ok() {
            hand_on(&mut results)?;
        }
        operated.map_err(|error| if taken { placed(error, self.location) } else { error })?;
        self.next.end_block(context)?;
        self.drains.iter_mut().try_for_each(|drain| drain.drain(&mut sides, context))
    }
    fn counts(&self) -> StageCounts {
        let WindowStage { records_in, records_out, fired_before_end, .. } = *self;
        StageCounts { operator: self.operator.counts(), records_in, records_out, fired_before_end }
    }
    fn archive(&mut self, archive: &mut Archive<'_>, taking: &Taking<'_>) -> Result<()> {
        counters(archive, taking, [&mut self.records_in, &mut self.records_out])?;
        self.operator.archive(archive, taking).map_err(|error| placed(error, self.location))
    }
}

fn typed<K: Key, T: Data>(rows: Box<dyn Any + Send>) -> Result<KeyedBatch<K, T>> {
    let rows = rows.downcast().map_err(|_| Error::internal("rows of another stage's types"))?;
    Ok(*rows)
}

/// The rows of all senders in the order of their places: by cause, then by the hash of the key. Several senders have rows
/// only where these are results, or come on several ways; one alone has them in another order where one row has become
/// several.
fn in_order<K, T>(mut batches: Vec<KeyedBatch<K, T>>) -> Vec<KeyedBatch<K, T>> {
    batches.retain(|batch| !batch.is_empty());
    // Those of one sender come one after the other.
    let ascend = |pair: &[KeyedBatch<K, T>]| pair[0].place(pair[0].len() - 1) <= pair[1].place(0);
    if batches.iter().all(KeyedBatch::is_in_order) && batches.windows(2).all(ascend) {
        return batches;
    }
    vec![KeyedBatch::merge(batches, Places::of)]
}
