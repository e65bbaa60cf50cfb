"""An agent and its clients over real connections on this machine."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from dyno import __version__
from dyno.agent import protocol
from dyno.agent.address import agent_address, exporter_address, machine_name
from dyno.agent.client import AgentError, Client
from dyno.agent.listen import Listener, Where
from dyno.agent.ring import Ring
from dyno.agent.service import Abilities, Service
from dyno.agent.token import make_token, read_token
from dyno.contracts.whereabouts import Told
from dyno.errors import TargetError, UsageError
from dyno.host.storage import storage_facts
from dyno.runner.agent import serve
from tests.agent.network import TOKEN
from tests.certificates import authority, require_openssl, signed
from tests.process import wait_until


def nothing(pids: Iterable[int]) -> None:
    del pids


def service(ring: Ring, token: str = TOKEN, version: str = __version__) -> Service:
    able = Abilities(
        lambda path: {"path": str(path)},
        lambda told: protocol.Placed(),
        lambda told, pid: pid,
        nothing,
    )
    return Service(ring, token, able, version=version)


@contextlib.contextmanager
def listening(answers: Service, where: Where = Where()) -> Iterator[Listener]:  # noqa: B008
    with Listener(answers, where) as listener:
        thread = threading.Thread(target=listener.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield listener
        finally:
            listener.shutdown()
            thread.join()


def client(url: str, monkeypatch: pytest.MonkeyPatch, token: str = TOKEN) -> Client:
    monkeypatch.setenv("DYNO_AGENT_TOKEN", token)
    return Client.at(agent_address(url))


def tick(ring: Ring, value: float) -> None:
    row = {"source": "cpu", "subject": "host", "metric": "busy", "value": value, "unit": "%"}
    ring.add("samples", [{"t_ns": round(value), **row}])


def test_entries_come_in_order_once_and_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Ring(1000)
    monkeypatch.setattr(protocol, "MOST_TICKS_BYTES", 500)
    for value in range(1, 101):
        tick(ring, value)
    with listening(service(ring)) as listener:
        asked = client(listener.url, monkeypatch)
        instance = asked.hello().instance
        found: list[protocol.Entry] = []
        while more := asked.entries(instance, found[-1].number if found else 0):
            assert len(more) < 100
            found += more
        assert [one.number for one in found] == list(range(1, 101))
        assert [one.samples[0][3] for one in found] == list(range(1, 101))


def test_a_run_is_told_that_its_agent_was_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(service(Ring(10))) as listener:
        asked = client(listener.url, monkeypatch)
        with pytest.raises(TargetError) as caught:
            asked.entries("an earlier one", 0)
        assert not isinstance(caught.value, AgentError), "it asks again"


def test_the_ring_is_bounded_in_entries_and_bytes() -> None:
    ring = Ring(10)
    for value in range(1, 31):
        tick(ring, value)
    kept = json.loads(ring.after(0, 1 << 20))
    assert [one["number"] for one in kept] == list(range(21, 31))
    small = Ring(10_000, most_bytes=2_000)
    for value in range(1, 1001):
        tick(small, value)
    assert 0 < len(json.loads(small.after(0, 1 << 20))) < 30
    assert small.last == 1000


def test_a_wrong_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(service(Ring(10))) as listener:
        with pytest.raises(AgentError, match="refused the token"):
            client(listener.url, monkeypatch, "another-token-of-16-and-more").hello()
        for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Basic eDp5"}):
            request = urllib.request.Request(f"{listener.url}/ticks", headers=headers)
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(request)
            assert caught.value.code == 401


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        listening(service(Ring(10), version="9.9")) as listener,
        pytest.raises(AgentError, match=r"runs Dyno 9\.9.*install the same version"),
    ):
        client(listener.url, monkeypatch).hello()


def test_something_else_is_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[bytes] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n" + b"[" * 15,
        b"220 mail.example.org ESMTP\r\n",
    ]
    with socket.create_server(("127.0.0.1", 0)) as server:
        asked = client(f"http://127.0.0.1:{server.getsockname()[1]}", monkeypatch)

        def answer() -> None:
            for content in answers:
                accepted, _ = server.accept()
                with accepted:
                    accepted.recv(4096)
                    accepted.sendall(content)

        thread = threading.Thread(target=answer)
        thread.start()
        for _ in answers:
            with pytest.raises(TargetError):
                asked.hello()
            asked.close()
        thread.join()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("POST", "/hello", 404),
        ("GET", "/ticks?after=x", 400),
        ("POST", "/locate", 400),
    ],
)
def test_what_is_no_request_is_refused(method: str, path: str, status: int) -> None:
    with listening(service(Ring(10))) as listener:
        connection = http.client.HTTPConnection(*listener.server_address[:2])
        headers = {"Authorization": f"Bearer {TOKEN}"}
        connection.request(method, path, b"{]" if method == "POST" else None, headers)
        assert connection.getresponse().status == status
        connection.close()


def test_a_large_request_is_not_read() -> None:
    with listening(service(Ring(10))) as listener:
        connection = http.client.HTTPConnection(*listener.server_address[:2])
        connection.putrequest("POST", "/locate")
        connection.putheader("Content-Length", str(1 << 40))
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()


def test_other_machines_need_tls_or_a_word() -> None:
    with pytest.raises(UsageError, match="--plain-http"):
        Listener(service(Ring(1)), Where("0.0.0.0"))
    with pytest.raises(UsageError, match="IP address"):
        Listener(service(Ring(1)), Where("db1.example.org"))
    Listener(service(Ring(1)), Where("0.0.0.0", plain=True)).server_close()


def test_mutual_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_openssl()
    ca = authority(tmp_path, "ca", "tests")
    own, own_key = signed(tmp_path, "agent", ca, "subjectAltName=IP:127.0.0.1")
    mine, key = signed(tmp_path, "client", ca)
    where = Where(cert=own, key=own_key, client_ca=ca)
    monkeypatch.delenv("DYNO_AGENT_TOKEN", raising=False)
    with listening(service(Ring(10), token=""), where) as listener:
        url = f"{listener.url}?ca={ca}&cert={mine}&key={key}"
        assert Client.at(agent_address(url)).hello().protocol == protocol.VERSION
        # Without a certificate of the client, and without trust in the agent's.
        with pytest.raises(TargetError, match="does not respond"):
            client(f"{listener.url}?ca={ca}", monkeypatch).hello()
        with pytest.raises(TargetError, match="does not respond"):
            client(listener.url, monkeypatch).hello()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("db1", "give http://HOST"),
        ("ftp://db1", "give http://HOST"),
        ("https://user:secret@db1", "no secrets in the URL"),
        ("https://token@db1", "no secrets in the URL"),
        ("ssh://-oProxyCommand=x", "begin with a dash"),
        ("a b=http://db1", "'a b'"),
        ("http://db1?token=x", "unknown parameter token"),
        ("http://db1:99999", "Port out of range"),
    ],
)
def test_addresses_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        agent_address(text)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value).replace("no secrets", "")


def test_addresses() -> None:
    found = agent_address("db=ssh://me@db1.example.org:2222?program=/opt/dyno")
    assert (found.name, found.user, found.host, found.port) == ("db", "me", "db1.example.org", 2222)
    assert exporter_address("http://db1:9100/metrics").path == "/metrics"
    assert machine_name("db1.example.org") == "db1"
    assert machine_name("…") == "server"


def test_a_token_file_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DYNO_AGENT_TOKEN", raising=False)
    file = tmp_path / "token"
    make_token(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(read_token(file)) == 64
    with pytest.raises(UsageError, match="Cannot create"):
        make_token(file)
    file.chmod(0o640)
    with pytest.raises(UsageError, match="chmod 600"):
        read_token(file)
    short = tmp_path / "short"
    short.write_text("secret")
    short.chmod(0o600)
    with pytest.raises(UsageError, match="at least 16"):
        read_token(short)
    with pytest.raises(UsageError, match="not a regular file"):
        read_token(Path("/dev/null"))
    assert read_token(None) == ""


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Client]]:
    """A whole agent in this process, ten ticks a second."""
    ended, urls = threading.Event(), list[str]()
    options: dict[str, Any] = {"interval_s": 0.1, "ready": urls.append}
    thread = threading.Thread(target=serve, args=(TOKEN, Where(), ended), kwargs=options)
    thread.start()
    wait_until(lambda: urls, "the agent")
    yield lambda: client(urls[0], monkeypatch)
    ended.set()
    thread.join()


def test_an_agent_samples_its_machine(running: Callable[[], Client]) -> None:
    asked = running()
    hello = asked.hello()
    found = wait_until(lambda: asked.entries(hello.instance, hello.last), "a tick")[0]
    sources = {source for source, *_ in found.samples}
    assert {"cpu", "memory", "process", "dyno"} <= sources
    assert asked.facts("/")["cpu"]["logical"] == os.cpu_count()
    assert asked.facts("/nonexistent/folder")["storage"]["path"] == "/"


def test_an_agent_finds_a_server_and_counts_its_time(
    running: Callable[[], Client], tmp_path: Path
) -> None:
    asked, own = running(), psutil.Process()
    here = str(Path.cwd())
    told = Told((own.name(),), own.pid, None, here, {"data": (".",)})
    age_s = time.time() - own.create_time()
    assert asked.locate(told).pid is None, "nothing proves that it is the process"
    known = Told((own.name(),), own.pid, age_s, here, {"data": (".", str(tmp_path))})
    placed = asked.locate(known)
    assert placed.path == here
    volume = placed.volumes["data"]
    assert volume["mount_point"] == storage_facts(Path(here))["mount_point"]
    assert {"options", "size_bytes", "fs_type", "disks"} <= {*volume}
    parent = own.parent()
    if parent is not None and own.name() in parent.name():
        assert placed.pid == parent.pid


def test_an_unfound_server_is_said(running: Callable[[], Client]) -> None:
    placed = running().locate(Told(("no-such-program",), data="/"))
    assert placed.pid is None
    assert "no process here is certainly it" in placed.notes[0]


def test_a_restarted_server_is_followed_and_its_restart_told() -> None:
    ring, watched, running = Ring(10), list[set[int]](), {"pid": 7}
    able = Abilities(
        lambda path: {},
        lambda told: protocol.Placed(pid=running["pid"]),
        lambda told, pid: running.get("pid"),
        lambda pids: watched.append(set(pids)),
    )
    served = Service(ring, "", able)
    told = b'{"programs": ["postgres"], "data": "/data"}'
    for run in ("one", "two"):
        served.answer("/locate", {"run": run}, "", told)
    served.follow()
    assert watched == [{7}, {7}] and ring.last == 0, "nothing changed"
    del running["pid"]
    served.follow()
    served.follow()
    running["pid"] = 9
    served.follow()
    served.follow()
    assert watched[2:] == [{7}, {9}]
    events = [entry["event"] for entry in json.loads(ring.after(0, 1 << 20))]
    assert events == [
        {"name": "server-ended", "pid": "7"},
        {"name": "server-restarted", "pid": "9"},
    ]
