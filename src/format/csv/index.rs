//! Plain records in bulk: first where their fields end, then column by column.
//!
//! A plain record has no quotes and exactly as many fields as the table has columns. Looking for
//! field ends in all of them first leaves tight loops without guesses for the values.

use super::scan::Syntax;
use crate::format::column::{Column, Values};
use crate::format::convert::push_csv;
use crate::format::fast::{self, DayCache};

/// Records indexed at once: their positions stay in the L1 cache.
const RECORDS_MAX: usize = 512;

/// Where the fields of some records lie.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// For each record its start and the end of each field.
    positions: Vec<u32>,
    /// Positions of one record.
    stride: usize,
    /// Start of the first position.
    base: usize,
}

/// What a value needs to be read.
pub(crate) struct Reading<'a> {
    pub null_literal: Option<&'a [u8]>,
    pub ignore_errors: bool,
    /// Numbers may be read without looking at the null literal.
    pub plain: bool,
    pub day: &'a mut DayCache,
}

impl Index {
    pub fn new(columns: usize) -> Self {
        Index { positions: Vec::new(), stride: columns + 1, base: 0 }
    }

    /// Indexes the plain records from `at` on that start before `end`, at most `limit`; where the next record
    /// starts.
    pub fn fill(&mut self, syntax: &Syntax, bytes: &[u8], at: usize, end: usize, limit: usize) -> usize {
        self.positions.clear();
        self.base = at;
        let columns = self.stride - 1;
        let limit = limit.min(RECORDS_MAX) * self.stride;
        let quote = syntax.quote.unwrap_or(syntax.delimiter);
        let (delimiters, quotes) = (fast::eight_times(syntax.delimiter), fast::eight_times(quote));
        let (mut start, mut fields) = (at, 0);
        self.positions.push(0);
        let mut word_at = at;
        'words: while let Some(word) = bytes.get(word_at..).and_then(|rest| rest.first_chunk::<8>()) {
            let mut marks = fast::marks(u64::from_le_bytes(*word), delimiters, quotes);
            while marks != 0 {
                let place = word_at + marks.trailing_zeros() as usize / 8;
                marks &= marks - 1;
                let byte = bytes[place];
                if byte == syntax.delimiter {
                    fields += 1;
                    if fields == columns {
                        break 'words;
                    }
                    self.positions.push((place - at) as u32);
                    continue;
                }
                let newline = match byte {
                    b'\n' => true,
                    b'\r' => bytes.get(place + 1) == Some(&b'\n'),
                    other if other == quote => break 'words,
                    // Another control character is text.
                    _ => continue,
                };
                // The second half of a line end was jumped over already.
                if byte == b'\n' && place + 1 == start {
                    continue;
                }
                if !newline || fields + 1 != columns {
                    break 'words;
                }
                self.positions.push((place - at) as u32);
                start = place + 1 + usize::from(byte == b'\r');
                fields = 0;
                if start >= end || self.positions.len() >= limit {
                    return start;
                }
                self.positions.push((start - at) as u32);
            }
            word_at += 8;
        }
        // What is left of an unfinished or unusual record goes.
        self.positions.truncate(self.positions.len() / self.stride * self.stride);
        start
    }

    pub fn len(&self) -> usize {
        self.positions.len() / self.stride
    }

    /// Where a record starts.
    pub fn start(&self, record: usize) -> usize {
        self.positions.get(record * self.stride).map_or(self.base, |start| self.base + *start as usize)
    }

    /// Appends the field `index` of the first `records` records; the number of records before the first whose value
    /// does not fit.
    pub fn read(
        &self,
        column: &mut Column,
        index: usize,
        records: usize,
        bytes: &[u8],
        reading: &mut Reading<'_>,
    ) -> usize {
        let gap = usize::from(index > 0);
        let mut done = 0;
        while done < records {
            let rows = self.positions.chunks_exact(self.stride).take(records).skip(done);
            let fields = rows.map(|row| (self.base + row[index] as usize + gap, self.base + row[index + 1] as usize));
            // As far as the short cut goes, then one value by the exact rules, then on by the short cut.
            done += short_cut(column, fields, bytes, reading);
            if done < records {
                let row = &self.positions[done * self.stride..];
                let (start, end) = (self.base + row[index] as usize + gap, self.base + row[index + 1] as usize);
                let text = &bytes[start..end];
                if reading.null_literal == Some(text) {
                    column.push_null();
                } else if push_csv(column, text).is_err() {
                    if !reading.ignore_errors {
                        return done;
                    }
                    column.push_null();
                }
                done += 1;
            }
        }
        done
    }
}

/// Appends values as long as they are of the plainest form; how many.
#[inline]
fn short_cut(
    column: &mut Column,
    fields: impl Iterator<Item = (usize, usize)>,
    bytes: &[u8],
    reading: &mut Reading<'_>,
) -> usize {
    let mut count = 0;
    match &mut column.values {
        Values::Text(text) if reading.null_literal.is_none() => {
            for (start, end) in fields {
                text.push_range(bytes, start, end - start);
                count += 1;
            }
        }
        _ if !reading.plain => {}
        Values::Timestamp { values, per_second: 1_000, zoned: false } => {
            for (start, end) in fields {
                let Some(value) = fast::milliseconds(bytes, start, end, b' ', reading.day) else { break };
                values.push(value);
                count += 1;
            }
        }
        Values::Int64(values) => {
            for (start, end) in fields {
                let Some((value, found)) = fast::integer(bytes, start) else { break };
                if found != end {
                    break;
                }
                values.push(value);
                count += 1;
            }
        }
        Values::Int32(values) => {
            for (start, end) in fields {
                let Some((value, found)) = fast::integer(bytes, start) else { break };
                let Ok(value) = i32::try_from(value) else { break };
                if found != end {
                    break;
                }
                values.push(value);
                count += 1;
            }
        }
        Values::Float64(values) => {
            for (start, end) in fields {
                let Some((value, found)) = fast::double(bytes, start) else { break };
                if found != end {
                    break;
                }
                values.push(value);
                count += 1;
            }
        }
        _ => {}
    }
    count
}
