//! The program of the README: clicks per user and minute.
//!
//! ```text
//! ada from 0 ms: 2 clicks
//! ben from 0 ms: 1 clicks
//! ada from 60000 ms: 1 clicks
//! ```

use transom::api::prelude::*;

fn main() -> Result<()> {
    let clicks = [("ada", 1_000), ("ben", 2_500), ("ada", 59_999), ("ada", 60_000)];
    let clicks = clicks.map(|(user, time)| (user.to_string(), time));
    let watermarks = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(5))
        .with_timestamp_assigner(|click: &(String, i64)| click.1);
    let environment = StreamExecutionEnvironment::new();
    environment
        .from_collection(clicks)
        .assign_timestamps_and_watermarks(watermarks)
        .key_by(|click| click.0.clone())
        .window(TumblingEventTimeWindows::of(Duration::from_secs(60)))
        .aggregate(Count)
        .for_each(|count| println!("{} from {} ms: {} clicks", count.key, count.window.start, count.value));
    environment.execute()?;
    Ok(())
}
