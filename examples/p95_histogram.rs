//! The 95th percentile of latencies by a histogram of fixed buckets, beside the exact value.
//!
//! ```sh
//! cargo run --example p95_histogram
//! ```
//!
//! A histogram keeps eleven counters a minute, however many requests there are. The exact value needs all of them, so the
//! second window keeps every request until its minute is over; on standard error the program is warned of that. The
//! answer of the histogram is as fine as its buckets.
//!
//! ```text
//! minute    service  requests  histogram  exact
//! 10:00:00  search       1200       31.6   28.3
//! 10:01:00  search       1200       42.9   40.8
//! 10:02:00  search       1200       48.5   46.9
//! ```

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use transom::api::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Request {
    service: String,
    millis: f64,
    /// Milliseconds since 1970.
    time: i64,
}

/// 10 o'clock on the 2nd of March 2026.
const TEN: i64 = 1_772_445_600_000;
/// Upper bounds of the buckets, milliseconds.
const BUCKETS: [f64; 10] = [5.0, 10.0, 20.0, 35.0, 50.0, 75.0, 100.0, 200.0, 500.0, 1000.0];

/// Twenty requests a second for three minutes: most are quick, a few are not, and they get slower.
fn requests() -> impl Iterator<Item = Request> + Send {
    let mut random = 7u64;
    (0..3600i64).map(move |number| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (random >> 33) as f64 / (1u64 << 31) as f64;
        let slowness = 1.0 + number as f64 / 3600.0;
        Request {
            service: "search".to_string(),
            millis: slowness * 6.0 / (1.005 - share).sqrt(),
            time: TEN + number * 50,
        }
    })
}

fn main() -> Result<()> {
    let environment = StreamExecutionEnvironment::new();
    let watermarks =
        WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|request: &Request| request.time);
    let services = environment
        .from_collection(requests())
        .assign_timestamps_and_watermarks(watermarks)
        .key_by(|request| request.service.clone());
    let minute = TumblingEventTimeWindows::of(Duration::from_secs(60));

    let by_histogram = services
        .window(minute)
        .aggregate(HistogramQuantile::of(&BUCKETS, 0.95, |request: &Request| request.millis)?)
        .collect();
    let exact = services
        .window(minute)
        .apply(|_service, _context, requests, out| {
            let mut millis: Vec<f64> = requests.iter().map(|request| request.millis).collect();
            millis.sort_by(f64::total_cmp);
            out.collect((millis.len(), millis[(millis.len() * 95).div_ceil(100) - 1]));
            Ok(())
        })
        .collect();
    environment.execute()?;

    println!("{:<8}  {:<7}  {:>8}  {:>9}  {:>5}", "minute", "service", "requests", "histogram", "exact");
    for (estimate, (requests, exact)) in by_histogram.take().into_iter().zip(exact.take()) {
        let (start, p95) = (clock(estimate.window.start), estimate.value.unwrap_or_default());
        println!("{start:<8}  {:<7}  {requests:>8}  {p95:>9.1}  {exact:>5.1}", estimate.key);
    }
    Ok(())
}

/// Milliseconds since 1970 as a time of day in UTC.
fn clock(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |time| time.strftime("%H:%M:%S").to_string())
}
