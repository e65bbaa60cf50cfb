"""What server products share, by a third product that has nothing but what every one must have."""

from __future__ import annotations

import signal
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from dyno import _core
from dyno.bundle.model import Applied, Role, TargetFacts
from dyno.config.settings import Setting
from dyno.contracts.isolation import Isolation
from dyno.contracts.layout import Layout
from dyno.contracts.target import (
    Connection,
    Limits,
    Loaded,
    LoadPlan,
    QueryResult,
    Removable,
    Resumable,
    Stored,
    Supervised,
    TargetUrl,
    Unfinished,
)
from dyno.contracts.tuning import Change, Tunable
from dyno.contracts.whereabouts import Told
from dyno.errors import DatabaseError, DynoError, Interrupted, TargetError, UsageError
from dyno.servers.here import Here
from dyno.servers.identity import Identity
from dyno.servers.private import Home, PrivateServer
from dyno.servers.product import Product
from dyno.targets import compiled, journal
from dyno.targets.indexer import Indexer, Stage, Step, StepLog
from dyno.targets.server import InSession, ServerTarget
from dyno.targets.servertuning import IN_SESSIONS, ServerTuning
from dyno.workspace.footprint import Meter, Probe

LIMITS = Limits(memory_bytes=1 << 28, threads=2)
PLAN = LoadPlan("tpch", 1.0, 7, 2, resume=True)
PRODUCT = Product(
    "Third", ((signal.SIGKILL, 1.0),), signal.SIGKILL, lambda _: None, lambda _: False
)
CHANGE = Change("memory", "1GB", "pool", "1024")


class Session:
    """Answers nothing, and notes what it is asked in the log of all sessions."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def execute(self, sql: str) -> QueryResult:
        self.log.append(sql)
        if sql == "fail":
            raise DatabaseError("it failed")
        return QueryResult([], [])

    def cancel(self) -> None:
        self.log.append("cancel")

    def close(self) -> None:
        self.log.append("close")


class Private(PrivateServer[str]):
    """One without a process."""

    PRODUCT: ClassVar = PRODUCT
    FULL: ClassVar = "full"

    def __init__(self, folder: Path, limits: Limits) -> None:
        super().__init__(folder, limits)
        self.life: list[str] = []
        self.died: DynoError | None = None

    def start(self) -> None:
        self.life.append("start")

    def stop(self) -> None:
        self.life.append("stop")

    def pause(self) -> None:
        self.life.append("pause")

    def exit_reason(self) -> DynoError | None:
        return self.died

    # The life cycle above is replaced, so a call of these fails the test.

    def _find(self) -> str:
        raise NotImplementedError

    def _program(self) -> str:
        raise NotImplementedError

    def _prepare(self, programs: str) -> Identity:
        raise NotImplementedError

    def _put_up(self, own: Home[str], *, resumed: bool) -> None:
        raise NotImplementedError

    def _refusal(self) -> str | None:
        raise NotImplementedError

    def _recovers(self, refusal: str) -> bool:
        raise NotImplementedError


class Tuning(ServerTuning[Session, Private]):
    """Sets ``pool``."""

    wrong = False

    def __init__(self, asked: Sequence[Setting] = ()) -> None:
        super().__init__(asked, [CHANGE] if asked else [], self._read)

    def give(self, server: Private) -> None:
        server.life.append("given")

    def _read(
        self,
        session: Session,
        changes: Sequence[Change],
        before: Mapping[str, str],
        how: Mapping[str, str],
    ) -> list[Applied]:
        if self.wrong:
            raise TargetError("pool is something else")
        return [item.applied("1024", before["pool"], how["pool"], "") for item in changes]

    def _read_server(self, session: Session, server: Private) -> list[Applied]:
        return self._read(session, self._changes, {"pool": "1"}, {"pool": "at the start"})

    def _plan(self, session: Session, server: str) -> None:
        self._before, self.sessions = {"pool": "2"}, {"pool": "1024"}


class Log(StepLog[Session, str]):
    """Knows no sizes."""

    ALONE: ClassVar = frozenset({"cluster"})

    def _size(self, step: Step[str], session: Session) -> int | None:
        return None

    def _probe(self, step: Step[str], session: Session) -> Probe | None:
        return None

    def _table_bytes(self, step: Step[str], before: int | None) -> int | None:
        return before


STAGES = [
    Stage([Step("b", "two", final="two, whole"), Step("c", "three")]),
    Stage([Step("a", "one", kind="cluster", table="t")], alone=True),
]
FOUND = Unfinished(1.0, 7, 2, 1, 10), [journal.Done("lineitem", 1, 2, 10)]
INSIDE = InSession[Session, str](
    loaded=lambda session, called, workload: Loaded(1.0, 7, complete=True),
    mark=lambda session, workload, loaded: session.log.append(f"mark {workload}"),
    marked=lambda session: ["table t"],
    remove=lambda session: ["table t"],
    require_rights=lambda session, called, workload: session.log.append(f"rights at {called}"),
    journal=lambda session, workload: FOUND,
    start_journal=lambda session, plan: session.log.append("start journal"),
    stages=lambda session, workload, layout: (STAGES, ["a note"]),
    indexer=lambda connect, threads, stop, progress, log: Indexer(
        connect,
        lambda session, step, statement: session.execute(statement),
        threads,
        stop,
        progress,
        log,
    ),
    program=lambda session, called, workload: {"made": True},
    isolation=lambda session: Isolation((), "", lambda level, writes: ()),
)


class Third(ServerTarget[Session, str, Private]):
    """All that a product has to write."""

    name = "third"

    def __init__(self, url: TargetUrl, out: Path, limits: Limits) -> None:
        super().__init__(url, out, limits, Private, Tuning, INSIDE)
        self.log: list[str] = []

    @property
    def _called(self) -> str:
        return "Third at db1"

    def connect(self, workload: str = "") -> Session:
        return Session(self.log)

    def wire(self, workload: str = "") -> dict[str, Any]:
        return {"kind": "third", "schema": workload}

    def _reach(self, server: Private) -> None:
        server.life.append("reached")

    def _facts(self, session: Session) -> TargetFacts:
        return TargetFacts(url=self.url.redacted, version="Third 1", settings={})

    def _whereabouts(self, session: Session) -> Here:
        return Here(pid=42, storage={"data": [Path("/data"), Path("/more")]}, notes=("a note",))

    def _told(self, session: Session) -> Told:
        return Told(("third",))

    def _create(
        self, session: Session, workload: str, layout: Layout | None, *, replace: bool
    ) -> None:
        self.log.append(f"create {workload}")

    def _files(self, session: Session) -> None:
        return None

    def _size(self, session: Session) -> int | None:
        return 512

    def _step_log(
        self, session: Session, workload: str, layout: Layout | None, meter: Meter
    ) -> Log:
        return Log(meter)

    def _stored(self, server: Private) -> dict[Role, list[Path]]:
        return {"data": [server.data]}

    def insert(self, connection: Connection, workload: str, rows: Mapping[str, Any]) -> int:
        return 0

    def sql(self, workload: str, name: str, neutral: str) -> str:
        return neutral


def third(out: Path, scheme: str = "third") -> Third:
    text = "embedded:third" if scheme == "embedded" else "third://db1/"
    return Third(TargetUrl(scheme, "third", text, text), out, LIMITS)


def private(target: Third) -> Private:
    assert target._server is not None
    return target._server


ASKED = [Setting(word="memory", value="1GB", text="1GB")]


def test_it_can_do_what_others_can(tmp_path: Path) -> None:
    target = third(tmp_path)
    for protocol in (Resumable, Removable, Stored, Supervised, Tunable):
        assert isinstance(target, protocol)
    assert target.capabilities.resume is target.capabilities.procedure is True
    assert "embedded:third" in str(target.capabilities.cold)
    assert third(tmp_path, "embedded").capabilities.cold is True
    with pytest.raises(UsageError, match="only embedded:third starts cold"):
        target.cool()


def test_the_life_of_a_private_server(tmp_path: Path) -> None:
    target = third(tmp_path, "embedded")
    target.tune(ASKED)
    with target:
        (applied,) = target.tuned()
        assert (applied.found, applied.before, applied.restored) == ("1024", "1", None)
        target.cool()
        assert target.storage() == {"data": [tmp_path / "engines" / "third" / "data"]}
    assert private(target).life == [
        *("given", "start", "reached"), *("pause", "start", "reached"), "stop",
    ]  # fmt: skip
    assert target.tuned()[0].restored is True


def test_a_server_with_other_settings_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tuning, "wrong", True)
    target = third(tmp_path, "embedded")
    target.tune(ASKED)
    with pytest.raises(TargetError, match="something else"), target:
        pass
    assert private(target).life[-1] == "stop"


def test_a_server_at_a_url_has_its_sessions_set(tmp_path: Path) -> None:
    target = third(tmp_path)
    target.tune(ASKED)
    with target:
        (applied,) = target.tuned()
        assert (applied.how, applied.before) == (IN_SESSIONS, "2")
        assert target.process_ids() == [42]
        assert target.data_paths() == [Path("/data")]
        assert target.unplaced() == ["a note"]
        assert target.exit_reason() is None
    assert target.log.count("close") == 2


def test_work_in_sessions_closes_them(tmp_path: Path) -> None:
    target = third(tmp_path)
    target.create_tables("tpch", replace=False)
    target.mark("tpch", Loaded(1.0, 7, complete=True))
    assert target.loaded("tpch") == Loaded(1.0, 7, complete=True)
    assert target.marked() == target.remove() == ["table t"]
    assert target.unfinished("tpch") == FOUND[0]
    assert target.program("tpch") == {"made": True}
    assert [line for line in target.log if line != "close"] == [
        *("rights at Third at db1", "create tpch", "mark tpch"),
    ]
    assert target.log.count("close") == 8
    found = target.space_probe()
    assert found is not None
    probe, while_it_works = found
    assert (probe(), while_it_works) == (512, False)


def test_a_load_goes_on_with_the_parts_that_are_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(compiled, "load", lambda *given: asked.append(given))
    target, control = third(tmp_path), _core.Control()
    target.load(PLAN, control)
    assert asked == [({"kind": "third", "schema": "tpch"}, PLAN, control, FOUND[1])]
    assert "start journal" not in target.log
    target.load(LoadPlan("tpch", 1.0, 7, 2), control)
    assert asked[1][3] == []
    assert "start journal" in target.log


@pytest.mark.parametrize(
    ("kind", "died", "expected"),
    [
        ("connection_lost", TargetError("the kernel killed it"), TargetError),
        ("connection_lost", None, _core.EngineError),
        ("database", TargetError("the kernel killed it"), _core.EngineError),
    ],
)
def test_the_cause_of_the_end_replaces_a_lost_connection(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    died: DynoError | None,
    expected: type[Exception],
) -> None:
    def fail(*_: object) -> None:
        raise _core.EngineError(kind, "it broke")

    monkeypatch.setattr(compiled, "load", fail)
    target = third(tmp_path, "embedded")
    private(target).died = died
    with pytest.raises(expected):
        target.load(PLAN, _core.Control())


def test_steps_run_in_order_of_their_stages_and_are_reported(tmp_path: Path) -> None:
    target, steps = third(tmp_path), list[tuple[int, int, str]]()
    found = target.index("tpch", threading.Event(), lambda *at: steps.append(at))
    statements = [line for line in target.log if line != "close"]
    assert sorted(statements[:2]) == ["three", "two"]
    assert statements[2:] == ["two, whole", "one"]
    assert found["notes"] == ["a note"]
    assert {"a", "b", "c", "total"} <= found.keys()
    assert sorted(step["step"] for step in found["space"]) == ["a", "b", "c"]
    assert steps[-1] == (3, 3, "a")


def test_a_step_that_fails_ends_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.STAGES", [Stage([Step("b", "fail", final="never")]), *STAGES])
    target = third(tmp_path)
    with pytest.raises(DatabaseError):
        target.index("tpch", threading.Event(), lambda *_: None)
    assert not {"never", "one"} & set(target.log)


def test_work_that_is_stopped_opens_no_session(tmp_path: Path) -> None:
    target, stop = third(tmp_path), threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        target.index("tpch", stop, lambda *_: None)
    assert target.log == ["close"]
