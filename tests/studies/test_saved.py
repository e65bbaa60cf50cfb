"""The state that runs begin from: whole or not at all, also after a kill; and no space for it."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from dyno.errors import DiskFullError
from dyno.studies import saved
from dyno.workspace import engine_folders, places


@pytest.fixture
def home(out: Path) -> Path:
    """An engine's folder with data here, and on a volume."""
    engine_folders.claim(out, "postgresql")
    home = out / "engines" / "postgresql"
    (home / "data").mkdir(mode=0o700)
    (home / "data" / "rows").write_bytes(os.urandom(100_000))
    (home / "link").symlink_to("data/rows")
    volume = out.parent / "volume"
    volume.mkdir()
    (places.claim(volume, home) / "more").write_bytes(b"more")
    return home


def content(home: Path) -> dict[str, bytes]:
    """What an engine has, here and on its volumes."""
    every = [path for top in (home, *places.own(home)) for path in sorted(top.rglob("*"))]
    return {str(path): path.read_bytes() for path in every if path.is_file()}


def change(home: Path) -> None:
    (home / "data" / "rows").write_bytes(b"other")
    (home / "new").write_text("x")
    (places.own(home)[0] / "more").write_bytes(b"less")


def test_what_was_kept_comes_back(home: Path, out: Path) -> None:
    before = content(home)
    kept = saved.keep(out)
    assert kept.size_bytes >= 100_000
    for _ in range(2):
        change(home)
        saved.restore(out)
        assert content(home) == before
    assert stat.S_IMODE((home / "data").stat().st_mode) == 0o700
    assert (home / "link").is_symlink()
    assert engine_folders.is_ours(home)


def test_a_copy_that_was_cut_off_counts_as_none(
    home: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(home)
    with monkeypatch.context() as patched:
        patched.setattr(saved, "_clone", _killed)
        with pytest.raises(_Killed):
            saved.keep(out)
    assert not saved.is_kept(out)
    saved.keep(out)
    change(home)
    with monkeypatch.context() as patched:
        patched.setattr(saved, "_clone", _killed)
        with pytest.raises(_Killed):
            saved.restore(out)
    assert content(home) != before
    saved.restore(out)
    assert content(home) == before


def test_what_was_put_back_in_part_goes_with_its_state(
    home: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restore that was cut off leaves folders without marks; what Dyno did not make stays."""
    saved.keep(out)
    (volume,) = places.own(home)
    with monkeypatch.context() as patched:
        patched.setattr(saved, "_clone", _killed)
        with pytest.raises(_Killed):
            saved.restore(out)
    others = out / "engines" / "of-the-user"
    others.mkdir(parents=True, exist_ok=True)
    assert saved.occupied_bytes(out) >= (0 if saved.shares_blocks(out) else 100_000)
    saved.discard(out)
    assert not saved.is_kept(out)
    assert not home.exists()
    assert not volume.exists()
    assert volume.parent.is_dir()
    assert list((out / "engines").iterdir()) == [others]


def test_no_space_is_reported_before_anything_is_copied(
    home: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.disk_usage(out)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: real._replace(free=1 << 20))
    with pytest.raises(DiskFullError, match=r"1.05 MB are free. Free space, or use reset"):
        saved.keep(out)
    assert not saved.is_kept(out)
    assert content(home)


class _Killed(BaseException):
    """The end of a process in the middle of its work."""


def _killed(_source: str, _target: str) -> str:
    raise _Killed
