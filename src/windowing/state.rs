//! Values of the program's own types in the state of a checkpoint.
//!
//! Plain numbers go into a section as the cells that they are. All other values stand one behind the other in a section
//! of bytes, in the wire format of `postcard`, which serde writes and reads: each says by itself where it ends.

use std::any::{Any, TypeId, type_name};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Data, Key};
use crate::arena::Pod;
use crate::error::{Error, ErrorKind, Result};
use crate::key::KeyHash;
use crate::snapshot::{Archive, fits};
use crate::time::EventTime;
use crate::windowing::hash::key_hash;

/// What an operator keeps between two records, and a checkpoint writes: keys, elements, accumulators, the state of
/// triggers. Any [`Data`] that serde writes and reads is; a type of one's own derives that:
///
/// ```
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Serialize, Deserialize)]
/// struct Click {
///     user: String,
///     at: i64,
/// }
///
/// fn may_be_kept<T: transom::windowing::StateData>() {}
/// may_be_kept::<Click>();
/// may_be_kept::<(String, Option<Click>, Vec<f64>)>();
/// ```
///
/// The bytes say nothing of names: a field more or less, or in another place, makes it another type. Attributes of serde
/// that need names in the data (`flatten`, `untagged`, `tag`, `skip_serializing_if`) can't be used. A `&'static str` can
/// be written but not read: keep a `String`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be kept in the state of a window",
    note = "derive serde's traits for it: #[derive(Clone, Serialize, Deserialize)]; in place of a `&str` keep a `String`"
)]
pub trait StateData: Data + Serialize + DeserializeOwned {}

impl<T: Data + Serialize + DeserializeOwned> StateData for T {}

/// What an operator takes of state that is put back.
#[derive(Clone, Copy)]
pub struct Taking<'a> {
    /// Which keys, by their hash.
    pub wanted: &'a dyn Fn(KeyHash) -> bool,
    /// Also what was counted.
    pub counts: bool,
}

impl Taking<'_> {
    /// All that was written.
    pub const ALL: Taking<'static> = Taking { wanted: &|_| true, counts: true };
}

/// Writes values of one type, or gives those that were written (else none).
///
/// # Errors
/// Data if a value cannot be written, or was written by another type.
pub(super) fn values<'v, T: StateData>(
    archive: &mut Archive<'_>,
    write: impl Iterator<Item = &'v T>,
) -> Result<Vec<T>> {
    macro_rules! as_numbers {
        ($($number:ty),+) => {
            $(if TypeId::of::<T>() == TypeId::of::<$number>() {
                return numbers::<$number, T>(archive, write);
            })+
        };
    }
    as_numbers!(u8, u16, u32, u64, i8, i16, i32, i64, i128, u128, f32, f64);
    let (mut count, mut bytes) = (0, Vec::new());
    if !archive.is_reading() {
        for value in write {
            bytes = postcard::to_extend(value, bytes).map_err(|error| unwritable::<T>(&error))?;
            count += 1;
        }
    }
    archive.count(&mut count)?;
    archive.cells(&mut bytes)?;
    if archive.is_reading() { decoded(&bytes, count) } else { Ok(Vec::new()) }
}

/// Values that are numbers, as a column.
fn numbers<'v, N: Pod + Default, T: StateData>(
    archive: &mut Archive<'_>,
    write: impl Iterator<Item = &'v T>,
) -> Result<Vec<T>> {
    let mut cells: Vec<N> = Vec::new();
    if !archive.is_reading() {
        cells.extend(write.filter_map(|value| (value as &dyn Any).downcast_ref::<N>()));
    }
    archive.cells(&mut cells)?;
    if !archive.is_reading() {
        return Ok(Vec::new());
    }
    let cells: Box<dyn Any> = Box::new(cells);
    cells.downcast().map(|cells| *cells).map_err(|_| Error::internal("numbers of another type"))
}

/// So many values that stand one behind the other, and nothing else.
fn decoded<T: StateData>(bytes: &[u8], count: usize) -> Result<Vec<T>> {
    let (mut rest, mut values) = (bytes, Vec::new());
    for _ in 0..count {
        let (value, behind) = postcard::take_from_bytes(rest).map_err(|error| unreadable::<T>(&error.to_string()))?;
        values.push(value);
        rest = behind;
    }
    if rest.is_empty() { Ok(values) } else { Err(unreadable::<T>("there are bytes left over")) }
}

/// One value, as [`values`] writes it.
///
/// # Errors
/// As there.
pub(super) fn encode<T: StateData>(value: &T) -> Result<Vec<u8>> {
    postcard::to_extend(value, Vec::new()).map_err(|error| unwritable::<T>(&error))
}

/// The value that was encoded.
///
/// # Errors
/// As for [`values`].
pub(super) fn decode<T: StateData>(bytes: &[u8]) -> Result<T> {
    let mut values = decoded(bytes, 1)?;
    values.pop().ok_or_else(|| unreadable::<T>("there is none"))
}

fn unwritable<T>(error: &postcard::Error) -> Error {
    Error::new(ErrorKind::Data, format!("a {} cannot be written to a checkpoint: {error}", type_name::<T>()))
        .help("its fields must be written one after the other, as #[derive(Serialize, Deserialize)] does")
}

fn unreadable<T>(why: &str) -> Error {
    Error::new(ErrorKind::Data, format!("a {} cannot be read from the checkpoint: {why}", type_name::<T>()))
        .help("the type must be the one that was written, without attributes of serde that need names in the data")
}

/// Writes keys with their hashes, or gives those that were written (else none).
///
/// # Errors
/// As for [`values`]; Data for a key that hashes otherwise than it did.
pub(super) fn keys<'k, K: Key>(
    archive: &mut Archive<'_>,
    write: impl Iterator<Item = (KeyHash, &'k K)> + Clone,
) -> Result<Vec<(KeyHash, K)>> {
    let mut hashes: Vec<KeyHash> = Vec::new();
    if !archive.is_reading() {
        hashes.extend(write.clone().map(|(hash, _)| hash));
    }
    archive.cells(&mut hashes)?;
    let keys: Vec<K> = values(archive, write.map(|(_, key)| key))?;
    if archive.is_reading() {
        fits(keys.len() == hashes.len())?;
        if keys.iter().zip(&hashes).any(|(key, &hash)| key_hash(key) != hash) {
            let message =
                format!("keys of type {} have other hashes than when the checkpoint was taken", type_name::<K>());
            return Err(Error::new(ErrorKind::Data, message)
                .help("their Hash must go by what is written of them, and not by addresses or by random numbers"));
        }
    }
    Ok(hashes.into_iter().zip(keys).collect())
}

/// Counters: those that were written are added where they are wanted.
pub(crate) fn counters<const N: usize>(
    archive: &mut Archive<'_>,
    taking: &Taking<'_>,
    counters: [&mut u64; N],
) -> Result<()> {
    let mut numbers: [u64; N] = std::array::from_fn(|at| *counters[at]);
    archive.numbers(numbers.each_mut())?;
    if archive.is_reading() && taking.counts {
        counters.into_iter().zip(numbers).for_each(|(counter, number)| *counter += number);
    }
    Ok(())
}

/// Times, which only go ahead.
pub(super) fn times<const N: usize>(archive: &mut Archive<'_>, times: [&mut EventTime; N]) -> Result<()> {
    let mut read: [EventTime; N] = std::array::from_fn(|at| *times[at]);
    archive.numbers(read.each_mut())?;
    times.into_iter().zip(read).for_each(|(time, read)| *time = (*time).max(read));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::hash::{Hash, Hasher};
    use std::sync::atomic::{AtomicU64, Ordering};

    use serde::Deserialize;

    use super::*;
    use crate::snapshot::{StateFile, StateReader, StateWriter};

    /// What `write` names, ready to be read.
    fn written(write: impl FnOnce(&mut Archive<'_>) -> Result<()>) -> StateReader {
        let (folder, mut state) = (tempfile::tempdir().unwrap(), StateWriter::default());
        write(&mut state.stage(0)).unwrap();
        let path = folder.path().join("state");
        state.write_whole((1, 0, 1), &mut std::fs::File::create(&path).unwrap()).unwrap();
        StateFile::open(&path).unwrap().into_reader()
    }

    fn back<T: StateData>(given: &[T]) -> Vec<T> {
        let mut reader = written(|archive| values(archive, given.iter()).map(drop));
        let read = values(&mut reader.stage(0), std::iter::empty()).unwrap();
        reader.end_stage().unwrap();
        read
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    enum Thing {
        Nothing,
        Named { name: String, size: Option<f64> },
        Many(Vec<(i64, Thing)>),
    }

    #[test]
    fn values_of_any_type_come_back() {
        let named = Thing::Named { name: String::from("Müller"), size: Some(-0.0) };
        let things = [Thing::Nothing, Thing::Many(vec![(i64::MIN, named.clone()), (7, Thing::Nothing)]), named];
        assert_eq!(back(&things), things);
        assert_eq!(back(&[(), (), ()]).len(), 3);
        assert_eq!(back(&[u128::MAX, 0]), [u128::MAX, 0]);
        assert_eq!(back(&[f64::NAN.to_bits(), 5]), [f64::NAN.to_bits(), 5]);
        assert!(back::<Thing>(&[]).is_empty() && back::<i64>(&[]).is_empty());
    }

    #[test]
    fn numbers_are_the_cells_that_they_are() {
        let mut reader = written(|archive| values(archive, [1.5_f64, -2.5].iter()).map(drop));
        let mut cells: Vec<f64> = Vec::new();
        reader.stage(0).cells(&mut cells).unwrap();
        assert_eq!(cells, [1.5, -2.5]);
    }

    #[test]
    fn values_of_another_type_are_refused_by_name() {
        let texts = [String::from("a longer text"), String::from("b")];
        let mut reader = written(|archive| values(archive, texts.iter()).map(drop));
        let error = values::<(u64, bool)>(&mut reader.stage(0), std::iter::empty()).unwrap_err();
        assert!(error.message().starts_with("a (u64, bool) cannot be read from the checkpoint"), "{error}");
    }

    /// A key that hashes otherwise each time.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    struct Fickle(u64);

    impl Hash for Fickle {
        fn hash<H: Hasher>(&self, state: &mut H) {
            static TIMES: AtomicU64 = AtomicU64::new(0);
            TIMES.fetch_add(1, Ordering::Relaxed).hash(state);
        }
    }

    #[test]
    fn keys_that_hash_otherwise_than_before_are_refused() {
        let given = [Fickle(1), Fickle(2)];
        let hashed = || given.iter().map(|key| (key_hash(key), key));
        let mut reader = written(|archive| keys(archive, hashed().collect::<Vec<_>>().into_iter()).map(drop));
        let error = keys::<Fickle>(&mut reader.stage(0), std::iter::empty()).unwrap_err();
        assert!(error.message().contains("have other hashes than when the checkpoint was taken"), "{error}");
        let given = [3_i64, -4].map(|key| (key_hash(&key), key));
        let mut reader = written(|archive| keys(archive, given.iter().map(|(hash, key)| (*hash, key))).map(drop));
        assert_eq!(keys(&mut reader.stage(0), std::iter::empty()).unwrap(), given);
    }
}
