"""A small file system, whose size can be changed while it is in use."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import missing


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 GiB."""
    if os.geteuid() != 0:
        missing("root, to mount a small file system")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1g,mode=755", "dyno-test", folder], check=False
    )
    if mounted.returncode != 0:
        missing("the right to mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def resized(folder: Path, size: int) -> bool:
    """Gives the file system another size at once; False if more than that is in use."""
    options = ["-o", f"remount,size={size}"]
    return (
        subprocess.run(["mount", *options, folder], capture_output=True, check=False).returncode
        == 0
    )


def shrunk(folder: Path, space: int) -> bool:
    """Leaves ``space`` bytes free; False if more than that was taken meanwhile."""
    state = os.statvfs(folder)
    return resized(folder, (state.f_blocks - state.f_bfree) * state.f_frsize + space)
