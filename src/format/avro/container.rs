//! Object container files: a header, then blocks of records, each followed by the file's mark.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::codec::{BLOCK_BYTES_MAX, Codec};
use super::schema::{FileSchema, too_deep};
use super::wire::{Cursor, put_bytes, put_long};
use crate::error::{Error, ErrorKind, Result};

const MAGIC: &[u8; 4] = b"Obj\x01";
pub(super) const MARK_BYTES: usize = 16;
/// Schemas of a few thousand fields fit; a header that does not end before this is damaged.
const HEADER_BYTES_MAX: u64 = 16 << 20;
/// Two numbers of up to ten bytes.
const BLOCK_HEAD_BYTES: usize = 20;

pub(super) const DAMAGED: &str = "the file is damaged or cut short; write or copy it again";

/// What stands at the start of a file.
#[derive(Debug)]
pub(super) struct Header {
    pub schema: FileSchema,
    pub codec: Codec,
    pub mark: [u8; MARK_BYTES],
    /// Where the first block begins.
    pub length: u64,
}

/// Where a block lies in its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub records: u64,
    /// Of the compressed bytes.
    pub offset: u64,
    pub bytes: u64,
}

pub(super) fn no_avro(path: &str, what: &str) -> Error {
    Error::data(format!("this is not an Avro file: {what}"))
        .in_file(path)
        .help("check the table's 'format' and 'path'; every file of the folder is read")
}

fn read_at(file: &File, path: &str, buffer: &mut [u8], offset: u64) -> Result<()> {
    file.read_exact_at(buffer, offset).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            Error::new(ErrorKind::Io, format!("cannot read {path}: it became shorter while it was read"))
                .help("run again when it does not change any more")
        }
        _ => Error::io("read", path, error),
    })
}

/// Reads the start of a file of `size` bytes.
pub(super) fn read_header(file: &File, path: &str, size: u64) -> Result<Header> {
    let mut wanted = size.min(1 << 16);
    loop {
        let mut bytes = vec![0; wanted as usize];
        read_at(file, path, &mut bytes, 0)?;
        if !bytes.starts_with(MAGIC) {
            return Err(no_avro(path, "it does not begin with 'Obj' and a 1"));
        }
        match entries(&bytes) {
            Ok((entries, mark, length)) => return header(path, &entries, mark, length),
            Err(_) if wanted < size.min(HEADER_BYTES_MAX) => wanted = (wanted * 8).min(size).min(HEADER_BYTES_MAX),
            Err(fault) => return Err(Error::data(format!("the header: {fault}")).in_file(path).help(DAMAGED)),
        }
    }
}

type Entries<'a> = Vec<(&'a [u8], &'a [u8])>;

fn entries(bytes: &[u8]) -> Result<(Entries<'_>, [u8; MARK_BYTES], u64), String> {
    let mut cursor = Cursor::new(bytes);
    cursor.take(MAGIC.len())?;
    let mut entries = Vec::new();
    cursor.items(|cursor| {
        entries.push((cursor.bytes()?, cursor.bytes()?));
        Ok(())
    })?;
    let mark = cursor.fixed()?;
    Ok((entries, mark, cursor.position() as u64))
}

fn header(path: &str, entries: &Entries<'_>, mark: [u8; MARK_BYTES], length: u64) -> Result<Header> {
    let entry = |name: &str| entries.iter().find(|(key, _)| *key == name.as_bytes()).map(|(_, value)| *value);
    let json = entry("avro.schema").and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(json) = json else {
        return Err(Error::data("the header holds no schema").in_file(path).help(DAMAGED));
    };
    if let Some(fault) = too_deep(json) {
        let error = Error::data(format!("the schema in the header cannot be read: {fault}")).in_file(path);
        return Err(error.help("write the file with a schema that nests less deep"));
    }
    let schema = FileSchema::parse(json)
        .map_err(|fault| Error::data(format!("the schema in the header: {fault}")).in_file(path).help(DAMAGED))?;
    let name = entry("avro.codec").map_or_else(|| "null".into(), String::from_utf8_lossy);
    let Some(codec) = Codec::parse(&name) else {
        let known: Vec<_> = Codec::NAMES.iter().map(|(name, _)| *name).collect();
        return Err(Error::data(format!("its blocks are compressed with '{name}', which cannot be read"))
            .in_file(path)
            .help(format!("write the file with one of {}", known.join(", "))));
    };
    Ok(Header { schema, codec, mark, length })
}

/// Finds all blocks, from the head of each to that of the next, and checks the mark behind each.
pub(super) fn find_blocks(file: &File, path: &str, size: u64, header: &Header) -> Result<Vec<Block>> {
    let mut blocks = Vec::new();
    let mut at = header.length;
    // The mark of one block and the head of the next are read at once.
    let mut buffer = [0u8; MARK_BYTES + BLOCK_HEAD_BYTES];
    let mut skip = 0;
    while at < size {
        let fault = |fault: &str| Error::data(format!("the block at byte {at}: {fault}")).in_file(path).help(DAMAGED);
        let head = &mut buffer[..(size - at).min((skip + BLOCK_HEAD_BYTES) as u64) as usize];
        read_at(file, path, head, at)?;
        if skip > 0 && head.get(..skip) != Some(&header.mark) {
            return Err(fault("the file's mark does not stand in front of it"));
        }
        if head.len() == skip {
            return Ok(blocks);
        }
        let mut cursor = Cursor::new(&head[skip..]);
        let records = cursor.long().map_err(|error| fault(&error))?;
        let bytes = cursor.long().map_err(|error| fault(&error))?;
        let offset = at + (skip + cursor.position()) as u64;
        let end = u64::try_from(bytes).ok().and_then(|bytes| offset.checked_add(bytes));
        match (u64::try_from(records), end) {
            (Ok(records), Some(end)) if end.saturating_add(MARK_BYTES as u64) <= size => {
                if bytes > BLOCK_BYTES_MAX as i64 {
                    return Err(fault("it is longer than 256 MiB"));
                }
                blocks.push(Block { records, offset, bytes: end - offset });
                at = end;
            }
            (Ok(_), Some(_)) => {
                let left = size - offset;
                return Err(fault(&format!("{bytes} bytes and a mark should follow, but only {left} are left")));
            }
            _ => return Err(fault(&format!("it claims {records} records in {bytes} bytes"))),
        }
        skip = MARK_BYTES;
    }
    Ok(blocks)
}

/// The compressed bytes of a block.
pub(super) fn read_block(file: &File, path: &str, block: Block) -> Result<Vec<u8>> {
    let mut bytes = vec![0; block.bytes as usize];
    read_at(file, path, &mut bytes, block.offset)?;
    Ok(bytes)
}

/// The start of a file that is written.
pub(super) fn header_bytes(schema: &str, codec: Codec, mark: &[u8; MARK_BYTES]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    put_long(&mut out, 2);
    put_bytes(&mut out, b"avro.schema");
    put_bytes(&mut out, schema.as_bytes());
    put_bytes(&mut out, b"avro.codec");
    put_bytes(&mut out, codec.name().as_bytes());
    put_long(&mut out, 0);
    out.extend_from_slice(mark);
    out
}
