//! Operators that keep whole rows: ROW_NUMBER with a condition on its result, and SESSION without an aggregation.

use std::collections::{BTreeMap, BTreeSet};

use super::{Base, Lowering, positions, stage};
use crate::error::{Error, Result};
use crate::plan::{Frame, KeepFirstSpec, OverFunction, RankSpec, SessionRowsSpec, SortKey, StageSpec, WindowSpec};
use crate::sql::logical::{ColumnId, Over, OverColumn, Rel, Window};
use crate::sql::rank::Rank;
use crate::types::{Field, Schema, Type};

impl Lowering<'_> {
    pub(super) fn rank(&mut self, rank: &Rank, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        let placed = |error: Error| error.at_place(rank.place.clone());
        let Some(last) = rank.bounds.last else {
            return match self.numbers_over(rank) {
                Some(over) => self.over(&over, needed),
                None => Err(placed(endless(rank))),
            };
        };
        match rank.window {
            Some(window) if self.arena.windows[window].proctime => {
                Err(placed(crate::sql::processing::unsupported("ROW_NUMBER")))
            }
            Some(window) => self.window_rank(rank, &self.arena.windows[window], last, needed),
            None if self.keeps_first(rank, last) => self.keep_first(rank, needed),
            None => Err(placed(updating(last))),
        }
    }

    fn window_rank(&mut self, rank: &Rank, window: &Window, last: u64, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        let columns = columns_for(rank, &[window.start, window.end], needed);
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
        let spec = RankSpec {
            window: WindowSpec::Attached { start, end },
            zone: self.zone(&window.time_type.kind),
            dealt_by: if keys.is_empty() { vec![end] } else { keys.clone() },
            keys,
            order,
            first: rank.bounds.first,
            last,
            last_wins: self.keeps_last(rank, last),
            numbered,
            input: input.schema().clone(),
            schema: self.with_number(rank, numbered, input.schema(), &mut positions),
            ordered: self.ordered,
        };
        Ok(Base { node: stage(vec![input], StageSpec::Rank(spec)), positions })
    }

    fn keep_first(&mut self, rank: &Rank, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        let columns = columns_for(rank, &[], needed);
        let input = self.columns(&rank.input, &columns)?;
        let mut positions = positions(&columns);
        let numbered = needed.contains(&rank.column);
        let spec = KeepFirstSpec {
            keys: rank.keys.iter().map(|id| positions[id]).collect(),
            time: positions[&rank.order[0].0],
            numbered,
            input: input.schema().clone(),
            schema: self.with_number(rank, numbered, input.schema(), &mut positions),
            ordered: self.ordered,
        };
        Ok(Base { node: stage(vec![input], StageSpec::KeepFirst(spec)), positions })
    }

    /// The input's columns, and the number behind them if it is needed.
    fn with_number(
        &self,
        rank: &Rank,
        numbered: bool,
        input: &Schema,
        positions: &mut BTreeMap<ColumnId, usize>,
    ) -> Schema {
        let mut schema = input.clone();
        if numbered {
            let column = &self.arena.columns[rank.column];
            positions.insert(rank.column, schema.len());
            schema.fields.push(Field::new(&column.name, column.data_type.clone()));
        }
        schema
    }

    /// The numbers of all rows in the order of their event time, which never change.
    fn numbers_over(&self, rank: &Rank) -> Option<Over> {
        let [(time, order)] = rank.order.as_slice() else { return None };
        let follows = self.arena.columns[*time].rowtime && !self.arena.is_past(&rank.input, *time);
        if rank.bounds.first > 1 || order.descending || !follows {
            return None;
        }
        let window = rank.window.map(|window| &self.arena.windows[window]);
        let bounds = window.iter().flat_map(|window| [window.start, window.end]);
        Some(Over {
            input: rank.input.clone(),
            keys: rank.keys.iter().copied().chain(bounds).map(|id| self.arena.expr(id)).collect(),
            time: self.arena.expr(*time),
            frame: Frame::Rows(None),
            calls: vec![OverColumn {
                column: rank.column,
                function: OverFunction::Count,
                distinct: false,
                args: Vec::new(),
                output: Type::BigInt.not_null(),
            }],
            place: rank.place.clone(),
        })
    }

    /// Flink's deduplication: the first number of an order by nothing but the event time.
    fn is_deduplication(&self, rank: &Rank, last: u64, descending: bool) -> bool {
        let by_time = matches!(rank.order.as_slice(),
            [(id, order)] if order.descending == descending && self.arena.columns[*id].rowtime);
        by_time && rank.bounds.first == 1 && last == 1
    }

    /// Without a window, the one whose rows are never taken back.
    fn keeps_first(&self, rank: &Rank, last: u64) -> bool {
        self.is_deduplication(rank, last, false)
    }

    /// Of equal times it takes the last row to arrive, unlike any other Top-N.
    fn keeps_last(&self, rank: &Rank, last: u64) -> bool {
        self.is_deduplication(rank, last, true)
    }

    /// SESSION whose rows are not aggregated at once.
    pub(super) fn session_rows(
        &mut self,
        input: &Rel,
        window: &Window,
        time: ColumnId,
        needed: &BTreeSet<ColumnId>,
    ) -> Result<Base> {
        let own = [Some(window.start), Some(window.end), window.time];
        let mut columns: Vec<ColumnId> = needed.iter().copied().filter(|id| !own.contains(&Some(*id))).collect();
        let keys = window.partition.clone().unwrap_or_default();
        for id in keys.iter().chain([&time]) {
            if !columns.contains(id) {
                columns.push(*id);
            }
        }
        let input = self.columns(input, &columns)?;
        let mut positions = positions(&columns);
        let mut schema = input.schema().clone();
        let boundary = Type::Timestamp(3).not_null();
        let bounds =
            [("window_start", boundary.clone()), ("window_end", boundary), ("window_time", window.time_type.clone())];
        for ((name, data_type), id) in bounds.into_iter().zip(own) {
            if let Some(id) = id {
                positions.insert(id, schema.len());
            }
            schema.fields.push(Field::new(name, data_type));
        }
        let spec = SessionRowsSpec {
            window: window.function.clone(),
            keys: keys.iter().map(|id| positions[id]).collect(),
            time: positions[&time],
            zone: self.zone(&window.time_type.kind),
            input: input.schema().clone(),
            schema,
            ordered: self.ordered,
        };
        Ok(Base { node: stage(vec![input], StageSpec::SessionRows(spec)), positions })
    }
}

/// The columns of the input that are needed: by others, and for the numbers.
fn columns_for(rank: &Rank, own: &[ColumnId], needed: &BTreeSet<ColumnId>) -> Vec<ColumnId> {
    let mut columns: Vec<ColumnId> = needed.iter().copied().filter(|id| *id != rank.column).collect();
    for id in own.iter().chain(&rank.keys).chain(rank.order.iter().map(|(id, _)| id)) {
        if !columns.contains(id) {
            columns.push(*id);
        }
    }
    columns
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
fn updating(last: u64) -> Error {
    let what = if last == 1 { "deduplication or Top-1" } else { "Top-N" };
    Error::unsupported(format!("{what} without a window (its results would be updated with every row)")).help(
        "read from a window function and begin with PARTITION BY window_start, window_end; \
         or keep the first row of each key: ORDER BY the event time, WHERE rn = 1",
    )
}
