"""``dyno accelerate simulate``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dyno.accelerate.simulate import POLICIES, simulate, speed_up
from dyno.accelerate.trace import WRITE, Trace
from dyno.runtime.progress import Silent
from tests.process import document, dyno


def looped(blocks: int, rounds: int) -> str:
    lines = (f"/data/a read {8192 * block} 8192" for _ in range(rounds) for block in range(blocks))
    return "\n".join(["fio version 2 iolog", "/data/a add", *lines, ""])


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    path = tmp_path / "loop.iolog"
    path.write_text(looped(100, 10))
    return path


def trace(blocks: list[int], kinds: list[int]) -> Trace:
    numbers = np.array(blocks, np.uint64)
    return Trace(numbers, np.array(kinds, np.uint8), ("table", "index"), 8192, None)


def test_a_loop_hits_only_where_it_fits(loop: Path) -> None:
    args = ("--size", "50%", "--size", "1M", "--json")
    found = document(dyno("accelerate", "simulate", loop, *args))
    assert (found["accesses"], found["footprint_blocks"]) == (1000, 100)
    ratios = {(one["policy"], one["blocks"]): one["hit_ratio"] for one in found["caches"]}
    assert {policy for policy, _ in ratios} == set(POLICIES)
    assert ratios["lru", 50] == 0.0
    assert ratios["belady", 50] > 0.4
    assert ratios["lru", 128] == ratios["belady", 128] == 0.9
    assert found["curve"]["hit_ratios"] == pytest.approx([0.0, 0.9], abs=1e-9)


def test_the_text_has_sizes_policies_and_the_limit(loop: Path) -> None:
    args = ("--policy", "lru", "--size", "100%", "--flash-ms", "0.1", "--origin-ms", "10")
    done = dyno("accelerate", "simulate", loop, *args)
    assert done.returncode == 0, done.stderr
    assert "819 kB" in done.stdout
    assert "90.0" in done.stdout
    assert f"{speed_up(0.9, 0.1, 10):.1f}×" in done.stdout
    assert "belady" not in done.stdout


@pytest.mark.parametrize(
    ("writes", "hits"), [("allocate", 2), ("update", 1), ("ignore", 1)], ids=str
)
def test_writes_are_no_hits_and_do_what_is_asked(writes: str, hits: int) -> None:
    # Block 1 is written, then read twice; block 2 is read once.
    accesses = trace([1, 1, 1, 2], [WRITE, 0, 0, 1])
    (found,) = simulate(accesses, [("lru", 4)], writes, 1.0, Silent())  # type: ignore[arg-type]
    assert found.reads == (2, 1)
    assert found.hits == (hits, 0)


def test_a_sample_is_close_to_the_whole() -> None:
    chance = np.random.default_rng(1)
    blocks = (60_000 ** chance.random(400_000)).astype(np.uint64)
    whole = Trace(blocks, np.zeros(blocks.size, np.uint8), ("x",), 8192, None)
    caches = [("lru", 6000), ("s3-fifo", 6000)]
    exact = simulate(whole, caches, "allocate", 1.0, Silent())
    sampled = simulate(whole, caches, "allocate", 0.2, Silent())
    for one, other in zip(exact, sampled, strict=True):
        assert sum(other.reads) < 0.4 * sum(one.reads)
        assert abs(one.hit_ratio - other.hit_ratio) < 0.05


@pytest.mark.parametrize(
    "args",
    [
        ("--policy", "lruu"),
        ("--size", "0%"),
        ("--size", "x%"),
        ("--size", "-1"),
        ("--size", "nan%"),
        ("--block", "0"),
        ("--sample", "0"),
        ("--sample", "nan"),
        ("--flash-ms", "1"),
        ("--format", "none"),
    ],
    ids=" ".join,
)
def test_usage_errors(loop: Path, args: tuple[str, ...]) -> None:
    done = dyno("accelerate", "simulate", loop, *args)
    assert done.returncode == 2, done.stdout
    assert len(done.stderr.splitlines()) <= 4


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    done = dyno("accelerate", "simulate", tmp_path / "none.iolog")
    assert done.returncode == 2
    assert "none.iolog" in done.stderr
