//! MD5, SHA1 and SHA2: digests in lower-case hexadecimal.

use std::fmt::Write;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::Int32Type;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use super::function::Hash;
use super::nested::place;
use super::value::{Read, Value, build_texts, numbers};
use crate::error::{Error, Result};

/// The digest of a string's UTF-8 or of BYTES. SHA2 takes its length in bits as second argument.
pub(super) fn hash(function: Hash, values: &[Value], count: usize) -> Result<ArrayRef> {
    let input = values.first().ok_or_else(|| Error::internal("a digest of nothing"))?;
    let bits = values.get(1).map(numbers::<Int32Type>).transpose()?;
    let array = input.array();
    let (texts, bytes) = (array.as_string_opt::<i32>(), array.as_binary_opt::<i32>());
    build_texts(count, |row| {
        let at = place(input, row);
        let function = match (function, &bits) {
            (Hash::Sha2, Some(bits)) => match bits.read(row) {
                Some(bits) => Hash::of_bits(bits)?,
                None => return Ok(None),
            },
            (function, _) => function,
        };
        if array.is_null(at) {
            return Ok(None);
        }
        match (texts, bytes) {
            (Some(texts), _) => digest(function, texts.value(at).as_bytes()).map(Some),
            (_, Some(bytes)) => digest(function, bytes.value(at)).map(Some),
            _ => Err(Error::internal(format!("a digest of {}", array.data_type()))),
        }
    })
}

impl Hash {
    /// SHA2 of that length in bits.
    ///
    /// # Errors
    /// A length that there is none of.
    pub(crate) fn of_bits(bits: i32) -> Result<Hash> {
        Ok(match bits {
            224 => Hash::Sha224,
            256 => Hash::Sha256,
            384 => Hash::Sha384,
            512 => Hash::Sha512,
            _ => {
                return Err(Error::data(format!("there is no SHA2 of {bits} bits"))
                    .help("the second argument is 224, 256, 384 or 512"));
            }
        })
    }
}

fn digest(function: Hash, bytes: &[u8]) -> Result<String> {
    Ok(match function {
        Hash::Md5 => hexadecimal(&Md5::digest(bytes)),
        Hash::Sha1 => hexadecimal(&Sha1::digest(bytes)),
        Hash::Sha224 => hexadecimal(&Sha224::digest(bytes)),
        Hash::Sha256 => hexadecimal(&Sha256::digest(bytes)),
        Hash::Sha384 => hexadecimal(&Sha384::digest(bytes)),
        Hash::Sha512 => hexadecimal(&Sha512::digest(bytes)),
        Hash::Sha2 => return Err(Error::internal("SHA2 without a length")),
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standards() {
        assert_eq!(digest(Hash::Md5, b"a").unwrap(), "0cc175b9c0f1b6a831c399e269772661");
        assert_eq!(digest(Hash::Sha1, b"").unwrap(), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        let sha224 = "abd37534c7d9a2efb9465de931cd7055ffdb8879563ae98078d6d6d5";
        assert_eq!(digest(Hash::of_bits(224).unwrap(), b"a").unwrap(), sha224);
        assert!(Hash::of_bits(0).is_err());
    }
}
