//! Programs as users write them: their own assigners, triggers, evictors and aggregates, what explain says of a program,
//! and what a program is warned of.

use std::cell::RefCell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use transom::api::prelude::*;
use transom::windowing::contract::{Step, check_aggregate, check_assigner, check_evictor, check_trigger};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Reading {
    meter: char,
    value: i64,
    time: i64,
}

/// Calendar months in UTC: windows on no grid.
#[derive(Debug, Clone)]
struct CalendarMonths;

impl<T> WindowAssigner<T> for CalendarMonths {
    type Window = TimeWindow;
    type DefaultTrigger = EventTimeTrigger;

    fn assign_windows(
        &self,
        _element: &T,
        timestamp: i64,
        _context: &AssignerContext,
        windows: &mut Vec<TimeWindow>,
    ) -> Result<()> {
        let outside =
            |error: jiff::Error| Error::data(format!("the time {timestamp} is in no calendar month: {error}"));
        let day =
            Timestamp::from_millisecond(timestamp).map_err(outside)?.to_zoned_datetime(TimeZone::UTC).start_of_day();
        let first = day.and_then(|day| day.first_of_month()).map_err(outside)?;
        let next = first.checked_add(1.month()).map_err(outside)?;
        windows.push(TimeWindow::new(first.timestamp().as_millisecond(), next.timestamp().as_millisecond()));
        Ok(())
    }
    fn default_trigger(&self) -> EventTimeTrigger {
        EventTimeTrigger
    }
    fn is_event_time(&self) -> bool {
        true
    }
    fn describe(&self) -> String {
        String::from("CalendarMonths()")
    }
}

/// Fires whenever a value is more than twice the highest at the firing before, and at the end of the window.
#[derive(Debug, Clone)]
struct DoublingTrigger;

impl Trigger<Reading, TimeWindow> for DoublingTrigger {
    /// The highest value at the last firing.
    type State = Option<i64>;

    fn on_element(
        &self,
        reading: &Reading,
        _timestamp: i64,
        window: &TimeWindow,
        highest: &mut Option<i64>,
        context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        context.register_event_time_timer(window.max_timestamp());
        let doubled = highest.is_none_or(|highest| reading.value > 2 * highest);
        if doubled {
            *highest = Some(reading.value);
        }
        Ok(TriggerResult::fire_if(doubled))
    }
    fn on_event_time(
        &self,
        time: i64,
        window: &TimeWindow,
        _highest: &mut Option<i64>,
        _context: &mut TriggerContext<'_>,
    ) -> Result<TriggerResult> {
        Ok(TriggerResult::fire_if(time == window.max_timestamp()))
    }
    fn clear(&self, window: &TimeWindow, highest: &mut Option<i64>, context: &mut TriggerContext<'_>) {
        *highest = None;
        context.delete_event_time_timer(window.max_timestamp());
    }
    fn may_leave_unfired(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        String::from("DoublingTrigger()")
    }
}

/// Leaves out negative readings.
#[derive(Debug, Clone)]
struct NegativeEvictor;

impl<W: Window> Evictor<Reading, W> for NegativeEvictor {
    fn evict_before(&self, elements: &mut Elements<Reading>, _window: &W, _context: &EvictorContext) {
        elements.evict_where(|reading, _| reading.value < 0);
    }
    fn evict_after(&self, _elements: &mut Elements<Reading>, _window: &W, _context: &EvictorContext) {}
    fn describe(&self) -> String {
        String::from("NegativeEvictor()")
    }
}

/// The distance between the lowest and the highest value.
#[derive(Debug, Clone)]
struct Spread;

impl AggregateFunction<Reading> for Spread {
    type Accumulator = Option<(i64, i64)>;
    type Output = i64;

    fn create_accumulator(&self) -> Self::Accumulator {
        None
    }
    fn add(&self, reading: &Reading, spread: &mut Self::Accumulator) {
        let (low, high) = spread.unwrap_or((reading.value, reading.value));
        *spread = Some((low.min(reading.value), high.max(reading.value)));
    }
    fn get_result(&self, spread: &Self::Accumulator) -> i64 {
        spread.map_or(0, |(low, high)| high - low)
    }
    fn merge(&self, spread: &mut Self::Accumulator, other: &Self::Accumulator) {
        let all = spread.iter().chain(other.iter()).copied();
        *spread = all.reduce(|one, two| (one.0.min(two.0), one.1.max(two.1)));
    }
}

const DAY: i64 = 86_400_000;
/// 2024-01-30.
const START: i64 = 1_706_572_800_000;

/// Two meters, three readings a day, over the end of January to the begin of April of a leap year.
fn readings() -> Vec<Reading> {
    (0..200i64)
        .map(|n| Reading { meter: ['a', 'b'][n as usize % 2], value: n * n % 53 - 3, time: START + n * DAY / 3 })
        .collect()
}

fn timed() -> WatermarkStrategy<Reading> {
    WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_secs(60))
        .with_timestamp_assigner(|r: &Reading| r.time)
}

#[test]
fn parts_of_ones_own_keep_the_contracts() {
    let elements: Vec<(Reading, i64)> = readings().into_iter().take(12).map(|r| (r.clone(), r.time)).collect();
    check_assigner(&CalendarMonths, &elements, 0).unwrap();
    let window = TimeWindow::new(START - 29 * DAY, START + 2 * DAY);
    let mut steps: Vec<Step<Reading>> =
        elements.iter().take(6).map(|(r, time)| Step::Element(r.clone(), *time)).collect();
    steps.push(Step::Watermark(window.end - 1));
    steps.extend(elements.iter().take(3).map(|(r, time)| Step::Element(r.clone(), *time)));
    check_trigger(&DoublingTrigger, &window, &steps).unwrap();
    check_evictor(&NegativeEvictor, &window, &elements).unwrap();
    let values: Vec<Reading> = elements.into_iter().map(|(reading, _)| reading).collect();
    check_aggregate(&Spread, &values).unwrap();
}

/// Meter, window, pane and spread of all firings.
fn months(shards: usize) -> Vec<WindowResult<char, TimeWindow, i64>> {
    let environment = StreamExecutionEnvironment::new();
    environment.set_parallelism(shards).on_warning(|_| {});
    let results = environment
        .from_collection(readings())
        .assign_timestamps_and_watermarks(timed())
        .key_by(|reading| reading.meter)
        .window(CalendarMonths)
        .trigger(DoublingTrigger)
        .evictor(NegativeEvictor)
        .aggregate(Spread)
        .collect();
    environment.execute().unwrap();
    results.take()
}

#[test]
fn parts_of_ones_own_work_together_on_any_number_of_shards() {
    let one = months(1);
    for shards in [2, 7] {
        assert_eq!(months(shards), one, "{shards} shards");
    }
    // What a machine without windows finds: per meter and month the spread of what is not negative.
    let finals: Vec<_> = one.iter().filter(|result| result.pane.timing == PaneTiming::OnTime).collect();
    assert_eq!(finals.len(), 2 * 4, "January to April, two meters");
    let lengths: Vec<i64> = finals.iter().step_by(2).map(|r| (r.window.end - r.window.start) / DAY).collect();
    assert_eq!(lengths, [31, 29, 31, 30]);
    for result in &finals {
        let inside = |r: &&Reading| r.meter == result.key && (result.window.start..result.window.end).contains(&r.time);
        let values: Vec<i64> = readings().iter().filter(inside).map(|r| r.value).filter(|value| *value >= 0).collect();
        let spread = values.iter().max().unwrap_or(&0) - values.iter().min().unwrap_or(&0);
        assert_eq!(result.value, spread, "{} from {}", result.key, result.window.start);
    }
    assert!(one.iter().any(|result| result.pane.is_early()));
}

/// A window that is no stretch of time: values of ten in a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Band(i64);

impl Window for Band {
    fn max_timestamp(&self) -> i64 {
        i64::MAX
    }
}

#[derive(Debug, Clone)]
struct Bands;

impl WindowAssigner<Reading> for Bands {
    type Window = Band;
    type DefaultTrigger = CountTrigger;

    fn assign_windows(
        &self,
        reading: &Reading,
        _timestamp: i64,
        _context: &AssignerContext,
        windows: &mut Vec<Band>,
    ) -> Result<()> {
        windows.push(Band(reading.value.div_euclid(10)));
        Ok(())
    }
    fn default_trigger(&self) -> CountTrigger {
        CountTrigger::of(10)
    }
    fn is_event_time(&self) -> bool {
        false
    }
    fn describe(&self) -> String {
        String::from("Bands()")
    }
}

#[test]
fn windows_may_be_of_a_type_of_ones_own() {
    let elements: Vec<(Reading, i64)> = readings().into_iter().take(12).map(|r| (r.clone(), r.time)).collect();
    check_assigner(&Bands, &elements, 0).unwrap();
    let (environment, _) = warned();
    let counts = environment.from_collection(readings()).key_by(|reading| reading.meter).window(Bands).aggregate(Count);
    let counts = counts.collect();
    environment.execute().unwrap();
    let counts = counts.take();
    // Each band of each meter fires once for each ten of its readings, with all there are so far.
    for meter in ['a', 'b'] {
        for band in -1..6 {
            let inside = |r: &&Reading| r.meter == meter && r.value.div_euclid(10) == band;
            let tens = readings().iter().filter(inside).count() as u64 / 10;
            let fired = counts.iter().filter(|count| count.key == meter && count.window == Band(band));
            let expected: Vec<u64> = (1..=tens).map(|ten| 10 * ten).collect();
            assert_eq!(fired.map(|count| count.value).collect::<Vec<_>>(), expected, "{meter}, {band}");
        }
    }
    assert!(!counts.is_empty());
}

#[test]
fn an_error_of_an_assigner_of_ones_own_ends_the_job() {
    let environment = StreamExecutionEnvironment::new();
    let far = Reading { meter: 'a', value: 1, time: i64::MAX / 2 };
    let stream = environment.from_collection([far]).assign_timestamps_and_watermarks(timed());
    let line = line!() + 1;
    stream.key_by(|reading| reading.meter).window(CalendarMonths).aggregate(Count).collect();
    let error = environment.execute().unwrap_err();
    assert!(error.message().contains("is in no calendar month"), "{error}");
    assert_eq!(error.place().unwrap().line, u64::from(line), "{error}");
}

#[test]
fn faults_of_a_program_name_its_line_and_a_remedy() {
    let fault = |line: u32, environment: &StreamExecutionEnvironment, message: &str| {
        let error = environment.execute().unwrap_err();
        let place = error.place().unwrap();
        assert_eq!((place.file.as_str(), place.line), ("tests/programs.rs", u64::from(line)), "{error}");
        assert!(error.message().contains(message), "{error}");
        assert!(error.remedy().is_some(), "{error}");
        // As a main function shows it that returns the error.
        let lines = format!("{error:?}");
        assert!(lines.starts_with(&format!("tests/programs.rs:{line}:")) && lines.contains("\n  help: "), "{lines}");
    };
    let (environment, _) = warned();
    let line = line!() + 1;
    keyed(&environment).window(TumblingEventTimeWindows::of(Duration::ZERO)).aggregate(Count).collect();
    fault(line, &environment, "must be positive, not 0 ms");

    let (environment, _) = warned();
    let gap = EventTimeSessionWindows::with_gap(Duration::from_secs(60));
    let line = line!() + 1;
    keyed(&environment).window(gap).trigger(DoublingTrigger).aggregate(Count).collect();
    fault(line, &environment, "DoublingTrigger() can't be used with EventTimeSessionWindows(60000)");
}

#[test]
fn a_stream_with_and_without_watermarks_is_refused_where_they_are_assigned() {
    let environment = StreamExecutionEnvironment::new();
    let stream = environment.from_collection(readings());
    stream.collect();
    let line = line!() + 1;
    stream.assign_timestamps_and_watermarks(timed()).collect();
    let error = environment.execute().unwrap_err();
    assert!(error.message().contains("with and without the watermarks"), "{error}");
    assert_eq!(error.place().unwrap().line, u64::from(line), "{error}");
}

#[test]
fn an_error_behind_a_window_is_not_placed_at_the_window() {
    let (environment, _) = warned();
    let counts = keyed(&environment).window(weeks()).aggregate(Count);
    counts.add_parallel_sink(|_| |_, _| Err(Error::data("no room")));
    let error = environment.execute().unwrap_err();
    assert_eq!((error.message(), error.place()), ("no room", None));
}

#[test]
fn records_without_timestamps_are_refused_by_windows_of_event_time() {
    let (environment, _) = warned();
    environment.from_collection(readings()).key_by(|reading| reading.meter).window(weeks()).aggregate(Count).collect();
    let error = environment.execute().unwrap_err();
    assert!(error.message().contains("timestamp") && error.remedy().is_some(), "{error:?}");
    assert_eq!(error.place().unwrap().file, "tests/programs.rs", "{error:?}");
}

/// A fresh environment that keeps its warnings, and a keyed stream of readings.
fn warned() -> (StreamExecutionEnvironment, Rc<RefCell<Vec<String>>>) {
    let environment = StreamExecutionEnvironment::new();
    let warnings = Rc::new(RefCell::new(Vec::new()));
    let take = warnings.clone();
    environment.set_parallelism(1).on_warning(move |warning| take.borrow_mut().push(warning.to_string()));
    (environment, warnings)
}

/// The one warning of a program, which says `what`, is placed at `line` of this file, and says what to do.
#[track_caller]
fn assert_warns(environment: &StreamExecutionEnvironment, warnings: &RefCell<Vec<String>>, (what, line): (&str, u32)) {
    let result = environment.execute().unwrap();
    let warnings = warnings.borrow();
    assert_eq!(result.warnings, *warnings);
    let [warning] = warnings.as_slice() else { panic!("one warning, not {warnings:#?}") };
    let lines: Vec<&str> = warning.lines().collect();
    assert!(lines[0].contains(what), "{warning}");
    assert_eq!(lines[1], format!("  --> tests/programs.rs:{line}"), "{warning}");
    assert!(lines[2].starts_with("  help: "), "{warning}");
}

fn keyed(environment: &StreamExecutionEnvironment) -> KeyedStream<char, Reading> {
    environment.from_collection(readings()).assign_timestamps_and_watermarks(timed()).key_by(|reading| reading.meter)
}

fn weeks() -> TumblingEventTimeWindows {
    TumblingEventTimeWindows::of(Duration::from_secs(7 * 86_400))
}

#[test]
fn a_global_window_without_a_trigger_is_warned_of() {
    let (environment, warnings) = warned();
    let line = line!() + 1;
    keyed(&environment).window(GlobalWindows::create()).aggregate(Count).collect();
    assert_warns(&environment, &warnings, ("GlobalWindows(trigger=NeverTrigger) never fires", line));
}

#[test]
fn an_evictor_and_a_function_over_elements_are_warned_of() {
    let (environment, warnings) = warned();
    let line = line!() + 1;
    keyed(&environment).window(weeks()).evictor(CountEvictor::of(3)).aggregate(Count).collect();
    assert_warns(&environment, &warnings, ("keeps elements whole until CountEvictor(3) takes them out", line));
    let (environment, warnings) = warned();
    let line = line!() + 1;
    let counts = keyed(&environment).window(weeks()).apply(|_, _, all, out| {
        out.collect(all.len());
        Ok(())
    });
    counts.collect();
    assert_warns(&environment, &warnings, ("keeps every element until its window is cleaned up", line));
}

#[test]
fn a_trigger_that_leaves_elements_unfired_is_warned_of_before_and_after() {
    let (environment, warnings) = warned();
    keyed(&environment).window(weeks()).trigger(CountTrigger::of(4)).aggregate(Count).collect();
    environment.execute().unwrap();
    let warnings = warnings.borrow();
    assert_eq!(warnings.len(), 2, "{warnings:#?}");
    assert!(warnings[0].starts_with("CountTrigger(4) is the only trigger of TumblingEventTimeWindows(604800000)"));
    assert!(warnings[1].contains("windows of TumblingEventTimeWindows(604800000) went with elements that no firing"));
}

#[test]
fn a_session_gap_that_no_pause_reaches_is_warned_of() {
    let (environment, warnings) = warned();
    let line = line!() + 1;
    let sessions = keyed(&environment).window(EventTimeSessionWindows::with_gap(Duration::from_secs(30 * 86_400)));
    sessions.aggregate(Count).collect();
    assert_warns(
        &environment,
        &warnings,
        ("all 2 sessions of EventTimeSessionWindows(2592000000) ended with the", line),
    );
    // A gap that a pause reaches is not, be the input one block or many.
    let (environment, warnings) = warned();
    let sessions = keyed(&environment).window(EventTimeSessionWindows::with_gap(Duration::from_secs(3600)));
    sessions.aggregate(Count).collect();
    environment.execute().unwrap();
    assert!(warnings.borrow().is_empty(), "{warnings:?}");
}

#[test]
fn event_time_without_watermarks_is_warned_of() {
    let (environment, warnings) = warned();
    let strategy = WatermarkStrategy::no_watermarks().with_timestamp_assigner(|reading: &Reading| reading.time);
    let stream = environment.from_source(IteratorSource::new(readings()), strategy, "meters");
    let keyed = stream.key_by(|reading| reading.meter);
    let line = line!() + 1;
    let counts = keyed.window(weeks()).aggregate(Count);
    counts.key_by(|count| count.key).window(weeks()).aggregate(Count).collect();
    assert_warns(&environment, &warnings, ("fires only when the input ends: source `meters` has no watermarks", line));
}

#[test]
fn windows_without_a_key_are_warned_of() {
    let (environment, warnings) = warned();
    let stream = environment.from_collection(readings()).assign_timestamps_and_watermarks(timed());
    let line = line!() + 1;
    stream.window_all(weeks()).aggregate(Count).collect();
    assert_warns(&environment, &warnings, ("has no key: one shard does all the work", line));
}

#[test]
fn lateness_where_nothing_is_late_is_warned_of() {
    let (environment, warnings) = warned();
    let all = keyed(&environment).window(GlobalWindows::create()).trigger(CountTrigger::of(1));
    all.allowed_lateness(Duration::from_secs(5)).aggregate(Count).collect();
    environment.execute().unwrap();
    let warnings = warnings.borrow();
    assert!(warnings.len() == 1 && warnings[0].starts_with("no element is ever late for Global"), "{warnings:#?}");
}

#[test]
fn windows_that_wait_for_the_clock_are_warned_of_once() {
    let (environment, warnings) = warned();
    environment.set_clock(ManualClock::new());
    let line = line!() + 1;
    keyed(&environment).window(TumblingProcessingTimeWindows::of(Duration::from_secs(60))).aggregate(Count).collect();
    assert_warns(&environment, &warnings, ("waited for the clock when the input ended", line));
}

#[test]
fn a_program_of_counts_by_key_is_warned_of_nothing() {
    let (environment, warnings) = warned();
    keyed(&environment).window(weeks()).aggregate(Count).collect();
    environment.execute().unwrap();
    assert!(warnings.borrow().is_empty(), "{warnings:?}");
}

#[test]
fn explain_tells_why_a_program_would_not_run() {
    let environment = StreamExecutionEnvironment::new();
    let line = line!() + 1;
    keyed(&environment).window(TumblingEventTimeWindows::of(Duration::ZERO)).aggregate(Count).collect();
    let text = environment.explain();
    assert!(text.contains("fault: the size of TumblingEventTimeWindows must be positive, not 0 ms\n"), "{text}");
    assert!(text.contains(&format!("tests/programs.rs:{line}\n")), "{text}");
}

#[test]
fn windows_by_number_need_no_key() {
    let (environment, _) = warned();
    let numbers = environment.from_sequence(1, 5);
    let pairs = numbers.count_window_all(2).aggregate(Sum::of(|n: &i64| *n)).map(|sum| sum.value).collect();
    let last = numbers.count_window_all_sliding(3, 2);
    let last = last.aggregate_apply(Sum::of(|n: &i64| *n), |(), context, sum, out| {
        out.collect((context.pane().index, *sum));
        Ok(())
    });
    let last = last.collect();
    environment.execute().unwrap();
    assert_eq!((pairs.take(), last.take()), (vec![3, 7], vec![(0, 3), (1, 9)]));
}

#[test]
fn tags_of_one_name_and_type_are_one_side_output() {
    let environment = StreamExecutionEnvironment::new();
    let late = || OutputTag::<Reading>::new("late");
    let first = readings()[0].clone();
    let far = Reading { time: first.time + 365 * 86_400_000, ..first.clone() };
    let stream = environment.from_collection([far, first.clone()]).assign_timestamps_and_watermarks(timed());
    let windows = stream.key_by(|reading| reading.meter).window(weeks()).side_output_late_data(&late());
    let counts = windows.aggregate(Count);
    let taken = counts.get_side_output(&late()).collect();
    let of_another_type = counts.get_side_output(&OutputTag::<i64>::new("late")).collect();
    environment.execute().unwrap();
    assert_eq!(taken.take().iter().map(|reading| reading.time).collect::<Vec<_>>(), [first.time]);
    assert!(of_another_type.take().is_empty());
}

#[test]
fn explain_tells_the_whole_program() {
    let environment = StreamExecutionEnvironment::new();
    let late = OutputTag::new("late");
    let strategy = timed().with_idleness(Duration::from_secs(10));
    let counts = environment
        .from_source(IteratorSource::new(readings()), strategy, "meters")
        .key_by(|reading| reading.meter)
        .window(weeks())
        .allowed_lateness(Duration::from_secs(90))
        .side_output_late_data(&late)
        .aggregate(Count);
    counts.get_side_output(&late).print();
    let all = counts.window_all(GlobalWindows::create()).trigger(CountTrigger::of(10)).evictor(CountEvictor::of(5));
    all.apply(|_, _, counts, out| {
        out.collect(counts.len());
        Ok(())
    })
    .collect();
    let text = environment.explain();
    let without_lines: Vec<&str> = text.lines().filter(|line| !line.contains("programs.rs")).collect();
    assert_eq!(without_lines.join("\n"), EXPLAINED.trim_matches('\n'));
    assert!(text.lines().all(|line| line.chars().count() <= 100));
    // It is there after explain as before.
    environment.on_warning(|_| {}).execute().unwrap();
}

const EXPLAINED: &str = r"
source 1: meters
  watermarks        1 min and 1 ms behind the highest timestamp so far
  timestamps        from each record, by the program
  idleness          after 10 s without a record it holds nobody back
  feeds             window operator 1

window operator 1: TumblingEventTimeWindows(604800000)
  takes             source 1
  key               each key on one shard
  window            TumblingEventTimeWindows(604800000)
  trigger           EventTimeTrigger()
  evictor           none
  allowed lateness  90 s; elements that come later go to side output `late`
  operator          slice: windows on a grid, the event-time trigger, an aggregate that merges
  state             one accumulator per key and slice

window operator 2: GlobalWindows(trigger=NeverTrigger)
  takes             window operator 1
  key               none: one shard does all the work
  window            GlobalWindows(trigger=NeverTrigger)
  trigger           CountTrigger(10)
  evictor           CountEvictor(5)
  operator          general: the function wants all elements
  state             buffers every element of every open window, once a window, until the evictor
                    takes it out or the window is cleaned up

sink 1: print
  takes             side output `late` of window operator 1

sink 2: collect
  takes             window operator 2

warning: GlobalWindows(trigger=NeverTrigger) has no key: one shard does all the work
  help:             key the stream, or aggregate by key first and put the results together in a
                    second window

warning: GlobalWindows(trigger=NeverTrigger) keeps elements whole until CountEvictor(5) takes them
  out or their window is cleaned up
  help:             an aggregate without an evictor keeps one accumulator in their place
";
