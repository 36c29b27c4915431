//! Relations that make several rows of one.

use std::collections::{BTreeMap, BTreeSet};

use super::{Base, Inputs, Lowering, positions};
use crate::error::Result;
use crate::expr::Expr;
use crate::plan::{Node, ScanSpec, SourceSpec};
use crate::sql::logical::{ColumnId, Rel, Unnest, columns_of};
use crate::types::Schema;

/// The reading of one row without columns.
pub(super) fn one_row() -> Base {
    let spec = ScanSpec {
        table: "VALUES".to_string(),
        source: SourceSpec::OneRow,
        file_schema: Schema::default(),
        projection: Vec::new(),
        columns: Vec::new(),
        watermark: None,
        schema: Schema::default(),
    };
    Base { node: Node::Scan(Box::new(spec)), positions: BTreeMap::new() }
}

impl Lowering<'_> {
    pub(super) fn expand(
        &mut self,
        input: &Rel,
        columns: &[ColumnId],
        copies: &[Vec<Expr>],
        needed: &BTreeSet<ColumnId>,
    ) -> Result<Base> {
        let own: Vec<usize> = (0..columns.len()).filter(|at| needed.contains(&columns[*at])).collect();
        let kept: Vec<ColumnId> = needed.iter().copied().filter(|id| !columns.contains(id)).collect();
        let read = own.iter().flat_map(|at| copies.iter().flat_map(move |copy| columns_of(&copy[*at])));
        let mut below: BTreeSet<ColumnId> = kept.iter().copied().collect();
        below.extend(read);
        let below: Vec<ColumnId> = below.into_iter().collect();
        let input = self.columns(input, &below)?;
        let at = positions(&below);
        let local = |expr: &Expr| {
            let mut expr = expr.clone();
            expr.map_columns(&|id| at[&id]);
            expr
        };
        let copies = copies.iter().map(|copy| {
            let kept = kept.iter().map(|id| local(&self.arena.expr(*id)));
            kept.chain(own.iter().map(|at| local(&copy[*at]))).collect()
        });
        let copies: Vec<Vec<Expr>> = copies.collect();
        let outputs: Vec<ColumnId> = kept.iter().copied().chain(own.iter().map(|at| columns[*at])).collect();
        let schema = self.schema(&outputs);
        Ok(Base { node: Node::Expand { input: Box::new(input), copies, schema }, positions: positions(&outputs) })
    }

    pub(super) fn unnest(&mut self, unnest: &Unnest, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        let Unnest { input, collection, elements, ordinality, outer, condition } = unnest;
        let needed: BTreeSet<ColumnId> = needed.iter().copied().chain(condition.iter().flat_map(columns_of)).collect();
        let own = |id: &ColumnId| elements.contains(id) || *ordinality == Some(*id);
        let kept: Vec<ColumnId> = needed.iter().copied().filter(|id| !own(id)).collect();
        let mut inputs = Inputs::default();
        let keep = kept.iter().map(|id| self.column(&mut inputs, *id)).collect();
        let collection = inputs.add(collection, self.name_of(collection, "collection"));
        let input = Box::new(self.lower(input, &inputs.exprs, &inputs.names)?);
        // Without anybody who asks for the number of an element, nobody counts them.
        let number = ordinality.filter(|id| needed.contains(id));
        let outputs: Vec<ColumnId> = kept.iter().chain(elements).copied().chain(number).collect();
        let schema = self.schema(&outputs);
        let at = positions(&outputs);
        let condition = condition.clone().map(|mut condition| {
            condition.map_columns(&|id| at[&id]);
            condition
        });
        let (outer, ordinality) = (*outer, number.is_some());
        let node = Node::Unnest { input, collection, keep, outer, ordinality, condition, schema };
        Ok(Base { node, positions: at })
    }
}
