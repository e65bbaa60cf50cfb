"""Statements that fail with several messages, as the driver library reports them.

The server is a script that speaks as much of TDS as a login and one failed statement need.
"""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import closing

import pytest

from dyno import targets
from dyno.errors import TargetError
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.login import connect
from tests.hostile import Hostile, prelogin

Said = tuple[int, int, str]
"""Number, severity and text of a message."""

_REPLY = 4
_NOT_SUPPORTED = 2


def token_stream(*tokens: bytes) -> bytes:
    body = b"".join(tokens)
    return struct.pack(">BBHHBB", _REPLY, 1, 8 + len(body), 0, 1, 0) + body


def short(text: str) -> bytes:
    return bytes([len(text)]) + text.encode("utf-16-le")


def message(number: int, severity: int, text: str) -> bytes:
    body = struct.pack("<iBBH", number, 1, severity, len(text)) + text.encode("utf-16-le")
    body += short("db1") + short("") + struct.pack("<i", 1)
    return struct.pack("<BH", 0xAA if severity > 10 else 0xAB, len(body)) + body


def done(*, failed: bool = False) -> bytes:
    return struct.pack("<BHHQ", 0xFD, 2 if failed else 0, 0, 0)


def welcome() -> bytes:
    body = b"\x01" + struct.pack(">I", 0x74000004) + short("SQL Server") + bytes(4)
    return struct.pack("<BH", 0xAD, len(body)) + body


class Failing(Hostile):
    """Lets anybody in; every statement with ``FAIL`` in it ends with these messages."""

    def __init__(self, *said: Said) -> None:
        self._said = said
        super().__init__(self._answer, "mssql")

    def _answer(self, client: socket.socket, ended: threading.Event, opening: bytes) -> None:
        client.recv(1 << 16)
        client.sendall(prelogin(_NOT_SUPPORTED))
        client.recv(1 << 16)
        client.sendall(token_stream(welcome(), done()))
        while asked := client.recv(1 << 16):
            if "FAIL".encode("utf-16-le") in asked:
                client.sendall(token_stream(*(message(*one) for one in self._said),
                                            done(failed=True)))  # fmt: skip
            else:
                client.sendall(token_stream(done()))


def failure(*said: Said, needs: str = "") -> tuple[TargetError, Session]:
    """How a statement fails that ends with these messages, and its session."""
    with Failing(*said) as server:
        url = f"mssql://bench:x@127.0.0.1:{server.port}/?encrypt=off&connect_timeout=5"
        address = Address.parse(targets.parse(url))
        with closing(Session(connect(address), address)) as session:
            session.execute("SELECT 1")
            assert session.messages == []
            with pytest.raises(TargetError) as caught:
                session.execute("FAIL", needs)
            return caught.value, session


@pytest.mark.parametrize(
    ("said", "needs", "statement"),
    [
        (
            [
                (262, 14, "BACKUP DATABASE permission denied in database 'dyno_tpcc'."),
                (3013, 16, "BACKUP DATABASE is terminating abnormally."),
            ],
            "",
            "USE [dyno_tpcc]; GRANT BACKUP DATABASE TO [bench]",
        ),
        (
            [
                (262, 14, "CREATE DATABASE permission denied in database 'master'."),
                (3013, 16, "RESTORE HEADERONLY is terminating abnormally."),
            ],
            "",
            "ALTER SERVER ROLE dbcreator ADD MEMBER [bench]",
        ),
        (
            [
                (300, 14, "VIEW SERVER STATE permission was denied on object 'server', "
                 "database 'master'."),
                (297, 16, "The user does not have permission to perform this action."),
            ],
            "",
            "USE [master]; GRANT VIEW SERVER STATE TO [bench]",
        ),
        (
            [
                (5011, 14, "User does not have permission to alter database 'dyno_tpcc', the "
                 "database does not exist, or the database is not in a state that allows access "
                 "checks."),
                (5069, 16, "ALTER DATABASE statement failed."),
            ],
            "",
            "USE [dyno_tpcc]; GRANT ALTER TO [bench]",
        ),
        (
            [(7983, 14, "User 'bench' does not have permission to run DBCC checkdb for database "
              "'dyno_tpcc'.")],
            "",
            "USE [dyno_tpcc]; ALTER ROLE db_owner ADD MEMBER [bench]",
        ),
        (
            [(5812, 14, "You do not have permission to run the RECONFIGURE statement.")],
            "USE [master]; GRANT ALTER SETTINGS",
            "USE [master]; GRANT ALTER SETTINGS TO [bench]",
        ),
    ],
)  # fmt: skip
def test_a_missing_right_is_found_among_all_messages(
    said: list[Said], needs: str, statement: str
) -> None:
    error, session = failure(*said, needs=needs)
    assert error.kind == "denied"
    assert statement in str(error)
    assert [(one.severity, one.text) for one in session.messages] == [one[1:] for one in said]


def test_a_duplicate_key_is_no_missing_right() -> None:
    error, _ = failure((2627, 14, "Violation of PRIMARY KEY constraint 'permission'."))
    assert error.kind == "database"


def test_a_warning_before_an_error_changes_nothing() -> None:
    error, session = failure(
        (3211, 10, "10 percent processed."),
        (1105, 17, "Could not allocate space."),
        (3013, 16, "BACKUP DATABASE is terminating abnormally."),
    )
    assert error.kind == "disk_full"
    assert "[error 1105]" in str(error)
    assert [one.severity for one in session.messages] == [10, 17, 16]
