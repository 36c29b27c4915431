//! `CREATE TABLE … LIKE`: a definition that takes over parts of another.

use sqlparser::ast::Ident;
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token};

use super::ddl::{ColumnKind, CreateTable};
use super::statement::{parse_name, take_word};
use super::text::place_of;
use crate::error::{Error, Result};

/// The table that is taken as a pattern, and how its parts are merged.
#[derive(Debug, Clone)]
pub(super) struct Like {
    pub table: Ident,
    options: Vec<LikeOption>,
}

/// `INCLUDING OPTIONS` and the like.
#[derive(Debug, Clone)]
struct LikeOption {
    merge: Merge,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Merge {
    /// Both; what both define is an error.
    Including,
    /// What the new table defines, alone.
    Excluding,
    /// Both; what both define is as in the new table.
    Overwriting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    Constraints,
    Distribution,
    Generated,
    Metadata,
    Options,
    Partitions,
    Watermarks,
}

const PARTS: [(&str, Part); 8] = [
    ("ALL", Part::All),
    ("CONSTRAINTS", Part::Constraints),
    ("DISTRIBUTION", Part::Distribution),
    ("GENERATED", Part::Generated),
    ("METADATA", Part::Metadata),
    ("OPTIONS", Part::Options),
    ("PARTITIONS", Part::Partitions),
    ("WATERMARKS", Part::Watermarks),
];

/// What may be overwritten; of the other parts a table has one or none.
const OVERWRITTEN: [Part; 4] = [Part::Generated, Part::Metadata, Part::Options, Part::Watermarks];

/// Parses what follows the word LIKE.
pub(super) fn parse_like(parser: &mut Parser<'_>) -> Result<Like, ParserError> {
    let table = parse_name(parser)?;
    let mut options = Vec::new();
    if parser.consume_token(&Token::LParen) {
        while !parser.consume_token(&Token::RParen) {
            options.push(parse_like_option(parser)?);
        }
    }
    Ok(Like { table, options })
}

fn parse_like_option(parser: &mut Parser<'_>) -> Result<LikeOption, ParserError> {
    let token = parser.peek_token();
    let merge = if parser.parse_keyword(Keyword::INCLUDING) {
        Merge::Including
    } else if parser.parse_keyword(Keyword::EXCLUDING) {
        Merge::Excluding
    } else if take_word(parser, "OVERWRITING") {
        Merge::Overwriting
    } else {
        return parser.expected("INCLUDING, EXCLUDING or OVERWRITING", token);
    };
    let token = parser.peek_token();
    let part = PARTS.iter().find(|(name, _)| take_word(parser, name)).map(|&(_, part)| part);
    match part {
        Some(part) if merge != Merge::Overwriting || OVERWRITTEN.contains(&part) => Ok(LikeOption { merge, part }),
        Some(_) => parser.expected("OPTIONS, GENERATED, METADATA or WATERMARKS after OVERWRITING", token),
        None => parser.expected(&PARTS.map(|(name, _)| name).join(", "), token),
    }
}

impl Like {
    fn merge(&self, part: Part) -> Merge {
        let of = |wanted: Part| self.options.iter().rev().find(|option| option.part == wanted).map(|o| o.merge);
        let default = if part == Part::Options { Merge::Overwriting } else { Merge::Including };
        of(part).or(of(Part::All)).unwrap_or(default)
    }

    /// Whether the new table takes over this part; an error where it has one already that `twice` describes.
    fn takes(&self, part: Part, twice: Option<&str>, span: Span) -> Result<bool> {
        match (self.merge(part), twice) {
            (Merge::Excluding, _) | (Merge::Overwriting, Some(_)) => Ok(false),
            (_, None) => Ok(true),
            (Merge::Including, Some(what)) => {
                let name = PARTS.iter().find(|(_, named)| *named == part).map_or("ALL", |(name, _)| name);
                let overwriting =
                    if OVERWRITTEN.contains(&part) { format!(" or OVERWRITING {name}") } else { String::new() };
                let error = Error::script(format!("table {} has {what} already", self.table.value));
                let error = error.help(format!("write LIKE {} (EXCLUDING {name}{overwriting})", self.table.value));
                Err(error.at_place(place_of(span)))
            }
        }
    }
}

fn two_watermarks(name: &Ident, like: &Like) -> Error {
    let error = Error::script(format!("table {} has a WATERMARK for another column", like.table.value));
    let error = error.help(format!("write LIKE {} (EXCLUDING WATERMARKS)", like.table.value));
    error.at_place(place_of(name.span))
}

/// The definition that `new` stands for, with what it takes over from `base`: its columns first.
pub(super) fn merged(new: &CreateTable, like: &Like, base: &CreateTable) -> Result<CreateTable> {
    let mut table = CreateTable { like: None, ..new.clone() };
    let mut columns = Vec::new();
    for column in &base.columns {
        let own = new.columns.iter().find(|own| own.name.value == column.name.value);
        let span = own.map_or(new.name.span, |own| own.name.span);
        let twice = own.map(|own| format!("a column '{}'", own.name.value));
        let takes = match column.kind {
            ColumnKind::Physical(_) if own.is_some() => {
                let error = Error::script(format!("table {} has a column '{}'", like.table.value, column.name.value))
                    .help("leave it out here, or give it another name");
                return Err(error.at_place(place_of(span)));
            }
            ColumnKind::Physical(_) => true,
            ColumnKind::Computed(_) => like.takes(Part::Generated, twice.as_deref(), span)?,
            ColumnKind::Metadata(_) => like.takes(Part::Metadata, twice.as_deref(), span)?,
        };
        let part = if matches!(column.kind, ColumnKind::Metadata(_)) { Part::Metadata } else { Part::Generated };
        match own {
            _ if takes => columns.push(column.clone()),
            // An overwritten column keeps its position.
            Some(own) if like.merge(part) == Merge::Overwriting => columns.push(own.clone()),
            _ => {}
        }
    }
    let taken: Vec<String> = columns.iter().map(|column| column.name.value.clone()).collect();
    columns.extend(table.columns.into_iter().filter(|column| !taken.contains(&column.name.value)));
    table.columns = columns;
    if let Some(watermark) = &base.watermark {
        let own = new.watermark.as_ref();
        // Overwriting takes the place of the same column's only, as in Flink.
        let other = own.filter(|own| like.merge(Part::Watermarks) == Merge::Overwriting && !own.is_of(watermark));
        if let Some(name) = other.and_then(|own| own.column.first()) {
            return Err(two_watermarks(name, like));
        }
        let twice = own.map(|_| "a WATERMARK");
        let span = own.and_then(|own| own.column.first()).map_or(new.name.span, |name| name.span);
        if like.takes(Part::Watermarks, twice, span)? {
            table.watermark = Some(watermark.clone());
        }
    }
    let twice = (!new.primary_key.is_empty()).then_some("a PRIMARY KEY");
    if !base.primary_key.is_empty() && like.takes(Part::Constraints, twice, new.name.span)? {
        table.primary_key.clone_from(&base.primary_key);
        table.key_name.clone_from(&base.key_name);
    }
    let twice = (!new.partition_keys.is_empty()).then_some("PARTITIONED BY");
    if !base.partition_keys.is_empty() && like.takes(Part::Partitions, twice, new.name.span)? {
        table.partition_keys.clone_from(&base.partition_keys);
    }
    for option in &base.options {
        let own = new.options.iter().find(|own| own.key == option.key);
        let twice = own.map(|own| format!("an option '{}'", own.key));
        if like.takes(Part::Options, twice.as_deref(), own.map_or(new.name.span, |own| own.span))? {
            table.options.push(option.clone());
        }
    }
    Ok(table)
}
