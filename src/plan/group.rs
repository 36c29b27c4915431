//! GROUP BY without windows.

use crate::aggregate::AggregateCall;
use crate::types::Schema;

/// Groups rows by key columns, without end: each row changes the result of its group.
///
/// Output columns: the keys, one column per aggregate, then [`ROW_KIND`](super::ROW_KIND).
#[derive(Debug, Clone)]
pub struct GroupAggregateSpec {
    /// Input columns to group by; may be empty (then one shard does the work).
    pub keys: Vec<usize>,
    pub aggregates: Vec<AggregateCall>,
    /// Input column with the kinds of the rows; `None`: rows are only added.
    pub kind: Option<usize>,
    pub input: Schema,
    pub schema: Schema,
    /// A row that changes nothing gives an update all the same, as Flink does where state expires.
    pub repeats: bool,
    /// Give the changes in the order of the rows that caused them, whatever the number of shards.
    pub ordered: bool,
}
