"""What sizing refuses: each check raises a one-line error with the reason and the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dyno.bundle.model import Run
from dyno.decide.size.evidence import Evidence, Load
from dyno.decide.size.inputs import Inputs
from dyno.decide.size.wants import Wants
from dyno.errors import UsageError

FARTHEST = 2.0
"""A model reaches at most so many times as far as what was measured."""

_ENOUGH = 1e-9


def require_valid(run: Run) -> None:
    """Refuses a run whose values are wrong or missing.

    Raises:
        UsageError: With the codes of the reasons.
    """
    validity = run.validity
    if validity.verdict == "invalid":
        codes = dict.fromkeys(one.code for one in validity.reasons if one.kind == "invalid")
        raise UsageError(f"{run.run} is invalid ({', '.join(codes)}): it cannot size anything.")


def require_alike(found: Evidence) -> None:
    """Refuses runs of different hosts, databases or scales.

    Raises:
        UsageError: With both values.
    """
    for what, values in (
        ("hosts", [one.host for one in found.machines]),
        ("databases", [one.database for one in found.machines if one.database]),
        ("scales", [part for one in found.machines for part in one.scale.split(", ") if part]),
    ):
        apart = list(dict.fromkeys(values))
        if what == "scales":  # of the same workload; queries and transactions differ
            apart = _of_one_workload(apart)
        if len(apart) > 1:
            raise UsageError(
                f"The runs have different {what}: {apart[0]}; {apart[1]}. Name runs that are "
                "alike, or add --mixed."
            )


def _of_one_workload(scales: Iterable[str]) -> list[str]:
    by_workload: dict[str, list[str]] = {}
    for one in scales:
        by_workload.setdefault(one.partition(" at ")[0], []).append(one)
    return next((own for own in by_workload.values() if len(own) > 1), [])


def require_sense(wants: Wants) -> None:
    """Refuses wants that say nothing to size, or that depend on others.

    Raises:
        UsageError: With what is missing.
    """
    if not any((wants.users, wants.tps, wants.queries_per_h, wants.tb)):
        raise UsageError("Nothing is wanted: give --want users, tps, queries_per_h or tb.")
    if (wants.growth is None) != (wants.years is None):
        raise UsageError("Growth takes both: --want growth=20% and --want years=3.")
    limits = wants.p95_ms is not None or wants.mean_ms is not None
    if limits and wants.users is None and wants.tps is None:
        raise UsageError("A response limit is for transactions: add --want users or tps.")


def require_consistent(wants: Wants, loads: Sequence[Load]) -> None:
    """Refuses wants that cannot hold together on what was measured.

    Raises:
        UsageError: With both values.
    """
    if not loads:
        return
    fastest = min(loads, key=lambda one: one.mean_ms)
    least_p95 = min(one.p95_ms for one in loads)
    for name, limit, least in (
        ("p95", wants.p95_ms, least_p95),
        ("mean", wants.mean_ms, fastest.mean_ms),
    ):
        if limit is not None and limit < least:
            raise UsageError(
                f"{name}={limit:g}ms cannot hold: the fastest measured level has {least:.3g} ms "
                f"({fastest.source}). Allow more, or measure a faster server."
            )
    if wants.users is None or wants.tps is None:
        return
    cycle_s = wants.users / wants.tps
    think_s = wants.think_s or 0.0
    if cycle_s < think_s + fastest.mean_ms / 1000:
        most = wants.users / (think_s + fastest.mean_ms / 1000)
        raise UsageError(
            f"users={wants.users:g} and tps={wants.tps:g} cannot hold together: a transaction "
            f"takes at least {fastest.mean_ms:.3g} ms ({fastest.source})"
            f"{f' and users think {think_s:g} s' if think_s else ''}, so they do at most "
            f"{most:,.0f} a second."
        )
    if wants.think_s is not None and wants.mean_ms is not None:
        least = wants.users / (think_s + wants.mean_ms / 1000)
        if wants.tps < least * (1 - _ENOUGH):
            raise UsageError(
                f"users={wants.users:g} and tps={wants.tps:g} cannot hold together: users who "
                f"think {think_s:g} s and wait at most {wants.mean_ms:g} ms do at least "
                f"{least:,.0f} a second."
            )


def require_data(
    wants: Wants, measured_tb: float | None, source: str, inputs: Inputs, *, stated: bool = False
) -> float:
    """Refuses more than twice the measured data: caches would hold another share of it.

    If only the growth exceeds that, and not a wanted size, adds a caveat instead.

    Args:
        wants: The wants.
        measured_tb: Data that was measured, TB; None if unknown.
        source: Where.
        inputs: Receives the caveat.
        stated: Whether the user states the I/O of an operation.

    Returns:
        The wanted data as a multiple of the measured data; 1 if it is smaller or unknown.

    Raises:
        UsageError: With both sizes.
    """
    if not measured_tb:
        return 1.0
    tb = (measured_tb if wants.tb is None else wants.tb) * wants.factor
    if tb > FARTHEST * measured_tb and not stated:
        words = (
            f"{_tb(tb)} is more than {FARTHEST:g} times the measured {_tb(measured_tb)} "
            f"({source}): with more data a cache holds less of it, so I/O per operation is "
            "unknown. Measure with more data"
        )
        if wants.tb is not None:
            raise UsageError(f"{words}, or state --want io_per_tx=N.")
        inputs.caveat(f"With the growth, {words}.")
    return max(1.0, tb / measured_tb)


def require_near(what: str, wanted: float, measured: float, source: str, remedy: str) -> None:
    """Refuses a load on one server beyond twice the largest measured one.

    Raises:
        UsageError: With both loads.
    """
    if wanted > FARTHEST * measured * (1 + _ENOUGH):
        raise UsageError(
            f"One server would have {wanted:,.4g} {what}; the most that was measured is "
            f"{measured:,.4g} ({source}), and nothing shows what limits it beyond "
            f"{FARTHEST:g} times that. {remedy}"
        )


def _tb(value: float) -> str:
    return f"{value:.3g} TB" if value >= 0.1 else f"{value * 1000:.3g} GB"
