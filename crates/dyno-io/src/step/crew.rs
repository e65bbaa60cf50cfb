//! The lanes of a thread: from opening an engine to the results.

use std::fs::File;
use std::sync::mpsc::{Receiver, Sender};

use dyno_record::Result;

use super::{Message, Spec};
use crate::engine::{self, Choice, Setup};
use crate::flow::Flow;
use crate::lane::{Lane, Slot, Submitter};
use crate::pace::Pace;
use crate::pattern::Pattern;
use crate::payload::Payload;
use crate::seeds::derived;
use crate::tally::Counts;
use crate::window::Window;
use crate::worker::{self, Intervals, Share, Shared};
use crate::{Notes, Topic, cores};

/// The lanes of each thread.
pub(super) fn crews(spec: &Spec<'_>, patterns: Vec<Pattern>) -> Vec<Vec<Lane>> {
    let jobs = spec.curve.jobs.iter().enumerate();
    let pairs: Vec<(usize, usize, usize)> = jobs
        .flat_map(|(job, of)| of.on.iter().enumerate().map(move |(place, on)| (job, place, *on)))
        .collect();
    let cores = cores::list().len();
    let wanted = spec.plan.threads.map_or(cores, |threads| threads as usize);
    let threads = wanted.min(pairs.len()).max(1);
    let targets: Vec<_> = pairs.iter().map(|(_, _, target)| *target).collect();
    let of_lane = cores::spread(&targets, threads);
    let mut crews: Vec<Vec<Lane>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, ((job, place, target), pattern)) in pairs.into_iter().zip(patterns).enumerate() {
        let of = &spec.curve.jobs[job];
        let pace = spec.level.jobs[job].1.map(|per_second| {
            let arrivals = of.rate.as_ref().map(|rate| rate.arrivals).unwrap_or_default();
            let seed = derived(spec.seed, index, "arrivals");
            // Times move to the start once that is known.
            Pace::new((per_second, arrivals), (place, of.on.len()), 0, seed)
        });
        crews[of_lane[index]].push(Lane {
            index,
            job,
            target,
            file: 0,
            pattern,
            pace,
            ahead: None,
            flow: Flow::of(of),
            idle: Vec::new(),
            counts: Counts::of(of),
            in_flight_ns: 0,
            failure: None,
        });
    }
    crews.retain(|crew| !crew.is_empty());
    crews
}

/// Runs one thread: opens an engine, waits for the signal, drives its lanes.
pub(super) fn work(
    spec: &Spec<'_>,
    index: usize,
    mut lanes: Vec<Lane>,
    go: &Receiver<Window>,
    messages: &Sender<Message>,
    shared: &Shared<'_>,
) -> Result<Option<Share>> {
    let mut notes = Notes::default();
    if matches!(spec.engine, Choice::Auto | Choice::IoUring) {
        if shared.workers > 1 {
            take_core(index, &mut notes);
        }
        cores::wake_precisely();
    }
    let files = own_files(&mut lanes, spec.files);
    let (slots, lengths) = own_slots(&mut lanes, spec);
    let seed = derived(spec.seed, index, "buffers");
    let null = &spec.plan.null;
    let (pages, start_ns) = (spec.plan.pages, spec.start_ns);
    let setup = Setup { files: &files, slots: &lengths, pages, seed, null, start_ns };
    let mut engine = engine::open(spec.engine, &setup, &mut notes)?;
    // Not the numbers that filled the buffers.
    let payload = Payload::new(derived(spec.seed, index, "content"))?;
    let batch = Vec::with_capacity(slots.len());
    let submitter = Submitter { engine: engine.as_mut(), slots, batch, payload };
    let huge_share = submitter.engine.huge_share();
    let ready = Message::Ready(submitter.engine.name(), huge_share, notes);
    let Ok(window) = messages.send(ready).map_err(|_| ()).and_then(|()| go.recv().map_err(|_| ()))
    else {
        return Ok(None);
    };
    let begin_ns = window.start_ns - (spec.curve.warmup_seconds * 1e9) as u64;
    for pace in lanes.iter_mut().filter_map(|lane| lane.pace.as_mut()) {
        pace.begin_at(begin_ns);
    }
    let fresh = || spec.curve.jobs.iter().map(Counts::of).collect();
    // The receiver outlives the workers; if it is gone, nobody needs the interval.
    let hand_on = |index, end_ns, jobs| drop(messages.send(Message::Interval(index, end_ns, jobs)));
    let intervals = spec.plan.intervals.as_ref().map(|_| Intervals {
        length_ns: (spec.plan.interval_seconds * 1e9) as u64,
        fresh: &fresh,
        send: &hand_on,
    });
    worker::run(lanes, submitter, window, intervals.as_ref(), shared).map(Some)
}

/// Pins this thread to its own core. A single thread stays with the scheduler, which runs it near
/// the device's interrupt: on another core each I/O would wait for a wake-up.
fn take_core(index: usize, notes: &mut Notes) {
    let cores = cores::list();
    if let Err(error) = cores::pin(cores[index % cores.len()]) {
        notes.add(
            Topic::Fallback,
            format!("I/O threads could not be pinned to a core each ({error})"),
        );
    }
}

/// The files of these lanes only; updates the lanes' file indexes.
fn own_files<'a>(lanes: &mut [Lane], all: &[&'a File]) -> Vec<&'a File> {
    let mut targets: Vec<usize> = lanes.iter().map(|lane| lane.target).collect();
    targets.sort_unstable();
    targets.dedup();
    for lane in lanes {
        lane.file = targets.binary_search(&lane.target).unwrap_or(0) as u32;
    }
    targets.iter().filter_map(|target| all.get(*target).copied()).collect()
}

/// Assigns slots to lanes; returns the owner and the buffer length of each slot.
fn own_slots(lanes: &mut [Lane], spec: &Spec<'_>) -> (Vec<Slot>, Vec<u32>) {
    let (mut slots, mut lengths) = (Vec::new(), Vec::new());
    for (index, lane) in lanes.iter_mut().enumerate() {
        let depth = spec.level.jobs[lane.job].0;
        let first = slots.len() as u32;
        lane.idle = (first..first + depth).rev().collect();
        let foreign = spec.foreign.get(lane.target) == Some(&true);
        for _ in 0..depth {
            slots.push(Slot::of(index as u32, foreign));
            lengths.push(spec.curve.jobs[lane.job].largest_block());
        }
    }
    (slots, lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_registers_the_files_of_its_lanes_only() {
        let files: Vec<File> = (0..4).map(|_| tempfile::tempfile().unwrap()).collect();
        let all: Vec<&File> = files.iter().collect();
        let lane = |target| Lane {
            index: 0,
            job: 0,
            target,
            file: 9,
            pattern: crate::pattern::tests::any(),
            pace: None,
            ahead: None,
            flow: Flow::Free,
            idle: Vec::new(),
            counts: Counts::default(),
            in_flight_ns: 0,
            failure: None,
        };
        let mut lanes = [lane(3), lane(1), lane(3)];
        assert_eq!(own_files(&mut lanes, &all).len(), 2);
        assert_eq!(lanes.each_ref().map(|lane| lane.file), [1, 0, 1]);
    }
}
