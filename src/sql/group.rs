//! GROUP BY, HAVING and DISTINCT.

use sqlparser::ast::{Expr as Ast, Select, SelectItem, Spanned};

use super::binder::{Binder, Context, located};
use super::group_window::auxiliary;
use super::grouping::{Grouping, Written, written};
use super::lint;
use super::logical::{Aggregate, Call, ColumnId, Rel, Role, Window, WindowId, columns_of, rewrite};
use super::over::Overs;
use super::query::{Relation, implied_name, item_parts, wildcard};
use super::rank::RankCall;
use super::scope::{Named, Scope};
use super::text::place_of;
use crate::aggregate::is_aggregate;
use crate::error::{Error, Place, Result};
use crate::expr::Expr;
use crate::types::Type;

/// One expression of GROUP BY: what it is below the aggregation and the column above it.
struct Group {
    expr: Expr,
    output: ColumnId,
}

/// A bound GROUP BY.
struct Grouped {
    rel: Rel,
    /// The window below and above the aggregation, unless it has none.
    window: Option<WindowId>,
    output: Option<WindowId>,
    /// The columns of windows among the keys.
    parts: Vec<(WindowId, Role)>,
    keys: Vec<(ColumnId, Expr)>,
    grouped: Vec<Group>,
    grouping: Grouping,
    place: Option<Place>,
}

impl Binder<'_> {
    pub(super) fn grouped_select(&mut self, select: &Select, groups: &[Ast], input: Relation) -> Result<Relation> {
        let Grouped { rel, window, output, parts, keys, grouped, grouping, place } =
            self.groups(select, groups, &input)?;

        let (mut calls, mut ranks) = (Vec::new(), Vec::new());
        let mut overs = Overs::of_groups(&select.named_window)?;
        let mut defined = Vec::new();
        let mut columns = Vec::new();
        for (i, item) in select.projection.iter().enumerate() {
            if let Some(fields) = self.row_fields(item, &input.scope)? {
                for (name, expr) in fields {
                    let expr = self.regroup(&expr, &grouped, &[], &[], None)?;
                    let id = self.output_column(&name, expr, &mut defined);
                    columns.push(Named { qualifier: None, name, id });
                }
                continue;
            }
            if let Some(named) = wildcard(item, &input.scope, &columns)? {
                for column in named {
                    let expr = self.arena.expr(column.id);
                    let expr = self.regroup(&expr, &grouped, &[], &[], None)?;
                    let id = self.output_column(&column.name, expr, &mut defined);
                    columns.push(Named { qualifier: None, name: column.name, id });
                }
                continue;
            }
            let (ast, alias) = item_parts(item)?;
            let above = (&grouped[..], &grouping);
            let registers = (&mut calls, Some((&mut ranks, &mut overs)));
            let expr = self.above(ast, ("SELECT", &input.scope), above, registers)?;
            self.refuse_null(&expr).map_err(|error| located(error, ast))?;
            let name = alias.map_or_else(|| implied_name(ast, i), |alias| alias.value.clone());
            let plain = self.plain_column(ast, &input.scope).is_some() || is_call(ast);
            let id = if plain {
                self.output_column(&name, expr, &mut defined)
            } else {
                let id = self.arena.add(&name, expr.data_type().clone(), false);
                defined.push((id, expr));
                id
            };
            columns.push(Named { qualifier: None, name, id });
        }
        let having = match &select.having {
            None => None,
            Some(ast) => {
                let above = (&grouped[..], &grouping);
                let expr = self.above(ast, ("HAVING", &input.scope), above, (&mut calls, None))?;
                if !matches!(expr.data_type().kind, Type::Boolean | Type::Null) {
                    return Err(located(Error::script("HAVING needs a condition"), ast));
                }
                Some(expr)
            }
        };
        let computed = columns_of_calls(&calls);
        let overs = overs.mapped(|expr| self.regroup(expr, &grouped, &computed, &[], None))?;
        let ranks = ranks.into_iter().map(|call| self.regroup_rank(call, &grouped, &computed));
        let ranks = ranks.collect::<Result<Vec<_>>>()?;
        overs.check_ranks(&ranks)?;
        let mut rel = self.aggregation(rel, (window, output), (keys, grouping.number), calls, (&parts, place))?;
        if let Some(predicate) = having {
            rel = Rel::Filter { input: Box::new(rel), predicate };
        }
        for call in ranks {
            rel = self.rank(rel, call);
        }
        rel = self.with_overs(rel, overs)?;
        if !defined.is_empty() {
            rel = Rel::Project { input: Box::new(rel), defined };
        }
        Ok(Relation { rel, scope: Scope { columns } })
    }

    /// GROUP BY: the keys, the window, and the input with a copy of each row for every grouping set.
    fn groups(&mut self, select: &Select, groups: &[Ast], input: &Relation) -> Result<Grouped> {
        let (groups, group_window, mut rel) = self.group_window(groups, &input.scope, input.rel.clone())?;
        let written = written(&groups)?;
        let mut bound = self.bind_groups(&written, select, &input.scope)?;
        let exprs = |bound: &[(Expr, Option<ColumnId>)]| bound.iter().map(|(expr, _)| expr.clone()).collect::<Vec<_>>();
        let mut grouping = Grouping::new(&exprs(&bound), &written.sets);
        if self.make_nullable(&grouping) {
            bound = self.bind_groups(&written, select, &input.scope)?;
            grouping = Grouping::new(&exprs(&bound), &written.sets);
        }
        let place = groups.first().and_then(|ast| place_of(ast.span()));
        let place = place.or_else(|| place_of(select.span()));
        let common: Vec<_> = bound.iter().filter(|(expr, _)| grouping.is_common(expr)).cloned().collect();
        let window = match &group_window {
            Some(window) => Some(window.id),
            None => self.grouped_window(&common, place.clone())?,
        };
        self.check_sets(&bound, &grouping, window).map_err(|error| error.at_place(place.clone()))?;
        if window.is_none() {
            self.note_time_keys(&written.exprs, &bound);
        }
        let (mut keys, mut grouped, output) = self.group_columns(&bound, window);
        if grouping.sets.len() > 1 {
            rel = self.expand(rel, &mut grouping, &mut keys);
            grouped.extend(grouping.number.map(|output| Group { expr: self.arena.expr(output), output }));
        }
        grouping.window = group_window;
        let parts = self.window_parts(&bound);
        Ok(Grouped { rel, window, output, parts, keys, grouped, grouping, place })
    }

    fn note_time_keys(&mut self, written: &[&Ast], bound: &[(Expr, Option<ColumnId>)]) {
        let is_time = |id: ColumnId| self.arena.columns[id].rowtime;
        let of_time = written.iter().zip(bound).filter(|(_, (expr, _))| columns_of(expr).into_iter().any(is_time));
        let found: Vec<_> = of_time.filter_map(|(ast, _)| lint::of_time_key(ast, place_of(ast.span()))).collect();
        self.lints.extend(found);
    }

    fn bind_groups(
        &mut self,
        written: &Written<'_>,
        select: &Select,
        scope: &Scope,
    ) -> Result<Vec<(Expr, Option<ColumnId>)>> {
        let mut bound = Vec::with_capacity(written.exprs.len());
        for ast in &written.exprs {
            let expr = self.group_expr(ast, select, scope)?;
            self.refuse_null(&expr).map_err(|error| located(error, ast))?;
            bound.push((expr, self.plain_column(ast, scope)));
        }
        Ok(bound)
    }

    /// What a window aggregation with several grouping sets cannot have.
    fn check_sets(
        &self,
        bound: &[(Expr, Option<ColumnId>)],
        grouping: &Grouping,
        window: Option<WindowId>,
    ) -> Result<()> {
        let Some(window) = window else { return Ok(()) };
        if grouping.sets.len() > 1 && self.arena.windows[window].legacy {
            return Err(updating_error("GROUPING SETS beside a window in GROUP BY")
                .help("read from the window function, and group by window_start and window_end"));
        }
        if grouping.sets.len() > 1 && self.arena.windows[window].partition.is_some() {
            return Err(updating_error("GROUPING SETS over a SESSION")
                .help("write one GROUP BY query for each set, each over a SESSION with its own PARTITION BY"));
        }
        let of_window = |column: ColumnId| self.arena.columns[column].window.is_some_and(|(id, _)| id == window);
        let lone = bound.iter().find(|(expr, column)| column.is_some_and(of_window) && !grouping.is_common(expr));
        match lone.and_then(|(_, column)| *column) {
            None => Ok(()),
            Some(column) => {
                let name = &self.arena.columns[column].name;
                let error = Error::unsupported(format!("{name} in only some of the GROUPING SETS"));
                Err(error.help(format!("group by {name} outside of GROUPING SETS")))
            }
        }
    }

    /// The column that an expression is, or a new one that it defines.
    fn output_column(&mut self, name: &str, expr: Expr, defined: &mut Vec<(ColumnId, Expr)>) -> ColumnId {
        if let Expr::Column { index, .. } = expr {
            return index;
        }
        let id = self.arena.add(name, expr.data_type().clone(), false);
        defined.push((id, expr));
        id
    }

    fn group_expr(&mut self, ast: &Ast, select: &Select, scope: &Scope) -> Result<Expr> {
        if matches!(ast, Ast::Value(value) if matches!(value.value, sqlparser::ast::Value::Number(..))) {
            let error = Error::script("GROUP BY takes no positions").help("repeat the expression of the select list");
            return Err(located(error, ast));
        }
        let bound = self.expr(ast, &mut Context::new(scope, "GROUP BY"));
        let Err(error) = bound else { return bound };
        // An alias of the select list is what people write here; Flink does not take it.
        let is_alias = |item: &SelectItem| match (item, ast) {
            (SelectItem::ExprWithAlias { alias, .. }, Ast::Identifier(name)) => alias.value == name.value,
            _ => false,
        };
        if select.projection.iter().any(is_alias) {
            return Err(error.help("GROUP BY takes no aliases of the select list: repeat the expression"));
        }
        Err(error)
    }

    /// An aggregation of its windows, or one without end if there are none.
    fn aggregation(
        &mut self,
        input: Rel,
        (window, output): (Option<WindowId>, Option<WindowId>),
        (keys, set): (Vec<(ColumnId, Expr)>, Option<ColumnId>),
        calls: Vec<Call>,
        (parts, place): (&[(WindowId, Role)], Option<Place>),
    ) -> Result<Rel> {
        match (window, output) {
            (Some(window), Some(output)) => {
                let changes = self.emit_changes(window).map_err(|error| error.at_place(place.clone()))?;
                Ok(Rel::Aggregate(Box::new(Aggregate { input, window, output, keys, set, calls, changes, place })))
            }
            _ => Ok(self.group_aggregate(input, keys, calls, (parts, place))),
        }
    }

    /// The columns of windows among the groups.
    fn window_parts(&self, groups: &[(Expr, Option<ColumnId>)]) -> Vec<(WindowId, Role)> {
        groups.iter().filter_map(|(_, column)| self.arena.columns[(*column)?].window).collect()
    }

    /// The window that the groups name, by its start and its end; none: they are no window aggregation.
    fn grouped_window(
        &mut self,
        groups: &[(Expr, Option<ColumnId>)],
        place: Option<Place>,
    ) -> Result<Option<WindowId>> {
        let with_place = |error: Error| error.at_place(place.clone());
        let parts = self.window_parts(groups);
        let complete = parts
            .iter()
            .map(|(window, _)| *window)
            .find(|window| parts.contains(&(*window, Role::Start)) && parts.contains(&(*window, Role::End)));
        let Some(id) = complete else { return Ok(None) };
        let window = &self.arena.windows[id];
        if let Some(partition) = &window.partition {
            let mut keys: Vec<ColumnId> = Vec::new();
            let mut other = false;
            for (_, column) in groups {
                match column {
                    Some(column) if self.arena.columns[*column].window.is_some_and(|(w, _)| w == id) => {}
                    Some(column) => keys.push(*column),
                    None => other = true,
                }
            }
            if let Some(missing) = partition.iter().find(|key| !keys.contains(key)) {
                let name = &self.arena.columns[*missing].name;
                return Err(with_place(
                    updating_error("this GROUP BY")
                        .help(format!("group by the SESSION's PARTITION BY column {name} too")),
                ));
            }
            if other || keys.iter().any(|key| !partition.contains(key)) {
                let error = if partition.is_empty() {
                    updating_error("GROUP BY of a key over a SESSION without PARTITION BY")
                } else {
                    Error::unsupported("GROUP BY of more than the SESSION's PARTITION BY columns")
                };
                return Err(with_place(
                    error.help("write SESSION(TABLE t PARTITION BY (…), …) with the keys of GROUP BY"),
                ));
            }
        }
        if let Some(key) = self.settings.emit_fire() {
            return Err(with_place(
                Error::script("a window function does not fire early or late").help(format!("remove SET '{key}'")),
            ));
        }
        if self.settings.allow_lateness {
            let remedy = "for later rows, delay the watermark: WATERMARK FOR ts AS ts - INTERVAL '20' SECOND";
            self.note_lateness("window functions", remedy);
        }
        Ok(Some(id))
    }

    /// The columns above the aggregation: its keys, and start, end and time of the window.
    fn group_columns(
        &mut self,
        groups: &[(Expr, Option<ColumnId>)],
        window: Option<WindowId>,
    ) -> (Vec<(ColumnId, Expr)>, Vec<Group>, Option<WindowId>) {
        let output = window.map(|window| self.output_window(window));
        let above = output.map(|output| self.arena.windows[output].clone());
        let mut keys: Vec<(ColumnId, Expr)> = Vec::new();
        let mut grouped: Vec<Group> = Vec::new();
        for (expr, column) in groups {
            let role = column.and_then(|column| self.arena.columns[column].window);
            let role = role.filter(|(id, _)| Some(*id) == window).map(|(_, role)| role);
            let out = match (role, &above) {
                (Some(Role::Start), Some(above)) => above.start,
                (Some(Role::End), Some(above)) => above.end,
                (Some(Role::Time), Some(above)) => above.time.unwrap_or(above.end),
                _ => match keys.iter().find(|(_, key)| key == expr) {
                    Some((out, _)) => *out,
                    None => {
                        let name = match column {
                            Some(column) => self.arena.columns[*column].name.clone(),
                            None => format!("key${}", keys.len()),
                        };
                        let out = self.arena.add(name, expr.data_type().clone(), false);
                        keys.push((out, expr.clone()));
                        out
                    }
                },
            };
            grouped.push(Group { expr: expr.clone(), output: out });
        }
        if let (Some(window), Some(above)) = (window.filter(|id| self.arena.windows[*id].legacy), &above) {
            let below = &self.arena.windows[window];
            let parts =
                [(Some(below.start), Some(above.start)), (Some(below.end), Some(above.end)), (below.time, above.time)];
            let parts = parts.into_iter().filter_map(|(below, above)| Some((below?, above?)));
            grouped.extend(parts.map(|(below, output)| Group { expr: self.arena.expr(below), output }));
        }
        (keys, grouped, output)
    }

    /// A window like `window` for the rows that its aggregation gives.
    fn output_window(&mut self, window: WindowId) -> WindowId {
        let below = self.arena.windows[window].clone();
        let id = self.arena.windows.len();
        let boundary = Type::Timestamp(3).not_null();
        let start = self.arena.add("window_start", boundary.clone(), false);
        let end = self.arena.add("window_end", boundary, false);
        let time = self.arena.add("window_time", below.time_type.clone(), !below.proctime);
        self.arena.columns[time].proctime = below.proctime;
        // Behind a window in GROUP BY they are times like others, as in Flink.
        if !below.legacy {
            for (column, role) in [(start, Role::Start), (end, Role::End), (time, Role::Time)] {
                self.arena.columns[column].window = Some((id, role));
            }
        }
        self.arena.windows.push(Window { start, end, time: Some(time), partition: None, ..below });
        id
    }

    /// Binds an expression of SELECT or HAVING over the groups and the aggregates.
    fn above(
        &mut self,
        ast: &Ast,
        (clause, scope): (&'static str, &Scope),
        (grouped, grouping): (&[Group], &Grouping),
        (calls, over): (&mut Vec<Call>, Option<(&mut Vec<RankCall>, &mut Overs)>),
    ) -> Result<Expr> {
        let mut context = Context::new(scope, clause);
        context.calls = Some(calls);
        context.grouping = Some(grouping);
        let mut overs = None;
        if let Some((ranks, over)) = over {
            context.ranks = Some(ranks);
            overs = Some(over);
        }
        context.overs = overs.as_deref_mut();
        let expr = self.expr(ast, &mut context)?;
        let places = std::mem::take(&mut context.places);
        let mut computed = columns_of_calls(calls);
        computed.extend(overs.iter().flat_map(|overs| overs.columns()));
        self.regroup(&expr, grouped, &computed, &places, Some(ast))
    }

    /// Replaces groups by their columns; `computed` stay, whatever else is read from below is an error.
    fn regroup(
        &self,
        expr: &Expr,
        grouped: &[Group],
        computed: &[ColumnId],
        places: &[(ColumnId, Place)],
        ast: Option<&Ast>,
    ) -> Result<Expr> {
        let mut stray = None;
        let result = rewrite(expr, &mut |node| {
            if let Some(group) = grouped.iter().find(|group| &group.expr == node) {
                return Some(self.arena.expr(group.output));
            }
            if let Expr::Column { index, .. } = node {
                if !computed.contains(index) && !self.arena.ranks.contains(index) {
                    stray.get_or_insert(*index);
                }
                return Some(node.clone());
            }
            None
        });
        let Some(column) = stray else { return Ok(result) };
        let name = &self.arena.columns[column].name;
        let error = Error::script(format!("column '{name}' is neither grouped nor aggregated"))
            .help(format!("add {name} to GROUP BY, or take MAX({name}) or another aggregate of it"));
        Err(match (places.iter().find(|(id, _)| *id == column), ast) {
            (Some((_, place)), _) => error.at_place(place.clone()),
            (None, Some(ast)) => located(error, ast),
            (None, None) => error,
        })
    }

    /// A ROW_NUMBER over the groups.
    fn regroup_rank(&self, mut call: RankCall, grouped: &[Group], computed: &[ColumnId]) -> Result<RankCall> {
        let order = call.order.iter_mut().map(|order| &mut order.expr);
        for expr in call.partition.iter_mut().chain(order) {
            *expr =
                self.regroup(expr, grouped, computed, &[], None).map_err(|error| error.at_place(call.place.clone()))?;
        }
        Ok(call)
    }

    /// SELECT DISTINCT: a group for each combination of the columns.
    pub(super) fn distinct(&mut self, input: Relation, place: Option<Place>) -> Result<Relation> {
        let groups: Vec<(Expr, Option<ColumnId>)> =
            input.scope.columns.iter().map(|column| (self.arena.expr(column.id), Some(column.id))).collect();
        let window = self.grouped_window(&groups, place.clone())?;
        let (keys, grouped, output) = self.group_columns(&groups, window);
        let named = input.scope.columns.iter().zip(&grouped);
        let columns = named
            .map(|(column, group)| Named { qualifier: None, name: column.name.clone(), id: group.output })
            .collect();
        let parts = self.window_parts(&groups);
        let rel = self.aggregation(input.rel, (window, output), (keys, None), Vec::new(), (&parts, place))?;
        Ok(Relation { rel, scope: Scope { columns } })
    }
}

fn columns_of_calls(calls: &[Call]) -> Vec<ColumnId> {
    calls.iter().map(|call| call.column).collect()
}

fn updating_error(what: &str) -> Error {
    Error::unsupported(format!("{what} (its results would be updated with every row)"))
}

/// An aggregate call itself, or the likes of TUMBLE_START, whose column needs no other name.
fn is_call(ast: &Ast) -> bool {
    match ast {
        Ast::Nested(inner) => is_call(inner),
        Ast::Function(function) => {
            let name = function.name.to_string();
            function.name.0.len() == 1 && (is_aggregate(&name) || auxiliary(&name.to_ascii_uppercase()).is_some())
        }
        _ => false,
    }
}
