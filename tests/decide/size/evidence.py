"""Evidence as runs give it, made without a run."""

from __future__ import annotations

from dyno.decide.size.evidence import Load, Storage


def load(tps: float, users: float = 8, **more: object) -> Load:
    """A level on two CPUs: 1 ms of CPU and three I/Os a transaction."""
    own: dict[str, object] = {
        "run": "run",
        "name": f"users-{users:g}",
        "target": "postgresql",
        "users": users,
        "open": False,
        "thinks": False,
        "tps": tps,
        "noise": 0.01,
        "mean_ms": 5.0,
        "p95_ms": 12.0,
        "cpus": 2.0,
        "cpu_s": 0.001,
        "cpu_of": "CPU of the server",
        "whole_cpu_s": 0.001,
        "ios": 3.0,
        "reads": 0.7,
        "device_s": 0.0005,
    }
    return Load(**{**own, **more})  # type: ignore[arg-type]


def array(iops: float = 4175, **more: object) -> Storage:
    """A disk array as the documents profiled it."""
    own: dict[str, object] = {
        "run": "profile",
        "volume": "array",
        "fill": None,
        "iops": iops,
        "noise": None,
        "reads": 0.7,
        "block": 8192,
        "metric": "io.mixed.best_iops",
        "mbps": 1042.0,
        "size_tb": 1.6,
        "members": 24,
        "raid": "10",
    }
    return Storage(**{**own, **more})  # type: ignore[arg-type]
