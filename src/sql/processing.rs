//! Processing time: PROCTIME(), and windows that end by the clock.

use sqlparser::ast::Expr as Ast;

use super::binder::Binder;
use super::function::function_name;
use super::logical::{ColumnId, Rel};
use super::query::Relation;
use crate::error::{Error, Result};
use crate::expr::resolve;
use crate::plan::{Node, SourceSpec};

/// Whether an expression is PROCTIME() itself, which makes its column a processing-time attribute.
pub(super) fn is_call(ast: &Ast) -> bool {
    match ast {
        Ast::Nested(inner) => is_call(inner),
        Ast::Function(function) => function_name(function).is_ok_and(|name| name == "PROCTIME"),
        _ => false,
    }
}

impl Binder<'_> {
    /// A column of PROCTIME() beside those of a relation, which sees no name of it.
    pub(super) fn add_proctime(&mut self, input: &mut Relation) -> Result<ColumnId> {
        let expr = resolve::function("PROCTIME", Vec::new())?;
        let id = self.arena.add("proctime", expr.data_type().clone(), false);
        self.arena.columns[id].proctime = true;
        let below = std::mem::replace(&mut input.rel, Rel::OneRow);
        input.rel = Rel::Project { input: Box::new(below), defined: vec![(id, expr)] };
        Ok(id)
    }
}

/// The rows of windows that end by the clock, of which no window ends before the input does: none.
pub(super) fn rows_of_ended_windows(input: Rel) -> Rel {
    Rel::Filter { input: Box::new(input), predicate: resolve::literal_bool(false) }
}

/// Refuses inputs that may be there longer than a window of processing time.
pub(super) fn check_ends(node: &Node) -> Result<()> {
    if let Node::Scan(scan) = node {
        let endless = match &scan.source {
            SourceSpec::Files(files) => files.is_stdin(),
            SourceSpec::Datagen(datagen) => datagen.rows.is_none(),
            SourceSpec::Nexmark(nexmark) => nexmark.events.is_none(),
            SourceSpec::OneRow => false,
        };
        if endless {
            return Err(Error::unsupported(format!(
                "windows of processing time over table {}, which may have no end",
                scan.table
            ))
            .help("use event time: a column with a WATERMARK"));
        }
    }
    node.inputs().into_iter().try_for_each(check_ends)
}

/// What only knows windows of event time.
pub(super) fn unsupported(what: &str) -> Error {
    Error::unsupported(format!("{what} over windows of processing time"))
        .help("use event time: a column with a WATERMARK")
}
