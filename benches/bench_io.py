"""The storage engine beside tuned fio: I/Os a second, latencies, and I/Os a second of CPU.

Targets: past the page cache 8 KiB random reads at depth 1, 8, 32, 128 with at least 0.98 of fio's
IOPS, and p50, p99, p99.9 within 2 %; 256 KiB sequential at least 1.0 of fio's MB/s. On memory
(a tmpfs: the processor is the limit) at least 1.15 of fio's I/Os a second of CPU.
fio has registered files and buffers, batches of the whole depth, and no random map. Both read the
same file and take turns; medians, and medians of paired ratios. CPU is that of the whole process;
for Dyno what a process that only starts Python takes is left out.
`python benches/bench_io.py [SECONDS [ROUNDS]]`
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import process, scratch

from dyno.model import Clock

FILE = 2 << 30
PROFILE = """
import sys
from dyno import _core
print(_core.profile(open(sys.argv[1]).read(), _core.Control()))
"""


@dataclass(frozen=True)
class Case:
    """A shape of I/O."""

    title: str
    pattern: str
    block: int
    reads: int
    depth: int


@dataclass(frozen=True)
class Seen:
    """Figures of one run: latencies in µs, and CPU in µs for each I/O."""

    iops: float
    p50: float
    p99: float
    p999: float
    cpu: float


DIRECT = [
    *(Case(f"random read 8 KiB, depth {depth}", "random", 8192, 100, depth)
      for depth in (1, 8, 32, 128)),
    Case("sequential read 256 KiB, depth 16", "sequential", 262_144, 100, 16),
    Case("sequential write 256 KiB, depth 16", "sequential", 262_144, 0, 16),
]  # fmt: skip
MEMORY = [
    Case(f"random read 4 KiB, depth {depth}", "random", 4096, 100, depth) for depth in (1, 32)
]


@functools.cache
def start_s() -> float:
    """CPU of a process that only starts Python and loads Dyno's compiled half."""
    return statistics.median(
        process(sys.executable, "-c", "from dyno import _core").cpu_s for _ in range(5)
    )


def ours(folder: Path, path: Path, case: Case, seconds: float) -> Seen:
    plan = {
        "file_id": "bench", "clock": Clock.now().model_dump(), "spool": str(folder / "io.jsonl"),
        "seed": 1, "engine": "io_uring",
        "targets": [{"path": str(path), "destroy": case.reads < 100}],
        "steps": [{
            "name": "bench", "seconds": seconds, "warmup_seconds": 0.25, "stop_at_ceiling": False,
            "jobs": [{
                "name": "bench", "pattern": case.pattern, "block_bytes": case.block,
                "read_percent": case.reads, "queue_depths": [case.depth],
            }],
        }],
    }  # fmt: skip
    asked, program, answer = folder / "plan.json", folder / "profile.py", folder / "outcome.json"
    asked.write_text(json.dumps(plan))
    program.write_text(PROFILE)
    with answer.open("w") as file:
        cost = process(sys.executable, program, asked, stdout=file)
    step: dict[str, Any] = json.loads(answer.read_text())["steps"][0]
    side = step["read" if case.reads else "write"]
    done = step["iops"] * (seconds + 0.25)
    return Seen(
        step["iops"], side["p50"] * 1e3, side["p99"] * 1e3, side["p999"] * 1e3,
        (cost.cpu_s - start_s()) / done * 1e6,
    )  # fmt: skip


def fio(folder: Path, path: Path, case: Case, seconds: float) -> Seen:
    what = "read" if case.reads else "write"
    order = "rand" if case.pattern == "random" else ""
    answer = folder / "fio.json"
    cost = process(
        "fio", "--name=bench", f"--filename={path}", f"--rw={order}{what}", f"--bs={case.block}",
        f"--size={path.stat().st_size}", f"--iodepth={case.depth}", "--direct=1",
        "--ioengine=io_uring", "--fixedbufs=1", "--registerfiles=1", "--norandommap=1",
        f"--iodepth_batch_submit={case.depth}", "--iodepth_batch_complete_min=1",
        f"--iodepth_batch_complete_max={case.depth}", "--random_generator=tausworthe64",
        "--time_based=1", "--ramp_time=250ms", f"--runtime={round(seconds * 1000)}ms",
        "--lat_percentiles=1", "--clat_percentiles=0", "--percentile_list=50:99:99.9", "--thread=1",
        "--output-format=json", f"--output={answer}",
    )  # fmt: skip
    job = json.loads(answer.read_text())["jobs"][0][what]
    ns = job["lat_ns"]["percentile"]
    done = job["iops"] * (seconds + 0.25)
    return Seen(
        job["iops"], ns["50.000000"] / 1e3, ns["99.000000"] / 1e3, ns["99.900000"] / 1e3,
        cost.cpu_s / done * 1e6,
    )  # fmt: skip


def compare(folder: Path, path: Path, case: Case, seconds: float, rounds: int) -> None:
    pairs: list[tuple[Seen, Seen]] = []
    for turn in range(rounds):
        if turn % 2 == 0:
            pairs.append((ours(folder, path, case, seconds), fio(folder, path, case, seconds)))
        else:
            theirs = fio(folder, path, case, seconds)
            pairs.append((ours(folder, path, case, seconds), theirs))

    def ratio(figure: str) -> float:
        return statistics.median(getattr(a, figure) / getattr(b, figure) for a, b in pairs)

    def words(side: int) -> str:
        iops, p50, p99, cpu = (
            statistics.median(getattr(pair[side], figure) for pair in pairs)
            for figure in ("iops", "p50", "p99", "cpu")
        )
        return f"{iops:8.0f} IOPS p50 {p50:7.1f} p99 {p99:8.1f} µs, CPU {cpu:5.2f} µs"

    print(f"  {case.title}\n    Dyno {words(0)}\n    fio  {words(1)}")
    print(
        f"    ratios: IOPS {ratio('iops'):.3f}, p50 {ratio('p50'):.3f}, p99 {ratio('p99'):.3f}, "
        f"p99.9 {ratio('p999'):.3f}, I/Os a second of CPU {1 / ratio('cpu'):.2f}",
        flush=True,
    )


def prepared(folder: Path, size: int) -> Path:
    """A file of random data, on the storage and not in the page cache."""
    path = folder / "bench.dat"
    block = os.urandom(1 << 20)
    with path.open("wb") as file:
        for number in range(size >> 20):
            file.write(number.to_bytes(8, "little") + block[8:])
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path


def main() -> None:
    seconds, rounds = (int(word) for word in (sys.argv[1:] + ["3", "5"][len(sys.argv) - 1 :]))
    if shutil.which("fio") is None:
        print("not measured: fio is not installed")
        return
    with scratch() as name:
        folder = Path(name)
        print(f"Past the page cache, a file of {FILE >> 30} GiB")
        path = prepared(folder, FILE)
        for case in DIRECT:
            compare(folder, path, case, seconds, rounds)
    with tempfile.TemporaryDirectory(prefix="dyno-bench-", dir="/dev/shm") as name:
        folder = Path(name)
        print("In memory (tmpfs), a file of 256 MiB")
        path = prepared(folder, 256 << 20)
        for case in MEMORY:
            compare(folder, path, case, seconds, rounds)


main()
