"""Removing folders for good: what a link points at stays, whatever is renamed meanwhile."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from dyno.safety.safefiles import directory, is_own


def remove_tree(path: Path, verified: Callable[[int], bool] = is_own) -> None:
    """Removes a folder with all that is in it; links in it go, what they point at stays.

    Args:
        path: The folder, itself no link.
        verified: Asked with the descriptor of the very folder that is emptied then.

    Raises:
        UsageError: If it is a link or no folder.
        PermissionError: If ``verified`` says no.
        OSError: If something cannot be removed.
    """
    with directory(path.parent, follow=True) as above, directory(path.name, above=above) as fd:
        if not verified(fd):
            raise PermissionError(
                1, "it was not created by Dyno, or belongs to another user", str(path)
            )
        with os.scandir(fd) as entries:
            for entry in list(entries):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.name, dir_fd=fd)
                else:
                    os.unlink(entry.name, dir_fd=fd)
        os.rmdir(path.name, dir_fd=above)
