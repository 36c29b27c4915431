//! Visits to a shop: sessions that end when a visitor has done nothing for thirty minutes.
//!
//! ```sh
//! cargo run --example shopping_sessions
//! ```
//!
//! Each action opens a session of thirty minutes, and sessions that overlap or touch become one. So an action that
//! comes late can join two sessions into one: accumulators must merge. The aggregate is our own: what a visit was like.
//!
//! ```text
//! visitor  from   to     actions    cart  paid
//! ben      10:05  10:41        3   49.00  no
//! ada      10:00  10:49        4   15.50  yes
//! ben      12:05  12:10        2    8.00  yes
//! ```

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use transom::api::prelude::*;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Action {
    View,
    AddToCart { cents: i64 },
    Pay,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Event {
    visitor: String,
    action: Action,
    /// Milliseconds since 1970.
    time: i64,
}

/// What a visit comes to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Visit {
    actions: u64,
    cart_cents: i64,
    paid: bool,
}

#[derive(Debug, Clone)]
struct Visits;

impl AggregateFunction<Event> for Visits {
    type Accumulator = Visit;
    type Output = Visit;

    fn create_accumulator(&self) -> Visit {
        Visit::default()
    }
    fn add(&self, event: &Event, visit: &mut Visit) {
        visit.actions += 1;
        match event.action {
            Action::View => {}
            Action::AddToCart { cents } => visit.cart_cents += cents,
            Action::Pay => visit.paid = true,
        }
    }
    fn get_result(&self, visit: &Visit) -> Visit {
        visit.clone()
    }
    fn merge(&self, visit: &mut Visit, other: &Visit) {
        visit.actions += other.actions;
        visit.cart_cents += other.cart_cents;
        visit.paid |= other.paid;
    }
}

/// 10 o'clock on the 2nd of March 2026.
const TEN: i64 = 1_772_445_600_000;
const MINUTE: i64 = 60_000;

fn events() -> Vec<Event> {
    let rows = [
        ("ada", 0, Action::View),
        ("ada", 4, Action::AddToCart { cents: 1250 }),
        ("ben", 5, Action::View),
        ("ben", 11, Action::AddToCart { cents: 4900 }),
        // 45 minutes behind her last action: a session of its own, for now.
        ("ada", 49, Action::Pay),
        // This one comes late and joins the two.
        ("ada", 28, Action::AddToCart { cents: 300 }),
        // Exactly 30 minutes behind his last action: sessions that touch are one.
        ("ben", 41, Action::View),
        // A second visit.
        ("ben", 125, Action::AddToCart { cents: 800 }),
        ("ben", 130, Action::Pay),
    ];
    rows.into_iter()
        .map(|(visitor, minute, action)| Event { visitor: visitor.to_string(), action, time: TEN + minute * MINUTE })
        .collect()
}

fn main() -> Result<()> {
    let environment = StreamExecutionEnvironment::new();
    let watermarks = WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(25 * 60))
        .with_timestamp_assigner(|event: &Event| event.time);
    let visits = environment
        .from_collection(events())
        .assign_timestamps_and_watermarks(watermarks)
        .key_by(|event| event.visitor.clone())
        .window(EventTimeSessionWindows::with_gap(Duration::from_secs(30 * 60)))
        .aggregate(Visits)
        .collect();
    environment.execute()?;

    println!("{:<7}  {:<5}  {:<5}  {:>7}  {:>6}  paid", "visitor", "from", "to", "actions", "cart");
    for visit in visits.take() {
        // The window ends 30 minutes behind the last action.
        let (from, to) = (clock(visit.window.start), clock(visit.window.end - 30 * MINUTE));
        let Visit { actions, cart_cents, paid } = visit.value;
        let (euros, paid) = (cart_cents as f64 / 100.0, if paid { "yes" } else { "no" });
        println!("{:<7}  {from:<5}  {to:<5}  {actions:>7}  {euros:>6.2}  {paid}", visit.key);
    }
    Ok(())
}

/// Milliseconds since 1970 as a time of day in UTC.
fn clock(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |time| time.strftime("%H:%M").to_string())
}
