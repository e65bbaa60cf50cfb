from __future__ import annotations

import os
from pathlib import Path

import pytest

from dyno.errors import TargetError
from dyno.host.block import (
    WholeDevice,
    counted_devices,
    is_nested,
    member_disks,
    read_devices,
)
from dyno.host.mounts import mount_of, parse_mountinfo
from dyno.host.storage import devices_under, fs_kind, nearest_existing, storage_facts
from tests.host.machine import MOUNTS, server, write


def test_mountinfo() -> None:
    mounts = {mount.point: mount for mount in parse_mountinfo(MOUNTS + "garbage\n")}
    assert len(mounts) == 10
    assert mounts["/"].device == "253:0"
    assert mounts["/"].fs_type == "xfs"
    assert mounts["/"].source == "/dev/mapper/vg-root"
    assert mounts["/"].options == ("rw", "relatime", "attr2", "inode64", "noquota")
    assert mounts["/home of all"].root == "/sub"
    assert mounts["/merged"].option("upperdir") == "/data/upper"
    assert mounts["/"].option("upperdir") is None


@pytest.mark.parametrize(
    ("path", "point"),
    [("/var/lib", "/"), ("/data/pg", "/data"), ("/database", "/"), ("/boot", "/boot")],
)
def test_the_deepest_mount_holds_a_path(path: str, point: str) -> None:
    mount = mount_of(Path(path), parse_mountinfo(MOUNTS))
    assert mount is not None
    assert mount.point == point


def test_of_mounts_at_one_point_the_last_counts() -> None:
    again = parse_mountinfo(MOUNTS + "50 26 8:64 / /data rw - ext4 /dev/sde rw\n")
    mount = mount_of(Path("/data/x"), again)
    assert mount is not None
    assert mount.source == "/dev/sde"
    assert mount_of(Path("/x"), []) is None


@pytest.mark.parametrize(
    ("point", "devices", "disks"),
    [
        ("/", ["dm-0"], ["sda"]),
        ("/boot", ["sda1"], ["sda"]),
        ("/data", ["md0"], ["sdb", "sdc"]),
        ("/home of all", ["sdd1", "sde"], ["sdd", "sde"]),
        ("/tmp", [], []),
        ("/net", [], []),
        ("/fuse", [], []),
        ("/hidden", [], []),
    ],
)
def test_devices_under_each_kind_of_mount(
    tmp_path: Path, point: str, devices: list[str], disks: list[str]
) -> None:
    root = server(tmp_path)
    mounts = parse_mountinfo(MOUNTS)
    mount = next(mount for mount in mounts if mount.point == point)
    found = devices_under(mount, mounts, root)
    assert [device.name for device in found] == devices
    assert sorted({disk.name for device in found for disk in member_disks(device)}) == disks


@pytest.mark.parametrize(("point", "devices"), [("/data/pg", ["md0"]), ("/data", ["md0"])])
def test_a_folder_with_a_cache_is_on_the_devices_below_it(
    tmp_path: Path, point: str, devices: list[str]
) -> None:
    root = server(tmp_path)
    cached = f"60 30 0:77 / {point} rw,nosuid - fuse.dyno /flash/pg rw,user_id=0\n"
    mounts = parse_mountinfo(MOUNTS + cached)
    mount = mount_of(Path(point), mounts)
    assert mount is not None
    assert mount.source == "/flash/pg"
    assert fs_kind(mount.fs_type) == "disk"
    assert [device.name for device in devices_under(mount, mounts, root)] == devices


def test_an_overlay_is_followed_to_its_upper_folder(tmp_path: Path) -> None:
    root = server(tmp_path)
    (root / "data/upper").mkdir(parents=True)
    mounts = parse_mountinfo(MOUNTS)
    mount = next(mount for mount in mounts if mount.point == "/merged")
    assert [device.name for device in devices_under(mount, mounts, root)] == ["md0"]


@pytest.mark.parametrize(
    ("fs_type", "kind"),
    [
        ("ext4", "disk"),
        ("btrfs", "disk"),
        ("zfs", "disk"),
        ("fuseblk", "user"),
        ("fuse.sshfs", "user"),
        ("fuse.glusterfs", "network"),
        ("nfs4", "network"),
        ("tmpfs", "memory"),
        ("overlay", "layered"),
    ],
)
def test_fs_kind(fs_type: str, kind: str) -> None:
    assert fs_kind(fs_type) == kind


def test_facts_under_a_volume_group(tmp_path: Path) -> None:
    root = server(tmp_path)
    active = "\n".join(
        f" 1 1 {name} 5 0 40 5 5 0 40 5 0 5 10" for name in ("sda", "sda1", "sda2", "dm-0")
    )
    write(root, {"proc/diskstats": active})
    facts = storage_facts(Path("/"), root)
    assert facts["mount_point"] == "/"
    assert facts["fs_kind"] == "disk"
    assert (facts["device"], facts["disk"], facts["subject"]) == ("dm-0", "dm-0", "dm-0")
    assert facts["disks"] == [
        {
            "name": "sda",
            "model": "Fast Flash 960",
            "size_bytes": 1875385008 * 512,
            "rotational": False,
            "scheduler": "none",
            "write_cache": "write back",
            "requests": 1023,
            "read_ahead_bytes": 4096 * 1024,
            "largest_request_bytes": 1280 * 1024,
            "logical_block_bytes": 512,
            "physical_block_bytes": 4096,
            "link": None,
            "link_mbps": None,
        }
    ]
    assert facts["size_bytes"] > facts["free_bytes"] > 0
    # Of a volume group that of the partition below it.
    assert (facts["offset_bytes"], facts["layers"]) == (2048 * 512, [])
    assert (facts["remote"], facts["block_bytes"]) == (False, os.statvfs("/").f_bsize)


def test_a_device_stands_for_itself(tmp_path: Path) -> None:
    root = write(server(tmp_path), {"proc/diskstats": " 9 0 md0 5 0 40 5 5 0 40 5 0 5 10\n"})
    facts = storage_facts(Path("/dev/md0"), root)
    assert (facts["device"], facts["subject"], facts["fs_type"]) == ("md0", "md0", None)
    assert [disk["name"] for disk in facts["disks"]] == ["sdb", "sdc"]
    assert facts.keys() == storage_facts(tmp_path, root).keys()


def test_a_path_that_does_not_exist_yet(tmp_path: Path) -> None:
    assert nearest_existing(tmp_path / "a/b/c") == tmp_path.resolve()
    assert storage_facts(tmp_path / "a/b")["size_bytes"] == storage_facts(tmp_path)["size_bytes"]


def test_a_file_system_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(_path: object) -> os.statvfs_result:
        raise OSError(116, "Stale file handle")

    monkeypatch.setattr(os, "statvfs", stale)
    with pytest.raises(TargetError, match="Stale file handle"):
        storage_facts(tmp_path)


def test_each_byte_is_counted_once(tmp_path: Path) -> None:
    devices = read_devices(server(tmp_path))
    everything = {name for device in devices for name in (device.name, *device.partitions)}
    counted = counted_devices(devices, everything - {"loop1", "zram0"})
    # sda is represented by /boot's partition and the volumes above the other; sdd whole.
    assert counted == ["dm-0", "dm-1", "loop0", "md0", "sda1", "sdd", "sde"]


def test_idle_devices_are_left_out() -> None:
    devices = [WholeDevice("loop0"), WholeDevice("sda"), WholeDevice("zram0")]
    assert counted_devices(devices, {"sda"}) == ["sda"]


@pytest.mark.parametrize(
    ("active", "counted"),
    [
        ({"nvme0n1", "nvme0c0n1"}, ["nvme0n1"]),
        ({"nvme0c0n1", "nvme0c1n1"}, ["nvme0c0n1", "nvme0c1n1"]),
    ],
)
def test_multipath_nvme_is_counted_on_head_or_paths(active: set[str], counted: list[str]) -> None:
    devices = [WholeDevice(name) for name in ("nvme0c0n1", "nvme0c1n1", "nvme0n1")]
    assert counted_devices(devices, active) == counted


def test_nested_devices() -> None:
    assert is_nested("loop7")
    assert is_nested("zd16")
    assert not is_nested("sda")
    assert not is_nested("zram0")
