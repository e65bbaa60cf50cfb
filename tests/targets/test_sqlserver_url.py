"""The URL of a SQL Server: what it means, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.target import Limits
from dyno.errors import TargetError, UsageError
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.version import Version


def parsed(text: str) -> Address:
    return Address.parse(targets.parse(text))


def test_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MSSQL_PASSWORD", raising=False)
    address = parsed("mssql://be%40nch:p%5D%2Fs@db1:1444/my%20base?trust=yes&connect_timeout=7")
    assert (address.user, address.password) == ("be@nch", "p]/s")
    assert (address.host, address.port, address.database) == ("db1", 1444, "my base")
    assert address.wire() == {
        "kind": "mssql",
        "host": "db1",
        "port": 1444,
        "user": "be@nch",
        "password": "p]/s",
        "database": "my base",
        "tls": {"ca": None, "trust": True},
        "connect_timeout_s": 7,
    }
    assert "p]/s" not in repr(address)
    assert "p]/s" not in address.server


def test_no_private_server_is_named(tmp_path: Path) -> None:
    limits = Limits(memory_bytes=1 << 30, threads=2)
    target = targets.open_target(targets.parse("mssql://bench@db1"), tmp_path, limits)
    assert "restart" in str(target.capabilities.cold)
    assert "embedded" not in str(target.capabilities.cold)


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSSQL_PASSWORD", "from the environment")
    address = parsed("sqlserver://bench@db1")
    assert (address.port, address.database, address.connect_timeout) == (1433, "", 10)
    assert (address.encrypt, address.trust, address.ca) == (True, False, "")
    assert address.password == "from the environment"
    assert parsed("mssql://bench:@db1").password == ""
    assert "tls" not in parsed("mssql://bench@db1?encrypt=off").wire()


def test_a_file_of_authorities(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    with pytest.raises(UsageError, match=r"ca\.pem"):
        parsed(f"mssql://bench@db1?ca={file}")
    file.touch()
    assert parsed(f"mssql://bench@db1?ca={file}").wire()["tls"] == {"ca": str(file), "trust": False}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mssql://bench@db1%5CSALES/x", "port"),
        ("mssql://bench@db1/x?instance=SALES", "port"),
        ("mssql://CORP%5Cbench@db1", "Windows"),
        ("mssql://bench@db1?trusted_connection=yes", "Windows"),
        ("mssql://bench@db1?Authentication=ActiveDirectoryPassword", "Entra"),
        ("mssql://db1/x", "user"),
        ("mssql://bench@db1?encrypt=strict", "strict"),
        ("mssql://bench@db1?encrypt=maybe", "maybe"),
        ("mssql://bench@db1?encrypt=off&trust=yes", "encrypt=off"),
        ("mssql://bench@db1?encrpt=off", "encrypt"),
        ("mssql://bench@db1?connect_timeout=0", "connect_timeout"),
        ("mssql://bench@db1?connect_timeout=1e9", "connect_timeout"),
    ],
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parsed(text)


@pytest.mark.parametrize(
    ("row", "shown", "babelfish"),
    [
        (
            ("Microsoft SQL Server 2022 (RTM-CU16) …", "16.0.4165.4", "Developer Edition", 3),
            "SQL Server 2022 (16.0.4165.4)",
            False,
        ),
        (
            ("Microsoft SQL Azure (RTM) - 12.0.2000.8 …", "12.0.2000.8", "SQL Azure", 8),
            "Azure SQL Managed Instance 12.0.2000.8",
            False,
        ),
        (
            (
                "Babelfish for PostgreSQL with SQL Server Compatibility - 12.0.2000.8\nMay 3\n"
                "PostgreSQL 16.4 on x86_64 (Babelfish 4.3.0)",
                "12.0.2000.8",
                "Standard Edition",
                2,
            ),
            "Babelfish 4.3.0",
            True,
        ),
    ],
)
def test_versions(row: tuple[str, str, str, int], shown: str, babelfish: bool) -> None:
    version = Version.parse(*row)
    assert str(version) == shown
    assert version.is_babelfish == babelfish
    version.require("SQL Server at db1:1433")


@pytest.mark.parametrize("engine", [5, 12])
def test_a_service_whose_sessions_cannot_change_their_database(engine: int) -> None:
    version = Version.parse("Microsoft SQL Azure (RTM)", "12.0.2000.8", "SQL Azure", engine)
    with pytest.raises(TargetError, match="Managed Instance"):
        version.require("SQL Server at db1:1433")


def test_a_version_that_is_too_old() -> None:
    version = Version.parse("Microsoft SQL Server 2016", "13.0.7000.1", "Standard Edition", 2)
    with pytest.raises(Exception, match="2017"):
        version.require("SQL Server at db1:1433")
