"""Initial days of data with a history: partitions, volumes and space follow from them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno import _core, targets, workloads
from dyno.bundle.metrics import Estimates
from dyno.bundle.model import those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.contracts import schema
from dyno.contracts.layout import Layout
from dyno.contracts.target import Loaded, LoadPlan, Target
from dyno.decide.advise.loads import Load
from dyno.decide.advise.partition import tables
from dyno.decide.advise.system import Facts, System
from dyno.decide.size.loads import data_tb
from dyno.layouts import volumes
from dyno.layouts.resolve import resolve
from dyno.layouts.spread import spread
from dyno.plans.loading import LoadingPlan
from dyno.runner.basis import basis
from dyno.runner.layout import chosen_layout
from tests.bundles import Builder
from tests.targets.conftest import ask, embedded, embedded_mariadb

SCALE, DAYS = 0.1, 20
TRADES = 57_600 // 10 * DAYS


@given(scale=st.sampled_from([0.1, 0.4, 0.7, 1.3, 2.6]), days=st.integers(1, 8))
@settings(max_examples=5, deadline=None)
def test_rows_of_large_data_follow_from_those_of_small_data(scale: float, days: int) -> None:
    """A load's parts are small: what is estimated without a simulation is what will be loaded."""
    layout = resolve("default", "brokerage", scale, days=days)
    for table in schema.table_names(layout.workload):
        exact = _core.rows("brokerage", table, scale, 1, days)[0]
        small = volumes.table_bytes("brokerage", table, 0.1, days)
        width = small / max(1, _core.rows("brokerage", table, 0.1, 1, days)[0])
        assert volumes.table_bytes("brokerage", table, scale, days) == pytest.approx(
            exact * width, rel=0.06, abs=100 * width
        )


def test_a_load_is_planned_with_its_days(tmp_path: Path) -> None:
    """Bounds, needs and the share of the volumes are those of the days, and not of the usual."""

    def planned(days: int | None) -> Layout:
        asked = LoadingPlan(
            workload="brokerage", target="embedded:postgresql", scale=SCALE, days=days,
            layout="trades-4", spread=2, out=tmp_path,
        )  # fmt: skip
        url = targets.parse(asked.target)
        return chosen_layout("trades-4", url, "brokerage", SCALE, asked).layout

    usual, many = planned(None), planned(100)
    assert usual == planned(10)
    assert usual.design("trade").bounds == ("14401", "28801", "43201")
    assert many.design("trade").bounds == ("144001", "288001", "432001")
    few, lots = (sum(volumes.needs(many, SCALE, days).values()) for days in (1, 100))
    assert lots > 20 * few
    apart = resolve("default", "brokerage", SCALE).model_copy(update={"data": None})
    apart = spread(apart, ["/a", "/b"], SCALE, 100)
    needed = volumes.needs(apart, SCALE, 100)
    assert max(needed.values()) < 1.5 * min(needed.values())


def test_a_study_advice_and_sizing_take_the_days_of_a_run(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "20261120T140000Z-ab12", verb="run")
    builder.plan = {
        "command": "dyno run brokerage --target embedded:postgresql --users 4",
        "target": "embedded:postgresql",
    }
    bundle = builder.target("postgresql").oltp(4).write()
    (level,) = those(bundle.run.phases, OltpDetail)
    known = {"workload": "brokerage", "scale": SCALE, "warehouses": None, "days": DAYS}
    detail = OltpDetail.model_validate({**level.detail.model_dump(exclude_none=True), **known})
    phase = level.model_copy(update={"detail": detail})
    run = bundle.run.model_copy(update={"phases": (phase,), "workloads": ("brokerage",)})
    assert basis(run).base.load == {"days": DAYS}
    raw = workloads.get("brokerage").raw_bytes(SCALE, DAYS)
    assert data_tb(run, phase, Estimates(())) == pytest.approx(raw / 1e12)
    declared = tables.of_system(
        System("x", Facts({}, ""), loads=(Load("brokerage", SCALE, days=DAYS),))
    )
    assert declared["dyno_brokerage.trade"].ranges["t_id"] == (1, TRADES)


@pytest.fixture(
    scope="module", params=["postgresql", pytest.param("mysql", marks=pytest.mark.long)]
)
def loaded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    out = tmp_path_factory.mktemp("days")
    with embedded_mariadb(out) if request.param == "mysql" else embedded(out) as target:
        layout = resolve("trades-4", "brokerage", SCALE, days=DAYS)
        plan = LoadPlan("brokerage", SCALE, 1, 2, layout=layout, days=DAYS)
        target.create_tables("brokerage", replace=False, layout=layout)
        target.load(plan, _core.Control())
        target.index("brokerage", threading.Event(), lambda done, total, text: None, layout)
        target.mark("brokerage", Loaded(SCALE, 1, complete=True, days=DAYS))
        yield target


def test_partitions_have_equal_parts_of_what_is_loaded(loaded: Target) -> None:
    named = "{0}" if loaded.name == "postgresql" else "trade PARTITION ({0})"
    found = [
        ask(loaded, f"SELECT count(*), min(t_id), max(t_id) FROM dyno_brokerage.{place}")[0]
        for place in (named.format(f"trade_p{number}") for number in range(1, 5))
    ]
    part = TRADES // 4
    assert [row[0] for row in found] == [part + 1, part, part, part - 1]
    assert (found[0][1], found[0][2], found[3][2]) == (1, part + 1, TRADES)


def test_needs_are_what_the_load_takes(loaded: Target) -> None:
    """The estimate is rough, and least so where pages are full: InnoDB leaves more of them free."""
    layout = resolve("default", "brokerage", SCALE).model_copy(update={"data": "/a"})
    taken = loaded.data_bytes("brokerage")  # type: ignore[attr-defined]
    needed = volumes.needs(layout, SCALE, DAYS, targets.extends(loaded.name))["/a"]
    assert 0.65 * taken < needed < 1.6 * taken, (taken, needed)
    raw = workloads.get("brokerage").raw_bytes(SCALE, DAYS)
    # Little data: what InnoDB keeps free in each file is a large share of it.
    assert 0.8 * taken < raw * targets.expansion(loaded.name) < 1.8 * taken
    with closing(loaded.connect("brokerage")) as session:
        largest = session.execute("SELECT max(t_id) FROM trade").rows[0][0]
    assert workloads.get("brokerage").ranges["trade", "t_id"](SCALE, DAYS) == (1, largest)
