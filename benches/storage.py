"""What the benchmarks of storage share: Dyno's engine in a process of its own, tuned fio, files.

fio has registered files and buffers, batches of the whole depth, and no random map. Both read the
same files. Latencies are fio's `lat`, from the preparation of an I/O to its end, and Dyno's service
time, from just before the submission to the end.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import Cost, process

from dyno.bundle.model import Clock

WARMUP = 0.25
"""Seconds that neither side counts."""

HUGE_PAGES = 32
"""That fio needs set aside for buffers in them; Dyno's are transparent ones."""

PROFILE = """
import sys
from dyno import _core
print(_core.profile(open(sys.argv[1]).read(), _core.Control()))
"""


@dataclass(frozen=True)
class Case:
    """A shape of I/O, on every target; and the pages of memory that its buffers are in."""

    title: str
    pattern: str
    block: int
    reads: int
    depth: int
    pages: str = "ordinary"


@dataclass(frozen=True)
class Seen:
    """Metrics of one run: latencies in µs, CPU of the whole process in µs for each I/O, and the
    time until the first I/O of the step, which is for files that are there.
    """

    iops: float
    p50: float
    p99: float
    p999: float
    cpu: float
    peak_bytes: int = 0
    start_s: float = 0.0


@functools.cache
def python_s() -> float:
    """CPU of a process that only starts Python and loads Dyno's compiled half."""
    return statistics.median(
        process(sys.executable, "-c", "from dyno import _core").cpu_s for _ in range(5)
    )


def engine(folder: Path, plan: dict[str, Any]) -> tuple[dict[str, Any], Cost]:
    """Runs a plan, whose usual parts are put in, in a process of its own; its outcome and cost."""
    usual = {
        "file_id": "bench", "clock": Clock.now().model_dump(), "spool": str(folder / "io.jsonl"),
        "seed": 1,
    }  # fmt: skip
    asked, program, answer = folder / "plan.json", folder / "profile.py", folder / "outcome.json"
    asked.write_text(json.dumps({**usual, **plan}))
    program.write_text(PROFILE)
    with answer.open("w") as file:
        cost = process(sys.executable, program, asked, stdout=file)
    return json.loads(answer.read_text()), cost


def curve(case: Case, seconds: float, **more: Any) -> dict[str, Any]:
    """A curve of one job; ``more`` is put into the job."""
    job = {
        "name": "bench", "pattern": case.pattern, "block_bytes": case.block,
        "read_percent": case.reads, "queue_depths": [case.depth], **more,
    }  # fmt: skip
    return {
        "name": "bench", "seconds": seconds, "warmup_seconds": WARMUP, "stop_at_ceiling": False,
        "jobs": [job],
    }  # fmt: skip


def ours(folder: Path, paths: Sequence[Path], case: Case, seconds: float) -> Seen:
    targets = [{"path": str(path), "destroy": case.reads < 100} for path in paths]
    steps = [curve(case, seconds)]
    plan = {"engine": "io_uring", "targets": targets, "steps": steps, "pages": case.pages}
    outcome, cost = engine(folder, plan)
    step = outcome["steps"][0]
    assert (step["huge_percent"] >= 95) == (case.pages == "huge"), step["huge_percent"]
    side = step["read" if case.reads else "write"]
    done = step["iops"] * (seconds + WARMUP)
    return Seen(
        step["iops"], side["p50"] * 1e3, side["p99"] * 1e3, side["p999"] * 1e3,
        (cost.cpu_s - python_s()) / done * 1e6, cost.peak_bytes,
        outcome["prepare_seconds"] + step["start_seconds"],
    )  # fmt: skip


def fio(folder: Path, paths: Sequence[Path], case: Case, seconds: float, threads: int = 0) -> Seen:
    """One job for each path: a thread for one, a process each for several. Or so many threads, each
    on all paths, which are in one folder, with its share of the I/Os in flight.
    """
    what = "read" if case.reads else "write"
    order = "rand" if case.pattern == "random" else ""
    answer = folder / "fio.json"
    depth = case.depth
    size = f"--size={length(paths[0])}"
    jobs = [word for n, path in enumerate(paths) for word in (f"--name=j{n}", f"--filename={path}")]
    if threads:
        depth = depth * len(paths) // threads
        size = "--file_service_type=random"
        names = ":".join(path.name for path in paths)
        jobs = ["--name=all", f"--directory={paths[0].parent}", f"--filename={names}"]
        jobs.append(f"--numjobs={threads}")
    cost = process(
        "fio", "--name=global", f"--rw={order}{what}", f"--bs={case.block}",
        size, f"--iodepth={depth}", "--direct=1",
        *(["--iomem=mmaphuge"] if case.pages == "huge" else []),
        "--ioengine=io_uring", "--fixedbufs=1", "--registerfiles=1", "--norandommap=1",
        f"--iodepth_batch_submit={depth}", "--iodepth_batch_complete_min=1",
        f"--iodepth_batch_complete_max={depth}", "--random_generator=tausworthe64",
        "--time_based=1", f"--ramp_time={round(WARMUP * 1000)}ms",
        f"--runtime={round(seconds * 1000)}ms", "--lat_percentiles=1", "--clat_percentiles=0",
        "--percentile_list=50:99:99.9", *(["--thread=1"] if threads or len(paths) == 1 else []),
        "--group_reporting=1", "--output-format=json", f"--output={answer}", *jobs,
    )  # fmt: skip
    job = json.loads(answer.read_text())["jobs"][0][what]
    ns = job["lat_ns"]["percentile"]
    done = job["iops"] * (seconds + WARMUP)
    return Seen(
        job["iops"], ns["50.000000"] / 1e3, ns["99.000000"] / 1e3, ns["99.900000"] / 1e3,
        cost.cpu_s / done * 1e6, cost.peak_bytes,
    )  # fmt: skip


def abba(rounds: int, a: Callable[[], Seen], b: Callable[[], Seen]) -> list[tuple[Seen, Seen]]:
    """Runs both sides in pairs; every second pair begins with the other one."""
    pairs: list[tuple[Seen, Seen]] = []
    for turn in range(rounds):
        if turn % 2 == 0:
            first = a()
            pairs.append((first, b()))
        else:
            first = b()
            pairs.append((a(), first))
    return pairs


def ratios(pairs: Sequence[tuple[Seen, Seen]], metric: Callable[[Seen], float]) -> str:
    """The median of the paired ratios, and their quartiles."""
    of = sorted(metric(a) / metric(b) for a, b in pairs)
    if len(of) < 4:
        return f"{statistics.median(of):.3f}"
    low, _, high = statistics.quantiles(of, n=4, method="inclusive")
    return f"{statistics.median(of):.3f} ({low:.2f} to {high:.2f})"


def again(pairs: Sequence[tuple[Seen, Seen]], metric: Callable[[Seen], float]) -> str:
    """The least and the largest ratio of two runs of the second side in a row."""
    runs = [metric(pair[1]) for pair in pairs]
    of = [later / first for first, later in zip(runs[::2], runs[1::2], strict=False)]
    return f"{min(of):.2f} to {max(of):.2f}" if of else "once only"


def middle(pairs: Sequence[tuple[Seen, Seen]], side: int, metric: Callable[[Seen], float]) -> float:
    """The median of one side."""
    return statistics.median(metric(pair[side]) for pair in pairs)


def length(path: Path) -> int:
    """Bytes of a file or device."""
    with path.open("rb") as file:
        return file.seek(0, os.SEEK_END)


def huge_pages() -> int:
    """Huge pages that are set aside and free."""
    return int(Path("/proc/meminfo").read_text().split("HugePages_Free:")[1].split()[0])


def transparent() -> str:
    """What the system does with memory that nobody asked to have in huge pages, or not."""
    text = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
    return text.split("[")[1].split("]")[0]


@contextlib.contextmanager
def page_cache(folder: Path) -> Iterator[Path | None]:
    """A folder whose I/O stays in the page cache, so that the processor is the limit; None without
    root. It is an ext4 that journals data: it takes O_DIRECT, and reads through the cache all the
    same. (I/O of a tmpfs or of zram would take threads of the kernel as well.)
    """
    if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
        yield None
        return
    with mounted(folder, "data=journal") as place:
        yield place


@contextlib.contextmanager
def mounted(folder: Path, options: str = "defaults") -> Iterator[Path]:
    """An ext4 of 1 GiB in a file on a loop device."""
    image, place = folder / "image", folder / "mounted"
    with image.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1 << 30)
    place.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    subprocess.run(["mount", "-o", f"loop,{options}", image, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)  # rings of the dead close late


def prepared(path: Path, size: int) -> Path:
    """A file of random data, on the storage and not in the page cache."""
    block = os.urandom(1 << 20)
    with path.open("wb") as file:
        for number in range(size >> 20):
            file.write(number.to_bytes(8, "little") + block[8:])
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path
