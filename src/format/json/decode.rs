//! JSON lines into columns.

use std::collections::HashMap;

use super::super::column::Values;
use super::super::convert::{JsonKind, Misfit, push_json};
use super::super::remedy;
use super::super::text::{Failure, Notes, Output, Rows, Step, TextDecoder, excerpt, first_invalid};
use super::JsonOptions;
use super::encode::string;
use super::shape::{Reader, Shape};
use super::token::{Fault, Token, Tokens};
use crate::error::{Error, Result};
use crate::types::Schema;

/// Decodes the JSON lines of a block.
pub(crate) struct JsonDecoder {
    options: JsonOptions,
    rows: Rows,
    names: HashMap<Vec<u8>, usize>,
    shape: Option<Shape>,
    /// Lines that had another shape than the one before; the more, the more rarely a shape is learnt.
    surprises: u64,
    /// The window begins where the file does.
    at_start: bool,
    reader: Reader,
    scratch: Vec<u8>,
}

/// What is wrong with a line, at an offset in it.
enum Wrong {
    Syntax(Fault),
    Field(usize, Error),
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Self {
        Wrong::Syntax(fault)
    }
}

impl JsonDecoder {
    pub fn new(options: &JsonOptions, schema: &Schema, projection: &[usize], batch_rows: usize) -> Result<Self> {
        let rows = Rows::new(schema, projection, batch_rows)?;
        let names = rows.fields.iter().enumerate().map(|(i, (name, _))| (name.as_bytes().to_vec(), i)).collect();
        Ok(JsonDecoder {
            reader: Reader::new(options.timestamps),
            options: options.clone(),
            rows,
            names,
            shape: None,
            surprises: 0,
            at_start: false,
            scratch: Vec::new(),
        })
    }

    /// One line by the exact rules: true if the rows it holds (one, or those of an array) were appended.
    fn line(&mut self, line: &[u8], out: Output<'_>) -> Result<Result<(), Wrong>, Error> {
        let mut tokens = Tokens::new(line, 0);
        match tokens.next() {
            Ok(Some(Token::StartObject)) => match self.object(&mut tokens) {
                Ok(()) => self.rows.end_row(out)?,
                Err(wrong) => return Ok(Err(wrong)),
            },
            Ok(Some(Token::StartArray)) => loop {
                match tokens.next() {
                    Ok(Some(Token::EndArray)) => break,
                    Ok(Some(Token::StartObject)) => match self.object(&mut tokens) {
                        Ok(()) => self.rows.end_row(out)?,
                        Err(wrong) => return Ok(Err(wrong)),
                    },
                    Ok(_) => return Ok(Err(not_an_object(tokens.start))),
                    Err(fault) => return Ok(Err(fault.into())),
                }
            },
            Ok(_) => return Ok(Err(not_an_object(tokens.start))),
            Err(fault) => return Ok(Err(fault.into())),
        }
        Ok(Ok(()))
    }

    /// The fields of the object that was just opened, step by step as Flink takes them: it stops
    /// converting after as many hits as there are columns, and with ignored errors it walks into a container
    /// that a column could not take.
    fn object(&mut self, tokens: &mut Tokens<'_>) -> Result<(), Wrong> {
        let columns = self.rows.columns.len();
        let mut hits = 0;
        let mut token = advance(tokens)?;
        while token != Token::EndObject {
            if hits < columns {
                let column = self.names.get(tokens.value()).copied();
                token = advance(tokens)?;
                if let Some(column) = column {
                    self.field(tokens, token, column)?;
                    token = advance(tokens)?;
                    hits += 1;
                    continue;
                }
            }
            if matches!(token, Token::StartObject | Token::StartArray) {
                super::token::skip_value(tokens, token)?;
            }
            token = advance(tokens)?;
        }
        for (index, column) in self.rows.columns.iter_mut().enumerate() {
            if column.len() == self.rows.count {
                if hits < columns && self.options.fail_on_missing_field {
                    let name = &self.rows.fields[index].0;
                    let error = Error::data(format!("this line has no field '{name}'"))
                        .help("set 'json.fail-on-missing-field' = 'false' to read it as NULL");
                    return Err(Wrong::Field(0, error));
                }
                column.push_null();
            }
        }
        Ok(())
    }

    fn field(&mut self, tokens: &mut Tokens<'_>, token: Token, index: usize) -> Result<(), Wrong> {
        let start = tokens.start;
        let column = &mut self.rows.columns[index];
        // The last of several fields of one name counts.
        column.truncate(self.rows.count);
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
        let container = matches!(token, Token::StartObject | Token::StartArray);
        let result = if container && matches!(column.values, Values::Text(_)) {
            self.scratch.clear();
            let copied = copy_compact(tokens, token, &mut self.scratch);
            copied.map(|()| push_json(column, kind, &self.scratch, self.options.timestamps))?
        } else {
            push_json(column, kind, tokens.value(), self.options.timestamps)
        };
        if let Err(misfit) = result {
            if !self.options.ignore_parse_errors {
                let error = self.misfit(index, tokens.value(), misfit);
                return Err(Wrong::Field(start, error));
            }
            column.push_null();
        }
        Ok(())
    }

    #[cold]
    fn misfit(&self, index: usize, text: &[u8], misfit: Misfit) -> Error {
        let (name, kind) = &self.rows.fields[index];
        match misfit {
            Misfit::Text => {
                let ignore = || "set 'json.ignore-parse-errors' = 'true' to read it as NULL".to_string();
                let remedy = remedy::time(name, kind, text, Some(self.options.timestamps)).unwrap_or_else(ignore);
                let a = remedy::article(kind);
                Error::data(format!("column `{name}`: {} is not {a} {kind}", excerpt(text))).help(remedy)
            }
            Misfit::Nanoseconds => Error::data(format!(
                "column `{name}`: {} is out of the range of {kind}, whose nanoseconds reach from 1677 to 2262",
                excerpt(text)
            ))
            .help("declare the column with 6 fractional digits or fewer"),
        }
    }

    /// The line at `at` by the shape of the lines before: where the next line starts, once the row is appended.
    #[inline]
    fn shaped_line(&mut self, bytes: &[u8], at: usize, eof: bool, invalid: usize) -> Option<usize> {
        let shape = self.shape.as_ref()?;
        let end = shape.read(&mut self.rows.columns, &mut self.reader, bytes, at)?;
        if end > invalid {
            return None;
        }
        match bytes.get(end) {
            Some(b'\n') => Some(end + 1),
            // Flink does not look at what stands behind the document.
            Some(_) => match memchr::memchr(b'\n', &bytes[end..]) {
                Some(found) => Some(end + found + 1),
                None => eof.then_some(bytes.len()),
            },
            None => eof.then_some(end),
        }
    }

    fn learn(&mut self, line: &[u8]) {
        if self.rows.notes.trace {
            // Rows that a shape reads are not traced.
            return;
        }
        self.surprises += 1;
        if self.surprises > 256 && !self.surprises.is_multiple_of(64) {
            return;
        }
        let shape = Shape::learn(line, self.rows.columns.len(), |name| self.names.get(name).copied());
        self.shape = shape.filter(|shape| shape.is_complete() || !self.options.fail_on_missing_field);
    }

    /// The line from `at` to `end`, which no shape fits. False if it was skipped as malformed.
    #[cold]
    fn odd_line(
        &mut self,
        bytes: &[u8],
        at: usize,
        end: usize,
        invalid: usize,
        out: Output<'_>,
    ) -> Result<(), Failure> {
        let line = bytes[at..end].strip_suffix(b"\r").unwrap_or(&bytes[at..end]);
        if line.is_empty() {
            return Ok(());
        }
        let (bom, line) = match line.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) => (3, rest),
            None => (0, line),
        };
        let wrong = if invalid < end && self.reads_to(line, invalid - at) {
            Wrong::Field(invalid - at - bom, not_utf8())
        } else {
            let read = self.line(line, out)?;
            self.rows.trace(at..end);
            match read {
                Ok(()) => {
                    self.learn(line);
                    return Ok(());
                }
                Err(wrong) => wrong,
            }
        };
        self.rows.roll_back();
        if self.options.ignore_parse_errors && !self.rows.notes.set_aside {
            self.rows.malformed += 1;
            return Ok(());
        }
        let (place, error) = match wrong {
            Wrong::Field(place, error) => (place, error),
            Wrong::Syntax(fault) => {
                let near = &line[fault.at.min(line.len())..];
                let found = if near.is_empty() { String::new() } else { format!(", found {}", excerpt(near)) };
                let error = Error::data(format!("this line is not a JSON object: {}{found}", fault.what));
                let first = (self.at_start && at == 0).then(|| line.trim_ascii_start().first()).flatten();
                let remedy = match first {
                    Some(b'[') => "one object a line is wanted: jq -c '.[]' FILE",
                    // An object that goes on in the next line.
                    Some(b'{') if fault.at >= line.len() => "one object a line is wanted: jq -c . FILE",
                    _ => "set 'json.ignore-parse-errors' = 'true' to skip such lines",
                };
                (fault.at, error.help(remedy))
            }
        };
        if self.rows.notes.set_aside {
            self.rows.reject(bytes, at..end, at + bom + place, &error);
            return Ok(());
        }
        Err(Failure::At(at + bom + place, error))
    }

    /// True when reading the document at the start of `line` comes past the offset `invalid`.
    fn reads_to(&self, line: &[u8], invalid: usize) -> bool {
        let mut tokens = Tokens::new(line, 0);
        let whole = tokens.next().ok().flatten().map(|first| super::token::skip_value(&mut tokens, first));
        !matches!(whole, Some(Ok(()))) || tokens.position() > invalid
    }
}

fn advance(tokens: &mut Tokens<'_>) -> Result<Token, Fault> {
    tokens.next()?.ok_or(Fault { at: tokens.position(), what: "the line ends inside the document" })
}

fn not_an_object(at: usize) -> Wrong {
    Wrong::Syntax(Fault { at, what: "expected '{'" })
}

fn not_utf8() -> Error {
    Error::data("the file is not UTF-8 here").help("convert the file to UTF-8, for instance with iconv")
}

/// Writes the container whose first token is `first` without blanks, as Jackson's tree prints it.
fn copy_compact(tokens: &mut Tokens<'_>, first: Token, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut depth = 0usize;
    let mut token = first;
    let mut comma = false;
    loop {
        if comma && !matches!(token, Token::EndObject | Token::EndArray) {
            out.push(b',');
        }
        comma = !matches!(token, Token::StartObject | Token::StartArray | Token::Name);
        match token {
            Token::StartObject | Token::StartArray => {
                depth += 1;
                out.extend_from_slice(tokens.value());
            }
            Token::EndObject | Token::EndArray => {
                depth = depth.saturating_sub(1);
                out.extend_from_slice(tokens.value());
            }
            Token::Name | Token::Text => {
                string(out, &String::from_utf8_lossy(tokens.value()));
                if token == Token::Name {
                    out.push(b':');
                }
            }
            Token::Fraction => {
                let number = super::super::parse::double(tokens.value()).unwrap_or(f64::NAN);
                crate::numbers::double(out, number);
            }
            _ => out.extend_from_slice(tokens.value()),
        }
        if depth == 0 {
            return Ok(());
        }
        token = advance(tokens)?;
    }
}

impl TextDecoder for JsonDecoder {
    fn enter(&mut self, bytes: &[u8], from: usize, end: usize, _state: u8, before: Option<u8>) -> Option<usize> {
        self.at_start = before.is_none();
        if matches!(before, None | Some(b'\n')) {
            return (from < end).then_some(from);
        }
        let found = memchr::memchr(b'\n', bytes.get(from..end)?)?;
        let at = from + found + 1;
        (at < end).then_some(at)
    }

    fn decode(&mut self, bytes: &[u8], from: usize, end: usize, eof: bool, out: Output<'_>) -> Result<Step, Failure> {
        let mut invalid = first_invalid(bytes, from, eof);
        let mut at = from;
        while at < end {
            if let Some(next) = self.shaped_line(bytes, at, eof, invalid) {
                self.rows.end_row(out)?;
                at = next;
                continue;
            }
            self.rows.roll_back();
            let (line_end, next) = match memchr::memchr(b'\n', &bytes[at..]) {
                Some(found) => (at + found, at + found + 1),
                None if eof => (bytes.len(), bytes.len()),
                None => return Ok(Step::More(at)),
            };
            if invalid < at {
                // It stood behind the document of a line that its shape took.
                invalid = first_invalid(bytes, at, eof);
            }
            self.odd_line(bytes, at, line_end, invalid, out)?;
            if next > invalid {
                invalid = first_invalid(bytes, next, eof);
            }
            at = next;
        }
        Ok(Step::Done)
    }

    fn finish(&mut self, out: Output<'_>) -> Result<(u64, u64)> {
        self.rows.flush(out)?;
        Ok(self.rows.totals())
    }

    fn notes(&mut self) -> &mut Notes {
        &mut self.rows.notes
    }
}
