//! From the schema of a file to the columns of a table: how each value is read, worked out once a file.
//!
//! Fields are found by name, as with Flink's reader schema. Those that the table does not declare are passed over;
//! those that the file lacks are NULL.

use super::build::{Builder, MISMATCH};
use super::schema::{FileSchema, Logical, Node};
use super::wire::{Cursor, Decoded};
use crate::types::{Field, Type};

/// How a value of the file gets into a column.
#[derive(Debug)]
pub(super) enum Plan {
    Null,
    Boolean,
    /// Of up to 64 bits, into a column of any width.
    Integer,
    Float,
    Double,
    Text,
    Fixed(usize),
    Enum(Vec<String>),
    /// A time of day or since 1970; how many ticks there are in a second.
    Ticks(i64),
    /// The digits in `fixed` bytes, or in as many as a length says; times `factor` for the declared scale.
    Decimal {
        fixed: Option<usize>,
        factor: i128,
    },
    /// A branch that fits no column is an error only where a value has it.
    Union(Vec<Result<Plan, String>>),
    Array(Box<Plan>),
    Map(Box<Plan>),
    Row(Record),
}

/// The fields of a record in the order of the file.
#[derive(Debug)]
pub(super) struct Record {
    steps: Vec<Step>,
    /// Columns that the file has not.
    missing: Vec<usize>,
}

#[derive(Debug)]
struct Step {
    name: String,
    node: usize,
    /// The column and how it is read.
    target: Option<(usize, Plan)>,
}

/// Why a file does not fit a table.
#[derive(Debug, PartialEq)]
pub(super) enum Misfit {
    /// The type in the file, with the type of a table that would fit, and the declared one.
    Type { found: String, fits: Option<Type>, declared: Type },
    /// A column that may not be NULL has no field in the file.
    Missing,
}

/// A misfit and the path of names to it.
pub(super) type Planned<T> = Result<T, (String, Misfit)>;

impl Record {
    pub fn new(schema: &FileSchema, fields: &[(String, usize)], declared: &[Field]) -> Planned<Self> {
        let mut found = vec![false; declared.len()];
        let mut steps = Vec::with_capacity(fields.len());
        for (name, node) in fields {
            let target = match declared.iter().position(|field| field.name == *name) {
                Some(column) if !found[column] => {
                    found[column] = true;
                    let plan = plan(schema, *node, &declared[column].data_type.kind)
                        .map_err(|(path, misfit)| (join(name, &path), misfit))?;
                    Some((column, plan))
                }
                _ => None,
            };
            steps.push(Step { name: name.clone(), node: *node, target });
        }
        let missing: Vec<usize> = (0..declared.len()).filter(|column| !found[*column]).collect();
        if let Some(column) = missing.iter().find(|column| !declared[**column].data_type.nullable) {
            return Err((declared[*column].name.clone(), Misfit::Missing));
        }
        Ok(Record { steps, missing })
    }

    /// Reads one record into the columns. A fault leaves them uneven.
    pub fn read(&self, cursor: &mut Cursor<'_>, schema: &FileSchema, columns: &mut [Builder]) -> Decoded<()> {
        for step in &self.steps {
            let result = match &step.target {
                Some((column, plan)) => plan.read(cursor, schema, &mut columns[*column]),
                None => cursor.skip(schema, step.node, 0),
            };
            result.map_err(|fault| format!("field `{}`: {fault}", step.name))?;
        }
        for column in &self.missing {
            columns[*column].push_null();
        }
        Ok(())
    }
}

impl Record {
    pub fn skip(&self, cursor: &mut Cursor<'_>, schema: &FileSchema) -> Decoded<()> {
        self.steps.iter().try_for_each(|step| cursor.skip(schema, step.node, 0))
    }

    /// Reads of a record that can be skipped the columns that fit, in ascending order.
    pub fn read_fitting(&self, bytes: &[u8], schema: &FileSchema, columns: &mut [Builder]) -> Vec<usize> {
        let (mut at, mut read) = (0, Vec::new());
        for step in &self.steps {
            let mut cursor = Cursor::new(&bytes[at..]);
            if let Some((column, plan)) = &step.target
                && plan.read(&mut cursor, schema, &mut columns[*column]).is_ok()
            {
                read.push(*column);
            }
            let mut cursor = Cursor::new(&bytes[at..]);
            if cursor.skip(schema, step.node, 0).is_err() {
                break;
            }
            at += cursor.position();
        }
        read.sort_unstable();
        read
    }
}

fn join(name: &str, path: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{name}.{path}") }
}

fn plan(schema: &FileSchema, id: usize, declared: &Type) -> Planned<Plan> {
    let misfit = || {
        let (found, fits) = (schema.name(id), schema.flink_type(id));
        Err((String::new(), Misfit::Type { found, fits, declared: declared.clone() }))
    };
    let integers = |declared: &Type| declared.is_integer();
    Ok(match (schema.node(id), declared) {
        (Node::Null, _) => Plan::Null,
        (Node::Union(branches), _) => return union(schema, branches, declared).map_or_else(misfit, Ok),
        (Node::Boolean, Type::Boolean) => Plan::Boolean,
        (Node::Int(None) | Node::Long(None), kind) if integers(kind) => Plan::Integer,
        // The number that a time is, for those who want it.
        (Node::Int(Some(_)), Type::Int | Type::BigInt) | (Node::Long(Some(_)), Type::BigInt) => Plan::Integer,
        (Node::Int(None) | Node::Long(None), Type::Float | Type::Double) => Plan::Integer,
        (Node::Float, Type::Float | Type::Double) => Plan::Float,
        (Node::Double, Type::Double) => Plan::Double,
        (Node::Text | Node::Bytes(None), Type::Char(_) | Type::VarChar(_)) => Plan::Text,
        (Node::Text | Node::Bytes(_), Type::Binary(_) | Type::VarBinary(_)) => Plan::Text,
        (Node::Enum(symbols), Type::Char(_) | Type::VarChar(_)) => Plan::Enum(symbols.clone()),
        (Node::Fixed(length, _), Type::Binary(_) | Type::VarBinary(_)) => Plan::Fixed(*length),
        (Node::Int(None | Some(Logical::Date)), Type::Date) => Plan::Integer,
        (Node::Int(None), Type::Time(_)) => Plan::Ticks(1_000),
        (Node::Int(Some(Logical::Time(per_second))) | Node::Long(Some(Logical::Time(per_second))), Type::Time(_)) => {
            Plan::Ticks(*per_second)
        }
        (Node::Long(Some(Logical::Timestamp(per_second, _))), Type::Timestamp(_) | Type::TimestampLtz(_)) => {
            Plan::Ticks(*per_second)
        }
        // Without a unit of their own they have the declared one, as in Flink.
        (Node::Long(None), Type::Timestamp(digits) | Type::TimestampLtz(digits)) => Plan::Ticks(match digits {
            0..=3 => 1_000,
            4..=6 => 1_000_000,
            _ => 1_000_000_000,
        }),
        (Node::Bytes(decimal) | Node::Fixed(_, decimal), Type::Decimal(_, scale)) => {
            let more = scale.checked_sub(decimal.map_or(*scale, |decimal| decimal.scale));
            let Some(more) = more else { return misfit() };
            let fixed = if let Node::Fixed(length, _) = schema.node(id) { Some(*length) } else { None };
            Plan::Decimal { fixed, factor: 10i128.pow(u32::from(more)) }
        }
        (Node::Array(item), Type::Array(element)) => Plan::Array(Box::new(plan(schema, *item, &element.kind)?)),
        (Node::Map(value), Type::Map(key, declared)) if key.kind.is_string() => {
            Plan::Map(Box::new(plan(schema, *value, &declared.kind)?))
        }
        (Node::Map(value), Type::Multiset(element)) if element.kind.is_string() => {
            Plan::Map(Box::new(plan(schema, *value, &Type::Int)?))
        }
        (Node::Record(fields), Type::Row(declared)) => Plan::Row(Record::new(schema, fields, declared)?),
        _ => return misfit(),
    })
}

/// `None` where no branch but null fits.
fn union(schema: &FileSchema, branches: &[usize], declared: &Type) -> Option<Plan> {
    let plans: Vec<_> = branches
        .iter()
        .map(|branch| {
            plan(schema, *branch, declared).map_err(|_| format!("a {} is no {declared}", schema.name(*branch)))
        })
        .collect();
    let fits = |plan: &Result<Plan, String>| matches!(plan, Ok(plan) if !matches!(plan, Plan::Null));
    let only_null = branches.iter().all(|branch| *schema.node(*branch) == Node::Null);
    (only_null || plans.iter().any(fits)).then_some(Plan::Union(plans))
}

impl Plan {
    fn read(&self, cursor: &mut Cursor<'_>, schema: &FileSchema, column: &mut Builder) -> Decoded<()> {
        match self {
            Plan::Null => {
                column.push_null();
                Ok(())
            }
            Plan::Union(branches) => match &branches[cursor.index(branches.len(), "branch of a union")?] {
                Ok(plan) => plan.read(cursor, schema, column),
                Err(fault) => Err(fault.clone()),
            },
            Plan::Text => column.push_text(cursor.bytes()?),
            Plan::Fixed(length) => column.push_text(cursor.take(*length)?),
            Plan::Enum(symbols) => {
                let symbol = cursor.index(symbols.len(), "symbol of an enum")?;
                column.push_text(symbols[symbol].as_bytes())
            }
            Plan::Integer => integer(cursor.long()?, column),
            Plan::Ticks(per_second) => ticks(cursor.long()?, *per_second, column),
            Plan::Decimal { fixed, factor } => {
                let bytes = if let Some(length) = fixed { cursor.take(*length)? } else { cursor.bytes()? };
                decimal(bytes, *factor, column)
            }
            Plan::Boolean | Plan::Float | Plan::Double => scalar(self, cursor, column),
            Plan::Array(plan) => {
                let Builder::List(list) = column else { return Err(MISMATCH.to_string()) };
                let items = cursor.items(|cursor| plan.read(cursor, schema, &mut list.items))?;
                list.end(items)
            }
            Plan::Map(plan) => {
                let Builder::Map(map) = column else { return Err(MISMATCH.to_string()) };
                let entries = cursor.items(|cursor| {
                    map.keys.push_text(cursor.bytes()?)?;
                    plan.read(cursor, schema, &mut map.values)
                })?;
                map.end(entries)
            }
            Plan::Row(record) => {
                let Builder::Row(row) = column else { return Err(MISMATCH.to_string()) };
                record.read(cursor, schema, &mut row.columns)?;
                row.end();
                Ok(())
            }
        }
    }
}

fn scalar(plan: &Plan, cursor: &mut Cursor<'_>, column: &mut Builder) -> Decoded<()> {
    match (plan, column) {
        (Plan::Boolean, Builder::Boolean(values)) => values.append_value(cursor.boolean()?),
        (Plan::Float, Builder::Float(values)) => values.append_value(f32::from_le_bytes(cursor.fixed()?)),
        (Plan::Float, Builder::Double(values)) => values.append_value(f64::from(f32::from_le_bytes(cursor.fixed()?))),
        (Plan::Double, Builder::Double(values)) => values.append_value(f64::from_le_bytes(cursor.fixed()?)),
        _ => return Err(MISMATCH.to_string()),
    }
    Ok(())
}

fn integer(value: i64, column: &mut Builder) -> Decoded<()> {
    let unfit = |kind: &str| format!("{value} does not fit into {kind}");
    match column {
        Builder::TinyInt(values) => values.append_value(i8::try_from(value).map_err(|_| unfit("TINYINT"))?),
        Builder::SmallInt(values) => values.append_value(i16::try_from(value).map_err(|_| unfit("SMALLINT"))?),
        Builder::Int(values) => values.append_value(i32::try_from(value).map_err(|_| unfit("INT"))?),
        Builder::BigInt(values) => values.append_value(value),
        Builder::Float(values) => values.append_value(value as f32),
        Builder::Double(values) => values.append_value(value as f64),
        Builder::Date(values) => values.append_value(i32::try_from(value).map_err(|_| unfit("DATE"))?),
        _ => return Err(MISMATCH.to_string()),
    }
    Ok(())
}

/// Ticks in the unit of the column: finer digits are cut off towards the past.
fn ticks(value: i64, per_second: i64, column: &mut Builder) -> Decoded<()> {
    let scaled = |wanted: i64| {
        if per_second > wanted {
            Some(value.div_euclid(per_second / wanted))
        } else {
            value.checked_mul(wanted / per_second)
        }
    };
    let unfit = |kind: &str| format!("{value} is out of the range of {kind}");
    match column {
        Builder::Time(values) => {
            let millis = scaled(1_000).filter(|millis| (0..86_400_000).contains(millis));
            values.append_value(millis.ok_or_else(|| unfit("TIME"))? as i32);
        }
        Builder::Timestamp(values) => {
            let value = scaled(values.per_second).ok_or_else(|| unfit("the timestamp"))?;
            values.push(value);
        }
        Builder::Nanos(values) => values.append_value(i128::from(value) * i128::from(1_000_000_000 / per_second)),
        _ => return Err(MISMATCH.to_string()),
    }
    Ok(())
}

/// Two's complement, most significant byte first, of any length.
fn decimal(bytes: &[u8], factor: i128, column: &mut Builder) -> Decoded<()> {
    let Builder::Decimal { values, precision, scale } = column else { return Err(MISMATCH.to_string()) };
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let fill = if negative { 0xFF } else { 0 };
    let (more, low) = bytes.split_at(bytes.len().saturating_sub(16));
    let mut whole = [fill; 16];
    whole[16 - low.len()..].copy_from_slice(low);
    let value = i128::from_be_bytes(whole);
    let fits = more.iter().all(|byte| *byte == fill) && (value < 0) == negative;
    let value = if fits { value.checked_mul(factor) } else { None };
    match value.filter(|value| value.unsigned_abs() < 10u128.pow(u32::from(*precision))) {
        Some(value) => values.append_value(value),
        None => return Err(format!("a decimal does not fit into DECIMAL({precision}, {scale})")),
    }
    Ok(())
}
