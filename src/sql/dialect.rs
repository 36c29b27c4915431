//! Flink's dialect for `sqlparser`: what differs from standard SQL inside expressions.

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType as AstType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArgumentList, FunctionArguments, Ident, Interval, Map, MapEntry, ObjectName, ObjectNamePart, TypedString,
    UnaryOperator, Value, ValueWithSpan,
};
use sqlparser::dialect::{Dialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

use super::json;
use super::text::place_of;
use super::types::parse_type;
use crate::error::{Error, Place};

/// Marks the message of a parser error as "Flink has it, we have not".
const UNSUPPORTED: &str = "\u{1}unsupported: ";
/// What the parser says of `SELECT a, FROM t`.
const NO_EXPRESSION: &str = "Expected an expression, found: ";
/// The name of the function that stands for `TABLE t [PARTITION BY …]` and `(SELECT …) PARTITION BY …`.
pub(super) const TABLE_ARGUMENT: &str = "\u{1}TABLE";
/// Below every operator, so that `PARTITION BY` ends the argument before it.
const PARTITION_PRECEDENCE: u8 = 1;

#[derive(Debug, Clone, Copy)]
pub(super) struct FlinkDialect;

impl Dialect for FlinkDialect {
    fn is_identifier_start(&self, ch: char) -> bool {
        ch.is_alphabetic() || ch == '_'
    }
    fn is_identifier_part(&self, ch: char) -> bool {
        ch.is_alphanumeric() || ch == '_' || ch == '$'
    }
    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        ch == '`'
    }
    fn supports_window_function_null_treatment_arg(&self) -> bool {
        true
    }
    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }
    fn supports_group_by_expr(&self) -> bool {
        true
    }
    fn supports_table_versioning(&self) -> bool {
        true
    }
    fn supports_unicode_string_literal(&self) -> bool {
        true
    }
    fn supports_match_recognize(&self) -> bool {
        true
    }
    fn supports_parens_around_table_factor(&self) -> bool {
        true
    }
    fn supports_string_literal_column_alias(&self, _explicit: bool) -> bool {
        false
    }
    fn supports_string_literal_table_alias(&self, _explicit: bool) -> bool {
        false
    }
    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        let [first, second] = parser.peek_tokens_ref::<2>();
        if first.token == Token::LParen {
            return at_time_difference(parser).then(|| parse_time_difference(parser));
        }
        let Token::Word(word) = &first.token else { return None };
        if word.quote_style.is_some() {
            return None;
        }
        let string_follows = matches!(second.token, Token::SingleQuotedString(_));
        match word.keyword {
            Keyword::CAST | Keyword::TRY_CAST if second.token == Token::LParen => Some(parse_cast(parser)),
            Keyword::TABLE if matches!(second.token, Token::Word(_)) => Some(parse_table_argument(parser)),
            Keyword::DATE | Keyword::TIME | Keyword::TIMESTAMP if string_follows => Some(parse_typed_string(parser)),
            Keyword::INTERVAL if string_follows || matches!(second.token, Token::Minus | Token::Plus) => {
                Some(parse_interval(parser))
            }
            _ if second.token == Token::LParen => parse_json(parser),
            Keyword::MAP if second.token == Token::LBracket => Some(parse_map(parser)),
            _ => None,
        }
    }
    fn parse_infix(&self, parser: &mut Parser<'_>, expr: &Expr, _precedence: u8) -> Option<Result<Expr, ParserError>> {
        if let Some(form) = at_between_form(parser) {
            return Some(parse_between(parser, expr, form));
        }
        at_partition_by(parser).then(|| parse_partition_by(parser, expr))
    }
    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        if parser.peek_token_ref().token == Token::Colon {
            // It ends the key of a JSON object; Flink has no operator of that name.
            return Some(Ok(0));
        }
        at_partition_by(parser).then_some(Ok(PARTITION_PRECEDENCE))
    }
}

/// The JSON functions have a syntax of their own.
fn parse_json(parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
    let token = parser.peek_token();
    let Token::Word(word) = &token.token else { return None };
    json::has_clauses(&word.value.to_ascii_uppercase()).then(|| json::parse(parser))
}

/// `[NOT] BETWEEN SYMMETRIC` or `ASYMMETRIC`.
#[derive(Clone, Copy)]
struct BetweenForm {
    negated: bool,
    symmetric: bool,
}

fn at_between_form(parser: &Parser<'_>) -> Option<BetweenForm> {
    let word = |at: usize| match &parser.peek_nth_token_ref(at).token {
        Token::Word(word) if word.quote_style.is_none() => word.value.to_ascii_uppercase(),
        _ => String::new(),
    };
    let negated = word(0) == "NOT";
    let first = usize::from(negated);
    if word(first) != "BETWEEN" {
        return None;
    }
    match word(first + 1).as_str() {
        "SYMMETRIC" => Some(BetweenForm { negated, symmetric: true }),
        "ASYMMETRIC" => Some(BetweenForm { negated, symmetric: false }),
        _ => None,
    }
}

/// With SYMMETRIC, the bounds may stand in either order.
fn parse_between(parser: &mut Parser<'_>, expr: &Expr, form: BetweenForm) -> Result<Expr, ParserError> {
    for _ in 0..2 + usize::from(form.negated) {
        parser.next_token();
    }
    let precedence = FlinkDialect.prec_value(Precedence::Between);
    let low = parser.parse_subexpr(precedence)?;
    parser.expect_keyword_is(Keyword::AND)?;
    let high = parser.parse_subexpr(precedence)?;
    let between = |low: &Expr, high: &Expr| Expr::Between {
        expr: Box::new(expr.clone()),
        negated: form.negated,
        low: Box::new(low.clone()),
        high: Box::new(high.clone()),
    };
    if !form.symmetric {
        return Ok(between(&low, &high));
    }
    let op = if form.negated { BinaryOperator::And } else { BinaryOperator::Or };
    let (left, right) = (Box::new(between(&low, &high)), Box::new(between(&high, &low)));
    Ok(Expr::Nested(Box::new(Expr::BinaryOp { left, op, right })))
}

fn at_partition_by(parser: &Parser<'_>) -> bool {
    let is = |token: &TokenWithSpan, keyword: Keyword| matches!(&token.token, Token::Word(w) if w.keyword == keyword);
    let [first, second] = parser.peek_tokens_ref::<2>();
    is(first, Keyword::PARTITION) && is(second, Keyword::BY)
}

fn parse_cast(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let kind = if parser.parse_keyword(Keyword::TRY_CAST) {
        CastKind::TryCast
    } else {
        parser.expect_keyword_is(Keyword::CAST)?;
        CastKind::Cast
    };
    parser.expect_token(&Token::LParen)?;
    let expr = parser.parse_expr()?;
    parser.expect_keyword_is(Keyword::AS)?;
    let start = parser.peek_token().span;
    let data_type = parse_type(parser)?;
    parser.expect_token(&Token::RParen)?;
    // The syntax tree has no place for our types: it carries their text, which the binder reads again.
    let name = ObjectName(vec![ObjectNamePart::Identifier(Ident::with_span(start, data_type.to_string()))]);
    Ok(Expr::Cast { kind, expr: Box::new(expr), data_type: AstType::Custom(name, Vec::new()), format: None })
}

/// `MAP[key, value, …]`
fn parse_map(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.expect_keyword_is(Keyword::MAP)?;
    parser.expect_token(&Token::LBracket)?;
    let end = parser.peek_token();
    if end.token == Token::RBracket {
        return parser.expected("keys and values", end);
    }
    let mut parts = parser.parse_comma_separated(Parser::parse_expr)?.into_iter();
    let end = parser.peek_token();
    let mut entries = Vec::with_capacity(parts.len() / 2);
    while let Some(key) = parts.next() {
        let Some(value) = parts.next() else { return parser.expected("a value for the last key", end) };
        entries.push(MapEntry { key: Box::new(key), value: Box::new(value) });
    }
    parser.expect_token(&Token::RBracket)?;
    Ok(Expr::Map(Map { entries }))
}

fn parse_typed_string(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let data_type = match parser.expect_one_of_keywords(&[Keyword::DATE, Keyword::TIME, Keyword::TIMESTAMP])? {
        Keyword::DATE => AstType::Date,
        Keyword::TIME => AstType::Time(None, sqlparser::ast::TimezoneInfo::None),
        _ => AstType::Timestamp(None, sqlparser::ast::TimezoneInfo::None),
    };
    Ok(Expr::TypedString(TypedString { data_type, value: parser.parse_value()?, uses_odbc_syntax: false }))
}

/// Whether a unit of time stands behind the parenthesis that opens here.
fn at_time_difference(parser: &Parser<'_>) -> bool {
    let mut depth = 0_usize;
    for at in 0.. {
        match &parser.peek_nth_token_ref(at).token {
            Token::EOF => return false,
            Token::LParen => depth += 1,
            Token::RParen if depth == 1 => {
                let next = parser.peek_nth_token_ref(at + 1);
                return matches!(&next.token, Token::Word(word) if word.quote_style.is_none() && unit(&word.value).is_some());
            }
            Token::RParen => depth -= 1,
            _ => {}
        }
    }
    false
}

/// `(a - b) DAY TO SECOND`: the interval between two times.
fn parse_time_difference(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.expect_token(&Token::LParen)?;
    let value = Box::new(parser.parse_expr()?);
    parser.expect_token(&Token::RParen)?;
    interval_of(parser, value)
}

fn parse_interval(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    parser.expect_keyword_is(Keyword::INTERVAL)?;
    let mut negative = false;
    if parser.consume_token(&Token::Minus) {
        negative = true;
    } else {
        let _ = parser.consume_token(&Token::Plus);
    }
    let token = parser.next_token();
    let Token::SingleQuotedString(text) = token.token else {
        return parser.expected("the interval as a string, such as '10'", token);
    };
    let text = ValueWithSpan { value: Value::SingleQuotedString(text), span: token.span };
    let mut value = Expr::Value(text);
    if negative {
        value = Expr::UnaryOp { op: UnaryOperator::Minus, expr: Box::new(value) };
    }
    interval_of(parser, Box::new(value))
}

/// The units behind the value of an interval.
fn interval_of(parser: &mut Parser<'_>, value: Box<Expr>) -> Result<Expr, ParserError> {
    let leading_field = parse_unit(parser)?;
    let leading_precision = parse_precision(parser)?;
    let mut last_field = None;
    let mut fractional_seconds_precision = None;
    if parser.parse_keyword(Keyword::TO) {
        last_field = Some(parse_unit(parser)?);
        fractional_seconds_precision = parse_precision(parser)?;
    }
    Ok(Expr::Interval(Interval {
        value,
        leading_field: Some(leading_field),
        leading_precision,
        last_field,
        fractional_seconds_precision,
    }))
}

/// `(p)` or `(p, s)`; they do not change the value.
fn parse_precision(parser: &mut Parser<'_>) -> Result<Option<u64>, ParserError> {
    if !parser.consume_token(&Token::LParen) {
        return Ok(None);
    }
    let precision = parser.parse_literal_uint()?;
    if parser.consume_token(&Token::Comma) {
        parser.parse_literal_uint()?;
    }
    parser.expect_token(&Token::RParen)?;
    Ok(Some(precision))
}

fn parse_unit(parser: &mut Parser<'_>) -> Result<DateTimeField, ParserError> {
    let token = parser.next_token();
    let found = match &token.token {
        Token::Word(word) if word.quote_style.is_none() => unit(&word.value),
        _ => None,
    };
    match found {
        Some(unit) => Ok(unit),
        None => parser.expected("an interval unit (SECOND, MINUTE, HOUR, DAY, …)", token),
    }
}

fn unit(word: &str) -> Option<DateTimeField> {
    Some(match word.to_ascii_uppercase().as_str() {
        "YEAR" | "YEARS" => DateTimeField::Year,
        "QUARTER" | "QUARTERS" => DateTimeField::Quarter,
        "MONTH" | "MONTHS" => DateTimeField::Month,
        "WEEK" | "WEEKS" => DateTimeField::Weeks,
        "DAY" | "DAYS" => DateTimeField::Day,
        "HOUR" | "HOURS" => DateTimeField::Hour,
        "MINUTE" | "MINUTES" => DateTimeField::Minute,
        "SECOND" | "SECONDS" => DateTimeField::Second,
        _ => return None,
    })
}

fn table_argument(args: Vec<Expr>, span: Span) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    call(Ident::with_span(span, TABLE_ARGUMENT), args)
}

/// A function's call as the parser would give it.
pub(super) fn call(name: Ident, args: Vec<FunctionArg>) -> Expr {
    Expr::Function(Function {
        name: ObjectName(vec![ObjectNamePart::Identifier(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        within_group: Vec::new(),
        filter: None,
        null_treatment: None,
        over: None,
    })
}

fn parse_table_argument(parser: &mut Parser<'_>) -> Result<Expr, ParserError> {
    let span = parser.expect_keyword(Keyword::TABLE)?.span;
    let mut parts = vec![parser.parse_identifier()?];
    while parser.consume_token(&Token::Period) {
        parts.push(parser.parse_identifier()?);
    }
    Ok(table_argument(vec![Expr::CompoundIdentifier(parts)], span))
}

/// `PARTITION BY k` or `PARTITION BY (k1, k2)` after a table argument.
fn parse_partition_by(parser: &mut Parser<'_>, table: &Expr) -> Result<Expr, ParserError> {
    let token = parser.peek_token();
    let inner = match table {
        Expr::Subquery(_) => table.clone(),
        Expr::Function(function) => match table_argument_parts(function) {
            Some((source, None)) => source.clone(),
            _ => return parser.expected("a comma or )", token),
        },
        _ => return parser.expected("a comma or )", token),
    };
    parser.expect_keywords(&[Keyword::PARTITION, Keyword::BY])?;
    let keys = if parser.consume_token(&Token::LParen) {
        let keys = parser.parse_comma_separated(Parser::parse_identifier)?;
        parser.expect_token(&Token::RParen)?;
        keys
    } else {
        vec![parser.parse_identifier()?]
    };
    let order = parser.peek_token();
    if parser.parse_keywords(&[Keyword::ORDER, Keyword::BY]) {
        return unsupported("ORDER BY in a table argument", order.span);
    }
    let keys = Expr::Tuple(keys.into_iter().map(Expr::Identifier).collect());
    Ok(table_argument(vec![inner, keys], token.span))
}

/// The source and the partition keys of a [`TABLE_ARGUMENT`].
pub(super) fn table_argument_parts(function: &Function) -> Option<(&Expr, Option<&Vec<Expr>>)> {
    let is_table = matches!(function.name.0.as_slice(), [ObjectNamePart::Identifier(i)] if i.value == TABLE_ARGUMENT);
    let FunctionArguments::List(list) = &function.args else { return None };
    if !is_table {
        return None;
    }
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(source))] => Some((source, None)),
        [
            FunctionArg::Unnamed(FunctionArgExpr::Expr(source)),
            FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Tuple(keys))),
        ] => Some((source, Some(keys))),
        _ => None,
    }
}

/// A parser error that [`parser_error`] turns into one of kind Unsupported.
pub(super) fn unsupported<T>(what: &str, span: Span) -> Result<T, ParserError> {
    Err(ParserError::ParserError(format!("{UNSUPPORTED}{what}{}", span.start)))
}

/// Gives a parser error its place. `tokens`: the statement, for lengths and for its end.
pub(super) fn parser_error(error: ParserError, tokens: &[TokenWithSpan]) -> Error {
    let text = match error {
        ParserError::ParserError(text) | ParserError::TokenizerError(text) => text,
        ParserError::RecursionLimitExceeded => {
            let error = Error::script("the statement nests too deep").help("split it with views");
            let first = tokens.first().and_then(|token| place_of(token.span));
            return error.at_place(first);
        }
    };
    let (message, place) = match split_location(&text) {
        Some((message, line, column)) if message.starts_with(NO_EXPRESSION) => {
            (message, place_before(tokens, &message[NO_EXPRESSION.len()..], line, column))
        }
        Some((message, line, column)) => {
            let token = tokens.iter().find(|t| t.span.start.line == line && t.span.start.column == column);
            let place =
                token.and_then(|token| place_of(token.span)).unwrap_or(Place { line, column, ..Place::default() });
            (message, Some(place))
        }
        None => {
            let end = tokens.last().map(|token| Span { start: token.span.end, end: token.span.end });
            (text.as_str(), end.and_then(place_of))
        }
    };
    let error = match message.strip_prefix(UNSUPPORTED) {
        Some(what) => Error::unsupported(what),
        None if message.ends_with("found: SYSTEM_TIME") => {
            Error::script("FOR SYSTEM_TIME AS OF stands behind the name of a table or view")
                .help("write JOIN r FOR SYSTEM_TIME AS OF l.ts AS r; name a subquery with CREATE VIEW")
        }
        None => Error::script(readable(message)),
    };
    error.at_place(place)
}

/// The place of the last `word` before a place; the parser names the one behind it.
fn place_before(tokens: &[TokenWithSpan], word: &str, line: u64, column: u64) -> Option<Place> {
    let before = tokens.iter().filter(|t| (t.span.start.line, t.span.start.column) < (line, column) || line == 0);
    let found = before.rev().find(|t| matches!(&t.token, Token::Word(w) if w.value == word));
    found.and_then(|token| place_of(token.span))
}

/// Splits " at Line: 1, Column: 2" off a message.
fn split_location(text: &str) -> Option<(&str, u64, u64)> {
    let (message, rest) = text.rsplit_once(" at Line: ")?;
    let (line, column) = rest.split_once(", Column: ")?;
    Some((message, line.trim().parse().ok()?, column.trim().parse().ok()?))
}

/// "Expected: x, found: y" as a sentence of ours.
fn readable(message: &str) -> String {
    let message = message.trim_start_matches("sql parser error: ");
    if let Some(found) = message.strip_prefix(NO_EXPRESSION) {
        return format!("syntax error: expected an expression, found '{found}'");
    }
    if let Some((expected, found)) = message.strip_prefix("Expected: ").and_then(|rest| rest.split_once(", found: ")) {
        let found = if found == "EOF" { "the end of the statement".to_string() } else { format!("'{found}'") };
        return format!("syntax error: expected {expected}, found {found}");
    }
    format!("syntax error: {message}")
}
