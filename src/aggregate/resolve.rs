//! Names and result types of Flink's aggregate functions.

use super::AggregateKind::{self, *};
use super::Setting;
use crate::error::{Error, Result};
use crate::types::{DataType, Type};

/// Flink's aggregate functions that are not ours yet.
const OTHERS: &[&str] =
    &["CUME_DIST", "DENSE_RANK", "LAG", "LEAD", "NTILE", "PERCENT_RANK", "RANK", "ROW_NUMBER", "SINGLE_VALUE"];

const OURS: &[(&str, AggregateKind)] = &[
    ("COUNT", Count),
    ("SUM", Sum),
    ("AVG", Avg),
    ("MIN", Min),
    ("MAX", Max),
    ("STDDEV_POP", StddevPop),
    ("STDDEV_SAMP", StddevSamp),
    ("STDDEV", StddevSamp),
    ("VAR_POP", VarPop),
    ("VAR_SAMP", VarSamp),
    ("VARIANCE", VarSamp),
    ("FIRST_VALUE", FirstValue),
    ("LAST_VALUE", LastValue),
    ("LISTAGG", ListAgg),
    ("ARRAY_AGG", ArrayAgg),
    ("COLLECT", Collect),
    ("JSON_OBJECTAGG", JsonObjectAgg),
    ("JSON_ARRAYAGG", JsonArrayAgg),
    ("PERCENTILE", Percentile),
    ("APPROX_COUNT_DISTINCT", ApproxCountDistinct),
    ("APPROX_PERCENTILE", ApproxPercentile),
    ("HISTOGRAM", Histogram),
];

/// The length that Flink gives the texts of the JSON aggregates; it cuts none.
const JSON_LENGTH: u32 = 2000;

/// Highest precision of a DECIMAL, which sums and averages have.
const PRECISION_MAX: u8 = 38;

/// The function of that SQL name, in any case.
///
/// # Errors
/// Kind Script for an unknown name (nearest offered); Unsupported for what Flink has and we have not.
pub fn kind_of(name: &str) -> Result<AggregateKind> {
    let upper = name.to_ascii_uppercase();
    match OURS.iter().find(|(ours, _)| *ours == upper) {
        Some((_, kind)) => Ok(*kind),
        None if OTHERS.contains(&upper.as_str()) => {
            Err(Error::unsupported(format_args!("the aggregate function {upper}")))
        }
        None => Err(unknown(name, &upper)),
    }
}

/// The function of that SQL name (any case) for arguments of these types, constants left out: the kind and Flink's
/// result type.
///
/// SUM and AVG keep the type of integers and floats (sums wrap, averages truncate); of DECIMAL(p, s), SUM is
/// DECIMAL(38, s) and AVG, STDDEV and VAR are DECIMAL(38, max(6, s)).
///
/// # Errors
/// As [`kind_of`]; kind Script for wrong argument types.
pub fn resolve(name: &str, args: &[DataType], distinct: bool, setting: &Setting) -> Result<(AggregateKind, DataType)> {
    let upper = name.to_ascii_uppercase();
    let kind = kind_of(name)?;
    let argument = match (args, kind) {
        ([], Count) if !distinct => return Ok((kind, Type::BigInt.not_null())),
        (_, Count) if args.len() > 1 => {
            return Err(Error::script("COUNT takes one column, as in Flink")
                .help("count the rows where none is NULL: COUNT(*) FILTER (WHERE a IS NOT NULL AND b IS NOT NULL)"));
        }
        ([argument, weight], Percentile) => {
            if !weight.kind.is_integer() && weight.kind != Type::Null {
                return Err(Error::script(format!("the weight of PERCENTILE is an integer, got {}", weight.kind)));
            }
            argument
        }
        ([key, _], JsonObjectAgg) => key,
        ([argument], _) if kind != JsonObjectAgg => argument,
        _ => {
            return Err(Error::script(format!("{upper} takes one argument, got {}", args.len())));
        }
    };
    let output = output(kind, argument, setting);
    output.map(|output| (kind, output)).ok_or_else(|| {
        let wanted = match kind {
            Min | Max => "comparable",
            ListAgg => "STRING",
            _ => "numeric",
        };
        Error::script(format!("{upper} takes a {wanted} argument, got {}", argument.kind))
            .help("cast the argument, or choose another column")
    })
}

/// The type of the result; `None` where the function does not take the argument.
fn output(kind: AggregateKind, argument: &DataType, setting: &Setting) -> Option<DataType> {
    let inner = &argument.kind;
    let number = || inner.is_numeric() || *inner == Type::Null;
    Some(match kind {
        Count | ApproxCountDistinct => Type::BigInt.not_null(),
        Min | Max => comparable(inner)?.nullable(),
        FirstValue | LastValue => argument.clone(),
        ListAgg => (inner.is_string() || *inner == Type::Null).then(|| argument.clone())?,
        ArrayAgg => {
            let kind = Type::Array(Box::new(argument.clone()));
            DataType { kind, nullable: argument.nullable }
        }
        Collect => Type::Multiset(Box::new(argument.clone())).not_null(),
        JsonObjectAgg | JsonArrayAgg => Type::VarChar(JSON_LENGTH).not_null(),
        Percentile | ApproxPercentile => match setting {
            Setting::Fractions { list: true, .. } => {
                number().then(|| Type::Array(Box::new(Type::Double.nullable())).nullable())?
            }
            _ => number().then(|| Type::Double.nullable())?,
        },
        Histogram => number().then(|| Type::Array(Box::new(Type::BigInt.not_null())).not_null())?,
        Sum | Avg | StddevPop | StddevSamp | VarPop | VarSamp => numeric(kind, inner)?.nullable(),
    })
}

fn comparable(argument: &Type) -> Option<Type> {
    let nested = argument.is_nested() || matches!(argument, Type::Binary(_) | Type::VarBinary(_));
    (!nested).then(|| argument.clone())
}

fn numeric(kind: AggregateKind, argument: &Type) -> Option<Type> {
    match argument {
        Type::Decimal(_, scale) if kind == Sum => Some(Type::Decimal(PRECISION_MAX, *scale)),
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
        None => error.help(format!("known are {}", self::names().collect::<Vec<_>>().join(", "))),
    }
}

/// True if `name` (any case) is an aggregate function of Flink, supported or not.
pub fn is_aggregate(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    OURS.iter().any(|(ours, _)| *ours == upper) || OTHERS.contains(&upper.as_str())
}

/// The function's name, or the first of its names.
pub(super) fn name_of(kind: AggregateKind) -> &'static str {
    OURS.iter().find(|(_, own)| *own == kind).map_or("", |(name, _)| *name)
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
        resolve(name, &[argument.not_null()], false, &Setting::None).unwrap().1.to_string()
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
        assert_eq!(output("FIRST_VALUE", Type::Int), "INT NOT NULL");
        assert_eq!(output("LISTAGG", Type::VarChar(3)), "VARCHAR(3) NOT NULL");
        assert_eq!(output("ARRAY_AGG", Type::Int), "ARRAY<INT NOT NULL> NOT NULL");
        assert_eq!(output("COLLECT", Type::Int), "MULTISET<INT NOT NULL> NOT NULL");
        assert_eq!(output("JSON_ARRAYAGG", Type::Int), "VARCHAR(2000) NOT NULL");
        assert_eq!(output("PERCENTILE", Type::Int), "DOUBLE");
        assert_eq!(
            resolve("COUNT", &[], false, &Setting::None).unwrap(),
            (AggregateKind::Count, Type::BigInt.not_null())
        );
    }

    #[test]
    fn errors_say_what_to_do() {
        let error = |name: &str, args: &[DataType]| resolve(name, args, false, &Setting::None).unwrap_err();
        assert_eq!(error("SINGLE_VALUE", &[Type::string().nullable()]).kind(), ErrorKind::Unsupported);
        assert!(format!("{:?}", error("SUMM", &[Type::Int.nullable()])).contains("did you mean SUM?"));
        assert!(error("SUM", &[Type::string().nullable()]).to_string().contains("numeric"));
        assert!(error("AVG", &[]).to_string().contains("one argument"));
        assert!(is_aggregate("first_value") && is_aggregate("count") && !is_aggregate("abs"));
    }
}
