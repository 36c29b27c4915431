//! Temporal joins: `JOIN r FOR SYSTEM_TIME AS OF l.ts`, rows beside what a table said at their time.
//!
//! The versions are the rows of a table with PRIMARY KEY and WATERMARK, or of a view that keeps the first or the last
//! row of each key by event time. A view of last rows is not numbered: the join itself passes over rows that are older
//! than the last one.

use sqlparser::ast::{Expr as Ast, TableFactor, TableVersion};

use super::binder::{Binder, located};
use super::conditions::{Equality, conjunction};
use super::logical::{ColumnId, Join, Rel, Times};
use super::rank::Rank;
use super::scope::Scope;
use super::settle::split;
use crate::error::{Error, Place, Result};
use crate::expr::{Expr, Scalar};
use crate::plan::JoinKind;
use crate::types::Type;

/// What a versioned table is told by.
struct Versioned {
    rel: Rel,
    key: Vec<ColumnId>,
    /// From when on a row is valid.
    time: Option<ColumnId>,
    /// Rows older than the last one of their key do not count.
    in_order: bool,
}

/// A table behind JOIN that stands with `FOR SYSTEM_TIME AS OF`: the table alone, and the time.
pub(super) fn versioned(factor: &TableFactor) -> Option<(TableFactor, &Ast)> {
    let TableFactor::Table { version: Some(TableVersion::ForSystemTimeAsOf(time)), .. } = factor else { return None };
    let mut table = factor.clone();
    if let TableFactor::Table { version, .. } = &mut table {
        *version = None;
    }
    Some((table, time))
}

/// `FOR SYSTEM_TIME AS OF` where no rows stand before it, or another way to name versions.
pub(super) fn misplaced() -> Error {
    Error::script("versions of a table have their place behind JOIN alone")
        .help("write l JOIN r FOR SYSTEM_TIME AS OF l.ts ON l.k = r.k")
}

impl Binder<'_> {
    /// The column of the rows before the join whose time says which version they meet.
    pub(super) fn version_time(&self, ast: &Ast, left: &Scope) -> Result<ColumnId> {
        self.plain_column(ast, left).ok_or_else(|| located(no_time(), ast))
    }

    /// A temporal join. `time`: as above.
    pub(super) fn settle_versions(
        &mut self,
        (kind, place): (JoinKind, Option<Place>),
        [left, right]: [Rel; 2],
        columns: [Vec<(ColumnId, ColumnId)>; 2],
        (conditions, time): (Vec<Expr>, ColumnId),
    ) -> Result<Rel> {
        if !matches!(kind, JoinKind::Inner | JoinKind::Left) {
            return Err(Error::script(format!("Flink has no temporal {} join", kind.name()))
                .help("write JOIN or LEFT JOIN, with the versions on the right"));
        }
        if self.arena.columns[time].proctime {
            return Err(Error::unsupported("a temporal join by processing time")
                .help("take an event time on both sides: columns with a WATERMARK"));
        }
        if !self.arena.columns[time].rowtime {
            return Err(match left {
                Rel::Join(_) => Error::unsupported("a temporal join behind a join that bounds no time")
                    .help("join the versions first, or bound the times of the two sides of the other join"),
                _ => no_time(),
            });
        }
        let (keys, rest) = split(conditions, &|id| columns[0].iter().any(|(_, below)| *below == id));
        if keys.is_empty() {
            return Err(Error::script("a temporal join compares no key")
                .help("write ON l.k = r.k for the columns of the PRIMARY KEY; WHERE does not do"));
        }
        let visible = |id: ColumnId| columns[1].iter().any(|(_, below)| *below == id);
        let versioned = self.versions(right)?;
        let Some(valid) = versioned.time.filter(|id| visible(*id)) else {
            return Err(Error::script("the versions of a temporal join have no event time")
                .help("declare a WATERMARK for the versioned table, and select its column in a view"));
        };
        self.check_key(&versioned, &keys, &visible)?;
        let types = [time, valid].map(|id| &self.arena.columns[id].data_type.kind);
        if matches!(types[0], Type::TimestampLtz(_)) != matches!(types[1], Type::TimestampLtz(_)) {
            return Err(Error::script(format!(
                "the times of the two sides of a temporal join have the types {} and {}",
                types[0], types[1]
            ))
            .help("declare both as TIMESTAMP(3) or both as TIMESTAMP_LTZ(3)"));
        }
        for (above, _) in &columns[0] {
            self.arena.columns[*above].window = None;
        }
        self.lose_times(columns[1].iter());
        // Flink looks versions up by the key as it is, NULL or not.
        let keys = keys.into_iter().map(|key| Equality { null_meets_null: true, ..key }).collect();
        let times = Times::Versions { columns: [time, valid], in_order: versioned.in_order };
        let condition = conjunction(rest)?;
        Ok(Rel::Join(Box::new(Join { kind, inputs: [left, versioned.rel], times, keys, condition, columns, place })))
    }

    /// The key of the versions must be compared. What is compared besides is part of the key, but of a view, whose last
    /// rows are those of the key alone.
    fn check_key(&self, versioned: &Versioned, keys: &[Equality], visible: &dyn Fn(ColumnId) -> bool) -> Result<()> {
        if versioned.key.is_empty() || !versioned.key.iter().all(|id| visible(*id)) {
            return Err(no_key());
        }
        let compared =
            |id: &ColumnId| keys.iter().any(|key| matches!(&key.sides[1], Expr::Column { index, .. } if index == id));
        if !versioned.key.iter().all(compared) {
            let names: Vec<&str> = versioned.key.iter().map(|id| self.arena.columns[*id].name.as_str()).collect();
            return Err(Error::script(format!(
                "a temporal join compares the whole PRIMARY KEY of the versions: {}",
                names.join(", ")
            ))
            .help("write an equality with a column of the left side for each of them"));
        }
        if versioned.in_order && keys.len() != versioned.key.len() {
            return Err(Error::unsupported("a temporal join with a view that compares more than its PARTITION BY")
                .help("declare a PRIMARY KEY for the table and join that, or compare the rest in WHERE"));
        }
        Ok(())
    }

    fn versions(&self, rel: Rel) -> Result<Versioned> {
        match rel {
            Rel::Scan { table, columns, current } => {
                let named = |name: &str| table.columns.iter().position(|column| column.name == name);
                let key = table.definition.primary_key.iter().filter_map(|name| named(&name.value));
                let key = key.map(|at| columns[at]).collect();
                let time = table.watermark.as_ref().map(|watermark| columns[watermark.time]);
                Ok(Versioned { key, time, in_order: false, rel: Rel::Scan { table, columns, current } })
            }
            Rel::Project { input, defined } => {
                let below = self.versions(*input)?;
                Ok(Versioned { rel: Rel::Project { input: Box::new(below.rel), defined }, ..below })
            }
            Rel::Filter { input, .. } => {
                self.versions(*input)?;
                Err(Error::unsupported("a condition on the versions of a temporal join")
                    .help("the version before would be valid again; put the condition into WHERE behind the join"))
            }
            Rel::Rank(rank) => self.ranked(*rank),
            Rel::Group(_) => Err(Error::unsupported("a temporal join with the results of GROUP BY as versions")
                .help("take the last row of each key: ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1")),
            _ => Err(no_key()),
        }
    }

    /// The first or the last row of each key.
    fn ranked(&self, rank: Rank) -> Result<Versioned> {
        let [(time, order)] = rank.order.as_slice() else { return Err(no_order()) };
        let (time, descending) = (*time, order.descending);
        if rank.window.is_some() || (rank.bounds.first, rank.bounds.last) != (1, Some(1)) {
            return Err(no_key());
        }
        if !self.arena.columns[time].rowtime || self.arena.is_past(&rank.input, time) {
            return Err(no_order());
        }
        let key = rank.keys.clone();
        if !descending {
            return Ok(Versioned { rel: Rel::Rank(Box::new(rank)), key, time: Some(time), in_order: false });
        }
        let one = Expr::literal(Scalar::Int(1), self.arena.columns[rank.column].data_type.clone());
        let rel = Rel::Project { input: Box::new(rank.input), defined: vec![(rank.column, one)] };
        Ok(Versioned { rel, key, time: Some(time), in_order: true })
    }
}

fn no_time() -> Error {
    Error::script("FOR SYSTEM_TIME AS OF takes an event-time column of the left side")
        .help("name the column with the WATERMARK as it is, without an expression around it")
}

fn no_key() -> Error {
    Error::script("the versions of a temporal join have no primary key").help(
        "declare PRIMARY KEY (k) NOT ENFORCED for the table and select its columns, or take a view of the last row of \
         each key: ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1",
    )
}

fn no_order() -> Error {
    Error::unsupported("a temporal join with a view that is not ordered by event time alone")
        .help("write ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC), where ts has the WATERMARK")
}
