//! Generated rows from several threads, in the order of their parts.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use dyno_gen::sink::{Decimals, ValueSink};
use dyno_gen::{Dataset, Part};
use dyno_record::{Control, Error, ErrorKind, Result};

/// Maximum chunks, of about 1 MB each, that a thread may be ahead.
const CHUNKS_AHEAD: usize = 4;

/// More threads only cost memory: a single thread inserts.
const MOST_THREADS: usize = 8;

enum Message {
    Chunk(Vec<u8>),
    EndOfPart,
    Failed(Error),
}

/// Chunks of rows in order. Memory is bounded: producers wait for the consumer.
pub struct Feed {
    threads: Vec<Receiver<Message>>,
    /// The current part.
    part: usize,
}

impl Feed {
    /// Starts up to `threads` threads for `parts`, calls `take` with the feed, then ends the
    /// threads. Thread `i` of `n` generates the parts `i`, `i + n`, `i + 2n` …
    ///
    /// # Errors
    /// Those of `take`.
    pub fn over(
        data: &Dataset,
        parts: &[Part],
        decimals: Decimals,
        threads: usize,
        take: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let threads = threads.clamp(1, MOST_THREADS);
        thread::scope(|scope| {
            let mut feed = Self { threads: Vec::with_capacity(threads), part: 0 };
            for first in 0..threads {
                let (sender, receiver) = sync_channel(CHUNKS_AHEAD);
                thread::Builder::new()
                    .name(format!("generate-{first}"))
                    .spawn_scoped(scope, move || {
                        for part in parts.iter().skip(first).step_by(threads) {
                            let last = match generate(data, part, decimals, &sender) {
                                Ok(()) => Message::EndOfPart,
                                Err(error) => Message::Failed(error),
                            };
                            if sender.send(last).is_err() {
                                return; // the consumer is gone
                            }
                        }
                    })
                    .map_err(|error| Error::from_io(&error, "starting a thread"))?;
                feed.threads.push(receiver);
            }
            // Dropping the feed, at its end or after an error, stops the threads.
            take(&mut feed)
        })
    }

    /// The next chunk of the current part; None at its end, after which the next part follows.
    ///
    /// # Errors
    /// That of the generating thread.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let thread = self.part % self.threads.len();
        match self.threads[thread].recv() {
            Ok(Message::Chunk(chunk)) => Ok(Some(chunk)),
            Ok(Message::EndOfPart) => {
                self.part += 1;
                Ok(None)
            }
            Ok(Message::Failed(error)) => Err(error),
            Err(_) => Err(Error::new(ErrorKind::Internal, "a generating thread panicked")),
        }
    }
}

fn generate(
    data: &Dataset,
    part: &Part,
    decimals: Decimals,
    sender: &SyncSender<Message>,
) -> Result<()> {
    let mut sink = ValueSink::new(part.table, decimals, |chunk: &[u8]| {
        sender
            .send(Message::Chunk(chunk.to_vec()))
            .map_err(|_| Error::new(ErrorKind::Cancelled, "the load was stopped"))
    });
    // Progress counts inserted rows, so generated ones use a separate control.
    data.write(part, &mut sink, &Control::new())?;
    sink.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_gen::Workload;

    fn collect(threads: usize) -> Vec<u8> {
        let data = Dataset::new(Workload::Tpch, 0.01, 1).unwrap();
        let mut parts = data.parts("customer", u64::MAX).unwrap();
        parts.extend(data.parts("orders", u64::MAX).unwrap());
        let mut bytes = Vec::new();
        Feed::over(&data, &parts, Decimals::Real, threads, |feed| {
            for _ in &parts {
                while let Some(chunk) = feed.next()? {
                    bytes.extend(chunk);
                }
            }
            Ok(())
        })
        .unwrap();
        bytes
    }

    #[test]
    fn the_order_is_the_same_for_any_number_of_threads() {
        let one = collect(1);
        assert!(one.len() > 1_000_000);
        assert!(one == collect(3));
    }

    #[test]
    fn threads_end_when_the_taker_gives_up() {
        let data = Dataset::new(Workload::Tpch, 1.0, 1).unwrap();
        let parts = data.parts("lineitem", u64::MAX).unwrap();
        let error = Feed::over(&data, &parts, Decimals::Real, 2, |feed| {
            feed.next()?;
            Err(Error::new(ErrorKind::DiskFull, "enough"))
        })
        .unwrap_err();
        assert_eq!(error.kind, ErrorKind::DiskFull);
    }
}
