//! Splits a batch into parts for the kernel.

use crate::engine::Request;

/// Maximum parts of a batch, and minimum I/Os of a part. The device works on the first part while
/// the kernel prepares the next, instead of waiting for all.
const PARTS: usize = 4;
const LEAST: usize = 4;

/// Splits a batch. Adjacent blocks of a target stay together, because the kernel merges them into
/// fewer, larger I/Os.
pub(super) fn parts(batch: &[Request]) -> impl Iterator<Item = &[Request]> {
    let least = batch.len().div_ceil(PARTS).max(LEAST);
    let mut rest = batch;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, more) = rest.split_at(length(rest, least));
        rest = more;
        Some(part)
    })
}

fn length(batch: &[Request], least: usize) -> usize {
    if batch.len() <= least {
        return batch.len();
    }
    let on = batch[least - 1..].windows(2).take_while(|pair| side_by_side(&pair[0], &pair[1]));
    least + on.count()
}

fn side_by_side(one: &Request, next: &Request) -> bool {
    one.file == next.file && one.op == next.op && one.offset + u64::from(one.bytes) == next.offset
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Op;

    fn lengths(offsets: &[u64]) -> Vec<usize> {
        let batch: Vec<_> = offsets
            .iter()
            .map(|&block| Request {
                slot: 0,
                file: 0,
                op: Op::Read,
                offset: block * 4096,
                bytes: 4096,
            })
            .collect();
        let cut: Vec<_> = parts(&batch).collect();
        assert_eq!(cut.concat(), batch);
        cut.iter().map(|part| part.len()).collect()
    }

    #[test]
    fn a_quarter_of_a_batch_at_a_time() {
        let apart = |count: u64| (0..count).map(|at| at * 2).collect::<Vec<_>>();
        assert_eq!(lengths(&[]), Vec::<usize>::new());
        assert_eq!(lengths(&apart(3)), [3]);
        assert_eq!(lengths(&apart(10)), [4, 4, 2]);
        assert_eq!(lengths(&apart(34)), [9, 9, 9, 7]);
    }

    #[test]
    fn what_lies_side_by_side_stays_together() {
        assert_eq!(lengths(&(0..16).collect::<Vec<_>>()), [16]);
        // Two sequential streams, then single blocks.
        let streams = [0, 1, 2, 3, 4, 5, 90, 91, 92, 93, 94, 200, 210, 220, 230, 240];
        assert_eq!(lengths(&streams), [6, 5, 4, 1]);
    }
}
