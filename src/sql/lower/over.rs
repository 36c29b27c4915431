//! From OVER to its plan node.

use std::collections::{BTreeMap, BTreeSet};

use super::{Base, Inputs, Lowering};
use crate::error::{Error, Result};
use crate::expr::Expr;
use crate::plan::{Node, OverCall, OverSpec, StageSpec};
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
            positions.insert(*id, inputs.add(&self.arena.expr(*id), self.arena.columns[*id].name.clone()));
        }
        let name_of = |expr: &Expr, otherwise: &str| match expr {
            Expr::Column { index, .. } => self.arena.columns[*index].name.clone(),
            _ => otherwise.to_string(),
        };
        let keys = over.keys.iter().map(|key| inputs.add(key, name_of(key, "key"))).collect();
        let time = inputs.add(&over.time, name_of(&over.time, "time"));
        let mut specs = Vec::with_capacity(calls.len());
        for call in &calls {
            specs.push(OverCall {
                function: call.function,
                args: call.args.iter().map(|arg| inputs.add(arg, name_of(arg, "argument"))).collect(),
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
        Ok(Base { node: Node::Stage { inputs: vec![input], spec: Box::new(StageSpec::Over(spec)) }, positions })
    }
}
