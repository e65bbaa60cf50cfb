"""File systems on block devices of their own, for volumes by role."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import missing


@contextlib.contextmanager
def mounted(*volumes: str) -> Iterator[Path]:
    """A folder with a file system on a loop device for each name, for the server's user."""
    if os.geteuid() != 0:
        missing("root, to mount file systems")
    root = os.environ.get("PYTEST_DEBUG_TEMPROOT")
    with tempfile.TemporaryDirectory(prefix="dyno-test-", dir=root) as name:
        home = Path(name)
        home.chmod(0o755)
        with contextlib.ExitStack() as stack:
            for volume in volumes:
                image, folder = home / f"{volume}.img", home / volume
                folder.mkdir()
                with image.open("wb") as file:
                    file.truncate(1 << 30)
                make = ["mkfs.ext4", "-q", image]
                for command in (make, ["mount", "-o", "loop", image, folder]):
                    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
                        missing("a loop device, to mount a file system")
                stack.callback(subprocess.run, ["umount", "-l", folder], check=True)
                folder.chmod(0o755)
            yield home
