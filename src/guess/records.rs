//! Records of text files, piece by piece.

use serde_json::Value;

use super::input::{Begin, Input, Piece};
use super::sniff::CsvLayout;
use crate::error::{Error, Result};
use crate::format::{Ending, Scan, Syntax};

/// How a text file is made up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Layout {
    Csv(CsvLayout),
    Json,
}

/// One record.
pub(crate) enum Row<'a> {
    Fields(&'a [String]),
    Json(&'a Value),
}

/// What was read, besides the records.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub rows: u64,
    /// Records that cannot be read, with the first of them.
    pub broken: u64,
    pub example: Option<String>,
    /// Lines of JSON that are nested too deep to be read; they are broken too.
    pub deep: u64,
    /// Blank lines.
    pub blank: u64,
    /// The limit of rows ended the reading.
    pub stopped: bool,
}

/// What happens at a record, or at the start of another file.
pub(crate) enum Event<'a> {
    File,
    Row(Row<'a>),
}

/// Reads records until there are no more, or as many as `limit` says.
///
/// # Errors
/// Reading, and text that is not UTF-8.
pub(crate) fn read(
    input: &mut dyn Input,
    layout: &Layout,
    limit: Option<u64>,
    event: &mut dyn FnMut(Event<'_>),
) -> Result<Seen> {
    let mut reader =
        Reader { layout, limit, seen: Seen::default(), carried: Vec::new(), fields: Vec::new(), header: false };
    input.pieces(&mut |piece| {
        if piece.begin == Begin::File {
            event(Event::File);
        }
        reader.piece(piece, event)
    })?;
    Ok(reader.seen)
}

struct Reader<'a> {
    layout: &'a Layout,
    limit: Option<u64>,
    seen: Seen,
    /// The start of a record whose end is in the next piece.
    carried: Vec<u8>,
    fields: Vec<String>,
    /// The next record is a header.
    header: bool,
}

impl Reader<'_> {
    /// Whether to go on.
    fn piece(&mut self, piece: Piece<'_>, event: &mut dyn FnMut(Event<'_>)) -> Result<bool> {
        let bytes = match piece.begin {
            Begin::Next => {
                self.carried.extend_from_slice(piece.bytes);
                std::mem::take(&mut self.carried)
            }
            Begin::File => {
                self.header = matches!(self.layout, Layout::Csv(csv) if csv.header.is_some());
                let bytes = piece.bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(piece.bytes);
                bytes.to_vec()
            }
            Begin::Gap => {
                self.header = false;
                piece.bytes[self.first_record(piece.bytes)..].to_vec()
            }
        };
        let read = match self.layout {
            Layout::Csv(csv) => self.csv(csv, &bytes, piece.ends, event)?,
            Layout::Json => self.json(&bytes, piece.ends, event)?,
        };
        self.carried = bytes[read.min(bytes.len())..].to_vec();
        self.seen.stopped = self.limit.is_some_and(|limit| self.seen.rows >= limit);
        Ok(!self.seen.stopped)
    }

    fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.seen.rows >= limit)
    }

    /// Where the first whole record of a piece starts that begins somewhere within one.
    fn first_record(&self, bytes: &[u8]) -> usize {
        /// Lines within quotes that are passed over.
        const LINES: usize = 50;
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).take(LINES).map(|at| at + 1).collect();
        let Layout::Csv(csv) = self.layout else { return ends.first().copied().unwrap_or(bytes.len()) };
        let syntax = csv.syntax();
        // A line that began within quotes has a quote too many or a field too few.
        let is_plain = |fields: &[String]| {
            fields.len() == csv.fields
                && !fields.iter().any(|field| csv.quote.is_some_and(|quote| field.contains(char::from(quote))))
        };
        let fits = |at: &usize| {
            let mut at = *at;
            let mut fields = Vec::new();
            (0..3).all(|_| match record(&syntax, bytes, at, false, &mut fields) {
                Found::Record(next) => {
                    at = next;
                    is_plain(&fields)
                }
                Found::Incomplete => true,
                Found::Broken(_) => false,
            })
        };
        ends.iter().copied().find(|at| fits(at)).or_else(|| ends.first().copied()).unwrap_or(bytes.len())
    }

    /// Where the first record starts that was not read.
    fn csv(&mut self, csv: &CsvLayout, bytes: &[u8], ends: bool, event: &mut dyn FnMut(Event<'_>)) -> Result<usize> {
        let syntax = csv.syntax();
        let mut at = 0;
        loop {
            if csv.fields > 1 {
                at = self.skip_blank(bytes, at);
            }
            at = syntax.skip_to_record(bytes, at);
            if at >= bytes.len() || self.is_full() {
                return Ok(at);
            }
            let mut fields = std::mem::take(&mut self.fields);
            let found = record(&syntax, bytes, at, ends, &mut fields);
            match found {
                Found::Incomplete => return Ok(at),
                Found::Broken(next) => {
                    self.broken(&bytes[at..next]);
                    at = next;
                }
                Found::Record(next) => {
                    if std::mem::take(&mut self.header) {
                        // Names, no values.
                    } else if fields.len() == csv.fields || blank_rest(&fields, csv.fields) {
                        check_text(&bytes[at..next])?;
                        self.seen.rows += 1;
                        event(Event::Row(Row::Fields(&fields)));
                    } else {
                        self.broken(&bytes[at..next]);
                    }
                    at = next;
                }
            }
            self.fields = fields;
        }
    }

    fn json(&mut self, bytes: &[u8], ends: bool, event: &mut dyn FnMut(Event<'_>)) -> Result<usize> {
        let mut at = 0;
        while at < bytes.len() && !self.is_full() {
            let end = match memchr::memchr(b'\n', &bytes[at..]) {
                Some(length) => at + length,
                None if ends => bytes.len(),
                None => return Ok(at),
            };
            let line = bytes[at..end].trim_ascii();
            at = end + 1;
            if line.is_empty() {
                self.seen.blank += 1;
                continue;
            }
            check_text(line)?;
            match serde_json::from_slice::<Value>(line) {
                Ok(value) if value.is_object() => {
                    self.seen.rows += 1;
                    event(Event::Row(Row::Json(&value)));
                }
                Ok(_) => self.broken(line),
                Err(error) => {
                    self.seen.deep += u64::from(error.to_string().starts_with("recursion limit"));
                    self.broken(line);
                }
            }
        }
        Ok(at)
    }

    /// Where the next line starts that is not blank.
    fn skip_blank(&mut self, bytes: &[u8], mut at: usize) -> usize {
        loop {
            let length = match &bytes[at..] {
                [b'\r', b'\n', ..] => 2,
                [b'\n', ..] => 1,
                _ => return at,
            };
            at += length;
            self.seen.blank += 1;
        }
    }

    fn broken(&mut self, text: &[u8]) {
        self.seen.broken += 1;
        self.seen.example.get_or_insert_with(|| String::from_utf8_lossy(text).trim_end().chars().take(60).collect());
    }
}

/// Jackson lets one field too many pass, if it is blank.
fn blank_rest(fields: &[String], expected: usize) -> bool {
    fields.len() == expected + 1 && fields.last().is_some_and(|field| field.trim().is_empty())
}

fn check_text(bytes: &[u8]) -> Result<()> {
    if std::str::from_utf8(bytes).is_ok() {
        return Ok(());
    }
    let shown: String = String::from_utf8_lossy(bytes).trim_end().chars().take(60).collect();
    Err(Error::data(format!("the file is not UTF-8: '{shown}'"))
        .help("convert it, for example: iconv -f latin1 -t utf-8 FILE > NEW"))
}

pub(crate) enum Found {
    /// The record, and where the next one starts.
    Record(usize),
    /// The bytes end before the record does.
    Incomplete,
    /// Quotes are wrong; where the next line starts.
    Broken(usize),
}

/// The fields of the record at `at`. `ends`: the bytes reach the end of the file.
pub(crate) fn record(syntax: &Syntax, bytes: &[u8], at: usize, ends: bool, fields: &mut Vec<String>) -> Found {
    let mut scratch = Vec::new();
    let mut count = 0;
    let mut place = at;
    loop {
        match syntax.field(bytes, place, ends, &mut scratch) {
            Scan::Incomplete => return Found::Incomplete,
            Scan::Broken { at: wrong, .. } => {
                let line = memchr::memchr(b'\n', &bytes[wrong.max(at)..]).map(|length| wrong.max(at) + length + 1);
                return Found::Broken(line.unwrap_or(bytes.len()));
            }
            Scan::Field { start, end, ending, next } => {
                let text = if start > end { scratch.as_slice() } else { &bytes[start..end] };
                if fields.len() == count {
                    fields.push(String::new());
                }
                fields[count].clear();
                fields[count].push_str(&String::from_utf8_lossy(text));
                count += 1;
                if ending == Ending::Record {
                    fields.truncate(count);
                    return Found::Record(next);
                }
                place = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::Sample;
    use super::*;

    fn rows(layout: &Layout, pieces: &[(&str, Begin, bool)], limit: Option<u64>) -> (Vec<String>, Seen) {
        let pieces = pieces.iter().map(|(text, begin, ends)| (text.as_bytes().to_vec(), *begin, *ends)).collect();
        let mut found = Vec::new();
        let seen = read(&mut Sample { pieces, whole: true }, layout, limit, &mut |event| match event {
            Event::File => {}
            Event::Row(Row::Fields(fields)) => found.push(fields.join("|")),
            Event::Row(Row::Json(value)) => found.push(value.to_string()),
        });
        (found, seen.expect("readable"))
    }

    fn csv(header: bool) -> Layout {
        let header = header.then(|| vec!["a".to_string(), "b".to_string()]);
        Layout::Csv(CsvLayout { header, fields: 2, ..CsvLayout::default() })
    }

    #[test]
    fn records_may_lie_across_pieces_and_headers_are_no_rows() {
        let pieces = [("a,b\n1,\"x", Begin::File, false), ("\ny\"\n2", Begin::Next, false), (",z", Begin::Next, true)];
        assert_eq!(rows(&csv(true), &pieces, None).0, ["1|x\ny", "2|z"]);
        assert_eq!(rows(&csv(true), &pieces, Some(1)).0, ["1|x\ny"]);
    }

    #[test]
    fn after_a_gap_reading_goes_on_at_a_record() {
        let pieces = [("1,a\n", Begin::File, false), ("ab\"c\nd\",x\n7,b\n8,c\n9,d\n", Begin::Gap, false)];
        assert_eq!(rows(&csv(false), &pieces, None).0, ["1|a", "7|b", "8|c", "9|d"]);
    }

    #[test]
    fn wrong_records_and_blank_lines_are_counted() {
        let (found, seen) = rows(&csv(false), &[("1,a\n\n1,2,3\n4\n\"x\"y,1\n5,b,\n", Begin::File, true)], None);
        assert_eq!(found, ["1|a", "5|b|"]);
        assert_eq!((seen.rows, seen.broken, seen.blank, seen.example.as_deref()), (2, 3, 1, Some("1,2,3")));
        let (found, seen) = rows(&Layout::Json, &[("{\"a\":1}\n[1]\n{\n", Begin::File, true)], None);
        assert_eq!(found, ["{\"a\":1}"]);
        assert_eq!(seen.broken, 2);
    }
}
