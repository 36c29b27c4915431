//! Help at the prompt: whether a statement is complete, completions, colours.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use rustyline::completion::Completer;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use transom::sql::{LexemeKind, Relation, lexemes};

use super::command::is_complete;
use super::complete::{complete, is_keyword};

/// What the line editor asks.
#[derive(Default)]
pub struct Assist {
    /// The tables and views of the session.
    pub relations: Vec<Relation>,
}

impl Helper for Assist {}

impl Hinter for Assist {
    type Hint = String;
}

impl Validator for Assist {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let complete = is_complete(context.input());
        Ok(if complete { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Completer for Assist {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let found = complete(line, pos, &self.relations);
        Ok((found.start, found.candidates))
    }
}

impl Highlighter for Assist {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Owned(coloured(line))
    }
    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

fn coloured(text: &str) -> String {
    let mut shown = String::with_capacity(2 * text.len());
    let mut end = 0;
    for lexeme in lexemes(text) {
        let style = match lexeme.kind {
            LexemeKind::Word if is_keyword(lexeme.text) => AnsiColor::Blue.on_default().bold(),
            LexemeKind::Text => AnsiColor::Green.on_default(),
            LexemeKind::Comment => Style::new().dimmed(),
            LexemeKind::Word | LexemeKind::Name | LexemeKind::Sign => Style::new(),
        };
        shown.push_str(&text[end..lexeme.start]);
        shown.push_str(&format!("{style}{}{style:#}", lexeme.text));
        end = lexeme.end();
    }
    shown.push_str(&text[end..]);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_leave_the_text_as_it_is() {
        for text in ["SELECT 'a', `b` -- c\n FROM ü;", "'open", "/* open", "  "] {
            assert_eq!(anstream::adapter::strip_str(&coloured(text)).to_string(), text);
        }
        assert!(coloured("select x").starts_with('\u{1b}'));
    }
}
