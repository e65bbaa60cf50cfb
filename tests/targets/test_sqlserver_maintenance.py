"""Maintenance of SQL Server, on a session that gives recorded answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from dyno.bundle.metrics.during import CREATION
from dyno.contracts.maintenance import Job, Maintenance, Writer
from dyno.errors import DynoError, Interrupted
from dyno.targets.sqlserver import backup, integrity, newdatabase, rebuild, work
from dyno.targets.sqlserver.errors import Message
from dyno.targets.sqlserver.maintenance import job
from dyno.targets.sqlserver.version import Version
from tests.targets.sqlserver_recorded import (
    BABELFISH,
    EXPRESS,
    SERVER,
    STANDARD,
    Recorded,
    caused,
    readings,
    rows,
)

CLOUD = Version("Azure SQL Managed Instance", (12, 0))
PLACE = "dyno_tpcc"


class Server:
    """Opens sessions that give the same answers; keeps them."""

    def __init__(self, answers: dict[str, Any], version: Version = SERVER) -> None:
        self.answers, self.version = answers, version
        self.sessions: list[Recorded] = []
        self.asked_for: list[str] = []

    def connect(self, workload: str) -> Any:
        self.asked_for.append(workload)
        self.sessions.append(Recorded(self.answers, self.version))
        return self.sessions[-1]

    @property
    def asked(self) -> list[str]:
        return [sql for session in self.sessions for sql in session.asked]

    def prepared(self, name: Maintenance) -> Job:
        found = job(self.connect, "tpcc", name)
        assert not isinstance(found, str), found
        return found


def run(task: Job, stop: threading.Event | None = None) -> list[Any]:
    return task.run(stop or threading.Event(), lambda *_: None)


def checks(name: Maintenance, **changed: Any) -> Server:
    options = integrity.DatabaseCheck if name == "integrity-check" else integrity.PhysicalCheck
    estimates = {options.estimation(PLACE): readings("checkdb_estimate")[0]}
    answers = {
        **estimates,
        options.statement(PLACE): rows(),
        integrity.SPACE.format(77): [rows([8192]), rows([65536])],
    }
    return Server({**answers, **changed})


@pytest.mark.parametrize("name", ["integrity-check", "quick-check"])
def test_a_check_of_a_sound_database(name: Maintenance) -> None:
    server = checks(name)
    task = server.prepared(name)
    assert server.asked_for[-1] == "tpcc"
    assert task.estimate.size == 57 * 1024
    (check,) = run(task)
    assert (check.passed, check.target) == (True, "sqlserver")
    assert task.space() == 65536 - 8192
    task.close()
    assert all(session.closed for session in server.sessions)
    assert task.space() is None
    physical = [sql for sql in server.asked if "PHYSICAL_ONLY" in sql]
    assert bool(physical) == (name == "quick-check")


def test_the_estimate_is_a_message_and_was_a_row() -> None:
    text = "Estimated TEMPDB space (in KB) needed for CHECKDB on database dyno_tpcc = {}."
    said = [Message(0, "DBCC results."), *(Message(0, text.format(size)) for size in (8, 57))]
    assert integrity.estimated([], said) == 57 * 1024
    assert integrity.estimated([[12]], []) == 12 * 1024
    assert integrity.estimated([], said[:1]) is None


@pytest.mark.parametrize("number", [8928, 8939, 2533, 2570, 7985])
def test_damage_is_a_failed_check(number: int) -> None:
    damage = caused(number, "Table error: Object ID 100, index ID 1. Page (1:77) is damaged.")
    server = checks("integrity-check", **{integrity.DatabaseCheck.statement(PLACE): damage})
    (check,) = run(server.prepared("integrity-check"))
    assert not check.passed
    assert str(number) in check.message


@pytest.mark.parametrize("number", [262, 8921, 1105, 7901, 7926, 7928, 7929, 2571, 7983, 0])
def test_a_check_that_could_not_be_done_is_an_error(number: int) -> None:
    failed = caused(number, "Check terminated.")
    server = checks("integrity-check", **{integrity.DatabaseCheck.statement(PLACE): failed})
    with pytest.raises(DynoError):
        run(server.prepared("integrity-check"))


@pytest.mark.parametrize(("counts", "damaged"), [((0, 0), False), ((0, 2), True), ((1, 0), True)])
def test_damage_counts_whatever_the_first_error_was(counts: tuple[int, int], damaged: bool) -> None:
    """Without a snapshot, DBCC locks the database and checks it all the same."""
    error = caused(7928, "The database snapshot for online checks could not be created.")
    server = checks("integrity-check", **{integrity.DatabaseCheck.statement(PLACE): error})
    task = server.prepared("integrity-check")
    server.sessions[-2].messages = [
        Message(16, "The database snapshot for online checks could not be created."),
        Message(10, "CHECKDB found {} allocation errors and {} consistency errors in database "
                f"'{PLACE}'.".format(*counts)),
    ]  # fmt: skip
    if not damaged:
        with pytest.raises(DynoError):
            run(task)
        return
    (check,) = run(task)
    assert not check.passed
    assert f"found {counts[0]} allocation errors and {counts[1]} consistency" in check.message


def test_a_check_that_is_stopped_is_interrupted() -> None:
    stopped = DynoError("cancelled", kind="timeout")
    server = checks("integrity-check", **{integrity.DatabaseCheck.statement(PLACE): stopped})
    task = server.prepared("integrity-check")
    with pytest.raises(Interrupted):
        run(task)
    already = threading.Event()
    already.set()
    with pytest.raises(Interrupted):
        run(task, already)
    task.cancel()
    assert any(session.cancelled for session in server.sessions)


INDEXES = readings("alter_indexes")[0]
ODD = "[it's]]odd]"


def indexes_of(version: Version, statements: list[str]) -> Server:
    found: dict[str, Any] = dict.fromkeys(statements, rows())
    return Server({rebuild.INDEXES: INDEXES, rebuild.ORDERED: rows(), **found}, version)


@pytest.mark.parametrize(("version", "online"), [(SERVER, "ON"), (CLOUD, "ON"), (STANDARD, "OFF")])
def test_indexes_are_rebuilt_the_largest_first(version: Version, online: str) -> None:
    indexes = (
        "[order_line_clustered] ON [dbo].[order_line]",
        "[order_line_columns] ON [dbo].[order_line]",
        f"{ODD} ON [dbo].[stock]",
    )
    wanted = [f"ALTER INDEX {one} REBUILD WITH (ONLINE = {online})" for one in indexes]
    wanted.append(f"UPDATE STATISTICS [dbo].[stock] {ODD} WITH FULLSCAN")  # a partitioned one
    server = indexes_of(version, wanted)
    task = server.prepared("reindex")
    assert task.estimate.size == 4000 * 8192
    assert ("offline" in task.method) == (online == "OFF")
    assert [check.passed for check in run(task)] == [True] * 3
    assert [sql for sql in server.asked if not sql.startswith("SELECT")] == wanted


OLD = Version("SQL Server", (14, 0, 1000), "Enterprise Edition (64-bit)")
OF_2019 = Version("SQL Server", (15, 0, 2000), "Enterprise Edition (64-bit)")
OF_2025 = Version("SQL Server", (17, 0, 1000), "Enterprise Developer Edition (64-bit)")


@pytest.mark.parametrize(
    ("version", "ordered", "offline"),
    [
        (OLD, False, True),
        (OF_2019, False, False),
        (SERVER, False, False),
        (SERVER, True, True),
        (OF_2025, True, False),
        (CLOUD, True, False),
    ],
)
def test_tables_with_column_stores_that_a_version_rebuilds_offline(
    version: Version, ordered: bool, offline: bool
) -> None:
    """All their indexes, those of rows too; the indexes of other tables stay online."""
    server = indexes_of(version, [])
    server.answers[rebuild.ORDERED] = rows(*([("dbo", "order_line")] if ordered else []))
    task = server.prepared("reindex")
    assert isinstance(task, rebuild.Rebuild)
    texts = [task.statements(one)[0] for one in rebuild.indexes(task.session)]
    assert ["ONLINE = OFF" in text for text in texts] == [offline, offline, False]
    assert ("1 table " in task.method) is offline
    assert "ONLINE = ON" in task.method


def test_reorganising_also_updates_statistics() -> None:
    wanted = [
        "ALTER INDEX [order_line_clustered] ON [dbo].[order_line] REORGANIZE",
        "UPDATE STATISTICS [dbo].[order_line] [order_line_clustered] WITH RESAMPLE",
        "ALTER INDEX [order_line_columns] ON [dbo].[order_line] REORGANIZE "
        "WITH (COMPRESS_ALL_ROW_GROUPS = ON)",
        f"ALTER INDEX {ODD} ON [dbo].[stock] REORGANIZE",
        f"UPDATE STATISTICS [dbo].[stock] {ODD} WITH RESAMPLE",
    ]
    server = indexes_of(STANDARD, wanted)
    assert all(check.passed for check in run(server.prepared("vacuum")))
    changing = [sql for sql in server.asked if not sql.startswith("SELECT")]
    assert changing == wanted


def test_space_is_the_growth_of_the_database() -> None:
    server = indexes_of(SERVER, [])
    server.answers[rebuild.INDEXES] = rows()
    server.answers[work.ALLOCATED] = [rows([5 << 20]), rows([7 << 20]), rows([4 << 20])]
    task = server.prepared("reindex")
    assert run(task) == []
    assert task.space() == 2 << 20
    assert task.space() == 0


FOLDER = "/var/opt/mssql/data"
PATH = f"{FOLDER}/dyno_{PLACE}_f00d.bak"


def backed_up(
    monkeypatch: pytest.MonkeyPatch, version: Version = SERVER, path: str = PATH, **changed: Any
) -> Server:
    monkeypatch.setattr(backup.secrets, "token_hex", lambda _: "f00d")
    compressed = version is not EXPRESS
    answers: dict[str, Any] = {
        backup.FOLDER: rows([FOLDER]),
        backup.SIZE: rows([10_000_000]),
        backup.backup_statement(PLACE, path, compressed=compressed): rows(),
        backup.HEADER.format(f"N'{path}'"): readings("headeronly")[0],
        backup.VERIFY.format(f"N'{path}'"): rows(),
        backup.REMOVE.format(f"N'{path}'"): rows(),
    }
    return Server({**answers, **{key.format(f"N'{path}'"): one for key, one in changed.items()}},
                  version)  # fmt: skip


@pytest.mark.parametrize("version", [SERVER, STANDARD, EXPRESS])
def test_a_backup_is_verified_and_removed(
    version: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = backed_up(monkeypatch, version)
    task = server.prepared("backup")
    assert task.estimate.size == 10_000_000
    (check,) = run(task)
    assert check.passed
    assert isinstance(task, Writer)
    assert task.written.size == 2_000_000
    assert task.written.seconds > 0
    verbs = [sql.split()[0] for sql in server.asked if not sql.startswith("SELECT")]
    assert verbs == ["BACKUP", "RESTORE", "RESTORE", "EXECUTE"]
    task.close()
    assert [sql.split()[0] for sql in server.asked].count("EXECUTE") == 1  # removed once


def test_a_backup_that_cannot_be_read_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = caused(3203, "Read on the backup failed")
    server = backed_up(monkeypatch, **{backup.VERIFY: broken})
    (check,) = run(server.prepared("backup"))
    assert not check.passed


def test_a_file_that_dyno_may_not_remove_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    server = backed_up(monkeypatch, **{backup.REMOVE: caused(229, "EXECUTE denied")})
    (check,) = run(server.prepared("backup"))
    assert check.passed
    assert PATH in check.message


def test_a_backup_with_a_bare_name_is_removed_where_the_server_wrote_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, path = f"dyno_{PLACE}_f00d.bak", "C:\\Backup\\dyno_f00d.bak"
    server = backed_up(monkeypatch, path=name)
    server.answers |= {
        backup.FOLDER: rows([None]),
        backup.path_query(name): rows([path]),
        backup.REMOVE.format(f"N'{path}'"): rows(),
    }
    (check,) = run(server.prepared("backup"))
    assert check.passed
    assert backup.REMOVE.format(f"N'{path}'") in server.asked


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("", "a.bak"), ("/b", "/b/a.bak"), ("/b/", "/b/a.bak"), ("C:\\B", "C:\\B\\a.bak")],
)
def test_a_path_has_the_syntax_of_the_server(folder: str, expected: str) -> None:
    assert backup.joined(folder, "a.bak") == expected


def grow(size: int, name: str = "dyno_new_database") -> str:
    return newdatabase.GROW.format(name=f"N'{name}'", size=size)


def new(**changed: Any) -> Server:
    answers: dict[str, Any] = {
        newdatabase.MAY: rows([1]),
        newdatabase.EXISTS: rows([0]),
        newdatabase.MARKED: rows([0]),
        newdatabase.CREATE: rows(),
        newdatabase.ADD_MARK: rows(),
        newdatabase.FILES: readings("database_files")[0],
        newdatabase.INSTANT: rows(["N"]),
        newdatabase.DROP: rows(),
        grow(265): rows(),
        grow(264, "dyno_new_database_log"): rows(),
    }
    return Server({**answers, **changed})


@pytest.mark.parametrize(
    ("instant", "sure"),
    [("N", {"grow_data", "grow_log"}), ("Y", {"grow_log"}), (None, {"grow_log"})],
)
def test_a_new_database_grows_by_a_known_size(instant: str | None, sure: set[str]) -> None:
    server = new(**{newdatabase.INSTANT: rows([instant])})
    task: Any = server.prepared("create-database")
    (check,) = run(task)
    assert check.passed
    assert set(task.step_seconds) == set(CREATION[2:])
    assert task.step_bytes == dict.fromkeys(sure, 256 << 20)
    task.close()
    assert all(session.closed for session in server.sessions)


def test_a_database_of_others_is_never_dropped() -> None:
    found = job(new(**{newdatabase.EXISTS: rows([1])}).connect, "tpcc", "create-database")
    assert isinstance(found, str)
    assert newdatabase.PLACE in found
    marked = {newdatabase.EXISTS: [rows([1])] * 3, newdatabase.MARKED: rows([1])}
    server = new(**marked, **{"USE [master]": rows()})
    server.prepared("create-database")
    assert newdatabase.DROP in server.asked  # what a killed run left


def test_a_login_that_may_not_create_databases_gets_the_grant() -> None:
    found = job(new(**{newdatabase.MAY: rows([0])}).connect, "tpcc", "create-database")
    assert isinstance(found, str)
    assert "GRANT CREATE ANY DATABASE TO [dyno];" in found


NAMES: tuple[Maintenance, ...] = (
    *("integrity-check", "quick-check", "reindex", "vacuum", "backup", "create-database"),
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_babelfish_has_none_of_it(name: Maintenance) -> None:
    server = Server({}, BABELFISH)
    found = job(server.connect, "tpcc", name)
    assert isinstance(found, str)
    assert server.asked == []
    assert all(session.closed for session in server.sessions)


@pytest.mark.parametrize("name", NAMES[:4])
def test_a_denied_task_is_a_reason(name: Maintenance) -> None:
    refused = DynoError("no right", kind="denied")
    every = {integrity.DatabaseCheck.estimation(PLACE): refused,
             integrity.PhysicalCheck.estimation(PLACE): refused,
             rebuild.INDEXES: refused}  # fmt: skip
    server = Server(every)
    assert job(server.connect, "tpcc", name) == "no right"
    assert all(session.closed for session in server.sessions)


def test_the_cloud_has_its_own_backups() -> None:
    assert isinstance(job(Server({}, CLOUD).connect, "tpcc", "backup"), str)


def test_a_file_is_never_shrunk() -> None:
    from tests.targets.sqlserver_statements import every

    made: Callable[[str], bool] = lambda sql: "SHRINK" in sql.upper()  # noqa: E731
    assert not [name for name, sql in every().items() if made(sql)]
