//! Window functions in FROM: TUMBLE, HOP, CUMULATE and SESSION.

use sqlparser::ast::{Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArguments, Ident};

use super::binder::{Binder, located};
use super::dialect::table_argument_parts;
use super::function::function_name;
use super::interval::{IntervalValue, evaluate};
use super::lint;
use super::logical::{ColumnId, Rel, Role, Window};
use super::query::Relation;
use super::scope::Named;
use super::text::place_of;
use crate::error::{Error, Place, Result, nearest};
use crate::limits;
use crate::plan::WindowSpec;
use crate::types::Type;

/// A window function by its parameters.
struct Signature {
    name: &'static str,
    /// In positional order; the last one may be left out if `optional`.
    parameters: &'static [&'static str],
    optional: bool,
    usage: &'static str,
}

const SIGNATURES: &[Signature] = &[
    Signature {
        name: "TUMBLE",
        parameters: &["DATA", "TIMECOL", "SIZE", "OFFSET"],
        optional: true,
        usage: "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
    },
    Signature {
        name: "HOP",
        parameters: &["DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"],
        optional: true,
        usage: "HOP(TABLE t, DESCRIPTOR(ts), slide, size)",
    },
    Signature {
        name: "CUMULATE",
        parameters: &["DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"],
        optional: true,
        usage: "CUMULATE(TABLE t, DESCRIPTOR(ts), step, size)",
    },
    Signature {
        name: "SESSION",
        parameters: &["DATA", "TIMECOL", "GAP"],
        optional: false,
        usage: "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), gap)",
    },
];

/// Flink's table functions that are no window functions.
const FLINKS: &[&str] = &["FROM_CHANGELOG", "ML_EVALUATE", "ML_PREDICT", "TO_CHANGELOG", "VECTOR_SEARCH"];

impl Binder<'_> {
    /// A call of a window function; `place` is that of its name.
    pub(super) fn window_function(
        &mut self,
        name: &str,
        args: &[FunctionArg],
        place: Option<Place>,
    ) -> Result<Relation> {
        let placed = |error: Error| error.at_place(place.clone());
        let Some(signature) = SIGNATURES.iter().find(|signature| signature.name == name) else {
            return Err(placed(unknown(name)));
        };
        let args = arguments(signature, args).map_err(placed)?;
        let (input, partition) = self.data(signature, args[0].expect("DATA is required"))?;
        let time = self.time_column(name, args[1].expect("TIMECOL is required"), &input)?;
        let function = window_spec(signature, &args, true).map_err(|error| error.at_place(place.clone()))?;
        self.lints.extend(lint::of_sizes(name, &function, args[2..].iter().copied().flatten(), place.as_ref()));
        let partition = match (partition, name) {
            (keys, "SESSION") => {
                let keys = keys.unwrap_or_default();
                Some(keys.iter().map(|key| input.scope.find(key)).collect::<Result<Vec<_>>>()?)
            }
            (None, _) => None,
            (Some(keys), _) => {
                let error = Error::script(format!("{name} takes no PARTITION BY"))
                    .help("leave it out: GROUP BY takes the keys; only SESSION is partitioned");
                return Err(match keys.first().and_then(|key| place_of(key.span)) {
                    Some(place) => error.at_place(place),
                    None => placed(error),
                });
            }
        };
        Ok(self.attach_window(input, function, (time, partition), place))
    }

    fn attach_window(
        &mut self,
        input: Relation,
        function: WindowSpec,
        (time, partition): (ColumnId, Option<Vec<ColumnId>>),
        place: Option<Place>,
    ) -> Relation {
        let time_type = match self.arena.columns[time].data_type.kind {
            Type::TimestampLtz(_) => Type::TimestampLtz(3).not_null(),
            _ => Type::Timestamp(3).not_null(),
        };
        let id = self.arena.windows.len();
        let boundary = Type::Timestamp(3).not_null();
        let start = self.arena.add("window_start", boundary.clone(), false);
        let end = self.arena.add("window_end", boundary, false);
        let proctime = self.arena.columns[time].proctime;
        let window_time = self.arena.add("window_time", time_type.clone(), !proctime);
        self.arena.columns[window_time].proctime = proctime;
        self.arena.columns[window_time].current = self.arena.columns[time].current;
        let mut scope = input.scope.qualified(None);
        for (column, role) in [(start, Role::Start), (end, Role::End), (window_time, Role::Time)] {
            self.arena.columns[column].window = Some((id, role));
            let name = self.arena.columns[column].name.clone();
            scope.columns.push(Named { qualifier: None, name, id: column });
        }
        self.arena.windows.push(Window {
            function,
            start,
            end,
            time: Some(window_time),
            time_type,
            partition,
            legacy: false,
            proctime,
            place,
        });
        Relation { rel: Rel::Window { input: Box::new(input.rel), window: id, time }, scope }
    }

    /// The first argument: a table, view or query, and its PARTITION BY.
    fn data(&mut self, signature: &Signature, ast: &Ast) -> Result<(Relation, Option<Vec<Ident>>)> {
        let (source, keys) = match ast {
            Ast::Function(function) => match table_argument_parts(function) {
                Some((source, keys)) => (source, keys),
                None => return Err(located(no_table(signature), ast)),
            },
            Ast::Subquery(_) => (ast, None),
            _ => return Err(located(no_table(signature), ast)),
        };
        let input = match source {
            Ast::Subquery(query) => self.query(query)?,
            Ast::CompoundIdentifier(parts) => self.named_relation(parts)?,
            _ => return Err(located(no_table(signature), ast)),
        };
        let keys = keys.map(|keys| {
            let names = keys.iter().filter_map(|key| match key {
                Ast::Identifier(name) => Some(name.clone()),
                _ => None,
            });
            names.collect()
        });
        Ok((input, keys))
    }

    /// The column that DESCRIPTOR names; it must be an event-time attribute.
    fn time_column(&mut self, function: &str, ast: &Ast, input: &Relation) -> Result<ColumnId> {
        let name = descriptor(ast).map_err(|error| located(error, ast))?;
        let id = input.scope.find(name)?;
        self.check_time(function, id, &name.value, input).map_err(|error| error.at_place(place_of(name.span)))?;
        let at = |error: Error| error.at_place(place_of(name.span));
        if input.rel.open_window().is_some() {
            return Err(at(Error::unsupported(format!("{function} directly over another window function")).help(
                "aggregate by the inner window first, select its window_time, and use DESCRIPTOR(window_time) here",
            )));
        }
        if self.arena.is_past(&input.rel, id) {
            return Err(at(past(function).help("use DESCRIPTOR(window_time), the time at which their window ended")));
        }
        Ok(id)
    }

    /// The time column of a window in GROUP BY.
    pub(super) fn check_group_time(&self, function: &str, id: ColumnId, input: &Relation) -> Result<()> {
        let name = self.arena.columns[id].name.clone();
        self.check_time(function, id, &name, input)?;
        if self.arena.is_past(&input.rel, id) {
            return Err(past(function).help("group by a window of their window_time, the time at which it ended"));
        }
        Ok(())
    }

    /// Windows are cut on event-time attributes.
    fn check_time(&self, function: &str, id: ColumnId, name: &str, input: &Relation) -> Result<()> {
        let column = &self.arena.columns[id];
        if !column.data_type.kind.is_timestamp() {
            return Err(Error::script(format!(
                "{function} needs a time column of type TIMESTAMP or TIMESTAMP_LTZ, but '{name}' is {}",
                column.data_type
            ))
            .help("add a computed column such as ts AS TO_TIMESTAMP_LTZ(ms, 3) to the table, with a WATERMARK on it"));
        }
        if column.rowtime || column.proctime {
            return Ok(());
        }
        let error = Error::script(format!(
            "{function} needs an event-time attribute, but '{name}' is a plain {}",
            column.data_type.kind
        ));
        Err(self.no_rowtime_advice(error, id, name, &input.rel))
    }

    fn no_rowtime_advice(&self, error: Error, id: ColumnId, name: &str, rel: &Rel) -> Error {
        match (self.arena.columns[id].window, rel) {
            (Some(_), _) => error.help("window_start and window_end are plain timestamps: use window_time"),
            (None, Rel::Scan { table, .. }) if table.watermark.is_none() => error.help(format!(
                "add WATERMARK FOR {name} AS {name} - INTERVAL '5' SECOND to the columns of table {}",
                table.name
            )),
            _ => match rel.table().and_then(|table| table.watermark.as_ref().map(|w| (table, w.time))) {
                Some((table, time)) => error.help(format!(
                    "a CAST or a computation ends the time attribute: select '{}' of table {} as it is",
                    table.columns[time].name, table.name
                )),
                None => {
                    error.help(format!("only the column of a WATERMARK is one; '{name}' has none, or was computed"))
                }
            },
        }
    }
}

fn past(function: &str) -> Error {
    Error::unsupported(format!("{function} on the event time of rows that waited for a window"))
}

/// The error for a table function that is none of ours.
fn unknown(name: &str) -> Error {
    if FLINKS.contains(&name) {
        return Error::unsupported(format!("the table function {name}"));
    }
    let error = Error::script(format!("unknown table function {name}"));
    match nearest(name, SIGNATURES.iter().map(|signature| signature.name)) {
        Some(near) => error.help(format!("did you mean {near}?")),
        None => error
            .help("the window functions are TUMBLE, HOP, CUMULATE and SESSION; your own ones are not supported yet"),
    }
}

fn no_table(signature: &Signature) -> Error {
    Error::script(format!("the first argument of {} is a table", signature.name))
        .help(format!("write {}", signature.usage))
}

/// The column name in `DESCRIPTOR(name)`.
fn descriptor(ast: &Ast) -> Result<&Ident> {
    let wrong = || Error::script("expected DESCRIPTOR with one column").help("write DESCRIPTOR(ts)");
    let Ast::Function(function) = ast else { return Err(wrong()) };
    if function_name(function)? != "DESCRIPTOR" {
        return Err(wrong());
    }
    let FunctionArguments::List(list) = &function.args else { return Err(wrong()) };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(Ast::Identifier(name)))] => Ok(name),
        _ => Err(wrong()),
    }
}

/// The arguments in the order of the signature.
fn arguments<'a>(signature: &Signature, args: &'a [FunctionArg]) -> Result<Vec<Option<&'a Ast>>> {
    let count = signature.parameters.len();
    let mut found: Vec<Option<&Ast>> = vec![None; count];
    let named = args.iter().filter(|arg| !matches!(arg, FunctionArg::Unnamed(_))).count();
    let count_error = || {
        let expected = if signature.optional { format!("{} or {count}", count - 1) } else { count.to_string() };
        Error::script(format!("{} takes {expected} arguments, not {}", signature.name, args.len()))
            .help(format!("write {}", signature.usage))
    };
    if named != 0 && named != args.len() {
        return Err(Error::script("named and positional arguments do not mix").help("name all arguments, or none"));
    }
    if args.len() > count {
        return Err(count_error());
    }
    for (i, arg) in args.iter().enumerate() {
        let (index, expr) = match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => (i, expr),
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(expr), .. } => (parameter(signature, name)?, expr),
            _ => return Err(Error::script(format!("{} takes no '*'", signature.name))),
        };
        if i == 0 && index != 0 {
            return Err(located(
                Error::script("the table must be the first argument").help("put DATA => TABLE t first"),
                expr,
            ));
        }
        if found[index].replace(expr).is_some() {
            return Err(located(Error::script(format!("two arguments for {}", signature.parameters[index])), expr));
        }
    }
    let required = if signature.optional { count - 1 } else { count };
    if let Some(missing) = found[..required].iter().position(Option::is_none) {
        if named == 0 {
            return Err(count_error());
        }
        return Err(Error::script(format!("{} needs the argument {}", signature.name, signature.parameters[missing]))
            .help(format!("write {}", signature.usage)));
    }
    Ok(found)
}

fn parameter(signature: &Signature, name: &Ident) -> Result<usize> {
    let wanted = name.value.to_ascii_uppercase();
    if let Some(index) = signature.parameters.iter().position(|parameter| *parameter == wanted) {
        return Ok(index);
    }
    let error = Error::script(format!("{} has no argument '{}'", signature.name, name.value));
    let error = match nearest(&wanted, signature.parameters.iter().copied()) {
        Some(near) => error.help(format!("did you mean {near}?")),
        None => error.help(format!("its arguments are {}", signature.parameters.join(", "))),
    };
    Err(error.at_place(place_of(name.span)))
}

/// The milliseconds of an interval argument.
fn milliseconds(signature: &Signature, index: usize, ast: &Ast) -> Result<i64> {
    let parameter = signature.parameters[index].to_lowercase();
    match ast {
        Ast::Nested(inner) => milliseconds(signature, index, inner),
        Ast::Interval(interval) => match evaluate(interval).map_err(|error| located(error, ast))? {
            IntervalValue::Milliseconds(milliseconds) => Ok(milliseconds),
            IntervalValue::Months(_) => Err(located(
                Error::script(format!("the {parameter} of {} cannot be counted in months or years", signature.name))
                    .help("use SECOND, MINUTE, HOUR or DAY"),
                ast,
            )),
        },
        Ast::Value(_) | Ast::UnaryOp { .. } | Ast::BinaryOp { .. } | Ast::Identifier(_) | Ast::TypedString(_) => {
            Err(located(not_an_interval(signature, &parameter), ast))
        }
        _ => Err(located(not_an_interval(signature, &parameter).help(format!("write {}", signature.usage)), ast)),
    }
}

fn not_an_interval(signature: &Signature, parameter: &str) -> Error {
    Error::script(format!("the {parameter} of {} is an interval literal", signature.name))
        .help("write for instance INTERVAL '10' SECOND")
}

/// The windows of a TUMBLE, HOP or SESSION in GROUP BY. `sizes`: the arguments behind the time column.
pub(super) fn group_window_spec(name: &str, sizes: &[Ast]) -> Result<WindowSpec> {
    let Some(signature) = SIGNATURES.iter().find(|signature| signature.name == name) else {
        return Err(unknown(name));
    };
    let wanted = if name == "HOP" { 2 } else { 1 };
    if sizes.len() != wanted {
        let error = match name {
            _ if sizes.len() > wanted => Error::script(format!("{name} in GROUP BY takes no offset, in Flink either"))
                .help(format!("take the window function: FROM TABLE({})", signature.usage)),
            "HOP" => Error::script("HOP takes a time column, a slide and a size").help("write HOP(ts, slide, size)"),
            _ => Error::script(format!("{name} takes a time column and an interval"))
                .help(format!("write {name}(ts, INTERVAL '1' MINUTE)")),
        };
        return Err(error);
    }
    let args: Vec<Option<&Ast>> = [None, None].into_iter().chain(sizes.iter().map(Some)).collect();
    window_spec(signature, &args, false)
}

/// `multiples`: sizes must be multiples of slides.
fn window_spec(signature: &Signature, args: &[Option<&Ast>], multiples: bool) -> Result<WindowSpec> {
    let positive = |index: usize| -> Result<i64> {
        let ast = args[index].expect("required arguments are there");
        let value = milliseconds(signature, index, ast)?;
        if value > 0 {
            return Ok(value);
        }
        let parameter = signature.parameters[index].to_lowercase();
        Err(located(
            Error::script(format!("the {parameter} of {} must be positive, not {value} ms", signature.name))
                .help("write for instance INTERVAL '10' SECOND"),
            ast,
        ))
    };
    let offset = |index: usize| match args.get(index).copied().flatten() {
        None => Ok(0),
        Some(ast) => milliseconds(signature, index, ast),
    };
    let multiple = |size_ms: i64, step_ms: i64, step: &str| {
        if (size_ms % step_ms == 0 || !multiples) && size_ms / step_ms > limits::WINDOWS_PER_ROW_MAX {
            let (windows, most) = (size_ms / step_ms, limits::WINDOWS_PER_ROW_MAX);
            let error =
                Error::script(format!("each row would be in {windows} windows of {}; {most} at most", signature.name));
            return Err(located(error.help(format!("choose a longer {step}")), args[2].expect("required")));
        }
        if size_ms % step_ms == 0 || !multiples {
            return Ok(());
        }
        let error = Error::script(format!(
            "the size of {} must be a multiple of the {step}, but {size_ms} ms is none of {step_ms} ms",
            signature.name
        ));
        Err(located(
            error.help(format!("the order is {step}, then size; choose a {step} that divides the size")),
            args[2].expect("required"),
        ))
    };
    match signature.name {
        "TUMBLE" => {
            let (size_ms, offset_ms) = (positive(2)?, offset(3)?);
            if offset_ms.unsigned_abs() >= size_ms.unsigned_abs() {
                let error = Error::script(format!(
                    "the offset of TUMBLE must be smaller than its size, but {offset_ms} ms is not smaller than {size_ms} ms"
                ));
                let error = error.help("take the remainder of the offset by the size");
                return Err(match args[3] {
                    Some(ast) => located(error, ast),
                    None => error,
                });
            }
            Ok(WindowSpec::Tumble { size_ms, offset_ms })
        }
        "HOP" => {
            let (slide_ms, size_ms, offset_ms) = (positive(2)?, positive(3)?, offset(4)?);
            multiple(size_ms, slide_ms, "slide")?;
            Ok(WindowSpec::Hop { size_ms, slide_ms, offset_ms })
        }
        "CUMULATE" => {
            let (step_ms, size_ms, offset_ms) = (positive(2)?, positive(3)?, offset(4)?);
            multiple(size_ms, step_ms, "step")?;
            Ok(WindowSpec::Cumulate { size_ms, step_ms, offset_ms })
        }
        _ => Ok(WindowSpec::Session { gap_ms: positive(2)? }),
    }
}
