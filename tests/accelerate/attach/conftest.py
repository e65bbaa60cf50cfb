"""A folder with a cache in front."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from dyno.accelerate.attach import attached, mounting
from dyno.errors import DynoError
from tests.conftest import missing
from tests.process import document, dyno, wait_until

SIZE = "48M"


@dataclass
class Volume:
    """A folder, and a cache for it.

    Attributes:
        origin: The folder.
        cache: The folder of the cache.
    """

    origin: Path
    cache: Path

    def attach(self, *options: str, new: bool = True) -> None:
        sized = ("--size", SIZE) if new else ()
        done = dyno("accelerate", "apply", self.origin, "--flash", self.cache, *sized, *options,
                    "--yes", "--json")  # fmt: skip
        assert done.returncode == 0, done.stderr

    def detach(self) -> None:
        attached.detach(self.origin)

    def processes(self, module: str) -> list[psutil.Process]:
        """Its supervisor, or its daemons: those are children of the supervisor."""
        if module == "daemon":
            return [child for one in self.processes("supervisor") for child in one.children()]
        return [
            process
            for process in psutil.process_iter(["cmdline"])
            if str(self.cache) in (line := process.info["cmdline"] or [])
            and f"dyno.accelerate.attach.{module}" in line
        ]

    def kill_daemon(self) -> None:
        """Kills the daemon, and waits until another one serves."""
        died = self.processes("daemon")
        for process in died:
            process.kill()
        wait_until(lambda: set(self.processes("daemon")) - set(died), "another daemon", 30)

    def told(self) -> dict[str, Any]:
        """What the daemon reports from now on: the next report may have been counted before."""
        state = self.cache / "status.json"
        for _ in range(2):
            before = state.stat().st_mtime_ns
            wait_until(lambda before=before: state.stat().st_mtime_ns > before, "a report", 30)
        found = document(dyno("accelerate", "status", self.origin, "--json"))
        return found["caches"][0]["status"]

    def hits(self) -> int:
        return sum(kind["hits"] for kind in self.told()["kinds"])

    def end(self) -> None:
        with contextlib.suppress(DynoError):
            mounting.unmount(self.origin, lazy=True)
        left = [*self.processes("daemon"), *self.processes("supervisor")]
        _, alive = psutil.wait_procs(left, timeout=30)
        for process in alive:
            process.send_signal(signal.SIGKILL)


def forget(path: Path) -> None:
    """Lets the kernel forget what it has of a file, so that it is read from below."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def need_fuse() -> None:
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("this machine has no /dev/fuse, or no right to mount")
    if os.geteuid() != 0 and shutil.which("fusermount3") is None:
        missing("fusermount3")


@pytest.fixture
def volume(tmp_path: Path) -> Iterator[Volume]:
    """A folder without a cache; one that is attached is detached in the end."""
    need_fuse()
    found = Volume(tmp_path / "origin", tmp_path / "flash")
    found.origin.mkdir()
    try:
        yield found
    finally:
        found.end()
