//! Clicks per user and minute, and the clicks that came too late to be counted.
//!
//! ```sh
//! cargo run --example clicks_per_user
//! ```
//!
//! Each click knows when it happened, and clicks come out of order. The watermark waits five seconds for stragglers.
//! A click whose minute has been counted by then is not lost: it goes to a side output.
//!
//! ```text
//! minute    user   clicks
//! 10:00:00  ada         4
//! 10:00:00  ben         1
//! 10:01:00  ada         1
//! 10:01:00  ben         2
//! 10:02:00  ada         1
//!
//! too late
//! 10:00:40  ben    /help
//! ```

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use transom::api::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Click {
    user: String,
    page: String,
    /// Milliseconds since 1970.
    time: i64,
}

/// 10 o'clock on the 2nd of March 2026.
const TEN: i64 = 1_772_445_600_000;

fn clicks() -> Vec<Click> {
    let rows = [
        ("ada", "/", 5),
        ("ben", "/", 12),
        ("ada", "/tea", 31),
        ("ada", "/cart", 58),
        // Out of order, yet in time: the watermark stands at 10:00:52.999.
        ("ada", "/pots", 55),
        ("ben", "/tea", 64),
        // This click moves the watermark to 10:01:04.999: the first minute is counted.
        ("ben", "/pots", 70),
        // Of the first minute: too late.
        ("ben", "/help", 40),
        ("ada", "/pay", 97),
        ("ada", "/", 130),
    ];
    rows.into_iter()
        .map(|(user, page, second)| Click { user: user.to_string(), page: page.to_string(), time: TEN + second * 1000 })
        .collect()
}

fn main() -> Result<()> {
    let environment = StreamExecutionEnvironment::new();
    let watermarks = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(5))
        .with_timestamp_assigner(|click: &Click| click.time);
    let late = OutputTag::new("late");

    let counts = environment
        .from_collection(clicks())
        .assign_timestamps_and_watermarks(watermarks)
        .key_by(|click| click.user.clone())
        .window(TumblingEventTimeWindows::of(Duration::from_secs(60)))
        .side_output_late_data(&late)
        .aggregate(Count);
    let too_late = counts.get_side_output(&late).collect();
    let counts = counts.collect();
    environment.execute()?;

    println!("{:<8}  {:<5}  {:>6}", "minute", "user", "clicks");
    for count in counts.take() {
        println!("{:<8}  {:<5}  {:>6}", clock(count.window.start), count.key, count.value);
    }
    println!("\ntoo late");
    for click in too_late.take() {
        println!("{:<8}  {:<5}  {}", clock(click.time), click.user, click.page);
    }
    Ok(())
}

/// Milliseconds since 1970 as a time of day in UTC.
fn clock(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |time| time.strftime("%H:%M:%S").to_string())
}
