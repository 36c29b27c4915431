//! What kind of join a join is, found out from what it compares.

use super::binder::Binder;
use super::conditions::{Equality, conjunction};
use super::logical::{ColumnId, Join, Rel, Role, Times, Window, WindowId};
use super::near;
use crate::error::{Error, Place, Result};
use crate::expr::Expr;
use crate::plan::JoinKind;

/// Equalities between the sides, and the other conditions.
pub(super) fn split(conditions: Vec<Expr>, left: &dyn Fn(ColumnId) -> bool) -> (Vec<Equality>, Vec<Expr>) {
    let (mut equalities, mut rest) = (Vec::new(), Vec::new());
    for condition in conditions {
        match Equality::of(&condition, left) {
            Some(equality) => equalities.push(equality),
            None => rest.push(condition),
        }
    }
    (equalities, rest)
}

impl Binder<'_> {
    /// Finds out what a join compares, and so what kind of join it is.
    pub(super) fn settle(
        &mut self,
        (kind, place): (JoinKind, Option<Place>),
        inputs: [Rel; 2],
        columns: [Vec<(ColumnId, ColumnId)>; 2],
        conditions: Vec<Expr>,
    ) -> Result<Rel> {
        let left = |id: ColumnId| columns[0].iter().any(|(_, below)| *below == id);
        let (mut equalities, mut rest) = split(conditions, &left);
        let near = |equalities: &mut _, rest: &mut _| match kind.has_pairs() {
            true => near::take(&self.arena, &|id| inputs[0].has(id, &self.arena), equalities, rest),
            false => Ok(None),
        };
        let times = match self.common_windows(&equalities) {
            Some(windows) => Times::Windows(windows),
            None => near(&mut equalities, &mut rest)?.map_or(Times::Unbounded, Times::Interval),
        };
        match times {
            Times::Windows([left, right]) => {
                equalities.retain(|equality| {
                    let roles = self.roles(equality);
                    !matches!(roles, Some(([(l, Role::Start | Role::End), (r, _)], true)) if (l, r) == (left, right))
                });
                self.join_windows(kind, [left, right], &columns);
            }
            Times::Interval(_) => {
                for (above, below) in columns.iter().flatten() {
                    self.arena.columns[*above].rowtime = self.arena.columns[*below].rowtime;
                    self.arena.columns[*above].window = None;
                }
            }
            Times::Unbounded | Times::Versions { .. } => {
                self.refuse_regular(kind, &equalities)?;
                self.note_regular(&columns, &equalities, place.as_ref());
                // Rows come without an order of time from here on.
                self.lose_times(columns.iter().flatten());
            }
        }
        let condition = conjunction(rest)?;
        Ok(Rel::Join(Box::new(Join { kind, inputs, times, keys: equalities, condition, columns, place })))
    }

    /// Columns that were event times or parts of windows are so no more.
    pub(super) fn lose_times<'c>(&mut self, columns: impl Iterator<Item = &'c (ColumnId, ColumnId)>) {
        for (above, _) in columns {
            self.arena.columns[*above].rowtime = false;
            self.arena.columns[*above].window = None;
        }
    }

    /// The windows of both sides and the parts that are compared, if it is window columns that are compared, and whether
    /// they are the same part.
    pub(super) fn roles(&self, equality: &Equality) -> Option<([(WindowId, Role); 2], bool)> {
        let role = |expr: &Expr| match expr {
            Expr::Column { index, .. } => self.arena.columns[*index].window,
            _ => None,
        };
        let [left, right] = &equality.sides;
        let (left, right) = (role(left)?, role(right)?);
        Some(([left, right], left.1 == right.1))
    }

    /// The windows of the two sides whose starts and ends are compared, if they are cut alike.
    fn common_windows(&self, equalities: &[Equality]) -> Option<[WindowId; 2]> {
        let roles: Vec<_> = equalities.iter().filter_map(|equality| self.roles(equality)).collect();
        let same = |wanted: Role| {
            let roles = roles.iter().filter(move |(roles, same)| *same && roles[0].1 == wanted);
            roles.map(|(roles, _)| [roles[0].0, roles[1].0])
        };
        same(Role::Start).find(|windows| same(Role::End).any(|other| other == *windows) && self.cut_alike(*windows))
    }

    fn cut_alike(&self, windows: [WindowId; 2]) -> bool {
        let [a, b] = windows.map(|id| &self.arena.windows[id]);
        a.function == b.function && a.time_type.kind == b.time_type.kind
    }

    /// The window that rows carry above a window join: that of both sides, as far as they are not padded.
    fn join_windows(&mut self, kind: JoinKind, windows: [WindowId; 2], columns: &[Vec<(ColumnId, ColumnId)>; 2]) {
        let id = self.arena.windows.len();
        let mut parts = Vec::new();
        let visible = if kind.has_pairs() { 2 } else { 1 };
        for side in (0..visible).filter(|&side| !kind.pads(side)) {
            for (above, below) in &columns[side] {
                let Some((window, role)) = self.arena.columns[*below].window else { continue };
                if window == windows[side] {
                    parts.push((*above, role));
                }
            }
            for (above, below) in &columns[side] {
                self.arena.columns[*above].rowtime = self.arena.columns[*below].rowtime;
            }
        }
        let find = |role: Role| parts.iter().find(|(_, other)| *other == role).map(|(above, _)| *above);
        let (Some(start), Some(end)) = (find(Role::Start), find(Role::End)) else { return };
        let window =
            Window { start, end, time: find(Role::Time), partition: None, ..self.arena.windows[windows[0]].clone() };
        self.arena.windows.push(window);
        for (above, role) in parts {
            self.arena.columns[above].window = Some((id, role));
        }
    }

    /// A join without windows keeps all rows for good. Flink updates what an outer or anti join has given already.
    fn refuse_regular(&self, kind: JoinKind, keys: &[Equality]) -> Result<()> {
        if !matches!(kind, JoinKind::Inner | JoinKind::Semi) {
            let article = if kind == JoinKind::Anti { "an" } else { "a" };
            let what =
                format!("{article} {} join that is no window join (its results would be updated later)", kind.name());
            return Err(Error::unsupported(what).help(self.join_lacks(keys).reason()));
        }
        Ok(())
    }
}
