"""Errors of SQL Server: their class, and the T-SQL that helps."""

from __future__ import annotations

import re
from pathlib import Path

import pymssql
import pytest

from dyno import targets
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.errors import (
    BABELFISH,
    connect_error,
    kinds_by_number,
    parts,
    statement_error,
)

TAIL = (
    b"DB-Lib error message 20018, severity 16:\nGeneral SQL Server error: Check messages from the "
    b"SQL Server\n"
)


def failed(number: int, text: str) -> pymssql.OperationalError:
    """An error as the library raises it."""
    return pymssql.OperationalError((number, text.encode() + TAIL))


@pytest.mark.parametrize(
    ("number", "text", "kind"),
    [
        (1205, "Transaction (Process ID 52) was deadlocked on lock resources …", "deadlock"),
        (1222, "Lock request time out period exceeded.", "lock_timeout"),
        (3960, "Snapshot isolation transaction aborted due to update conflict.", "serialization"),
        (208, "Invalid object name 'lineitem'.", "database"),
        (2627, "Violation of PRIMARY KEY constraint 'x'.", "database"),
        (1105, "Could not allocate space for object 'dbo.x'.", "disk_full"),
        (9002, "The transaction log for database 'dyno_tpch' is full.", "disk_full"),
        (701, "There is insufficient system memory in resource pool 'default'.", "out_of_memory"),
        (596, "Cannot continue the execution because the session is in the kill state.",
         "connection_lost"),
        (20047, "DBPROCESS is dead or not enabled", "connection_lost"),
        (BABELFISH, "could not serialize access due to concurrent update", "serialization"),
        (BABELFISH, "canceling statement due to lock timeout", "lock_timeout"),
        (BABELFISH, 'relation "lineitem" does not exist', "database"),
        (BABELFISH, "permission denied for table lineitem", "denied"),
        (BABELFISH, "could not extend file: No space left on device", "disk_full"),
        (50001, "a condition of the user's", "database"),
    ],
)  # fmt: skip
def test_kinds(number: int, text: str, kind: str) -> None:
    error = statement_error(failed(number, text), "bench")
    assert error.kind == kind
    assert f"[error {number}]" in str(error)
    assert "DB-Lib" not in str(error)


DRIVER = Path(__file__).parents[2] / "crates/dyno-drive/src/wire/mssql/error.rs"
"""The table of the Rust half."""


def driver_kinds() -> dict[int, str]:
    """The classes of the driver by number."""
    source = DRIVER.read_text(encoding="utf-8")
    table = source.partition("pub fn class(")[2].partition("\n}\n")[0]
    plain = re.sub(r"//.*", "", table)
    rows = re.findall(r"([\d_|\s]+)=>\s*\{?\s*ErrorKind::(\w+)", plain)
    return {
        int(number): re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
        for numbers, kind in rows
        for number in re.findall(r"[\d_]*\d", numbers)
    }


def test_the_driver_has_the_same_classes() -> None:
    driver = driver_kinds()
    assert driver[1205] == "deadlock"
    library = range(20_000, 21_000)
    own = {number: kind for number, kind in kinds_by_number().items() if number not in library}
    # Missing objects are usage errors in the driver; sessions of queries have other kinds for them.
    missing = {number for number, kind in driver.items() if kind == "usage"}
    assert missing == {207, 208, 911, 2812, 4060, 4064}
    assert {number: own.pop(number, "") for number in missing} == {
        207: "", 208: "", 2812: "", 911: "unreachable", 4060: "unreachable", 4064: "unreachable",
    }  # fmt: skip
    assert {number: kind for number, kind in driver.items() if number not in missing} == own


@pytest.mark.parametrize(
    ("number", "text", "statement"),
    [
        (
            229,
            "The SELECT permission was denied on the object 'lineitem', database 'dyno_tpch', "
            "schema 'dbo'.",
            "USE [dyno_tpch]; GRANT SELECT ON SCHEMA::[dbo] TO [be]]nch]",
        ),
        (
            262,
            "CREATE TABLE permission denied in database 'dyno_tpch'.",
            "USE [dyno_tpch]; GRANT CREATE TABLE TO [be]]nch]",
        ),
        (
            262,
            "CREATE DATABASE permission denied in database 'master'.",
            "USE [master]; ALTER SERVER ROLE dbcreator ADD MEMBER [be]]nch]",
        ),
        (
            300,
            "VIEW SERVER STATE permission was denied on object 'server', database 'master'.",
            "USE [master]; GRANT VIEW SERVER STATE TO [be]]nch]",
        ),
        (
            262,
            "VIEW DATABASE STATE permission denied in database 'tempdb'.",
            "USE [master]; GRANT VIEW SERVER STATE TO [be]]nch]",
        ),
        (
            262,
            "VIEW DATABASE PERFORMANCE STATE permission was denied in database 'tempdb'.",
            "USE [master]; GRANT VIEW SERVER PERFORMANCE STATE TO [be]]nch]",
        ),
        (
            916,
            'The server principal "be]nch" is not able to access the database "dyno_tpch" under '
            "the current security context.",
            "USE [dyno_tpch]; CREATE USER [be]]nch] FOR LOGIN [be]]nch]; "
            "ALTER ROLE db_owner ADD MEMBER [be]]nch]",
        ),
    ],
)
def test_the_missing_grant(number: int, text: str, statement: str) -> None:
    error = statement_error(failed(number, text), "be]nch")
    assert error.kind == "denied"
    assert statement in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "User does not have permission to alter database 'tempdb', the database does not exist.",
        "User 'bench' does not have permission to run DBCC shrinkfile for database 'tempdb'.",
        "CREATE TABLE permission denied in database 'tempdb'.",
    ],
)
def test_a_right_in_tempdb_would_be_gone_after_a_restart(text: str) -> None:
    error = statement_error(failed(5011, text), "bench", "USE [master]; GRANT CONTROL SERVER")
    assert "USE [master]; GRANT CONTROL SERVER TO [bench]" in str(error)
    assert "[tempdb]" not in str(error)


@pytest.mark.parametrize(
    ("number", "text", "kind", "words"),
    [
        (18456, "Login failed for user 'bench'.", "denied", "MSSQL_PASSWORD"),
        (4060, 'Cannot open database "x" requested by the login.', "unreachable", "'bench'"),
        (18452, "Login failed. The login is from an untrusted domain.", "denied", "Windows"),
        (18487, "The password of the account has expired.", "denied", "expired"),
    ],
)
def test_logins(number: int, text: str, kind: str, words: str) -> None:
    address = Address.parse(targets.parse("mssql://bench:secret@db1/bench"))
    error = connect_error(failed(number, text), address, "bench")
    assert error.kind == kind
    assert words in str(error)
    assert "secret" not in str(error)


def test_an_error_of_the_library_alone() -> None:
    text = b"DB-Lib error message 20009, severity 9:\nUnable to connect: server is unavailable\n"
    assert parts(pymssql.OperationalError((20009, text))) == (
        20009,
        "Unable to connect: server is unavailable",
    )


@pytest.mark.parametrize(("severity", "number"), [(11, 4060), (14, 18456), (20, 20018)])
def test_a_number_of_an_earlier_login_does_not_count(severity: int, number: int) -> None:
    text = TAIL.replace(b"severity 16", f"severity {severity}".encode())
    assert parts(pymssql.OperationalError((911, text)))[0] == number


@pytest.mark.parametrize("number", [5701, 5703])
def test_what_a_login_before_was_told_is_no_error(number: int) -> None:
    text = (
        b"Changed language setting to us_english.DB-Lib error message 20002, severity 9:\nfailed\n"
    )
    assert parts(pymssql.OperationalError((number, text))) == (20002, "failed")


@pytest.mark.parametrize(
    ("query", "encryption", "words"),
    [
        ("", None, "does not speak"),
        ("", 2, "encrypt=off"),
        ("", 0, "trust=yes"),
        ("trust=yes", 1, "error log"),
        ("encrypt=off", 3, "requires an encrypted session"),
    ],
)
def test_a_login_that_is_cut_off(query: str, encryption: int | None, words: str) -> None:
    address = Address.parse(targets.parse(f"mssql://bench@db1?{query}"))
    text = b"DB-Lib error message 20002, severity 9:\nTDS server connection failed (db1)\n"
    error = connect_error(pymssql.OperationalError((20009, text)), address, "", lambda: encryption)
    assert error.kind == "unreachable"
    assert words in str(error)
