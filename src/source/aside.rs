//! Records that are set aside, and places in files that are read in blocks.

use crate::format::Notes;

/// How far a stretch of text goes: the lines that end in it, and the characters behind the last line end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stretch {
    pub lines: u64,
    pub characters: u64,
}

impl Stretch {
    /// This stretch and the one that follows.
    pub fn then(self, next: Stretch) -> Stretch {
        if next.lines == 0 {
            return Stretch { lines: self.lines, characters: self.characters + next.characters };
        }
        Stretch { lines: self.lines + next.lines, characters: next.characters }
    }

    /// Line and column, from 1, of what stands behind the stretch.
    pub fn place(self) -> (u64, u64) {
        (self.lines + 1, self.characters + 1)
    }
}

/// Measures text piece by piece.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measure {
    pub stretch: Stretch,
    /// The byte before the next piece.
    before: u8,
    /// A carriage return alone ends a line too.
    lone_returns: bool,
}

impl Measure {
    pub fn new(before: u8, lone_returns: bool) -> Self {
        Measure { stretch: Stretch::default(), before, lone_returns }
    }

    pub fn add(&mut self, bytes: &[u8]) {
        let stretch = &mut self.stretch;
        for &byte in bytes {
            match byte {
                b'\n' if self.lone_returns && self.before == b'\r' => stretch.characters = 0,
                b'\n' => *stretch = Stretch { lines: stretch.lines + 1, characters: 0 },
                b'\r' if self.lone_returns => *stretch = Stretch { lines: stretch.lines + 1, characters: 0 },
                _ => stretch.characters += u64::from(byte & 0xC0 != 0x80),
            }
            self.before = byte;
        }
    }
}

/// Measures how far offsets of a text are from where it starts, in passing.
pub(super) struct Walk<'a> {
    text: &'a [u8],
    first: usize,
    begin: Measure,
    at: usize,
    measure: Measure,
}

impl<'a> Walk<'a> {
    /// `begin`: before the offset `first`.
    pub fn new(text: &'a [u8], first: usize, begin: Measure) -> Self {
        Walk { text, first, begin, at: first, measure: begin }
    }

    /// The stretch in front of an offset. Starts again for an offset before the last one.
    pub fn to(&mut self, offset: usize) -> Stretch {
        if offset < self.at {
            (self.at, self.measure) = (self.first, self.begin);
        }
        if offset > self.at {
            self.measure.add(&self.text[self.at..offset]);
            self.at = offset;
        }
        self.measure.stretch
    }

    /// The stretch of so many bytes from the start on.
    pub fn over(&mut self, bytes: usize) -> Stretch {
        self.to(self.first + bytes)
    }

    /// What a decoder of the text rejected. The fault of a record may lie further on than that of the next one.
    pub fn rejected(&mut self, notes: &Notes, position: impl Fn(Stretch) -> Position) -> Vec<Rejected> {
        let rejects = notes.rejects.iter().map(|reject| Rejected {
            position: position(self.to(reject.at)),
            reason: Reason::Unreadable(reject.reason.clone()),
            text: reject.text.clone(),
        });
        rejects.collect()
    }
}

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// In a text, so far behind the start of its block.
    Text(Stretch),
    /// At this line and column of a text.
    Place(u64, u64),
    /// The number of its row in the file, from 1.
    Row(u64),
}

impl Position {
    /// Line and column; for a format that is no text the number of the row alone. `before`: the text of the file before
    /// the block.
    pub fn place(self, before: impl FnOnce() -> Stretch) -> (u64, Option<u64>) {
        match self {
            Position::Text(stretch) => {
                let (line, column) = before().then(stretch).place();
                (line, Some(column))
            }
            Position::Place(line, column) => (line, Some(column)),
            Position::Row(row) => (row, None),
        }
    }

    /// What comes first in a block sorts first.
    pub fn order(self) -> (u64, u64) {
        match self {
            Position::Text(stretch) => (stretch.lines, stretch.characters),
            Position::Place(line, column) => (line, column),
            Position::Row(row) => (row, 0),
        }
    }
}

/// Why a record is set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The format cannot read it: what is wrong.
    Unreadable(String),
    /// Its event time is NULL.
    NullTime,
}

/// A record that the job does without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    pub position: Position,
    pub reason: Reason,
    /// The record as it stands, shortened; of a format that is no text the row as JSON.
    pub text: String,
}

/// What a block sets aside, where the split was opened for that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aside {
    /// That of the block, so that the places in later ones are known.
    pub text: Stretch,
    /// In the order of the file.
    pub rejected: Vec<Rejected>,
}

impl Aside {
    /// What is set aside where rows have numbers: row, reason and the row as JSON. `first`: rows before the block.
    pub(super) fn of_rows(first: u64, rejects: impl Iterator<Item = (u64, String, String)>) -> Self {
        let rejected = rejects.map(|(row, reason, text)| Rejected {
            position: Position::Row(first + row + 1),
            reason: Reason::Unreadable(reason),
            text,
        });
        Aside { rejected: rejected.collect(), ..Aside::default() }
    }
}

/// Rows of a block with their numbers in the file. `first`: rows before the block.
pub(super) fn numbered(first: u64, rows: impl Iterator<Item = u64>, texts: Vec<String>) -> Vec<(Position, String)> {
    rows.zip(texts).map(|(row, text)| (Position::Row(first + row + 1), text)).collect()
}

/// The number that a row had before the rows numbered `removed` (ascending) were taken out.
pub fn original_row(row: u64, removed: &[u64]) -> u64 {
    removed.iter().fold(row, |row, &gone| row + u64::from(gone <= row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(pieces: &[&str], lone_returns: bool) -> Stretch {
        let mut before = 0;
        let stretches = pieces.iter().map(|piece| {
            let mut measure = Measure::new(before, lone_returns);
            measure.add(piece.as_bytes());
            before = measure.before;
            measure.stretch
        });
        stretches.fold(Stretch::default(), Stretch::then)
    }

    #[test]
    fn a_place_does_not_depend_on_how_the_text_is_cut() {
        let text = "a,b\nc\r\n\rdäé\n\nxy";
        for lone_returns in [false, true] {
            let whole = measured(&[text], lone_returns);
            for at in (0..text.len()).filter(|&at| text.is_char_boundary(at)) {
                assert_eq!(measured(&[&text[..at], &text[at..]], lone_returns), whole, "{at}");
            }
        }
        assert_eq!(measured(&["a\nbc", "d"], false).place(), (2, 4));
    }

    #[test]
    fn the_original_number_of_a_row_counts_those_taken_out_before_it() {
        let kept: Vec<u64> = (0..4).map(|row| original_row(row, &[0, 2, 3])).collect();
        assert_eq!(kept, [1, 4, 5, 6]);
    }
}
