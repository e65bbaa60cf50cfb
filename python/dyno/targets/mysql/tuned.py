"""The settings of one run on one server: given, applied, verified, restored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dyno.bundle.model import Applied
from dyno.config.settings import Setting
from dyno.contracts.tuning import Change
from dyno.errors import TargetError
from dyno.targets.mysql import readback
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.inside.tablecounts import only_tables
from dyno.targets.mysql.server import Server
from dyno.targets.mysql.tuning import changes
from dyno.targets.mysql.version import Version
from dyno.targets.servertuning import AT_START, ServerTuning

_FACTS = ("join_buffer_space_limit", "log_bin")


class Tuning(ServerTuning[MysqlConnection, Server]):
    """The requested settings of one MariaDB or MySQL; they end with the server or session."""

    def __init__(self, asked: Sequence[Setting] = ()) -> None:
        """Takes settings.

        Raises:
            UsageError: If the server does not support a value.
        """
        super().__init__(asked, changes(asked), readback.verify)

    def give(self, server: Server) -> None:
        """Starts the private server with the settings."""
        server.asked_temp = self._value("temp_path")

        def override(usual: dict[str, str], version: Version) -> dict[str, str]:
            self._changes = changes(
                self._asked, version, lambda name: readback.amount(usual.get(name))
            )
            return {item.name: item.value for item in self._changes if item.name != "tmpdir"}

        server.override = override

    def _read_server(self, session: MysqlConnection, server: Server) -> list[Applied]:
        if self._value("table_counts") == "on":
            only_tables(session)
        names = [item.name for item in self._changes]
        before = {**readback.defaults(session, names), **server.usual}
        given = [
            Change(item.word, item.asked, item.name, server.settings[item.name])
            if item.name == "tmpdir"  # a subfolder for Dyno in the named folder
            else item
            for item in self._changes
        ]
        how = dict.fromkeys(names, AT_START)
        found = readback.verify(session, given, before, how)
        return [self._with_large_pages(item, server) for item in found]

    def _plan(self, session: MysqlConnection, server: str) -> None:
        shown = readback.read(session, _FACTS)
        self._changes = changes(
            self._asked, session.version, lambda name: readback.amount(shown.get(name))
        )
        self._before = readback.read(session, [item.name for item in self._changes])
        self.sessions = readback.for_sessions(session, self._changes, server)

    def _with_large_pages(self, item: Applied, server: Server) -> Applied:
        """Without huge pages, MariaDB continues with small ones and only logs it."""
        if item.name != "large_pages" or item.value == "OFF":
            return item
        used = _large_page_bytes(server.pid)
        if self._value("large_pages") == "on" and not used:
            size = _meminfo("Hugepagesize") * 1024
            pool = int(server.settings["innodb_buffer_pool_size"])
            needed = pool * 11 // 10 // size + 1 if size else "N"
            raise TargetError(
                f"large_pages=on: MariaDB got no huge pages; {_meminfo('HugePages_Free')} are "
                f"free, about {needed} are needed. As root: sysctl -w vm.nr_hugepages={needed}; "
                "or use large_pages=try.",
                kind="out_of_memory",
            )
        return item.model_copy(update={"note": f"huge pages in use: {used >> 20} MB"})


def _large_page_bytes(pid: int | None) -> int:
    """Bytes of a process's memory in large pages."""
    return _kilobytes(Path(f"/proc/{pid}/status"), "HugetlbPages") * 1024


def _meminfo(name: str) -> int:
    return _kilobytes(Path("/proc/meminfo"), name)


def _kilobytes(file: Path, name: str) -> int:
    try:
        text = file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0
