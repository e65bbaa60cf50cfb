"""The measured time of a level: silence at its ends is a part of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import CriterionResult
from dyno.studies.metrics import METRICS
from tests import bundle_data as data
from tests.bundle_rows import histogram
from tests.bundles import Builder
from tests.judged import Judged, judged

TPS = data.LEVELS[4][0]
LIMITS = ("throughput > 1100 /s", "throughput min > 100 /s", "errors = 0")


def built(path: Path, limits: Sequence[str] = LIMITS, **fields: Any) -> tuple[Builder, list[int]]:
    """A minute at some 1,204/s, and the starts of its seconds."""
    builder = Builder(path / "run", verb="run").machine().target("postgresql")
    builder.plan = {"criteria": [{"text": text, "source": "asked for"} for text in limits]}
    builder.oltp(4, duration_s=60, **fields)
    rows = builder.tables["ops/users-4"]
    return builder, sorted({row["t_ns"] for row in rows if row["phase"] == "measure"})


def without(builder: Builder, moments: list[int], *, zeros: bool) -> Builder:
    """Nothing ended in these seconds: no rows, or those of zeros that the driver writes."""
    rows = builder.tables["ops/users-4"]
    kept = [row for row in rows if row["t_ns"] not in moments]
    empty = {"done": 0, "rolled_back": 0, "errors": "{}", "response": "", "service": ""}
    silent = [{**rows[-5], **empty, "t_ns": moment} for moment in moments] if zeros else []
    builder.tables["ops/users-4"] = sorted([*kept, *silent], key=lambda row: row["t_ns"])
    return builder


def results(found: Judged) -> dict[str, CriterionResult]:
    each = [item.result for item in found.findings if item.result is not None]
    return {item.criterion: item for item in each}


@pytest.mark.parametrize("zeros", [True, False])
def test_a_server_that_is_silent_at_the_end_is_seen(tmp_path: Path, zeros: bool) -> None:
    builder, moments = built(tmp_path)
    found = judged(without(builder, moments[-10:], zeros=zeros).write())
    name = "oltp.users-4"
    assert found.value(f"{name}.seconds") == 60
    assert found.value(f"{name}.tps") == pytest.approx(TPS * 50 / 60, rel=0.01)
    assert found.value(f"{name}.silent_s") == 10
    assert found.value(f"{name}.silence_expected") == pytest.approx(TPS * 50 / 60 * 10, rel=0.01)
    assert found.value(f"{name}.variation_percent") > 30
    assert {"outage", "unsteady"} <= found.warned()
    limits = results(found)
    mean, least, errors = limits.values()
    assert (mean.passed, least.passed, errors.passed) == (False, False, True)
    assert mean.value == pytest.approx(found.value(f"{name}.tps"))
    assert (mean.failing, mean.intervals, errors.intervals) == (10, 60, 60)
    assert (mean.worst, least.value) == (0, 0)
    assert mean.worst_t_ns == moments[50]
    # What the probes saw of the silence is of the window, too.
    assert found.value("resource.oltp-tpcc-postgresql-users-4.samples") == pytest.approx(60, abs=1)


def test_a_server_that_is_silent_at_the_start_is_seen(tmp_path: Path) -> None:
    builder, moments = built(tmp_path)
    found = judged(without(builder, moments[:10], zeros=True).write())
    assert found.value("oltp.users-4.tps") == pytest.approx(TPS * 50 / 60, rel=0.01)
    assert found.value("oltp.users-4.silent_s") == 10
    limit = results(found)["throughput mean > 1100 /s"]
    assert (limit.passed, limit.failing, limit.worst_t_ns) == (False, 10, moments[0])
    assert {"outage", "unsteady"} <= found.warned()


def test_a_level_without_silence_is_whole(tmp_path: Path) -> None:
    found = judged(built(tmp_path)[0].write())
    assert found.value("oltp.users-4.silent_s") == 0
    assert found.value("oltp.users-4.silence_expected") == 0
    assert all(item.passed and item.intervals == 60 for item in results(found).values())


def test_a_level_that_was_cut_off_in_silence_lasts_until_then(tmp_path: Path) -> None:
    builder, moments = built(tmp_path, status="interrupted")
    found = judged(without(builder, moments[-10:], zeros=True).write("interrupted"))
    assert found.value("oltp.users-4.seconds") == 60
    assert found.value("oltp.users-4.tps") == pytest.approx(TPS * 50 / 60, rel=0.01)


def test_a_window_longer_than_its_phase_adds_nothing(tmp_path: Path) -> None:
    found = judged(built(tmp_path, outcome={"seconds": 1e12})[0].write())
    assert results(found)["errors total = 0"].intervals == 60


def test_rows_of_zeros_are_no_operations(tmp_path: Path) -> None:
    builder, moments = built(tmp_path)
    rows = without(builder, moments[-10:], zeros=True).tables["ops/users-4"]
    for row in rows:
        if row["done"] == 0:
            row["op"] = "delivery"
    builder.tables["ops/users-4"] = [
        row for row in rows if row["op"] != "delivery" or row["done"] == 0
    ]
    found = judged(builder.write())
    assert found.value("oltp.users-4.silent_s") == 10
    assert "oltp.users-4.delivery.count" not in found.names()


POINTS = [[0, 1000.0], [20, 1000.0], [20, 0], [40, 0], [40, 1000.0]]


@pytest.mark.parametrize(
    ("silent", "seconds", "expected"),
    [(range(20, 40), 0, 0), ([*range(20, 40), 50, 51], 2, 2000), (range(18, 40), 2, 2000)],
)
def test_a_rate_that_is_planned_to_be_zero_is_no_outage(
    tmp_path: Path, silent: list[int], seconds: float, expected: float
) -> None:
    loop = {"kind": "open", "rate_per_s": POINTS, "poisson": True}
    builder, moments = built(tmp_path, loop=loop)
    found = judged(without(builder, [moments[n] for n in silent], zeros=True).write())
    assert found.value("oltp.users-4.silent_s") == seconds
    assert found.value("oltp.users-4.silence_expected") == expected
    assert ("outage" in found.warned()) is (seconds > 0)


def test_silence_that_may_be_chance_is_no_outage(tmp_path: Path) -> None:
    """At 5/s, one second without a completion is chance; five in a row are an outage."""
    loop = {"kind": "open", "rate_per_s": 5.0, "poisson": True}
    for number, (silent, is_outage) in enumerate(((range(7, 8), False), (range(7, 12), True))):
        builder, moments = built(tmp_path / str(number), loop=loop)
        found = judged(without(builder, [moments[n] for n in silent], zeros=True).write())
        assert found.value("oltp.users-4.silence_expected") == 5 * len(silent)
        assert ("outage" in found.warned()) is is_outage


RESPONSE = ("response < 2 s", "new_order p95 < 2 s", "response max < 20 s", "response mean < 50 ms")
UNPACED = {"kind": "closed", "think": False}
PACED = {"kind": "open", "rate_per_s": 1200.0, "poisson": True}


@pytest.mark.parametrize("loop", [UNPACED, PACED])
@pytest.mark.parametrize("start", [25, 50])
def test_a_server_that_stands_still_keeps_no_limit_on_response(
    tmp_path: Path, loop: dict[str, Any], start: int
) -> None:
    """Stopped for ten seconds, in the middle or to the end: no histogram has the waits."""
    builder, moments = built(tmp_path, RESPONSE, loop=loop)
    found = judged(without(builder, moments[start : start + 10], zeros=True).write())
    p95, of_one, longest, mean = results(found).values()
    # For 3 s of the minute, 5 % of it, whoever asked had to wait 7 s and more.
    assert (p95.passed, p95.value) == (False, pytest.approx(7000, rel=0.01))
    assert of_one.value == pytest.approx(7000, rel=0.01)
    assert (longest.passed, longest.value) == (True, pytest.approx(10_000))
    # Ten seconds in which they waited 5 s on average.
    assert mean.value == pytest.approx(10 / 60 * 5000)
    assert (p95.failing, p95.intervals, p95.worst_t_ns) == (8, 60, moments[start])
    assert p95.worst == pytest.approx(9950)
    assert "nothing completed for 10 s while users waited" in p95.note
    # The metrics of what ended are as they were recorded.
    assert found.value("oltp.users-4.new_order.response_p95_ms") < 20


def test_a_short_silence_is_shown_and_a_percentile_may_hold(tmp_path: Path) -> None:
    builder, moments = built(tmp_path, ("response < 2 s", "response max < 2.5 s"))
    found = judged(without(builder, moments[30:33], zeros=True).write())
    p95, longest = results(found).values()
    assert p95.passed is True
    assert p95.value is not None and p95.value < 20
    assert (p95.failing, p95.worst_t_ns) == (1, moments[30])
    assert "nothing completed for 3 s" in p95.note
    assert (longest.passed, longest.value) == (False, pytest.approx(3000))


def test_silence_that_nobody_minds_is_no_wait(tmp_path: Path) -> None:
    """It may be chance at 5/s, and at a rate of nothing it is the plan."""
    loops = ({**PACED, "rate_per_s": 5.0}, {**PACED, "rate_per_s": POINTS})
    for number, (loop, silent) in enumerate(zip(loops, (range(7, 8), range(20, 40)), strict=True)):
        builder, moments = built(tmp_path / str(number), RESPONSE, loop=loop)
        found = judged(without(builder, [moments[n] for n in silent], zeros=True).write())
        assert all(item.passed and not item.failing for item in results(found).values())
        assert {item.intervals for item in results(found).values()} == {60 - len(silent)}


def test_a_long_transaction_of_a_user_alone_is_no_silence(tmp_path: Path) -> None:
    """One that takes 2.5 s in the ordinary has its own value; orders are as fast as they are."""
    builder, moments = built(tmp_path, ("new_order p95 < 2 s", "response p95 < 2 s"))
    for row in builder.tables["ops/users-4"]:
        if row["op"] == "delivery":
            row["service"] = row["response"] = histogram(row["done"], 2500)
    silent = [moment for number, moment in enumerate(moments) if number % 3]
    found = judged(without(builder, silent, zeros=True).write())
    of_one, slowest = results(found).values()
    assert (of_one.passed, of_one.intervals, of_one.failing) == (True, 20, 0)
    assert slowest.passed is False
    assert slowest.value is not None and slowest.value > 2500


def test_users_who_never_had_an_answer_break_a_limit(tmp_path: Path) -> None:
    """Those who think may just not have asked."""
    for think, passed in ((False, False), (True, None)):
        builder, moments = built(tmp_path / str(think), RESPONSE, loop={**UNPACED, "think": think})
        found = judged(without(builder, moments, zeros=True).write())
        response, of_one, *_ = results(found).values()
        assert response.passed is passed
        assert of_one.passed is None


def test_the_page_caches_of_an_embedded_database(tmp_path: Path) -> None:
    counted = {"hits": 9_000, "misses": 1_000, "writes": 600, "spills": 30, "bytes_max": 8 << 20}
    builder, _ = built(tmp_path, outcome={"page_cache": counted})
    found = judged(builder.write())
    name = "oltp.users-4"
    assert found.value(f"{name}.page_hit_percent") == 90
    assert found.value(f"{name}.page_cache_bytes") == 8 << 20
    studied = {"page_hits": 90, "page_reads": 1_000 / 60, "page_writes": 10, "page_spills": 0.5}
    for metric, value in studied.items():
        assert METRICS[metric].of(found.estimates) == {metric: pytest.approx(value)}


def test_an_idle_or_unknown_page_cache_has_no_hit_ratio(tmp_path: Path) -> None:
    counted = {"hits": 0, "misses": 0, "writes": 0, "spills": "many", "bytes_max": 0}
    builder, _ = built(tmp_path, outcome={"page_cache": counted})
    found = judged(builder.write())
    names = {one.name.rpartition(".")[2] for one in found.estimates}
    assert "page_hit_percent" not in names
    assert "page_spills_per_s" not in names
    assert found.value("oltp.users-4.page_reads_per_s") == 0
