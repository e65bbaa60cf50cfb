"""Reads of a folder with a cache whose processes are killed: stale or torn ones are counted.

Random operations run on the folder and on a plain one beside it, and all results are compared. The
daemon is killed after some of them, also between an operation and its answer. After every fortieth
kill the supervisor is killed as well, both folders are compared, and the cache is attached again.
`python benches/bench_kills.py [KILLS]`, 1,000 by default (a quarter of an hour)
"""

from __future__ import annotations

import json
import random
import sys
import threading
from collections import Counter
from pathlib import Path

from common import scratch

from tests.accelerate.attach.conftest import Volume
from tests.accelerate.attach.test_operations import OPERATIONS, outcome, read, tree
from tests.process import dyno, wait_until

ROUND = 40
# More reads than writes, so that blocks are cached, and read again from flash.
WORK = [*OPERATIONS, *[read] * 24]


def reported(volume: Volume) -> int:
    """Hits of the daemon, as it reported them within the last second."""
    return json.loads((volume.cache / "status.json").read_text(encoding="utf-8"))["hits"]


def killed(volume: Volume, over: threading.Event, done: Counter[str], hits: list[int]) -> None:
    """Kills one daemon after another, each while it serves; adds their hits."""
    chance = random.Random(done.total())
    try:
        for _ in range(ROUND):
            until = done.total() + chance.randrange(1, 1000)
            wait_until(lambda until=until: over.is_set() or done.total() >= until, "operations", 60)
            hits[0] += reported(volume)
            volume.kill_daemon()
    finally:
        over.set()


def operate(volume: Volume, plain: Path, over: threading.Event, done: Counter[str]) -> None:
    """Operates on both folders until the kills are over.

    Raises:
        AssertionError: If an operation has another result than on the plain folder.
    """
    while not over.is_set():
        step = done.total()
        operation = random.Random(step).choice(WORK)
        expected = outcome(operation, plain, str(step))
        found = outcome(operation, volume.origin, str(step))
        assert found == expected, (step, operation.__name__, brief(found), brief(expected))
        done[operation.__name__] += 1


def brief(result: object) -> str:
    """What fits in a line."""
    text = repr(result)
    return text if len(text) < 100 else f"{text[:80]}… {len(text)}"


def end(volume: Volume) -> None:
    """Kills the supervisor and the daemon, and takes the dead mount away."""
    left = [*volume.processes("supervisor"), *volume.processes("daemon")]
    for process in left:
        process.kill()
    wait_until(lambda: not any(process.is_running() for process in left), "their end", 30)
    assert dyno("accelerate", "detach", volume.origin).returncode == 0


def soak(folder: Path, rounds: int) -> tuple[Counter[str], int]:
    """Operates on a folder with a cache and on a plain one.

    Returns:
        Operations by name, and the hits of which a daemon could still report.
    """
    volume, plain = Volume(folder / "origin", folder / "flash"), folder / "plain"
    for root in (plain, volume.origin):
        for name in ("base/1", "pg_wal"):
            (root / name).mkdir(parents=True)
    done: Counter[str] = Counter()
    hits = [0]
    try:
        for number in range(rounds):
            volume.attach(new=number == 0)
            over = threading.Event()
            thread = threading.Thread(target=killed, args=(volume, over, done, hits))
            thread.start()
            try:
                operate(volume, plain, over, done)
            finally:
                over.set()
                thread.join()
            assert tree(volume.origin) == tree(plain)
            end(volume)
            assert tree(volume.origin) == tree(plain)
            told = f"  {number + 1} of {rounds}: {done.total():,} operations, {hits[0]:,} hits"
            print(told, file=sys.stderr, flush=True)
    finally:
        volume.end()
    return done, hits[0]


def main() -> None:
    rounds = (int(sys.argv[1]) if sys.argv[1:] else 1000) // ROUND
    with scratch() as folder:
        done, hits = soak(Path(folder), rounds)
    reads = done["read"] + done["direct"] + done["map_"]
    print(f"{rounds * ROUND:,} kills of the daemon, {rounds} of the supervisor as well")
    print(f"{done.total():,} operations, {reads:,} of them read, {hits:,} hits or more")
    print("none stale, torn or failed")


if __name__ == "__main__":
    main()
