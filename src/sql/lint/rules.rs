//! The rules that a bound query can be asked about.

use sqlparser::ast::{CeilFloorKind, DataType as AstType, Expr as Ast};

use super::times::{of_delay, of_literals};
use super::{Lint, Rule};
use crate::error::Place;
use crate::plan::{Node, WindowSpec};
use crate::sql::explain::{delay_ms, duration};
use crate::sql::function::function_name;
use crate::sql::logical::{Aggregate, Arena, GroupAggregate, Join, Rel, Times, Window};
use crate::sql::text::place_of;
use crate::sql::updating::Lacks;

/// From so many windows a row on they are worth a word.
const MANY_WINDOWS: i64 = 60;

const KEPT: &str = "every row changes a result, and each key is kept for good";

/// What there is to say of a query. `root`: what it became.
pub(in crate::sql) fn of_query(rel: &Rel, arena: &Arena, root: &Node) -> Vec<Lint> {
    let mut look = Look { arena, root, found: Vec::new() };
    look.at(rel);
    look.found
}

struct Look<'a> {
    arena: &'a Arena,
    root: &'a Node,
    found: Vec<Lint>,
}

impl Look<'_> {
    fn at(&mut self, rel: &Rel) {
        match rel {
            Rel::Window { input, window, .. } => self.window(input, &self.arena.windows[*window]),
            Rel::Aggregate(aggregate) => self.aggregate(aggregate),
            Rel::Group(group) => self.found.extend(of_group(group)),
            Rel::Join(join) => self.found.extend(of_join(join)),
            Rel::Over(over) if over.keys.is_empty() && is_raw(&over.input) => {
                let message = "OVER has no PARTITION BY: one shard does all the work";
                let remedy = "partition by a key, if the rows of each key are meant";
                self.found.push(Lint::new(Rule::WindowWithoutKey, over.place.clone(), message, remedy));
            }
            Rel::Rank(rank) if rank.bounds.last.is_none() => {
                let message = "ROW_NUMBER numbers all rows of a key, and gives them all";
                let remedy = "for the first ones limit it in the query around it: WHERE rn <= 3, or rn = 1 for one of \
                              each key";
                self.found.push(Lint::new(Rule::RowNumberWithoutLimit, rank.place.clone(), message, remedy));
            }
            _ => {}
        }
        inputs(rel).into_iter().for_each(|input| self.at(input));
    }

    fn window(&mut self, input: &Rel, window: &Window) {
        let place = window.place.clone();
        self.found.extend(self.many(window));
        if let WindowSpec::Hop { size_ms, slide_ms, .. } = window.function
            && slide_ms > size_ms
        {
            let (size, slide) = (duration(size_ms), duration(slide_ms));
            let message = format!("the windows of {size} begin every {slide}: rows between them count nowhere");
            let remedy = "the slide stands before the size: HOP(ts, slide, size)";
            self.found.push(Lint::new(Rule::HopWithGaps, place.clone(), message, remedy));
        }
        if window.partition.as_ref().is_some_and(Vec::is_empty) {
            let message = "SESSION has no PARTITION BY: the rows of all keys make up the sessions, on one shard";
            let remedy = "write SESSION(TABLE t PARTITION BY k, …), if each key has sessions of its own";
            self.found.push(Lint::new(Rule::WindowWithoutKey, place, message, remedy));
        }
        if let Some(watermark) = input.table().and_then(|table| table.watermark.as_ref())
            && let Some(written) = input.table().and_then(|table| table.definition.watermark.as_ref())
        {
            let place = place_of(written.span);
            let literal = of_literals(&written.expression, place.as_ref());
            let delay = delay_ms(&watermark.expression, watermark.time);
            let far = || delay.and_then(|delay| of_delay(delay, &window.function, place.clone()));
            self.found.extend(literal.or_else(far));
        }
    }

    /// A HOP or CUMULATE that opens many windows a row.
    fn many(&self, window: &Window) -> Option<Lint> {
        let (size, step, name) = match window.function {
            WindowSpec::Hop { size_ms, slide_ms, .. } => (size_ms, slide_ms, "slide"),
            WindowSpec::Cumulate { size_ms, step_ms, .. } => (size_ms, step_ms, "step"),
            WindowSpec::Tumble { .. } | WindowSpec::Session { .. } | WindowSpec::Attached { .. } => return None,
        };
        let count = size.checked_div(step).filter(|&count| count > MANY_WINDOWS)?;
        let (message, remedy) = if copies(self.root, &window.function) {
            let message =
                format!("each row comes in {count} copies, one a window, for they are not aggregated at once");
            (message, format!("group by window_start and window_end right above, or take a longer {name}"))
        } else {
            let message =
                format!("a row counts in {count} windows, and each key gives a result every {}", duration(step));
            (message, format!("a longer {name} gives fewer results"))
        };
        Some(Lint::new(Rule::ManyWindows, window.place.clone(), message, remedy))
    }

    fn aggregate(&mut self, aggregate: &Aggregate) {
        let window = &self.arena.windows[aggregate.window];
        if window.proctime {
            let message = "windows of processing time end by the clock and are not flushed at the end of the input, as \
                           in Flink: a file is read before they end, and they give no results";
            let remedy = "take an event time, a column with a WATERMARK";
            return self.found.push(Lint::new(Rule::ProcessingTimeWindow, window.place.clone(), message, remedy));
        }
        let session = matches!(window.function, WindowSpec::Session { .. }) && !window.legacy;
        if aggregate.keys.is_empty() && is_raw(&aggregate.input) && !session {
            let message = "the windows have no key: one shard does all the work";
            let remedy = "if the input is large, group by a key too, and put the results together in a query above \
                          that groups by window_start and window_end";
            self.found.push(Lint::new(Rule::WindowWithoutKey, aggregate.place.clone(), message, remedy));
        }
    }
}

fn of_group(group: &GroupAggregate) -> Option<Lint> {
    let (rule, message) = match group.lacks {
        Lacks::WindowEnd => {
            (Rule::GroupWithoutWindowEnd, "window_start without window_end makes no window aggregation")
        }
        Lacks::WindowStart => {
            (Rule::GroupWithoutWindowStart, "window_end without window_start makes no window aggregation")
        }
        Lacks::Both => {
            (Rule::GroupWithoutWindow, "the rows of windows are grouped without window_start and window_end")
        }
        Lacks::Window => return None,
    };
    Some(Lint::new(rule, group.place.clone(), format!("{message}: {KEPT}"), group.lacks.advice()))
}

fn of_join(join: &Join) -> Option<Lint> {
    if !join.keys.is_empty() {
        return None;
    }
    let of = match join.times {
        Times::Windows(_) => " of a window",
        Times::Interval(_) | Times::Versions { .. } => " whose times fit",
        Times::Unbounded => "",
    };
    let message = format!("no column of the sides must be equal: one shard compares all pairs{of}");
    Some(Lint::new(Rule::JoinWithoutKey, join.place.clone(), message, "compare a key of both sides: l.k = r.k"))
}

/// A key that cuts an event time into pieces, in a GROUP BY without a window.
pub(in crate::sql) fn of_time_key(ast: &Ast, place: Option<Place>) -> Option<Lint> {
    let what = cut(ast)?;
    let message = format!("{what} of an event time cuts it without windows: {KEPT}");
    let remedy = "read from TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), …)) and group by window_start and window_end: each \
                  result is given once";
    Some(Lint::new(Rule::TimeKeyWithoutWindow, place, message, remedy))
}

/// What cuts a time into pieces that follow each other.
fn cut(ast: &Ast) -> Option<&'static str> {
    match ast {
        Ast::Nested(inner) => cut(inner),
        Ast::Floor { field: CeilFloorKind::DateTimeField(_), .. } => Some("FLOOR"),
        Ast::Ceil { field: CeilFloorKind::DateTimeField(_), .. } => Some("CEIL"),
        Ast::Function(function) => {
            let name = function_name(function).ok()?;
            ["DATE_FORMAT", "TO_DATE"].into_iter().find(|cuts| *cuts == name)
        }
        Ast::Cast { data_type: AstType::Custom(name, _), .. } if name.to_string() == "DATE" => Some("the date"),
        _ => None,
    }
}

/// Whether rows come as tables have them, not as results of windows or groups, which are few.
fn is_raw(rel: &Rel) -> bool {
    match rel {
        Rel::Scan { .. } => true,
        Rel::Aggregate(_) | Rel::Group(_) | Rel::Rank(_) | Rel::OneRow => false,
        other => inputs(other).into_iter().any(is_raw),
    }
}

/// Whether a plan copies each row into such windows.
fn copies(node: &Node, function: &WindowSpec) -> bool {
    let here = matches!(node, Node::AssignWindows { window, .. } if window == function);
    here || node.inputs().into_iter().any(|input| copies(input, function))
}

fn inputs(rel: &Rel) -> Vec<&Rel> {
    match rel {
        Rel::Scan { .. } | Rel::OneRow => Vec::new(),
        Rel::Filter { input, .. }
        | Rel::Project { input, .. }
        | Rel::Window { input, .. }
        | Rel::Expand { input, .. } => vec![input],
        Rel::Unnest(unnest) => vec![&unnest.input],
        Rel::Aggregate(aggregate) => vec![&aggregate.input],
        Rel::Over(over) => vec![&over.input],
        Rel::Rank(rank) => vec![&rank.input],
        Rel::Group(group) => vec![&group.input],
        Rel::Union { inputs, .. } => inputs.iter().map(|(input, _)| input).collect(),
        Rel::Join(join) => join.inputs.iter().collect(),
    }
}
