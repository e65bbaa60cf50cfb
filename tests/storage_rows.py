"""Rows and bundles of storage profiles as the engine writes them: arms, repeats, parts, rates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.bundle_rows import histogram
from tests.bundles import SECOND, Builder

Row = dict[str, Any]


def step(
    iops: float,
    *,
    arm: str = "a",
    volume: str | None = None,
    job: str | None = None,
    curve: str = "random_read_8k",
    depth: int = 8,
    rate: float | None = None,
    pattern: str | None = "random",
    block: int | None = 8192,
    reads: int | None = 100,
    median: float = 0.5,
    response: float = 1.0,
    syncs: float = 0.0,
    stage: int = 0,
    repeat: int = 1,
    level: int = 0,
    purpose: str = "list",
    seconds: float = 2.0,
    errors: int = 0,
    unissued: int = 0,
    inside: bool = True,
) -> Row:
    """A step of ``seconds``; ``response`` is a factor on the median of service time."""
    total = round(iops * seconds)
    read = round(total * (100 if reads is None else reads) / 100)
    size = block or 8192
    latencies = {"read": histogram(read, median), "write": histogram(total - read, median * 1.3)}
    responses = {
        "read": histogram(read, median * response),
        "write": histogram(total - read, median * 1.3 * response),
    }
    return {
        "seconds": seconds,
        "volume": volume or arm,
        "arm": arm,
        "stage": stage,
        "repeat": repeat,
        "phase": curve,
        "level": level,
        "purpose": purpose,
        "job": job,
        "pattern": pattern,
        "block_bytes": block,
        "read_percent": reads,
        "queue_depth": depth,
        "rate": rate,
        "reads": read,
        "writes": total - read,
        "syncs": round(syncs * seconds),
        "read_bytes": read * size,
        "write_bytes": (total - read) * size,
        "late": 0 if rate is None else total // 50,
        "unissued": unissued,
        "errors": f'{{"io": {errors}}}' if errors else "{}",
        "read_latency": latencies["read"],
        "write_latency": latencies["write"],
        "sync_latency": histogram(round(syncs * seconds), 2.0) if syncs else None,
        "read_response": None if rate is None else responses["read"],
        "write_response": None if rate is None else responses["write"],
        "in_flight_mean": depth * 0.98,
        "inside_ceiling": inside,
    }


def rising(most: float, depths: Iterable[int] = (1, 4, 16, 64), **more: Any) -> list[Row]:
    """A curve that saturates at ``most`` IOPS."""
    rows: list[Row] = []
    for level, depth in enumerate(depths):
        iops = most * depth / (depth + 6)
        rows.append(step(iops, depth=depth, level=level, median=depth / iops * 900, **more))
    return rows


def bundle(
    out: Path,
    rows: Sequence[Row],
    parts: Sequence[Row] = (),
    *,
    how: str = "single",
    members: dict[str, list[str]] | None = None,
    stages: Sequence[str] = (),
    figures: dict[str, str] | None = None,
    **detail: Any,
) -> Builder:
    """A run with a phase for each arm and repeat, in the order of the rows."""
    builder = Builder(out / "20261120T150000Z-cd34", verb="io").machine()
    builder.plan = {"command": "dyno io …"}
    arms = list(dict.fromkeys(row["arm"] for row in rows))
    repeats = sorted({row["repeat"] for row in rows})
    for name, table in (("io", rows), ("io_parts", parts)):
        own = builder.tables.setdefault(name, [])
        own += [row | {"t_ns": builder.now + at * 2 * SECOND} for at, row in enumerate(table)]
    for repeat in repeats:
        for place, arm in enumerate(arms):
            names = (members or {}).get(arm, [arm])
            facts = {
                "volume": arm,
                "arm": place,
                "arms": arms,
                "how": how,
                "repeat": repeat,
                "repeats": len(repeats),
                "profile": "own",
                "targets": [target(name) for name in names],
                "file_bytes": 4 << 30,
                "ceiling_ms": 20.0,
                "ceiling_of": "p95",
                "figures": figures or {},
                "engine": "io_uring",
                "direct": True,
                "fsync": False,
                "notes": [],
                **(
                    {"stages": [{"label": label, "bytes": {}} for label in stages]}
                    if stages
                    else {}
                ),
                **detail,
            }
            title = f"Storage profile of {arm}"
            builder.phase(f"io-{arm}-{repeat}", title, "io", 20.0, detail=facts)
    return builder


def target(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "path": f"/mnt/{name}",
        "kind": "made",
        "bytes": 4 << 30,
        "facts": {
            "device": f"nvme-{name}n1",
            "model": "Example 990",
            "rotational": False,
            "write_cache": "write back",
            "virtual": False,
            "remote": False,
            "filesystem": "xfs",
            "mount_options": ["rw", "noatime"],
            "raid": None,
            "memory_bytes": 24 << 30,
            "cgroup_limit": None,
        },
    }
