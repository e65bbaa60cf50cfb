//! Which blocks a flash cache keeps, decided when whole segments make way.

use super::ghosts::Ghosts;

/// The queues that segments are in, in the order in which they were filled.
pub const QUEUES: usize = 2;
/// The number of a queue.
pub type Queue = usize;

/// Decides what enters and what stays. Knows keys, uses and sizes, neither data nor devices.
///
/// Called under the cache's lock, so implementations are quick and never block.
pub trait Retention: Send {
    /// The queue that a block enters that was read but not found; none to leave it out.
    fn missed(&mut self, key: u64) -> Option<Queue>;

    /// The queue that a block enters that somebody asks to be kept.
    fn chosen(&mut self, key: u64) -> Queue;

    /// The queue whose oldest segment makes way, if queues have so many segments, of which at least
    /// one has some.
    fn makes_way(&self, segments: [usize; QUEUES]) -> Queue;

    /// The queue that a block goes to whose segment makes way, with its uses from now on; none to
    /// drop it.
    fn at_end(&mut self, queue: Queue, key: u64, uses: u8) -> Option<(Queue, u8)>;
}

const SMALL: Queue = 0;
const MAIN: Queue = 1;

/// S3-FIFO by segments: see [`super::Name::S3Fifo`].
pub struct SegmentedS3Fifo {
    segments: usize,
    ghosts: Ghosts,
}

impl SegmentedS3Fifo {
    /// For a cache of so many segments of `blocks` blocks.
    pub fn new(segments: usize, blocks: usize) -> Self {
        Self { segments, ghosts: Ghosts::new(segments * blocks * 9 / 10) }
    }
}

impl Retention for SegmentedS3Fifo {
    fn missed(&mut self, key: u64) -> Option<Queue> {
        Some(if self.ghosts.take(key) { MAIN } else { SMALL })
    }

    fn chosen(&mut self, key: u64) -> Queue {
        self.ghosts.take(key);
        MAIN
    }

    fn makes_way(&self, segments: [usize; QUEUES]) -> Queue {
        let small = segments[SMALL] * 10 > self.segments || segments[MAIN] == 0;
        if small && segments[SMALL] > 0 { SMALL } else { MAIN }
    }

    fn at_end(&mut self, queue: Queue, key: u64, uses: u8) -> Option<(Queue, u8)> {
        match (queue, uses) {
            (SMALL, 2..) => Some((MAIN, 0)),
            (SMALL, _) => {
                self.ghosts.add(key);
                None
            }
            (_, 0) => None,
            (_, uses) => Some((MAIN, uses - 1)),
        }
    }
}
