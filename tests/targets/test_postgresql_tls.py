"""PostgreSQL over TLS: the driver and the loader take and refuse what libpq does."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dyno import _core, targets
from dyno.bundle.reader import list_bundles
from dyno.contracts.target import LoadPlan
from dyno.errors import TargetError
from dyno.targets.postgresql.target import PostgresTarget
from tests.certificates import authority, require_openssl, signed
from tests.process import assert_valid, dyno, wait_until
from tests.targets.conftest import LIMITS, load_only, public_folder
from tests.targets.debian import SERVER_UID, debian_server

PASSWORD = "tls-only-9"
REGIONS = LoadPlan("tpch", 0.01, seed=1, streams=1)
HBA = """
local all all trust
hostssl all tls 127.0.0.1/32 scram-sha-256
hostssl all known 127.0.0.1/32 trust clientcert=verify-ca
hostssl all anyone 127.0.0.1/32 trust
hostnossl all plain 127.0.0.1/32 trust
"""
LET_IN = "create the tables first"


@dataclass(frozen=True)
class Secured:
    """A PostgreSQL that listens on loopback, over TLS only for most of its users.

    Attributes:
        admin: How its owner reaches it, over its socket.
        folder: Of its data.
        ca: The authority that signed its certificates, and those of its clients.
        other: An authority of the same name that did not.
        client: A client's certificate of the authority's, and its key.
        certificates: The server's, by what is odd about them, with their keys. All but ``usual``
            and ``common name`` are for 127.0.0.1.
    """

    admin: str
    folder: Path
    port: int
    ca: Path
    other: Path
    client: tuple[Path, Path]
    certificates: dict[str, tuple[Path, Path]]

    def url(self, query: str, *, user: str = "tls", host: str = "127.0.0.1") -> str:
        return (
            f"postgresql://{user}:{PASSWORD}@{host}:{self.port}/postgres?hostaddr=127.0.0.1&{query}"
        )

    def wire(self, user: str = "tls", host: str = "127.0.0.1", **tls: Any) -> dict[str, Any]:
        """What the compiled half is given, where libpq would not get as far."""
        return {
            "kind": "postgres", "host": host, "hostaddr": "127.0.0.1", "port": self.port,
            "user": user, "password": PASSWORD, "database": "postgres", "tls": tls,
        }  # fmt: skip

    def set(self, **values: str) -> None:
        """Sets parameters of the server; new sessions have them then."""
        with psycopg.connect(self.admin, autocommit=True) as session:
            for name, value in values.items():
                session.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
            before = self._loaded()
            session.execute("SELECT pg_reload_conf()")
        wait_until(lambda: self._loaded() != before, "the server to read its configuration")

    def _loaded(self) -> Any:
        with psycopg.connect(self.admin) as session:
            return session.execute("SELECT pg_conf_load_time()").fetchone()

    def show(self, name: str) -> None:
        """Makes a certificate the server's."""
        for file, end in zip(self.certificates[name], ("crt", "key"), strict=True):
            place = self.folder / f"server.{end}"
            shutil.copyfile(file, place)
            place.chmod(0o600)
            if os.geteuid() == 0:
                os.chown(place, SERVER_UID, SERVER_UID)

    @contextmanager
    def showing(self, name: str) -> Iterator[None]:
        """A server with another certificate for a while."""
        self.show(name)
        self.set(ssl="on")
        try:
            yield
        finally:
            self.show("usual")
            self.set(ssl="on")


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    require_openssl()
    made = tmp_path_factory.mktemp("certificates")
    ca = authority(made, "ca", "Test CA")
    here = "subjectAltName=IP:127.0.0.1"
    certificates = {
        "usual": signed(made, "usual", ca, f"{here},DNS:db.test"),
        "expired": signed(made, "expired", ca, here, days=-1),
        "common name": signed(made, "named", ca, subject="db.test"),
        "version 1": signed(made, "first", ca, subject="db.test", version=1),
        "authority": (ca, ca.with_suffix(".key")),
    }
    client = signed(made, "client", ca, "extendedKeyUsage=clientAuth")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lines = (f"port = {port}", "listen_addresses = '127.0.0.1'")
    with public_folder() as folder, debian_server(folder, *lines) as url:
        data = folder / "debian"
        found = Secured(
            f"{url}&port={port}", data, port, ca, authority(made, "same", "Test CA"), client,
            certificates,
        )  # fmt: skip
        shutil.copyfile(ca, data / "clients.crt")
        (data / "clients.crt").chmod(0o644)
        (data / "pg_hba.conf").write_text(HBA)
        with psycopg.connect(found.admin, autocommit=True) as admin:
            for user in ("tls", "known", "anyone", "plain"):
                create = f"CREATE ROLE {user} LOGIN SUPERUSER PASSWORD '{PASSWORD}'"
                admin.execute(create.encode())
        found.show("usual")
        found.set(ssl="on", ssl_ca_file="clients.crt")
        yield found


@pytest.fixture(autouse=True)
def no_own_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("PGPASSWORD", "PGSSLMODE", "PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY"):
        monkeypatch.delenv(name, raising=False)


def target_at(url: str) -> PostgresTarget:
    found = targets.open_target(targets.parse(url), Path("/nowhere"), LIMITS)
    assert isinstance(found, PostgresTarget)
    return found


def wire_of(url: str) -> dict[str, Any]:
    """The connection that the compiled half gets for a server that libpq reaches."""
    with target_at(url) as target:
        assert target.capabilities.load is True
        return target.wire()


def refusal(wire: dict[str, Any]) -> str:
    """Kind and words of the error that the compiled half alone meets.

    Once let in, it finds that there are no tables.
    """
    plan = {
        "wire": wire, "workload": "tpch", "scale": 0.01, "seed": 1, "streams": 1,
        "tables": ["region"],
    }  # fmt: skip
    with pytest.raises(_core.EngineError) as caught:
        _core.load(json.dumps(plan), _core.Control())
    kind, words = caught.value.args
    assert PASSWORD not in words
    assert "\n" not in words
    return f"{kind}: {words}"


def refused_by_libpq(url: str) -> str:
    with pytest.raises(TargetError) as caught:
        target_at(url).connect().close()
    words = str(caught.value)
    assert PASSWORD not in words
    assert "\n" not in words
    return words


def test_a_server_that_its_authority_vouches_for_is_loaded(secured: Secured) -> None:
    query = f"sslmode=verify-full&sslrootcert={secured.ca}"
    with target_at(secured.url(query)) as target:
        assert target.wire()["tls"] == {"check_host": True, "ca": str(secured.ca)}
        assert target.facts().settings["tls"] == "on"
        target.create_tables("tpch", replace=False)
        assert load_only(target, REGIONS, "region").rows == 5
        with closing(target.connect("tpch")) as session:
            assert session.execute("SELECT count(*) FROM region").rows == [(5,)]


@pytest.mark.long
def test_loading_and_driving_over_tls(secured: Secured, out: Path) -> None:
    # This user is let in over TLS only, and by a login that is bound to it.
    query = f"sslmode=verify-full&sslrootcert={secured.ca}&channel_binding=require"
    where = ("--target", secured.url(query, host="db.test"), "--json", "--out", out)
    assert_valid(dyno("load", "tpcc", *where, "--scale", "1"))
    short = ("--users", "2", "--warmup", "500ms", "--duration", "1s")
    run = dyno("run", "tpcc", *where, *short)
    (level,) = assert_valid(run, "unsteady", "client-bound")["tpcc"]["levels"]
    assert level["tps"] > 0
    assert level["errors"] == 0
    for bundle in list_bundles(out):
        assert not [check for check in bundle.checks() if check.passed is False]
        assert bundle.run.targets["postgresql"].settings["tls"] == "on"
        for file in bundle.path.glob("*.json*"):
            assert PASSWORD not in file.read_text(encoding="utf-8")


def test_another_name_is_refused_where_names_count(secured: Secured) -> None:
    query = f"sslmode=verify-full&sslrootcert={secured.ca}"
    wrong = secured.url(query, host="elsewhere.test")
    assert "use the certificate's host name in the URL" in refused_by_libpq(wrong)
    wire = secured.wire(host="elsewhere.test", ca=str(secured.ca), check_host=True)
    words = refusal(wire)
    assert words.startswith("unreachable")
    assert "not valid for name elsewhere.test" in words
    assert "db.test" in words
    assert "use the certificate's host name" in words
    lenient = wrong.replace("verify-full", "verify-ca")
    assert LET_IN in refusal(wire_of(lenient))


@pytest.mark.parametrize("mode", ["require", "verify-ca", "verify-full"])
def test_another_authority_is_refused(secured: Secured, mode: str) -> None:
    url = secured.url(f"sslmode={mode}&sslrootcert={secured.other}")
    assert "signed by an authority in the URL's sslrootcert" in refused_by_libpq(url)
    words = refusal(secured.wire(ca=str(secured.other), check_host=mode == "verify-full"))
    assert words.startswith("unreachable")
    assert "sslrootcert must be the authority" in words


def test_without_an_authority_the_session_is_encrypted_all_the_same(secured: Secured) -> None:
    for mode in ("allow", "prefer", "require"):
        wire = wire_of(secured.url(f"sslmode={mode}"))
        assert wire["tls"] == {"check_host": False}
        assert LET_IN in refusal(wire)
    # This one is let in without TLS only.
    for mode in ("allow", "prefer", "disable"):
        wire = wire_of(secured.url(f"sslmode={mode}", user="plain"))
        assert "tls" not in wire
        assert LET_IN in refusal(wire)
    bare = {name: value for name, value in secured.wire().items() if name != "tls"}
    assert "use sslmode=require in the URL" in refusal(bare)


def test_a_server_without_tls(secured: Secured) -> None:
    secured.set(ssl="off")
    try:
        url = secured.url("sslmode=require", user="plain")
        assert "does not offer TLS" in refused_by_libpq(url)
        words = refusal(secured.wire(user="plain"))
        assert words.startswith("unreachable")
        assert "does not offer TLS" in words
        assert "sslmode=disable" in words
        wire = wire_of(url.replace("require", "prefer"))
        assert "tls" not in wire
        assert LET_IN in refusal(wire)
    finally:
        secured.set(ssl="on")


def test_authorities_of_this_machine(secured: Secured, monkeypatch: pytest.MonkeyPatch) -> None:
    url = secured.url("sslrootcert=system")
    monkeypatch.setenv("SSL_CERT_FILE", str(secured.other))
    refused_by_libpq(url)
    assert "sslrootcert must be the authority" in refusal(secured.wire(ca="system"))
    monkeypatch.setenv("SSL_CERT_FILE", str(secured.ca))
    wire = wire_of(url)
    assert wire["tls"] == {"check_host": True, "ca": "system"}
    assert LET_IN in refusal(wire)


def test_a_client_shows_its_certificate(secured: Secured) -> None:
    bare = secured.url("sslmode=require", user="known")
    assert "set sslcert and sslkey" in refused_by_libpq(bare)
    assert refusal(secured.wire(user="known")).startswith("denied: connection requires")
    cert, key = map(str, secured.client)
    wire = wire_of(secured.url(f"sslmode=require&sslcert={cert}&sslkey={key}", user="known"))
    assert wire["tls"] == {"check_host": False, "cert": cert, "key": key}
    assert LET_IN in refusal(wire)
    # One that the server's authority did not sign.
    strange = secured.wire(cert=str(secured.other), key=str(secured.other.with_suffix(".key")))
    words = refusal(strange)
    assert words.startswith("unreachable")
    assert "client certificate" in words


def test_a_login_is_bound_to_its_connection(secured: Secured) -> None:
    wire = wire_of(secured.url("sslmode=require&channel_binding=require"))
    assert wire["channel_binding"] == "require"
    assert LET_IN in refusal(wire)
    assert LET_IN in refusal({**wire, "channel_binding": "disable"})
    # Whoever lets in anybody has proven nothing.
    words = refusal({**wire, "user": "anyone"})
    assert words.startswith("denied")
    assert "channel_binding=require" in words


@pytest.mark.parametrize(
    ("certificate", "host", "expected"),
    [
        ("expired", "127.0.0.1", "has expired; renew it"),
        ("authority", "db.test", "CA:TRUE"),
        ("version 1", "db.test", "version 3, with a subjectAltName"),
    ],
)
def test_certificates_that_prove_nothing_here(
    secured: Secured, certificate: str, host: str, expected: str
) -> None:
    with secured.showing(certificate):
        for full in (False, True):
            words = refusal(secured.wire(host=host, ca=str(secured.ca), check_host=full))
            assert words.startswith("unreachable")
            assert expected in words
        # They still encrypt, and channel binding works.
        for binding in ("disable", "require"):
            assert LET_IN in refusal({**secured.wire(host=host), "channel_binding": binding})


def test_a_certificate_that_names_its_host_in_the_old_way(secured: Secured) -> None:
    query = f"sslmode=verify-full&sslrootcert={secured.ca}"
    with secured.showing("common name"):
        assert LET_IN in refusal(wire_of(secured.url(query, host="DB.test")))
        wrong = secured.url(query, host="elsewhere.test")
        assert "does not match host name" in refused_by_libpq(wrong)
        wire = secured.wire(host="elsewhere.test", ca=str(secured.ca), check_host=True)
        assert "names no host" in refusal(wire)


def test_files_that_hold_no_such_thing_are_refused(secured: Secured, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.pem"
    nothing.write_text("nothing")
    cert, key = map(str, secured.client)
    other_key = str(secured.ca.with_suffix(".key"))
    for tls, expected in (
        ({"ca": str(nothing)}, "nothing.pem contains no certificate"),
        ({"ca": str(tmp_path / "none.pem")}, "none.pem: No such file"),
        ({"cert": str(nothing), "key": key}, "nothing.pem contains no certificate"),
        ({"cert": cert, "key": str(nothing)}, "nothing.pem contains no key"),
        ({"cert": cert, "key": other_key}, "does not belong to the client certificate"),
    ):
        words = refusal(secured.wire(**tls))
        assert words.startswith("usage")
        assert expected in words
    for query in (
        f"sslmode=verify-full&sslrootcert={nothing}",
        f"sslmode=verify-full&sslrootcert={tmp_path / 'none.pem'}",
        f"sslmode=require&sslcert={nothing}&sslkey={key}",
        f"sslmode=require&sslcert={cert}&sslkey={nothing}",
    ):
        assert ".pem" in refused_by_libpq(secured.url(query))


def test_over_a_socket_nothing_is_encrypted(secured: Secured) -> None:
    wire = wire_of(f"{secured.admin}&sslmode=require")
    assert "tls" not in wire
    assert LET_IN in refusal(wire)
    assert refusal({**wire, "tls": {}}).startswith("usage")


VERBS = [
    ("load", "tpcc", "--scale", "1", "--target"),
    ("run", "tpcc", "--duration", "1s", "--target"),
    ("run", "tpch", "--target"),
    ("check", "tpch", "--target"),
    ("clean", "--target"),
    ("doctor",),
]


@pytest.mark.parametrize("words", VERBS, ids=["-".join(words[:2]) for words in VERBS])
def test_no_verb_goes_without_tls_where_the_server_demands_it(
    secured: Secured, out: Path, words: tuple[str, ...]
) -> None:
    done = dyno(*words, secured.url("sslmode=disable"), "--out", out)
    assert done.returncode == 3
    said = done.stderr + done.stdout
    assert "sslmode=require" in " ".join(said.split())
    assert PASSWORD not in said
    assert "Traceback" not in said
