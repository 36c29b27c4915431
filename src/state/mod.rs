//! State by key: the encoding of keys, the index from key to group, and tables of groups with their accumulators,
//! also in generations.

mod approximate;
pub mod distinct;
pub mod generations;
pub mod index;
pub mod key;
mod multiset;
mod nested;
mod sets;
mod slots;
pub mod table;

pub use distinct::accumulators;
pub use generations::Generations;
pub use index::KeyIndex;
pub use key::{EncodedKeys, KeyEncoder, hash_keys};
pub use table::Table;
