"""Stored procedures of a workload: text, version and ownership."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any

from dyno.contracts.databases import workload_of
from dyno.errors import UsageError
from dyno.targets import mark


@dataclass(frozen=True)
class Procedures:
    """The procedures of a database in this version of Dyno.

    Attributes:
        database: The database, or the workload if it has only one.
        names: Their names, in lower case.
        version: A digest of their text.
        any_case: Whether the server ignores the case of names.
    """

    database: str
    names: tuple[str, ...]
    version: str
    any_case: bool = False

    @classmethod
    def of(
        cls, database: str, text: str, names: Iterable[str], *, any_case: bool = False
    ) -> Procedures:
        """The procedures that ``text`` creates."""
        version = sha256(text.encode()).hexdigest()[:16]
        return cls(database, tuple(names), version, any_case)

    @property
    def comment(self) -> str:
        """Their mark."""
        return f"{mark.PREFIX}{self.database} procedure {self.version}"

    def require_own(self, present: Sequence[tuple[str, str | None]], holds: str) -> None:
        """Rejects a database in which other objects have one of their names.

        Args:
            present: Names and comments of existing objects of this kind.
            holds: Start of the message, such as ``PostgreSQL at db1, schema s, contains routines``.

        Raises:
            UsageError: With the names.
        """
        foreign = sorted(
            name
            for name, remark in present
            if (name.lower() if self.any_case else name) in self.names
            and not mark.is_mark(remark, self.database)
        )
        if foreign:
            raise UsageError(
                f"{holds} that Dyno did not create ({', '.join(foreign)}); Dyno never replaces "
                "them. Move them."
            )

    def are_there(self, present: Iterable[tuple[str, str | None]]) -> bool:
        """Whether all of them exist in this version."""
        made = sorted(name for name, remark in present if remark == self.comment)
        return made == sorted(self.names)

    def facts(self, *, made: bool) -> dict[str, Any]:
        """The record: names, version, and whether they were created."""
        return {"procedures": list(self.names), "version": self.version, "made": made}


def text(package: str, database: str) -> str:
    """The text of a workload's procedures in ``package``: ``<workload>.sql`` or all in a folder."""
    found = files(package).joinpath(workload_of(database))
    if not found.is_dir():
        return files(package).joinpath(f"{found.name}.sql").read_text(encoding="utf-8")
    parts = sorted(found.iterdir(), key=lambda part: part.name)
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)
