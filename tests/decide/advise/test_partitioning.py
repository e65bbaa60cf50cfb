"""Advice on partitions: from a run, from a live catalog, and as files that a study accepts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dyno.cli import cli
from dyno.contracts.advice import Catalog, ColumnFacts, IndexFacts, TableFacts, dialect
from dyno.decide.advise.kinds.partitioning import KIND
from dyno.decide.advise.loads import Load
from dyno.decide.advise.section import Asked, Section
from dyno.decide.advise.system import Database, Facts, System
from dyno.decide.advise.uses import Uses, of_rows
from dyno.layouts.resolve import resolve
from dyno.studies import spec
from tests import bundle_data as data
from tests.bundles import Builder
from tests.decide.advise.test_reads import relation, statement

MB = 10**6


def used(name: str, reads: int, size: int = 100 * MB) -> dict[str, Any]:
    return {**relation(name, name, "table", reads), "bytes": size}


def counted(*texts: tuple[str, int]) -> list[dict[str, Any]]:
    return [
        statement(number, text=text, logical_reads=reads)
        for number, (text, reads) in enumerate(texts)
    ]


def column(name: str, kind: Any = "integer", **given: Any) -> ColumnFacts:
    return ColumnFacts(name, kind, **{"nullable": False, "distinct": 1e6, **given})


DAYS = tuple(f"20{year:02d}-01-01" for year in range(21))
SALE = TableFacts(
    "shop.sale",
    100 * MB,
    columns=(
        column("id", histogram=("1", "1000001")),
        column("day", "date", histogram=DAYS, source="pg_stats"),
        column("state", "text", distinct=3.0),
        column("shop", common={str(n): 0.1 for n in range(10)}, distinct=10.0),
        column("note", "text"),
    ),
    keys={"sale_pkey": ("id",)},
    primary_key="sale_pkey",
)
INDEXES = (
    IndexFacts("shop.sale_pkey", "shop.sale", ("id",), needed=True),
    IndexFacts("shop.sale_by_day", "shop.sale", ("day", "id")),
    IndexFacts("shop.sale_by_state", "shop.sale", ("state",)),
)
BY_DAY = "SELECT sum(id) FROM sale WHERE day >= $1 AND day < $2"
BY_SHOP = "SELECT * FROM sale WHERE shop = $1"


def live(
    *texts: tuple[str, int],
    table: TableFacts = SALE,
    reads: Mapping[str, int] | None = None,
    target: str = "postgresql",
    loads: tuple[Load, ...] = (),
) -> System:
    """A live database with a table and counters."""
    rows = [used(name, count) for name, count in (reads or {"shop.sale": 1000}).items()]
    database = Database(
        target,
        "postgresql://app@db1/shop",
        "PostgreSQL 17.2",
        {},
        dialect(target),
        live=True,
        catalog=Catalog({}, (table,), INDEXES),
    )
    uses = of_rows(counted(*texts), rows, {}, "", ())
    return System("live", Facts({}, "?"), (), database, uses=uses, loads=loads)


def advised(system: System) -> Section:
    found = KIND.advise(system, Asked())
    assert found is not None
    return found


def first(system: System) -> dict[str, Any]:
    found: dict[str, Any] = advised(system).document["tables"][0]
    return found


def test_the_column_with_most_of_the_reads_wins() -> None:
    system = live((BY_DAY, 700), (BY_SHOP, 200), ("SELECT max(id) FROM sale", 100))
    found = first(system)
    assert (found["column"], found["method"]) == ("day", "range")
    assert found["restricted"] == pytest.approx(0.7)
    assert found["others"][0]["column"] == "shop"
    assert found["bounds"]["4"]["at"] == ["2005-01-01", "2010-01-01", "2015-01-01"]
    assert found["bounds"]["4"]["unit"] == "year"
    assert found["keys_without_column"] == ["sale_pkey"]
    assert found["aligned"] == ["shop.sale_by_day"]
    assert set(found["unaligned"]) == {"sale_pkey", "shop.sale_by_state"}
    assert [one["skips"] for one in found["effects"]] == [True, False, False]
    assert sum(one["share"] for one in found["effects"]) == pytest.approx(1.0)


def test_a_number_that_is_only_asked_for_by_value_is_hashed() -> None:
    found = first(live((BY_SHOP, 900), (BY_DAY, 100)))
    assert (found["column"], found["method"]) == ("shop", "hash")
    lines = next(iter(found["commands"].values()))
    assert any("WITH (MODULUS 4, REMAINDER 3)" in line for line in lines)


def test_the_commands_have_every_key_with_the_column() -> None:
    lines = next(iter(advised(live((BY_DAY, 1))).commands.values()))
    text = "\n".join(lines)
    assert "PARTITION BY RANGE" in text
    assert "FROM ('2015-01-01') TO (MAXVALUE)" in text
    assert 'ADD PRIMARY KEY ("id", "day");' in text
    assert text.count("CREATE INDEX ON") == 2


def test_a_nullable_column_gets_a_partition_for_null() -> None:
    table = replace(SALE, columns=tuple(replace(one, nullable=True) for one in SALE.columns))
    text = "\n".join(next(iter(advised(live((BY_DAY, 1), table=table)).commands.values())))
    assert "DEFAULT;" in text


SMALL = {"shop.sale": 1, "shop.other": 999}


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        (live(("SELECT max(id) FROM sale", 1)), "no statement has a condition"),
        (live((BY_DAY, 5), ("SELECT max(id) FROM sale", 95)), "conditions with a value"),
        (live(("SELECT * FROM sale WHERE state = $1", 1)), "no statement has a condition"),
        (live((BY_DAY, 1), table=replace(SALE, partition_of="shop.sale")), "partitioned already"),
        (live((BY_DAY, 1), reads=SMALL), "columns are unknown"),
    ],
    ids=["none", "few", "three-values", "partitioned", "other"],
)
def test_a_table_that_should_stay_as_it_is(system: System, reason: str) -> None:
    section = advised(system)
    (found,) = section.document["tables"]
    assert found["advised"] is False
    assert reason in found["reason"]
    assert not section.variants
    assert not section.commands


def test_a_small_table_is_left_alone() -> None:
    system = live((BY_DAY, 1))
    uses = of_rows(counted((BY_DAY, 1)), [used("shop.sale", 9, 7 * MB)], {}, "", ())
    assert "less than 8 MB" in first(replace(system, uses=uses))["reason"]


def test_partitions_that_are_counted_apart() -> None:
    part = relation("shop.sale_1", "shop.sale", "table", 100)
    uses = of_rows(counted((BY_DAY, 1)), [{**part, "bytes": 100 * MB}], {}, "", ())
    assert uses.partitioned == {"shop.sale"}
    assert "partitioned already" in first(replace(live(), uses=uses))["reason"]


def test_statements_that_cannot_be_parsed_are_counted() -> None:
    section = advised(live((BY_DAY, 60), ("SELECT FROM WHERE sale", 40)))
    assert section.document["unparsed"] == 1
    assert section.document["unparsed_share"] == pytest.approx(0.4)
    assert any("could not be parsed" in line for line in section.closing)


def test_bounds_without_a_histogram_are_missing() -> None:
    table = replace(SALE, columns=tuple(replace(one, histogram=()) for one in SALE.columns))
    section = advised(live((BY_DAY, 1), table=table))
    assert section.document["tables"][0]["bounds"] == {}
    assert any("the bounds are missing" in line for line in section.closing)
    assert not section.commands


@pytest.mark.parametrize("target", ["sqlite", "duckdb", "clickhouse", "null"])
def test_an_engine_without_partitions_says_so(target: str) -> None:
    section = advised(live((BY_DAY, 1), target=target))
    assert section.document["tables"] == []
    assert section.document["reason"]


def test_reads_or_statements_that_are_unknown() -> None:
    system = live((BY_DAY, 1))
    notes = ("statements are not recorded: GRANT it",)
    blind = replace(system, uses=Uses(notes=notes))
    assert "GRANT it" in advised(blind).document["reason"]
    tables = replace(system, uses=replace(system.uses, statements=(), notes=notes))
    assert "GRANT it" in advised(tables).document["reason"]
    assert KIND.advise(replace(system, database=None), Asked()) is None


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder with a run of queries that nothing counted, and the reads of its tables."""
    folder = tmp_path / "out"
    builder = Builder(folder / "20261120T140000Z-ab12", verb="run").machine().target("postgresql")
    builder.power("postgresql", data.ROW_SECONDS, scale=3.0)
    (phase,) = [one for one in builder.phases if one.kind == "dss"]
    at = {"t_ns": phase.start_ns, "end_ns": phase.end_ns, "target": "postgresql"}
    for name, reads in (("lineitem", 800), ("orders", 150), ("region", 50)):
        row = used(f"dyno_tpch.{name}", reads)
        builder.tables.setdefault("relations", []).append({**row, **at})
    builder.write()
    return folder


def called(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [*map(str, words)], standalone_mode=False)


def test_a_run_ends_as_a_study_of_layouts(out: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    done = called("advise", "last", "--out", out, "--write", folder, "--json")
    document = json.loads(done.stdout)
    (system,) = document["systems"]
    found = system["partitioning"]["tables"]
    assert [(one["table"], one["column"]) for one in found] == [
        ("dyno_tpch.lineitem", "l_shipdate"), ("dyno_tpch.orders", "o_orderdate")
    ]  # fmt: skip
    assert system["partitioning"]["unit"] == "time"
    assert {one["name"] for one in found[0]["variants"]} == {"lineitem in 4", "lineitem in 8"}
    studies = [Path(one) for one in document["written"] if one.endswith("-study.toml")]
    assert len(studies) == 2
    for file in studies:
        study = spec.read(str(file))
        table = "lineitem" if "lineitem" in file.name else "orders"
        names = [one.name for one in study.variants]
        assert names == ["whole", f"{table} in 4", f"{table} in 8"]
        assert {one.scale for one in study.variants} == {3.0}
        whole, *others = study.variants
        assert "layout" not in whole.load
        for one, count in zip(others, (4, 8), strict=True):
            layout = resolve(str(one.load["layout"]), "tpch", 3.0)
            (design,) = layout.tables.values()
            assert len(design.partitions) == count
        plan = called("study", "plan", file, "--out", out)
        assert plan.return_value in (0, None), plan.output
        assert "15 runs, 5 of each of 3 variants" in plan.output
    again = called("advise", "last", "--out", out, "--write", folder)
    assert getattr(again.exception, "exit_code", None) == 2


def test_data_with_another_layout_has_no_study(out: Path) -> None:
    (folder,) = out.iterdir()
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    run["plan"]["layout"] = {"name": "keys", "workload": "tpch", "indexes": "keys"}
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    done = called("advise", "last", "--out", out, "--json")
    (system,) = json.loads(done.stdout)["systems"]
    assert [one["column"] for one in system["partitioning"]["tables"]] == [
        "l_shipdate", "o_orderdate"
    ]  # fmt: skip
    assert not [one for one in system["variants"] if one["kind"] == "partitioning"]


@pytest.mark.parametrize("columns", [80, 160])
def test_a_run_on_a_terminal(out: Path, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = called("advise", "last", "--out", out)
    text = done.output.partition("Partitioning")[2]
    assert "l_shipdate" in text
    assert max(map(len, text.splitlines())) <= columns


def test_nothing_to_write(tmp_path: Path) -> None:
    folder = tmp_path / "advice"
    done = called("advise", "--out", tmp_path / "empty", "--write", folder)
    assert "Nothing to write" in done.output
    assert not folder.exists()


def test_files_go_through_no_link(out: Path, tmp_path: Path) -> None:
    folder, other = tmp_path / "advice", tmp_path / "other"
    folder.mkdir()
    (folder / "postgresql-lineitem-by-l_shipdate-4.toml").symlink_to(other)
    done = called("advise", "last", "--out", out, "--write", folder)
    assert getattr(done.exception, "exit_code", None) == 2
    assert not other.exists()
    shutil.rmtree(folder)


def test_a_variant_has_the_text_of_its_layout(tmp_path: Path) -> None:
    table = replace(SALE, name="dyno_tpch.lineitem")
    system = live((BY_DAY.replace("sale", "lineitem"), 1), table=table,
                  reads={"dyno_tpch.lineitem": 1}, loads=(Load("tpch", 1.0),))  # fmt: skip
    # Another table of the name: its columns are not those of the workload.
    section = advised(system)
    assert not section.variants
    assert section.document["tables"][0]["no_study"]
    assert section.files is None
