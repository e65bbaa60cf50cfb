"""Tables are read in the order of time, whatever the size of their batches."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyno.errors import UsageError
from dyno.live.bins import NS
from dyno.live.courses import Course, added
from dyno.live.operations import HELD

TABLES = st.lists(
    st.lists(st.lists(st.integers(0, 5000), max_size=40), max_size=6), min_size=1, max_size=4
)


def batch(seconds: list[int]) -> pa.RecordBatch:
    return pa.record_batch({"t_ns": pa.array([second * NS for second in seconds], pa.int64())})


@contextlib.contextmanager
def noted() -> Generator[None]:
    with contextlib.suppress(UsageError):
        yield


@given(TABLES)
def test_every_row_is_added_once_and_none_long_after_later_ones(
    tables: list[list[list[int]]],
) -> None:
    given = []
    for table in tables:  # each in the order of time, as a run writes it
        moments = iter(sorted(second for batch in table for second in batch))
        given.append([[next(moments) for _ in batch] for batch in table])
    found: list[list[int]] = [[] for _ in given]
    newest = 0

    def course(number: int) -> Course:
        def add(rows: pa.RecordBatch) -> None:
            nonlocal newest
            seconds = [moment // NS for moment in rows.column("t_ns").to_pylist()]
            found[number] += seconds
            assert newest - min(seconds) < HELD
            newest = max(newest, *seconds)

        return Course(map(batch, given[number]), "t_ns", add, noted)

    for _ in added([course(number) for number in range(len(given))]):
        pass
    assert found == [[second for batch in table for second in batch] for table in given]


@pytest.mark.parametrize("where", ["read", "added"])
def test_a_damaged_table_ends_alone(where: str) -> None:
    found: list[int] = []

    def damaged() -> Iterator[pa.RecordBatch]:
        yield batch([1])
        if where == "read":
            raise UsageError("It is damaged.")
        yield batch([2])
        yield batch([3])

    def refuse(rows: pa.RecordBatch) -> None:
        if where == "added" and rows.column("t_ns").to_pylist() != [NS]:
            raise UsageError("It is damaged.")

    def keep(rows: pa.RecordBatch) -> None:
        found.extend(rows.column("t_ns").to_pylist())

    courses = [
        Course(damaged(), "t_ns", refuse, noted),
        Course(map(batch, [[1, 200], [900]]), "t_ns", keep, noted),
    ]
    assert len(list(added(courses))) < 8
    assert found == [NS, 200 * NS, 900 * NS]
