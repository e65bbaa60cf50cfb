"""What a kind of advice says of a system, for the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dyno.decide.advise.system import System


@dataclass(frozen=True)
class Table:
    """Rows of texts.

    Attributes:
        columns: Their titles; one that ends in ``>`` is of numbers.
        marks: The mark of each row, such as a severity; empty for none.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    title: str = ""
    marks: Sequence[str] = ()


@dataclass(frozen=True)
class Variant:
    """A piece of advice as a variant of a study: what differs from the system as it is.

    Attributes:
        name: Its name in the study.
        changes: Settings by path, as an entry of ``[[variants]]`` in a study file has them. A
            ``load.layout`` with a line feed is the text of a layout; ``dyno advise --write`` makes
            it a file.
        why: What is expected of it; a clause.
    """

    name: str
    changes: Mapping[str, str]
    why: str


@dataclass(frozen=True)
class Section:
    """The answer of one kind.

    Attributes:
        sentences: What comes first.
        tables: What follows.
        commands: By title, what a person may run; Dyno does not.
        closing: What comes last.
        document: All of it, for JSON.
        violated: Names of what is violated, which decides the exit code.
        variants: The advice as variants of a study.
        files: Texts of files by name that ``--write`` makes in the folder given to it.
        once_proven: Commands by the name of a variant, for after a study has proven it.
    """

    title: str
    sentences: Sequence[str] = ()
    tables: Sequence[Table] = ()
    commands: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    closing: Sequence[str] = ()
    document: Any = None
    violated: Sequence[str] = ()
    variants: Sequence[Variant] = ()
    files: Callable[[Path], Mapping[str, str]] | None = None
    once_proven: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


@dataclass(frozen=True)
class Asked:
    """What the user wants to see.

    Attributes:
        every: Fulfilled and inapplicable rules as well.
        top: Statements and relations to list.
    """

    every: bool = False
    top: int = 20


@dataclass(frozen=True)
class Kind:
    """A kind of advice. Each file under ``kinds`` defines one as ``KIND``.

    Attributes:
        name: Its key in the JSON document; the file's.
        order: Its place.
        advise: Its section on a system; None if it has nothing to say.
    """

    name: str
    order: int
    advise: Callable[[System, Asked], Section | None]
