"""Bottlenecks from utilisation and the waits of active sessions together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import Confined, TargetFacts
from dyno.decide.judge import definitions
from dyno.report import run_report
from tests.bundles import Builder
from tests.decide.test_limits import PHASE, limit
from tests.judged import Judged, judged

DEVICES: dict[str, tuple[str, ...]] = {"data": ("vda",), "log": ("vdb",), "temp": ("vdc",)}


def sampled(
    path: Path,
    sessions: Mapping[str, float],
    *,
    busy: float = 40.0,
    inside: Mapping[str, float] | None = None,
    devices: Mapping[str, tuple[str, ...]] = DEVICES,
    place: Any = "machine",
    loop: dict[str, Any] | None = None,
    confined: Confined | None = None,
    bound_s: float | None = None,
    **disk: dict[str, float],
) -> Judged:
    """Four users without think time, with average active sessions by class and event."""
    builder = Builder(path / "run").oltp(4, loop=loop)
    builder.confined = confined
    builder.targets["postgresql"] = TargetFacts(
        url="postgresql:///bench", version="PostgreSQL 18.1", place=place, devices=dict(devices)
    )
    rows = builder.tables["samples"]
    moments = sorted({row["t_ns"] for row in rows})
    for row in rows:
        if (row["source"], row["metric"]) == ("cpu", "busy"):
            row["value"] = busy
        if row["source"] == "disk":
            row["value"] = disk.get(row["subject"], {}).get(row["metric"], row["value"])
    usual = {"utilisation": 5.0, "queue_length": 0.1, "read_await": 0.2, "write_await": 0.2}
    for name in {"vdb", "vdc", *disk} - {"vda"}:
        for metric, value in {**usual, **disk.get(name, {})}.items():
            rows += [sample(at, "disk", name, metric, value) for at in moments]
    for metric, value in sessions.items():
        rows += [sample(at, "sessions", "postgresql", metric, value) for at in moments]
    for metric, value in (inside or {}).items():
        rows += [sample(at, "database", "postgresql", metric, value) for at in moments]
    if bound_s is not None:
        rows.append(sample(moments[len(moments) // 2], "clock", "postgresql", "bound", bound_s))
    return judged(builder.write())


def sample(t_ns: int, source: str, subject: str, metric: str, value: float) -> dict[str, Any]:
    same = {"t_ns": t_ns, "source": source, "subject": subject, "metric": metric}
    return {**same, "value": value, "unit": "count"}


def test_a_log_device_is_named_with_its_latency_and_the_waits(tmp_path: Path) -> None:
    sessions = {"cpu/running": 1.2, "log/WALSync": 2.3, "log/WALWrite": 0.1, "lock/tuple": 0.4}
    log = {"utilisation": 92.0, "queue_length": 0.95, "write_await": 3.8}
    found = limit(sampled(tmp_path, sessions, vdb=log))
    assert found.code == "limit-log"
    assert (
        "the log (vdb) (not verified by changing it): log device vdb 92 % busy, 3.8 ms a write; "
        "60 % of 4.0 active sessions wait in WALSync. Next: storage (vda): 66 % utilised."
        in found.message
    )
    assert "resource.oltp-tpcc-postgresql-users-4.disk.vdb.write_await.mean" in found.evidence


def test_a_log_on_the_device_of_the_data_is_not_told_apart(tmp_path: Path) -> None:
    shared = {"data": ("vda",), "log": ("vda",)}
    vda = {"utilisation": 97.0, "queue_length": 3.0, "write_await": 6.0}
    found = limit(sampled(tmp_path, {"log/WALSync": 3.0}, devices=shared, vda=vda))
    # One resource, although both the device and the waits show it.
    assert found.code == "limit-log"
    assert "log device vda (also data) 97 % busy" in found.message
    assert "Next: CPU" in found.message


@pytest.mark.parametrize(
    ("sessions", "code", "words"),
    [
        ({"lock/tuple": 2.0, "lock/transactionid": 1.4, "cpu/running": 0.3}, "locks", "tuple and"),
        ({"latch/BufferContent": 2.0, "cpu/running": 1.0}, "latch", "BufferContent"),
        ({"data/DataFileRead": 2.5, "cpu/running": 1.0}, "data", "data device vda 66 % busy"),
        ({"temp/BufFileWrite": 2.5, "cpu/running": 1.0}, "temp", "temp device vdc 5 % busy"),
        ({"cpu/running": 0.3, "client/ClientWrite": 0.2}, "network", "0.5 of 4 sessions"),
        ({"cpu/running": 2.6, "other/Extension": 0.5}, "unattributed", "84 % of 3.1 active"),
    ],
)
def test_waits_name_what_utilisation_cannot(
    tmp_path: Path, sessions: dict[str, float], code: str, words: str
) -> None:
    found = limit(sampled(tmp_path, sessions))
    assert found.code == f"limit-{code}"
    assert words in found.message


def test_metrics_of_the_database_are_evidence(tmp_path: Path) -> None:
    inside = {"hit_ratio": 81.0, "log_flush": 4.2, "temp_written": 120.0, "lock_waits": 55.0}
    words = {
        "log/WALSync": "4.2 ms a flush",
        "data/DataFileRead": "81.0 % of the page lookups hit the cache",
        "temp/BufFileWrite": "120 MB/s spilled",
        "lock/tuple": "55 lock waits/s",
    }
    for number, (event, text) in enumerate(words.items()):
        result = sampled(tmp_path / str(number), {event: 3.0}, inside=inside)
        assert text in limit(result).message
    found = limit(sampled(tmp_path / "wait", {"log/WRITELOG": 3.0}, inside={"log_wait": 1.6}))
    assert "1.6 ms a commit" in found.message
    assert any(name.endswith("log_wait.mean") for name in found.evidence)


def test_the_round_trip_is_evidence(tmp_path: Path) -> None:
    found = limit(sampled(tmp_path, {"cpu/running": 0.3}, bound_s=0.0011))
    assert found.code == "limit-network"
    assert "a round trip takes 2.2 ms" in found.message
    assert any(name.endswith(".clock.postgresql.bound.mean") for name in found.evidence)


def test_a_busy_cpu_goes_before_locks_that_it_prolongs(tmp_path: Path) -> None:
    found = sampled(tmp_path, {"cpu/running": 2.0, "lock/tuple": 2.0}, busy=97.0)
    assert limit(found).code == "limit-cpu"
    message = limit(found).message
    assert "50 % of 4.0 active sessions run" in message
    assert "Next: locks: 50 % of 4.0 active sessions wait in tuple" in message
    assert "Bottleneck: CPU, then locks, for transactions" in found.findings[0].message
    page = run_report(found.bundle, found.estimates, found.findings, definitions())
    assert "Next: locks" in page


def test_an_event_that_a_second_lacks_counts_as_none(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").oltp(4)
    rows = builder.tables["samples"]
    moments = sorted({row["t_ns"] for row in rows})
    rows += [sample(at, "sessions", "postgresql", "cpu/running", 1.0) for at in moments]
    rows += [sample(at, "sessions", "postgresql", "lock/tuple", 3.0) for at in moments[::4]]
    found = judged(builder.write())
    mean = found.value(f"resource.{PHASE}.sessions.postgresql.lock/tuple.mean")
    assert mean == pytest.approx(0.75, rel=0.25)


def test_users_who_think_do_not_wait_for_round_trips(tmp_path: Path) -> None:
    thinking = {"kind": "closed", "think": True}
    found = sampled(tmp_path, {"cpu/running": 0.3, "log/WALSync": 0.2}, loop=thinking)
    assert limit(found).code == "limit-unattributed"


def test_the_waits_of_a_server_elsewhere_count(tmp_path: Path) -> None:
    found = sampled(tmp_path, {"lock/tuple": 3.0, "cpu/running": 0.2}, place="elsewhere", busy=99.0)
    assert limit(found).code == "limit-locks"
    assert "Next" not in limit(found).message  # this machine is the driver's


def test_memory_pressure_is_named(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").oltp(4)
    rows = builder.tables["samples"]
    moments = sorted({row["t_ns"] for row in rows})
    rows += [sample(at, "pressure", "memory", "some", 72.0) for at in moments]
    for row in rows:
        if row["source"] == "cpu" and row["metric"] == "busy":
            row["value"] = 50.0
    found = limit(judged(builder.write()))
    assert found.code == "limit-memory"
    assert "waited for memory 72 % of the time" in found.message


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"elasticity": 0.87, "low": 0.8, "high": 0.94}, "(confirmed: elasticity 0.87, 0.80 to"),
        ({"elasticity": 0.3, "low": 0.2, "high": 0.4}, "(contributory: elasticity 0.30"),
        ({"elasticity": 0.1, "low": -0.1, "high": 0.3}, "(not confirmed by changing it: elast"),
        ({"reason": "Dyno cannot change locks"}, "(not verified: Dyno cannot change locks)"),
        ({"of": "another"}, "(not verified by changing it)"),
        ({"resource": "locks"}, "(not verified by changing it)"),
    ],
)
def test_a_test_of_the_bottleneck_is_reported(
    tmp_path: Path, result: dict[str, Any], words: str
) -> None:
    builder = Builder(tmp_path / "run").oltp(16)  # 96 % busy
    level = builder.phases[-1].name
    detail = {"of": level, "resource": "CPU", **result}
    builder.phase("confirm", "Confirm the bottleneck", "confirm", 1.0, "postgresql", detail=detail)
    found = limit(judged(builder.write()), level)
    assert found.code == "limit-cpu"
    assert words in found.message
