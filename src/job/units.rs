//! Event times that are read in a wrong unit, by the size of the numbers.

use jiff::Timestamp;

use crate::plan::ScanSpec;

/// The years 2000 to 2100 in seconds since 1970. Times of the same years in other units are in other ranges, so that
/// a number says by its size in which unit it counts.
const LIKELY_SECONDS: std::ops::Range<i64> = 946_684_800..4_102_444_800;

/// What the lowest and the highest event time of a table, in milliseconds since 1970, say of their unit, and how it is
/// read: `None` where they may be right.
pub fn wrong_unit(scan: &ScanSpec, lowest: i64, highest: i64) -> Option<(String, &'static str)> {
    let watermark = scan.watermark.as_ref()?;
    let column = scan.schema.fields.get(watermark.time).map_or("", |field| field.name.as_str());
    let (unit, remedy) = unit_of(lowest, highest)?;
    let message = format!(
        "the event times `{column}` of table {} start at {}: they look like {unit} since 1970 that are read as \
         milliseconds",
        scan.table,
        time(lowest)
    );
    Some((message, remedy))
}

/// The unit, other than milliseconds, in which numbers of this size count the time since 1970, and how it is read.
fn unit_of(lowest: i64, highest: i64) -> Option<(&'static str, &'static str)> {
    let units = [
        (1, "seconds", "TO_TIMESTAMP_LTZ(column, 0) reads seconds"),
        (1_000_000, "microseconds", "TO_TIMESTAMP_LTZ(column / 1000, 3) reads microseconds"),
        (1_000_000_000, "nanoseconds", "TO_TIMESTAMP_LTZ(column / 1000000, 3) reads nanoseconds"),
    ];
    let within = |factor: i64| [lowest, highest].iter().all(|time| LIKELY_SECONDS.contains(&(time / factor)));
    let (_, unit, remedy) = units.into_iter().find(|&(factor, ..)| within(factor))?;
    Some((unit, remedy))
}

/// A time as far as calendars of four digits go.
pub(super) fn time(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S%.f").to_string(),
        Err(_) => format!("{ms} ms since 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_number_says_its_unit() {
        let seconds = 1_714_564_801;
        let unit = |factor: i64| unit_of(seconds * factor, (seconds + 86_400) * factor).map(|(unit, _)| unit);
        assert_eq!([unit(1), unit(1_000)], [Some("seconds"), None]);
        assert_eq!([unit(1_000_000), unit(1_000_000_000)], [Some("microseconds"), Some("nanoseconds")]);
        assert_eq!([unit_of(0, 10_000), unit_of(seconds, seconds * 1_000)], [None, None]);
    }
}
