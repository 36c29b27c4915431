//! Windows over typed records, with the rules of Flink's DataStream API.
//!
//! An assigner gives each element its windows, a trigger says when a window fires, an evictor takes elements out of it,
//! a function makes results of the rest. [`operator`] puts them together: three operators with one contract, of which
//! the planner takes the first that can serve.
//!
//! Everything here is plain synchronous code of one shard. What travels between shards is a [`batch::KeyedBatch`].

pub mod aggregates;
pub mod assigner;
pub mod batch;
pub mod contract;
pub mod evictor;
pub mod function;
pub mod hash;
pub mod operator;
pub mod output;
pub(crate) mod span;
pub(crate) mod state;
pub mod trigger;
pub mod window;

use std::hash::Hash;

pub use state::{StateData, Taking};

/// What may travel between shards. What is kept between two records is [`StateData`].
pub trait Data: Clone + Send + Sync + 'static {}

impl<T: Clone + Send + Sync + 'static> Data for T {}

/// What streams may be partitioned by. `Hash` must not depend on the process (no addresses, no random state).
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a key",
    note = "a key is hashed, compared and kept: #[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]; for a \
            float use its bits, for a `&str` a `String`"
)]
pub trait Key: StateData + Hash + Eq {}

impl<K: StateData + Hash + Eq> Key for K {}
