"""Opening and replacing files in folders that somebody else filled."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dyno.errors import UsageError
from dyno.safety import safefiles


def a_link(path: Path) -> None:
    path.with_name("precious").write_text("precious")
    path.symlink_to("precious")


def a_dead_link(path: Path) -> None:
    path.symlink_to("nowhere")


def a_device(path: Path) -> None:
    os.mknod(path, 0o20666, os.makedev(1, 7))  # /dev/full


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes a device")
ODD = [
    pytest.param(a_link, id="link"),
    pytest.param(a_dead_link, id="dead-link"),
    pytest.param(os.mkfifo, id="pipe"),
    pytest.param(Path.mkdir, id="folder"),
    pytest.param(a_device, id="device", marks=needs_root),
]


@pytest.mark.parametrize("make", ODD)
def test_only_regular_files_are_read_appended_to_and_replaced(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "file"
    make(path)
    before = path.lstat()
    with pytest.raises(UsageError):
        safefiles.read_bytes(path, 1 << 20)
    with pytest.raises(UsageError):
        safefiles.append(path)
    with pytest.raises(UsageError), safefiles.replacing(path) as file:
        file.write(b"new")
    assert path.lstat() == before
    assert {entry.name for entry in tmp_path.iterdir()} <= {"file", "precious"}
    if make is a_link:
        assert path.read_text() == "precious"


def test_a_folder_on_the_way_is_no_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("text")
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(UsageError):
        safefiles.read_text(tmp_path / "link" / "file", 99, below=tmp_path)
    with pytest.raises(UsageError), safefiles.replacing(tmp_path / "link" / "file"):
        pass
    assert safefiles.read_text(tmp_path / "real" / "file", 99, below=tmp_path) == "text"
    with safefiles.replacing(tmp_path / "link" / "file", follow=True) as file:
        file.write(b"new")  # where the user named the folder
    assert (tmp_path / "real" / "file").read_text() == "new"


def test_a_size_is_known_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UsageError):
        safefiles.read_bytes(path, 1 << 20)


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), safefiles.replacing(path) as file:
        file.write(b"half")
        (name,) = {entry.name for entry in tmp_path.iterdir()} - {"file"}
        assert safefiles.is_partial(name, "file")
        _ = 1 / 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "old"


def test_a_folder_swapped_meanwhile_gets_nothing(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    mine.mkdir()
    theirs.mkdir()
    with safefiles.replacing(mine / "file") as file:
        mine.rename(tmp_path / "moved")
        mine.symlink_to(theirs)
        file.write(b"text")
    assert (tmp_path / "moved" / "file").read_text() == "text"
    assert not list(theirs.iterdir())


def test_modes_are_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        for name, mode in (("open", 0o666), ("secret", 0o600)):
            with safefiles.replacing(tmp_path / name, mode=mode) as file:
                file.write(b"")
            assert (tmp_path / name).stat().st_mode & 0o777 == mode & ~0o022
    finally:
        os.umask(before)
