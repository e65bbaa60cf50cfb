"""The supervisor: mounts, holds the mount and all files that the kernel knows, and starts daemons.

    python -m dyno.accelerate.attach.supervisor CACHE_FOLDER READY_FD

A daemon that dies is replaced: it gets the descriptors that the last one had, and the kernel sends
it again what that one did not answer. Descriptors come and go as messages of a local socket; see
``crates/dyno-cache/src/mount/keeper.rs``.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any, cast

from dyno.accelerate.attach import folder, mounting
from dyno.errors import DynoError, TargetError

_CONNECT_S = 120.0
_QUICK_S = 10.0
"""A daemon that dies earlier after its start counts as a quick death."""
_QUICK_EMPTY = 3
"""After so many quick deaths in a row, the next daemon begins with an empty cache."""
_UNSERVED = 10
"""After so many daemons in a row that did not serve, the mount ends."""
_WAIT_S = (0.0, 0.0, 0.0, 0.2, 0.5)
"""Before the next daemon, by the number of quick deaths."""

_MALLOC = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": str(256 << 10)}
"""Lets glibc give back the buffers of segments, which each of many threads would keep otherwise."""

_CHECKPOINT_S = 300
_THREADS = 64


class Supervisor:
    """One mount and its daemons."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.attachment = folder.read(cache)
        self.origin = Path(self.attachment.origin)
        self._root = os.open(self.origin, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._kept: dict[int, int] = {}
        self._backings: dict[int, int] = {}
        self._empty = not (cache / "files.jsonl").exists()
        self._continued = False
        self._fuse = -1
        self._passthrough = False

    def run(self, ready: int) -> int:
        """Mounts, serves until the mount ends, and returns an exit code.

        ``ready`` is a pipe: a line follows once the mount is served, empty or with an error.
        """
        everyone = self.attachment.everyone
        self._fuse = mounting.mount(self.origin, self.cache, everyone=everyone)
        quick = unserved = 0
        try:
            self._passthrough = mounting.handshake(self._fuse) and os.geteuid() == 0
            mounting.read_ahead(self.origin)
            while True:
                begun = time.monotonic()
                code, served, words = self._serve(ready)
                if served and code == 0:
                    return 0
                if (served or self._continued) and mounting.find(self.origin) is None:
                    raise TargetError(f"The mount ended, and then its daemon: {words}", kind="io")
                quick = quick + 1 if time.monotonic() - begun < _QUICK_S else 0
                unserved = 0 if served else unserved + 1
                if unserved >= (_UNSERVED if self._continued else 1):
                    raise TargetError(self._ended(code, words), kind="io")
                self._continued = True
                _log(f"daemon ended with code {code}; another one follows. {words}")
                self._empty |= quick >= _QUICK_EMPTY  # the cache may be what kills it
                time.sleep(_WAIT_S[min(quick, len(_WAIT_S) - 1)])
        except BaseException:
            # Without Dyno's mount, the folder may be a mount of the user's own.
            if mounting.find(self.origin) is not None:
                with contextlib.suppress(DynoError):
                    mounting.unmount(self.origin, lazy=True)
            raise

    def _ended(self, code: int, words: str) -> str:
        """Why a daemon ended, and what to do."""
        why = words or f"the daemon ended with code {code}"
        again = f"; a new one follows `dyno accelerate remove {self.cache}`"
        return f"The cache cannot be attached: {why}{'' if self._empty else again}."

    def _serve(self, ready: int) -> tuple[int, bool, str]:
        """Runs a daemon; returns its exit code, whether it served, and its last words."""
        with tempfile.TemporaryDirectory(prefix="dyno-") as private:
            path = str(Path(private) / "socket")
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
                listening.bind(path)
                listening.listen(1)
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "dyno.accelerate.attach.daemon"],
                    stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/",
                    env={**os.environ, **_MALLOC},
                )  # fmt: skip
                with cast("IO[bytes]", process.stdin) as plan:
                    plan.write(json.dumps(self._plan(path)).encode())
                connection = _accept(listening, process)
        served = False
        if connection is not None:
            with connection:
                served = self._talk(connection, ready)
        words = cast("IO[bytes]", process.stderr).read().decode(errors="replace").splitlines()[-1:]
        return process.wait(), served, "".join(words)

    def _plan(self, path: str) -> dict[str, Any]:
        return {
            "socket": path,
            "folder": str(self.cache),
            "rules": [rule.model_dump() for rule in self.attachment.rules],
            "scan_bytes": self.attachment.scan_bytes,
            "threads": _THREADS,
            "checkpoint_s": _CHECKPOINT_S,
            "continued": self._continued,
            "empty": self._empty,
            "passthrough": self._passthrough,
            "everyone": self.attachment.everyone,
        }

    def _talk(self, connection: socket.socket, ready: int) -> bool:
        """Gives a daemon what it needs, and follows it until it ends; returns whether it served."""
        served = spoiled = False
        with contextlib.suppress(OSError):  # it died
            socket.send_fds(connection, [b"fuse"], [self._fuse])
            socket.send_fds(connection, [b"root"], [self._root])
            for node, fd in self._kept.items():
                socket.send_fds(connection, [f"keep {node}".encode()], [fd])
            for node, number in self._backings.items():
                connection.send(f"backing {node} {number}".encode())
            connection.send(b"go")
            while True:
                text, fds, _, _ = socket.recv_fds(connection, 128, 1)
                if not text:
                    break
                match text.decode().split():
                    case ["ready"]:
                        # One that serves without the cache may leave it older than the folder.
                        self._empty, served = spoiled, True
                        if not self._continued:
                            with contextlib.suppress(OSError):  # nobody waits any more
                                os.write(ready, b"\n")
                    case ["keep", node] if fds:  # none if this process may have no more
                        self._close(int(node))
                        self._kept[int(node)] = fds[0]
                    case ["forget", node]:
                        self._close(int(node))
                        self._backings.pop(int(node), None)
                    case ["backing", node, "0"]:
                        self._backings.pop(int(node), None)
                    case ["backing", node, number]:
                        self._backings[int(node)] = int(number)
                    case ["spoiled"]:
                        self._empty = spoiled = True
                        _log("the cache is not used any more, because its device failed")
                    case _:
                        _log(f"unexpected message {text!r}")
        return served

    def _close(self, node: int) -> None:
        if (fd := self._kept.pop(node, None)) is not None:
            os.close(fd)


def _accept(listening: socket.socket, process: subprocess.Popen[bytes]) -> socket.socket | None:
    """The daemon's connection; None if it ended before."""
    listening.settimeout(0.05)
    end = time.monotonic() + _CONNECT_S
    while process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(TimeoutError):
            connection, _ = listening.accept()
            connection.settimeout(None)
            return connection
    process.kill()
    return None


def _log(text: str) -> None:
    sys.stderr.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {text}\n")
    sys.stderr.flush()


def main(arguments: list[str]) -> int:
    """Runs a supervisor; see the module."""
    cache, ready = Path(arguments[0]), int(arguments[1])
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends with the mount
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("-900", encoding="ascii")
    try:
        return Supervisor(cache).run(ready)
    except (DynoError, OSError) as error:
        _log(str(error))
        with contextlib.suppress(OSError):
            os.write(ready, f"{error}\n".encode())
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
