"""Storage profiles of several volumes, fill levels, rates, jobs: report, summary and document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from dyno.report import document, summary
from dyno.report.storage import tables
from tests.bundles import Builder
from tests.judged import Judged, judged
from tests.report.conftest import Report, report_of
from tests.report.test_hostile import EVIL, evil
from tests.storage_rows import Row, bundle, rising, step, target

NARROW = "\N{NARROW NO-BREAK SPACE}"
SEQUENTIAL = {"curve": "sequential_read_256k", "pattern": "sequential", "block": 262_144}
CURVE_METRICS = {"sequential_read_256k": "mbps"}


def searched(best: int, **more: Any) -> list[Row]:
    """A search that went to twice the best depth, came back, and confirmed it twice."""
    asked = [(best // 2, "grow"), (best * 2, "grow"), *[(best, "narrow"), (best, "confirm")]]
    rates = [9000.0, 14_000.0, 12_300.0, 12_345.0, 12_390.0]
    return [
        step(rate, depth=depth, purpose=purpose, level=level, median=depth / 4,
             inside=depth <= best, **more)
        for level, ((depth, purpose), rate) in enumerate(
            zip([*asked, (best, "confirm")], rates, strict=True)
        )
    ]  # fmt: skip


def together(
    arm: str, jobs: Sequence[str], *, depth: int = 12, level: int = 0
) -> tuple[list[Row], list[Row]]:
    """A step of several jobs on the volumes of an arm, with its parts."""
    volumes = arm.split("+")
    shape: dict[str, Any] = {"curve": "database", "pattern": None, "block": None, "reads": None,
                             "level": level}  # fmt: skip
    parts = [step(4000.0, arm=arm, volume=name, **shape) for name in volumes]
    logs = {job: 800.0 if job == "log" else 0.0 for job in jobs}
    rates = {job: 800.0 if job == "log" else 4000.0 for job in jobs}
    for places in ([None], volumes):
        parts += [
            step(rates[job] / len(places), arm=arm, volume=place, job=job, curve="database",
                 reads=0 if job == "log" else 70, syncs=logs[job] / len(places), level=level)
            for place in places
            for job in jobs
        ]  # fmt: skip
    whole = step(sum(rates.values()), arm=arm, depth=depth, syncs=sum(logs.values()), **shape)
    return [whole], parts


def results(builder: Builder) -> tuple[Judged, list[str], list[dict[str, Any]]]:
    """A run judged, the lines of its storage, and the curves of its document."""
    found = judged(builder.write())
    lines = summary(found.bundle, found.estimates, found.findings)
    assert all(len(line) <= 80 and line.isprintable() for line in lines)
    made = document(found.bundle, found.estimates, found.findings)
    json.dumps(made, allow_nan=False)
    start = next(at for at, line in enumerate(lines) if line.startswith("Storage"))
    end = next(at for at, line in enumerate(lines) if line.startswith("Checks"))
    return found, [line[14:] for line in lines[start:end]], made["io"]["curves"]


def captions(report: Report) -> list[str]:
    return [item.text for item in report.page.section("storage").all("figcaption")]


def test_a_search(tmp_path: Path) -> None:
    why = {"random_read_8k": {"0": {"stopped": "most"}}}
    found, lines, curves = results(bundle(tmp_path, searched(24), searches=why))
    assert lines == [
        "Random read, 8 KiB: 12,345 IOPS (12,233–12,457) at depth 24 within",
        "  20 ms, confirmed twice, the largest load allowed",
    ]
    (curve,) = curves
    assert (curve["best"], curve["best_depth"], curve["confirmed"]) == (12_345, 24, 2)
    assert curve["best_interval"] == pytest.approx([12_233.2, 12_456.8], abs=0.1)
    assert curve["stopped"] == "most"
    assert [load["depth"] for load in curve["loads"]] == [12, 24, 48]
    report = report_of(found)
    assert "the largest allowed load" in report.page.section("storage").text
    assert f"95{NARROW}%: 12,233 to 12,457" in report.page.section("headlines").text


@pytest.mark.usefixtures("drawn")
def test_arms_against_the_first(tmp_path: Path) -> None:
    rows = [
        row
        for repeat in (1, 2)
        for arm, share in (("raid10", 1.0), ("raid6", 0.67))
        for row in [
            *rising(40_000 * share, (8, 64), arm=arm, repeat=repeat),
            *rising(4000 * share, (1, 8), arm=arm, repeat=repeat, **SEQUENTIAL),
        ]
    ]
    found, lines, curves = results(bundle(tmp_path, rows, how="compare", figures=CURVE_METRICS))
    assert lines[0].split() == ["IOPS,", "p95", "<=", "20", "ms", "raid10", "raid6"]
    assert lines[1].split() == ["8K", "random", "read", "36,572", "24,503"]
    assert lines[2].split() == ["0.67x", "(0.67–0.67)"]
    assert lines[2].endswith(")") and len(lines[2]) == len(lines[1])  # under its column
    assert lines[-3].split() == ["256K", "seq.", "read", "599", "401"]
    assert lines[-1] == "in brackets: 95 % interval"
    assert not [line for line in lines if "~" in line]
    slow = next(curve for curve in curves if curve["arm"] == "raid6")
    assert slow["ratio"] == pytest.approx(0.67, rel=1e-3)
    assert slow["ratio_interval"] == pytest.approx([0.67, 0.67], rel=1e-3)

    report = report_of(found)
    said = report.page.root.all("div", class_="verdict")[0].text
    assert f"random read, 8{NARROW}KiB: 36,572 (raid10), 24,503 (raid6) IOPS." in said
    section = report.page.section("storage")
    assert [item.text for item in section.all("h3", class_="part")] == ["raid10", "raid6"]
    assert sum(text.startswith("Best of each curve by volume") for text in captions(report)) == 2
    assert any("256K seq. read" in item.text for item in section.all("svg"))
    table = report.page.table("Best of each curve by volume")
    assert table[2][:3] == [f"Random read, 8{NARROW}KiB", "raid6", "24,503"]
    assert table[2][-1] == "0.67 × (0.67 to 0.67)"
    assert "Measured on 2 volumes: raid10, raid6, with direct I/O" in section.text
    facts = {fact.all("dt")[0].text: fact.all("dd")[0].text for fact in section.all("div")
             if fact.all("dt")}  # fmt: skip
    assert facts["raid6"] == (
        f"a test file of 4{NARROW}GiB in /mnt/raid6, xfs (rw, noatime), on "
        "nvme-raid6n1 Example 990, not rotational, write cache: write back"
    )
    assert "Storage of raid6" in report.page.section("headlines").text


def test_a_difference_that_may_be_chance_is_marked(tmp_path: Path) -> None:
    rates = {"a": (1000.0, 1010.0, 1005.0), "b": (1040.0, 990.0, 1030.0), "c": (90.0, 91.0, 90.0)}
    rows = [
        step(rate, arm=arm, repeat=at + 1)
        for arm, own in rates.items()
        for at, rate in enumerate(own)
    ]
    _, lines, _ = results(bundle(tmp_path, rows, how="compare"))
    assert lines[1].split()[3:] == ["1,005", "1,020"]
    assert lines[2].split() == ["1.01x~", "(0.94–1.10)"]
    assert lines[5].split() == ["0.09x", "(0.09–0.09)"]
    assert lines[6] == "in brackets: 95 % interval; ~ not significant"


def test_a_column_without_differences_leaves_no_line_empty() -> None:
    wide = "0.63x~ (0.00–7,173,000)"
    lines = tables.table("MB/s", ["a", "b"], [("read", ["1", "2"]), ("", ["", wide])])
    assert [line.split() for line in lines] == [
        ["MB/s", "a"], ["read", "1"], ["MB/s", "b"], ["read", "2"], wide.split(),
    ]  # fmt: skip


def test_what_nothing_kept_is_said_first(tmp_path: Path) -> None:
    rows = [step(100.0, inside=False)]
    report = report_of(judged(bundle(tmp_path, rows).write()))
    said = report.page.root.all("div", class_="verdict")[0].text
    assert f"Random read, 8{NARROW}KiB: nothing within 20{NARROW}ms." in said
    assert f"nothing within 20{NARROW}ms" in report.page.section("headlines").text


def test_of_many_arms_and_curves_the_terminal_leaves_out_the_intervals(tmp_path: Path) -> None:
    rows = [
        step(1000.0 * share * noise, arm=arm, repeat=repeat, curve=f"c{curve}", block=curve << 12)
        for arm, share in (("a", 1.0), ("b", 1.01), ("c", 0.5))
        for repeat, noise in enumerate((1.0, 1.05, 0.95 if arm == "b" else 1.0), 1)
        for curve in range(1, 15)
    ]
    _, lines, _ = results(bundle(tmp_path, rows, how="compare"))
    assert len(lines) == 1 + 14 + 1
    assert lines[1].split()[3:] == ["1,017", "1,010", "0.99x~", "508", "0.50x"]
    assert lines[-1] == "~ not significant: its 95 % interval includes zero"


def test_fill_levels(tmp_path: Path) -> None:
    rows = [
        step(rate, stage=stage, curve=f"random_read_{kib}k", block=kib << 10)
        for stage, share in enumerate((1.0, 0.85, 0.83))
        for kib, rate in ((8, 40_000 * share), (64, 9000 * share))
    ]
    found, lines, curves = results(bundle(tmp_path, rows, stages=["40 %", "62 %", "85 %"]))
    assert lines[0].split()[5:] == ["40", "%", "full", "62", "%", "full", "85", "%", "full"]
    assert lines[1].split()[3:] == ["40,000", "34,000", "-15.0%", "33,200", "-17.0%"]
    assert lines[-1] == "measured once: differences may be noise, see --repeat"
    last = curves[-1]
    assert (last["fill"], last["name"]) == ("85 %", "random_read_64k")
    assert last["change_percent"] == pytest.approx(-17)
    report = report_of(found)
    assert report.page.table("Best of each curve by fill level")[2][1:] == [
        "62 % full", "34,000", "–", "IOPS", "−15.0 %",
    ]  # fmt: skip
    assert len(report.page.table("All points at 62 % full: rates")) == 3
    # MB/s over the block size, once for each level.
    assert (
        sum("MB/s at the maximum IOPS within the ceiling" in text for text in captions(report)) == 3
    )


def test_more_volumes_at_once(tmp_path: Path) -> None:
    rows = [
        row
        for arm, share in (("a", 1.0), ("a+b", 1.9), ("a+b+c", 2.4))
        for row in rising(20_000 * share, (8, 32), arm=arm)
    ]
    members = {arm: arm.split("+") for arm in ("a", "a+b", "a+b+c")}
    found, lines, curves = results(bundle(tmp_path, rows, how="scaling", members=members))
    assert lines[0].split()[-6:] == ["1", "volume", "2", "volumes", "3", "volumes"]
    assert lines[1].split()[3:] == ["16,842", "32,000", "95.0%", "40,421", "80.0%"]
    assert curves[1]["efficiency_percent"] == pytest.approx(95, rel=1e-4)
    report = report_of(found)
    assert report.page.table("By number of volumes")[3][1:] == [
        "3", "80.0 %", "40,421", "IOPS", "a+b+c",
    ]  # fmt: skip
    assert any("Dashed: linear scaling" in text for text in captions(report))


def test_jobs_and_volumes_together(tmp_path: Path) -> None:
    arm = "a+b"
    rows, parts = together(arm, ["data", "temp", "log"])
    found, lines, curves = results(
        bundle(tmp_path, rows, parts, how="together", members={arm: ["a", "b"]})
    )
    assert lines[0].startswith("database (data + temp + log): 8,800 IOPS at depth 12")
    table = [line.split() for line in lines]
    assert ["log", "800", "6.55", "–", "1.15", "3.53"] in table
    assert ["each", "volume's", "IOPS", "a", "b"] in table
    assert ["database", "4,000", "4,000"] in table
    (load,) = curves[0]["loads"]
    assert load["jobs"]["log"]["syncs_per_s"] == pytest.approx(800)
    assert load["volumes"]["b"]["iops"] == pytest.approx(4000)
    report = report_of(found)
    assert [row[0] for row in report.page.table("By job, at the best load")[1:]] == [
        "data", "temp", "log",
    ]  # fmt: skip
    assert report.page.table("By volume, at the best load")[2][:4] == [
        "b", "database", f"depth{NARROW}12", "4,000",
    ]  # fmt: skip
    latency = f"Latency: the slowest of reads, writes and syncs; the ceiling is 20{NARROW}ms."
    assert captions(report) == [
        "IOPS of each job of database, at queue depth 12.",
        f"P95 latency in ms of each job of database, at queue depth 12. {latency}",
        "IOPS of each volume, at the best load of each curve.",
        f"P95 latency in ms of each volume, at the best load of each curve. {latency}",
    ]
    shown = [item.attributes["aria-label"] for item in report.page.section("storage").all("svg")
             if "aria-label" in item.attributes]  # fmt: skip
    assert any("log, database, queue depth 12: p95 3.53 ms" in text for text in shown)


def test_jobs_over_the_load_and_many_volumes(tmp_path: Path) -> None:
    names = [f"v{number}" for number in range(9)]
    arm = "+".join(names)
    made = [together(arm, ["data", "log"], depth=depth, level=level)
            for level, depth in enumerate((6, 12))]  # fmt: skip
    rows, parts = ([row for one in made for row in one[side]] for side in (0, 1))
    found = judged(bundle(tmp_path, rows, parts, how="together", members={arm: names}).write())
    report = report_of(found)
    first, second, volumes, _ = captions(report)
    assert first == "IOPS of each job of database, by total load."
    assert second.startswith("P95 latency in ms of each job of database, by total load")
    assert volumes.endswith("at the best load of each curve. 9 dots.")
    assert report.page.table("The 9 volumes")[9][0] == "v8"
    folded = [item.all("summary")[0].text for item in report.page.section("storage").all("details")]
    assert "By volume, at the best load" in folded


def test_an_open_loop(tmp_path: Path) -> None:
    rows = [
        step(1000.0, rate=1000.0, depth=64),
        step(8600.0, rate=9000.0, depth=64, level=1, response=60.0, unissued=700, inside=False),
    ]
    found, lines, curves = results(bundle(tmp_path, rows))
    assert lines[0].split()[-4:] == ["offered/s", "done/s", "response", "service"]
    assert lines[2].split() == ["9,000", "8,600", "52.9", "0.882"]
    assert [load["rate"] for load in curves[0]["loads"]] == [1000, 9000]
    report = report_of(found)
    head, _, slow = report.page.table("All points: latencies, ms")
    cells = dict(zip(head, slow, strict=True))
    assert cells["Due, 1/s"] == "9,000"
    assert cells["Read response p95"] == "52.9 over the ceiling"
    assert cells["Read p95"] == "0.882"
    head, _, slow = report.page.table("All points: rates")
    assert dict(zip(head, slow, strict=True))["Not issued"] == "700"


def test_logs_and_what_is_repeated_until_steady(tmp_path: Path) -> None:
    log: dict[str, Any] = {"pattern": "sequential", "reads": 0, "depth": 1}
    rows = [
        step(800.0, curve="commit_4k", block=4096, syncs=800.0, **log),
        step(6400.0, curve="group_commit_8k", syncs=800.0, **log),
        *(step(3000.0, curve="settling", level=level, purpose="settle") for level in range(9)),
    ]
    found, lines, _ = results(bundle(tmp_path, rows, settled={"settling": True}))
    assert [line.split()[-5:] for line in lines[2:]] == [
        ["ms", "writes/s", "syncs/s", "write", "sync"],
        ["write", "800", "800", "1.15", "3.53"],
        ["sync", "6,400", "800", "1.15", "3.53"],
    ]
    assert lines[4].startswith("8K write, 8 per sync")
    assert " ".join(lines[:2]).endswith("steady after 4 windows")
    section = report_of(found).page.section("storage")
    assert "Steady after 4 windows, which are excluded: Random read" in section.text
    assert "Durable writes, at the best load" in section.text


def test_many_curves_are_cut_and_say_so(tmp_path: Path) -> None:
    rows = [
        step(1000.0, arm=arm, curve=f"c{number}", block=512 * (number + 1))
        for arm in ("a", "b")
        for number in range(40)
    ]
    _, lines, _ = results(bundle(tmp_path, rows, how="compare"))
    assert len(lines) == 40
    assert lines[-1] == "… 3 more lines; the report and --json have all"


def mixed(out: Path) -> Builder:
    """Everything at once: jobs, parts, fill levels, arms."""
    rows, parts = together("a+b", ["data", "log"])
    rows += [row | {"arm": "c", "volume": "c", "stage": 1} for row in rows]
    members = {"a+b": ["a", "b"], "c": ["c"]}
    return bundle(out, rows, parts, how="compare", members=members, stages=["40 %", "62 %"])


def test_markup_in_a_profile_is_only_text(tmp_path: Path) -> None:
    builder = mixed(tmp_path)
    for at, phase in enumerate(builder.phases):
        detail = {
            key: value if key == "how" else evil(value) for key, value in phase.detail.items()
        }
        builder.phases[at] = phase.model_copy(update={"detail": detail})
    for table in ("io", "io_parts"):
        for row in builder.tables[table]:
            for key in ("arm", "volume", "job", "phase", "pattern"):
                row[key] = row[key] and row[key] + EVIL
    found = judged(builder.write())
    report = report_of(found)
    assert "<script" not in report.html
    tags = {element.tag for element in report.page.root.all()}
    assert not tags & {"script", "img", "iframe", "object", "foreignobject", "use", "image"}
    assert "<script>alert(1)</script>" in report.page.section("storage").text
    lines = summary(found.bundle, found.estimates, found.findings)
    assert all(len(line) <= 80 and line.isprintable() for line in lines)


STRANGE = (10**400, "much", [[]], {"a": {}}, [{"name": []}], None, True)


@pytest.mark.parametrize("turn", [0, 3])
def test_facts_of_another_kind(tmp_path: Path, turn: int) -> None:
    builder = mixed(tmp_path)

    def strange(names: Iterable[str]) -> dict[str, Any]:
        return {name: STRANGE[(turn + at) % len(STRANGE)] for at, name in enumerate(names)}

    for at, phase in enumerate(builder.phases):
        targets = [
            {"name": "a", **strange(("kind", "path", "bytes", "facts"))},
            {"name": "b", "facts": strange(target("b")["facts"])},
        ]
        detail = strange(phase.detail) | {"volume": phase.detail.get("volume"), "targets": targets}
        builder.phases[at] = phase.model_copy(update={"detail": detail})
    builder.plan = {"curves": STRANGE}
    found = judged(builder.write())
    assert "storage" in report_of(found).page.sections()
    assert summary(found.bundle, found.estimates, found.findings)
    json.dumps(document(found.bundle, found.estimates, found.findings), allow_nan=False)
