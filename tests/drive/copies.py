"""Databases with data as it was loaded, as many as a test wants."""

from __future__ import annotations

import contextlib
import shutil
from contextlib import closing
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from dyno import targets
from dyno.contracts import schema
from dyno.contracts.target import Limits, Loaded, Target
from dyno.targets.postgresql.server import Server
from dyno.targets.sqlserver.target import SqlServerTarget
from tests.babelfish import alone, patient
from tests.maintained import fill
from tests.mariadb import require_mariadb
from tests.process import wait_until

LIMITS = Limits(memory_bytes=256 << 20, threads=2)
LOADED = Loaded(2, 1, complete=True)
"""What they hold unless a test says otherwise."""


class Copies(Protocol):
    """Copies on one product.

    Attributes:
        conflicts: The class of errors that serialisable transactions meet.
    """

    conflicts: str

    def whole(self) -> Target:
        """The data that is copied, which no test may change."""
        ...

    def make(self, name: str) -> Target:
        """A database with a copy of its own; in the place of a former one of that name."""
        ...

    def digest(self, values: list[str]) -> str:
        """The sum over a table of a digest of each row's ``values``, in SQL."""
        ...

    def serialise(self, target: Target) -> None:
        """Makes transactions of new sessions serialisable."""
        ...

    def remove(self) -> None:
        """Removes all copies."""
        ...


class PostgresCopies:
    """Databases of one server."""

    conflicts = "serialization"

    def __init__(self, folder: Path, workload: str = "tpcc", loaded: Loaded = LOADED) -> None:
        self._names: list[str] = []
        self.server = Server(folder, LIMITS)
        self.server.start()
        self._ask("CREATE DATABASE whole")
        with self.whole() as target:
            fill(target, workload, loaded.scale, loaded.days)

    def whole(self) -> Target:
        return self._target("whole")

    def make(self, name: str) -> Target:
        with self._target("postgres") as target, closing(target.connect()) as session:
            others = "SELECT 1 FROM pg_stat_activity WHERE datname = 'whole'"
            wait_until(lambda: not session.execute(others).rows, "sessions to end")
            session.execute(f"DROP DATABASE IF EXISTS {name}")
            session.execute(f"CREATE DATABASE {name} TEMPLATE whole STRATEGY file_copy")
        self._names.append(name)
        return self._target(name)

    def digest(self, values: list[str]) -> str:
        return f"sum(hashtextextended(row({', '.join(values)})::text, 0)::numeric)"

    def serialise(self, target: Target) -> None:
        with closing(target.connect()) as session:
            session.execute(
                "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET "
                "default_transaction_isolation = serializable', current_database()); END $$"
            )

    def remove(self) -> None:
        for name in set(self._names):
            self._ask(f"DROP DATABASE {name} (FORCE)")
        self._names.clear()

    def stop(self) -> None:
        self.server.stop()

    def _ask(self, statement: str) -> None:
        with self._target("postgres") as target, closing(target.connect()) as session:
            session.execute(statement)

    def _target(self, database: str) -> Target:
        folder = quote(str(self.server.socket_folder), safe="")
        url = targets.parse(f"postgresql://dyno@/{database}?host={folder}")
        return targets.open_target(url, Path("/nowhere"), LIMITS)


class MariadbCopies:
    """Servers, each in a copy of the folder of one that was stopped."""

    conflicts = "deadlock"

    def __init__(self, folder: Path, workload: str = "tpcc", loaded: Loaded = LOADED) -> None:
        require_mariadb()
        self._folder = folder
        self._names: list[str] = []
        with self.whole() as target:
            fill(target, workload, loaded.scale, loaded.days)

    def whole(self) -> Target:
        return self._target("whole")

    def make(self, name: str) -> Target:
        shutil.rmtree(self._folder / name, ignore_errors=True)
        shutil.copytree(self._folder / "whole", self._folder / name, symlinks=True)
        self._names.append(name)
        return self._target(name)

    def digest(self, values: list[str]) -> str:
        row = ", ".join(f"COALESCE({value}, '-')" for value in values)
        return f"SUM(CAST(CONV(LEFT(MD5(CONCAT_WS('|', {row})), 15), 16, 10) AS UNSIGNED))"

    def serialise(self, target: Target) -> None:
        with closing(target.connect()) as session:
            session.execute("SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE")

    def remove(self) -> None:
        for name in set(self._names):
            shutil.rmtree(self._folder / name)
        self._names.clear()

    def stop(self) -> None:
        shutil.rmtree(self._folder)

    def _target(self, name: str) -> Target:
        return targets.open_target(targets.parse("embedded:mysql"), self._folder / name, LIMITS)


class SqlServerCopies:
    """One database of a server that nobody else uses, loaded anew for each copy."""

    conflicts = "deadlock"

    def __init__(self, folder: Path, workload: str = "tpcc", loaded: Loaded = LOADED) -> None:
        self._open = contextlib.ExitStack()
        self._url = patient(self._open.enter_context(alone()))
        self._folder, self._workload, self._loaded = folder, workload, loaded
        self.make("whole")

    def whole(self) -> SqlServerTarget:
        target = targets.open_target(targets.parse(self._url), self._folder, LIMITS)
        assert isinstance(target, SqlServerTarget)
        return target

    def make(self, name: str) -> Target:
        with self.whole() as target:
            target.remove()
            fill(target, self._workload, self._loaded.scale, self._loaded.days)
        return self.whole()

    @property
    def ignores_hints(self) -> bool:
        """Whether it is Babelfish, which locks no rows that are only read."""
        with self.whole() as target, closing(target.connect()) as session:
            return session.version.is_babelfish

    def digest(self, values: list[str]) -> str:
        texts = [
            f"CASE WHEN {value} THEN 1 ELSE 0 END" if value.endswith(" IS NULL")
            else f"COALESCE(CAST({value} AS varchar(max)), '-')"
            for value in values
        ]  # fmt: skip
        row = f"CONCAT_WS('|', {', '.join(texts)}, '')"
        return f"SUM(CAST(CAST(SUBSTRING(HASHBYTES('MD5', {row}), 1, 4) AS int) AS bigint))"

    def serialise(self, target: Target) -> None:
        raise NotImplementedError("sessions choose their level themselves")

    def remove(self) -> None:
        with self.whole() as target:
            target.remove()

    def stop(self) -> None:
        self.remove()
        self._open.close()


def contents(
    copies: Copies, target: Target, workload: str = "tpcc"
) -> dict[str, tuple[object, ...]]:
    """Rows and a digest of each table; of timestamps only whether there is one counts."""
    found: dict[str, tuple[object, ...]] = {}
    with closing(target.connect(workload)) as session:
        for table in schema.tables(workload):
            values = [
                f"{column['name']} IS NULL" if column["kind"]["type"] == "timestamp"
                else column["name"]
                for column in table["columns"]
            ]  # fmt: skip
            question = f"SELECT count(*), {copies.digest(values)} FROM {table['name']}"
            found[table["name"]] = tuple(session.execute(question).rows[0])
    return found
