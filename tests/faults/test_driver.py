"""Transactions under faults: what users meet is counted by class, and the run says what it was."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from dyno import _core, targets
from dyno.bundle.reader import list_bundles
from dyno.bundle.writer import Recorder
from dyno.contracts.target import Limits, Loaded
from dyno.report.run.series import throughput
from dyno.runtime.progress import Silent
from dyno.stages import drive
from dyno.stages.drive import OltpPlan
from dyno.targets.postgresql.server import SOCKET, Server
from dyno.workloads.tpcc.checks import check_conditions
from tests.faults.conftest import resized, shrunk
from tests.judged import Judged, judged
from tests.maintained import fill
from tests.process import document, dyno, end, start, wait_until
from tests.proxy import Proxy

USERS = 4
LIMITS = Limits(memory_bytes=256 << 20, threads=2)
LOADED = Loaded(1, 1, complete=True)


@dataclass(frozen=True)
class Place:
    """A server that is not Dyno's own, as far as Dyno knows."""

    server: Server

    @property
    def url(self) -> str:
        return f"postgresql://dyno@/postgres?host={quote(str(self.server.socket_folder), safe='')}"

    def through(self, proxy: Proxy) -> str:
        return f"postgresql://dyno@127.0.0.1:{proxy.port}/postgres?connect_timeout=3"

    def ask(self, statement: str) -> Any:
        with psycopg.connect(**self.server.conninfo(), autocommit=True) as session:
            return session.execute(statement).fetchone()[0]  # pyright: ignore

    def working(self) -> int:
        """Sessions inside a transaction."""
        return self.ask(
            "SELECT count(*) FROM pg_stat_activity WHERE xact_start IS NOT NULL "
            "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )


@contextlib.contextmanager
def loaded(folder: Path) -> Generator[Place]:
    server = Server(folder, LIMITS)
    server.start()
    try:
        found = Place(server)
        with targets.open_target(targets.parse(found.url), Path("/nowhere"), LIMITS) as target:
            fill(target, "tpcc", 1)
        yield found
    finally:
        server.stop()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with loaded(tmp_path_factory.mktemp("pg")) as found:
        yield found


@pytest.fixture
def driven(out: Path) -> Callable[..., tuple[dict[str, Any], Judged]]:
    """Drives users for as long as ``act`` lasts; returns the outcome and what became of the run."""

    def run(url: str, act: Callable[[_core.Control], None]) -> tuple[dict[str, Any], Judged]:
        def beside(control: _core.Control, ended: threading.Event) -> None:
            reach(control, 1)
            act(control)
            assert not ended.is_set()
            control.finish()

        recorder = Recorder(out, "run", {}, ("tpcc",))
        plan = OltpPlan("tpcc", LOADED, USERS, 0, 3600, seed=3, reconnect_s=600)
        with targets.open_target(targets.parse(url), out, LIMITS) as target:
            outcome = drive.drive(recorder, target, plan, Silent(), beside)
            with closing(target.connect("tpcc")) as session:
                checks = check_conditions("postgresql", session, "run")
        assert not [check for check in checks if check.passed is False]
        recorder.finish("done")
        recorder.close()
        return outcome, judged(list_bundles(out)[0])

    return run


def reach(control: _core.Control, seconds: float) -> None:
    """Waits until the driver's own clock has gone on for so long."""
    begun = control.progress()["done"]
    wait_until(lambda: control.progress()["done"] - begun >= 1000 * seconds, "the driver's clock")


def counted(outcome: dict[str, Any], what: str, kind: str) -> int:
    return sum(operation[what].get(kind, 0) for operation in outcome["ops"].values())


@pytest.mark.long
def test_the_victims_of_deadlocks_try_again_and_are_counted_apart(
    place: Place, driven: Any
) -> None:
    def act(_control: _core.Control) -> None:
        wait_until(forced, "a deadlock whose victim is a user")

    def forced() -> bool:
        """Holds the districts, waits for a payment that holds the warehouse, and wants that too."""
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
            "AND query LIKE 'update district set d_ytd%'"
        )
        with (
            psycopg.connect(**place.server.conninfo()) as session,
            # The payment may have looked for a deadlock before there was one.
            contextlib.suppress(psycopg.errors.LockNotAvailable),
        ):
            # It looks later than any user does, who then is the victim.
            session.execute("SET LOCAL deadlock_timeout = '1h'")
            session.execute("SET LOCAL lock_timeout = '3s'")
            session.execute("SELECT FROM dyno_tpcc.district FOR UPDATE")
            wait_until(lambda: place.ask(waiting), "a payment")
            session.execute("SELECT FROM dyno_tpcc.warehouse FOR UPDATE")
        return place.ask("SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'") > 0

    outcome, found = driven(place.url, act)
    assert outcome["ops"]["payment"]["retries"]["deadlock"] > 0
    assert not any(operation["errors"] for operation in outcome["ops"].values())
    assert list(outcome["errors_first"]) == ["deadlock"]
    assert found.value("oltp.users-4.retries") >= 1
    assert found.value("oltp.users-4.errors") == 0


@pytest.mark.long
def test_a_server_that_is_killed_and_comes_back(place: Place, driven: Any) -> None:
    def act(control: _core.Control) -> None:
        os.kill(place.server.pid or 0, signal.SIGKILL)
        place.server.pause()
        reach(control, 2.1)  # there is a whole second in it
        place.server.start()
        wait_until(lambda: place.working() == USERS, "the users")
        reach(control, 1)

    outcome, found = driven(place.url, act)
    assert (outcome["reconnects"], outcome["gone"], outcome["stuck"]) == (USERS, 0, 0)
    assert counted(outcome, "errors", "connection_lost") == USERS
    assert found.value("oltp.users-4.connections_lost") == USERS
    assert found.value("oltp.users-4.silent_s") >= 1
    assert found.validity.valid is False
    (reason,) = [reason for reason in found.validity.reasons if reason.code == "outage"]
    assert "lost 4 connections and reconnected 4 times" in reason.message
    assert "no transaction ended" in reason.message
    # The gap is a gap on the time line too: down to nothing between two times of work.
    values = throughput(found.bundle).values
    work = [place for place, value in enumerate(values) if value > 0]
    assert 0.0 in values[work[0] : work[-1]]


@pytest.mark.long
def test_a_network_that_is_cut(place: Place, driven: Any) -> None:
    with Proxy(place.server.socket_folder / SOCKET) as proxy:

        def act(control: _core.Control) -> None:
            before = proxy.accepted
            proxy.cut()
            wait_until(lambda: proxy.accepted >= before + USERS, "the users")
            reach(control, 1)

        outcome, found = driven(place.through(proxy), act)
    assert (outcome["reconnects"], outcome["gone"]) == (USERS, 0)
    assert counted(outcome, "errors", "connection_lost") == USERS
    assert "outage" in found.warned()


@pytest.mark.long
def test_a_server_that_answers_no_more_does_not_hold_the_run(place: Place, out: Path) -> None:
    with Proxy(place.server.socket_folder / SOCKET) as proxy:
        process = start(
            *("run", "tpcc", "--target", place.through(proxy), "--users", str(USERS)),
            *("--warmup", "1s", "--duration", "3s", "--json", "--out", out),
        )
        wait_until(lambda: any(spool.stat().st_size for spool in spools(out)), "an interval")
        proxy.swallow()
        code, output, errors = end(process)
    assert code == 3, errors
    assert "does not respond" in errors
    assert "Traceback" not in errors
    assert '"outage"' in output
    (bundle,) = list_bundles(out)
    (phase,) = [phase for phase in bundle.run.phases if phase.kind == "oltp"]
    assert phase.status == "done"
    assert phase.detail.outcome.stuck == USERS
    reasons = [reason.message for reason in bundle.run.validity.reasons]
    assert any("4 transactions had not ended" in reason for reason in reasons), reasons


def spools(out: Path) -> list[Path]:
    return list(out.glob("*/ops/*.jsonl"))


@pytest.mark.long
def test_more_users_than_the_server_takes(place: Place, out: Path) -> None:
    most = int(place.ask("SHOW max_connections"))
    done = dyno(
        *("run", "tpcc", "--target", place.url, "--users", str(most + 1), "--json", "--out", out)
    )
    assert done.returncode == 3, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("dyno:")]
    assert "too many clients" in line
    assert f"{most} free connections (max_connections is {most}" in line
    assert document(done)["valid"] is False


@pytest.mark.long
def test_a_disk_of_the_server_that_fills(small: Path, driven: Any, out: Path) -> None:
    assert resized(small, 4 << 30)  # takes no memory before it is filled

    def full(_control: _core.Control) -> None:
        wait_until(lambda: shrunk(small, 1 << 20), "the space to be taken away")
        wait_until(
            lambda: any(
                '"disk_full"' in spool.read_text(encoding="utf-8") for spool in spools(out)
            ),
            "a transaction that finds no space",
        )
        assert resized(small, 4 << 30)

    with loaded(small / "pg") as place:
        outcome, found = driven(place.url, full)
    assert counted(outcome, "errors", "disk_full") > 0
    assert "free space on the server's volume" in outcome["errors_first"]["disk_full"]
    assert "errors" in found.warned()


@pytest.mark.long
def test_dyno_killed_in_mid_run(place: Place, out: Path) -> None:
    process = start(
        *("run", "tpcc", "--target", place.url, "--users", str(USERS)),
        *("--warmup", "1s", "--duration", "1h", "--json", "--out", out),
    )
    wait_until(
        lambda: any('"measure"' in spool.read_text(encoding="utf-8") for spool in spools(out)),
        "a measured interval",
    )
    os.kill(process.pid, signal.SIGKILL)
    assert end(process)[0] == -signal.SIGKILL
    wait_until(lambda: place.working() == 0, "its sessions to end")
    shown = dyno("runs", "show", "last", "--out", out)
    assert shown.returncode == 0, shown.stderr
    assert "4 users" in shown.stdout
    report = dyno("report", "last", "--json", "--out", out)
    assert report.returncode == 1, report.stderr
    found = document(report)
    assert found["status"] == "running"
    messages = {reason["code"]: reason["message"] for reason in found["reasons"]}
    assert "was killed during" in messages["incomplete"]
    (level,) = found["tpcc"]["levels"]
    assert (level["users"], level["loop"]["kind"]) == (USERS, "closed")
    assert level["tps"] > 0
