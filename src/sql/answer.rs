//! Answers to SHOW and DESCRIBE, as small tables.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use sqlparser::ast::Ident;

use super::catalog::{Entry, Table, View};
use super::definition;
use super::inquiry::{CATALOG, DATABASE, Filter, Inquiry, MODULE, Names};
use super::live::function_names;
use super::session::Session;
use super::text::{excerpt_of, place_of};
use crate::error::{Error, Result};
use crate::types::{DataType, Field, Schema, Type};

/// What a statement answers without a job: rows, with the names and types of their columns.
#[derive(Debug, Clone)]
pub struct Answer {
    pub schema: Schema,
    pub rows: RecordBatch,
}

/// The values of a column of an answer.
enum Values {
    Texts(Vec<Option<String>>),
    Truths(Vec<bool>),
}

impl Answer {
    fn new(columns: Vec<(&str, Values)>) -> Result<Answer> {
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        for (name, values) in columns {
            let (kind, array): (Type, ArrayRef) = match values {
                Values::Texts(texts) => (Type::string(), Arc::new(StringArray::from(texts))),
                Values::Truths(truths) => (Type::Boolean, Arc::new(BooleanArray::from(truths))),
            };
            fields.push(Field::new(name, kind.nullable()));
            arrays.push(array);
        }
        let schema = Schema::new(fields);
        let rows = RecordBatch::try_new(schema.to_arrow(), arrays)?;
        Ok(Answer { schema, rows })
    }

    fn names<'n>(column: &str, names: impl IntoIterator<Item = &'n str>, filter: Option<&Filter>) -> Result<Answer> {
        let names = names.into_iter().filter(|name| filter.is_none_or(|filter| filter.takes(name)));
        Answer::new(vec![(column, Values::Texts(names.map(|name| Some(name.to_string())).collect()))])
    }
}

/// A row of DESCRIBE.
struct Described {
    name: String,
    data_type: DataType,
    /// Of which time it is an attribute, as Flink writes it.
    attribute: &'static str,
    key: Option<String>,
    extras: Option<String>,
    watermark: Option<String>,
    comment: Option<String>,
}

impl Session<'_> {
    /// Answers a question to the catalog.
    pub(super) fn answer(&mut self, inquiry: &Inquiry) -> Result<Answer> {
        match inquiry {
            Inquiry::Describe(table) => self.columns_of(table, None),
            Inquiry::Columns { table, filter } => self.columns_of(table, filter.as_ref()),
            Inquiry::CreateTable(name) => match self.entry(name)? {
                Entry::Table(table) => Answer::names("result", [definition::table(&table).as_str()], None),
                Entry::View(_) => Err(misnamed(name, "a view", "SHOW CREATE VIEW")),
            },
            Inquiry::CreateView(name) => match self.entry(name)? {
                Entry::View(view) => {
                    let names: Vec<String> = self.view_columns(&view)?.into_iter().map(|column| column.name).collect();
                    Answer::names("result", [definition::view(&name.value, &view, &names).as_str()], None)
                }
                Entry::Table(_) => Err(misnamed(name, "a table", "SHOW CREATE TABLE")),
            },
            Inquiry::Names { of, filter } => self.list(*of, filter.as_ref()),
            Inquiry::Settings => {
                let (keys, values) = self.settings.all().map(|(key, value)| (Some(key), Some(value))).unzip();
                Answer::new(vec![("key", Values::Texts(keys)), ("value", Values::Texts(values))])
            }
        }
    }

    /// The names of a table's or view's columns.
    pub(super) fn column_names(&mut self, entry: &Entry) -> Vec<String> {
        let columns = match entry {
            Entry::Table(table) => table_columns(table),
            // A view over a table that has gone has none.
            Entry::View(view) => self.view_columns(view).unwrap_or_default(),
        };
        columns.into_iter().map(|column| column.name).collect()
    }

    fn list(&self, of: Names, filter: Option<&Filter>) -> Result<Answer> {
        let entries = &self.catalog.entries;
        match of {
            Names::Tables => Answer::names("table name", entries.keys().map(String::as_str), filter),
            Names::Views => {
                let views = entries.iter().filter(|(_, entry)| matches!(entry, Entry::View(_)));
                Answer::names("view name", views.map(|(name, _)| name.as_str()), filter)
            }
            Names::Functions => Answer::names("function name", function_names(), filter),
            Names::Catalogs => Answer::names("catalog name", [CATALOG], filter),
            Names::Databases => Answer::names("database name", [DATABASE], filter),
            Names::CurrentCatalog => Answer::names("current catalog name", [CATALOG], None),
            Names::CurrentDatabase => Answer::names("current database name", [DATABASE], None),
            Names::Modules => Answer::names("module name", [MODULE], None),
            Names::FullModules => Answer::new(vec![
                ("module name", Values::Texts(vec![Some(MODULE.to_string())])),
                ("used", Values::Truths(vec![true])),
            ]),
            Names::None(column) => Answer::names(column, [], None),
        }
    }

    /// The table or view of that name.
    fn entry(&self, name: &Ident) -> Result<Entry> {
        self.catalog.entries.get(&name.value).cloned().ok_or_else(|| {
            let error = self.catalog.unknown(&name.value);
            error.at_place(place_of(name.span))
        })
    }

    fn columns_of(&mut self, name: &Ident, filter: Option<&Filter>) -> Result<Answer> {
        let mut rows = match self.entry(name)? {
            Entry::Table(table) => table_columns(&table),
            Entry::View(view) => self.view_columns(&view)?,
        };
        rows.retain(|row| filter.is_none_or(|filter| filter.takes(&row.name)));
        let texts = |text: &dyn Fn(&Described) -> Option<String>| Values::Texts(rows.iter().map(text).collect());
        let mut columns = vec![
            ("name", texts(&|row| Some(row.name.clone()))),
            ("type", texts(&|row| Some(format!("{}{}", row.data_type.kind, row.attribute)))),
            ("null", Values::Truths(rows.iter().map(|row| row.data_type.nullable).collect())),
            ("key", texts(&|row| row.key.clone())),
            ("extras", texts(&|row| row.extras.clone())),
            ("watermark", texts(&|row| row.watermark.clone())),
        ];
        if rows.iter().any(|row| row.comment.is_some()) {
            columns.push(("comment", texts(&|row| row.comment.clone())));
        }
        Answer::new(columns)
    }

    /// The columns of a view's query, under the names that the view gives them.
    fn view_columns(&mut self, view: &View) -> Result<Vec<Described>> {
        let (mut columns, _) = self.bind(|binder, _| {
            let relation = binder.query(&view.query)?;
            let described = relation.scope.columns.iter().map(|named| {
                let column = &binder.arena.columns[named.id];
                Described {
                    name: named.name.clone(),
                    data_type: column.data_type.clone(),
                    attribute: attribute(column.rowtime, column.proctime),
                    key: None,
                    extras: None,
                    watermark: None,
                    comment: None,
                }
            });
            Ok(described.collect::<Vec<_>>())
        })?;
        for (column, name) in columns.iter_mut().zip(&view.columns) {
            column.name.clone_from(name);
        }
        Ok(columns)
    }
}

fn attribute(rowtime: bool, proctime: bool) -> &'static str {
    match (rowtime, proctime) {
        (true, _) => " *ROWTIME*",
        (_, true) => " *PROCTIME*",
        _ => "",
    }
}

fn table_columns(table: &Table) -> Vec<Described> {
    let definition = &table.definition;
    let key: Vec<&str> = definition.primary_key.iter().map(|name| name.value.as_str()).collect();
    let described = table.columns.iter().zip(&definition.columns).enumerate().map(|(index, (column, defined))| {
        let watermark = definition
            .watermark
            .as_ref()
            .filter(|_| table.watermark.as_ref().is_some_and(|watermark| watermark.time == index));
        Described {
            name: column.name.clone(),
            data_type: column.data_type.clone(),
            attribute: attribute(watermark.is_some(), definition.is_proctime(index)),
            key: key.contains(&column.name.as_str()).then(|| format!("PRI({})", key.join(", "))),
            extras: definition::extras(defined),
            watermark: watermark.map(|watermark| excerpt_of(&watermark.spelling)),
            comment: defined.comment.clone(),
        }
    });
    described.collect()
}

fn misnamed(name: &Ident, what: &str, statement: &str) -> Error {
    let error = Error::script(format!("{} is {what}", name.value)).help(format!("write {statement} {}", name.value));
    error.at_place(place_of(name.span))
}
