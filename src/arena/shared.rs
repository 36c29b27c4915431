//! Bytes of a column that others read while it goes on.

use std::sync::Arc;

use super::region::Frozen;

/// The bytes of a column as they were when it was shared.
#[derive(Clone)]
pub struct SharedBytes {
    pub(super) frozen: Arc<Frozen>,
    pub(super) len: usize,
}

impl SharedBytes {
    pub fn bytes(&self) -> &[u8] {
        self.frozen.bytes(self.len)
    }

    /// Shared bytes of one id and one length are the same bytes, and no others of this process have this id.
    pub fn id(&self) -> u64 {
        self.frozen.id()
    }
}
