"""A cache on flash in front of a slow folder: what it costs, and what it gains.

The origin is an ext4 file system on a loop device. For some measurements a control group throttles
it; flash is a folder on this disk. fio reads and writes through the mount and beside it, in turns,
past the page cache unless it says otherwise. Targets: a hit ≤ 15 µs over flash at depth 1; ≥ 60 %
of flash's IOPS at depth 32; files that are not cached ≥ 95 % (sequential) and ≥ 75 % (random) of
the origin's speed; a miss ≤ 3 % slower on an origin of ≥ 1 ms; a commit ≤ 5 % slower; a cold scan
≥ 0.97 times as fast; prewarming in ≤ 10 % of the time; a speed-up ≥ 70 % of its bound; 64K random
reads from 400 to 16,000 IOPS.
Needs root, fio and version 1 of the control group blkio.
`python benches/bench_accelerate.py [FOLDER]`, 8 minutes
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from common import dyno

from dyno.accelerate.simulate import speed_up

MB = 1 << 20
SECONDS, TURNS = 4, 5
HOT, COLD, SCANS = "256M", "1500M", 3
GROUP = Path(f"/sys/fs/cgroup/blkio/dyno-bench-{os.getpid()}")


def call(*command: str | Path) -> str:
    return subprocess.run(
        [*map(str, command)], check=True, capture_output=True, text=True
    ).stdout.strip()


@contextlib.contextmanager
def loop(folder: Path) -> Generator[tuple[Path, str]]:
    """A mounted file system on a loop device, and the device's number."""
    image, point = folder / "image", folder / "slow"
    point.mkdir()
    with image.open("wb") as file:
        file.truncate(8000 * MB)
    call("mkfs.ext4", "-q", "-F", image)
    device = call("losetup", "-f", "--show", "--direct-io=on", image)
    try:
        call("mount", device, point)
        number = Path(device).stat().st_rdev
        with grouped():
            yield point, f"{os.major(number)}:{os.minor(number)}"
    finally:
        subprocess.run(["umount", "-l", point], check=False)
        call("losetup", "-d", device)


@contextlib.contextmanager
def grouped() -> Generator[None]:
    """Runs this process, with the daemons that it starts, in a control group.

    Limits are set there, so that none stays for others where the bench is killed.
    """
    GROUP.mkdir()
    (GROUP / "cgroup.procs").write_text("0")
    try:
        yield
    finally:
        for process in (GROUP / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                (GROUP.parent / "cgroup.procs").write_text(process)
        GROUP.rmdir()


@contextlib.contextmanager
def throttled(device: str, **limits: int) -> Generator[None]:
    """The device takes at most so many ``read_iops`` or ``read_bps``."""
    for name, limit in limits.items():
        (GROUP / f"blkio.throttle.{name}_device").write_text(f"{device} {limit}")
    try:
        yield
    finally:
        for name in limits:
            (GROUP / f"blkio.throttle.{name}_device").write_text(f"{device} 0")


def fio(path: Path, kind: str, *options: str, size: str = HOT, seconds: float = SECONDS,
        engine: str = "psync", direct: bool = True) -> dict[str, Any]:  # fmt: skip
    """What fio measured of a file."""
    done = call("fio", "--name=bench", f"--filename={path}", f"--rw={kind}", f"--size={size}",
                f"--ioengine={engine}", f"--direct={int(direct)}", "--randrepeat=0",
                "--norandommap", "--output-format=json",
                *([f"--runtime={seconds}", "--time_based"] if seconds else []),
                *options)  # fmt: skip
    job = json.loads(done[done.index("{") :])["jobs"][0]
    return job["write" if "write" in kind else "read"]


def p50_us(found: dict[str, Any]) -> float:
    return found["clat_ns"]["percentile"]["50.000000"] / 1000


def mean_ms(found: dict[str, Any]) -> float:
    return found["clat_ns"]["mean"] / 1e6


def turns(*sides: Callable[[], float], turns: int = TURNS) -> list[list[float]]:
    """The sides one after the other, several times, in turn first."""
    found: list[list[float]] = [[] for _ in sides]
    for turn in range(turns):
        for place in range(len(sides)):
            at = (place + turn) % len(sides)
            found[at].append(sides[at]())
    return found


def ratios(with_it: list[float], without: list[float]) -> str:
    each = sorted(a / b for a, b in zip(with_it, without, strict=True))
    return f"{statistics.median(each):.3f} [{each[0]:.3f}, {each[-1]:.3f}]"


def say(what: str, value: str, target: str) -> None:
    print(f"{what:46} {value:44} target {target}", flush=True)


def forget() -> None:
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")


def hits(origin: Path, flash: Path) -> None:
    hot, raw = origin / "hot.db", flash / "cache"
    for _ in range(3):  # until all of it is on flash
        forget()
        fio(hot, "read", "--bs=1M", seconds=0)
    mount, below = turns(
        lambda: p50_us(fio(hot, "randread", "--bs=8k")),
        lambda: p50_us(fio(raw, "randread", "--bs=8k")),
    )
    more = [a - b for a, b in zip(mount, below, strict=True)]
    value = f"{statistics.median(mount):.0f} - {statistics.median(below):.0f} = " \
            f"{statistics.median(more):+.0f} µs [{min(more):+.0f}, {max(more):+.0f}]"  # fmt: skip
    say("hit, p50 over flash, depth 1", value, "≤ +15 µs")
    deep = ("--bs=8k", "--iodepth=32")
    mount, below = turns(
        lambda: fio(hot, "randread", *deep, engine="io_uring")["iops"],
        lambda: fio(raw, "randread", *deep, engine="io_uring")["iops"],
    )
    value = f"{ratios(mount, below)}  ({statistics.median(mount):,.0f})"
    say("hits, IOPS of flash's, depth 32", value, "≥ 0.60")


def passed(origin: Path, beside: Path) -> None:
    log = origin / "pg_wal" / "1"
    for kind, size, target in (("read", "256k", 0.95), ("randread", "8k", 0.75)):
        mount, below = turns(
            lambda kind=kind, size=size: fio(log, kind, f"--bs={size}")["iops"],
            lambda kind=kind, size=size: fio(beside, kind, f"--bs={size}")["iops"],
        )
        say(
            f"not cached, {kind} {size}, speed of the origin's", ratios(mount, below), f"≥ {target}"
        )


def misses(origin: Path, beside: Path, device: str) -> None:
    cold = origin / "cold.db"
    with throttled(device, read_iops=500):
        mount, below = turns(
            lambda: mean_ms(fio(cold, "randread", "--bs=8k", size=COLD)),
            lambda: mean_ms(fio(beside, "randread", "--bs=8k", size=COLD)),
        )
    value = f"{ratios(mount, below)}  ({statistics.median(below):.2f} ms)"
    say("miss, mean over the origin's", value, "≤ 1.03")


def commits(origin: Path, beside: Path) -> None:
    options = ("--bs=8k", "--fdatasync=1", "--overwrite=1")
    for name in ("hot.db", "pg_wal/1"):
        mount, below = turns(
            lambda name=name: 1 / fio(origin / name, "write", *options, direct=False)["iops"],
            lambda: 1 / fio(beside, "write", *options, direct=False)["iops"],
        )
        say(f"write of 8K and fdatasync, {name}, duration", ratios(mount, below), "≤ 1.05")


def scans(origin: Path, beside: Path, device: str) -> None:
    def scan(path: Path) -> float:
        forget()
        return fio(path, "read", "--bs=128k", seconds=0, direct=False)["bw_bytes"]

    files = iter(range(SCANS))
    with throttled(device, read_bps=150 * MB):
        mount, below = turns(
            lambda: scan(origin / f"scan{next(files)}.db"), lambda: scan(beside), turns=SCANS
        )
    say("cold scan, speed of the origin's at 157 MB/s", ratios(mount, below), "≥ 0.97")


def gains(origin: Path, beside: Path, flash: Path, device: str) -> None:
    hot = origin / "hot.db"
    with throttled(device, read_iops=400):
        options = ("--bs=64k", "--iodepth=16")
        mount, below = turns(
            lambda: fio(hot, "randread", *options, engine="io_uring")["iops"],
            lambda: fio(beside, "randread", *options, engine="io_uring")["iops"],
            turns=3,
        )
        value = f"{statistics.median(below):,.0f} to {statistics.median(mount):,.0f}"
        say("random reads of 64K, warm", f"{value} IOPS", "400 to 16,000")
        flash_ms = mean_ms(fio(flash / "cache", "randread", "--bs=8k"))
        slow_ms = mean_ms(fio(beside, "randread", "--bs=8k", size=COLD))
        skewed = ("--bs=8k", "--random_distribution=zipf:1.1")
        for _ in range(3):
            before = told(origin)
            found = fio(origin / "skewed.db", "randread", *skewed, size=COLD, seconds=20)
            after = told(origin)
        reads = after["reads"] - before["reads"]
        hit = (after["hits"] - before["hits"]) / reads
        gain, bound = slow_ms / mean_ms(found), speed_up(hit, flash_ms, slow_ms)
        value = f"{gain:.1f} of {bound:.1f} times = {gain / bound:.2f}, hit ratio {hit:.3f}"
        say("skewed reads of 8K, speed-up by its bound", value, "≥ 0.70")


def prewarming(origin: Path, device: str) -> None:
    """Random reads need long until 90 % of a file's blocks are cached."""
    with throttled(device, read_iops=400):
        begun = time.monotonic()
        blocks, seen, chance = 64 * MB // 8192, set[int](), random.Random(1)
        fd = os.open(origin / "warm0.db", os.O_RDONLY | os.O_DIRECT)
        with mmap.mmap(-1, 8192) as page:
            while len(seen) < 0.9 * blocks:
                block = chance.randrange(blocks)
                os.preadv(fd, [page], block * 8192)
                seen.add(block)
        os.close(fd)
        unaided, begun = time.monotonic() - begun, time.monotonic()
        dyno("accelerate", "prewarm", origin, "--files", "warm1.db")
        prewarmed = time.monotonic() - begun
    value = f"{prewarmed:.1f} of {unaided:.1f} s = {prewarmed / unaided:.3f}"
    say("prewarming to 90 % of the hits, time by unaided", value, "≤ 0.10")


def told(origin: Path) -> dict[str, int]:
    time.sleep(2.2)
    status = dyno("accelerate", "status", origin)["caches"][0]["status"]
    table = next(kind for kind in status["kinds"] if kind["kind"] == "table")
    return {"hits": table["hits"], "reads": table["hits"] + table["misses"]}


def main() -> None:
    above = sys.argv[1] if len(sys.argv) > 1 else "/var/tmp"
    print(f"{TURNS} turns of {SECONDS} s a side: median [least, most]\n")
    with tempfile.TemporaryDirectory(dir=above) as name, loop(Path(name)) as (slow, device):
        origin, flash = slow / "origin", Path(name) / "flash"
        (origin / "pg_wal").mkdir(parents=True)
        files = {"hot.db": HOT, "pg_wal/1": HOT, "cold.db": COLD, "skewed.db": COLD}
        files |= {f"scan{number}.db": HOT for number in range(SCANS)}
        files |= {f"warm{number}.db": "64M" for number in range(2)}
        for path, size in {**files, "../beside": COLD}.items():
            fio(origin / path, "write", "--bs=1M", size=size, seconds=0)
        dyno("accelerate", "apply", origin, "--flash", flash, "--size", "1G", "--work", "dss",
             "--yes")  # fmt: skip
        try:
            hits(origin, flash)
            passed(origin, slow / "beside")
            commits(origin, slow / "beside")
            misses(origin, slow / "beside", device)
            scans(origin, slow / "beside", device)
            prewarming(origin, device)
            gains(origin, slow / "beside", flash, device)
        finally:
            dyno("accelerate", "detach", origin)


if __name__ == "__main__":
    main()
