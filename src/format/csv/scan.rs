//! The structure of CSV as Jackson reads it: fields, records, and the state machine behind them.

use memchr::memchr2;

use super::super::fast::Stops;
use super::CsvOptions;
use super::special::{Special, is_continuation};

/// The characters that mean something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syntax {
    pub delimiter: Special,
    pub quote: Option<Special>,
    pub escape: Option<Special>,
    pub comments: bool,
    /// Blanks around an unquoted field do not belong to it.
    pub trim: bool,
    /// One of the characters has more than one byte.
    pub wide: bool,
    /// What may end an unquoted field: bytes that must be looked at where one of the characters is wide.
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
    pub fn new(options: &CsvOptions) -> Self {
        let delimiter = Special::new(options.delimiter);
        let (quote, escape) = (options.quote.map(Special::new), options.escape.map(Special::new));
        Syntax {
            delimiter,
            quote,
            escape,
            comments: options.comments,
            trim: options.trim_spaces,
            wide: delimiter.is_wide() || [quote, escape].into_iter().flatten().any(Special::is_wide),
            stops: Stops::with_line_ends(delimiter.lead, escape.unwrap_or(delimiter).lead),
        }
    }

    /// How many bytes behind a block must be known to judge its last character.
    pub fn look_ahead(&self) -> usize {
        if self.wide { 2 } else { 0 }
    }

    #[inline]
    fn is(&self, special: Option<Special>, bytes: &[u8], at: usize) -> bool {
        special.is_some_and(|special| special.stands_at(bytes, at))
    }

    /// The state behind the byte at `at`; `before` is the byte in front of it. A character that means something does
    /// so at its first byte; the others change nothing.
    #[inline]
    pub fn step(&self, state: u8, bytes: &[u8], at: usize, before: u8) -> u8 {
        let byte = bytes[at];
        let line_end = byte == b'\n' || byte == b'\r';
        let rest = is_continuation(byte);
        match state {
            RECORD if self.comments && byte == b' ' => RECORD,
            RECORD if self.comments && byte == b'#' => COMMENT,
            RECORD | FIELD if self.is_leading_blank(bytes, at) => state,
            // The rest of the escape or quote itself.
            ESCAPE_PLAIN | ESCAPE_QUOTED | CLOSED if rest => state,
            ESCAPE_PLAIN => PLAIN,
            ESCAPE_QUOTED => QUOTED,
            QUOTED if self.is(self.quote, bytes, at) => CLOSED,
            QUOTED if self.is(self.escape, bytes, at) => ESCAPE_QUOTED,
            QUOTED => QUOTED,
            CLOSED if self.is(self.quote, bytes, at) && self.quote.is_some_and(|quote| quote.ends_with(before)) => {
                QUOTED
            }
            CLOSED if self.delimiter.stands_at(bytes, at) => FIELD,
            CLOSED if line_end => RECORD,
            CLOSED if byte <= b' ' => CLOSED,
            CLOSED => FIELD,
            _ if line_end => RECORD,
            COMMENT => COMMENT,
            RECORD | FIELD if self.is(self.quote, bytes, at) => QUOTED,
            // The rest of the delimiter, or of a long character behind a closing quote, which Jackson takes as one.
            FIELD if rest => FIELD,
            _ if self.delimiter.stands_at(bytes, at) => FIELD,
            _ if self.is(self.escape, bytes, at) => ESCAPE_PLAIN,
            _ => PLAIN,
        }
    }

    /// A blank in front of a field, where those do not count.
    #[inline]
    fn is_leading_blank(&self, bytes: &[u8], at: usize) -> bool {
        self.trim
            && bytes.get(at).is_some_and(|byte| *byte <= b' ' && !matches!(byte, b'\n' | b'\r'))
            && !self.delimiter.stands_at(bytes, at)
    }

    /// The state behind the first `length` of `bytes`, for each state before them.
    pub fn transition(&self, bytes: &[u8], length: usize, before: u8) -> [u8; 8] {
        let mut states: [u8; 8] = std::array::from_fn(|state| state as u8);
        let mut before = before;
        let mut at = 0;
        // Most states flow together within a field or two; then only what is still distinct goes on.
        while at < length && (at < 64 || self.comments) && distinct(&states) > 2 {
            states = states.map(|state| self.step(state, bytes, at, before));
            before = bytes[at];
            at += 1;
        }
        let mut ends: [Option<u8>; 8] = [None; 8];
        states
            .map(|state| *ends[usize::from(state)].get_or_insert_with(|| self.run(state, (bytes, length), at, before)))
    }

    /// The state behind `bytes[at..length]`, by leaps from one meaningful character to the next.
    fn run(&self, mut state: u8, (bytes, length): (&[u8], usize), mut at: usize, mut before: u8) -> u8 {
        let leaps = !self.comments && !self.trim;
        while at < length {
            if state == FIELD && is_continuation(bytes[at]) {
                // Step by step through what `outside` would take for a field.
            } else if leaps && matches!(state, RECORD | FIELD | PLAIN) {
                let Some(found) = self.find_special(&bytes[at..length]) else { return self.outside(bytes, at, length) };
                if found > 0 {
                    before = bytes[at + found - 1];
                    state = self.outside(bytes, at, at + found);
                    at += found;
                }
            } else if state == QUOTED {
                let Some(found) = self.find_special(&bytes[at..length]) else { return QUOTED };
                if found > 0 {
                    before = bytes[at + found - 1];
                    at += found;
                }
            }
            state = self.step(state, bytes, at, before);
            before = bytes[at];
            at += 1;
        }
        state
    }

    /// The state outside of quotes behind `bytes[from..end]`, in which neither quote nor escape begins.
    fn outside(&self, bytes: &[u8], from: usize, end: usize) -> u8 {
        let range = &bytes[from..end];
        let delimiter = match range.last() {
            Some(b'\n' | b'\r') => return RECORD,
            last if !self.wide => last == Some(&self.delimiter.lead),
            // It counts from its first byte on.
            _ => range
                .iter()
                .rposition(|byte| !is_continuation(*byte))
                .is_some_and(|last| self.delimiter.stands_at(bytes, from + last)),
        };
        if delimiter { FIELD } else { PLAIN }
    }

    fn find_special(&self, bytes: &[u8]) -> Option<usize> {
        match (self.quote, self.escape) {
            (None, None) => None,
            (Some(quote), escape) => memchr2(quote.lead, escape.unwrap_or(quote).lead, bytes),
            (None, Some(escape)) => memchr::memchr(escape.lead, bytes),
        }
    }

    /// The end of an unquoted field's text from `at` on: a delimiter, an escape or a line end.
    #[inline]
    fn find_stop(&self, bytes: &[u8], at: usize, eof: bool) -> usize {
        let mut found = self.stops.find(bytes, at);
        while self.wide && bytes.get(found).is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
            let meant = self.delimiter.stands_at(bytes, found) || self.is(self.escape, bytes, found);
            // Cut off by the end of the window, it cannot be told.
            if meant || (!eof && found + self.look_ahead() >= bytes.len()) {
                break;
            }
            found = self.stops.find(bytes, found + 1);
        }
        found
    }

    /// The offset of the record that starts at `at` or, where comments are allowed or blanks do not count, behind
    /// those there.
    pub fn skip_to_record(&self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(byte) = bytes.get(at) {
            match byte {
                b' ' | b'\n' | b'\r' if self.comments => at += 1,
                b'#' if self.comments => at += memchr2(b'\n', b'\r', &bytes[at..]).unwrap_or(bytes.len() - at),
                _ if self.is_leading_blank(bytes, at) => at += 1,
                _ => break,
            }
        }
        at
    }

    /// The field that starts at `at`.
    pub fn field(&self, bytes: &[u8], mut at: usize, eof: bool, scratch: &mut Vec<u8>) -> Scan {
        while self.is_leading_blank(bytes, at) {
            at += 1;
        }
        if let Some(quote) = self.quote
            && quote.stands_at(bytes, at)
        {
            return self.quoted(bytes, at + quote.length, quote, eof, scratch);
        }
        let mut end = self.find_stop(bytes, at, eof);
        if let Some(escape) = self.escape
            && escape.stands_at(bytes, end)
        {
            return self.escaped(bytes, (at, end), escape, eof, scratch);
        }
        let stop = end;
        while self.trim && end > at && bytes[end - 1] <= b' ' {
            end -= 1;
        }
        self.ending(bytes, at, end, stop, eof)
    }

    /// The field from `start` to `end`, with its terminator at `stop`.
    #[inline]
    fn ending(&self, bytes: &[u8], start: usize, end: usize, stop: usize, eof: bool) -> Scan {
        let field = |ending, next| Scan::Field { start, end, ending, next };
        match bytes.get(stop) {
            _ if self.delimiter.stands_at(bytes, stop) => field(Ending::Delimiter, stop + self.delimiter.length),
            Some(b'\r') => match bytes.get(stop + 1) {
                Some(b'\n') => field(Ending::Record, stop + 2),
                Some(_) => field(Ending::Record, stop + 1),
                None if eof => field(Ending::Record, stop + 1),
                None => Scan::Incomplete,
            },
            Some(b'\n') => field(Ending::Record, stop + 1),
            None if eof => field(Ending::Record, stop),
            // The window ends, perhaps within a character.
            _ => Scan::Incomplete,
        }
    }

    fn escaped(
        &self,
        bytes: &[u8],
        (start, first): (usize, usize),
        escape: Special,
        eof: bool,
        scratch: &mut Vec<u8>,
    ) -> Scan {
        scratch.clear();
        scratch.extend_from_slice(&bytes[start..first]);
        let mut at = first;
        while escape.stands_at(bytes, at) {
            let behind = at + escape.length;
            match bytes.get(behind) {
                Some(byte) => scratch.push(unescape(*byte)),
                None if eof => return Scan::Broken { at, resume: behind, what: Broken::MissingEscaped },
                None => return Scan::Incomplete,
            }
            let end = self.find_stop(bytes, behind + 1, eof);
            scratch.extend_from_slice(&bytes[behind + 1..end]);
            at = end;
        }
        while self.trim && scratch.last().is_some_and(|byte| *byte <= b' ') {
            scratch.pop();
        }
        self.ending(bytes, 1, 0, at, eof)
    }

    fn quoted(&self, bytes: &[u8], start: usize, quote: Special, eof: bool, scratch: &mut Vec<u8>) -> Scan {
        let mut copied = false;
        let (mut from, mut at) = (start, start);
        let end = loop {
            let Some(found) = bytes.get(at..).and_then(|rest| self.find_special(rest)) else {
                let missing =
                    Scan::Broken { at: start - quote.length, resume: bytes.len(), what: Broken::MissingQuote };
                return if eof { missing } else { Scan::Incomplete };
            };
            at += found;
            let is_quote = quote.stands_at(bytes, at);
            let length = match self.escape {
                _ if is_quote => quote.length,
                Some(escape) if escape.stands_at(bytes, at) => escape.length,
                // Another character with the same first byte, or one that the window cuts off.
                _ if at + self.look_ahead() < bytes.len() || eof => {
                    at += 1;
                    continue;
                }
                _ => return Scan::Incomplete,
            };
            let behind = at + length;
            if behind + if is_quote { quote.length } else { 1 } > bytes.len() && !eof {
                return Scan::Incomplete;
            }
            if is_quote && !quote.stands_at(bytes, behind) {
                break at;
            }
            let Some(next) = bytes.get(behind) else {
                return Scan::Broken { at, resume: behind, what: Broken::MissingEscaped };
            };
            if !copied {
                scratch.clear();
                copied = true;
            }
            scratch.extend_from_slice(&bytes[from..at]);
            if is_quote {
                quote.write(scratch);
                at = behind + quote.length;
            } else {
                scratch.push(unescape(*next));
                at = behind + 1;
            }
            from = at;
        };
        if copied {
            scratch.extend_from_slice(&bytes[from..end]);
            return self.closed(bytes, end, (1, 0), quote, eof);
        }
        self.closed(bytes, end, (start, end), quote, eof)
    }

    /// The field whose closing quote is at `close`; `text` as in [`Scan::Field`].
    fn closed(&self, bytes: &[u8], close: usize, text: (usize, usize), quote: Special, eof: bool) -> Scan {
        let mut stop = close + quote.length;
        while bytes.get(stop).is_some_and(|b| *b <= b' ' && !matches!(b, b'\n' | b'\r'))
            && !self.delimiter.stands_at(bytes, stop)
        {
            stop += 1;
        }
        if bytes.get(stop).is_some_and(|b| *b > b' ') && !self.delimiter.stands_at(bytes, stop) {
            if self.wide && stop + self.look_ahead() >= bytes.len() && !eof {
                return Scan::Incomplete;
            }
            let rest = bytes[stop + 1..].iter().take_while(|b| is_continuation(**b)).count();
            return Scan::Broken { at: stop, resume: stop + 1 + rest, what: Broken::BehindQuote };
        }
        self.ending(bytes, text.0, text.1, stop, eof)
    }
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
