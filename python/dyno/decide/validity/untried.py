"""Untried: Dyno was not tested against the product or version that was measured."""

from __future__ import annotations

from collections.abc import Iterable

from dyno.decide.case import Case
from dyno.decide.rule import Rule, Ruling, Weight


def _check(case: Case) -> Iterable[Ruling]:
    for name, facts in case.bundle.run.targets.items():
        if facts.untried:
            yield Ruling(
                "note",
                f"{name}: Dyno was tested against {facts.untried}. Compare surprising results with "
                "the server's own counters.",
                evidence=(facts.version,),
            )


RULE = Rule(
    code="untried",
    weight=Weight.DOUBTFUL,
    definition="Dyno was not tested against the product that was measured. Always a note.",
    explanation="What a product reports about itself may differ from its documentation.",
    check=_check,
)
