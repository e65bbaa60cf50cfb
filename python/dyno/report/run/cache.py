"""Warm, first or cold: what the caches held when queries were measured, in words."""

from __future__ import annotations

from typing import Any

from dyno.bundle.model import Phase, Run
from dyno.report.kit.formats import bytes_text
from dyno.report.run.page import Page

_EACH = "cold-each-query"
_WORDS = ("warm", "first", "cold", _EACH, "after-power")


def words(run: Run) -> dict[str, str]:
    """By test (``power``, ``throughput``), what the caches held when it began.

    ``warm``, ``first``, ``cold``, ``cold-each-query``; or ``after-power``: as the power test left
    them.
    """
    found: dict[str, str] = {}
    for phase in run.phases:
        if phase.kind == "dss" and phase.name.startswith(("power-", "throughput-")):
            test = phase.name.split("-", 1)[0]
            found.setdefault(test, _word(run, phase))
    return found


def _word(run: Run, phase: Phase) -> str:
    for given in (phase.detail.get("cache"), run.plan.get("cache")):
        if given in _WORDS:
            return str(given)
    return "warm" if phase.detail.get("warm") is True else "first"


def word(run: Run) -> str | None:
    """That of the power test, else of the throughput test; None if no queries were measured."""
    found = words(run)
    return found.get("power", found.get("throughput"))


def summary(run: Run) -> dict[str, Any] | None:
    """The word, that of each test, and the proof of cold caches by target."""
    found = word(run)
    if found is None:
        return None
    return {
        "state": found,
        "tests": words(run),
        "proofs": {phase.target: phase.detail for phase in _proofs(run) if phase.target},
    }


def sentence(page: Page, test: str = "power") -> str:
    """What the caches held when a test began and how that is known, with a blank after it."""
    found = words(page.run).get(test)
    if found == "warm":
        return "Warm: every query ran once before it was measured. "
    if found == "first":
        return "First pass: no query ran before, and caches were left as they were found. "
    if found == "after-power":
        return "Caches as the power test had left them. "
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
