"""MariaDB as a private server: shutdown signals and log messages."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from dyno.servers.product import Product


def explain(lines: Sequence[str]) -> str | None:
    """The first error in the log, else the last line."""
    errors = [line.partition("[ERROR] ")[2] for line in lines if "[ERROR] " in line]
    found = errors[:1] or lines[-1:]
    return found[0].rstrip(".") if found else None


def reports_full_disk(text: str) -> bool:
    """Whether a message of the server's programs reports a full volume."""
    return any(words in text for words in ("No space left", "Errcode: 28", "error 28", "disk full"))


MARIADB = Product(
    name="MariaDB",
    # Writes dirty pages; then SIGKILL, with recovery at the next start.
    stops=((signal.SIGTERM, 120.0), (signal.SIGKILL, 15.0)),
    at_death=signal.SIGKILL,
    explain=explain,
    reports_full_disk=reports_full_disk,
    aborts=frozenset({signal.SIGABRT}),
)
