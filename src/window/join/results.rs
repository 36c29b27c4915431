//! Pairs that come about one by one, on their way out.

use super::super::{Emit, Emitted};
use super::pairs::{CANDIDATES_MAX, Candidates, Gather, NONE, Pairs};
use super::stored::Stored;
use crate::error::Result;
use crate::key::KeyHash;
use crate::snapshot::Archive;
use crate::time::Watermark;

/// When a candidate came about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// Candidates with a lower number go out first, whatever the shard of their key.
    pub order: i64,
    pub hash: KeyHash,
    pub group: u32,
    /// What the operator had handed on by then.
    pub before: Watermark,
}

impl Moment {
    /// While rows come under a watermark.
    pub(super) fn under(watermark: Watermark) -> i64 {
        Self::at(watermark).saturating_add(1)
    }
    /// When the watermark arrives.
    pub(super) fn at(watermark: Watermark) -> i64 {
        watermark.0.saturating_mul(2)
    }
}

/// Candidates in the order in which they came about.
#[derive(Default)]
pub(super) struct Results {
    candidates: Candidates,
    moments: Vec<Moment>,
    /// By side and row: it has had a partner.
    met: [Vec<bool>; 2],
}

impl Results {
    /// Rows of a side are kept up to this number.
    pub(super) fn grow(&mut self, side: usize, rows: u32) {
        self.met[side].resize(rows as usize, false);
    }

    /// A row of a side and one of the other, or [`NONE`]: the question whether the first has had a partner.
    pub(super) fn push(&mut self, side: usize, (row, other): (u32, u32), moment: Moment) {
        let (left, right) = if side == 0 { (row, other) } else { (other, row) };
        self.candidates.push(left, right);
        self.moments.push(moment);
    }

    /// Whether all that is waiting had better go out before a candidate of this order is added.
    pub(super) fn is_full(&self, order: i64) -> bool {
        self.candidates.len() >= CANDIDATES_MAX && self.moments.last().is_some_and(|last| last.order < order)
    }

    /// Gives what is waiting, by order, then key.
    pub(super) fn flush(&mut self, pairs: &Pairs, sides: &[Stored; 2], emit: Emit<'_>) -> Result<()> {
        if self.moments.is_empty() {
            return Ok(());
        }
        let gather: Gather<'_> = &|side, column, rows| match sides[side].rows() {
            0 => pairs.nulls(side, column, rows.len()),
            _ => sides[side].gather(column, rows),
        };
        let mut kept = pairs.sift(&self.candidates, &mut self.met, gather)?;
        let moment = |&at: &u32| self.moments[at as usize];
        kept.sort_by_key(|at| (moment(at).order, moment(at).hash, moment(at).group));
        for chunk in kept.chunks(CANDIDATES_MAX) {
            let rows = pairs.rows(&self.candidates.pick(chunk), gather)?;
            let mut emitted = Emitted::of(rows, chunk.iter().map(|at| moment(at).order).collect());
            let before = chunk.iter().map(|at| Some(moment(at).before).filter(|before| *before != Watermark::MIN));
            emitted.before = before.map(|before| before.map(|before| before.0)).collect();
            emit(emitted)?;
        }
        self.candidates.clear();
        self.moments.clear();
        Ok(())
    }

    /// Follows [`Stored::compact`] of a side. Nothing is waiting.
    pub(super) fn compact(&mut self, side: usize, used: &[u32]) {
        self.met[side] = used.iter().map(|&row| self.met[side][row as usize]).collect();
    }

    /// Of the rows, which have had a partner. Nothing is waiting.
    pub(super) fn archive(&mut self, archive: &mut Archive<'_>) -> Result<()> {
        let mut sides = self.met.iter_mut();
        sides.try_for_each(|met| archive.list(met, |&met| [u8::from(met)], |[met]| met != 0))
    }

    pub(super) fn bytes(&self) -> usize {
        self.met.iter().map(Vec::capacity).sum::<usize>() + self.moments.capacity() * size_of::<Moment>()
    }
}

/// Has a side keep but the rows at these places, and sets the places to their new numbers.
pub(super) fn compact(side: usize, stored: &mut Stored, results: &mut Results, places: &mut [&mut u32]) -> Result<()> {
    let mut used: Vec<u32> = places.iter().map(|place| **place).collect();
    used.sort_unstable();
    stored.compact(&used)?;
    results.compact(side, &used);
    for place in places {
        **place = used.binary_search(place).map_or(NONE, |at| at as u32);
    }
    Ok(())
}

/// Has a side take over the rows of another at these places, and sets the places to their numbers here.
pub(super) fn take_over(
    side: usize,
    (stored, results): (&mut Stored, &mut Results),
    (other, others): (&Stored, &Results),
    places: &mut [&mut u32],
) -> Result<()> {
    let mut used: Vec<u32> = places.iter().map(|place| **place).collect();
    used.sort_unstable();
    let first = stored.take_over(other, &used)?;
    results.met[side].extend(used.iter().map(|&row| others.met[side].get(row as usize).copied().unwrap_or(false)));
    for place in places {
        **place = used.binary_search(place).map_or(NONE, |at| first + at as u32);
    }
    Ok(())
}
