//! Functions of JSON texts.

mod path;
mod text;
mod tree;

use std::sync::Arc;

use arrow::array::{ArrayRef, ListBuilder, StringBuilder};
use arrow::datatypes::{Float64Type, Int32Type};

use super::EvalContext;
use super::function::{Json, OnExists, OnQuery, OnValue, Wrapper};
use super::nested::relabel;
use super::value::{Read, Texts, Value, build, build_flags, build_texts, flags, numbers, texts};
use crate::error::{Error, Result};
use crate::expr::Expr;
use crate::types::Type;
pub(crate) use path::Path;
use tree::Json as Tree;

/// The kernels. `args`: the expressions behind `values`, `to`: the type of the result.
pub(super) fn json(
    function: Json,
    args: &[Expr],
    values: &[Value],
    to: &Type,
    count: usize,
    context: &EvalContext,
) -> Result<ArrayRef> {
    match (function, values) {
        (Json::Exists(on_error), [input, path]) => exists(input, path, on_error, count),
        (Json::Value(on_empty, on_error), [input, path, empty, error]) => {
            let defaults = Defaults { on_empty, on_error, empty, error };
            value(&mut Lookup::new(input, path)?, &defaults, to, count)
        }
        (Json::Query { wrapper, on_empty, on_error }, [input, path]) => {
            let rules = Query { wrapper, on_empty, on_error };
            query(&mut Lookup::new(input, path)?, &rules, to, count)
        }
        (Json::Is(shape), [input]) => {
            let input = texts(input)?;
            build_flags(count, |row| {
                let tree = input.read(row).and_then(Tree::parse);
                Ok(Some(tree.is_some_and(|tree| match shape {
                    super::function::JsonShape::Value => true,
                    super::function::JsonShape::Object => matches!(tree, Tree::Object(_)),
                    super::function::JsonShape::Array => matches!(tree, Tree::Array(_)),
                    super::function::JsonShape::Scalar => tree.is_scalar(),
                })))
            })
        }
        (Json::Text, [input]) => text::of(input, &kind_of(args, 0)?, context),
        (Json::Quote, [input]) => text::quoted(&texts(input)?, count),
        (Json::Unquote, [input]) => text::unquoted(&texts(input)?, count),
        (Json::Object { absent }, _) => object(args, values, absent, count, context),
        (Json::Array { absent }, _) => array(args, values, absent, count, context),
        (Json::Parsed, [input]) => parsed(&texts(input)?, count),
        _ => Err(Error::internal(format!("{function:?} of {} arguments", values.len()))),
    }
}

fn kind_of(args: &[Expr], at: usize) -> Result<Type> {
    match args.get(at) {
        Some(arg) => Ok(arg.data_type().kind.clone()),
        None => Err(Error::internal("a function of JSON lacks an argument")),
    }
}

/// What a path leads to in a row's document.
enum Found {
    /// The document or the path is NULL.
    Null,
    /// A JSON null; in lax mode also nothing at all, or a document that is no JSON.
    Nothing,
    /// Another value.
    Value(Tree),
    /// The document is no JSON, the path is none, or it leads nowhere.
    Failed(String),
}

/// Reads documents and follows paths; the last path is kept.
struct Lookup<'a> {
    input: Texts<'a>,
    paths: Texts<'a>,
    last: Option<(String, Option<Path>)>,
}

impl<'a> Lookup<'a> {
    fn new(input: &'a Value, path: &'a Value) -> Result<Self> {
        Ok(Lookup { input: texts(input)?, paths: texts(path)?, last: None })
    }

    /// Also says whether the path is a strict one.
    fn at(&mut self, row: usize) -> Result<(Found, bool)> {
        let (Some(input), Some(text)) = (self.input.read(row), self.paths.read(row)) else {
            return Ok((Found::Null, true));
        };
        if self.last.as_ref().is_none_or(|(last, _)| last != text) {
            self.last = Some((text.to_string(), Path::parse(text)?));
        }
        let Some((_, Some(path))) = &self.last else {
            return Ok((Found::Failed(format!("'{text}' is no JSON path")), true));
        };
        let found = match Tree::parse(input) {
            None if path.strict => Found::Failed("the text is no JSON".to_string()),
            None => Found::Nothing,
            Some(tree) => match path.find(&tree) {
                Ok(Some(value)) => Found::Value(value),
                Ok(None) => Found::Nothing,
                Err(path::NotFound) => Found::Failed(format!("'{text}' leads nowhere")),
            },
        };
        Ok((found, path.strict))
    }
}

fn failed(function: &str, why: &str) -> Error {
    Error::data(format!("{function}: {why}")).help("without ERROR ON ERROR and ERROR ON EMPTY the result is NULL")
}

fn exists(input: &Value, path: &Value, on_error: OnExists, count: usize) -> Result<ArrayRef> {
    let mut lookup = Lookup::new(input, path)?;
    build_flags(count, |row| {
        let (found, _) = lookup.at(row)?;
        Ok(match found {
            Found::Null => None,
            Found::Nothing => Some(false),
            Found::Value(_) => Some(true),
            Found::Failed(why) => match on_error {
                OnExists::True => Some(true),
                OnExists::False => Some(false),
                OnExists::Unknown => None,
                OnExists::Error => return Err(failed("JSON_EXISTS", &why)),
            },
        })
    })
}

/// What JSON_VALUE gives where there is no value.
struct Defaults<'a> {
    on_empty: OnValue,
    on_error: OnValue,
    empty: &'a Value,
    error: &'a Value,
}

/// The outcome of a row: a value of the document, one of the defaults, or NULL.
enum Outcome {
    Value(Tree),
    Empty,
    Error,
    Null,
}

impl Defaults<'_> {
    fn settle(&self, (found, strict): (Found, bool)) -> Result<Outcome> {
        let why = match found {
            Found::Value(tree) if tree.is_scalar() => return Ok(Outcome::Value(tree)),
            Found::Null => return Ok(Outcome::Null),
            Found::Value(_) | Found::Nothing if strict => Some("the path does not lead to a single value".to_string()),
            Found::Value(_) | Found::Nothing => None,
            Found::Failed(why) => Some(why),
        };
        Ok(match why {
            None => match self.on_empty {
                OnValue::Null => Outcome::Null,
                OnValue::Default => Outcome::Empty,
                OnValue::Error => return Err(failed("JSON_VALUE", "the path leads to nothing")),
            },
            Some(why) => match self.on_error {
                OnValue::Null => Outcome::Null,
                OnValue::Default => Outcome::Error,
                OnValue::Error => return Err(failed("JSON_VALUE", &why)),
            },
        })
    }
}

fn value(lookup: &mut Lookup<'_>, defaults: &Defaults<'_>, to: &Type, count: usize) -> Result<ArrayRef> {
    let bad = |tree: &Tree| {
        Error::data(format!("JSON_VALUE: {} is no {to}", tree.shown()))
            .help("leave RETURNING out and TRY_CAST the text that JSON_VALUE gives then")
    };
    macro_rules! typed {
        ($read:expr, $build:expr, $convert:expr) => {{
            let (empty, error) = ($read(defaults.empty)?, $read(defaults.error)?);
            $build(count, |row| {
                Ok(match defaults.settle(lookup.at(row)?)? {
                    Outcome::Value(tree) => Some($convert(&tree).ok_or_else(|| bad(&tree))?),
                    Outcome::Empty => empty.read(row),
                    Outcome::Error => error.read(row),
                    Outcome::Null => None,
                })
            })
        }};
    }
    match to {
        Type::Boolean => typed!(flags, build_flags, |tree: &Tree| match tree {
            Tree::Bool(flag) => Some(*flag),
            _ => None,
        }),
        Type::Int => typed!(numbers::<Int32Type>, build::<Int32Type>, |tree: &Tree| match tree {
            Tree::Number(text) => text.parse::<i32>().ok(),
            _ => None,
        }),
        Type::Double => typed!(numbers::<Float64Type>, build::<Float64Type>, |tree: &Tree| match tree {
            Tree::Number(text) if text.contains(['.', 'E']) => text.parse::<f64>().ok(),
            _ => None,
        }),
        _ => {
            let (empty, error) = (texts(defaults.empty)?, texts(defaults.error)?);
            build_texts(count, |row| {
                Ok(match defaults.settle(lookup.at(row)?)? {
                    Outcome::Value(tree) => Some(tree.shown()),
                    Outcome::Empty => empty.read(row).map(str::to_owned),
                    Outcome::Error => error.read(row).map(str::to_owned),
                    Outcome::Null => None,
                })
            })
        }
    }
}

/// What JSON_QUERY does with what it finds and where it finds nothing.
struct Query {
    wrapper: Wrapper,
    on_empty: OnQuery,
    on_error: OnQuery,
}

impl Query {
    fn settle(&self, (found, strict): (Found, bool)) -> Result<Option<Tree>> {
        let found = match (found, self.wrapper) {
            (Found::Value(tree @ Tree::Array(_)), Wrapper::Conditional) => Found::Value(tree),
            (Found::Value(tree), Wrapper::Conditional | Wrapper::Always) => Found::Value(Tree::Array(vec![tree])),
            (found, _) => found,
        };
        match found {
            Found::Value(tree) if !tree.is_scalar() => Ok(Some(tree)),
            Found::Null => Ok(None),
            Found::Value(_) | Found::Nothing if strict => {
                self.instead(self.on_error, "the path leads neither to an object nor to an array")
            }
            Found::Value(_) | Found::Nothing => self.instead(self.on_empty, "the path leads to nothing"),
            Found::Failed(why) => self.instead(self.on_error, &why),
        }
    }

    fn instead(&self, behaviour: OnQuery, why: &str) -> Result<Option<Tree>> {
        Ok(match behaviour {
            OnQuery::Null => None,
            OnQuery::EmptyArray => Some(Tree::Array(Vec::new())),
            OnQuery::EmptyObject => Some(Tree::Object(Vec::new())),
            OnQuery::Error => return Err(failed("JSON_QUERY", why)),
        })
    }
}

fn query(lookup: &mut Lookup<'_>, rules: &Query, to: &Type, count: usize) -> Result<ArrayRef> {
    if !matches!(to, Type::Array(_)) {
        return build_texts(count, |row| Ok(rules.settle(lookup.at(row)?)?.map(|tree| tree.shown())));
    }
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in 0..count {
        let mut tree = rules.settle(lookup.at(row)?)?;
        if matches!(tree, Some(Tree::Object(_))) {
            tree = rules.instead(rules.on_error, "the path leads to an object, not to an array")?;
        }
        let Some(Tree::Array(items)) = tree else {
            lists.append(false);
            continue;
        };
        for item in items {
            lists.values().append_option((item != Tree::Null).then(|| item.shown()));
        }
        lists.append(true);
    }
    relabel(Arc::new(lists.finish()), &to.to_arrow())
}

/// The JSON texts of a value that goes into an object or array: calls that give JSON stand as they are.
fn member(arg: &Expr, value: &Value, context: &EvalContext) -> Result<Value> {
    let nested = matches!(
        arg,
        Expr::Call { function: super::Function::Json(Json::Object { .. } | Json::Array { .. } | Json::Parsed), .. }
    );
    if nested {
        return Ok(value.clone());
    }
    Ok(value.with(text::of(value, &arg.data_type().kind, context)?))
}

fn object(args: &[Expr], values: &[Value], absent: bool, count: usize, context: &EvalContext) -> Result<ArrayRef> {
    let mut members = Vec::new();
    for (args, values) in args.chunks(2).zip(values.chunks(2)) {
        let ([_, arg], [name, value]) = (args, values) else {
            return Err(Error::internal("JSON_OBJECT of a name without a value"));
        };
        members.push((name.clone(), member(arg, value, context)?));
    }
    let members = members.iter().map(|(name, value)| Ok((texts(name)?, texts(value)?)));
    let members = members.collect::<Result<Vec<_>>>()?;
    build_texts(count, |row| {
        let mut named = Vec::with_capacity(members.len());
        for (name, value) in &members {
            let name = name.read(row).ok_or_else(|| Error::data("a name of JSON_OBJECT is NULL"))?;
            let value = value.read(row);
            if value.is_some() || !absent {
                named.retain(|(other, _)| *other != name);
                named.push((name, value.unwrap_or("null")));
            }
        }
        named.sort_by(|(a, _), (b, _)| tree::java_order(a, b));
        let mut out = String::from("{");
        for (i, (name, value)) in named.into_iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            tree::write_text(name, &mut out);
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
        Ok(Some(out))
    })
}

fn array(args: &[Expr], values: &[Value], absent: bool, count: usize, context: &EvalContext) -> Result<ArrayRef> {
    let items = args.iter().zip(values).map(|(arg, value)| member(arg, value, context));
    let items = items.collect::<Result<Vec<_>>>()?;
    let items = items.iter().map(texts).collect::<Result<Vec<_>>>()?;
    build_texts(count, |row| {
        let shown = items.iter().map(|item| item.read(row));
        let shown: Vec<&str> =
            shown.filter(|item| item.is_some() || !absent).map(|item| item.unwrap_or("null")).collect();
        Ok(Some(format!("[{}]", shown.join(","))))
    })
}

/// `JSON(text)` within JSON_OBJECT and JSON_ARRAY.
fn parsed(input: &Texts<'_>, count: usize) -> Result<ArrayRef> {
    build_texts(count, |row| {
        let Some(text) = input.read(row) else { return Ok(None) };
        let tree = Tree::parse(text).ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            Error::data(format!("JSON('{shown}'): the text is no JSON")).help("leave JSON(…) out to get a JSON string")
        })?;
        let mut out = String::new();
        tree.write(&mut out);
        Ok(Some(out))
    })
}
