"""Settings that depend on free space stay what they are while it changes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from dyno.contracts.target import Limits
from dyno.servers.volume import SPACE, VolumeFacts, read_note, rounded
from dyno.studies.space import same_for_all
from dyno.targets.mysql.settings import settings as of_mariadb
from dyno.targets.postgresql.settings import settings as of_postgresql
from tests.targets.conftest import embedded

GIB = 1 << 30
LIMITS = Limits(4 * GIB, 2)
Free = Callable[[float], None]


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Free:
    """Fakes the free space of every volume, in GiB."""

    def say(gib: float) -> None:
        usage = SimpleNamespace(total=100 * GIB, used=0, free=int(gib * GIB))
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)

    return say


def chosen(home: Path) -> tuple[dict[str, str], dict[str, str]]:
    home.mkdir(exist_ok=True)
    volume = VolumeFacts.noted(home)
    return of_postgresql(LIMITS, volume, io_uring=False), of_mariadb(LIMITS, volume)


@pytest.mark.parametrize(
    ("size", "least"), [(0, 0), (1, 1), (1023, 512), (1024, 1024), (10**12, 1 << 39)]
)
def test_sizes_go_in_powers_of_two(size: int, least: int) -> None:
    assert rounded(size) == least


def test_slightly_different_free_space_makes_no_difference(tmp_path: Path, free: Free) -> None:
    free(69.52)
    first = chosen(tmp_path / "one")
    free(69.08)
    assert chosen(tmp_path / "other") == first


def test_a_folder_keeps_its_settings_across_a_step(tmp_path: Path, free: Free) -> None:
    free(64.1)
    first = chosen(tmp_path / "home")
    for gib in (63.9, 20, 500):
        free(gib)
        assert chosen(tmp_path / "home") == first
    assert chosen(tmp_path / "another") != first
    # What would no longer fit is not kept.
    free(8)
    assert chosen(tmp_path / "home") == chosen(tmp_path / "small")


def test_the_engines_of_a_study_have_the_same_space(tmp_path: Path, free: Free) -> None:
    free(64.1)
    with same_for_all(tmp_path):
        first = chosen(tmp_path / "one")
        free(63.9)
        assert chosen(tmp_path / "other") == first
    free(40)
    with same_for_all(tmp_path):  # it is gone on with
        assert chosen(tmp_path / "third") == first
    assert chosen(tmp_path / "outside") != first


@pytest.mark.parametrize("text", ["", "many", "-1", "1e9", "9" * 30, "٣"])
def test_what_is_no_note_of_dynos_is_made_anew(tmp_path: Path, free: Free, text: str) -> None:
    free(10)
    (tmp_path / "space").write_text(text)
    assert VolumeFacts.noted(tmp_path).space_bytes == 8 * GIB
    assert read_note(tmp_path / "space") == 8 * GIB


def test_a_link_is_not_followed(tmp_path: Path, free: Free) -> None:
    free(10)
    mine = tmp_path / "mine"
    mine.write_text("1")
    home = tmp_path / "home"
    home.mkdir()
    (home / "space").symlink_to(mine)
    assert VolumeFacts.noted(home).space_bytes == 8 * GIB
    assert mine.read_text() == "1"


def test_what_the_environment_says_must_be_a_number(
    tmp_path: Path, free: Free, monkeypatch: pytest.MonkeyPatch
) -> None:
    free(10)
    monkeypatch.setenv(SPACE, "a lot")
    assert VolumeFacts.noted(tmp_path).space_bytes == 8 * GIB


def test_two_servers_have_the_same_settings(tmp_path: Path, free: Free) -> None:
    found: list[str] = []
    for name, gib in (("one", 69.52), ("other", 69.08)):
        (tmp_path / name).mkdir()
        free(gib)
        with embedded(tmp_path / name) as target:
            facts = target.facts()
            found.append(f"{facts.settings['max_wal_size']} {facts.settings['min_wal_size']}")
    assert found[0] == found[1]
