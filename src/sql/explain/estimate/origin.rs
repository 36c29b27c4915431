//! From an operator down to the tables: where its keys and its rows come from.

use super::super::words::column;
use crate::expr::Expr;
use crate::plan::{JoinSpec, Node, ScanSpec, SourceSpec, StageSpec};
use crate::sql::logical::columns_of;

/// A look at a table.
#[derive(Debug, Clone)]
pub struct Look {
    /// Reads the columns that are asked for; without a watermark.
    pub scan: ScanSpec,
    /// The key, over what the scan decodes; none: rows are counted.
    pub keys: Vec<Expr>,
    /// The event time, where it is asked for.
    pub time: Option<Expr>,
    /// Rows are left out or come together before the operator; a look counts them too.
    pub filtered: bool,
}

/// A look at the event times of a table; `None` where it has none, or cannot be read beforehand.
pub fn look_at_times(scan: &ScanSpec) -> Option<Look> {
    let time = scan.columns.get(scan.watermark.as_ref()?.time)?.clone();
    look(scan, Vec::new(), Some(time), false).ok()
}

/// Where the values of columns of a node can be counted.
pub(super) fn values_below(node: &Node, columns: &[usize]) -> Result<Vec<Look>, String> {
    let exprs = columns.iter().filter_map(|index| {
        let data_type = node.schema().fields.get(*index)?.data_type.clone();
        Some(Expr::Column { index: *index, data_type })
    });
    down(node, exprs.collect(), false)
}

/// Where the rows of a node can be counted. `timed`: with their event time.
pub(super) fn rows_below(node: &Node, timed: bool) -> Result<Vec<Look>, String> {
    let waits = |name: &str| format!("its rows come from {name} below");
    match node {
        Node::Scan(scan) if timed && scan.watermark.is_none() => Err(format!("table {} has no event time", scan.table)),
        Node::Scan(scan) => {
            let time = scan.watermark.as_ref().filter(|_| timed).and_then(|watermark| scan.columns.get(watermark.time));
            look(scan, Vec::new(), time.cloned(), false).map(|look| vec![look])
        }
        Node::Calc { input, filter, .. } => {
            let mut looks = rows_below(input, timed)?;
            looks.iter_mut().for_each(|look| look.filtered |= filter.is_some());
            Ok(looks)
        }
        Node::AssignWindows { input, .. } => rows_below(input, timed),
        Node::UnionAll { inputs, .. } => all(inputs.iter().map(|input| rows_below(input, timed))),
        Node::Expand { .. } => Err(waits("the sets of GROUPING SETS")),
        Node::Unnest { .. } => Err(waits("the elements of a collection")),
        Node::Stage { inputs, spec } => match (&**spec, inputs.first()) {
            (StageSpec::Over(_) | StageSpec::SessionRows(_), Some(input)) => rows_below(input, timed),
            (spec, _) => Err(waits(spec.name())),
        },
    }
}

fn all(looks: impl Iterator<Item = Result<Vec<Look>, String>>) -> Result<Vec<Look>, String> {
    looks.collect::<Result<Vec<_>, _>>().map(|looks| looks.into_iter().flatten().collect())
}

/// Looks at what expressions over the columns of a node are made from.
fn down(node: &Node, exprs: Vec<Expr>, filtered: bool) -> Result<Vec<Look>, String> {
    match node {
        Node::Scan(scan) => {
            let exprs = exprs.iter().map(|expr| expr.substitute(&scan.columns)).collect();
            look(scan, exprs, None, filtered).map(|look| vec![look])
        }
        Node::Calc { input, filter, exprs: inner, .. } => {
            let exprs = exprs.iter().map(|expr| expr.substitute(inner)).collect();
            down(input, exprs, filtered || filter.is_some())
        }
        Node::Expand { input, copies, .. } => all(copies.iter().map(|copy| {
            let exprs = exprs.iter().map(|expr| expr.substitute(copy)).collect();
            down(input, exprs, filtered)
        })),
        Node::UnionAll { inputs, .. } => all(inputs.iter().map(|input| down(input, exprs.clone(), filtered))),
        Node::AssignWindows { input, .. } => {
            let width = input.schema().len();
            through(node, input, exprs, filtered, &|index| (index < width).then_some(index))
        }
        Node::Unnest { input, keep, .. } => through(node, input, exprs, filtered, &|index| keep.get(index).copied()),
        Node::Stage { inputs, spec } => below_stage(node, inputs, spec, exprs, filtered),
    }
}

fn below_stage(
    node: &Node,
    inputs: &[Node],
    spec: &StageSpec,
    exprs: Vec<Expr>,
    filtered: bool,
) -> Result<Vec<Look>, String> {
    let [input, ..] = inputs else { return Err("an operator has no input".to_string()) };
    let grouped = |keys: &[usize]| through(node, input, exprs.clone(), filtered, &|index| keys.get(index).copied());
    match spec {
        StageSpec::Aggregate(spec) => grouped(&spec.keys),
        StageSpec::Emitting(spec) => grouped(&spec.aggregate.keys),
        StageSpec::Group(spec) => grouped(&spec.keys),
        StageSpec::Over(_) => same(node, input, exprs, filtered),
        StageSpec::SessionRows(_) => same(node, input, exprs, filtered),
        StageSpec::Rank(_) | StageSpec::KeepFirst(_) => same(node, input, exprs, true),
        StageSpec::Join(join) => below_join(join, inputs, exprs),
    }
}

/// Of an operator that adds columns to those of its input.
fn same(node: &Node, input: &Node, exprs: Vec<Expr>, filtered: bool) -> Result<Vec<Look>, String> {
    let width = input.schema().len();
    through(node, input, exprs, filtered, &|index| (index < width).then_some(index))
}

/// Goes on below with every column replaced by what it is there.
fn through(
    node: &Node,
    input: &Node,
    mut exprs: Vec<Expr>,
    filtered: bool,
    below: &dyn Fn(usize) -> Option<usize>,
) -> Result<Vec<Look>, String> {
    if let Some(own) = exprs.iter().flat_map(columns_of).find(|index| below(*index).is_none()) {
        // Names with a dollar are none of the script.
        let name = Some(column(node.schema(), own)).filter(|name| !name.contains('$')).unwrap_or("a value");
        return Err(format!("its key has {name}, which an operator below computes"));
    }
    exprs.iter_mut().for_each(|expr| expr.map_columns(&|index| below(index).unwrap_or_default()));
    down(input, exprs, filtered)
}

fn below_join(join: &JoinSpec, inputs: &[Node], mut exprs: Vec<Expr>) -> Result<Vec<Look>, String> {
    let width = join.inputs[0].len();
    let place = |index: usize| join.output.get(index).copied().unwrap_or_default();
    let used: Vec<usize> = exprs.iter().flat_map(columns_of).map(place).collect();
    let side = usize::from(used.iter().all(|index| *index >= width));
    if used.iter().any(|index| usize::from(*index >= width) != side) {
        return Err("the key has columns of both sides of a join".to_string());
    }
    exprs.iter_mut().for_each(|expr| expr.map_columns(&|index| place(index) - side * width));
    let input = inputs.get(side).ok_or_else(|| "a join has no such side".to_string())?;
    down(input, exprs, true)
}

/// A look at the columns that expressions over what the scan decodes read, and no more.
fn look(scan: &ScanSpec, mut keys: Vec<Expr>, mut time: Option<Expr>, filtered: bool) -> Result<Look, String> {
    let mut source = scan.source.clone();
    let SourceSpec::Files(files) = &mut source else {
        return Err(format!("the rows of {} are made up as the job runs", scan.table));
    };
    if files.is_stdin() {
        return Err(format!("table {} is read from stdin", scan.table));
    }
    let mut used: Vec<usize> = keys.iter().chain(&time).flat_map(columns_of).collect();
    if !used.iter().any(|column| *column < scan.projection.len()) {
        // Rows without columns could not be counted.
        used.push(0);
    }
    used.sort_unstable();
    used.dedup();
    for expr in keys.iter_mut().chain(&mut time) {
        expr.map_columns(&|column| used.binary_search(&column).unwrap_or_default());
    }
    // Columns that are the same for all rows of a file follow those that are decoded.
    let width = scan.projection.len();
    files.columns = used.iter().filter_map(|column| files.columns.get(column.checked_sub(width)?).cloned()).collect();
    let projection = used.iter().filter_map(|column| scan.projection.get(*column).copied()).collect();
    let scan = ScanSpec { source, projection, watermark: None, ..scan.clone() };
    Ok(Look { scan, keys, time, filtered })
}
