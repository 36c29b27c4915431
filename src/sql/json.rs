//! The JSON functions that have a syntax of their own. The syntax tree carries their clauses as named arguments.

use sqlparser::ast::{
    Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArgOperator, FunctionArguments, Ident, JsonPredicateType,
    Spanned,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token};

use super::binder::{Binder, Context, located};
use super::dialect::call;
use super::text::place_of;
use super::types::{parse_text, parse_type};
use crate::error::{Error, Result};
use crate::expr::eval::{JsonShape, OnExists, OnQuery, OnValue, Wrapper};
use crate::expr::{Expr, resolve};
use crate::types::DataType;

type Parsed<T> = std::result::Result<T, ParserError>;

const RETURNING: &str = "RETURNING";
const WRAPPER: &str = "WRAPPER";
const ON_EMPTY: &str = "ON EMPTY";
const ON_ERROR: &str = "ON ERROR";
const ON_NULL: &str = "ON NULL";
const ORDER_BY: &str = "ORDER BY";

/// Whether [`parse`] takes the call of that function (upper case).
pub(super) fn has_clauses(name: &str) -> bool {
    matches!(name, "JSON_VALUE" | "JSON_QUERY" | "JSON_EXISTS" | "JSON_OBJECT" | "JSON_ARRAY")
        || matches!(name, "JSON_OBJECTAGG" | "JSON_ARRAYAGG")
}

/// Parses a call of one of these functions.
pub(super) fn parse(parser: &mut Parser<'_>) -> Parsed<Ast> {
    let name = parser.parse_identifier()?;
    parser.expect_token(&Token::LParen)?;
    let mut args = Vec::new();
    match name.value.to_ascii_uppercase().as_str() {
        "JSON_OBJECT" => members(parser, &mut args)?,
        "JSON_ARRAY" => values(parser, &mut args)?,
        "JSON_OBJECTAGG" => {
            member(parser, &mut args)?;
            null_clause(parser, &mut args);
        }
        "JSON_ARRAYAGG" => {
            args.push(plain(parser.parse_expr()?));
            order_clause(parser, &mut args)?;
            null_clause(parser, &mut args);
            parser.expect_token(&Token::RParen)?;
            if take(parser, &["WITHIN", "GROUP"]) {
                parser.expect_token(&Token::LParen)?;
                order_clause(parser, &mut args)?;
                parser.expect_token(&Token::RParen)?;
            }
            return Ok(call(name, args));
        }
        function => {
            args.push(plain(parser.parse_expr()?));
            parser.expect_token(&Token::Comma)?;
            args.push(plain(parser.parse_expr()?));
            clauses(parser, function, &mut args)?;
        }
    }
    parser.expect_token(&Token::RParen)?;
    Ok(call(name, args))
}

fn plain(expr: Ast) -> FunctionArg {
    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
}

fn clause(name: &str, value: Ast, span: Span) -> FunctionArg {
    FunctionArg::Named {
        name: Ident::with_span(span, name),
        arg: FunctionArgExpr::Expr(value),
        operator: FunctionArgOperator::Assignment,
    }
}

fn word(text: &str, span: Span) -> Ast {
    Ast::Identifier(Ident::with_span(span, text))
}

/// Takes the words if they are next.
fn take(parser: &mut Parser<'_>, words: &[&str]) -> bool {
    let is = |ahead: usize, word: &str| match &parser.peek_nth_token_ref(ahead).token {
        Token::Word(found) => found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word),
        _ => false,
    };
    let found = words.iter().enumerate().all(|(ahead, word)| is(ahead, word));
    if found {
        words.iter().for_each(|_| parser.advance_token());
    }
    found
}

fn members(parser: &mut Parser<'_>, args: &mut Vec<FunctionArg>) -> Parsed<()> {
    if !null_clause(parser, args) && parser.peek_token_ref().token != Token::RParen {
        loop {
            member(parser, args)?;
            if !parser.consume_token(&Token::Comma) {
                break;
            }
        }
        null_clause(parser, args);
    }
    Ok(())
}

/// `[KEY] name VALUE value` or `name: value`.
fn member(parser: &mut Parser<'_>, args: &mut Vec<FunctionArg>) -> Parsed<()> {
    let after = &parser.peek_nth_token_ref(1).token;
    let is_value = matches!(after, Token::Word(word) if word.value.eq_ignore_ascii_case("VALUE"));
    if !is_value && !matches!(after, Token::Colon | Token::Period) {
        take(parser, &["KEY"]);
    }
    args.push(plain(parser.parse_expr()?));
    let token = parser.peek_token();
    if !take(parser, &["VALUE"]) && !parser.consume_token(&Token::Colon) {
        return parser.expected("VALUE after the name", token);
    }
    args.push(plain(parser.parse_expr()?));
    Ok(())
}

/// `ORDER BY key, …`
fn order_clause(parser: &mut Parser<'_>, args: &mut Vec<FunctionArg>) -> Parsed<()> {
    let span = parser.peek_token_ref().span;
    if take(parser, &["ORDER", "BY"]) {
        let keys = parser.parse_comma_separated(Parser::parse_order_by_expr)?;
        args.push(clause(ORDER_BY, Ast::Tuple(keys.into_iter().map(|key| key.expr).collect()), span));
    }
    Ok(())
}

fn values(parser: &mut Parser<'_>, args: &mut Vec<FunctionArg>) -> Parsed<()> {
    if !null_clause(parser, args) && parser.peek_token_ref().token != Token::RParen {
        let all = parser.parse_comma_separated(Parser::parse_expr)?;
        args.extend(all.into_iter().map(plain));
        null_clause(parser, args);
    }
    Ok(())
}

/// `NULL ON NULL` or `ABSENT ON NULL`.
fn null_clause(parser: &mut Parser<'_>, args: &mut Vec<FunctionArg>) -> bool {
    let span = parser.peek_token_ref().span;
    for what in ["NULL", "ABSENT"] {
        if take(parser, &[what, "ON", "NULL"]) {
            args.push(clause(ON_NULL, word(what, span), span));
            return true;
        }
    }
    false
}

fn clauses(parser: &mut Parser<'_>, function: &str, args: &mut Vec<FunctionArg>) -> Parsed<()> {
    let span = parser.peek_token_ref().span;
    if function != "JSON_EXISTS" && take(parser, &["RETURNING"]) {
        let data_type = parse_type(parser)?;
        if matches!(&parser.peek_token_ref().token, Token::Word(word) if word.keyword == Keyword::ON) {
            // `INT NULL ON ERROR`: the NULL belongs to the clause.
            parser.prev_token();
        }
        args.push(clause(RETURNING, word(&data_type.to_string(), span), span));
    }
    if function == "JSON_QUERY" {
        wrapper(parser, args)?;
    }
    let behaviours: &[&[&str]] = match function {
        "JSON_EXISTS" => &[&["TRUE"], &["FALSE"], &["UNKNOWN"], &["ERROR"]],
        "JSON_VALUE" => &[&["NULL"], &["ERROR"]],
        _ => &[&["NULL"], &["ERROR"], &["EMPTY", "ARRAY"], &["EMPTY", "OBJECT"]],
    };
    while parser.peek_token_ref().token != Token::RParen {
        let token = parser.peek_token();
        let value = if function == "JSON_VALUE" && parser.parse_keyword(Keyword::DEFAULT) {
            // In parentheses, so that a column of that name is no clause.
            Ast::Nested(Box::new(parser.parse_expr()?))
        } else {
            match behaviours.iter().find(|words| take(parser, words)) {
                Some(words) => word(&words.join(" "), token.span),
                None => return parser.expected(&format!("a clause of {function} or )"), token),
            }
        };
        let name = if function != "JSON_EXISTS" && take(parser, &["ON", "EMPTY"]) {
            ON_EMPTY
        } else if take(parser, &["ON", "ERROR"]) {
            ON_ERROR
        } else {
            let token = parser.peek_token();
            return parser.expected("ON EMPTY or ON ERROR", token);
        };
        args.push(clause(name, value, token.span));
    }
    Ok(())
}

/// `WITHOUT WRAPPER`, `WITH [CONDITIONAL | UNCONDITIONAL] [ARRAY] WRAPPER`.
fn wrapper(parser: &mut Parser<'_>, args: &mut Vec<FunctionArg>) -> Parsed<()> {
    let span = parser.peek_token_ref().span;
    let kind = if take(parser, &["WITHOUT"]) {
        "WITHOUT"
    } else if take(parser, &["WITH"]) {
        if take(parser, &["CONDITIONAL"]) {
            "CONDITIONAL"
        } else {
            take(parser, &["UNCONDITIONAL"]);
            "UNCONDITIONAL"
        }
    } else {
        return Ok(());
    };
    take(parser, &["ARRAY"]);
    let token = parser.peek_token();
    if !take(parser, &["WRAPPER"]) {
        return parser.expected("WRAPPER", token);
    }
    args.push(clause(WRAPPER, word(kind, span), span));
    Ok(())
}

/// The arguments of a call, taken apart again.
struct Call<'a> {
    plain: Vec<&'a Ast>,
    clauses: Vec<(&'a str, &'a Ast)>,
}

impl<'a> Call<'a> {
    fn new(args: &'a [FunctionArg]) -> Call<'a> {
        let (mut plain, mut clauses) = (Vec::new(), Vec::new());
        for arg in args {
            match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(ast)) => plain.push(ast),
                FunctionArg::Named { name, arg: FunctionArgExpr::Expr(ast), .. } => {
                    clauses.push((name.value.as_str(), ast));
                }
                _ => {}
            }
        }
        Call { plain, clauses }
    }

    /// The last clause of that name.
    fn clause(&self, name: &str) -> Option<&'a Ast> {
        self.clauses.iter().rev().find(|(own, _)| *own == name).map(|(_, ast)| *ast)
    }

    fn word(&self, name: &str) -> Option<&'a str> {
        match self.clause(name) {
            Some(Ast::Identifier(word)) => Some(word.value.as_str()),
            _ => None,
        }
    }

    fn returning(&self) -> Result<Option<DataType>> {
        let read = |text| parse_text(text).map_err(|_| Error::internal("a type of RETURNING does not read back"));
        self.word(RETURNING).map(read).transpose()
    }

    fn query(&self, name: &str) -> OnQuery {
        match self.word(name) {
            Some("ERROR") => OnQuery::Error,
            Some("EMPTY ARRAY") => OnQuery::EmptyArray,
            Some("EMPTY OBJECT") => OnQuery::EmptyObject,
            _ => OnQuery::Null,
        }
    }
}

impl Binder<'_> {
    /// Binds a call that [`parse`] made.
    pub(super) fn json(&mut self, name: &str, args: &[FunctionArg], context: &mut Context<'_>) -> Result<Expr> {
        let call = Call::new(args);
        match name {
            "JSON_OBJECT" => {
                let pairs = call.plain.chunks(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)));
                let members =
                    pairs.map(|(name, value)| Ok((self.expr(name, context)?, self.json_member(value, context)?)));
                let members = members.collect::<Result<Vec<_>>>()?;
                resolve::json_object(members, call.word(ON_NULL) == Some("ABSENT"))
            }
            "JSON_ARRAY" => {
                let values = call.plain.iter().map(|value| self.json_member(value, context));
                let values = values.collect::<Result<Vec<_>>>()?;
                resolve::json_array(values, call.word(ON_NULL) != Some("NULL"))
            }
            _ => {
                let [document, path] = call.plain.as_slice() else {
                    return Err(Error::script(format!("{name} takes a document and a path")));
                };
                let (document, path) = (self.expr(document, context)?, self.expr(path, context)?);
                match name {
                    "JSON_EXISTS" => resolve::json_exists(document, path, on_exists(&call)),
                    "JSON_VALUE" => {
                        let empty = self.on_value(&call, ON_EMPTY, context)?;
                        let error = self.on_value(&call, ON_ERROR, context)?;
                        resolve::json_value(document, path, call.returning()?, empty, error)
                    }
                    _ => {
                        let wrapper = match call.word(WRAPPER) {
                            Some("CONDITIONAL") => Wrapper::Conditional,
                            Some("UNCONDITIONAL") => Wrapper::Always,
                            _ => Wrapper::Never,
                        };
                        let (empty, error) = (call.query(ON_EMPTY), call.query(ON_ERROR));
                        resolve::json_query(document, path, call.returning()?, wrapper, empty, error)
                    }
                }
            }
        }
    }

    /// The arguments of JSON_OBJECTAGG and JSON_ARRAYAGG: the key and the value, each as the text of a JSON array
    /// that holds it. The array of a NULL that is left out is empty.
    pub(super) fn json_aggregate(
        &mut self,
        name: &str,
        args: &[FunctionArg],
        context: &mut Context<'_>,
    ) -> Result<Vec<Expr>> {
        let call = Call::new(args);
        if let Some(Ast::Tuple(keys)) = call.clause(ORDER_BY) {
            keys.iter().try_for_each(|key| self.expr(key, context).map(|_| ()))?;
            self.note_order(name, keys.first().and_then(|key| place_of(key.span())));
        }
        let mut values = Vec::with_capacity(call.plain.len());
        for ast in &call.plain {
            let value = self.expr(ast, context)?;
            self.refuse_null(&value).map_err(|error| located(error, ast))?;
            values.push(value);
        }
        let absent = match name {
            "JSON_OBJECTAGG" => call.word(ON_NULL) == Some("ABSENT"),
            _ => call.word(ON_NULL) != Some("NULL"),
        };
        let Some(value) = values.pop() else { return Err(Error::script(format!("{name} needs an argument"))) };
        let mut arrays = Vec::with_capacity(2);
        for key in values {
            if !key.data_type().kind.is_string() {
                return Err(Error::script(format!("the key of {name} is a string, not {}", key.data_type()))
                    .help("CAST it to STRING"));
            }
            arrays.push(resolve::json_array(vec![key], false)?);
        }
        arrays.push(resolve::json_array(vec![value], absent)?);
        Ok(arrays)
    }

    fn on_value(&mut self, call: &Call<'_>, name: &str, context: &mut Context<'_>) -> Result<resolve::ValueBehaviour> {
        match call.clause(name) {
            None => Ok((OnValue::Null, None)),
            Some(Ast::Identifier(word)) if word.value == "ERROR" => Ok((OnValue::Error, None)),
            Some(Ast::Identifier(_)) => Ok((OnValue::Null, None)),
            Some(default) => {
                let value = self.expr(default, context)?;
                self.refuse_null(&value).map_err(|error| located(error, default))?;
                Ok((OnValue::Default, Some(value)))
            }
        }
    }

    /// A value of JSON_OBJECT or JSON_ARRAY, which may be a text read as JSON: `JSON(text)`.
    fn json_member(&mut self, ast: &Ast, context: &mut Context<'_>) -> Result<Expr> {
        if let Ast::Function(function) = ast
            && super::function::function_name(function)? == "JSON"
            && let FunctionArguments::List(list) = &function.args
            && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(text))] = list.args.as_slice()
        {
            let text = self.expr(text, context)?;
            return resolve::json_parsed(text).map_err(|error| located(error, ast));
        }
        self.expr(ast, context)
    }

    /// `input IS [NOT] JSON …`.
    pub(super) fn is_json(
        &mut self,
        input: &Ast,
        kind: Option<&JsonPredicateType>,
        negated: bool,
        context: &mut Context<'_>,
    ) -> Result<Expr> {
        let shape = match kind {
            None | Some(JsonPredicateType::Value) => JsonShape::Value,
            Some(JsonPredicateType::Object) => JsonShape::Object,
            Some(JsonPredicateType::Array) => JsonShape::Array,
            Some(JsonPredicateType::Scalar) => JsonShape::Scalar,
        };
        let input = self.expr(input, context)?;
        resolve::is_json(input, shape, negated)
    }
}

fn on_exists(call: &Call<'_>) -> OnExists {
    match call.word(ON_ERROR) {
        Some("TRUE") => OnExists::True,
        Some("UNKNOWN") => OnExists::Unknown,
        Some("ERROR") => OnExists::Error,
        _ => OnExists::False,
    }
}
