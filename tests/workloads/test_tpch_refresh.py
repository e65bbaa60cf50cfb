"""Update sets: new keys and loaded ones, disjoint, known by their conditions; streams by scale."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno import _core, workloads
from dyno.workloads.tpch.refresh import REFRESH, update_set
from dyno.workloads.tpch.streams import streams

SCALE = 0.001
SETS = st.integers(0, 2_996)
SETS_OF_LOADED = 999
"""After so many the loaded orders begin again."""


def rows(table: str, scale: float, number: int, *, loaded: bool = False) -> pa.Table:
    update = update_set(scale, number)
    readers = update.loaded_readers if loaded else update.readers
    return pa.RecordBatchReader.from_stream(readers(_core.Control())[table]).read_all()


def keys(scale: float, number: int, *, loaded: bool = False) -> set[int]:
    return set(rows("orders", scale, number, loaded=loaded)["o_orderkey"].to_pylist())


def all_rows(table: str, scale: float) -> pa.Table:
    stream = _core.arrow_stream("tpch", table, scale, 1, 1, _core.Control())
    return pa.RecordBatchReader.from_stream(stream).read_all()


@settings(max_examples=60, deadline=None)
@given(SETS, SETS)
def test_sets_share_no_key_with_each_other(one: int, other: int) -> None:
    first, second = keys(0.002, one), keys(0.002, other)
    assert len(first) == len(second) == 3
    assert one == other or first.isdisjoint(second)
    assert all(key % 32 >= 8 for key in first)
    if one % SETS_OF_LOADED != other % SETS_OF_LOADED:
        assert keys(0.002, one, loaded=True).isdisjoint(keys(0.002, other, loaded=True))


def test_loaded_keys_leave_the_others_free() -> None:
    loaded = all_rows("orders", 0.01)["o_orderkey"].to_pylist()
    assert all(key % 32 < 8 for key in loaded)


@pytest.mark.parametrize("table", ["orders", "lineitem"])
def test_what_is_deleted_is_the_loaded_population_in_the_order_of_its_keys(table: str) -> None:
    whole = all_rows(table, 0.002)
    sets = [rows(table, 0.002, number, loaded=True) for number in range(40)]
    deleted = pa.concat_tables(sets)
    assert deleted.to_pylist() == whole.slice(0, deleted.num_rows).to_pylist()
    assert sum(1_500 * 0.002 for _ in sets) == len(set(deleted[0].to_pylist()))


@settings(max_examples=15, deadline=None)
@given(SETS)
def test_a_set_is_known_by_its_conditions(number: int) -> None:
    import duckdb

    one = update_set(SCALE, number)
    for loaded, own in ((False, one.new), (True, one.loaded)):
        for table in one.rows:
            found = rows(table, SCALE, number, loaded=loaded)
            whole = all_rows(table, SCALE)
            with duckdb.connect() as session:
                session.register("own", found)
                session.register("whole", whole)

                def counted(source: str, session: duckdb.DuckDBPyConnection = session) -> int:
                    row = session.execute(f"SELECT COUNT(*) FROM {source}").fetchone()
                    assert row is not None
                    return int(row[0])

                assert counted(f"own WHERE {own[table]}") == found.num_rows == one.rows[table]
                among = counted(f"whole WHERE {own[table]}")
                assert among == (one.rows[table] if loaded else 0)
                foreign = counted(f"own WHERE {REFRESH.foreign[table]}")
                assert foreign == (0 if loaded else one.rows[table])


def test_the_key_digest_sees_a_key_exchanged_for_others_of_the_same_sum() -> None:
    import duckdb

    def digest(*found: int) -> object:
        values = ", ".join(f"({key})" for key in found)
        aggregates = REFRESH.digests["orders"]
        return duckdb.execute(
            f"SELECT {aggregates} FROM (VALUES {values}) t(o_orderkey)"
        ).fetchall()

    assert digest(1, 2, 3) == digest(3, 1, 2)
    assert digest(1, 4) != digest(2, 3)
    assert digest(1, 2) != digest(1, 2, 3)


@pytest.mark.parametrize(
    ("scale", "count"),
    [(0.01, 2), (1, 2), (9.9, 2), (10, 3), (30, 4), (100, 5), (300, 6), (1000, 7), (10_000, 9)],
)
def test_streams_by_scale(scale: float, count: int) -> None:
    assert streams(scale) == count


def test_streams_draw_for_themselves() -> None:
    queries = workloads.get("tpch").queries
    drawn = [[query.draw(100 + stream, 1) for query in queries] for stream in range(41)]
    assert drawn == [[query.draw(100 + stream, 1) for query in queries] for stream in range(41)]
    assert len({str(parameters) for parameters in drawn}) == 41
