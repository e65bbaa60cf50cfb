"""Maintenance under load, plans and metrics by query: from a bundle with known answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dyno.analyse.resample import change_percent, speed_percent
from dyno.report import document, summary
from tests import bundle_data as data
from tests.bundles import SECOND, Builder, Stored
from tests.judged import Judged, judged
from tests.report.conftest import report_of

LEVEL = "users-4"
NAME = "reindex-tpcc-postgresql-users-4"


def maintenance(builder: Builder, start_ns: int, end_ns: int, **detail: Any) -> None:
    """Adds the phase of a maintenance between two times."""
    found = {
        "workload": "tpcc",
        "level": LEVEL,
        "maintenance": "reindex",
        "method": "REINDEX INDEX CONCURRENTLY of 10 indexes",
        "start_ns": start_ns,
        "end_ns": end_ns,
        "rounds": 2,
        "error": None,
        "space_peak_bytes": 38_500_000_000,
        "space_estimate_bytes": 37_000_000_000,
        "space_estimate_source": "the largest index once more",
        **detail,
    }
    builder.phases.append(
        Stored(
            name=NAME,
            title="Online reindex",
            kind="maintenance",
            target="postgresql",
            start_ns=start_ns,
            end_ns=end_ns,
            status="done" if found["error"] is None else "failed",
            detail=found,
            cpu=None,
        )
    )


def under_load(out: Path, *, loss: float = 0.1, seconds: int = 12, **detail: Any) -> Builder:
    """36 s of transactions; from the 12th on maintenance, in which ``loss`` of them is missing."""
    builder = Builder(out / "run", verb="run").machine().target("postgresql")
    first = builder.now + 6 * SECOND
    builder.oltp(4, duration_s=36)
    # Between two whole seconds, as a maintenance begins and ends when it will.
    start, end = first + round(11.6 * SECOND), first + round((12.3 + seconds) * SECOND)
    for row in builder.tables[f"ops/{LEVEL}"]:
        if start <= row["t_ns"] and row["t_ns"] + SECOND <= end:
            row["done"] = round(row["done"] * (1 - loss))
            row["rolled_back"] = round(row["rolled_back"] * (1 - loss))
    maintenance(builder, start, end, **detail)
    return builder


def parts_of(found: Judged) -> dict[str, Any]:
    start = f"during.{NAME}."
    return {
        item.name.removeprefix(start): item
        for item in found.estimates
        if item.name.startswith(start)
    }


def test_the_loss_is_found_with_its_interval(tmp_path: Path) -> None:
    found = judged(under_load(tmp_path).write())
    parts = parts_of(found)
    # The 11.6th to the 24.3rd second: whole ones are 12 to 23; those it cuts belong nowhere.
    assert [parts[f"{part}_intervals"].value for part in ("before", "during", "after")] == [
        *(11, 12, 11)
    ]
    change = parts["during_change_percent"]
    assert change.value == pytest.approx(-10, abs=1.0)
    assert change.low < change.value < change.high < 0
    after = parts["after_change_percent"]
    assert after.low < 0 < after.high
    assert parts["seconds"].value == pytest.approx(12.7)
    assert parts["before_p95_ms"].value > 0
    # What the maintenance changes is no unsteadiness of the level.
    assert "maintenance" not in found.codes()
    assert "unsteady" not in found.codes()


def test_no_loss_is_reported_as_none(tmp_path: Path) -> None:
    change = parts_of(judged(under_load(tmp_path, loss=0).write()))["during_change_percent"]
    assert change.low < 0 < change.high


def test_a_deep_and_lasting_loss_is_not_called_unsteady(tmp_path: Path) -> None:
    found = judged(under_load(tmp_path, loss=0.9, seconds=23).write())
    assert "unsteady" not in found.codes()


def test_a_maintenance_that_did_not_end_spoils_the_run(tmp_path: Path) -> None:
    found = judged(under_load(tmp_path, error="it took longer than the limit").write())
    assert "maintenance" in found.codes()
    (reason,) = [item for item in found.validity.reasons if item.code == "maintenance"]
    assert "it took longer than the limit" in reason.message
    # There is no stretch after one that did not end.
    assert parts_of(found)["after_intervals"].value == 0


def test_a_short_one_is_warned_of(tmp_path: Path) -> None:
    found = judged(under_load(tmp_path, seconds=2).write())
    assert "maintenance" in found.warned()
    assert found.validity.valid is True
    change = parts_of(found)["during_change_percent"]
    assert change.low is None


@pytest.mark.usefixtures("drawn")
def test_the_report_shades_it_and_compares_the_parts(tmp_path: Path) -> None:
    found = report_of(judged(under_load(tmp_path).write()))
    table = found.page.table("Before, during and after")
    assert [row[2] for row in table[1:]] == ["before", "during", "after"]
    against = table[2][table[0].index("Change from before, %")]
    assert against.startswith("-10") or against.startswith("-9")
    # Without queries, nothing about them is shown.
    assert "Queries/h" not in table[0] and "Queries/h" not in found.page.section("during").text
    assert {"Transactions/s", "New-Order p95, ms"} < set(table[0])
    work = found.page.table("Maintenance operations")
    space = work[0].index("Peak extra space")
    sizes = [text.replace("\N{NARROW NO-BREAK SPACE}", " ") for text in work[1][space : space + 2]]
    assert sizes == ["38.5 GB", "37 GB"]
    assert "Maintenance" in found.page.section("meanwhile").text
    headline = found.page.section("headlines").text
    assert "Throughput change during maintenance" in headline
    assert re.search(r"Online reindex\s*-(10|9)\.\d", headline)
    assert "online reindex" in found.html
    made = found.judged
    assert any("reindex -" in line for line in summary(made.bundle, made.estimates, made.findings))
    (note,) = re.findall(r"[^.>]*extra space of SQL Server[^.]*\.[^.]*\.", found.html)
    assert "PostgreSQL" in note and "verification of backups" in note
    (entry,) = document(made.bundle, made.estimates, made.findings)["maintenance"]
    assert entry["name"] == "reindex"
    assert entry["space_peak_bytes"] == 38_500_000_000
    low, high = entry["during_change_interval"]
    assert low < entry["during_change_percent"] < high


def test_queries_round_maintenance_compare_the_same_queries(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine().target("postgresql")
    builder.power("postgresql", data.ROW_SECONDS)
    rows = builder.tables.setdefault("during", [])
    bounds: dict[str, tuple[int, int]] = {}
    # Only the first nine queries meet the maintenance: the slow ones among them must not count.
    for part, slower, count in (("before", 1.0, 44), ("during", 1.25, 9), ("after", 1.0, 22)):
        start = builder.now
        for place in range(count):
            took = data.ROW_SECONDS[place % 22] * slower
            rows.append(
                {
                    "t_ns": builder.now,
                    "end_ns": builder.now + round(took * SECOND),
                    "part": part,
                    "stream": 0,
                    "query": f"q{place % 22 + 1:02d}",
                    "target": "postgresql",
                    "seconds": took,
                }
            )
            builder.now += round(took * SECOND)
        bounds[part] = start, builder.now
    maintenance(builder, *bounds["during"], level=None, workload="tpch", streams=4)
    found = judged(builder.write())
    parts = parts_of(found)
    assert parts["during_change_percent"].value == pytest.approx(-20)
    # Each of the nine ran once during it, and 13 not at all.
    assert parts["during_change_percent"].low is None
    assert [parts[f"{part}_fewest_runs"].value for part in ("before", "during")] == [2, 0]
    assert ("maintenance", "warning", "during_fewest_runs") in {
        (one.code, one.level, name.rpartition(".")[2])
        for one in found.findings
        for name in one.evidence
    }
    assert parts["after_change_percent"].value == pytest.approx(0)
    expected = 4 * 22 * 3600 / sum(data.ROW_SECONDS)
    assert parts["before_qph"].value == pytest.approx(expected)
    assert parts["during_qph"].value == pytest.approx(0.8 * expected)
    table = report_of(found).page.table("Before, during and after")
    assert table[2][1] == "queries of 4 users on PostgreSQL"
    assert table[2][table[0].index("Change from before, %")].startswith("-20.0")
    assert "Queries/h" in table[0] and not {"Transactions/s", "New-Order p95, ms"} & set(table[0])


def few_queries(out: Path, *counts: int) -> Judged:
    """Two queries in turn, so many before, during and after maintenance."""
    builder = Builder(out / "run", verb="run").machine().target("postgresql")
    rows = builder.tables.setdefault("during", [])
    bounds: list[int] = []
    for part, count in zip(("before", "during", "after"), counts, strict=True):
        bounds.append(builder.now)
        for place in range(count):
            rows.append({
                "t_ns": builder.now, "end_ns": builder.now + SECOND, "part": part, "stream": 0,
                "query": f"q{place % 2 + 1:02d}", "target": "postgresql", "seconds": 1.0,
            })  # fmt: skip
            builder.now += SECOND
    maintenance(builder, bounds[1], bounds[2], level=None, workload="tpch", streams=1)
    return judged(builder.write())


@pytest.mark.parametrize(
    ("counts", "evidence"),
    [
        ((6, 6, 6), set[str]()),
        ((4, 6, 6), {"before_queries"}),
        ((6, 4, 6), {"during_queries"}),
        ((6, 6, 4), {"after_queries"}),
        ((0, 6, 6), {"before_queries"}),
    ],
)
def test_few_queries_around_maintenance_are_warned_of(
    tmp_path: Path, counts: tuple[int, ...], evidence: set[str]
) -> None:
    found = few_queries(tmp_path, *counts)
    warned = [one for one in found.findings if one.code == "maintenance"]
    assert all(one.level == "warning" for one in warned)
    names = {name.rpartition(".")[2] for one in warned for name in one.evidence}
    assert names == evidence


def two_databases(out: Path, met: int) -> Judged:
    """Two databases with two queries each; in the second, the maintenance meets the first ``met``.

    All run six times in each part but that.
    """
    builder = Builder(out / "run", verb="run").machine().target("postgresql")
    rows = builder.tables.setdefault("during", [])
    bounds: list[int] = []
    for part in ("before", "during", "after"):
        bounds.append(builder.now)
        for place in range(24):
            database, query = place % 2 + 1, place // 2 % 2 + 1
            if (part, database) != ("during", 2) or query <= met:
                rows.append({
                    "t_ns": builder.now, "end_ns": builder.now + SECOND, "part": part, "stream": 0,
                    "query": f"q{query:02d}", "target": "postgresql", "seconds": 1.0 + place / 100,
                    "database": database,
                })  # fmt: skip
            builder.now += SECOND
    of = {"level": None, "workload": "tpch", "database": 2, "streams": 2, "streams_each": 1}
    maintenance(builder, bounds[1], bounds[2], **of)
    return judged(builder.write())


@pytest.mark.parametrize(
    ("met", "evidence"),
    [
        (0, {"db-2.during_queries"}),
        (1, {"db-2.during_fewest_runs"}),
        (2, set[str]()),
    ],
)
def test_what_ran_in_one_database_says_nothing_of_another(
    tmp_path: Path, met: int, evidence: set[str]
) -> None:
    found = two_databases(tmp_path, met)
    warned = [one for one in found.findings if one.code == "maintenance"]
    assert {
        name.removeprefix(f"during.{NAME}.") for one in warned for name in one.evidence
    } == evidence
    assert all("in database 2" in one.message for one in warned)
    parts = parts_of(found)
    assert parts["db-2.during_queries"].value == 6 * met
    assert parts["db-1.during_change_percent"].low is not None
    change = parts.get("db-2.during_change_percent")
    # No interval of the change of some of the queries.
    assert (change is not None, change is not None and change.low is not None) == (
        met > 0,
        met == 2,
    )


def test_a_failure_of_the_power_test_is_reported_once(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine()
    builder.power("postgresql", data.ROW_SECONDS, fails="q05")
    detail = {"workload": "tpch", "scale": 1.0, "test": "during", "streams": 1}
    title = "Queries before, during and after"
    builder.phase("during-tpch-postgresql", title, "dss", 9.0, "postgresql", detail=detail)
    found = judged(builder.write())
    assert [reason.code for reason in found.validity.reasons] == ["errors"]


def test_resampling_knows_its_limits() -> None:
    assert change_percent([], [1.0]) is None
    assert change_percent([0.0, 0.0], [1.0]) is None
    assert change_percent([10.0] * 4, [5.0] * 9) == (-50.0, None, None)
    assert change_percent([10.0] * 9, [5.0] * 9) == (-50.0, -50.0, -50.0)
    assert speed_percent({"a": [1.0]}, {"a": [0.0]}) is None
    assert speed_percent({"a": [1.0]}, {"b": [1.0]}) is None
    assert speed_percent({"a": [1.0] * 4}, {"a": [2.0] * 4}) == (-50.0, None, None)
    assert speed_percent({"a": [1.0] * 2}, {"a": [2.0] * 5}) == (-50.0, -50.0, -50.0)
    assert speed_percent({"a": [1.0] * 2000}, {"a": [2.0] * 2000}) == (-50.0, -50.0, -50.0)
    # A spread is unknown from one execution, however many others there are.
    many = {"a": [1.0] * 9}
    assert speed_percent({**many, "b": [1.0]}, {**many, "b": [1.0] * 2}) == (0.0, None, None)
    assert speed_percent({**many, "b": [1.0] * 2}, {**many, "b": [1.0]}) == (0.0, None, None)
    first = change_percent(list(range(1, 40)), list(range(2, 41)))
    assert first == change_percent(list(range(1, 40)), list(range(2, 41)))


@pytest.mark.parametrize(("count", "alike"), [(6, 0.0), (60, 0.0), (60, 0.6)])
def test_the_interval_of_throughput_covers_the_true_change(count: int, alike: float) -> None:
    """A change of zero, measured 100 times, of independent and of autocorrelated values."""
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        before, during = (autocorrelated(rng, count, alike) for _ in range(2))
        found = change_percent(before, during)
        assert found is not None
        _, low, high = found
        covered += low is None or high is None or low <= 0 <= high
    assert covered >= 89  # of 95 expected: fewer in one of 100 seeds


def autocorrelated(rng: np.random.Generator, count: int, alike: float) -> list[float]:
    """Throughput with a spread of 10 % and that lag-1 correlation."""
    values = [float(rng.normal())]
    for step in rng.normal(size=count - 1):
        values.append(alike * values[-1] + float(step) * (1 - alike**2) ** 0.5)
    return [100 + 10 * value for value in values]


@pytest.mark.parametrize(("before", "during"), [(2, 2), (2, 9), (5, 3)])
def test_the_interval_covers_the_true_change(before: int, during: int) -> None:
    """A change of zero, measured 100 times: a 95 % interval has zero in about 95 of them."""
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)

        def taken(count: int, rng: np.random.Generator = rng) -> dict[str, list[float]]:
            return {
                f"q{number}": list(usual * rng.lognormal(0, 0.2, count))
                for number, usual in enumerate(data.ROW_SECONDS)
            }

        found = speed_percent(taken(before), taken(during))
        assert found is not None and found[1] is not None and found[2] is not None
        covered += found[1] <= 0 <= found[2]
    assert covered >= 85


def test_plans_and_metrics_by_query_are_shown_and_harmless(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run", verb="run").machine().target("postgresql")
    builder.power("postgresql", data.ROW_SECONDS)
    for row in builder.tables["queries"]:
        row.update(bytes_read=1_500_000, temp_bytes=0, meter='{"bytes_read": "<i>pg_stat_io</i>"}')
    bundle = builder.write()
    folder = bundle.path / "plans" / "postgresql"
    folder.mkdir(parents=True)
    plan = {"analysed": True, "text": "Aggregate\n└─ <script>alert(1)</script>", "plan": [{}]}
    (folder / "q01.json").write_text(json.dumps(plan))
    (folder / "q02.json").write_text(json.dumps({"error": "out of memory"}))
    (folder / "q03.json").write_text("{ torn")
    (folder / "q04.json").write_text("[1]")
    found = report_of(judged(bundle))
    text = found.page.section("plans").text
    assert "└─ <script>alert(1)</script>" in text
    assert "<script>" not in found.html
    assert "No plan: out of memory" in text
    assert "Q3" not in text
    work = found.page.table("Resource use by query")
    assert len(work) == 1 + 22
    assert work[1][4].startswith("0")
    assert work[1][5] == "–"
    assert "<i>" not in found.html
    made = found.judged
    engine = document(made.bundle, made.estimates, made.findings)["tpch"]["engines"]["postgresql"]
    assert engine["queries"][0]["plan"] == "plans/postgresql/q01.json"
    assert engine["queries"][0]["bytes_read"] == 1_500_000
    assert engine["queries"][0]["peak_memory_bytes"] is None
    assert engine["queries"][4]["plan"] is None
