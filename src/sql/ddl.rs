//! `CREATE TABLE`.

use sqlparser::ast::{Expr, Ident};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token};

use super::dialect::unsupported;
use super::like::{Like, parse_like};
use super::processing;
use super::statement::{is_word, parse_comment, parse_name, take_word};
use super::text::spelled;
use super::types::parse_type;
use crate::types::DataType;

#[derive(Debug, Clone)]
pub(super) struct CreateTable {
    pub name: Ident,
    pub temporary: bool,
    pub if_not_exists: bool,
    pub columns: Vec<ColumnDef>,
    pub watermark: Option<WatermarkDef>,
    pub primary_key: Vec<Ident>,
    /// The name of its CONSTRAINT.
    pub key_name: Option<String>,
    pub comment: Option<String>,
    /// `PARTITIONED BY`.
    pub partition_keys: Vec<Ident>,
    pub options: Vec<OptionDef>,
    pub like: Option<Like>,
    /// Where the statement starts.
    pub start: Span,
}

#[derive(Debug, Clone)]
pub(super) struct ColumnDef {
    pub name: Ident,
    pub kind: ColumnKind,
    /// A computed column's expression as it was written.
    pub spelling: String,
    pub comment: Option<String>,
}

impl ColumnDef {
    /// Metadata that an INSERT would have to give.
    pub(super) fn is_written_metadata(&self) -> bool {
        matches!(&self.kind, ColumnKind::Metadata(metadata) if !metadata.is_virtual)
    }
}

#[derive(Debug, Clone)]
pub(super) enum ColumnKind {
    Physical(DataType),
    Computed(Box<Expr>),
    Metadata(MetadataDef),
}

/// `type METADATA [FROM 'key'] [VIRTUAL]`.
#[derive(Debug, Clone)]
pub(super) struct MetadataDef {
    pub data_type: DataType,
    /// Where it is not the column's name.
    pub key: Option<String>,
    /// Not written.
    pub is_virtual: bool,
    /// Where the word METADATA stands.
    pub span: Span,
}

impl CreateTable {
    /// Whether the column of that index is PROCTIME().
    pub(super) fn is_proctime(&self, index: usize) -> bool {
        self.columns.get(index).is_some_and(
            |column| matches!(&column.kind, ColumnKind::Computed(expression) if processing::is_call(expression)),
        )
    }
}

#[derive(Debug, Clone)]
pub(super) struct WatermarkDef {
    pub column: Vec<Ident>,
    pub expression: Expr,
    /// The expression as it was written.
    pub spelling: String,
    /// The tokens of the expression.
    pub span: Span,
}

impl WatermarkDef {
    /// Both are for the same column.
    pub(super) fn is_of(&self, other: &WatermarkDef) -> bool {
        self.column.iter().map(|part| &part.value).eq(other.column.iter().map(|part| &part.value))
    }
}

#[derive(Debug, Clone)]
pub(super) struct OptionDef {
    pub key: String,
    pub value: String,
    pub span: Span,
}

type Parsed<T> = Result<T, ParserError>;

/// Parses the rest of a statement whose `CREATE [TEMPORARY] TABLE` is taken.
pub(super) fn parse_create_table(parser: &mut Parser<'_>, start: Span, temporary: bool) -> Parsed<CreateTable> {
    let if_not_exists = parser.parse_keywords(&[Keyword::IF, Keyword::NOT, Keyword::EXISTS]);
    let name = parse_name(parser)?;
    let mut table = CreateTable {
        name,
        temporary,
        if_not_exists,
        columns: Vec::new(),
        watermark: None,
        primary_key: Vec::new(),
        key_name: None,
        comment: None,
        partition_keys: Vec::new(),
        options: Vec::new(),
        like: None,
        start,
    };
    if is_word(parser, 0, "AS") {
        return unsupported("CREATE TABLE … AS SELECT", parser.peek_token().span);
    }
    if !(is_word(parser, 0, "LIKE") || is_word(parser, 0, "WITH")) {
        parse_elements(parser, &mut table)?;
    }
    table.comment = parse_comment(parser)?;
    let token = parser.peek_token();
    if take_word(parser, "PARTITIONED") {
        parser.expect_keyword_is(Keyword::BY)?;
        parser.expect_token(&Token::LParen)?;
        table.partition_keys = parser.parse_comma_separated(Parser::parse_identifier)?;
        parser.expect_token(&Token::RParen)?;
    }
    if take_word(parser, "DISTRIBUTED") {
        return unsupported("DISTRIBUTED BY", token.span);
    }
    if parser.parse_keyword(Keyword::WITH) {
        parser.expect_token(&Token::LParen)?;
        table.options = parser.parse_comma_separated(parse_option)?;
        parser.expect_token(&Token::RParen)?;
    }
    let token = parser.peek_token();
    if parser.parse_keyword(Keyword::LIKE) {
        table.like = Some(parse_like(parser)?);
    } else if table.columns.is_empty() {
        return parser.expected("( and the columns of the table, or LIKE", token);
    }
    let token = parser.peek_token();
    if parser.parse_keyword(Keyword::AS) {
        return unsupported("CREATE TABLE … AS SELECT", token.span);
    }
    Ok(table)
}

fn parse_elements(parser: &mut Parser<'_>, table: &mut CreateTable) -> Parsed<()> {
    parser.expect_token(&Token::LParen)?;
    loop {
        parse_element(parser, table)?;
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    parser.expect_token(&Token::RParen)?;
    Ok(())
}

pub(super) fn parse_option(parser: &mut Parser<'_>) -> Parsed<OptionDef> {
    let key = parser.parse_literal_string()?;
    parser.expect_token(&Token::Eq)?;
    let span = parser.peek_token().span;
    let value = parser.parse_literal_string()?;
    Ok(OptionDef { key, value, span })
}

fn parse_element(parser: &mut Parser<'_>, table: &mut CreateTable) -> Parsed<()> {
    let token = parser.peek_token();
    if is_word(parser, 0, "WATERMARK") && is_word(parser, 1, "FOR") {
        return parse_watermark(parser, table);
    }
    if parser.parse_keyword(Keyword::CONSTRAINT) {
        table.key_name = Some(parser.parse_identifier()?.value);
        if !is_word(parser, 0, "PRIMARY") {
            return unsupported("a constraint other than PRIMARY KEY", token.span);
        }
    }
    if is_word(parser, 0, "PRIMARY") && is_word(parser, 1, "KEY") {
        parser.expect_keywords(&[Keyword::PRIMARY, Keyword::KEY])?;
        parser.expect_token(&Token::LParen)?;
        table.primary_key = parser.parse_comma_separated(Parser::parse_identifier)?;
        parser.expect_token(&Token::RParen)?;
        return parse_not_enforced(parser);
    }
    let name = parser.parse_identifier()?;
    if parser.parse_keyword(Keyword::AS) {
        let from = parser.index();
        let expression = parser.parse_expr()?;
        let spelling = spelled(parser, from);
        let comment = parse_comment(parser)?;
        table.columns.push(ColumnDef { name, kind: ColumnKind::Computed(Box::new(expression)), spelling, comment });
        return Ok(());
    }
    let data_type = parse_type(parser)?;
    if parser.parse_keywords(&[Keyword::PRIMARY, Keyword::KEY]) {
        table.primary_key = vec![name.clone()];
        parse_not_enforced(parser)?;
    }
    let span = parser.peek_token().span;
    let kind = if take_word(parser, "METADATA") {
        let key = if parser.parse_keyword(Keyword::FROM) { Some(parser.parse_literal_string()?) } else { None };
        let is_virtual = take_word(parser, "VIRTUAL");
        ColumnKind::Metadata(MetadataDef { data_type, key, is_virtual, span })
    } else {
        ColumnKind::Physical(data_type)
    };
    let comment = parse_comment(parser)?;
    table.columns.push(ColumnDef { name, kind, spelling: String::new(), comment });
    Ok(())
}

/// Flink insists on NOT ENFORCED, for it checks no keys.
fn parse_not_enforced(parser: &mut Parser<'_>) -> Parsed<()> {
    let token = parser.peek_token();
    if parser.parse_keyword(Keyword::NOT) && take_word(parser, "ENFORCED") {
        return Ok(());
    }
    parser.expected("NOT ENFORCED after PRIMARY KEY", token)
}

fn parse_watermark(parser: &mut Parser<'_>, table: &mut CreateTable) -> Parsed<()> {
    let token = parser.next_token();
    parser.expect_keyword_is(Keyword::FOR)?;
    let mut column = vec![parser.parse_identifier()?];
    while parser.consume_token(&Token::Period) {
        column.push(parser.parse_identifier()?);
    }
    parser.expect_keyword_is(Keyword::AS)?;
    let start = parser.peek_token().span.start;
    let from = parser.index();
    let expression = parser.parse_expr()?;
    let end = parser.get_current_token().span.end;
    if table.watermark.is_some() {
        return parser.expected("one WATERMARK only", token);
    }
    let spelling = spelled(parser, from);
    table.watermark = Some(WatermarkDef { column, expression, spelling, span: Span { start, end } });
    Ok(())
}
