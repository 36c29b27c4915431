//! The error rate of each service and minute, and an alarm as soon as a minute has five errors.
//!
//! ```sh
//! cargo run --example error_rate
//! ```
//!
//! The aggregate is ready-made. The trigger is our own: it fires at the end of the minute like the default one, and
//! once before, when it has counted five errors. What a trigger must remember of one window of one key is its state.
//!
//! ```text
//! minute    service  requests  errors    rate
//! 10:00:00  cart          120       2    1.7%
//! 10:00:00  search        120       1    0.8%
//! 10:01:00  cart           25       5   20.0%  ALARM
//! 10:01:00  cart          120      21   17.5%
//! 10:01:00  search        120       1    0.8%
//! ```

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use transom::api::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Request {
    service: String,
    status: u16,
    /// Milliseconds since 1970.
    time: i64,
}

impl Request {
    fn is_error(&self) -> bool {
        self.status >= 500
    }
}

/// Fires when a window has this many errors, and at its end.
#[derive(Debug, Clone)]
struct ErrorsTrigger(u32);

impl Trigger<Request, TimeWindow> for ErrorsTrigger {
    /// Errors so far.
    type State = u32;

    fn on_element(
        &self,
        request: &Request,
        _timestamp: i64,
        window: &TimeWindow,
        errors: &mut u32,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        // Registering a timer twice is registering it once.
        context.register_event_time_timer(window.max_timestamp());
        if request.is_error() {
            *errors += 1;
            return Ok(TriggerResult::fire_if(*errors == self.0));
        }
        Ok(TriggerResult::Continue)
    }

    fn on_event_time(
        &self,
        time: i64,
        window: &TimeWindow,
        _errors: &mut u32,
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(TriggerResult::fire_if(time == window.max_timestamp()))
    }

    fn clear(&self, window: &TimeWindow, _errors: &mut u32, context: &mut TriggerContext<'_>) {
        context.delete_event_time_timer(window.max_timestamp());
    }

    fn may_leave_unfired(&self) -> bool {
        false
    }

    fn describe(&self) -> String {
        format!("ErrorsTrigger({})", self.0)
    }
}

/// 10 o'clock on the 2nd of March 2026.
const TEN: i64 = 1_772_445_600_000;

/// Four requests a second for two minutes. The cart fails from 10:01:10 to 10:01:20.
fn requests() -> impl Iterator<Item = Request> + Send {
    (0..480i64).map(|number| {
        let (service, second) = (if number % 2 == 0 { "cart" } else { "search" }, number / 4);
        let failing = service == "cart" && (70..80).contains(&second);
        let status = if failing || number % 97 == 0 { 503 } else { 200 };
        Request { service: service.to_string(), status, time: TEN + number * 250 }
    })
}

fn main() -> Result<()> {
    let environment = StreamExecutionEnvironment::new();
    let watermarks =
        WatermarkStrategy::for_monotonous_timestamps().with_timestamp_assigner(|request: &Request| request.time);
    let rates = environment
        .from_collection(requests())
        .assign_timestamps_and_watermarks(watermarks)
        .key_by(|request| request.service.clone())
        .window(TumblingEventTimeWindows::of(Duration::from_secs(60)))
        .trigger(ErrorsTrigger(5))
        .aggregate(ErrorRate::of(Request::is_error))
        .collect();
    environment.execute()?;

    println!("{:<8}  {:<7}  {:>8}  {:>6}  {:>6}", "minute", "service", "requests", "errors", "rate");
    for rate in rates.take() {
        let share = rate.value;
        let percent = 100.0 * share.rate.unwrap_or_default();
        let (start, alarm) = (clock(rate.window.start), if rate.pane.is_early() { "  ALARM" } else { "" });
        println!("{start:<8}  {:<7}  {:>8}  {:>6}  {percent:>5.1}%{alarm}", rate.key, share.total, share.errors);
    }
    Ok(())
}

/// Milliseconds since 1970 as a time of day in UTC.
fn clock(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |time| time.strftime("%H:%M:%S").to_string())
}
