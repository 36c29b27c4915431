//! What was seen on real Flink, type by type.

use super::read_in_all_ways;
use crate::types::Type;

fn csv(text: &str, columns: &[(&str, Type)], extra: &[(&str, &str)]) -> Vec<String> {
    let mut options = vec![("format", "csv")];
    options.extend_from_slice(extra);
    let projection: Vec<usize> = (0..columns.len()).collect();
    read_in_all_ways(text.as_bytes(), &options, columns, &projection).expect("readable").0
}

fn json(text: &str, columns: &[(&str, Type)], extra: &[(&str, &str)]) -> Vec<String> {
    let mut options = vec![("format", "json")];
    options.extend_from_slice(extra);
    let projection: Vec<usize> = (0..columns.len()).collect();
    read_in_all_ways(text.as_bytes(), &options, columns, &projection).expect("readable").0
}

const CSV_LENIENT: &[(&str, &str)] = &[("csv.ignore-parse-errors", "true")];
const JSON_LENIENT: &[(&str, &str)] = &[("json.ignore-parse-errors", "true")];

#[test]
fn csv_is_as_lenient_as_flink() {
    let text = "1,2024-02-29,10:11:12,true,+7,1e3,2024-01-01 00:00:00\n\
                2,2023-02-31,10:11:12,TRUE,007,.5,2024-01-01 00:00:00.\n\
                3,2024-1-5,24:00:00,yes,-0,-0,2024-01-01 24:00:00\n\
                4, 2024-01-05 , 10:11:12 , true , 12 , 0x1p3 , 2024-01-01 00:00:00.5 \n\
                5,2024-12-31,10:11:12.345,1,2147483647,1f,2024-01-01 00:00:00.123456789\n";
    let columns = [
        ("id", Type::Int),
        ("d", Type::Date),
        ("t", Type::Time(0)),
        ("b", Type::Boolean),
        ("i", Type::Int),
        ("f", Type::Double),
        ("ts", Type::Timestamp(9)),
    ];
    let expected = [
        r#"{"id":1,"d":"2024-02-29","t":"10:11:12","b":true,"i":7,"f":1000.0,"ts":"2024-01-01 00:00:00"}"#,
        r#"{"id":2,"d":"2023-03-03","t":"10:11:12","b":true,"i":7,"f":0.5,"ts":"2024-01-01 00:00:00"}"#,
        r#"{"id":3,"d":"2024-01-05","t":null,"b":false,"i":0,"f":-0.0,"ts":"2024-01-02 00:00:00"}"#,
        r#"{"id":4,"d":null,"t":null,"b":true,"i":12,"f":8.0,"ts":"2024-01-01 00:00:00.5"}"#,
        r#"{"id":5,"d":"2024-12-31","t":"10:11:12","b":false,"i":2147483647,"f":1.0,"ts":"2024-01-01 00:00:00.123456789"}"#,
    ];
    assert_eq!(csv(text, &columns, CSV_LENIENT), expected);
}

#[test]
fn csv_timestamps_are_read_by_flinks_rules() {
    let cases = [
        ("2024-05-01 12:00:00", Some("2024-05-01 12:00:00")),
        ("2024-05-01 12:00:00.1", Some("2024-05-01 12:00:00.1")),
        ("2024-5-1 1:2:3", None),
        ("2024-05-01 12:00", None),
        ("2024-05-01T12:00:00", None),
        ("2024-02-30 12:00:00", Some("2024-02-29 12:00:00")),
        ("02024-05-01 12:00:00", None),
        ("-2024-05-01 12:00:00", Some("-2024-05-01 12:00:00")),
        ("+2024-05-01 12:00:00", None),
        ("2024-05-32 12:00:00", None),
        ("0001-01-01 00:00:00", Some("0001-01-01 00:00:00")),
        ("9999-12-31 23:59:59.999999999", Some("9999-12-31 23:59:59.999")),
        ("0000-01-01 00:00:00", Some("0000-01-01 00:00:00")),
        ("1500-02-29 00:00:00", Some("1500-02-28 00:00:00")),
        ("2024-05-01 12:00:00.1234567891", None),
        ("\t2024-05-01 12:00:00\t", Some("2024-05-01 12:00:00")),
        ("1969-12-31 23:59:59.999", Some("1969-12-31 23:59:59.999")),
        ("2024-05-01 12:00:60", None),
        ("2024-05-01", None),
        ("", None),
    ];
    let text: String = cases.iter().map(|(text, _)| format!("{text},x\n")).collect();
    let expected: Vec<_> = cases
        .iter()
        .map(|(_, value)| match value {
            Some(value) => format!(r#"{{"a":"{value}","s":"x"}}"#),
            None => r#"{"a":null,"s":"x"}"#.to_string(),
        })
        .collect();
    assert_eq!(csv(&text, &[("a", Type::Timestamp(3)), ("s", Type::string())], CSV_LENIENT), expected);
}

#[test]
fn csv_dates_are_java_sql_dates() {
    let cases = [
        ("2024-5-1", Some("2024-05-01")),
        ("2024-02-30", Some("2024-03-01")),
        ("24-05-01", None),
        ("-2024-05-01", None),
        ("1582-10-10", Some("1582-10-20")),
        ("1500-02-29", None),
        (" 2024-05-01", None),
        ("+024-05-01", Some("0024-05-01")),
        ("0000-01-01", Some("0001-01-01")),
        ("2024-04-31", Some("2024-05-01")),
        ("1900-02-29", Some("1900-03-01")),
        ("2024-+5-01", Some("2024-05-01")),
    ];
    for (text, expected) in cases {
        let rows = csv(&format!("{text}\n"), &[("a", Type::Date)], CSV_LENIENT);
        let expected = expected.map_or("null".to_string(), |date| format!("\"{date}\""));
        assert_eq!(rows, [format!(r#"{{"a":{expected}}}"#)], "{text}");
    }
}

#[test]
fn csv_numbers_are_javas() {
    let columns = [("a", Type::TinyInt), ("b", Type::SmallInt), ("c", Type::Int), ("d", Type::BigInt)];
    let text = "127,-32768, +5 ,9223372036854775807\n128,1,1,1\n1,32768,1,1\n1,1,2147483648,1\n1,1,1,9223372036854775808\n\
                -,+,+-1,\n\t1\t,\u{b}1, 1\u{a0},1\n";
    let expected = [
        r#"{"a":127,"b":-32768,"c":5,"d":9223372036854775807}"#,
        r#"{"a":null,"b":1,"c":1,"d":1}"#,
        r#"{"a":1,"b":null,"c":1,"d":1}"#,
        r#"{"a":1,"b":1,"c":null,"d":1}"#,
        r#"{"a":1,"b":1,"c":1,"d":null}"#,
        r#"{"a":null,"b":null,"c":null,"d":null}"#,
        r#"{"a":1,"b":1,"c":null,"d":1}"#,
    ];
    assert_eq!(csv(text, &columns, CSV_LENIENT), expected);
    let text = "1.5,1e400\n 1e-50 ,-1e-400\nNaN,+NaN\n-Infinity,inf\n0x1.8p1,0x1p-2d\n1f,1D\n.5,5.\n1e,e1\n1_0,1 2\n,\n\
                3.4028236e38,1e5\n1.17549435E-38,123456789012345678901234567890\n";
    let expected = [
        r#"{"a":1.5,"b":"Infinity"}"#,
        r#"{"a":0.0,"b":-0.0}"#,
        r#"{"a":"NaN","b":"NaN"}"#,
        r#"{"a":"-Infinity","b":null}"#,
        r#"{"a":3.0,"b":0.25}"#,
        r#"{"a":1.0,"b":1.0}"#,
        r#"{"a":0.5,"b":5.0}"#,
        r#"{"a":null,"b":null}"#,
        r#"{"a":null,"b":null}"#,
        r#"{"a":null,"b":null}"#,
        r#"{"a":"Infinity","b":100000.0}"#,
        r#"{"a":1.1754944E-38,"b":1.2345678901234568E29}"#,
    ];
    assert_eq!(csv(text, &[("a", Type::Float), ("b", Type::Double)], CSV_LENIENT), expected);
}

#[test]
fn decimals_round_half_up_and_become_null_when_too_long() {
    let text = "1.,.5\n+1.5,-1.5e3\n1e-10,1e37\n1e38,1e-400\n,0\n1e999999999999,5\n1E+2,1e 2\n99999999.994,99999999.995\n\
                99999999.995,123456789012345678901234567890123456789012e-5\n1.005,-1.005\n";
    let expected = [
        r#"{"a":1,"b":1}"#,
        r#"{"a":1.5,"b":-1.5E+3}"#,
        r#"{"a":0,"b":1E+37}"#,
        r#"{"a":null,"b":0}"#,
        r#"{"a":null,"b":0}"#,
        r#"{"a":null,"b":5}"#,
        r#"{"a":1E+2,"b":null}"#,
        r#"{"a":99999999.99,"b":1E+8}"#,
        r#"{"a":null,"b":1234567890123456789012345678901234568}"#,
        r#"{"a":1.01,"b":-1}"#,
    ];
    assert_eq!(csv(text, &[("a", Type::Decimal(10, 2)), ("b", Type::Decimal(38, 0))], CSV_LENIENT), expected);
}

#[test]
fn csv_records_need_not_be_complete_where_columns_are_not_read() {
    let columns = [("a", Type::string()), ("b", Type::Int), ("c", Type::Int)];
    let read = |text: &str| read_in_all_ways(text.as_bytes(), &[("format", "csv")], &columns, &[1]);
    assert_eq!(read("x,1,bad\nz,2\nz\n").expect("rows").0, [r#"{"b":1}"#, r#"{"b":2}"#, r#"{"b":null}"#]);
    assert!(read("x,1,2,3\n").expect_err("too many").message().contains("has more"));
}

#[test]
fn csv_null_literals_count_also_inside_quotes() {
    let columns = [("a", Type::string()), ("b", Type::Int), ("c", Type::string())];
    let rows = csv("\"NULL\",1,NULL\nNULL,NULL,x\n", &columns, &[("csv.null-literal", "NULL")]);
    assert_eq!(rows, [r#"{"a":null,"b":1,"c":null}"#, r#"{"a":null,"b":null,"c":"x"}"#]);
    assert_eq!(
        csv("1,0\n0,1\n", &[("a", Type::Int), ("b", Type::Int)], &[("csv.null-literal", "0")]),
        [r#"{"a":1,"b":null}"#, r#"{"a":null,"b":1}"#]
    );
}

#[test]
fn a_byte_order_mark_is_no_text() {
    assert_eq!(
        csv("\u{feff}x,1\ny,2\n", &[("a", Type::string()), ("b", Type::Int)], &[]),
        [r#"{"a":"x","b":1}"#, r#"{"a":"y","b":2}"#]
    );
    assert_eq!(json("\u{feff}{\"a\":1}\n\u{feff}{\"a\":2}\n", &[("a", Type::Int)], &[]), [r#"{"a":1}"#, r#"{"a":2}"#]);
}

#[test]
fn json_values_turn_into_types_as_in_flink() {
    let columns = [
        ("id", Type::Int),
        ("i", Type::Int),
        ("l", Type::BigInt),
        ("d", Type::Double),
        ("s", Type::string()),
        ("b", Type::Boolean),
        ("m", Type::Decimal(6, 2)),
    ];
    let text = r#"{"id":1,"i":"7","l":7.9,"d":"1.5","s":12,"b":"true","m":"1.005"}
{"id":2,"i":-7.9,"l":"9223372036854775807","d":1,"s":true,"b":"yes","m":1.005}
{"id":3,"i":" 8 ","l":1e3,"d":"NaN","s":{"a":[1, 2]},"b":1,"m":"abc"}
{"id":4,"i":2147483648,"l":null,"d":"x","s":1.50,"b":false,"m":1e10}
{"id":5,"i":true,"l":"","d":"","s":"","b":"","m":""}
{"id":6,"ID":60,"i":1,"i":2,"s":null}
{"id":"7","s":[1,"a",null]}
"#;
    let expected = [
        r#"{"id":1,"i":7,"l":7,"d":1.5,"s":"12","b":true,"m":1.01}"#,
        r#"{"id":2,"i":-7,"l":9223372036854775807,"d":1.0,"s":"true","b":false,"m":1.01}"#,
        r#"{"id":3,"i":8,"l":1000,"d":"NaN","s":"{\"a\":[1,2]}","b":false,"m":null}"#,
        r#"{"id":4,"i":null,"l":null,"d":null,"s":"1.50","b":false,"m":null}"#,
        r#"{"id":5,"i":null,"l":null,"d":null,"s":"","b":false,"m":null}"#,
        r#"{"id":6,"i":2,"l":null,"d":null,"s":null,"b":null,"m":null}"#,
        r#"{"id":7,"i":null,"l":null,"d":null,"s":"[1,\"a\",null]","b":null,"m":null}"#,
    ];
    assert_eq!(json(text, &columns, JSON_LENIENT), expected);
}

#[test]
fn json_lines_are_read_as_far_as_flink_reads_them() {
    let columns = [("a", Type::Int), ("b", Type::string())];
    let cases: [(&str, &[&str]); 12] = [
        ("{\"a\":1,\"b\":\"x\"}\n\n{\"a\":2}\r\n\r\n", &[r#"{"a":1,"b":"x"}"#, r#"{"a":2,"b":null}"#]),
        (
            "{\"a\":1,\"b\":\"x\"} garbage\n{\"a\":2,\"b\":\"y\"}{\"a\":3}\n",
            &[r#"{"a":1,"b":"x"}"#, r#"{"a":2,"b":"y"}"#],
        ),
        ("{\"a\":1,\"b\":\"x\",garbage}\n{\"a\":1,\"b\":\"x\",\"c\":[1,}\n{\"a\":7}\n", &[r#"{"a":7,"b":null}"#]),
        ("{\"a\":1,\"b\":\"x\"\n{\"a\":9}\n", &[r#"{"a":9,"b":null}"#]),
        (
            "{\"a\":1,\"a\":2,\"b\":\"x\"}\n{\"a\":1,\"b\":\"y\",\"a\":2}\n{\"a\":1,\"a\":2,\"a\":3,\"b\":\"z\"}\n",
            &[r#"{"a":2,"b":null}"#, r#"{"a":1,"b":"y"}"#, r#"{"a":2,"b":null}"#],
        ),
        ("[{\"a\":1}]\n5\n\"x\"\nnull\n{\"a\":2}\n", &[r#"{"a":1,"b":null}"#, r#"{"a":2,"b":null}"#]),
        ("{\"a\":1,\"b\":\"x\ty\"}\n", &[r#"{"a":1,"b":"x\ty"}"#]),
        ("{\"\\u0061\":1,\"b\":\"\\ud83d\\ude00 \\u00e9\"}\n", &[r#"{"a":1,"b":"\uD83D\uDE00 é"}"#]),
        ("{\"a\":1,\"b\":\"\\q\"}\n{\"a\":3,\"c\":\"\\q\",\"b\":\"k\"}\n{\"a\":4}\n", &[r#"{"a":4,"b":null}"#]),
        (
            "{\"a\":{\"x\":1},\"b\":\"x\"}\n{\"a\":{\"b\":\"z\"},\"b\":\"x\"}\n",
            &[r#"{"a":null,"b":null}"#, r#"{"a":null,"b":"z"}"#],
        ),
        (
            " { \"a\" : 1 ,\t\"b\" : \"x\" } \n { \"a\" : 2 ,\t\"b\" : \"y\" } \n",
            &[r#"{"a":1,"b":"x"}"#, r#"{"a":2,"b":"y"}"#],
        ),
        (
            "{\"a\":01,\"b\":\"x\"}\n{\"a\":1,\"b\":\"x\"}\n{\"a\":01,\"b\":\"x\"}\n{\"a\":+1}\n{\"a\":.5}\n",
            &[r#"{"a":1,"b":"x"}"#],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(json(text, &columns, JSON_LENIENT), expected, "{text}");
    }
}

#[test]
fn json_lines_of_one_shape_read_as_those_of_many() {
    let columns = [("ts", Type::Timestamp(3)), ("k", Type::Int), ("s", Type::string()), ("d", Type::Double)];
    let forms = [
        r#"{"ts":"2024-01-01 00:00:00.123","k":12345,"x":[1,{"y":2}],"s":"web","d":1.5}"#,
        r#"{"ts": "2024-01-01 00:00:00.123", "k": 12345, "s": "web", "d": 1.5}"#,
        r#"{"d":1.5,"s":"w\u0065b","k":"12345","ts":"2024-01-01 00:00:00.123000"}"#,
    ];
    let expected = r#"{"ts":"2024-01-01 00:00:00.123","k":12345,"s":"web","d":1.5}"#;
    for form in forms {
        assert_eq!(json(&format!("{form}\n{form}\n{form}\n"), &columns, &[]), [expected; 3]);
    }
    assert_eq!(json(&forms.repeat(3).join("\n"), &columns, &[]), [expected; 9]);
}

#[test]
fn json_timestamps_follow_the_chosen_standard() {
    let columns = [("t", Type::Timestamp(3)), ("l", Type::TimestampLtz(3))];
    let texts = [
        ("2024-05-01 12:00:00.1", Some("2024-05-01 12:00:00.1"), None, None, None),
        ("2024-05-01T12:00:00", None, None, Some("2024-05-01 12:00:00"), None),
        ("2024-05-01T12:00", None, None, Some("2024-05-01 12:00:00"), None),
        ("2024-02-29 24:00:00", Some("2024-03-01 00:00:00"), None, None, None),
        ("2024-05-01 12:00:00.5Z", None, Some("2024-05-01 12:00:00.5Z"), None, None),
        ("2024-05-01T12:00Z", None, None, None, Some("2024-05-01 12:00:00Z")),
        ("+12024-05-01 12:00:00", Some("+12024-05-01 12:00:00"), None, None, None),
        ("2024-05-01t12:00:00", None, None, Some("2024-05-01 12:00:00"), None),
        ("2024-05-01T12:00:00z", None, None, None, None),
    ];
    let shown = |value: Option<&str>| value.map_or("null".to_string(), |value| format!("\"{value}\""));
    for (text, sql, sql_zoned, iso, iso_zoned) in texts {
        let line = format!("{{\"t\":\"{text}\",\"l\":\"{text}\"}}\n");
        let expected = |t, l| [format!("{{\"t\":{},\"l\":{}}}", shown(t), shown(l))];
        assert_eq!(json(&line, &columns, JSON_LENIENT), expected(sql, sql_zoned), "{text}");
        let iso_options = [JSON_LENIENT[0], ("json.timestamp-format.standard", "ISO-8601")];
        assert_eq!(json(&line, &columns, &iso_options), expected(iso, iso_zoned), "{text}");
    }
}
