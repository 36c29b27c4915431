//! Joins, from bound relations to plan nodes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Base, Inputs, Lowering, stage};
use crate::error::{Error, Result};
use crate::plan::{IntervalBounds, JoinSpec, JoinTimes, StageSpec, Versions, WindowSpec};
use crate::sql::logical::{ColumnId, Join, Times, columns_of};
use crate::sql::near::Near;

impl Lowering<'_> {
    pub(super) fn join(&mut self, join: &Join, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        let mut inputs = [Inputs::default(), Inputs::default()];
        let mut keys = [Vec::new(), Vec::new()];
        for key in &join.keys {
            for (side, expr) in key.sides.iter().enumerate() {
                keys[side].push(inputs[side].add(expr, self.name_of(expr, "key")));
            }
        }
        let times = self.join_times(join, &mut inputs)?;
        let mut places: BTreeMap<ColumnId, (usize, usize)> = BTreeMap::new();
        for id in join.condition.iter().flat_map(columns_of) {
            let (side, id) = join.input_of(id, self.arena).ok_or_else(|| self.lost(id))?;
            places.insert(id, (side, self.column(&mut inputs[side], id)));
        }
        let mut columns: Vec<(ColumnId, (usize, usize))> = Vec::new();
        for &above in needed {
            let (side, below) = join.below(above, self.arena).ok_or_else(|| self.lost(above))?;
            columns.push((above, (side, self.column(&mut inputs[side], below))));
        }
        if columns.is_empty() {
            // A batch without columns has no rows to count.
            let (above, below) = *join.columns[0].first().ok_or_else(|| Error::internal("a join of no columns"))?;
            columns.push((above, (0, self.column(&mut inputs[0], below))));
        }
        for (side, input) in inputs.iter_mut().enumerate() {
            if let (true, Some((_, below))) = (input.exprs.is_empty(), join.columns[side].first()) {
                self.column(input, *below);
            }
        }
        let width = inputs[0].exprs.len();
        let place = |(side, at): (usize, usize)| side * width + at;
        let condition = join.condition.clone().map(|mut condition| {
            condition.map_columns(&|id| places.get(&id).map_or(0, |&at| place(at)));
            condition
        });
        let [left, right] = &inputs;
        let left = self.lower(&join.inputs[0], &left.exprs, &left.names)?;
        let right = self.lower(&join.inputs[1], &right.exprs, &right.names)?;
        let zone = match join.times {
            Times::Windows([window, _]) => self.zone(&self.arena.windows[window].time_type.kind),
            _ => None,
        };
        let spec = JoinSpec {
            kind: join.kind,
            times,
            zone,
            keys,
            null_meets_null: join.keys.iter().map(|key| key.null_meets_null).collect(),
            condition,
            inputs: [left.schema().clone(), right.schema().clone()],
            output: columns.iter().map(|(_, at)| place(*at)).collect(),
            schema: self.schema(columns.iter().map(|(id, _)| id)),
            ordered: self.ordered,
        };
        let node = stage(vec![left, right], StageSpec::Join(spec));
        let positions = columns.iter().enumerate().map(|(position, (id, _))| (*id, position)).collect();
        Ok(Base { node, positions })
    }

    fn join_times(&self, join: &Join, inputs: &mut [Inputs; 2]) -> Result<JoinTimes> {
        let mut columns = |columns: [ColumnId; 2]| [0, 1].map(|side| self.column(&mut inputs[side], columns[side]));
        Ok(match join.times {
            Times::Unbounded => JoinTimes::Unbounded,
            Times::Windows(windows) => {
                let windows = windows.map(|id| &self.arena.windows[id]);
                if windows.iter().any(|window| window.proctime) {
                    return Err(crate::sql::processing::unsupported("a join"));
                }
                let [starts, ends] = [columns(windows.map(|window| window.start)), columns(windows.map(|w| w.end))];
                JoinTimes::Windows([0, 1].map(|side| WindowSpec::Attached { start: starts[side], end: ends[side] }))
            }
            Times::Interval(Near { columns: ids, lower_ms, upper_ms }) => {
                JoinTimes::Interval(IntervalBounds { times: columns(ids), lower_ms, upper_ms })
            }
            Times::Versions { columns: ids, in_order } => {
                JoinTimes::Versions(Versions { times: columns(ids), in_order })
            }
        })
    }

    fn lost(&self, id: ColumnId) -> Error {
        Error::internal(format!("no side of a join has the column {}", self.arena.columns[id].name))
    }
}
