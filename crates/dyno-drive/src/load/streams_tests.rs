use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use serde_json::json;

/// Much longer than any wait in these tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// A stream that panics once the other one is at work, or waits until it has to stop.
enum Fake {
    Faulty { both: Receiver<()> },
    Patient { both: Sender<()>, loaded: Sender<ErrorKind> },
}

impl Stream for Fake {
    fn load(&mut self, _data: &Dataset, _part: &Part, stop: &Stop<'_>) -> Result<(u64, u64)> {
        match self {
            Self::Faulty { both } => {
                both.recv_timeout(PATIENCE).unwrap();
                panic!("a fault that a test makes");
            }
            Self::Patient { both, loaded } => {
                both.send(()).unwrap();
                let error = runtime()?.block_on(async {
                    let forever = std::future::pending::<Result<()>>();
                    let limit = async {
                        tokio::time::sleep(PATIENCE).await;
                        Err(Error::new(ErrorKind::Timeout, "nobody said stop"))
                    };
                    tokio::select! {
                        stopped = stop.watch(forever) => stopped,
                        late = limit => late,
                    }
                });
                loaded.send(error.as_ref().unwrap_err().kind).unwrap();
                error.map(|()| (0, 0))
            }
        }
    }

    fn abandon(self) {}

    fn close(self) {}
}

#[test]
fn a_stream_that_dies_stops_the_others() {
    let plan = json!({
        "wire": {"kind": "sqlite", "path": "nowhere", "decimals": "real"}, "workload": "tpch",
        "scale": 0.01, "seed": 1, "streams": 2
    });
    let plan: LoadPlan = serde_json::from_value(plan).unwrap();
    let ((at_work, both), (loaded, seen)) = (channel(), channel());
    let mut fakes = vec![Fake::Faulty { both }, Fake::Patient { both: at_work, loaded }];
    let error = load(&plan, &Control::new(), |_| Ok(fakes.remove(0))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal);
    assert!(error.message.contains("a load stream panicked"), "{error}");
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [ErrorKind::Cancelled]);
}
