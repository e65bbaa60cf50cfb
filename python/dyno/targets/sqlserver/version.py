"""The server's product, version and edition."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dyno.errors import TargetError

OLDEST = 14
"""The oldest supported major version of SQL Server: 2017."""

_RELEASES = {13: "2016", 14: "2017", 15: "2019", 16: "2022", 17: "2025"}
_SINGLE = {5: "Azure SQL Database", 12: "SQL database in Microsoft Fabric"}
_CLOUD = {**_SINGLE, 8: "Azure SQL Managed Instance"}
"""By SERVERPROPERTY('EngineEdition'); their ProductVersion is 12, whatever they support."""

QUERY = (
    "SELECT @@VERSION, CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), "
    "CAST(SERVERPROPERTY('Edition') AS nvarchar(128)), "
    "CAST(SERVERPROPERTY('EngineEdition') AS int)"
)
"""Returns the arguments of :meth:`Version.parse`."""


@dataclass(frozen=True)
class Version:
    """A server's version.

    Attributes:
        product: ``SQL Server``, ``Babelfish`` or the name of a cloud service.
        number: Its own version number.
        edition: Such as ``Developer Edition (64-bit)``; empty if unknown.
    """

    product: str
    number: tuple[int, ...]
    edition: str = ""

    @classmethod
    def parse(cls, banner: str, version: str | None, edition: str | None, engine: int) -> Version:
        """Parses the row of :data:`QUERY`.

        Babelfish reports a version of SQL Server; its own is in the banner.
        """
        if "babelfish" in banner.lower():
            found = re.search(r"Babelfish for PostgreSQL.*?\(Babelfish ([\d.]+)\)", banner, re.S)
            return cls("Babelfish", _number(found[1] if found else ""), "")
        return cls(_CLOUD.get(engine, "SQL Server"), _number(version or ""), edition or "")

    @property
    def major(self) -> int:
        """The first part of its number; 0 if unknown."""
        return self.number[0] if self.number else 0

    @property
    def is_babelfish(self) -> bool:
        """Whether it is Babelfish for PostgreSQL, which lacks much of SQL Server."""
        return self.product == "Babelfish"

    @property
    def is_cloud(self) -> bool:
        """Whether it is one of Azure's services."""
        return self.product in _CLOUD.values()

    def require(self, server: str) -> None:
        """Rejects a server that is too old, or whose sessions cannot change their database.

        CREATE DATABASE would succeed there and be billed, and USE is error 40508.

        Raises:
            TargetError: If it is.
        """
        if self.product in _SINGLE.values():
            raise TargetError(
                f"{server} is {self}, where a session cannot change its database; Dyno needs SQL "
                "Server or an Azure SQL Managed Instance."
            )
        if self.product == "SQL Server" and self.number[:1] < (OLDEST,):
            wanted = _RELEASES[OLDEST]
            raise TargetError(f"{server} is {self}; Dyno needs SQL Server {wanted} or newer.")

    def __str__(self) -> str:
        number = ".".join(map(str, self.number)) or "of an unknown version"
        release = _RELEASES.get(self.number[0]) if self.number else None
        if self.product != "SQL Server" or release is None:
            return f"{self.product} {number}"
        return f"SQL Server {release} ({number})"


def _number(text: str) -> tuple[int, ...]:
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
