"""Procedure mode does to the data exactly what client mode does."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dyno.bundle.reader import list_bundles
from dyno.bundle.writer import Recorder
from dyno.contracts import schema
from dyno.contracts.target import Loaded, Target
from dyno.errors import DynoError
from dyno.runtime.progress import Silent
from dyno.stages import drive
from dyno.stages.drive import OltpPlan
from dyno.workloads.tpcc.checks import check_conditions
from tests.drive.copies import LOADED, Copies, MariadbCopies, PostgresCopies, contents

SEED = 2
WRITTEN = set(schema.table_names("tpcc")) - {"item"}
Copy = Callable[[str], Target]
Drive = Callable[..., dict[str, Any]]


@pytest.fixture(
    scope="module", params=[PostgresCopies, pytest.param(MariadbCopies, marks=pytest.mark.long)]
)
def copies(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Copies]:
    found = request.param(tmp_path_factory.mktemp("copies"))
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture
def copy(copies: Copies) -> Iterator[Copy]:
    """Makes databases with the data as it was loaded."""
    yield copies.make
    copies.remove()


@pytest.fixture
def run(out: Path) -> Drive:
    """Drives a target in a bundle of its own; returns the driver's outcome."""

    def driven(target: Target, mode: str, **more: Any) -> dict[str, Any]:
        recorder = Recorder(out, "run", {}, ("tpcc",))
        usual = {"loaded": LOADED, "users": 1, "warmup_s": 0.0, "duration_s": 1.0, "seed": SEED}
        plan = OltpPlan("tpcc", mode=mode, **{**usual, **more})
        if mode == "procedure":
            drive.program(recorder, target, "tpcc")
        outcome = drive.drive(recorder, target, plan, Silent())
        recorder.finish("done")
        recorder.close()
        return outcome

    return driven


def sound(target: Target) -> bool:
    with closing(target.connect("tpcc")) as session:
        checks = check_conditions(target.name, session, "run")
    return not [check for check in checks if check.passed is False]


@pytest.mark.long
def test_the_same_inputs_leave_the_same_tables(copies: Copies, copy: Copy, run: Drive) -> None:
    with copies.whole() as target:
        before = contents(copies, target)
    left: dict[str, Any] = {}
    for mode in ("client", "procedure"):
        for slower in (1, 2, 4, 8):  # until the machine can send all that is due
            rate = {"rate_per_s": 50.0 / slower, "duration_s": 6.0 * slower}
            with copy(mode) as target:
                outcome = run(target, mode, poisson=False, **rate)
                left[mode] = contents(copies, target)
                assert sound(target)
            if outcome["unsent"] == 0:
                break
        assert (outcome["scheduled"], outcome["unsent"], outcome["errors_first"]) == (300, 0, {})
        assert len(outcome["ops"]) == 5
        assert outcome["ops"]["new_order"]["rolled_back"] > 0
    assert {table for table in before if left["client"][table] != before[table]} == WRITTEN
    assert left["client"] == left["procedure"]


@pytest.mark.long
def test_failures_to_serialise_are_retried(copies: Copies, copy: Copy, run: Drive) -> None:
    with copy("serial") as target:
        copies.serialise(target)
        for seed in range(20):
            outcome = run(target, "procedure", users=8, seed=seed)
            retried = sum(sum(item["retries"].values()) for item in outcome["ops"].values())
            if retried:
                break
        assert retried
        assert list(outcome["errors_first"]) == [copies.conflicts]
        assert sound(target)


@pytest.mark.long
def test_users_at_once_leave_consistent_data(
    copies: Copies, copy: Copy, run: Drive, out: Path
) -> None:
    with copy("crowd") as target:
        outcome = run(target, "procedure", users=8)
        # MariaDB's locks on gaps between rows let Deliveries and New-Orders lock each other out.
        assert set(outcome["errors_first"]) <= {copies.conflicts} & {"deadlock"}
        assert all(item["errors"] == {} for item in outcome["ops"].values())
        assert len(outcome["ops"]) == 5
        assert sound(target)
        again = run(target, "procedure", users=1, duration_s=0.2)
        assert again["errors_first"] == {}
    bundles = list_bundles(out)
    made = [
        phase.detail.made
        for bundle in reversed(bundles)
        for phase in bundle.run.phases
        if phase.name == f"procedures-tpcc-{target.name}"
    ]
    assert made == [True, False]


@pytest.mark.parametrize("mode", ["client", "procedure"])
def test_more_warehouses_than_there_are_fail_and_change_nothing_by_halves(
    copy: Copy, run: Drive, mode: str
) -> None:
    with copy("small") as target:
        outcome = run(target, mode, loaded=Loaded(40, 1, complete=True), duration_s=0.5)
        assert list(outcome["errors_first"]) == ["database"]
        assert "number of warehouses correct" in outcome["errors_first"]["database"]
        assert sound(target)


@pytest.mark.long
@pytest.mark.parametrize("copies", [MariadbCopies], indirect=True)
def test_a_call_that_is_stopped_in_the_middle_is_rolled_back(copy: Copy, run: Drive) -> None:
    """A procedure of MariaDB is not notified; the driver ends what it left open."""
    calls = "SELECT id FROM information_schema.processlist WHERE command = 'Execute'"
    stop = threading.Event()

    def interrupt(target: Target) -> None:
        with closing(target.connect()) as session:
            while not stop.wait(0.002):
                for (number,) in session.execute(calls).rows:
                    with contextlib.suppress(DynoError):  # it has ended in the meantime
                        session.execute(f"KILL QUERY {number}")

    with copy("stopped") as target:
        thread = threading.Thread(target=interrupt, args=(target,))
        thread.start()
        try:
            outcome = run(target, "procedure", users=8, duration_s=2.0)
        finally:
            stop.set()
            thread.join()
        assert sum(item["errors"].get("timeout", 0) for item in outcome["ops"].values()) > 10
        assert sum(item["done"] for item in outcome["ops"].values()) > 10
        assert sound(target)
