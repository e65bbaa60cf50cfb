"""The state of the caches at the start of a query test: warm, first pass or cold."""

from __future__ import annotations

from typing import Any

from dyno.bundle.model import Phase, Run, those
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.provision import ProvisionDetail
from dyno.report.kit.formats import bytes_text
from dyno.report.run.page import Page

_EACH = "cold-each-query"
_WORDS = ("warm", "first", "cold", _EACH, "after-power")

_PROOF = (
    *("files", "bytes", "before_bytes", "left_bytes", "how", "file_system", "left_share"),
    *("workload", "after_start_bytes", "times", "seconds"),
)


def words(run: Run) -> dict[str, str]:
    """The cache state at the start of each test (``power``, ``throughput``).

    ``warm``, ``first``, ``cold``, ``cold-each-query``, or ``after-power``.
    """
    found: dict[str, str] = {}
    for phase in those(run.phases, DssDetail):
        if phase.name.startswith(("power-", "throughput-")):
            test = phase.name.split("-", 1)[0]
            found.setdefault(test, _word(run, phase))
    return found


def _word(run: Run, phase: Phase[DssDetail]) -> str:
    for given in (phase.detail.cache, run.plan.get("cache")):
        if given in _WORDS:
            return str(given)
    return "warm" if phase.detail.warm is True else "first"


def word(run: Run) -> str | None:
    """The state for the power test, else for the throughput test; None without queries."""
    found = words(run)
    return found.get("power", found.get("throughput"))


def summary(run: Run) -> dict[str, Any] | None:
    """The state, the state by test, and the evidence of cold caches by target."""
    found = word(run)
    if found is None:
        return None
    return {
        "state": found,
        "tests": words(run),
        "proofs": {phase.target: _facts(phase.detail) for phase in _proofs(run) if phase.target},
    }


def _facts(detail: ProvisionDetail) -> dict[str, Any]:
    stored = detail.model_dump(mode="json")
    return {name: stored[name] for name in _PROOF if name in stored}


def sentence(page: Page, test: str = "power") -> str:
    """A sentence on the cache state and its evidence, with a trailing blank."""
    found = words(page.run).get(test)
    if found == "warm":
        return "Warm caches: each query ran once before the measurement. "
    if found == "first":
        return "First pass: no query ran before; Dyno did not change the caches. "
    if found == "after-power":
        return "Caches as left by the power test. "
    if found not in {"cold", _EACH}:
        return ""
    when = "before each query" if found == _EACH else "before the first query"
    text = f"Cold caches: {when} Dyno closed the engine and evicted its files from the page cache. "
    return text + "".join(_proof(page, phase) for phase in _proofs(page.run))


def _proofs(run: Run) -> list[Phase[ProvisionDetail]]:
    return [
        phase
        for phase in those(run.phases, ProvisionDetail)
        if phase.name.startswith("cold-") and phase.detail.model_fields_set
    ]


def _proof(page: Page, phase: Phase[ProvisionDetail]) -> str:
    found = phase.detail
    if found.bytes is None or found.before_bytes is None or found.left_share is None:
        return ""
    name = f"{page.title(phase.target)} on {found.file_system}"
    return (
        f"Of {bytes_text(found.bytes)} of {name}, {bytes_text(found.before_bytes)} were in memory "
        f"before and {found.left_share:.2%} after (mincore). Dyno cannot evict caches of the "
        "device or of a hypervisor. "
    )
