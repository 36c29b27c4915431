//! The structure of CSV as Jackson reads it: fields, records, and the state machine behind them.

use memchr::memchr2;

use super::super::fast::Stops;

/// The characters that mean something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syntax {
    pub delimiter: u8,
    pub quote: Option<u8>,
    pub escape: Option<u8>,
    pub comments: bool,
    /// What may end an unquoted field.
    pub stops: Stops,
}

// The states. A record ends with \n, \r or \r\n: whether a \n at the start of a record belongs to
// the end before it, the byte before it tells; and so it does for a quote behind a closing quote.
/// A record starts here. The state at the start of a file.
pub(crate) const RECORD: u8 = 0;
/// A field other than the record's first starts here.
pub(crate) const FIELD: u8 = 1;
/// Inside an unquoted field.
pub(crate) const PLAIN: u8 = 2;
/// Inside a quoted field.
pub(crate) const QUOTED: u8 = 3;
/// Behind a closing quote, or blanks after it.
pub(crate) const CLOSED: u8 = 4;
/// Behind the escape character in an unquoted field.
pub(crate) const ESCAPE_PLAIN: u8 = 5;
/// Behind the escape character in a quoted field.
pub(crate) const ESCAPE_QUOTED: u8 = 6;
/// In a comment line.
pub(crate) const COMMENT: u8 = 7;

/// How a field ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Delimiter,
    Record,
}

/// A field as found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    /// Its text: a range of the input, or all of the scratch buffer where `start > end`.
    Field { start: usize, end: usize, ending: Ending, next: usize },
    /// The input ends before the field does, though the file goes on.
    Incomplete,
    /// The structure is broken at `at`; Jackson resumes at `resume` as if a field started there.
    Broken { at: usize, resume: usize, what: Broken },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    BehindQuote,
    MissingQuote,
    MissingEscaped,
}

impl Syntax {
    pub fn new(delimiter: u8, quote: Option<u8>, escape: Option<u8>, comments: bool) -> Self {
        let stops = Stops::with_line_ends(delimiter, escape.unwrap_or(delimiter));
        Syntax { delimiter, quote, escape, comments, stops }
    }

    /// The state behind `byte`; `before` is the byte in front of it.
    #[inline]
    pub fn step(&self, state: u8, byte: u8, before: u8) -> u8 {
        let line_end = byte == b'\n' || byte == b'\r';
        match state {
            RECORD if self.comments && byte == b' ' => RECORD,
            RECORD if self.comments && byte == b'#' => COMMENT,
            ESCAPE_PLAIN => PLAIN,
            ESCAPE_QUOTED => QUOTED,
            QUOTED if Some(byte) == self.quote => CLOSED,
            QUOTED if Some(byte) == self.escape => ESCAPE_QUOTED,
            QUOTED => QUOTED,
            CLOSED if Some(byte) == self.quote && before == byte => QUOTED,
            CLOSED if byte == self.delimiter => FIELD,
            CLOSED if line_end => RECORD,
            CLOSED if byte <= b' ' => CLOSED,
            CLOSED => FIELD,
            _ if line_end => RECORD,
            COMMENT => COMMENT,
            RECORD | FIELD if Some(byte) == self.quote => QUOTED,
            // The rest of a long character behind a closing quote, which Jackson takes as one.
            FIELD if is_continuation(byte) => FIELD,
            _ if byte == self.delimiter => FIELD,
            _ if Some(byte) == self.escape => ESCAPE_PLAIN,
            _ => PLAIN,
        }
    }

    /// The state behind all of `bytes`, for each state before them.
    pub fn transition(&self, bytes: &[u8], before: u8) -> [u8; 8] {
        let mut states: [u8; 8] = std::array::from_fn(|state| state as u8);
        let mut before = before;
        let mut at = 0;
        // Most states flow together within a field or two; then only what is still distinct goes on.
        while at < bytes.len() && (at < 64 || self.comments) && distinct(&states) > 2 {
            states = states.map(|state| self.step(state, bytes[at], before));
            before = bytes[at];
            at += 1;
        }
        let mut ends: [Option<u8>; 8] = [None; 8];
        states.map(|state| *ends[usize::from(state)].get_or_insert_with(|| self.run(state, bytes, at, before)))
    }

    /// The state behind `bytes[at..]`, by leaps from one meaningful character to the next.
    fn run(&self, mut state: u8, bytes: &[u8], mut at: usize, mut before: u8) -> u8 {
        while at < bytes.len() {
            if state == FIELD && is_continuation(bytes[at]) {
                // Step by step through what `outside` would take for a field.
            } else if !self.comments && matches!(state, RECORD | FIELD | PLAIN) {
                let Some(found) = self.find_special(&bytes[at..]) else { return self.outside(bytes[bytes.len() - 1]) };
                if found > 0 {
                    before = bytes[at + found - 1];
                    state = self.outside(before);
                    at += found;
                }
            } else if state == QUOTED {
                let Some(found) = self.find_special(&bytes[at..]) else { return QUOTED };
                if found > 0 {
                    before = bytes[at + found - 1];
                    at += found;
                }
            }
            state = self.step(state, bytes[at], before);
            before = bytes[at];
            at += 1;
        }
        state
    }

    /// The state outside of quotes behind `byte`, which is neither quote nor escape.
    fn outside(&self, byte: u8) -> u8 {
        match byte {
            b'\n' | b'\r' => RECORD,
            _ if byte == self.delimiter => FIELD,
            _ => PLAIN,
        }
    }

    fn find_special(&self, bytes: &[u8]) -> Option<usize> {
        match (self.quote, self.escape) {
            (None, None) => None,
            (Some(quote), escape) => memchr2(quote, escape.unwrap_or(quote), bytes),
            (None, Some(escape)) => memchr::memchr(escape, bytes),
        }
    }

    /// The offset of the record that starts at `at` or, where comments are allowed, behind the blank
    /// and comment lines there.
    pub fn skip_comments(&self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b' ' | b'\n' | b'\r' => at += 1,
                b'#' => at += memchr2(b'\n', b'\r', &bytes[at..]).unwrap_or(bytes.len() - at),
                _ => break,
            }
        }
        at
    }

    /// The field that starts at `at`.
    pub fn field(&self, bytes: &[u8], at: usize, eof: bool, scratch: &mut Vec<u8>) -> Scan {
        if self.quote.is_some() && bytes.get(at).copied() == self.quote {
            return self.quoted(bytes, at + 1, eof, scratch);
        }
        let end = self.stops.find(bytes, at);
        if self.escape.is_some() && bytes.get(end).copied() == self.escape {
            return self.escaped(bytes, at, end, eof, scratch);
        }
        self.ending(bytes, at, end, end, eof)
    }

    /// The field from `start` to `end`, with its terminator at `stop`.
    #[inline]
    fn ending(&self, bytes: &[u8], start: usize, end: usize, stop: usize, eof: bool) -> Scan {
        let field = |ending, next| Scan::Field { start, end, ending, next };
        match bytes.get(stop) {
            Some(byte) if *byte == self.delimiter => field(Ending::Delimiter, stop + 1),
            Some(b'\r') => match bytes.get(stop + 1) {
                Some(b'\n') => field(Ending::Record, stop + 2),
                Some(_) => field(Ending::Record, stop + 1),
                None if eof => field(Ending::Record, stop + 1),
                None => Scan::Incomplete,
            },
            Some(_) => field(Ending::Record, stop + 1),
            None if eof => field(Ending::Record, stop),
            None => Scan::Incomplete,
        }
    }

    fn escaped(&self, bytes: &[u8], start: usize, first: usize, eof: bool, scratch: &mut Vec<u8>) -> Scan {
        scratch.clear();
        scratch.extend_from_slice(&bytes[start..first]);
        let mut at = first;
        while Some(bytes.get(at).copied()) == Some(self.escape) {
            match bytes.get(at + 1) {
                Some(byte) => scratch.push(unescape(*byte)),
                None if eof => return Scan::Broken { at, resume: at + 1, what: Broken::MissingEscaped },
                None => return Scan::Incomplete,
            }
            let end = self.stops.find(bytes, at + 2);
            scratch.extend_from_slice(&bytes[at + 2..end]);
            at = end;
        }
        self.ending(bytes, 1, 0, at, eof)
    }

    fn quoted(&self, bytes: &[u8], start: usize, eof: bool, scratch: &mut Vec<u8>) -> Scan {
        let mut copied = false;
        let (mut from, mut at) = (start, start);
        let end = loop {
            let Some(found) = bytes.get(at..).and_then(|rest| self.find_special(rest)) else {
                let missing = Scan::Broken { at: start - 1, resume: bytes.len(), what: Broken::MissingQuote };
                return if eof { missing } else { Scan::Incomplete };
            };
            at += found;
            let next = bytes.get(at + 1).copied();
            if next.is_none() && !eof {
                return Scan::Incomplete;
            }
            let is_quote = Some(bytes[at]) == self.quote;
            if is_quote && next != self.quote {
                break at;
            }
            let Some(next) = next else {
                return Scan::Broken { at, resume: at + 1, what: Broken::MissingEscaped };
            };
            if !copied {
                scratch.clear();
                copied = true;
            }
            scratch.extend_from_slice(&bytes[from..at]);
            scratch.push(if is_quote { next } else { unescape(next) });
            at += 2;
            from = at;
        };
        let mut stop = end + 1;
        while bytes.get(stop).is_some_and(|b| *b <= b' ' && *b != self.delimiter && !matches!(b, b'\n' | b'\r')) {
            stop += 1;
        }
        if bytes.get(stop).is_some_and(|b| *b > b' ' && *b != self.delimiter) {
            let rest = bytes[stop + 1..].iter().take_while(|b| is_continuation(**b)).count();
            return Scan::Broken { at: stop, resume: stop + 1 + rest, what: Broken::BehindQuote };
        }
        if copied {
            scratch.extend_from_slice(&bytes[from..end]);
            return self.ending(bytes, 1, 0, stop, eof);
        }
        self.ending(bytes, start, end, stop, eof)
    }
}

/// The second or a later byte of a character.
fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'0' => 0,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        other => other,
    }
}

fn distinct(states: &[u8; 8]) -> u32 {
    states.iter().fold(0u8, |seen, state| seen | 1 << state).count_ones()
}
