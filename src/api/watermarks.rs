//! Watermark strategies: which time a record has, and how far event time is.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::explain::{SourceCard, duration};
use crate::error::Error;
use crate::time::EventTime;
use crate::windowing::Data;
use crate::windowing::span::Span;

/// Takes the watermarks of a generator.
#[derive(Debug)]
pub struct WatermarkOutput {
    pub(super) highest: EventTime,
}

impl WatermarkOutput {
    /// No record at or before `watermark` (milliseconds) will come any more. One that goes back is ignored.
    pub fn emit_watermark(&mut self, watermark: EventTime) {
        self.highest = self.highest.max(watermark);
    }
}

/// Makes watermarks of the records of one split, which come in order.
///
/// Flink asks a generator for its periodic watermark on a wall-clock timer. Here it is asked behind every record, so
/// that the answer follows from the records alone.
pub trait WatermarkGenerator<T>: Send {
    /// A record, with its timestamp in milliseconds.
    fn on_event(&mut self, event: &T, timestamp: EventTime, output: &mut WatermarkOutput);
    /// Behind every record.
    fn on_periodic_emit(&mut self, output: &mut WatermarkOutput);
}

type TimestampOf<T> = Arc<dyn Fn(&T, EventTime) -> EventTime + Send + Sync>;
type Punctuation<T> = Arc<dyn Fn(&T, EventTime) -> Option<EventTime> + Send + Sync>;
type MakeGenerator<T> = Arc<dyn Fn() -> Box<dyn WatermarkGenerator<T>> + Send + Sync>;

pub(super) enum Kind<T> {
    /// No watermark before the end of the input.
    None,
    /// Those that the source gives.
    Source,
    /// Behind the highest timestamp by this many milliseconds and one.
    Bounded(i64),
    Punctuated(Punctuation<T>),
    Generator(MakeGenerator<T>),
}

impl<T> Clone for Kind<T> {
    fn clone(&self) -> Self {
        match self {
            Kind::None => Kind::None,
            Kind::Source => Kind::Source,
            Kind::Bounded(delay) => Kind::Bounded(*delay),
            Kind::Punctuated(punctuation) => Kind::Punctuated(punctuation.clone()),
            Kind::Generator(make) => Kind::Generator(make.clone()),
        }
    }
}

/// Sources whose watermarks may not run far ahead of each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Alignment {
    pub group: String,
    pub max_drift_ms: i64,
}

/// How a stream gets its timestamps and watermarks.
pub struct WatermarkStrategy<T> {
    pub(super) kind: Kind<T>,
    pub(super) timestamp_of: Option<TimestampOf<T>>,
    pub(super) idleness_ms: Option<i64>,
    pub(super) alignment: Option<Alignment>,
    /// Of the settings; reported when the program is executed.
    pub(super) fault: Option<Error>,
}

impl<T> Clone for WatermarkStrategy<T> {
    fn clone(&self) -> Self {
        WatermarkStrategy {
            kind: self.kind.clone(),
            timestamp_of: self.timestamp_of.clone(),
            idleness_ms: self.idleness_ms,
            alignment: self.alignment.clone(),
            fault: self.fault.clone(),
        }
    }
}

impl<T: Data> WatermarkStrategy<T> {
    fn of(kind: Kind<T>) -> Self {
        WatermarkStrategy { kind, timestamp_of: None, idleness_ms: None, alignment: None, fault: None }
    }

    /// Records come at most `bound` behind the highest timestamp so far: the watermark is that timestamp minus the bound
    /// minus 1 ms.
    pub fn for_bounded_out_of_orderness(bound: Duration) -> Self {
        let span = Span::new(bound);
        let fault = span.check("the bound of out-of-orderness").err();
        WatermarkStrategy { fault, ..Self::of(Kind::Bounded(span.ms())) }
    }

    /// Timestamps never go back: the watermark is the timestamp minus 1 ms.
    pub fn for_monotonous_timestamps() -> Self {
        Self::of(Kind::Bounded(0))
    }

    /// The timestamps and watermarks that the source itself gives: those of the WATERMARK clause of a table.
    pub fn from_source() -> Self {
        Self::of(Kind::Source)
    }

    /// No watermarks: event-time windows fire when the input ends.
    pub fn no_watermarks() -> Self {
        Self::of(Kind::None)
    }

    /// Some records carry a watermark: `of` gives it, in milliseconds, from a record and its timestamp.
    pub fn for_punctuated(of: impl Fn(&T, EventTime) -> Option<EventTime> + Send + Sync + 'static) -> Self {
        Self::of(Kind::Punctuated(Arc::new(of)))
    }

    /// Watermarks of a generator; every split has one of its own. The blocks of a split are then timed one after the
    /// other, whatever the number of shards.
    pub fn for_generator<G: WatermarkGenerator<T> + 'static>(make: impl Fn() -> G + Send + Sync + 'static) -> Self {
        Self::of(Kind::Generator(Arc::new(move || Box::new(make()))))
    }

    /// The timestamp of a record in milliseconds since 1970. Without it records have the timestamps of their source.
    #[must_use]
    pub fn with_timestamp_assigner(mut self, of: impl Fn(&T) -> EventTime + Send + Sync + 'static) -> Self {
        self.timestamp_of = Some(Arc::new(move |value, _| of(value)));
        self
    }

    /// As [`with_timestamp_assigner`](Self::with_timestamp_assigner), told the timestamp of the source
    /// ([`NO_TIMESTAMP`](super::NO_TIMESTAMP) where it gave none).
    #[must_use]
    pub fn with_record_timestamp_assigner(
        mut self,
        of: impl Fn(&T, EventTime) -> EventTime + Send + Sync + 'static,
    ) -> Self {
        self.timestamp_of = Some(Arc::new(of));
        self
    }

    /// A split that gives no record for `timeout` holds nobody back until its next record. Only for inputs that wait
    /// for their records (channels): a file or a collection is never idle.
    #[must_use]
    pub fn with_idleness(mut self, timeout: Duration) -> Self {
        let span = Span::new(timeout);
        self.fault = self.fault.or(span.check_positive("the idle timeout").err());
        self.idleness_ms = Some(span.ms());
        self
    }

    /// Sources of a `group` are not read while their watermark is more than `max_drift` ahead of the lowest of the group.
    /// Inputs with an end are always read in the order of their watermarks, so that this matters for channels alone.
    #[must_use]
    pub fn with_watermark_alignment(mut self, group: impl Into<String>, max_drift: Duration) -> Self {
        let span = Span::new(max_drift);
        self.fault = self.fault.or(span.check("the drift of an alignment group").err());
        self.alignment = Some(Alignment { group: group.into(), max_drift_ms: span.ms() });
        self
    }

    /// In words.
    pub(super) fn card(&self, name: &str, location: &'static Location<'static>) -> SourceCard {
        let mut watermarks = match &self.kind {
            Kind::None => String::from("none before the end of the input"),
            Kind::Bounded(0) => String::from("1 ms behind the highest timestamp so far"),
            Kind::Bounded(delay) => format!("{} and 1 ms behind the highest timestamp so far", duration(*delay)),
            Kind::Punctuated(_) => String::from("carried by some of the records"),
            Kind::Source => String::from("of the source"),
            Kind::Generator(_) => String::from("of a generator of the program, asked behind every record"),
        };
        if let Some(Alignment { group, max_drift_ms }) = &self.alignment {
            let drift = duration(*max_drift_ms);
            watermarks.push_str(&format!("; at most {drift} ahead of the others in group `{group}`"));
        }
        let timestamps = if self.timestamp_of.is_some() { "from each record, by the program" } else { "of the source" };
        let idleness = match self.idleness_ms {
            Some(ms) => format!("after {} without a record it holds nobody back", duration(ms)),
            None => String::from("none: while it gives nothing, event time stands still"),
        };
        SourceCard { name: name.to_string(), watermarks, timestamps: timestamps.to_string(), idleness, location }
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self.kind, Kind::None)
    }
    pub(super) fn is_from_source(&self) -> bool {
        matches!(self.kind, Kind::Source)
    }
}
