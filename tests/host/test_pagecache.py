"""The page cache: seen, emptied with proof, and refused where there can be none."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dyno.contracts.cold import Emptied
from dyno.errors import TargetError
from dyno.host import pagecache
from dyno.host.mounts import mount_of, parse_mountinfo
from dyno.host.pagecache import empty, files_under, resident_bytes
from dyno.host.storage import fs_kind
from tests.conftest import missing
from tests.process import wait_until

SIZE = 8 << 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    mounts = parse_mountinfo(Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
    mount = mount_of(tmp_path.resolve(), mounts)
    if mount is None or fs_kind(mount.fs_type) not in {"disk", "layered"}:
        missing("a local disk under the temporary folder")
    path = tmp_path / "data"
    path.write_bytes(os.urandom(SIZE))
    return path


@pytest.fixture
def no_drop(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The rest of the machine keeps its caches."""
    monkeypatch.setattr(pagecache, "_drop_all", lambda: False)
    return


def whole_in_memory(file: Path) -> bool:
    """Whether all of the file is in memory once it was read.

    Other programs may empty the machine's cache at any moment, other tests among them.
    """
    file.read_bytes()
    return resident_bytes([file]) == SIZE


def test_dirty_files_are_written_and_dropped(file: Path) -> None:
    content = file.read_bytes()

    def emptied_of_all() -> Emptied | None:
        file.write_bytes(content)
        found = empty([file])
        return found if found.before_bytes == SIZE else None

    emptied = wait_until(emptied_of_all, "a file that was in memory as a whole")
    assert (emptied.files, emptied.bytes) == (1, SIZE)
    assert emptied.left_share <= pagecache.WORST_SHARE
    assert resident_bytes([file]) <= emptied.left_bytes
    assert emptied.file_system
    wait_until(lambda: whole_in_memory(file), "the file to be in memory again")


def test_files_are_found_once_and_behind_links(tmp_path: Path, file: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "empty").touch()
    (inner / "again").symlink_to(tmp_path)
    (inner / "hard").hardlink_to(file)
    os.mkfifo(inner / "pipe")
    (inner / "nowhere").symlink_to(tmp_path / "gone")
    assert {path.stat().st_size for path in files_under([tmp_path, file])} == {0, SIZE}
    assert len(files_under([tmp_path, file])) == 2
    assert empty(files_under([inner])).files == 1


@pytest.mark.usefixtures("no_drop")
def test_what_another_program_keeps_in_memory_is_refused(file: Path) -> None:
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as kept:
        assert kept[:].count(b"\0") > 0  # touched, so mapped
        with pytest.raises(TargetError, match="still in memory"):
            empty([file])


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no /dev/shm here")
def test_memory_itself_is_refused() -> None:
    path = Path("/dev/shm") / f"dyno-test-{os.getpid()}"
    path.write_bytes(b"x" * 4096)
    try:
        with pytest.raises(TargetError, match="is memory"):
            empty([path])
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("kind", "reason"), [("zfs", "ARC"), ("nfs4", "also caches"), ("fuse.sshfs", "also caches")]
)
def test_file_systems_with_caches_of_their_own_are_refused(
    monkeypatch: pytest.MonkeyPatch, file: Path, kind: str, reason: str
) -> None:
    monkeypatch.setattr(pagecache, "read_text", lambda _: f"1 0 0:9 / / rw - {kind} pool rw\n")
    with pytest.raises(TargetError, match=reason):
        empty([file])


def test_a_cache_that_cannot_be_seen_proves_nothing(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setattr(pagecache, "_resident", lambda _: 0)
    with pytest.raises(TargetError, match="is not visible"):
        empty([file])
