//! The bytes that a guess is made from.

use crate::error::Result;

/// How a piece goes on from the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// It is the start of a file.
    File,
    /// It is somewhere inside of the file, most likely within a record.
    Gap,
    /// It follows the piece before it.
    Next,
}

/// Some bytes of a file. The pieces of a file come in its order.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    pub bytes: &'a [u8],
    pub begin: Begin,
    /// The file ends here.
    pub ends: bool,
}

/// Files, or what is looked at of them; read twice: for the types, and for the order of the times.
pub trait Input {
    /// Hands out all pieces, as long as `take` says to go on.
    ///
    /// # Errors
    /// What reading says, or `take`.
    fn pieces(&mut self, take: &mut dyn FnMut(Piece<'_>) -> Result<bool>) -> Result<()>;
    /// Whether the pieces are all there is.
    fn is_whole(&self) -> bool;
}

/// Pieces in memory.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    pub pieces: Vec<(Vec<u8>, Begin, bool)>,
    /// Whether they are all there is.
    pub whole: bool,
}

impl Sample {
    /// A whole file.
    pub fn whole(bytes: impl Into<Vec<u8>>) -> Self {
        Sample { pieces: vec![(bytes.into(), Begin::File, true)], whole: true }
    }
}

impl Input for Sample {
    fn pieces(&mut self, take: &mut dyn FnMut(Piece<'_>) -> Result<bool>) -> Result<()> {
        for (bytes, begin, ends) in &self.pieces {
            if !take(Piece { bytes, begin: *begin, ends: *ends })? {
                break;
            }
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.whole
    }
}
