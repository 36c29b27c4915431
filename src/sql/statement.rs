//! Statements of a script as syntax trees.

use sqlparser::ast::{Expr, Ident, Query};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan};

use super::alter::{Alter, parse_alter};
use super::ddl::{CreateTable, parse_create_table};
use super::dialect::{FlinkDialect, parser_error, unsupported};
use super::inquiry::{Inquiry, parse_describe, parse_show, parse_use};
use super::text::{place_of, spelled};
use crate::error::{Error, ErrorKind, Result, nearest};

/// How deep expressions and subqueries may nest.
const RECURSION_LIMIT: usize = 300;

#[derive(Debug, Clone)]
pub(super) enum Statement {
    CreateTable(Box<CreateTable>),
    CreateView(Box<CreateView>),
    Drop(Drop),
    Set {
        key: String,
        value: String,
        span: Span,
    },
    Reset {
        key: Option<String>,
        span: Span,
    },
    Insert(Box<Insert>),
    Query(Box<Query>),
    /// A statement set.
    Inserts(Vec<Insert>),
    Explain(Box<Statement>),
    Ask(Inquiry),
    /// USE of what is used already.
    Use,
    Alter(Box<Alter>),
}

#[derive(Debug, Clone)]
pub(super) struct CreateView {
    pub name: Ident,
    pub columns: Vec<Ident>,
    pub if_not_exists: bool,
    pub query: Query,
    /// The query as it was written.
    pub spelling: String,
    pub comment: Option<String>,
    pub temporary: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Drop {
    pub name: Ident,
    pub view: bool,
    pub if_exists: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Insert {
    pub table: Ident,
    /// `PARTITION (key = value, …)`.
    pub partition: Vec<(Ident, Expr)>,
    pub columns: Option<Vec<Ident>>,
    pub query: Query,
    /// Where the query starts.
    pub span: Span,
}

type Parsed<T> = std::result::Result<T, ParserError>;

/// Parses one statement.
pub(super) fn parse(tokens: &[TokenWithSpan]) -> Result<Statement> {
    let dialect = FlinkDialect;
    let mut parser =
        Parser::new(&dialect).with_recursion_limit(RECURSION_LIMIT).with_tokens_with_locations(tokens.to_vec());
    let parsed = parse_statement(&mut parser).and_then(|statement| {
        let token = parser.peek_token();
        if token.token == Token::EOF { Ok(statement) } else { parser.expected("the end of the statement", token) }
    });
    parsed.map_err(|error| {
        let error = parser_error(error, tokens);
        if let Some(error) = missing_separator(&error, tokens) {
            return error;
        }
        match (error.kind(), error.remedy()) {
            (ErrorKind::Script, None) => match misspelt_start(tokens) {
                Some(near) => error.help(format!("did you mean {near}?")),
                None => error.help("check the spelling there; a ';' between two statements may be missing"),
            },
            _ => error,
        }
    })
}

/// The error for a new statement at the start of a line, where the one before it has no end.
fn missing_separator(error: &Error, tokens: &[TokenWithSpan]) -> Option<Error> {
    let place = error.place().filter(|_| error.kind() == ErrorKind::Script)?;
    let at = tokens.iter().position(|token| token.span.start == Location::new(place.line, place.column))?;
    // The parser may have taken the first word of the next statement for an alias.
    [at, at.saturating_sub(1)].into_iter().find_map(|at| {
        let (before, token) = (tokens.get(at.checked_sub(1)?)?, &tokens[at]);
        let Token::Word(word) = &token.token else { return None };
        let name = word.value.to_ascii_uppercase();
        let starts = STARTS.contains(&name.as_str()) && word.quote_style.is_none();
        if !starts || before.span.end.line >= token.span.start.line {
            return None;
        }
        let error = Error::script(format!("the statement before this {name} has no ';' at its end"));
        let error = error.help(format!("write a ';' at the end of line {}", before.span.end.line));
        Some(error.at_place(place_of(token.span)?))
    })
}

/// The words that statements start with.
const STARTS: [&str; 15] = [
    "SELECT", "WITH", "VALUES", "CREATE", "DROP", "SET", "RESET", "INSERT", "EXPLAIN", "EXECUTE", "BEGIN", "SHOW",
    "DESCRIBE", "USE", "ALTER",
];

/// The word that the first one of a statement was perhaps meant to be.
fn misspelt_start(tokens: &[TokenWithSpan]) -> Option<&'static str> {
    let Token::Word(word) = &tokens.first()?.token else { return None };
    let name = word.value.to_ascii_uppercase();
    if STARTS.contains(&name.as_str()) { None } else { nearest(&name, STARTS) }
}

/// A word of the script's language that is not a keyword of the parser.
pub(super) fn take_word(parser: &mut Parser<'_>, word: &str) -> bool {
    let found = is_word(parser, 0, word);
    if found {
        parser.next_token();
    }
    found
}

pub(super) fn is_word(parser: &Parser<'_>, ahead: usize, word: &str) -> bool {
    matches!(&parser.peek_nth_token_ref(ahead).token,
        Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

fn parse_statement(parser: &mut Parser<'_>) -> Parsed<Statement> {
    let token = parser.peek_token();
    let Token::Word(word) = &token.token else {
        if token.token == Token::LParen {
            return Ok(Statement::Query(parser.parse_query()?));
        }
        return parser.expected("a statement", token);
    };
    match word.value.to_ascii_uppercase().as_str() {
        "SELECT" | "WITH" | "VALUES" => Ok(Statement::Query(parser.parse_query()?)),
        "CREATE" => parse_create(parser),
        "DROP" => parse_drop(parser),
        "SET" => parse_set(parser),
        "RESET" => {
            parser.next_token();
            let key = if parser.peek_token_ref().token == Token::EOF { None } else { Some(parse_key(parser)?) };
            Ok(Statement::Reset { key, span: token.span })
        }
        "INSERT" => Ok(Statement::Insert(Box::new(parse_insert(parser)?))),
        "EXPLAIN" => parse_explain(parser),
        "EXECUTE" | "BEGIN" => parse_execute(parser),
        "SHOW" => parse_show(parser).map(Statement::Ask),
        "DESCRIBE" | "DESC" => parse_describe(parser).map(Statement::Ask),
        "USE" => parse_use(parser).map(|()| Statement::Use),
        "ALTER" => parse_alter(parser).map(|alter| Statement::Alter(Box::new(alter))),
        name @ ("UPDATE" | "DELETE" | "TRUNCATE" | "ADD" | "REMOVE" | "LOAD" | "UNLOAD" | "CALL" | "ANALYZE"
        | "COMPILE" | "STOP" | "HELP" | "QUIT" | "EXIT" | "CLEAR" | "MERGE") => {
            unsupported(&format!("the statement {name}"), token.span)
        }
        _ => parser.expected("a statement (CREATE, SET, INSERT, SELECT, EXPLAIN, …)", token),
    }
}

fn parse_create(parser: &mut Parser<'_>) -> Parsed<Statement> {
    let start = parser.expect_keyword(Keyword::CREATE)?.span;
    let or_replace = parser.parse_keywords(&[Keyword::OR, Keyword::REPLACE]);
    if or_replace {
        return unsupported("CREATE OR REPLACE", start);
    }
    let temporary = parser.parse_keyword(Keyword::TEMPORARY);
    let token = parser.peek_token();
    if parser.parse_keyword(Keyword::TABLE) {
        return Ok(Statement::CreateTable(Box::new(parse_create_table(parser, start, temporary)?)));
    }
    if parser.parse_keyword(Keyword::VIEW) {
        let if_not_exists = parser.parse_keywords(&[Keyword::IF, Keyword::NOT, Keyword::EXISTS]);
        let name = parse_name(parser)?;
        let mut columns = Vec::new();
        if parser.consume_token(&Token::LParen) {
            columns = parser.parse_comma_separated(|parser| {
                let name = parser.parse_identifier()?;
                parse_comment(parser)?;
                Ok(name)
            })?;
            parser.expect_token(&Token::RParen)?;
        }
        let comment = parse_comment(parser)?;
        parser.expect_keyword_is(Keyword::AS)?;
        let from = parser.index();
        let query = *parser.parse_query()?;
        let spelling = spelled(parser, from);
        let view = CreateView { name, columns, if_not_exists, query, spelling, comment, temporary };
        return Ok(Statement::CreateView(Box::new(view)));
    }
    let _ = take_word(parser, "SYSTEM");
    match &parser.peek_token_ref().token {
        Token::Word(word) => unsupported(&format!("CREATE {}", word.value.to_ascii_uppercase()), start),
        _ => parser.expected("TABLE or VIEW", token),
    }
}

/// `COMMENT 'text'`.
pub(super) fn parse_comment(parser: &mut Parser<'_>) -> Parsed<Option<String>> {
    if take_word(parser, "COMMENT") { parser.parse_literal_string().map(Some) } else { Ok(None) }
}

/// The name of a table or view; `default_catalog.default_database.` before it is accepted.
pub(super) fn parse_name(parser: &mut Parser<'_>) -> Parsed<Ident> {
    let mut parts = vec![parser.parse_identifier()?];
    while parser.consume_token(&Token::Period) {
        parts.push(parser.parse_identifier()?);
    }
    match last_name(&parts) {
        Some(name) => Ok(name.clone()),
        None => unsupported("a catalog or database other than the default", parts[0].span),
    }
}

/// The table's own name in a qualified one, if it lies in the default catalog and database.
pub(super) fn last_name(parts: &[Ident]) -> Option<&Ident> {
    let (name, path) = parts.split_last()?;
    let path: Vec<&str> = path.iter().map(|part| part.value.as_str()).collect();
    matches!(path.as_slice(), [] | ["default_database"] | ["default_catalog", "default_database"]).then_some(name)
}

fn parse_drop(parser: &mut Parser<'_>) -> Parsed<Statement> {
    let start = parser.expect_keyword(Keyword::DROP)?.span;
    let _ = parser.parse_keyword(Keyword::TEMPORARY);
    let token = parser.peek_token();
    let view = parser.parse_keyword(Keyword::VIEW);
    if !view && !parser.parse_keyword(Keyword::TABLE) {
        return match &token.token {
            Token::Word(word) => unsupported(&format!("DROP {}", word.value.to_ascii_uppercase()), start),
            _ => parser.expected("TABLE or VIEW", token),
        };
    }
    let if_exists = parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS]);
    Ok(Statement::Drop(Drop { name: parse_name(parser)?, view, if_exists }))
}

/// A configuration key: a string, or words with dots and dashes.
fn parse_key(parser: &mut Parser<'_>) -> Parsed<String> {
    if matches!(parser.peek_token_ref().token, Token::SingleQuotedString(_)) {
        return parser.parse_literal_string();
    }
    let text = parse_bare(parser, true);
    if text.is_empty() {
        parser.expected("a configuration key such as 'parallelism.default'", parser.peek_token())
    } else {
        Ok(text)
    }
}

/// Tokens as written, up to the end or (for keys) the equals sign.
fn parse_bare(parser: &mut Parser<'_>, key: bool) -> String {
    let mut text = String::new();
    let mut end = None;
    loop {
        let token = parser.peek_token();
        if token.token == Token::EOF || key && token.token == Token::Eq {
            return text;
        }
        if end.is_some_and(|end| end != token.span.start) {
            text.push(' ');
        }
        end = Some(token.span.end);
        match &token.token {
            Token::Word(word) => text.push_str(&word.value),
            Token::SingleQuotedString(string) => text.push_str(string),
            other => text.push_str(&other.to_string()),
        }
        parser.next_token();
    }
}

fn parse_set(parser: &mut Parser<'_>) -> Parsed<Statement> {
    parser.expect_keyword_is(Keyword::SET)?;
    if parser.peek_token_ref().token == Token::EOF {
        return Ok(Statement::Ask(Inquiry::Settings));
    }
    let key_span = parser.peek_token().span;
    let key = parse_key(parser)?;
    parser.expect_token(&Token::Eq)?;
    let value_at = parser.peek_token();
    let value = match &value_at.token {
        Token::SingleQuotedString(_) => parser.parse_literal_string()?,
        Token::EOF => return parser.expected("a value", value_at),
        _ => parse_bare(parser, false),
    };
    Ok(Statement::Set { key, value, span: key_span })
}

fn parse_insert(parser: &mut Parser<'_>) -> Parsed<Insert> {
    parser.expect_keyword_is(Keyword::INSERT)?;
    let token = parser.peek_token();
    if parser.parse_keyword(Keyword::OVERWRITE) {
        return unsupported("INSERT OVERWRITE", token.span);
    }
    parser.expect_keyword_is(Keyword::INTO)?;
    let table = parse_name(parser)?;
    let mut partition = Vec::new();
    if parser.parse_keyword(Keyword::PARTITION) {
        parser.expect_token(&Token::LParen)?;
        partition = parser.parse_comma_separated(parse_partition_value)?;
        parser.expect_token(&Token::RParen)?;
    }
    let mut columns = None;
    let starts_query = ["SELECT", "WITH", "VALUES"].iter().any(|word| is_word(parser, 1, word));
    let nested = parser.peek_nth_token_ref(1).token == Token::LParen;
    if parser.peek_token_ref().token == Token::LParen && !starts_query && !nested {
        parser.expect_token(&Token::LParen)?;
        columns = Some(parser.parse_comma_separated(Parser::parse_identifier)?);
        parser.expect_token(&Token::RParen)?;
    }
    let span = parser.peek_token().span;
    let query = *parser.parse_query()?;
    Ok(Insert { table, partition, columns, query, span })
}

fn parse_partition_value(parser: &mut Parser<'_>) -> Parsed<(Ident, Expr)> {
    let key = parser.parse_identifier()?;
    parser.expect_token(&Token::Eq)?;
    Ok((key, parser.parse_expr()?))
}

fn parse_explain(parser: &mut Parser<'_>) -> Parsed<Statement> {
    parser.expect_keyword_is(Keyword::EXPLAIN)?;
    if is_word(parser, 0, "PLAN") {
        parser.next_token();
        parser.expect_keyword_is(Keyword::FOR)?;
    } else {
        // Details such as CHANGELOG_MODE: one plan shows all there is.
        let details = ["ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE"];
        while details.iter().any(|detail| take_word(parser, detail)) {
            let _ = parser.consume_token(&Token::Comma);
        }
    }
    if is_word(parser, 0, "EXPLAIN") {
        return parser.expected("a query, an INSERT or a statement set", parser.peek_token());
    }
    let explained = parser.peek_token();
    let statement =
        if is_word(parser, 0, "STATEMENT") { parse_statement_set(parser, false)? } else { parse_statement(parser)? };
    match statement {
        statement @ (Statement::Query(_) | Statement::Insert(_) | Statement::Inserts(_)) => {
            Ok(Statement::Explain(Box::new(statement)))
        }
        _ => parser.expected("a query, an INSERT or a statement set after EXPLAIN", explained),
    }
}

fn parse_execute(parser: &mut Parser<'_>) -> Parsed<Statement> {
    let start = parser.next_token();
    let begins = matches!(&start.token, Token::Word(word) if word.value.eq_ignore_ascii_case("BEGIN"));
    if !(is_word(parser, 0, "STATEMENT") && is_word(parser, 1, "SET")) {
        if !begins && (is_word(parser, 0, "INSERT") || is_word(parser, 0, "SELECT")) {
            return parse_statement(parser);
        }
        return if begins {
            parser.expected("STATEMENT SET", parser.peek_token())
        } else {
            unsupported("EXECUTE of anything but a statement set", start.span)
        };
    }
    parse_statement_set(parser, begins)
}

/// `STATEMENT SET BEGIN insert; … END`, or with `begins` `STATEMENT SET; insert; … END`.
fn parse_statement_set(parser: &mut Parser<'_>, begins: bool) -> Parsed<Statement> {
    let start = parser.next_token();
    parser.expect_keyword_is(Keyword::SET)?;
    if begins {
        parser.expect_token(&Token::SemiColon)?;
    } else {
        parser.expect_keyword_is(Keyword::BEGIN)?;
    }
    let mut inserts = Vec::new();
    while !take_word(parser, "END") {
        if parser.consume_token(&Token::SemiColon) {
            continue;
        }
        if !is_word(parser, 0, "INSERT") {
            return parser.expected("INSERT INTO or END", parser.peek_token());
        }
        inserts.push(parse_insert(parser)?);
        parser.expect_token(&Token::SemiColon)?;
    }
    if inserts.is_empty() {
        return parser.expected("INSERT INTO before END", start);
    }
    Ok(Statement::Inserts(inserts))
}

/// A name that must not exist yet.
pub(super) fn already_exists(kind: &str, name: &str) -> Error {
    Error::script(format!("{kind} {name} exists already"))
        .help("choose another name, DROP it first, or write IF NOT EXISTS")
}
