"""What the profiler remarked on while it worked, by what it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Remark:
    """A remark.

    Attributes:
        code: As ``dyno_io::Topic`` has it: ``content``, ``unsettled``, ``page-cache``,
            ``unwritten``, ``unchecked``, ``leftover``, ``disturbed``, ``long-drain`` or
            ``fallback``; empty in bundles of earlier versions, which have only the words.
        text: The words.
    """

    code: str
    text: str


def remarks(told: Any) -> list[Remark]:
    """The ``notes`` of an outcome, or of a phase of a bundle, which is untrusted input."""
    return [
        Remark(str(one.get("code", "")), str(one.get("text", "")))
        if isinstance(one, dict)
        else Remark("", str(one))
        for one in (told if isinstance(told, list) else [])
    ]
