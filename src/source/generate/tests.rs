use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{Int32Type, Int64Type, TimestampMillisecondType};
use arrow::util::display::array_value_to_string;

use crate::error::Result;
use crate::plan::{DatagenSpec, NexmarkSpec, Options, ScanSpec, SourceSpec};
use crate::source::{Extent, Split, open};
use crate::types::{DataType, Field, Schema, Type};

fn options(pairs: &[(&str, &str)]) -> Options {
    let mut options = Options::new("table `t`", Default::default());
    for (key, value) in pairs {
        options.insert(*key, *value, Default::default());
    }
    options
}

fn schema(columns: &[(&str, DataType)]) -> Schema {
    Schema::new(columns.iter().map(|(name, data_type)| Field::new(*name, data_type.clone())).collect())
}

fn scan(schema: Schema, source: SourceSpec) -> ScanSpec {
    ScanSpec {
        table: "t".to_string(),
        source,
        projection: (0..schema.len()).collect(),
        columns: Vec::new(),
        watermark: None,
        schema: schema.clone(),
        file_schema: schema,
    }
}

fn datagen(columns: &[(&str, DataType)], pairs: &[(&str, &str)]) -> Result<DatagenSpec> {
    let mut options = options(pairs);
    let spec = DatagenSpec::from_options(&mut options, &schema(columns))?;
    options.finish()?;
    Ok(spec)
}

fn rows_of(split: &dyn Split, batch_rows: usize) -> RecordBatch {
    split.start(&(Arc::new(|| {}) as _), true);
    let mut batches = Vec::new();
    let mut block = 0;
    loop {
        let extent = split.extend();
        if block < extent.blocks {
            let decoded = split.decode(block, 0, batch_rows, &mut |batch| {
                batches.push(batch);
                Ok(())
            });
            decoded.expect("rows");
            block += 1;
        } else if extent.complete {
            return arrow::compute::concat_batches(&batches[0].schema(), &batches).expect("one schema");
        } else {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

fn generated(columns: &[(&str, DataType)], pairs: &[(&str, &str)], batch_rows: usize) -> RecordBatch {
    let pairs = [pairs, &[("rows-per-second", "100000000")]].concat();
    let spec = datagen(columns, &pairs).expect("options that are right");
    let splits = open(&scan(schema(columns), SourceSpec::Datagen(spec)), 1 << 20).expect("a split");
    rows_of(splits[0].as_ref(), batch_rows)
}

fn texts(column: &ArrayRef) -> Vec<String> {
    (0..column.len()).map(|row| array_value_to_string(column, row).expect("a text")).collect()
}

#[test]
fn sequences_count_in_their_types_and_end_the_table() {
    let kinds = [Type::TinyInt, Type::Int, Type::BigInt, Type::Double, Type::string(), Type::Decimal(5, 2)];
    let names = ["a", "b", "c", "d", "e", "f"];
    let columns: Vec<_> = names.into_iter().zip(kinds.map(Type::nullable)).collect();
    let keys: Vec<String> =
        names.iter().flat_map(|n| ["kind", "start", "end"].map(|k| format!("fields.{n}.{k}"))).collect();
    let values = ["sequence", "9", "12"];
    let pairs: Vec<(&str, &str)> = keys.iter().enumerate().map(|(i, key)| (key.as_str(), values[i % 3])).collect();
    let rows = generated(&columns, &[&pairs[..], &[("number-of-rows", "100")]].concat(), 3);
    assert_eq!(rows.num_rows(), 4);
    let expected = ["9", "10", "11", "12"];
    assert_eq!(texts(rows.column(0)), expected);
    assert_eq!(texts(rows.column(4)), expected);
    assert_eq!(texts(rows.column(3)), expected.map(|text| format!("{text}.0")));
    assert_eq!(texts(rows.column(5)), expected.map(|text| format!("{text}.00")));
}

#[test]
fn random_values_keep_to_their_bounds_and_reach_them() {
    let columns = [
        ("i", Type::Int.nullable()),
        ("l", Type::BigInt.nullable()),
        ("d", Type::Double.nullable()),
        ("m", Type::Decimal(5, 2).nullable()),
        ("s", Type::VarChar(20).nullable()),
        ("c", Type::Char(5).nullable()),
        ("n", Type::Int.nullable()),
    ];
    let pairs = [
        ("number-of-rows", "5000"),
        ("fields.i.min", "-2"),
        ("fields.i.max", "3"),
        ("fields.d.min", "1.5"),
        ("fields.d.max", "1.75"),
        ("fields.m.min", "-1.5"),
        ("fields.m.max", "1.8"),
        ("fields.s.var-len", "true"),
        ("fields.n.null-rate", "0.25"),
    ];
    let rows = generated(&columns, &pairs, 512);
    let ints: HashSet<i32> = rows.column(0).as_primitive::<Int32Type>().values().iter().copied().collect();
    assert_eq!(ints, (-2..=3).collect::<HashSet<_>>());
    let longs: HashSet<i64> = rows.column(1).as_primitive::<Int64Type>().values().iter().copied().collect();
    assert_eq!(longs.len(), 5000);
    assert!(texts(rows.column(2)).iter().all(|text| (1.5..=1.75).contains(&text.parse::<f64>().unwrap())));
    assert!(texts(rows.column(3)).iter().all(|text| (-1.5..=1.8).contains(&text.parse::<f64>().unwrap())));
    let lengths: HashSet<usize> = texts(rows.column(4)).iter().map(String::len).collect();
    assert_eq!(lengths, (1..20).collect::<HashSet<_>>());
    assert!(texts(rows.column(5)).iter().all(|t| t.len() == 5 && t.chars().all(|c| c.is_ascii_hexdigit())));
    assert!((1100..1400).contains(&rows.column(6).null_count()), "{}", rows.column(6).null_count());
}

#[test]
fn nested_values_follow_the_options_of_their_parts() {
    let row = Type::Row(vec![Field::new("a", Type::Int.nullable()), Field::new("b", Type::string().nullable())]);
    let map = Type::Map(Box::new(Type::Int.not_null()), Box::new(Type::string().nullable()));
    let columns =
        [("r", row.nullable()), ("l", Type::Array(Box::new(Type::Int.nullable())).nullable()), ("m", map.nullable())];
    let pairs = [
        ("number-of-rows", "200"),
        ("fields.r.a.min", "5"),
        ("fields.r.a.max", "6"),
        ("fields.r.b.length", "2"),
        ("fields.l.length", "2"),
        ("fields.l.element.min", "7"),
        ("fields.l.element.max", "7"),
        ("fields.l.null-rate", "0.5"),
        ("fields.m.key.min", "0"),
        ("fields.m.key.max", "1"),
        ("fields.m.value.length", "1"),
    ];
    let rows = generated(&columns, &pairs, 64);
    let lists: HashSet<String> = texts(rows.column(1)).into_iter().collect();
    assert_eq!(lists, HashSet::from(["", "[7, 7]"].map(str::to_string)));
    let fields = rows.column(0).as_struct();
    assert!(fields.column(0).as_primitive::<Int32Type>().values().iter().all(|value| [5, 6].contains(value)));
    assert!(texts(fields.column(1)).iter().all(|text| text.len() == 2));
    // Three keys of two values: one of them is drawn twice.
    assert!((0..200).all(|row| (1..=2).contains(&rows.column(2).as_map().value(row).len())));
}

#[test]
fn rows_depend_on_the_seed_alone() {
    let columns = [("i", Type::BigInt.nullable()), ("s", Type::string().nullable())];
    let of = |seed: &'static str, batch_rows| {
        generated(&columns, &[("number-of-rows", "70000"), ("seed", seed)], batch_rows)
    };
    let rows = of("1", 8192);
    assert_eq!(rows, of("1", 777));
    assert_ne!(rows, of("2", 8192));
}

#[test]
fn a_pace_lets_blocks_come_in_time_and_ends_with_the_last_row() {
    let columns = [("i", Type::Int.nullable())];
    let spec = datagen(&columns, &[("rows-per-second", "1000"), ("number-of-rows", "130")]).unwrap();
    let split = open(&scan(schema(&columns), SourceSpec::Datagen(spec)), 1 << 20).unwrap().remove(0);
    assert_eq!(split.extent(), Extent { blocks: 0, complete: false });
    let started = std::time::Instant::now();
    assert_eq!(rows_of(split.as_ref(), 8192).num_rows(), 130);
    assert!(started.elapsed() >= std::time::Duration::from_millis(129));
    let endless = datagen(&columns, &[]).unwrap();
    assert_eq!((endless.rows, endless.rows_per_second), (None, 10_000));
    let none = datagen(&columns, &[("number-of-rows", "0")]).unwrap();
    let split = open(&scan(schema(&columns), SourceSpec::Datagen(none)), 1 << 20).unwrap().remove(0);
    assert_eq!(split.extent(), Extent::whole(0));
}

#[test]
fn times_are_those_at_which_rows_are_due_or_before() {
    let columns =
        [("t", Type::Timestamp(3).nullable()), ("p", Type::TimestampLtz(3).nullable()), ("d", Type::Date.nullable())];
    let rows = generated(&columns, &[("number-of-rows", "1000"), ("fields.p.max-past", "10 s")], 100);
    let now = super::now_ms();
    let due = rows.column(0).as_primitive::<TimestampMillisecondType>();
    let past = rows.column(1).as_primitive::<TimestampMillisecondType>();
    assert!(due.values().is_sorted() && due.values().iter().all(|time| (now - 10_000..=now).contains(time)));
    assert!(past.values().iter().zip(due.values()).all(|(past, due)| (0..10_000).contains(&(due - past))));
}

#[test]
fn wrong_options_are_refused_by_name() {
    let columns = [
        ("i", Type::Int.nullable()),
        ("c", Type::Char(5).nullable()),
        ("v", Type::VarChar(5).nullable()),
        ("t", Type::Timestamp(3).nullable()),
        ("n", Type::Int.not_null()),
    ];
    for (pairs, says) in [
        (&[("fields.i.min", "10"), ("fields.i.max", "5")][..], "'fields.i.max'"),
        (&[("fields.i.min", "3000000000")], "'fields.i.min'"),
        (&[("fields.i.kind", "foo")], "random or sequence"),
        (&[("fields.i.kind", "sequence"), ("fields.i.start", "5")], "no option 'fields.i.end'"),
        (&[("fields.i.kind", "sequence"), ("fields.i.start", "5"), ("fields.i.end", "1")], "5, its start, or more"),
        (&[("fields.t.kind", "sequence")], "TIMESTAMP(3) has no sequences"),
        (&[("fields.c.length", "10")], "has one length"),
        (&[("fields.v.length", "10")], "from 1 to 5"),
        (&[("fields.nope.min", "1")], "unknown option 'fields.nope.min'"),
        (&[("fields.i.max-past", "1 s")], "unknown option 'fields.i.max-past'"),
        (&[("fields.i.null-rate", "1.5")], "from 0 to 1"),
        (&[("fields.n.null-rate", "0.5")], "NOT NULL"),
        (&[("rows-per-second", "0")], "from 1 on"),
        (&[("number-of-rows", "-3")], "a whole number"),
    ] {
        let error = datagen(&columns, pairs).expect_err(says);
        assert!(error.message().contains(says), "{error}");
    }
}

fn nexmark_schema() -> Schema {
    let row = |entity: crate::plan::Entity| {
        let fields = entity.fields().iter().map(|(name, kind)| Field::new(*name, kind.clone().nullable()));
        Type::Row(fields.collect()).nullable()
    };
    let mut fields = vec![Field::new("event_type", Type::Int.nullable())];
    fields.extend(crate::plan::Entity::ALL.map(|(name, entity)| Field::new(name, row(entity))));
    Schema::new(fields)
}

fn events(pairs: &[(&str, &str)], batch_rows: usize) -> RecordBatch {
    let schema = nexmark_schema();
    let mut options = options(pairs);
    let spec = NexmarkSpec::from_options(&mut options, &schema, &mut |_| {}).expect("options that are right");
    options.finish().expect("no other options");
    let split = open(&scan(schema, SourceSpec::Nexmark(spec)), 1 << 20).expect("a split").remove(0);
    rows_of(split.as_ref(), batch_rows)
}

/// The values of a field where the entity is there.
fn numbers(rows: &RecordBatch, column: &str, field: &str) -> Vec<i64> {
    let parts = rows.column_by_name(column).unwrap().as_struct().column_by_name(field).unwrap().clone();
    let longs = arrow::compute::cast(&parts, &arrow::datatypes::DataType::Int64).unwrap();
    longs.as_primitive::<Int64Type>().iter().flatten().collect()
}

fn words(rows: &RecordBatch, column: &str, field: &str) -> Vec<String> {
    let parts = rows.column_by_name(column).unwrap().as_struct().column_by_name(field).unwrap();
    parts.as_string::<i32>().iter().flatten().map(str::to_string).collect()
}

#[test]
fn nexmark_keeps_its_proportions_and_fills_one_entity_an_event() {
    let rows = events(&[("events.num", "100000")], 8192);
    let mut counts = BTreeMap::new();
    for kind in rows.column(0).as_primitive::<Int32Type>().values() {
        *counts.entry(*kind).or_insert(0) += 1;
    }
    assert_eq!(counts, [(0, 2_000), (1, 6_000), (2, 92_000)].into());
    for (index, count) in [(1, 2_000), (2, 6_000), (3, 92_000)] {
        assert_eq!(rows.column(index).len() - rows.column(index).null_count(), count);
    }
    let rows = events(
        &[("events.num", "1000"), ("person.proportion", "0"), ("auction.proportion", "1"), ("bid.proportion", "1")],
        100,
    );
    assert_eq!(rows.column(2).null_count(), 500);
}

#[test]
fn nexmark_ids_count_and_bids_name_auctions_and_people_of_their_time() {
    let rows = events(&[("events.num", "100000")], 8192);
    assert_eq!(numbers(&rows, "person", "id"), (1_000..3_000).collect::<Vec<_>>());
    assert_eq!(numbers(&rows, "auction", "id"), (1_000..7_000).collect::<Vec<_>>());
    let auctions = numbers(&rows, "bid", "auction");
    let hot = auctions.iter().filter(|id| *id % 100 == 0).count() as f64 / auctions.len() as f64;
    assert!((0.49..0.53).contains(&hot), "{hot}");
    // Bid number i comes when the auctions of its epoch of 46 bids are there.
    for (i, id) in auctions.iter().enumerate() {
        let last = (i as i64 / 46) * 3 + 2;
        assert!((1_000 + (last - 200).max(0)..=1_000 + last + 10).contains(id), "bid {i} of auction {id}");
    }
    let bidders = numbers(&rows, "bid", "bidder");
    let hot = bidders.iter().filter(|id| *id % 100 == 1).count() as f64 / bidders.len() as f64;
    assert!((0.74..0.78).contains(&hot), "{hot}");
    let sellers = numbers(&rows, "auction", "seller");
    let hot = sellers.iter().filter(|id| *id % 100 == 0).count() as f64 / sellers.len() as f64;
    assert!((0.73..0.79).contains(&hot), "{hot}");
}

#[test]
fn nexmark_values_are_in_their_ranges() {
    let rows = events(&[("events.num", "50000"), ("first-event.rate", "1000")], 8192);
    assert!(numbers(&rows, "bid", "price").iter().all(|price| (100..=100_000_000).contains(price)));
    assert!(numbers(&rows, "auction", "category").iter().all(|category| (10..15).contains(category)));
    let (first, reserve) = (numbers(&rows, "auction", "initialBid"), numbers(&rows, "auction", "reserve"));
    assert!(first.iter().zip(&reserve).all(|(first, reserve)| first < reserve));
    let (begins, expires) = (numbers(&rows, "auction", "dateTime"), numbers(&rows, "auction", "expires"));
    // An auction lasts up to twice the 1666 events, of a millisecond each, in which 100 more auctions come.
    assert!(begins.iter().zip(&expires).all(|(begin, end)| (1..=3_332).contains(&(end - begin))));
    let times = numbers(&rows, "bid", "dateTime");
    assert!(times.is_sorted() && times[0] == 1_436_918_400_004, "{}", times[0]);
    let channels = words(&rows, "bid", "channel");
    let large = channels.iter().filter(|channel| !channel.starts_with("channel-")).count() as f64;
    assert!((0.48..0.52).contains(&(large / channels.len() as f64)));
    let urls: HashSet<(String, String)> = channels.into_iter().zip(words(&rows, "bid", "url")).collect();
    let named: HashSet<&String> = urls.iter().map(|(channel, _)| channel).collect();
    assert_eq!(urls.len(), named.len(), "a channel has one address");
    let extra: usize = words(&rows, "bid", "extra").iter().map(String::len).sum();
    assert!((66..70).contains(&(extra / 46_000)), "{extra}");
    assert!(words(&rows, "person", "creditCard").iter().all(|card| card.len() == 19));
    assert!(words(&rows, "auction", "itemName").iter().all(|name| name.trim() == name && name.len() < 20));
}

#[test]
fn nexmark_events_depend_on_their_number_and_the_seed_alone() {
    let rows = events(&[("events.num", "10000")], 8192);
    assert_eq!(rows, events(&[("events.num", "10000"), ("seed", "0")], 61));
    assert_ne!(rows, events(&[("events.num", "10000"), ("seed", "7")], 8192));
}

#[test]
fn nexmark_without_an_end_has_blocks_to_spare() {
    let schema = nexmark_schema();
    let spec = NexmarkSpec::from_options(&mut options(&[]), &schema, &mut |_| {}).unwrap();
    let split = open(&scan(schema, SourceSpec::Nexmark(spec)), 1 << 20).unwrap().remove(0);
    assert!(split.extent().complete && split.extent().blocks > 1 << 40);
}
