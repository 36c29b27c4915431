//! Names in reach of an expression.

use sqlparser::ast::Ident;

use super::logical::ColumnId;
use super::text::place_of;
use crate::error::{Error, Result, nearest};

/// A visible column.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// The table or alias before the dot.
    pub qualifier: Option<String>,
    pub name: String,
    pub id: ColumnId,
}

/// The visible columns of a relation, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub columns: Vec<Named>,
}

impl Scope {
    /// The same columns under another table name.
    pub(super) fn qualified(mut self, qualifier: Option<&str>) -> Scope {
        for column in &mut self.columns {
            column.qualifier = qualifier.map(str::to_string);
        }
        self
    }

    pub(super) fn ids(&self) -> Vec<ColumnId> {
        self.columns.iter().map(|column| column.id).collect()
    }

    /// The column of that name; the error has the identifier's place.
    pub(super) fn find(&self, name: &Ident) -> Result<ColumnId> {
        let found: Vec<&Named> = self.columns.iter().filter(|column| column.name == name.value).collect();
        match found.as_slice() {
            [column] => Ok(column.id),
            [] => Err(at(self.unknown(&name.value, None), name)),
            _ => Err(at(ambiguous(&name.value), name)),
        }
    }

    /// The column `table.name`, or `None` if there is no table of that name.
    pub(super) fn find_qualified(&self, table: &Ident, name: &Ident) -> Result<Option<ColumnId>> {
        let of_table = |column: &&Named| column.qualifier.as_deref() == Some(&table.value);
        if !self.columns.iter().any(|column| of_table(&column)) {
            return Ok(None);
        }
        let found: Vec<&Named> = self.columns.iter().filter(of_table).filter(|c| c.name == name.value).collect();
        match found.as_slice() {
            [column] => Ok(Some(column.id)),
            [] => Err(at(self.unknown(&name.value, Some(&table.value)), name)),
            _ => Err(at(ambiguous(&name.value), name)),
        }
    }

    fn unknown(&self, name: &str, table: Option<&str>) -> Error {
        let visible = self.columns.iter().filter(|c| table.is_none() || c.qualifier.as_deref() == table);
        let names: Vec<&str> = visible.map(|column| column.name.as_str()).collect();
        let error = Error::script(match table {
            Some(table) => format!("{table} has no column '{name}'"),
            None => format!("column '{name}' not found"),
        });
        match nearest(name, names.iter().copied()) {
            Some(near) if near.eq_ignore_ascii_case(name) => {
                error.help(format!("names of columns are case-sensitive; did you mean '{near}'?"))
            }
            Some(near) => error.help(format!("did you mean '{near}'?")),
            None if names.is_empty() => error,
            None => error.help(format!("the columns here are {}", names.join(", "))),
        }
    }
}

pub(super) fn ambiguous(name: &str) -> Error {
    Error::script(format!("column '{name}' is ambiguous"))
        .help("name the table before it, or give the inner columns different names with AS")
}

fn at(error: Error, name: &Ident) -> Error {
    error.at_place(place_of(name.span))
}
