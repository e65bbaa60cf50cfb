"""A level that was extended until steady: what the driver counts is of a longer time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dyno.analyse.conduct import WITH_SETTLING
from dyno.bundle import metrics
from dyno.decide.case import Case
from dyno.report import document
from tests.bundles import Builder
from tests.judged import Judged, judged
from tests.report.conftest import report_of

OPEN = {"kind": "open", "rate_per_s": 1700.0, "poisson": True}
PAGES = {"hits": 90, "misses": 10, "writes": 5, "spills": 0, "bytes_max": 4096}
SECONDS, EARLY = 60, 40
AT = metrics.Level("users-16")
OF_THE_DRIVER = {
    *(AT.scheduled.name, AT.late.name, AT.unsent.name, AT.lag_p99_ms.name),
    *(AT.client_cpu_percent.name, AT.late_worst_percent.name, AT.page_hit_percent.name),
    AT.page_reads_per_s.name,
}


def settled(out: Path, early: int) -> Judged:
    """A minute with 3 % of the transactions late; the first seconds do not count."""
    builder = Builder(out / "run", verb="run").machine().target("postgresql")
    worst = {"late": {"value": 0.2, "at_s": 5.0, "seconds": 5.0}}
    due = {"scheduled": 100_000, "late": 3000, "unsent": 9, "page_cache": PAGES, "worst": worst}
    builder.oltp(16, duration_s=SECONDS, loop=OPEN, outcome=due)
    rows = [row for row in builder.tables["ops/users-16"] if row["phase"] == "measure"]
    start = min(row["t_ns"] for row in rows)
    for row in rows:
        if row["t_ns"] < start + early * 1e9:
            row["phase"] = "settling"
    detail = builder.phases[-1].detail
    detail["duration_s"] = SECONDS - early
    detail["until_steady"] = {
        "limit_s": 600.0, "asked_s": SECONDS - early, "settled": True, "left_out_s": early,
    }  # fmt: skip
    return judged(builder.write())


@pytest.mark.parametrize("early", [0, EARLY])
def test_metrics_of_a_longer_time_say_so(tmp_path: Path, early: int) -> None:
    found = settled(tmp_path, early)
    sources = {one.name: one.source for one in found.estimates}
    assert found.value(AT.seconds.name) == SECONDS - early
    assert {name for name in OF_THE_DRIVER if sources[name].endswith(WITH_SETTLING)} == (
        OF_THE_DRIVER if early else set()
    )
    for key in (AT.seconds, AT.transactions, AT.tps):
        assert not sources[key.name].endswith(WITH_SETTLING)
    (level,) = document(found.bundle, found.estimates, found.findings)["tpcc"]["levels"]
    assert (level["scheduled"], level.get("left_out_s")) == (100_000, early or None)


@pytest.mark.parametrize("early", [0, EARLY])
def test_rules_compare_metrics_of_the_same_time(tmp_path: Path, early: int) -> None:
    found = settled(tmp_path, early)
    case = Case.of(found.bundle, found.estimates)
    assert bool(case.span(AT)) is bool(early)
    (late,) = [one for one in found.findings if one.code == "rate-not-sustained"]
    assert set(late.evidence) == {AT.scheduled.name, AT.late.name, AT.unsent.name}
    assert case.span(AT) in late.message
    # The driver used a fifth of one of two CPUs in all of its time, whatever part of it counts.
    assert found.value(AT.client_cpu_percent.name) == pytest.approx(20)
    (cpu,) = [one for one in found.findings if one.code == "limit-cpu"]
    share = re.search(r"driver: (\d+) %", cpu.message)
    assert share is not None and int(share[1]) == 10


def test_the_report_says_so(tmp_path: Path) -> None:
    texts = [
        report_of(settled(tmp_path / str(early), early)).page.section("transactions").text
        for early in (0, EARLY)
    ]
    assert ["includes the time before" in text for text in texts] == [False, True]
