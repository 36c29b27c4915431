//! `SET`: which keys the engine acts on, which it accepts, which it refuses.

use std::collections::BTreeMap;

use super::lint::{self, Lint};
use super::setting_keys::{RESULT_MODE, RESULT_MODE_BEFORE, has_effect, is_known, unknown_setting};
use crate::error::{Error, Place, Result};
use crate::limits::{KEY_GROUPS_MAX, QUARANTINE_ROWS_DEFAULT};
use crate::options::duration_ms as duration;
use crate::plan::{Config, EmitSpec, LateRows, Quarantine};

/// The session's settings while a script is read.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub config: Config,
    /// `table.exec.emit.allow-lateness` is set.
    pub allow_lateness: bool,
    quarantine_path: Option<String>,
    quarantine_rows: Option<u64>,
    values: BTreeMap<String, String>,
    overrides: Vec<(String, String)>,
    /// SET may change what the overrides say.
    pub overrides_yield: bool,
    /// Keys of the command line that were spoken about.
    warned: Vec<String>,
    /// Where SET stands, by key.
    places: BTreeMap<String, Place>,
}

impl Settings {
    /// The settings before the script: defaults and `-D` overrides.
    pub(super) fn new(overrides: &[(String, String)], warnings: &mut Vec<String>) -> Result<Settings> {
        let mut settings = Settings { overrides: overrides.to_vec(), ..Settings::default() };
        settings.apply_overrides(warnings)?;
        Ok(settings)
    }

    fn apply_overrides(&mut self, warnings: &mut Vec<String>) -> Result<()> {
        for (key, value) in self.overrides.clone() {
            self.apply(&key, &value, warnings)?;
            if !is_known(&key) && !self.warned.contains(&key) {
                let Lint { message, remedy, .. } = unknown_setting(&key, None);
                warnings.push(format!("-D: {message}; {remedy}"));
                self.warned.push(key);
            }
        }
        Ok(())
    }

    /// Remembers where a key was set.
    pub(super) fn written_at(&mut self, key: &str, place: Option<Place>) {
        match place {
            Some(place) => self.places.insert(key.to_string(), place),
            None => self.places.remove(key),
        };
    }

    /// Where a key was set; `None`: on the command line, or not at all.
    pub(super) fn place_of(&self, key: &str) -> Option<Place> {
        self.places.get(key).cloned()
    }

    /// What the script sets without effect.
    pub(super) fn lints(&self) -> Vec<Lint> {
        let unknown = self.places.iter().filter(|(key, _)| !is_known(key));
        let unknown = unknown.map(|(key, place)| unknown_setting(key, Some(place.clone())));
        let ignored = self.places.iter().filter(|(key, _)| is_known(key) && !has_effect(key));
        unknown.chain(lint::of_settings(ignored)).collect()
    }

    /// `SET 'key' = 'value'`. Errors carry no place.
    pub(super) fn set(&mut self, key: &str, value: &str, warnings: &mut Vec<String>) -> Result<()> {
        if !self.overrides_yield && self.overrides.iter().any(|(name, _)| name == key) {
            return Ok(());
        }
        self.apply(key, value, warnings)
    }

    /// The value of a key, if it is set.
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Every key that is set, with its value.
    pub(super) fn all(&self) -> impl Iterator<Item = (String, String)> {
        self.values.iter().map(clone_pair)
    }

    /// `RESET 'key'` or, without a key, `RESET`.
    pub(super) fn reset(&mut self, key: Option<&str>, warnings: &mut Vec<String>) -> Result<()> {
        let kept: Vec<(String, String)> =
            self.values.iter().filter(|(name, _)| key.is_some_and(|key| key != *name)).map(clone_pair).collect();
        let ignored = std::mem::take(&mut self.config.ignored);
        *self = Settings {
            overrides: std::mem::take(&mut self.overrides),
            overrides_yield: self.overrides_yield,
            warned: std::mem::take(&mut self.warned),
            places: std::mem::take(&mut self.places),
            ..Settings::default()
        };
        self.config.ignored = ignored;
        self.places.retain(|key, _| kept.iter().any(|(name, _)| name == key));
        for (key, value) in kept {
            self.apply(&key, &value, warnings)?;
        }
        self.apply_overrides(warnings)
    }

    /// The setting for early or late firing that is on; a window function does not bear it.
    pub(super) fn emit_fire(&self) -> Option<&'static str> {
        let keys = ["table.exec.emit.early-fire.enabled", "table.exec.emit.late-fire.enabled"];
        keys.into_iter().find(|key| self.values.get(*key).is_some_and(|value| boolean(key, value).unwrap_or(false)))
    }

    /// When the windows of GROUP BY are to give results besides their end; `None`: never. A delay goes by the clock,
    /// which does not pass while a file is read: a result that would be given after one is not.
    ///
    /// # Errors
    /// Settings that Flink refuses together.
    pub(super) fn emit(&self) -> Result<Option<EmitSpec>> {
        let is_on = |kind: &str| {
            let key = format!("table.exec.emit.{kind}-fire.enabled");
            self.values.get(&key).map_or(Ok(false), |value| boolean(&key, value))
        };
        let (early, late) = (is_on("early")?, is_on("late")?);
        let mut emit = EmitSpec { early: early && self.delay("early")? == 0, late_ms: 0 };
        if late {
            let delay = self.delay("late")?;
            let keys = ["table.exec.emit.allow-lateness", "table.exec.state.ttl"];
            let lateness = keys.iter().filter_map(|key| duration(self.values.get(*key)?)).find(|time| *time > 0);
            let lateness = lateness.ok_or_else(|| {
                Error::script("'table.exec.emit.late-fire.enabled' needs a lateness")
                    .help("say how late a row may be: SET 'table.exec.emit.allow-lateness' = '1 min'")
            })?;
            if delay > lateness {
                return Err(Error::script(format!(
                    "the delay of late firing, {delay} ms, is longer than the lateness, {lateness} ms"
                ))
                .help("SET 'table.exec.emit.allow-lateness' to more, or the delay to less"));
            }
            emit.late_ms = if delay == 0 { lateness } else { 0 };
        }
        Ok((early || late).then_some(emit))
    }

    fn delay(&self, kind: &str) -> Result<i64> {
        let key = format!("table.exec.emit.{kind}-fire.delay");
        self.values.get(&key).and_then(|value| duration(value)).ok_or_else(|| {
            Error::script(format!("'table.exec.emit.{kind}-fire.enabled' needs a delay"))
                .help(format!("SET '{key}' = '0 ms' gives a result at every row"))
        })
    }

    /// The delay that early or late results wait for.
    pub(super) fn emits_delayed(&self) -> Option<String> {
        let is_on = |kind: &str| {
            let value = self.values.get(&format!("table.exec.emit.{kind}-fire.enabled"));
            value.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
        };
        let delayed = |kind: &&str| is_on(kind) && self.delay(kind).is_ok_and(|delay| delay > 0);
        ["early", "late"].into_iter().find(delayed).map(|kind| format!("table.exec.emit.{kind}-fire.delay"))
    }

    /// Whether state is to be kept for some time only.
    pub(super) fn state_expires(&self) -> bool {
        self.values.get("table.exec.state.ttl").and_then(|value| duration(value)).is_some_and(|time| time > 0)
    }

    /// The script asks for streaming by name.
    pub(super) fn is_streaming(&self) -> bool {
        self.values.get("execution.runtime-mode").is_some_and(|mode| mode.eq_ignore_ascii_case("streaming"))
    }

    /// Sets a key that is accepted without effect.
    pub(super) fn ignore(&mut self, key: &str) {
        if !self.config.ignored.iter().any(|name| name == key) {
            self.config.ignored.push(key.to_string());
        }
    }

    fn apply(&mut self, key: &str, value: &str, warnings: &mut Vec<String>) -> Result<()> {
        if key == RESULT_MODE_BEFORE {
            warnings.push(format!("'{key}' is called '{RESULT_MODE}' since Flink 1.13; it was taken for that."));
            return self.apply(RESULT_MODE, value, warnings);
        }
        self.take_effect(key, value)?;
        self.values.insert(key.to_string(), value.to_string());
        Ok(())
    }

    fn take_effect(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "execution.runtime-mode" => match value.to_ascii_lowercase().as_str() {
                "streaming" | "automatic" => Ok(()),
                "batch" => Err(Error::unsupported("batch mode ('execution.runtime-mode' = 'batch')")
                    .help("set it to 'streaming': over files that end, the results of windows are the same")),
                _ => Err(invalid(key, value, "streaming, batch or automatic")),
            },
            "pipeline.max-parallelism" => self.set_key_groups(key, value),
            "pipeline.auto-watermark-interval" => {
                self.config.watermark_interval_ms =
                    duration(value).ok_or_else(|| invalid(key, value, "a duration such as '200 ms', '1 s' or '0'"))?;
                Ok(())
            }
            "table.local-time-zone" => self.set_time_zone(key, value),
            "execution.checkpointing.interval" => {
                let interval = duration(value).ok_or_else(|| invalid(key, value, "a duration such as '10 s'"))?;
                self.config.checkpoints.interval_ms = u64::try_from(interval).ok().filter(|interval| *interval > 0);
                Ok(())
            }
            "execution.checkpointing.dir" | "state.checkpoints.dir" => {
                self.config.checkpoints.folder = Some(value.trim()).filter(|path| !path.is_empty()).map(str::to_string);
                Ok(())
            }
            "execution.checkpointing.savepoint-dir" | "state.savepoints.dir" => {
                self.config.checkpoints.savepoints =
                    Some(value.trim()).filter(|path| !path.is_empty()).map(str::to_string);
                Ok(())
            }
            "execution.checkpointing.num-retained" | "state.checkpoints.num-retained" => {
                let count = value.trim().parse().ok().filter(|count| *count > 0);
                self.config.checkpoints.retained = count.ok_or_else(|| invalid(key, value, "a number from 1 on"))?;
                Ok(())
            }
            "table.exec.emit.early-fire.enabled" | "table.exec.emit.late-fire.enabled" => {
                boolean(key, value).map(|_| ())
            }
            "table.exec.emit.allow-lateness" => {
                let lateness = duration(value).ok_or_else(|| invalid(key, value, "a duration such as '20 s'"))?;
                self.allow_lateness = lateness > 0;
                Ok(())
            }
            "table.exec.emit.early-fire.delay" | "table.exec.emit.late-fire.delay" => {
                duration(value).map(|_| ()).ok_or_else(|| invalid(key, value, "a duration such as '1 s'"))
            }
            "table.exec.legacy-cast-behaviour" => only(key, value, &["disabled", "false"]),
            "table.exec.sink.not-null-enforcer" => only(key, value, &["error"]),
            "table.exec.sink.type-length-enforcer" => only(key, value, &["ignore"]),
            RESULT_MODE => {
                if !["table", "changelog", "tableau"].contains(&value.to_ascii_lowercase().as_str()) {
                    return Err(invalid(key, value, "tableau, changelog or table"));
                }
                self.ignore(key);
                Ok(())
            }
            "table.display.max-column-width" | "sql-client.display.max-column-width" => {
                if !value.trim().parse::<usize>().is_ok_and(|width| width > 0) {
                    return Err(invalid(key, value, "a whole number from 1 on"));
                }
                self.ignore(key);
                Ok(())
            }
            "table.sql-dialect" => only(key, value, &["default"]),
            "transom.late-rows.path" => {
                self.config.late_rows = Some(LateRows { path: file_path(key, value, "late.jsonl")?, append: false });
                Ok(())
            }
            "transom.quarantine.path" | "transom.quarantine.max-rows" => self.set_quarantine(key, value),
            _ => {
                if is_known(key) {
                    self.ignore(key);
                }
                Ok(())
            }
        }
    }

    fn set_key_groups(&mut self, key: &str, value: &str) -> Result<()> {
        let groups: i64 = value.trim().parse().map_err(|_| invalid(key, value, "a whole number"))?;
        match groups {
            -1 => self.config.key_groups = Config::default().key_groups,
            1.. if groups <= i64::from(KEY_GROUPS_MAX) => self.config.key_groups = groups as u32,
            _ => return Err(invalid(key, value, &format!("a number from 1 to {KEY_GROUPS_MAX}"))),
        }
        Ok(())
    }

    fn set_quarantine(&mut self, key: &str, value: &str) -> Result<()> {
        if key == "transom.quarantine.max-rows" {
            let rows = value.trim().parse().ok().filter(|rows| *rows > 0);
            self.quarantine_rows = Some(rows.ok_or_else(|| invalid(key, value, "a whole number from 1 on"))?);
        } else {
            self.quarantine_path = Some(file_path(key, value, "rejected.jsonl")?);
        }
        self.config.quarantine = self.quarantine_path.clone().map(|path| Quarantine {
            path,
            rows_max: self.quarantine_rows.unwrap_or(QUARANTINE_ROWS_DEFAULT),
            append: false,
        });
        Ok(())
    }

    fn set_time_zone(&mut self, key: &str, value: &str) -> Result<()> {
        if value.eq_ignore_ascii_case("default") {
            self.config.time_zone = Config::default().time_zone;
            return Ok(());
        }
        if !is_time_zone(value) {
            return Err(invalid(key, value, "a zone such as 'Europe/Berlin', 'UTC' or 'GMT+08:00'"));
        }
        self.config.time_zone = value.to_string();
        Ok(())
    }
}

fn clone_pair((key, value): (&String, &String)) -> (String, String) {
    (key.clone(), value.clone())
}

fn invalid(key: &str, value: &str, expected: &str) -> Error {
    Error::script(format!("'{key}' cannot be '{value}'")).help(format!("set it to {expected}"))
}

fn boolean(key: &str, value: &str) -> Result<bool> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(invalid(key, value, "true or false")),
    }
}

/// Refuses values that Flink has and we have not.
fn only(key: &str, value: &str, accepted: &[&str]) -> Result<()> {
    if accepted.contains(&value.to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    Err(Error::unsupported(format!("'{key}' = '{value}'")).help(format!("leave it at its default, '{}'", accepted[0])))
}

fn is_time_zone(name: &str) -> bool {
    if jiff::tz::TimeZone::get(name).is_ok() {
        return true;
    }
    let offset = ["GMT", "UTC", "UT"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let Some(digits) = offset.strip_prefix(['+', '-']) else { return false };
    let parts: Vec<&str> = digits.split(':').collect();
    let within = |text: &str, max: u32| {
        (1..=2).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_digit())
            && text.parse::<u32>().is_ok_and(|number| number <= max)
    };
    match parts.as_slice() {
        [hours] => within(hours, 18),
        [hours, minutes] => within(hours, 18) && within(minutes, 59),
        _ => false,
    }
}

/// The path of a file in which lines are written.
fn file_path(key: &str, value: &str, example: &str) -> Result<String> {
    if value.trim().is_empty() {
        return Err(invalid(key, value, &format!("the path of a file, such as '{example}'")));
    }
    Ok(value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_flinks_units() {
        for (text, ms) in [("0", 0), ("200 ms", 200), ("1s", 1_000), ("2 min", 120_000), ("1 d", 86_400_000)] {
            assert_eq!(duration(text), Some(ms), "{text}");
        }
        for text in ["", "ms", "-1 s", "1.5 s", "1 fortnight", "99999999999999999999", "9223372036854775807 d"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn a_setting_that_means_nothing_here_is_listed_once() {
        let mut warnings = Vec::new();
        let mut settings = Settings::new(&[], &mut warnings).unwrap();
        settings.set("parallelism.default", "1", &mut warnings).unwrap();
        settings.set("parallelism.default", "2", &mut warnings).unwrap();
        settings.set("taskmanager.numberOfTaskSlots", "2", &mut warnings).unwrap();
        assert_eq!(settings.config.ignored, ["parallelism.default", "taskmanager.numberOfTaskSlots"]);
        assert!(warnings.is_empty());
    }

    #[test]
    fn an_unknown_setting_is_told_with_the_nearest_name() {
        let mut warnings = Vec::new();
        let overrides = [("table.local-timezone".to_string(), "UTC".to_string())];
        let mut settings = Settings::new(&overrides, &mut warnings).unwrap();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("did you mean 'table.local-time-zone'?"), "{}", warnings[0]);
        settings.set("table.local-timezone", "UTC", &mut warnings).unwrap();
        settings.written_at("table.local-timezone", Some(Place { line: 3, column: 1, ..Place::default() }));
        assert_eq!(warnings.len(), 1, "once");
        let lints = settings.lints();
        assert_eq!((lints[0].rule, lints[0].location().as_str()), (lint::Rule::UnknownSetting, "3:1"));
        settings.reset(Some("table.local-timezone"), &mut warnings).unwrap();
        assert!(settings.lints().is_empty());
    }

    #[test]
    fn the_command_line_overrides_the_script() {
        let mut warnings = Vec::new();
        let overrides = [("table.local-time-zone".to_string(), "Asia/Tokyo".to_string())];
        let mut settings = Settings::new(&overrides, &mut warnings).unwrap();
        settings.set("table.local-time-zone", "UTC", &mut warnings).unwrap();
        assert_eq!(settings.config.time_zone, "Asia/Tokyo");
        settings.reset(None, &mut warnings).unwrap();
        assert_eq!(settings.config.time_zone, "Asia/Tokyo");
    }

    #[test]
    fn a_reset_goes_back_to_the_default() {
        let mut warnings = Vec::new();
        let mut settings = Settings::new(&[], &mut warnings).unwrap();
        settings.set("pipeline.max-parallelism", "7", &mut warnings).unwrap();
        settings.set("pipeline.auto-watermark-interval", "1 s", &mut warnings).unwrap();
        settings.reset(Some("pipeline.max-parallelism"), &mut warnings).unwrap();
        assert_eq!(settings.config.key_groups, 128);
        assert_eq!(settings.config.watermark_interval_ms, 1_000);
    }

    #[test]
    fn values_that_would_change_the_rows_are_refused() {
        let mut warnings = Vec::new();
        let mut settings = Settings::new(&[], &mut warnings).unwrap();
        for (key, value) in [
            ("execution.runtime-mode", "batch"),
            ("table.local-time-zone", "Mars/Olympus"),
            ("pipeline.max-parallelism", "0"),
            ("pipeline.max-parallelism", "many"),
            ("pipeline.auto-watermark-interval", "soon"),
            ("table.exec.sink.not-null-enforcer", "DROP"),
        ] {
            let error = settings.set(key, value, &mut warnings).unwrap_err();
            assert!(error.remedy().is_some(), "{key}");
        }
        for zone in ["GMT+08:00", "+01:00", "UTC", "Asia/Kolkata", "UTC-3"] {
            settings.set("table.local-time-zone", zone, &mut warnings).unwrap();
        }
    }
}
