"""The volumes of each phase, for the JSON document and the terminal."""

from __future__ import annotations

from typing import Any

from dyno.bundle.carriers import by_device
from dyno.bundle.metrics.resource import DeviceMetric
from dyno.bundle.model import Phase
from dyno.bundle.phases import PhaseKind
from dyno.report.kit.formats import rounded
from dyno.report.run.page import Page

PHASES: tuple[PhaseKind, ...] = ("io", "load", "index", "dss", "oltp", "certify", "maintenance")
"""Kinds of phases with metrics of their volumes."""

_KEYS: dict[str, DeviceMetric] = {
    "read_iops": "read_iops",
    "write_iops": "write_iops",
    "read_mbps": "read_mbps",
    "write_mbps": "write_mbps",
    "read_percent": "read_share",
    "read_bytes": "read_size",
    "write_bytes": "write_size",
    "read_ms": "read_await",
    "write_ms": "write_await",
    "queue": "queue_length",
    "busy_percent": "utilisation",
}


def observed(page: Page) -> list[Phase]:
    """The phases with samples, without the single databases of a level."""
    return [
        phase
        for phase in page.phases(*PHASES)
        if page.value(page.resources(phase).samples) and not phase.part_of
    ]


def fill(page: Page, phase: Phase, roles: tuple[str, ...]) -> float | None:
    """Mean fill of the fullest file system of some roles, in %."""
    at = page.resources(phase)
    found = [page.value(at.volume(role, "fill").mean) for role in roles]
    return max((value for value in found if value is not None), default=None)


def entries(page: Page) -> list[dict[str, Any]]:
    """An entry for each phase and device: means, null if unknown.

    ``read_bytes`` and ``write_bytes`` are sizes of a request.
    """
    return [
        {
            "phase": phase.name,
            "target": phase.target,
            "device": device,
            "roles": list(roles),
            **{
                key: page.value(page.resources(phase).device(device, metric).mean)
                for key, metric in _KEYS.items()
            },
            "fill_percent": fill(page, phase, roles),
        }
        for phase in observed(page)
        for device, roles in by_device(page.run, phase).items()
    ]


def line(page: Page) -> str:
    """``data vdb 2.95/1,346 IOPS, 0.30/1.40 ms; log vdc …``: reads and writes of the best level."""
    best = page.best_level
    if best is None or best.phase is None:
        return ""
    at = page.resources(best.phase)
    words: list[str] = []
    for device, roles in by_device(page.run, best.phase).items():
        pairs: tuple[tuple[DeviceMetric, DeviceMetric], ...] = (
            ("read_iops", "write_iops"),
            ("read_await", "write_await"),
        )
        rates, waits = (
            "/".join(rounded(page.value(at.device(device, metric).mean)) for metric in pair)
            for pair in pairs
        )
        if rates != "–/–":
            words.append(f"{'+'.join(roles)} {device} {rates} IOPS, {waits} ms")
    return f"r/w {'; '.join(words)}" if words else ""
