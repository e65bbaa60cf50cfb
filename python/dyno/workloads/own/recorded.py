"""A workload as a bundle records it: to read results, not to run it."""

from __future__ import annotations

from typing import Any, NoReturn

from dyno.bundle.statements import Recorded
from dyno.contracts.transactions import Transactions, Work
from dyno.contracts.workload import Query, Workload
from dyno.errors import UsageError
from dyno.workloads.own.workload import parse_scale


def workload_of(name: str, recorded: Recorded) -> Workload:
    """The workload's names; loading, running or checking it needs its file."""

    def refuse(*_given: Any) -> NoReturn:
        raise UsageError(f"{name} is known from a bundle only. Name its file, {recorded.file}.")

    def params(_work: Work) -> dict[str, Any]:
        refuse()

    return Workload(
        name=name,
        kind=recorded.kind,
        title=recorded.title,
        notice="",
        bytes_per_scale=0,
        parse_scale=parse_scale,
        check=refuse,
        queries=tuple(
            Query(
                name=query,
                title=title,
                sql="",
                rules=(),
                defaults={},
                draw=refuse,
                weight=recorded.weights.get(query, 1),
            )
            for query, title in recorded.queries.items()
        ),
        loads=recorded.loads,
        transactions=Transactions(
            main=recorded.main,
            plural=recorded.plural,
            mix=recorded.mix,
            kind="script",
            params=params,
            unit="scale unit",
        ),
    )
