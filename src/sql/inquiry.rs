//! Statements that ask the catalog: SHOW and DESCRIBE; and USE, which has one of each to choose from.

use sqlparser::ast::Ident;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::dialect::unsupported;
use super::statement::{is_word, parse_name, take_word};

/// The one catalog and its one database.
pub(super) const CATALOG: &str = "default_catalog";
pub(super) const DATABASE: &str = "default_database";
/// The one module of functions.
pub(super) const MODULE: &str = "core";

/// A question to the catalog.
#[derive(Debug, Clone)]
pub(super) enum Inquiry {
    Describe(Ident),
    Columns {
        table: Ident,
        filter: Option<Filter>,
    },
    CreateTable(Ident),
    CreateView(Ident),
    Names {
        of: Names,
        filter: Option<Filter>,
    },
    /// SET without a key.
    Settings,
}

/// What a SHOW lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Tables,
    Views,
    Functions,
    Catalogs,
    Databases,
    CurrentCatalog,
    CurrentDatabase,
    Modules,
    FullModules,
    /// What a script cannot make, so that there is none; with Flink's name of the column.
    None(&'static str),
}

/// `[NOT] LIKE 'pattern'` and `[NOT] ILIKE 'pattern'`.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    negated: bool,
    ignores_case: bool,
    pattern: String,
}

impl Filter {
    pub(super) fn takes(&self, name: &str) -> bool {
        let letters = |text: &str| -> Vec<char> {
            if self.ignores_case { text.to_lowercase().chars().collect() } else { text.chars().collect() }
        };
        is_like(&letters(name), &letters(&self.pattern)) != self.negated
    }
}

/// `%` stands for any letters, `_` for one.
fn is_like(text: &[char], pattern: &[char]) -> bool {
    let (mut at, mut next) = (0, 0);
    // The last '%' and where the text after it is tried from.
    let mut retry = None;
    while at < text.len() {
        if pattern.get(next) == Some(&'%') {
            retry = Some((next + 1, at));
            next += 1;
        } else if pattern.get(next).is_some_and(|&c| c == '_' || c == text[at]) {
            (at, next) = (at + 1, next + 1);
        } else if let Some((after, from)) = retry {
            retry = Some((after, from + 1));
            (at, next) = (from + 1, after);
        } else {
            return false;
        }
    }
    pattern[next..].iter().all(|&c| c == '%')
}

type Parsed<T> = Result<T, ParserError>;

const SHOWN: &str = "TABLES, VIEWS, FUNCTIONS, COLUMNS, CREATE TABLE, CREATE VIEW, CATALOGS, DATABASES, \
                     CURRENT CATALOG, CURRENT DATABASE, MODULES or JARS";

/// `SHOW …`.
pub(super) fn parse_show(parser: &mut Parser<'_>) -> Parsed<Inquiry> {
    let start = parser.next_token();
    let token = parser.next_token();
    let word = |token: &Token| match token {
        Token::Word(word) if word.quote_style.is_none() => word.value.to_ascii_uppercase(),
        _ => String::new(),
    };
    let first = word(&token.token);
    let of = match first.as_str() {
        "TABLES" => Names::Tables,
        "VIEWS" => Names::Views,
        "FUNCTIONS" => Names::Functions,
        "CATALOGS" => Names::Catalogs,
        "DATABASES" => Names::Databases,
        "MODULES" => Names::Modules,
        "JARS" => Names::None("jars"),
        "MODELS" => Names::None("model name"),
        "USER" if take_word(parser, "FUNCTIONS") => Names::None("function name"),
        "FULL" if take_word(parser, "MODULES") => Names::FullModules,
        "MATERIALIZED" if take_word(parser, "TABLES") => Names::None("table name"),
        "CURRENT" if take_word(parser, "CATALOG") => Names::CurrentCatalog,
        "CURRENT" if take_word(parser, "DATABASE") => Names::CurrentDatabase,
        "CREATE" if parser.parse_keyword(Keyword::TABLE) => return Ok(Inquiry::CreateTable(parse_name(parser)?)),
        "CREATE" if parser.parse_keyword(Keyword::VIEW) => return Ok(Inquiry::CreateView(parse_name(parser)?)),
        "CREATE" => {
            let what = format!("SHOW CREATE {}", word(&parser.peek_token().token));
            return unsupported(what.trim_end(), start.span);
        }
        "COLUMNS" => {
            if !take_from(parser) {
                return parser.expected("FROM or IN and the name of a table", parser.peek_token());
            }
            let table = parse_name(parser)?;
            take_database(parser, true)?;
            return Ok(Inquiry::Columns { table, filter: parse_filter(parser)? });
        }
        "PARTITIONS" | "PROCEDURES" | "JOBS" => return unsupported(&format!("SHOW {first}"), start.span),
        _ => return parser.expected(SHOWN, token),
    };
    if matches!(of, Names::Tables | Names::Views | Names::Functions | Names::Databases | Names::None(_)) {
        take_database(parser, of != Names::Databases)?;
    }
    let plain = matches!(of, Names::CurrentCatalog | Names::CurrentDatabase | Names::Modules | Names::FullModules);
    Ok(Inquiry::Names { of, filter: if plain { None } else { parse_filter(parser)? } })
}

fn take_from(parser: &mut Parser<'_>) -> bool {
    parser.parse_keyword(Keyword::FROM) || parser.parse_keyword(Keyword::IN)
}

/// `FROM database`, or with `database` false `FROM catalog`: there is one of each.
fn take_database(parser: &mut Parser<'_>, database: bool) -> Parsed<()> {
    if take_from(parser) { take_default(parser, database) } else { Ok(()) }
}

fn take_default(parser: &mut Parser<'_>, database: bool) -> Parsed<()> {
    let token = parser.peek_token();
    let mut parts = vec![parser.parse_identifier()?.value];
    while parser.consume_token(&Token::Period) {
        parts.push(parser.parse_identifier()?.value);
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match (database, parts.as_slice()) {
        (false, [CATALOG]) | (true, [DATABASE] | [CATALOG, DATABASE]) => Ok(()),
        (false, _) => parser.expected(&format!("{CATALOG}, the only catalog"), token),
        (true, _) => parser.expected(&format!("{DATABASE}, the only database"), token),
    }
}

fn parse_filter(parser: &mut Parser<'_>) -> Parsed<Option<Filter>> {
    let negated = parser.parse_keyword(Keyword::NOT);
    let ignores_case = parser.parse_keyword(Keyword::ILIKE);
    if ignores_case || parser.parse_keyword(Keyword::LIKE) {
        return Ok(Some(Filter { negated, ignores_case, pattern: parser.parse_literal_string()? }));
    }
    if negated { parser.expected("LIKE and a pattern", parser.peek_token()) } else { Ok(None) }
}

/// `DESCRIBE [EXTENDED] t`; Flink's EXTENDED shows the same.
pub(super) fn parse_describe(parser: &mut Parser<'_>) -> Parsed<Inquiry> {
    let start = parser.next_token();
    let named = matches!(parser.peek_nth_token_ref(1).token, Token::Word(_));
    for kind in ["CATALOG", "DATABASE", "FUNCTION", "JOB", "MODEL"] {
        if named && is_word(parser, 0, kind) {
            return unsupported(&format!("DESCRIBE {kind}"), start.span);
        }
    }
    if named {
        let _ = take_word(parser, "EXTENDED");
    }
    Ok(Inquiry::Describe(parse_name(parser)?))
}

/// `USE [CATALOG | MODULES] name`, which can only name what is used already.
pub(super) fn parse_use(parser: &mut Parser<'_>) -> Parsed<()> {
    parser.next_token();
    if is_word(parser, 0, "CATALOG") && matches!(parser.peek_nth_token_ref(1).token, Token::Word(_)) {
        parser.next_token();
        return take_default(parser, false);
    }
    if is_word(parser, 0, "MODULES") && matches!(parser.peek_nth_token_ref(1).token, Token::Word(_)) {
        parser.next_token();
        let token = parser.peek_token();
        return match parser.parse_identifier()?.value.as_str() {
            MODULE => Ok(()),
            _ => parser.expected(&format!("{MODULE}, the only module"), token),
        };
    }
    take_default(parser, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(negated: bool, ignores_case: bool, pattern: &str, name: &str) -> bool {
        Filter { negated, ignores_case, pattern: pattern.to_string() }.takes(name)
    }

    #[test]
    fn a_pattern_has_wildcards_for_any_letters_and_for_one() {
        for (pattern, name, like) in [
            ("s%", "src", true),
            ("S%", "src", false),
            ("v_", "v1", true),
            ("v_", "v10", false),
            ("%t%", "a_table", true),
            ("%a%b%", "xaxxb", true),
            ("%a%b", "xaxbx", false),
            ("", "", true),
            ("%", "", true),
            ("_", "", false),
        ] {
            assert_eq!(takes(false, false, pattern, name), like, "{name} LIKE {pattern}");
            assert_eq!(takes(true, false, pattern, name), !like, "{name} NOT LIKE {pattern}");
        }
        assert!(takes(false, true, "S%", "src"));
    }
}
