//! Runs the statements of a script against its catalog and settings, in order.

use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

use sqlparser::ast::Ident;
use sqlparser::tokenizer::{Span, TokenWithSpan};

use super::binder::{Binder, Context, located};
use super::catalog::{Catalog, Entry, Table, TableColumn, TableWatermark, View};
use super::ddl::{ColumnKind, CreateTable};
use super::lint::{self, Lint, Unused};
use super::logical::Arena;
use super::scope::{Named, Scope};
use super::settings::Settings;
use super::statement::{CreateView, Drop, Insert, Statement, already_exists};
use super::text::{excerpt, place_of};
use super::{Action, like};
use crate::error::{Error, Place, Result};
use crate::plan::{JobPlan, Options, Pipeline};
use crate::types::Type;

/// The state of a script between two statements.
pub(super) struct Session<'a> {
    /// What the statements' places are in.
    pub text: Cow<'a, str>,
    /// Its name.
    pub file: String,
    pub catalog: Catalog,
    pub settings: Settings,
    pub warnings: Vec<String>,
    /// Of the last statement.
    pub lints: Vec<Lint>,
    /// Of the statement that is carried out.
    tokens: Vec<TokenWithSpan>,
}

impl<'a> Session<'a> {
    pub(super) fn new(text: &'a str, overrides: &[(String, String)]) -> Result<Session<'a>> {
        let mut warnings = Vec::new();
        let settings = Settings::new(overrides, &mut warnings).map_err(|error| {
            let usage = Error::usage(format!("-D: {}", error.message()));
            usage.help(error.remedy().unwrap_or("leave it out"))
        })?;
        Ok(Session {
            text: Cow::Borrowed(text),
            file: String::new(),
            catalog: Catalog::default(),
            settings,
            warnings,
            lints: Vec::new(),
            tokens: Vec::new(),
        })
    }

    /// Carries out one statement; what is left to run is an action. `tokens`: the statement.
    pub(super) fn execute(&mut self, statement: &Statement, tokens: &[TokenWithSpan]) -> Result<Option<Action>> {
        self.tokens = tokens.to_vec();
        self.lints.clear();
        self.carry_out(statement)
    }

    fn carry_out(&mut self, statement: &Statement) -> Result<Option<Action>> {
        match statement {
            Statement::Set { key, value, span } => {
                let set = self.settings.set(key, value, &mut self.warnings);
                set.map_err(|error| at(error, place_of(*span)))?;
                let place = self.here(*span);
                self.settings.written_at(key, place.clone());
                self.lints.extend(self.settings.lints().into_iter().filter(|lint| lint.place == place));
                Ok(None)
            }
            Statement::Reset { key, span } => {
                let reset = self.settings.reset(key.as_deref(), &mut self.warnings);
                reset.map_err(|error| at(error, place_of(*span))).map(|()| None)
            }
            Statement::CreateTable(table) => self.create_table(table).map(|()| None),
            Statement::CreateView(view) => self.create_view(view).map(|()| None),
            Statement::Drop(drop) => self.drop(drop).map(|()| None),
            Statement::Insert(insert) => self.job(std::slice::from_ref(insert)).map(|plan| Some(Action::Insert(plan))),
            Statement::Inserts(inserts) => self.job(inserts).map(|plan| Some(Action::Insert(plan))),
            Statement::Query(query) => {
                let (pipeline, ignored) = self.bind(|binder, ignored| {
                    let relation = binder.query(query)?;
                    binder.collect(&relation, ignored)
                })?;
                let schema = pipeline.sink.schema.clone();
                Ok(Some(Action::Select { plan: self.plan(vec![pipeline], ignored), schema }))
            }
            Statement::Ask(inquiry) => self.answer(inquiry).map(|answer| Some(Action::Answer(answer))),
            Statement::Use => Ok(None),
            Statement::Alter(alter) => self.alter(alter).map(|()| None),
            Statement::Explain(inner) => Ok(match self.carry_out(inner)? {
                Some(Action::Insert(plan) | Action::Select { plan, .. }) => Some(Action::Explain(plan)),
                _ => None,
            }),
        }
    }

    /// A place in the file that is read.
    fn here(&self, span: Span) -> Option<Place> {
        place_of(span).map(|place| Place { file: self.file.clone(), ..place })
    }

    fn job(&mut self, inserts: &[impl std::borrow::Borrow<Insert>]) -> Result<JobPlan> {
        let mut pipelines = Vec::with_capacity(inserts.len());
        let mut all_ignored = Vec::new();
        for insert in inserts {
            let (pipeline, mut ignored) = self.bind(|binder, ignored| binder.insert(insert.borrow(), ignored))?;
            pipelines.push(pipeline);
            all_ignored.append(&mut ignored);
        }
        Ok(self.plan(pipelines, all_ignored))
    }

    /// Binds names for one statement; with the options of tables that have no effect.
    pub(super) fn bind<T>(
        &mut self,
        work: impl FnOnce(&mut Binder<'_>, &mut Vec<Unused>) -> Result<T>,
    ) -> Result<(T, Vec<Unused>)> {
        let mut ignored = Vec::new();
        let mut binder = Binder::new(&self.catalog, &self.settings);
        binder.tokens = &self.tokens;
        let result = work(&mut binder, &mut ignored);
        self.lints.append(&mut binder.lints);
        result.map(|result| (result, ignored))
    }

    fn plan(&mut self, pipelines: Vec<Pipeline>, ignored: Vec<Unused>) -> JobPlan {
        for option in &ignored {
            self.settings.ignore(&option.key);
        }
        let found = std::mem::take(&mut self.lints);
        let all = found.into_iter().chain(lint::of_options(&ignored)).chain(self.settings.lints());
        self.lints = lint::in_order(all.collect());
        JobPlan { pipelines, config: self.settings.config.clone() }
    }

    pub(super) fn create_view(&mut self, view: &CreateView) -> Result<()> {
        if self.catalog.entries.contains_key(&view.name.value) {
            if view.if_not_exists {
                return Ok(());
            }
            return Err(at(already_exists("the table or view", &view.name.value), place_of(view.name.span)));
        }
        // Faults of the view are told here, not where it is used.
        let (relation, _) = self.bind(|binder, _| binder.query(&view.query))?;
        let width = relation.scope.columns.len();
        if let (Some(first), false) = (view.columns.first(), view.columns.len() == width) {
            let message = format!("{} names for the {width} columns of view {}", view.columns.len(), view.name.value);
            return Err(at(Error::script(message), place_of(first.span)));
        }
        check_names(view, &relation.scope)?;
        let columns = view.columns.iter().map(|name| name.value.clone()).collect();
        let entry = Entry::View(Rc::new(View {
            query: view.query.clone(),
            columns,
            spelling: view.spelling.clone(),
            comment: view.comment.clone(),
            temporary: view.temporary,
        }));
        self.catalog.entries.insert(view.name.value.clone(), entry);
        Ok(())
    }

    fn drop(&mut self, drop: &Drop) -> Result<()> {
        let name = &drop.name.value;
        let kind = if drop.view { "view" } else { "table" };
        let matches = match self.catalog.entries.get(name) {
            Some(Entry::Table(_)) => !drop.view,
            Some(Entry::View(_)) => drop.view,
            None => false,
        };
        if matches {
            self.catalog.entries.remove(name);
            return Ok(());
        }
        if drop.if_exists {
            return Ok(());
        }
        Err(at(
            Error::script(format!("{kind} '{name}' does not exist")).help("write IF EXISTS if that is no fault"),
            place_of(drop.name.span),
        ))
    }

    pub(super) fn create_table(&mut self, create: &CreateTable) -> Result<()> {
        let name = &create.name.value;
        if self.catalog.entries.contains_key(name) {
            if create.if_not_exists {
                return Ok(());
            }
            return Err(at(already_exists("the table or view", name), place_of(create.name.span)));
        }
        let create = &match &create.like {
            Some(like) => {
                let base = self.pattern(&like.table)?;
                like::merged(create, like, &base)?
            }
            None => create.clone(),
        };
        let mut options = Options::new(format!("table `{name}`"), place_of(create.start).unwrap_or_default());
        for option in &create.options {
            if !options.insert(&option.key, &option.value, self.here(option.span).unwrap_or_default()) {
                let error = Error::script(format!("the option '{}' is set twice", option.key));
                return Err(at(error, place_of(option.span)));
            }
        }
        let definition = Rc::new(create.clone());
        let mut table = Table { name: name.clone(), columns: Vec::new(), watermark: None, options, definition };
        self.columns(create, &mut table)?;
        table.check_partition_keys()?;
        self.primary_key(create, &mut table)?;
        self.watermark(create, &mut table)?;
        self.catalog.entries.insert(name.clone(), Entry::Table(Rc::new(table)));
        Ok(())
    }

    /// The definition of a table that another one is to be like.
    fn pattern(&self, name: &Ident) -> Result<Rc<CreateTable>> {
        match self.catalog.entries.get(&name.value) {
            Some(Entry::Table(table)) => Ok(Rc::clone(&table.definition)),
            Some(Entry::View(_)) => {
                let error = Error::script(format!("{} is a view: no table can be like it", name.value));
                Err(at(error.help("name a table behind LIKE"), place_of(name.span)))
            }
            None => Err(at(self.catalog.unknown(&name.value), place_of(name.span))),
        }
    }

    /// Physical columns first: computed ones read them wherever they stand, but not each other.
    fn columns(&self, create: &CreateTable, table: &mut Table) -> Result<()> {
        let mut arena = Arena::default();
        let mut scope = Scope::default();
        for (id, column) in create.columns.iter().enumerate() {
            let name = &column.name.value;
            if create.columns[..id].iter().any(|other| other.name.value == *name) {
                return Err(at(Error::script(format!("two columns are called '{name}'")), place_of(column.name.span)));
            }
            let data_type = match &column.kind {
                ColumnKind::Physical(data_type) => data_type.clone(),
                ColumnKind::Metadata(metadata) => metadata.data_type.clone(),
                ColumnKind::Computed(_) => Type::Null.nullable(),
            };
            arena.add(name, data_type, false);
            if !matches!(column.kind, ColumnKind::Computed(_)) {
                scope.columns.push(Named { qualifier: Some(table.name.clone()), name: name.clone(), id });
            }
        }
        let mut binder = Binder::new(&self.catalog, &self.settings);
        binder.arena = arena;
        for (id, column) in create.columns.iter().enumerate() {
            let metadata = match &column.kind {
                ColumnKind::Metadata(metadata) => Some(table.file_metadata(&column.name, metadata)?),
                _ => None,
            };
            let computed = match &column.kind {
                ColumnKind::Physical(_) | ColumnKind::Metadata(_) => None,
                ColumnKind::Computed(ast) => {
                    let expr = binder.expr(ast, &mut Context::new(&scope, "a computed column"))?;
                    binder.refuse_null(&expr).map_err(|error| located(error, ast))?;
                    binder.arena.columns[id].data_type = expr.data_type().clone();
                    Some(expr)
                }
            };
            let data_type = binder.arena.columns[id].data_type.clone();
            table.columns.push(TableColumn { name: column.name.value.clone(), data_type, computed, metadata });
        }
        if table.physical().is_empty() {
            let error = Error::script(format!("table {} has no physical column", table.name));
            return Err(at(error, place_of(create.name.span)));
        }
        Ok(())
    }

    fn primary_key(&self, create: &CreateTable, table: &mut Table) -> Result<()> {
        for key in &create.primary_key {
            let column = table.columns.iter_mut().find(|column| column.name == key.value);
            match column {
                Some(column) => column.data_type.nullable = false,
                None => return Err(unknown_column(key, &table.name)),
            }
        }
        Ok(())
    }

    fn watermark(&self, create: &CreateTable, table: &mut Table) -> Result<()> {
        let Some(watermark) = &create.watermark else { return Ok(()) };
        let [name] = watermark.column.as_slice() else {
            let place = watermark.column.first().and_then(|part| place_of(part.span));
            return Err(at(
                Error::unsupported("a WATERMARK on a field of a ROW")
                    .help("add a computed column for the field and put the WATERMARK on it"),
                place,
            ));
        };
        let Some(time) = table.columns.iter().position(|column| column.name == name.value) else {
            return Err(unknown_column(name, &table.name));
        };
        if create.is_proctime(time) {
            let error = Error::script(format!("a WATERMARK cannot be on '{}', which is processing time", name.value));
            return Err(at(
                error.help("remove the WATERMARK: windows are cut on the column as it is"),
                place_of(name.span),
            ));
        }
        let data_type = &table.columns[time].data_type;
        check_time_type(&data_type.kind, &name.value).map_err(|error| at(error, place_of(name.span)))?;
        let mut binder = Binder::new(&self.catalog, &self.settings);
        let mut scope = Scope::default();
        for column in &table.columns {
            let id = binder.arena.add(&column.name, column.data_type.clone(), false);
            scope.columns.push(Named { qualifier: Some(table.name.clone()), name: column.name.clone(), id });
        }
        let ast = &watermark.expression;
        let expression = binder.expr(ast, &mut Context::new(&scope, "WATERMARK"))?;
        let kind = &expression.data_type().kind;
        let same_scale = matches!(
            (kind, &data_type.kind),
            (Type::Timestamp(_), Type::Timestamp(_)) | (Type::TimestampLtz(_), Type::TimestampLtz(_))
        );
        if !same_scale {
            let error = Error::script(format!("the watermark of '{}' is {kind}, not {data_type}", name.value))
                .help(format!("write WATERMARK FOR {0} AS {0} - INTERVAL '5' SECOND", name.value));
            return Err(located(error, ast));
        }
        let text = excerpt(&self.text, watermark.span);
        let place = create.columns.get(time).and_then(|column| self.here(column.name.span));
        table.watermark = Some(TableWatermark { time, expression, text, place });
        Ok(())
    }
}

/// The columns of a view have different names.
fn check_names(view: &CreateView, scope: &Scope) -> Result<()> {
    let own = || scope.columns.iter().map(|column| (column.name.as_str(), view.name.span));
    let given = || view.columns.iter().map(|name| (name.value.as_str(), name.span));
    let names: Vec<_> = if view.columns.is_empty() { own().collect() } else { given().collect() };
    let mut seen = HashSet::new();
    match names.iter().find(|(name, _)| !seen.insert(*name)) {
        None => Ok(()),
        Some((name, span)) => {
            let error = Error::script(format!("two columns of view {} are called '{name}'", view.name.value));
            Err(at(error.help("give one of them another name with AS"), place_of(*span)))
        }
    }
}

/// The event time counts milliseconds.
fn check_time_type(kind: &Type, name: &str) -> Result<()> {
    match kind {
        Type::Timestamp(0..=3) | Type::TimestampLtz(0..=3) => Ok(()),
        Type::Timestamp(_) | Type::TimestampLtz(_) => {
            let ltz = matches!(kind, Type::TimestampLtz(_));
            let base = if ltz { "TIMESTAMP_LTZ" } else { "TIMESTAMP" };
            Err(Error::script(format!("a WATERMARK needs a time of 0 to 3 fractional digits, but '{name}' is {kind}"))
                .help(format!(
                    "declare it as {base}(3), or add a computed column rt AS CAST({name} AS {base}(3)) and put the WATERMARK on it"
                )))
        }
        _ => {
            Err(Error::script(format!("a WATERMARK needs a TIMESTAMP or TIMESTAMP_LTZ column, but '{name}' is {kind}"))
                .help("add a computed column, for instance ts AS TO_TIMESTAMP_LTZ(ms, 3), and put the WATERMARK on it"))
        }
    }
}

fn unknown_column(name: &Ident, table: &str) -> Error {
    at(Error::script(format!("table {table} has no column '{}'", name.value)), place_of(name.span))
}

fn at(error: Error, place: Option<Place>) -> Error {
    error.at_place(place)
}
