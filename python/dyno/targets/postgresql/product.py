"""PostgreSQL as a private server: shutdown signals and log messages."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from dyno.servers.product import Product

PROGRAM = "postgres"

_STAMP = re.compile(r"^\S+ \S+ UTC \[\d+\] ")
_KILLED = re.compile(r"was terminated by signal (\d+)")
_PANIC = re.compile(r"\bPANIC:\s+(.*)")
_SEVERE = re.compile(r"\b(?:FATAL|ERROR):\s+(.*)")


def explain(lines: Sequence[str]) -> str | None:
    """A panic, a killed process, the last severe line, or else the last line without its time."""
    for pattern, template in (
        (_PANIC, "{}"),
        (_KILLED, "one of its processes was killed (signal {})"),
        (_SEVERE, "{}"),
    ):
        found = [match[1] for line in lines if (match := pattern.search(line))]
        # Excludes replies to Dyno's own connection attempts.
        found = [text for text in found if "is starting up" not in text]
        if found:
            return template.format(found[-1])
    return _STAMP.sub("", lines[-1]) if lines else None


def reports_full_disk(text: str) -> bool:
    """Whether a message of PostgreSQL's programs reports a full volume.

    A partial write is a short write, without a system error.
    """
    return any(words in text for words in ("No space left", "wrote only", "quota exceeded"))


POSTGRESQL = Product(
    name="PostgreSQL",
    # Fast shutdown: ends sessions and writes a checkpoint. Immediate shutdown: with recovery at the
    # next start. Then SIGKILL.
    stops=((signal.SIGINT, 120.0), (signal.SIGQUIT, 15.0), (signal.SIGKILL, 15.0)),
    at_death=signal.SIGQUIT,
    explain=explain,
    reports_full_disk=reports_full_disk,
)
