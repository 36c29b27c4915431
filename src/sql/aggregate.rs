//! Calls of aggregate functions: their arguments, their clauses and what they fix.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::Float64Type;
use sqlparser::ast::{
    DuplicateTreatment, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArgumentList,
    NullTreatment,
};

use super::binder::{Binder, Context, located};
use super::constant::value_of;
use super::function::plain_argument;
use super::lint::{Lint, Rule};
use super::logical::Call;
use super::text::place_of;
use crate::aggregate::{self, AggregateKind, Setting};
use crate::error::{Error, Place, Result};
use crate::expr::{Expr, Scalar, resolve};
use crate::types::Type;
use sqlparser::ast::Spanned;

/// More bins would be a result to draw, not to read; each group keeps all of them.
const BINS_MAX: f64 = 10_000.0;

/// What stands in a call besides its arguments.
#[derive(Default)]
struct Clauses {
    nulls: Option<NullTreatment>,
    ordered: bool,
}

impl Binder<'_> {
    /// Registers an aggregate call and stands a column in for its result.
    pub(super) fn aggregate(
        &mut self,
        name: &str,
        function: &Function,
        list: &FunctionArgumentList,
        context: &mut Context<'_>,
    ) -> Result<Expr> {
        if context.calls.is_none() {
            return Err(Error::script(format!("the aggregate function {name} has no place in {}", context.clause))
                .help("aggregates belong into SELECT and HAVING; compute one in a subquery to filter by it"));
        }
        let kind = aggregate::kind_of(name)?;
        if kind == AggregateKind::ApproxCountDistinct && self.settings.is_streaming() {
            return Err(Error::script("APPROX_COUNT_DISTINCT does not exist in streaming mode, in Flink").help(
                "take COUNT(DISTINCT x); or leave out SET 'execution.runtime-mode', and it counts approximately",
            ));
        }
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        let mut inner = Context::new(context.scope, "the argument of an aggregate function");
        let clauses = self.aggregate_clauses(name, function, list, &mut inner)?;
        let mut args = if matches!(kind, AggregateKind::JsonArrayAgg | AggregateKind::JsonObjectAgg) {
            self.json_aggregate(name, &list.args, &mut inner)?
        } else {
            self.aggregate_arguments(name, list, &mut inner)?
        };
        let mut setting = setting(name, kind, &mut args)?;
        if clauses.nulls == Some(NullTreatment::IgnoreNulls) {
            setting = Setting::IgnoreNulls;
        }
        let filter = match &function.filter {
            None => None,
            Some(filter) => Some(self.condition(filter, &mut Context::new(context.scope, "FILTER"))?),
        };
        let types: Vec<_> = args.iter().map(|arg| arg.data_type().clone()).collect();
        let (kind, mut output) = aggregate::resolve(name, &types, distinct, &setting)?;
        if filter.is_some() && !kind.is_never_null() {
            // No row may pass the filter.
            output.nullable = true;
        }
        let calls = context.calls.as_deref_mut().expect("checked above");
        let call = Call { column: 0, kind, distinct, args, filter, setting, place: place_of(function.span()), output };
        let column = match calls.iter().find(|other| other.computes_same(&call)) {
            Some(same) => same.column,
            None => {
                let column = self.arena.add(aggregate_name(name, calls.len()), call.output.clone(), false);
                calls.push(Call { column, ..call });
                column
            }
        };
        Ok(self.arena.expr(column))
    }

    fn aggregate_arguments(
        &mut self,
        name: &str,
        list: &FunctionArgumentList,
        context: &mut Context<'_>,
    ) -> Result<Vec<Expr>> {
        if matches!(list.args.as_slice(), [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]) {
            if name != "COUNT" {
                return Err(Error::script(format!("{name}(*) does not exist")).help("only COUNT takes '*'"));
            }
            return Ok(Vec::new());
        }
        let mut args = Vec::with_capacity(list.args.len());
        for arg in &list.args {
            let ast = plain_argument(name, arg)?;
            let arg = self.expr(ast, context)?;
            self.refuse_null(&arg).map_err(|error| located(error, ast))?;
            args.push(arg);
        }
        if args.is_empty() {
            return Err(Error::script(format!("{name} needs an argument")));
        }
        Ok(args)
    }

    /// Only ARRAY_AGG says what becomes of NULLs. It and JSON_ARRAYAGG take an ORDER BY, which does nothing in Flink.
    fn aggregate_clauses(
        &mut self,
        name: &str,
        function: &Function,
        list: &FunctionArgumentList,
        context: &mut Context<'_>,
    ) -> Result<Clauses> {
        let mut clauses = Clauses { nulls: function.null_treatment, ..Clauses::default() };
        for clause in &list.clauses {
            match clause {
                FunctionArgumentClause::IgnoreOrRespectNulls(treatment) => clauses.nulls = Some(*treatment),
                FunctionArgumentClause::OrderBy(keys) if name == "ARRAY_AGG" => {
                    keys.iter().try_for_each(|key| self.expr(&key.expr, context).map(|_| ()))?;
                    clauses.ordered = true;
                }
                other => return Err(Error::script(format!("{name} takes no '{other}', as in Flink"))),
            }
        }
        if clauses.nulls.is_some() && name != "ARRAY_AGG" {
            let error = Error::script(format!("{name} takes neither IGNORE NULLS nor RESPECT NULLS, as in Flink"));
            return Err(match name {
                "FIRST_VALUE" | "LAST_VALUE" => error.help(format!("leave it out: {name} passes over NULLs")),
                _ => error.help("filter them: FILTER (WHERE x IS NOT NULL)"),
            });
        }
        if !function.within_group.is_empty() {
            return Err(Error::script(format!("{name} takes no WITHIN GROUP, as in Flink"))
                .help("leave it out: values come in the order in which their rows arrive"));
        }
        if clauses.ordered {
            self.note_order(name, place_of(function.span()));
        }
        Ok(clauses)
    }

    /// Flink takes an ORDER BY here and does not look at it.
    pub(super) fn note_order(&mut self, name: &str, place: Option<Place>) {
        let message = format!("the ORDER BY in {name} has no effect, as in Flink: values come by arrival");
        let remedy = if name == "ARRAY_AGG" { "sort the result with ARRAY_SORT" } else { "leave it out" };
        self.lints.push(Lint::new(Rule::OrderWithoutEffect, place, message, remedy));
    }
}

/// A name for the plan; the query gives the column its own.
fn aggregate_name(name: &str, number: usize) -> String {
    format!("{}${number}", name.to_ascii_lowercase())
}

/// What a call fixes; takes the arguments away that are no columns.
fn setting(name: &str, kind: AggregateKind, args: &mut Vec<Expr>) -> Result<Setting> {
    match kind {
        AggregateKind::ListAgg => separator(args),
        AggregateKind::Percentile | AggregateKind::ApproxPercentile => {
            let weights = usize::from(kind == AggregateKind::Percentile);
            if args.len() < 2 || args.len() > 2 + weights {
                let more = if weights > 0 { ", and a weight if you like" } else { "" };
                return Err(Error::script(format!("{name} takes a value and a fraction{more}"))
                    .help(format!("the median is {name}(x, 0.5)")));
            }
            fractions(name, &args.remove(1))
        }
        AggregateKind::Histogram => {
            let [_, low, high, bins] = args.as_slice() else {
                return Err(Error::script(
                    "HISTOGRAM takes a value, the lowest and the highest bound, and how many bins",
                )
                .help("HISTOGRAM(x, 0, 100, 10) counts by tens"));
            };
            let [low, high, bins] = [low, high, bins].map(|bound| number(name, bound));
            let setting = bins_of(low?, high?, bins?)?;
            args.truncate(1);
            Ok(setting)
        }
        _ => Ok(Setting::None),
    }
}

fn separator(args: &mut Vec<Expr>) -> Result<Setting> {
    match args.as_slice() {
        [_] => Ok(Setting::Separator(",".to_string())),
        [_, Expr::Literal { value: Scalar::String(text), .. }] => {
            let text = text.clone();
            args.truncate(1);
            Ok(Setting::Separator(text))
        }
        [_, _] => Err(Error::script("the separator of LISTAGG is a literal").help("write LISTAGG(s, ', ')")),
        _ => Err(Error::script(format!("LISTAGG takes a value and a separator, got {} arguments", args.len()))),
    }
}

fn fractions(name: &str, expr: &Expr) -> Result<Setting> {
    let list = matches!(&expr.data_type().kind, Type::Array(_));
    let values = if list { numbers(name, expr)? } else { vec![number(name, expr)?] };
    match values.iter().find(|fraction| !(0.0..=1.0).contains(*fraction)) {
        Some(beyond) => Err(Error::script(format!("{name} takes fractions from 0 to 1, got {beyond}"))
            .help("write the 95th percentile as 0.95")),
        None => Ok(Setting::Fractions { values, list }),
    }
}

fn bins_of(low: f64, high: f64, bins: f64) -> Result<Setting> {
    if !(low < high && low.is_finite() && high.is_finite()) {
        return Err(Error::script(format!("HISTOGRAM takes a lowest bound below its highest, got {low} and {high}")));
    }
    if bins.fract() != 0.0 || !(1.0..=BINS_MAX).contains(&bins) {
        return Err(Error::script(format!("HISTOGRAM takes from 1 to {BINS_MAX} bins, got {bins}")));
    }
    Ok(Setting::Bins { low, high, count: bins as u32 })
}

/// The value of a constant of any number type.
fn number(name: &str, expr: &Expr) -> Result<f64> {
    if !expr.data_type().kind.is_numeric() {
        return Err(not_constant(name, expr));
    }
    let array = constant(name, expr, Type::Double)?;
    if array.is_null(0) {
        return Err(not_constant(name, expr));
    }
    Ok(array.as_primitive::<Float64Type>().value(0))
}

/// The elements of a constant ARRAY.
fn numbers(name: &str, expr: &Expr) -> Result<Vec<f64>> {
    let of_numbers = matches!(&expr.data_type().kind, Type::Array(element) if element.kind.is_numeric());
    if !of_numbers {
        return Err(not_constant(name, expr));
    }
    let array = constant(name, expr, Type::Array(Box::new(Type::Double.nullable())))?;
    if array.is_null(0) {
        return Err(not_constant(name, expr));
    }
    let elements = array.as_list::<i32>().value(0);
    if elements.null_count() > 0 {
        return Err(not_constant(name, expr));
    }
    Ok(elements.as_primitive::<Float64Type>().values().to_vec())
}

/// The value of an expression without columns, in a row of its own.
fn constant(name: &str, expr: &Expr, kind: Type) -> Result<ArrayRef> {
    let mut reads = false;
    expr.for_each_column(&mut |_| reads = true);
    if reads {
        return Err(not_constant(name, expr));
    }
    value_of(&resolve::cast(expr.clone(), kind.nullable(), false)?)
}

fn not_constant(name: &str, expr: &Expr) -> Error {
    let help = match name {
        "HISTOGRAM" => "write HISTOGRAM(x, 0, 100, 10)".to_string(),
        _ => format!("write {name}(x, 0.95) or {name}(x, ARRAY[0.5, 0.95])"),
    };
    Error::script(format!("{name} takes constant numbers behind the value, not a column, NULL or {}", expr.data_type()))
        .help(help)
}
