"""Layouts on a server that speaks T-SQL: Babelfish, which has a part of SQL Server's design."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from dyno import targets
from dyno.config.settings import parse
from dyno.contracts.layout import Layout
from dyno.contracts.target import Limits
from dyno.errors import DynoError, UsageError
from dyno.layouts.resolve import resolve
from dyno.targets.sqlserver import sliding
from dyno.targets.sqlserver.target import SqlServerTarget
from tests.babelfish import alone
from tests.targets.sqlserver_golden import OWN, statements, written

pytestmark = pytest.mark.long

PLACE = "dyno_tpch"
REGION = "INSERT INTO region VALUES (1, 'EUROPE', 'x')"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SqlServerTarget]:
    """A server without Dyno's databases."""
    with alone() as url:
        target = targets.open_target(targets.parse(url), tmp_path, Limits(1 << 30, 2))
        with cast("SqlServerTarget", target) as found:
            found.remove()
            yield found
            found.remove()


def create(target: SqlServerTarget, name: str, *, replace: bool = False) -> Layout:
    wanted = resolve(name, "tpch", 1)
    target.create_tables("tpch", replace=replace, layout=wanted)
    return wanted


def index(target: SqlServerTarget, wanted: Layout) -> dict[str, Any]:
    return target.index("tpch", threading.Event(), lambda *_: None, wanted)


def rows(target: SqlServerTarget, *statements: str) -> list[tuple[Any, ...]]:
    with closing(target.connect("tpch")) as session:
        return [session.execute(one) for one in statements][-1].rows


def lineitem(key: int, shipped: str) -> str:
    return (
        f"INSERT INTO lineitem VALUES ({key}, 1, 1, 1, 1, 1, 0, 0, 'N', 'O', '{shipped}', "
        f"'{shipped}', '{shipped}', 'NONE', 'MAIL', 'x')"
    )


def test_a_bound_belongs_to_the_partition_on_its_right(server: SqlServerTarget) -> None:
    wanted = create(server, "partitioned-4")
    bounds = wanted.design("lineitem").bounds
    dates = ["1992-01-02", *bounds, "1998-12-01"]
    found = rows(
        server,
        *(lineitem(number, date) for number, date in enumerate(dates)),
        "SELECT l_orderkey, $PARTITION.lineitem_ranges(l_shipdate) FROM lineitem ORDER BY 1",
    )
    assert [tuple(map(int, row)) for row in found] == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4)]
    done = index(server, wanted)
    assert done["primary key lineitem"] > 0
    assert any("(l_orderkey, l_linenumber, l_shipdate)" in note for note in done["notes"])
    assert any("clustered indexes are plain B-trees" in note for note in done["notes"])
    counted = rows(
        server,
        "SELECT partition_number FROM sys.partitions WHERE object_id = OBJECT_ID('lineitem') "
        "AND index_id < 2",
    )
    assert {int(row[0]) for row in counted} == {1, 2, 3, 4}


def test_a_replaced_layout_leaves_no_partitions(server: SqlServerTarget) -> None:
    create(server, "partitioned-8")
    create(server, "default", replace=True)
    assert rows(server, "SELECT name FROM sys.partition_functions") == []
    assert rows(server, "SELECT name FROM sys.partition_schemes") == []


def test_an_index_stage_that_is_repeated_builds_nothing(server: SqlServerTarget) -> None:
    wanted = create(server, "default")
    first, again = index(server, wanted), index(server, wanted)
    assert first["primary key lineitem"] > 0
    assert first["index lineitem_by_part"] > 0
    assert not [name for name in again if name.startswith(("primary key", "index"))]


def test_foreign_keys_are_checked(server: SqlServerTarget) -> None:
    index(server, create(server, "keys-foreign"))
    rows(server, REGION, "INSERT INTO nation VALUES (1, 'FRANCE', 1, 'x')")
    with pytest.raises(DynoError, match="547"):
        rows(server, "INSERT INTO nation VALUES (2, 'SPAIN', 9, 'x')")
    with pytest.raises(DynoError, match="2627"):
        rows(server, REGION)


def test_a_layout_without_keys_has_none(server: SqlServerTarget) -> None:
    index(server, create(server, "bare"))
    assert len(rows(server, REGION, REGION, "SELECT * FROM region")) == 2


def test_options_of_compression_are_accepted(server: SqlServerTarget) -> None:
    """Babelfish ignores them, so Dyno refuses the layout there; their text is right."""
    workload, text = OWN["compression-page"]
    wanted = written(workload, "compression-page", text)
    with pytest.raises(UsageError, match="accepts DATA_COMPRESSION and ignores it"):
        server.create_tables("tpch", replace=False, layout=wanted)
    create(server, "default")
    sent = [one for one in statements(wanted) if "DATA_COMPRESSION = PAGE" in one]
    assert len(sent) >= 12
    rows(server, *sent)


def test_what_the_server_lacks_is_refused_before_anything_changes(
    server: SqlServerTarget,
) -> None:
    for name in ("clustered", "columnar", "column-index"):
        with pytest.raises(UsageError, match="Babelfish"):
            create(server, name)
    with closing(server.connect()) as session:
        found = session.execute(f"SELECT name FROM sys.databases WHERE name = '{PLACE}'").rows
    assert found == []


def test_a_sliding_window_needs_switch(server: SqlServerTarget) -> None:
    create(server, "default")
    found = sliding.sliding_window(lambda: server.connect("tpch"), "tpch")
    assert found == sliding.NO_SWITCH


def test_settings_are_refused(tmp_path: Path) -> None:
    with alone() as url:
        target = targets.open_target(targets.parse(url), tmp_path, Limits(1 << 30, 2))
        found = cast("SqlServerTarget", target)
        found.tune(parse(["parallelism=2"], None, None))
        with pytest.raises(UsageError, match=r"parallelism=2: .* settings are those of PostgreSQL"):
            found.__enter__()
        assert list(tmp_path.rglob("settings-*.json")) == []
