"""The formulas of the probe ``disk`` against iostat, from the readings that iostat itself took.

``sysstat/diskstats.txt``: what ``iostat -x -d -o JSON 2 3`` (sysstat 12.6.1) read of a device under
load (fio, 70 % reads, beside other work), each line after the uptime that it took as the time.
``sysstat/diskstats-iostat.json``: what it printed.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from dyno.host.diskstats import DiskCounters, parse_diskstats
from dyno.stages.observe.disk import samples

HERE = Path(__file__).parent / "sysstat"
KIB = 1024.0
PRINTED = {
    "read_iops": ("r/s", 1.0),
    "write_iops": ("w/s", 1.0),
    "read_mbps": ("rkB/s", KIB / 1e6),
    "write_mbps": ("wkB/s", KIB / 1e6),
    "read_size": ("rareq-sz", KIB),
    "write_size": ("wareq-sz", KIB),
    "read_await": ("r_await", 1.0),
    "write_await": ("w_await", 1.0),
    "queue_length": ("aqu-sz", 1.0),
    "utilisation": ("util", 1.0),
}
"""By metric: what iostat calls it, and its factor."""

HALF = 0.00501
"""Two decimals are printed."""


def readings() -> list[tuple[float, DiskCounters]]:
    found: list[tuple[float, DiskCounters]] = []
    for line in (HERE / "diskstats.txt").read_text(encoding="utf-8").splitlines():
        uptime, _, rest = line.partition(" ")
        found.append((float(uptime), parse_diskstats(rest)["vda"]))
    return found


@pytest.mark.parametrize("period", [0, 1])
def test_every_metric_is_that_of_iostat(period: int) -> None:
    document = json.loads((HERE / "diskstats-iostat.json").read_text(encoding="utf-8"))
    # The first record is since the boot.
    (printed,) = document["sysstat"]["hosts"][0]["statistics"][1 + period]["disk"]
    (then, before), (now, after) = list(pairwise(readings()))[period]
    found = {one.metric: one.value for one in samples("vda", before, after, now - then)}
    assert set(PRINTED) <= set(found)
    for metric, (name, factor) in PRINTED.items():
        assert found[metric] == pytest.approx(printed[name] * factor, abs=HALF * factor), metric
    share = 100 * printed["r/s"] / (printed["r/s"] + printed["w/s"])
    assert found["read_share"] == pytest.approx(share, abs=0.01)
