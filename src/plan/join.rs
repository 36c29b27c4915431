//! Joins of two inputs.

use super::WindowSpec;
use crate::expr::Expr;
use crate::types::Schema;

/// Which rows a join gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// Pairs, and rows of the left side without a partner, with NULLs beside them.
    Left,
    Right,
    Full,
    /// Rows of the left side that have a partner, once each.
    Semi,
    /// Rows of the left side that have none.
    Anti,
}

impl JoinKind {
    /// Whether rows of a side (0: left) that have no partner appear with NULLs beside them.
    pub fn keeps(self, side: usize) -> bool {
        match self {
            JoinKind::Left => side == 0,
            JoinKind::Right => side == 1,
            JoinKind::Full => true,
            JoinKind::Inner | JoinKind::Semi | JoinKind::Anti => false,
        }
    }
    /// Whether columns of a side may be NULL because a row of the other has no partner.
    pub fn pads(self, side: usize) -> bool {
        self.keeps(1 - side)
    }
    /// Whether the right side's columns are part of the result.
    pub fn has_pairs(self) -> bool {
        !matches!(self, JoinKind::Semi | JoinKind::Anti)
    }
    pub fn name(self) -> &'static str {
        match self {
            JoinKind::Inner => "INNER",
            JoinKind::Left => "LEFT OUTER",
            JoinKind::Right => "RIGHT OUTER",
            JoinKind::Full => "FULL OUTER",
            JoinKind::Semi => "SEMI",
            JoinKind::Anti => "ANTI",
        }
    }
}

/// How the times of two rows decide whether they may be a pair.
#[derive(Debug, Clone)]
pub enum JoinTimes {
    /// They do not: all rows are kept and a pair is given as soon as both are there (inner and semi joins only).
    Unbounded,
    /// A window join. Of each side the columns in which rows bring their windows ([`WindowSpec::Attached`]).
    Windows([WindowSpec; 2]),
    Interval(IntervalBounds),
    Versions(Versions),
}

impl JoinTimes {
    /// What such a join is called.
    pub fn name(&self) -> &'static str {
        match self {
            JoinTimes::Unbounded => "Join",
            JoinTimes::Windows(_) => "WindowJoin",
            JoinTimes::Interval(_) => "IntervalJoin",
            JoinTimes::Versions(_) => "TemporalJoin",
        }
    }
}

/// An interval join: the left time lies between the right time plus `lower_ms` and plus `upper_ms`, both included; if
/// these are the wrong way round, no row has a partner, and all is known as soon as a row comes. A pair is given as soon as both rows are there, a row without a partner when the watermark
/// says that none will come. No semi or anti joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalBounds {
    /// Input column of each side with the event time; a row where it is NULL meets nobody.
    pub times: [usize; 2],
    pub lower_ms: i64,
    pub upper_ms: i64,
}

impl IntervalBounds {
    /// How far the times of rows that a row of a side (0: left) meets may lie before its own, and behind it.
    pub fn reach(&self, side: usize) -> (i64, i64) {
        let (before, behind) = (self.upper_ms, self.lower_ms.saturating_neg());
        if side == 0 { (before, behind) } else { (behind, before) }
    }

    /// How far the watermark of the result stays behind that of the input.
    pub fn delay_ms(&self) -> i64 {
        if self.is_empty() { 0 } else { self.upper_ms.max(self.lower_ms.saturating_neg()).max(0) }
    }

    /// No row has a partner.
    pub fn is_empty(&self) -> bool {
        self.lower_ms > self.upper_ms
    }
}

/// A temporal join: a left row meets of its key the right row with the highest time that is not above its own, when the
/// watermark reaches its time. Inner and left joins only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// Input column of each side with the event time, never NULL on the left.
    pub times: [usize; 2],
    /// A right row that is older than the last one of its key is no version.
    pub in_order: bool,
}

/// Pairs rows of two inputs that agree in their keys, and whose times fit.
#[derive(Debug, Clone)]
pub struct JoinSpec {
    pub kind: JoinKind,
    pub times: JoinTimes,
    /// The windows were cut on the clock of this zone, where that makes a difference.
    pub zone: Option<String>,
    /// Columns of each side, of the same types pair by pair; none: every row meets every other.
    pub keys: [Vec<usize>; 2],
    /// By key: NULL meets NULL (`IS NOT DISTINCT FROM`).
    pub null_meets_null: Vec<bool>,
    /// What else pairs must fulfil, over the left side's columns and then the right side's.
    pub condition: Option<Expr>,
    pub inputs: [Schema; 2],
    /// What the result has of the left side's columns and then the right side's.
    pub output: Vec<usize>,
    pub schema: Schema,
    /// Give rows of one time in the order of their key hashes.
    pub ordered: bool,
}

impl JoinSpec {
    /// Of a window join: by side the columns with the windows of its rows.
    pub fn windows(&self) -> Option<&[WindowSpec; 2]> {
        match &self.times {
            JoinTimes::Windows(windows) => Some(windows),
            _ => None,
        }
    }

    /// The columns with start and end of the windows that rows of a side bring.
    pub fn bounds(&self, side: usize) -> Option<(usize, usize)> {
        match self.windows().map(|windows| &windows[side]) {
            Some(WindowSpec::Attached { start, end }) => Some((*start, *end)),
            _ => None,
        }
    }

    /// The input columns with the event times that are compared.
    pub fn compared_times(&self) -> Option<[usize; 2]> {
        match self.times {
            JoinTimes::Interval(IntervalBounds { times, .. }) | JoinTimes::Versions(Versions { times, .. }) => {
                Some(times)
            }
            JoinTimes::Unbounded | JoinTimes::Windows(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_of_an_interval_looks_the_other_way() {
        let bounds = IntervalBounds { times: [0, 0], lower_ms: -1, upper_ms: 3 };
        assert_eq!((bounds.reach(0), bounds.reach(1), bounds.delay_ms()), ((3, 1), (1, 3), 3));
    }
}
