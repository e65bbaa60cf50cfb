"""Other users, and file systems that are full or read-only."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dyno.accelerate.attach import mounting
from tests.accelerate.attach.conftest import SIZE, Volume, need_fuse
from tests.conftest import missing
from tests.process import wait_until

NOBODY = 65534
root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user or mount")


def as_nobody(*command: str | Path) -> subprocess.CompletedProcess[str]:
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
    environment = {
        **os.environ,
        "HOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    return subprocess.run(
        [*become, *map(str, command)], capture_output=True, text=True, check=False,
        env=environment, timeout=120, cwd="/",
    )  # fmt: skip


@pytest.fixture
def reachable(tmp_path: Path) -> Path:
    """A folder that other users reach."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    return tmp_path


def python_of_nobody() -> str:
    """A Python that other users can run, with what this one imports."""
    starts = "import subprocess, sys, numpy; subprocess.run([sys.executable, '-V'], check=True)"
    for python in (sys.executable, "/usr/bin/python3"):
        if as_nobody(python, "-c", starts).returncode == 0:
            return python
    pytest.skip("other users have no right to this Python")


@root
def test_others_have_the_rights_that_the_files_give_them(volume: Volume, reachable: Path) -> None:
    (volume.origin / "secret").write_text("secret")
    (volume.origin / "secret").chmod(0o600)
    (volume.origin / "open").write_text("open")
    (volume.origin / "theirs").mkdir()
    os.chown(volume.origin / "theirs", NOBODY, NOBODY)
    volume.origin.chmod(0o755)
    volume.attach()
    assert as_nobody("cat", volume.origin / "secret").returncode != 0
    assert as_nobody("cat", volume.origin / "open").stdout == "open"
    assert as_nobody("touch", volume.origin / "new").returncode != 0
    assert as_nobody("touch", volume.origin / "theirs" / "new").returncode == 0
    made = (volume.origin / "theirs" / "new").stat()
    assert (made.st_uid, made.st_gid) == (NOBODY, NOBODY)
    assert as_nobody("cat", volume.cache / "cache").returncode != 0


@root
def test_a_program_that_is_written_loses_its_rights(volume: Volume, reachable: Path) -> None:
    program = volume.origin / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o4777)
    volume.origin.chmod(0o755)
    volume.attach()
    assert as_nobody("sh", "-c", f"echo id >> {program}").returncode == 0
    assert program.stat().st_mode & 0o7777 == 0o777
    volume.detach()
    assert program.stat().st_mode & 0o7777 == 0o777


@pytest.fixture
def fuse_for_users() -> Iterator[None]:
    """The device has the mode that udev gives it."""
    device = Path(mounting.DEVICE)
    before = device.stat().st_mode
    device.chmod(0o666)
    yield
    device.chmod(before & 0o7777)


@pytest.mark.long
@root
@pytest.mark.usefixtures("fuse_for_users")
def test_a_user_attaches_a_cache_to_a_folder_of_his(volume: Volume, reachable: Path) -> None:
    if shutil.which("fusermount3") is None:
        missing("fusermount3")
    (volume.origin / "a.db").write_bytes(bytes(range(256)) * 4096)
    for path in (volume.origin, volume.origin / "a.db"):
        os.chown(path, NOBODY, NOBODY)
    volume.cache.mkdir()
    os.chown(volume.cache, NOBODY, NOBODY)
    verb = [python_of_nobody(), "-m", "dyno", "accelerate"]
    apply = [*verb, "apply", volume.origin, "--flash", volume.cache, "--size", SIZE, "--yes"]
    done = as_nobody(*apply)
    assert done.returncode == 0, done.stderr
    read = as_nobody("sha256sum", volume.origin / "a.db")
    assert read.returncode == 0
    assert as_nobody("sh", "-c", f"echo more > {volume.origin / 'b'}").returncode == 0
    done = as_nobody(*verb, "detach", volume.origin)
    assert done.returncode == 0, done.stderr
    assert as_nobody("sha256sum", volume.origin / "a.db").stdout == read.stdout
    assert (volume.origin / "b").read_text() == "more\n"


@pytest.fixture
def small(volume: Volume, tmp_path: Path) -> Iterator[Volume]:
    """The folder is in a file system of 2 MiB in memory."""
    need_fuse()
    memory = tmp_path / "memory"
    memory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2M", "none", memory]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("no right to mount")
    found = Volume(memory / "origin", tmp_path / "flash of memory")
    found.origin.mkdir()
    try:
        yield found
    finally:
        found.end()
        subprocess.run(["umount", "-l", memory], check=False)


@root
def test_a_full_origin_is_reported(small: Volume) -> None:
    small.attach()
    with (small.origin / "a").open("wb", buffering=0) as file:
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            for _ in range(100):
                file.write(bytes(100_000))
        assert 1_000_000 < os.fstat(file.fileno()).st_size < 3_000_000
    (small.origin / "a").unlink()
    # The kernel tells the daemon a moment later that nobody has the file open.
    wait_until(lambda: fits(small.origin / "b", 1_300_000), "space", 30)


def fits(path: Path, size: int) -> bool:
    with contextlib.suppress(OSError):
        return path.write_bytes(bytes(size)) == size
    return False


@root
def test_the_space_of_a_removed_log_is_free_also_after_a_kill(small: Volume) -> None:
    """The kernel reads and writes logs itself, and holds them for that."""
    small.attach()
    folder = small.origin / "pg_wal"
    folder.mkdir()
    with (folder / "1").open("wb", buffering=0) as file:
        file.write(bytes(1_300_000))
        small.kill_daemon()
        file.write(b"more")
    (folder / "1").unlink()
    wait_until(lambda: fits(folder / "2", 1_300_000), "space", 30)


@root
def test_an_origin_that_is_read_only_is_read(small: Volume) -> None:
    path = small.origin / "a"
    path.write_text("before")
    subprocess.run(["mount", "-o", "remount,ro", small.origin.parent], check=True)
    small.attach()
    with pytest.raises(OSError, match=os.strerror(errno.EROFS)):
        (small.origin / "b").write_text("after")
    assert path.read_text() == "before"


@root
def test_a_mount_that_ends_from_outside_ends_the_processes(volume: Volume) -> None:
    volume.attach()
    processes = [*volume.processes("daemon"), *volume.processes("supervisor")]
    assert len(processes) == 2
    subprocess.run(["umount", volume.origin], check=True)
    wait_until(lambda: not any(process.is_running() for process in processes), "their end", 60)
