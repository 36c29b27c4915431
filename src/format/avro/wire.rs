//! Avro's binary encoding: numbers and lengths as they stand in the bytes of a block.

use super::schema::{FileSchema, Node};

/// What is wrong with the bytes; whoever knows the place adds it.
pub(super) type Decoded<T> = Result<T, String>;

/// Items without a byte of their own (an array of nulls) that a block may have. More are not believed, for a few bytes
/// could claim any number of them.
const EMPTY_ITEMS_MAX: usize = 1 << 20;

/// Records in records in records: only a type that contains itself can go on and on.
const DEPTH_MAX: usize = 500;

/// The bytes of a block and how far they were read.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    empty_items: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0, empty_items: 0 }
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline]
    pub fn take(&mut self, length: usize) -> Decoded<&'a [u8]> {
        match self.bytes[self.at..].get(..length) {
            Some(bytes) => {
                self.at += length;
                Ok(bytes)
            }
            None => Err(format!("{length} bytes should follow, but only {} are left", self.left())),
        }
    }

    #[inline]
    pub fn fixed<const N: usize>(&mut self) -> Decoded<[u8; N]> {
        match self.bytes[self.at..].first_chunk::<N>() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(format!("{N} bytes should follow, but only {} are left", self.left())),
        }
    }

    /// A zigzag number of variable length.
    #[inline]
    pub fn long(&mut self) -> Decoded<i64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let Some(byte) = self.bytes.get(self.at) else { return Err("the block ends inside a number".to_string()) };
            self.at += 1;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err("a number has more than ten bytes".to_string())
    }

    pub fn boolean(&mut self) -> Decoded<bool> {
        match self.fixed::<1>()?[0] {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("{other} is no boolean")),
        }
    }

    fn length(&mut self) -> Decoded<usize> {
        let length = self.long()?;
        usize::try_from(length).map_err(|_| format!("a length is {length}"))
    }

    /// Bytes behind their length: also a string.
    #[inline]
    pub fn bytes(&mut self) -> Decoded<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    /// The branch of a union, or the symbol of an enum.
    pub fn index(&mut self, count: usize, what: &str) -> Decoded<usize> {
        let index = self.long()?;
        match usize::try_from(index) {
            Ok(index) if index < count => Ok(index),
            _ => Err(format!("the {what} has the number {index}, but there are {count}")),
        }
    }

    /// The items of an array or map, which stand in runs behind their number.
    pub fn items(&mut self, mut item: impl FnMut(&mut Self) -> Decoded<()>) -> Decoded<usize> {
        let mut total = 0;
        loop {
            let count = self.long()?;
            if count == 0 {
                return Ok(total);
            }
            if count < 0 {
                // The length of the run in bytes, for those who pass over it.
                self.length()?;
            }
            for _ in 0..count.unsigned_abs() {
                let before = self.at;
                item(self)?;
                if self.at == before {
                    self.empty_items += 1;
                    if self.empty_items > EMPTY_ITEMS_MAX {
                        return Err("it claims more than a million items that have no bytes".to_string());
                    }
                }
                total += 1;
            }
        }
    }

    /// Passes over a value that nobody wants.
    pub fn skip(&mut self, schema: &FileSchema, id: usize, depth: usize) -> Decoded<()> {
        if depth > DEPTH_MAX {
            return Err(format!("records lie more than {DEPTH_MAX} deep in each other"));
        }
        match schema.node(id) {
            Node::Null => Ok(()),
            Node::Boolean => self.take(1).map(drop),
            Node::Int(_) | Node::Long(_) | Node::Enum(_) => self.long().map(drop),
            Node::Float => self.take(4).map(drop),
            Node::Double => self.take(8).map(drop),
            Node::Bytes(_) | Node::Text => self.bytes().map(drop),
            Node::Fixed(length, _) => self.take(*length).map(drop),
            Node::Array(item) => self.items(|cursor| cursor.skip(schema, *item, depth + 1)).map(drop),
            Node::Map(value) => self
                .items(|cursor| {
                    cursor.bytes()?;
                    cursor.skip(schema, *value, depth + 1)
                })
                .map(drop),
            Node::Union(branches) => {
                let branch = self.index(branches.len(), "branch of a union")?;
                self.skip(schema, branches[branch], depth + 1)
            }
            Node::Record(fields) => fields.iter().try_for_each(|(_, field)| self.skip(schema, *field, depth + 1)),
        }
    }
}

/// Appends a zigzag number.
#[inline]
pub(super) fn put_long(out: &mut Vec<u8>, value: i64) {
    let mut value = ((value << 1) ^ (value >> 63)) as u64;
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends bytes behind their length.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_long(out, bytes.len() as i64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were_written() {
        for value in [0, -1, 1, 63, 64, -64, -65, i64::from(i32::MAX), i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            put_long(&mut bytes, value);
            assert_eq!(Cursor::new(&bytes).long(), Ok(value));
        }
        assert!(Cursor::new(&[0xFF; 11]).long().is_err());
        assert!(Cursor::new(&[0x80]).long().is_err());
    }

    #[test]
    fn an_array_that_claims_endless_nulls_is_not_believed() {
        let schema = FileSchema::parse(r#"{"type": "array", "items": "null"}"#).unwrap();
        let mut bytes = Vec::new();
        put_long(&mut bytes, i64::MAX);
        assert!(Cursor::new(&bytes).skip(&schema, 1, 0).is_err());
    }

    #[test]
    fn a_list_that_does_not_end_is_an_error() {
        let list = r#"{"type": "record", "name": "L", "fields": [{"name": "n", "type": ["null", "L"]}]}"#;
        let schema = FileSchema::parse(list).unwrap();
        let error = Cursor::new(&[2; 10_000]).skip(&schema, 0, 0).unwrap_err();
        assert!(error.contains("deep"), "{error}");
    }
}
