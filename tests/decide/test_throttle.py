"""Devices that the run's own limits on I/O hold back: they look idle, the sessions wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.bundle.model import Confined
from tests.bundles import Builder
from tests.decide.test_limits import limit
from tests.decide.test_waits import PHASE, sample, sampled
from tests.judged import Judged, judged


def confined(device: str = "vdb", **limits: str) -> Confined:
    return Confined(where="server", version=1, limits=limits, devices=(device,))


def test_a_throttled_log_is_named_with_its_limit(tmp_path: Path) -> None:
    sessions = {"log/WALSync": 2.4, "lock/transactionid": 1.6}
    found = limit(
        sampled(
            tmp_path, sessions, inside={"log_flush": 9.6}, confined=confined(write_iops="200"),
            vdb={"utilisation": 3.0, "write_iops": 199.0},
        )
    )  # fmt: skip
    assert found.code == "limit-log"
    assert (
        "log device vdb 3 % busy, 199 of 200 writes/s (--limit write_iops=200), 9.6 ms a flush; "
        "60 % of 4.0 active sessions wait in WALSync. Next: locks" in found.message
    )
    assert f"resource.{PHASE}.disk.vdb.write_iops.mean" in found.evidence
    assert f"resource.{PHASE}.database.postgresql.log_flush.mean" in found.evidence


@pytest.mark.parametrize(
    ("iops", "device"),
    [
        (120.0, "vdb"),  # far from the limit
        (300.0, "vdb"),  # mostly writeback, which the limit does not hold
        (199.0, "vdz"),  # the limit is on another device
    ],
)
def test_a_limit_that_does_not_bind_is_no_evidence(
    tmp_path: Path, iops: float, device: str
) -> None:
    found = limit(
        sampled(
            tmp_path, {"log/WALSync": 2.4, "lock/tuple": 1.6}, vdb={"write_iops": iops},
            confined=confined(device, write_iops="200"),
        )
    )  # fmt: skip
    assert found.code == "limit-log"
    assert "--limit" not in found.message


def unsampled(path: Path, limits: dict[str, str]) -> Judged:
    """Four users whose sessions were not sampled, reading 196 pages of 16 KiB a second."""
    builder = Builder(path / "run").oltp(4)
    builder.confined = confined("vda", **limits)
    values = {"read_iops": 196.0, "read_mbps": 3.2, "utilisation": 4.0}
    rows = builder.tables["samples"]
    moments = sorted({row["t_ns"] for row in rows})
    rows[:] = [row for row in rows if row["source"] not in {"disk", "cpu"}]
    rows += [sample(at, "cpu", "host", "busy", 30.0) for at in moments]
    for metric, value in values.items():
        rows += [sample(at, "disk", "vda", metric, value) for at in moments]
    return judged(builder.write())


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"read_iops": "200"}, "vda had 196 of 200 reads/s (--limit read_iops=200)"),
        ({"read_bytes": "3MB"}, "vda had 3 of 3 MB/s read (--limit read_bytes=3MB)"),
        ({"read_iops": "200", "write_iops": "9"}, "196 of 200 reads/s"),
        ({"read_iops": "400"}, ""),
        ({"read_iops": "many"}, ""),
    ],
)
def test_a_throttled_device_is_saturated_without_samples_of_sessions(
    tmp_path: Path, limits: dict[str, str], words: str
) -> None:
    found = limit(unsampled(tmp_path, limits))
    assert (found.code == "limit-storage") is bool(words)
    assert words in found.message


@pytest.mark.parametrize(
    ("sessions", "code"),
    [
        # Who waits for a CPU counts as running: nobody does.
        ({"data/DataFileRead": 3.6, "cpu/running": 0.3}, "limit-data"),
        ({"data/DataFileRead": 1.6, "cpu/running": 2.4}, "limit-cpu"),
        # They are often not in the database: the driver may wait for a CPU.
        ({"data/DataFileRead": 1.6, "cpu/running": 0.3}, "limit-cpu"),
    ],
)
def test_a_busy_cpu_that_no_session_needs_is_not_named(
    tmp_path: Path, sessions: dict[str, float], code: str
) -> None:
    assert limit(sampled(tmp_path, sessions, busy=99.0)).code == code
