"""An application against its storage's profile, and two runs side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dyno.analyse import estimate
from dyno.analyse.gap import gap
from dyno.bundle.model import Estimate, TargetFacts
from dyno.bundle.reader import Bundle
from dyno.report.comparison.side_by_side import beside_lines, pairs
from dyno.report.kit.formats import rounded
from tests import bundle_data as data
from tests.bundles import Builder, only_io, quickstart
from tests.process import document, dyno

PROFILE, APPLICATION = "20261120T150000Z-cd34", "20261120T170000Z-0a1b"


def application(out: Path) -> Builder:
    """Queries and transactions on PostgreSQL, without a profile."""
    builder = Builder(out / APPLICATION, verb="run").machine().target("postgresql")
    builder.power("postgresql", data.ROW_SECONDS)
    for row in builder.tables["queries"]:
        row["bytes_read"] = 50_000_000
    return builder.oltp(1).oltp(16)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile, an application on the same device, and a quickstart."""
    out = tmp_path_factory.mktemp("runs")
    only_io(out).write()
    application(out).write()
    quickstart(out).write()
    return out


def test_the_gap_of_queries_and_transactions(kept: Path) -> None:
    done = dyno("compare", PROFILE, APPLICATION, "--json", "--out", kept)
    assert done.returncode == 0, done.stderr
    found = document(done)
    assert (found["run"], found["valid"], found["kind"]) == (APPLICATION, True, "gap")
    assert found["warnings"] == []
    queries, level = found["gap"]
    # 3 reads and 4 writes a second of 8 KiB, as the samples of the power test have it.
    taken = queries["application_mbps"]
    assert taken == pytest.approx(7 * 8192e-6, rel=0.1)
    sequential = data.SEQUENTIAL["sequential_read"][16]
    assert queries["sequential_profile"] == pytest.approx(sequential, rel=0.01)
    assert queries["sequential_share_percent"] == pytest.approx(100 * taken / sequential, rel=0.01)
    assert queries["random_profile"] == pytest.approx(85_300 * 8192e-6, rel=0.01)
    assert queries["engine_read_bytes"] == 22 * 50_000_000
    assert queries["cache_percent"] > 99
    # Of the levels that with most transactions; its mix is 70/30, as no other was measured.
    assert level["title"] == "16 users PostgreSQL"
    assert level["mix_profile"] == pytest.approx(data.MIXED_CURVE[128][0], rel=0.01)
    assert level["mix_profile_depth"] == 128
    share = 100 * level["application_iops"] / level["mix_profile"]
    assert level["mix_share_percent"] == pytest.approx(share)
    assert level["storage_set_the_pace"] is False
    assert "CPU" in level["limit"]


@pytest.mark.parametrize(
    "names", [(PROFILE, APPLICATION), (APPLICATION, PROFILE), ("20261120T14",)]
)
def test_the_gap_fits_a_terminal(kept: Path, names: tuple[str, ...]) -> None:
    done = dyno("compare", *names, "--out", kept)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert lines[0].split()[0] == "Profile"
    text = " ".join(done.stdout.split())
    assert "16 users PostgreSQL: storage was not the bottleneck." in text
    assert "Profile, 70/30 of 8 KiB 50,700" in text


def test_what_the_engine_asked_of_the_system_explains_it(kept: Path) -> None:
    text = " ".join(dyno("compare", PROFILE, APPLICATION, "--out", kept).stdout.split())
    assert "The page cache served 100 % of the 1.10 GB" in text


def elsewhere(builder: Builder) -> None:
    facts = TargetFacts(url="postgresql://db/x", version="PostgreSQL 18.1", place="elsewhere")
    builder.targets["postgresql"] = facts


def other_device(builder: Builder) -> None:
    facts = builder.targets["postgresql"]
    known = facts.model_copy(update={"devices": {"data": ("nvme0n1",)}})
    builder.targets["postgresql"] = known
    for row in builder.tables["samples"]:
        if row["subject"] == "vda":
            row["subject"] = "nvme0n1"
    builder.host["memory"] = {**builder.host["memory"], "total_bytes": data.GIB}


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (elsewhere, 2, "the server is remote"),
        (lambda builder: builder.tables.pop("samples"), 2, "no disk samples"),
        (other_device, 0, "nvme0n1, the profile measured vda, vda1."),
        (other_device, 0, "different machines"),
    ],
)
def test_what_cannot_or_should_not_be_compared(
    tmp_path: Path, kept: Path, change: Callable[[Builder], object], code: int, words: str
) -> None:
    builder = application(tmp_path)
    change(builder)
    other = builder.write().path
    done = dyno("compare", kept / PROFILE, other, "--out", tmp_path)
    assert done.returncode == code, done.stderr
    assert words in " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ((PROFILE,), "neither queries nor transactions"),
        ((APPLICATION,), "no storage profile"),
        ((PROFILE, PROFILE), "same run"),
        ((PROFILE, APPLICATION, "last"), "one run or two"),
        ((PROFILE, "nothing"), "No run 'nothing'"),
    ],
)
def test_wrong_use(kept: Path, names: tuple[str, ...], words: str) -> None:
    done = dyno("compare", *names, "--out", kept)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_two_runs_side_by_side(tmp_path: Path) -> None:
    first = only_io(tmp_path / "a")
    second = only_io(tmp_path / "b")
    second.plan["ceiling_ms"] = 5.0
    for row in second.tables["io"]:
        row["seconds"] *= 2
    second.tables["io"][0]["errors"] = '{"io": 1}'
    paths = [first.write().path, second.write().path]
    # They have the same name: the folder identifies a bundle.
    done = dyno("compare", *paths, "--out", tmp_path)
    assert done.returncode == 1, done.stderr
    assert "INVALID: errors" in done.stdout
    assert "ceiling_ms: 20.0 | 5.0" in done.stdout
    assert "from noise" in " ".join(done.stdout.split())
    lines = done.stdout.splitlines()
    at = lines.index("Random read")
    assert lines[at + 1].split() == ["Best", "load,", "IOPS", "85,300", "42,650", "-50.0", "%"]
    assert lines[at + 2].split()[:5] == ["p95", "at", "the", "best", "load,"]
    assert [one for one in done.stdout.splitlines() if len(one) > 80] == []
    found = json.loads(dyno("compare", *paths, "--json", "--out", tmp_path).stdout)
    assert found["kind"] == "runs"
    assert found["valid"] is False
    assert found["differences"] == {"ceiling_ms": ["20.0", "5.0"]}
    values = {item["name"]: item["change_percent"] for item in found["figures"]}
    assert values["io.random_read.best_iops"] == pytest.approx(-50)


@pytest.mark.parametrize("columns", [80, 140])
def test_levels_are_named_in_words_with_units_and_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    first = Builder(tmp_path / "a").machine().target("postgresql").oltp(1)
    second = Builder(tmp_path / "b").machine().target("postgresql").oltp(1)
    sides = [Bundle.open(one.write().path) for one in (first, second)]
    estimates = [estimate(side) for side in sides]
    found = pairs((sides[0], estimates[0]), (sides[1], estimates[1]))
    lines = beside_lines(sides[0], sides[1], found, columns)
    assert [line for line in lines if len(line) > columns] == []
    text = "\n".join(lines)
    assert "…" not in text
    assert "oltp." not in text
    at = lines.index("1 user PostgreSQL")
    tps = next(one for one in found if one.name == "oltp.users-1.tps")
    assert tps.first_interval is not None
    span = f"{rounded(tps.first_interval[0])} to {rounded(tps.first_interval[1])}"
    rows = lines[at + 1 : at + 3]
    assert rows[0].startswith("  Transactions, 1/s ")
    assert (f"({span})" in rows[0]) == (columns > 80)
    assert (span in rows[1]) == (columns == 80)
    assert any(line.startswith("  New-Order p95, ms ") for line in lines)
    assert tps.document["first_interval"] == tps.first_interval
    assert (tps.document["subject"], tps.document["metric"]) == (
        "1 user PostgreSQL",
        "Transactions, 1/s",
    )


def test_runs_with_nothing_in_common(tmp_path: Path) -> None:
    load = Builder(tmp_path / "one").load("tpch", "postgresql", 3.0, 1.0).write().path
    other = Builder(tmp_path / "two").oltp(4).write().path
    done = dyno("compare", load, other, "--out", tmp_path)
    assert done.returncode == 2
    assert "no metric in common" in done.stderr


def test_a_profile_of_several_volumes_is_that_of_the_device(tmp_path: Path) -> None:
    """And of several fill levels the fullest."""
    profile = only_io(tmp_path)
    phase = profile.phases.pop()
    rows = [row for row in profile.tables["io"] if row["phase"] == "mixed"]
    profile.tables["io"] = []
    for arm, device in (("there", "sdb"), ("here", "vda")):
        facts = {"device": device, "members": [device]}
        detail = {
            **phase.detail,
            "volume": arm,
            "arms": ["there", "here"],
            "targets": [{"name": arm, "kind": "made", "facts": facts}],
            "stages": [{"label": "40 %"}, {"label": "85 %"}],
        }
        profile.phases.append(phase.model_copy(update={"name": f"io-{arm}", "detail": detail}))
        profile.tables["io"] += [
            {**row, "volume": arm, "stage": stage} for stage in (0, 1) for row in rows
        ]
    best = {"there.fill85": 1.0, "here.fill40": 2.0, "here.fill85": 3.0}
    profiled = [
        Estimate(name=f"io.{start}.mixed.{metric}", value=value, unit="")
        for start, iops in best.items()
        for metric, value in (("best_iops", iops), ("best_depth", 64.0))
    ]
    work = application(tmp_path).write()
    values = {one.name: one.value for one in gap(profile.write(), profiled, work, estimate(work))}
    (found,) = [value for name, value in values.items() if name.endswith(".mix_profile")]
    assert found == 3.0
