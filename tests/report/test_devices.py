"""The devices that a report, a summary and a document show are those of the database under test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.model import TargetFacts
from dyno.decide.judge import definitions
from dyno.report import document, run_report, summary
from dyno.report.run import series
from tests.bundles import Builder, only_io
from tests.judged import Judged, judged
from tests.report.html import Page

DISK = {"name": "vdb", "model": "Quick disk", "size_bytes": 10**12, "rotational": False}


def built(path: Path, **fields: Any) -> Judged:
    """A run whose output folder lies on vda, with what the facts say of its database."""
    builder = Builder(path / "run", verb="run").machine()
    facts = {
        "url": "postgresql://bench@/x", "version": "PostgreSQL 16.4", "place": "machine", **fields
    }  # fmt: skip
    builder.targets["postgresql"] = TargetFacts.model_validate(facts)
    builder.oltp(4)
    moved: list[dict[str, Any]] = []
    for place, name in enumerate(("vdb", "vdc"), start=1):
        moved += [
            {**row, "subject": name, "value": row["value"] / 2**place}
            for row in builder.tables["samples"]
            if row["source"] == "disk"
        ]
    builder.tables["samples"] += moved
    return judged(builder.write())


def page(found: Judged) -> Page:
    return Page(run_report(found.bundle, found.estimates, found.findings, definitions()))


def means(found: Judged, phase: str = "TPC-C-derived, 4 users") -> list[dict[str, str]]:
    head, *rows = page(found).table("Volumes by phase")
    named = [dict(zip(head, row, strict=True)) for row in rows]
    return [row for row in named if row.pop("Phase") == phase]


def first_line(found: Judged) -> str:
    return summary(found.bundle, found.estimates, found.findings)[0]


def written(found: Judged) -> dict[str, Any]:
    return document(found.bundle, found.estimates, found.findings)


def test_data_and_log_have_a_row_each(tmp_path: Path) -> None:
    devices = {"data": ("vdb",), "log": ("vdc",), "temp": ("vdb",)}
    found = built(tmp_path, devices=devices, disks={"vdb": (DISK,)})
    data, log = means(found)
    assert (data["Device"], log["Device"]) == ("vdb", "vdc")
    assert (data["Role"], log["Role"]) == ("data, temp", "log")
    for row, name in ((data, "vdb"), (log, "vdc")):
        value = found.value(f"resource.oltp-tpcc-postgresql-users-4.disk.{name}.write_iops.mean")
        assert row["Write IOPS"] == f"{value:,.0f}"
    text = page(found).section("machine").text
    assert "data and temporary files on vdb, log on vdc; vdb, Quick disk" in text
    assert "Device of the output folder" in text
    assert "data vdb, log vdc" in first_line(found)
    assert written(found)["devices"] == {"postgresql": devices}


def test_files_are_listed_by_file_system(tmp_path: Path) -> None:
    apart = {"mount_point": "/log", "fs_type": "xfs", "device": "vdc", "layers": ["LVM", "raid1"],
             "size_bytes": 4 * 10**12, "free_bytes": 10**12}  # fmt: skip
    shared = {"mount_point": "/", "device": "vdb", "size_bytes": "big", "free_bytes": -1}
    found = built(tmp_path, volumes={"data": shared, "log": apart, "temp": shared})
    _, first, second = page(found).table("Where the files are")
    assert first[1:] == ["data, temporary files", "/", "–", "vdb", "none", "–", "–", "–"]
    assert second[1:] == [
        "log",
        "/log",
        "xfs",
        "vdc",
        "LVM on raid1",
        "4\u202fTB",
        "1\u202fTB",
        "25",
    ]


def test_a_log_on_a_device_that_lies_on_another_is_shown_and_judged(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine().target("postgresql")
    facts = builder.targets["postgresql"]
    devices = {"data": ("vda",), "log": ("loop0",)}
    builder.targets["postgresql"] = facts.model_copy(update={"devices": devices})
    builder.plan = {"criteria": [{"text": "log_write < 5 ms", "source": "asked for"}]}
    builder.oltp(4)
    disks = [row for row in builder.tables["samples"] if row["source"] == "disk"]
    nested = {"source": "nested_disk"}
    builder.tables["samples"] += [
        {**row, **nested, "subject": name} for row in disks for name in ("loop0", "loop1")
    ]
    found = judged(builder.write())
    data, log = means(found)
    assert {**log, "Device": "vda", "Role": "data"} == {
        **data,
        **{name: "" for name in log if not log[name]},
    }
    (result,) = [item.result for item in found.findings if item.result]
    assert (result.passed, result.note.endswith("loop0")) == (True, True)
    # Whose bytes reach another device, too: none but the database's own is among the estimates.
    assert not [name for name in found.names() if "loop1" in name]


def test_what_is_not_known_is_said_and_not_guessed(tmp_path: Path) -> None:
    note = "the role bench may not read data_directory"
    found = built(tmp_path, device_notes=(note,))
    (row,) = means(found)
    assert row["Device"] == "unknown"
    assert {row[name] for name in ("Write IOPS", "Busy, %", "Write ms")} == {"–"}
    assert note in page(found).section("machine").text
    assert "unknown device" in first_line(found)
    assert "vda" not in first_line(found)
    assert written(found)["devices"] == {"postgresql": None}
    assert written(found)["device_notes"] == {"postgresql": [note]}


def test_the_device_of_a_server_elsewhere_is_not_that_of_this_machine(tmp_path: Path) -> None:
    found = built(tmp_path, place="elsewhere", devices={"data": ("vda",)})
    assert [row["Device"] for row in means(found)] == ["unknown"]
    assert written(found)["devices"] == {"postgresql": None}


@pytest.mark.parametrize("layout", [None, {"name": "two volumes"}])
def test_an_old_bundle_has_the_output_folders_device_for_what_lies_there(
    tmp_path: Path, layout: Any
) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine().target("postgresql")
    builder.plan = {"layout": layout}
    found = judged(builder.oltp(4).write())
    assert means(found)[0]["Device"] == ("vda" if layout is None else "unknown")


def test_a_storage_profile_has_the_device_of_its_volume(tmp_path: Path) -> None:
    assert [
        row["Device"] for row in means(judged(only_io(tmp_path).write()), "Storage profile")
    ] == ["vda"]
    builder = only_io(tmp_path / "other")
    targets = [{"name": "/mnt/x", "kind": "made", "facts": {"device": "vdb", "members": ["vdb"]}}]
    builder.phases[-1].detail.update(targets=targets, subjects=[{}])
    found = judged(builder.write())
    assert [row["Device"] for row in means(found, "Storage profile")] == ["vdb"]


@pytest.mark.parametrize(
    ("rates", "shown"),
    [
        ((90.0, 2.0, 0.0, 0.0), ["eth1", "90", "2", "0", "0"]),
        ((0.2, 0.1, 0.0, 0.5), ["eth1", "0.200", "0.100", "0", "0.500"]),
        ((0.2, 0.1, 0.0, 0.0), None),
    ],
)
def test_network_traffic_is_listed(
    tmp_path: Path, rates: tuple[float, ...], shown: list[str] | None
) -> None:
    builder = Builder(tmp_path / "run").machine().target("postgresql").oltp(4)
    busy = [row for row in builder.tables["samples"] if row["metric"] == "busy"]
    names = ("receive_mbps", "send_mbps", "errors", "drops")
    builder.tables["samples"] += [
        {**row, "source": "interface", "subject": "eth1", "metric": name, "value": value}
        for row in busy
        for name, value in zip(names, rates, strict=True)
    ]
    tables = page(judged(builder.write()))
    if shown is None:
        with pytest.raises(AssertionError, match="no table"):
            tables.table("Network interfaces")
    else:
        (row,) = tables.table("Network interfaces")[1:]
        assert row[1:] == shown


def test_samples_of_another_machine_are_found(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", "run").machine().oltp(4)
    start = builder.phases[-1].start_ns
    row = {"subject": "host", "metric": "busy", "unit": "%"}
    builder.tables["samples"] += [
        {**row, "t_ns": start + second * 10**9, "source": "cpu@db1", "value": 70.0 + second}
        for second in range(3)
    ]
    found = series.sampled(builder.write(), [("cpu", "busy")], "db1")
    assert found["cpu", "host", "busy"].values == [70.0, 71.0, 72.0]
