"""The probe of a cache on flash, and what its times bound."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dyno.analyse.flash import bound
from dyno.bundle import metrics
from dyno.bundle.flash import ALL, SOURCE, Flash
from dyno.stages.observe.flash import FlashProbe

COUNTERS = ("hits", "misses", "scanned", "left", "written_bytes", "flash_requests", "flash_ns",
            "origin_requests", "origin_ns")  # fmt: skip


def report(cache: Path, time_s: int, pid: int = 1, **kinds: dict[str, int]) -> None:
    told: list[dict[str, Any]] = [
        {"kind": name, "cached": name != "log", **dict.fromkeys(COUNTERS, 0), **counts}
        for name, counts in kinds.items()
    ]
    (cache / "status.json").write_text(json.dumps({"time": time_s, "pid": pid, "kinds": told}))


def values(probe: FlashProbe) -> dict[tuple[str, str], float]:
    return {(one.subject, one.metric): one.value for one in probe.read(0)}


def test_growth_between_two_reports(tmp_path: Path) -> None:
    probe = FlashProbe([tmp_path])
    assert values(probe) == {}
    first = {"hits": 10, "misses": 10, "flash_requests": 5, "flash_ns": 10**6}
    report(tmp_path, 100, table=first, log={"misses": 7})
    assert values(probe) == {}
    later = {"hits": 40, "misses": 20, "flash_requests": 15, "flash_ns": 3 * 10**6,
             "origin_requests": 4, "origin_ns": 20 * 10**6, "written_bytes": 4_000_000}  # fmt: skip
    report(tmp_path, 102, table=later, log={"misses": 99}, map={})
    found = values(probe)
    assert {subject for subject, _ in found} == {ALL, "table"}
    assert found[ALL, Flash.hit_ratio] == 75
    assert found["table", Flash.blocks] == 20
    assert found["table", Flash.hits] == 5
    assert found["table", Flash.hit] == pytest.approx(0.2)
    assert found["table", Flash.miss] == pytest.approx(5)
    assert found["table", Flash.written] == pytest.approx(2)
    assert values(probe) == {}, "the same report counts once"


def test_a_daemon_that_replaces_another_counts_from_zero(tmp_path: Path) -> None:
    probe = FlashProbe([tmp_path])
    report(tmp_path, 100, table={"hits": 1000})
    values(probe)
    report(tmp_path, 101, pid=2, table={"hits": 3})
    assert values(probe) == {}
    report(tmp_path, 102, pid=2, table={"hits": 8})
    assert values(probe)[ALL, Flash.blocks] == 5


def test_a_report_that_is_gone_is_a_gap(tmp_path: Path) -> None:
    probe = FlashProbe([tmp_path, tmp_path / "no"])
    report(tmp_path, 100, table={"hits": 1})
    values(probe)
    (tmp_path / "status.json").write_text("{")
    assert values(probe) == {}


@pytest.mark.parametrize(
    ("hits", "misses", "hit", "miss", "expected"),
    [(50, 50, 1, 10, 10 / 5.5), (99, 1, 0.1, 10, 10 / (0.1 + 0.099)), (50, 50, 2, 1, 1 / 1.5)],
)
def test_the_bound_of_the_speed_up(
    hits: float, misses: float, hit: float, miss: float, expected: float
) -> None:
    at = metrics.Resources("p")
    given = {Flash.hits: hits, Flash.misses: misses, Flash.hit: hit, Flash.miss: miss}
    known = [
        at.sampled(SOURCE, ALL, one).mean.estimate(value, "", unit=one.unit)
        for one, value in given.items()
    ]
    (found,) = bound("p", known)
    assert found.value == pytest.approx(expected)
    assert not list(bound("p", known[:3])), "no misses, no bound"
