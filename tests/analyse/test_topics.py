"""Metrics against what the builder put into the bundle, worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dyno.analyse import estimate
from tests import bundle_data as data
from tests.bundles import Builder, interrupted, only_io, quickstart
from tests.judged import Judged, judged


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    return judged(quickstart(tmp_path_factory.mktemp("whole")).write())


def test_estimates_are_unique_finite_and_sourced(whole: Judged) -> None:
    names = [item.name for item in whole.estimates]
    assert len(names) == len(set(names))
    assert all(math.isfinite(item.value) for item in whole.estimates)
    assert all(item.source for item in whole.estimates)


def test_estimates_are_reproducible(whole: Judged) -> None:
    assert estimate(whole.bundle) == whole.estimates


def test_io_points(whole: Judged) -> None:
    for depth, (iops, median) in data.READ_CURVE.items():
        name = f"io.random_read.qd{depth}"
        assert whole.value(f"{name}.iops") == pytest.approx(iops, rel=1e-3)
        assert whole.value(f"{name}.mbps") == pytest.approx(iops * 8192 / 1e6, rel=1e-3)
        assert whole.value(f"{name}.read_p50_ms") == pytest.approx(median, rel=0.02)
        p95 = median * math.exp(0.35 * 1.645)
        assert whole.value(f"{name}.read_p95_ms") == pytest.approx(p95, rel=0.03)
        assert f"{name}.write_p95_ms" not in whole.names()
    assert whole.value("io.sequential_read.best_mbps") == pytest.approx(1585, rel=1e-3)
    assert whole.value("io.sequential_write.best_mbps") == pytest.approx(921, rel=1e-3)
    assert whole.value("io.sequential_write.best_depth") == 16


def test_the_ceiling_counts_reads_and_writes_each_on_their_own(tmp_path: Path) -> None:
    # At depth 128 p95 is 4.4 ms for reads and 6.3 ms for writes, at 64 half of that.
    found = judged(Builder(tmp_path / "run", verb="io").io(ceiling_ms=5.0).write())
    assert found.value("io.ceiling_ms") == 5.0
    assert (
        found.value("io.mixed.qd128.read_p95_ms") < 5.0 < found.value("io.mixed.qd128.write_p95_ms")
    )
    assert found.value("io.mixed.best_depth") == 64
    none = judged(Builder(tmp_path / "none", verb="io").io(ceiling_ms=0.01).write())
    assert "io.mixed.best_iops" not in none.names()
    assert "io.sequential_read.best_mbps" in none.names()


def test_points_with_failed_io_are_never_the_best(tmp_path: Path) -> None:
    builder = only_io(tmp_path)
    for row in builder.tables["io"]:
        if row["phase"] == "random_read" and row["queue_depth"] == 128:
            row["errors"] = '{"io": 2}'
    found = judged(builder.write())
    assert found.value("io.random_read.qd128.errors") == 2
    assert found.value("io.random_read.best_depth") == 256


def test_two_volumes_are_kept_apart(tmp_path: Path) -> None:
    builder = only_io(tmp_path)
    rows = builder.tables["io"]
    builder.tables["io"] = [*rows, *({**row, "volume": "/mnt/b.d"} for row in rows)]
    names = judged(builder.write()).names()
    assert "io./mnt/b.d.mixed.best_iops" in names
    assert "io./srv/dyno-runs.mixed.qd8.iops" in names
    assert "io.mixed.best_iops" not in names


def test_loads(whole: Judged) -> None:
    name = "load.tpch.postgresql"
    assert whole.value(f"{name}.seconds") == 8.6
    assert whole.value(f"{name}.rows") == sum(data.TPCH_ROWS.values())
    assert whole.value(f"{name}.mb_per_s") == pytest.approx(1060 / 8.6)
    assert whole.value(f"{name}.gb_per_h") == pytest.approx(1.06 * 3600 / 8.6)
    assert whole.value("index.tpch.postgresql.seconds") == pytest.approx(8.6 * 0.7)
    assert whole.value("load.tpcc.postgresql.rows_per_s") == pytest.approx(2_000_000 / 7.4)


def test_index_steps_are_totalled_by_kind(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").load("tpch", "postgresql", 8.0, 1.36)
    steps = [
        {"step": "index a", "kind": "index", "seconds": 2.0, "extra_rest_bytes": 5, "ratio": 0.5},
        {"step": "index b", "kind": "index", "seconds": 1.0, "extra_rest_bytes": 6, "ratio": 0.2},
        {"step": "primary key a", "kind": "primary key", "seconds": 4.0, "extra_peak_bytes": 9},
    ]
    for phase in builder.phases:
        own = [{"step": "load", "kind": "load", "seconds": 8.0, "extra_rest_bytes": 1000}]
        phase.detail["space"] = own if phase.kind == "load" else [*steps, "no step", {"kind": 1}]
    found = judged(builder.write())
    name = "index.tpch.postgresql"
    assert found.value("load.tpch.postgresql.rest_bytes") == 1000
    assert found.value(f"{name}.index.seconds") == 3
    assert found.value(f"{name}.index.rest_bytes") == 11
    assert found.value(f"{name}.index.peak_ratio") == 0.5
    assert found.value(f"{name}.primary_key.peak_bytes") == 9
    assert f"{name}.primary_key.peak_ratio" not in found.names()


def test_the_rate_of_a_load_is_of_the_same_size_for_every_engine(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").load("tpch", "postgresql", 8.0, 1.36)
    builder.load("tpch", "duckdb", 4.0, 1.0)
    for phase in builder.phases:
        if phase.kind == "load":
            phase.detail["text_bytes"] = 1_100_000_000
    found = judged(builder.write())
    assert found.value("load.tpch.duckdb.bytes") < found.value("load.tpch.postgresql.bytes")
    assert found.value("load.tpch.postgresql.mb_per_s") == pytest.approx(1100 / 8)
    assert found.value("load.tpch.duckdb.mb_per_s") == pytest.approx(1100 / 4)
    assert found.value("load.tpch.duckdb.gb_per_h") == pytest.approx(1.1 * 3600 / 4)


def test_queries(whole: Judged) -> None:
    for target, seconds in (("postgresql", data.ROW_SECONDS), ("duckdb", data.COLUMN_SECONDS)):
        name = f"dss.{target}"
        geomean = math.prod(seconds) ** (1 / 22)
        assert whole.value(f"{name}.q05.seconds") == seconds[4]
        assert whole.value(f"{name}.geomean_s") == pytest.approx(geomean)
        # The builder leaves 2 ms between queries.
        total = sum(seconds) + 0.002 * 21
        assert whole.value(f"{name}.power_total_s") == pytest.approx(total, abs=1e-6)
        assert whole.value(f"{name}.power_score") == pytest.approx(3600 / geomean)
    assert "without refresh functions" in next(
        item.source for item in whole.estimates if item.name == "dss.duckdb.power_score"
    )


def test_the_comparison_of_targets(whole: Judged) -> None:
    pair = "dss.postgresql/duckdb"
    ratios = [
        row / column for row, column in zip(data.ROW_SECONDS, data.COLUMN_SECONDS, strict=True)
    ]
    assert whole.value(f"{pair}.q17.ratio") == pytest.approx(ratios[16])
    assert whole.value(f"{pair}.slower_queries") == 1
    assert whole.value(f"{pair}.geomean_ratio") == pytest.approx(math.prod(ratios) ** (1 / 22))
    total = sum(data.ROW_SECONDS) / sum(data.COLUMN_SECONDS)
    assert whole.value(f"{pair}.total_ratio") == pytest.approx(total)


def test_short_queries_count_as_a_thousandth_of_the_longest(tmp_path: Path) -> None:
    seconds = (100.0, *(1.0 for _ in range(20)), 0.001)
    found = judged(Builder(tmp_path / "run").power("postgresql", seconds, scale=2.0).write())
    raised = (100.0 * 0.1) ** (1 / 22)
    assert found.value("dss.postgresql.power_score") == pytest.approx(7200 / raised)
    assert found.value("dss.postgresql.geomean_s") == pytest.approx((100.0 * 0.001) ** (1 / 22))


def test_new_orders_are_compared_with_the_paced_maximum(whole: Judged, tmp_path: Path) -> None:
    # 12.86 new orders a minute in each of five warehouses.
    name = "oltp.users-16"
    orders = whole.value(f"{name}.new_orders_per_min")
    assert whole.value(f"{name}.paced_percent") == pytest.approx(100 * orders / 64.3)
    builder = Builder(tmp_path / "run").oltp(4)
    for row in builder.tables["ops/users-4"]:
        row["done"] = 1 if row["op"] == "new_order" else 0
    slow = judged(builder.write())
    assert slow.value("oltp.users-4.paced_percent") == pytest.approx(100 * 60 / 64.3)


def test_steadiness_is_not_asked_of_a_rate_that_changes(tmp_path: Path) -> None:
    points = [[0, 100.0], [30, 100.0], [30, 400.0]]
    for rate, judged_so in ((500.0, True), (points, False)):
        loop = {"kind": "open", "rate_per_s": rate, "poisson": False}
        run = Builder(tmp_path / str(judged_so)).oltp(4, duration_s=60, loop=loop)
        names = judged(run.write()).names()
        assert ("oltp.users-4.mser_discard_percent" in names) is judged_so
        assert "oltp.users-4.tps" in names


def test_a_failed_query_leaves_no_total(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").power("postgresql", data.ROW_SECONDS, fails="q09")
    found = judged(builder.write())
    assert found.value("dss.postgresql.queries_done") == 21
    assert found.value("dss.postgresql.queries_failed") == 1
    assert not {"dss.postgresql.power_total_s", "dss.postgresql.power_score"} & found.names()


def test_levels(whole: Judged) -> None:
    for users, (tps, median, *_) in data.LEVELS.items():
        name = f"oltp.users-{users}"
        assert whole.value(f"{name}.tps") == pytest.approx(tps, rel=0.01)
        assert whole.value(f"{name}.seconds") == 15
        orders = tps * 10 / 23 * 0.99 * 60
        assert whole.value(f"{name}.new_orders_per_min") == pytest.approx(orders, rel=0.01)
        assert whole.value(f"{name}.new_order.service_p50_ms") == pytest.approx(median, rel=0.02)
        response = whole.value(f"{name}.new_order.response_p50_ms")
        assert response == pytest.approx(median * 1.02, rel=0.02)
        assert whole.value(f"{name}.errors") == 0
        assert whole.value(f"{name}.client_cpu_ms_per_1000") < 130


def test_the_warm_up_does_not_count(tmp_path: Path) -> None:
    # It runs at 70 % of the rate: counted, it would lower the throughput by 7 %.
    found = judged(Builder(tmp_path / "run").oltp(4).write())
    assert found.value("oltp.users-4.tps") == pytest.approx(data.LEVELS[4][0], rel=0.01)


def test_a_level_that_was_cut_off_spans_what_it_has(tmp_path: Path) -> None:
    found = judged(interrupted(tmp_path).write("interrupted"))
    assert found.value("oltp.users-1.seconds") == 4
    assert found.value("oltp.users-1.tps") == pytest.approx(data.LEVELS[1][0], rel=0.02)


def test_a_stall_counts_as_seconds_without_work(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").oltp(4, duration_s=20, outcome={"seconds": 20.0})
    rows = builder.tables["ops/users-4"]
    moments = sorted({row["t_ns"] for row in rows if row["phase"] == "measure"})
    gone = set(moments[8:13])
    builder.tables["ops/users-4"] = [row for row in rows if row["t_ns"] not in gone]
    found = judged(builder.write())
    assert found.value("oltp.users-4.tps") == pytest.approx(data.LEVELS[4][0] * 0.75, rel=0.02)
    assert found.value("oltp.users-4.variation_percent") > 50


def test_a_last_interval_cut_short_does_not_look_like_a_fall(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "run").oltp(4, outcome={"seconds": 14.2})
    last = max(row["t_ns"] for row in builder.tables["ops/users-4"])
    for row in builder.tables["ops/users-4"]:
        if row["t_ns"] == last:
            row.update(seconds=0.2, done=row["done"] // 5)
    assert judged(builder.write()).value("oltp.users-4.variation_percent") < 3


def test_resources_by_phase(whole: Judged) -> None:
    name = "resource.oltp-tpcc-postgresql-users-16"
    assert whole.value(f"{name}.cpu.host.busy.mean") == pytest.approx(96, abs=2)
    assert whole.value(f"{name}.disk.vda.write_await.mean") == pytest.approx(1.4)
    assert whole.value(f"{name}.memory.host.available.min") < 21e9
    # 15 measured seconds, without the warm-up's 6.
    assert whole.value(f"{name}.samples") == pytest.approx(15, abs=1)
    assert not [item for item in whole.names() if item.startswith("resource.check-")]


def test_a_spool_of_a_killed_run_reads_like_a_table(tmp_path: Path) -> None:
    killed = judged(quickstart(tmp_path / "a").write("running"))
    ended = judged(quickstart(tmp_path / "b").write("done"))
    assert {item.name: item.value for item in killed.estimates} == {
        item.name: item.value for item in ended.estimates
    }


def test_an_empty_bundle_has_no_metrics(tmp_path: Path) -> None:
    assert judged(Builder(tmp_path / "run").write("interrupted")).estimates == []
