"""Warm, first or cold: what the caches held when queries were measured, in words."""

from __future__ import annotations

from typing import Any

from dyno.model import Phase, Run
from dyno.report.page import Page
from dyno.report.words import bytes_text

_EACH = "cold-each-query"


def word(run: Run) -> str | None:
    """``warm``, ``first``, ``cold`` or ``cold-each-query``; None if no queries were measured."""
    tests = [phase for phase in run.phases if phase.kind == "dss"]
    if not tests:
        return None
    given = run.plan.get("cache")
    if given in {"warm", "first", "cold", _EACH}:
        return str(given)
    return "warm" if all(phase.detail.get("warm") is True for phase in tests) else "first"


def summary(run: Run) -> dict[str, Any] | None:
    """The word, and the proof of cold caches by target."""
    found = word(run)
    if found is None:
        return None
    return {
        "state": found,
        "proofs": {phase.target: phase.detail for phase in _proofs(run) if phase.target},
    }


def sentence(page: Page) -> str:
    """What the caches held and how that is known, with a blank after it."""
    found = word(page.run)
    if found == "warm":
        return "Warm: every query ran once before it was measured. "
    if found == "first":
        return "First pass: no query ran before, and caches were left as they were found. "
    if found not in {"cold", _EACH}:
        return ""
    when = "before each query" if found == _EACH else "before the first query"
    text = f"Cold: {when} the engine was closed and its files put out of the page cache. "
    return text + "".join(_proof(page, phase) for phase in _proofs(page.run))


def _proofs(run: Run) -> list[Phase]:
    return [phase for phase in run.phases if phase.name.startswith("cold-") and phase.detail]


def _proof(page: Page, phase: Phase) -> str:
    detail = phase.detail
    try:
        size, left = float(detail["bytes"]), float(detail["left_share"])
        before, system = float(detail["before_bytes"]), str(detail["file_system"])
    except (KeyError, TypeError, ValueError):
        return ""
    name = page.title(phase.target)
    return (
        f"Of {bytes_text(size)} of {name} on {system}, {bytes_text(before)} were in memory before "
        f"and {left:.2%} after, by mincore; caches of the device, or of a host under a virtual "
        "machine, are beyond reach. "
    )
