"""Wrong input and broken servers: one line with the remedy, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dyno import targets
from dyno.errors import DynoError, TargetError
from dyno.targets.sqlserver import database, removal
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.connection import Session
from tests.babelfish import Babelfish, alone, require_babelfish, require_url, server, start
from tests.hostile import Hostile, prelogin
from tests.process import assert_valid, document, dyno, end, spoilt, wait_until
from tests.process import start as start_dyno
from tests.targets.test_sqlserver import target_of

SECRET = "S3cret(!)"


def address(url: str) -> Address:
    return Address.parse(targets.parse(url))


def failure(url: str) -> TargetError:
    """How a login fails."""
    with pytest.raises(TargetError) as caught:
        Session.open(address(url)).close()
    assert "\n" not in str(caught.value)
    assert str(caught.value).isprintable()
    return caught.value


def another(
    url: str, *, user: str = "", password: str = "", path: str = "", query: str = ""
) -> str:
    """The URL with other parts."""
    parts = urlsplit(url)
    user = user or str(parts.username)
    password = password or str(parts.password)
    place = f"{user}:{password}@{parts.hostname}:{parts.port}"
    return parts._replace(
        netloc=place, path=path or parts.path, query=query or parts.query
    ).geturl()


def test_a_wrong_password() -> None:
    error = failure(another(require_url(), password="wrong-one"))
    assert error.kind == "denied"
    assert "MSSQL_PASSWORD" in str(error)
    assert "wrong-one" not in str(error)


def test_a_database_that_is_missing() -> None:
    error = failure(another(require_url(), path="/no%20such"))
    assert error.kind == "unreachable"
    assert "'no such'" in str(error)


def test_a_port_where_nothing_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        error = failure(f"mssql://me:hunter2@127.0.0.1:{taken.getsockname()[1]}/x?encrypt=off")
    assert error.kind == "unreachable"
    assert "does not respond" in str(error)


@pytest.mark.parametrize(
    "kind", ["silent", "junk", "http", "closing", "drip", "half", "greeted", "endless", "huge"]
)
@pytest.mark.parametrize("query", ["encrypt=off", "trust=yes"])
def test_an_impostor(kind: str, query: str) -> None:
    with Hostile(kind, "mssql") as hostile:
        url = f"mssql://me:hunter2@127.0.0.1:{hostile.port}/x?{query}&connect_timeout=2"
        error = failure(url)
    assert error.exit_code == 3
    assert f"127.0.0.1:{hostile.port}" in str(error)
    assert "hunter2" not in str(error)


def dropped(session: Session, login: str) -> bool:
    """Drops a login; false while the server has not noticed that its sessions are gone."""
    try:
        session.execute(f"DROP LOGIN [{login}]")
    except DynoError as error:
        if "currently logged in" not in str(error):
            raise
        return False
    return True


@pytest.fixture
def login() -> Iterator[tuple[str, str]]:
    """URLs of the administrator, and of a login without rights."""
    with alone() as url, closing(Session.open(address(url))) as session:
        removal.remove(session)
        session.execute(f"CREATE LOGIN [dyno_test_poor] WITH PASSWORD = '{SECRET}'")
        try:
            yield url, another(url, user="dyno_test_poor", password=SECRET)
        finally:
            wait_until(lambda: dropped(session, "dyno_test_poor"), "the end of its sessions", 60)


@pytest.mark.long
def test_a_login_without_rights(login: tuple[str, str], out: Path) -> None:
    _, poor = login
    done = dyno("load", "tpch", "--scale", "0.01", "--target", poor, "--out", out)
    assert done.returncode == 3
    assert "GRANT CREATE ANY DATABASE TO [dyno_test_poor]" in done.stderr
    assert "CREATE USER [dyno_test_poor] FOR LOGIN [dyno_test_poor]" in done.stderr
    assert SECRET not in done.stderr
    checked = dyno("doctor", poor, "--out", out)
    assert checked.returncode == 3
    assert "GRANT CREATE ANY DATABASE" in checked.stdout


def test_a_database_that_an_administrator_created(login: tuple[str, str], out: Path) -> None:
    url, poor = login
    where = ("--scale", "0.01", "--target", poor, "--json", "--out", out)
    with closing(Session.open(address(url))) as session:
        session.execute("CREATE DATABASE dyno_tpch")
        try:
            refused = dyno("load", "tpch", *where)
            assert refused.returncode == 3
            statement = (
                "USE [dyno_tpch]; CREATE USER [dyno_test_poor] FOR LOGIN [dyno_test_poor]; "
                "ALTER ROLE db_owner ADD MEMBER [dyno_test_poor]"
            )
            assert statement in refused.stderr
            if session.version.is_babelfish:  # whose db_owner can have no members
                return
            session.execute(statement)
            session.execute("USE master")
            assert_valid(dyno("load", "tpch", *where))
            removed = document(dyno("clean", "--yes", *where[2:]))["removed"]
            assert len(removed) == 8
        finally:
            database.drop(session, "dyno_tpch")


@pytest.mark.long
def test_tables_that_a_login_may_not_use(login: tuple[str, str], out: Path) -> None:
    url, poor = login
    target, guest = target_of(url, out), target_of(poor, out)
    with closing(Session.open(address(url))) as session:
        for workload, rights in (("tpch", "SELECT"), ("tpcc", "SELECT, INSERT, UPDATE, DELETE")):
            target.create_tables(workload, replace=False)
            try:
                session.execute(f"USE dyno_{workload}")
                session.execute("CREATE USER [dyno_test_poor] FOR LOGIN [dyno_test_poor]")
                with pytest.raises(TargetError) as caught:
                    guest.loaded(workload)
                statement = (
                    f"USE [dyno_{workload}]; GRANT {rights} ON SCHEMA::[dbo] TO [dyno_test_poor]"
                )
                assert caught.value.kind == "denied"
                assert statement in str(caught.value)
                session.execute(statement)
                assert guest.loaded(workload) == target.loaded(workload) is not None
            finally:
                session.execute("USE master")
                target.remove()


@pytest.mark.long
class TestEncryption:
    """A server that offers encryption, with a certificate that it signed itself."""

    @pytest.fixture(scope="class")
    @staticmethod
    def encrypted() -> Iterator[Babelfish]:
        with server(tls=True) as found:
            yield found

    def test_an_untrusted_certificate(self, encrypted: Babelfish) -> None:
        error = failure(another(encrypted.url, query="encrypt=on"))
        assert "trust=yes" in str(error)

    def test_any_certificate(self, encrypted: Babelfish) -> None:
        with closing(Session.open(address(another(encrypted.url, query="trust=yes")))) as session:
            assert encryption(session) == "TRUE"

    def test_a_certificate_of_a_known_authority(self, encrypted: Babelfish) -> None:
        query = f"ca={encrypted.folder / 'data' / 'server.crt'}"
        with closing(Session.open(address(another(encrypted.url, query=query)))) as session:
            assert encryption(session) == "TRUE"

    def test_a_certificate_for_another_host(self, encrypted: Babelfish) -> None:
        query = f"ca={encrypted.folder / 'data' / 'server.crt'}"
        url = another(encrypted.url, query=query).replace("@127.0.0.1:", "@127.0.0.2:")
        with closing(Forward("127.0.0.2", str(encrypted.url))) as forward:
            error = failure(forward.url(url))
        assert "trust=yes" in str(error)


def encryption(session: Session) -> str:
    """Whether the server takes the session for an encrypted one."""
    found = session.execute(
        "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID"
    ).rows
    return str(found[0][0])


class Forward:
    """Another address of this machine that leads to a server."""

    def __init__(self, host: str, url: str) -> None:
        self._to = (str(urlsplit(url).hostname), int(urlsplit(url).port or 0))
        self._socket = socket.create_server((host, 0))
        self._host = host
        threading.Thread(target=self._serve, daemon=True).start()

    def url(self, text: str) -> str:
        """The URL with the forwarded port."""
        port = self._socket.getsockname()[1]
        return text.replace(f":{self._to[1]}/", f":{port}/")

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        try:
            while True:
                near, _ = self._socket.accept()
                far = socket.create_connection(self._to)
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=pump, args=(one, other), daemon=True).start()
        except OSError:
            return


def pump(near: socket.socket, far: socket.socket) -> None:
    """Copies what arrives."""
    try:
        while data := near.recv(1 << 16):
            far.sendall(data)
    except OSError:
        return
    finally:
        far.close()


@pytest.mark.parametrize("word", [1, 3])
def test_encryption_that_the_server_requires(word: int) -> None:
    def refuse(client: socket.socket, _ended: threading.Event, _opening: bytes) -> None:
        client.recv(1 << 16)
        client.sendall(prelogin(word))
        client.recv(1 << 16)

    with Hostile(refuse, "mssql") as hostile:
        error = failure(f"mssql://me:hunter2@127.0.0.1:{hostile.port}/x?encrypt=off")
    assert error.exit_code == 3
    assert "omit encrypt=off" in str(error)


def test_encryption_that_the_server_does_not_offer() -> None:
    error = failure(another(require_url(), query="trust=yes"))
    assert "encrypt=off" in str(error)


@pytest.mark.long
def test_a_port_of_postgresql() -> None:
    with server() as own:
        text = (own.folder / "data" / "babelfish.conf").read_text("utf-8")
        port = next(line.split()[-1] for line in text.splitlines() if line.startswith("port = "))
        parts = urlsplit(own.url)
        for query in ("encrypt=off", "trust=yes"):
            url = f"mssql://{parts.username}:{parts.password}@127.0.0.1:{port}/x?{query}"
            error = failure(f"{url}&connect_timeout=3")
            assert error.exit_code == 3
            assert f"127.0.0.1:{port}" in str(error)


def parts_are_in(url: str) -> bool:
    """Whether parts of the load under way are in its journal."""
    try:
        with closing(Session.open(address(url))) as session:
            found = session.execute("SELECT COUNT(*) FROM dyno_tpch.dbo.dyno_load_journal").rows
    except DynoError:
        return False
    return int(found[0][0]) >= 3


@pytest.mark.long
@pytest.mark.parametrize("killed", ["dyno", "server"])
def test_a_killed_load_resumes(killed: str, out: Path) -> None:
    with server() as own:
        where = ("--target", own.url, "--json", "--out", out)
        load = ("load", "tpch", "--scale", "0.05", "--streams", "2", *where)
        process = start_dyno(*load)
        wait_until(lambda: process.poll() is not None or parts_are_in(own.url), "a part")
        if killed == "dyno":
            os.kill(process.pid, signal.SIGKILL)
        else:
            own.kill()
        assert end(process)[0] not in {0, 1}
        if killed == "server":
            ports = urlsplit(own.url).port
            own.url = start(require_babelfish(), own.folder)
            assert ports is not None
            where = ("--target", own.url, "--json", "--out", out)
        refused = dyno("run", "tpch", *where)
        assert refused.returncode == 3
        assert "--resume" in refused.stderr
        load = ("load", "tpch", "--scale", "0.05", "--streams", "2", *where)
        done = dyno(*load, "--resume")
        assert done.returncode in {0, 1}, done.stderr
        assert not spoilt(json.loads(done.stdout))
        assert_valid(dyno("check", "tpch", *where))


@pytest.mark.long
def test_a_server_killed_in_a_run(out: Path) -> None:
    with server() as own:
        where = ("--target", own.url, "--json", "--out", out)
        assert_valid(dyno("load", "tpcc", "--scale", "1", *where))
        process = start_dyno("run", "tpcc", "--users", "4", "--duration", "60s", *where)
        wait_until(lambda: process.poll() is not None or any(out.glob("*/ops")), "transactions")
        own.kill()
        code, _, printed = end(process)
        assert code in {1, 3}, printed
        assert "Traceback" not in printed
