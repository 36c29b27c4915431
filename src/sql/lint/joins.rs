//! Joins that lack windows, or partners.

use super::{Lint, Rule};
use crate::error::Place;
use crate::plan::JoinKind;
use crate::sql::binder::Binder;
use crate::sql::conditions::Equality;
use crate::sql::join::Branch;
use crate::sql::logical::{ColumnId, Role};

/// What a join lacks to be a window join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sql) enum Lacks {
    WindowEnd,
    WindowStart,
    SameWindows,
    Windows,
}

impl Lacks {
    /// Why it is none, and what to do about it.
    pub fn reason(self) -> &'static str {
        match self {
            Lacks::WindowEnd => "it compares window_start alone; compare window_end too",
            Lacks::WindowStart => "it compares window_end alone; compare window_start too",
            Lacks::SameWindows => {
                "the windows of the two sides are not cut alike; use the same window function on both"
            }
            Lacks::Windows => {
                "join rows that carry windows, from window functions or their aggregates, and compare window_start \
                 and window_end; or bound the event time of one side by that of the other: l.ts BETWEEN r.ts - INTERVAL \
                 '1' MINUTE AND r.ts"
            }
        }
    }
}

impl Binder<'_> {
    /// What these comparisons lack.
    pub(in crate::sql) fn join_lacks(&self, keys: &[Equality]) -> Lacks {
        let parts: Vec<_> = keys.iter().filter_map(|key| self.roles(key)).filter(|(_, same)| *same).collect();
        let has = |role: Role| parts.iter().any(|(roles, _)| roles[0].1 == role);
        match (has(Role::Start), has(Role::End)) {
            (true, false) => Lacks::WindowEnd,
            (false, true) => Lacks::WindowStart,
            (true, true) => Lacks::SameWindows,
            (false, false) => Lacks::Windows,
        }
    }

    /// Notes a join that is no window join where one seems to be meant.
    pub(in crate::sql) fn note_regular(
        &mut self,
        columns: &[Vec<(ColumnId, ColumnId)>; 2],
        keys: &[Equality],
        place: Option<&Place>,
    ) {
        let lacks = self.join_lacks(keys);
        let carries = |side: &Vec<(ColumnId, ColumnId)>| {
            side.iter()
                .any(|(_, below)| matches!(self.arena.columns[*below].window, Some((_, Role::Start | Role::End))))
        };
        let (rule, remedy) = match lacks {
            Lacks::WindowEnd => (Rule::JoinWithoutWindowEnd, "compare window_end as well as window_start"),
            Lacks::WindowStart => (Rule::JoinWithoutWindowStart, "compare window_start as well as window_end"),
            Lacks::SameWindows => {
                (Rule::JoinOfDifferentWindows, "cut the windows of both sides by the same function with the same sizes")
            }
            Lacks::Windows if columns.iter().all(carries) => {
                (Rule::JoinWithoutWindow, "compare window_start and window_end of both sides")
            }
            Lacks::Windows => return,
        };
        let message = "a join of rows with windows is no window join: it keeps all rows of both sides for good";
        self.lints.push(Lint::new(rule, place.cloned(), message, remedy));
    }

    /// Notes an outer join whose padded rows a condition above it takes out.
    pub(in crate::sql) fn note_undone(&mut self, branch: &Branch) {
        if branch.kind == branch.written {
            return;
        }
        let (written, kind) = (join_name(branch.written), join_name(branch.kind));
        let message = format!(
            "a condition above the {written} JOIN takes out rows that it keeps without a partner: it is {kind} JOIN"
        );
        let remedy = "put the condition into ON, or write the join that it is";
        self.lints.push(Lint::new(Rule::OuterJoinUndone, branch.place.clone(), message, remedy));
    }
}

fn join_name(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Left => "LEFT",
        JoinKind::Right => "RIGHT",
        JoinKind::Full => "FULL",
        JoinKind::Inner | JoinKind::Semi | JoinKind::Anti => "an INNER",
    }
}
