"""ClickHouse's metrics of a query, its plans, and a check that finds damage in its files."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import targets, workloads
from dyno.bundle.model import Check
from dyno.contracts.maintenance import Job, prepare
from dyno.contracts.meter import METRICS, QueryMeter
from dyno.contracts.target import Limits
from dyno.errors import DatabaseError, Interrupted, UsageError
from dyno.targets.clickhouse import engine
from dyno.targets.clickhouse.target import ClickhouseTarget
from tests.conftest import missing
from tests.maintained import fill

LIMITS = Limits(memory_bytes=512 << 20, threads=2)
GROUPING = (
    "SELECT count() FROM (SELECT sipHash64(number) AS h, any(toString(number)) "
    "FROM numbers(300000) GROUP BY h)"
)
SUM = "SELECT sum(l_quantity), sum(l_extendedprice) FROM lineitem"


def opened(url: str, out: Path) -> ClickhouseTarget:
    target = targets.open_target(targets.parse(url), out, LIMITS)
    assert isinstance(target, ClickhouseTarget)
    return target


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    out = tmp_path_factory.mktemp("filled")
    with opened("embedded:clickhouse", out) as target:
        fill(target)
    return out


@pytest.fixture(scope="module")
def saved(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the directory, made while nobody has it open."""
    copy = tmp_path_factory.mktemp("saved") / "clickhouse"
    shutil.copytree(filled / "engines" / "clickhouse", copy, symlinks=True)
    return copy


@pytest.fixture(scope="module")
def target(filled: Path, saved: Path) -> Iterator[ClickhouseTarget]:
    assert saved.is_dir()  # copied before it is opened
    with opened("embedded:clickhouse", filled) as found:
        yield found


def sources(columns: dict[str, Any]) -> dict[str, str]:
    return json.loads(columns["meter"])


def test_metrics_are_those_of_the_query(target: ClickhouseTarget) -> None:
    with closing(target.connect("tpch")) as session, closing(target.connect("tpch")) as other:
        session.execute("SET max_bytes_before_external_group_by = 1000000")
        meter = QueryMeter(target, session)
        meter.before()
        other.execute("SELECT * FROM orders ORDER BY o_comment")
        session.execute(GROUPING)
        other.execute("SELECT * FROM orders ORDER BY o_comment")
        spilled = meter.after()
        meter.before()
        session.execute("SELECT sum(n_nationkey) FROM nation")
        small = meter.after()
        meter.before()
        session.execute(SUM)
        columns = meter.after()
        size = session.execute(
            "SELECT sum(bytes_on_disk) FROM system.parts WHERE active "
            "AND database = 'dyno_tpch' AND table = 'lineitem'"
        ).rows[0][0]
    assert spilled["temp_bytes"] > 500_000, spilled
    assert small["temp_bytes"] == columns["temp_bytes"] == 0
    assert 0 < small["bytes_read"] < 100_000
    # Two columns of sixteen are read, not the table.
    assert 200_000 < columns["bytes_read"] < size / 2
    assert spilled["peak_memory_bytes"] > 1_000_000
    assert small["peak_memory_bytes"] < spilled["peak_memory_bytes"]
    assert set(sources(spilled)) == set(METRICS)
    assert all("query_log" in source for source in sources(spilled).values())


def test_a_query_that_failed_has_no_metrics_and_harms_no_other(target: ClickhouseTarget) -> None:
    with closing(target.connect("tpch")) as session:
        meter = QueryMeter(target, session)
        meter.before()
        with pytest.raises(DatabaseError):
            session.execute("SELECT nothing FROM nowhere")
        found = meter.after(failed=True)
        assert [found[name] for name in METRICS] == [None] * 3
        for _ in range(3):
            meter.before()
            session.execute("SELECT sum(n_nationkey) FROM nation")
            assert meter.after()["temp_bytes"] == 0


@pytest.mark.long
def test_the_log_stays_in_memory_and_small(target: ClickhouseTarget) -> None:
    with closing(target.connect()) as session:
        for number in range(1500):
            session.execute(f"SELECT {number}")
        session.execute("SYSTEM FLUSH LOGS query_log")
        facts = "SELECT engine, total_rows FROM system.tables WHERE name = 'query_log'"
        ((engine, count),) = session.execute(facts).rows
    assert engine == "Memory"
    assert count <= 1500


def test_an_engine_without_a_log_says_so(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if lacks := targets.lacks("clickhouse"):
        missing(lacks)
    monkeypatch.setattr(engine, "_CONFIG", "/a?b/engine.xml")
    with opened("embedded:clickhouse", out) as target, closing(target.connect()) as session:
        meter = QueryMeter(target, session)
        meter.before()
        session.execute("SELECT 1")
        found = meter.after()
    assert [found[name] for name in METRICS] == [None] * 3
    assert set(sources(found).values()) == {"this ClickHouse has no query_log"}


def test_every_query_has_a_plan_as_text_and_as_data(target: ClickhouseTarget) -> None:
    with closing(target.connect("tpch")) as session:
        for query in workloads.get("tpch").queries:
            sql = target.sql("tpch", query.name, query.text(query.validation(0.01)))
            plan = target.explain(session, sql, analyse=False)
            assert "rows estimated" in plan.text
            assert "└─ " in plan.text
            assert "ReadFromMergeTree · dyno_tpch." in plan.text
            assert plan.tree["pipeline"]
            assert plan.tree["reads"]
            assert json.dumps(plan.tree)
        sql = "SELECT count(*) FROM lineitem JOIN orders ON o_orderkey = l_orderkey"
        expected = target.explain(session, sql, analyse=False)
        happened = target.explain(session, sql, analyse=True)
    assert " ms" not in expected.text
    assert "dyno_tpch.lineitem: 60,175 rows estimated" in expected.text
    assert " ms" in happened.text
    assert "lineitem" in happened.text
    assert "└──" in happened.text
    assert happened.tree["analysed"]


def once(job: Job) -> dict[str, Check]:
    return {check.name: check for check in job.run(threading.Event(), lambda *_: None)}


def test_whole_files_pass_and_a_check_can_be_stopped(target: ClickhouseTarget) -> None:
    with closing(prepare(target, "tpch", "integrity-check")) as job:
        checks = once(job)
        assert len(checks) == 8
        assert all(check.passed for check in checks.values())
        assert "1 parts, all checksums match" in checks["integrity-check lineitem"].message
        assert job.estimate.size == job.space() == 0
        stop = threading.Event()
        stop.set()
        with pytest.raises(Interrupted):
            job.run(stop, lambda *_: None)
    with pytest.raises(UsageError, match="nothing to rebuild"):
        prepare(target, "tpch", "reindex")


@pytest.mark.parametrize("harm", ["flipped", "cut", "gone"])
def test_damage_in_a_file_of_a_part_is_found(saved: Path, tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(saved, folder, symlinks=True)
    with opened(f"clickhouse://{folder}", tmp_path) as target:
        with closing(target.connect()) as session:
            part = Path(
                session.execute(
                    "SELECT path FROM system.parts WHERE active AND database = 'dyno_tpch' "
                    "AND table = 'lineitem'"
                ).rows[0][0]
            )
        file = max(part.glob("*.bin"), key=lambda path: path.stat().st_size)
        assert file.is_relative_to(folder)
        with closing(prepare(target, "tpch", "integrity-check")) as job:
            assert all(check.passed for check in once(job).values())
            content = bytearray(file.read_bytes())
            if harm == "gone":
                file.unlink()
            elif harm == "cut":
                file.write_bytes(content[: len(content) // 2])
            else:
                content[len(content) // 2] ^= 0x01
                file.write_bytes(content)
            checks = once(job)
    failed = {name: check.message for name, check in checks.items() if not check.passed}
    assert set(failed) == {"integrity-check lineitem"}
    assert part.name in failed["integrity-check lineitem"]
    assert file.name in failed["integrity-check lineitem"]
