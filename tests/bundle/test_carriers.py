"""Which device carries what, and what the devices cannot tell apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno.bundle.carriers import by_device, of_target, told_apart
from dyno.bundle.model import Run
from tests.bundles import Builder

Devices = dict[str, tuple[str, ...]]


def run(path: Path, devices: Devices) -> Run:
    builder = Builder(path / "run", verb="run").machine().target("postgresql")
    facts = builder.targets["postgresql"]
    builder.targets["postgresql"] = facts.model_copy(update={"devices": devices})
    return builder.oltp(4).write().run


def test_roles_are_in_order_and_unknown_ones_are_left_out(tmp_path: Path) -> None:
    devices: Devices = {
        "backup": ("vde",), "temp": ("vdd",), "partition-10": ("vdc",), "log": ("vdd",),
        "partition-2": ("vdb",), "data": ("vda", "vdb", "vdc"), "other": ("vdx",), "flash": (),
        "partition-0": ("vdx",),
    }  # fmt: skip
    found = run(tmp_path, devices)
    assert list(of_target(found, "postgresql")) == [
        "data", "partition-2", "partition-10", "log", "temp", "backup",
    ]  # fmt: skip
    (phase,) = [one for one in found.phases if one.kind == "oltp"]
    assert by_device(found, phase) == {
        "vda": ("data",), "vdb": ("data", "partition-2"), "vdc": ("data", "partition-10"),
        "vdd": ("log", "temp"), "vde": ("backup",),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("devices", "apart"),
    [
        ({"data": ("a",), "log": ("a",), "temp": ("a",)}, ["data"]),
        ({"data": ("a",), "log": ("b",), "temp": ("a",)}, ["data", "log"]),
        ({"data": ("a", "b"), "log": ("b", "c"), "temp": ("c",)}, ["data", "temp"]),
        ({"data": ("a", "b"), "partition-1": ("a",), "partition-2": ("b",)},
         ["data", "partition-1", "partition-2"]),
        ({"data": ("a", "b"), "partition-1": ("a",), "partition-2": ("a",)}, ["data"]),
        ({"data": ("a", "b"), "partition-1": ("b",), "log": ("b",)}, ["data"]),
        ({"log": ("a",)}, ["log"]),
    ],
)  # fmt: skip
def test_io_of_a_shared_device_counts_for_the_first_role(
    tmp_path: Path, devices: Devices, apart: list[str]
) -> None:
    found = told_apart(run(tmp_path, devices), "postgresql")
    assert found == {role: devices[role] for role in apart}
