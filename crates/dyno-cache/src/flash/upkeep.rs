//! Segments are written once they are full, and make way so that some stay free.

use super::cache::{Cache, RESERVE, State, lock};
use super::device::Pages;
use super::layout::BLOCK;
use super::segments::Stage;
use crate::policy::Queue;

impl State {
    /// Queue and place of the segment on the device with the fewest blocks, of those that have at most
    /// so many.
    fn hollow(&self, most: u32) -> Option<(Queue, usize)> {
        let sealed = |&segment: &u32| {
            matches!(self.segments.stages[segment as usize], Stage::Sealed)
                && self.index.live(segment) <= most
        };
        let queues = self.segments.queues.iter().enumerate();
        let places = queues.flat_map(|(queue, segments)| {
            let sealed = segments.iter().enumerate().filter(move |(_, segment)| sealed(segment));
            sealed.map(move |(place, &segment)| (self.index.live(segment), queue, place))
        });
        places.min().map(|(_, queue, place)| (queue, place))
    }
}

impl Cache {
    /// Writes full segments, and frees segments until enough are free. One thread should call this
    /// again and again.
    pub fn maintain(&self) {
        let _upkeep = lock(&self.upkeep);
        self.write_waiting();
        while lock(&self.state).segments.free.len() <= RESERVE && self.free_one() {
            self.write_waiting();
        }
    }

    /// Writes the segments that are full.
    pub(super) fn write_waiting(&self) {
        loop {
            let mut state = lock(&self.state);
            let Some(segment) = state.segments.waiting.front().copied() else { return };
            let Stage::Sealing(bytes) = &state.segments.stages[segment as usize] else { return };
            let bytes = bytes.clone();
            drop(state);
            let done = self.device.write(&bytes, self.geometry.segment(segment));
            state = lock(&self.state);
            state.segments.waiting.pop_front();
            state.segments.stages[segment as usize] = Stage::Sealed;
            if done.is_err() {
                state.counts.errors += 1;
                state.empty(segment);
            }
            self.changed.notify_all();
        }
    }

    /// Frees a segment; false if there is none that can be freed.
    ///
    /// Blocks that were written are elsewhere, and have left holes: a segment with many holes is
    /// freed first, and its blocks stay in their queue. Otherwise the policy names one.
    fn free_one(&self) -> bool {
        let mut state = lock(&self.state);
        let hollow = state.hollow(self.geometry.blocks / 2);
        let (queue, place) = hollow.unwrap_or_else(|| {
            let lengths = [0, 1].map(|queue| state.segments.queues[queue].len());
            (state.retention.makes_way(lengths), 0)
        });
        let Some(&segment) = state.segments.queues[queue].get(place) else { return false };
        if !matches!(state.segments.stages[segment as usize], Stage::Sealed) {
            return false;
        }
        state.segments.queues[queue].remove(place);
        state.segments.stages[segment as usize] = Stage::Leaving;
        let mut moving = Vec::new();
        for slot in state.segments.slots(segment) {
            let Some((key, sum, uses)) = state.index.at(slot) else { continue };
            let stays = hollow.map(|_| (queue, uses));
            match stays.or_else(|| state.retention.at_end(queue, key, uses)) {
                Some((to, uses)) => moving.push((slot, key, sum, to, uses)),
                None => drop(state.index.remove(key)),
            }
        }
        drop(state);
        let mut data = Pages::new(BLOCK);
        for (slot, key, sum, to, uses) in moving {
            let done = self.device.read(&mut data, self.geometry.block(slot));
            let mut state = lock(&self.state);
            if state.index.find(key) != Some(slot) {
                continue; // it was written meanwhile
            }
            state.index.remove(key);
            if done.is_err() || crc32c::crc32c(&data) != sum {
                state.counts.errors += u64::from(done.is_err());
                state.counts.damaged += u64::from(done.is_ok());
                continue;
            }
            let State { index, segments, .. } = &mut *state;
            if let Some(slot) = segments.add(index, to, key, sum, &data, 0) {
                state.index.set_uses(slot, uses);
            }
        }
        let mut state = lock(&self.state);
        while state.segments.pins[segment as usize] > 0 {
            state = self.wait(state);
        }
        state.segments.release(segment);
        self.changed.notify_all();
        true
    }
}
