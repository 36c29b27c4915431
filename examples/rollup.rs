//! Requests by service and region, rolled up to minutes; and the minutes rolled up once more.
//!
//! ```sh
//! cargo run --example rollup
//! ```
//!
//! A key may have two parts: it is a tuple. Several aggregates over the same elements are one: a tuple too. The second
//! window takes the results of the first, which have the last millisecond of their window as their timestamp.
//!
//! ```text
//! minute    service  region  requests    bytes  mean ms  max
//! 10:00:00  cart     us            25    26475     55.0   91
//! 10:00:00  cart     eu            75    77975     49.0   91
//! 10:00:00  search   us            50    49050     53.6   95
//! 10:00:00  search   eu           150   148950     50.4   95
//! 10:01:00  cart     us            25    25975     55.0   91
//! 10:01:00  cart     eu            75    77475     49.0   91
//! 10:01:00  search   us            50    49050     53.6   95
//! 10:01:00  search   eu           150   146950     51.6   95
//!
//! hour      service          requests    bytes
//! 10:00:00  cart                  200   207900
//! 10:00:00  search                400   394000
//! ```

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use transom::api::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Request {
    service: String,
    region: String,
    bytes: u64,
    millis: i64,
    /// Milliseconds since 1970.
    time: i64,
}

/// 10 o'clock on the 2nd of March 2026.
const TEN: i64 = 1_772_445_600_000;

/// 600 requests in two minutes.
fn requests() -> impl Iterator<Item = Request> + Send {
    (0..600i64).map(|number| Request {
        service: if number % 3 == 0 { "cart" } else { "search" }.to_string(),
        region: if number % 4 < 3 { "eu" } else { "us" }.to_string(),
        bytes: 500 + (number as u64 * 37) % 1000,
        millis: 10 + (number * number) % 90,
        time: TEN + number * 200,
    })
}

fn main() -> Result<()> {
    let environment = StreamExecutionEnvironment::new();
    let watermarks =
        WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|request: &Request| request.time);

    let minutes = environment
        .from_collection(requests())
        .assign_timestamps_and_watermarks(watermarks)
        .key_by(|request| (request.service.clone(), request.region.clone()))
        .window(TumblingEventTimeWindows::of(Duration::from_secs(60)))
        .aggregate((
            Count,
            Sum::of(|request: &Request| request.bytes),
            Average::of(|request: &Request| request.millis),
            Max::of(|request: &Request| request.millis),
        ));
    let hours = minutes
        .key_by(|minute| minute.key.0.clone())
        .window(TumblingEventTimeWindows::of(Duration::from_secs(3600)))
        .aggregate((Sum::of(|minute: &Minute| minute.value.0), Sum::of(|minute: &Minute| minute.value.1)))
        .collect();
    let minutes = minutes.collect();
    environment.execute()?;

    println!(
        "{:<8}  {:<7}  {:<6}  {:>8}  {:>7}  {:>7}  {:>3}",
        "minute", "service", "region", "requests", "bytes", "mean ms", "max"
    );
    for minute in minutes.take() {
        let ((service, region), (requests, bytes, mean, max)) = (minute.key, minute.value);
        let (start, mean, max) = (clock(minute.window.start), mean.unwrap_or_default(), max.unwrap_or_default());
        println!("{start:<8}  {service:<7}  {region:<6}  {requests:>8}  {bytes:>7}  {mean:>7.1}  {max:>3}");
    }
    println!("\n{:<8}  {:<7}  {:<6}  {:>8}  {:>7}", "hour", "service", "", "requests", "bytes");
    for hour in hours.take() {
        let (start, (requests, bytes)) = (clock(hour.window.start), hour.value);
        println!("{start:<8}  {:<7}  {:<6}  {requests:>8}  {bytes:>7}", hour.key, "");
    }
    Ok(())
}

/// What comes of a minute.
type Minute = WindowResult<(String, String), TimeWindow, (u64, u64, Option<f64>, Option<i64>)>;

/// Milliseconds since 1970 as a time of day in UTC.
fn clock(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |time| time.strftime("%H:%M:%S").to_string())
}
