"""Prints what users would run: each statement with drawn values."""

from __future__ import annotations

from typing import Any

from dyno.workloads.own.planned import Planner, first_of
from dyno.workloads.own.steps import NOW, steps_of
from dyno.workloads.own.types import Kind

COUNT = 50
"""Transactions drawn to find one of each kind."""
_LONGEST = 60


def lines(planner: Planner, scale: float, seed: int) -> list[str]:
    """One transaction of each kind with its statements and values.

    Values come from the driver, as its first user would draw them. Those of a query or of an
    earlier row are unknown before the run, and shown by their source.

    Args:
        planner: Of the file.
        scale: Of the tables.
        seed: Of the run.
    """
    plan = planner.plan(scale, seed=1, connect=None)
    first: dict[str, dict[str, Any]] = {}
    for each in first_of(plan, seed, COUNT):
        first.setdefault(each["operation"], dict(each["values"]))
    whole = sum(each["weight"] for each in plan["operations"])
    shown: list[str] = []
    for operation in plan["operations"]:
        name, steps = operation["name"], operation["steps"]
        share = 100 * operation["weight"] / whole
        shown.append(f"{name}, {share:.3g} %{_pace(operation)}")
        values = _Values(planner, operation, first.get(name))
        shown += [line for step in steps for line in _step(step, values)]
    return shown


class _Values:
    """What stands for the parameters of a transaction."""

    def __init__(
        self, planner: Planner, operation: dict[str, Any], drawn: dict[str, Any] | None
    ) -> None:
        file = planner.file
        self._drawn = drawn
        self._kinds: dict[str, Kind] = {each["name"]: each["kind"] for each in operation["inputs"]}
        self._queries = {name for name, draw in file.draws.items() if draw.query is not None}
        transaction = file.transactions[operation["name"]]
        self._kept = {
            kept: step.name
            for step in steps_of(operation["name"], transaction, file)
            for kept in step.keeps
        }

    def text(self, name: str) -> str:
        """The value of a variable, or where it comes from."""
        if name == NOW:
            return "the current time"
        if name in self._kept:
            return f"from {self._kept[name]}"
        base = name.partition("#")[0]
        if base in self._queries:
            return "from its query"
        if self._drawn is None:
            return "drawn"
        return _written(self._drawn[name], self._kinds[name])


def _written(value: Any, kind: Kind) -> str:
    """A drawn value, as SQL writes it."""
    if isinstance(value, int) and isinstance(kind, dict):
        digits = f"{abs(value):0{kind['decimal'] + 1}}"
        cut = len(digits) - kind["decimal"]
        point = f"{digits[:cut]}.{digits[cut:]}" if kind["decimal"] else digits
        return f"-{point}" if value < 0 else point
    if isinstance(value, str):
        return f"'{value if len(value) <= _LONGEST else value[: _LONGEST - 1] + '…'}'"
    return "null" if value is None else str(value)


def _step(step: dict[str, Any], values: _Values) -> list[str]:
    given = [
        f"${number} {name.partition('#')[0]} = {values.text(name)}"
        for number, name in enumerate(step["given"], start=1)
    ]
    text = " ".join(step["sql"].split())
    own = [
        f"    {dialect}: {' '.join(sql.split())}"
        for dialect, texts in step["own"].items()
        for sql in texts
    ]
    return [f"  {step['name']}: {text}", *own, *(f"      {line}" for line in given)]


def _pace(operation: dict[str, Any]) -> str:
    think = operation["thinking_s"]
    words = f", think time {think:g} s with --think" if think else ""
    return words + (", without BEGIN and COMMIT" if operation["bare"] else "")
