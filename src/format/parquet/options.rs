//! The options of the format, by Flink's names: those of its own, and those that it hands to Parquet's writer.

use arrow::datatypes::TimeUnit;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};

use crate::error::{Error, Result};
use crate::options::Options;

/// Bounds what the writer holds in memory, and is what readers work on at a time.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// How files are written. What a file was written with says the file, so reading needs no option.
#[derive(Debug, Clone, PartialEq)]
pub struct ParquetOptions {
    compression: Compression,
    block_bytes: Option<usize>,
    page_bytes: Option<usize>,
    dictionary_page_bytes: Option<usize>,
    dictionary: bool,
    version: WriterVersion,
    /// The unit of all timestamps; `None`: as their digits need.
    pub(super) timestamp_unit: Option<TimeUnit>,
}

impl Default for ParquetOptions {
    fn default() -> Self {
        ParquetOptions {
            compression: Compression::SNAPPY,
            block_bytes: None,
            page_bytes: None,
            dictionary_page_bytes: None,
            dictionary: true,
            version: WriterVersion::PARQUET_1_0,
            timestamp_unit: None,
        }
    }
}

impl ParquetOptions {
    /// # Errors
    /// A wrong value: Script, at the option. LZO: Unsupported.
    pub(crate) fn from_options(options: &mut Options) -> Result<Self> {
        let mut result = ParquetOptions::default();
        if let Some(name) = options.take("parquet.compression") {
            result.compression = match name.to_ascii_uppercase().as_str() {
                "UNCOMPRESSED" => Compression::UNCOMPRESSED,
                "SNAPPY" => Compression::SNAPPY,
                "GZIP" => Compression::GZIP(Default::default()),
                "BROTLI" => Compression::BROTLI(Default::default()),
                "LZ4" => Compression::LZ4,
                "LZ4_RAW" => Compression::LZ4_RAW,
                "ZSTD" => Compression::ZSTD(Default::default()),
                "LZO" => {
                    let place = options.place_of("parquet.compression");
                    return Err(Error::unsupported("the compression LZO").at_place(place).help("use SNAPPY or ZSTD"));
                }
                _ => {
                    let known = "UNCOMPRESSED, SNAPPY, GZIP, BROTLI, LZ4, LZ4_RAW or ZSTD";
                    return Err(options.invalid("parquet.compression", known));
                }
            };
        }
        result.block_bytes = bytes(options, "parquet.block.size")?;
        result.page_bytes = bytes(options, "parquet.page.size")?;
        result.dictionary_page_bytes = bytes(options, "parquet.dictionary.page.size")?;
        result.dictionary = options.take_bool("parquet.enable.dictionary", true)?;
        if let Some(version) = options.take("parquet.writer.version") {
            result.version = match version.to_ascii_lowercase().as_str() {
                "v1" | "parquet_1_0" => WriterVersion::PARQUET_1_0,
                "v2" | "parquet_2_0" => WriterVersion::PARQUET_2_0,
                _ => return Err(options.invalid("parquet.writer.version", "PARQUET_1_0 or PARQUET_2_0")),
            };
        }
        // Flink's files hold the time of the JVM's zone unless this is set; that zone is UTC here.
        options.take_bool("parquet.utc-timezone", false)?;
        let unit = match options.take("parquet.timestamp.time.unit").as_deref() {
            Some("millis") => TimeUnit::Millisecond,
            None | Some("micros") => TimeUnit::Microsecond,
            Some("nanos") => TimeUnit::Nanosecond,
            Some(_) => return Err(options.invalid("parquet.timestamp.time.unit", "millis, micros or nanos")),
        };
        if options.take_bool("parquet.write.int64.timestamp", false)? {
            result.timestamp_unit = Some(unit);
        }
        Ok(result)
    }

    pub(super) fn properties(&self) -> WriterProperties {
        let mut builder = WriterProperties::builder()
            .set_compression(self.compression)
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_max_row_group_bytes(self.block_bytes)
            .set_dictionary_enabled(self.dictionary)
            .set_writer_version(self.version)
            // The names that the format asks for inside lists and maps.
            .set_coerce_types(true)
            .set_created_by(concat!("transom ", env!("CARGO_PKG_VERSION")).to_string());
        if let Some(bytes) = self.page_bytes {
            builder = builder.set_data_page_size_limit(bytes);
        }
        if let Some(bytes) = self.dictionary_page_bytes {
            builder = builder.set_dictionary_page_size_limit(bytes);
        }
        builder.build()
    }
}

fn bytes(options: &mut Options, key: &str) -> Result<Option<usize>> {
    let Some(text) = options.take(key) else { return Ok(None) };
    match text.parse::<usize>() {
        Ok(bytes) if bytes > 0 && i32::try_from(bytes).is_ok() => Ok(Some(bytes)),
        _ => Err(options.invalid(key, "a number of bytes up to 2147483647")),
    }
}
