"""The key that MySQL's passwords are encrypted by, against servers with scripted answers.

The compiled half has the same tests (``wire/mysql/login_tests.rs``).
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dyno import targets
from dyno.errors import DynoError, TargetError, UsageError
from dyno.targets.mysql import key
from dyno.targets.mysql.address import Address
from dyno.targets.mysql.connection import MysqlConnection

PASSWORD = "p4ss-word"
GREETING = (
    b"\x0a8.0.44\0\x01\0\0\x0012345678\0\xff\xff\x2e\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0"
    b"90abcdefghij\0caching_sha2_password\0"
)
FULL, ASKED = b"\x01\x04", b"\x02"

# 2048 bits, made for this test by `openssl genrsa`, its other half thrown away.
KEY = b"""-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAnkt3Uk7UH1vJEnSGAk9Z
4WbsyLmFYvJh47M+VCVqlXnVh8kPBNx1FjRkIFQUZHNKuPCB6VG03vT4JY6JQ1c6
H7oLIkzkvwltCPupGHE8S8GpT5EQ6QSgTt4qqDGGml1lT1wTkDrH6K7EUChEeUKN
+rNMqoWnaabU3P18w5TbfOQ95ZyjeayH7HSpqGlDIYNxfvlxdm2w2rZ6xw54KZYI
kL3udl7U4TlefRr99XO6fstK7LNoxlNqYt+2SWI5+fH09QhzeigIOE33XkTnM0fq
qGTpQfd1YDI/jvQDXGAo9wXDvB73svzF4bqDG9wHLC4+u7F3t+3S9P684F+Xgiyl
kwIDAQAB
-----END PUBLIC KEY-----
"""


@pytest.fixture(autouse=True)
def no_own_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


class Server:
    """One that wants the password itself, and says ``key`` when it is asked for one."""

    def __init__(self, public: bytes) -> None:
        self.heard: list[bytes] = []
        self._public = public
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        client, _ = self._listener.accept()
        with client, client.makefile("rwb") as stream:

            def say(number: int, body: bytes) -> None:
                stream.write(len(body).to_bytes(3, "little") + bytes([number]) + body)
                stream.flush()

            say(0, GREETING)
            say(2, FULL)
            while head := stream.read(4):
                body = stream.read(int.from_bytes(head[:3], "little"))
                self.heard.append(body)
                if body == ASKED:
                    say(head[3] + 1, b"\x01" + self._public)
                elif len(self.heard) > 1:
                    say(head[3] + 1, b"\xff\x15\x04#28000Access denied")
                    return

    def close(self) -> None:
        """Waits until its client has gone."""
        self._thread.join()
        self._listener.close()


@contextmanager
def server(public: bytes = KEY) -> Generator[Server]:
    found = Server(public)
    try:
        yield found
    finally:
        found.close()


def refusal(port: int, query: str = "") -> DynoError:
    address = Address.parse(targets.parse(f"mysql://u:{PASSWORD}@127.0.0.1:{port}/?{query}"))
    with pytest.raises(DynoError) as caught:
        MysqlConnection.open(address, lambda: None)
    assert PASSWORD not in str(caught.value)
    return caught.value


@pytest.fixture
def beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every server is taken for one of another machine."""

    def never(_: str) -> bool:
        return False

    monkeypatch.setattr(key, "is_loopback", never)


@pytest.mark.usefixtures("beyond")
def test_a_server_beyond_this_machine_is_not_asked_for_its_key() -> None:
    with server() as found:
        error = refusal(found.port)
    assert error.kind == "denied"
    for way in ("ssl_ca=FILE", "server_public_key=FILE", "allow_public_key_retrieval=1"):
        assert way in str(error)
    assert len(found.heard) == 1  # who we are
    assert not any(PASSWORD.encode() in body for body in found.heard)


@pytest.fixture
def encrypted(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The keys that passwords are encrypted by, which takes a package that not everybody has."""
    keys: list[bytes] = []

    def encrypt(password: bytes, salt: bytes, public: bytes) -> bytes:
        assert password.decode() == PASSWORD
        assert len(salt) == 20
        keys.append(public)
        return bytes(256)

    monkeypatch.setattr("pymysql._auth.sha2_rsa_encrypt", encrypt)
    return keys


def test_on_this_machine_it_is(encrypted: list[bytes]) -> None:
    with server() as found:
        refusal(found.port)
    assert [len(body) for body in found.heard[1:]] == [len(ASKED), 256]
    assert encrypted == [KEY]


@pytest.mark.usefixtures("beyond")
def test_elsewhere_it_is_by_leave(tmp_path: Path, encrypted: list[bytes]) -> None:
    with server() as found:
        refusal(found.port, "allow_public_key_retrieval=1")
    assert [len(body) for body in found.heard[1:]] == [len(ASKED), 256]
    # Whom the URL knows is asked for nothing.
    file = tmp_path / "public_key.pem"
    file.write_bytes(KEY)
    with server(b"another") as found:
        refusal(found.port, f"server_public_key={file}")
    assert [len(body) for body in found.heard[1:]] == [256]
    assert encrypted == [KEY, KEY]


def test_what_is_longer_than_any_key_encrypts_nothing(encrypted: list[bytes]) -> None:
    with server(b"x" * (key.LONGEST + 1)) as found:
        assert isinstance(refusal(found.port), TargetError)
    assert found.heard[1:] == [ASKED]
    assert not encrypted


def test_the_compiled_half_gets_the_same(tmp_path: Path) -> None:
    file = tmp_path / "public_key.pem"
    file.write_bytes(KEY)

    def wire(query: str) -> dict[str, object]:
        return Address.parse(targets.parse(f"mysql://u@h?{query}")).wire()

    assert wire(f"server_public_key={file}")["server_key"] == str(file)
    assert wire("allow_public_key_retrieval=true")["key_retrieval"] is True
    assert not {"server_key", "key_retrieval"} & set(wire("allow_public_key_retrieval=0"))
    with pytest.raises(UsageError, match="does not exist"):
        wire(f"server_public_key={tmp_path / 'none.pem'}")
    with pytest.raises(UsageError, match="allow_public_key_retrieval=perhaps is invalid"):
        wire("allow_public_key_retrieval=perhaps")
    with pytest.raises(UsageError, match="allow_public_key_retrieval"):
        wire("allowPublicKeyRetrieval=true")


def test_loopback() -> None:
    for address in ("127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"):
        assert key.is_loopback(address)
    for address in ("10.0.0.1", "::", "fe80::1%eth0", "::ffff:10.0.0.1"):
        assert not key.is_loopback(address)
