"""A server that speaks SQL Server's protocol in tests: Babelfish, or any that a URL names.

``DYNO_TEST_MSSQL_URL`` names a running one, whose databases ``dyno_…`` are replaced.
``DYNO_TEST_BABELFISH`` is a folder with Babelfish and its ``start.sh`` and ``stop.sh``, for tests
that break a server or need one of their own.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

URL = os.environ.get("DYNO_TEST_MSSQL_URL", "")
PROGRAMS = os.environ.get("DYNO_TEST_BABELFISH", "")


def require_url() -> str:
    """The URL of the running server; skips without one."""
    if not URL:
        pytest.skip("DYNO_TEST_MSSQL_URL is not set")
    return URL


def require_babelfish() -> Path:
    """The folder of Babelfish's programs; skips without it."""
    if not PROGRAMS:
        pytest.skip("DYNO_TEST_BABELFISH is not set")
    return Path(PROGRAMS)


@contextlib.contextmanager
def alone() -> Iterator[str]:
    """The URL of the running server, which no other test uses meanwhile."""
    url = require_url()
    name = sha256(url.encode()).hexdigest()[:12]
    with (Path(tempfile.gettempdir()) / f"dyno-test-mssql-{name}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield url


@dataclass
class Babelfish:
    """A server of a test's own.

    Attributes:
        url: With the password of its administrator, without encryption.
        folder: Its data.
    """

    url: str
    folder: Path

    def log(self) -> str:
        """Its log."""
        return (self.folder / "server.log").read_text("utf-8", errors="replace")

    def kill(self) -> None:
        """Kills all of its processes at once, as a crash does."""
        main = int((self.folder / "data" / "postmaster.pid").read_text("utf-8").split()[0])
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(main)], capture_output=True, text=True, check=False
        )
        for pid in (main, *map(int, listed.stdout.split())):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def patient(url: str) -> str:
    """The same, with time for several sessions at once to open on a busy machine."""
    return f"{url}{'&' if '?' in url else '?'}connect_timeout=60"


@contextlib.contextmanager
def server(*, tls: bool = False) -> Iterator[Babelfish]:
    """Starts a server, and removes it at the end."""
    programs = require_babelfish()
    folder = Path(tempfile.mkdtemp(prefix="dyno-test-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield Babelfish(start(programs, folder, tls=tls), folder)
    finally:
        subprocess.run([programs / "stop.sh", folder], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def start(programs: Path, folder: Path, *, tls: bool = False) -> str:
    """Starts the server of a folder; returns its URL, for a session without encryption."""
    ports = [str(port) for port in free_ports(2)]
    done = subprocess.run(
        [programs / "start.sh", folder, *ports],
        capture_output=True,
        text=True,
        env={**os.environ, "BABELFISH_TLS": "1" if tls else "0"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return f"{done.stdout.splitlines()[-1]}?encrypt=off"


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nothing listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
