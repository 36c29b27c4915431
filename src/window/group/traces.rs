//! How the rows of a batch follow each other in their groups.

/// No row.
const NONE: u32 = u32::MAX;
/// In [`Traces::before`]: a row of the batch, not a result from before it.
pub(super) const IN_BATCH: u32 = 1 << 31;

/// See the module.
pub(in crate::window) struct Traces {
    /// Groups in the order of their first rows.
    pub firsts: Vec<u32>,
    /// Where the result before each row is: the number of its group among `firsts`, or of a row, with [`IN_BATCH`].
    pub before: Vec<u32>,
}

impl Traces {
    /// `groups`: of each row, below `len`. `last` is scratch.
    pub(in crate::window) fn of(groups: &[u32], len: usize, last: &mut Vec<u32>) -> Self {
        last.resize(len.max(last.len()), NONE);
        let mut firsts = Vec::new();
        let mut before = Vec::with_capacity(groups.len());
        for (row, &group) in groups.iter().enumerate() {
            let last = &mut last[group as usize];
            if *last == NONE {
                before.push(firsts.len() as u32);
                firsts.push(group);
            } else {
                before.push(*last | IN_BATCH);
            }
            *last = row as u32;
        }
        firsts.iter().for_each(|&group| last[group as usize] = NONE);
        Traces { firsts, before }
    }

    /// Where the result before each row is, if those of `firsts` stand before those after the rows.
    pub(in crate::window) fn places(&self) -> Vec<u32> {
        let firsts = self.firsts.len() as u32;
        let place = |&before: &u32| if before & IN_BATCH == 0 { before } else { firsts + (before & !IN_BATCH) };
        self.before.iter().map(place).collect()
    }

    /// Whether the row is the first of its group in the batch.
    pub(in crate::window) fn is_first(&self, row: usize) -> bool {
        self.before[row] & IN_BATCH == 0
    }
}
