"""Layouts spread over volumes: partitions in turn, tables by size, and what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dyno import targets
from dyno.errors import UsageError
from dyno.layouts import volumes
from dyno.layouts.resolve import resolve
from dyno.layouts.spread import spread
from dyno.plans.loading import LoadingPlan
from dyno.runner import spread as places
from dyno.runner.layout import chosen_layout

PRIVATE = targets.parse("embedded:postgresql")


def test_partitions_go_round_and_tables_to_the_emptiest() -> None:
    found = spread(resolve("partitioned-8", "tpch", 1), ["/a", "/b", "/c"], 1)
    parts = [part.volume for part in found.design("lineitem").partitions]
    assert parts == ["/a", "/b", "/c", "/a", "/b", "/c", "/a", "/b"]
    # Two partitions of eight lie on c, three on the others: there the next two largest fit.
    assert found.design("orders").volume == "/c"
    needed = volumes.needs(found, 1)
    assert set(needed) == {"/a", "/b", "/c"}
    assert max(needed.values()) < 1.2 * min(needed.values())
    assert volumes.share_here(found, 1) == 0


def test_one_place_and_many_differ_only_in_where_things_lie() -> None:
    plain = resolve("default", "tpcc", 2)
    one, six = (spread(plain, [f"/{n}" for n in range(count)], 2) for count in (1, 6))
    assert one.data_volumes() == ["/0"]
    assert set(six.data_volumes()) == {f"/{n}" for n in range(6)}
    largest = {six.design(name).volume for name in ("stock", "order_line", "customer")}
    assert len(largest) == 3
    bare = {
        name: {
            table: design.model_copy(update={"volume": None})
            for table, design in layout.tables.items()
        }
        for name, layout in (("one", one), ("six", six))
    }
    assert bare["one"] == bare["six"]


def loading(out: Path, **asked: Any) -> LoadingPlan:
    return LoadingPlan(workload="tpch", target="null:", scale=1, out=out, **asked)


def test_folders_are_made_beside_the_engine_and_marked_as_its_own(tmp_path: Path) -> None:
    asked = loading(tmp_path, spread=2)
    layout = places.over(asked, resolve("default", "tpcc", 2), PRIVATE, 2)
    assert not any(tmp_path.iterdir())
    places.prepare(asked, PRIVATE)
    home = tmp_path / "engines" / "postgresql"
    assert layout.data_volumes() == [str(home / "volumes" / "1"), str(home / "volumes" / "2")]
    assert all(Path(volume).is_dir() for volume in layout.data_volumes())
    assert (home.parent / ".dyno-postgresql").exists()


@pytest.mark.parametrize(
    ("asked", "target", "layout", "message"),
    [
        (
            {"volumes": "/a,/b", "spread": 3},
            "embedded:postgresql",
            "default",
            "--spread 3 needs as many",
        ),
        ({"volumes": "/a,/a"}, "embedded:postgresql", "default", "name each once"),
        ({"volumes": ","}, "embedded:postgresql", "default", "name each once"),
        ({"volumes": "a"}, "embedded:postgresql", "default", "--volumes is 'a'; use the absolute"),
        ({"spread": 2}, "postgresql://h/d", "default", "Name the volumes of this server"),
        ({"spread": 2}, "embedded:duckdb", "default", "a DuckDB database is one file"),
        ({"spread": 2}, "embedded:duckdb", "partitioned-4", "has no table partitions"),
    ],
)
def test_what_cannot_be(
    tmp_path: Path, asked: dict[str, Any], target: str, layout: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        chosen_layout(layout, targets.parse(target), "tpch", 1, loading(tmp_path, **asked))
    assert not any(tmp_path.iterdir())


def test_a_layout_that_places_tables_itself_is_not_spread(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'[volumes]\ndata = "{tmp_path}"\n')
    with pytest.raises(UsageError, match="already places its tables"):
        spread(resolve(str(file), "tpch", 1), ["/a"], 1)
