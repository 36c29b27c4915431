//! The functions of OVER as expressions over what its operator computes.
//!
//! As in Flink, AVG is SUM by COUNT, and STDDEV and VAR are made of sums, each step in the type of the result: of whole
//! numbers they are computed in whole numbers, and wrap.

use crate::aggregate::{self, AggregateKind, Setting};
use crate::error::{Error, Result};
use crate::expr::{Expr, Scalar, resolve};
use crate::plan::OverFunction;
use crate::sql::binder::{Binder, Context};
use crate::sql::logical::OverColumn;
use crate::types::{DataType, Type};

/// A function under OVER, apart from its window.
pub(super) struct OverArguments {
    pub args: Vec<Expr>,
    pub distinct: bool,
}

impl Binder<'_> {
    /// The expression that a function is over what the operator computes.
    pub(super) fn over_call(
        &mut self,
        name: &str,
        arguments: OverArguments,
        context: &mut Context<'_>,
    ) -> Result<Expr> {
        let OverArguments { args, distinct } = arguments;
        let by_place = ["FIRST_VALUE", "LAST_VALUE", "LAG"].contains(&name);
        if distinct && by_place {
            return Err(Error::unsupported(format!("{name}(DISTINCT …) with OVER")));
        }
        let mut call = |function: OverFunction, args: Vec<Expr>, output: DataType| {
            self.over_column(OverColumn { column: 0, function, distinct, args, output }, context)
        };
        let types: Vec<DataType> = args.iter().map(|arg| arg.data_type().clone()).collect();
        match (name, args.as_slice()) {
            ("FIRST_VALUE" | "LAST_VALUE", [argument]) => {
                let function = if name == "FIRST_VALUE" { OverFunction::FirstValue } else { OverFunction::LastValue };
                call(function, args.clone(), argument.data_type().kind.clone().nullable())
            }
            ("FIRST_VALUE" | "LAST_VALUE", _) => {
                Err(Error::script(format!("{name} takes one argument, got {}", args.len())))
            }
            ("LAG", _) => {
                let (offset, args) = lag(args)?;
                let output = args[0].data_type().kind.clone().nullable();
                call(OverFunction::Lag(offset), args, output)
            }
            _ => {
                let (kind, output) = aggregate::resolve(name, &types, distinct, &Setting::None)?;
                aggregate_of(kind, &args, output, &mut call)
            }
        }
    }
}

/// Registers a call.
type Register<'r> = &'r mut dyn FnMut(OverFunction, Vec<Expr>, DataType) -> Result<Expr>;

fn aggregate_of(kind: AggregateKind, args: &[Expr], output: DataType, call: Register<'_>) -> Result<Expr> {
    let Some(argument) = args.first() else { return call(OverFunction::Count, Vec::new(), output) };
    match kind {
        AggregateKind::Count if is_comparable(&argument.data_type().kind) => {
            call(OverFunction::Count, args.to_vec(), output)
        }
        AggregateKind::Count => Err(Error::unsupported(format!("COUNT of {} with OVER", argument.data_type().kind))),
        AggregateKind::Sum => call(OverFunction::Sum, args.to_vec(), output),
        AggregateKind::Min => call(OverFunction::Min, args.to_vec(), output),
        AggregateKind::Max => call(OverFunction::Max, args.to_vec(), output),
        AggregateKind::Avg => average(argument, output, call),
        AggregateKind::StddevPop | AggregateKind::StddevSamp | AggregateKind::VarPop | AggregateKind::VarSamp => {
            variance(kind, argument, output, call)
        }
        other => Err(Error::unsupported(format!("{other} with OVER"))),
    }
}

fn is_comparable(kind: &Type) -> bool {
    !matches!(kind, Type::Array(_) | Type::Map(..) | Type::Row(_) | Type::Binary(_) | Type::VarBinary(_))
}

/// SUM of an expression, which has a type that can be summed.
fn sum(argument: Expr, call: Register<'_>) -> Result<Expr> {
    let (_, output) = aggregate::resolve("SUM", &[argument.data_type().clone()], false, &Setting::None)?;
    call(OverFunction::Sum, vec![argument], output)
}

fn count(argument: &Expr, call: Register<'_>) -> Result<Expr> {
    call(OverFunction::Count, vec![argument.clone()], Type::BigInt.not_null())
}

fn average(argument: &Expr, output: DataType, call: Register<'_>) -> Result<Expr> {
    let sum = resolve::cast(sum(argument.clone(), call)?, output.clone(), false)?;
    let average = resolve::binary("/", sum, count(argument, call)?)?;
    resolve::cast(average, output, false)
}

/// `(SUM(x * x) - SUM(x) * SUM(x) / COUNT(x)) / COUNT(x)`, or by one less, or the root of it.
fn variance(kind: AggregateKind, argument: &Expr, output: DataType, call: Register<'_>) -> Result<Expr> {
    let cast = |expr: Expr| resolve::cast(expr, output.clone(), false);
    let squared = |expr: &Expr| cast(resolve::binary("*", expr.clone(), expr.clone())?);
    let value = cast(argument.clone())?;
    let squares = cast(sum(squared(&value)?, call)?)?;
    let total = cast(sum(value, call)?)?;
    let count = count(argument, call)?;
    let mean_part = cast(resolve::binary("/", squared(&total)?, cast(count.clone())?)?)?;
    let deviation = cast(resolve::binary("-", squares, mean_part)?)?;
    let by = if matches!(kind, AggregateKind::StddevSamp | AggregateKind::VarSamp) {
        let one = resolve::literal_number("1")?;
        let is_one = resolve::binary("=", count.clone(), one.clone())?;
        let less = resolve::binary("-", count, one)?;
        let null = Expr::literal(Scalar::Null, less.data_type().kind.clone().nullable());
        cast(resolve::case(vec![(is_one, null)], Some(less))?)?
    } else {
        cast(count)?
    };
    let variance = cast(resolve::binary("/", deviation, by)?)?;
    if matches!(kind, AggregateKind::StddevPop | AggregateKind::StddevSamp) {
        return cast(resolve::function("POWER", vec![variance, resolve::literal_number("0.5")?])?);
    }
    Ok(variance)
}

/// The offset of LAG, and its columns: the value and perhaps the default, of one type.
fn lag(mut args: Vec<Expr>) -> Result<(u64, Vec<Expr>)> {
    if args.is_empty() || args.len() > 3 {
        return Err(Error::script(format!("LAG takes one to three arguments, got {}", args.len())));
    }
    let offset = if args.len() > 1 { Some(args.remove(1)) } else { None };
    let offset = match offset {
        None => 1,
        Some(Expr::Literal { value: Scalar::Int(offset), .. }) => u64::try_from(offset)
            .map_err(|_| Error::script(format!("the offset {offset} of LAG should be positive")))?,
        Some(_) => return Err(Error::unsupported("LAG with an offset that is no number")),
    };
    if let [value, default] = args.as_slice()
        && value.data_type().kind != default.data_type().kind
    {
        let (value, default) = (&value.data_type().kind, &default.data_type().kind);
        return Err(Error::script(format!("LAG of {value} with a default of {default}"))
            .help(format!("cast the default: CAST(… AS {value})")));
    }
    Ok((offset, args))
}
