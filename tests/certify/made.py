"""Bundles with the intervals of a certificate, made without a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dyno.bundle.reader import Bundle
from tests import bundle_data as data
from tests.bundle_data import SECOND
from tests.bundles import DEVICE, Builder

INTERVAL_S, USERS = 300, 4
CLASSES = {"simple": ("q06",), "average": ("q01",), "complex": ("q14",)}
EVERY = {"rate": ("q06",), **CLASSES, "combined": ("q06", "q01", "q14")}

RAW, STORED = 2 * 10**12, 5 * 10**11
"""Two TB of user data with a compression of 4:1."""

BOM = {"currency": "EUR", "items": [{"name": "server", "price": 5000.0, "watts": 400.0}]}
REFERENCE = {
    "name": "lab",
    "user_data": "25 TB",
    "row": {"throughput": "100 Q/h/TB"},
    "column": {"throughput": "400 Q/h/TB"},
}


def built(
    path: Path, forms: dict[str, str] | None = None, queries: int = 60, **plan: Any
) -> Builder:
    """A run with all intervals of each target, each with so many queries."""
    builder = begun(path, **plan)
    for target, form in (forms or {"postgresql": "row"}).items():
        builder.target(target)
        for test, names in EVERY.items():
            add(builder, target, form, test, names, queries)
    return builder


def both_forms(path: Path, queries: dict[str, int], **plan: Any) -> Builder:
    """A run with all intervals of each form of one target, with so many queries by form."""
    builder = begun(path, **plan)
    builder.target("postgresql")
    for form, count in queries.items():
        for test, names in EVERY.items():
            add(builder, "postgresql", form, test, names, count, part=form)
    return builder


def begun(path: Path, **plan: Any) -> Builder:
    """A run without intervals."""
    builder = Builder(path / "20261126T045056Z-c0de", "certify")
    builder.workloads.append("tpch")
    builder.plan = {"quick": False, "users": USERS, **plan}
    builder.host = {**data.HOST, "hardware": hardware()}
    builder.machine()
    return builder


def add(
    builder: Builder,
    target: str,
    form: str,
    test: str,
    names: tuple[str, ...],
    queries: int,
    part: str | None = None,
) -> None:
    """Adds an interval: queries at equal distances, and samples of reads and CPU."""
    start = builder.now
    end = start + INTERVAL_S * SECOND
    users = 1 if test == "rate" else USERS
    rows = builder.tables.setdefault("queries", [])
    for number in range(queries):
        ended = start + round((number + 0.5) * INTERVAL_S * SECOND / queries)
        rows.append(
            {"t_ns": ended - SECOND, "end_ns": ended, "stream": 1 + number % users,
             "position": number, "query": names[number % len(names)], "target": target,
             "parameters": "{}", "rows": 1, "digest": f"{number:064x}", "seconds": 1.0,
             "error": None, "error_kind": None}
        )  # fmt: skip
    samples = builder.tables.setdefault("samples", [])
    cpu = "server" if target == "postgresql" else "dyno"
    for moment in range(start + SECOND, end + 1, SECOND):
        found = [("process", cpu, "cpu", 160.0, "%")]
        # As a row store counts them, whatever the form of the tables.
        if form == "row" or part is not None:
            found.append(("database", target, "logical_mbps", 1600.0, "MB/s"))
        samples += [
            {"t_ns": moment, "source": source, "subject": subject, "metric": metric,
             "value": value, "unit": unit}
            for source, subject, metric, value, unit in found
        ]  # fmt: skip
    builder.phase(
        f"certify-{part + '-' if part else ''}{test}-{target}",
        f"Certificate on {target}: {test}", "certify", INTERVAL_S, target,
        detail={
            "workload": "tpch", "test": test, "form": form, "part": part,
            "own": form if part is None else "row", "scale": 2000, "seed": 1,
            "users": users, "queries": list(names), "warmup_s": 0, "duration_s": INTERVAL_S,
            "window": [start, end], "raw_bytes": RAW, "data_bytes": STORED,
        },
        load={"busy": 80, "utilisation": 60, "read_iops": 1000 / 0.008192},
    )  # fmt: skip


def hardware() -> dict[str, Any]:
    return {
        "system": {"vendor": "Example", "product": "Server 9", "bios_version": "1.2"},
        "dimms": [
            {"slot": f"D{slot}", "size_bytes": 16 << 30, "type": "DDR5", "mega_transfers": 4800,
             "manufacturer": "Chips", "part": "C16"}
            for slot in range(2)
        ],
        "nics": [{"name": "eth0", "speed_mbps": 25_000, "mtu": 9000, "driver": "mlx5_core",
                  "numa_node": 0}],
        "volumes": [
            {"target": "postgresql", "role": role, "mount_point": "/data", "filesystem": "xfs",
             "device": DEVICE, "model": "NVMe 9", "raid": "raid10", "size_bytes": 8 * 10**12,
             "numa_node": 1, "firmware": "F7"}
            for role in ("data", "log")
        ],
    }  # fmt: skip


def written(path: Path, **plan: Any) -> Bundle:
    """A run with a row store."""
    return built(path, **plan).write()
