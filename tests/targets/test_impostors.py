"""Servers that are none: each kind ends in one line that names the place, in a limited time.

That the sessions end at all is the point: before there was a limit most of these hung for ever. The
limit is the product's own, made short by the URL.
"""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path

import pytest

from dyno import targets
from dyno.errors import TargetError, UsageError
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.connection import MysqlConnection
from dyno.targets.mysql.server import USER
from tests.hostile import KINDS, Hostile
from tests.process import dyno
from tests.proxy import Proxy
from tests.targets.conftest import LIMITS, embedded_mariadb

LATE = {"silent", "half", "greeted", "drip", "ready", "tls_silent"}
"""Kinds that only the limit ends."""
FOREIGN = {"junk", "http", "endless", "huge"}
"""Kinds that speak something else."""
PRODUCTS = {"mysql": "MySQL", "postgresql": "PostgreSQL"}


def url(scheme: str, port: int, kind: str) -> str:
    ways = {
        "mssql": ("&encrypt=off", "&trust=yes"),
        "mysql": ("", "&ssl=1"),
        "postgresql": ("&sslmode=disable", "&sslmode=require"),
    }
    more = ways[scheme][kind.startswith("tls")]
    return f"{scheme}://me:hunter2@127.0.0.1:{port}/d?connect_timeout=2{more}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["mysql", "postgresql"])
def test_an_impostor_is_given_up(scheme: str, kind: str, tmp_path: Path) -> None:
    with Hostile(kind, scheme) as server:
        text = url(scheme, server.port, kind)
        with pytest.raises(TargetError) as caught:
            targets.open_target(targets.parse(text), tmp_path, LIMITS).__enter__()
    message = str(caught.value)
    assert caught.value.exit_code == 3
    assert f"127.0.0.1:{server.port}" in message
    assert "hunter2" not in message
    assert "\n" not in message
    assert message.isprintable()
    if kind in FOREIGN:
        assert f"does not speak the {PRODUCTS[scheme]} protocol" in message
    if scheme == "mysql" and kind in LATE:
        assert "within 2 s" in message


@pytest.mark.parametrize("scheme", ["mssql", "mysql", "postgresql"])
def test_the_command_ends_with_3_and_a_readable_bundle(scheme: str, out: Path) -> None:
    with Hostile("silent", scheme) as server:
        where = ("--target", url(scheme, server.port, ""), "--out", out)
        done = dyno("load", "tpcc", "--scale", "1", *where, timeout=120)
    assert done.returncode == 3, done.stderr
    assert f"127.0.0.1:{server.port}" in done.stderr
    assert "Traceback" not in done.stderr
    (head,) = out.glob("*/run.json")
    assert "hunter2" not in head.read_text(encoding="utf-8")
    assert dyno("report", head.parent).returncode == 1


@pytest.mark.parametrize("text", ["", "0", "-1", "ten", "1e9", "99999999999", "3601", "²"])
def test_a_limit_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="connect_timeout"):
        Address.parse(targets.parse(f"mysql://h/d?connect_timeout={text}"))


def test_both_halves_have_the_limit() -> None:
    limited = Address.parse(targets.parse("mysql://h/d?connect_timeout=60"))
    assert (limited.connect_timeout, limited.wire()["connect_timeout_s"]) == (60, 60)
    usual = Address.parse(targets.parse("mysql://h/d"))
    assert (usual.connect_timeout, "connect_timeout_s" in usual.wire()) == (10, False)


def test_a_session_has_no_limit_once_it_is_open(tmp_path: Path) -> None:
    """A statement takes longer than the login may; only a dead peer ends the wait for it."""
    with (
        embedded_mariadb(tmp_path) as server,
        Proxy(Path(server.wire()["unix_socket"])) as proxy,
    ):
        text = f"mysql://{USER}@127.0.0.1:{proxy.port}?connect_timeout=2"
        address = Address.parse(targets.parse(text))
        with closing(MysqlConnection.open(address, lambda: None)) as session:
            own = session.raw._sock
            assert own.gettimeout() is None
            assert own.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) > 0
            assert session.execute("SELECT SLEEP(2.2)").rows == [(0,)]
