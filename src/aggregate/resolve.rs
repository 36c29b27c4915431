//! Names and result types of Flink's aggregate functions.

use super::AggregateKind;
use crate::error::{Error, Result};
use crate::types::{DataType, Type};

/// Flink's aggregate functions that are not ours yet.
const OTHERS: &[&str] = &[
    "APPROX_COUNT_DISTINCT",
    "ARRAY_AGG",
    "COLLECT",
    "CUME_DIST",
    "DENSE_RANK",
    "FIRST_VALUE",
    "JSON_ARRAYAGG",
    "JSON_OBJECTAGG",
    "LAG",
    "LAST_VALUE",
    "LEAD",
    "LISTAGG",
    "NTILE",
    "PERCENTILE",
    "PERCENT_RANK",
    "RANK",
    "ROW_NUMBER",
    "SINGLE_VALUE",
];

const OURS: &[(&str, AggregateKind)] = &[
    ("COUNT", AggregateKind::Count),
    ("SUM", AggregateKind::Sum),
    ("AVG", AggregateKind::Avg),
    ("MIN", AggregateKind::Min),
    ("MAX", AggregateKind::Max),
    ("STDDEV", AggregateKind::StddevSamp),
    ("STDDEV_POP", AggregateKind::StddevPop),
    ("STDDEV_SAMP", AggregateKind::StddevSamp),
    ("VARIANCE", AggregateKind::VarSamp),
    ("VAR_POP", AggregateKind::VarPop),
    ("VAR_SAMP", AggregateKind::VarSamp),
];

/// The SQL name of a function.
pub fn name_of(kind: AggregateKind) -> &'static str {
    OURS.iter().find(|(_, ours)| *ours == kind).map_or("", |(name, _)| name)
}

/// Highest precision of a DECIMAL, which sums and averages have.
const PRECISION_MAX: u8 = 38;

/// The function of that SQL name (any case) for arguments of these types: the kind and Flink's result type.
///
/// Results are nullable, but for COUNT. SUM and AVG keep the type of integers and floats (sums wrap, averages
/// truncate); of DECIMAL(p, s), SUM is DECIMAL(38, s) and AVG, STDDEV and VAR are DECIMAL(38, max(6, s)).
///
/// # Errors
/// Kind Script for an unknown name (nearest offered) or wrong argument types; Unsupported for what Flink has.
pub fn resolve(name: &str, args: &[DataType], distinct: bool) -> Result<(AggregateKind, DataType)> {
    let upper = name.to_ascii_uppercase();
    let Some(&(_, kind)) = OURS.iter().find(|(ours, _)| *ours == upper) else {
        if OTHERS.contains(&upper.as_str()) {
            return Err(Error::unsupported(format_args!("the aggregate function {upper}")));
        }
        return Err(unknown(name, &upper));
    };
    let argument = match (args, kind) {
        ([], AggregateKind::Count) if !distinct => return Ok((kind, Type::BigInt.not_null())),
        ([argument], _) => &argument.kind,
        (_, AggregateKind::Count) if args.len() > 1 => {
            return Err(Error::unsupported("COUNT of several columns"));
        }
        _ => return Err(Error::script(format!("{upper} takes one argument, got {}", args.len()))),
    };
    let output = match kind {
        AggregateKind::Count => return Ok((kind, Type::BigInt.not_null())),
        AggregateKind::Min | AggregateKind::Max => comparable(argument),
        _ => numeric(kind, argument),
    };
    let wanted = if matches!(kind, AggregateKind::Min | AggregateKind::Max) { "comparable" } else { "numeric" };
    let output = output.ok_or_else(|| {
        Error::script(format!("{upper} takes a {wanted} argument, got {argument}"))
            .help("cast the argument, or choose another column")
    })?;
    Ok((kind, output.nullable()))
}

fn comparable(argument: &Type) -> Option<Type> {
    let nested =
        matches!(argument, Type::Array(_) | Type::Map(..) | Type::Row(_) | Type::Binary(_) | Type::VarBinary(_));
    (!nested).then(|| argument.clone())
}

fn numeric(kind: AggregateKind, argument: &Type) -> Option<Type> {
    match argument {
        Type::Decimal(_, scale) if kind == AggregateKind::Sum => Some(Type::Decimal(PRECISION_MAX, *scale)),
        Type::Decimal(_, scale) => Some(Type::Decimal(PRECISION_MAX, (*scale).max(6))),
        Type::Null => Some(Type::Null),
        numeric => numeric.is_numeric().then(|| numeric.clone()),
    }
}

fn unknown(name: &str, upper: &str) -> Error {
    let names = OURS.iter().map(|(ours, _)| *ours).chain(OTHERS.iter().copied());
    let nearest = names
        .map(|known| (strsim::damerau_levenshtein(upper, known), known))
        .min()
        .filter(|(distance, known)| *distance <= known.len().div_ceil(3));
    let error = Error::script(format!("unknown aggregate function {name}"));
    match nearest {
        Some((_, known)) => error.help(format!("did you mean {known}?")),
        None => error.help("known are COUNT, SUM, AVG, MIN, MAX, STDDEV_POP, STDDEV_SAMP, VAR_POP and VAR_SAMP"),
    }
}

/// True if `name` (any case) is an aggregate function of Flink, supported or not.
pub fn is_aggregate(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    OURS.iter().any(|(ours, _)| *ours == upper) || OTHERS.contains(&upper.as_str())
}

/// The names of the aggregate functions that are ours.
pub fn names() -> impl Iterator<Item = &'static str> {
    OURS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn output(name: &str, argument: Type) -> String {
        resolve(name, &[argument.not_null()], false).unwrap().1.to_string()
    }

    #[test]
    fn result_types_are_flinks() {
        assert_eq!(output("sum", Type::Int), "INT");
        assert_eq!(output("SUM", Type::TinyInt), "TINYINT");
        assert_eq!(output("Avg", Type::BigInt), "BIGINT");
        assert_eq!(output("SUM", Type::Decimal(10, 2)), "DECIMAL(38, 2)");
        assert_eq!(output("AVG", Type::Decimal(10, 2)), "DECIMAL(38, 6)");
        assert_eq!(output("AVG", Type::Decimal(10, 8)), "DECIMAL(38, 8)");
        assert_eq!(output("MIN", Type::Decimal(10, 2)), "DECIMAL(10, 2)");
        assert_eq!(output("MAX", Type::string()), "STRING");
        assert_eq!(output("STDDEV", Type::Int), "INT");
        assert_eq!(output("VARIANCE", Type::Decimal(10, 2)), "DECIMAL(38, 6)");
        assert_eq!(output("COUNT", Type::string()), "BIGINT NOT NULL");
        assert_eq!(resolve("COUNT", &[], false).unwrap(), (AggregateKind::Count, Type::BigInt.not_null()));
    }

    #[test]
    fn errors_say_what_to_do() {
        let error = |name: &str, args: &[DataType]| resolve(name, args, false).unwrap_err();
        assert_eq!(error("LISTAGG", &[Type::string().nullable()]).kind(), ErrorKind::Unsupported);
        assert!(format!("{:?}", error("SUMM", &[Type::Int.nullable()])).contains("did you mean SUM?"));
        assert!(error("SUM", &[Type::string().nullable()]).to_string().contains("numeric"));
        assert!(error("AVG", &[]).to_string().contains("one argument"));
        assert!(is_aggregate("first_value") && is_aggregate("count") && !is_aggregate("abs"));
    }
}
