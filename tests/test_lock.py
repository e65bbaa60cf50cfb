"""One Dyno at a time in a folder, and a line on a folder that cannot be written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from dyno.errors import TargetError, UsageError
from dyno.workspace.lock import OutLock


def test_a_second_one_learns_who_is_at_work(tmp_path: Path) -> None:
    assert not OutLock.held(tmp_path)
    with OutLock(tmp_path):
        assert OutLock.held(tmp_path)
        with pytest.raises(TargetError, match=f"process {os.getpid()}"), OutLock(tmp_path):
            pass
    assert not OutLock.held(tmp_path)


def test_a_full_volume_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(UsageError, match=r"No space left on device\. Use another"):
            OutLock(tmp_path).__enter__()
    with OutLock(tmp_path):  # and it was released
        pass
