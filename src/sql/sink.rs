//! From a bound query to a pipeline: the columns a sink wants, and the query of a SELECT.

use std::collections::{BTreeMap, HashSet};

use super::binder::{Binder, Context};
use super::catalog::{Entry, Table};
use super::digits;
use super::lint::{self, Unused};
use super::logical::ColumnId;
use super::lower::Lowering;
use super::query::Relation;
use super::scope::Scope;
use super::statement::Insert;
use super::text::place_of;
use super::updating::check_takes_changes;
use crate::error::{Error, Place, Result, nearest};
use crate::expr::{Expr, resolve};
use crate::plan::{Node, Pipeline, SinkConnector, SinkSpec};
use crate::types::{DataType, Field, ROW_KIND, Schema};

impl Binder<'_> {
    /// Plans `INSERT INTO`. `ignored` takes options of the tables that have no effect.
    pub(super) fn insert(&mut self, insert: &Insert, ignored: &mut Vec<Unused>) -> Result<Pipeline> {
        let table = match self.catalog.entries.get(&insert.table.value) {
            Some(Entry::Table(table)) => std::rc::Rc::clone(table),
            Some(Entry::View(_)) => {
                let error = Error::script(format!("{} is a view: nothing can be written to it", insert.table.value));
                return Err(at(error, place_of(insert.table.span)));
            }
            None => return Err(at(self.catalog.unknown(&insert.table.value), place_of(insert.table.span))),
        };
        let query_place = place_of(insert.span);
        let relation = self.query(&insert.query).map_err(|error| at(error, query_place.clone()))?;
        let schema = table.physical();
        let fixed = self.fixed_columns(insert, &table, &schema)?;
        let mut exprs = self.sink_columns(insert, (&table, &schema), &fixed, &relation, query_place.as_ref())?;
        self.check_rowtimes(&relation, &exprs).map_err(|error| at(error, query_place.clone()))?;
        let mut names: Vec<String> = schema.fields.iter().map(|field| field.name.clone()).collect();
        let connector = table.sink(&mut |key| ignored.push(table.unused(key)))?;
        let changelog = self.add_row_kind(&relation, &mut exprs, &mut names);
        if changelog {
            check_takes_changes(&table, &connector, &relation.rel, &exprs)
                .map_err(|error| at(error, query_place.clone()))?;
        }
        let ordered =
            matches!(connector, SinkConnector::Print { .. } | SinkConnector::Stdout { .. } | SinkConnector::Collect);
        let mut lowering = Lowering { arena: &self.arena, config: &self.settings.config, ordered, ignored: Vec::new() };
        let root = lowering.lower(&relation.rel, &exprs, &names).map_err(|error| at(error, query_place))?;
        let root = named(root, &names);
        ignored.append(&mut lowering.ignored);
        self.lints.extend(lint::of_query(&relation.rel, &self.arena, &root));
        let mut pipeline =
            Pipeline { root, sink: SinkSpec { table: table.name.clone(), connector, schema, changelog } };
        digits::keep_hidden(&mut pipeline);
        Ok(pipeline)
    }

    /// Plans a SELECT whose rows the caller takes.
    pub(super) fn collect(&mut self, relation: &Relation, ignored: &mut Vec<Unused>) -> Result<Pipeline> {
        let mut names = distinct_names(relation.scope.columns.iter().map(|column| column.name.as_str()));
        let mut exprs: Vec<Expr> = relation.scope.columns.iter().map(|column| self.arena.expr(column.id)).collect();
        let fields = names.iter().zip(&exprs).map(|(name, expr)| Field::new(name, expr.data_type().clone()));
        let schema = Schema::new(fields.collect());
        let changelog = self.add_row_kind(relation, &mut exprs, &mut names);
        let mut lowering =
            Lowering { arena: &self.arena, config: &self.settings.config, ordered: true, ignored: Vec::new() };
        let root = named(lowering.lower(&relation.rel, &exprs, &names)?, &names);
        ignored.append(&mut lowering.ignored);
        self.lints.extend(lint::of_query(&relation.rel, &self.arena, &root));
        let table = "the result".to_string();
        let sink = SinkSpec { table, connector: SinkConnector::Collect, schema, changelog };
        Ok(Pipeline { root, sink })
    }

    /// Adds the column with the kinds of the rows, if the relation's result changes; whether it does.
    fn add_row_kind(&self, relation: &Relation, exprs: &mut Vec<Expr>, names: &mut Vec<String>) -> bool {
        let Some(kind) = relation.rel.row_kind() else { return false };
        exprs.push(self.arena.expr(kind));
        names.push(ROW_KIND.to_string());
        true
    }

    /// A sink takes one event time at most; one that is cast for its column is none any more.
    fn check_rowtimes(&self, relation: &Relation, exprs: &[Expr]) -> Result<()> {
        let is_time = |expr: &&Expr| matches!(expr, Expr::Column { index, .. } if self.arena.columns[*index].rowtime);
        if exprs.iter().filter(is_time).count() < 2 {
            return Ok(());
        }
        let times = relation.scope.columns.iter().filter(|column| self.arena.columns[column.id].rowtime);
        let names: Vec<&str> = times.map(|column| column.name.as_str()).collect();
        match names.as_slice() {
            [] | [_] => Ok(()),
            [_, second, ..] => {
                Err(Error::script(format!("the result has more than one event-time column: {}", names.join(", ")))
                    .help(format!("make the others plain timestamps: CAST({second} AS TIMESTAMP(3))")))
            }
        }
    }

    /// For each column of the sink the expression that fills it.
    fn sink_columns(
        &self,
        insert: &Insert,
        (table, schema): (&Table, &Schema),
        fixed: &BTreeMap<usize, Expr>,
        relation: &Relation,
        place: Option<&Place>,
    ) -> Result<Vec<Expr>> {
        let ids = relation.scope.ids();
        let mismatch = |cause: String| {
            let error = Error::script(format!("the query does not fit into {}: {cause}", table.name)).help(format!(
                "the query gives ({}), the sink takes ({})",
                self.describe(relation),
                describe_schema(schema)
            ));
            at(error, place.cloned())
        };
        let targets = match &insert.columns {
            None => (0..schema.len()).filter(|index| !fixed.contains_key(index)).collect(),
            Some(names) => target_columns(names, schema, table)?,
        };
        if targets.len() != ids.len() {
            return Err(mismatch(format!("{} columns instead of {}", ids.len(), targets.len())));
        }
        let mut exprs = Vec::with_capacity(schema.len());
        for (i, field) in schema.fields.iter().enumerate() {
            if let Some(value) = fixed.get(&i) {
                exprs.push(value.clone());
                continue;
            }
            let Some(position) = targets.iter().position(|target| *target == i) else {
                exprs.push(self.null_column(field, insert)?);
                continue;
            };
            let column: ColumnId = ids[position];
            let expr = self.arena.expr(column);
            let given = expr.data_type().clone();
            exprs.push(resolve::coerce_assign(expr, &field.data_type).map_err(|error| match error.kind() {
                crate::error::ErrorKind::Script => {
                    mismatch(format!("column '{}' is {}, not {given}", field.name, field.data_type))
                }
                _ => at(error, place.cloned()),
            })?);
        }
        Ok(exprs)
    }

    /// The columns to which `PARTITION (key = value)` gives a value.
    fn fixed_columns(&mut self, insert: &Insert, table: &Table, schema: &Schema) -> Result<BTreeMap<usize, Expr>> {
        let mut fixed = BTreeMap::new();
        for (key, value) in &insert.partition {
            let keys = table.definition.partition_keys.iter();
            let index =
                keys.map(|key| &key.value).find(|name| **name == key.value).and_then(|name| schema.index_of(name));
            let Some(index) = index else {
                let error = Error::script(format!("'{}' is no partition key of table {}", key.value, table.name))
                    .help("name columns of its PARTITIONED BY");
                return Err(at(error, place_of(key.span)));
            };
            let named = insert.columns.iter().flatten().any(|column| column.value == key.value);
            let field = &schema.fields[index];
            let empty = Scope::default();
            let given = self.expr(value, &mut Context::new(&empty, "PARTITION"))?;
            let given = resolve::cast(given, field.data_type.clone(), false);
            if fixed.insert(index, given.map_err(|error| at(error, place_of(key.span)))?).is_some() || named {
                return Err(at(Error::script(format!("column '{}' is named twice", key.value)), place_of(key.span)));
            }
        }
        Ok(fixed)
    }

    /// A column that the INSERT's column list leaves out.
    fn null_column(&self, field: &Field, insert: &Insert) -> Result<Expr> {
        if !field.data_type.nullable {
            let error = Error::script(format!("column '{}' is NOT NULL and gets no value", field.name))
                .help("add it to the column list");
            return Err(at(error, place_of(insert.table.span)));
        }
        let data_type = DataType { kind: field.data_type.kind.clone(), nullable: true };
        Ok(Expr::literal(crate::expr::Scalar::Null, data_type))
    }

    fn describe(&self, relation: &Relation) -> String {
        let columns = relation.scope.columns.iter();
        let texts: Vec<String> =
            columns.map(|column| format!("{} {}", column.name, self.arena.columns[column.id].data_type)).collect();
        texts.join(", ")
    }
}

/// The names of a SELECT's result: of several columns `k`, the later ones are `k0`, `k1`, as in Flink.
fn distinct_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut distinct = Vec::new();
    for name in names {
        let mut numbered = (0_usize..).map(|number| format!("{name}{number}"));
        let mut free = name.to_string();
        while !taken.insert(free.clone()) {
            free = numbered.next().expect("numbers do not end");
        }
        distinct.push(free);
    }
    distinct
}

/// The node under the sink's column names; lowering drops projections that only rename.
fn named(root: Node, names: &[String]) -> Node {
    let fields = &root.schema().fields;
    if fields.iter().map(|field| &field.name).eq(names) {
        return root;
    }
    let exprs = fields.iter().enumerate().map(|(i, field)| Expr::column(i, field.data_type.clone())).collect();
    let renamed = fields.iter().zip(names).map(|(field, name)| Field::new(name, field.data_type.clone()));
    let schema = Schema::new(renamed.collect());
    Node::Calc { input: Box::new(root), filter: None, exprs, schema }
}

fn describe_schema(schema: &Schema) -> String {
    let texts: Vec<String> = schema.fields.iter().map(|field| format!("{} {}", field.name, field.data_type)).collect();
    texts.join(", ")
}

/// The sink columns that an INSERT names.
fn target_columns(names: &[sqlparser::ast::Ident], schema: &Schema, table: &Table) -> Result<Vec<usize>> {
    let mut targets = Vec::with_capacity(names.len());
    for name in names {
        let index = schema.index_of(&name.value).ok_or_else(|| {
            let error = Error::script(format!("table {} has no column '{}' to write to", table.name, name.value));
            let error = match nearest(&name.value, schema.fields.iter().map(|field| field.name.as_str())) {
                Some(near) => error.help(format!("did you mean '{near}'?")),
                None => error.help(format!("its columns are {}", describe_schema(schema))),
            };
            at(error, place_of(name.span))
        })?;
        if targets.contains(&index) {
            return Err(at(Error::script(format!("column '{}' is named twice", name.value)), place_of(name.span)));
        }
        targets.push(index);
    }
    Ok(targets)
}

fn at(error: Error, place: Option<Place>) -> Error {
    error.at_place(place)
}
