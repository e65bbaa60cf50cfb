from __future__ import annotations

from pathlib import Path

from dyno.host.files import chosen, read_int
from dyno.host.memory import available_bytes, memory_facts, parse_meminfo, swap_used_bytes
from dyno.host.system import clock_facts, os_facts, parse_os_release
from tests.host.machine import MEMINFO, MEMINFO_3_10, write


def test_meminfo_in_bytes_and_counts() -> None:
    fields = parse_meminfo(MEMINFO)
    assert fields["MemTotal"] == 16384000 * 1024
    assert fields["HugePages_Total"] == 512
    assert available_bytes(fields) == 8192000 * 1024
    assert swap_used_bytes(fields) == 1048576 * 1024


def test_available_memory_before_linux_3_14() -> None:
    assert available_bytes(parse_meminfo(MEMINFO_3_10)) == 5124000 * 1024
    assert available_bytes({}) is None


def test_memory_facts(tmp_path: Path) -> None:
    thp = "sys/kernel/mm/transparent_hugepage/enabled"
    write(tmp_path, {"proc/meminfo": MEMINFO, thp: "[always] madvise never\n"})
    facts = memory_facts(tmp_path)
    assert facts["transparent_huge_pages"] == "always"
    assert facts["huge_page_bytes"] == 2 * 1024 * 1024
    assert facts["huge_pages_free"] == 256


def test_memory_is_known_without_proc(tmp_path: Path) -> None:
    assert memory_facts(tmp_path)["total_bytes"] > 0


def test_os_release() -> None:
    text = '# comment\nID=rocky\nVERSION_ID="9.4"\nPRETTY_NAME=\'Rocky Linux 9\'\nX="open\nblank\n'
    values = parse_os_release(text)
    assert values["ID"] == "rocky"
    assert values["VERSION_ID"] == "9.4"
    assert values["PRETTY_NAME"] == "Rocky Linux 9"
    assert values["X"] == '"open'


def test_os_release_in_its_second_place(tmp_path: Path) -> None:
    assert os_facts(write(tmp_path, {"usr/lib/os-release": "ID=arch\nNAME=Arch\n"})) == {
        "id": "arch",
        "version": None,
        "name": "Arch",
    }


def test_clocksource(tmp_path: Path) -> None:
    base = "sys/devices/system/clocksource/clocksource0"
    texts = {f"{base}/current_clocksource": "hpet\n", f"{base}/available_clocksource": "tsc hpet\n"}
    assert clock_facts(write(tmp_path, texts)) == {"source": "hpet", "available": ["tsc", "hpet"]}
    assert clock_facts(tmp_path / "nothing") == {"source": None, "available": []}


def test_chosen() -> None:
    assert chosen("always [madvise] never") == "madvise"
    assert chosen("none") == "none"
    assert chosen("a b") is None
    assert chosen("") is None
    assert chosen(None) is None


def test_numbers_that_are_none(tmp_path: Path) -> None:
    write(tmp_path, {"a": "12\n", "b": "twelve\n"})
    assert read_int(tmp_path / "a") == 12
    assert read_int(tmp_path / "b") is None
    assert read_int(tmp_path / "c") is None
