//! `ALTER TABLE` and `ALTER VIEW`, as far as they change names, options and the query of a view.

use std::rc::Rc;

use sqlparser::ast::{Ident, Query};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::catalog::Entry;
use super::ddl::{CreateTable, OptionDef, parse_option};
use super::dialect::unsupported;
use super::session::Session;
use super::statement::{CreateView, already_exists, parse_name, take_word};
use super::text::{place_of, spelled};
use crate::error::{Error, Result};

#[derive(Debug, Clone)]
pub(super) struct Alter {
    pub name: Ident,
    view: bool,
    if_exists: bool,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Rename(Ident),
    Set(Vec<OptionDef>),
    Reset(Vec<Ident>),
    Query { query: Box<Query>, spelling: String },
}

/// `ALTER …`.
pub(super) fn parse_alter(parser: &mut Parser<'_>) -> std::result::Result<Alter, ParserError> {
    let start = parser.next_token();
    let token = parser.peek_token();
    let view = parser.parse_keyword(Keyword::VIEW);
    if !view && !parser.parse_keyword(Keyword::TABLE) {
        return match &token.token {
            Token::Word(word) => unsupported(&format!("ALTER {}", word.value.to_ascii_uppercase()), start.span),
            _ => parser.expected("TABLE or VIEW", token),
        };
    }
    let if_exists = parser.parse_keywords(&[Keyword::IF, Keyword::EXISTS]);
    let name = parse_name(parser)?;
    let token = parser.peek_token();
    let change = if parser.parse_keywords(&[Keyword::RENAME, Keyword::TO]) {
        Change::Rename(parse_name(parser)?)
    } else if view {
        parser.expect_keyword_is(Keyword::AS)?;
        let from = parser.index();
        let query = parser.parse_query()?;
        Change::Query { query, spelling: spelled(parser, from) }
    } else if parser.parse_keyword(Keyword::SET) {
        parser.expect_token(&Token::LParen)?;
        let options = parser.parse_comma_separated(parse_option)?;
        parser.expect_token(&Token::RParen)?;
        Change::Set(options)
    } else if take_word(parser, "RESET") {
        parser.expect_token(&Token::LParen)?;
        let keys = parser.parse_comma_separated(|parser| {
            let span = parser.peek_token().span;
            Ok(Ident::with_span(span, parser.parse_literal_string()?))
        })?;
        parser.expect_token(&Token::RParen)?;
        Change::Reset(keys)
    } else {
        return match &token.token {
            Token::Word(word) => unsupported(&format!("ALTER TABLE … {}", word.value.to_ascii_uppercase()), token.span),
            _ => parser.expected("RENAME TO, SET or RESET", token),
        };
    };
    Ok(Alter { name, view, if_exists, change })
}

impl Session<'_> {
    pub(super) fn alter(&mut self, alter: &Alter) -> Result<()> {
        let kind = if alter.view { "view" } else { "table" };
        match self.catalog.entries.get(&alter.name.value).cloned() {
            Some(Entry::Table(table)) if !alter.view => {
                refuse_temporary(table.definition.temporary, kind, &alter.name)?;
                self.alter_table(&table.definition, alter)
            }
            Some(Entry::View(view)) if alter.view => {
                refuse_temporary(view.temporary, kind, &alter.name)?;
                match &alter.change {
                    Change::Query { query, spelling } => {
                        let columns = Vec::new();
                        let (name, comment, temporary) = (alter.name.clone(), view.comment.clone(), false);
                        let (query, spelling) = ((**query).clone(), spelling.clone());
                        let changed =
                            CreateView { name, columns, if_not_exists: false, query, spelling, comment, temporary };
                        self.replaced(&alter.name, |session| session.create_view(&changed))
                    }
                    _ => self.rename(alter),
                }
            }
            _ if alter.if_exists => Ok(()),
            _ => Err(at(
                Error::script(format!("{kind} '{}' does not exist", alter.name.value))
                    .help("write IF EXISTS if that is no fault"),
                &alter.name,
            )),
        }
    }

    fn alter_table(&mut self, definition: &Rc<CreateTable>, alter: &Alter) -> Result<()> {
        let mut changed = (**definition).clone();
        match &alter.change {
            Change::Set(options) => {
                changed.options.retain(|option| options.iter().all(|new| new.key != option.key));
                changed.options.extend(options.iter().cloned());
            }
            Change::Reset(keys) => {
                if let Some(key) = keys.iter().find(|key| key.value == "connector") {
                    let error = Error::script("a table keeps its connector");
                    return Err(at(error.help("DROP the table and create another one"), key));
                }
                changed.options.retain(|option| keys.iter().all(|key| key.value != option.key));
            }
            Change::Rename(_) | Change::Query { .. } => return self.rename(alter),
        }
        self.replaced(&alter.name, |session| session.create_table(&changed))
    }

    /// Creates under the same name what is there already; if that fails, what was there stays.
    fn replaced(&mut self, name: &Ident, create: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let before = self.catalog.entries.remove(&name.value);
        let created = create(self);
        if let (Err(_), Some(before)) = (&created, before) {
            self.catalog.entries.insert(name.value.clone(), before);
        }
        created
    }

    fn rename(&mut self, alter: &Alter) -> Result<()> {
        let Change::Rename(new) = &alter.change else { return Ok(()) };
        if self.catalog.entries.contains_key(&new.value) {
            return Err(at(already_exists("the table or view", &new.value), new));
        }
        match self.catalog.entries.remove(&alter.name.value) {
            Some(Entry::Table(table)) => {
                let changed = CreateTable { name: new.clone(), ..(*table.definition).clone() };
                self.create_table(&changed)
            }
            Some(view) => {
                self.catalog.entries.insert(new.value.clone(), view);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Flink alters what lies in a catalog, which temporary tables do not.
fn refuse_temporary(temporary: bool, kind: &str, name: &Ident) -> Result<()> {
    if !temporary {
        return Ok(());
    }
    let error = Error::script(format!("the temporary {kind} {} cannot be altered", name.value));
    Err(at(error.help("DROP it and create it anew, or leave TEMPORARY out"), name))
}

fn at(error: Error, name: &Ident) -> Error {
    error.at_place(place_of(name.span))
}
