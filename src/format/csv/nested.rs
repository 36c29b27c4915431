//! ARRAY and ROW in one field: their parts stand between delimiters of their own, without quotes. Flink's CSV nests
//! them one level deep.

use super::super::column::Column;
use super::super::convert::{Misfit, push_csv};
use super::super::nested::Nested;
use super::super::parse::trim;
use super::CsvOptions;
use super::special::Special;
use crate::types::{Field, Type};

/// How parts are told apart and which of them are NULL.
pub(crate) struct Parts {
    delimiter: Special,
    null_literal: Option<Vec<u8>>,
    empty_as_null: bool,
    trim: bool,
    ignore_errors: bool,
}

/// What is wrong with a field.
#[derive(Debug, PartialEq)]
pub(crate) enum Wrong {
    Field(Misfit),
    /// The element (from 1) or the name of the field, its type and its text.
    Part(String, Type, Vec<u8>, Misfit),
    /// A ROW of so many fields has so few parts.
    Missing(usize, usize),
}

impl From<Misfit> for Wrong {
    fn from(misfit: Misfit) -> Self {
        Wrong::Field(misfit)
    }
}

/// Whether Flink's CSV can hold values of this type.
pub(crate) fn holds(kind: &Type) -> bool {
    match kind {
        Type::Array(element) => is_simple(&element.kind),
        Type::Row(fields) => fields.iter().all(|field| is_simple(&field.data_type.kind)),
        other => is_simple(other),
    }
}

fn is_simple(kind: &Type) -> bool {
    !kind.is_nested()
}

impl Parts {
    pub fn new(options: &CsvOptions) -> Self {
        Parts {
            delimiter: Special::new(options.element_delimiter),
            null_literal: options.null_literal.as_ref().map(|literal| literal.as_bytes().to_vec()),
            empty_as_null: options.empty_as_null,
            trim: options.trim_spaces,
            ignore_errors: options.ignore_parse_errors,
        }
    }

    /// Appends what the text of a field makes of an ARRAY or a ROW.
    pub fn push(&self, column: &mut Column, text: &[u8]) -> Result<(), Wrong> {
        let super::super::column::Values::Nested(nested) = &mut column.values else { return Err(Misfit::Text.into()) };
        match &mut **nested {
            Nested::Array(array) => {
                let start = array.start();
                for part in self.split(text) {
                    let index = array.elements.len() - start + 1;
                    self.part(&mut array.elements, part, || format!("[{index}]"))?;
                }
                array.end_value();
            }
            Nested::Row(row) => {
                let mut parts = self.split(text).peekable();
                if parts.peek().is_none() {
                    column.push_null();
                    return Ok(());
                }
                let wanted = row.columns.len();
                for (position, column) in row.columns.iter_mut().enumerate() {
                    match parts.next() {
                        Some(part) => self.part(column, part, || format!(".{}", row.names.get(position)))?,
                        None if self.ignore_errors => column.push_null(),
                        None => return Err(Wrong::Missing(wanted, position)),
                    }
                }
                row.rows += 1;
            }
            Nested::Map(_) => return Err(Misfit::Text.into()),
        }
        Ok(())
    }

    fn split<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = (!trim(text).is_empty() || self.find(text).is_some()).then_some(text);
        std::iter::from_fn(move || {
            let text = rest?;
            match self.find(text) {
                Some(found) => {
                    rest = Some(&text[found + self.delimiter.length..]);
                    Some(&text[..found])
                }
                None => {
                    rest = None;
                    Some(text)
                }
            }
        })
    }

    fn find(&self, text: &[u8]) -> Option<usize> {
        memchr::memchr_iter(self.delimiter.lead, text).find(|at| self.delimiter.stands_at(text, *at))
    }

    fn part(&self, column: &mut Column, text: &[u8], name: impl FnOnce() -> String) -> Result<(), Wrong> {
        let text = if self.trim { trim(text) } else { text };
        if self.null_literal.as_deref() == Some(text) || (self.empty_as_null && text.is_empty()) {
            column.push_null();
        } else if let Err(misfit) = push_csv(column, text) {
            if !self.ignore_errors {
                return Err(Wrong::Part(name(), column.kind.clone(), text.to_vec(), misfit));
            }
            column.push_null();
        }
        Ok(())
    }
}

/// The first part of the type's name that Flink's CSV cannot hold, for messages.
pub(crate) fn refused(field: &Field) -> Option<String> {
    let kind = &field.data_type.kind;
    (!holds(kind)).then(|| match kind {
        Type::Array(_) | Type::Row(_) => {
            format!("column `{}`: format 'csv' nests one level deep only, not {kind}", field.name)
        }
        _ => format!("column `{}`: format 'csv' cannot hold the type {kind}", field.name),
    })
}
