"""Loading MariaDB over TLS: the server is known by its authority, or the load does not begin."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dyno import _core, targets
from dyno.contracts.target import LoadPlan
from dyno.errors import TargetError
from dyno.targets.mysql import server
from dyno.targets.mysql.target import MysqlTarget
from tests.certificates import authority, require_openssl, signed
from tests.mariadb import require_mariadb
from tests.process import dyno
from tests.targets.conftest import LIMITS, load_only

PASSWORD = "tls-only-9"
SMALL = LoadPlan("tpch", 0.01, seed=1, streams=1)


@dataclass(frozen=True)
class Secured:
    """A MariaDB that listens on loopback, and whom its users can know it by.

    Attributes:
        ca: The authority that signed its certificate, which is for 127.0.0.1 only.
        wrong: Authorities that did not: one of the same name and one of another.
        client: A client's certificate of the authority's, with its key in the same file.
    """

    port: int
    ca: Path
    wrong: tuple[Path, Path]
    client: Path

    def url(self, query: str, *, user: str = "tls", host: str = "127.0.0.1") -> str:
        return f"mysql://{user}:{PASSWORD}@{host}:{self.port}/?{query}"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    require_mariadb()
    require_openssl()
    folder = tmp_path_factory.mktemp("certificates")
    ca = authority(folder, "ca", "Test CA")
    wrong = authority(folder, "same", "Test CA"), authority(folder, "other", "Other CA")
    certificate, key = signed(folder, "server", ca, "subjectAltName=IP:127.0.0.1")
    key.chmod(0o644)  # as root, the server runs as somebody else
    cert, cert_key = signed(folder, "client", ca, "extendedKeyUsage=clientAuth")
    client = folder / "client-both.pem"
    client.write_text(cert.read_text() + cert_key.read_text())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.MonkeyPatch.context() as patch:
        usual = server.options
        # The last of two contrary options holds.
        over_tcp = [
            "--skip-networking=0",
            "--bind-address=127.0.0.1",
            f"--port={port}",
            f"--ssl-ca={ca}",
            f"--ssl-cert={certificate}",
            f"--ssl-key={key}",
        ]
        patch.setattr(server, "options", lambda values: [*usual(values), *over_tcp])
        private = targets.open_target(
            targets.parse("embedded:mysql"), tmp_path_factory.mktemp("my"), LIMITS
        )
        with private:
            with closing(private.connect()) as admin:
                for user, demand in (("tls", "SSL"), ("known", "X509")):
                    admin.execute(
                        f"CREATE USER {user}@'127.0.0.1' IDENTIFIED BY '{PASSWORD}' "
                        f"REQUIRE {demand}"
                    )
                    admin.execute(f"GRANT ALL ON *.* TO {user}@'127.0.0.1'")
                admin.execute(f"CREATE USER plain@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'")
            private.create_tables("tpch", replace=False)
            yield Secured(port, ca, wrong, client)


@pytest.fixture(autouse=True)
def no_own_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def target_at(url: str) -> MysqlTarget:
    found = targets.open_target(targets.parse(url), Path("/nowhere"), LIMITS)
    assert isinstance(found, MysqlTarget)
    return found


def loaded_by(target: MysqlTarget) -> int:
    """Loads a table anew; returns the rows that it has then."""
    target.create_tables("tpch", replace=True)
    outcome = load_only(target, SMALL, "region")
    with closing(target.connect("tpch")) as session:
        assert session.execute("SELECT COUNT(*) FROM region").rows == [(outcome.rows,)]
    return outcome.rows


def refusal(wire: dict[str, Any]) -> tuple[str, str]:
    """Kind and words of the error that the compiled loader alone meets."""
    plan = {"wire": wire, "workload": "tpch", "scale": 0.01, "seed": 1, "streams": 1}
    with pytest.raises(_core.EngineError) as caught:
        _core.load(json.dumps(plan), _core.Control())
    kind, words = caught.value.args
    assert PASSWORD not in words
    assert "\n" not in words
    return kind, words


def test_a_server_that_its_authority_vouches_for_is_loaded(secured: Secured) -> None:
    with target_at(secured.url(f"ssl_ca={secured.ca}")) as target:
        assert loaded_by(target) == 5


def test_without_an_authority_the_load_is_encrypted_all_the_same(secured: Secured) -> None:
    # This user is let in over TLS only.
    assert refusal(target_at(secured.url("ssl=0")).wire("tpch"))[0] == "denied"
    with target_at(secured.url("ssl=1")) as target:
        assert loaded_by(target) == 5


def test_a_client_shows_its_certificate(secured: Secured) -> None:
    # The server lets this user in with a certificate of its authority only.
    bare = target_at(secured.url(f"ssl_ca={secured.ca}", user="known"))
    assert refusal(bare.wire("tpch"))[0] == "denied"
    query = f"ssl_ca={secured.ca}&ssl_cert={secured.client}"
    with target_at(secured.url(query, user="known")) as target:
        assert loaded_by(target) == 5


def test_another_authority_is_refused(secured: Secured) -> None:
    for wrong in secured.wrong:
        target = target_at(secured.url(f"ssl_ca={wrong}"))
        kind, words = refusal(target.wire("tpch"))
        assert kind == "unreachable"
        assert "certificate" in words
        assert "ssl_ca must be the authority" in words
        with pytest.raises(TargetError, match="CERTIFICATE_VERIFY_FAILED"), target:
            pass


def test_another_name_is_refused(secured: Secured) -> None:
    target = target_at(secured.url(f"ssl_ca={secured.ca}", host="localhost"))
    kind, words = refusal(target.wire("tpch"))
    assert kind == "unreachable"
    assert "use the certificate's host name" in words


def test_a_file_that_holds_no_certificate_is_refused(secured: Secured, tmp_path: Path) -> None:
    nothing = tmp_path / "ca.pem"
    nothing.write_text("nothing")
    wire = target_at(secured.url(f"ssl_ca={secured.ca}")).wire("tpch")
    for changed in ({"ca": str(nothing)}, {"ca": str(secured.ca), "cert": str(nothing)}):
        assert refusal({**wire, "tls": changed})[0] == "usage"


def driven(target: MysqlTarget, folder: Path) -> tuple[str, str]:
    """Kind and words of the error that the compiled driver meets, if not sooner then at the door:
    the database that it is let into holds no warehouse."""
    plan = {
        "wire": target.wire("tpch"),
        "workload": {"kind": "tpcc", "params": {"warehouses": 1, "c_load": 7}},
        **{"seed": 1, "users": 1},
        **{"loop": {"kind": "closed"}, "warmup_s": 0, "duration_s": 1},
        "clock": {"unix_ns": 0, "monotonic_ns": 0},
        "spool": str(folder / "ops.jsonl"),
    }
    with pytest.raises(_core.EngineError) as caught:
        _core.drive(json.dumps(plan), _core.Control())
    kind, words = caught.value.args
    assert PASSWORD not in words
    return kind, words


def test_transactions_go_over_tls_as_loads_do(secured: Secured, tmp_path: Path) -> None:
    let_in = ("usage", "load the workload")
    known = f"ssl_ca={secured.ca}"
    cases = [
        (secured.url("ssl=0"), ("denied", "Access denied")),
        (secured.url("ssl=1"), let_in),
        (secured.url(known), let_in),
        (secured.url(known, user="known"), ("denied", "Access denied")),
        (secured.url(f"{known}&ssl_cert={secured.client}", user="known"), let_in),
        (secured.url(known, host="localhost"), ("unreachable", "use the certificate's host name")),
        *(
            (secured.url(f"ssl_ca={wrong}"), ("unreachable", "ssl_ca must be the authority"))
            for wrong in secured.wrong
        ),
    ]
    for url, (kind, part) in cases:
        found, words = driven(target_at(url), tmp_path)
        assert (found, part in words) == (kind, True), (url, words)


VERBS = [
    ("load", "tpcc", "--scale", "1", "--target"),
    ("run", "tpcc", "--duration", "1s", "--target"),
    ("run", "tpch", "--target"),
    ("check", "tpch", "--target"),
    ("clean", "--target"),
    ("doctor",),
]


@pytest.mark.parametrize("words", VERBS, ids=["-".join(words[:2]) for words in VERBS])
def test_no_verb_goes_without_tls_where_the_user_must(
    secured: Secured, tmp_path: Path, words: tuple[str, ...]
) -> None:
    refused_without_tls(*words, secured.url(""), "--out", tmp_path / "out")


@pytest.mark.parametrize("words", VERBS, ids=["-".join(words[:2]) for words in VERBS])
def test_no_verb_goes_without_tls_where_the_server_demands_it(
    secured: Secured, strict: None, tmp_path: Path, words: tuple[str, ...]
) -> None:
    refused_without_tls(*words, secured.url("", user="plain"), "--out", tmp_path / "out")


@pytest.fixture
def strict(secured: Secured) -> Iterator[None]:
    """The server answers error 3159 to all who come over TCP without TLS."""
    with closing(target_at(secured.url("ssl=1")).connect()) as admin:
        admin.execute("SET GLOBAL require_secure_transport = ON")
        yield
        admin.execute("SET GLOBAL require_secure_transport = OFF")


def refused_without_tls(*words: str | Path) -> None:
    done = dyno(*words)
    assert done.returncode == 3
    said = done.stderr + done.stdout
    assert "add ?ssl=1" in " ".join(said.split())
    assert PASSWORD not in said
    assert "Traceback" not in said
