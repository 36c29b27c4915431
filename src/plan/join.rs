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

/// Pairs rows of two inputs that agree in their keys and, in a window join, in their windows.
#[derive(Debug, Clone)]
pub struct JoinSpec {
    pub kind: JoinKind,
    /// Of each side the columns in which rows bring their windows ([`WindowSpec::Attached`]); `None`: a regular join,
    /// which keeps all rows and gives a pair as soon as it has both (inner and semi joins only).
    pub windows: Option<[WindowSpec; 2]>,
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
    /// The columns with start and end of the windows that rows of a side bring.
    pub fn bounds(&self, side: usize) -> Option<(usize, usize)> {
        match self.windows.as_ref().map(|windows| &windows[side]) {
            Some(WindowSpec::Attached { start, end }) => Some((*start, *end)),
            _ => None,
        }
    }
}
