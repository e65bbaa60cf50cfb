"""Volumes of a layout: there, large enough, apart; and what Dyno puts on them goes again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from dyno.contracts.layout import Layout, Partition, TableDesign
from dyno.errors import DiskFullError, TargetError
from dyno.layouts import volumes
from dyno.workspace import places


def layout(**fields: object) -> Layout:
    return Layout.model_validate({"name": "mine", "workload": "tpch", **fields})


def test_a_missing_volume_is_named(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"volume .*gone \(for temp\) does not exist"):
        volumes.check(layout(temp=str(tmp_path / "gone")), {}, tmp_path)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(TargetError, match="is no folder"):
        volumes.check(layout(data=str(file)), {}, tmp_path)


def test_a_full_volume_says_what_it_needs_and_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = layout(data=str(tmp_path))
    needed = volumes.needs(mine, 1)
    size = needed[str(tmp_path)]
    assert 1e9 < size < 3e9  # SF 1 takes about 2 GB with its keys
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=size - 1))
    with pytest.raises(DiskFullError, match=r"needs about 2\.\d+ GB on .* 2\.\d+ GB free"):
        volumes.check(mine, needed, tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=size))
    volumes.check(mine, needed, tmp_path)


def test_a_full_volume_is_refused_whatever_it_is_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=0))
    with pytest.raises(DiskFullError, match="0 B free"):
        volumes.check(layout(temp=str(tmp_path)), {}, tmp_path)


def test_partitions_share_the_need_and_leave_the_rest_here(tmp_path: Path) -> None:
    parts = tuple(Partition(name=f"p{n}", volume=v) for n, v in enumerate(("/a", "/b", None)))
    mine = layout(tables={"lineitem": TableDesign(partition_by="l_shipdate", partitions=parts)})
    needed = volumes.needs(mine, 0.01)
    assert needed["/a"] == needed["/b"]
    assert 0.4 < volumes.share_here(mine, 0.01) < 0.7


def test_volumes_on_one_device_are_reported(tmp_path: Path) -> None:
    for name in ("a", "b", "home"):
        (tmp_path / name).mkdir()
    mine = layout(data=str(tmp_path / "a"), log=str(tmp_path / "b"))
    notes = volumes.check(mine, {}, tmp_path / "home")
    assert len(notes) == 2
    assert "a (data) and" in notes[0]
    assert "are on one device" in notes[0]
    assert volumes.check(layout(), {}, tmp_path / "home") == ()


def test_places_are_marked_remembered_and_removed(tmp_path: Path) -> None:
    home, volume = tmp_path / "home", tmp_path / "volume"
    home.mkdir()
    volume.mkdir()
    place = places.claim(volume, home)
    assert places.claim(volume, home) == place
    assert places.own(home) == [place]
    (place / "data").mkdir()
    other = volume / "of-the-user"
    other.mkdir()
    assert places.release(home) == [place]
    assert list(volume.iterdir()) == [other]
    assert places.claimed(home) == []


def test_what_is_not_ours_is_neither_used_nor_removed(tmp_path: Path) -> None:
    home, volume = tmp_path / "home", tmp_path / "volume"
    home.mkdir()
    volume.mkdir()
    place = places.claim(volume, home)
    (place / ".dyno").write_text("/somebody/else\n")
    with pytest.raises(TargetError, match="was not created by Dyno"):
        places.claim(volume, home)
    assert places.release(home) == []
    assert place.exists()
    (home / "places.json").write_text("[1, ")
    assert places.claimed(home) == []


def test_a_users_file_gets_no_register_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "x.duckdb"
    file.touch()
    place = places.claim(tmp_path, file)
    assert sorted(os.listdir(tmp_path)) == sorted([place.name, "x.duckdb"])
    assert places.release(file, [place]) == [place]
