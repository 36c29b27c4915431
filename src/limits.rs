//! The bounds of the engine in one place, with their reasons.

/// Flink's default of `pipeline.max-parallelism`: how finely state can be dealt out to shards.
pub const KEY_GROUPS_DEFAULT: u32 = 128;
/// Flink's upper bound of `pipeline.max-parallelism`.
pub const KEY_GROUPS_MAX: u32 = 32_768;
/// Rows per record batch: columns of a batch stay in the L2 cache (8192 rows x 4 columns x 8 bytes = 256 KiB).
pub const BATCH_ROWS_DEFAULT: usize = 8_192;
/// Bytes per block of a text file: long enough to amortise a message to every shard, short enough
/// that both shards of a small machine find work in a file of a few megabytes.
pub const BLOCK_BYTES_DEFAULT: usize = 1 << 20;
/// Blocks that may be read ahead of the slowest shard, per shard: bounds the memory in queues.
pub const BLOCKS_IN_FLIGHT_PER_SHARD: usize = 3;
/// Windows that one row may be in (HOP, CUMULATE): all of them are written when the input ends, for each key, so a slip of
/// the unit (`INTERVAL '1' DAY` in steps of a millisecond) would fill the memory.
pub const WINDOWS_PER_ROW_MAX: i64 = 1_000_000;
/// Messages in one queue between a pair of shards before its sender keeps them back.
pub const QUEUE_MESSAGES: usize = 64;
/// Records in quarantine before the job fails: enough to look at, few enough that a wrong delimiter does not fill the disk.
pub const QUARANTINE_ROWS_DEFAULT: u64 = 1_000_000;

const _: () = assert!(KEY_GROUPS_DEFAULT <= KEY_GROUPS_MAX);
const _: () = assert!(QUEUE_MESSAGES >= 2 * BLOCKS_IN_FLIGHT_PER_SHARD, "a reader's own blocks fit its queue");
