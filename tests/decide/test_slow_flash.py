"""The warning about a cache on flash whose hits are no faster than its misses."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.bundle.flash import ALL, SOURCE
from tests import bundle_data as data
from tests.bundles import Builder
from tests.judged import judged


@pytest.mark.parametrize(
    ("hit_ms", "miss_ms", "hit_ratio", "expected"),
    [(0.5, 0.4, 50.0, True), (0.1, 2.0, 50.0, False), (0.5, 0.4, 95.0, False)],
    ids=["slow", "fast", "too few misses to tell"],
)
def test_hits_that_take_as_long_as_misses(
    tmp_path: Path, hit_ms: float, miss_ms: float, hit_ratio: float, expected: bool
) -> None:
    builder = Builder(tmp_path / "run").oltp(4)
    phase = builder.phases[-1]
    assert phase.end_ns is not None
    values = {
        "hit": (hit_ms, "ms"),
        "miss": (miss_ms, "ms"),
        "hits": (10 * hit_ratio, "1/s"),
        "misses": (10 * (100 - hit_ratio), "1/s"),
        "hit_ratio": (hit_ratio, "%"),
        "blocks": (1000.0, "1/s"),
    }
    builder.tables["samples"] += [
        {"t_ns": t_ns, "source": SOURCE, "subject": ALL, "metric": metric, "value": value,
         "unit": unit}
        for t_ns in range(phase.start_ns, phase.end_ns, data.SECOND)
        for metric, (value, unit) in values.items()
    ]  # fmt: skip
    found = judged(builder.write())
    share = hit_ratio / 100
    bound = 1 / ((1 - share) + share * hit_ms / miss_ms)
    assert found.value(f"accelerate.{phase.name}.speed_up_bound") == pytest.approx(bound)
    assert ("slow-flash" in found.warned()) is expected
