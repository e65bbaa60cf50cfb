//! Measures generation: `throughput WORKLOAD SCALE SINK THREADS [TABLE…]`. SCALE may end in initial
//! days, as in `1/30`. SINK is one of `count`,
//! `pgcopy`, `loaddata`, `tbl`, `csv` and `arrow`. Discards the output and prints one line per
//! table.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use dyno_gen::schema::TableSchema;
use dyno_gen::sink::{CountSink, LoadDataSink, PgCopySink, TextFormat, TextSink};
use dyno_gen::{Dataset, Workload, arrow_reader};
use dyno_record::{Control, Error, ErrorKind, Result};

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let mut word = |usual: &str| words.next().unwrap_or_else(|| usual.to_owned());
    let bad = |what: &str| Error::new(ErrorKind::Usage, format!("unusable {what}"));
    let workload = Workload::parse(&word("tpch"))?;
    let size = word("1");
    let (scale, days) = size.split_once('/').map_or((&*size, None), |(it, days)| (it, Some(days)));
    let scale: f64 = scale.parse().map_err(|_| bad("scale"))?;
    let days = days.map(str::parse).transpose().map_err(|_| bad("days"))?;
    let sink = word("count");
    let threads: usize = word("2").parse().map_err(|_| bad("number of threads"))?;
    let wanted: Vec<String> = words.collect();

    let data = Arc::new(Dataset::new(workload, scale, 1)?.with_days(days)?);
    let mut total = (0, 0, 0.0);
    for table in data.tables() {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == table.name) {
            continue;
        }
        let start = Instant::now();
        let (rows, bytes) = if sink == "arrow" {
            read_arrow(&data, table, threads)?
        } else {
            write_parts(&data, table, threads, &sink)?
        };
        let seconds = start.elapsed().as_secs_f64();
        report(table.name, rows, bytes, seconds);
        total = (total.0 + rows, total.1 + bytes, total.2 + seconds);
    }
    report("total", total.0, total.1, total.2);
    Ok(())
}

fn report(what: &str, rows: u64, bytes: u64, seconds: f64) {
    let mega = bytes as f64 / 1e6;
    println!(
        "{what:20}{rows:>12} rows{mega:>10.1} MB{:>8.1} B/row{seconds:>8.3} s{:>9.1} MB/s",
        bytes as f64 / rows as f64,
        mega / seconds
    );
}

fn write_parts(
    data: &Dataset,
    table: &TableSchema,
    threads: usize,
    sink: &str,
) -> Result<(u64, u64)> {
    let parts = data.parts(table.name, threads as u64 * 16)?;
    let next = AtomicUsize::new(0);
    let control = Control::new();
    let null = |chunk: &[u8]| {
        std::hint::black_box(chunk);
        Ok(())
    };
    let work = || -> Result<(u64, u64)> {
        let (mut count, mut copy) = (CountSink::new(), PgCopySink::new(table.columns.len(), null));
        let mut loaddata = LoadDataSink::new(null);
        let mut tbl = TextSink::new(TextFormat::Tbl, null);
        let mut csv = TextSink::new(TextFormat::Csv, null);
        let mut rows = 0;
        while let Some(part) = parts.get(next.fetch_add(1, Relaxed)) {
            rows += match sink {
                "count" => data.write(part, &mut count, &control)?,
                "pgcopy" => data.write(part, &mut copy, &control)?,
                "loaddata" => data.write(part, &mut loaddata, &control)?,
                "tbl" => data.write(part, &mut tbl, &control)?,
                "csv" => data.write(part, &mut csv, &control)?,
                other => return Err(Error::new(ErrorKind::Usage, format!("no sink {other}"))),
            };
        }
        let bytes = match sink {
            "pgcopy" => copy.finish()?,
            "loaddata" => loaddata.finish()?,
            "tbl" => tbl.finish()?,
            "csv" => csv.finish()?,
            _ => control.progress().bytes,
        };
        Ok((rows, bytes))
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_fold((0, 0), |sum, worker| {
            let panicked = |_| Error::new(ErrorKind::Internal, "a thread panicked");
            let done = worker.join().map_err(panicked)??;
            let bytes = if sink == "count" { done.1.max(sum.1) } else { sum.1 + done.1 };
            Ok((sum.0 + done.0, bytes))
        })
    })
}

fn read_arrow(data: &Arc<Dataset>, table: &TableSchema, threads: usize) -> Result<(u64, u64)> {
    let (mut rows, mut bytes) = (0, 0);
    for batch in arrow_reader(data.clone(), table.name, threads, Control::new())? {
        let batch = batch.map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        rows += batch.num_rows() as u64;
        bytes += batch.get_array_memory_size() as u64;
    }
    Ok((rows, bytes))
}
