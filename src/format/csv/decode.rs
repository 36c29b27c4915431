//! CSV records into columns.

use std::ops::Range;

use super::super::column::{Column, Values};
use super::super::convert::{Misfit, push_csv, push_plain};
use super::super::fast::{self, DayCache};
use super::super::remedy;
use super::super::text::{Failure, Notes, Output, Rows, Step, TextDecoder, excerpt, first_invalid};
use super::scan::{Broken, Ending, RECORD, Scan, Syntax};
use super::{CsvOptions, syntax_of};
use crate::error::{Error, Result};
use crate::types::{Schema, Type};

/// Decodes the CSV records of a block.
pub(crate) struct CsvDecoder {
    syntax: Syntax,
    ignore_errors: bool,
    null_literal: Option<Vec<u8>>,
    /// Numbers and timestamps may be read without looking at the null literal.
    plain: bool,
    /// For each column of the file, which of the projected columns takes it.
    plan: Vec<Option<usize>>,
    /// Flink checks that no column is missing only where it reads all of them.
    all_read: bool,
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
        let quoted = self.syntax.quote.is_some() && self.bytes.get(at).copied() == self.syntax.quote;
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
    pub fn new(options: &CsvOptions, schema: &Schema, projection: &[usize], batch_rows: usize) -> Result<Self> {
        if schema.is_empty() {
            return Err(Error::internal("a CSV table without columns"));
        }
        let mut plan = vec![None; schema.len()];
        for (position, index) in projection.iter().enumerate() {
            if let Some(slot) = plan.get_mut(*index) {
                *slot = Some(position);
            }
        }
        let null_literal = options.null_literal.as_ref().map(|literal| literal.as_bytes().to_vec());
        let looks_plain = |b: &u8| b.is_ascii_digit() || *b == b'-';
        Ok(CsvDecoder {
            syntax: syntax_of(options),
            ignore_errors: options.ignore_parse_errors,
            plain: !null_literal.as_ref().is_some_and(|literal| literal.first().is_some_and(looks_plain)),
            null_literal,
            all_read: projection.len() == schema.len(),
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
        let mut field = Field { syntax: &self.syntax, texts: self.null_literal.is_none(), plain: self.plain, bytes };
        let mut start = at;
        while start < end && *count < *batch_rows {
            let mut place = start;
            for plan in others {
                let found = field.append(columns, *plan, place, &mut self.day);
                if bytes.get(found) != Some(&field.syntax.delimiter) {
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
        if self.null_literal.as_deref() == Some(text) {
            column.push_null();
        } else if let Err(misfit) = push_csv(column, text) {
            if !self.ignore_errors {
                let error = self.misfit(position, text, misfit);
                return Err(Failure::At(at, error));
            }
            column.push_null();
        }
        Ok(scan)
    }

    /// More fields than columns. Jackson lets one pass, if it is blank and the record's last.
    #[cold]
    fn extra_field(&mut self, bytes: &[u8], record: usize, at: usize, eof: bool) -> Result<Record, Failure> {
        let scan = self.syntax.field(bytes, at, eof, &mut self.scratch);
        match scan {
            Scan::Incomplete => return Ok(Record::Incomplete),
            Scan::Field { start, end, ending: Ending::Record, next } => {
                let text = if start > end { self.scratch.as_slice() } else { &bytes[start..end] };
                if text.iter().all(|b| *b <= b' ') {
                    return Ok(Record::Row(next));
                }
            }
            _ => {}
        }
        if self.skips_records() {
            return Ok(self.skip_record(bytes, at, eof));
        }
        let columns = self.plan.len();
        let error = Error::data(format!("the table has {columns} columns, but this record has more")).help(
            "add the missing columns to the table, or set 'csv.ignore-parse-errors' = 'true' to skip such records",
        );
        Err(Failure::At(self.place(record, at), error))
    }

    /// Fewer fields than columns: an error where all columns are read, else the rest is NULL.
    #[cold]
    fn missing_fields(&mut self, record: usize, found: usize, next: usize) -> Result<Record, Failure> {
        if self.all_read && !self.ignore_errors {
            let columns = self.plan.len();
            let found = if found == 1 { "1 field".to_string() } else { format!("{found} fields") };
            let error = Error::data(format!("the table has {columns} columns, but this record has {found}"))
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
        let delimiter = char::from(self.syntax.delimiter).escape_debug();
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
        self.ignore_errors && !self.rows.notes.set_aside
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
        if !(self.at_start && at == 0 && self.is_header(bytes, eof)) {
            return error;
        }
        let set = if self.syntax.comments { "" } else { " and set 'csv.allow-comments' = 'true'" };
        error.help(format!(
            "line 1 looks like a header, which Flink's CSV does not have: remove it (tail -n +2 FILE), \
             or put # before it{set}"
        ))
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
    fn misfit(&self, position: usize, text: &[u8], misfit: Misfit) -> Error {
        let (name, kind) = &self.rows.fields[position];
        let remedy = if let Some(remedy) = remedy::time(name, kind, text, None) {
            remedy
        } else if text.is_empty() {
            "set 'csv.null-literal' = '' to read empty fields as NULL, or 'csv.ignore-parse-errors' = 'true'"
                .to_string()
        } else {
            "set 'csv.ignore-parse-errors' = 'true' to read it as NULL".to_string()
        };
        let a = remedy::article(kind);
        match misfit {
            Misfit::Text => Error::data(format!("column `{name}`: {} is not {a} {kind}", excerpt(text))).help(remedy),
            Misfit::Nanoseconds => Error::data(format!(
                "column `{name}`: {} is out of the range of {kind}, whose nanoseconds reach from 1677 to 2262",
                excerpt(text)
            ))
            .help("declare the column with 6 fractional digits or fewer"),
        }
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
            state = self.syntax.step(state, *bytes.get(at)?, before);
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
        let exact = self.syntax.comments || self.rows.notes.trace;
        // A record to be set aside must be read by the exact rules, which know where it starts.
        let line = if self.rows.notes.set_aside && invalid < bytes.len() {
            memchr::memrchr(b'\n', &bytes[..invalid]).map_or(0, |found| found + 1)
        } else {
            invalid
        };
        loop {
            if self.syntax.comments {
                at = self.syntax.skip_comments(bytes, at);
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
                return Err(not_utf8(invalid));
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
                        return Err(not_utf8(invalid));
                    }
                    at = next;
                    continue;
                }
                Ok(Record::Incomplete) => {
                    self.rows.roll_back();
                    return Ok(Step::More(at));
                }
                Err(Failure::At(place, _)) if place > invalid => return Err(not_utf8(invalid)),
                Err(Failure::At(place, error)) => {
                    return Err(Failure::At(place, self.header_or(error, bytes, at, eof)));
                }
                Err(failure) => return Err(failure),
            };
            if next > invalid {
                return Err(not_utf8(invalid));
            }
            self.rows.end_row(out)?;
            self.rows.trace(at..next);
            at = next;
        }
    }
}

#[cold]
fn not_utf8(at: usize) -> Failure {
    Failure::At(
        at,
        Error::data("the file is not UTF-8 here").help("convert the file to UTF-8, for instance with iconv"),
    )
}
