"""Indexes, only with proof: by the planner of the engine, or by a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dyno.config.units import bytes_text, digits
from dyno.decide.advise.amounts import percent, plural, some
from dyno.decide.advise.indexes.trial import IndexAdvice, Proposal, Served
from dyno.decide.advise.section import Asked, Kind, Section, Table, Variant
from dyno.decide.advise.statements import brief
from dyno.decide.advise.system import System
from dyno.studies.form import INDEX

_NONE = "–"
_SHORT = 60
_REASONS = 3
_TESTED = 3
"""Candidates without a proof that a study tests; each costs it more runs."""


def _advise(system: System, asked: Asked) -> Section | None:  # noqa: ARG001  (all are listed)
    found = system.indexes
    if found is None:
        return None
    proven, tested = list(found.proven), found.unproven[:_TESTED]
    return Section(
        "Indexes",
        _sentences(found),
        _tables(found, proven) if proven else [],
        {one.name: [one.definition] for one in proven},
        _closing(found),
        _document(found),
        variants=[_variant(one) for one in (*proven, *tested) if one.of_workload],
        once_proven={one.name: [one.definition] for one in tested},
    )


def _sentences(found: IndexAdvice) -> list[str]:
    if found.how:
        count = len(found.proven)
        return [
            f"{plural(found.tried, 'candidate')} of {plural(found.statements, 'statement')}, "
            f"planned by {found.how}: "
            + (f"{plural(count, 'index', 'indexes')} would be used." if count else "none gains.")
        ]
    if not found.statements:
        return [f"No index is advised: {found.obstacle}."]
    names = [one.name for one in found.unproven]
    also = f" Candidates of the statements: {some(names, _TESTED)}." if names else ""
    prove = f" `dyno advise --prove` tests the first {_TESTED} of them." if _testable(found) else ""
    return [f"No index is advised without a proof: {found.obstacle}.{also}{prove}"]


def _testable(found: IndexAdvice) -> bool:
    return any(one.of_workload for one in found.unproven)


def _tables(found: IndexAdvice, proven: Sequence[Proposal]) -> list[Table]:
    share = f"Share of {found.shares}>"
    sizes = [
        (
            one.name,
            percent(sum(each.share for each in one.served)),
            _NONE if one.bytes is None else bytes_text(one.bytes),
            digits(found.writes[one.wish.table]) if one.wish.table in found.writes else _NONE,
        )
        for one in proven
    ]
    served: list[tuple[str, ...]] = []
    for one in proven:
        names = (one.name, *[""] * len(one.served))
        served += [
            (name, _label(each), _cost(each), percent(each.share))
            for name, each in zip(names, one.served, strict=False)
        ]
    return [
        Table(("Index", share, "Size>", "Writes>"), sizes),
        Table(("Index", "Statement", "Cost", share), served, "Statements that they serve"),
    ]


def _label(one: Served) -> str:
    """The name of a query, or the text of a statement that has a number only."""
    return brief(one.text, _SHORT) if one.name.lstrip("-").isdigit() else one.name


def _cost(one: Served) -> str:
    """The cost before and after; of a planner without costs, what the index replaces."""
    if one.before is None or one.after is None:
        return "no full scan"
    return f"{digits(one.before)} → {digits(one.after)}"


def _closing(found: IndexAdvice) -> list[str]:
    lines: list[str] = []
    written = [one.name for one in found.proven if found.writes.get(one.wish.table)]
    if written:
        lines.append(
            "Every write of a row also writes its indexes. Writes are the rows that were inserted, "
            "changed or deleted in the table since the counters began."
        )
    if found.left_out:
        reasons = Counter(found.left_out.values())
        listed = "; ".join(f"{count}: {reason}" for reason, count in reasons.most_common(_REASONS))
        lines.append(f"Not planned: {plural(len(found.left_out), 'statement')} ({listed}).")
    return lines


def _variant(one: Proposal) -> Variant:
    columns = ",".join(one.wish.columns)
    served = some([each.name for each in one.served]) if one.served else "a statement"
    changes = {INDEX: f"{one.of_workload}:{columns}"}
    return Variant(one.name, changes, f"fewer pages for {served}")


def _document(found: IndexAdvice) -> dict[str, Any]:
    return {
        **asdict(found),
        "proven": [_described(found, one) for one in found.proven],
        "unproven": [_described(found, one) for one in found.unproven],
    }


def _described(found: IndexAdvice, one: Proposal) -> dict[str, Any]:
    own = asdict(one)
    del own["wish"]
    return {**own, **asdict(one.wish), "writes": found.writes.get(one.wish.table)}


KIND = Kind("indexes", 50, _advise)
