//! The texts of Nexmark's events.

use std::fmt::Write;

use super::super::draw::Draw;

const STATES: [&str; 6] = ["AZ", "CA", "ID", "OR", "WA", "WY"];
const CITIES: [&str; 10] =
    ["Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"];
const FIRST_NAMES: [&str; 11] =
    ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"];
const LAST_NAMES: [&str; 9] = ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"];
const HOT_CHANNELS: [&str; 4] = ["Google", "Facebook", "Baidu", "Apple"];
const CHANNELS: u64 = 10_000;
/// Texts are no shorter.
const LEAST_LENGTH: u64 = 3;

fn one_of<'t>(texts: &[&'t str], draw: Draw, at: u64) -> &'t str {
    texts[draw.below(at, texts.len() as u64) as usize]
}

pub(super) fn state(draw: Draw, out: &mut String) {
    out.push_str(one_of(&STATES, draw, 0));
}

pub(super) fn city(draw: Draw, out: &mut String) {
    out.push_str(one_of(&CITIES, draw, 0));
}

pub(super) fn person_name(draw: Draw, out: &mut String) {
    out.push_str(one_of(&FIRST_NAMES, draw, 0));
    out.push(' ');
    out.push_str(one_of(&LAST_NAMES, draw, 1));
}

pub(super) fn email(draw: Draw, out: &mut String) {
    words(draw.part(0), 7, out);
    out.push('@');
    words(draw.part(1), 5, out);
    out.push_str(".com");
}

pub(super) fn credit_card(draw: Draw, out: &mut String) {
    for at in 0..4 {
        let blank = if at > 0 { " " } else { "" };
        // Writing to a string does not fail.
        let _ = write!(out, "{blank}{:04}", draw.below(at, 10_000));
    }
}

/// Letters, one in 13 of them a blank, without blanks at the ends; fewer than `most`.
pub(super) fn words(draw: Draw, most: u64, out: &mut String) {
    let start = out.len();
    spaced(draw, most, ' ', out);
    out.truncate(start + out[start..].trim_end().len());
    let blanks = out.len() - start - out[start..].trim_start().len();
    out.drain(start..start + blanks);
}

fn spaced(draw: Draw, most: u64, space: char, out: &mut String) {
    let length = LEAST_LENGTH + draw.below(0, most - LEAST_LENGTH);
    for at in 1..=length {
        let drawn = draw.below(at, 13 * 26);
        out.push(if drawn < 26 { space } else { char::from(b'a' + (drawn % 26) as u8) });
    }
}

/// As many letters as an event of so many bytes lacks on average.
pub(super) fn extra(draw: Draw, bytes: u64, average: u64, out: &mut String) {
    let Some(lacking) = average.checked_sub(bytes) else { return };
    let fifth = (lacking as f64 * 0.2).round() as u64;
    let length = lacking - fifth + if fifth == 0 { 0 } else { draw.below(0, 2 * fifth) };
    for word in 0..length.div_ceil(8) {
        let letters = draw.bits(1 + word).to_le_bytes().map(|byte| b'a' + ((u16::from(byte) * 26) >> 8) as u8);
        let wanted = (length - word * 8).min(8) as usize;
        out.push_str(std::str::from_utf8(&letters[..wanted]).unwrap_or_default());
    }
}

/// The channels through which bids come, and their addresses.
pub(super) struct Texts {
    channels: Vec<Channel>,
}

struct Channel {
    name: String,
    url: String,
}

impl Texts {
    pub(super) fn new(draw: Draw) -> Self {
        let hot = HOT_CHANNELS.len() as u64;
        let channel = |index: u64| {
            let draw = draw.part(index);
            let mut url = base_url(draw);
            let Some(number) = index.checked_sub(hot) else {
                return Channel { name: HOT_CHANNELS[index as usize].to_string(), url };
            };
            if draw.below(0, 10) > 0 {
                // Writing to a string does not fail.
                let _ = write!(url, "&channel_id={}", (number as i32).reverse_bits().unsigned_abs());
            }
            Channel { name: format!("channel-{number}"), url }
        };
        Texts { channels: (0..hot + CHANNELS).map(channel).collect() }
    }

    /// Half of the bids come through the few large channels, which stand first.
    fn of(&self, draw: Draw) -> &Channel {
        let hot = HOT_CHANNELS.len() as u64;
        let index = if draw.below(0, 2) > 0 { draw.below(1, hot) } else { hot + draw.below(1, CHANNELS) };
        &self.channels[index as usize]
    }

    pub(super) fn channel(&self, draw: Draw, out: &mut String) {
        out.push_str(&self.of(draw).name);
    }

    pub(super) fn url(&self, draw: Draw, out: &mut String) {
        out.push_str(&self.of(draw).url);
    }
}

fn base_url(draw: Draw) -> String {
    let mut url = "https://www.nexmark.com/".to_string();
    for part in 1..4 {
        spaced(draw.part(part), 5, '_', &mut url);
        url.push('/');
    }
    url.push_str("item.htm?query=1");
    url
}
