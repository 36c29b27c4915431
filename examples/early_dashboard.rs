//! A dashboard that does not wait for the end of the minute: early results, a final one, and corrections.
//!
//! ```sh
//! cargo run --example early_dashboard
//! ```
//!
//! The trigger fires each fifty sales and at the end of the minute; a sale that comes late, within thirty seconds, fires
//! once more. Each result is that of the whole minute so far and says which one it is: its pane. Who keeps the latest
//! result of each key and window, as the second table does, has the right figures at any time.
//!
//! ```text
//! minute    shop    sales    total  pane
//! 10:00:00  Bergen     50   246.50  0 Early
//! 10:00:00  Bergen    100   494.00  1 Early
//! 10:00:00  Bergen    120   595.80  2 OnTime
//! 10:00:00  Bergen    121   599.79  3 Late
//! 10:01:00  Bergen     41   207.59  0 OnTime
//!
//! minute    shop    sales    total
//! 10:00:00  Bergen    121   599.79
//! 10:01:00  Bergen     41   207.59
//! ```

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use transom::api::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Sale {
    shop: String,
    cents: i64,
    /// Milliseconds since 1970.
    time: i64,
}

/// 10 o'clock on the 2nd of March 2026.
const TEN: i64 = 1_772_445_600_000;

/// Two sales a second for 80 seconds, then one of 10:00:50 that was held up, and one more.
fn sales() -> Vec<Sale> {
    let sale = |ms: i64| Sale { shop: "Bergen".to_string(), cents: 199 + ms / 500 % 7 * 100, time: TEN + ms };
    let mut sales: Vec<Sale> = (0..160).map(|number| sale(number * 500)).collect();
    sales.push(sale(50_250));
    sales.push(sale(80_000));
    sales
}

fn main() -> Result<()> {
    let environment = StreamExecutionEnvironment::new();
    let watermarks = WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|sale: &Sale| sale.time);
    let totals = environment
        .from_collection(sales())
        .assign_timestamps_and_watermarks(watermarks)
        .key_by(|sale| sale.shop.clone())
        .window(TumblingEventTimeWindows::of(Duration::from_secs(60)))
        .trigger(EarlyCountTrigger::of(50))
        .allowed_lateness(Duration::from_secs(30))
        .aggregate((Count, Sum::of(|sale: &Sale| sale.cents)))
        .collect();
    environment.execute()?;

    println!("{:<8}  {:<6}  {:>5}  {:>7}  pane", "minute", "shop", "sales", "total");
    let mut dashboard = BTreeMap::new();
    for total in totals.take() {
        let (sales, cents) = total.value;
        let pane = format!("{} {:?}", total.pane.index, total.pane.timing);
        let (shop, start) = total.upsert_key();
        println!("{:<8}  {shop:<6}  {sales:>5}  {:>7.2}  {pane}", clock(start), cents as f64 / 100.0);
        dashboard.insert((start, shop.clone()), total.value);
    }
    println!("\n{:<8}  {:<6}  {:>5}  {:>7}", "minute", "shop", "sales", "total");
    for ((start, shop), (sales, cents)) in dashboard {
        println!("{:<8}  {shop:<6}  {sales:>5}  {:>7.2}", clock(start), cents as f64 / 100.0);
    }
    Ok(())
}

/// Milliseconds since 1970 as a time of day in UTC.
fn clock(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |time| time.strftime("%H:%M:%S").to_string())
}
