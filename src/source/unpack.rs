//! Compressed text: which codec a file has, and its bytes unpacked.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

use crate::plan::Codec;

/// The longest beginning that tells a codec.
pub(super) const MAGIC_BYTES: usize = 10;
/// What unpacking xz may need: enough for its highest preset (65 MiB), not for a file made to exhaust the memory.
const XZ_MEMORY_MAX: u64 = 256 << 20;
/// Likewise for zstd: a window of 128 MiB, the default of its command.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Flink's endings, any case.
const ENDINGS: [(&str, Codec); 8] = [
    ("gz", Codec::Gzip),
    ("gzip", Codec::Gzip),
    ("deflate", Codec::Deflate),
    ("bz2", Codec::Bzip2),
    ("xz", Codec::Xz),
    ("zst", Codec::Zstd),
    ("zstd", Codec::Zstd),
    ("zstandard", Codec::Zstd),
];

/// Archives and codecs that are not read: endings, how such a file begins, and the command that writes its content to
/// stdout.
const FOREIGN: [(&str, &str, &[u8], &str); 8] = [
    ("a tar archive", "tar.gz tgz tar.bz2 tbz2 tar.xz txz tar.zst tar", b"", "tar -xO -f"),
    ("a zip archive", "zip", b"PK\x03\x04", "unzip -p"),
    ("a 7z archive", "7z", b"7z\xBC\xAF\x27\x1C", "7z x -so"),
    ("a rar archive", "rar", b"Rar!\x1A\x07", "unrar p -inul"),
    ("compressed with lz4", "lz4", b"\x04\x22\x4D\x18", "lz4 -dc"),
    ("compressed with lzip", "lz", b"LZIP", "lzip -dc"),
    ("compressed with compress", "z", b"\x1F\x9D", "uncompress -c"),
    ("compressed with brotli", "br", b"", "brotli -dc"),
];

fn ends_with(path: &str, ending: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.'))
}

/// The codec that the ending of a file's name says.
pub(super) fn by_ending(path: &str) -> Option<Codec> {
    ENDINGS.iter().find(|(ending, _)| ends_with(path, ending)).map(|(_, codec)| *codec)
}

/// The codec that the first bytes of a file say. They are no UTF-8, except bzip2's, which are long. Nothing tells
/// deflate.
pub(super) fn by_content(start: &[u8]) -> Option<Codec> {
    let bzip2 = start.starts_with(b"BZh") && matches!(start.get(4..10), Some(b"1AY&SY" | b"\x17\x72\x45\x38\x50\x90"));
    if start.starts_with(b"\x1F\x8B") {
        Some(Codec::Gzip)
    } else if start.starts_with(b"\x28\xB5\x2F\xFD") {
        Some(Codec::Zstd)
    } else if start.starts_with(b"\xFD7zXZ\0") {
        Some(Codec::Xz)
    } else {
        bzip2.then_some(Codec::Bzip2)
    }
}

/// Whether more bytes behind `start` may make it the beginning of a compressed text.
pub(super) fn may_be_packed(start: &[u8]) -> bool {
    [&b"\x1F\x8B"[..], b"\x28\xB5\x2F\xFD", b"\xFD7zXZ\0"].iter().any(|magic| magic.starts_with(start))
        || (start.len() < MAGIC_BYTES && (b"BZh".starts_with(start) || start.starts_with(b"BZh")))
}

/// What kind of archive or codec it is that cannot be read, and the command that unpacks it to stdout.
pub(super) fn foreign(path: &str, start: &[u8]) -> Option<(&'static str, &'static str)> {
    let is = |(_, endings, magic, _): &&(&str, &str, &[u8], &str)| {
        endings.split(' ').any(|ending| ends_with(path, ending)) || (!magic.is_empty() && start.starts_with(magic))
    };
    FOREIGN.iter().find(is).map(|(what, _, _, command)| (*what, *command))
}

/// The command that unpacks a file to stdout.
pub(super) fn command(codec: Codec) -> &'static str {
    match codec {
        Codec::Gzip => "gzip -dc",
        Codec::Zstd => "zstd -dc",
        Codec::Bzip2 => "bzip2 -dc",
        Codec::Xz => "xz -dc",
        Codec::Deflate => "zlib-flate -uncompress <",
    }
}

/// The unpacked bytes of `input`.
///
/// # Errors
/// The codec cannot be set up.
pub(super) fn reader<R: BufRead + Send + 'static>(codec: Codec, input: R) -> io::Result<Box<dyn Read + Send>> {
    Ok(match codec {
        Codec::Gzip => Box::new(Gzip { member: Member::Between(input), any: false }),
        Codec::Deflate => Box::new(Deflate { input, state: Decompress::new(true), between: false }),
        Codec::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        Codec::Xz => {
            let flags = liblzma::stream::CONCATENATED;
            let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY_MAX, flags)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(input, stream))
        }
        Codec::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
    })
}

fn wrong(text: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

/// The members of a gzip file one after the other, as `gzip -d` reads them.
struct Gzip<R> {
    member: Member<R>,
    /// A member has begun.
    any: bool,
}

enum Member<R> {
    Between(R),
    Within(Box<GzDecoder<R>>),
    Lost,
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.member, Member::Lost) {
                Member::Between(mut input) => {
                    let next = input.fill_buf()?;
                    // Tapes and block devices fill up the file with zeros.
                    let zeros = if self.any { next.iter().take_while(|byte| **byte == 0).count() } else { 0 };
                    if next.is_empty() {
                        self.member = Member::Between(input);
                        return Ok(0);
                    }
                    if zeros > 0 {
                        input.consume(zeros);
                        self.member = Member::Between(input);
                    } else if self.any && next[0] != 0x1F {
                        return Err(trailing());
                    } else {
                        self.any = true;
                        self.member = Member::Within(Box::new(GzDecoder::new(input)));
                    }
                }
                Member::Within(mut decoder) => match decoder.read(buffer)? {
                    0 if !buffer.is_empty() => self.member = Member::Between(decoder.into_inner()),
                    count => {
                        self.member = Member::Within(decoder);
                        return Ok(count);
                    }
                },
                Member::Lost => return Err(wrong("read on behind an error")),
            }
        }
    }
}

/// Streams of zlib one after the other. A reader of flate2 takes one that is cut short for one that has ended.
struct Deflate<R> {
    input: R,
    state: Decompress,
    /// A stream has ended, and no other has begun.
    between: bool,
}

impl<R: BufRead> Read for Deflate<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            let input = self.input.fill_buf()?;
            let at_end = input.is_empty();
            if self.between {
                match input.first() {
                    None => return Ok(0),
                    Some(first) if !begins_zlib(*first) => return Err(trailing()),
                    Some(_) => self.state.reset(true),
                }
            }
            let (taken, given) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(input, buffer, FlushDecompress::None)?;
            self.input.consume((self.state.total_in() - taken) as usize);
            self.between = matches!(status, Status::StreamEnd);
            let given = (self.state.total_out() - given) as usize;
            if given > 0 {
                return Ok(given);
            }
            if at_end && !self.between {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}

/// The method is deflate, and its window not above 32 KiB.
fn begins_zlib(first: u8) -> bool {
    first & 0x0F == 8 && first >> 4 <= 7
}

fn trailing() -> io::Error {
    wrong("something else stands behind the end of the compressed data")
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use super::*;

    fn packed(codec: Codec, text: &[u8]) -> Vec<u8> {
        use flate2::Compression as Level;
        match codec {
            Codec::Gzip => {
                let mut writer = flate2::write::GzEncoder::new(Vec::new(), Level::fast());
                writer.write_all(text).and_then(|()| writer.finish())
            }
            Codec::Deflate => {
                let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), Level::fast());
                writer.write_all(text).and_then(|()| writer.finish())
            }
            Codec::Bzip2 => {
                let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                writer.write_all(text).and_then(|()| writer.finish())
            }
            Codec::Xz => {
                let mut writer = liblzma::write::XzEncoder::new(Vec::new(), 1);
                writer.write_all(text).and_then(|()| writer.finish())
            }
            Codec::Zstd => zstd::encode_all(text, 1),
        }
        .expect("packed")
    }

    fn unpacked(codec: Codec, packed: &[u8]) -> io::Result<Vec<u8>> {
        // A small buffer, so that every structure is cut somewhere.
        let input = BufReader::with_capacity(7, io::Cursor::new(packed.to_vec()));
        let mut text = Vec::new();
        reader(codec, input)?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn every_codec_reads_what_it_wrote_and_knows_its_beginning() {
        let text: Vec<u8> = (0..20_000u32).flat_map(|n| format!("{n},{}\n", n * 7919 % 1000).into_bytes()).collect();
        for codec in Codec::ALL {
            let bytes = packed(codec, &text);
            assert!(unpacked(codec, &bytes).is_ok_and(|got| got == text), "{codec:?}");
            if codec != Codec::Deflate {
                assert_eq!(by_content(&bytes), Some(codec));
                for length in 0..MAGIC_BYTES {
                    assert!(by_content(&bytes[..length]).is_some() || may_be_packed(&bytes[..length]), "{codec:?}");
                }
            }
            assert!(unpacked(codec, &packed(codec, b"")).is_ok_and(|got| got.is_empty()), "{codec:?}");
        }
    }

    #[test]
    fn parts_one_after_the_other_are_one_text() {
        for codec in Codec::ALL {
            let bytes = [packed(codec, b"1\n2\n"), packed(codec, b""), packed(codec, b"3\n")].concat();
            assert_eq!(unpacked(codec, &bytes).expect("read"), b"1\n2\n3\n", "{codec:?}");
        }
        let padded = [packed(Codec::Gzip, b"1\n"), vec![0; 100]].concat();
        assert_eq!(unpacked(Codec::Gzip, &padded).expect("read"), b"1\n");
        for rest in [&b"rubbish"[..], b"\0", b"x"] {
            let trailed = [packed(Codec::Deflate, b"1\n").as_slice(), rest].concat();
            assert!(unpacked(Codec::Deflate, &trailed).is_err(), "{rest:?}");
        }
    }

    #[test]
    fn what_is_cut_short_or_damaged_is_an_error() {
        let text: Vec<u8> = (0..5_000u32).flat_map(|n| format!("{}\n", n * 7919 % 10_007).into_bytes()).collect();
        for codec in Codec::ALL {
            let bytes = packed(codec, &text);
            for length in [1, 5, 20, bytes.len() / 2, bytes.len() - 1] {
                assert!(unpacked(codec, &bytes[..length]).is_err(), "{codec:?} cut to {length} bytes");
            }
            let mut damaged = bytes.clone();
            damaged[bytes.len() / 2] ^= 0x40;
            assert!(unpacked(codec, &damaged).map_or(true, |got| got == text || codec == Codec::Zstd), "{codec:?}");
        }
    }

    #[test]
    fn text_is_not_taken_for_a_codec() {
        for text in [&b"BZhello,1\n"[..], b"(1,2)\n", b"{\"a\":1}", b"\xEF\xBB\xBF1"] {
            assert_eq!(by_content(text), None);
        }
        assert!(!may_be_packed(b"1\n") && !may_be_packed(b"BZ1") && may_be_packed(b"BZh9"));
        assert_eq!(by_ending("a/b.CSV.GZ"), Some(Codec::Gzip));
        assert_eq!(by_ending("a.gz/b.csv"), None);
        assert_eq!(foreign("a/x.tar.gz", b"").map(|found| found.0), Some("a tar archive"));
        assert_eq!(foreign("events", b"PK\x03\x04..").map(|found| found.1), Some("unzip -p"));
    }
}
