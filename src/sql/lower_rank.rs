//! From ROW_NUMBER with a condition on its result to the operator that numbers rows.

use std::collections::BTreeSet;

use super::logical::{ColumnId, WindowId};
use super::lower::{Base, Lowering, positions};
use super::rank::Rank;
use crate::error::{Error, Result};
use crate::plan::{Node, RankSpec, SortKey, StageSpec, WindowSpec};
use crate::types::{Field, Schema};

impl Lowering<'_> {
    pub(super) fn rank(&mut self, rank: &Rank, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        let placed = |error: Error| match &rank.place {
            Some(place) => error.at_place(place.clone()),
            None => error,
        };
        let Some(last) = rank.bounds.last else { return Err(placed(endless(rank))) };
        let Some(window) = rank.window else { return Err(placed(updating(rank))) };
        self.window_rank(rank, window, last, needed)
    }

    fn window_rank(&mut self, rank: &Rank, window: WindowId, last: u64, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        let window = &self.arena.windows[window];
        let mut columns: Vec<ColumnId> = needed.iter().copied().filter(|id| *id != rank.column).collect();
        let own = [window.start, window.end].into_iter();
        for id in own.chain(rank.keys.iter().copied()).chain(rank.order.iter().map(|(id, _)| *id)) {
            if !columns.contains(&id) {
                columns.push(id);
            }
        }
        let input = self.columns(&rank.input, &columns)?;
        let mut positions = positions(&columns);
        let keys: Vec<usize> = rank.keys.iter().map(|id| positions[id]).collect();
        let (start, end) = (positions[&window.start], positions[&window.end]);
        let order = rank.order.iter().map(|(id, order)| SortKey {
            column: positions[id],
            descending: order.descending,
            nulls_first: order.nulls_first,
        });
        let order: Vec<SortKey> = order.collect();
        let numbered = needed.contains(&rank.column);
        let mut schema = input.schema().clone();
        if numbered {
            let column = &self.arena.columns[rank.column];
            positions.insert(rank.column, schema.len());
            schema.fields.push(Field::new(&column.name, column.data_type.clone()));
        }
        let spec = RankSpec {
            window: WindowSpec::Attached { start, end },
            zone: self.zone(&window.time_type.kind),
            dealt_by: if keys.is_empty() { vec![start, end] } else { keys.clone() },
            keys,
            order,
            first: rank.bounds.first,
            last,
            last_wins: self.keeps_last(rank, last),
            numbered,
            input: input.schema().clone(),
            schema: Schema::new(schema.fields),
            ordered: self.ordered,
        };
        let node = Node::Stage { inputs: vec![input], spec: Box::new(StageSpec::Rank(spec)) };
        Ok(Base { node, positions })
    }

    /// Flink's deduplication that keeps the last row: the first number of an order by nothing but the event time,
    /// downwards. Of equal times it takes the last row to arrive, unlike any other Top-N.
    fn keeps_last(&self, rank: &Rank, last: u64) -> bool {
        let by_time = matches!(rank.order.as_slice(),
            [(id, order)] if order.descending && self.arena.columns[*id].rowtime);
        by_time && rank.bounds.first == 1 && last == 1
    }
}

/// The error for numbers without an end.
fn endless(rank: &Rank) -> Error {
    let help = "limit it in the query around it: SELECT … FROM (SELECT …, ROW_NUMBER() OVER (…) AS rn …) WHERE rn <= 3";
    if rank.bounds.first > 1 {
        return Error::script("the last row number that is asked for is not given, only the first").help(help);
    }
    Error::unsupported("ROW_NUMBER() without a limit on its result (numbers would be updated with every row)")
        .help(help)
}

/// The error for a Top-N over all time.
fn updating(rank: &Rank) -> Error {
    let what = if rank.bounds.last == Some(1) { "deduplication" } else { "Top-N" };
    Error::unsupported(format!("{what} without a window (its results would be updated with every row)"))
        .help("read from a window function and begin with PARTITION BY window_start, window_end")
}
