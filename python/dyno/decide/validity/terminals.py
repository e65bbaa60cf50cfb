"""Terminals: more users keyed and thought than their warehouses have places for."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.workloads.tpcc.pace import TERMINALS, crowd


def _check(case: Case) -> Iterable[Ruling]:
    for phase, _ in case.levels():
        loop, users = phase.detail.get("loop"), phase.detail.get("users")
        warehouses = phase.detail.get("warehouses")
        if not isinstance(loop, dict) or loop.get("think") is not True:  # pyright: ignore[reportUnknownMemberType]
            continue
        if not isinstance(users, int | float) or not isinstance(warehouses, int | float):
            continue
        message = crowd(users, warehouses)
        if message is not None:
            facts = (f"users {users:g}", f"warehouses {warehouses:g}")
            yield Ruling("warning", f"{phase.title}: {message}", phase.name, facts)


RULE = Rule(
    code="terminals",
    weight=Weight.DOUBTFUL,
    definition=f"Users who key and think are more than {TERMINALS} a warehouse.",
    explanation=(
        "More users on the same rows than the specification has: it is no longer its paced load."
    ),
    check=_check,
)
