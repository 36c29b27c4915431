//! Records that are set aside, and places in files that are read in blocks.

/// How far a stretch of text goes: the lines that end in it, and the characters behind the last line end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    pub lines: u64,
    pub characters: u64,
}

impl Extent {
    /// This stretch and the one that follows.
    pub fn then(self, next: Extent) -> Extent {
        if next.lines == 0 {
            return Extent { lines: self.lines, characters: self.characters + next.characters };
        }
        Extent { lines: self.lines + next.lines, characters: next.characters }
    }

    /// Line and column, from 1, of what stands behind the stretch.
    pub fn place(self) -> (u64, u64) {
        (self.lines + 1, self.characters + 1)
    }
}

/// Measures text piece by piece.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measure {
    pub extent: Extent,
    /// The byte before the next piece.
    pub before: u8,
    /// A carriage return alone ends a line too.
    pub lone_returns: bool,
}

impl Measure {
    pub fn add(&mut self, bytes: &[u8]) {
        let extent = &mut self.extent;
        for &byte in bytes {
            match byte {
                b'\n' if self.lone_returns && self.before == b'\r' => extent.characters = 0,
                b'\n' => *extent = Extent { lines: extent.lines + 1, characters: 0 },
                b'\r' if self.lone_returns => *extent = Extent { lines: extent.lines + 1, characters: 0 },
                _ => extent.characters += u64::from(byte & 0xC0 != 0x80),
            }
            self.before = byte;
        }
    }
}

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// In a text, so far behind the start of its block.
    Text(Extent),
    /// The number of its row in the file, from 1.
    Row(u64),
}

impl Position {
    /// What comes first in a block sorts first.
    pub fn order(self) -> (u64, u64) {
        match self {
            Position::Text(extent) => (extent.lines, extent.characters),
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
    /// Of the block, so that the places in later ones are known.
    pub extent: Extent,
    /// In the order of the file.
    pub rejected: Vec<Rejected>,
}

/// The number that a row had before the rows numbered `removed` (ascending) were taken out.
pub fn original_row(row: u64, removed: &[u64]) -> u64 {
    removed.iter().fold(row, |row, &gone| row + u64::from(gone <= row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(pieces: &[&str], lone_returns: bool) -> Extent {
        let mut before = 0;
        let extents = pieces.iter().map(|piece| {
            let mut measure = Measure { before, lone_returns, ..Measure::default() };
            measure.add(piece.as_bytes());
            before = measure.before;
            measure.extent
        });
        extents.fold(Extent::default(), Extent::then)
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
