"""Terminals: more users keyed and thought than their warehouses have places for."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight
from dyno.workloads.tpcc.pace import TERMINALS, crowd


def _check(case: Case) -> Iterable[Ruling]:
    for phase, _ in case.levels():
        users, warehouses = phase.detail.users, phase.detail.warehouses
        if phase.detail.thinks is not True or users is None or warehouses is None:
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
