//! From OVER to its plan node.

use std::collections::{BTreeMap, BTreeSet};

use super::{Base, Inputs, Lowering, stage};
use crate::error::{Error, Result};
use crate::plan::{OverCall, OverSpec, StageSpec};
use crate::sql::logical::{ColumnId, Over, OverColumn};
use crate::types::{Field, Schema};

impl Lowering<'_> {
    pub(super) fn over(&mut self, over: &Over, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        if self.arena.columns.iter().any(|column| column.current.is_some_and(|current| needed.contains(&current))) {
            return Err(Error::unsupported("CURRENT_WATERMARK of the rows that OVER gives")
                .help("compute it in a subquery below: then it is the watermark before the row came in"));
        }
        let calls: Vec<&OverColumn> = over.calls.iter().filter(|call| needed.contains(&call.column)).collect();
        let mut inputs = Inputs::default();
        let mut positions: BTreeMap<ColumnId, usize> = BTreeMap::new();
        for id in needed.iter().filter(|id| !over.calls.iter().any(|call| call.column == **id)) {
            positions.insert(*id, self.column(&mut inputs, *id));
        }
        let keys = over.keys.iter().map(|key| inputs.add(key, self.name_of(key, "key"))).collect();
        let time = inputs.add(&over.time, self.name_of(&over.time, "time"));
        let mut specs = Vec::with_capacity(calls.len());
        for call in &calls {
            specs.push(OverCall {
                function: call.function,
                args: call.args.iter().map(|arg| inputs.add(arg, self.name_of(arg, "argument"))).collect(),
                distinct: call.distinct,
                output: call.output.clone(),
            });
        }
        let input = self.lower(&over.input, &inputs.exprs, &inputs.names)?;
        let mut fields = input.schema().fields.clone();
        for call in calls {
            positions.insert(call.column, fields.len());
            fields.push(Field::new(&self.arena.columns[call.column].name, call.output.clone()));
        }
        let spec = OverSpec {
            keys,
            time,
            frame: over.frame,
            calls: specs,
            input: input.schema().clone(),
            schema: Schema::new(fields),
        };
        Ok(Base { node: stage(vec![input], StageSpec::Over(spec)), positions })
    }
}
