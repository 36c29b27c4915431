//! How the blocks of a file are compressed.

use std::io::{self, Read, Write};

use flate2::Crc;

/// A codec by the name that Avro and Flink's option `avro.codec` give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    Null,
    Deflate,
    Snappy,
    Zstandard,
    Bzip2,
    Xz,
}

/// A block is held in memory as a whole. Writers cut them at some ten kilobytes; one that would be longer than this is
/// taken for damaged before it fills the memory.
pub(super) const BLOCK_BYTES_MAX: usize = 256 << 20;

const LEVEL_ZSTANDARD: i32 = 3;
const LEVEL_XZ: u32 = 6;

impl Codec {
    pub const NAMES: [(&str, Codec); 6] = [
        ("null", Codec::Null),
        ("deflate", Codec::Deflate),
        ("snappy", Codec::Snappy),
        ("zstandard", Codec::Zstandard),
        ("bzip2", Codec::Bzip2),
        ("xz", Codec::Xz),
    ];

    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, codec)| *codec)
    }

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, codec)| *codec == self).map_or("null", |(name, _)| name)
    }

    /// The bytes of a block as they were before they were compressed.
    pub fn decompress(self, block: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Codec::Null => Ok(block.to_vec()),
            Codec::Deflate => bounded(flate2::read::DeflateDecoder::new(block)),
            Codec::Snappy => snappy(block),
            Codec::Zstandard => bounded(zstd::Decoder::new(block)?),
            Codec::Bzip2 => bounded(bzip2::read::BzDecoder::new(block)),
            Codec::Xz => bounded(liblzma::read::XzDecoder::new(block)),
        }
    }

    /// What stands in the file for the bytes of a block.
    pub fn compress(self, block: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Codec::Null => Ok(block.to_vec()),
            Codec::Deflate => {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(block)?;
                encoder.finish()
            }
            Codec::Snappy => {
                let mut bytes = snap::raw::Encoder::new().compress_vec(block).map_err(io::Error::other)?;
                bytes.extend_from_slice(&checksum(block).to_be_bytes());
                Ok(bytes)
            }
            Codec::Zstandard => zstd::encode_all(block, LEVEL_ZSTANDARD),
            Codec::Bzip2 => {
                let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
                encoder.write_all(block)?;
                encoder.finish()
            }
            Codec::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), LEVEL_XZ);
                encoder.write_all(block)?;
                encoder.finish()
            }
        }
    }
}

fn too_long() -> io::Error {
    io::Error::other("it unpacks to more than 256 MiB")
}

fn bounded(decoder: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    decoder.take(BLOCK_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > BLOCK_BYTES_MAX { Err(too_long()) } else { Ok(bytes) }
}

/// Avro puts a check sum of the bytes behind them.
fn snappy(block: &[u8]) -> io::Result<Vec<u8>> {
    let Some((block, sum)) = block.split_last_chunk::<4>() else {
        return Err(io::Error::other("it is shorter than its check sum"));
    };
    // The length stands in front and may be anything; a byte of snappy stands for no more than 64.
    let length = snap::raw::decompress_len(block).map_err(io::Error::other)?;
    if length > BLOCK_BYTES_MAX {
        return Err(too_long());
    }
    if length / 64 > block.len() {
        return Err(io::Error::other("its length cannot be right"));
    }
    let bytes = snap::raw::Decoder::new().decompress_vec(block).map_err(io::Error::other)?;
    if checksum(&bytes) != u32::from_be_bytes(*sum) {
        return Err(io::Error::other("its check sum is another"));
    }
    Ok(bytes)
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_gives_back_what_it_took() {
        for (name, codec) in Codec::NAMES {
            for bytes in [&b""[..], b"a", &[7; 100_000]] {
                let packed = codec.compress(bytes).unwrap();
                assert_eq!(codec.decompress(&packed).unwrap(), bytes, "{name}");
                let damaged: Vec<u8> = packed.iter().map(|byte| byte ^ 0x55).collect();
                let _ = codec.decompress(&damaged);
                let _ = codec.decompress(&packed[..packed.len() / 2]);
            }
        }
    }

    #[test]
    fn a_block_that_unpacks_to_more_than_the_bound_is_an_error() {
        let long = vec![0u8; BLOCK_BYTES_MAX + 1];
        let packed = Codec::Zstandard.compress(&long).unwrap();
        assert!(packed.len() < 1 << 20);
        assert_eq!(Codec::Zstandard.decompress(&packed).unwrap_err().to_string(), too_long().to_string());
        let snappy = [0xFF, 0xFF, 0xFF, 0x07, 0, 0, 0, 0];
        assert!(Codec::Snappy.decompress(&snappy).is_err());
    }
}
