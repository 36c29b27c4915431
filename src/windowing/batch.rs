//! Rows on their way to the shard that owns their keys, with the watermarks that matter to them.

use std::sync::Arc;

use crate::batch::Mark;
use crate::key::KeyHash;
use crate::time::{EventTime, Watermark};
use crate::windowing::output::{Place, Places};

/// The watermark of a split through one of its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTimes {
    /// Before each row of the block; ascending.
    pub before: Vec<EventTime>,
    /// After the last row.
    pub after: EventTime,
    /// The clock when the block came into being, milliseconds since 1970.
    pub processing_time: EventTime,
}

/// The watermark of a stage through a block: that of the split, or of the stage's other inputs where that is lower.
#[derive(Debug, Clone)]
pub struct StageTimes {
    pub block: Arc<BlockTimes>,
    /// The lowest watermark of the stage's other inputs.
    pub others: Watermark,
    /// The stage's own before the block: it never goes back.
    pub reached: Watermark,
    /// The split's before the block: only what it says anew moves the stage.
    pub start: Watermark,
}

impl StageTimes {
    /// Before a record with this cause is looked at. What a timer causes is handed on before the time that made it
    /// due is.
    #[inline]
    pub fn before(&self, place: Place) -> Watermark {
        let row = (place.cause / 2) as usize;
        let row = if place.cause % 2 == 1 { row } else { row.saturating_sub(1) };
        self.at(self.block.before.get(row).copied().unwrap_or(self.block.after))
    }
    /// While what has this cause is handled.
    #[inline]
    pub fn during(&self, place: Place) -> Watermark {
        let row = (place.cause / 2) as usize;
        self.at(self.block.before.get(row).copied().unwrap_or(self.block.after))
    }
    /// What makes a timer for `time` due that fires at `place`, in a move to `target`: where no record brings the
    /// watermark so far, as at the end of the input, the move itself.
    pub fn that_makes_due(&self, place: Place, time: EventTime, target: Watermark) -> Watermark {
        let during = self.during(place);
        if during.0 >= time { during.min(target) } else { target }
    }
    /// Before a row of the block.
    #[inline]
    pub fn before_row(&self, row: u32) -> Watermark {
        self.at(self.block.before.get(row as usize).copied().unwrap_or(self.block.after))
    }
    /// After the block.
    #[inline]
    pub fn after(&self) -> Watermark {
        self.at(self.block.after)
    }
    /// The place of what a timer for `time` causes, fired in this block for a key.
    #[inline]
    pub fn place_of_timer(&self, time: EventTime, hash: KeyHash) -> Place {
        // Before the split says anything anew, the stage is where it was, wherever the split is.
        let waits = |before: EventTime| before == self.start.0 && self.reached.0 < time;
        let row = self.block.before.partition_point(|&before| before < time || waits(before));
        Place::of_timer(row as u32, time, hash)
    }
    #[inline]
    fn at(&self, watermark: EventTime) -> Watermark {
        if watermark == self.start.0 { self.reached } else { Watermark(watermark).min(self.others).max(self.reached) }
    }
}

/// Rows for one owner, in the order of their places.
#[derive(Debug, Clone)]
pub struct KeyedBatch<K, T> {
    pub keys: Vec<K>,
    pub hashes: Vec<KeyHash>,
    pub values: Vec<T>,
    /// Milliseconds.
    pub timestamps: Vec<EventTime>,
    pub places: Places,
    /// Before row `mark.row` of the batch is looked at, the operator's watermark is `mark.watermark`. Which rows have
    /// one, [`MarkRule`](crate::windowing::operator::MarkRule) says. Ascending; watermarks ascend too.
    pub marks: Vec<Mark>,
}

impl<K, T> KeyedBatch<K, T> {
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len()
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    /// The places of the rows ascend.
    pub fn is_in_order(&self) -> bool {
        match &self.places {
            Places::From(_) => true,
            Places::Rows(rows) => {
                let pairs = rows.windows(2).zip(self.hashes.windows(2));
                pairs
                    .into_iter()
                    .all(|(rows, hashes)| rows[0] < rows[1] || (rows[0] == rows[1] && hashes[0] <= hashes[1]))
            }
            Places::Each(_) => (0..self.len()).is_sorted_by_key(|row| self.place(row)),
        }
    }
    /// The rows of all in the order of their places, stable among equals. `place`: of a row of these places whose key
    /// has this hash.
    pub fn merge(batches: Vec<Self>, place: impl Fn(&Places, usize, KeyHash) -> Place) -> Self {
        let mut rows = Vec::with_capacity(batches.iter().map(KeyedBatch::len).sum());
        for batch in batches {
            let KeyedBatch { keys, hashes, values, timestamps, places, marks } = batch;
            let mut marks = marks.into_iter().peekable();
            let columns = keys.into_iter().zip(hashes).zip(values.into_iter().zip(timestamps)).enumerate();
            // A row keeps what the marks before it say when others of its cause come to lie before it.
            let mut reached = Watermark::MIN;
            rows.extend(columns.map(|(row, ((key, hash), (value, timestamp)))| {
                reached = marks.next_if(|mark| mark.row as usize == row).map_or(reached, |mark| mark.watermark);
                (place(&places, row, hash), (key, hash), value, timestamp, reached)
            }));
        }
        rows.sort_by_key(|row| row.0);
        let (mut merged, mut marked) = (KeyedBatch::default(), Watermark::MIN);
        let mut places = Vec::with_capacity(rows.len());
        for (row, (place, (key, hash), value, timestamp, watermark)) in rows.into_iter().enumerate() {
            if watermark > marked {
                merged.marks.push(Mark { row: row as u32, watermark });
                marked = watermark;
            }
            merged.push((key, hash), value, timestamp);
            places.push(place);
        }
        merged.places = Places::Each(places);
        merged
    }
    /// Adds a row but for its place and mark.
    #[inline]
    pub fn push(&mut self, (key, hash): (K, KeyHash), value: T, timestamp: EventTime) {
        self.keys.push(key);
        self.hashes.push(hash);
        self.values.push(value);
        self.timestamps.push(timestamp);
    }
    /// The place of row `row` of the batch.
    #[inline]
    pub fn place(&self, row: usize) -> Place {
        self.places.of(row, self.hashes[row])
    }
}

impl<K, T> Default for KeyedBatch<K, T> {
    fn default() -> Self {
        KeyedBatch {
            keys: Vec::new(),
            hashes: Vec::new(),
            values: Vec::new(),
            timestamps: Vec::new(),
            places: Places::default(),
            marks: Vec::new(),
        }
    }
}
