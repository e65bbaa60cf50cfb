"""How much work is wanted, and what an operation of it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dyno.decide.size.checks import FARTHEST, require_consistent, require_data
from dyno.decide.size.evidence import Evidence, Load, Queries
from dyno.decide.size.growth import ENOUGH, FEWEST, Growth, growth
from dyno.decide.size.inputs import Inputs
from dyno.decide.size.lot import Lot
from dyno.decide.size.wants import Wants
from dyno.errors import UsageError
from dyno.statistics.paired import Floats

NEAR = 0.5
"""Demands come from levels with at least this share of the largest measured throughput."""


@dataclass(frozen=True)
class Transactions:
    """Transactions wanted, with a value per draw.

    Attributes:
        tps: Transactions per second of all users.
        users: All users; None if only a rate is wanted.
        think_s: Time a user thinks; None if users never think, or only a rate is wanted.
        growth: Throughput by users, if users never think.
        cpu_s: CPU time of a transaction, s; None if it was not sampled.
        ios: Device I/Os of a transaction; None if unknown.
        reads: Share of reads in them; None if unknown.
        device_s: Time that the measured data devices work on a transaction, s; None if unknown.
        loads: All levels, and ``near`` those that the demands come from.
    """

    tps: Floats
    users: float | None
    think_s: float | None
    growth: Growth | None
    cpu_s: Floats | None
    ios: Floats | None
    reads: float | None
    device_s: Floats | None
    loads: tuple[Load, ...]
    near: tuple[Load, ...]

    @property
    def top(self) -> Load:
        """The level with most throughput."""
        return max(self.loads, key=lambda one: one.tps)


@dataclass(frozen=True)
class Decisions:
    """Queries wanted: per hour, with the CPU time and MB of one; None if unknown."""

    per_h: Floats
    cpu_s: Floats | None
    mb: Floats | None
    top: Queries


def transactions(found: Evidence, wants: Wants, lot: Lot, inputs: Inputs) -> Transactions | None:
    """The transactions that are wanted; None if none are.

    Raises:
        UsageError: If nothing was measured that shows them, or wants contradict.
    """
    if wants.users is None and wants.tps is None:
        return None
    if not found.loads:
        raise UsageError(
            "No run has a completed level of transactions with response times. Name one: "
            "`dyno run WORKLOAD --users 1 --users 4`."
        )
    fastest = max(found.loads, key=lambda one: one.tps)
    _tell_others(fastest.target, {one.target for one in found.loads}, inputs)
    own = [one for one in found.loads if one.target == fastest.target]
    loads = tuple(sorted(own, key=lambda one: one.tps))
    require_consistent(wants, loads)
    sized = next((one for one in loads if one.data_tb), None)
    if sized is not None:
        stated = wants.io_per_tx is not None
        require_data(wants, sized.data_tb, sized.source, inputs, stated=stated)
    near = tuple(one for one in loads if one.tps >= NEAR * loads[-1].tps)
    tps, think_s, curve = _rate(wants, loads, lot, inputs)
    ios = None
    if wants.io_per_tx is not None:
        ios = lot.fixed(wants.io_per_tx)
    elif values := _known(near, lambda one: one.ios):
        ios = inputs.drawn(
            "I/Os of a transaction",
            lot.sample([value for _, value in values], near[-1].noise, 4),
            "I/Os",
            f"{_names(near)}: reads and writes at the data devices / transactions",
        )
    shares = [one.reads for one in near if one.reads is not None]
    works = _known(near, lambda one: None if one.device_s is None else one.device_s * one.devices)
    return Transactions(
        tps=tps,
        users=None if wants.users is None else wants.users * wants.factor,
        think_s=think_s,
        growth=curve,
        cpu_s=_cpu(near, lot, inputs),
        ios=ios,
        reads=float(np.mean(shares)) if shares else None,
        device_s=lot.sample([v for _, v in works], near[-1].noise, 5) if works else None,
        loads=loads,
        near=near,
    )


def _rate(
    wants: Wants, loads: Sequence[Load], lot: Lot, inputs: Inputs
) -> tuple[Floats, float | None, Growth | None]:
    """Transactions per second, think time, and the curve of users without any."""
    users = None if wants.users is None else wants.users * wants.factor
    base_s = min(one.mean_ms for one in loads) / 1000
    if wants.tps is not None:
        tps = wants.tps * wants.factor
        if users is None:
            return lot.fixed(tps), None, None
        think_s = users / tps - base_s if wants.think_s is None else wants.think_s
        if wants.think_s is None:
            inputs.add("think time", think_s, "s", "users / tps less the fastest mean response")
        return lot.fixed(tps), think_s, None
    assert users is not None  # noqa: S101 - the caller checked
    if wants.think_s is not None:
        return lot.fixed(users / (wants.think_s + base_s)), wants.think_s, None
    paced = [one for one in loads if one.thinks]
    if paced:
        each = inputs.drawn(
            "transactions of a user",
            lot.sample([one.tps / one.users for one in paced], paced[-1].noise, 6),
            "1/s",
            f"{_names(paced)}: transactions / s / users who think",
        )
        last = paced[-1]
        return users * each, max(0.0, last.users / last.tps - last.mean_ms / 1000), None
    curve = growth(loads, lot)
    if curve is None:
        raise UsageError(
            f"Users without think time need at least {FEWEST} levels, such as --users 1 --users 2 "
            "--users 4; or state their pace: --want think=12s, or --want tps=N."
        )
    if users > FARTHEST * curve.most:
        raise UsageError(
            f"{users:,.4g} users are more than {FARTHEST:g} times the {curve.most:g} that were "
            "measured, and contention beyond that is unknown. Measure more --users, or state "
            "their pace: --want think=12s."
        )
    closed = [one for one in loads if not one.open and not one.thinks]
    source = f"fit to {_names(closed)}"
    for name, drawn, unit in (
        ("USL γ", curve.curves.gamma, "1/s"),
        ("USL σ (contention)", curve.curves.sigma, ""),
        ("USL κ (coherency)", curve.curves.kappa, ""),
    ):
        inputs.drawn(name, drawn, unit, source)
    inputs.caveat("Users never think, as in the levels: all of them work all the time.")
    if not curve.peak:
        inputs.caveat("No peak observed: the interval of κ reaches 0, so κ is 0.")
    if len({one.users for one in closed}) < ENOUGH:
        inputs.caveat(f"The curve has fewer than {ENOUGH} levels: its interval may be too narrow.")
    return curve.at(users), None, curve


def _cpu(near: Sequence[Load], lot: Lot, inputs: Inputs) -> Floats | None:
    known = _known(near, lambda one: one.cpu_s)
    if not known:
        inputs.caveat(
            "CPU not sampled on the server's machine: its CPUs are not sized. Run with --agent."
        )
        return None
    first = known[0][0]
    return inputs.drawn(
        "CPU of a transaction",
        lot.sample([value for _, value in known], near[-1].noise, 3),
        "s",
        f"{_names([one for one, _ in known])}: {first.cpu_of} / transactions",
    )


def decisions(found: Evidence, wants: Wants, lot: Lot, inputs: Inputs) -> Decisions | None:
    """The queries that are wanted; None if none are.

    Raises:
        UsageError: If no run has a completed query test.
    """
    if wants.queries_per_h is None:
        return None
    if not found.queries:
        raise UsageError(
            "No run has a completed query test. Name one: `dyno run tpch --streams 4`."
        )
    top = max(found.queries, key=lambda one: one.per_h)
    _tell_others(top.target, {one.target for one in found.queries}, inputs)
    larger = require_data(wants, top.data_tb, top.source, inputs)
    if larger > 1:
        inputs.assumed(
            "data of a query", larger, "×", "queries read and compute in proportion to the data"
        )

    def drawn(
        name: str, of: Callable[[Queries], float | None], unit: str, purpose: int
    ) -> Floats | None:
        alike = [
            one for one in found.queries if one.streams == top.streams and one.target == top.target
        ]
        values = [value for one in alike if (value := of(one))]
        if not values:
            return None
        source = f"{top.source}{f' and {len(values) - 1} more' if len(values) > 1 else ''}"
        return larger * inputs.drawn(name, lot.sample(values, None, purpose), unit, source)

    return Decisions(
        lot.fixed(wants.queries_per_h * wants.factor),
        drawn("CPU of a query", lambda one: one.cpu_s, "s", 7),
        drawn("MB of a query", lambda one: one.mb, "MB", 8),
        top,
    )


def _tell_others(target: str, every: set[str], inputs: Inputs) -> None:
    """A caveat if several databases were measured."""
    others = sorted(every - {target})
    if others:
        inputs.caveat(f"Sized for {target}, the fastest; also measured: {', '.join(others)}.")


def _known(loads: Sequence[Load], of: Callable[[Load], float | None]) -> list[tuple[Load, float]]:
    """The levels with a value above zero, which a logarithm takes."""
    return [(one, value) for one in loads if (value := of(one))]


def _names(loads: Sequence[Load]) -> str:
    """``RUN oltp.users-4, users-8``."""
    by_run: dict[str, list[str]] = {}
    for one in loads:
        by_run.setdefault(one.run, []).append(one.name)
    return "; ".join(f"{run} oltp.{', '.join(names)}" for run, names in by_run.items())
