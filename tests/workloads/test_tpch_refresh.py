"""Refresh pairs: new keys, disjoint, known by their conditions; streams by scale."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dyno import _core, workloads
from dyno.errors import UsageError
from dyno.workloads.tpch.refresh import REFRESH, pair
from dyno.workloads.tpch.streams import streams

SCALE = 0.001
PAIRS = st.integers(0, 2_996)
SEEDS = st.integers(0, 2**63)


def keys(scale: float, seed: int, number: int) -> set[int]:
    stream = pair(scale, seed, number).readers(_core.Control())["orders"]
    return set(pa.RecordBatchReader.from_stream(stream).read_all()["o_orderkey"].to_pylist())


@settings(max_examples=60, deadline=None)
@given(SEEDS, PAIRS, PAIRS)
def test_pairs_share_no_key_with_each_other_or_with_loaded_orders(
    seed: int, one: int, other: int
) -> None:
    first, second = keys(0.002, seed, one), keys(0.002, seed, other)
    assert len(first) == len(second) == 3
    assert one == other or first.isdisjoint(second)
    assert all(key % 32 >= 8 for key in first)


def test_loaded_keys_leave_the_others_free() -> None:
    stream = _core.arrow_stream("tpch", "orders", 0.01, 1, 1, _core.Control())
    loaded = pa.RecordBatchReader.from_stream(stream).read_all()["o_orderkey"].to_pylist()
    assert all(key % 32 < 8 for key in loaded)


@settings(max_examples=15, deadline=None)
@given(SEEDS, PAIRS)
def test_a_pair_is_known_by_its_condition(seed: int, number: int) -> None:
    import duckdb

    one = pair(SCALE, seed, number)
    for table, stream in one.readers(_core.Control()).items():
        rows = pa.RecordBatchReader.from_stream(stream).read_all()
        for condition in ("true", one.own[table], REFRESH.foreign[table]):
            with duckdb.connect() as session:
                session.register("rows_of_pair", rows)
                query = f"SELECT COUNT(*) FROM rows_of_pair WHERE {condition}"
                assert session.execute(query).fetchall() == [(one.rows[table],)]


def test_there_are_not_endlessly_many() -> None:
    with pytest.raises(UsageError, match="2997 pairs"):
        pair(1, 1, 2_997)


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
