"""Many targets at once: 128 of them with 32 I/Os in flight each, 4096 in all.

Targets: started within 2 s (files opened, proved and sampled, threads, rings, buffers), and the sum
within 3 % of 128 fio processes; resident memory is reported too, of the engine in a bare Python
and of a whole `dyno io` with its record and report, of all targets and of one. On the disk it is
the device that is the limit, in the page cache the processor.
Both take turns (ABBA); medians, and medians of paired ratios with their quartiles. Memory of fio is
that of its largest process. Few of many processes of fio have I/O in flight at a time, each in its
own file: a disk may serve that faster than I/O spread over all files, with long waits for the other
processes, and in the page cache its own 32 buffers stay warm for a whole time slice. Two threads of
fio on all files do the same as the engine, so they are beside it as well.
`python benches/bench_io_many.py [SECONDS [ROUNDS [TARGETS]]]`
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
from operator import attrgetter
from pathlib import Path

from common import BIN, process, scratch
from storage import Case, Seen, abba, again, fio, middle, ours, page_cache, prepared, ratios

from dyno.bundle.reader import list_bundles

DEPTH = 32
FILE = 16 << 20
MEMORY = 1 << 20


def compare(folder: Path, paths: list[Path], case: Case, seconds: float, rounds: int) -> None:
    print(f"  {case.title}, {len(paths)} files of {paths[0].stat().st_size >> 20} MiB")
    cores = len(os.sched_getaffinity(0))
    for threads, name in ((0, f"fio, {len(paths)} processes"), (cores, f"fio, {cores} threads")):
        pairs = abba(
            rounds,
            lambda: ours(folder, paths, case, seconds),
            lambda threads=threads: fio(folder, paths, case, seconds, threads),
        )
        report(pairs, name)


def report(pairs: list[tuple[Seen, Seen]], name: str) -> None:
    iops = attrgetter("iops")
    for side, title in enumerate(("Dyno", name)):
        p50, p99 = (middle(pairs, side, attrgetter(of)) / 1e3 for of in ("p50", "p99"))
        print(
            f"    {title:20}{middle(pairs, side, iops):9.0f} IOPS, p50 {p50:7.2f} ms, "
            f"p99 {p99:7.2f} ms, CPU {middle(pairs, side, attrgetter('cpu')):6.2f} µs, "
            f"resident {middle(pairs, side, attrgetter('peak_bytes')) / 1e6:4.0f} MB"
        )
    starts = [seen.start_s for seen, _ in pairs]
    print(f"      sum: {ratios(pairs, iops)} of fio's; fio to fio {again(pairs, iops)}")
    print(f"      I/Os a second of CPU: {ratios(pairs, lambda seen: 1 / seen.cpu)} of fio's")
    print(
        f"      start: {statistics.median(starts):.3f} s, longest {max(starts):.3f} s", flush=True
    )


PROFILE = f"""# What the engine did above.
step = "2s"
[[curves]]
pattern = "random"
blocks = ["8K"]
reads = [100]
depths = [{DEPTH}]
"""


def whole(folder: Path, paths: list[Path]) -> None:
    folder = folder / str(len(paths))
    folder.mkdir()
    profile = folder / "bench.toml"
    profile.write_text(PROFILE)
    run = process(
        BIN / "dyno", "io", *paths, "--profile", profile, "--out", folder / "out", fine=(0, 1)
    )
    (bundle,) = list_bundles(folder / "out")
    measuring = max(
        row["value"]
        for row in bundle.table("samples").to_pylist()
        if (row["source"], row["subject"], row["metric"]) == ("process", "dyno", "rss")
    )
    print(
        f"  `dyno io` of {len(paths)}: resident {run.peak_bytes / 1e6:.0f} MB, "
        f"while it measured {measuring / 1e6:.0f} MB",
        flush=True,
    )


def main() -> None:
    given = sys.argv[1:]
    seconds, rounds, targets = (int(word) for word in given + ["3", "4", "128"][len(given) :])
    if shutil.which("fio") is None:
        print("not measured: fio is not installed")
        return
    with scratch() as name:
        folder = Path(name)
        print(f"{targets} targets, {DEPTH} in flight on each, past the page cache")
        paths = [prepared(folder / f"{number}.dat", FILE) for number in range(targets)]
        case = Case("random read 8 KiB", "random", 8192, 100, DEPTH)
        compare(folder, paths, case, seconds, rounds)
        whole(folder, paths)
        whole(folder, paths[:1])  # what the record and the report take in any case
    with scratch() as name, page_cache(Path(name)) as memory:
        if memory is None:
            print("In the page cache: not measured, that needs root and mkfs.ext4")
            return
        print("In the page cache")
        paths = [prepared(memory / f"{number}.dat", MEMORY) for number in range(targets)]
        case = Case("random read 4 KiB", "random", 4096, 100, DEPTH)
        compare(Path(name), paths, case, seconds, rounds)


main()
