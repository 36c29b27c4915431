//! One key walks through event time: elements, watermarks, firings, a late firing, and one element too late.
//!
//! ```sh
//! cargo run --example timeline
//! ```
//!
//! The program sums values per key in windows of a minute. It runs in a test harness, which takes one element and one
//! watermark at a time and shows what came of each. docs/api.md tells the story of every line.
//!
//! ```text
//! what happened       watermark  what came of it
//! 1.000 value 1
//!                        -4.001
//! 59.999 value 2
//!                        54.998
//! 60.000 value 4
//!                        54.999
//! 30.000 value 8
//! 64.999 value 16
//!                        59.998
//! 65.000 value 32
//!                        59.999  [0.000, 60.000) sum 11 (OnTime, pane 0)
//! 20.000 value 64                [0.000, 60.000) sum 75 (Late, pane 1)
//! 94.999 value 128
//!                        89.998
//! 59.000 value 256               [0.000, 60.000) sum 331 (Late, pane 2)
//! 95.000 value 512
//!                        89.999
//! 10.000 value 1024              value 1024 to side output `late`
//! 94.000 value 2048
//! end of input          the end  [60.000, 120.000) sum 2740 (OnTime, pane 0)
//! ```

use serde::{Deserialize, Serialize};
use transom::api::prelude::*;
use transom::api::testing::TestHarness;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Element {
    key: char,
    value: i64,
}

/// How far elements may be out of order, in milliseconds.
const OUT_OF_ORDERNESS: i64 = 5_000;

type Sums = Collected<WindowResult<char, TimeWindow, i64>>;

/// The program: sums per key and minute, thirty seconds of patience, and a side output for what is later still.
fn program(elements: DataStream<Element>, sums: &mut Option<Sums>, late: &mut Option<Collected<Element>>) {
    let too_late = OutputTag::new("late");
    let results = elements
        .key_by(|element| element.key)
        .window(TumblingEventTimeWindows::of(Duration::from_secs(60)))
        .allowed_lateness(Duration::from_secs(30))
        .side_output_late_data(&too_late)
        .aggregate(Sum::of(|element: &Element| element.value));
    *late = Some(results.get_side_output(&too_late).collect());
    *sums = Some(results.collect());
}

fn main() -> Result<()> {
    let (mut sums, mut late) = (None, None);
    let mut harness = TestHarness::new(|elements| program(elements, &mut sums, &mut late))?;
    let (Some(sums), Some(late)) = (sums, late) else { return Ok(()) };

    println!("{:<18}  {:>9}  what came of it", "what happened", "watermark");
    let mut highest = i64::MIN;
    for (time, value) in [
        (1_000, 1),
        (59_999, 2),
        (60_000, 4),
        (30_000, 8),
        (64_999, 16),
        (65_000, 32),
        (20_000, 64),
        (94_999, 128),
        (59_000, 256),
        (95_000, 512),
        (10_000, 1024),
        (94_000, 2048),
    ] {
        harness.process_element(Element { key: 'A', value }, time)?;
        show(&format!("{} value {value}", clock(time)), "", &sums, &late);
        // What WatermarkStrategy::for_bounded_out_of_orderness does behind every element.
        if time > highest {
            highest = time;
            let watermark = highest - OUT_OF_ORDERNESS - 1;
            harness.process_watermark(watermark)?;
            show("", &clock(watermark), &sums, &late);
        }
    }
    harness.end_input()?;
    show("end of input", "the end", &sums, &late);
    Ok(())
}

/// A line for a step, with all that came of it.
fn show(step: &str, watermark: &str, sums: &Sums, late: &Collected<Element>) {
    let mut came: Vec<String> = Vec::new();
    for sum in sums.take() {
        let (window, pane) = (sum.window, sum.pane);
        let (start, end) = (clock(window.start), clock(window.end));
        came.push(format!("[{start}, {end}) sum {} ({:?}, pane {})", sum.value, pane.timing, pane.index));
    }
    came.extend(late.take().iter().map(|element| format!("value {} to side output `late`", element.value)));
    let line = format!("{step:<18}  {watermark:>9}  {}", came.join("; "));
    println!("{}", line.trim_end());
}

/// Milliseconds as seconds of the story.
fn clock(ms: i64) -> String {
    format!("{}{}.{:03}", if ms < 0 { "-" } else { "" }, ms.abs() / 1000, ms.abs() % 1000)
}
