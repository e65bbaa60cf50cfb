//! How long a cache of many blocks takes to open: `recovery FILE BLOCKS`, by `bench_recovery.py`.
//!
//! The file is sparse: pages of zeros, as which all blocks are, are not written.

use dyno_cache::flash::{BLOCK, Cache, Device, FileDevice, Geometry, Missed, PAGE, STEP};
use dyno_cache::policy::{Retention, SegmentedS3Fifo};
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::time::Instant;

const SEGMENT: u32 = 256;

/// Leaves out pages of zeros.
struct Thin(FileDevice);

impl Device for Thin {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read(into, offset)
    }

    fn write(&self, from: &[u8], offset: u64) -> io::Result<()> {
        for (number, page) in from.chunks(PAGE).enumerate() {
            if page.iter().any(|&byte| byte != 0) {
                self.0.write(page, offset + (number * PAGE) as u64)?;
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
}

fn device(path: &str, size: u64) -> io::Result<Arc<dyn Device>> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.custom_flags(libc::O_DIRECT).open(path)?;
    if file.metadata()?.len() < size {
        file.set_len(size)?;
    }
    let size = file.metadata()?.len();
    Ok(Arc::new(Thin(FileDevice::new(file, size))))
}

fn retention(geometry: &Geometry) -> Box<dyn Retention> {
    Box::new(SegmentedS3Fifo::new(geometry.segments as usize, geometry.blocks as usize))
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let wanted: u64 = words[2].parse().map_err(io::Error::other)?;
    let size = (wanted + wanted / 32) * (BLOCK as u64 + 64);
    let geometry = Geometry::fitting(size, SEGMENT, 16).ok_or(io::ErrorKind::InvalidInput)?;
    let cache = Cache::create(device(&words[1], size)?, geometry, "", retention(&geometry))?;
    let data = vec![0; BLOCK];
    for number in 0..wanted {
        // 1 MiB at a time of files of 1 GiB, as a job reads them.
        let key = ((1 + (number >> 17)) << 40) | ((number & 0x1_FFFF) * STEP);
        if let Missed::Fill(fill) = cache.begin_fill(key) {
            fill.finish(&data);
        }
        if number % 128 == 0 {
            cache.maintain();
        }
    }
    cache.close(|| Ok(()))?;
    let blocks = cache.len();
    drop(cache);
    let begun = Instant::now();
    let opened = Cache::open(device(&words[1], size)?, "", retention)?;
    let took = begun.elapsed();
    println!("{} of {blocks} blocks in {:.2} s", opened.len(), took.as_secs_f64());
    Ok(())
}
