//! Random windows: the functions in FROM, and those in GROUP BY.

use super::aggregate::Place;
use super::draw::Draw;
use super::relation::Relation;
use super::table::Clock;

/// A window function over a relation.
#[derive(Debug, Clone)]
pub struct Window {
    /// What stands in FROM.
    pub text: String,
    pub place: Place,
    pub feature: &'static str,
    /// Columns of PARTITION BY, where it is a SESSION.
    pub session_keys: Option<Vec<String>>,
}

/// Sizes that may be given to several relations.
#[derive(Debug, Clone)]
pub struct Sizes {
    function: &'static str,
    names: &'static [&'static str],
    intervals: Vec<String>,
}

impl Sizes {
    /// Of TUMBLE, HOP or CUMULATE.
    pub fn draw(draw: &mut Draw, clock: &Clock) -> Self {
        let step = *draw.pick(&[1, 2, 3, 5, 10]);
        let size = step * draw.between(1, 5);
        let (function, names, mut units): (_, &[&str], _) = match draw.between(0, 4) {
            0 | 1 => ("TUMBLE", &["SIZE", "`OFFSET`"], vec![size]),
            2 | 3 => ("HOP", &["SLIDE", "SIZE", "`OFFSET`"], vec![step, size]),
            _ => ("CUMULATE", &["STEP", "SIZE", "`OFFSET`"], vec![step, size]),
        };
        // around a repeated hour Flink loses rows of windows with an offset
        if draw.chance(30) && !clock.ltz {
            let limit = units[0];
            let offset = draw.between(1 - limit, limit - 1);
            if offset != 0 {
                units.push(offset);
            }
        }
        let intervals = units.into_iter().map(|units| clock.interval(units)).collect();
        Sizes { function, names, intervals }
    }

    pub fn over(&self, draw: &mut Draw, rows: &Relation) -> Window {
        let time = rows.time.as_deref().unwrap_or("ts");
        let name = &rows.name;
        let text = if draw.chance(15) {
            let sizes: Vec<String> = self
                .names
                .iter()
                .zip(&self.intervals)
                .map(|(name, interval)| format!("{name} => {interval}"))
                .collect();
            let sizes = sizes.join(", ");
            format!("TABLE({}(DATA => TABLE {name}, TIMECOL => DESCRIPTOR({time}), {sizes}))", self.function)
        } else {
            format!("TABLE({}(TABLE {name}, DESCRIPTOR({time}), {}))", self.function, self.intervals.join(", "))
        };
        let place = if self.function == "TUMBLE" { Place::Whole } else { Place::Merged };
        Window { text, place, feature: self.function, session_keys: None }
    }
}

/// Any window; a SESSION by at most two of the relation's keys.
pub fn any(draw: &mut Draw, clock: &Clock, rows: &Relation) -> Window {
    if !draw.chance(22) {
        return Sizes::draw(draw, clock).over(draw, rows);
    }
    let keys: Vec<String> = rows.keys().into_iter().map(|column| column.name).collect();
    let count = *draw.pick(&[0, 1, 1, 1, 2]);
    let keys = draw.some(&keys, count);
    let by = if keys.is_empty() { String::new() } else { format!(" PARTITION BY {}", keys.join(", ")) };
    let by = if keys.len() > 1 { by.replace("BY ", "BY (") + ")" } else { by };
    let gap = clock.interval(draw.between(1, 8));
    let time = rows.time.as_deref().unwrap_or("ts");
    let text = format!("TABLE(SESSION(TABLE {}{by}, DESCRIPTOR({time}), {gap}))", rows.name);
    Window { text, place: Place::Merged, feature: "SESSION", session_keys: Some(keys) }
}

/// A function of GROUP BY, before window functions stood in FROM.
#[derive(Debug, Clone)]
pub struct Legacy {
    /// TUMBLE, HOP or SESSION.
    pub function: &'static str,
    pub arguments: String,
    pub place: Place,
}

impl Legacy {
    pub fn draw(draw: &mut Draw, clock: &Clock, rows: &Relation) -> Self {
        let time = rows.time.as_deref().unwrap_or("ts");
        let (function, units) = match draw.between(0, 4) {
            0 | 1 => ("TUMBLE", vec![draw.between(1, 15)]),
            2 | 3 => ("HOP", vec![draw.between(1, 6), draw.between(1, 15)]),
            _ => ("SESSION", vec![draw.between(1, 8)]),
        };
        let intervals: Vec<String> = units.into_iter().map(|units| clock.interval(units)).collect();
        let place = if function == "TUMBLE" { Place::Whole } else { Place::Merged };
        Legacy { function, arguments: format!("{time}, {}", intervals.join(", ")), place }
    }
}
