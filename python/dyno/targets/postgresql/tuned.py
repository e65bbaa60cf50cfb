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
from dyno.targets.servertuning import AT_START, ServerTuning

_WHILE_DOWN = "while the server was down"


class Tuning(ServerTuning[PostgresConnection, Server]):
    """The requested settings of one PostgreSQL."""

    def __init__(self, asked: Sequence[Setting] = ()) -> None:
        """Takes settings.

        Raises:
            UsageError: If PostgreSQL does not support a value.
        """
        super().__init__(asked, changes(asked, lambda _: 0), readback.verify)

    def give(self, server: Server) -> None:
        """Starts the private server with the settings."""
        server.asked_checksums = self._value("checksums")

        def override(usual: dict[str, str]) -> dict[str, str]:
            self._changes = changes(self._asked, amounts(usual), SPARE_WORKERS)
            return overrides(self._changes)

        server.override = override

    def _read_server(self, session: PostgresConnection, server: Server) -> list[Applied]:
        before = {**server.usual, "data_checksums": server.usual_checksums}
        how = {item.name: AT_START for item in self._changes}
        how["data_checksums"] = _WHILE_DOWN
        return readback.verify(session, self._changes, before, how)

    def _plan(self, session: PostgresConnection, server: str) -> None:
        names = ("effective_cache_size", "min_wal_size", "max_parallel_workers")
        shown = readback.read(session, [*names, "max_worker_processes"])
        self._changes = changes(self._asked, lambda name: shown[name].amount or 0)
        now = readback.read(session, [item.name for item in self._changes])
        self.sessions = readback.for_sessions(session, self._changes, server)
        self._before = {name: item.text for name, item in now.items()}

    def _ends_with_server(self, item: Applied) -> bool:
        return item.how != _WHILE_DOWN

    def advised(self, error: TargetError, server: Server) -> TargetError:
        """The error of a failed start, with advice on the settings."""
        if self._value("large_pages") == "on" and "shared memory" in str(error):
            needed, free = server.large_pages_needed(), _large_pages_free()
            return TargetError(
                f"large_pages=on: {needed or 'more'} huge pages are needed, {free} are free. As "
                f"root: sysctl -w vm.nr_hugepages={needed or 'N'}; or use large_pages=try.",
                kind="out_of_memory",
            )
        if self._changes and "shared memory" in str(error):
            return TargetError(f"{error} Use a smaller memory.", kind="out_of_memory")
        return error


def _large_pages_free(path: str = "/proc/meminfo") -> int:
    from pathlib import Path

    try:
        text = Path(path).read_text(encoding="ascii")
    except OSError:
        return 0
    match = re.search(r"^HugePages_Free: +(\d+)", text, re.MULTILINE)
    return int(match[1]) if match else 0
