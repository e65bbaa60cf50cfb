//! A device in memory that knows what a crash may leave of it.

use dyno_cache::flash::{Device, PAGE};
use std::io;
use std::sync::Mutex;

/// Draws numbers; the same for the same seed.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    pub fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

#[derive(Default)]
struct Content {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// Pages that were written since the last sync.
    pending: Vec<usize>,
    fails: bool,
}

pub struct Recorder(Mutex<Content>);

impl Recorder {
    pub fn new(image: Vec<u8>) -> Self {
        let content = Content { durable: image.clone(), now: image, ..Content::default() };
        Self(Mutex::new(content))
    }

    /// What a crash of the daemon leaves: all writes.
    pub fn now(&self) -> Vec<u8> {
        self.0.lock().unwrap().now.clone()
    }

    /// What a power cut may leave: of the pages written since the last sync, some are old.
    pub fn after_power_cut(&self, chance: &mut Chance) -> Vec<u8> {
        let content = self.0.lock().unwrap();
        let mut image = content.durable.clone();
        for &page in &content.pending {
            if chance.one_in(2) {
                let range = page * PAGE..(page + 1) * PAGE;
                image[range.clone()].copy_from_slice(&content.now[range]);
            }
        }
        image
    }

    /// From now on, every write and sync fails, or none.
    pub fn fail(&self, fails: bool) {
        self.0.lock().unwrap().fails = fails;
    }
}

impl Device for Recorder {
    fn size(&self) -> u64 {
        self.0.lock().unwrap().now.len() as u64
    }

    fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        let content = self.0.lock().unwrap();
        into.copy_from_slice(&content.now[offset as usize..][..into.len()]);
        Ok(())
    }

    fn write(&self, from: &[u8], offset: u64) -> io::Result<()> {
        assert!(offset.is_multiple_of(PAGE as u64) && from.len().is_multiple_of(PAGE));
        let mut content = self.0.lock().unwrap();
        if content.fails {
            return Err(io::Error::other("planted"));
        }
        content.now[offset as usize..][..from.len()].copy_from_slice(from);
        let first = offset as usize / PAGE;
        content.pending.extend(first..first + from.len() / PAGE);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut content = self.0.lock().unwrap();
        if content.fails {
            return Err(io::Error::other("planted"));
        }
        let Content { now, durable, pending, .. } = &mut *content;
        for page in pending.drain(..) {
            let range = page * PAGE..(page + 1) * PAGE;
            durable[range.clone()].copy_from_slice(&now[range]);
        }
        Ok(())
    }
}
