//! The events of Nexmark: persons, auctions and bids, each a function of its number and the seed.

mod text;

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringBuilder, StructArray,
    TimestampMillisecondArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, Fields, SchemaRef};

use super::Generator;
use super::draw::Draw;
use crate::error::{Error, Result};
use crate::plan::{Entity, NexmarkSpec, ScanSpec};
use crate::types::{Schema, Type};
use text::Texts;

const FIRST_ID: i64 = 1_000;
const FIRST_CATEGORY: i64 = 10;
const CATEGORIES: u64 = 5;
/// Ids that are named before their person or auction has come.
const ID_LEAD: u64 = 10;
/// One in so many ids is hot, for its time.
const HOT_IDS: i64 = 100;
const AUCTIONS_IN_FLIGHT: i64 = 100;
const PEOPLE_ACTIVE: i64 = 1_000;

/// What is drawn for an event, each from a source of its own.
#[derive(Clone, Copy)]
enum Chance {
    HotAuction,
    Auction,
    HotBidder,
    Bidder,
    Price,
    Reserve,
    HotSeller,
    Seller,
    Category,
    Length,
    Text(u64),
}

pub(super) struct Nexmark {
    spec: NexmarkSpec,
    schema: SchemaRef,
    columns: Vec<Column>,
    draw: Draw,
    texts: Texts,
}

/// An event that is being made.
struct Event {
    number: u64,
    /// How often persons, auctions and bids had their turn before, and the place in this turn.
    epoch: i64,
    offset: i64,
    entity: Entity,
}

enum Column {
    EventType,
    Entity { entity: Entity, names: Vec<String>, fields: Fields },
}

impl Nexmark {
    pub(super) fn new(scan: &ScanSpec, spec: &NexmarkSpec) -> Result<Self> {
        let fields: Vec<_> = scan.projection.iter().map(|&index| scan.file_schema.fields[index].clone()).collect();
        let column = |field: &crate::types::Field| {
            let entity = Entity::ALL.iter().find(|(name, _)| *name == field.name).map(|&(_, entity)| entity);
            match (entity, &field.data_type.kind, field.data_type.kind.to_arrow()) {
                (None, ..) => Ok(Column::EventType),
                (Some(entity), Type::Row(parts), ArrowType::Struct(fields)) => {
                    let names = parts.iter().map(|part| part.name.clone()).collect();
                    Ok(Column::Entity { entity, names, fields })
                }
                _ => Err(Error::internal("a column of nexmark that is no ROW")),
            }
        };
        let columns = fields.iter().map(column).collect::<Result<_>>()?;
        let draw = Draw::new(spec.seed);
        let texts = Texts::new(draw.part(u64::MAX));
        Ok(Nexmark { spec: spec.clone(), schema: Schema::new(fields).to_arrow(), columns, draw, texts })
    }

    fn draw(&self, chance: Chance) -> Draw {
        self.draw.part(match chance {
            Chance::HotAuction => 0,
            Chance::Auction => 1,
            Chance::HotBidder => 2,
            Chance::Bidder => 3,
            Chance::Price => 4,
            Chance::Reserve => 5,
            Chance::HotSeller => 6,
            Chance::Seller => 7,
            Chance::Category => 8,
            Chance::Length => 9,
            Chance::Text(number) => 10 + number,
        })
    }

    fn total(&self) -> u64 {
        self.spec.persons + self.spec.auctions + self.spec.bids
    }

    /// The events from a number on. Each is looked at once for every field, so what takes divisions is worked out here.
    fn events(&self, first: u64, count: usize) -> Vec<Event> {
        let (total, persons) = (self.total() as i64, self.spec.persons as i64);
        let auctions = self.spec.auctions as i64;
        let (mut epoch, mut offset) = ((first / self.total()) as i64, (first % self.total()) as i64);
        let mut events = Vec::with_capacity(count);
        for number in first..first + count as u64 {
            let entity = match offset {
                offset if offset < persons => Entity::Person,
                offset if offset < persons + auctions => Entity::Auction,
                _ => Entity::Bid,
            };
            events.push(Event { number, epoch, offset, entity });
            offset += 1;
            if offset == total {
                (epoch, offset) = (epoch + 1, 0);
            }
        }
        events
    }

    fn time_ms(&self, number: u64) -> i64 {
        let micros = match number.checked_mul(1_000_000) {
            Some(scaled) => scaled / self.spec.rate,
            None => u64::try_from(u128::from(number) * 1_000_000 / u128::from(self.spec.rate)).unwrap_or(u64::MAX),
        };
        self.spec.base_time_ms.saturating_add((micros / 1_000) as i64)
    }

    /// The id, counted from 0, of the last person up to an event; -1 if there was none.
    fn last_person(&self, event: &Event) -> i64 {
        let persons = self.spec.persons as i64;
        event.epoch * persons + event.offset.min(persons - 1)
    }

    /// The id, counted from 0, of the last auction up to an event; -1 if there was none.
    fn last_auction(&self, event: &Event) -> i64 {
        let (persons, auctions) = (self.spec.persons as i64, self.spec.auctions as i64);
        event.epoch * auctions + (event.offset - persons).clamp(-1, auctions - 1)
    }

    fn any_person(&self, event: &Event, draw: Draw) -> i64 {
        let people = self.last_person(event) + 1;
        let active = people.min(PEOPLE_ACTIVE);
        people - active + draw.below(event.number, active as u64 + ID_LEAD) as i64
    }

    fn auction_of_bid(&self, event: &Event) -> i64 {
        let last = self.last_auction(event);
        if self.draw(Chance::HotAuction).below(event.number, self.spec.hot_auctions) > 0 {
            return FIRST_ID + last / HOT_IDS * HOT_IDS;
        }
        let least = (last - AUCTIONS_IN_FLIGHT).max(0);
        FIRST_ID + least + self.draw(Chance::Auction).below(event.number, (last - least + 1) as u64 + ID_LEAD) as i64
    }

    fn bidder(&self, event: &Event) -> i64 {
        if self.draw(Chance::HotBidder).below(event.number, self.spec.hot_bidders) > 0 {
            // The second of the hundred, so that hot bidders and hot sellers differ.
            return FIRST_ID + self.last_person(event) / HOT_IDS * HOT_IDS + 1;
        }
        FIRST_ID + self.any_person(event, self.draw(Chance::Bidder))
    }

    fn seller(&self, event: &Event) -> i64 {
        if self.draw(Chance::HotSeller).below(event.number, self.spec.hot_sellers) > 0 {
            return FIRST_ID + self.last_person(event) / HOT_IDS * HOT_IDS;
        }
        FIRST_ID + self.any_person(event, self.draw(Chance::Seller))
    }

    fn price(&self, event: &Event, chance: Chance) -> i64 {
        (10_f64.powf(self.draw(chance).unit(event.number) * 6.0) * 100.0).round() as i64
    }

    fn expires_ms(&self, event: &Event) -> i64 {
        let ahead = AUCTIONS_IN_FLIGHT as u64 * self.total() / self.spec.auctions.max(1);
        let (now, horizon) = (self.time_ms(event.number), self.time_ms(event.number.saturating_add(ahead)));
        let most = (horizon - now).saturating_mul(2).max(1);
        now + 1 + self.draw(Chance::Length).below(event.number, most as u64) as i64
    }

    /// A field of the events that are about an entity; NULL in the others.
    fn field(&self, entity: Entity, name: &str, events: &[Event]) -> ArrayRef {
        let number = |value: &dyn Fn(&Event) -> i64| -> ArrayRef {
            let values = events.iter().map(|event| (event.entity == entity).then(|| value(event)));
            Arc::new(values.collect::<Int64Array>())
        };
        let time = |value: &dyn Fn(&Event) -> i64| -> ArrayRef {
            let times = events.iter().map(|event| (event.entity == entity).then(|| value(event)));
            Arc::new(times.collect::<TimestampMillisecondArray>())
        };
        match (entity, name) {
            (_, "dateTime") => time(&|event| self.time_ms(event.number)),
            (Entity::Person, "id") => number(&|event| FIRST_ID + self.last_person(event)),
            (Entity::Auction, "id") => number(&|event| FIRST_ID + self.last_auction(event)),
            (Entity::Auction, "initialBid") => number(&|event| self.price(event, Chance::Price)),
            (Entity::Auction, "reserve") => {
                number(&|event| self.price(event, Chance::Price) + self.price(event, Chance::Reserve))
            }
            (Entity::Auction, "expires") => time(&|event| self.expires_ms(event)),
            (Entity::Auction, "seller") => number(&|event| self.seller(event)),
            (Entity::Auction, "category") => {
                let draw = self.draw(Chance::Category);
                number(&|event| FIRST_CATEGORY + draw.below(event.number, CATEGORIES) as i64)
            }
            (Entity::Bid, "auction") => number(&|event| self.auction_of_bid(event)),
            (Entity::Bid, "bidder") => number(&|event| self.bidder(event)),
            (Entity::Bid, "price") => number(&|event| self.price(event, Chance::Price)),
            _ => self.text_field(entity, name, events),
        }
    }

    fn text_field(&self, entity: Entity, name: &str, events: &[Event]) -> ArrayRef {
        let mut builder = StringBuilder::with_capacity(events.len(), events.len() * 16);
        let mut text = String::new();
        for event in events {
            if event.entity != entity {
                builder.append_null();
                continue;
            }
            text.clear();
            match entity {
                Entity::Person => self.person_text(name, event.number, &mut text),
                Entity::Auction => self.auction_text(name, event.number, &mut text),
                Entity::Bid => self.bid_text(name, event.number, &mut text),
            }
            builder.append_value(&text);
        }
        Arc::new(builder.finish())
    }

    /// A source of letters for one text of one event.
    fn letters(&self, number: u64, event: u64) -> Draw {
        self.draw(Chance::Text(number)).part(event)
    }

    fn person_text(&self, name: &str, event: u64, out: &mut String) {
        match name {
            "name" => text::person_name(self.letters(0, event), out),
            "emailAddress" => text::email(self.letters(1, event), out),
            "creditCard" => text::credit_card(self.letters(2, event), out),
            "city" => text::city(self.letters(3, event), out),
            "state" => text::state(self.letters(4, event), out),
            _ => {
                let mut others = String::new();
                for name in ["name", "emailAddress", "creditCard", "city", "state"] {
                    self.person_text(name, event, &mut others);
                }
                text::extra(self.letters(5, event), 8 + others.len() as u64, self.spec.person_bytes, out);
            }
        }
    }

    fn auction_text(&self, name: &str, event: u64, out: &mut String) {
        match name {
            "itemName" => text::words(self.letters(0, event), 20, out),
            "description" => text::words(self.letters(1, event), 100, out),
            _ => {
                let mut others = String::new();
                self.auction_text("itemName", event, &mut others);
                self.auction_text("description", event, &mut others);
                text::extra(self.letters(2, event), 48 + others.len() as u64, self.spec.auction_bytes, out);
            }
        }
    }

    fn bid_text(&self, name: &str, event: u64, out: &mut String) {
        match name {
            "channel" => self.texts.channel(self.letters(0, event), out),
            "url" => self.texts.url(self.letters(0, event), out),
            _ => text::extra(self.letters(1, event), 32, self.spec.bid_bytes, out),
        }
    }
}

impl Generator for Nexmark {
    fn rows(&self, first: u64, count: usize) -> Result<RecordBatch> {
        let events = self.events(first, count);
        let column = |column: &Column| -> Result<ArrayRef> {
            Ok(match column {
                Column::EventType => Arc::new(Int32Array::from_iter_values(events.iter().map(|e| e.entity as i32))),
                Column::Entity { entity, names, fields } => {
                    let parts = names.iter().map(|name| self.field(*entity, name, &events)).collect();
                    let there = NullBuffer::from_iter(events.iter().map(|event| event.entity == *entity));
                    Arc::new(StructArray::try_new(fields.clone(), parts, Some(there))?)
                }
            })
        };
        let columns = self.columns.iter().map(column).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}
