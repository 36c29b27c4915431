//! Where the statements of a text end, also of one that is still being typed.

use std::ops::Range;

use super::lexeme::{LexemeKind, lexemes};
use super::text::in_statement_set;

/// A statement of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its bytes, without the semicolon.
    pub range: Range<usize>,
    /// Where it starts, from 1; columns in characters.
    pub line: u64,
    pub column: u64,
}

/// The statements of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pieces {
    /// Those with a semicolon at their end.
    pub whole: Vec<Piece>,
    /// What stands behind the last semicolon, if that is more than white space and comments.
    pub rest: Option<Piece>,
    /// The rest ends within a quote or comment.
    pub open: bool,
}

/// Finds the statements of a text. A statement set is one statement.
pub fn pieces(text: &str) -> Pieces {
    let mut pieces = Pieces::default();
    let mut marks = Marks { text, byte: 0, line: 1, column: 1 };
    // The words of the statement so far, "" for anything else.
    let mut words: Vec<&str> = Vec::new();
    let mut start = None;
    let mut end = 0;
    for lexeme in lexemes(text) {
        pieces.open = !lexeme.closed;
        match lexeme.kind {
            LexemeKind::Comment => continue,
            LexemeKind::Sign if lexeme.text == ";" && !in_statement_set(&words, |word| *word) => {
                if let Some(first) = start.take() {
                    pieces.whole.push(marks.piece(first..lexeme.start));
                }
                words.clear();
                continue;
            }
            LexemeKind::Word => words.push(lexeme.text),
            LexemeKind::Sign if lexeme.text == ";" => words.push(";"),
            LexemeKind::Text | LexemeKind::Name | LexemeKind::Sign => words.push(""),
        }
        start.get_or_insert(lexeme.start);
        end = lexeme.end();
    }
    pieces.rest = start.map(|first| marks.piece(first..end));
    pieces
}

/// Counts lines and columns up to a byte; goes forward only.
struct Marks<'t> {
    text: &'t str,
    byte: usize,
    line: u64,
    column: u64,
}

impl Marks<'_> {
    fn piece(&mut self, range: Range<usize>) -> Piece {
        for c in self.text[self.byte..range.start].chars() {
            (self.line, self.column) = if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        }
        self.byte = range.start;
        Piece { range, line: self.line, column: self.column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> (Vec<&str>, Option<&str>) {
        let pieces = pieces(text);
        let whole = pieces.whole.iter().map(|piece| &text[piece.range.clone()]).collect();
        (whole, pieces.rest.map(|piece| &text[piece.range]))
    }

    #[test]
    fn semicolons_in_quotes_and_comments_end_nothing() {
        assert_eq!(
            cut("SET 'a' = ';'; -- x;\nSELECT `;` /* ; */ FROM t;"),
            (vec!["SET 'a' = ';'", "SELECT `;` /* ; */ FROM t"], None)
        );
        assert_eq!(cut(";; -- a\n ;"), (vec![], None));
        assert_eq!(cut("SELECT 1; SELECT 'a;  "), (vec!["SELECT 1"], Some("SELECT 'a;  ")));
        assert!(pieces("SELECT 1; /* a").open && pieces("SELECT 1; /* a").rest.is_none());
    }

    #[test]
    fn a_statement_set_ends_with_its_end() {
        let set = "EXECUTE STATEMENT SET BEGIN INSERT INTO ${A} SELECT 1; INSERT INTO b SELECT CASE x END; END";
        assert_eq!(cut(&format!("{set}; SELECT 1;")), (vec![set, "SELECT 1"], None));
        let begun = "BEGIN STATEMENT SET; INSERT INTO a SELECT 1;";
        assert_eq!(cut(begun), (vec![], Some(begun)));
        assert_eq!(cut(&format!("{begun} END;")).0.len(), 1);
        let explained = "EXPLAIN PLAN FOR STATEMENT SET BEGIN INSERT INTO a SELECT 1; END";
        assert_eq!(cut(&format!("{explained};")), (vec![explained], None));
    }

    #[test]
    fn a_statement_knows_its_line_and_column() {
        let pieces = pieces("SELECT 'ü';  SELECT 2;\n\n  SELECT 3");
        let places: Vec<_> = pieces.whole.iter().chain(&pieces.rest).map(|piece| (piece.line, piece.column)).collect();
        assert_eq!(places, [(1, 1), (1, 14), (3, 3)]);
    }
}
