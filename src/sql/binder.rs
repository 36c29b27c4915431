//! Scalar expressions: from syntax to typed expressions over the columns in scope.

use sqlparser::ast::{
    AccessExpr, BinaryOperator, CaseWhen, CastKind, CeilFloorKind, DataType as AstType, DateTimeField, Expr as Ast,
    Ident, InTarget, Interval, ObjectNamePart, SelectItem, SelectItemQualifiedWildcardKind, Spanned, Subscript,
    TrimWhereField, UnaryOperator, Value,
};
use sqlparser::tokenizer::TokenWithSpan;

use super::catalog::Catalog;
use super::grouping::Grouping;
use super::interval::{self, IntervalValue};
use super::lint::Lint;
use super::logical::{Arena, Call, ColumnId};
use super::over::Overs;
use super::query::CommonTable;
use super::rank::RankCall;
use super::scope::Scope;
use super::settings::Settings;
use super::text::place_of;
use super::types::parse_text;
use crate::error::{Error, Place, Result};
use crate::expr::{Expr, resolve};
use crate::types::Type;

/// Binds the names of one statement.
pub(super) struct Binder<'a> {
    pub catalog: &'a Catalog,
    pub settings: &'a Settings,
    /// The statement, for places that its syntax tree does not keep.
    pub tokens: &'a [TokenWithSpan],
    pub arena: Arena,
    pub common_tables: Vec<CommonTable>,
    /// What only the syntax tells.
    pub lints: Vec<Lint>,
    /// How many views, subqueries and common tables are being bound around this one.
    pub depth: usize,
    /// How many times the statement reads a table.
    pub scans: usize,
}

/// Where an expression stands: what it sees, and what it may be.
pub(super) struct Context<'s> {
    pub scope: &'s Scope,
    /// What the query around a subquery sees.
    pub outer: Option<&'s Scope>,
    /// "WHERE", "SELECT", …: for messages.
    pub clause: &'static str,
    /// The aggregate calls met so far; `None` where aggregates have no place.
    pub calls: Option<&'s mut Vec<Call>>,
    /// The windows of OVER; `None` where OVER has no place.
    pub overs: Option<&'s mut Overs>,
    /// The groups that GROUPING() may name; `None` where it has no place.
    pub grouping: Option<&'s Grouping>,
    /// The calls of ROW_NUMBER met so far; `None` where they have no place.
    pub ranks: Option<&'s mut Vec<RankCall>>,
    /// Where columns were named, for messages about grouping.
    pub places: Vec<(ColumnId, Place)>,
}

impl<'s> Context<'s> {
    pub(super) fn new(scope: &'s Scope, clause: &'static str) -> Self {
        Context {
            scope,
            outer: None,
            clause,
            calls: None,
            overs: None,
            grouping: None,
            ranks: None,
            places: Vec::new(),
        }
    }
}

impl<'a> Binder<'a> {
    pub(super) fn new(catalog: &'a Catalog, settings: &'a Settings) -> Self {
        Binder {
            catalog,
            settings,
            tokens: &[],
            arena: Arena::default(),
            common_tables: Vec::new(),
            lints: Vec::new(),
            depth: 0,
            scans: 0,
        }
    }

    /// Binds an expression; errors get the place of the innermost syntax that has one.
    pub(super) fn expr(&mut self, ast: &Ast, context: &mut Context<'_>) -> Result<Expr> {
        self.unplaced(ast, context).map_err(|error| located(error, ast))
    }

    /// `(a - b) DAY TO SECOND`
    fn time_difference(&mut self, interval: &Interval, context: &mut Context<'_>) -> Result<Expr> {
        let Ast::BinaryOp { left, op: BinaryOperator::Minus, right } = interval.value.as_ref() else {
            return Err(Error::script("only the difference of two times becomes an interval")
                .help("write (a - b) DAY TO SECOND, or INTERVAL '1' DAY"));
        };
        let (left, right) = (self.expr(left, context)?, self.expr(right, context)?);
        resolve::time_difference(left, right, interval::counts_months(interval)?)
    }

    /// Binds a condition.
    pub(super) fn condition(&mut self, ast: &Ast, context: &mut Context<'_>) -> Result<Expr> {
        let expr = self.expr(ast, context)?;
        match expr.data_type().kind {
            Type::Boolean => Ok(expr),
            Type::Null => resolve::cast(expr, Type::Boolean.nullable(), false),
            _ => Err(located(
                Error::script(format!(
                    "{} needs a condition, not a value of type {}",
                    context.clause,
                    expr.data_type()
                ))
                .help("compare the value with something"),
                ast,
            )),
        }
    }

    fn unplaced(&mut self, ast: &Ast, context: &mut Context<'_>) -> Result<Expr> {
        match ast {
            Ast::Identifier(_) | Ast::CompoundIdentifier(_) | Ast::CompoundFieldAccess { .. } => {
                self.reference(ast, context)
            }
            Ast::Nested(inner) => self.expr(inner, context),
            Ast::Value(value) => literal(&value.value),
            Ast::Interval(interval) if !interval::is_literal(interval) => self.time_difference(interval, context),
            Ast::Interval(literal) => Ok(match interval::evaluate(literal)? {
                IntervalValue::Milliseconds(milliseconds) => resolve::literal_interval_day_second(milliseconds),
                IntervalValue::Months(months) => resolve::literal_interval_year_month(months),
            }),
            Ast::TypedString(typed) => {
                let Value::SingleQuotedString(text) = &typed.value.value else {
                    return Err(Error::script("expected a string after the type"));
                };
                match typed.data_type {
                    AstType::Date => resolve::literal_date(text),
                    AstType::Time(..) => resolve::literal_time(text),
                    AstType::Timestamp(..) => resolve::literal_timestamp(text),
                    _ => Err(Error::script("expected DATE, TIME or TIMESTAMP before the string")),
                }
            }
            Ast::BinaryOp { left, op, right } => self.binary(left, op, right, context),
            Ast::UnaryOp { op, expr } => {
                let spelling = match op {
                    UnaryOperator::Minus => "-",
                    UnaryOperator::Plus => "+",
                    UnaryOperator::Not => "NOT",
                    other => return Err(Error::script(format!("Flink SQL has no operator {other}"))),
                };
                if let (UnaryOperator::Minus, Some(lowest)) = (op, lowest_number(expr)) {
                    return Ok(lowest);
                }
                let input = self.expr(expr, context)?;
                resolve::unary(spelling, input)
            }
            Ast::Cast { .. } => self.cast(ast, context),
            Ast::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref(), context)
            }
            Ast::Function(function) => self.function(function, context),
            _ => match self.test(ast, context)? {
                Some(expr) => Ok(expr),
                None => self.special_form(ast, context),
            },
        }
    }

    /// IS …, LIKE, BETWEEN, IN. `None` for anything else.
    fn test(&mut self, ast: &Ast, context: &mut Context<'_>) -> Result<Option<Expr>> {
        let expr = match ast {
            Ast::IsNull(input) => resolve::is_null(self.expr(input, context)?, false),
            Ast::IsNotNull(input) => resolve::is_null(self.expr(input, context)?, true),
            Ast::IsTrue(input) => resolve::is_true(self.expr(input, context)?, false),
            Ast::IsNotTrue(input) => resolve::is_true(self.expr(input, context)?, true),
            Ast::IsFalse(input) => resolve::is_false(self.expr(input, context)?, false),
            Ast::IsNotFalse(input) => resolve::is_false(self.expr(input, context)?, true),
            Ast::IsUnknown(input) => resolve::is_unknown(self.expr(input, context)?, false),
            Ast::IsNotUnknown(input) => resolve::is_unknown(self.expr(input, context)?, true),
            Ast::IsDistinctFrom(left, right) => {
                let (left, right) = (self.expr(left, context)?, self.expr(right, context)?);
                resolve::binary("IS DISTINCT FROM", left, right)
            }
            Ast::IsNotDistinctFrom(left, right) => {
                let (left, right) = (self.expr(left, context)?, self.expr(right, context)?);
                resolve::binary("IS NOT DISTINCT FROM", left, right)
            }
            Ast::Between { expr, negated, low, high } => {
                let input = self.expr(expr, context)?;
                let (low, high) = (self.expr(low, context)?, self.expr(high, context)?);
                resolve::between(input, low, high, *negated)
            }
            Ast::In { expr, target, negated, .. } => match target {
                InTarget::List(list) => {
                    let input = self.expr(expr, context)?;
                    let list = list.iter().map(|item| self.expr(item, context)).collect::<Result<Vec<_>>>()?;
                    resolve::in_list(input, list, *negated)
                }
                _ => Err(subquery("IN (SELECT …)")),
            },
            Ast::Like { negated, any: false, expr, pattern, escape_char } => {
                let (input, pattern, escape) = self.pattern(expr, pattern, escape_char.as_deref(), context)?;
                resolve::like(input, pattern, escape, *negated)
            }
            Ast::SimilarTo { negated, expr, pattern, escape_char } => {
                let (input, pattern, escape) = self.pattern(expr, pattern, escape_char.as_deref(), context)?;
                resolve::similar(input, pattern, escape, *negated)
            }
            _ => return Ok(None),
        };
        expr.map(Some)
    }

    fn pattern(
        &mut self,
        input: &Ast,
        pattern: &Ast,
        escape: Option<&Ast>,
        context: &mut Context<'_>,
    ) -> Result<(Expr, Expr, Option<Expr>)> {
        let input = self.expr(input, context)?;
        let pattern = self.expr(pattern, context)?;
        let escape = escape.map(|escape| self.expr(escape, context)).transpose()?;
        Ok((input, pattern, escape))
    }

    fn binary(&mut self, left: &Ast, op: &BinaryOperator, right: &Ast, context: &mut Context<'_>) -> Result<Expr> {
        let spelling = match op {
            BinaryOperator::Plus => "+",
            BinaryOperator::Minus => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => "%",
            BinaryOperator::StringConcat => "||",
            BinaryOperator::Gt => ">",
            BinaryOperator::Lt => "<",
            BinaryOperator::GtEq => ">=",
            BinaryOperator::LtEq => "<=",
            BinaryOperator::Eq => "=",
            BinaryOperator::NotEq => "<>",
            BinaryOperator::And => "AND",
            BinaryOperator::Or => "OR",
            BinaryOperator::Overlaps => return self.overlaps(left, right, context),
            other => return Err(Error::script(format!("Flink SQL has no operator {other}"))),
        };
        let left = self.expr(left, context)?;
        let right = self.expr(right, context)?;
        resolve::binary(spelling, left, right)
    }

    /// `(start, end) OVERLAPS (start, end)`
    fn overlaps(&mut self, left: &Ast, right: &Ast, context: &mut Context<'_>) -> Result<Expr> {
        let mut period = |ast: &Ast| match ast {
            Ast::Tuple(bounds) if bounds.len() == 2 => {
                Ok((self.expr(&bounds[0], context)?, self.expr(&bounds[1], context)?))
            }
            _ => Err(Error::script("OVERLAPS compares two periods")
                .help("write (start, end) OVERLAPS (start, end), where an end may be an interval")),
        };
        let (left, right) = (period(left)?, period(right)?);
        resolve::overlaps(left, right)
    }

    fn cast(&mut self, ast: &Ast, context: &mut Context<'_>) -> Result<Expr> {
        let Ast::Cast { kind, expr, data_type: AstType::Custom(name, _), .. } = ast else {
            return Err(Error::script("this form of CAST is not Flink's").help("write CAST(x AS type)"));
        };
        let safe = match kind {
            CastKind::Cast => false,
            CastKind::TryCast => true,
            _ => return Err(Error::script("Flink SQL has no '::'").help("write CAST(x AS type)")),
        };
        let text = match name.0.as_slice() {
            [ObjectNamePart::Identifier(ident)] => ident.value.as_str(),
            _ => "",
        };
        let mut data_type = parse_text(text).map_err(|_| Error::internal("a type of CAST does not read back"))?;
        let input = self.expr(expr, context)?;
        data_type.nullable = safe || input.data_type().nullable;
        resolve::cast(input, data_type, safe)
    }

    fn case(
        &mut self,
        operand: Option<&Ast>,
        conditions: &[CaseWhen],
        otherwise: Option<&Ast>,
        context: &mut Context<'_>,
    ) -> Result<Expr> {
        let operand = operand.map(|operand| self.expr(operand, context)).transpose()?;
        let mut branches = Vec::with_capacity(conditions.len());
        for CaseWhen { condition, result } in conditions {
            let when = match &operand {
                None => self.condition(condition, context)?,
                Some(operand) => {
                    let value = self.expr(condition, context)?;
                    resolve::binary("=", operand.clone(), value).map_err(|error| located(error, condition))?
                }
            };
            branches.push((when, self.expr(result, context)?));
        }
        let otherwise = otherwise.map(|otherwise| self.expr(otherwise, context)).transpose()?;
        resolve::case(branches, otherwise)
    }

    /// Functions with a syntax of their own.
    fn special_form(&mut self, ast: &Ast, context: &mut Context<'_>) -> Result<Expr> {
        match ast {
            Ast::Extract { field, expr, .. } => {
                let args = vec![unit(field), self.expr(expr, context)?];
                resolve::function("EXTRACT", args)
            }
            Ast::Ceil { expr, field } => self.rounding("CEIL", expr, field, context),
            Ast::Floor { expr, field } => self.rounding("FLOOR", expr, field, context),
            Ast::Position { expr, r#in } => {
                let args = vec![self.expr(expr, context)?, self.expr(r#in, context)?];
                resolve::function("POSITION", args)
            }
            Ast::Substring { expr, substring_from, substring_for, .. } => {
                let parts = [Some(expr), substring_from.as_ref(), substring_for.as_ref()];
                self.call("SUBSTRING", parts.into_iter().flatten().map(AsRef::as_ref), context)
            }
            Ast::Trim { trim_where, trim_what, expr, trim_characters: None } => {
                let name = match trim_where {
                    None | Some(TrimWhereField::Both) => "TRIM",
                    Some(TrimWhereField::Leading) => "LTRIM",
                    Some(TrimWhereField::Trailing) => "RTRIM",
                };
                let parts = [Some(expr), trim_what.as_ref()];
                self.call(name, parts.into_iter().flatten().map(AsRef::as_ref), context)
            }
            Ast::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                let parts = [Some(expr), Some(overlay_what), Some(overlay_from), overlay_for.as_ref()];
                self.call("OVERLAY", parts.into_iter().flatten().map(AsRef::as_ref), context)
            }
            Ast::Exists { .. } => Err(subquery("EXISTS (SELECT …)")),
            Ast::Subquery(_) => Err(subquery("a scalar subquery")),
            Ast::Array(array) if array.named => resolve::array(self.exprs(&array.elem, context)?),
            Ast::Map(map) => {
                let parts = map.entries.iter().flat_map(|entry| [entry.key.as_ref(), entry.value.as_ref()]);
                let parts = parts.map(|part| self.expr(part, context)).collect::<Result<Vec<_>>>()?;
                resolve::map(parts)
            }
            Ast::Tuple(fields) => resolve::row(self.exprs(fields, context)?),
            Ast::Array(_) | Ast::Struct { .. } => {
                Err(Error::script("this is no constructor of Flink's").help("write ARRAY[…], MAP[…] or ROW(…)"))
            }
            Ast::IsJson { unique_keys: Some(_), .. } => {
                Err(Error::script("IS JSON takes no UNIQUE KEYS in Flink").help("leave it out"))
            }
            Ast::IsJson { expr, kind, negated, .. } => self.is_json(expr, kind.as_ref(), *negated, context),
            Ast::Wildcard(_) | Ast::QualifiedWildcard(..) => {
                Err(Error::script("'*' has no place here").help("name the columns"))
            }
            other => Err(Error::unsupported(format!("the expression {other}"))),
        }
    }

    pub(super) fn exprs(&mut self, list: &[Ast], context: &mut Context<'_>) -> Result<Vec<Expr>> {
        list.iter().map(|ast| self.expr(ast, context)).collect()
    }

    /// A function whose arguments are all plain expressions.
    fn call<'e>(&mut self, name: &str, args: impl Iterator<Item = &'e Ast>, context: &mut Context<'_>) -> Result<Expr> {
        let args = args.map(|arg| self.expr(arg, context)).collect::<Result<Vec<_>>>()?;
        resolve::function(name, args)
    }

    fn rounding(&mut self, name: &str, input: &Ast, field: &CeilFloorKind, context: &mut Context<'_>) -> Result<Expr> {
        let mut args = vec![self.expr(input, context)?];
        match field {
            CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) => {}
            CeilFloorKind::DateTimeField(field) => args.push(unit(field)),
            CeilFloorKind::Scale(_) => return Err(Error::script(format!("{name} takes one argument"))),
        }
        resolve::function(name, args)
    }

    /// A column, perhaps with its table before it and parts of its value behind it: `t.r.x`, `a[1]`.
    fn reference(&mut self, ast: &Ast, context: &mut Context<'_>) -> Result<Expr> {
        match ast {
            Ast::Identifier(name) => {
                let id = context.scope.find(name).or_else(|error| match context.outer {
                    Some(outer) if !context.scope.columns.iter().any(|column| column.name == name.value) => {
                        outer.find(name).map_err(|_| error)
                    }
                    _ => Err(error),
                })?;
                Ok(self.column(id, ast, context))
            }
            Ast::CompoundIdentifier(parts) => self.path(parts, ast, context),
            Ast::CompoundFieldAccess { root, access_chain } => {
                // The names before the first bracket may begin with a table.
                let mut names = Vec::new();
                if let Ast::Identifier(first) = &**root {
                    names.push(first.clone());
                    names.extend(access_chain.iter().map_while(plain_name).cloned());
                }
                let base = match names.as_slice() {
                    [] | [_] => self.expr(root, context)?,
                    names => self.path(names, ast, context)?,
                };
                let rest = access_chain.iter().skip(names.len().saturating_sub(1));
                rest.into_iter().try_fold(base, |base, access| self.part(base, access, context))
            }
            _ => Err(Error::internal("not a column reference")),
        }
    }

    fn column(&mut self, id: ColumnId, ast: &Ast, context: &mut Context<'_>) -> Expr {
        if let Some(place) = place_of(ast.span()) {
            context.places.push((id, place));
        }
        self.arena.expr(id)
    }

    /// `column.field`, `table.column.field`.
    fn path(&mut self, parts: &[Ident], ast: &Ast, context: &mut Context<'_>) -> Result<Expr> {
        let found = self.compound(parts, context.scope);
        let (id, fields) = found.or_else(|error| match context.outer {
            Some(outer) => self.compound(parts, outer).map_err(|_| error),
            None => Err(error),
        })?;
        let column = self.column(id, ast, context);
        fields.iter().try_fold(column, |value, name| self.field(value, name))
    }

    /// The fields of `row.*`, with their names; `None` for other select items, `table.*` among them.
    pub(super) fn row_fields(&self, item: &SelectItem, scope: &Scope) -> Result<Option<Vec<(String, Expr)>>> {
        let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item else {
            return Ok(None);
        };
        let parts = super::query::identifiers(name)?;
        let is_table = |part: &Ident| scope.columns.iter().any(|c| c.qualifier.as_deref() == Some(&part.value));
        let is_column = |part: &Ident| scope.columns.iter().any(|column| column.name == part.value);
        let names_row = match parts.as_slice() {
            [] => false,
            [one] => !is_table(one) && is_column(one),
            [first, ..] => is_table(first) || is_column(first),
        };
        if !names_row {
            return Ok(None);
        }
        let (id, fields) = self.compound(&parts, scope)?;
        let value = fields.iter().try_fold(self.arena.expr(id), |value, name| self.field(value, name))?;
        let fields = resolve::fields(&value).ok_or_else(|| {
            let error = Error::script(format!("'{name}' is a {} and has no fields", value.data_type().kind));
            error.at_place(place_of(item.span()))
        })?;
        Ok(Some(fields))
    }

    fn field(&self, value: Expr, name: &Ident) -> Result<Expr> {
        resolve::field(value, &name.value).map_err(|error| error.at_place(place_of(name.span)))
    }

    /// `.name` or `[index]` behind a value.
    fn part(&mut self, value: Expr, access: &AccessExpr, context: &mut Context<'_>) -> Result<Expr> {
        match access {
            AccessExpr::Dot(Ast::Identifier(name)) => self.field(value, name),
            AccessExpr::Subscript(Subscript::Index { index }) => {
                let place = self.expr(index, context)?;
                resolve::subscript(value, place).map_err(|error| located(error, index))
            }
            AccessExpr::Subscript(Subscript::Slice { .. }) => {
                Err(Error::script("Flink SQL has no slices in brackets").help("use ARRAY_SLICE(array, from, to)"))
            }
            AccessExpr::Dot(other) => Err(located(Error::script("expected the name of a field after the dot"), other)),
        }
    }

    /// The column that a dotted name starts with, and the parts left over.
    fn compound<'p>(&self, parts: &'p [Ident], scope: &Scope) -> Result<(ColumnId, &'p [Ident])> {
        let [first, second, ..] = parts else {
            let name = parts.first().ok_or_else(|| Error::internal("an empty name"))?;
            return Ok((scope.find(name)?, &[]));
        };
        match scope.find_qualified(first, second)? {
            Some(id) => Ok((id, &parts[2..])),
            None => {
                let id = scope.find(first).map_err(|error| {
                    if scope.columns.iter().any(|column| column.name == first.value) {
                        return error;
                    }
                    let message = format!("no table, alias or column is called '{}' here", first.value);
                    let error = Error::script(message).help("use the alias that FROM gives the table");
                    error.at_place(place_of(first.span))
                })?;
                Ok((id, &parts[1..]))
            }
        }
    }

    /// The column that an expression is, if it is nothing else.
    pub(super) fn plain_column(&self, ast: &Ast, scope: &Scope) -> Option<ColumnId> {
        match ast {
            Ast::Nested(inner) => self.plain_column(inner, scope),
            Ast::Identifier(name) => scope.find(name).ok(),
            Ast::CompoundIdentifier(parts) => match self.compound(parts, scope) {
                Ok((id, [])) => Some(id),
                _ => None,
            },
            _ => None,
        }
    }
}

fn plain_name(access: &AccessExpr) -> Option<&Ident> {
    match access {
        AccessExpr::Dot(Ast::Identifier(name)) => Some(name),
        _ => None,
    }
}

/// What stands after a minus sign, if it is a number only together with the sign.
fn lowest_number(ast: &Ast) -> Option<Expr> {
    match ast {
        Ast::Value(value) => match &value.value {
            Value::Number(text, _) => resolve::literal_negative(text),
            _ => None,
        },
        _ => None,
    }
}

fn literal(value: &Value) -> Result<Expr> {
    match value {
        Value::Number(text, _) => resolve::literal_number(text),
        Value::SingleQuotedString(text) | Value::UnicodeStringLiteral(text) => Ok(resolve::literal_string(text)),
        Value::HexStringLiteral(text) => resolve::literal_binary(text),
        Value::Boolean(value) => Ok(resolve::literal_bool(*value)),
        Value::Null => Ok(resolve::literal_null()),
        other => Err(Error::unsupported(format!("the literal {other}"))),
    }
}

/// A unit of time as the function builders want it.
pub(super) fn unit(field: &DateTimeField) -> Expr {
    resolve::literal_string(&field.to_string().to_ascii_uppercase())
}

pub(super) fn subquery(what: &str) -> Error {
    Error::unsupported(what).help("run this statement on Flink; a subquery in FROM is supported")
}

/// Gives an error the place of the syntax, unless it has one.
pub(super) fn located(error: Error, ast: &Ast) -> Error {
    error.at_place(place_of(ast.span()))
}
