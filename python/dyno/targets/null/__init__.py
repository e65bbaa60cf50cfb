"""A modelled server with known results, to verify the harness.

``null:?mean_us=500&distribution=exponential&servers=4&stall_every_ms=1000&stall_ms=100``
"""

from __future__ import annotations

from pathlib import Path

from dyno.contracts.target import Limits, Target, TargetUrl

SCHEMES = ("null",)
EXAMPLE = "null:?mean_us=500"
EMBEDDED = False


def open_target(url: TargetUrl, out: Path, limits: Limits) -> Target:  # noqa: ARG001
    """The modelled server; it stores nothing and needs no resources."""
    from dyno.targets.null.target import NullTarget

    return NullTarget(url)
