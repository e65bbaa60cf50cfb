//! Expected sums of a table, from the generator's own rows.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dyno_record::{Control, Error, ErrorKind, Result};

use crate::dataset::Dataset;
use crate::files::MOST_THREADS;
use crate::sink::SumSink;

/// Sums of a whole table, generated again by `threads` threads. Counts rows on `control`.
///
/// # Errors
/// `usage` for an unknown table; `cancelled`.
pub fn sums(data: &Dataset, table: &str, threads: usize, control: &Control) -> Result<SumSink> {
    let whole = data.part(table, 0, 1)?;
    let units = data.units_of(&whole);
    let next = AtomicU64::new(units.start);
    let work = || -> Result<SumSink> {
        let mut sink = SumSink::new(whole.table);
        loop {
            let unit = next.fetch_add(1, Relaxed);
            if unit >= units.end {
                return Ok(sink);
            }
            data.write_units(whole.table, unit..unit + 1, &mut sink, control)?;
        }
    };
    std::thread::scope(|scope| {
        let threads = threads.clamp(1, MOST_THREADS);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut total = SumSink::new(whole.table);
        for worker in workers {
            let died = |_| Err(Error::new(ErrorKind::Internal, "a generating thread panicked"));
            total.merge(&worker.join().unwrap_or_else(died)?);
        }
        Ok(total)
    })
}
