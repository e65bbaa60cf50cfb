//! Crashes of all kinds: whatever the cache returns afterwards is what the origin has.

mod recorder;

use dyno_cache::flash::{BLOCK, Cache, Device, FileDevice, Geometry, Missed, PAGE, Pages, STEP};
use dyno_cache::policy::{Retention, SegmentedS3Fifo};
use recorder::{Chance, Recorder};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

const KEYS: usize = 240;
const ORIGIN: &str = "origin";
const CRASHES: u64 = 1500;

/// Keys spread over some 70 regions.
fn key(number: usize) -> u64 {
    (number as u64 * 37 + 1) << 2
}

fn block(number: usize, version: u64) -> Vec<u8> {
    (number as u64)
        .to_le_bytes()
        .iter()
        .chain(&version.to_le_bytes())
        .copied()
        .cycle()
        .take(BLOCK)
        .collect()
}

fn geometry() -> Geometry {
    Geometry { segments: 9, blocks: 8, intent_pages: 1 }
}

fn image() -> Vec<u8> {
    let geometry = geometry();
    vec![0; geometry.segment(geometry.segments) as usize]
}

fn policy(geometry: &Geometry) -> Box<dyn Retention> {
    Box::new(SegmentedS3Fifo::new(geometry.segments as usize, geometry.blocks as usize))
}

/// Versions of the origin's blocks: as written, and as they are after a power cut.
#[derive(Clone)]
struct Origin {
    now: Vec<u64>,
    durable: Vec<u64>,
}

impl Origin {
    fn after_power_cut(&self, chance: &mut Chance) -> Self {
        let left: Vec<u64> = self
            .now
            .iter()
            .zip(&self.durable)
            .map(|(&now, &durable)| if chance.one_in(2) { now } else { durable })
            .collect();
        Self { now: left.clone(), durable: left }
    }
}

struct Machine {
    device: Arc<Recorder>,
    cache: Cache,
    origin: Origin,
    version: u64,
    hits: u64,
}

impl Machine {
    fn new() -> Self {
        let device = Arc::new(Recorder::new(image()));
        let cache = Cache::create(device.clone(), geometry(), ORIGIN, policy(&geometry())).unwrap();
        let origin = Origin { now: vec![0; KEYS], durable: vec![0; KEYS] };
        Self { device, cache, origin, version: 0, hits: 0 }
    }

    /// Reads through the cache and checks what it returns.
    fn read(&mut self, number: usize) {
        let mut found = vec![0; BLOCK];
        let right = block(number, self.origin.now[number]);
        if self.cache.read(key(number), &mut found) {
            assert!(found == right, "block {number} is stale or torn");
            self.hits += 1;
        } else if let Missed::Fill(fill) = self.cache.begin_fill(key(number)) {
            fill.finish(&right);
        }
    }

    fn write(&mut self, first: usize, chance: &mut Chance) {
        let numbers = first..KEYS.min(first + 1 + chance.below(4) as usize);
        // One who read before the write, and caches after it.
        let late =
            chance.one_in(3).then(|| (self.cache.begin_fill(key(first)), self.origin.now[first]));
        let keys = numbers.clone().map(key).collect();
        let writing = self.cache.begin_write(keys).unwrap();
        let during = chance.one_in(3).then(|| self.cache.begin_fill(key(first)));
        assert!(!matches!(during, Some(Missed::Fill(_))));
        self.version += 1;
        let mut content = Vec::new();
        for number in numbers {
            self.origin.now[number] = self.version;
            content.push(block(number, self.version));
        }
        let known: Vec<_> =
            content.iter().map(|data| (!chance.one_in(4)).then_some(&data[..])).collect();
        let still = match chance.below(3) {
            0 => Some(writing),
            1 => {
                drop(writing);
                None
            }
            _ => {
                writing.end(&known);
                None
            }
        };
        if let Some((Missed::Fill(fill), version)) = late {
            fill.finish(&block(first, version));
        }
        drop(still);
    }

    /// Takes a checkpoint; sometimes a block is written, and cached, right after the origin was synced
    /// for it.
    fn checkpoint(&mut self, chance: &mut Chance) {
        let Self { cache, origin, version, .. } = self;
        let sync = || {
            origin.durable.clone_from(&origin.now);
            if chance.one_in(2) {
                let number = chance.below(KEYS as u64 / 4) as usize;
                drop(cache.begin_write(vec![key(number)])?);
                *version += 1;
                origin.now[number] = *version;
                if let Missed::Fill(fill) = cache.begin_fill(key(number)) {
                    fill.finish(&block(number, *version));
                }
            }
            Ok(())
        };
        cache.checkpoint(sync).unwrap();
    }

    fn step(&mut self, chance: &mut Chance) {
        // Two thirds of the accesses go to a quarter of the blocks.
        let among = if chance.one_in(3) { KEYS } else { KEYS / 4 };
        let number = chance.below(among as u64) as usize;
        match chance.below(100) {
            0..70 => self.read(number),
            70..80 => self.write(number, chance),
            80..84 => self.origin.durable.clone_from(&self.origin.now),
            84..86 => self.checkpoint(chance),
            _ => self.cache.maintain(),
        }
    }

    /// Goes on after the daemon was killed, or after a power cut.
    fn crash(self, chance: &mut Chance) -> Self {
        let (image, origin) = if chance.one_in(3) {
            (self.device.now(), self.origin)
        } else {
            (self.device.after_power_cut(chance), self.origin.after_power_cut(chance))
        };
        Self::open(image, Self { origin, ..self })
    }

    fn open(image: Vec<u8>, before: Self) -> Self {
        let device = Arc::new(Recorder::new(image));
        let cache = Cache::open(device.clone(), ORIGIN, policy).unwrap();
        let mut after = Self { device, cache, ..before };
        (0..KEYS).for_each(|number| after.check(number));
        after
    }

    fn check(&mut self, number: usize) {
        let mut found = vec![0; BLOCK];
        if self.cache.read(key(number), &mut found) {
            assert!(
                found == block(number, self.origin.now[number]),
                "block {number} is stale or torn"
            );
            self.hits += 1;
        }
    }
}

#[test]
fn nothing_is_stale_or_torn_after_any_crash() {
    let mut kept = 0;
    for seed in 0..CRASHES / 10 {
        let mut chance = Chance::new(seed);
        let mut machine = Machine::new();
        for _ in 0..10 {
            for _ in 0..chance.below(400) {
                machine.step(&mut chance);
            }
            machine = machine.crash(&mut chance);
            kept += machine.cache.len();
        }
        assert_eq!(machine.cache.counts().errors, 0);
    }
    assert!(kept as u64 > CRASHES * 5, "crashes left {kept} blocks, so the test shows nothing");
}

#[test]
fn a_clean_stop_keeps_everything() {
    let mut chance = Chance::new(5);
    let mut machine = Machine::new();
    (0..3000).for_each(|_| machine.step(&mut chance));
    let before = machine.cache.len();
    assert!(before > 20, "{before}");
    machine.cache.close(|| Ok(())).unwrap();
    let image = machine.device.after_power_cut(&mut chance);
    let mut after = Machine::open(image, machine);
    assert_eq!(after.cache.len(), before);
    (0..3000).for_each(|_| after.step(&mut chance));
}

#[test]
fn damage_is_found_by_its_checksum() {
    let mut chance = Chance::new(9);
    let mut machine = Machine::new();
    (0..3000).for_each(|_| machine.step(&mut chance));
    machine.cache.close(|| Ok(())).unwrap();
    let mut image = machine.device.now();
    for slot in 0..geometry().slots() as u32 {
        let place = geometry().block(slot) + chance.below(BLOCK as u64);
        image[place as usize] ^= 1 << chance.below(8);
    }
    let left = machine.cache.len() as u64;
    let after = Machine::open(image, machine);
    assert!(left > 20);
    assert_eq!(after.cache.counts().damaged, left);
}

#[test]
fn damage_before_the_segments_costs_blocks_and_no_more() {
    let mut kept = 0;
    for page in 0..geometry().segment(0) as usize / PAGE {
        let mut chance = Chance::new(11);
        let mut machine = Machine::new();
        for closed in [true, false] {
            (0..1000).for_each(|_| machine.step(&mut chance));
            if closed {
                machine.cache.close(|| Ok(())).unwrap();
            }
            let mut image = machine.device.now();
            image[page * PAGE + 20] ^= 0x55;
            machine = Machine::open(image, machine);
            kept += machine.cache.len();
        }
    }
    assert!(kept > 100, "{kept}");
}

#[test]
fn blocks_are_read_together_as_they_are_one_by_one() {
    const BLOCKS: u64 = 48;
    let consecutive = |block: u64| (1 << 40) + STEP * block;
    let mut chance = Chance::new(21);
    let Machine { device, cache, .. } = Machine::new();
    // Runs of consecutive blocks, from anywhere; the last are in memory only.
    for _ in 0..12 {
        let first = chance.below(BLOCKS);
        for block_number in first..BLOCKS.min(first + 1 + chance.below(6)) {
            if let Missed::Fill(fill) = cache.begin_fill(consecutive(block_number)) {
                fill.finish(&block(block_number as usize, 1));
            }
        }
        cache.maintain();
    }
    drop(cache.begin_write(vec![consecutive(20), consecutive(21)]).unwrap());
    let mut page = vec![0; PAGE];
    device.read(&mut page, geometry().block(3)).unwrap();
    page[0] ^= 1;
    device.write(&page, geometry().block(3)).unwrap();
    let mut hits = 0;
    for _ in 0..200 {
        let first = chance.below(BLOCKS);
        let count = 1 + chance.below(BLOCKS - first) as usize;
        let mut together = vec![0; count * BLOCK];
        let found = cache.read_blocks(consecutive(first), &mut together);
        for (place, bytes) in together.chunks_exact(BLOCK).enumerate() {
            let number = first + place as u64;
            let mut alone = vec![0; BLOCK];
            assert_eq!(cache.read(consecutive(number), &mut alone), found[place]);
            assert!(!found[place] || bytes == alone && alone == block(number as usize, 1));
        }
        hits += found.iter().filter(|&&hit| hit).count();
    }
    assert!(hits > 1000, "{hits}");
    assert_eq!(cache.counts().damaged, 1);
    cache.retain(|key| key < consecutive(10));
    let found = cache.read_blocks(consecutive(0), &mut vec![0; BLOCKS as usize * BLOCK]);
    assert!(found[..10].contains(&true) && !found[10..].contains(&true));
}

#[test]
fn blocks_that_are_written_again_and_again_push_out_no_others() {
    const BLOCKS: u64 = 100;
    let geometry = Geometry { segments: 32, blocks: 8, intent_pages: 1 };
    let image = vec![0; geometry.segment(geometry.segments) as usize];
    let cache =
        Cache::create(Arc::new(Recorder::new(image)), geometry, ORIGIN, policy(&geometry)).unwrap();
    for number in 0..BLOCKS as usize {
        cache.begin_prewarm(key(number)).unwrap().finish(&block(number, 0));
        cache.maintain();
    }
    let mut chance = Chance::new(5);
    let mut versions = [0; BLOCKS as usize];
    for version in 1..3000 {
        let number = chance.below(BLOCKS / 2) as usize;
        let writing = cache.begin_write(vec![key(number)]).unwrap();
        versions[number] = version;
        writing.end(&[Some(&block(number, version))]);
        cache.maintain();
    }
    for (number, &version) in versions.iter().enumerate() {
        let mut data = vec![0; BLOCK];
        assert!(cache.read(key(number), &mut data), "{number}");
        assert_eq!(data, block(number, version));
    }
}

#[test]
fn a_file_keeps_blocks_from_one_start_to_the_next() {
    let path = std::env::temp_dir().join(format!("dyno-flash-{}", std::process::id()));
    std::fs::write(&path, image()).unwrap();
    let device = || {
        let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        Arc::new(FileDevice::new(file, image().len() as u64))
    };
    let cache = Cache::create(device(), geometry(), ORIGIN, policy(&geometry())).unwrap();
    let Missed::Fill(fill) = cache.begin_fill(key(5)) else { panic!("the policy leaves it out") };
    fill.finish(&block(5, 1));
    cache.close(|| Ok(())).unwrap();
    let again = Cache::open(device(), ORIGIN, policy).unwrap();
    let mut found = Pages::new(BLOCK);
    assert!(again.read(key(5), &mut found));
    assert!(found[..] == block(5, 1));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_geometry_fits_its_device_and_fills_it() {
    assert_eq!(Geometry::fitting(1 << 20, 1022, 4), None);
    for size in [40 << 20, 100 << 20, 1 << 30, 333_333_333_333, 10 << 40_u64] {
        let found = Geometry::fitting(size, 1022, 4).unwrap();
        let end = found.segment(found.segments);
        assert!(
            end <= size && size - end < size / 100 + found.segment_bytes(),
            "{size}: {found:?}"
        );
    }
}

#[test]
fn another_origin_or_nothing_is_refused() {
    let machine = Machine::new();
    let open = |image: Vec<u8>, origin: &str| {
        Cache::open(Arc::new(Recorder::new(image)), origin, policy).err()
    };
    assert!(open(machine.device.now(), "other").is_some());
    assert!(open(image(), ORIGIN).is_some());
    assert!(open(machine.device.now(), ORIGIN).is_none());
}

#[test]
fn a_write_is_refused_whose_mark_is_not_durable() {
    let mut machine = Machine::new();
    (0..KEYS / 4).for_each(|number| machine.read(number));
    machine.cache.maintain();
    machine.cache.checkpoint(|| Ok(())).unwrap();
    machine.device.fail(true);
    assert!(machine.cache.begin_write(vec![key(30)]).is_err());
    machine.device.fail(false);
    drop(machine.cache.begin_write(vec![key(30)]).unwrap());
    machine.origin.now[30] = 1;
    let image = machine.device.now();
    let after = Machine::open(image, machine);
    assert!(!after.cache.is_empty());
}

#[test]
fn a_new_cache_has_nothing_of_an_old_one() {
    let mut chance = Chance::new(4);
    let mut old = Machine::new();
    (0..3000).for_each(|_| old.step(&mut chance));
    let device = Arc::new(Recorder::new(old.device.now()));
    let cache = Cache::create(device.clone(), geometry(), ORIGIN, policy(&geometry())).unwrap();
    assert!(cache.is_empty());
    let new = Machine { device, cache, ..Machine::new() };
    let image = new.device.now();
    Machine::open(image, new);
}

#[test]
fn of_writes_at_the_same_time_none_is_cached() {
    let machine = Machine::new();
    let cache = &machine.cache;
    let begin = || cache.begin_write(vec![key(7)]).unwrap();
    let cached = || cache.read(key(7), &mut vec![0; BLOCK]);
    for first_ends_first in [true, false] {
        cache.begin_prewarm(key(7)).unwrap().finish(&block(7, 0));
        assert!(cached());
        // The origin has the content of either of them.
        let (first, second) = (begin(), begin());
        let ends =
            if first_ends_first { [(first, 1), (second, 2)] } else { [(second, 2), (first, 1)] };
        for (writing, version) in ends {
            writing.end(&[Some(&block(7, version))]);
        }
        assert!(!cached());
    }
}

#[test]
fn a_checkpoint_waits_for_writes_that_began_before() {
    let mut machine = Machine::new();
    (0..KEYS / 4).for_each(|number| machine.read(number));
    let cache = &machine.cache;
    let ended = AtomicU64::new(0);
    let writing = cache.begin_write(vec![key(1)]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let sync = || {
                assert_eq!(ended.load(SeqCst), 1, "the origin is synced while a write goes on");
                Ok(())
            };
            cache.checkpoint(sync).unwrap();
        });
        // Time for the other thread: if it is slower, the test shows nothing, but does not fail.
        (0..2000).for_each(|_| std::thread::yield_now());
        ended.store(1, SeqCst);
        drop(writing);
    });
}

#[test]
fn threads_see_what_was_written() {
    let machine = Machine::new();
    let versions: Vec<AtomicU64> = (0..KEYS).map(|_| AtomicU64::new(0)).collect();
    let (cache, versions) = (&machine.cache, &versions);
    let hits = AtomicU64::new(0);
    let stop = AtomicU64::new(0);
    let work = |seed: u64| {
        let mut chance = Chance::new(seed);
        let mut found = vec![0; BLOCK];
        for _ in 0..20_000 {
            let number = chance.below(KEYS as u64 / 4) as usize;
            let before = versions[number].load(SeqCst);
            if seed == 0 && chance.one_in(8) {
                let writing = cache.begin_write(vec![key(number)]).unwrap();
                versions[number].store(before + 1, SeqCst);
                if chance.one_in(2) {
                    writing.end(&[Some(&block(number, before + 1))]);
                }
            } else if cache.read(key(number), &mut found) {
                let version = u64::from_le_bytes(found[8..16].try_into().unwrap());
                assert!(found == block(number, version), "torn");
                let after = versions[number].load(SeqCst);
                assert!((before..=after).contains(&version), "{before} {version} {after}");
                hits.fetch_add(1, SeqCst);
            } else if let Missed::Fill(fill) = cache.begin_fill(key(number)) {
                fill.finish(&block(number, versions[number].load(SeqCst)));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while stop.load(SeqCst) == 0 {
                cache.maintain();
                cache.checkpoint(|| Ok(())).unwrap();
            }
        });
        let workers: Vec<_> = (0..4).map(|seed| scope.spawn(move || work(seed))).collect();
        let ended: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        stop.store(1, SeqCst);
        for one in ended {
            one.unwrap();
        }
    });
    assert!(hits.load(SeqCst) > 1000);
    assert_eq!(cache.counts().damaged, 0, "a segment was used again while it was read");
}
