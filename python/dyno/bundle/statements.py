"""The record of a workload of one's own in a run's plan, and those of the bundles read so far.

The file's text is the definition of the work. What readers of a bundle need besides is recorded
next to it, so that they parse no text of others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from dyno.bundle.model import Model

KEY = "statements"
"""Its name in the plan."""
_MOST = 1_000

Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
"""A name as files have it; bundles of others are untrusted."""
Title = Annotated[str, Field(max_length=200)]


@dataclass(frozen=True)
class Source:
    """The file of a workload: its name without folder, its SHA-256, and its text."""

    file: str
    sha256: str
    text: str


class Recorded(Model):
    """What a run records of the workload.

    Attributes:
        file: Name of the file, without its folder.
        sha256: Of the file as it was read, in hexadecimal digits.
        text: Its text, without what may be a secret.
        kind: ``oltp`` for transactions, ``dss`` for queries.
        mix: Share of each transaction.
        main: The main transaction, and ``plural``, its plural in names of metrics.
        queries: Title of each query, in order.
        weights: How often a stream runs each query, if more than once.
        loads: Whether it has tables that Dyno creates.
    """

    file: str
    sha256: str
    text: str
    title: Title
    kind: Literal["oltp", "dss"] = "oltp"
    mix: Annotated[dict[Word, float], Field(max_length=_MOST)] = {}
    main: Word = "main_operation"
    plural: Word = "main_operations"
    queries: Annotated[dict[Word, Title], Field(max_length=_MOST)] = {}
    weights: Annotated[dict[Word, int], Field(max_length=_MOST)] = {}
    loads: bool = True


_RECORDED: dict[str, Recorded] = {}


def remember(names: tuple[str, ...], plan: Mapping[str, Any]) -> None:
    """Notes the records in the plan of an opened bundle. An invalid one is ignored.

    A run of several workloads has the record with each of its members.
    """
    if len(names) == 1:
        _note(names[0], plan)
    members = plan.get("members")
    for member in members[:_MOST] if isinstance(members, list) else ():
        if isinstance(member, dict) and member.get("workload") in names:
            _note(str(member["workload"]), member)


def _note(name: str, plan: Mapping[str, Any]) -> None:
    if KEY in plan:
        with contextlib.suppress(ValidationError):
            _RECORDED[name] = Recorded.model_validate(plan[KEY])


def recorded(name: str) -> Recorded | None:
    """The record of a workload in the bundle that was opened last and has one."""
    return _RECORDED.get(name)
