//! A text cut into words, strings and signs, however unfinished it is: for what is being typed.

/// What a lexeme is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexemeKind {
    /// Letters, digits and `_`.
    Word,
    /// In single quotes. A doubled quote inside ends one and starts the next, which comes to the same.
    Text,
    /// In backticks.
    Name,
    Comment,
    /// One character.
    Sign,
}

/// A piece of a text that is not white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lexeme<'t> {
    pub kind: LexemeKind,
    /// Byte in the text where it starts.
    pub start: usize,
    pub text: &'t str,
    /// False for a quote or comment whose end has not been written yet.
    pub closed: bool,
}

impl Lexeme<'_> {
    /// The byte behind it.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// True for this word, in any case.
    pub fn is(&self, word: &str) -> bool {
        self.kind == LexemeKind::Word && self.text.eq_ignore_ascii_case(word)
    }
}

/// The lexemes of a text.
pub fn lexemes(text: &str) -> Vec<Lexeme<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        }
        let (kind, length, closed) = first_lexeme(&text[start..], first);
        found.push(Lexeme { kind, start, text: &text[start..start + length], closed });
        start += length;
    }
    found
}

/// Kind, length in bytes and whether it is closed. `first`: the first character of `rest`.
fn first_lexeme(rest: &str, first: char) -> (LexemeKind, usize, bool) {
    let until = |end: Option<usize>| (end.unwrap_or(rest.len()), end.is_some());
    if rest.starts_with("--") {
        return (LexemeKind::Comment, until(rest.find('\n')).0, true);
    }
    if let Some(comment) = rest.strip_prefix("/*") {
        let (length, closed) = until(comment.find("*/").map(|end| end + 4));
        return (LexemeKind::Comment, length, closed);
    }
    if first == '\'' || first == '`' {
        let (length, closed) = until(rest[1..].find(first).map(|end| end + 2));
        return (if first == '\'' { LexemeKind::Text } else { LexemeKind::Name }, length, closed);
    }
    if is_wordy(first) {
        return (LexemeKind::Word, until(rest.find(|c| !is_wordy(c))).0, true);
    }
    (LexemeKind::Sign, first.len_utf8(), true)
}

/// True for what words are made of.
pub fn is_wordy(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(LexemeKind, &str)> {
        lexemes(text).iter().map(|lexeme| (lexeme.kind, lexeme.text)).collect()
    }

    #[test]
    fn a_text_is_cut_into_words_quotes_comments_and_signs() {
        use LexemeKind::{Comment, Name, Sign, Text, Word};
        assert_eq!(
            cut("SELECT `a b`, x1\n-- no ;\nFROM t /* ' */ 'ü;';"),
            [
                (Word, "SELECT"),
                (Name, "`a b`"),
                (Sign, ","),
                (Word, "x1"),
                (Comment, "-- no ;"),
                (Word, "FROM"),
                (Word, "t"),
                (Comment, "/* ' */"),
                (Text, "'ü;'"),
                (Sign, ";"),
            ]
        );
    }

    #[test]
    fn what_has_no_end_yet_is_not_closed() {
        for open in ["'a", "`a", "/* a", "/*/", "'"] {
            assert_eq!(lexemes(open).iter().map(|lexeme| lexeme.closed).collect::<Vec<_>>(), [false], "{open}");
        }
        assert!(lexemes("/**/ '' -- a").iter().all(|lexeme| lexeme.closed));
    }
}
