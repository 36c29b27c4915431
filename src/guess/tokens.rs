//! The words of a piece of SQL, as far as names, texts and brackets go.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword.
    Word,
    /// A name in backquotes.
    Quoted,
    /// A text in single quotes.
    Text,
    /// Any other character.
    Mark(char),
}

/// A token and its bytes in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub at: usize,
}

impl Token<'_> {
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// The name that it spells, if it is one.
    pub fn name(&self) -> Option<String> {
        match self.kind {
            Kind::Word => Some(self.text.to_string()),
            Kind::Quoted => Some(unquoted(self.text, '`')),
            _ => None,
        }
    }

    /// The text that it spells, if it is one.
    pub fn literal(&self) -> Option<String> {
        (self.kind == Kind::Text).then(|| unquoted(self.text, '\''))
    }
}

fn unquoted(text: &str, quote: char) -> String {
    let inner = text.strip_prefix(quote).unwrap_or(text);
    let inner = inner.strip_suffix(quote).unwrap_or(inner);
    inner.replace(&quote.to_string().repeat(2), &quote.to_string())
}

/// The tokens of a text, blanks and comments left out.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = match first {
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '-' if rest.starts_with("--") => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            '/' if rest.starts_with("/*") => {
                at += rest.find("*/").map_or(rest.len(), |end| end + 2);
                continue;
            }
            '\'' => (Kind::Text, closed(rest, '\'')),
            '`' => (Kind::Quoted, closed(rest, '`')),
            c if c.is_alphanumeric() || c == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                (Kind::Word, rest.find(|c| !is_part(c)).unwrap_or(rest.len()))
            }
            c => (Kind::Mark(c), c.len_utf8()),
        };
        found.push(Token { kind, text: &rest[..length], at });
        at += length;
    }
    found
}

/// Length of a quoted text; two quotes within stand for one.
fn closed(text: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(length) = text[at..].find(quote) {
        at += length + 1;
        if !text[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hide_what_is_in_them() {
        let text = "sum(a) -- x\n, 'it''s, fine' /* , */ `b``c`";
        let found: Vec<&str> = tokens(text).iter().map(|token| token.text).collect();
        assert_eq!(found, ["sum", "(", "a", ")", ",", "'it''s, fine'", "`b``c`"]);
        assert_eq!(tokens("`b``c`")[0].name(), Some("b`c".to_string()));
        assert_eq!(tokens("'it''s'")[0].literal(), Some("it's".to_string()));
        assert_eq!(tokens("'open").len(), 1);
    }
}
