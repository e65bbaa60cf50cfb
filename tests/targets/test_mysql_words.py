"""MariaDB and MySQL without a server: URLs, versions, errors, statements, settings."""

from __future__ import annotations

from pathlib import Path

import pymysql
import pytest

from dyno import targets
from dyno.contracts.target import Limits
from dyno.contracts.workload import Index
from dyno.errors import DynoError, TargetError, UsageError
from dyno.servers.volume import VolumeFacts
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.ddl import column_type, create_table
from dyno.targets.mysql.errors import ROUTINES, connect_error, kind_of, statement_error
from dyno.targets.mysql.index import analyze_steps, build_steps
from dyno.targets.mysql.settings import options, settings
from dyno.targets.mysql.version import Version
from tests.targets.conftest import ITEMS


@pytest.fixture(autouse=True)
def no_own_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def address(text: str) -> Address:
    return Address.parse(targets.parse(text))


def test_urls() -> None:
    found = address("mysql://me:se%40cret@db1:3307/bench")
    assert (found.host, found.port, found.user, found.database) == ("db1", 3307, "me", "bench")
    assert found.driver()["password"] == "se@cret"
    assert "se@cret" not in repr(found) + found.server
    assert found.server == "MariaDB/MySQL at db1:3307"
    assert not found.is_local
    local = address("mariadb://me@/?unix_socket=/run/mysqld/mysqld.sock")
    assert local.wire()["unix_socket"] == "/run/mysqld/mysqld.sock"
    assert local.is_local
    assert "password" not in local.wire()


def test_tls_in_urls(tmp_path: Path) -> None:
    assert address("mysql://u@h").driver()["ssl_disabled"] is True
    file = tmp_path / "ca.pem"
    with pytest.raises(UsageError, match=r"ca\.pem, which does not exist"):
        address(f"mysql://u@h?ssl_ca={file}")
    file.touch()
    secure = address(f"mysql://u@h?ssl_ca={file}").driver()
    assert secure["ssl"] == {"ca": str(file)}
    assert secure["ssl_disabled"] is False
    assert address("mysql://u@h?ssl=0").tls is None
    assert address(f"mysql://u@h?ssl_ca={file}").wire()["tls"] == {"ca": str(file)}
    assert address("mysql://u@h?ssl=1").wire()["tls"] == {"ca": None}
    assert "tls" not in address("mysql://u@h").wire()


@pytest.mark.parametrize("query", ["sll=1", "ssl=perhaps", "charset=latin1"])
def test_unknown_parameters_are_refused(query: str) -> None:
    with pytest.raises(UsageError, match=r"ssl|Known"):
        address(f"mysql://u:hunter2@h/d?{query}")


def test_versions() -> None:
    assert str(Version.parse("5.5.5-10.11.19-MariaDB-0+deb12u1")) == "MariaDB 10.11.19"
    assert str(Version.parse("8.0.44-0ubuntu0.24.04.1")) == "MySQL 8.0.44"
    for text in ("10.6.1-MariaDB", "12.0.2-MariaDB", "8.0.11", "9.4.0"):
        Version.parse(text).require("db1")
    for text, needed in (("10.5.29-MariaDB", "MariaDB 10.6"), ("5.7.44-log", "MySQL 8.0")):
        with pytest.raises(TargetError, match=rf"db1 is .*; Dyno needs {needed}"):
            Version.parse(text).require("db1")


@pytest.mark.parametrize(
    ("number", "text", "kind"),
    [
        (2013, "Lost connection to MySQL server during query", "connection_lost"),
        (2006, "MySQL server has gone away", "connection_lost"),
        (1205, "Lock wait timeout exceeded", "lock_timeout"),
        (3572, "could not be acquired immediately and NOWAIT is set", "lock_timeout"),
        (1213, "Deadlock found", "deadlock"),
        (1114, "The table '/tmp/#sql' is full", "disk_full"),
        (3, 'Error writing file (Errcode: 28 "No space left on device")', "disk_full"),
        (1041, "Out of memory.", "out_of_memory"),
        (1317, "Query execution was interrupted", "timeout"),
        (1040, "Too many connections", "too_many_connections"),
        (1142, "SELECT command denied", "denied"),
        (1064, "You have an error in your SQL syntax", "database"),
    ],
)
def test_errors_are_classed(number: int, text: str, kind: str) -> None:
    assert kind_of(number, text) == kind
    error = statement_error(pymysql.OperationalError(number, text))
    assert error.kind == kind
    assert f"[error {number}]" in str(error)


@pytest.mark.parametrize(
    ("number", "text", "expected"),
    [
        (
            1142,
            "CREATE command denied to user 'u'@'%' for table `dyno_tpch`.`part`",
            r"ON `dyno\_tpch`.* TO 'u'@'%'",
        ),
        (
            1044,
            "Access denied for user 'u'@'localhost' to database 'dyno_tpcc'",
            r"ON `dyno\_tpcc`.* TO 'u'@'localhost'",
        ),
        (
            1142,
            "REFERENCES command denied to user 'u'@'%' for table `dyno_tpch`.`part`",
            r"INDEX, REFERENCES ON `dyno\_tpch`.* TO 'u'@'%'",
        ),
        (
            1370,
            "execute command denied to user 'u'@'%' for routine 'dyno_tpcc.dyno_payment'",
            r"INDEX, CREATE ROUTINE, ALTER ROUTINE, EXECUTE ON `dyno\_tpcc`.* TO 'u'@'%'",
        ),
        (
            1227,
            "Access denied; you need (at least one of) the SUPER privilege(s) for this operation",
            "GRANT SUPER ON *.*",
        ),
    ],
)
def test_a_missing_privilege_shows_its_grant(number: int, text: str, expected: str) -> None:
    assert expected in str(statement_error(pymysql.OperationalError(number, text)))


def test_a_missing_driver_package_is_reported() -> None:
    error = connect_error(RuntimeError("'cryptography' package is required"), "db1")
    assert error.kind == "unreachable"
    assert "cryptography" in str(error)


def test_tables() -> None:
    item, log = (create_table("dyno_x", table, "it's \\ mine") for table in ITEMS)
    assert "`i_price` DECIMAL(15,2) NULL" in item
    assert '`i "at"` DATETIME(6)' in item
    assert "PRIMARY KEY (`i_id`)" in item
    assert "COLLATE utf8mb4_bin COMMENT='it''s \\\\ mine'" in item
    assert "PRIMARY KEY" not in log
    with pytest.raises(DynoError, match="column type"):
        column_type({"type": "json"})


def test_indexes_of_a_table_are_one_statement() -> None:
    indexes = [Index("a", "t", ("x",)), Index("b", "t", ("x", "y")), Index("c", "u", ("z",))]
    steps = build_steps("p`q", indexes, present={("u", "c")})
    assert [step.statement for step in steps] == [
        "ALTER TABLE `p``q`.`t` ADD INDEX `a` (`x`), ADD INDEX `b` (`x`, `y`)"
    ]
    mine, theirs = (
        analyze_steps("p", ITEMS, Version.parse(text))[1].statement
        for text in ("10.11.1-MariaDB", "8.4.0")
    )
    assert mine == (
        "IF EXISTS (SELECT 1 FROM `p`.`log`) THEN "
        "ANALYZE TABLE `p`.`log` PERSISTENT FOR COLUMNS (`l_text`) INDEXES ALL; END IF"
    )
    assert theirs == "ANALYZE TABLE `p`.`log`"


def test_settings_follow_the_limits() -> None:
    volume = VolumeFacts(None, 1 << 40, 0)
    small, large = (settings(Limits(size, 2), volume) for size in (256 << 20, 64 << 30))
    assert int(small["innodb_buffer_pool_size"]) == 128 << 20
    assert int(large["innodb_buffer_pool_size"]) == 32 << 30
    assert small["innodb_flush_log_at_trx_commit"] == "1"
    assert "--innodb-doublewrite=ON" in options(small)


def test_the_grant_names_the_account_and_not_the_clients_host() -> None:
    denied = "REFERENCES command denied to user 'bench'@'localhost' for table 'dyno_tpch.region'"
    shown = str(statement_error(pymysql.OperationalError(1142, denied), lambda: "'bench'@'%'"))
    assert r"REFERENCES ON `dyno\_tpch`.* TO 'bench'@'%' [error 1142]" in shown
    unknown = str(statement_error(pymysql.OperationalError(1142, denied)))
    assert "TO 'bench'@'localhost'" in unknown


def test_the_grant_has_what_the_statement_needs_beside() -> None:
    denied = "Access denied for user 'u'@'h' to database 'dyno_tpcc'"
    error = pymysql.OperationalError(1044, denied)
    assert f"INDEX{ROUTINES} ON `dyno\\_tpcc`.*" in str(statement_error(error, needs=ROUTINES))
    assert "INDEX ON `dyno\\_tpcc`.*" in str(statement_error(error))


def test_a_password_that_needs_encryption_says_what_to_do() -> None:
    error = RuntimeError("'cryptography' package is required for caching_sha2_password")
    assert "add ?ssl=1 to the URL" in str(connect_error(error, "MariaDB/MySQL at db1:3306"))
