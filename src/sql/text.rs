//! The script's text: `${NAME}` substitution, tokens whose places are those of the file, statements.

use std::collections::BTreeMap;

use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace};

use super::dialect::FlinkDialect;
use crate::error::{Error, Place, Result, nearest};

/// Operators that may nest around each other before a tree of them gets too deep for the stack.
const CHAIN_LIMIT: usize = 500;

/// NOT in a row; the parser goes one call deeper for each.
const NEGATION_LIMIT: usize = 200;

/// The tokens of one statement, without the semicolon that ends it.
#[derive(Debug, Clone)]
pub(super) struct StatementTokens {
    pub tokens: Vec<TokenWithSpan>,
    /// Line where it starts.
    pub line: u64,
}

/// A piece of the substituted text and where it came from.
struct Piece {
    new_start: usize,
    old_start: usize,
    /// Copied from the file; otherwise the value of a variable, all of it at one place of the file.
    verbatim: bool,
}

/// Translates places of the substituted text into places of the file.
struct PlaceMap {
    pieces: Vec<Piece>,
    new_lines: Vec<usize>,
    old_lines: Vec<usize>,
}

impl PlaceMap {
    fn map(&self, location: Location) -> Location {
        if self.pieces.len() <= 1 || location.line == 0 {
            return location;
        }
        let line = self.new_lines.get(location.line as usize - 1).copied().unwrap_or(0);
        let offset = line + (location.column as usize).saturating_sub(1);
        let index = self.pieces.partition_point(|piece| piece.new_start <= offset).saturating_sub(1);
        let piece = &self.pieces[index];
        let old = piece.old_start + if piece.verbatim { offset - piece.new_start } else { 0 };
        locate(&self.old_lines, old)
    }
}

/// Offsets (in characters) where lines start.
fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.chars().enumerate().filter(|(_, c)| *c == '\n').map(|(i, _)| i + 1);
    std::iter::once(0).chain(breaks).collect()
}

fn locate(lines: &[usize], offset: usize) -> Location {
    let line = lines.partition_point(|start| *start <= offset).max(1);
    Location { line: line as u64, column: (offset - lines[line - 1] + 1) as u64 }
}

/// A place from a span; `None` where the parser did not keep one.
pub(super) fn place_of(span: Span) -> Option<Place> {
    if span.start.line == 0 {
        return None;
    }
    let length = if span.end.line == span.start.line { span.end.column.saturating_sub(span.start.column) } else { 0 };
    Some(Place { file: String::new(), line: span.start.line, column: span.start.column, length })
}

/// The text between two places of the file, white space collapsed.
pub(super) fn excerpt(text: &str, span: Span) -> String {
    let lines = line_starts(text);
    let offset = |location: Location| {
        let line = (location.line as usize).clamp(1, lines.len());
        lines[line - 1] + (location.column as usize).saturating_sub(1)
    };
    let (start, end) = (offset(span.start), offset(span.end));
    let piece: String = text.chars().skip(start).take(end.saturating_sub(start)).collect();
    excerpt_of(&piece)
}

/// The text in one line, white space collapsed.
pub(super) fn excerpt_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The tokens that a parser took from its token `from` on, as they were written but for comments and variables.
pub(super) fn spelled(parser: &Parser<'_>, from: usize) -> String {
    let mut text = String::new();
    let mut before: Option<&TokenWithSpan> = None;
    for index in from..parser.index() {
        let token = parser.token_at(index);
        if let Some(before) = before {
            // All tokens of a variable's value have the same place.
            let parted = before.span.end != token.span.start || (is_wordy(before) && is_wordy(token));
            let new_line = before.span.end.line < token.span.start.line;
            text.push_str(if new_line { "\n" } else { ["", " "][usize::from(parted)] });
        }
        match &token.token {
            Token::SingleQuotedString(string) => text.push_str(&quoted(string, '\'')),
            Token::Word(word) if word.quote_style.is_some() => text.push_str(&quoted(&word.value, '`')),
            other => text.push_str(&other.to_string()),
        }
        before = Some(token);
    }
    text
}

fn is_wordy(token: &TokenWithSpan) -> bool {
    matches!(token.token, Token::Word(_) | Token::Number(..) | Token::SingleQuotedString(_))
}

/// The place of the last of these keywords that stands before a place, or before the end.
pub(super) fn keyword_before(tokens: &[TokenWithSpan], keywords: &[&str], before: Option<&Place>) -> Option<Place> {
    let is_before = |token: &&TokenWithSpan| {
        before.is_none_or(|place| (token.span.start.line, token.span.start.column) < (place.line, place.column))
    };
    let is_keyword =
        |token: &&TokenWithSpan| keywords.iter().any(|keyword| word(Some(token)).eq_ignore_ascii_case(keyword));
    tokens.iter().filter(is_before).rfind(is_keyword).and_then(|token| place_of(token.span))
}

/// In quotes, those inside doubled.
pub(super) fn quoted(text: &str, quote: char) -> String {
    let doubled = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

/// Splits a script into statements of tokens. Comments are gone, variables replaced.
pub(super) fn statements(text: &str, variables: &BTreeMap<String, String>) -> Result<Vec<StatementTokens>> {
    tokenize(text, variables).map_err(|error| {
        let number = error.place().map(|place| statement_at(text, place));
        match number {
            Some(number) => error.in_statement(number),
            None => error,
        }
    })
}

/// Which statement a place belongs to; statement sets count by their inner statements.
fn statement_at(text: &str, place: &Place) -> usize {
    let (mut line, mut column, mut number, mut empty) = (1, 1, 1, true);
    let mut state = Lexical::Code;
    let mut previous = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if (line, column) >= (place.line, place.column) {
            break;
        }
        if state == Lexical::Code && c == ';' {
            number += usize::from(!empty);
            empty = true;
        } else if state == Lexical::Code && !c.is_whitespace() {
            empty = false;
        }
        state = state.after(c, chars.peek().copied(), previous);
        previous = Some(c);
        (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
    }
    number
}

/// Cuts a script into statements; errors know their places.
pub(super) fn tokenize(text: &str, variables: &BTreeMap<String, String>) -> Result<Vec<StatementTokens>> {
    let (substituted, pieces) = substitute(text, variables)?;
    let map = PlaceMap { pieces, new_lines: line_starts(&substituted), old_lines: line_starts(text) };
    let dialect = FlinkDialect;
    let tokens = Tokenizer::new(&dialect, &substituted).tokenize_with_location().map_err(|error| {
        let at = map.map(error.location);
        Error::script(error.message.trim().to_string())
            .at(at.line, at.column)
            .help("close the quote or the comment that starts here")
    })?;
    let mut kept = Vec::with_capacity(tokens.len());
    for mut token in tokens {
        token.span = Span { start: map.map(token.span.start), end: map.map(token.span.end) };
        match &token.token {
            Token::Whitespace(Whitespace::MultiLineComment(comment)) if comment.starts_with('+') => {
                return Err(Error::unsupported("a hint (/*+ … */)")
                    .at(token.span.start.line, token.span.start.column)
                    .help("remove the hint; set table options in the WITH clause of CREATE TABLE"));
            }
            Token::Whitespace(_) | Token::EOF => {}
            Token::DoubleQuotedString(_) => {
                return Err(Error::script("double quotes have no meaning in Flink SQL")
                    .at(token.span.start.line, token.span.start.column)
                    .help("write 'text' for a string and `name` for an identifier"));
            }
            _ => kept.push(token),
        }
    }
    check_depth(&kept)?;
    check_negations(&kept)?;
    Ok(split(kept))
}

fn split(tokens: Vec<TokenWithSpan>) -> Vec<StatementTokens> {
    let mut statements = Vec::new();
    let mut current: Vec<TokenWithSpan> = Vec::new();
    for token in tokens {
        if token.token == Token::SemiColon && !in_statement_set(&current, |token| word(Some(token))) {
            finish(&mut current, &mut statements);
        } else {
            current.push(token);
        }
    }
    finish(&mut current, &mut statements);
    statements
}

fn finish(current: &mut Vec<TokenWithSpan>, statements: &mut Vec<StatementTokens>) {
    if let Some(first) = current.first() {
        statements.push(StatementTokens { line: first.span.start.line, tokens: std::mem::take(current) });
    }
}

fn word(token: Option<&TokenWithSpan>) -> &str {
    match token.map(|t| &t.token) {
        Some(Token::Word(word)) if word.quote_style.is_none() => &word.value,
        Some(Token::SemiColon) => ";",
        _ => "",
    }
}

/// True inside `EXECUTE STATEMENT SET BEGIN …` and `BEGIN STATEMENT SET; …`, until their END. `word`: a word as it is,
/// a semicolon, or nothing.
pub(super) fn in_statement_set<'t, T>(mut tokens: &'t [T], word: impl Fn(&'t T) -> &'t str) -> bool {
    if tokens.first().is_some_and(|first| word(first).eq_ignore_ascii_case("EXPLAIN")) {
        let plan_for =
            if tokens.get(1).is_some_and(|second| word(second).eq_ignore_ascii_case("PLAN")) { 3 } else { 1 };
        let Some(rest) = tokens.get(plan_for..) else { return false };
        tokens = rest;
    }
    let is = |i: usize, name: &str| tokens.get(i).is_some_and(|token| word(token).eq_ignore_ascii_case(name));
    let execute = (is(0, "EXECUTE") || is(0, "BEGIN")) && is(1, "STATEMENT") && is(2, "SET");
    // EXPLAIN takes the set without EXECUTE.
    let bare = is(0, "STATEMENT") && is(1, "SET") && is(2, "BEGIN");
    if !execute && !bare {
        return false;
    }
    // The END of a CASE never follows a semicolon or BEGIN.
    let last = tokens.len() - 1;
    let ended = tokens.len() >= 5 && is(last, "END") && (is(last - 1, ";") || is(last - 1, "BEGIN"));
    !ended
}

/// Refuses NOT before NOT before NOT, so often that the parser would give up half-way.
fn check_negations(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut run = 0;
    for token in tokens {
        run = if word(Some(token)).eq_ignore_ascii_case("NOT") { run + 1 } else { 0 };
        if run > NEGATION_LIMIT {
            return Err(Error::script(format!("more than {NEGATION_LIMIT} times NOT in a row"))
                .at(token.span.start.line, token.span.start.column)
                .help("two of them cancel out: leave pairs away"));
        }
    }
    Ok(())
}

/// Refuses chains of operators so long that their tree could exhaust the stack.
fn check_depth(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut chains = vec![0_usize];
    let mut total = 0;
    for token in tokens {
        match &token.token {
            Token::LParen | Token::LBracket => chains.push(0),
            Token::RParen | Token::RBracket => {
                total -= chains.pop().unwrap_or(0);
                if chains.is_empty() {
                    chains.push(0);
                }
            }
            Token::Comma | Token::SemiColon => {
                let last = chains.last_mut().expect("never empty");
                total -= std::mem::take(last);
            }
            Token::Plus | Token::Minus | Token::Mul | Token::Div | Token::Mod | Token::StringConcat => {
                *chains.last_mut().expect("never empty") += 1;
                total += 1;
            }
            Token::Period | Token::Eq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq => {
                *chains.last_mut().expect("never empty") += 1;
                total += 1;
            }
            Token::Word(word) if chains_word(word.keyword) => {
                *chains.last_mut().expect("never empty") += 1;
                total += 1;
            }
            _ => {}
        }
        if total > CHAIN_LIMIT {
            return Err(Error::script(format!("an expression with more than {CHAIN_LIMIT} operators in a chain"))
                .at(token.span.start.line, token.span.start.column)
                .help("write x IN (…) for long lists of comparisons, or split the query with a view"));
        }
    }
    Ok(())
}

fn chains_word(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::AND
            | Keyword::OR
            | Keyword::NOT
            | Keyword::UNION
            | Keyword::EXCEPT
            | Keyword::INTERSECT
            | Keyword::JOIN
            | Keyword::IS
            | Keyword::BETWEEN
            | Keyword::LIKE
            | Keyword::IN
            | Keyword::CASE
            | Keyword::COLLATE
    )
}

/// Replaces `${NAME}` outside comments. Inside a string the value's quotes are doubled, so that the
/// string is the value.
fn substitute(text: &str, variables: &BTreeMap<String, String>) -> Result<(String, Vec<Piece>)> {
    let old_lines = line_starts(text);
    let chars: Vec<char> = text.chars().collect();
    let mut output = String::with_capacity(text.len());
    let mut written = 0;
    let mut pieces = vec![Piece { new_start: 0, old_start: 0, verbatim: true }];
    let mut state = Lexical::Code;
    let mut at = 0;
    while at < chars.len() {
        let next = chars.get(at + 1).copied();
        if chars[at] == '$' && next == Some('{') && !state.is_comment() {
            let end = (at + 2..chars.len()).find(|i| matches!(chars[*i], '}' | '\n'));
            let Some(end) = end.filter(|end| chars[*end] == '}') else {
                let at = locate(&old_lines, at);
                return Err(Error::script("'${' without a closing '}'").at(at.line, at.column));
            };
            let name: String = chars[at + 2..end].iter().collect();
            let value = variables.get(&name).ok_or_else(|| undefined(&name, &locate(&old_lines, at), variables))?;
            let value = if state == Lexical::String { value.replace('\'', "''") } else { value.clone() };
            pieces.push(Piece { new_start: written, old_start: at, verbatim: false });
            written += value.chars().count();
            output.push_str(&value);
            at = end + 1;
            pieces.push(Piece { new_start: written, old_start: at, verbatim: true });
            continue;
        }
        state = state.after(chars[at], next, if at > 0 { Some(chars[at - 1]) } else { None });
        output.push(chars[at]);
        written += 1;
        at += 1;
    }
    Ok((output, pieces))
}

fn undefined(name: &str, at: &Location, variables: &BTreeMap<String, String>) -> Error {
    if name.trim().is_empty() {
        let error = Error::script("${} names no variable").at(at.line, at.column);
        return error.help("write ${NAME}, and give it a value with --set NAME=value");
    }
    let remedy = match nearest(name, variables.keys().map(String::as_str)) {
        Some(near) => format!("did you mean ${{{near}}}? Otherwise give it a value with --set {name}=value"),
        None => format!("give it a value with --set {name}=value"),
    };
    let mut place = Place { line: at.line, column: at.column, ..Place::default() };
    place.length = name.chars().count() as u64 + 3;
    Error::script(format!("the variable ${{{name}}} is not defined")).at_place(place).help(remedy)
}

/// Where in the script a character stands. `''` inside a string ends and starts it again, which
/// comes to the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lexical {
    Code,
    String,
    Name,
    LineComment,
    /// `*` of the opening may not close it: `/*/`.
    BlockOpening,
    BlockComment,
}

impl Lexical {
    fn is_comment(self) -> bool {
        matches!(self, Lexical::LineComment | Lexical::BlockOpening | Lexical::BlockComment)
    }
    fn after(self, c: char, next: Option<char>, previous: Option<char>) -> Lexical {
        match self {
            Lexical::Code => match (c, next) {
                ('\'', _) => Lexical::String,
                ('`', _) => Lexical::Name,
                ('-', Some('-')) => Lexical::LineComment,
                ('/', Some('*')) => Lexical::BlockOpening,
                _ => Lexical::Code,
            },
            Lexical::String if c == '\'' => Lexical::Code,
            Lexical::Name if c == '`' => Lexical::Code,
            Lexical::LineComment if c == '\n' => Lexical::Code,
            Lexical::BlockOpening => Lexical::BlockComment,
            Lexical::BlockComment if c == '/' && previous == Some('*') => Lexical::Code,
            other => other,
        }
    }
}
