"""Metrics of volumes by role, of stacked devices and of sessions, against sums by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno.studies.metrics import METRICS
from tests.bundle_data import SECOND
from tests.bundles import Builder
from tests.judged import Judged, judged

PHASE = "resource.oltp-tpcc-postgresql-users-4"
MIB = 1 << 20

Values = dict[str, tuple[float, float]]
"""Values of odd and even seconds by metric."""

DATA_1: Values = {"read_iops": (100, 300), "write_iops": (0, 100), "read_mbps": (1, 3),
                  "write_mbps": (0, 2), "read_await": (4, 1), "write_await": (9, 2),
                  "read_size": (8192, 8192), "write_size": (0, 16384), "read_share": (100, 75),
                  "queue_length": (1, 3), "utilisation": (10, 30)}  # fmt: skip
DATA_2: Values = {"read_iops": (300, 100), "write_iops": (100, 0), "read_mbps": (6, 2),
                  "write_mbps": (1, 0), "read_await": (2, 8), "write_await": (1, 9),
                  "read_size": (16384, 16384), "write_size": (8192, 0), "read_share": (75, 100),
                  "queue_length": (2, 2), "utilisation": (50, 40)}  # fmt: skip
LOG: Values = {"read_iops": (0, 0), "write_iops": (900, 100), "read_mbps": (0, 0),
               "write_mbps": (4, 4), "write_await": (1, 3), "queue_length": (1, 1),
               "utilisation": (60, 60), "write_size": (4096, 4096),
               "read_share": (0, 0)}  # fmt: skip


def built(path: Path, devices: dict[str, tuple[str, ...]], source: str = "disk") -> Judged:
    builder = Builder(path / "run", verb="run").machine().target("postgresql")
    facts = builder.targets["postgresql"]
    builder.targets["postgresql"] = facts.model_copy(update={"devices": devices})
    builder.oltp(4)
    rows = builder.tables["samples"]
    ticks = sorted({row["t_ns"] for row in rows})
    for name, values in (("vdb", DATA_1), ("vdc", DATA_2), ("vdd", LOG)):
        rows += [sample(t_ns, source, name, metric, pair[t_ns // SECOND % 2 == 0])
                 for metric, pair in values.items() for t_ns in ticks]  # fmt: skip
    rows += [sample(t_ns, "volume", "data", "fill", 40.0 + place)
             for place, t_ns in enumerate(ticks[::2])]  # fmt: skip
    for t_ns in ticks:
        rows.append(sample(t_ns, "sessions", "postgresql", "cpu/running", 0.5))
        if t_ns // SECOND % 2:
            rows.append(sample(t_ns, "sessions", "postgresql", "log/WalSync", 3.0))
    return judged(builder.write())


def sample(t_ns: int, source: str, subject: str, metric: str, value: float) -> dict[str, Any]:
    return {"t_ns": t_ns, "source": source, "subject": subject, "metric": metric, "value": value,
            "unit": "?"}  # fmt: skip


@pytest.mark.parametrize("source", ["disk", "nested_disk"])
def test_the_devices_of_a_role_count_as_one(tmp_path: Path, source: str) -> None:
    found = built(tmp_path, {"data": ("vdb", "vdc"), "log": ("vdd",)}, source)

    def mean(role: str, metric: str) -> float:
        return found.value(f"{PHASE}.volume.{role}.{metric}.mean")

    def about(value: float) -> Any:
        return pytest.approx(value, rel=0.05)  # 15 seconds are not as many odd as even ones

    assert mean("data", "read_iops") == 400
    assert mean("data", "write_iops") == about(100)
    assert mean("data", "iops") == about(500)
    assert mean("data", "mbps") == about(7.5)
    assert mean("data", "queue_length") == about(4)
    assert mean("data", "utilisation") == about(45)  # of the busier one
    # Σ ms / Σ requests over both devices, and not a mean of means (4.25 ms).
    assert mean("data", "read_await") == about((100 * 4 + 300 * 1 + 300 * 2 + 100 * 8) / 800)
    assert mean("data", "write_await") == about((100 * 2 + 100 * 1) / 200)
    assert mean("data", "read_size") == about((400 * 8192 + 400 * 16384) / 800)
    assert mean("data", "write_size") == about((100 * 16384 + 100 * 8192) / 200)
    assert mean("data", "read_share") == about(80)
    assert mean("log", "write_await") == about((900 + 300) / 1000)
    assert found.value(f"{PHASE}.volume.data.read_iops.max") == 400  # of a second, not 600
    assert found.value(f"{PHASE}.volume.data.queue_length.max") == 5
    assert found.value(f"{PHASE}.disk.vdc.read_await.mean") == about((600 + 800) / 400)
    assert found.value(f"{PHASE}.volume.data.fill.max") > mean("data", "fill") > 40


def test_what_cannot_be_told_apart_has_no_metrics(tmp_path: Path) -> None:
    found = built(tmp_path, {"data": ("vdb",), "log": ("vdb",), "temp": ("vdd",)})
    roles = {name.split(".")[3] for name in found.names() if name.startswith(f"{PHASE}.volume.")}
    assert roles == {"data", "temp"}


def test_a_second_without_a_wait_counts_as_zero_sessions(tmp_path: Path) -> None:
    found = built(tmp_path, {})
    at = f"{PHASE}.sessions.postgresql"
    assert found.value(f"{at}.cpu/running.mean") == 0.5
    assert found.value(f"{at}.log/WalSync.mean") == pytest.approx(1.5, rel=0.1)
    assert found.value(f"{at}.log/WalSync.max") == 3


def test_studies_compare_them_by_role(tmp_path: Path) -> None:
    found = built(tmp_path, {"data": ("vdb", "vdc"), "log": ("vdd",)})
    at = f"{PHASE}.volume"
    assert METRICS["iops"].of(found.estimates) == {
        f"iops.{role}": found.value(f"{at}.{role}.iops.mean") for role in ("data", "log")
    }
    assert METRICS["read_kb"].of(found.estimates)["read_kb.data"] == pytest.approx(12, rel=0.05)
    assert METRICS["log_write_ms"].of(found.estimates) == {
        "log_write_ms": found.value(f"{at}.log.write_await.mean")
    }
    queues = METRICS["queue"].of(found.estimates)
    assert {"queue.data", "queue.log", "queue.vdb", "queue.vdd"} <= queues.keys()
    assert METRICS["cpu_max"].of(found.estimates) == {
        "cpu_max": found.value(f"{PHASE}.cpu.host.busy.max")
    }
    for name in ("mbps.data", "read_share.log", "write_kb.log"):
        first = name.partition(".")[0]
        assert name in METRICS[first].of(found.estimates)
        found_by = METRICS[first].otherwise or METRICS[first]
        assert found_by.wish == "neither"


def test_a_log_among_the_data_has_no_latency_of_its_own(tmp_path: Path) -> None:
    found = built(tmp_path, {"data": ("vdb",), "log": ("vdb",)})
    assert METRICS["log_write_ms"].of(found.estimates) == {}
    assert METRICS["data_write_ms"].of(found.estimates).keys() == {"data_write_ms"}
