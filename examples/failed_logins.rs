//! Ten failed logins within five minutes: why tumbling windows miss a burst, and sliding windows catch it.
//!
//! ```sh
//! cargo run --example failed_logins
//! ```
//!
//! Mallory tries twelve passwords between 10:03 and 10:07. Tumbling windows cut the burst in two at 10:05, and neither
//! half has ten. Sliding windows of the same length begin every minute, so one of them holds the whole burst. Both run
//! in one program, over the same stream.
//!
//! ```text
//! tumbling: 5 minutes
//! window           user     failed
//! 10:00 - 10:05    mallory       6
//! 10:00 - 10:05    alice         2
//! 10:05 - 10:10    mallory       6
//!
//! sliding: 5 minutes, every minute; at least 10
//! window           user     failed
//! 10:02 - 10:07    mallory      12
//! 10:03 - 10:08    mallory      12
//! ```

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use transom::api::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Login {
    user: String,
    succeeded: bool,
    /// Milliseconds since 1970.
    time: i64,
}

/// 10 o'clock on the 2nd of March 2026.
const TEN: i64 = 1_772_445_600_000;
const FIVE_MINUTES: Duration = Duration::from_secs(300);
const MINUTE: Duration = Duration::from_secs(60);

fn logins() -> Vec<Login> {
    let login =
        |user: &str, succeeded, second: i64| Login { user: user.to_string(), succeeded, time: TEN + second * 1000 };
    // Alice mistypes twice, then remembers. Mallory tries every 20 seconds.
    let mut logins = vec![login("alice", false, 41), login("alice", false, 50), login("alice", true, 55)];
    logins.extend((0..12).map(|attempt| login("mallory", false, 190 + 20 * attempt)));
    logins.push(login("alice", true, 700));
    logins
}

type Counts = Collected<WindowResult<String, TimeWindow, u64>>;

fn main() -> Result<()> {
    let environment = StreamExecutionEnvironment::new();
    let watermarks = WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|login: &Login| login.time);
    let failed = environment
        .from_collection(logins())
        .assign_timestamps_and_watermarks(watermarks)
        .filter(|login| !login.succeeded)
        .key_by(|login| login.user.clone());

    let tumbling = failed.window(TumblingEventTimeWindows::of(FIVE_MINUTES)).aggregate(Count).collect();
    let sliding = failed
        .window(SlidingEventTimeWindows::of(FIVE_MINUTES, MINUTE))
        .aggregate(Count)
        .filter(|count| count.value >= 10)
        .collect();
    environment.execute()?;

    show("tumbling: 5 minutes", &tumbling);
    println!();
    show("sliding: 5 minutes, every minute; at least 10", &sliding);
    Ok(())
}

fn show(title: &str, counts: &Counts) {
    println!("{title}\n{:<15}  {:<7}  {:>6}", "window", "user", "failed");
    for count in counts.take() {
        let window = format!("{} - {}", clock(count.window.start), clock(count.window.end));
        println!("{window:<15}  {:<7}  {:>6}", count.key, count.value);
    }
}

/// Milliseconds since 1970 as a time of day in UTC.
fn clock(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |time| time.strftime("%H:%M").to_string())
}
