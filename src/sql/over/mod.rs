//! OVER: aggregates over the rows before each row, in the order of its event time.

mod call;

use std::rc::Rc;

use sqlparser::ast::{
    DuplicateTreatment, Expr as Ast, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    NamedWindowDefinition, NamedWindowExpr, OrderBySort, Spanned, Value, WindowFrameBound, WindowFrameUnits,
    WindowSpec, WindowType,
};

use self::call::OverArguments;
use super::binder::{Binder, Context, located};
use super::function::plain_argument;
use super::interval::{self, IntervalValue};
use super::lint;
use super::logical::{ColumnId, Over, OverColumn, Rel, columns_of};
use super::rank::RankCall;
use super::text::place_of;
use crate::aggregate;
use crate::error::{Error, Place, Result};
use crate::expr::Expr;
use crate::plan::Frame;

/// The OVER calls of one select list. All of them are over the same window, as in Flink.
#[derive(Debug, Default)]
pub(super) struct Overs {
    /// The WINDOW clause.
    named: Rc<[NamedWindowDefinition]>,
    /// Arguments are aggregates of groups, or groups.
    of_groups: bool,
    window: Option<OverWindow>,
    /// Of the first call.
    place: Option<Place>,
    calls: Vec<OverColumn>,
}

#[derive(Debug, Clone, PartialEq)]
struct OverWindow {
    keys: Vec<Expr>,
    time: Expr,
    frame: Frame,
}

impl Overs {
    /// # Errors
    /// Two windows of one name.
    pub fn new(named: &[NamedWindowDefinition]) -> Result<Self> {
        for (i, NamedWindowDefinition(name, _)) in named.iter().enumerate() {
            if named[..i].iter().any(|NamedWindowDefinition(other, _)| other.value == name.value) {
                return Err(at(Error::script(format!("two windows are called {}", name.value)), name));
            }
        }
        Ok(Overs { named: named.into(), ..Overs::default() })
    }

    /// As [`Overs::new`], over a GROUP BY.
    ///
    /// # Errors
    /// As [`Overs::new`].
    pub fn of_groups(named: &[NamedWindowDefinition]) -> Result<Self> {
        Ok(Overs { of_groups: true, ..Overs::new(named)? })
    }

    /// Whether the select list is that of a GROUP BY.
    pub fn is_of_groups(&self) -> bool {
        self.of_groups
    }

    /// Numbers of rows are over the same window as everything else.
    ///
    /// # Errors
    /// They are not.
    pub fn check_ranks(&self, ranks: &[RankCall]) -> Result<()> {
        let Some(window) = &self.window else { return Ok(()) };
        let same = |rank: &RankCall| {
            let by_time = matches!(rank.order.as_slice(), [order] if order.expr == window.time && !order.descending);
            by_time && rank.partition == window.keys && window.frame == Frame::Rows(None)
        };
        match ranks.iter().find(|rank| !same(rank)) {
            None => Ok(()),
            Some(rank) => Err(different_windows().at_place(rank.place.clone())),
        }
    }

    /// The columns of the calls.
    pub fn columns(&self) -> impl Iterator<Item = ColumnId> {
        self.calls.iter().map(|call| call.column)
    }

    /// With every expression below the windows replaced.
    ///
    /// # Errors
    /// Those of `map`.
    pub fn mapped(mut self, map: impl Fn(&Expr) -> Result<Expr>) -> Result<Self> {
        if let Some(window) = &mut self.window {
            window.keys = window.keys.iter().map(&map).collect::<Result<_>>()?;
            window.time = map(&window.time)?;
        }
        for call in &mut self.calls {
            call.args = call.args.iter().map(&map).collect::<Result<_>>()?;
        }
        Ok(self)
    }

    fn definition(&self, name: &Ident) -> Result<WindowSpec> {
        let found = self.named.iter().find(|NamedWindowDefinition(known, _)| known.value == name.value);
        match found {
            Some(NamedWindowDefinition(_, NamedWindowExpr::WindowSpec(spec))) => Ok(spec.clone()),
            Some(NamedWindowDefinition(_, NamedWindowExpr::NamedWindow(other))) => {
                Err(at(Error::script("a window is defined in parentheses").help(format!("write AS ({other})")), other))
            }
            None => Err(at(
                Error::script(format!("no window is called {}", name.value)).help(format!(
                    "define it behind FROM and WHERE: WINDOW {} AS (PARTITION BY … ORDER BY …)",
                    name.value
                )),
                name,
            )),
        }
    }

    /// The specification with what it takes from the windows that it names.
    fn resolved(&self, window: &WindowType) -> Result<WindowSpec> {
        let mut spec = match window {
            WindowType::WindowSpec(spec) => spec.clone(),
            WindowType::NamedWindow(name) => self.definition(name)?,
        };
        for _ in 0..=self.named.len() {
            let Some(name) = spec.window_name.take() else { return Ok(spec) };
            let base = self.definition(&name)?;
            if spec.window_frame.is_some() {
                // Flink drops the bound of such a frame.
                let error = Error::unsupported("a frame added to a named window").help("write out the whole window");
                return Err(at(error, &name));
            }
            let both = !base.order_by.is_empty() && !spec.order_by.is_empty();
            if both || !spec.partition_by.is_empty() || base.window_frame.is_some() {
                return Err(at(
                    Error::script(format!("the window {} cannot be changed in this way", name.value))
                        .help("only ORDER BY and a frame can be added, and not where it has them"),
                    &name,
                ));
            }
            spec.partition_by = base.partition_by;
            spec.window_name = base.window_name;
            if spec.order_by.is_empty() {
                spec.order_by = base.order_by;
            }
        }
        Err(Error::script("windows are defined by each other"))
    }
}

impl Binder<'_> {
    /// The input with the columns of the calls.
    ///
    /// # Errors
    /// The input is one that OVER does not take.
    pub(super) fn with_overs(&self, input: Rel, overs: Overs) -> Result<Rel> {
        let Some(OverWindow { keys, time, frame }) = overs.window else { return Ok(input) };
        let placed = |error: Error| error.at_place(overs.place.clone());
        if input.row_kind().is_some() {
            return Err(placed(Error::script("OVER takes no rows that are updated, as in Flink")));
        }
        if columns_of(&time).iter().any(|time| self.arena.is_past(&input, *time)) {
            let error = Error::unsupported("OVER in the order of a time that its rows were kept beyond");
            return Err(placed(error.help("order by window_time")));
        }
        Ok(Rel::Over(Box::new(Over { input, keys, time, frame, calls: overs.calls, place: overs.place })))
    }

    /// A call with OVER: registers what has to be computed and gives the expression over it.
    pub(super) fn over(
        &mut self,
        name: &str,
        function: &Function,
        window: &WindowType,
        context: &mut Context<'_>,
    ) -> Result<Expr> {
        refuse_function(name, function)?;
        let Some(overs) = context.overs.as_deref() else {
            return Err(Error::script(format!("{name} … OVER has no place in {}", context.clause))
                .help("compute it in the SELECT of a subquery, and use its column here"));
        };
        let spec = overs.resolved(window)?;
        let window = self.over_window(name, &spec, context)?;
        let arguments = self.over_arguments(name, function, context)?;
        let overs = context.overs.as_deref_mut().ok_or_else(|| Error::internal("OVER without a place"))?;
        match &overs.window {
            Some(known) if *known != window => {
                return Err(different_windows());
            }
            Some(_) => {}
            None => {
                overs.window = Some(window);
                overs.place = place_of(function.span());
            }
        }
        self.over_call(name, arguments, context)
    }

    fn over_window(&mut self, name: &str, spec: &WindowSpec, context: &Context<'_>) -> Result<OverWindow> {
        if let Some(WindowFrameBound::Preceding(Some(length))) =
            spec.window_frame.as_ref().map(|frame| &frame.start_bound)
        {
            self.lints.extend(lint::of_frame(length));
        }
        let mut inner = Context::new(context.scope, "PARTITION BY");
        let keys = self.exprs(&spec.partition_by, &mut inner)?;
        let time = self.over_time(spec, context)?;
        let frame = match &spec.window_frame {
            Some(_) if name == "LAG" => {
                return Err(Error::script("LAG takes no ROWS and no RANGE").help("leave the frame out of its window"));
            }
            None => Frame::Range(None),
            Some(frame) => frame_of(frame.units, &frame.start_bound, frame.end_bound.as_ref())?,
        };
        Ok(OverWindow { keys, time: self.arena.expr(time), frame })
    }

    /// The time column of ORDER BY.
    fn over_time(&mut self, spec: &WindowSpec, context: &Context<'_>) -> Result<ColumnId> {
        let updating = || {
            Error::unsupported(
                "OVER in an order other than that of event time (its results would be updated with every row)",
            )
            .help("order by the column with the WATERMARK, or by window_time of a window aggregation")
        };
        let [order] = spec.order_by.as_slice() else {
            let error = Error::script("an OVER window is ordered by a single time column")
                .help("write OVER (PARTITION BY … ORDER BY ts)");
            return Err(match spec.order_by.get(1) {
                Some(second) => located(error, &second.expr),
                None => error,
            });
        };
        let descending = matches!(order.options.sort, Some(OrderBySort::Desc));
        if descending {
            let error = Error::script("an OVER window is ordered in ascending order only").help("remove DESC");
            return Err(located(error, &order.expr));
        }
        // A name that does not exist is told before anything else.
        self.expr(&order.expr, &mut Context::new(context.scope, "ORDER BY"))?;
        match self.plain_column(&order.expr, context.scope) {
            Some(column) if self.arena.columns[column].rowtime => Ok(column),
            _ => Err(located(updating(), &order.expr)),
        }
    }

    fn over_arguments(&mut self, name: &str, function: &Function, context: &mut Context<'_>) -> Result<OverArguments> {
        let list = match &function.args {
            FunctionArguments::None => return Ok(OverArguments { args: Vec::new(), distinct: false }),
            FunctionArguments::List(list) => list,
            FunctionArguments::Subquery(_) => return Err(super::binder::subquery("a subquery as an argument")),
        };
        if let Some(clause) = list.clauses.first() {
            return Err(Error::unsupported(format!("'{clause}' in a call of {name}")));
        }
        let distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
        if matches!(list.args.as_slice(), [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]) {
            if name == "COUNT" {
                return Ok(OverArguments { args: Vec::new(), distinct });
            }
            return Err(Error::script(format!("{name}(*) does not exist")).help("only COUNT takes '*'"));
        }
        let mut inner = Context::new(context.scope, "the argument of an aggregate function");
        if context.overs.as_deref().is_some_and(Overs::is_of_groups) {
            inner.calls = context.calls.as_deref_mut();
        }
        let mut args = Vec::with_capacity(list.args.len());
        for arg in &list.args {
            let ast = plain_argument(name, arg)?;
            let arg = self.expr(ast, &mut inner)?;
            self.refuse_null(&arg).map_err(|error| located(error, ast))?;
            args.push(arg);
        }
        Ok(OverArguments { args, distinct })
    }

    /// The column of a call, of an earlier one like it if there is one.
    pub(super) fn over_column(&mut self, call: OverColumn, context: &mut Context<'_>) -> Result<Expr> {
        let overs = context.overs.as_deref_mut().ok_or_else(|| Error::internal("OVER without a place"))?;
        let same = overs.calls.iter().find(|known| OverColumn { column: 0, ..(*known).clone() } == call);
        let column = match same {
            Some(known) => known.column,
            None => {
                let name = format!("{}_over${}", call.function.name().to_ascii_lowercase(), overs.calls.len());
                let column = self.arena.add(name, call.output.clone(), false);
                overs.calls.push(OverColumn { column, ..call });
                column
            }
        };
        Ok(self.arena.expr(column))
    }
}

fn different_windows() -> Error {
    Error::script("all OVER windows of a SELECT must be the same, as in Flink")
        .help("compute one of them in a subquery; the window of ROW_NUMBER has ROWS UNBOUNDED PRECEDING")
}

/// What stands before OVER and cannot.
fn refuse_function(name: &str, function: &Function) -> Result<()> {
    if matches!(name, "LEAD" | "NTILE" | "PERCENT_RANK" | "CUME_DIST") {
        return Err(Error::script(format!("{name} does not exist for streams, as in Flink"))
            .help("it would need the rows after the row; LAG looks back"));
    }
    if !aggregate::is_aggregate(name) {
        return Err(Error::script(format!("{name} is no aggregate function and takes no OVER")));
    }
    if function.filter.is_some() {
        return Err(Error::script("FILTER cannot stand before OVER, as in Flink")
            .help(format!("write {name}(CASE WHEN condition THEN value END) OVER (…)")));
    }
    if function.null_treatment.is_some() {
        return Err(Error::script(format!("{name} takes neither IGNORE NULLS nor RESPECT NULLS")));
    }
    if !function.within_group.is_empty() {
        return Err(Error::unsupported(format!("WITHIN GROUP in {name}")));
    }
    Ok(())
}

/// The rows before a row that its frame has.
fn frame_of(units: WindowFrameUnits, start: &WindowFrameBound, end: Option<&WindowFrameBound>) -> Result<Frame> {
    let only_before = || {
        Error::script("a frame of OVER goes from rows before the row to the row itself, as in Flink")
            .help("write … BETWEEN … PRECEDING AND CURRENT ROW")
    };
    if !matches!(end, None | Some(WindowFrameBound::CurrentRow)) {
        return Err(only_before());
    }
    let WindowFrameBound::Preceding(length) = start else { return Err(only_before()) };
    match (units, length.as_deref()) {
        (WindowFrameUnits::Rows, None) => Ok(Frame::Rows(None)),
        (WindowFrameUnits::Range, None) => Ok(Frame::Range(None)),
        (WindowFrameUnits::Rows, Some(rows)) => match whole_number(rows) {
            Some(rows) => Ok(Frame::Rows(Some(rows))),
            None => Err(located(Error::script("ROWS takes a whole number that is not negative"), rows)),
        },
        (WindowFrameUnits::Range, Some(Ast::Interval(interval))) => match interval::evaluate(interval)? {
            IntervalValue::Milliseconds(length) if length >= 0 => Ok(Frame::Range(Some(length))),
            IntervalValue::Milliseconds(_) => Err(Error::script("RANGE takes no negative interval")),
            IntervalValue::Months(_) => Err(Error::script(
                "the interval of a RANGE is one of days, hours, minutes or \
                 seconds: months and years have no fixed length",
            )),
        },
        (WindowFrameUnits::Range, Some(other)) => Err(located(
            Error::script("RANGE in the order of a time takes an interval").help("write INTERVAL '5' SECOND PRECEDING"),
            other,
        )),
        (WindowFrameUnits::Groups, _) => Err(Error::script("Flink SQL has no GROUPS").help("use ROWS or RANGE")),
    }
}

/// The value of a number without sign and fraction.
pub(super) fn whole_number(ast: &Ast) -> Option<u64> {
    match ast {
        Ast::Value(value) => match &value.value {
            Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

fn at(error: Error, name: &Ident) -> Error {
    error.at_place(place_of(name.span))
}
