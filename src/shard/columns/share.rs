//! One reading of a table for all who want its rows.

use crate::plan::ScanSpec;
use crate::types::Field;

/// Makes `known` read what `scan` wants too, if both read the same: then where in the columns of `known` those of `scan`
/// are. What `known` had stays where it was.
pub(super) fn absorb(known: &mut ScanSpec, scan: &ScanSpec) -> Option<Vec<usize>> {
    if !known.reads_the_same(scan) {
        return None;
    }
    let mut projection: Vec<usize> = known.projection.iter().chain(&scan.projection).copied().collect();
    projection.sort_unstable();
    projection.dedup();
    let place = |column: usize| projection.iter().position(|&decoded| decoded == column).unwrap_or(0);
    let (from_known, from_scan) = (known.projection.clone(), scan.projection.clone());
    known.columns.iter_mut().for_each(|expr| expr.map_columns(&|at| place(from_known[at])));
    let mut places = Vec::with_capacity(scan.columns.len());
    for (expr, field) in scan.columns.iter().zip(&scan.schema.fields) {
        let mut expr = expr.clone();
        expr.map_columns(&|at| place(from_scan[at]));
        let same = |(have, of): (&_, &Field)| *have == expr && of.name == field.name;
        let known_at = known.columns.iter().zip(&known.schema.fields).position(same);
        places.push(known_at.unwrap_or(known.columns.len()));
        if known_at.is_none() {
            known.columns.push(expr);
            known.schema.fields.push(field.clone());
        }
    }
    let current = scan.watermark.as_ref().and_then(|watermark| watermark.current);
    if let (Some(current), Some(watermark)) = (current, &mut known.watermark) {
        watermark.current = Some(places[current]);
    }
    known.projection = projection;
    Some(places)
}
