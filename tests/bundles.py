"""Bundles as runs leave them, made without a run: deterministic, with real histograms and tables.

``Builder`` keeps its own clock: each part adds its phase, its rows and a sample a second.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dyno import workloads
from dyno.bundle.model import (
    Check,
    Clock,
    Confined,
    CpuUse,
    Run,
    Status,
    TargetFacts,
)
from dyno.bundle.phases import PhaseKind
from dyno.bundle.reader import Bundle
from dyno.bundle.tables import Table, spool_to_parquet
from dyno.bundle.writer import write_atomically
from tests import bundle_data as data
from tests.bundle_rows import inside_rows, io_row, second_rows

SECOND = data.SECOND
DEVICE = "vda"


class Stored(BaseModel):
    """A phase as ``run.json`` has it; a test may put into its detail what it likes."""

    name: str
    title: str
    kind: PhaseKind
    target: str | None
    start_ns: int
    end_ns: int | None
    status: Status
    detail: dict[str, Any]
    cpu: CpuUse | None


class Builder:
    """Writes a bundle part by part. Nothing on disk before ``write``."""

    def __init__(self, path: Path, verb: str = "quickstart", seed: int = 7) -> None:
        self.path = path
        self.now = data.START_NS
        self.random = random.Random(seed)
        self.tables: dict[str, list[dict[str, Any]]] = {}
        self.phases: list[Stored] = []
        self.checks: list[Check] = []
        self.targets: dict[str, TargetFacts] = {}
        self.workloads: list[str] = []
        self.verb = verb
        self.plan: dict[str, Any] = {}
        self.host: dict[str, Any] = dict(data.HOST)
        self.confined: Confined | None = None

    def phase(
        self,
        name: str,
        title: str,
        kind: PhaseKind,
        seconds: float,
        target: str | None = None,
        status: Status = "done",
        detail: dict[str, Any] | None = None,
        load: dict[str, float] | None = None,
    ) -> Stored:
        """Adds a phase of so many seconds, with samples of the load in it."""
        start, self.now = self.now, self.now + round(seconds * SECOND)
        phase = Stored(
            name=name,
            title=title,
            kind=kind,
            target=target,
            start_ns=start,
            end_ns=None if status == "running" else self.now,
            status=status,
            detail=detail or {},
            cpu=_quiet(seconds, load or {}),
        )
        self.phases.append(phase)
        self._sample(start, self.now, load or {})
        self.now += round(0.2 * SECOND)
        return phase

    def machine(self) -> Builder:
        self.phase("machine", "Machine", "machine", 0.6)
        return self

    def io(self, *, step_s: float = 1.5, direct: bool = True, ceiling_ms: float = 20.0) -> Builder:
        start = self.now
        rows = self.tables.setdefault("io", [])
        for curve, points in data.SEQUENTIAL.items():
            for depth, mbps in points.items():
                rows.append(io_row(curve, depth, mbps * 1e6 / 262_144, step_s, ceiling_ms))
        for curve, points in (("random_read", data.READ_CURVE), ("mixed", data.MIXED_CURVE)):
            for depth, (iops, median) in points.items():
                rows.append(io_row(curve, depth, iops, step_s, ceiling_ms, median))
        for place, row in enumerate(rows):
            row["t_ns"] = start + round((place * step_s + 0.3) * SECOND)
        detail = {
            "volume": "/srv/dyno-runs",
            "file_bytes": 4 * data.GIB,
            "ceiling_ms": ceiling_ms,
            "engine": "io_uring",
            "direct": direct,
            "notes": [],
        }
        self.phase(
            "io", "Storage profile", "io", len(rows) * step_s + 4, detail=detail,
            load={"busy": 38, "utilisation": 99, "queue": 24, "read_iops": 41_000,
                  "write_iops": 9_000},
        )  # fmt: skip
        return self

    def target(self, name: str) -> Builder:
        facts = {
            "postgresql": TargetFacts(
                url="embedded:postgresql",
                version="PostgreSQL 18.1",
                place="machine",
                settings={"shared_buffers": "6GB", "work_mem": "128MB", "fsync": "on"},
            ),
            "duckdb": TargetFacts(
                url="embedded:duckdb",
                version="DuckDB v1.4.2",
                place="process",
                settings={"memory_limit": "12.0 GiB", "threads": "2"},
            ),
        }
        self.targets[name] = facts.get(name) or TargetFacts(
            url=f"{name}://db/x", version="1", place="elsewhere"
        )
        self.phase(f"provision-{name}", f"Start {name}", "provision", 1.4, name)
        return self

    def load(self, workload: str, target: str, seconds: float, scale: float) -> Builder:
        self._uses(workload)
        rows = data.TPCH_ROWS if workload == "tpch" else {"stock": 500_000, "order_line": 1_500_000}
        size = round((data.TPCH_BYTES if workload == "tpch" else 90_000_000) * scale)
        detail = {
            "workload": workload,
            "scale": scale,
            "streams": 2,
            "seed": 1,
            "rows": sum(rows.values()),
            "bytes": size,
            "seconds": seconds,
            "tables": [{"table": name, "rows": count} for name, count in rows.items()],
        }
        busy = {"busy": 93, "utilisation": 62, "queue": 3.1, "write_iops": 2_400, "write_mbps": 310}
        title = f"Load {_title(workload)} into {target}"
        self.phase(f"load-{workload}-{target}", title, "load", seconds + 0.3, target,
                   detail=detail, load=busy)  # fmt: skip
        steps = {"steps": {"primary key lineitem": seconds * 0.4, "analyse": seconds * 0.2}}
        self.phase(f"index-{workload}-{target}", f"Keys, indexes and statistics in {target}",
                   "index", seconds * 0.7, target, detail=steps, load=busy)  # fmt: skip
        self.checks += [
            Check(name=f"rows of {name}", target=target, passed=True,
                  message=f"{count:,} rows, as many as generated")
            for name, count in rows.items()
        ]  # fmt: skip
        self.phase(f"check-{workload}-{target}-load", f"Check {target} after the load", "check",
                   0.8, target)  # fmt: skip
        return self

    def power(
        self, target: str, seconds: tuple[float, ...], scale: float = 1.0, fails: str | None = None
    ) -> Builder:
        self._uses("tpch")
        start = self.now + round(sum(seconds) * 1.1 * SECOND)
        moment = start
        rows = self.tables.setdefault("queries", [])
        for position, number in enumerate(data.POWER_ORDER):
            name, took = f"q{number:02d}", seconds[number - 1]
            failed = name == fails
            rows.append({
                "t_ns": moment,
                "end_ns": moment + round(took * SECOND),
                "stream": 0,
                "position": position,
                "query": name,
                "target": target,
                "parameters": "{}",
                "rows": None if failed else 4 + number,
                "digest": None if failed else f"{number:064x}",
                "seconds": took,
                "error": "out of memory" if failed else None,
                "error_kind": "out_of_memory" if failed else None,
            })  # fmt: skip
            moment += round((took + 0.002) * SECOND)
        detail: dict[str, Any] = {"workload": "tpch", "scale": scale, "stream": 0, "warm": True}
        if fails:
            detail["errors"] = {fails: "out of memory"}
        busy = {"busy": 57, "utilisation": 4, "queue": 0.1}
        self.phase(f"power-tpch-{target}", f"Power test on {target}", "dss",
                   (moment - self.now) / SECOND, target, detail=detail, load=busy)  # fmt: skip
        return self

    def answers(self, wrong: str | None = None) -> Builder:
        self.phase("check-answers-tpch", "Compare answers", "check", 0.2)
        for number in range(1, 23):
            name = f"q{number:02d}"
            message = "row 1, column 2: 4 against 5" if name == wrong else "equal"
            self.checks.append(Check(name=f"answers-{name}", target="duckdb and postgresql",
                                     passed=name != wrong, message=message))  # fmt: skip
        return self

    def oltp(
        self,
        users: int,
        target: str = "postgresql",
        duration_s: int = 15,
        *,
        error_share: float = 0.0,
        slope: float = 0.0,
        driver_share: float | None = None,
        loop: dict[str, Any] | None = None,
        outcome: dict[str, Any] | None = None,
        status: Status = "done",
        level: str | None = None,
        part_of: str | None = None,
    ) -> Builder:
        """A level of load; ``slope`` is the change over the window as a share of the mean."""
        self._uses("tpcc")
        level = level or f"users-{users}"
        known = {**data.LEVELS, **data.MORE_LEVELS}
        tps, median, busy, utilisation, driver = known.get(users, known[16])
        driver = driver if driver_share is None else driver_share
        rows = self.tables.setdefault(f"ops/{level}", [])
        for second in range(-5, duration_s):
            drift = 1 + slope * ((second + 0.5) / duration_s - 0.5) if second >= 0 else 0.7
            rate = tps * drift * (1 + 0.02 * math.sin(second * 1.7))
            moment = self.now + (second + 6) * SECOND
            phase = "measure" if second >= 0 else "warmup"
            rows += second_rows(moment, phase, rate, median, error_share)
        result = {
            "seconds": float(duration_s),
            "tps": tps,
            "client_cpu_s": driver * duration_s,
            "client_cpu_ms_per_1000": driver / tps * 1e6,
            "thread_utilisation_max": driver,
            "lag_p99_ms": 0.08,
            "scheduled": None,
            "late": 0,
            "unsent": 0,
            "unfinished": users,
            "reconnects": 0,
            "errors_first": {"deadlock": "deadlock detected"} if error_share else {},
            "threads": 1,
        }
        detail = {
            "workload": "tpcc",
            "level": level,
            "part_of": part_of,
            "users": users,
            "warehouses": 5,
            "mode": "client",
            "loop": loop or {"kind": "closed", "think": False},
            "warmup_s": 5.0,
            "duration_s": float(duration_s),
            "seed": users,
        }
        if status == "done":
            detail["outcome"] = {**result, **(outcome or {})}
        load = {"busy": busy, "utilisation": utilisation, "queue": 1.1,
                "write_iops": tps * 0.8, "write_mbps": tps * 0.012, "write_await": 1.4}  # fmt: skip
        plural = "" if users == 1 else "s"
        self.phase(f"oltp-tpcc-{target}-{level}", f"TPC-C-derived, {users} user{plural}", "oltp",
                   duration_s + 6.2, target, status, detail, load)  # fmt: skip
        return self

    def consistency(self, target: str = "postgresql", broken: int | None = None) -> Builder:
        self.phase(
            f"check-tpcc-{target}-run", f"Check {target} after the run", "check", 1.1, target
        )
        for number in range(1, 13):
            passed = None if number == 11 else number != broken
            message = {None: "skipped: it holds only after a load", True: "the sums are equal"}
            words = message.get(passed, "violated in 3 places")
            name = f"condition {number}"
            self.checks.append(Check(name=name, target=target, passed=passed, message=words))
        return self

    def inside(self, target: str = "postgresql") -> Builder:
        """What the database reported of its levels: samples, statements and relations."""
        levels = [phase for phase in self.phases if phase.kind == "oltp"]
        rows = self.tables.setdefault("samples", [])
        for phase in levels:
            moments = range(phase.start_ns + SECOND, (phase.end_ns or 0) + 1, SECOND)
            rows += inside_rows(target, moments)
            period = {"t_ns": phase.start_ns, "end_ns": phase.end_ns, "target": target}
            self.tables.setdefault("statements", []).extend(
                {**period, **row} for row in data.STATEMENTS
            )
            self.tables.setdefault("relations", []).extend(
                {**period, **row} for row in data.RELATIONS
            )
        return self

    def write(self, status: Status = "done", error: str | None = None) -> Bundle:
        """Writes the bundle. One that is still running keeps its tables as JSON lines."""
        (self.path / "ops").mkdir(parents=True)
        run = Run(
            run=self.path.name,
            dyno="0.1.0",
            verb=self.verb,
            workloads=tuple(self.workloads),
            plan=self.plan,
            status=status,
            error=error,
            clock=Clock(unix_ns=data.START_NS, monotonic_ns=1_000),
            host=self.host,
            targets=self.targets,
            confined=self.confined,
            notices=workloads.notices(self.workloads),
        )
        head = run.model_dump(mode="json")
        head["phases"] = [phase.model_dump(mode="json") for phase in self.phases]
        write_atomically(self.path / "run.json", json.dumps(head, indent=1))
        (self.path / "events.jsonl").write_text('{"t_ns": 1, "event": "run-started"}\n')
        for name, rows in self.tables.items():
            spool = self.path / f"{name}.jsonl"
            spool.write_text("".join(json.dumps(row) + "\n" for row in rows))
            if status != "running":
                spool_to_parquet(spool, Table.of(name))
        if self.checks:
            text = json.dumps([check.model_dump() for check in self.checks], indent=1)
            write_atomically(self.path / "checks.json", text)
        return Bundle.open(self.path)

    def _uses(self, workload: str) -> None:
        if workload not in self.workloads:
            self.workloads.append(workload)

    def _sample(self, start: int, end: int, load: dict[str, float]) -> None:
        rows = self.tables.setdefault("samples", [])
        for moment in range(start + SECOND, end + 1, SECOND):
            wobble = self.random.uniform(0.95, 1.03)
            busy = min(99.0, load.get("busy", 2.0) * wobble)
            reads, writes = (
                load.get("read_iops", 3.0) * wobble,
                load.get("write_iops", 4.0) * wobble,
            )
            write_mbps = load.get("write_mbps", writes * 0.008)
            values: dict[tuple[str, str, str], tuple[float, str]] = {
                ("cpu", "host", "busy"): (busy, "%"),
                ("cpu", "host", "user"): (busy * 0.8, "%"),
                ("cpu", "host", "system"): (busy * 0.2, "%"),
                ("cpu", "host", "iowait"): ((100 - busy) * 0.2, "%"),
                ("cpu", "host", "steal"): (load.get("steal", 0.1), "%"),
                ("cpu", "host", "idle"): ((100 - busy) * 0.8, "%"),
                ("disk", DEVICE, "read_iops"): (reads, "1/s"),
                ("disk", DEVICE, "write_iops"): (writes, "1/s"),
                ("disk", DEVICE, "read_mbps"): (reads * 0.008192, "MB/s"),
                ("disk", DEVICE, "write_mbps"): (write_mbps * wobble, "MB/s"),
                ("disk", DEVICE, "read_await"): (load.get("read_await", 0.3), "ms"),
                ("disk", DEVICE, "write_await"): (load.get("write_await", 0.6), "ms"),
                ("disk", DEVICE, "queue_length"): (load.get("queue", 0.0), "count"),
                ("disk", DEVICE, "utilisation"): (load.get("utilisation", 0.5), "%"),
                ("memory", "host", "available"): (21e9 - 1e6 * len(rows) / 10, "B"),
                ("pressure", "cpu", "some"): (busy * 0.4, "%"),
                ("pressure", "io", "some"): (load.get("io_pressure", 6.0), "%"),
            }
            rows += [
                {"t_ns": moment, "source": source, "subject": subject, "metric": metric,
                 "value": value, "unit": unit}
                for (source, subject, metric), (value, unit) in values.items()
            ]  # fmt: skip


def _quiet(seconds: float, load: dict[str, float]) -> CpuUse:
    """Counters of two CPUs that only Dyno and the server used."""
    busy_s = 2 * seconds * min(99.0, load.get("busy", 2.0)) / 100
    return CpuUse(
        ticks=round(200 * seconds),
        total_s=2 * seconds,
        busy_s=busy_s,
        steal_s=0.0,
        own_s=busy_s,
        servers=True,
    )


def _title(workload: str) -> str:
    return {"tpch": "TPC-H-derived", "tpcc": "TPC-C-derived"}.get(workload, workload)


def quickstart(out: Path, name: str = "20261120T140000Z-ab12") -> Builder:
    """A whole run, everything well."""
    builder = Builder(out / name)
    builder.plan = {
        "command": "dyno quickstart --scale 1",
        "quick": False,
        "users": [1, 4, 16],
        "scale": 1.0,
        "warehouses": 5,
    }
    builder.machine().io().target("postgresql")
    builder.load("tpch", "postgresql", 8.6, 1.0).power("postgresql", data.ROW_SECONDS)
    builder.target("duckdb").load("tpch", "duckdb", 4.9, 1.0)
    builder.power("duckdb", data.COLUMN_SECONDS).answers().load("tpcc", "postgresql", 7.4, 5)
    for users in data.LEVELS:
        builder.oltp(users)
    return builder.consistency()


def only_io(out: Path) -> Builder:
    """What ``dyno io`` leaves."""
    builder = Builder(out / "20261120T150000Z-cd34", verb="io")
    builder.plan = {
        "command": "dyno io /srv/dyno-runs --step 1.5s",
        "volume": "/srv/dyno-runs",
        "step_s": 1.5,
        "ceiling_ms": 20.0,
    }
    return builder.machine().io()


def interrupted(out: Path) -> Builder:
    """A quickstart stopped by Ctrl-C in its first level of load; write it as ``interrupted``."""
    builder = Builder(out / "20261120T160000Z-ef56")
    builder.machine().io().target("postgresql")
    builder.load("tpch", "postgresql", 8.6, 1.0).power("postgresql", data.ROW_SECONDS)
    builder.load("tpcc", "postgresql", 7.4, 5)
    return builder.oltp(1, duration_s=4, status="interrupted")
