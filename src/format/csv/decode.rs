//! CSV records into columns.

use std::ops::Range;

use super::super::column::{Column, Values};
use super::super::convert::{Misfit, push_csv, push_plain};
use super::super::fast::{self, DayCache};
use super::super::remedy;
use super::super::text::{Failure, Notes, Output, Rows, Step, TextDecoder, excerpt, first_invalid, not_utf8};
use super::CsvOptions;
use super::header::Header;
use super::nested::{Parts, Wrong};
use super::scan::{Broken, Ending, RECORD, Scan, Syntax};
use crate::error::{Error, Result};
use crate::types::{Schema, Type};

/// Decodes the CSV records of a block.
pub(crate) struct CsvDecoder {
    syntax: Syntax,
    options: CsvOptions,
    null_literal: Option<Vec<u8>>,
    /// For fields that hold several values.
    parts: Parts,
    /// Numbers and timestamps may be read without looking at the null literal.
    plain: bool,
    /// Records may be read by the short cuts at all.
    short_cuts: bool,
    /// For each column of the file, which of the projected columns takes it.
    plan: Vec<Option<usize>>,
    /// A record must have all fields. Flink checks that only where it reads all columns.
    complete: bool,
    /// The window begins where the file does, so that the record at 0 may be a header.
    at_start: bool,
    /// Where the record starts that is read by the exact rules.
    record_at: usize,
    rows: Rows,
    day: DayCache,
    scratch: Vec<u8>,
}

/// How a plain field is read.
struct Field<'a> {
    syntax: &'a Syntax,
    /// Texts need not be compared with the null literal.
    texts: bool,
    /// Nor need numbers.
    plain: bool,
    bytes: &'a [u8],
}

impl Field<'_> {
    /// Appends the field at `at` to the column that takes it, if any; where it seems to end.
    #[inline(always)]
    fn append(&mut self, columns: &mut [Column], plan: Option<usize>, at: usize, day: &mut DayCache) -> usize {
        let column = match plan.and_then(|position| columns.get_mut(position)) {
            None => return self.text_end(at),
            Some(column) => column,
        };
        if let Values::Text(text) = &mut column.values {
            let end = self.text_end(at);
            if !self.texts || end == fast::NOWHERE {
                return fast::NOWHERE;
            }
            text.push_range(self.bytes, at, end - at);
            return end;
        }
        if !self.plain {
            return fast::NOWHERE;
        }
        push_plain(column, self.bytes, at, b' ', day)
    }

    #[inline(always)]
    fn text_end(&self, at: usize) -> usize {
        let quoted = self.syntax.quote.is_some_and(|quote| self.bytes.get(at) == Some(&quote.lead));
        if quoted { fast::NOWHERE } else { self.syntax.stops.find(self.bytes, at) }
    }
}

/// What became of a record.
enum Record {
    Row(usize),
    Skipped(usize),
    Incomplete,
}

impl CsvDecoder {
    /// `header`: what the file's fields are; without it they are the columns of `schema`.
    pub fn new(
        options: &CsvOptions,
        schema: &Schema,
        projection: &[usize],
        batch_rows: usize,
        header: Option<&Header>,
    ) -> Result<Self> {
        if schema.is_empty() {
            return Err(Error::internal("a CSV table without columns"));
        }
        let position = |column: usize| projection.iter().position(|projected| *projected == column);
        let plan: Vec<Option<usize>> = match header {
            Some(header) => header.columns.iter().map(|column| column.and_then(position)).collect(),
            None => (0..schema.len()).map(position).collect(),
        };
        let null_literal = options.null_literal.as_ref().map(|literal| literal.as_bytes().to_vec());
        let looks_plain = |b: &u8| b.is_ascii_digit() || *b == b'-';
        let syntax = Syntax::new(options);
        Ok(CsvDecoder {
            short_cuts: !syntax.comments && !syntax.trim && !syntax.wide,
            syntax,
            parts: Parts::new(options),
            plain: !null_literal.as_ref().is_some_and(|literal| literal.first().is_some_and(looks_plain)),
            null_literal,
            complete: header.is_some() || projection.len() == schema.len(),
            options: options.clone(),
            plan,
            at_start: false,
            record_at: 0,
            rows: Rows::new(schema, projection, batch_rows)?,
            day: DayCache::default(),
            scratch: Vec::new(),
        })
    }

    /// Reads records from `at` on as long as they are plain: each field by the short cut of its column, guessing that
    /// it ends where the short cut stops. Where the first record starts that was not read.
    fn plain_records(&mut self, bytes: &[u8], at: usize, end: usize) -> usize {
        let Some((last, others)) = self.plan.split_last() else { return at };
        let Rows { columns, count, batch_rows, .. } = &mut self.rows;
        let columns = columns.as_mut_slice();
        let texts = self.null_literal.is_none() && !self.options.empty_as_null;
        let mut field = Field { syntax: &self.syntax, texts, plain: self.plain, bytes };
        let mut start = at;
        while start < end && *count < *batch_rows {
            let mut place = start;
            for plan in others {
                let found = field.append(columns, *plan, place, &mut self.day);
                if bytes.get(found) != Some(&field.syntax.delimiter.lead) {
                    place = fast::NOWHERE;
                    break;
                }
                place = found + 1;
            }
            if place == fast::NOWHERE {
                break;
            }
            let found = field.append(columns, *last, place, &mut self.day);
            match bytes.get(found) {
                Some(b'\n') => start = found + 1,
                Some(b'\r') if bytes.get(found + 1) == Some(&b'\n') => start = found + 2,
                _ => break,
            }
            *count += 1;
        }
        self.rows.roll_back();
        start
    }

    /// One record from `at`.
    #[inline]
    fn record(&mut self, bytes: &[u8], at: usize, eof: bool) -> Result<Record, Failure> {
        let mut position = at;
        let last = self.plan.len() - 1;
        for index in 0..=last {
            let (ending, next) = match self.field(bytes, position, index, eof)? {
                Scan::Field { ending, next, .. } => (ending, next),
                Scan::Incomplete => return Ok(Record::Incomplete),
                Scan::Broken { at: place, resume, what } => {
                    return self.broken(bytes, at, (place, resume, what), eof);
                }
            };
            match ending {
                Ending::Delimiter if index == last => return self.extra_field(bytes, at, next, eof),
                Ending::Record if index < last => return self.missing_fields(at, index + 1, next),
                Ending::Record => return Ok(Record::Row(next)),
                Ending::Delimiter => position = next,
            }
        }
        Ok(Record::Row(position))
    }

    /// The field at `at` by the exact rules; its value is appended where the column is read.
    fn field(&mut self, bytes: &[u8], at: usize, index: usize, eof: bool) -> Result<Scan, Failure> {
        let scan = self.syntax.field(bytes, at, eof, &mut self.scratch);
        let Scan::Field { start, end, .. } = scan else { return Ok(scan) };
        let Some(position) = self.plan[index] else { return Ok(scan) };
        let text = if start > end { self.scratch.as_slice() } else { &bytes[start..end] };
        let Some(column) = self.rows.columns.get_mut(position) else { return Ok(scan) };
        let wrong = if matches!(column.values, Values::Nested(_)) {
            self.parts.push(column, text).err()
        } else if self.null_literal.as_deref() == Some(text) || (self.options.empty_as_null && text.is_empty()) {
            column.push_null();
            None
        } else {
            push_csv(column, text).err().map(Wrong::Field)
        };
        if let Some(wrong) = wrong {
            if !self.options.ignore_parse_errors {
                let error = self.wrong(position, text, wrong);
                return Err(Failure::At(at, error));
            }
            column.push_null();
        }
        Ok(scan)
    }

    /// More fields than columns. Jackson lets one pass, if it is blank and the record's last, and as many as there are
    /// where that is wanted.
    #[cold]
    fn extra_field(&mut self, bytes: &[u8], record: usize, at: usize, eof: bool) -> Result<Record, Failure> {
        let scan = self.syntax.field(bytes, at, eof, &mut self.scratch);
        match scan {
            Scan::Incomplete => return Ok(Record::Incomplete),
            Scan::Field { start, end, ending: Ending::Record, next } => {
                let text = if start > end { self.scratch.as_slice() } else { &bytes[start..end] };
                if self.options.trailing_delimiter && text.iter().all(|b| *b <= b' ') {
                    return Ok(Record::Row(next));
                }
            }
            _ => {}
        }
        if self.options.ignore_trailing {
            return Ok(match self.skip_record(bytes, at, eof) {
                Record::Skipped(next) => Record::Row(next),
                other => other,
            });
        }
        if self.skips_records() {
            return Ok(self.skip_record(bytes, at, eof));
        }
        let error = Error::data(format!("{}, but this record has more", self.expected())).help(
            "add the missing columns to the table, or set 'csv.ignore-trailing-unmappable' = 'true' to read such \
             records without the rest",
        );
        Err(Failure::At(self.place(record, at), error))
    }

    fn expected(&self) -> String {
        let count = self.plan.len();
        match self.options.header {
            true => format!("the header has {count} fields"),
            false => format!("the table has {count} columns"),
        }
    }

    /// Fewer fields than columns: an error where all columns are read, else the rest is NULL.
    #[cold]
    fn missing_fields(&mut self, record: usize, found: usize, next: usize) -> Result<Record, Failure> {
        let fails = self.options.fail_on_missing || (self.complete && !self.options.ignore_parse_errors);
        if fails && self.skips_records() {
            return Ok(Record::Skipped(next));
        }
        if fails {
            let found = if found == 1 { "1 field".to_string() } else { format!("{found} fields") };
            let error = Error::data(format!("{}, but this record has {found}", self.expected()))
                .help("complete the record, or set 'csv.ignore-parse-errors' = 'true' to read what is missing as NULL");
            return Err(Failure::At(record, error));
        }
        for position in self.plan[found..].iter().flatten() {
            self.rows.columns[*position].push_null();
        }
        Ok(Record::Row(next))
    }

    #[cold]
    fn broken(
        &mut self,
        bytes: &[u8],
        record: usize,
        (at, resume, what): (usize, usize, Broken),
        eof: bool,
    ) -> Result<Record, Failure> {
        if self.skips_records() {
            return Ok(self.skip_record(bytes, resume, eof));
        }
        let delimiter = self.options.delimiter.escape_debug();
        let error = match what {
            Broken::BehindQuote => {
                let found = String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 4)]).chars().next().unwrap_or(' ');
                Error::data(format!("{found:?} behind a closing quote; expected '{delimiter}' or the end of the line"))
                    .help("double each quote inside a quoted field, or set 'csv.disable-quote-character' = 'true'")
            }
            Broken::MissingQuote => Error::data("this quoted field has no closing quote")
                .help("close the quote, or set 'csv.disable-quote-character' = 'true' to read quotes as they are"),
            Broken::MissingEscaped => Error::data("the file ends behind an escape character"),
        };
        Err(Failure::At(self.place(record, at), error))
    }

    fn place(&self, record: usize, at: usize) -> usize {
        at.max(record)
    }

    /// A record that is set aside is not just skipped: its error says why.
    fn skips_records(&self) -> bool {
        self.options.ignore_parse_errors && !self.rows.notes.set_aside
    }

    /// Sets the record aside that was read last; where the next one starts, unless that is not in the window.
    #[cold]
    fn set_aside(&mut self, bytes: &[u8], place: usize, error: &Error, eof: bool) -> Option<usize> {
        self.rows.roll_back();
        let at = self.record_at;
        let Record::Skipped(next) = self.skip_record(bytes, at, eof) else { return None };
        debug_assert!(next > at, "a record has at least its line end");
        self.rows.reject(bytes, at..next, place, error);
        Some(next)
    }

    /// The end of a broken record: the next line end outside of quotes.
    fn skip_record(&mut self, bytes: &[u8], mut at: usize, eof: bool) -> Record {
        loop {
            match self.syntax.field(bytes, at, eof, &mut self.scratch) {
                Scan::Incomplete => return Record::Incomplete,
                Scan::Field { ending: Ending::Record, next, .. } => return Record::Skipped(next),
                Scan::Field { next, .. } => at = next,
                Scan::Broken { resume, .. } if resume >= bytes.len() && eof => return Record::Skipped(bytes.len()),
                Scan::Broken { resume, .. } => at = resume,
            }
        }
    }

    /// The error of the record at `at`, with another remedy where that looks like a header.
    #[cold]
    fn header_or(&mut self, error: Error, bytes: &[u8], at: usize, eof: bool) -> Error {
        if self.options.header || !(self.at_start && at == 0 && self.is_header(bytes, eof)) {
            return error;
        }
        error.help("line 1 looks like a header: set 'csv.header' = 'true' to read it as one")
    }

    /// Whether a field of the window's first record equals its column's name, or all of them could name columns,
    /// though one that is no string must have failed.
    fn is_header(&mut self, bytes: &[u8], eof: bool) -> bool {
        let (mut at, mut index) = (0, 0);
        let (mut all_name, mut failed) = (true, false);
        while let Scan::Field { start, end, ending, next } = self.syntax.field(bytes, at, eof, &mut self.scratch) {
            let text = if start > end { self.scratch.as_slice() } else { &bytes[start..end] };
            let column = self.plan.get(index).copied().flatten().and_then(|position| self.rows.fields.get(position));
            if let Some((name, kind)) = column {
                let trimmed = super::super::parse::trim(text);
                if trimmed.eq_ignore_ascii_case(name.as_bytes()) {
                    return true;
                }
                failed |= !matches!(kind, Type::Char(_) | Type::VarChar(_));
            }
            all_name &= remedy::names_a_column(text);
            if ending == Ending::Record {
                return all_name && failed;
            }
            (at, index) = (next, index + 1);
        }
        false
    }

    #[cold]
    fn wrong(&self, position: usize, text: &[u8], wrong: Wrong) -> Error {
        let (name, kind) = &self.rows.fields[position];
        match wrong {
            Wrong::Field(misfit) => misplaced(name, kind, text, misfit),
            Wrong::Part(part, kind, text, misfit) => misplaced(&format!("{name}{part}"), &kind, &text, misfit),
            Wrong::Missing(wanted, found) => {
                let parts = if found == 1 { "1 part".to_string() } else { format!("{found} parts") };
                Error::data(format!(
                    "column `{name}`: {} has {parts} between '{}', but {kind} wants {wanted}",
                    excerpt(text),
                    self.options.element_delimiter.escape_debug()
                ))
                .help("complete the field, or set 'csv.ignore-parse-errors' = 'true' to read what is missing as NULL")
            }
        }
    }
}

#[cold]
fn misplaced(name: &str, kind: &Type, text: &[u8], misfit: Misfit) -> Error {
    let a = remedy::article(kind);
    let wanted = match kind {
        Type::Binary(_) | Type::VarBinary(_) => format!("base 64 for {kind}"),
        _ => format!("{a} {kind}"),
    };
    match misfit {
        Misfit::Text => {
            let remedy = if let Some(remedy) = remedy::time(name, kind, text, None) {
                remedy
            } else if text.is_empty() {
                "set 'csv.null-literal' = '' to read empty fields as NULL, or 'csv.ignore-parse-errors' = 'true'"
                    .to_string()
            } else {
                "set 'csv.ignore-parse-errors' = 'true' to read it as NULL".to_string()
            };
            Error::data(format!("column `{name}`: {} is not {wanted}", excerpt(text))).help(remedy)
        }
        Misfit::Range => Error::data(format!("column `{name}`: {} is out of the range of {kind}", excerpt(text)))
            .help("declare the column with 9 fractional digits, which reach all years, or repair the file"),
    }
}

impl TextDecoder for CsvDecoder {
    fn enter(&mut self, bytes: &[u8], from: usize, end: usize, state: u8, before: Option<u8>) -> Option<usize> {
        self.at_start = before.is_none();
        let (mut at, mut state) = (from, state);
        let mut before = before.unwrap_or(0);
        while state != RECORD {
            if at >= end {
                return None;
            }
            bytes.get(at)?;
            state = self.syntax.step(state, bytes, at, before);
            before = bytes[at];
            at += 1;
        }
        if before == b'\r' && bytes.get(at) == Some(&b'\n') {
            at += 1;
        }
        (at < end).then_some(at)
    }

    fn decode(&mut self, bytes: &[u8], from: usize, end: usize, eof: bool, out: Output<'_>) -> Result<Step, Failure> {
        let mut invalid = first_invalid(bytes, from, eof);
        let mut at = from;
        loop {
            match self.records(bytes, at..end, &mut invalid, eof, out) {
                Err(Failure::At(place, error)) if self.rows.notes.set_aside => {
                    match self.set_aside(bytes, place, &error, eof) {
                        Some(next) => at = next,
                        None => return Ok(Step::More(self.record_at)),
                    }
                    if at > invalid {
                        invalid = first_invalid(bytes, at, eof);
                    }
                }
                done => return done,
            }
        }
    }

    fn finish(&mut self, out: Output<'_>) -> Result<(u64, u64)> {
        self.rows.flush(out)?;
        Ok(self.rows.totals())
    }

    fn notes(&mut self) -> &mut Notes {
        &mut self.rows.notes
    }
}

impl CsvDecoder {
    /// Decodes the records that start in the range, up to the first one that is wrong. `invalid`: the first offset
    /// that is not UTF-8.
    fn records(
        &mut self,
        bytes: &[u8],
        Range { start: mut at, end }: Range<usize>,
        known_invalid: &mut usize,
        eof: bool,
        out: Output<'_>,
    ) -> Result<Step, Failure> {
        let mut invalid = *known_invalid;
        let exact = !self.short_cuts || self.rows.notes.trace;
        // A record to be set aside must be read by the exact rules, which know where it starts.
        let line = if self.rows.notes.set_aside && invalid < bytes.len() {
            memchr::memrchr(b'\n', &bytes[..invalid]).map_or(0, |found| found + 1)
        } else {
            invalid
        };
        loop {
            if self.syntax.comments || self.syntax.trim {
                at = self.syntax.skip_to_record(bytes, at);
                if at > invalid && self.rows.notes.set_aside {
                    invalid = first_invalid(bytes, at, eof);
                    *known_invalid = invalid;
                }
            }
            if at >= end {
                return Ok(Step::Done);
            }
            let read = if exact { at } else { self.plain_records(bytes, at, end.min(line)) };
            if self.rows.count >= self.rows.batch_rows {
                self.rows.flush(out)?;
            }
            if read > invalid {
                return Err(not_utf8(bytes, invalid));
            }
            if read > at {
                at = read;
                continue;
            }
            self.record_at = at;
            let next = match self.record(bytes, at, eof) {
                Ok(Record::Row(next)) => next,
                Ok(Record::Skipped(next)) => {
                    self.rows.roll_back();
                    self.rows.malformed += 1;
                    if next > invalid {
                        return Err(not_utf8(bytes, invalid));
                    }
                    at = next;
                    continue;
                }
                Ok(Record::Incomplete) => {
                    self.rows.roll_back();
                    return Ok(Step::More(at));
                }
                Err(Failure::At(place, _)) if place > invalid => return Err(not_utf8(bytes, invalid)),
                Err(Failure::At(place, error)) => {
                    return Err(Failure::At(place, self.header_or(error, bytes, at, eof)));
                }
                Err(failure) => return Err(failure),
            };
            if next > invalid {
                return Err(not_utf8(bytes, invalid));
            }
            self.rows.end_row(out)?;
            self.rows.trace(at..next);
            at = next;
        }
    }
}
