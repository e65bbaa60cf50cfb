"""What cannot be had from the private server: old versions, TLS, a missing wheel."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from dyno.errors import TargetError
from dyno.targets.postgresql import address, binaries
from dyno.targets.postgresql.address import Address

SERVER = Address({"host": "db1", "user": "u"}, "PostgreSQL at db1:5432")


def session(*, version: int = 180004, tls: bool = False, sslmode: str = "prefer") -> Any:
    options = [SimpleNamespace(keyword=b"sslmode", val=sslmode.encode())]
    pgconn = SimpleNamespace(ssl_in_use=tls, info=options)
    info = SimpleNamespace(server_version=version)
    return SimpleNamespace(raw=SimpleNamespace(pgconn=pgconn, info=info))


@pytest.mark.parametrize(
    ("peer", "local"),
    [("", True), ("127.0.0.1", True), ("::1", True), ("192.0.2.7", False), ("2001:db8::7", False),
     ("fe80::1%eth0", False)],
)  # fmt: skip
def test_a_session_tells_whether_its_server_is_here(peer: str, local: bool) -> None:
    assert address.is_local(peer) is local


def test_old_servers_are_refused() -> None:
    address.require_version(session(version=140000), SERVER.server)
    with pytest.raises(TargetError, match="version 13; Dyno needs 14"):
        address.require_version(session(version=130022), SERVER.server)


def test_tls_is_kept_where_it_is_demanded(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def connect(conninfo: str) -> Any:
        tried.append(conninfo)
        return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(psycopg, "connect", connect)
    assert address.tls_obstacle(session(), SERVER) is None
    for mode in ("require", "verify-ca", "verify-full"):
        obstacle = address.tls_obstacle(session(tls=True, sslmode=mode), SERVER)
        assert "demands TLS" in str(obstacle)
    assert not tried
    assert address.tls_obstacle(session(tls=True), SERVER) is None
    assert "sslmode=disable" in tried[0]


def test_a_server_that_takes_only_tls_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(conninfo: str) -> Any:
        raise psycopg.OperationalError("no pg_hba.conf entry, no encryption")

    monkeypatch.setattr(psycopg, "connect", refuse)
    obstacle = address.tls_obstacle(session(tls=True), SERVER)
    assert obstacle is not None
    assert "db1:5432 demands TLS" in obstacle


def test_a_missing_wheel_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert binaries.find().major >= 18
    monkeypatch.setattr(binaries, "PACKAGE", "dyno_no_such_package")
    with pytest.raises(TargetError, match="pip"):
        binaries.find()
