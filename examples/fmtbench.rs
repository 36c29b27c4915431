struct Instant(u64);
fn cpu() -> u64 {
    std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse().unwrap()
}
struct D(u64);
impl D {
    fn as_nanos(&self) -> u64 {
        self.0
    }
}
impl Instant {
    fn now() -> Self {
        Instant(cpu())
    }
    fn elapsed(&self) -> D {
        D(cpu() - self.0)
    }
}
use arrow::array::RecordBatch;
use transom::error::Place;
use transom::format::*;
use transom::plan::*;
use transom::types::*;
fn main() {
    let n: usize = std::env::var("N").map_or(4_000_000, |n| n.parse().unwrap());
    let only = std::env::args().nth(1).unwrap_or_default();
    let schema = Schema::new(vec![
        Field::new("ts", Type::Timestamp(3).nullable()),
        Field::new("key", Type::BigInt.nullable()),
        Field::new("value", Type::BigInt.nullable()),
        Field::new("channel", Type::string().nullable()),
    ]);
    let mut x = 1u64;
    let ch = ["web", "mobile", "store", "api"];
    let (mut csv, mut qcsv, mut json, mut jsonsp) = (String::new(), String::new(), String::new(), String::new());
    use std::fmt::Write;
    for i in 0..n {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        let ms = i as u64 / 10;
        let (h, m, s) = (ms / 3_600_000 % 24, ms / 60_000 % 60, ms / 1000 % 60);
        let (k, v, c) = (x % 100_000, x >> 40 & 1023, ch[(x >> 20) as usize % 4]);
        let ts = format!("2024-01-01 {h:02}:{m:02}:{s:02}.{:03}", ms % 1000);
        writeln!(csv, "{ts},{k},{v},{c}").unwrap();
        writeln!(qcsv, "\"{ts}\",{k},{v},\"{c}\"").unwrap();
        writeln!(json, "{{\"ts\":\"{ts}\",\"key\":{k},\"value\":{v},\"channel\":\"{c}\"}}").unwrap();
        writeln!(jsonsp, "{{\"ts\": \"{ts}\", \"key\": {k}, \"value\": {v}, \"channel\": \"{c}\"}}").unwrap();
    }
    std::fs::create_dir_all("/tmp/fmt/b").unwrap();
    let spec = |f: &str| {
        let mut o = Options::new("t", Place::default());
        o.insert("format", f, Place::default());
        FormatSpec::from_options(&mut o, &schema).unwrap()
    };
    let mut batches: Vec<RecordBatch> = vec![];
    for (name, f, text) in
        [("csv", "csv", &csv), ("csv quoted", "csv", &qcsv), ("json", "json", &json), ("json spaces", "json", &jsonsp)]
    {
        if !only.is_empty() && only != name {
            continue;
        }
        let path = format!("/tmp/fmt/b/{}", name.replace(' ', "_"));
        std::fs::write(&path, text).unwrap();
        for proj in [vec![0, 1, 2, 3], vec![0, 1, 2], vec![0, 2]] {
            let scan = ScanSpec {
                table: "t".into(),
                path: path.clone(),
                format: spec(f),
                file_schema: schema.clone(),
                projection: proj.clone(),
                columns: vec![],
                watermark: None,
                schema: Schema::default(),
            };
            let splits = transom::source::open(&scan, 1 << 20).unwrap();
            let mut sts = vec![0u8];
            for b in 0..splits[0].block_count() {
                let l = *sts.last().unwrap();
                sts.push(splits[0].probe(b).unwrap().0[l as usize]);
            }
            let mut best = f64::MAX;
            let mut bestp = f64::MAX;
            for _ in 0..9 {
                let s = &splits[0];
                let t = Instant::now();
                let mut rows = 0u64;
                for b in 0..s.block_count() {
                    rows += s
                        .decode(b, sts[b], 8192, &mut |r| {
                            if batches.len() < 500 && f == "csv" && proj.len() == 4 {
                                batches.push(r);
                            }
                            Ok(())
                        })
                        .unwrap()
                        .rows;
                }
                assert_eq!(rows, n as u64);
                best = best.min(t.elapsed().as_nanos() as f64 / n as f64);
                let t = Instant::now();
                let mut st = 0u8;
                for b in 0..s.block_count() {
                    st = s.probe(b).unwrap().0[st as usize];
                }
                bestp = bestp.min(t.elapsed().as_nanos() as f64 / n as f64);
            }
            println!("{name} {proj:?}: decode {best:.1} ns/row, probe {bestp:.1} ns/row");
        }
    }
    let rows: usize = batches.iter().map(|b| b.num_rows()).sum();
    for f in ["csv", "json"] {
        let mut e = spec(f).text_encoder(&schema).unwrap();
        let mut best = f64::MAX;
        let mut bytes = 0;
        for _ in 0..9 {
            let t = Instant::now();
            bytes = 0;
            let mut out = Vec::new();
            for b in &batches {
                out.clear();
                e.encode(b, &mut out).unwrap();
                bytes += out.len();
            }
            best = best.min(t.elapsed().as_nanos() as f64 / rows as f64);
        }
        println!("{f} encode {best:.1} ns/row ({} bytes/row)", bytes / rows);
    }
}
