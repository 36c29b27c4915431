//! Queries: FROM, WHERE, the select list, UNION ALL, common tables and views.

use std::collections::HashSet;
use std::rc::Rc;

use sqlparser::ast::{
    AccessExpr, Distinct, Expr as Ast, GroupByExpr, Ident, ObjectName, ObjectNamePart, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, SetOperator, SetQuantifier, Spanned, TableAlias, TableFactor,
    WildcardAdditionalOptions,
};

use super::binder::{Binder, Context, located};
use super::catalog::{Entry, Table};
use super::logical::{ColumnId, Rel, Role, Window};
use super::over::Overs;
use super::processing;
use super::scope::{Named, Scope, ambiguous};
use super::statement::last_name;
use super::text::{keyword_before, place_of};
use super::{unnest, versions};
use crate::error::{Error, Place, Result};
use crate::expr::{Expr, Scalar, resolve};
use crate::types::{DataType, RowKind, Type};

/// How deep views and subqueries may stand in each other.
const DEPTH_LIMIT: usize = 64;

/// How often one statement may read tables, through whatever views.
const SCAN_LIMIT: usize = 1_000;

/// A common table (`WITH name AS (…)`), bound anew wherever it is used.
#[derive(Debug, Clone)]
pub(super) struct CommonTable {
    pub name: String,
    pub columns: Vec<Ident>,
    pub query: Rc<Query>,
    /// How many common tables its query sees.
    pub visible: usize,
}

/// A bound query and the names of its columns.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    pub rel: Rel,
    pub scope: Scope,
}

impl Relation {
    /// A relation over `input` with one more step.
    pub(super) fn filtered(self, predicate: Expr) -> Relation {
        Relation { rel: Rel::Filter { input: Box::new(self.rel), predicate }, scope: self.scope }
    }
    fn projected(rel: Rel, defined: Vec<(ColumnId, Expr)>, scope: Scope) -> Relation {
        if defined.is_empty() {
            return Relation { rel, scope };
        }
        Relation { rel: Rel::Project { input: Box::new(rel), defined }, scope }
    }
}

impl Binder<'_> {
    pub(super) fn query(&mut self, query: &Query) -> Result<Relation> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Error::script(format!("more than {DEPTH_LIMIT} views and subqueries in each other")));
        }
        let visible = self.common_tables.len();
        let relation = self.query_in_scope(query);
        self.common_tables.truncate(visible);
        self.depth -= 1;
        relation
    }

    fn query_in_scope(&mut self, query: &Query) -> Result<Relation> {
        if let Some(with) = &query.with {
            if with.recursive {
                return Err(Error::unsupported("WITH RECURSIVE").at_place(place_of(with.span()).unwrap_or_default()));
            }
            for table in &with.cte_tables {
                self.common_tables.push(CommonTable {
                    name: table.alias.name.value.clone(),
                    columns: table.alias.columns.iter().map(|column| column.name.clone()).collect(),
                    query: Rc::new((*table.query).clone()),
                    visible: self.common_tables.len(),
                });
            }
        }
        if let Some(order) = &query.order_by {
            let error = Error::unsupported("ORDER BY of a stream")
                .help("leave it out; sort the result afterwards, for instance with sort(1)");
            return Err(self.at_keyword(error, &["ORDER"], place_of(order.span())));
        }
        if query.limit_clause.is_some() || query.fetch.is_some() {
            let place = query.limit_clause.as_ref().and_then(|limit| place_of(limit.span()));
            let error = Error::unsupported("LIMIT, OFFSET and FETCH of a stream")
                .help("leave it out and cut the result afterwards");
            return Err(self.at_keyword(error, &["LIMIT", "OFFSET", "FETCH"], place));
        }
        self.body(&query.body)
    }

    /// An error about the clause whose keyword stands before `inside`, of which the syntax tree only has the rest.
    fn at_keyword(&self, error: Error, keywords: &[&str], inside: Option<Place>) -> Error {
        error.at_place(keyword_before(self.tokens, keywords, inside.as_ref()).or(inside))
    }

    fn body(&mut self, body: &SetExpr) -> Result<Relation> {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let distinct = match (op, set_quantifier) {
                    (SetOperator::Union, SetQuantifier::All) => false,
                    (SetOperator::Union, SetQuantifier::None | SetQuantifier::Distinct) => true,
                    _ => {
                        let error = Error::unsupported(op.to_string()).help("UNION and UNION ALL are supported");
                        return Err(error.at_place(place_of(right.span())));
                    }
                };
                let left = self.body(left)?;
                let place = place_of(right.span());
                let right = self.body(right)?;
                let union = self.union(left, right).map_err(|error| error.at_place(place.clone()))?;
                // Equal rows become one, in the windows that they carry, if any.
                if distinct { self.distinct(union, place) } else { Ok(union) }
            }
            SetExpr::Values(values) => self.values(values),
            SetExpr::Table(_) => Err(Error::unsupported("TABLE t as a query").help("write SELECT * FROM t")),
            _ => Err(Error::script("expected a query")),
        }
    }

    fn union(&mut self, left: Relation, right: Relation) -> Result<Relation> {
        let (left_ids, right_ids) = (left.scope.ids(), right.scope.ids());
        if left_ids.len() != right_ids.len() {
            return Err(Error::script(format!(
                "UNION ALL of queries with {} and {} columns",
                left_ids.len(),
                right_ids.len()
            ))
            .help("select the same columns on both sides"));
        }
        let mut types = Vec::with_capacity(left_ids.len());
        for (i, (l, r)) in left_ids.iter().zip(&right_ids).enumerate() {
            let (a, b) = (&self.arena.columns[*l].data_type, &self.arena.columns[*r].data_type);
            let common = resolve::common_type(&[a.clone(), b.clone()]).ok_or_else(|| {
                Error::script(format!("column {} of UNION ALL is {a} on one side and {b} on the other", i + 1))
                    .help("CAST one of them")
            })?;
            types.push(common);
        }
        let mut columns = Vec::with_capacity(types.len());
        for ((l, r), data_type) in left_ids.iter().zip(&right_ids).zip(&types) {
            let rowtime = self.arena.columns[*l].rowtime && self.arena.columns[*r].rowtime;
            let name = self.arena.columns[*l].name.clone();
            let id = self.arena.add(name, data_type.clone(), rowtime);
            self.arena.columns[id].proctime = self.arena.columns[*l].proctime && self.arena.columns[*r].proctime;
            columns.push(id);
        }
        self.union_windows(&left_ids, &right_ids, &columns);
        let names = left.scope.columns.into_iter().zip(&columns);
        let scope =
            Scope { columns: names.map(|(named, id)| Named { qualifier: None, name: named.name, id: *id }).collect() };
        let mut inputs = Vec::new();
        let changes = left.rel.row_kind().is_some() || right.rel.row_kind().is_some();
        let kind = changes.then(|| self.kind_column());
        for (rel, ids) in [(left.rel, left_ids), (right.rel, right_ids)] {
            let (mut rel, mut ids) = self.cast_columns(rel, &ids, &types)?;
            if changes {
                ids.push(self.kind_of(&mut rel));
            }
            inputs.push((rel, ids));
        }
        columns.extend(kind);
        Ok(Relation { rel: Rel::Union { inputs, columns, kind }, scope })
    }

    /// A new column for the kinds of rows.
    pub(super) fn kind_column(&mut self) -> ColumnId {
        let field = RowKind::field();
        self.arena.add(field.name, field.data_type, false)
    }

    /// The column with the kinds of the relation's rows, which are insertions if it has none yet.
    fn kind_of(&mut self, rel: &mut Rel) -> ColumnId {
        if let Some(kind) = rel.row_kind() {
            return kind;
        }
        let id = self.kind_column();
        let insertion = Scalar::Int(i64::from(RowKind::Insert.code()));
        let insertion = Expr::literal(insertion, RowKind::field().data_type);
        let input = std::mem::replace(rel, Rel::Union { inputs: Vec::new(), columns: Vec::new(), kind: None });
        *rel = Rel::Project { input: Box::new(input), defined: vec![(id, insertion)] };
        id
    }

    /// Columns that are start or end of the same kind of window on both sides stay so.
    fn union_windows(&mut self, left: &[ColumnId], right: &[ColumnId], columns: &[ColumnId]) {
        let part = |binder: &Self, i: usize| {
            let (a, role) = binder.arena.columns[left[i]].window?;
            let (b, other) = binder.arena.columns[right[i]].window?;
            let (x, y) = (&binder.arena.windows[a], &binder.arena.windows[b]);
            let session = matches!(x.function, crate::plan::WindowSpec::Session { .. });
            (role == other && x.function == y.function && x.time_type.kind == y.time_type.kind && !session)
                .then_some((a, b, role))
        };
        let parts: Vec<_> = (0..columns.len()).map(|i| part(self, i)).collect();
        let find = |wanted: Role| parts.iter().position(|part| part.is_some_and(|(_, _, role)| role == wanted));
        let (Some(start), Some(end)) = (find(Role::Start), find(Role::End)) else { return };
        let same_windows = parts[start].map(|p| (p.0, p.1)) == parts[end].map(|p| (p.0, p.1));
        let Some((left_window, ..)) = parts[start].filter(|_| same_windows) else { return };
        let time = find(Role::Time).map(|i| columns[i]);
        let id = self.arena.windows.len();
        let window = Window {
            start: columns[start],
            end: columns[end],
            time,
            partition: None,
            ..self.arena.windows[left_window].clone()
        };
        self.arena.windows.push(window);
        for (i, role) in [(Some(start), Role::Start), (Some(end), Role::End), (find(Role::Time), Role::Time)] {
            if let Some(i) = i {
                self.arena.columns[columns[i]].window = Some((id, role));
            }
        }
    }

    fn cast_columns(&mut self, rel: Rel, ids: &[ColumnId], types: &[DataType]) -> Result<(Rel, Vec<ColumnId>)> {
        let mut defined = Vec::new();
        let mut outputs = Vec::with_capacity(ids.len());
        for (id, data_type) in ids.iter().zip(types) {
            if self.arena.columns[*id].data_type.kind == data_type.kind {
                outputs.push(*id);
                continue;
            }
            let cast = resolve::cast(self.arena.expr(*id), data_type.clone(), false)?;
            let name = self.arena.columns[*id].name.clone();
            let column = self.arena.add(name, cast.data_type().clone(), false);
            defined.push((column, cast));
            outputs.push(column);
        }
        let rel = if defined.is_empty() { rel } else { Rel::Project { input: Box::new(rel), defined } };
        Ok((rel, outputs))
    }

    fn select(&mut self, select: &Select) -> Result<Relation> {
        self.refuse_clauses(select)?;
        let input = self.filtered_tables(select)?;
        let GroupByExpr::Expressions(groups, modifiers) = &select.group_by else {
            return Err(Error::script("GROUP BY ALL is not Flink's").help("name the columns to group by"));
        };
        if !modifiers.is_empty() {
            return Err(Error::script("GROUPING SETS behind the groups is not Flink's")
                .at_place(place_of(select.span()).unwrap_or_default())
                .help("write a comma before GROUPING SETS"));
        }
        let relation = if !groups.is_empty() || select.having.is_some() {
            self.grouped_select(select, groups, input)?
        } else {
            self.plain_select(select, input)?
        };
        match &select.distinct {
            None | Some(Distinct::All) => Ok(relation),
            Some(Distinct::Distinct) => self.distinct(relation, place_of(select.span())),
            Some(Distinct::On(_)) => Err(Error::script("DISTINCT ON is not Flink's")),
        }
    }

    pub(super) fn refuse_clauses(&self, select: &Select) -> Result<()> {
        let refuse = |what: &str, ast: Option<&Ast>| {
            let error = Error::unsupported(what);
            Err(match ast {
                Some(ast) => located(error, ast),
                None => error.at_place(place_of(select.span()).unwrap_or_default()),
            })
        };
        let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
        if let Some(qualify) = select.qualify.as_ref().filter(|_| grouped || select.having.is_some()) {
            return refuse("QUALIFY beside GROUP BY", Some(qualify));
        }
        let foreign = select.top.is_some()
            || select.into.is_some()
            || select.prewhere.is_some()
            || !select.lateral_views.is_empty()
            || !select.connect_by.is_empty()
            || !select.cluster_by.is_empty()
            || !select.distribute_by.is_empty()
            || !select.sort_by.is_empty()
            || select.exclude.is_some()
            || select.value_table_mode.is_some();
        if foreign {
            let error = Error::script("a clause of this SELECT is not Flink's");
            return Err(error.at_place(place_of(select.span()).unwrap_or_default()));
        }
        Ok(())
    }

    pub(super) fn plain_select(&mut self, select: &Select, input: Relation) -> Result<Relation> {
        let mut defined = Vec::new();
        let mut columns = Vec::new();
        let (mut calls, mut ranks) = (Vec::new(), Vec::new());
        let mut overs = Overs::new(&select.named_window)?;
        for (i, item) in select.projection.iter().enumerate() {
            if let Some(fields) = self.row_fields(item, &input.scope)? {
                for (name, expr) in fields {
                    let id = self.arena.add(&name, expr.data_type().clone(), false);
                    defined.push((id, expr));
                    columns.push(Named { qualifier: None, name, id });
                }
                continue;
            }
            if let Some(named) = wildcard(item, &input.scope, &columns)? {
                columns.extend(named);
                continue;
            }
            let (ast, alias) = item_parts(item)?;
            let mut context = Context::new(&input.scope, "SELECT");
            context.calls = Some(&mut calls);
            context.overs = Some(&mut overs);
            context.ranks = Some(&mut ranks);
            let expr = self.expr(ast, &mut context)?;
            if !calls.is_empty() {
                // All rows are one group.
                return self.grouped_select(select, &[], input);
            }
            let name = alias.map_or_else(|| implied_name(ast, i), |alias| alias.value.clone());
            let id = match self.plain_column(ast, &input.scope) {
                Some(id) => id,
                None => {
                    self.refuse_null(&expr).map_err(|error| located(error, ast))?;
                    let id = self.arena.add(&name, expr.data_type().clone(), false);
                    self.arena.columns[id].proctime = processing::is_call(ast);
                    defined.push((id, expr));
                    id
                }
            };
            columns.push(Named { qualifier: None, name, id });
        }
        let scope = Scope { columns };
        let qualified = match &select.qualify {
            None => None,
            Some(ast) => Some((ast, self.qualify(ast, &input.scope, &scope, &mut ranks)?)),
        };
        overs.check_ranks(&ranks)?;
        let rel = ranks.into_iter().fold(input.rel, |rel, call| self.rank(rel, call));
        let relation = Relation::projected(self.with_overs(rel, overs)?, defined, scope);
        match qualified {
            None => Ok(relation),
            Some((ast, predicate)) => self.filter(relation, predicate).map_err(|error| located(error, ast)),
        }
    }

    /// A bare NULL has no type that a column could have.
    pub(super) fn refuse_null(&self, expr: &Expr) -> Result<()> {
        if expr.data_type().kind == Type::Null {
            return Err(Error::script("a bare NULL has no type").help("give it one: CAST(NULL AS STRING)"));
        }
        Ok(())
    }

    pub(super) fn factor(&mut self, factor: &TableFactor) -> Result<Relation> {
        if let Some(unnest) = unnest::written(factor) {
            return self.unnest(Relation::one_row(), &unnest, &unnest::Joined::CROSS);
        }
        let result = match factor {
            TableFactor::Table { name, alias, args, version, sample, .. } => {
                if version.is_some() {
                    Err(versions::misplaced())
                } else if sample.is_some() {
                    Err(Error::unsupported("TABLESAMPLE"))
                } else if let Some(args) = args {
                    let function = single_name(name)?.value.to_ascii_uppercase();
                    let place = place_of(name.span());
                    self.window_function(&function, &args.args, place).and_then(|r| aliased(r, alias.as_ref(), None))
                } else {
                    let parts = identifiers(name)?;
                    let relation = self.named_relation(&parts)?;
                    let own = parts.last().map(|part| part.value.clone());
                    aliased(relation, alias.as_ref(), own.as_deref())
                }
            }
            TableFactor::Derived { lateral: false, subquery, alias, sample: None } => {
                let relation = self.query(subquery)?;
                aliased(relation, alias.as_ref(), None)
            }
            TableFactor::TableFunction { expr: Ast::Function(function), alias } => {
                let name = super::function::function_name(function)?;
                let place = place_of(function.name.span());
                let args = match &function.args {
                    sqlparser::ast::FunctionArguments::List(list) => list.args.as_slice(),
                    _ => &[],
                };
                self.window_function(&name, args, place).and_then(|r| aliased(r, alias.as_ref(), None))
            }
            TableFactor::TableFunction { .. } => Err(Error::script("TABLE(…) needs a window function")
                .help("write TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), …))")),
            TableFactor::Derived { lateral: true, .. } => {
                Err(Error::unsupported("LATERAL (SELECT …)").help("CROSS JOIN UNNEST(…) AS t (x) is supported"))
            }
            TableFactor::Function { .. } => {
                Err(Error::unsupported("LATERAL TABLE(…) (table functions)")
                    .help("UNNEST of an ARRAY or MAP is supported"))
            }
            TableFactor::NestedJoin { .. } => Err(Error::unsupported("an alias of a join in parentheses")),
            TableFactor::MatchRecognize { .. } => Err(Error::unsupported("MATCH_RECOGNIZE")),
            _ => Err(Error::script("this kind of table is not Flink's")),
        };
        result.map_err(|error| error.at_place(place_of(factor.span())))
    }

    /// A common table, view or table by its name.
    pub(super) fn named_relation(&mut self, parts: &[Ident]) -> Result<Relation> {
        let Some(name) = last_name(parts) else {
            return Err(Error::unsupported("a catalog or database other than the default"));
        };
        if let ([single], Some(index)) = (parts, self.common_tables.iter().rposition(|t| t.name == name.value)) {
            return self.common_table(index, single);
        }
        let relation = match self.catalog.entries.get(&name.value) {
            None => Err(self.catalog.unknown(&name.value)),
            Some(Entry::Table(table)) => self.scan(&Rc::clone(table)),
            Some(Entry::View(view)) => {
                let view = Rc::clone(view);
                // A view does not see the common tables of the query that names it.
                let hidden = std::mem::take(&mut self.common_tables);
                let relation = self.query(&view.query);
                self.common_tables = hidden;
                let mut relation = relation?;
                for (column, name) in relation.scope.columns.iter_mut().zip(&view.columns) {
                    column.name.clone_from(name);
                }
                Ok(relation)
            }
        };
        relation.map_err(|error| error.at_place(place_of(name.span)))
    }

    fn common_table(&mut self, index: usize, name: &Ident) -> Result<Relation> {
        let table = self.common_tables[index].clone();
        let hidden = self.common_tables.split_off(table.visible);
        let relation = self.query(&table.query);
        self.common_tables.extend(hidden);
        rename(relation?, &table.columns, name)
    }

    fn scan(&mut self, table: &Rc<Table>) -> Result<Relation> {
        self.scans += 1;
        if self.scans > SCAN_LIMIT {
            // Views that unite another view with itself double with every level.
            return Err(Error::script(format!("the statement reads tables more than {SCAN_LIMIT} times"))
                .help("write intermediate results to a file and read that"));
        }
        let time = table.watermark.as_ref().map(|watermark| watermark.time);
        let mut ids = Vec::with_capacity(table.columns.len());
        let mut scope = Scope::default();
        for (i, column) in table.columns.iter().enumerate() {
            let id = self.arena.add(&column.name, column.data_type.clone(), time == Some(i));
            self.arena.columns[id].proctime = table.definition.is_proctime(i);
            ids.push(id);
            scope.columns.push(Named { qualifier: None, name: column.name.clone(), id });
        }
        let current = time.map(|time| {
            let local = matches!(table.columns[time].data_type.kind, Type::TimestampLtz(_));
            let kind = if local { Type::TimestampLtz(3) } else { Type::Timestamp(3) };
            let current = self.arena.add("CURRENT_WATERMARK", kind.nullable(), false);
            self.arena.columns[ids[time]].current = Some(current);
            current
        });
        Ok(Relation { rel: Rel::Scan { table: Rc::clone(table), columns: ids, current }, scope })
    }
}

pub(super) fn single_name(name: &ObjectName) -> Result<&Ident> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(ident)] => Ok(ident),
        _ => Err(Error::unsupported(format!("the table function {name}"))),
    }
}

pub(super) fn identifiers(name: &ObjectName) -> Result<Vec<Ident>> {
    name.0
        .iter()
        .map(|part| match part {
            ObjectNamePart::Identifier(ident) => Ok(ident.clone()),
            ObjectNamePart::Function(_) => Err(Error::script(format!("{name} is no name of a table"))),
        })
        .collect()
}

pub(super) fn aliased(relation: Relation, alias: Option<&TableAlias>, own: Option<&str>) -> Result<Relation> {
    let Some(alias) = alias else {
        return Ok(Relation { scope: relation.scope.qualified(own), rel: relation.rel });
    };
    let columns: Vec<Ident> = alias.columns.iter().map(|column| column.name.clone()).collect();
    let relation = rename(relation, &columns, &alias.name)?;
    Ok(Relation { scope: relation.scope.qualified(Some(&alias.name.value)), rel: relation.rel })
}

/// New names for all columns, if any are given.
fn rename(mut relation: Relation, names: &[Ident], at: &Ident) -> Result<Relation> {
    if names.is_empty() {
        return Ok(relation);
    }
    if names.len() != relation.scope.columns.len() {
        let error = Error::script(format!(
            "{} names for the {} columns of {}",
            names.len(),
            relation.scope.columns.len(),
            at.value
        ));
        return Err(error.at_place(place_of(names[0].span)));
    }
    for (column, name) in relation.scope.columns.iter_mut().zip(names) {
        column.name.clone_from(&name.value);
    }
    Ok(relation)
}

/// The columns of `*` or `t.*`; `None` if the item is neither. `before`: the columns of the items before it.
pub(super) fn wildcard(item: &SelectItem, scope: &Scope, before: &[Named]) -> Result<Option<Vec<Named>>> {
    let (table, options) = match item {
        SelectItem::Wildcard(options) => (None, options),
        SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), options) => {
            (Some(single_name(name)?), options)
        }
        SelectItem::QualifiedWildcard(..) => return Err(Error::unsupported("expression.*")),
        _ => return Ok(None),
    };
    refuse_wildcard_options(options)?;
    let Some(table) = table else { return different(scope.columns.clone(), item, before).map(Some) };
    let of_table = scope.columns.iter().filter(|column| column.qualifier.as_deref() == Some(&table.value));
    let found: Vec<Named> = of_table.cloned().collect();
    if found.is_empty() {
        let error = Error::script(format!("no table or alias is called '{}' here", table.value));
        return Err(error.at_place(place_of(table.span)));
    }
    different(found, item, before).map(Some)
}

/// The columns of a `*`. Two of one name and one table are ambiguous; of several tables the later ones get a number.
fn different(mut columns: Vec<Named>, item: &SelectItem, before: &[Named]) -> Result<Vec<Named>> {
    let mut seen = HashSet::new();
    if let Some(column) = columns.iter().find(|column| !seen.insert((column.qualifier.clone(), column.name.clone()))) {
        let error = ambiguous(&column.name);
        return Err(error.at_place(place_of(item.span())));
    }
    let mut taken: HashSet<String> = before.iter().map(|column| column.name.clone()).collect();
    for column in &mut columns {
        let names = std::iter::once(column.name.clone()).chain((0..).map(|n| format!("{}{n}", column.name)));
        let free = names.into_iter().find(|name| !taken.contains(name));
        column.name = free.unwrap_or_default();
        taken.insert(column.name.clone());
    }
    Ok(columns)
}

fn refuse_wildcard_options(options: &WildcardAdditionalOptions) -> Result<()> {
    let used = options.opt_ilike.is_some()
        || options.opt_exclude.is_some()
        || options.opt_except.is_some()
        || options.opt_replace.is_some()
        || options.opt_rename.is_some()
        || options.opt_alias.is_some();
    if used { Err(Error::script("Flink's '*' takes no options").help("name the columns")) } else { Ok(()) }
}

/// The expression and the alias of a select item that is no wildcard.
pub(super) fn item_parts(item: &SelectItem) -> Result<(&Ast, Option<&Ident>)> {
    match item {
        SelectItem::UnnamedExpr(expr) => Ok((expr, None)),
        SelectItem::ExprWithAlias { expr, alias } => Ok((expr, Some(alias))),
        _ => Err(Error::script("an expression has one alias")),
    }
}

/// The name of a column without alias: its own, or Flink's `EXPR$n`.
pub(super) fn implied_name(ast: &Ast, index: usize) -> String {
    match ast {
        Ast::Identifier(name) => name.value.clone(),
        Ast::CompoundIdentifier(parts) => parts.last().map_or_else(String::new, |part| part.value.clone()),
        Ast::CompoundFieldAccess { access_chain, .. } => match access_chain.last() {
            Some(AccessExpr::Dot(field)) => implied_name(field, index),
            _ => format!("EXPR${index}"),
        },
        Ast::Nested(inner) => implied_name(inner, index),
        _ => format!("EXPR${index}"),
    }
}
