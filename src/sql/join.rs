//! Joins: FROM with several tables, and which of its conditions belong where.
//!
//! The tables of a FROM are first put into a tree; conditions of ON and WHERE sink in it as far as they can, as Flink's
//! planner lets them. Only then is it known what each join compares, and so whether it is a window join.

use sqlparser::ast::{
    Ident, Join as JoinAst, JoinConstraint, JoinOperator, Select, Spanned, TableFactor, TableWithJoins,
};

use super::binder::{Binder, Context};
use super::conditions::{conjunction, conjuncts, rejects_null};
use super::logical::{ColumnId, columns_of, rewrite};
use super::query::{Relation, single_name};
use super::scope::{Named, Scope};
use super::text::place_of;
use super::{unnest, versions};
use crate::error::{Error, Place, Result};
use crate::expr::{Expr, resolve};
use crate::plan::JoinKind;

/// The tables of a FROM.
pub(super) enum Tree {
    /// A table, and the conditions on its rows alone.
    Leaf(Relation, Vec<Expr>),
    Join(Box<Branch>),
}

/// A join whose conditions are not settled yet.
pub(super) struct Branch {
    pub kind: JoinKind,
    /// As it was written.
    pub written: JoinKind,
    pub sides: [Tree; 2],
    /// By side the columns above it and what they are below: different ones where a row may lack a partner.
    pub columns: [Vec<(ColumnId, ColumnId)>; 2],
    /// Over columns below the join.
    pub conditions: Vec<Expr>,
    /// What is visible above.
    pub scope: Scope,
    /// The right side is a versioned table: the left column whose time says which version counts.
    pub version: Option<ColumnId>,
    pub place: Option<Place>,
}

impl Tree {
    pub(super) fn scope(&self) -> &Scope {
        match self {
            Tree::Leaf(relation, _) => &relation.scope,
            Tree::Join(branch) => &branch.scope,
        }
    }

    /// Puts a condition where it belongs; gives back one that can only be tested above.
    pub(super) fn sink(&mut self, condition: Expr) -> Option<Expr> {
        match self {
            Tree::Join(branch) => branch.sink(condition),
            Tree::Leaf(_, conditions) => {
                conditions.push(condition);
                None
            }
        }
    }
}

impl Branch {
    /// A condition over the columns above.
    fn sink(&mut self, condition: Expr) -> Option<Expr> {
        for side in [0, 1] {
            // A condition that NULL cannot fulfil removes the rows that the join has padded: they need not come about.
            if self.kind.pads(side) && rejects_null(&condition, &|id| self.has(side, id)) {
                self.kind = match self.kind {
                    JoinKind::Full if side == 0 => JoinKind::Left,
                    JoinKind::Full => JoinKind::Right,
                    _ => JoinKind::Inner,
                };
            }
        }
        let padded = |id: ColumnId| [0, 1].into_iter().any(|side| self.kind.pads(side) && self.has(side, id));
        let keeps = self.kind.keeps(0) || self.kind.keeps(1);
        let one_sided = [0, 1].into_iter().any(|side| columns_of(&condition).iter().all(|&id| self.has(side, id)));
        let used = columns_of(&condition);
        if used.iter().copied().any(padded) || (keeps && (used.is_empty() || !one_sided)) {
            return Some(condition);
        }
        if self.version.is_some() && (used.is_empty() || !used.iter().all(|&id| self.has(0, id))) {
            return Some(condition);
        }
        let condition = rewrite(&condition, &mut |node| match node {
            Expr::Column { index, data_type } => {
                let below = self.columns.iter().flatten().find(|(above, _)| above == index);
                below.map(|(_, below)| Expr::column(*below, data_type.clone()))
            }
            _ => None,
        });
        self.attach(condition, true);
        None
    }

    /// A condition over the columns below; `above`: it is tested behind the join, not part of it.
    pub(super) fn attach(&mut self, condition: Expr, above: bool) {
        let used = columns_of(&condition);
        let side_of = |id: &ColumnId| self.columns[0].iter().any(|(_, below)| below == id);
        let side = match (used.iter().all(side_of), used.iter().any(side_of)) {
            _ if used.is_empty() => None,
            (true, _) => Some(0),
            (_, false) => Some(1),
            _ => None,
        };
        // Rows that the join keeps without a partner are not removed by its own conditions.
        // What a key said does not depend on who asks.
        let side = side.filter(|&side| side == 0 || self.version.is_none());
        let side = side.filter(|&side| above || !(self.kind.keeps(side) || (self.kind == JoinKind::Anti && side == 0)));
        let rest = match side {
            Some(side) => self.sides[side].sink(condition),
            None => Some(condition),
        };
        self.conditions.extend(rest);
    }

    fn has(&self, side: usize, id: ColumnId) -> bool {
        self.columns[side].iter().any(|(above, _)| *above == id)
    }
}

impl Binder<'_> {
    /// FROM without its conditions in WHERE.
    pub(super) fn tables(&mut self, select: &Select) -> Result<Tree> {
        let Some((first, others)) = select.from.split_first() else {
            return Ok(Tree::Leaf(self.no_table(select)?, Vec::new()));
        };
        let mut tree = self.table_with_joins(first)?;
        for table in others {
            if let Some(unnest) = unnest::written(&table.relation) {
                let relation = self.assemble(tree)?;
                let relation = self.unnest(relation, &unnest, &unnest::Joined::CROSS)?;
                tree = self.joins(Tree::Leaf(relation, Vec::new()), &table.joins)?;
                continue;
            }
            let place = place_of(table.relation.span());
            let right = self.table_with_joins(table)?;
            tree = Tree::Join(Box::new(self.branch(JoinKind::Inner, [tree, right], (None, place))));
        }
        Ok(tree)
    }

    fn table_with_joins(&mut self, table: &TableWithJoins) -> Result<Tree> {
        let tree = self.table(&table.relation)?;
        self.joins(tree, &table.joins)
    }

    fn joins(&mut self, mut tree: Tree, joins: &[JoinAst]) -> Result<Tree> {
        for join in joins {
            if unnest::written(&join.relation).is_some() {
                let relation = self.assemble(tree)?;
                let joined = self.join_unnest(relation, join)?;
                let joined = joined.ok_or_else(|| Error::internal("UNNEST is no UNNEST"))?;
                tree = Tree::Leaf(joined, Vec::new());
                continue;
            }
            let place = place_of(join.relation.span());
            let (right, version) = match versions::versioned(&join.relation) {
                Some((table, time)) => (self.table(&table)?, Some(self.version_time(time, tree.scope())?)),
                None => (self.table(&join.relation)?, None),
            };
            tree = self.join([tree, right], join, version).map_err(|error| error.at_place(place))?;
        }
        Ok(tree)
    }

    fn table(&mut self, factor: &TableFactor) -> Result<Tree> {
        match factor {
            TableFactor::NestedJoin { table_with_joins, alias: None } => self.table_with_joins(table_with_joins),
            _ => Ok(Tree::Leaf(self.factor(factor)?, Vec::new())),
        }
    }

    fn join(&mut self, [left, right]: [Tree; 2], join: &JoinAst, version: Option<ColumnId>) -> Result<Tree> {
        let (kind, constraint) = match &join.join_operator {
            JoinOperator::Join(on) | JoinOperator::Inner(on) => (JoinKind::Inner, on),
            JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (JoinKind::Left, on),
            JoinOperator::Right(on) | JoinOperator::RightOuter(on) => (JoinKind::Right, on),
            JoinOperator::FullOuter(on) => (JoinKind::Full, on),
            JoinOperator::CrossJoin(JoinConstraint::None) => (JoinKind::Inner, &JoinConstraint::None),
            _ => return Err(Error::script("this kind of join is not Flink's")),
        };
        let place = place_of(join.relation.span());
        let crossed = matches!(join.join_operator, JoinOperator::CrossJoin(_));
        let mut scope = left.scope().clone();
        scope.columns.extend(right.scope().columns.iter().cloned());
        let conditions = match constraint {
            JoinConstraint::On(ast) => conjuncts(self.condition(ast, &mut Context::new(&scope, "ON"))?),
            JoinConstraint::Using(names) => {
                let names = names.iter().map(single_name).collect::<Result<Vec<_>>>()?;
                return self.using(kind, [left, right], &names, (version, place));
            }
            JoinConstraint::Natural => {
                return Err(
                    Error::unsupported("a NATURAL JOIN").help("name the columns: USING (k, …), or ON l.k = r.k")
                );
            }
            JoinConstraint::None if crossed => Vec::new(),
            _ => return Err(Error::script("this JOIN has no condition").help("write … JOIN t ON l.k = t.k AND …")),
        };
        let mut branch = self.branch(kind, [left, right], (version, place));
        conditions.into_iter().for_each(|condition| branch.attach(condition, false));
        Ok(Tree::Join(Box::new(branch)))
    }

    /// `USING (k, …)`: the columns are compared and stand once, first.
    fn using(
        &mut self,
        kind: JoinKind,
        sides: [Tree; 2],
        names: &[&Ident],
        version: (Option<ColumnId>, Option<Place>),
    ) -> Result<Tree> {
        if kind == JoinKind::Full {
            return Err(Error::unsupported("a FULL JOIN with USING")
                .help("write ON l.k = r.k, and COALESCE(l.k, r.k) in SELECT"));
        }
        let mut pairs = Vec::with_capacity(names.len());
        for name in names {
            pairs.push([sides[0].scope().find(name)?, sides[1].scope().find(name)?]);
        }
        let mut branch = self.branch(kind, sides, version);
        let width = branch.columns[0].len();
        let above = |side: usize, id: ColumnId| {
            let at = branch.columns[side].iter().position(|(_, below)| *below == id);
            at.map_or(0, |at| at + side * width)
        };
        let places: Vec<[usize; 2]> = pairs.iter().map(|[l, r]| [above(0, *l), above(1, *r)]).collect();
        // Of two columns the one that is never padded.
        let of = usize::from(kind == JoinKind::Right);
        let mut merged: Vec<Named> = places.iter().map(|place| branch.scope.columns[place[of]].clone()).collect();
        let scope = std::mem::take(&mut branch.scope).columns.into_iter().enumerate();
        let rest = scope.filter(|(at, _)| !places.iter().flatten().any(|place| place == at));
        merged.extend(rest.map(|(_, column)| column));
        branch.scope = Scope { columns: merged };
        for [left, right] in pairs {
            let condition = resolve::binary("=", self.arena.expr(left), self.arena.expr(right))?;
            branch.attach(condition, false);
        }
        Ok(Tree::Join(Box::new(branch)))
    }

    /// A join without conditions. The columns of a side that may be padded become others, which may be NULL; so do those
    /// of versions, whose event time is none above.
    pub(super) fn branch(
        &mut self,
        kind: JoinKind,
        sides: [Tree; 2],
        (version, place): (Option<ColumnId>, Option<Place>),
    ) -> Branch {
        let mut scope = Scope::default();
        let mut columns = [Vec::new(), Vec::new()];
        for (side, tree) in sides.iter().enumerate() {
            for named in &tree.scope().columns {
                let mut above = named.id;
                if kind.pads(side) || (side == 1 && version.is_some()) {
                    let mut data_type = self.arena.columns[named.id].data_type.clone();
                    data_type.nullable |= kind.pads(side);
                    above = self.arena.add(self.arena.columns[named.id].name.clone(), data_type, false);
                }
                columns[side].push((above, named.id));
                scope.columns.push(Named { id: above, ..named.clone() });
            }
        }
        Branch { kind, written: kind, sides, columns, conditions: Vec::new(), scope, version, place }
    }

    /// The relation that a tree is, when all conditions are in it.
    pub(super) fn assemble(&mut self, tree: Tree) -> Result<Relation> {
        let branch = match tree {
            Tree::Leaf(relation, conditions) => {
                return match conjunction(conditions)? {
                    Some(condition) => self.filter(relation, condition),
                    None => Ok(relation),
                };
            }
            Tree::Join(branch) => *branch,
        };
        self.note_undone(&branch);
        let Branch { kind, sides: [left, right], columns, conditions, scope, version, place, .. } = branch;
        let inputs = [self.assemble(left)?.rel, self.assemble(right)?.rel];
        let placed = |error: Error| error.at_place(place.clone());
        let rel = match version {
            Some(time) => self.settle_versions((kind, place.clone()), inputs, columns, (conditions, time)),
            None => self.settle((kind, place.clone()), inputs, columns, conditions),
        };
        let rel = rel.map_err(placed)?;
        Ok(Relation { rel, scope })
    }
}
