//! Checkpoints: what is valid is written down, and the marks of earlier writes are forgotten.

use super::cache::{Cache, State, lock};
use super::device::{Device, PAGE, Pages};
use super::layout::{Geometry, Superblock};
use super::segments::Stage;
use crate::policy::QUEUES;
use std::io;

impl Cache {
    /// Makes what is cached now survive a crash, and forgets the marks of earlier writes.
    ///
    /// # Errors
    /// Of the device or of `sync_origin`, which makes all writes durable that ended before; then the
    /// last checkpoint still counts.
    pub fn checkpoint(&self, sync_origin: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut head = lock(&self.head);
        lock(&self.intents).begin_both();
        let mut state = lock(&self.state);
        let before = state.epoch;
        state.epoch = 1 - before;
        while state.writers[before] > 0 {
            state = self.wait(state);
        }
        drop(state);
        sync_origin()?;
        let (checkpoint, sequence) = loop {
            {
                let _upkeep = lock(&self.upkeep);
                self.write_waiting();
            }
            let state = lock(&self.state);
            if state.segments.waiting.is_empty() {
                break (self.valid(&state), state.segments.sequence);
            }
        };
        let next = Superblock {
            generation: head.generation + 1,
            area: 1 - head.area,
            checkpoint: crc32c::crc32c(&checkpoint),
            sequence,
            ..head.clone()
        };
        self.device.write(&checkpoint, self.geometry.checkpoint(next.area))?;
        self.device.sync()?;
        next.write(&*self.device)?;
        *head = next;
        lock(&self.intents).switch(&*self.device)
    }

    /// Writes everything for the next start. Nothing may be read or written afterwards.
    ///
    /// # Errors
    /// As [`Cache::checkpoint`].
    pub fn close(&self, sync_origin: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut state = lock(&self.state);
        let State { index, segments, .. } = &mut *state;
        (0..QUEUES).for_each(|queue| segments.seal(index, queue));
        drop(state);
        self.checkpoint(sync_origin)
    }

    /// The sequence number of each sealed segment, and which of its blocks are valid.
    fn valid(&self, state: &State) -> Pages {
        let mut found = Pages::new(self.geometry.checkpoint_bytes());
        let bits = 8 * self.geometry.segments as usize;
        for segment in 0..self.geometry.segments {
            let stages = &state.segments.stages[segment as usize];
            if !matches!(stages, Stage::Sealed | Stage::Leaving) {
                continue;
            }
            let sequence = state.segments.sequences[segment as usize];
            found[segment as usize * 8..][..8].copy_from_slice(&sequence.to_le_bytes());
            for slot in state.segments.slots(segment) {
                if state.index.at(slot).is_some() {
                    found[bits + slot as usize / 8] |= 1 << (slot % 8);
                }
            }
        }
        found
    }
}

impl Superblock {
    /// Writes it to both places, one after the other, durably. Marks that only an older one counts
    /// may be cleared then: no damage brings the older one back.
    pub(super) fn write(&self, device: &dyn Device) -> io::Result<()> {
        let mut page = Pages::new(PAGE);
        self.encode(&mut page);
        for place in [self.generation, self.generation + 1] {
            device.write(&page, Geometry::superblock(place))?;
            device.sync()?;
        }
        Ok(())
    }
}
