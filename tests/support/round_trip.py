"""The other side of tests/round_trip.rs: writes files with pyarrow, DuckDB and fastavro, and reads Transom's with them.

  round_trip.py probe           does nothing but import what is needed
  round_trip.py write FOLDER    peer files and manifest.json
  round_trip.py check FOLDER    compares the files that Transom wrote into FOLDER/out with the values below

Times are counts: days for DATE, milliseconds for TIME, units of their own precision for timestamps.
"""

import base64
import csv
import datetime
import decimal
import json
import math
import os
import sys

import duckdb
import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

decimal.getcontext().prec = 60
D = decimal.Decimal
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)
YEAR_1 = -62_135_596_800
YEAR_9999 = 253_402_300_799


def row(x, tags, ts):
    return {"x": x, "tags": tags, "ts": ts}


AT = datetime.datetime(2024, 2, 29, 12, 0, 0, 123000)
ROW = pa.struct([("x", pa.decimal128(38, 10)), ("tags", pa.list_(pa.string())), ("ts", pa.timestamp("ms"))])

# name, SQL type, Arrow type, Avro type, values of three rows
COLUMNS = [
    ("id", "INT", pa.int32(), "int", [1, 2, 3]),
    ("flag", "BOOLEAN", pa.bool_(), "boolean", [True, False, None]),
    ("tiny", "TINYINT", pa.int8(), "int", [-128, 127, None]),
    ("small", "SMALLINT", pa.int16(), "int", [-32768, 32767, None]),
    ("number", "INT", pa.int32(), "int", [-(2**31), 2**31 - 1, None]),
    ("big", "BIGINT", pa.int64(), "long", [-(2**63), 2**63 - 1, None]),
    ("real", "FLOAT", pa.float32(), "float", [1.5, -math.inf, None]),
    ("dbl", "DOUBLE", pa.float64(), "double", [0.1, -1e300, None]),
    ("dec9", "DECIMAL(9, 2)", pa.decimal128(9, 2), (9, 2), [D("-9999999.99"), D("0.01"), None]),
    ("dec18", "DECIMAL(18, 9)", pa.decimal128(18, 9), (18, 9), [D("-999999999.999999999"), D("1E-9"), None]),
    ("dec38", "DECIMAL(38, 0)", pa.decimal128(38, 0), (38, 0), [D(10**38 - 1), D(-(10**38) + 1), None]),
    ("frac38", "DECIMAL(38, 38)", pa.decimal128(38, 38), (38, 38), [D("0." + "9" * 38), -D("1E-38"), None]),
    ("fixed", "CHAR(3)", pa.string(), "string", ["abc", "äö€", None]),
    ("text", "STRING", pa.string(), "string", ['a,"b"\n\\c\té😀', "long " * 50, None]),
    ("day", "DATE", pa.date32(), ("int", "date"), [-719_162, 2_932_896, None]),
    ("clock", "TIME(3)", pa.time32("ms"), ("int", "time-millis"), [0, 86_399_999, None]),
    ("ts3", "TIMESTAMP(3)", pa.timestamp("ms"), ("long", "local-timestamp-millis"),
     [YEAR_1 * 10**3, YEAR_9999 * 10**3 + 999, None]),
    ("ts6", "TIMESTAMP(6)", pa.timestamp("us"), ("long", "local-timestamp-micros"),
     [YEAR_1 * 10**6 + 1, YEAR_9999 * 10**6 + 999_999, None]),
    ("ts9", "TIMESTAMP(9)", pa.timestamp("ns"), ("long", "local-timestamp-nanos"), [-1, 1_700_000_000_123_456_789, None]),
    ("ltz3", "TIMESTAMP_LTZ(3)", pa.timestamp("ms", "UTC"), ("long", "timestamp-millis"),
     [YEAR_1 * 10**3, YEAR_9999 * 10**3 + 999, None]),
    ("ltz6", "TIMESTAMP_LTZ(6)", pa.timestamp("us", "UTC"), ("long", "timestamp-micros"),
     [YEAR_1 * 10**6 + 1, YEAR_9999 * 10**6, None]),
    ("bytes", "BYTES", pa.binary(), "bytes", [b"\x00\xff\x80", b"", None]),
    ("bin2", "BINARY(2)", pa.binary(), "bytes", [b"ab", b"\xff\x00", None]),
    ("ints", "ARRAY<INT>", pa.list_(pa.int32()), {"type": "array", "items": ["null", "int"]}, [[1, None, -1], [], None]),
    ("pairs", "MAP<STRING, DOUBLE>", pa.map_(pa.string(), pa.float64()), {"type": "map", "values": ["null", "double"]},
     [[("k", 1.5), ("", None)], [], None]),
    ("pair", "ROW<x DECIMAL(38, 10), tags ARRAY<STRING>, ts TIMESTAMP(3)>", ROW, "row",
     [row(D("1.5"), ["a", None], AT), row(None, None, None), None]),
    ("deep", "ARRAY<ROW<x DECIMAL(38, 10), tags ARRAY<STRING>, ts TIMESTAMP(3)>>", pa.list_(ROW), "rows",
     [[row(D("-1.5"), [], AT), None], [], None]),
]
NAMES = [column[0] for column in COLUMNS]
NESTED = {"ints", "pairs", "pair", "deep"}
IN_TEXT = [name for name in NAMES if name not in NESTED | {"bytes", "bin2"}]
ARROW = {name: kind for name, _, kind, _, _ in COLUMNS}
VALUES = {name: values for name, _, _, _, values in COLUMNS}
CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]
AVRO_CODECS = ["null", "deflate", "snappy", "zstandard", "bzip2", "xz"]


def table(names=NAMES):
    return pa.table({name: pa.array(VALUES[name], ARROW[name]) for name in names})


# Writing


def avro_type(name, kind):
    if name == "frac38":
        # A decimal as long as it can be, in a fixed number of bytes.
        kind = {"type": "fixed", "name": "frac38", "size": 16, "logicalType": "decimal", "precision": 38, "scale": 38}
    elif isinstance(kind, tuple) and isinstance(kind[0], int):
        kind = {"type": "bytes", "logicalType": "decimal", "precision": kind[0], "scale": kind[1]}
    elif isinstance(kind, tuple):
        kind = {"type": kind[0], "logicalType": kind[1]}
    elif kind in ("row", "rows"):
        decimal_type = {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 10}
        fields = [
            {"name": "ts", "type": ["null", {"type": "long", "logicalType": "local-timestamp-millis"}]},
            {"name": "more", "type": "string", "default": "not declared by the table"},
            {"name": "x", "type": [decimal_type, "null"]},
            {"name": "tags", "type": ["null", {"type": "array", "items": ["null", "string"]}]},
        ]
        record = {"type": "record", "name": name + "_record", "fields": fields}
        kind = record if kind == "row" else {"type": "array", "items": ["null", record]}
    # Null in front or behind: both are in use.
    return ["null", kind] if len(name) % 2 else [kind, "null"]


def avro_value(name, value):
    return dict(value) if name == "pairs" and value is not None else value


def write_avro(path, codec):
    fields = [{"name": name, "type": avro_type(name, kind)} for name, _, _, kind, _ in reversed(COLUMNS)]
    fields.insert(1, {"name": "unknown", "type": {"type": "enum", "name": "e", "symbols": ["A", "B"]}})
    schema = {"type": "record", "name": "r", "namespace": "a.b", "fields": fields}
    rows = [{name: avro_value(name, VALUES[name][i]) for name in NAMES} | {"unknown": "B"} for i in range(3)]
    with open(path, "wb") as out:
        fastavro.writer(out, fastavro.parse_schema(schema), rows, codec=codec, sync_interval=1)


def write_pyarrow(path, name, files):
    def add(file, options, names=NAMES, data=None):
        pq.write_table(data if data is not None else table(names), os.path.join(path, file), **options)
        files.append({"file": file, "format": "parquet", "columns": names})

    for codec in CODECS:
        add(f"{name}_{codec}.parquet", {"compression": codec, "data_page_version": "2.0" if codec > "h" else "1.0"})
    add(f"{name}_plain.parquet", {"use_dictionary": False, "data_page_size": 8, "row_group_size": 1})
    add(f"{name}_integers.parquet", {"store_decimal_as_integer": True, "write_page_index": True})
    add(f"{name}_lists.parquet", {"use_compliant_nested_type": False}, [n for n in NAMES if n != "ts9"])
    add(f"{name}_v1.parquet", {"version": "1.0"}, [n for n in NAMES if n != "ts9"])
    in_range = ["id", "ts9"]
    add(f"{name}_int96.parquet", {"use_deprecated_int96_timestamps": True}, in_range)
    deltas = ["id", "number", "big", "ts3", "ts6"]
    add(f"{name}_delta.parquet", {"use_dictionary": False, "column_encoding": {n: "DELTA_BINARY_PACKED" for n in deltas}}, deltas)
    texts = {"text": "DELTA_BYTE_ARRAY", "bytes": "DELTA_LENGTH_BYTE_ARRAY"}
    add(f"{name}_delta_text.parquet", {"use_dictionary": False, "column_encoding": texts}, list(texts))
    split = {"real": "BYTE_STREAM_SPLIT", "dbl": "BYTE_STREAM_SPLIT"}
    add(f"{name}_split.parquet", {"use_dictionary": False, "column_encoding": split}, list(split))
    large = ["text", "bytes", "ints"]
    kinds = {"text": pa.large_string(), "bytes": pa.large_binary(), "ints": pa.large_list(pa.int32())}
    add(f"{name}_large.parquet", {}, large, pa.table({n: pa.array(VALUES[n], kinds[n]) for n in large}))
    words = table(["id"]).append_column("text", pa.array(VALUES["text"]).dictionary_encode())
    add(f"{name}_dictionary.parquet", {}, ["id", "text"], words)
    add(f"{name}_empty.parquet", {}, ["id"], table(["id"]).slice(0, 0))
    files[-1]["empty"] = True


def write_duckdb(path, files):
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    # Nanoseconds with a NULL and lists of rows are passed on as they are; CHAR(3) is text there.
    connection.register("base", table())
    for codec in ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"]:
        for version in ["V1", "V2"]:
            file = f"duckdb_{codec}_{version}.parquet"
            target = os.path.join(path, file)
            # Differences of INT beyond 32 bits it writes in its own way, which pyarrow does not read either.
            names = [name for name in NAMES if version == "V1" or name != "number"]
            connection.execute(
                f"COPY (SELECT {', '.join(names)} FROM base) TO '{target}'"
                f" (FORMAT parquet, COMPRESSION {codec}, PARQUET_VERSION {version})"
            )
            files.append({"file": file, "format": "parquet", "columns": names})
    # Instants it writes with +00, and infinity as inf, which is no number in Flink's CSV.
    names = [name for name in IN_TEXT if not name.startswith("ltz") and name not in ("ts9", "real")]
    target = os.path.join(path, "duckdb.csv")
    connection.execute(
        f"COPY (SELECT {', '.join(names)} FROM base) TO '{target}' (FORMAT csv, HEADER false, NULLSTR 'n/a')"
    )
    files.append({"file": "duckdb.csv", "format": "csv", "columns": names})


def write_json(path, files):
    names = ["id", "flag", "tiny", "small", "number", "big", "dbl", "dec9", "dec18", "dec38", "fixed", "text"]
    with open(os.path.join(path, "python.json"), "w", encoding="utf-8") as out:
        for i in range(3):
            fields = {name: VALUES[name][i] for name in names}
            parts = (f"{json.dumps(k)}: {v if isinstance(v, D) else json.dumps(v)}" for k, v in fields.items())
            out.write("{" + ", ".join(parts) + "}\n")
    files.append({"file": "python.json", "format": "json", "columns": names})


def write(folder):
    files = []
    write_pyarrow(folder, "pyarrow", files)
    write_duckdb(folder, files)
    for codec in AVRO_CODECS:
        file = f"fastavro_{codec}.avro"
        write_avro(os.path.join(folder, file), codec)
        files.append({"file": file, "format": "avro", "columns": NAMES})
    write_json(folder, files)
    types = {name: sql for name, sql, _, _, _ in COLUMNS}
    manifest = {"types": types, "columns": NAMES, "text": IN_TEXT, "files": files}
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as out:
        json.dump(manifest, out)


# Reading

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def scaled(count, found, wanted):
    """A count in another unit; what has a fraction there is no count that we wrote."""
    if count is None:
        return None
    value = D(count) * wanted / found
    return int(value) if value == int(value) else value


def from_arrow(name, column):
    kind, wanted = column.type, ARROW[name]
    if pa.types.is_timestamp(kind):
        counts = column.cast(pa.int64()).to_pylist()
        return [scaled(count, UNITS[kind.unit], UNITS[wanted.unit]) for count in counts]
    if pa.types.is_date32(kind):
        return column.cast(pa.int32()).to_pylist()
    if pa.types.is_time(kind):
        counts = column.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
        return [scaled(count, UNITS[kind.unit], 1000) for count in counts]
    return column.to_pylist()


def from_avro(name, value):
    kind = ARROW[name]
    if isinstance(value, datetime.datetime):
        value = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (value - EPOCH) // datetime.timedelta(microseconds=1) * UNITS[kind.unit] // 10**6
    if isinstance(value, datetime.date):
        return value.toordinal() - EPOCH.date().toordinal()
    if isinstance(value, datetime.time):
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
    if name == "pairs" and value is not None:
        return list(value.items())
    return value


def seconds_of(text):
    """Seconds since 1970 of a text like 2024-02-29 12:00:00.5, exactly."""
    text = text.removesuffix("Z").replace("T", " ")
    whole, _, fraction = text.partition(".")
    moment = datetime.datetime.strptime(whole, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return D((moment - EPOCH) // datetime.timedelta(seconds=1)) + D("0." + (fraction or "0"))


def from_text(name, text):
    kind = ARROW[name]
    if text is None:
        return None
    if pa.types.is_boolean(kind):
        return {"true": True, "false": False}[str(text).lower()]
    if pa.types.is_integer(kind):
        return int(text)
    if pa.types.is_floating(kind):
        return float(text)
    if pa.types.is_decimal(kind):
        return D(text)
    if pa.types.is_date32(kind):
        return datetime.date.fromisoformat(text).toordinal() - EPOCH.date().toordinal()
    if pa.types.is_time(kind):
        return int((seconds_of("1970-01-01 " + text)) * 1000)
    if pa.types.is_timestamp(kind):
        return int(seconds_of(text) * UNITS[kind.unit])
    return text


def from_json(name, value):
    def record(fields):
        if fields is None:
            return None
        x, ts = fields["x"], fields["ts"]
        return row(None if x is None else D(x), fields["tags"], ts and datetime.datetime.fromisoformat(ts))

    if value is None or name in IN_TEXT:
        return from_text(name, value)
    if name in ("bytes", "bin2"):
        return base64.b64decode(value, validate=True)
    if name == "ints":
        return [None if item is None else int(item) for item in value]
    if name == "pairs":
        return [(key, None if item is None else float(item)) for key, item in value.items()]
    return record(value) if name == "pair" else [record(item) for item in value]


def read_arrow(data):
    return {name: from_arrow(name, data[name].combine_chunks()) for name in data.column_names}


def read_duckdb(query):
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection.sql(query).to_arrow_table()


def readings(path, names):
    """Each way of reading the file, with its name."""
    if path.endswith(".parquet"):
        yield "pyarrow", read_arrow(pq.read_table(path))
        yield "duckdb", read_arrow(read_duckdb(f"SELECT * FROM '{path}'"))
    elif path.endswith(".avro"):
        with open(path, "rb") as file:
            rows = list(fastavro.reader(file))
        yield "fastavro", {name: [from_avro(name, row[name]) for row in rows] for name in names}
    elif path.endswith(".csv"):
        with open(path, encoding="utf-8", newline="") as file:
            rows = [[None if cell == "n/a" else cell for cell in row] for row in csv.reader(file)]
        yield "csv", {name: [from_text(name, row[i]) for row in rows] for i, name in enumerate(names)}
        options = "header = false, all_varchar = true, nullstr = 'n/a', delim = ',', quote = '\"', escape = '\"'"
        data = read_duckdb(f"SELECT * FROM read_csv('{path}', {options})")
        columns = [data[column].to_pylist() for column in data.column_names]
        yield "duckdb", {n: [from_text(n, text) for text in columns[i]] for i, n in enumerate(names)}
    else:
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line, parse_float=str, parse_int=str) for line in file]
        yield "json", {name: [from_json(name, row[name]) for row in rows] for name in names}
        # Numbers of JSON are doubles there, also on their way to a text.
        names = [name for name in IN_TEXT if not pa.types.is_decimal(ARROW[name])]
        kinds = ", ".join(f"{name}: 'VARCHAR'" for name in names)
        data = read_duckdb(f"SELECT * FROM read_json('{path}', format = 'newline_delimited', columns = {{{kinds}}})")
        yield "duckdb", {n: [from_text(n, text) for text in data[n].to_pylist()] for n in names}


def check(folder):
    wrong, read = [], 0
    out = os.path.join(folder, "out")
    for file in sorted(os.listdir(out)):
        names = IN_TEXT if file.endswith(".csv") else NAMES
        for reader, columns in readings(os.path.join(out, file), names):
            read += 1
            left_out = set(names) - set(columns)
            exact = reader != "duckdb" or not file.endswith(".json")
            if set(columns) - set(names) or (left_out and exact):
                wrong.append(f"{file}, read by {reader}: columns {sorted(columns)}")
                continue
            order = sorted(range(len(columns["id"])), key=lambda i: columns["id"][i])
            for name in columns:
                values = [columns[name][i] for i in order]
                if values != VALUES[name]:
                    wrong.append(f"{file}, read by {reader}: `{name}` is {values}, expected {VALUES[name]}")
    print(f"{read} readings")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2])
    elif sys.argv[1] == "check":
        check(sys.argv[2])
