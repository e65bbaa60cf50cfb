"""The server product and version, as MariaDB and MySQL have diverged."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dyno.errors import TargetError

OLDEST = {"MariaDB": (10, 6), "MySQL": (8, 0)}
"""The oldest supported versions: window functions, CTEs, atomic DDL."""


@dataclass(frozen=True)
class Version:
    """A server's version from its handshake."""

    product: str
    number: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Version:
        """Parses versions such as ``10.11.19-MariaDB-0+deb12u1`` or ``8.0.44``.

        MariaDB puts ``5.5.5-`` before its own for old clients.
        """
        text = re.sub(r"^5\.5\.5-(?=\d+\.)", "", text)
        found = re.match(r"\d+(?:\.\d+)*", text)
        number = tuple(int(part) for part in found[0].split(".")) if found else ()
        return cls("MariaDB" if "mariadb" in text.lower() else "MySQL", number)

    @property
    def is_mariadb(self) -> bool:
        """Whether it is MariaDB."""
        return self.product == "MariaDB"

    def require(self, server: str) -> None:
        """Rejects a server that is too old.

        Raises:
            TargetError: If it is.
        """
        oldest = OLDEST[self.product]
        if self.number[:2] < oldest:
            wanted = ".".join(map(str, oldest))
            raise TargetError(f"{server} is {self}; Dyno needs {self.product} {wanted} or newer.")

    def __str__(self) -> str:
        return f"{self.product} {'.'.join(map(str, self.number))}"
