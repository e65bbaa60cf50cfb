"""What targets share of a workload's procedures: their text, their version, and whose they are."""

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
    """The procedures of a database as this version of Dyno has them.

    Attributes:
        database: The database, or the workload of which it is the only one.
        names: Their names, in lower case.
        version: A digest of their text.
        any_case: Whether the server takes names for the same that differ in case only.
    """

    database: str
    names: tuple[str, ...]
    version: str
    any_case: bool = False

    @classmethod
    def of(
        cls, database: str, text: str, names: Iterable[str], *, any_case: bool = False
    ) -> Procedures:
        """Those that ``text`` makes."""
        version = sha256(text.encode()).hexdigest()[:16]
        return cls(database, tuple(names), version, any_case)

    @property
    def comment(self) -> str:
        """The mark that they bear."""
        return f"{mark.PREFIX}{self.database} procedure {self.version}"

    def require_own(self, present: Sequence[tuple[str, str | None]], holds: str) -> None:
        """Refuses a database where something else has one of their names.

        Args:
            present: Name and comment of everything there that has a name of its kind.
            holds: How the refusal starts, such as ``PostgreSQL at db1, schema s, holds routines``.

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
        """Whether all of them are there in this version."""
        made = sorted(name for name, remark in present if remark == self.comment)
        return made == sorted(self.names)

    def facts(self, *, made: bool) -> dict[str, Any]:
        """What to record of them: names, version, and whether they had to be made."""
        return {"procedures": list(self.names), "version": self.version, "made": made}


def text(package: str, database: str) -> str:
    """The text of a workload's procedures, which is ``<workload>.sql`` in ``package``."""
    return files(package).joinpath(f"{workload_of(database)}.sql").read_text(encoding="utf-8")
