"""Socket folders: private, short enough, and gone afterwards."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from dyno.errors import TargetError
from dyno.servers import sockets
from dyno.targets.postgresql.server import SOCKET

ME = (os.geteuid(), os.getegid())


def long_home(tmp_path: Path) -> Path:
    home = tmp_path / ("a" * 60) / ("b" * 60)
    home.mkdir(parents=True)
    return home


def bind(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / SOCKET))


def test_the_limit_is_the_kernels() -> None:
    longest = Path("/" + "x" * (sockets.LONGEST - len(SOCKET) - 2))
    assert len(str(longest / SOCKET)) == 107
    assert sockets.fits(longest, SOCKET)
    assert not sockets.fits(Path(f"{longest}x"), SOCKET)
    assert not sockets.fits(longest.with_name("ü" * 60), SOCKET)  # bytes count, not characters


@pytest.mark.parametrize("deep", [False, True])
def test_a_folder_is_made_used_and_removed(tmp_path: Path, deep: bool) -> None:
    home = long_home(tmp_path) if deep else Path(os.path.relpath(tmp_path)).resolve()
    folder = sockets.make(home, ME, SOCKET)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (home / "s").is_symlink() is deep
    bind(folder)
    again = sockets.make(home, ME, SOCKET)  # what a killed Dyno left is cleared first
    assert not (again / SOCKET).exists()
    assert folder == again or not folder.exists()
    sockets.remove(home)
    assert not again.exists()
    assert not (home / "s").is_symlink()


def test_a_foreign_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "s").symlink_to(precious)
    sockets.remove(tmp_path / "home")
    assert precious.exists()


def test_too_long_everywhere_names_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = long_home(tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(home))
    monkeypatch.setattr(sockets, "LAST_RESORT", str(home))
    with pytest.raises(TargetError) as caught:
        sockets.make(home, ME, SOCKET)
    assert "at most 91 are allowed" in str(caught.value)
    assert "\n" not in str(caught.value)
