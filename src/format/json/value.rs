//! JSON values into columns, step by step as Flink takes them from Jackson's parser.
//!
//! Where errors are ignored and a value does not fit, Flink leaves its parser where it stands. Behind a container
//! that a scalar column could not take it so walks through what is inside, and so does this.

use super::super::base64;
use super::super::column::{Column, Values};
use super::super::convert::{JsonKind, Misfit, push_json};
use super::super::nested::{ArrayColumn, MapColumn, Names, Nested};
use super::token::{Fault, Token, Tokens, skip_value};
use super::{JsonOptions, tree};
use crate::types::Type;

/// What is wrong with a line.
#[derive(Debug)]
pub(crate) enum Wrong {
    Syntax(Fault),
    Value(Box<Misplaced>),
    /// The path of a field that is absent.
    Missing(usize, Vec<String>),
    /// The file is not UTF-8 here.
    Encoding(usize),
}

/// A value that is none of its column's type.
#[derive(Debug)]
pub(crate) struct Misplaced {
    pub at: usize,
    /// Names and indices from the inside out.
    pub path: Vec<String>,
    pub kind: Type,
    pub text: Vec<u8>,
    pub misfit: Misfit,
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Self {
        Wrong::Syntax(fault)
    }
}

impl Wrong {
    #[cold]
    fn within(mut self, step: impl FnOnce() -> String) -> Self {
        match &mut self {
            Wrong::Value(value) => value.path.push(step()),
            Wrong::Missing(_, path) => path.push(step()),
            Wrong::Syntax(_) | Wrong::Encoding(_) => {}
        }
        self
    }
}

/// Converts values into columns.
pub(crate) struct Converter {
    options: JsonOptions,
    /// Numbers inside of texts keep their decimal digits.
    exact: bool,
}

/// The next token, which must be there.
pub(crate) fn advance(tokens: &mut Tokens<'_>) -> Result<Token, Fault> {
    tokens.next()?.ok_or(Fault { at: tokens.position(), what: "the line ends inside the document" })
}

impl Converter {
    pub fn new(options: &JsonOptions, columns: &[Column]) -> Self {
        let exact = columns.iter().any(|column| has_decimal(&column.kind));
        Converter { options: options.clone(), exact }
    }

    /// As this one, but no value may be wrong.
    pub fn strict(&self) -> Self {
        let options = JsonOptions { ignore_parse_errors: false, ..self.options.clone() };
        Converter { options, exact: self.exact }
    }

    /// The fields of the object that was just opened, into columns of `rows` rows. After as many hits as there are
    /// columns nothing is converted any more.
    pub fn object(
        &mut self,
        tokens: &mut Tokens<'_>,
        names: &Names,
        columns: &mut [Column],
        rows: usize,
    ) -> Result<(), Wrong> {
        let start = tokens.start;
        let (mut hits, mut guess) = (0, 0);
        let mut token = advance(tokens)?;
        while token != Token::EndObject {
            if hits < columns.len() {
                let position = names.position(tokens.value(), guess);
                token = advance(tokens)?;
                if let Some(position) = position
                    && let Some(column) = columns.get_mut(position)
                {
                    // The last of several fields of one name counts.
                    column.truncate(rows);
                    self.value(tokens, token, column)
                        .map_err(|wrong| wrong.within(|| names.get(position).to_string()))?;
                    token = advance(tokens)?;
                    hits += 1;
                    guess = position + 1;
                    continue;
                }
            }
            if matches!(token, Token::StartObject | Token::StartArray) {
                skip_value(tokens, token)?;
            }
            token = advance(tokens)?;
        }
        for (position, column) in columns.iter_mut().enumerate().filter(|(_, column)| column.len() == rows) {
            if hits < names.len() && self.options.fail_on_missing_field {
                return Err(Wrong::Missing(start, vec![names.get(position).to_string()]));
            }
            column.push_null();
        }
        Ok(())
    }

    /// Appends the value whose first token is `token`.
    pub fn value(&mut self, tokens: &mut Tokens<'_>, token: Token, column: &mut Column) -> Result<(), Wrong> {
        let start = tokens.start;
        let container = matches!(token, Token::StartObject | Token::StartArray);
        let kind = match token {
            Token::Null => {
                column.push_null();
                return Ok(());
            }
            Token::Text => JsonKind::Text,
            Token::Integer => JsonKind::Integer,
            Token::Fraction => JsonKind::Fraction,
            _ => JsonKind::Other,
        };
        let result = match &mut column.values {
            Values::Text(text) if container => {
                tree::copy(tokens, token, self.exact, &mut text.bytes)?;
                text.end_value();
                return Ok(());
            }
            Values::Nested(nested) => match (&mut **nested, token) {
                (Nested::Row(row), Token::StartObject) => {
                    self.object(tokens, &row.names, &mut row.columns, row.rows)?;
                    row.rows += 1;
                    return Ok(());
                }
                (Nested::Array(array), Token::StartArray) => return self.array(tokens, array),
                (Nested::Map(map), Token::StartObject) => return self.map(tokens, map),
                _ => Err(Misfit::Text),
            },
            _ => push_json(column, kind, tokens.value(), self.options.timestamps),
        };
        result.or_else(|misfit| self.misplaced(tokens, (start, token), column, misfit))
    }

    #[cold]
    fn misplaced(
        &self,
        tokens: &Tokens<'_>,
        (at, token): (usize, Token),
        column: &mut Column,
        misfit: Misfit,
    ) -> Result<(), Wrong> {
        let text = tokens.value();
        if !self.options.ignore_parse_errors {
            let (kind, text) = (column.kind.clone(), text.to_vec());
            return Err(Wrong::Value(Box::new(Misplaced { at, path: Vec::new(), kind, text, misfit })));
        }
        if token == Token::Text && matches!(column.values, Values::Bytes(_)) && base64::overruns(text) {
            return Err(Wrong::Syntax(Fault { at, what: "the text of bytes ends too early" }));
        }
        column.push_null();
        Ok(())
    }

    fn array(&mut self, tokens: &mut Tokens<'_>, array: &mut ArrayColumn) -> Result<(), Wrong> {
        let start = array.start();
        loop {
            let token = advance(tokens)?;
            if token == Token::EndArray {
                array.end_value();
                return Ok(());
            }
            let index = array.elements.len() - start;
            self.value(tokens, token, &mut array.elements)
                .map_err(|wrong| wrong.within(|| format!("[{}]", index + 1)))?;
        }
    }

    fn map(&mut self, tokens: &mut Tokens<'_>, map: &mut MapColumn) -> Result<(), Wrong> {
        loop {
            let token = advance(tokens)?;
            if token == Token::EndObject {
                map.end_value();
                return Ok(());
            }
            if token == Token::Null {
                // Only where a value before it was walked through.
                return Err(Wrong::Syntax(Fault { at: tokens.start, what: "expected a field name" }));
            }
            let entries = map.keys.len();
            self.value(tokens, token, &mut map.keys)?;
            let token = advance(tokens)?;
            self.value(tokens, token, &mut map.values).map_err(|wrong| {
                let Values::Text(keys) = &map.keys.values else { return wrong };
                wrong.within(|| format!("['{}']", String::from_utf8_lossy(keys.get(entries))))
            })?;
        }
    }
}

fn has_decimal(kind: &Type) -> bool {
    match kind {
        Type::Decimal(..) => true,
        Type::Array(element) => has_decimal(&element.kind),
        Type::Map(key, value) => has_decimal(&key.kind) || has_decimal(&value.kind),
        Type::Multiset(element) => has_decimal(&element.kind),
        Type::Row(fields) => fields.iter().any(|field| has_decimal(&field.data_type.kind)),
        _ => false,
    }
}

/// `r.arr[2].x`, from its parts from the inside out.
pub(crate) fn path(steps: &[String]) -> String {
    let mut path = String::new();
    for step in steps.iter().rev() {
        if !path.is_empty() && !step.starts_with('[') {
            path.push('.');
        }
        path.push_str(step);
    }
    path
}
