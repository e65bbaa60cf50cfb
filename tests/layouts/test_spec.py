"""Layouts as they are written: presets fit, and each mistake gets one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from dyno import layouts
from dyno.contracts import schema
from dyno.errors import UsageError
from dyno.layouts import spec
from dyno.layouts.parts import LayoutParts, needed, require
from dyno.layouts.resolve import resolve


@pytest.mark.parametrize("name", layouts.names())
def test_every_preset_says_what_it_is_for_and_fits(name: str) -> None:
    assert len(layouts.purpose(name)) > 40
    written = spec.read(name)[2]
    own = (one for one in ("tpch", "tpcc", "brokerage")
           if set(written.tables) <= set(schema.table_names(one)))  # fmt: skip
    layout = resolve(name, next(own), 8)
    assert (layout.name, layout.source) == (name, "preset")
    asked = {part for part, _ in needed(layout)}
    assert (asked == set()) == (name == "default")
    assert type(layout).model_validate_json(layout.model_dump_json(exclude_defaults=True)) == layout


def test_what_a_target_cannot_do_is_refused_with_its_reason() -> None:
    layout = resolve("partitioned-4", "tpch", 1)
    with pytest.raises(UsageError, match=r"null target .*lineitem is partitioned.*one fixed"):
        require(layout, LayoutParts(), "null")
    require(layout, LayoutParts(partitions=True), "null")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('index = "none"', r"unknown key 'index'. Did you mean 'indexes'"),
        ('indexes = "nne"', r"indexes is 'nne'; it must be 'none', 'keys'"),
        ("x =", "not valid TOML"),
        ('[volumes]\ndat = "/x"', r"unknown key 'volumes.dat'. Did you mean 'data'"),
        ('[volumes]\ndata = "x"', r"volumes.data is 'x'; use the absolute path"),
        (
            '[volumes]\nlog = "tablespace:x"',
            r"volumes.log is 'tablespace:x'; use the absolute path",
        ),
        ("[tables.lineitems]", r"unknown table 'lineitems'. Did you mean 'lineitem'"),
        ('[tables.part]\nclusters = ["p_size"]', r"'tables.part.clusters'. Did you mean 'cluster'"),
        ('[tables.part]\ncluster = ["p_sze"]', r"column of part 'p_sze'. Did you mean 'p_size'"),
        ('[tables.part]\ncluster = ["p_size", "p_size"]', r"cluster\[1\] repeats p_size"),
        ('[[tables.part.indexes]]\ncolums = ["x"]', r"indexes\[0\].colums'. Did you mean"),
        ("[[tables.part.indexes]]", r"tables.part.indexes\[0\].columns is missing"),
        (
            '[[tables.part.indexes]]\ncolumns = ["p_size"]\nname = "orders_by_customer"',
            "the name orders_by_customer is already in use",
        ),
        ('[tables.orders]\npartition = { column = "o_orderdat", count = 4 }', "mean 'o_orderdate'"),
        ('[tables.orders]\npartition = { column = "o_orderdate", count = 1 }', "greater than or"),
        ('[tables.orders]\npartition = { column = "o_orderdate" }', "either count or bounds"),
        ('[tables.orders]\npartition = { column = "o_totalprice", count = 4 }', "set bounds"),
        (
            '[tables.region]\npartition = { column = "r_name", bounds = ["M"] }',
            r"bounds\[0\] is 'M'; it must be of another column: servers sort texts",
        ),
        (
            '[tables.orders]\npartition = { column = "o_orderdate", bounds = [1995] }',
            r"bounds\[0\] is 1995; it must be a date like 1995-01-31",
        ),
        (
            '[tables.orders]\npartition = { column = "o_orderdate", '
            'bounds = ["1995-01-01", "1994-01-01"] }',
            r"bounds\[1\] is 1994-01-01, below 1995-01-01 before it; bounds must increase",
        ),
        (
            '[tables.orders]\npartition = { column = "o_orderdate", '
            'bounds = [1995-01-01, "1995-01-01"] }',
            r"bounds\[1\] repeats the bound 1995-01-01",
        ),
    ],
)
def test_a_mistake_is_reported_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message) as caught:
        resolve(str(file), "tpch", 1)
    assert "\n" not in str(caught.value).removesuffix("\n") or "TOML" in str(caught.value)


def test_a_column_that_can_be_null_has_no_ranges(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = '[tables.orders]\npartition = { column = "o_carrier_id", bounds = [5] }'
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="is nullable"):
        resolve(str(file), "tpcc", 1)


def test_an_unknown_name_offers_the_nearest_and_lists_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Did you mean 'clustered'\? Known: bare, .*keys-foreign"):
        spec.read("clusterd")
    with pytest.raises(UsageError, match=r"Cannot read the layout .*No such file"):
        spec.read(str(tmp_path / "absent.toml"))
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        spec.read(str(tmp_path / "binary.toml"))


def test_a_volume_may_be_a_folder_of_windows(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[volumes]\ndata = 'E:\\data'\nlog = 'F:\\log'\n", encoding="utf-8")
    layout = resolve(str(file), "tpch", 1)
    assert (layout.data, layout.log) == ("E:\\data", "F:\\log")
    file.write_text("[volumes]\ndata = 'E:data'\n", encoding="utf-8")
    with pytest.raises(UsageError, match="use the absolute path"):
        resolve(str(file), "tpch", 1)


def test_compression_of_a_table_wins_over_that_of_all(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = 'compression = "page"\n[tables.part]\ncompression = "none"\n'
    file.write_text(text, encoding="utf-8")
    layout = resolve(str(file), "tpch", 1)
    assert layout.design("part").compression == "none"
    assert layout.design("lineitem").compression == "page"
    with pytest.raises(UsageError, match=r"compression = 'none'\): Dyno does not set"):
        require(layout, LayoutParts(), "null")


def test_volumes_are_used_in_turn(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'form = "row"\n[volumes]\ndata = "/a"\n[tables.lineitem]\nform = "column"\n'
        'partition = { column = "l_orderkey", count = 3, volumes = ["/b", "tablespace:c"] }\n',
        encoding="utf-8",
    )
    layout = resolve(str(file), "tpch", 0.01)
    parts = layout.design("lineitem").partitions
    assert [layout.volume_of("lineitem", part) for part in parts] == ["/b", "tablespace:c", "/b"]
    assert layout.data_volumes() == ["/a", "/b", "tablespace:c"]
    assert layout.volume_of("part") == "/a"
    assert (layout.design("part").form, layout.design("lineitem").form) == ("row", "column")
    assert layout.design("lineitem").bounds == ("20001", "40001")
