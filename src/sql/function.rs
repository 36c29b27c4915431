//! Calls of functions: scalar ones, aggregates, and those that have no place in an expression.

use sqlparser::ast::{
    Expr as Ast, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, ObjectNamePart,
};

use super::binder::{Binder, Context, located, subquery};
use super::over::Overs;
use crate::aggregate;
use crate::error::{Error, Result, nearest};
use crate::expr::{Expr, resolve};

/// The units that stand bare as the first argument of TIMESTAMPADD and TIMESTAMPDIFF.
const UNITS: &[&str] = &[
    "NANOSECOND",
    "MICROSECOND",
    "MILLISECOND",
    "SECOND",
    "MINUTE",
    "HOUR",
    "DAY",
    "WEEK",
    "MONTH",
    "QUARTER",
    "YEAR",
    "DECADE",
    "CENTURY",
    "MILLENNIUM",
];

impl Binder<'_> {
    pub(super) fn function(&mut self, function: &Function, context: &mut Context<'_>) -> Result<Expr> {
        let name = function_name(function)?;
        if super::rank::is_rank(&name) {
            return self.rank_call(&name, function, context);
        }
        if context.clause == "GROUP BY" && matches!(name.as_str(), "TUMBLE" | "HOP" | "SESSION") {
            return Err(Error::unsupported(format!("{name} inside of GROUPING SETS"))
                .help("read from the window function, and group by window_start and window_end outside of them"));
        }
        if let Some(window) = &function.over {
            return self.over(&name, function, window, context);
        }
        refuse_by_name(&name)?;
        let empty = FunctionArgumentList { duplicate_treatment: None, args: Vec::new(), clauses: Vec::new() };
        let list = match &function.args {
            FunctionArguments::None => &empty,
            FunctionArguments::List(list) => list,
            FunctionArguments::Subquery(_) => return Err(subquery("a subquery as an argument")),
        };
        if let Some(parts) = super::group_window::auxiliary(&name) {
            return self.window_part(&name, parts, list, context);
        }
        if matches!(name.as_str(), "GROUPING" | "GROUPING_ID" | "GROUP_ID") {
            let args = list.args.iter().map(|arg| plain_argument(&name, arg)).collect::<Result<Vec<_>>>()?;
            return self.grouping(&name, &args, context);
        }
        if !aggregate::is_aggregate(&name) && !resolve::is_function(&name) {
            return Err(unknown(&name));
        }
        if aggregate::is_aggregate(&name) {
            return self.aggregate(&name, function, list, context);
        }
        if !function.within_group.is_empty() || function.null_treatment.is_some() {
            return Err(Error::script(format!("{name} takes neither WITHIN GROUP nor a treatment of NULLs")));
        }
        if let Some(clause) = list.clauses.first() {
            return Err(Error::unsupported(format!("'{clause}' in a call of {name}")));
        }
        if function.filter.is_some() || list.duplicate_treatment.is_some() {
            return Err(Error::script(format!(
                "{name} is no aggregate function: it takes neither DISTINCT nor FILTER"
            )));
        }
        if name == "CURRENT_WATERMARK" {
            return self.current_watermark(&list.args, context);
        }
        if super::json::has_clauses(&name) {
            return self.json(&name, &list.args, context);
        }
        self.scalar(&name, list, context)
    }

    fn scalar(&mut self, name: &str, list: &FunctionArgumentList, context: &mut Context<'_>) -> Result<Expr> {
        let mut args = Vec::with_capacity(list.args.len());
        let takes_unit = matches!(name, "TIMESTAMPADD" | "TIMESTAMPDIFF");
        for (i, arg) in list.args.iter().enumerate() {
            let arg = plain_argument(name, arg)?;
            match arg {
                Ast::Identifier(unit) if takes_unit && i == 0 => {
                    let unit = unit.value.to_ascii_uppercase();
                    if !UNITS.contains(&unit.as_str()) {
                        return Err(Error::script(format!("{unit} is no unit of time"))
                            .help(format!("the units are {}", UNITS.join(", "))));
                    }
                    args.push(resolve::literal_string(&unit));
                }
                arg => args.push(self.expr(arg, context)?),
            }
        }
        if name == "ROW" { resolve::row(args) } else { resolve::function(name, args) }
    }

    /// The watermark before the row.
    fn current_watermark(&mut self, args: &[FunctionArg], context: &mut Context<'_>) -> Result<Expr> {
        let [argument] = args else {
            return Err(Error::script(format!("CURRENT_WATERMARK takes one argument, got {}", args.len()))
                .help("name the column with the event time"));
        };
        if context.overs.as_deref().is_some_and(Overs::is_of_groups) {
            return Err(Error::unsupported("CURRENT_WATERMARK of the rows of a GROUP BY"));
        }
        let ast = plain_argument("CURRENT_WATERMARK", argument)?;
        let argument = self.expr(ast, context)?;
        let column = self.plain_column(ast, context.scope).filter(|column| self.arena.columns[*column].rowtime);
        let Some(column) = column else {
            let what = format!("CURRENT_WATERMARK takes an event-time column, not a {}", argument.data_type().kind);
            return Err(located(Error::script(what).help("name the column that has the WATERMARK"), ast));
        };
        match self.arena.columns[column].current {
            Some(current) => Ok(self.arena.expr(current)),
            None => Err(Error::unsupported("CURRENT_WATERMARK of rows that do not come from one table unchanged")),
        }
    }
}

/// The function's name in upper case.
pub(super) fn function_name(function: &Function) -> Result<String> {
    match function.name.0.as_slice() {
        [ObjectNamePart::Identifier(name)] => Ok(name.value.to_ascii_uppercase()),
        _ => Err(Error::unsupported(format!("the function {} of a catalog or database", function.name))),
    }
}

pub(super) fn plain_argument<'a>(name: &str, arg: &'a FunctionArg) -> Result<&'a Ast> {
    match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) => Ok(arg),
        FunctionArg::Unnamed(_) => Err(Error::script(format!("{name} does not take '*'"))),
        _ => Err(Error::unsupported(format!("named arguments of {name}"))),
    }
}

/// The error for a name that is no function of Flink's.
fn unknown(name: &str) -> Error {
    let error = Error::script(format!("unknown function {name}"));
    match nearest(name, aggregate::names().chain(resolve::names().iter().copied())) {
        _ if name == "LENGTH" => error.help("Flink calls it CHAR_LENGTH"),
        Some(near) => error.help(format!("did you mean {near}?")),
        None => error.help("take one of Flink's functions; functions of your own are not supported yet"),
    }
}

fn refuse_by_name(name: &str) -> Result<()> {
    let error = match name {
        "TUMBLE" | "HOP" | "SESSION" => {
            Error::script(format!("{name} is a window: it belongs into GROUP BY, or into FROM as a window function"))
                .help(format!(
                    "write GROUP BY {name}(ts, …), by itself or with other columns, and {name}_START(ts, …) in SELECT"
                ))
        }
        "CUMULATE" => Error::script("CUMULATE is a window function and belongs into FROM")
            .help("write FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), step, size))"),
        "SOURCE_WATERMARK" => Error::unsupported(name),
        "LAG" | "LEAD" | "NTILE" | "PERCENT_RANK" | "CUME_DIST" => Error::script(format!("{name} needs a window"))
            .help(format!("write {name}(…) OVER (PARTITION BY … ORDER BY …)")),
        _ => return Ok(()),
    };
    Err(error)
}
