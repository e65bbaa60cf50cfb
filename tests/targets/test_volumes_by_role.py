"""A private PostgreSQL with its log and its temporary files on other devices, end to end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dyno.host.storage import storage_facts
from tests.process import document, dyno
from tests.targets.loops import mounted


@pytest.fixture
def places() -> Iterator[Path]:
    with mounted("log", "temp") as home:
        yield home


@pytest.mark.long
def test_log_and_temporary_files_are_measured_apart(places: Path) -> None:
    layout = places / "apart.toml"
    log, temp = places / "log", places / "temp"
    layout.write_text(f'[volumes]\nlog = "{log}"\ntemp = "{temp}"\n', encoding="utf-8")
    common = ("--target", "embedded:postgresql", "--out", str(places / "out"))
    dyno("load", "tpcc", *common, "--scale", "1", "--layout", str(layout))
    ran = dyno("run", "tpcc", *common, "--users", "2", "--warmup", "1s", "--duration", "6s",
               "--json")  # fmt: skip
    made = document(ran)
    devices = made["devices"]["postgresql"]
    assert devices["log"] == [storage_facts(log)["subject"]]
    assert devices["temp"] == [storage_facts(temp)["subject"]]
    assert not {*devices["log"], *devices["temp"]} & set(devices.get("data", ()))
    (entry,) = [one for one in made["volumes"] if one["roles"] == ["log"]]
    # Each commit syncs the log; nothing reads it.
    assert entry["write_iops"] > 1
    assert not entry["read_iops"]
    assert entry["write_ms"] > 0
    assert entry["write_bytes"] >= 4096
    assert 0 < entry["fill_percent"] < 100
