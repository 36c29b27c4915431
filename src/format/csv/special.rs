//! A character that means something to CSV. It may have up to three bytes, as every character of Java's `char` does.

/// A character as the bytes that stand for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Special {
    /// The first byte: what is searched for.
    pub lead: u8,
    tail: [u8; 2],
    /// How many bytes it has.
    pub length: usize,
}

impl Special {
    /// `character` lies in the first plane, whose characters have up to three bytes.
    pub fn new(character: char) -> Self {
        let mut bytes = [0; 4];
        let length = character.encode_utf8(&mut bytes).len();
        let [lead, second, third, _] = bytes;
        Special { lead, tail: [second, third], length }
    }

    /// Whether it has more than one byte.
    pub fn is_wide(self) -> bool {
        self.length > 1
    }

    /// Whether it stands at `at`.
    #[inline(always)]
    pub fn stands_at(self, bytes: &[u8], at: usize) -> bool {
        bytes.get(at) == Some(&self.lead)
            && (self.length == 1 || bytes[at + 1..].starts_with(&self.tail[..self.length - 1]))
    }

    /// Whether it stands in front of a place whose last byte before is `before`; only asked where nothing else
    /// with this last byte can.
    #[inline(always)]
    pub fn ends_with(self, before: u8) -> bool {
        before == if self.length == 1 { self.lead } else { self.tail[self.length - 2] }
    }

    /// Appends it.
    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        out.push(self.lead);
        out.extend_from_slice(&self.tail[..self.length - 1]);
    }
}

/// The second or a later byte of a character.
pub(crate) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}
