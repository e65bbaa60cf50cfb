"""Where the files of a target are, by role: its own, those of its partitions, of its backups."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno import targets
from dyno.contracts.layout import Layout, Partition, TableDesign
from dyno.targets.devices import devices, stored
from dyno.targets.null.target import NullTarget


class Kept(NullTarget):
    """A target with files."""

    places: dict[str, list[Path]]

    def storage(self) -> dict[str, list[Path]]:
        return self.places


@pytest.fixture
def target(tmp_path: Path) -> Kept:
    made = Kept(targets.parse("null:"))
    made.places = {"data": [tmp_path], "log": [tmp_path / "wal"], "temp": []}
    return made


def spread(*volumes: str | None) -> Layout:
    parts = tuple(
        Partition(name=f"p{number}", volume=volume) for number, volume in enumerate(volumes)
    )
    tables = {"orders": TableDesign(partition_by="o_orderdate", partitions=parts)}
    return Layout(name="spread", workload="tpch", tables=tables)


def test_each_volume_with_partitions_has_a_role(target: Kept, tmp_path: Path) -> None:
    layout = spread("/srv/b", "/srv/a", "/srv/b", "/srv/a", "tablespace:fast", None)
    found = stored(target, layout, tmp_path / "out")
    assert found == {
        "data": [tmp_path],
        "log": [tmp_path / "wal"],
        "temp": [tmp_path],
        "partition-1": [Path("/srv/b")],
        "partition-2": [Path("/srv/a")],
        "backup": [tmp_path / "out"],
    }


def test_partitions_in_tablespaces_are_where_these_are(target: Kept, tmp_path: Path) -> None:
    target.places["tablespace:fast"] = [tmp_path / "fast"]
    target.places["tablespace:spill"] = [tmp_path / "spill"]
    target.places["data"] = [tmp_path / "data", tmp_path / "fast", tmp_path / "spill"]
    layout = spread("/srv/b", "tablespace:fast").model_copy(update={"temp": "tablespace:spill"})
    found = stored(target, layout)
    assert found == {
        "data": [tmp_path / "data", tmp_path / "fast"],
        "log": [tmp_path / "wal"],
        "temp": [tmp_path / "spill"],
        "partition-1": [Path("/srv/b")],
        "partition-2": [tmp_path / "fast"],
    }


def test_one_volume_for_all_partitions_is_the_data(target: Kept, tmp_path: Path) -> None:
    assert stored(target, spread("/srv/a", "/srv/a")).keys() == {"data", "log", "temp"}
    assert stored(target, spread(None, None)).keys() == {"data", "log", "temp"}


def test_a_server_without_known_files_has_no_roles(target: Kept, tmp_path: Path) -> None:
    target.places = {}
    assert stored(target, spread("/srv/a", "/srv/b"), tmp_path) == {}
    assert devices(target, {}) == {
        "devices": {},
        "disks": {},
        "volumes": {},
        "device_notes": (),
    }


def test_a_tablespace_of_temporary_files_is_not_of_the_data(target: Kept, tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    target.places = {"data": [tmp_path / "data", volume / "dyno-1" / "PG_18"]}
    layout = Layout(name="apart", workload="tpch", temp=str(volume))
    assert stored(target, layout) == {"data": [tmp_path / "data"], "temp": [volume]}
    both = layout.model_copy(update={"data": str(volume)})
    assert stored(target, both)["data"] == target.places["data"]
