//! Latency distributions over time, in bins of several widths: quantiles and a heat map of each.
//!
//! A bin of level 0 is a unit of time; those of each further level are `factor` times as wide.
//! Histograms are merged, so quantiles are exact to three digits at every width.

use std::collections::BTreeMap;

use crate::encoded::Decoder;
use crate::slots::{self, SLOTS, Slot};
use crate::{Error, ErrorKind, Result};

/// Used slots of a histogram, ascending, with their counts.
#[derive(Debug, Clone, Default)]
struct Sparse {
    slots: Vec<Slot>,
    counts: Vec<u64>,
}

/// The same, where it is stored.
type Part<'a> = (&'a [Slot], &'a [u64]);

/// Many histograms without their empty slots.
#[derive(Debug, Default)]
pub struct Histograms {
    all: Sparse,
    ends: Vec<usize>,
}

impl Histograms {
    /// Adds a stored histogram, or an empty one if it cannot be decoded.
    ///
    /// # Errors
    /// `protocol` if it cannot be decoded.
    pub fn push(&mut self, text: &[u8], decoder: &mut Decoder) -> Result<()> {
        let Sparse { slots, counts } = &mut self.all;
        let start = slots.len();
        let outcome = decoder.decode(text, |slot, count| {
            slots.push(slot);
            counts.push(count);
        });
        if outcome.is_err() {
            slots.truncate(start);
            counts.truncate(start);
        }
        self.ends.push(slots.len());
        outcome
    }

    /// Adds a histogram of one latency in ns.
    pub fn push_latency(&mut self, ns: u64) {
        self.all.slots.push(slots::of(ns.clamp(1, slots::HIGHEST_NS)).expect("it is in the range"));
        self.all.counts.push(1);
        self.ends.push(self.all.slots.len());
    }

    /// Adds a histogram without latencies.
    pub fn push_empty(&mut self) {
        self.ends.push(self.all.slots.len());
    }

    /// Adds the rows of another one.
    pub fn append(&mut self, mut other: Self) {
        let start = self.all.slots.len();
        self.all.slots.append(&mut other.all.slots);
        self.all.counts.append(&mut other.all.counts);
        self.ends.extend(other.ends.iter().map(|end| start + end));
    }

    fn row(&self, row: usize) -> Option<Part<'_>> {
        let end = *self.ends.get(row)?;
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some((&self.all.slots[start..end], &self.all.counts[start..end]))
    }
}

/// What a timeline derives from each bin.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Bins of a level that make one of the next.
    pub factor: i64,
    /// Number of levels.
    pub levels: usize,
    /// Newest bins of a level that need values.
    pub kept: usize,
    /// Newest bins of a level whose histograms are kept, because more latencies may come.
    pub held: usize,
    /// Quantiles, 0 to 1, ascending.
    pub quantiles: Vec<f64>,
    /// The row of the heat map of each slot.
    pub heat_rows: Vec<u8>,
}

/// New values of the bins of one level.
#[derive(Debug, Default, PartialEq)]
pub struct Values {
    /// The bins, ascending.
    pub bins: Vec<i64>,
    /// The slots of the quantiles of each bin.
    pub quantiles: Vec<Slot>,
    /// The counts in the rows of the heat map of each bin.
    pub heat: Vec<u32>,
}

/// The sums of rows in the bins of one level, for the timeline of several operations.
#[derive(Debug)]
pub struct Sums {
    level: usize,
    bins: Bins,
}

/// The latencies of one operation over time.
#[derive(Debug)]
pub struct Timeline {
    shape: Shape,
    heat_height: usize,
    held: Vec<BTreeMap<i64, Sparse>>,
    whole: Vec<u64>,
    sum: Sum,
}

impl Timeline {
    /// A timeline without latencies.
    ///
    /// # Errors
    /// `usage` if the shape is invalid.
    pub fn new(shape: Shape) -> Result<Self> {
        let fine = shape.factor > 1
            && shape.heat_rows.len() == SLOTS
            && shape.quantiles.is_sorted()
            && shape.quantiles.iter().all(|share| (0.0..=1.0).contains(share));
        if !fine {
            return Err(Error::new(ErrorKind::Usage, "The shape of a timeline is invalid."));
        }
        let heat_height = usize::from(shape.heat_rows.iter().copied().max().unwrap_or(0)) + 1;
        let held = vec![BTreeMap::new(); shape.levels];
        Ok(Self { shape, heat_height, held, whole: vec![0; SLOTS], sum: Sum::default() })
    }

    /// Adds `rows` of `histograms`, each in its bin of level 0, and returns the new values of each
    /// level, and the sums of these rows for [`Timeline::add_sums`]. Latencies that come for a bin
    /// older than those held count in wider bins only. The bins reach `newest` or further in the
    /// end, so some of these rows need no narrow bins.
    ///
    /// # Errors
    /// `usage` if a row does not exist, or not every row has a bin.
    pub fn add(
        &mut self,
        bins: &[i64],
        rows: &[i64],
        histograms: &Histograms,
        newest: i64,
    ) -> Result<(Vec<Values>, Sums)> {
        let wrong = || Error::new(ErrorKind::Usage, "Rows and bins of latencies do not agree.");
        if bins.len() != rows.len() {
            return Err(wrong());
        }
        let mut parts = Vec::with_capacity(rows.len());
        for (&bin, &row) in bins.iter().zip(rows) {
            let row = usize::try_from(row).ok().and_then(|row| histograms.row(row));
            parts.push((bin, row.ok_or_else(wrong)?));
        }
        let Shape { factor, levels, kept, .. } = self.shape;
        let (mut level, mut newest) = (0, newest);
        let mut last = parts.iter().map(|part| part.0).max().unwrap_or(0);
        while level + 1 < levels && last < newest.saturating_sub(kept as i64 - 1) {
            (last, newest) = (last.div_euclid(factor), newest.div_euclid(factor));
            level += 1;
        }
        let width = factor.pow(u32::try_from(level).unwrap_or(u32::MAX));
        let sums = Sums { level, bins: self.sum.by_bin(wider(parts.into_iter(), width)) };
        Ok((self.add_sums(&[&sums]), sums))
    }

    /// Adds what other timelines of the same shape have added; returns the new values of each level.
    pub fn add_sums(&mut self, sums: &[&Sums]) -> Vec<Values> {
        let Shape { factor, levels, .. } = self.shape;
        let mut found = Vec::with_capacity(levels);
        let mut added = Bins::default();
        for level in 0..levels {
            let new = sums.iter().filter(|one| one.level == level).flat_map(|one| one.bins.iter());
            added = self.sum.by_bin(wider(added.iter(), factor).chain(new));
            found.push(self.merge(level, &added));
        }
        // The widest bins are the fewest.
        for (_, (slots, counts)) in added.iter() {
            for (&slot, &count) in slots.iter().zip(counts) {
                let total = &mut self.whole[usize::from(slot)];
                *total = total.saturating_add(count);
            }
        }
        found
    }

    /// All latencies: used slots, ascending, and their counts.
    pub fn whole(&self) -> (Vec<Slot>, Vec<u64>) {
        let used = self.whole.iter().enumerate().filter(|one| *one.1 > 0);
        used.map(|(slot, count)| (slot as Slot, *count)).unzip()
    }

    /// Merges new histograms with those held of the same bins, and derives the values.
    fn merge(&mut self, level: usize, added: &Bins) -> Values {
        let (held, mut values) = (&mut self.held[level], Values::default());
        let newest = held.last_key_value().map_or(i64::MIN, |last| *last.0);
        let oldest = newest.saturating_sub(self.shape.held as i64 - 1);
        let first_held = added.bins.len().saturating_sub(self.shape.held);
        for (at, (bin, part)) in added.iter().enumerate() {
            if bin < oldest {
                // The histogram of this bin is gone: a part of it would be wrong.
                continue;
            }
            let merged = held.get(&bin).map(|before| {
                let mut merged = Sparse::default();
                self.sum.of([before.part(), part].into_iter(), &mut merged);
                merged
            });
            let whole = merged.as_ref().map_or(part, Sparse::part);
            values.bins.push(bin);
            quantiles(whole, &self.shape.quantiles, &mut values.quantiles);
            let start = values.heat.len();
            values.heat.resize(start + self.heat_height, 0);
            for (&slot, &count) in whole.0.iter().zip(whole.1) {
                let row = usize::from(self.shape.heat_rows[usize::from(slot)]);
                let cell = &mut values.heat[start + row];
                *cell = cell.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            }
            if at >= first_held {
                held.insert(bin, merged.unwrap_or_else(|| Sparse::of(part)));
                if held.len() > self.shape.held {
                    held.pop_first();
                }
            }
        }
        values
    }
}

impl Sparse {
    fn of((slots, counts): Part<'_>) -> Self {
        Self { slots: slots.to_vec(), counts: counts.to_vec() }
    }

    fn part(&self) -> Part<'_> {
        (&self.slots, &self.counts)
    }
}

/// Appends the slot of rank ⌈q·n⌉ for each quantile.
fn quantiles((slots, counts): Part<'_>, shares: &[f64], found: &mut Vec<Slot>) {
    let total = counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
    let ranks = shares.iter().map(|share| ((share * total as f64).ceil() as u64).max(1));
    let (mut at, mut up_to) = (0, counts[0]);
    for rank in ranks {
        while up_to < rank && at + 1 < counts.len() {
            at += 1;
            up_to = up_to.saturating_add(counts[at]);
        }
        found.push(slots[at]);
    }
}

/// The parts in bins `factor` times as wide.
fn wider<'a>(
    parts: impl Iterator<Item = (i64, Part<'a>)>,
    factor: i64,
) -> impl Iterator<Item = (i64, Part<'a>)> {
    parts.map(move |(bin, part)| (bin.div_euclid(factor), part))
}

/// Bins, ascending, with a histogram each.
#[derive(Debug, Default)]
struct Bins {
    bins: Vec<i64>,
    histograms: Histograms,
}

impl Bins {
    fn iter(&self) -> impl Iterator<Item = (i64, Part<'_>)> {
        let part = |row| self.histograms.row(row).expect("every bin has a histogram");
        self.bins.iter().enumerate().map(move |(row, bin)| (*bin, part(row)))
    }
}

/// Adds up histograms, by a dense one that is used again.
#[derive(Debug)]
struct Sum {
    counts: Vec<u64>,
    used: Vec<u64>,
}

impl Default for Sum {
    fn default() -> Self {
        Self { counts: vec![0; SLOTS], used: vec![0; SLOTS.div_ceil(64)] }
    }
}

impl Sum {
    /// One histogram for each bin. Parts without latencies make no bin.
    fn by_bin<'a>(&mut self, parts: impl Iterator<Item = (i64, Part<'a>)>) -> Bins {
        let mut found = Bins::default();
        let Histograms { all, ends } = &mut found.histograms;
        let mut parts: Vec<_> = parts.filter(|(_, (slots, _))| !slots.is_empty()).collect();
        parts.sort_by_key(|part| part.0);
        let most = parts.iter().map(|(_, (slots, _))| slots.len()).sum();
        all.slots.reserve(most);
        all.counts.reserve(most);
        let mut parts = parts.into_iter().peekable();
        while let Some((bin, first)) = parts.next() {
            let mut next = || parts.next_if(|part| part.0 == bin).map(|part| part.1);
            if let Some(second) = next() {
                self.of([first, second].into_iter().chain(std::iter::from_fn(next)), all);
            } else {
                all.slots.extend_from_slice(first.0);
                all.counts.extend_from_slice(first.1);
            }
            found.bins.push(bin);
            ends.push(all.slots.len());
        }
        found
    }

    /// Appends the sum of the parts to `sum`.
    fn of<'a>(&mut self, parts: impl Iterator<Item = Part<'a>>, sum: &mut Sparse) {
        let (mut first, mut end) = (self.used.len(), 0);
        for (slots, counts) in parts {
            if let (Some(lowest), Some(highest)) = (slots.first(), slots.last()) {
                first = first.min(usize::from(*lowest) / 64);
                end = end.max(usize::from(*highest) / 64 + 1);
            }
            for (&slot, &count) in slots.iter().zip(counts) {
                let total = &mut self.counts[usize::from(slot)];
                *total = total.saturating_add(count);
                self.used[usize::from(slot) / 64] |= 1 << (slot % 64);
            }
        }
        // Most histograms have latencies of a few octaves only.
        for word in first..end {
            let mut used = std::mem::take(&mut self.used[word]);
            while used != 0 {
                let slot = 64 * word + used.trailing_zeros() as usize;
                used &= used - 1;
                sum.slots.push(slot as Slot);
                sum.counts.push(std::mem::take(&mut self.counts[slot]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;
    use crate::slots::lowest;
    use proptest::prelude::*;

    const HELD: usize = 8;
    const KEPT: usize = 16;

    fn timeline() -> Timeline {
        let heat_rows = (0..SLOTS).map(|slot| (slot / 4096) as u8).collect();
        let quantiles = vec![0.5, 0.99];
        Timeline::new(Shape { factor: 4, levels: 3, kept: KEPT, held: HELD, quantiles, heat_rows })
            .unwrap()
    }

    fn histograms(rows: &[Vec<u64>]) -> Histograms {
        let (mut found, mut decoder) = (Histograms::default(), Decoder::default());
        for row in rows {
            let mut latency = Latency::new();
            for ns in row {
                latency.record(*ns);
            }
            found.push(latency.encode().unwrap().as_bytes(), &mut decoder).unwrap();
        }
        found
    }

    proptest! {
        #[test]
        fn every_level_has_the_quantiles_of_merged_histograms(
            rows in prop::collection::vec(prop::collection::vec(1u64..1 << 41, 0..40), 1..30),
            step in 1..9usize,
        ) {
            let histograms = histograms(&rows);
            let mut timeline = timeline();
            let mut found = vec![BTreeMap::new(); 3];
            let all: Vec<i64> = (0..rows.len() as i64).collect();
            for rows in all.chunks(step) {
                // Two rows a bin, as of two operations.
                let bins: Vec<i64> = rows.iter().map(|row| row / 2).collect();
                for (level, values) in timeline.add(&bins, rows, &histograms, 0).unwrap().0.iter().enumerate() {
                    for (at, bin) in values.bins.iter().enumerate() {
                        let heat: u64 = values.heat[9 * at..9 * (at + 1)].iter().map(|n| u64::from(*n)).sum();
                        found[level].insert(*bin, (values.quantiles[2 * at..2 * at + 2].to_vec(), heat));
                    }
                }
            }
            for (level, found) in found.iter().enumerate() {
                let width = 2 * 4usize.pow(level as u32);
                for (bin, rows) in rows.chunks(width).enumerate() {
                    let mut whole = Latency::new();
                    for ns in rows.iter().flatten() {
                        whole.record(*ns);
                    }
                    let of_bin = found.get(&(bin as i64));
                    prop_assert_eq!(of_bin.is_some(), whole.count() > 0);
                    if let Some((quantiles, heat)) = of_bin {
                        prop_assert_eq!(*heat, whole.count());
                        for (slot, share) in quantiles.iter().zip([0.5, 0.99]) {
                            let expected = crate::slots::of(whole.quantile_ns(share)).unwrap();
                            prop_assert_eq!(lowest(*slot), lowest(expected));
                        }
                    }
                }
            }
            prop_assert_eq!(timeline.whole().1.iter().sum::<u64>(), rows.iter().flatten().count() as u64);
        }
    }

    proptest! {
        #[test]
        fn the_sums_of_operations_give_what_their_rows_give(
            rows in prop::collection::vec((0..3usize, prop::collection::vec(1u64..1 << 41, 0..9)), 1..60),
            step in 1..20usize,
            newest in 0..40i64,
        ) {
            let texts: Vec<Vec<u64>> = rows.iter().map(|row| row.1.clone()).collect();
            let histograms = histograms(&texts);
            let (mut direct, mut summed) = (timeline(), timeline());
            let mut operations = [timeline(), timeline(), timeline()];
            let all: Vec<i64> = (0..rows.len() as i64).collect();
            for rows_now in all.chunks(step) {
                let newest = newest.max(rows_now[rows_now.len() - 1]);
                let expected = direct.add(rows_now, rows_now, &histograms, newest).unwrap().0;
                let sums: Vec<Sums> = operations.iter_mut().enumerate().filter_map(|(number, one)| {
                    let of: Vec<i64> =
                        rows_now.iter().copied().filter(|row| rows[*row as usize].0 == number).collect();
                    (!of.is_empty()).then(|| one.add(&of, &of, &histograms, newest).unwrap().1)
                }).collect();
                let found = summed.add_sums(&sums.iter().collect::<Vec<_>>());
                for (level, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    // The rows of one operation may end before the kept bins, and others not.
                    let width = 4i64.pow(level as u32);
                    let first_kept = newest.div_euclid(width) - (KEPT as i64 - 1);
                    let kept = |values: &Values| -> Vec<(i64, Vec<Slot>, Vec<u32>)> {
                        (0..values.bins.len()).filter(|at| values.bins[*at] >= first_kept).map(|at| (
                            values.bins[at],
                            values.quantiles[2 * at..2 * at + 2].to_vec(),
                            values.heat[9 * at..9 * (at + 1)].to_vec(),
                        )).collect()
                    };
                    prop_assert_eq!(kept(found), kept(expected));
                }
            }
            prop_assert_eq!(summed.whole(), direct.whole());
        }
    }

    #[test]
    fn a_bin_that_is_no_longer_held_gets_no_value_of_a_part() {
        let histograms = histograms(&[vec![1_000], vec![9_000]]);
        let mut timeline = timeline();
        for bin in 0..3 * HELD as i64 {
            timeline.add(&[bin], &[0], &histograms, bin).unwrap();
        }
        let found = timeline.add(&[0], &[1], &histograms, 0).unwrap().0;
        assert!(found[0].bins.is_empty());
        assert_eq!(found[1].bins, [0]);
        let (kept, gone) = (2 * HELD as i64, 2 * HELD as i64 - 1);
        let found = timeline.add(&[gone, kept], &[1, 1], &histograms, 0).unwrap().0;
        assert_eq!(found[0].bins, [kept]);
    }

    #[test]
    fn bins_that_will_be_too_old_get_no_values_but_count_in_wider_ones() {
        let histograms = histograms(&[vec![1_000, 2_000], vec![9_000]]);
        let (bins, rows) = ([4, 4 + KEPT as i64 - 1], [0, 1]);
        let newest = 4 + 2 * KEPT as i64;
        let mut whole = timeline();
        let expected = whole.add(&bins, &rows, &histograms, bins[1]).unwrap().0;
        assert_eq!(expected[0].bins, bins);
        let mut timeline = timeline();
        let found = timeline.add(&bins, &rows, &histograms, newest).unwrap().0;
        assert_eq!(found[0], Values::default());
        assert_eq!(found[1..], expected[1..]);
        assert_eq!(timeline.whole(), whole.whole());
        let last = timeline.add(&[newest], &[1], &histograms, newest).unwrap().0;
        assert_eq!(last[0].bins, [newest]);
    }

    #[test]
    fn rows_that_do_not_exist_are_refused() {
        let histograms = histograms(&[vec![1]]);
        for (bins, rows) in [(&[0][..], &[1][..]), (&[0], &[-1]), (&[0, 1], &[0])] {
            assert!(timeline().add(bins, rows, &histograms, 0).is_err());
        }
    }
}
