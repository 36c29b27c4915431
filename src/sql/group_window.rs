//! Legacy group windows: TUMBLE, HOP and SESSION in GROUP BY, and TUMBLE_START and the like above it.

use sqlparser::ast::{Expr as Ast, Function, FunctionArgumentList, FunctionArguments, Spanned};

use super::binder::{Binder, Context, located};
use super::function::{function_name, plain_argument};
use super::lint::{self, Lint, Rule};
use super::logical::{ColumnId, Rel, Window, WindowId};
use super::processing;
use super::query::Relation;
use super::scope::Scope;
use super::text::place_of;
use super::window::group_window_spec;
use crate::error::{Error, Result};
use crate::expr::{Expr, Scalar};
use crate::plan::{EmitSpec, WindowSpec};
use crate::types::Type;

/// The window of a GROUP BY, as it was written there.
#[derive(Debug)]
pub(super) struct GroupWindow {
    /// TUMBLE, HOP or SESSION.
    name: String,
    /// `None`: PROCTIME() itself.
    time: Option<ColumnId>,
    /// The arguments behind the time column.
    sizes: Vec<Ast>,
    pub id: WindowId,
}

/// The functions that tell something of a group window, without the name of the window.
const ABOUT: &[&str] = &["START", "END", "ROWTIME", "PROCTIME"];

/// The window and the part of it that a function like TUMBLE_START tells.
pub(super) fn auxiliary(name: &str) -> Option<(&str, &str)> {
    name.split_once('_').filter(|(window, part)| is_window(window) && ABOUT.contains(part))
}

fn is_window(name: &str) -> bool {
    matches!(name, "TUMBLE" | "HOP" | "SESSION")
}

/// The call of a window in GROUP BY, and its name.
fn written(ast: &Ast) -> Option<(String, &Function)> {
    match ast {
        Ast::Nested(inner) => written(inner),
        Ast::Function(function) => {
            let name = function_name(function).ok().filter(|name| is_window(name))?;
            Some((name, function))
        }
        _ => None,
    }
}

fn list(function: &Function) -> &[sqlparser::ast::FunctionArg] {
    match &function.args {
        FunctionArguments::List(list) => &list.args,
        _ => &[],
    }
}

impl Binder<'_> {
    /// Takes the window out of the expressions of a GROUP BY, and has the rows of `rel` belong to its windows.
    pub(super) fn group_window<'a>(
        &mut self,
        groups: &'a [Ast],
        scope: &Scope,
        rel: Rel,
    ) -> Result<(Vec<&'a Ast>, Option<GroupWindow>, Rel)> {
        let (mut rest, mut found): (Vec<&Ast>, Option<GroupWindow>) = (Vec::new(), None);
        let mut rel = Relation { rel, scope: scope.clone() };
        for ast in groups {
            let Some((name, function)) = written(ast) else {
                rest.push(ast);
                continue;
            };
            let (time, sizes) = self.window_arguments(&name, function, scope).map_err(|error| located(error, ast))?;
            match &found {
                Some(first) if first.is_called(&name, time, &sizes) => {}
                Some(_) => {
                    return Err(located(
                        Error::script("GROUP BY takes one window only")
                            .help("aggregate by the smaller window in a subquery, and by the larger one over it"),
                        ast,
                    ));
                }
                None => {
                    let (window, relation) = self.cut(name, (time, sizes), rel, ast)?;
                    (found, rel) = (Some(window), relation);
                }
            }
        }
        Ok((rest, found, rel.rel))
    }

    /// The time column of a call and the arguments behind it.
    fn window_arguments(&self, name: &str, function: &Function, scope: &Scope) -> Result<(Option<ColumnId>, Vec<Ast>)> {
        let args = list(function).iter().map(|arg| plain_argument(name, arg)).collect::<Result<Vec<_>>>()?;
        let Some((first, sizes)) = args.split_first() else {
            return Err(Error::script(format!("{name} in GROUP BY takes a time column and an interval"))
                .help("write TUMBLE(ts, INTERVAL '1' MINUTE)"));
        };
        let sizes = sizes.iter().map(|&ast| ast.clone()).collect();
        if processing::is_call(first) {
            return Ok((None, sizes));
        }
        let Some(time) = self.plain_column(first, scope) else {
            if let Ast::Identifier(name) = first {
                scope.find(name)?;
            }
            let error = Error::unsupported(format!("{name} over an expression"));
            return Err(located(error.help("name the column with the WATERMARK itself"), first));
        };
        Ok((Some(time), sizes))
    }

    /// Cuts windows over the rows of `input`.
    fn cut(
        &mut self,
        name: String,
        (written, sizes): (Option<ColumnId>, Vec<Ast>),
        mut input: Relation,
        ast: &Ast,
    ) -> Result<(GroupWindow, Relation)> {
        let time = match written {
            Some(time) => time,
            None => self.add_proctime(&mut input)?,
        };
        self.check_group_time(&name, time, &input).map_err(|error| located(error, ast))?;
        let function = group_window_spec(&name, &sizes).map_err(|error| located(error, ast))?;
        let place = place_of(ast.span());
        self.lints.extend(lint::of_sizes(&name, &function, sizes.iter(), place.as_ref()));
        let time_type = match self.arena.columns[time].data_type.kind {
            Type::TimestampLtz(_) => Type::TimestampLtz(3).not_null(),
            _ => Type::Timestamp(3).not_null(),
        };
        let boundary = Type::Timestamp(3).not_null();
        let [start, end] = ["window_start", "window_end"].map(|name| self.arena.add(name, boundary.clone(), false));
        let proctime = self.arena.columns[time].proctime;
        let last = self.arena.add("window_time", time_type.clone(), !proctime);
        self.arena.columns[last].proctime = proctime;
        let id = self.arena.windows.len();
        self.arena.windows.push(Window {
            function,
            start,
            end,
            time: Some(last),
            time_type,
            partition: None,
            legacy: true,
            proctime,
            place,
        });
        let rel = Rel::Window { input: Box::new(input.rel), window: id, time };
        Ok((GroupWindow { name, time: written, sizes, id }, Relation { rel, scope: input.scope }))
    }

    /// When the results of a window in GROUP BY change, and the column that says how.
    pub(super) fn emit_changes(&mut self, window: WindowId) -> Result<Option<(EmitSpec, ColumnId)>> {
        let window = &self.arena.windows[window];
        if !window.legacy {
            return Ok(None);
        }
        let proctime = window.proctime;
        let is_session = matches!(window.function, WindowSpec::Session { .. });
        let emit = self.settings.emit()?;
        if emit.is_none_or(|emit| emit.late_ms == 0) && self.settings.allow_lateness {
            let remedy = "with SET 'table.exec.emit.late-fire.enabled' = 'true' and a late-fire.delay of '0 ms' late \
                          rows give results again";
            self.note_lateness("a window in GROUP BY that does not fire late", remedy);
        }
        let Some(emit) = emit else { return Ok(None) };
        if is_session {
            return Err(Error::script("a SESSION in GROUP BY does not fire early or late, in Flink either")
                .help("RESET 'table.exec.emit.early-fire.enabled' and 'table.exec.emit.late-fire.enabled'"));
        }
        if proctime {
            return Err(processing::unsupported("early firing"));
        }
        if let Some(key) = self.settings.emits_delayed() {
            let message = format!(
                "'{key}' goes by the clock, which does not pass while files are read: windows fire at their end only"
            );
            let place = self.settings.place_of(&key);
            self.lints.push(Lint::new(Rule::DelayWithoutEffect, place, message, "'0 ms' fires at every row"));
        }
        Ok(Some((emit, self.kind_column())))
    }

    /// Says that rows may not be late.
    pub(super) fn note_lateness(&mut self, of: &str, remedy: &str) {
        let key = "table.exec.emit.allow-lateness";
        let message = format!("'{key}' has no effect on {of}");
        self.lints.push(Lint::new(Rule::LatenessWithoutEffect, self.settings.place_of(key), message, remedy));
    }

    /// What TUMBLE_START and the like tell of the window in GROUP BY.
    pub(super) fn window_part(
        &mut self,
        name: &str,
        (window, part): (&str, &str),
        list: &FunctionArgumentList,
        context: &Context<'_>,
    ) -> Result<Expr> {
        let found = context.grouping.and_then(|grouping| grouping.window.as_ref());
        let args = list.args.iter().map(|arg| plain_argument(name, arg)).collect::<Result<Vec<_>>>()?;
        let called = args.split_first().and_then(|(first, sizes)| {
            let sizes: Vec<Ast> = sizes.iter().map(|&ast| ast.clone()).collect();
            match self.plain_column(first, context.scope) {
                Some(time) => Some((Some(time), sizes)),
                None => processing::is_call(first).then_some((None, sizes)),
            }
        });
        let found = found.filter(|found| called.is_some_and(|(time, sizes)| found.is_called(window, time, &sizes)));
        let Some(found) = found else {
            let error = Error::script(format!("{name} has no {window} of the same arguments in GROUP BY"));
            return Err(match context.clause {
                "SELECT" | "HAVING" => error.help(format!("repeat what stands in {window}(…) word for word")),
                _ => error.help(format!("{name} belongs into SELECT and HAVING, with {window}(…) in GROUP BY")),
            });
        };
        let window = &self.arena.windows[found.id];
        let id = match part {
            "START" => window.start,
            "END" => window.end,
            "ROWTIME" if window.proctime => {
                return Err(Error::script("a window of processing time has no row time, in Flink either")
                    .help(format!("take {}_PROCTIME", found.name)));
            }
            "ROWTIME" => window.time.unwrap_or(window.end),
            "PROCTIME" if window.proctime => window.time.unwrap_or(window.end),
            // Of a window of event time, as in Flink.
            _ => return Ok(Expr::literal(Scalar::Null, Type::TimestampLtz(3).nullable())),
        };
        Ok(self.arena.expr(id))
    }
}

impl GroupWindow {
    /// Intervals must be written alike, as in Flink: INTERVAL '60' SECOND is not INTERVAL '1' MINUTE.
    fn is_called(&self, name: &str, time: Option<ColumnId>, sizes: &[Ast]) -> bool {
        self.name == name && self.time == time && self.sizes == sizes
    }
}
