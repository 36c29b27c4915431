//! One line on a terminal while a job runs.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use transom::job::Snapshot;
use transom::numbers::grouped as count;

pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new() -> Self {
        Progress { bar: None }
    }

    pub fn show(&mut self, snapshot: &Snapshot) {
        // Short jobs need no bar; it would only flicker.
        if snapshot.elapsed < Duration::from_millis(300) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| start(snapshot.bytes_total));
        let totals = &snapshot.totals;
        let per_second = totals.rows_read() as f64 / snapshot.elapsed.as_secs_f64();
        bar.set_position(totals.bytes_read);
        let quarantined = match totals.rows_quarantined() {
            0 => String::new(),
            rows => format!(", quarantined: {}", count(rows)),
        };
        bar.set_message(format!(
            "{} rows, {} rows/s, watermark {}, windows open: {}, late rows: {}{quarantined}",
            count(totals.rows_read()),
            count(per_second as u64),
            watermark(totals.watermark),
            count(totals.windows_open),
            count(totals.rows_late)
        ));
    }

    pub fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn start(bytes_total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(bytes_total), ProgressDrawTarget::stderr());
    // A table that is made up has no bytes, and perhaps no end.
    let template = if bytes_total == 0 { "{spinner}  {wide_msg}" } else { "{bar:20} {percent:>3}%  {wide_msg}" };
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn watermark(ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(time) if ms > 0 => time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        _ if ms == i64::MAX => "end".to_string(),
        _ => "-".to_string(),
    }
}
