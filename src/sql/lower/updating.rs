//! GROUP BY without a window.

use std::collections::BTreeSet;

use super::{Base, Inputs, Lowering, positions, stage};
use crate::error::{Error, Result};
use crate::plan::{GroupAggregateSpec, StageSpec, WindowAggregateSpec, WindowSpec};
use crate::sql::logical::{Call, ColumnId, GroupAggregate};
use crate::types::RowKind;

impl Lowering<'_> {
    pub(super) fn group(&mut self, group: &GroupAggregate, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        let calls: Vec<&Call> = group.calls.iter().filter(|call| needed.contains(&call.column)).collect();
        let mut inputs = Inputs::default();
        let keys = self.keys(&group.keys, &mut inputs);
        let aggregates = self.calls(&calls, &mut inputs);
        let kind = group.input.row_kind();
        if kind.is_some()
            && let Some(call) = calls.iter().find(|call| !call.kind.takes_rows_back())
        {
            return Err(Error::unsupported(format!("the aggregate function {} over results that change", call.kind))
                .help("group by a window below it, so that each result is given once"));
        }
        let kind = kind.map(|kind| inputs.add(&self.arena.expr(kind), RowKind::field().name));
        let input = self.lower(&group.input, &inputs.exprs, &inputs.names)?;
        let mut columns: Vec<ColumnId> = group.keys.iter().map(|(id, _)| *id).collect();
        columns.extend(calls.iter().map(|call| call.column));
        columns.push(group.kind);
        let spec = GroupAggregateSpec {
            keys,
            aggregates,
            kind,
            input: input.schema().clone(),
            schema: self.schema(&columns),
            repeats: group.repeats,
            ordered: self.ordered,
        };
        Ok(Base { node: stage(vec![input], StageSpec::Group(spec)), positions: positions(&columns) })
    }
}

/// Refuses what depends on how the parts of a HOP are put together: a window that gives results at every row is not.
pub(super) fn check_order(calls: &[&Call], spec: &WindowAggregateSpec) -> Result<()> {
    let ordered = spec.aggregates.iter().zip(calls).find(|(aggregate, _)| aggregate.keeps_order());
    match ordered {
        Some((_, call)) if matches!(spec.window, WindowSpec::Hop { .. }) => {
            let error = Error::unsupported(format!("{} in a HOP that fires early or late", call.kind));
            Err(error.at_place(call.place.clone()))
        }
        _ => Ok(()),
    }
}
