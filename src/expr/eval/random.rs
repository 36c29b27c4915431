//! Random values. They are the only ones that differ from run to run.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use arrow::array::ArrayRef;
use arrow::datatypes::{Float64Type, Int32Type};

use super::function::Random;
use super::value::{Read, Value, build, build_texts, numbers};
use crate::error::{Error, Result};

/// Random words: a counter hashed with two keys that the standard library draws anew.
struct Words {
    keys: RandomState,
    count: u64,
}

impl Words {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.keys.hash_one(self.count)
    }
}

/// UUID, RAND and RAND_INTEGER: one value a row.
pub(super) fn random(function: Random, values: &[Value], count: usize) -> Result<ArrayRef> {
    let mut words = Words { keys: RandomState::new(), count: 0 };
    match function {
        Random::Uuid => build_texts(count, |_| Ok(Some(uuid(words.next(), words.next())))),
        // 53 bits make a DOUBLE.
        Random::Unit => build::<Float64Type>(count, |_| Ok(Some((words.next() >> 11) as f64 / (1u64 << 53) as f64))),
        Random::Below => {
            let bound = values.first().ok_or_else(|| Error::internal("RAND_INTEGER without a bound"))?;
            let bounds = numbers::<Int32Type>(bound)?;
            build::<Int32Type>(count, |row| match bounds.read(row) {
                None => Ok(None),
                Some(bound @ 1..) => Ok(Some(((u128::from(words.next()) * bound as u128) >> 64) as i32)),
                Some(bound) => Err(Error::data(format!("RAND_INTEGER needs a bound above 0, not {bound}"))),
            })
        }
    }
}

/// A random UUID (version 4).
fn uuid(high: u64, low: u64) -> String {
    let high = high & !0xF000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    let (a, b, c) = (high >> 32, high >> 16 & 0xFFFF, high & 0xFFFF);
    format!("{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low & 0xFFFF_FFFF_FFFF)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use arrow::array::{AsArray, Int32Array};

    use super::*;

    #[test]
    fn every_row_has_a_uuid_of_its_own() {
        let array = random(Random::Uuid, &[], 1000).unwrap();
        let texts: HashSet<&str> = array.as_string::<i32>().iter().flatten().collect();
        assert_eq!(texts.len(), 1000);
        assert!(texts.iter().all(|text| text.len() == 36 && &text[14..15] == "4" && "89ab".contains(&text[19..20])));
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let units = random(Random::Unit, &[], 1000).unwrap();
        assert!(units.as_primitive::<Float64Type>().values().iter().all(|x| (0.0..1.0).contains(x)));
        let bound = [Value::Constant(Arc::new(Int32Array::from(vec![3])))];
        let numbers = random(Random::Below, &bound, 1000).unwrap();
        let seen: HashSet<i32> = numbers.as_primitive::<Int32Type>().values().iter().copied().collect();
        assert_eq!(seen, HashSet::from([0, 1, 2]));
        assert!(random(Random::Below, &[Value::Constant(Arc::new(Int32Array::from(vec![0])))], 1).is_err());
    }
}
