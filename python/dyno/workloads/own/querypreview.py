"""Prints the queries that users would run, with their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dyno.contracts import workload as contract
from dyno.workloads.own import forms
from dyno.workloads.own.queries import literal
from dyno.workloads.own.queryreview import parsed
from dyno.workloads.own.spec import File


def lines(file: File, asked: Sequence[contract.Query], scale: float, seed: int) -> list[str]:
    """Each query with its values in the power test and in the first stream.

    Values of a query are unknown before the run, and shown by their source.

    Args:
        file: The file.
        asked: Its queries.
        scale: Of the tables.
        seed: Of the run.
    """
    pairs = zip(file.queries, asked, strict=True)
    return [line for one, made in pairs for line in _lines(file, one, made, scale, seed)]


def _lines(
    file: File, query: forms.Query, made: contract.Query, scale: float, seed: int
) -> Iterator[str]:
    often = f"{query.weight} times in each stream" if query.weight > 1 else ""
    yield ", ".join(filter(None, [query.name, query.title, often]))
    texts = parsed(query)
    fixed, drawn = made.validation(scale), made.draw(seed + 1, scale)
    for target, text in texts.items():
        where = f"{target}: " if target else ""
        yield f"  {where}{' '.join(text.sql.split())}"
        for number, name in enumerate(text.names, start=1):
            queried = file.draws[name].query is not None
            first = "from its query" if queried else literal(drawn[name])
            same = "from its query" if queried and name not in query.values else \
                literal(fixed[name])  # fmt: skip
            yield f"      ${number} {name} = {same} (power test), {first} (stream 1)"
