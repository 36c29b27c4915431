//! From bound relations to plan nodes: only the columns that somebody reads, few projections.

mod copies;
mod join;
mod over;
mod rank;
mod updating;

use std::collections::{BTreeMap, BTreeSet};

use super::lint::Unused;
use super::logical::{Aggregate, Arena, Call, ColumnId, Rel, Unnest, Window, columns_of, rewrite};
use super::processing::{check_ends, rows_of_ended_windows};
use crate::aggregate::AggregateCall;
use crate::error::{Error, Result};
use crate::expr::{Expr, Scalar, resolve};
use crate::plan::{
    Config, EmittingAggregateSpec, Node, ScanSpec, StageSpec, WatermarkSpec, WindowAggregateSpec, WindowSpec,
};
use crate::types::{DataType, Field, Schema, Type};

/// A node and where it has which column.
pub(super) struct Base {
    pub node: Node,
    pub positions: BTreeMap<ColumnId, usize>,
}

pub(super) struct Lowering<'a> {
    pub arena: &'a Arena,
    pub config: &'a Config,
    /// Windows give their rows in an order of their own, whatever the number of shards.
    pub ordered: bool,
    /// Options of tables that have no effect here.
    pub ignored: Vec<Unused>,
}

impl Lowering<'_> {
    /// A node whose columns are `exprs`, under `names`.
    pub(super) fn lower(&mut self, rel: &Rel, exprs: &[Expr], names: &[String]) -> Result<Node> {
        self.refuse_lost_kinds(rel, exprs)?;
        let mut outputs = exprs.to_vec();
        let mut filters: Vec<Expr> = Vec::new();
        let mut current = rel;
        let base = loop {
            match current {
                Rel::Filter { input, predicate } => {
                    filters.push(predicate.clone());
                    current = input;
                }
                Rel::Project { input, defined } => {
                    if repeats_work(defined, &outputs, &filters) {
                        break self.materialise(current, &outputs, &filters)?;
                    }
                    for expr in outputs.iter_mut().chain(&mut filters) {
                        *expr = define(expr, defined);
                    }
                    current = input;
                }
                other => break self.base(other, &needed(&outputs, &filters))?,
            }
        };
        let local = |expr: &Expr| {
            let mut expr = expr.clone();
            expr.map_columns(&|id| base.positions[&id]);
            expr
        };
        let outputs: Vec<Expr> = outputs.iter().map(local).collect();
        let mut filter = None;
        // The innermost condition stands first, as it would be computed.
        for condition in filters.iter().rev().map(local) {
            filter = Some(match filter {
                None => condition,
                Some(before) => resolve::binary("AND", before, condition)?,
            });
        }
        let identity = outputs.len() == base.node.schema().len()
            && outputs.iter().enumerate().all(|(i, e)| matches!(e, Expr::Column { index, .. } if *index == i));
        if identity && filter.is_none() {
            return Ok(base.node);
        }
        let fields = outputs.iter().zip(names).map(|(expr, name)| Field::new(name, expr.data_type().clone()));
        let schema = Schema::new(fields.collect());
        Ok(Node::Calc { input: Box::new(base.node), filter, exprs: outputs, schema })
    }

    /// Who takes the rows of a result that changes must ask for what each of them does to it.
    fn refuse_lost_kinds(&self, rel: &Rel, exprs: &[Expr]) -> Result<()> {
        let is_asked_for = |kind| exprs.iter().any(|expr| matches!(expr, Expr::Column { index, .. } if *index == kind));
        match rel.row_kind() {
            Some(kind) if !is_asked_for(kind) => Err(Error::unsupported("an operator over results that change")
                .help("group by a window below it, so that each result is given once")),
            _ => Ok(()),
        }
    }

    /// A projection of its own, because merging it into the next would compute something twice.
    fn materialise(&mut self, rel: &Rel, outputs: &[Expr], filters: &[Expr]) -> Result<Base> {
        let columns: Vec<ColumnId> = needed(outputs, filters).into_iter().collect();
        let node = self.columns(rel, &columns)?;
        Ok(Base { node, positions: positions(&columns) })
    }

    /// A node with these columns of a relation.
    pub(super) fn columns(&mut self, rel: &Rel, columns: &[ColumnId]) -> Result<Node> {
        let exprs: Vec<Expr> = columns.iter().map(|id| self.arena.expr(*id)).collect();
        let names: Vec<String> = columns.iter().map(|id| self.arena.columns[*id].name.clone()).collect();
        self.lower(rel, &exprs, &names)
    }

    fn base(&mut self, rel: &Rel, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        match rel {
            Rel::Scan { table, columns, current } => {
                let (mut spec, mut positions) = self.scan(table, columns, needed)?;
                if let Some(id) = current.filter(|id| needed.contains(id)) {
                    positions.insert(id, spec.schema.len());
                    add_current_watermark(&mut spec, &self.arena.columns[id].data_type);
                }
                Ok(Base { node: Node::Scan(Box::new(spec)), positions })
            }
            Rel::Window { input, window, time } => {
                self.assign_windows(input, &self.arena.windows[*window], *time, needed)
            }
            Rel::OneRow => Ok(copies::one_row()),
            Rel::Expand { input, columns, copies } => self.expand(input, columns, copies, needed),
            Rel::Unnest(unnest) => self.unnest(unnest, needed),
            Rel::Aggregate(aggregate) => self.aggregate(aggregate, needed),
            Rel::Over(over) => self.over(over, needed),
            Rel::Rank(rank) => self.rank(rank, needed),
            Rel::Group(group) => self.group(group, needed),
            Rel::Union { inputs, columns, .. } => self.union(inputs, columns, needed),
            Rel::Join(join) => self.join(join, needed),
            Rel::Filter { .. } | Rel::Project { .. } => Err(Error::internal("a projection is no base")),
        }
    }

    /// The reading of a table with all its columns, in their order.
    pub(super) fn table(&mut self, table: &super::catalog::Table) -> Result<ScanSpec> {
        let columns: Vec<ColumnId> = (0..table.columns.len()).collect();
        Ok(self.scan(table, &columns, &columns.iter().copied().collect())?.0)
    }

    fn scan(
        &mut self,
        table: &super::catalog::Table,
        columns: &[ColumnId],
        needed: &BTreeSet<ColumnId>,
    ) -> Result<(ScanSpec, BTreeMap<ColumnId, usize>)> {
        let source = table.source(&mut |key| self.ignored.push(table.unused(key)))?;
        let mut read: BTreeSet<usize> = (0..columns.len()).filter(|i| needed.contains(&columns[*i])).collect();
        if let Some(watermark) = &table.watermark {
            read.insert(watermark.time);
            read.extend(columns_of(&watermark.expression));
        }
        if read.is_empty() {
            // A batch without columns has no rows to count: read the column that is cheapest to have.
            read.insert(table.columns.iter().position(|column| column.computed.is_none()).unwrap_or(0));
        }
        let read: Vec<usize> = read.into_iter().collect();
        let mut given: BTreeSet<usize> = BTreeSet::new();
        for index in &read {
            match &table.columns[*index].computed {
                None => {
                    given.insert(*index);
                }
                Some(expr) => given.extend(columns_of(expr)),
            }
        }
        let reading = table.reading(source, &given)?;
        let exprs = read.iter().map(|index| match &table.columns[*index].computed {
            None => reading.inputs[*index].clone(),
            Some(expr) => expr.substitute(&reading.inputs),
        });
        let exprs: Vec<Expr> = exprs.collect();
        let at: BTreeMap<usize, usize> = read.iter().enumerate().map(|(at, index)| (*index, at)).collect();
        let watermark = table.watermark.as_ref().map(|watermark| {
            let mut expression = watermark.expression.clone();
            expression.map_columns(&|id| at[&id]);
            let place = watermark.place.clone();
            WatermarkSpec { time: at[&watermark.time], expression, text: watermark.text.clone(), place, current: None }
        });
        let fields = read.iter().map(|i| Field::new(&table.columns[*i].name, table.columns[*i].data_type.clone()));
        let spec = ScanSpec {
            table: table.name.clone(),
            source: reading.source,
            file_schema: table.file_schema(),
            projection: reading.projection,
            columns: exprs,
            watermark,
            schema: Schema::new(fields.collect()),
        };
        let positions = read.iter().enumerate().map(|(position, index)| (columns[*index], position)).collect();
        Ok((spec, positions))
    }

    /// A window function whose rows are not aggregated at once.
    fn assign_windows(
        &mut self,
        input: &Rel,
        window: &Window,
        time: ColumnId,
        needed: &BTreeSet<ColumnId>,
    ) -> Result<Base> {
        if matches!(window.function, WindowSpec::Session { .. }) {
            if window.proctime {
                return Err(super::processing::unsupported("SESSION without GROUP BY"));
            }
            return self.session_rows(input, window, time, needed);
        }
        let own = [Some(window.start), Some(window.end), window.time];
        let mut columns: Vec<ColumnId> = needed.iter().copied().filter(|id| !own.contains(&Some(*id))).collect();
        if !columns.contains(&time) {
            columns.push(time);
        }
        let mut exprs: Vec<Expr> = columns.iter().map(|id| self.arena.expr(*id)).collect();
        let mut names: Vec<String> = columns.iter().map(|id| self.arena.columns[*id].name.clone()).collect();
        let local_time = self.zone(&window.time_type.kind).is_some();
        let mut time_index = columns.iter().position(|id| *id == time).expect("added above");
        if local_time {
            // Windows of instants are cut on the local clock.
            time_index = exprs.len();
            exprs.push(resolve::cast(self.arena.expr(time), Type::Timestamp(3).not_null(), false)?);
            names.push("local_time".to_string());
        }
        let input = self.lower(input, &exprs, &names)?;
        let mut fields = input.schema().fields.clone();
        let width = fields.len();
        let boundary = Type::Timestamp(3).not_null();
        let time_type = if local_time { boundary.clone() } else { window.time_type.clone() };
        fields.push(Field::new("window_start", boundary.clone()));
        fields.push(Field::new("window_end", boundary));
        fields.push(Field::new("window_time", time_type));
        let mut positions = positions(&columns);
        positions.insert(window.start, width);
        positions.insert(window.end, width + 1);
        if let Some(id) = window.time {
            positions.insert(id, width + 2);
        }
        let schema = Schema::new(fields);
        let mut node = Node::AssignWindows {
            input: Box::new(input),
            window: window.function.clone(),
            time: time_index,
            schema: schema.clone(),
        };
        if local_time && window.time.is_some_and(|id| needed.contains(&id)) {
            let mut exprs: Vec<Expr> =
                schema.fields.iter().enumerate().map(|(i, f)| Expr::column(i, f.data_type.clone())).collect();
            let last = exprs.pop().expect("three window columns");
            exprs.push(resolve::cast(last, window.time_type.clone(), false)?);
            let mut schema = schema;
            schema.fields[width + 2].data_type = window.time_type.clone();
            node = Node::Calc { input: Box::new(node), filter: None, exprs, schema };
        }
        Ok(Base { node, positions })
    }

    /// The zone in which windows of this time type are cut, unless that makes no difference.
    pub(super) fn zone(&self, time_type: &Type) -> Option<String> {
        let utc = ["UTC", "GMT", "Etc/UTC", "Z"].contains(&self.config.time_zone.as_str());
        (matches!(time_type, Type::TimestampLtz(_)) && !utc).then(|| self.config.time_zone.clone())
    }

    fn aggregate(&mut self, aggregate: &Aggregate, needed: &BTreeSet<ColumnId>) -> Result<Base> {
        let window = &self.arena.windows[aggregate.window];
        let calls: Vec<&Call> = aggregate.calls.iter().filter(|call| needed.contains(&call.column)).collect();
        let mut inputs = Inputs::default();
        let keys = self.keys(&aggregate.keys, &mut inputs);
        let specs = self.calls(&calls, &mut inputs);
        // The window function itself, if the window's columns are only grouped by; else the rows' own.
        let merged = merge_window(&aggregate.input, aggregate.window, window, &inputs.exprs);
        let (input_rel, spec, time) = match &merged {
            Some((rel, time)) => {
                let time = self.column(&mut inputs, *time);
                (rel, window.function.clone(), time)
            }
            None => {
                let start = inputs.add(&self.arena.expr(window.start), "window_start".to_string());
                let end = inputs.add(&self.arena.expr(window.end), "window_end".to_string());
                let time = inputs.add(&self.window_time(window)?, "window_time".to_string());
                (&aggregate.input, WindowSpec::Attached { start, end }, time)
            }
        };
        calls.iter().try_for_each(|call| check_merges(call, &spec))?;
        let input = if window.proctime {
            let input = self.lower(&rows_of_ended_windows(input_rel.clone()), &inputs.exprs, &inputs.names)?;
            check_ends(&input)?;
            input
        } else {
            self.lower(input_rel, &inputs.exprs, &inputs.names)?
        };
        let output = &self.arena.windows[aggregate.output];
        let mut columns: Vec<ColumnId> = aggregate.keys.iter().map(|(id, _)| *id).collect();
        columns.extend(calls.iter().map(|call| call.column));
        columns.extend([output.start, output.end]);
        columns.extend(output.time);
        columns.extend(aggregate.changes.map(|(_, kind)| kind));
        let set = aggregate.keys.iter().position(|(id, _)| Some(*id) == aggregate.set);
        let spec = WindowAggregateSpec {
            window: spec,
            set: set.map(|position| keys[position]),
            keys,
            time,
            zone: self.zone(&window.time_type.kind),
            aggregates: specs,
            input: input.schema().clone(),
            schema: self.schema(&columns),
            ordered: self.ordered,
            oldest_first: window.legacy,
        };
        let spec = match aggregate.changes {
            None => StageSpec::Aggregate(spec),
            Some((emit, _)) => {
                updating::check_order(&calls, &spec)?;
                StageSpec::Emitting(EmittingAggregateSpec { aggregate: spec, emit })
            }
        };
        Ok(Base { node: stage(vec![input], spec), positions: positions(&columns) })
    }

    /// The key columns of an aggregation among its inputs.
    fn keys(&self, keys: &[(ColumnId, Expr)], inputs: &mut Inputs) -> Vec<usize> {
        keys.iter().map(|(id, expr)| inputs.add(expr, self.name_of(expr, &self.arena.columns[*id].name))).collect()
    }

    /// The aggregates of an aggregation, over its inputs.
    fn calls(&self, calls: &[&Call], inputs: &mut Inputs) -> Vec<AggregateCall> {
        let one = |call: &&Call| {
            let name = &self.arena.columns[call.column].name;
            let args = call.args.iter().map(|arg| inputs.add(arg, self.name_of(arg, &format!("{name}.arg"))));
            let args: Vec<usize> = args.collect();
            let filter = call.filter.as_ref();
            AggregateCall {
                kind: call.kind,
                distinct: call.distinct,
                args,
                filter: filter.map(|filter| inputs.add(filter, self.name_of(filter, &format!("{name}.filter")))),
                inputs: call.args.iter().map(|arg| arg.data_type().clone()).collect(),
                setting: call.setting.clone(),
                output: call.output.clone(),
            }
        };
        calls.iter().map(one).collect()
    }

    /// A column among the inputs of an operator.
    fn column(&self, inputs: &mut Inputs, id: ColumnId) -> usize {
        inputs.add(&self.arena.expr(id), self.arena.columns[id].name.clone())
    }

    /// Rows of these columns.
    fn schema<'c>(&self, columns: impl IntoIterator<Item = &'c ColumnId>) -> Schema {
        let columns = columns.into_iter().map(|id| &self.arena.columns[*id]);
        Schema::new(columns.map(|column| Field::new(&column.name, column.data_type.clone())).collect())
    }

    fn name_of(&self, expr: &Expr, otherwise: &str) -> String {
        match expr {
            Expr::Column { index, .. } => self.arena.columns[*index].name.clone(),
            _ => otherwise.to_string(),
        }
    }

    /// The event time of rows that carry a window; without its column, one millisecond before the end.
    fn window_time(&self, window: &Window) -> Result<Expr> {
        if let Some(time) = window.time {
            return Ok(self.arena.expr(time));
        }
        let last = resolve::binary("-", self.arena.expr(window.end), resolve::literal_interval_day_second(1))?;
        resolve::cast(last, window.time_type.clone(), false)
    }

    fn union(
        &mut self,
        inputs: &[(Rel, Vec<ColumnId>)],
        columns: &[ColumnId],
        needed: &BTreeSet<ColumnId>,
    ) -> Result<Base> {
        let mut kept: Vec<usize> = (0..columns.len()).filter(|i| needed.contains(&columns[*i])).collect();
        if kept.is_empty() {
            kept.push(0);
        }
        let mut nodes = Vec::new();
        for (rel, ids) in inputs {
            let ids: Vec<ColumnId> = kept.iter().map(|i| ids[*i]).collect();
            match self.columns(rel, &ids)? {
                // UNION ALL of three is one node, not two.
                Node::UnionAll { inputs, .. } => nodes.extend(inputs),
                node => nodes.push(node),
            }
        }
        let ids: Vec<ColumnId> = kept.iter().map(|i| columns[*i]).collect();
        Ok(Base { node: Node::UnionAll { inputs: nodes, schema: self.schema(&ids) }, positions: positions(&ids) })
    }
}

fn stage(inputs: Vec<Node>, spec: StageSpec) -> Node {
    Node::Stage { inputs, spec: Box::new(spec) }
}

/// The columns below a stateful operator, none of them twice.
#[derive(Default)]
pub(super) struct Inputs {
    pub exprs: Vec<Expr>,
    pub names: Vec<String>,
}

impl Inputs {
    pub(super) fn add(&mut self, expr: &Expr, name: String) -> usize {
        if let Some(index) = self.exprs.iter().position(|input| input == expr) {
            return index;
        }
        self.exprs.push(expr.clone());
        self.names.push(name);
        self.exprs.len() - 1
    }
}

/// Adds the column that gets the watermark before each row.
fn add_current_watermark(spec: &mut ScanSpec, data_type: &DataType) {
    if let Some(watermark) = &mut spec.watermark {
        watermark.current = Some(spec.columns.len());
    }
    spec.columns.push(Expr::literal(Scalar::Null, data_type.clone()));
    spec.schema.fields.push(Field::new("CURRENT_WATERMARK", data_type.clone()));
}

pub(super) fn positions(columns: &[ColumnId]) -> BTreeMap<ColumnId, usize> {
    columns.iter().enumerate().map(|(position, id)| (*id, position)).collect()
}

fn needed(outputs: &[Expr], filters: &[Expr]) -> BTreeSet<ColumnId> {
    outputs.iter().chain(filters).flat_map(columns_of).collect()
}

/// True if something more than a column or a constant would be computed more than once.
fn repeats_work(defined: &[(ColumnId, Expr)], outputs: &[Expr], filters: &[Expr]) -> bool {
    let uses: Vec<ColumnId> = outputs.iter().chain(filters).flat_map(columns_of).collect();
    defined.iter().any(|(id, expr)| {
        !matches!(expr, Expr::Column { .. } | Expr::Literal { .. })
            && uses.iter().filter(|used| *used == id).count() > 1
    })
}

fn define(expr: &Expr, defined: &[(ColumnId, Expr)]) -> Expr {
    rewrite(expr, &mut |node| match node {
        Expr::Column { index, .. } => defined.iter().find(|(id, _)| id == index).map(|(_, expr)| expr.clone()),
        _ => None,
    })
}

/// Refuses what cannot be put together from the slices of a window, or from sessions that merge.
fn check_merges(call: &Call, window: &WindowSpec) -> Result<()> {
    let name = match window {
        WindowSpec::Tumble { .. } | WindowSpec::Attached { .. } => return Ok(()),
        WindowSpec::Hop { .. } => "HOP",
        WindowSpec::Cumulate { .. } => "CUMULATE",
        WindowSpec::Session { .. } => "SESSION",
    };
    if call.kind.merges() {
        return Ok(());
    }
    let error =
        Error::script(format!("{} cannot be computed in the windows of {name}; Flink refuses it too", call.kind));
    let error = error.help(match window {
        WindowSpec::Session { .. } => "ARRAY_AGG(x) gives all values in the order of arrival",
        _ => "filter by window_start in a subquery: then each window takes its rows by itself",
    });
    Err(error.at_place(call.place.clone()))
}

/// The input with the window function taken out, and the time column, if nothing but the grouping
/// uses the window's columns. Filters and projections in between then run before the windows, as in Flink.
fn merge_window(rel: &Rel, id: usize, window: &Window, exprs: &[Expr]) -> Option<(Rel, ColumnId)> {
    let own = [Some(window.start), Some(window.end), window.time];
    let mut used: BTreeSet<ColumnId> = exprs.iter().flat_map(columns_of).collect();
    let mut current = rel;
    loop {
        match current {
            Rel::Filter { input, predicate } => {
                used.extend(columns_of(predicate));
                current = input;
            }
            Rel::Project { input, defined } => {
                for (column, expr) in defined.iter().rev() {
                    if used.contains(column) {
                        used.extend(columns_of(expr));
                    }
                }
                current = input;
            }
            Rel::Expand { input, columns, copies } => {
                let read = columns.iter().enumerate().filter(|(_, column)| used.contains(column));
                let read = read.flat_map(|(at, _)| copies.iter().flat_map(move |copy| columns_of(&copy[at])));
                let read: Vec<ColumnId> = read.collect();
                used.extend(read);
                current = input;
            }
            // A session lasts over rows without elements too.
            Rel::Unnest(_) if matches!(window.function, WindowSpec::Session { .. }) => return None,
            Rel::Unnest(unnest) => {
                used.extend(
                    [Some(&unnest.collection), unnest.condition.as_ref()].into_iter().flatten().flat_map(columns_of),
                );
                current = &unnest.input;
            }
            Rel::Window { window: found, time, .. } => {
                let free = *found == id && !own.iter().flatten().any(|column| used.contains(column));
                return free.then(|| (without_window(rel), *time));
            }
            _ => return None,
        }
    }
}

fn without_window(rel: &Rel) -> Rel {
    match rel {
        Rel::Filter { input, predicate } => {
            Rel::Filter { input: Box::new(without_window(input)), predicate: predicate.clone() }
        }
        Rel::Project { input, defined } => {
            Rel::Project { input: Box::new(without_window(input)), defined: defined.clone() }
        }
        Rel::Expand { input, columns, copies } => {
            Rel::Expand { input: Box::new(without_window(input)), columns: columns.clone(), copies: copies.clone() }
        }
        Rel::Unnest(unnest) => {
            Rel::Unnest(Box::new(Unnest { input: without_window(&unnest.input), ..(**unnest).clone() }))
        }
        Rel::Window { input, .. } => (**input).clone(),
        other => other.clone(),
    }
}
