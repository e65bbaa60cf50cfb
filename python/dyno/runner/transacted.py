"""Throughput of an earlier run of transactions, for the cost of a transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dyno.analyse import estimate
from dyno.bundle import archive, metrics, mixes
from dyno.bundle.model import those
from dyno.bundle.phases.search import SearchDetail
from dyno.bundle.reader import Bundle, find_bundle
from dyno.errors import UsageError


def transacted(out: Path, name: str) -> dict[str, Any]:
    """The run called ``name`` and its transactions per second: a search's maximum, or of a level.

    Raises:
        UsageError: If there is no such bundle, it is invalid, it has no transactions, or it ran
            several workloads or targets.
    """
    if Path(name).is_file():
        with archive.opened(Path(name)) as bundle:
            return _tps(bundle)
    return _tps(find_bundle(out, name))


def _tps(bundle: Bundle) -> dict[str, Any]:
    run = bundle.run
    if mixes.windows(run):
        raise UsageError(
            f"--tps: the run {run.run} has several workloads or targets; use a run of one."
        )
    if run.validity.verdict in (None, "invalid"):
        word = run.validity.verdict or "not judged"
        raise UsageError(f"--tps: the run {run.run} is {word}; use a valid one.")
    known = metrics.Estimates(estimate(bundle))
    if those(run.phases, SearchDetail):
        found = known.value(metrics.Capacity().tps)
        if found is None:
            raise UsageError(f"--tps: in the run {run.run}, no load was within the limits.")
        return {"run": run.run, "tps": found}
    rates = [known.value(metrics.Level(level).tps) for level in bundle.levels()]
    found = max((rate for rate in rates if rate), default=None)
    if found is None:
        raise UsageError(f"--tps: the run {run.run} has no transactions.")
    return {"run": run.run, "tps": found}
