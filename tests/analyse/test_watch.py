"""A recording's busiest hour, means and gaps, against numbers computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import TargetFacts
from dyno.decide.judge import definitions
from dyno.report import document, run_report, summary
from tests.bundle_data import SECOND
from tests.bundles import Builder
from tests.judged import Judged, judged

STEP_S = 10
HOURS = 3
HOUR = "resource.watch/busiest-hour"


def recorded(path: Path, *, away: range = range(0), views: bool = True) -> Judged:
    """Three hours of a PostgreSQL: the hour from 01:00 to 02:00 has ten times the requests.

    It did not respond in the seconds ``away``. Without ``views`` only its clock can be read.
    """
    builder = Builder(path / "20261120T140000Z-ab12", verb="watch")
    devices: dict[str, tuple[str, ...]] = {"data": ("vda",), "log": ("vdb",)}
    builder.targets["postgresql"] = TargetFacts(
        url="postgresql://db1/shop", version="PostgreSQL 18.1", place="machine", devices=devices
    )
    start = builder.now
    probes = ["database", "sessions", "clock", "clerks"]
    detail = {"interval_s": STEP_S, "probes": probes, "stopped": True}
    builder.phase("watch", "Watch postgresql", "watch", HOURS * 3600, "postgresql", detail=detail)
    rows = builder.tables["samples"] = []

    def add(second: int, source: str, subject: str, **values: float) -> None:
        same = {"t_ns": start + second * SECOND, "source": source, "subject": subject}
        names = ((name.replace("__", "/"), value) for name, value in values.items())
        rows.extend({**same, "metric": name, "value": value, "unit": ""} for name, value in names)

    for second in range(STEP_S, HOURS * 3600 + 1, STEP_S):
        busy = 3600 < second <= 7200
        odd = (second // STEP_S) % 2
        add(second, "cpu", "host", busy=70.0 if busy else 20.0, steal=5.0)
        # The rare slow second has few reads: the mean over requests is far below 10 ms.
        reads, took = (990.0, 1.0) if odd else (10.0, 10.0)
        scale = 1.0 if busy else 0.1
        add(second, "disk", "vda", read_iops=scale * reads, write_iops=scale * 500, read_await=took)
        add(second, "disk", "vda", read_mbps=scale * reads * 0.008, write_mbps=scale * 500 * 0.016)
        add(second, "disk", "vdb", read_iops=0.0, write_iops=scale * 100, utilisation=30.0)
        add(second, "disk", "vdz", read_iops=9e5, write_iops=9e5)  # of another system
        if second % 30 == 0 and second not in away:
            add(second, "clock", "postgresql", offset=0.001, bound=0.001)
        if views and second not in away:
            add(second, "database", "postgresql", hit_ratio=99.0, logical_reads=1000.0)
            # An event is in a reading only if a session was in it.
            waits = {"log__WALSync": 4.0} if odd and busy else {}
            add(second, "sessions", "postgresql", cpu__running=1.0, **waits)
    for period in range(HOURS):
        span = {"t_ns": start + period * 3600 * SECOND, "end_ns": start, "target": "postgresql"}
        builder.tables.setdefault("statements", []).extend(
            {**span, "statement": name, "text": text, "calls": 10, "total_ms": total}
            for name, text, total in (("a", "SELECT 1", 700.0), ("b", "SELECT 2", 300.0))
        )
        builder.tables.setdefault("relations", []).extend(
            {**span, "relation": name, "kind": kind, "of_table": of, "logical_reads": reads}
            for name, kind, of, reads in (
                ("s.stock", "table", "s.stock", 400),
                ("s.stock_pk", "index", "s.stock", 300),
                ("s.item", "table", "s.item", 300),
            )
        )
    return judged(builder.write())


def test_the_busiest_hour_has_its_own_means(tmp_path: Path) -> None:
    found = recorded(tmp_path)
    assert found.value("watch.watch.busiest.iops.start_s") == 3600
    assert found.value("watch.watch.busiest.iops.seconds") == 3600
    # 500 reads on average, 500 writes, 100 writes to the log; vdz is not the database's.
    assert found.value("watch.watch.busiest.iops.mean") == pytest.approx(1100, rel=0.01)
    assert found.value("watch.watch.busiest.iops.whole_mean") == pytest.approx(440, rel=0.01)
    assert found.value("watch.watch.busiest.cpu.mean") == pytest.approx(75, rel=0.01)
    assert found.value("watch.watch.busiest.sessions.mean") == pytest.approx(3, rel=0.01)
    latency = (990 * 1.0 + 10 * 10.0) / 1000
    assert found.value(f"{HOUR}.disk.vda.read_await.mean") == pytest.approx(latency, rel=1e-3)
    assert found.value(f"{HOUR}.disk.vda.read_await.max") == 10
    assert found.value("resource.watch.cpu.host.busy.mean") == pytest.approx(110 / 3, rel=1e-3)
    wait = f"{HOUR}.sessions.postgresql.log/WALSync.mean"
    assert found.value(wait) == pytest.approx(2.0, rel=0.01)


def test_the_limit_is_that_of_the_busiest_hour(tmp_path: Path) -> None:
    found = recorded(tmp_path)
    assert found.validity.valid, found.validity.reasons
    verdict = found.findings[0].message
    assert verdict == "Valid. Bottleneck: the log (vdb) in the busiest hour."
    message = next(one.message for one in found.findings if one.code == "limit-log")
    assert "log device vdb 30 % busy" in message
    assert "67 % of 3.0 active sessions wait in WALSync" in message


def test_outputs_have_the_whole(tmp_path: Path) -> None:
    found = recorded(tmp_path)
    given = (found.bundle, found.estimates, found.findings)
    page = run_report(*given, definitions())
    for words in ("Busiest hour", "SELECT 1", "70.0", "s.stock", "Cache hit ratio: 99.0 %"):
        assert words in page
    text = "\n".join(summary(*given))
    assert "vda (data) 1,000 IOPS, 50 % reads" in text
    assert "70 % of the time: SELECT 1" in text and "70 % s.stock" in text
    made: dict[str, Any] = document(*given)["watch"]
    assert made["busiest_hours"]["iops"]["start_s"] == 3600
    assert made["volumes"]["vdb"]["roles"] == ["log"]
    assert made["active_sessions"] == pytest.approx({"log": 2.0, "cpu": 1.0}, rel=0.01)
    assert [(one["name"], one["calls"]) for one in made["statements"]] == [
        ("SELECT 1", 30),
        ("SELECT 2", 30),
    ]
    assert made["tables"][0]["percent"] == pytest.approx(70)
    assert made["gaps"] == 0


def test_a_database_that_was_away_leaves_a_gap(tmp_path: Path) -> None:
    found = recorded(tmp_path, away=range(1000, 1600))
    assert found.value("watch.watch.gaps") == 1
    assert found.value("watch.watch.gap_s") == pytest.approx(600)
    assert "unobserved-database" in found.warned()
    message = next(one.message for one in found.findings if one.code == "unobserved-database")
    assert "10 min 0 s in 1 gap" in message
    assert found.validity.valid
    mostly = recorded(tmp_path / "b", away=range(1000, 9000))
    assert "unobserved-database" in mostly.codes()


def test_a_server_without_the_views_responds_all_the_same(tmp_path: Path) -> None:
    found = recorded(tmp_path, views=False)
    assert "unobserved-database" not in {*found.warned(), *found.codes()}
    made: dict[str, Any] = document(found.bundle, found.estimates, found.findings)["watch"]
    assert made["gaps"] is None
    silent = recorded(tmp_path / "b", away=range(HOURS * 3600 + 1))
    assert "unobserved-database" in silent.codes()
