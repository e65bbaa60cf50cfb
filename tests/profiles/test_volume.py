"""Volumes as they are named, what is measured at once, and how full they get."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dyno.errors import DiskFullError, TargetError, UsageError
from dyno.profiles import fill, spec
from dyno.profiles.volume import Volume, order, parse, volume_sets
from dyno.stages import profile


def folders(place: Path, *names: str) -> tuple[Volume, ...]:
    for name in names:
        (place / name).mkdir(parents=True, exist_ok=True)
    return parse([str(place / name) for name in names])


def test_names_come_from_paths_or_are_given(tmp_path: Path) -> None:
    for name in ("x/data", "y/data", "a=b", "log.d"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file").touch()
    paths = ["x/data", "y/data", "a=b", "log.d", "file"]
    found = parse([*(str(tmp_path / name) for name in paths), "root=/"])
    assert [one.name for one in found] == ["data", "data-2", "a-b", "log-d", "file", "root"]
    assert [one.kind for one in found] == ["folder"] * 4 + ["file", "folder"]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (("{}/none",), "none does not exist"),
        (("a={}", "b={}/."), "is given twice, as 'a' and 'b'"),
        (("a={}", "a=/"), "Two volumes are named 'a'"),
        (("/dev/null",), "not a folder, file or block device"),
    ],
)
def test_what_is_no_volume(tmp_path: Path, texts: tuple[str, ...], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse([text.format(tmp_path) for text in texts])


def test_what_is_measured_at_once(tmp_path: Path) -> None:
    volumes = folders(tmp_path, "a", "b", "c")
    assert [volume_set.label for volume_set in volume_sets(volumes, "together")] == ["a+b+c"]
    assert [volume_set.label for volume_set in volume_sets(volumes, "compare")] == ["a", "b", "c"]
    assert [volume_set.label for volume_set in volume_sets(volumes, "scaling")] == [
        "a",
        "a+b",
        "a+b+c",
    ]
    turns = [
        (repeat, volume_set.label)
        for repeat, volume_set in order(volume_sets(volumes, "compare"), 2)
    ]
    assert turns == [(1, "a"), (1, "b"), (1, "c"), (2, "c"), (2, "b"), (2, "a")]


def test_levels_of_a_size(tmp_path: Path) -> None:
    volumes = folders(tmp_path, "a")
    low, high = fill.stages(volumes, (85.0, 40.0), 1 << 20)
    assert (low.label, low.bytes) == ("40 %", {"a": 102 * 4096})
    assert (high.label, high.bytes) == ("85 %", {"a": 217 * 4096})


def test_levels_of_a_volume_count_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volumes = folders(tmp_path, "a")
    space = fill.Space(total=1000 << 20, free=700 << 20)
    monkeypatch.setattr(fill.Space, "of", lambda _: space)
    (stage,) = fill.stages(volumes, (40.0,), None)
    assert stage.bytes == {"a": 100 << 20}
    with pytest.raises(UsageError, match=r"is 30 % full already, so it cannot be filled to 30 %"):
        fill.stages(volumes, (30.0,), None)
    with pytest.raises(UsageError, match="--fill 96: use percent above 0, at most 95"):
        fill.stages(volumes, (96.0,), None)
    fill.require_space(volumes, {"a": 600 << 20})
    with pytest.raises(DiskFullError, match=r"needs 682 MB in .*, and 67.1 MB stay free; 734"):
        fill.require_space(volumes, {"a": 650 << 20})
    both = folders(tmp_path, "a", "b")
    with pytest.raises(DiskFullError, match="The test files need"):
        fill.require_space(both, {"a": 400 << 20, "b": 400 << 20})


def test_free_space_is_what_df_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1000 blocks 50 are root's own, 380 used: 40 % of those that a user can have."""
    values = (4096, 4096, 1000, 620, 570, 0, 0, 0, 0, 255)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(values))
    space = fill.Space.of(tmp_path)
    assert (space.total, space.free) == (950 * 4096, 570 * 4096)
    (stage,) = fill.stages(folders(tmp_path, "a"), (60.0,), None)
    assert stage.bytes == {"a": 190 * 4096}


def test_only_folders_are_filled(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="--fill is for folders"):
        fill.stages(parse([str(tmp_path / "file")]), (40.0,), None)


def test_a_folder_that_is_mounted_read_only_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = profile.IoPlan(folders(tmp_path, "a"), spec.read("quick"))
    found = os.statvfs(tmp_path)
    values = [*found[:8], found.f_flag | os.ST_RDONLY, *found[9:]]
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(values))
    with pytest.raises(TargetError, match="is mounted read-only"):
        plan.check()


def test_a_device_that_is_mounted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profile, "in_use", lambda path: f"{path.name} is mounted on /data")
    device = Volume(name="sdb", path=Path("/dev/sdb"), kind="device")
    with pytest.raises(TargetError, match="sdb is mounted on /data: other users"):
        profile.IoPlan((device,), spec.read("quick")).check()
