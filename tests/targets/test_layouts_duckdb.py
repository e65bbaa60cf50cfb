"""Layouts on DuckDB: sorted rows, keys on request, spilling elsewhere; the rest has a reason."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno import _core, targets
from dyno.contracts.layout import Layout
from dyno.contracts.target import LoadPlan, Target
from dyno.errors import UsageError
from dyno.layouts.resolve import resolve
from dyno.stages.load import loaded
from tests.targets.conftest import LIMITS

SCALE = 0.01


def opened(folder: Path) -> Target:
    return targets.open_target(targets.parse("embedded:duckdb"), folder, LIMITS)


def load(target: Target, layout: Layout | None, *, replace: bool = False) -> dict[str, Any]:
    plan = LoadPlan("tpch", SCALE, 1, 2, layout=layout)
    target.create_tables("tpch", replace=replace, layout=layout)
    target.load(plan, _core.Control())
    target.mark("tpch", loaded(plan))
    return target.index("tpch", threading.Event(), lambda *_: None, layout)


def rows(target: Target, query: str) -> list[tuple[Any, ...]]:
    with closing(target.connect("tpch")) as session:
        return session.execute(query).rows


def written(folder: Path, text: str) -> Layout:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return resolve(str(file), "tpch", SCALE)


SORTED = (
    "SELECT bool_and(d >= before) FROM "
    "(SELECT l_shipdate d, lag(l_shipdate) OVER (ORDER BY rowid) before FROM lineitem)"
)


def test_rows_are_sorted_and_keys_made_on_request(out: Path) -> None:
    with opened(out) as target:
        load(target, None)
        assert rows(target, SORTED) == [(False,)]
        assert rows(target, "SELECT count(*) FROM duckdb_indexes()") == [(0,)]
        layout = written(
            out,
            'indexes = "keys"\n[tables.lineitem]\ncluster = ["l_shipdate"]\n'
            'indexes = [{ columns = ["l_partkey"] }]',
        )
        steps = load(target, layout, replace=True)
        assert rows(target, SORTED) == [(True,)]
        assert rows(target, "SELECT count(*) FROM lineitem") == [(60_175,)]
        assert rows(target, "SELECT index_name FROM duckdb_indexes()") == [
            ("lineitem_by_l_partkey",)
        ]
        keys = "SELECT count(*) FROM duckdb_constraints() WHERE constraint_type = 'PRIMARY KEY'"
        assert rows(target, keys) == [(8,)]
        kinds = [step["kind"] for step in steps["space"]]
        assert kinds == ["primary key"] * 8 + ["index", "analyse", "checkpoint"]
        assert all(step["extra_peak_bytes"] is not None for step in steps["space"])


def test_it_spills_to_a_volume_also_after_it_was_opened_again(out: Path, tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    volume.mkdir()
    layout = written(tmp_path, f'[volumes]\ntemp = "{volume}"')
    setting = "SELECT current_setting('temp_directory')"
    with opened(out) as target:
        load(target, layout)
        (place,) = volume.iterdir()
        assert rows(target, setting) == [(str(place / "spill"),)]
    with opened(out) as target:
        assert rows(target, setting) == [(str(place / "spill"),)]
        target.create_tables("tpch", replace=True)
        assert "dyno.duckdb.tmp" in rows(target, setting)[0][0]
        assert list(volume.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            '[tables.part]\npartition = { column = "p_partkey", count = 4 }',
            "has no table partitions",
        ),
        ('indexes = "keys+foreign"', "cannot add a foreign key"),
        ('form = "row"', "no row format"),
        ('[volumes]\ndata = "/tmp"', "one file, set in the target URL"),
        ('[volumes]\nlog = "/tmp"', "log is next to its file"),
        ('[volumes]\ntemp = "tablespace:x"', "no tablespaces"),
        ("preallocate_gb = 1.0", "grows its file"),
    ],
)
def test_what_it_cannot_do_has_a_reason(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=rf"The duckdb target does not support layout .*{reason}"):
        targets.require_layout(targets.parse("embedded:duckdb"), written(tmp_path, text))
