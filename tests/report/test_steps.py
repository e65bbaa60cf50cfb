"""Steps and layouts in the report, from bundles of anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno.report import document, run_report
from dyno.report.run.page import Page
from dyno.report.run.steps import layout_block, loads_that_stayed, steps
from tests.bundles import quickstart
from tests.judged import judged


def test_steps_and_notes_are_shown_with_their_load(tmp_path: Path) -> None:
    builder = quickstart(tmp_path)
    phases = [phase for phase in builder.phases if phase.target == "postgresql"]
    load = next(phase for phase in phases if phase.name == "load-tpch-postgresql")
    index = next(phase for phase in phases if phase.name == "index-tpch-postgresql")
    load.detail["space"] = [
        {"step": "load", "kind": "load", "seconds": 7.0, "gb_per_h": 500.0, "ratio": None,
         "extra_peak_bytes": 2_000_000_000, "extra_rest_bytes": 1_500_000_000,
         "memory_peak_bytes": 3_000_000_000},
        {"step": 5}, "nonsense",
    ]  # fmt: skip
    load.detail["layout"] = {
        "name": "mine",
        "notes": ["/a and /b lie on one device", 7],
        "tables": {
            "lineitem": {
                "partition_by": "l_shipdate",
                "partitions": [{"volume": "/a"}, {"volume": "/b"}, 3],
                "bounds": ["1995-01-01", "1996-01-01"],
                "cluster": ["l_shipdate", 4],
                "compression": "page",
                "indexes": [{"name": "all_columns", "form": "column"}, {"name": "by_part"}, 5],
            }
        },
    }
    index.detail.update(
        workload="tpch",
        space=[{"step": "cluster lineitem_p1", "kind": "cluster", "seconds": 2.0, "ratio": 1.2}],
        notes=["The primary key is wider"],
    )
    found = judged(builder.write("done"))
    html = run_report(found.bundle, found.estimates, found.findings)
    for words in (
        "Steps of the load into", "cluster lineitem_p1", "1.20 ×", "2 GB", "one device",
        "The primary key is wider", "3 partitions by l_shipdate", "round-robin on /a, /b",
        "Peak memory", "3 GB", "page compression; ", "column store index all_columns; index by_p",
    ):  # fmt: skip
        assert words in html.replace("\N{NARROW NO-BREAK SPACE}", " "), words
    engine = document(found.bundle, found.estimates, found.findings)["tpch"]["engines"]
    assert [step["step"] for step in engine["postgresql"]["load_steps"]] == [
        "load",
        "cluster lineitem_p1",
    ]


def test_each_of_several_databases_has_its_own_steps(tmp_path: Path) -> None:
    builder = quickstart(tmp_path)
    names = ("load-tpcc-postgresql", "index-tpcc-postgresql")
    for phase in [phase for phase in builder.phases if phase.name in names]:
        own = {"step": phase.kind, "kind": phase.kind, "seconds": 1.0}
        phase.detail.update(workload="tpcc", space=[own])
        detail = {**phase.detail, "database": 2, "space": [{**own, "step": f"{own['step']} 2"}]}
        update = {"name": phase.name.replace("tpcc", "tpcc@2"), "detail": detail}
        builder.phases.append(phase.model_copy(update=update))
    found = judged(builder.write("done"))
    page = Page.of(found.bundle, found.estimates, found.findings)
    loads = [load for load in loads_that_stayed(page) if load.detail.workload == "tpcc"]
    step_names = [[step.step for step in steps(page, load)] for load in loads]
    assert step_names == [["load", "index"], ["load 2", "index 2"]]
    html = run_report(found.bundle, found.estimates, found.findings)
    assert "Steps of the load into PostgreSQL, database 2" in html


@pytest.mark.parametrize("layout", [None, 3, {}, {"name": "default"}])
def test_the_targets_own_design_has_no_block(layout: Any) -> None:
    assert layout_block(layout) is None
