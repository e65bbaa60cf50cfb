"""What cannot be had from the private server: old versions, TLS, a missing wheel."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dyno.errors import TargetError
from dyno.targets.postgresql import address, binaries, tls
from dyno.targets.postgresql.address import Address

SERVER = Address({"host": "db1", "user": "u"}, "PostgreSQL at db1:5432")


def session(*, version: int = 180004, tls: bool = False, **given: str) -> Any:
    """A session as libpq describes it, with the options ``given``."""
    options = [
        SimpleNamespace(keyword=b"sslcert", val=None),
        *(SimpleNamespace(keyword=k.encode(), val=v.encode()) for k, v in given.items()),
    ]
    pgconn = SimpleNamespace(ssl_in_use=tls, info=options)
    info = SimpleNamespace(server_version=version)
    return SimpleNamespace(raw=SimpleNamespace(pgconn=pgconn, info=info))


@pytest.mark.parametrize(
    ("peer", "local"),
    [("", True), ("127.0.0.1", True), ("::1", True), ("192.0.2.7", False), ("2001:db8::7", False),
     ("fe80::1%eth0", False)],
)  # fmt: skip
def test_a_session_knows_whether_its_server_is_local(peer: str, local: bool) -> None:
    assert address.is_local(peer) is local


def test_old_servers_are_refused() -> None:
    address.require_version(session(version=140000), SERVER.server)
    with pytest.raises(TargetError, match="version 13; Dyno needs 14"):
        address.require_version(session(version=130022), SERVER.server)


@pytest.mark.parametrize("name", ["sslcrl", "sslcrldir", "sslpassword", "sslcertmode", "sslsni"])
def test_a_check_that_only_libpq_makes_is_not_left_out(name: str) -> None:
    given = {name: "hunter2"}
    obstacle = tls.obstacle(session(tls=True, **given))
    assert obstacle is not None
    assert f"do not support the option {name}" in obstacle
    assert "hunter2" not in obstacle
    # Without TLS it nothing.
    assert tls.obstacle(session(**given)) is None


def test_what_the_driver_keeps_to_is_no_obstacle() -> None:
    plain = {"sslmode": "verify-full", "channel_binding": "require", "gssencmode": "prefer"}
    assert tls.obstacle(session(tls=True, **plain)) is None
    assert "require_auth" in str(tls.obstacle(session(require_auth="scram-sha-256")))


def test_files_are_found_as_libpq_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tls.wire(session(sslmode="prefer")) == {}
    assert tls.wire(session(tls=True)) == {"tls": {"check_host": False}}
    home = tmp_path / ".postgresql"
    home.mkdir()
    for name in ("root.crt", "postgresql.crt", "own.crt"):
        (home / name).touch()
    found = tls.wire(session(tls=True, sslmode="verify-full", channel_binding="require"))
    assert found["channel_binding"] == "require"
    assert found["tls"] == {
        "check_host": True,
        "ca": str(home / "root.crt"),
        "cert": str(home / "postgresql.crt"),
        "key": str(home / "postgresql.key"),
    }
    given = {"sslcert": str(home / "own.crt"), "sslkey": "own.key", "sslrootcert": "system"}
    found = tls.wire(session(tls=True, ssl_min_protocol_version="TLSv1.3", **given))["tls"]
    assert (found["ca"], found["cert"], found["key"]) == ("system", given["sslcert"], "own.key")
    assert found["oldest"] == "TLSv1.3"
    assert "cert" not in tls.wire(session(tls=True, sslcertmode="disable"))["tls"]


def test_a_missing_wheel_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert binaries.find().major >= 18
    monkeypatch.setattr(binaries, "PACKAGE", "dyno_no_such_package")
    with pytest.raises(TargetError, match="pip"):
        binaries.find()
