//! The comments of a table, in row order.

use tpchgen::generators::OrderGenerator;
use tpchgen::random::RandomBoundedInt;

use super::lehmer::Lehmer;
use super::pool::{Cut, LONGEST_CUT, Pool, Scratch, TEXT_BYTES};

/// The comments of a table: seed of their stream, average length, and the maximum that one step of
/// the table's generator uses (the lines of an order, the suppliers of a part).
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    seed: u32,
    average: u32,
    per_step: u32,
    /// Whether a step may use fewer comments.
    varies: bool,
}

impl Kind {
    const fn new(seed: u32, average: u32, per_step: u32) -> Self {
        Self { seed, average, per_step, varies: false }
    }
}

// Seeds and lengths are constants of the TPC's generator.
pub(super) const PART: Kind = Kind::new(804_159_733, 14, 1);
pub(super) const SUPPLIER: Kind = Kind::new(1_341_315_363, 63, 1);
pub(super) const PARTSUPP: Kind = Kind::new(1_961_692_154, 124, 4);
pub(super) const CUSTOMER: Kind = Kind::new(1_335_826_707, 73, 1);
pub(super) const ORDERS: Kind = Kind::new(276_090_261, 49, 1);
pub(super) const LINEITEM: Kind =
    Kind { seed: 1_095_462_486, average: 27, per_step: 7, varies: true };
pub(super) const NATION: Kind = Kind::new(606_179_079, 72, 1);
pub(super) const REGION: Kind = Kind::new(1_500_869_201, 72, 1);

/// Steps drawn ahead. Comments lie far apart in memory; several lookups at once overlap their cache
/// misses.
const AHEAD: usize = 32;

/// Each comment takes one draw for its position and one for its length.
const DRAWS: u32 = 2;

/// The comments of consecutive rows.
#[derive(Debug)]
pub(super) struct Comments {
    pool: &'static Pool,
    kind: Kind,
    shortest: u32,
    longest: u32,
    stream: Lehmer,
    /// How many comments each step uses, if that varies.
    lines: Option<RandomBoundedInt>,
    ahead: Vec<Cut>,
    next: usize,
    scratch: Scratch,
}

impl Comments {
    /// Comments from step `first` (from 0) of the table.
    pub(super) fn new(kind: Kind, first: i64) -> Self {
        let mut stream = Lehmer::new(kind.seed);
        stream.skip(first as u64 * u64::from(DRAWS * kind.per_step));
        let lines = kind.varies.then(|| {
            let mut lines = OrderGenerator::create_line_count_random();
            lines.advance_rows(first);
            lines
        });
        let (shortest, longest) = (kind.average * 4 / 10, kind.average * 16 / 10);
        debug_assert!(longest as usize <= LONGEST_CUT);
        Self {
            pool: Pool::get(),
            kind,
            shortest,
            longest,
            stream,
            lines,
            ahead: Vec::with_capacity(AHEAD * kind.per_step as usize),
            next: 0,
            scratch: Scratch::new(),
        }
    }

    /// The comment of the next row.
    #[inline]
    pub(super) fn next(&mut self) -> &str {
        if self.next == self.ahead.len() {
            self.look_ahead();
        }
        let cut = self.ahead[self.next];
        self.next += 1;
        self.pool.cut(cut, &mut self.scratch)
    }

    fn look_ahead(&mut self) {
        self.ahead.clear();
        self.next = 0;
        for _ in 0..AHEAD {
            let count = match &mut self.lines {
                Some(lines) => lines.next_value() as u32,
                None => self.kind.per_step,
            };
            for _ in 0..count {
                let offset = self.stream.between(0, (TEXT_BYTES - self.longest) as i32);
                let length = self.stream.choose(self.shortest, self.longest);
                self.ahead.push(Cut::at(offset as u32, length));
            }
            self.stream.skip_few(DRAWS * (self.kind.per_step - count));
        }
        let mut touched = 0;
        for cut in &mut self.ahead {
            self.pool.find(cut);
        }
        for cut in &self.ahead {
            touched ^= self.pool.touch(*cut);
        }
        std::hint::black_box(touched);
    }
}
