"""The settings of one run on one server: given, applied, verified, restored."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dyno.bundle.model import Applied
from dyno.config.settings import Setting
from dyno.errors import TargetError
from dyno.targets.postgresql import readback
from dyno.targets.postgresql.connection import PostgresConnection
from dyno.targets.postgresql.server import Server
from dyno.targets.postgresql.tuning import SPARE_WORKERS, amounts, changes, overrides

_AT_START = "at the start"
_WHILE_DOWN = "while the server was down"


class Tuning:
    """What is asked of one target.

    A private server is started with it. A server that is not Dyno's own is left as it is: each of
    Dyno's sessions there sets what a session may.

    Attributes:
        sessions: Parameters that every session sets, by name.
        applied: What was read back.
    """

    def __init__(self, asked: Sequence[Setting] = ()) -> None:
        """Takes settings.

        Raises:
            UsageError: If PostgreSQL takes no such value.
        """
        self._asked = list(asked)
        self._changes = changes(self._asked, lambda _: 0)
        self._before: dict[str, str] = {}
        self._how: dict[str, str] = {}
        self.sessions: dict[str, str] = {}
        self.applied: tuple[Applied, ...] = ()

    def give(self, server: Server) -> None:
        """Has the private server start with them."""
        server.asked_checksums = self._value("checksums")

        def override(usual: dict[str, str]) -> dict[str, str]:
            self._changes = changes(self._asked, amounts(usual), SPARE_WORKERS)
            return overrides(self._changes)

        server.override = override

    def verify_server(self, session: PostgresConnection, server: Server) -> None:
        """Reads back what the private server was started with.

        Raises:
            TargetError: If it has something else.
        """
        if not self._changes:
            return
        before = {**server.usual, "data_checksums": server.usual_checksums}
        how = {item.name: _AT_START for item in self._changes}
        how["data_checksums"] = _WHILE_DOWN
        self.applied = tuple(readback.verify(session, self._changes, before, how))

    def plan_sessions(self, session: PostgresConnection, server: str) -> None:
        """Finds out what sessions of a server that is not Dyno's have to set.

        Raises:
            UsageError: If something needs the server's own configuration.
            TargetError: If this user may not set something.
        """
        if not self._changes:
            return
        names = ("effective_cache_size", "min_wal_size", "max_parallel_workers")
        shown = readback.read(session, [*names, "max_worker_processes"])
        self._changes = changes(self._asked, lambda name: shown[name].amount or 0)
        now = readback.read(session, [item.name for item in self._changes])
        self.sessions = readback.for_sessions(session, self._changes, server)
        self._before = {name: item.text for name, item in now.items()}
        self._how = {
            item.name: readback.IN_SESSIONS if item.name in self.sessions else readback.AS_IT_IS
            for item in self._changes
        }

    def verify_sessions(self, session: PostgresConnection) -> None:
        """Reads back what a session has.

        Raises:
            TargetError: If it has something else.
        """
        if self._changes:
            found = readback.verify(session, self._changes, self._before, self._how)
            self.applied = tuple(found)

    def left(self, *, restored: bool) -> None:
        """Notes that the target was left."""
        self.applied = tuple(
            item.model_copy(update={"restored": restored or item.how != _WHILE_DOWN})
            for item in self.applied
        )

    def advised(self, error: TargetError, server: Server) -> TargetError:
        """The error of a start that failed, with what the settings may have to do with it."""
        if self._value("large_pages") == "on" and "shared memory" in str(error):
            needed, free = server.large_pages_needed(), _large_pages_free()
            return TargetError(
                f"large_pages=on: {needed or 'more'} large pages are needed and {free} are free. "
                f"As root: sysctl -w vm.nr_hugepages={needed or 'N'}; or give large_pages=try.",
                kind="out_of_memory",
            )
        if self._changes and "shared memory" in str(error):
            return TargetError(f"{error} Give a smaller memory.", kind="out_of_memory")
        return error

    def _value(self, word: str) -> str | None:
        return next((str(item.value) for item in self._asked if item.word == word), None)


def _large_pages_free(path: str = "/proc/meminfo") -> int:
    from pathlib import Path

    try:
        text = Path(path).read_text(encoding="ascii")
    except OSError:
        return 0
    match = re.search(r"^HugePages_Free: +(\d+)", text, re.MULTILINE)
    return int(match[1]) if match else 0
