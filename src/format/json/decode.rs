//! JSON lines into columns.

use super::super::convert::Misfit;
use super::super::nested::Names;
use super::super::remedy;
use super::super::text::{Failure, Notes, Output, Rows, Step, TextDecoder, encoding_error, excerpt, first_invalid};
use super::JsonOptions;
use super::shape::{Reader, Shape};
use super::token::{Fault, Token, Tokens};
use super::value::{Converter, Misplaced, Wrong, path};
use crate::error::{Error, Result};
use crate::types::{Schema, Type};

/// Decodes the JSON lines of a block.
pub(crate) struct JsonDecoder {
    options: JsonOptions,
    rows: Rows,
    names: Names,
    converter: Converter,
    shape: Option<Shape>,
    /// Lines that had another shape than the one before; the more, the more rarely a shape is learnt.
    surprises: u64,
    /// The window begins where the file does.
    at_start: bool,
    reader: Reader,
}

impl JsonDecoder {
    pub fn new(options: &JsonOptions, schema: &Schema, projection: &[usize], batch_rows: usize) -> Result<Self> {
        let rows = Rows::new(schema, projection, batch_rows)?;
        let names = Names::new(rows.fields.iter().map(|(name, _)| name.as_str()));
        let converter = Converter::new(options, &rows.columns);
        Ok(JsonDecoder {
            reader: Reader::new(options.timestamps, converter.strict()),
            converter,
            options: options.clone(),
            rows,
            names,
            shape: None,
            surprises: 0,
            at_start: false,
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

    fn object(&mut self, tokens: &mut Tokens<'_>) -> Result<(), Wrong> {
        let Rows { columns, count, .. } = &mut self.rows;
        self.converter.object(tokens, &self.names, columns, *count)
    }

    #[cold]
    fn misfit(&self, value: &Misplaced) -> Error {
        let Misplaced { kind, text, misfit, .. } = value;
        let name = path(&value.path);
        match misfit {
            Misfit::Text => {
                let ignore = || "set 'json.ignore-parse-errors' = 'true' to read it as NULL".to_string();
                let style = Some(self.options.timestamps);
                let timed = match value.path.len() {
                    1 => remedy::time(&name, kind, text, style),
                    _ => remedy::form(kind, text, style),
                };
                let a = remedy::article(kind);
                let wanted = match kind {
                    Type::Row(_) | Type::Map(..) | Type::Multiset(_) => format!("a JSON object for {kind}"),
                    Type::Array(_) => format!("a JSON array for {kind}"),
                    Type::Binary(_) | Type::VarBinary(_) => format!("base 64 for {kind}"),
                    _ => format!("{a} {kind}"),
                };
                Error::data(format!("column `{name}`: {} is not {wanted}", excerpt(text)))
                    .help(timed.unwrap_or_else(ignore))
            }
            Misfit::Range => Error::data(format!("column `{name}`: {} is out of the range of {kind}", excerpt(text)))
                .help("declare the column with 9 fractional digits, which reach all years, or repair the file"),
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
        let shape = Shape::learn(line, self.rows.columns.len(), |name| self.names.position(name, 0));
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
            Wrong::Encoding(invalid - at - bom)
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
            Wrong::Encoding(place) => (place, encoding_error(line, place)),
            Wrong::Value(value) => (value.at, self.misfit(&value)),
            Wrong::Missing(place, steps) => {
                let error = Error::data(format!("this line has no field '{}'", path(&steps)))
                    .help("set 'json.fail-on-missing-field' = 'false' to read it as NULL");
                (place, error)
            }
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

fn not_an_object(at: usize) -> Wrong {
    Wrong::Syntax(Fault { at, what: "expected '{'" })
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
                if next > invalid {
                    // Behind the document, where Flink does not look.
                    invalid = first_invalid(bytes, next, eof);
                }
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
