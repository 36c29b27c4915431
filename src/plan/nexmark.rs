//! The connector `nexmark`: the events of the Nexmark benchmark, with the options of its generator.

use super::Options;
use crate::error::{Error, Result, nearest};
use crate::types::{Field, Schema, Type};

/// How events are made.
#[derive(Debug, Clone, PartialEq)]
pub struct NexmarkSpec {
    /// `None`: without end.
    pub events: Option<u64>,
    /// Events in a second of event time.
    pub rate: u64,
    /// Events that may come in a second; `None`: as fast as they are taken.
    pub pace: Option<u64>,
    /// Of all events, how many are persons, auctions and bids.
    pub persons: u64,
    pub auctions: u64,
    pub bids: u64,
    /// Bytes of an event on average.
    pub person_bytes: u64,
    pub auction_bytes: u64,
    pub bid_bytes: u64,
    /// One of so many is not hot: the auction of a bid, its bidder, the seller of an auction.
    pub hot_auctions: u64,
    pub hot_bidders: u64,
    pub hot_sellers: u64,
    /// Event time of the first event.
    pub base_time_ms: i64,
    /// The same seed gives the same events.
    pub seed: u64,
}

/// What an event is about; the number is its `event_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entity {
    Person,
    Auction,
    Bid,
}

impl Entity {
    pub const ALL: [(&'static str, Entity); 3] =
        [("person", Entity::Person), ("auction", Entity::Auction), ("bid", Entity::Bid)];

    /// The names of its fields that the generator fills, with their types.
    pub fn fields(self) -> &'static [(&'static str, Type)] {
        const TEXT: Type = Type::VarChar(crate::types::MAX_LENGTH);
        const TIME: Type = Type::Timestamp(3);
        match self {
            Entity::Person => &[
                ("id", Type::BigInt),
                ("name", TEXT),
                ("emailAddress", TEXT),
                ("creditCard", TEXT),
                ("city", TEXT),
                ("state", TEXT),
                ("dateTime", TIME),
                ("extra", TEXT),
            ],
            Entity::Auction => &[
                ("id", Type::BigInt),
                ("itemName", TEXT),
                ("description", TEXT),
                ("initialBid", Type::BigInt),
                ("reserve", Type::BigInt),
                ("dateTime", TIME),
                ("expires", TIME),
                ("seller", Type::BigInt),
                ("category", Type::BigInt),
                ("extra", TEXT),
            ],
            Entity::Bid => &[
                ("auction", Type::BigInt),
                ("bidder", Type::BigInt),
                ("price", Type::BigInt),
                ("channel", TEXT),
                ("url", TEXT),
                ("dateTime", TIME),
                ("extra", TEXT),
            ],
        }
    }
}

/// The column that says what an event is about.
pub const EVENT_TYPE: &str = "event_type";
/// 2015-07-15 00:00:00 UTC, where the first Nexmark generators started.
const BASE_TIME_MS: i64 = 1_436_918_400_000;
/// Beyond it arithmetic on event numbers could overflow.
const NUMBER_MAX: u64 = 1 << 31;

impl NexmarkSpec {
    /// Reads the options of a table with these physical columns. `ignored` takes options without effect.
    ///
    /// # Errors
    /// Kind Script, at the option or the table that is wrong; Unsupported for what the original has and this has not.
    pub fn from_options(options: &mut Options, schema: &Schema, ignored: &mut dyn FnMut(&str)) -> Result<NexmarkSpec> {
        check_columns(schema).map_err(|error| error.at_place(options.place.clone()))?;
        let rate = number(options, "first-event.rate", 10_000, 1)?;
        // As in the original, the first rate holds for all events.
        number(options, "next-event.rate", 10_000, 1)?;
        for key in ["next-event.rate", "rate.shape", "rate.period", "rate.limited"] {
            if options.take(key).is_some() && key != "next-event.rate" {
                ignored(key);
            }
        }
        for (key, off) in [("keep-alive", "false"), ("stop-at", "-1")] {
            if options.take(key).is_some_and(|value| !value.eq_ignore_ascii_case(off)) {
                let error = Error::unsupported(format!("the option '{key}' of nexmark"));
                return Err(error.at_place(options.place_of(key)).help("remove it; 'events.num' says when events end"));
            }
        }
        let events = match options.take("events.num") {
            None => 0,
            Some(text) => {
                text.trim().parse().map_err(|_| options.invalid("events.num", "a whole number; 0: no end"))?
            }
        };
        let full_speed = options.take_bool("max-emit-speed", true)?;
        let spec = NexmarkSpec {
            events: (events > 0).then_some(events),
            rate,
            pace: (!full_speed).then_some(rate),
            persons: number(options, "person.proportion", 1, 0)?,
            auctions: number(options, "auction.proportion", 3, 0)?,
            bids: number(options, "bid.proportion", 46, 0)?,
            person_bytes: bytes(options, "person.avg-size", 200)?,
            auction_bytes: bytes(options, "auction.avg-size", 500)?,
            bid_bytes: bytes(options, "bid.avg-size", 100)?,
            hot_auctions: number(options, "bid.hot-ratio.auctions", 2, 1)?,
            hot_bidders: number(options, "bid.hot-ratio.bidders", 4, 1)?,
            hot_sellers: number(options, "auction.hot-ratio.sellers", 4, 1)?,
            base_time_ms: match options.take("base-time") {
                None => BASE_TIME_MS,
                Some(text) => {
                    let time = text.trim().parse().ok().filter(|time: &i64| (0..1 << 52).contains(time));
                    time.ok_or_else(|| options.invalid("base-time", "milliseconds since 1970"))?
                }
            },
            seed: match options.take("seed") {
                None => 0,
                Some(text) => text.trim().parse().map_err(|_| options.invalid("seed", "a whole number"))?,
            },
        };
        if spec.persons + spec.auctions + spec.bids == 0 {
            return Err(Error::script("nexmark without persons, auctions and bids has no events")
                .at_place(options.place.clone())
                .help("set one of the proportions to 1 or more"));
        }
        Ok(spec)
    }
}

fn number(options: &mut Options, key: &str, default: u64, least: u64) -> Result<u64> {
    let Some(text) = options.take(key) else { return Ok(default) };
    let number = text.trim().parse().ok().filter(|number| (least..NUMBER_MAX).contains(number));
    number.ok_or_else(|| options.invalid(key, &format!("a whole number from {least} on")))
}

/// A size as Flink writes it: `100`, `100b`, `1 kb`.
fn bytes(options: &mut Options, key: &str, default: u64) -> Result<u64> {
    let Some(text) = options.take(key) else { return Ok(default) };
    let digits = text.trim().bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.trim().split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" | "bytes" => Some(1),
        "k" | "kb" | "kibibytes" => Some(1 << 10),
        "m" | "mb" | "mebibytes" => Some(1 << 20),
        _ => None,
    };
    let size = factor.and_then(|factor: u64| number.parse::<u64>().ok()?.checked_mul(factor));
    size.filter(|&size| size < 1 << 24).ok_or_else(|| options.invalid(key, "a size such as '200b'"))
}

/// Columns are found by name; those that a table does not declare are not made.
fn check_columns(schema: &Schema) -> Result<()> {
    for column in &schema.fields {
        let known = ["event_type", "person", "auction", "bid"];
        let Some((_, entity)) = Entity::ALL.iter().find(|(name, _)| *name == column.name) else {
            if column.name != EVENT_TYPE {
                return Err(unknown("nexmark has no column", &column.name, &known));
            }
            if column.data_type.kind != Type::Int {
                return Err(mistyped(column, &Type::Int));
            }
            continue;
        };
        let Type::Row(fields) = &column.data_type.kind else {
            return Err(Error::script(format!(
                "column '{}' of nexmark is a ROW, not {}",
                column.name, column.data_type
            ))
            .help(format!("declare its fields: {}", names(*entity).join(", "))));
        };
        for field in fields {
            match entity.fields().iter().find(|(name, _)| *name == field.name) {
                None => {
                    let what = format!("{} of nexmark has no field", column.name);
                    return Err(unknown(&what, &field.name, &names(*entity)));
                }
                Some((_, kind)) if *kind != field.data_type.kind => return Err(mistyped(field, kind)),
                Some(_) => {}
            }
        }
    }
    Ok(())
}

fn names(entity: Entity) -> Vec<&'static str> {
    entity.fields().iter().map(|(name, _)| *name).collect()
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Error {
    let error = Error::script(format!("{what} '{name}'"));
    match nearest(name, known.iter().copied()) {
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None => error.help(format!("it has {}", known.join(", "))),
    }
}

fn mistyped(field: &Field, kind: &Type) -> Error {
    Error::script(format!("'{}' of nexmark is {kind}, not {}", field.name, field.data_type.kind))
        .help(format!("declare it {kind}"))
}
