from __future__ import annotations

import json
from pathlib import Path

import pytest

from dyno.contracts.probe import Sample, UnavailableError
from dyno.host.diskstats import DiskCounters, parse_diskstats
from dyno.stages.observe.disk import open_probe, samples
from tests.host.machine import add_disk, server, write

SECOND = 1_000_000_000
RECORDED = Path(__file__).parent / "recorded"
ZERO = DiskCounters(0, 0, 0, 0, 0, 0, 0, 0)


def line(name: str, c: DiskCounters, columns: int = 20) -> str:
    """A line of diskstats: 14 columns before Linux 4.18, 18 before 5.5, 20 since."""
    words = [8, 0, name, c.reads, 9, c.read_sectors, c.read_ms, c.writes, 9, c.write_sectors]
    words += [c.write_ms, 3, c.busy_ms, c.weighted_ms, 1, 2, 3, 4, 5, 6]
    return " ".join(str(word) for word in words[:columns]) + "\n"


def metrics(rows: list[Sample]) -> dict[str, object]:
    return {row.metric: pytest.approx(row.value) for row in rows}


@pytest.mark.parametrize("columns", [14, 18, 20])
def test_diskstats_of_several_kernels(columns: int) -> None:
    counters = DiskCounters(1, 2, 3, 4, 5, 6, 7, 8)
    text = line("sda", counters, columns) + "   8       1 sda1 10 20 30 40\n"
    assert parse_diskstats(text) == {"sda": counters}


def test_values_of_one_device() -> None:
    before = DiskCounters(1000, 16000, 500, 2000, 64000, 4000, 9000, 12000)
    after = DiskCounters(1700, 27200, 1200, 2300, 73600, 4900, 9500, 13600)
    rows = samples("sda", before, after, 2.0)
    assert {(row.source, row.subject) for row in rows} == {("disk", "sda")}
    assert metrics(rows) == {
        "read_iops": 350.0,
        "write_iops": 150.0,
        "read_mbps": 11200 * 512 / 2e6,
        "write_mbps": 9600 * 512 / 2e6,
        "read_share": 70.0,
        "io_size": 20800 * 512 / 1000,
        "read_size": 8192.0,
        "write_size": 16384.0,
        "read_await": 1.0,
        "write_await": 3.0,
        "queue_length": 0.8,
        "utilisation": 25.0,
    }


def test_without_requests_there_are_no_means() -> None:
    counters = DiskCounters(5, 40, 5, 5, 40, 5, 10, 10)
    assert metrics(samples("sda", counters, counters, 1.0)) == {
        "read_iops": 0.0,
        "write_iops": 0.0,
        "read_mbps": 0.0,
        "write_mbps": 0.0,
        "queue_length": 0.0,
        "utilisation": 0.0,
    }


def test_a_request_in_flight_all_the_time_shows_before_it_ends() -> None:
    before = DiskCounters(5, 40, 5, 5, 40, 5, 10, 10)
    after = DiskCounters(5, 40, 5, 5, 40, 5, 1013, 1010)
    found = metrics(samples("sda", before, after, 1.0))
    assert found["utilisation"] == 100.0
    assert found["queue_length"] == 1.0
    assert "read_await" not in found


def test_times_wrap_at_32_bits() -> None:
    near = (1 << 32) - 100
    before = DiskCounters(100, 800, near, 100, 800, near, near, near)
    after = DiskCounters(200, 1600, 100, 200, 1600, 300, 150, 400)
    found = metrics(samples("sda", before, after, 1.0))
    assert found["read_await"] == 2.0
    assert found["write_await"] == 4.0
    assert found["queue_length"] == 0.5
    assert found["utilisation"] == 25.0


def test_a_name_taken_by_another_device_gives_no_value() -> None:
    assert samples("sdb", DiskCounters(900, 9, 9, 9, 9, 9, 9, 9), ZERO, 1.0) == []


def test_a_driver_that_keeps_no_times_gives_no_latency() -> None:
    """As md did before Linux 5.14."""
    after = DiskCounters(100, 800, 0, 0, 0, 0, 0, 0)  # reads only
    found = metrics(samples("md0", ZERO, after, 1.0))
    assert found.keys() == {
        "read_iops",
        "write_iops",
        "read_mbps",
        "write_mbps",
        "read_share",
        "io_size",
        "read_size",
    }


BUSY = DiskCounters(100, 800, 10, 100, 800, 10, 20, 20)
MORE = DiskCounters(200, 1600, 20, 200, 1600, 20, 40, 40)


def show(root: Path, **devices: DiskCounters) -> Path:
    text = "".join(line(name.replace("_", "-"), c) for name, c in devices.items())
    return write(root, {"proc/diskstats": text})


def test_partitions_volumes_and_mirrors_count_each_byte_once(tmp_path: Path) -> None:
    root = server(tmp_path)
    names = ("sda", "sda1", "sda2", "dm_0", "dm_1", "sdb", "sdc", "md0", "sdd", "sdd1", "loop0")
    idle = {"loop1": ZERO, "zram0": ZERO}
    probe = open_probe(show(root, **dict.fromkeys(names, BUSY), **idle))
    assert probe.read(0) == []
    show(root, **dict.fromkeys(names, MORE), **idle)
    subjects = {(row.source, row.subject) for row in probe.read(SECOND)}
    assert subjects == {
        ("disk", "sda1"),
        ("disk", "dm-0"),
        ("disk", "dm-1"),
        ("disk", "md0"),
        ("disk", "sdd"),
        ("nested_disk", "loop0"),
    }


def test_devices_come_and_go(tmp_path: Path) -> None:
    add_disk(tmp_path, "sda", "8:0")
    add_disk(tmp_path, "sdb", "8:16")
    probe = open_probe(show(tmp_path, sda=BUSY, sdb=BUSY))
    probe.read(0)
    show(tmp_path, sda=MORE)
    assert {row.subject for row in probe.read(SECOND)} == {"sda"}
    add_disk(tmp_path, "sdc", "8:32")
    show(tmp_path, sda=MORE, sdc=BUSY)
    assert {row.subject for row in probe.read(2 * SECOND)} == {"sda"}  # sdc: first reading
    show(tmp_path, sda=MORE, sdc=MORE)
    assert {row.subject for row in probe.read(3 * SECOND)} == {"sda", "sdc"}


def test_a_device_built_during_the_run_takes_the_place_of_its_members(tmp_path: Path) -> None:
    add_disk(tmp_path, "sda", "8:0")
    probe = open_probe(show(tmp_path, sda=BUSY))
    probe.read(0)
    add_disk(tmp_path, "dm-0", "253:0", on=("sda",))
    show(tmp_path, sda=MORE, dm_0=BUSY)
    assert probe.read(SECOND) == []
    show(tmp_path, sda=MORE, dm_0=MORE)
    assert {row.subject for row in probe.read(2 * SECOND)} == {"dm-0"}


def test_rates_use_the_time_that_really_passed(tmp_path: Path) -> None:
    add_disk(tmp_path, "sda", "8:0")
    probe = open_probe(show(tmp_path, sda=BUSY))
    probe.read(7 * SECOND)
    show(tmp_path, sda=MORE)
    assert metrics(probe.read(11 * SECOND))["read_iops"] == 25.0


def test_counters_without_sys_are_of_no_use(tmp_path: Path) -> None:
    probe = open_probe(show(tmp_path, sda=BUSY))
    with pytest.raises(UnavailableError, match="sys/block is missing"):
        probe.read(0)


def test_a_recorded_machine(tmp_path: Path) -> None:
    """Linux 6.18: a virtio disk, unused zram, and files on it as loop devices, one under load."""
    found = json.loads((RECORDED / "virtio-loop.json").read_text(encoding="utf-8"))
    for folder in found["folders"]:
        (tmp_path / folder).mkdir(parents=True)
    before, after = ("\n".join(lines) for lines in found["diskstats"])
    write(tmp_path, {**found["files"], "proc/diskstats": before})
    (tmp_path / "sys/block").mkdir()
    for link, target in found["links"].items():
        (tmp_path / link).symlink_to(target)
    probe = open_probe(tmp_path)
    assert probe.read(0) == []
    write(tmp_path, {"proc/diskstats": after})
    rows = probe.read(round(found["seconds"] * SECOND))
    used = {(row.source, row.subject) for row in rows}
    assert used == {("disk", "vda"), *(("nested_disk", f"loop{number}") for number in range(4))}
    loop, disk = (
        {row.metric: row.value for row in rows if row.subject == name} for name in ("loop0", "vda")
    )
    # From the differences of the fields, by hand.
    assert {name: round(value, 3) for name, value in loop.items()} == {
        "read_iops": 0.0,
        "write_iops": 238.399,
        "read_mbps": 0.0,
        "write_mbps": 7.468,
        "read_share": 0.0,
        "io_size": 31326.736,
        "write_size": 31326.736,
        "write_await": 2.678,
        "queue_length": 1.179,
        "utilisation": 65.423,
    }
    assert disk["read_await"] == pytest.approx(129 / 70)
    assert disk["write_await"] == pytest.approx(251 / 1223)
    # What is written to the file of a loop device is written to its disk, too.
    assert disk["write_mbps"] > loop["write_mbps"]


def test_nvme_disks_have_the_names_of_their_machines(tmp_path: Path) -> None:
    add_disk(tmp_path, "nvme0n1", "259:0", partitions={"nvme0n1p1": "259:1"})
    names = ("nvme0n1", "nvme0n1p1")
    probe = open_probe(show(tmp_path, **dict.fromkeys(names, BUSY)))
    probe.read(0)
    show(tmp_path, **dict.fromkeys(names, MORE))
    rows = probe.read(SECOND)
    assert {(row.source, row.subject) for row in rows} == {("disk", "nvme0n1")}
    assert {row.value for row in rows if row.metric in ("read_size", "write_size")} == {4096.0}


def test_two_hundred_disks_have_all_metrics_each(tmp_path: Path) -> None:
    names = [f"sd{first}{second}" for first in "abcdefgh" for second in "abcdefghijklmnopqrstuvwxy"]
    for number, name in enumerate(names):
        add_disk(tmp_path, name, f"{number // 16}:{number}")
    probe = open_probe(show(tmp_path, **dict.fromkeys(names, BUSY)))
    probe.read(0)
    after = {name: DiskCounters(100 + place, 800 + 16 * place, 10 + 3 * place, 100, 800, 10, 20, 20)
             for place, name in enumerate(names, 1)}  # fmt: skip
    show(tmp_path, **after)
    found: dict[str, dict[str, float]] = {}
    for row in probe.read(SECOND):
        found.setdefault(row.subject, {})[row.metric] = row.value
    assert list(found) == sorted(names)
    for place, name in enumerate(names, 1):
        assert found[name]["read_iops"] == place
        assert (found[name]["read_size"], found[name]["read_await"]) == (8192, 3)
        assert "write_size" not in found[name]
