"""Streams and refresh functions on real engines."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from dyno import _core, workloads
from dyno.bundle.model import Check
from dyno.bundle.reader import Bundle
from dyno.bundle.writer import Recorder
from dyno.contracts.refresh import UpdateSet
from dyno.contracts.target import Connection, Loaded, Target
from dyno.errors import TargetError
from dyno.runtime.progress import Silent
from dyno.stages import drive, load, prove
from dyno.stages.drive import PowerPlan, ThroughputPlan
from dyno.stages.drive.dss import refresh
from dyno.stages.drive.dss.refresh import transaction
from dyno.targets.insert import insert_values
from dyno.workloads.tpch.orders import order
from tests.drive.conftest import SCALE

SEED = 42
Plan = TypeVar("Plan", PowerPlan, ThroughputPlan)
TPCH = workloads.get("tpch")
BY_NAME = {query.name: query for query in TPCH.queries}


def throughput(**more: Any) -> ThroughputPlan:
    return ThroughputPlan("tpch", SCALE, **{"seed": SEED, "streams": 2, **more})


@contextmanager
def restored(recorder: Recorder, target: Target, plan: Plan, sets: int) -> Generator[Plan]:
    """The plan with the update sets that are next, on data that is restored afterwards."""
    with drive.restored(recorder, target, "tpch", sets) as first:
        # Pair 0 is the power test's.
        yield replace(plan, first_set=first - isinstance(plan, ThroughputPlan))


def held(target: Target) -> Loaded:
    found = target.loaded("tpch")
    assert found is not None
    return found


def written(recorder: Recorder) -> list[dict[str, Any]]:
    recorder.finish("done")
    rows = Bundle.open(recorder.path).table("queries").to_pylist()
    return sorted(rows, key=lambda row: row["t_ns"])


def checks(recorder: Recorder) -> dict[str, Check]:
    return {check.name: check for check in Bundle.open(recorder.path).checks()}


def test_streams_overlap_each_in_its_order_and_the_data_is_as_before(
    target: Target, recorder: Recorder
) -> None:
    used = held(target).update_sets
    plan = throughput(parameters="seeded", refresh=True)
    with restored(recorder, target, plan, 2) as plan:
        result = drive.throughput(recorder, target, plan, Silent())
    prove.streams(recorder, "tpch", target.name, result.answers, alike=False)
    assert not result.errors
    rows = written(recorder)
    spans: list[tuple[int, int]] = []
    for stream in (1, 2):
        own = [row for row in rows if row["stream"] == stream]
        assert tuple(row["query"] for row in own) == order(stream)
        assert [row["position"] for row in own] == list(range(22))
        for row in own:
            drawn = BY_NAME[row["query"]].draw(SEED + stream, SCALE)
            assert json.loads(row["parameters"]) == json.loads(json.dumps(drawn, default=str))
            assert row["digest"] and row["rows"] is not None and row["error"] is None
            assert row["end_ns"] - row["t_ns"] == pytest.approx(row["seconds"] * 1e9, abs=2)
        for before, after in pairwise(own):
            assert before["end_ns"] <= after["t_ns"], "one at a time within a stream"
        spans.append((own[0]["t_ns"], own[-1]["end_ns"]))
    assert max(start for start, _ in spans) < min(end for _, end in spans)
    refreshes = [row for row in rows if row["stream"] == -1]
    assert [(row["position"], row["query"]) for row in refreshes] == [
        (1, "rf1"), (1, "rf2"), (2, "rf1"), (2, "rf2"),
    ]  # fmt: skip
    for inserted, deleted in zip(refreshes[::2], refreshes[1::2], strict=True):
        assert inserted["rows"] == deleted["rows"] > 15
        facts = json.loads(inserted["parameters"])
        assert facts == json.loads(deleted["parameters"])
        assert facts["update_set"] == used + inserted["position"] - 1
        assert facts["first_deleted_key"] % 32 < 8 <= facts["first_key"] % 32
    assert (held(target).update_sets, held(target).unrestored) == (used + 2, 0)
    ended = [row["end_ns"] for row in rows if row["stream"] > 0]
    assert sum(end <= refreshes[2]["t_ns"] for end in ended) >= 22, "pair 2 begins half way"
    found = checks(recorder)
    for name in ("refresh functions of the streams", "keys of orders", "keys of lineitem"):
        assert found[name].passed is True, found[name]
    assert all(check.passed for check in found.values())
    state = load.check(recorder, target, "tpch", Loaded(SCALE, 1, complete=True), "run")
    assert all(check.passed for check in state)
    (phase,) = [phase for phase in recorder.run.phases if phase.kind == "dss"]
    assert phase.start_ns <= rows[0]["t_ns"] and rows[-1]["end_ns"] <= (phase.end_ns or 0)


def test_streams_that_ask_the_same_agree(target: Target, recorder: Recorder) -> None:
    result = drive.throughput(recorder, target, throughput(), Silent())
    assert not result.errors
    made = prove.streams(recorder, "tpch", target.name, result.answers, alike=True)
    agreed = [check for check in made if check.name.startswith("answers-streams-")]
    assert len(agreed) == 22
    assert all(check.passed for check in made)
    digests = {(row["query"], row["digest"]) for row in written(recorder)}
    assert len(digests) == 22


def test_streams_that_disagree_are_found_out(target: Target, recorder: Recorder) -> None:
    result = drive.throughput(recorder, target, throughput(), Silent())
    *_, answer = next(item for item in result.answers if item[1] == "q06")
    answer.rows[0] = (answer.rows[0][0] + 100,)
    made = prove.streams(recorder, "tpch", target.name, result.answers, alike=True)
    assert [check.name for check in made if check.passed is False] == ["answers-streams-q06"]


def test_the_power_test_stands_between_its_refresh_functions(
    target: Target, recorder: Recorder
) -> None:
    plan = PowerPlan("tpch", SCALE, parameters="seeded", seed=SEED, refresh=True)
    with restored(recorder, target, plan, 1) as plan:
        result = drive.power(recorder, target, plan, Silent())
    assert not result.errors
    assert len(result.answers) == 22, "the warming pass has the validation parameters"
    assert len(result.drawn) == 22
    rows = written(recorder)
    assert [row["query"] for row in rows] == ["rf1", *order(0), "rf2"]
    assert {row["stream"] for row in rows[1:-1]} == {0}
    for before, after in pairwise(rows):
        assert before["end_ns"] <= after["t_ns"]
    assert all(check.passed for check in checks(recorder).values())


def test_a_query_that_takes_too_long_is_an_error_and_its_stream_goes_on(
    target: Target, recorder: Recorder
) -> None:
    result = drive.throughput(recorder, target, throughput(timeout_s=0.000_01), Silent())
    rows = written(recorder)
    assert len(rows) == 44, "both streams went on to their ends"
    assert {row["error_kind"] for row in rows} <= {"timeout", None}
    failed = [row for row in rows if row["error_kind"] == "timeout"]
    assert failed
    assert len(result.errors) == len(failed)
    assert all("did not finish within" in row["error"] for row in failed)
    assert all(row["digest"] is None and row["rows"] is None for row in failed)
    with closing(target.connect("tpch")) as session:
        assert session.execute("SELECT COUNT(*) FROM region").rows == [(5,)]


def test_a_refresh_function_that_takes_too_long_leaves_nothing(
    target: Target, recorder: Recorder
) -> None:
    plan = throughput(timeout_s=0.000_01, refresh=True)
    with restored(recorder, target, plan, 2) as plan:
        result = drive.throughput(recorder, target, plan, Silent())
    assert any(name.startswith("rf1") for name in result.errors)
    rows = [row for row in written(recorder) if row["stream"] == -1]
    assert len(rows) == 4
    found = checks(recorder)
    assert found["keys of orders"].passed is True
    assert found["refresh functions of the streams"].passed is not True


def test_refreshed_rows_are_counted_outside_of_the_queries(
    target: Target, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[int] = []
    plan = PowerPlan("tpch", SCALE, warm=False, seed=SEED, refresh=True)
    count = refresh.count

    def noted(connection: Connection, source: str) -> int:
        times.append(recorder.clock.unix_now_ns())
        return count(connection, source)

    monkeypatch.setattr(refresh, "count", noted)
    with restored(recorder, target, plan, 1) as plan:
        drive.power(recorder, target, plan, Silent())
    rows = written(recorder)
    assert len(times) == 4, "two tables after each function"
    *_, last, rf2 = rows
    assert last["end_ns"] <= times[0] <= times[1] <= rf2["t_ns"]
    assert rf2["end_ns"] <= times[2]
    assert checks(recorder)["refresh functions of the power test"].passed is True


@pytest.mark.parametrize("failing", [1, 3])
def test_rows_that_could_not_be_counted_prove_nothing(
    target: Target, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    asked: list[str] = []
    count = refresh.count

    def broken(connection: Connection, source: str) -> int:
        asked.append(source)
        if len(asked) == failing:
            raise TargetError("Cancelled.", kind="timeout")
        return count(connection, source)

    monkeypatch.setattr(refresh, "count", broken)
    plan = PowerPlan("tpch", SCALE, warm=False, seed=SEED, refresh=True)
    with restored(recorder, target, plan, 1) as plan:
        drive.power(recorder, target, plan, Silent())
    rows = [row for row in written(recorder) if row["stream"] == -1]
    assert [row["query"] for row in rows] == ["rf1", "rf2"]
    assert [row["rows"] is None for row in rows] == [failing == 1, failing == 3]
    found = checks(recorder)["refresh functions of the power test"]
    assert found.passed is None
    assert "could not be counted" in found.message


def refresh_set(number: int) -> UpdateSet:
    assert TPCH.refresh is not None
    return TPCH.refresh.update_set(SCALE, number)


def insert(target: Target, number: int) -> int:
    """RF1 of an update set, outside of a run; returns the rows that it inserted."""
    update = refresh_set(number)
    with closing(target.connect("tpch")) as session:
        rows: list[int] = []
        readers = update.readers(_core.Control())
        transaction(session, lambda own: rows.append(target.insert(own, "tpch", readers)))
    assert rows == [sum(update.rows.values())]
    return rows[0]


def delete(target: Target, number: int) -> int:
    """RF2 of an update set; returns the rows that it deleted."""
    update = refresh_set(number)

    def work(session: Connection) -> None:
        for table in reversed(list(update.rows)):
            session.execute(f"DELETE FROM {table} WHERE {update.loaded[table]}")

    with closing(target.connect("tpch")) as session:
        transaction(session, work)
    return sum(update.rows.values())


def test_what_a_killed_run_left_is_seen_and_restored(target: Target, recorder: Recorder) -> None:
    whole = held(target)
    first = whole.update_sets
    target.mark("tpch", replace(whole, update_sets=first + 3, unrestored=3))
    changed = insert(target, first) + delete(target, first)  # a pair that ended
    changed += insert(target, first + 1)  # one that was cut off; the third had not begun
    stray = insert(target, first + 1_500)  # and rows of which the mark says nothing
    killed = held(target)
    assert (killed.update_sets, killed.unrestored) == (first + 3, 3)
    assert killed == whole, "the mark still says what is loaded"
    state = load.check(recorder, target, "tpch", killed, "run")
    failed = {check.name: check for check in state if check.passed is False}
    assert set(failed) == {
        "rows left by refresh functions", "rows of orders", "rows of lineitem",
        "content of orders", "content of lineitem",
    }  # fmt: skip
    left = failed["rows left by refresh functions"]
    assert left.detail["unrestored"] == 3
    assert "dyno run tpch" in left.message
    assert drive.restore_left(recorder, target, "tpch") == changed + stray
    assert drive.restore_left(recorder, target, "tpch") == 0
    assert (held(target).update_sets, held(target).unrestored) == (first + 3, 0)
    state = TPCH.check(target.name, lambda: target.connect("tpch"), held(target), "run")
    assert all(check.passed for check in state)


def test_a_killed_run_is_seen_where_no_row_of_its_own_is_left(target: Target) -> None:
    whole = held(target)
    target.mark("tpch", replace(whole, unrestored=1))
    state = TPCH.check(target.name, lambda: target.connect("tpch"), held(target), "run")
    target.mark("tpch", whole)
    assert [check.name for check in state if not check.passed] == ["rows left by refresh functions"]


def test_data_that_cannot_be_restored_is_to_be_loaded_again(
    target: Target, recorder: Recorder
) -> None:
    whole = held(target)
    first = whole.update_sets
    update = refresh_set(first)
    number, keys = update.facts["first_deleted_key"], update.loaded["lineitem"]
    target.mark("tpch", replace(whole, update_sets=first + 1, unrestored=1))
    with closing(target.connect("tpch")) as session:
        session.execute(f"UPDATE lineitem SET l_orderkey = -{number} WHERE l_orderkey = {number}")
        try:
            with pytest.raises(TargetError, match="dyno load tpch --replace"):
                drive.restore_left(recorder, target, "tpch")
            assert held(target).unrestored == 1, "the next run finds the same"
            assert session.execute(f"SELECT COUNT(*) FROM lineitem WHERE {keys}").rows[0][0] > 0
        finally:
            session.execute(
                f"UPDATE lineitem SET l_orderkey = {number} WHERE l_orderkey = -{number}"
            )
    assert drive.restore_left(recorder, target, "tpch") == 0
    assert held(target).unrestored == 0


def test_work_that_breaks_off_leaves_nothing(target: Target, recorder: Recorder) -> None:
    with pytest.raises(KeyboardInterrupt), drive.restored(recorder, target, "tpch") as first:
        insert(target, first)
        delete(target, first)
        raise KeyboardInterrupt
    assert held(target).unrestored == 0
    assert drive.restore_left(recorder, target, "tpch") == 0
    state = TPCH.check(target.name, lambda: target.connect("tpch"), held(target), "run")
    assert all(check.passed for check in state)


def test_no_two_runs_use_the_same_update_set(target: Target, tmp_path: Path) -> None:
    used: list[int] = []
    for sets in (1, 3, 2):
        recorder = Recorder(tmp_path, f"run-{sets}", {}, ("tpch",))
        with drive.restored(recorder, target, "tpch", sets) as first:
            used += range(first, first + sets)
        recorder.close()
    assert len(set(used)) == len(used) == used[-1] - used[0] + 1
    # And a load begins anew: these are other rows.
    assert Loaded(SCALE, 1, complete=True).update_sets == 0


def test_a_lost_key_is_noticed(target: Target, recorder: Recorder) -> None:
    with closing(target.connect("tpch")) as session, drive.restored(recorder, target, "tpch"):
        session.execute("UPDATE orders SET o_orderkey = 0 WHERE o_orderkey = 1")
    with closing(target.connect("tpch")) as session:
        session.execute("UPDATE orders SET o_orderkey = 1 WHERE o_orderkey = 0")
    found = checks(recorder)
    assert found["keys of orders"].passed is False
    assert found["keys of lineitem"].passed is True


class Saboteur(Silent):
    """Ends every other session of the server after some queries."""

    def __init__(self, conninfo: dict[str, Any], after: int) -> None:
        self._conninfo, self._after, self._seen = conninfo, after, 0

    def update(self, done: float, total: float, text: str = "") -> None:
        self._seen += 1
        if self._seen == self._after:
            with psycopg.connect(**self._conninfo, autocommit=True) as session:
                session.execute(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                    "WHERE application_name = 'dyno' AND pid <> pg_backend_pid()"
                )


@pytest.mark.parametrize("loaded", ["postgresql"], indirect=True)
def test_a_lost_session_is_opened_again(target: Target, recorder: Recorder) -> None:
    conninfo: dict[str, Any] = target._address.conninfo  # type: ignore[attr-defined]
    result = drive.throughput(recorder, target, throughput(), Saboteur(conninfo, 10))
    rows = written(recorder)
    assert len(rows) == 44
    lost = [row for row in rows if row["error_kind"] == "connection_lost"]
    assert 1 <= len(lost) <= 2
    assert {row["error_kind"] for row in rows} == {None, "connection_lost"}
    assert set(result.errors) == {f"stream {row['stream']}, {row['query']}" for row in lost}
    (phase,) = [phase for phase in recorder.run.phases if phase.kind == "dss"]
    assert phase.detail.errors == result.errors


def test_a_server_that_is_gone_ends_the_test(target: Target, recorder: Recorder) -> None:
    lost = TargetError("gone", kind="connection_lost")
    real, opened = target.connect, []

    def connect(workload: str = "") -> Any:
        if len(opened) >= 2:
            raise lost
        opened.append(_Breaking(real(workload)))
        return opened[-1]

    target.connect = connect  # type: ignore[method-assign]
    with pytest.raises(TargetError, match="gone") as caught:
        drive.throughput(recorder, target, throughput(), Silent())
    assert caught.value.kind == "connection_lost"
    rows = written(recorder)
    assert any(row["error_kind"] == "connection_lost" for row in rows)
    assert len(rows) < 44


class _Breaking:
    """A session that works for three statements."""

    def __init__(self, real: Any) -> None:
        self._real, self._left = real, 3

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def execute(self, sql: str) -> Any:
        self._left -= 1
        if self._left < 0:
            raise TargetError("The session broke.", kind="connection_lost")
        return self._real.execute(sql)

    def cancel(self) -> None:
        self._real.cancel()

    def close(self) -> None:
        self._real.close()


def test_rows_also_go_in_as_plain_statements(target: Target) -> None:
    pair = refresh_set(0)

    def content(session: Any) -> list[Any]:
        return [
            session.execute(f"SELECT * FROM {table} WHERE {pair.new[table]} ORDER BY {key}").rows
            for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey, l_linenumber"))
        ]

    with closing(target.connect("tpch")) as session:
        found: list[Any] = []
        for insert in (
            lambda rows: target.insert(session, "tpch", rows),
            lambda rows: insert_values(
                session, rows, lambda text: "'" + text.replace("'", "''") + "'", at_once=7
            ),
        ):
            session.execute("BEGIN")
            assert insert(pair.readers(_core.Control())) == sum(pair.rows.values())
            found.append(content(session))
            session.execute("ROLLBACK")
    assert found[0] == found[1]
    assert len(found[0][0]) == pair.rows["orders"]
