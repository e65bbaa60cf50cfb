//! Access patterns: offset, size, and read or write.

mod cursor;
mod hot;
mod order;

#[cfg(test)]
pub(crate) mod tests;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore as _, SeedableRng as _};

use crate::plan::Block;
use cursor::Cursors;
use hot::{HotSpot, Scatter};

pub use order::Order;

/// The part of a target that a job uses, in bytes: `from..to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Space {
    /// First byte.
    pub(crate) from: u64,
    /// End, exclusive.
    pub(crate) to: u64,
}

impl Space {
    /// From one percentage of `bytes` to another. Starts at a multiple of `block`, rounded up to
    /// pages.
    pub(crate) fn part(bytes: u64, from_percent: f64, to_percent: f64, block: u32) -> Self {
        let at = |percent: f64| {
            if percent >= 100.0 { bytes } else { (bytes as f64 * percent / 100.0) as u64 }
        };
        let unit = u64::from(block.max(1)).next_multiple_of(4096);
        let from = at(from_percent).next_multiple_of(unit);
        Self { from, to: at(to_percent).max(from) }
    }

    fn bytes(self) -> u64 {
        self.to - self.from
    }
}

/// The access pattern of a job.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    /// Order of the offsets.
    pub(crate) order: Order,
    /// Block sizes with shares that add up to 100.
    pub(crate) blocks: Vec<Block>,
    /// Alignment of offsets, relative to the start of the space. Default:
    /// [`Job::align_bytes`](crate::Job::align_bytes).
    pub(crate) align: Option<u64>,
    /// Share of reads in percent.
    pub(crate) read_percent: u8,
}

impl Shape {
    /// Whether every size fits in `space`, and in each of its streams.
    pub(crate) fn fits(&self, space: Space) -> bool {
        let largest = self.blocks.iter().map(|block| u64::from(block.bytes)).max().unwrap_or(0);
        let places = match self.order {
            Order::Streams { count } => u64::from(count) * self.directions(),
            Order::Sequential => self.directions(),
            _ => 1,
        };
        let unit = cursor::unit(&self.blocks, self.align);
        largest > 0 && space.bytes() / places / unit * unit >= largest
    }

    /// Number of directions: sequential reads and writes each continue where they were.
    fn directions(&self) -> u64 {
        if (1..100).contains(&self.read_percent) { 2 } else { 1 }
    }
}

/// One access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    /// Offset in the target.
    pub(crate) offset: u64,
    /// Length.
    pub(crate) bytes: u32,
    /// Whether it writes.
    pub(crate) write: bool,
}

/// A block size, and its possible positions in the space.
#[derive(Debug, Clone)]
struct Size {
    bytes: u32,
    /// Draws below this, and not below that of the previous size, get this size.
    below: u64,
    align: u64,
    places: Places,
}

/// How a random access chooses its position in `0..count`.
#[derive(Debug, Clone)]
enum Places {
    Even { count: u64 },
    Zipf(Box<Scatter>),
    Hot(HotSpot),
}

/// An endless series of accesses in a space; equal seeds give equal series.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    rng: Xoshiro256PlusPlus,
    space: Space,
    sizes: Vec<Size>,
    read_percent: u64,
    /// `None` if accesses are random.
    cursors: Option<Cursors>,
}

impl Pattern {
    /// Accesses of `shape` in `space`.
    ///
    /// # Panics
    /// If the shape does not fit there.
    pub(crate) fn new(shape: &Shape, space: Space, seed: u64) -> Self {
        assert!(shape.fits(space), "the space holds every block");
        let mut up_to = 0.0;
        let last = shape.blocks.len() - 1;
        let sizes = shape.blocks.iter().enumerate().map(|(index, block)| {
            up_to += block.percent / 100.0;
            let below = if index == last { u64::MAX } else { (up_to * u64::MAX as f64) as u64 };
            let align = shape.align.unwrap_or(u64::from(block.bytes));
            let count = (space.bytes() - u64::from(block.bytes)) / align + 1;
            Size { bytes: block.bytes, below, align, places: Places::new(shape.order, count) }
        });
        let cursors = match shape.order {
            Order::Sequential => Some(1),
            Order::Streams { count } => Some(count),
            _ => None,
        };
        let unit = cursor::unit(&shape.blocks, shape.align);
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            space,
            sizes: sizes.collect(),
            read_percent: u64::from(shape.read_percent),
            cursors: cursors
                .map(|count| Cursors::new(space, count, shape.directions(), unit, shape.align)),
        }
    }

    /// The next access.
    #[inline]
    pub(crate) fn access(&mut self) -> Access {
        let write = match self.read_percent {
            0 => true,
            100.. => false,
            share => below(&mut self.rng, 100) >= share,
        };
        let index = if let [_] = self.sizes[..] {
            0
        } else {
            let draw = self.rng.next_u64();
            self.sizes.iter().position(|size| draw < size.below).unwrap_or(self.sizes.len() - 1)
        };
        let size = &self.sizes[index];
        let offset = match &mut self.cursors {
            Some(cursors) => cursors.next(size.bytes, write),
            None => self.space.from + size.places.draw(&mut self.rng) * size.align,
        };
        Access { offset, bytes: size.bytes, write }
    }
}

impl Places {
    fn new(order: Order, count: u64) -> Self {
        match order {
            Order::Zipf { theta } => Self::Zipf(Box::new(Scatter::new(count, theta))),
            Order::HotSpot { access_percent, space_percent } => {
                Self::Hot(HotSpot::new(count, access_percent, space_percent))
            }
            _ => Self::Even { count },
        }
    }

    #[inline]
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Even { count } => below(rng, *count),
            Self::Zipf(scatter) => scatter.draw(rng),
            Self::Hot(hot) => hot.draw(rng),
        }
    }
}

/// A number below `limit` by multiplication (Lemire 2019, without the rejection step: the bias is
/// below `limit` / 2^64).
#[inline]
fn below(rng: &mut Xoshiro256PlusPlus, limit: u64) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(limit)) >> 64) as u64
}

/// The greatest common divisor (Euclid); every number divides 0.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
