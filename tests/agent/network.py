"""A second machine, as far as its network is concerned: a namespace behind a delayed link."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import select
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pymysql
import pytest

from dyno.targets.mysql import binaries
from tests import forked
from tests.conftest import missing
from tests.mariadb import require_mariadb
from tests.process import wait_until
from tests.targets.debian import debian_server

TOKEN = "a-token-of-the-tests-1234567890"
PG_PORT, MARIADB_PORT = 5999, 5998

_NUMBERS = itertools.count()
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


class Link:
    """A namespace behind a cable that delays each packet by 1 ms each way, and that can be cut.

    The cable is two ends of a tunnel and a thread between them.

    Attributes:
        name: The namespace.
        address: Its address.
    """

    DELAY_S = 0.001

    def __init__(self, name: str, own: str, address: str) -> None:
        self.name, self.address = name, address
        self._ends: list[int] = []
        self._stop, self._broken = threading.Event(), threading.Event()
        try:
            ip("netns", "add", name)
            for end, host, of in (("a", own, ()), ("b", address, ("-n", name))):
                self._ends.append(_tunnel(f"{name}{end}"))
                if of:
                    ip("link", "set", f"{name}{end}", "netns", name)
                ip(*of, "addr", "add", f"{host}/30", "dev", f"{name}{end}")
                ip(*of, "link", "set", f"{name}{end}", "up")
            ip("-n", name, "link", "set", "lo", "up")
        except OSError:
            self.close()
            raise
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    @property
    def inside(self) -> tuple[str, ...]:
        """Prefix of a command line that is to run there."""
        return ("ip", "netns", "exec", self.name)

    @contextlib.contextmanager
    def cut(self) -> Iterator[None]:
        """Nothing passes while the block is open."""
        self._broken.set()
        try:
            yield
        finally:
            self._broken.clear()

    def close(self) -> None:
        self._stop.set()
        if hasattr(self, "_thread"):
            self._thread.join()
        for end in self._ends:
            os.close(end)
        subprocess.run(["ip", "netns", "delete", self.name], check=False, capture_output=True)

    def _carry(self) -> None:
        under_way: deque[tuple[float, int, bytes]] = deque()
        while not self._stop.is_set():
            due_s = under_way[0][0] - time.monotonic() if under_way else 0.1
            ready, _, _ = select.select(self._ends, [], [], max(due_s, 0.0))
            for end in ready:
                packet = os.read(end, 1 << 16)
                if not self._broken.is_set():
                    other = self._ends[1 - self._ends.index(end)]
                    under_way.append((time.monotonic() + self.DELAY_S, other, packet))
            while under_way and under_way[0][0] <= time.monotonic():
                _, other, packet = under_way.popleft()
                with contextlib.suppress(OSError):  # the interface is down
                    os.write(other, packet)


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def _tunnel(name: str) -> int:
    """A new network interface, as a file of packets."""
    file = os.open("/dev/net/tun", os.O_RDWR)
    request = struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI)
    fcntl.ioctl(file, _TUNSETIFF, request)
    return file


@contextlib.contextmanager
def server_network() -> Iterator[Link]:
    """A second machine on the network; skips where this user cannot make one."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        missing("root and iproute2, to make a network namespace")
    # Up to eight at once in each process of the suite.
    number = (8 * os.getpid() + next(_NUMBERS) % 8) % (50 * 250)
    near = f"10.{200 + number % 50}.{number // 50}."
    try:
        link = Link(f"dyno{number}", f"{near}1", f"{near}2")
    except OSError as error:
        missing(f"the right to make a network namespace ({error})")
        raise
    with contextlib.closing(link):
        yield link


@contextlib.contextmanager
def postgres(link: Link, folder: Path, wal: Path | None = None) -> Iterator[str]:
    """URL of the operating system's PostgreSQL in the namespace; its log is in ``wal``."""
    lines = (f"listen_addresses = '{link.address}'", f"port = {PG_PORT}", "fsync = on")
    with debian_server(folder, *lines, inside=link.inside, wal=wal) as url:
        with (folder / "debian" / "pg_hba.conf").open("a") as file:
            file.write("host all all 10.0.0.0/8 trust\n")
        with psycopg.connect(f"{url}&port={PG_PORT}") as session:
            session.execute("SELECT pg_reload_conf()")
        target = f"postgresql://dyno@{link.address}:{PG_PORT}/postgres"

        def answers() -> bool:
            with contextlib.suppress(psycopg.Error):
                psycopg.connect(target).close()
                return True
            return False

        wait_until(answers, "the server in the namespace")
        yield target


@contextlib.contextmanager
def mariadb(link: Link, folder: Path) -> Iterator[str]:
    """URL of a MariaDB in the namespace with its data in ``folder``, which others can reach."""
    require_mariadb()
    programs = binaries.find()
    data = folder / "mariadb"
    shared = ("--no-defaults", f"--datadir={data}", "--user=nobody")
    made = (programs.install, *shared, "--auth-root-authentication-method=normal", "--skip-test-db")
    subprocess.run(made, check=True, capture_output=True, timeout=120)
    options = (f"--bind-address={link.address}", f"--port={MARIADB_PORT}", "--skip-name-resolve")
    statements = folder / "init.sql"
    statements.write_text("CREATE USER dyno@'10.%';\nGRANT ALL ON *.* TO dyno@'10.%';\n")
    statements.chmod(0o644)
    files = (f"--socket={data / 'own.sock'}", f"--init-file={statements}")
    with (folder / "mariadb.log").open("w") as log:
        command = [*link.inside, programs.server, *shared, *options, *files]
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:

        def answers() -> bool:
            assert server.poll() is None, (folder / "mariadb.log").read_text()[-2000:]
            with contextlib.suppress(pymysql.Error):
                pymysql.connect(host=link.address, port=MARIADB_PORT, user="dyno").close()
                return True
            return False

        wait_until(answers, "MariaDB in the namespace")
        yield f"mysql://dyno@{link.address}:{MARIADB_PORT}/"
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def agent(
    *options: str,
    inside: tuple[str, ...] = (),
    program: tuple[str, ...] = (sys.executable, "-m", "dyno"),
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """An agent as a process, and its URL."""
    process = subprocess.Popen(
        [*inside, *program, "agent", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**forked.light(), "DYNO_AGENT_TOKEN": TOKEN, **(environment or {})},
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if "listens on" in line:
                yield process, line.split()[-1].rstrip(".")
                return
        pytest.fail(f"the agent ended: {process.wait()}")
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
