"""A recorder in place of a SQL Server: it answers what one answers, and keeps what was sent.

It knows the settings of an instance, options of databases and files, and the statements that change
them. It is not a server: what it answers follows the documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from dyno.contracts.target import QueryResult
from dyno.errors import error_of_kind
from dyno.targets.sqlserver.tuning import OF_DATABASES
from dyno.targets.sqlserver.version import Version

SERVER_2022 = Version("SQL Server", (16, 0, 4135, 4), "Developer Edition (64-bit)")
SERVER_2019 = Version("SQL Server", (15, 0, 4430, 1), "Standard Edition (64-bit)")
BABELFISH = Version("Babelfish", (4, 3, 0))

Answer = Callable[[re.Match[str]], Sequence[tuple[Any, ...]]]


class Recorder:
    """A session with it.

    Attributes:
        sent: Every statement.
        refused: Part of a statement that fails.
        memory: What it has in use, of 16 GiB; five eighths of it are for sorts and hashes.
        frees: How much of it a reading finds freed, as far as it is above its limit.
    """

    number = 57

    def __init__(self, version: Version = SERVER_2022) -> None:
        self.version = version
        self.sent: list[str] = []
        self.refused, self.refusals = "", 1000
        self.configured = {
            "show advanced options": 0,
            "max server memory (MB)": 2147483647,
            "max degree of parallelism": 0,
            "cost threshold for parallelism": 5,
        }
        self.pending: dict[str, int] = {}
        self.deaf: set[str] = set()
        self.governor: dict[str, float] = {"enabled": 0, "stored": 25, "used": 25}
        self.governed: tuple[int, ...] = (0, 0, 0, 0)
        self.memory = 16 << 30
        self.frees = 16 << 30
        self.options = {
            "master": ["CHECKSUM", "DISABLED", "SIMPLE", "OFF"],
            "shop": ["NONE", "DISABLED", "FULL", "OFF"],
            "dyno_tpch": ["CHECKSUM", "DISABLED", "FULL", "OFF"],
        }
        self.scoped: dict[str, str] = {}
        self.most_cpus = 64
        self.called: str | None = None
        self.closed: set[str] = set()
        self.backed_up = {"shop"}
        self.sysadmin = True
        self.dropped = 0
        self.temp: list[tuple[str, str, int, int, int, int | None]] = [
            ("tempdev", "/var/opt/mssql/data/tempdb.mdf", 8192, 8192, 0, None)
        ]
        self.groups: dict[str, str | None] = {"PRIMARY": None}
        self.files: list[tuple[str, str | None, str, int]] = [
            ("dyno_tpch", "PRIMARY", "/var/opt/mssql/data/dyno_tpch.mdf", 64),
            ("dyno_tpch_log", None, "/var/opt/mssql/data/dyno_tpch_log.ldf", 64),
        ]
        self.known: list[tuple[str, Answer]] = [
            (r"SELECT name, CAST\(value AS bigint\).*sys\.configurations", self._configurations),
            (r"SELECT CAST\(SERVERPROPERTY\('ServerName'\)", lambda _: [(self.called,)]),
            (r"SELECT name FROM sys\.configurations WHERE is_dynamic = 1", self._staged),
            (r"SELECT CAST\(s\.request_max_memory_grant_percent",
             lambda _: [tuple(self.governor[name] for name in ("stored", "used", "enabled"))]),
            (r"SELECT CAST\(c\.is_enabled AS int\)",
             lambda _: [self.governed] if self.governed else []),
            (r"SELECT CAST\(committed_kb", self._memory),
            (r"SELECT MAX\(CAST\(max_target_memory_kb", lambda _: [(self.memory * 5 // 8,)]),
            (r"SELECT COALESCE\(IS_SRVROLEMEMBER\('sysadmin'\)", lambda _: [(int(self.sysadmin),)]),
            (r"SELECT name, physical_name.*tempdb", lambda _: self.temp),
            (r"SELECT name, page_verify_option_desc", self._databases),
            (r"SELECT d\.name, CASE WHEN r\.last_log_backup_lsn",
             lambda _: [(name, int(name in self.backed_up)) for name in self.options]),
            (r"SELECT name, CAST\(value AS nvarchar\(60\)\) FROM \[(\w+)\]\.sys\.database_scoped",
             lambda found: [("MAXDOP", self.scoped.get(found[1], "0"))]),
            (r"SELECT effective_max_dop", lambda _: [(self.most_cpus,)]),
            (r"IF EXISTS .* ELSE BACKUP DATABASE \[(\w+)\] TO DISK = N'NUL'$", self._back_up),
            (r"EXEC sys\.sp_configure N'(.*)', (\d+)", self._configure),
            (r"RECONFIGURE$", self._reconfigure),
            (r"ALTER RESOURCE GOVERNOR (\w+)", self._govern),
            (r"ALTER WORKLOAD GROUP \[default\] WITH \(\w+ = ([\d.]+)\)", self._grant),
            (r"ALTER DATABASE \[(\w+)\] SET (\w+)(?: =)? (\w+)(?: WITH .*)?$", self._option),
            (r"ALTER DATABASE \[tempdb\] ADD FILE \(NAME = N'(.*?)', FILENAME = N'(.*?)'",
             self._add),
            (r"USE \[tempdb\]; DBCC SHRINKFILE", lambda _: []),
            (r"ALTER DATABASE \[tempdb\] REMOVE FILE \[(.*)\]", self._remove),
            (r"SELECT g\.name, e\.value", lambda _: list(self.groups.items())),
            (r"SELECT f\.name, g\.name.*\[tempdb\]", self._temp_files),
            (r"SELECT f\.name, g\.name", lambda _: self.files),
            (r"SELECT COUNT\(\*\) FROM \[dyno_tpch\]\.sys\.allocation_units", self._dropped),
            (r"ALTER DATABASE \[dyno_tpch\] ADD FILEGROUP \[(.*)\]", self._add_group),
            (r"ALTER DATABASE \[dyno_tpch\] ADD FILE \(NAME = N'(.*?)', FILENAME = N'(.*?)', "
             r"SIZE = (\d+)MB.*TO FILEGROUP \[(.*)\]", self._add_file),
            (r"ALTER DATABASE \[dyno_tpch\] MODIFY FILE", lambda _: []),
            (r"EXEC \[dyno_tpch\]\.sys\.sp_addextendedproperty .*@value = N'(.*?)'.*"
             r"@level0name = N'(.*)'", self._mark),
            (r"ALTER DATABASE \[dyno_tpch\] REMOVE FILE \[(.*)\]", self._remove_file),
            (r"ALTER DATABASE \[dyno_tpch\] REMOVE FILEGROUP \[(.*)\]", self._remove_group),
        ]  # fmt: skip

    def execute(self, sql: str, needs: str = "") -> QueryResult:
        """Answers; an unknown statement is an error, as a server's would be."""
        self.sent.append(sql)
        if self.refused and self.refused in sql and self.refusals:
            self.refusals -= 1
            raise error_of_kind("database", f"The statement was refused: {sql} [error 5042].")
        for pattern, answer in self.known:
            if found := re.match(pattern, sql, re.DOTALL):
                return QueryResult([], list(answer(found)))
        raise error_of_kind("database", f"Not known to the recorder: {sql}")

    def account(self) -> str:
        """Its login."""
        return "[dyno]"

    def cancel(self) -> None:
        """There is nothing to cancel."""

    def close(self) -> None:
        """There is nothing to close."""

    @property
    def changing(self) -> list[str]:
        """What was sent, without what only reads."""
        return [sql for sql in self.sent if not sql.startswith("SELECT")]

    def _configurations(self, _: re.Match[str]) -> list[tuple[Any, ...]]:
        stored = {**self.configured, **self.pending}
        return [(name, stored[name], value) for name, value in self.configured.items()]

    def _staged(self, _: re.Match[str]) -> list[tuple[Any, ...]]:
        return [(name,) for name, value in self.pending.items() if value != self.configured[name]]

    def _databases(self, _: re.Match[str]) -> list[tuple[Any, ...]]:
        return [
            (name, *values, int(name not in self.closed)) for name, values in self.options.items()
        ]

    def _configure(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        if found[1] != "show advanced options" and not self.configured["show advanced options"]:
            raise error_of_kind("database", f"{found[1]} is an advanced option [error 15123].")
        self.pending[found[1]] = int(found[2])
        return []

    def _reconfigure(self, _: re.Match[str]) -> list[tuple[Any, ...]]:
        self.configured.update(
            {name: value for name, value in self.pending.items() if name not in self.deaf}
        )
        self.pending = {name: self.pending[name] for name in self.deaf if name in self.pending}
        return []

    def _memory(self, _: re.Match[str]) -> list[tuple[Any, ...]]:
        target = min(16 << 30, self.configured["max server memory (MB)"] << 20)
        self.memory = max(target, self.memory - self.frees)
        return [(self.memory, target)]

    def _govern(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        on = found[1] == "RECONFIGURE"
        self.governor |= {"enabled": int(on), "used": self.governor["stored"] if on else 25}
        return []

    def _grant(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        self.governor["stored"] = float(found[1])
        return []

    def _option(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        self.options[found[1]][OF_DATABASES.index(found[2])] = found[3]
        if found[3] == "SIMPLE":
            self.backed_up.discard(found[1])
        return []

    def _back_up(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        assert self.options[found[1]][2] != "SIMPLE", "it would begin no chain"
        self.backed_up.add(found[1])
        return []

    def _add(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        self.temp.append((found[1], found[2], 8192, 8192, 0, None))
        return []

    def _remove(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        self.temp = [file for file in self.temp if file[0] != found[1]]
        return []

    def _dropped(self, _: re.Match[str]) -> list[tuple[Any, ...]]:
        """Units of dropped tables, which the server frees one after the other."""
        left, self.dropped = self.dropped, max(0, self.dropped - 1)
        return [(left,)]

    def _temp_files(self, _: re.Match[str]) -> list[tuple[Any, ...]]:
        return [(name, "PRIMARY", path, kib // 1024) for name, path, kib, *_ in self.temp]

    def _add_group(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        self.groups[found[1]] = None
        return []

    def _add_file(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        self.files.append((found[1], found[4], found[2], int(found[3])))
        return []

    def _mark(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        self.groups[found[2]] = found[1]
        return []

    def _remove_file(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        self.files = [file for file in self.files if file[0] != found[1]]
        return []

    def _remove_group(self, found: re.Match[str]) -> list[tuple[Any, ...]]:
        del self.groups[found[1]]
        return []
