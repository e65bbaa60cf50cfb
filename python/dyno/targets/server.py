"""Base of server products: a private server of Dyno's, or one at a URL.

A product adds its private server (``dyno.servers.private``), its settings
(``dyno.targets.servertuning``), its statements (:class:`InSession`), and a subclass of
:class:`ServerTarget` with its sessions and its wire protocol.
"""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from dyno.bundle.model import Applied, TargetFacts
from dyno.config.settings import Setting
from dyno.contracts.cold import Emptied
from dyno.contracts.inspection import Inspector
from dyno.contracts.isolation import Isolation
from dyno.contracts.layout import Layout
from dyno.contracts.target import (
    Capabilities,
    Connection,
    Limits,
    Loaded,
    LoadOutcome,
    LoadPlan,
    Progress,
    TargetUrl,
    Unfinished,
)
from dyno.contracts.whereabouts import Told
from dyno.errors import DynoError, TargetError, UsageError
from dyno.host.pagecache import empty, files_under
from dyno.servers.here import ELSEWHERE, Here
from dyno.servers.private import PrivateServer
from dyno.targets import compiled, journal
from dyno.targets.indexer import Indexer, Stage, StepLog
from dyno.targets.servertuning import ServerTuning
from dyno.targets.sessionprobe import Asked, SessionProbe
from dyno.workspace.footprint import Meter, Probe

Session = TypeVar("Session", bound=Connection)
Statement = TypeVar("Statement")
Private = TypeVar("Private", bound=PrivateServer[Any])

_SERVER_GONE = {"connection_lost", "unreachable"}


@dataclass(frozen=True)
class InSession(Generic[Session, Statement]):
    """Functions of a product that work in a session. Names: workload, and the server for messages.

    Attributes:
        loaded: Reads Dyno's mark; refuses a user without the right to use the data.
        mark: Writes the mark.
        marked: Describes the objects with the mark.
        remove: Removes them; returns their descriptions.
        require_rights: Refuses a user without the right to create the workload's tables.
        journal: Reads the journal of a load; None if there is none of Dyno's.
        start_journal: Creates an empty journal.
        stages: Steps after a load, and notes on deviations from the layout.
        indexer: Makes the runner of these steps, from a connector, CPUs, a stop event, a progress
            callback and a measure.
        program: Creates the workload's procedures.
        isolation: Isolation levels.
        probes: By name, the probes that read the server during a run (``contracts.probe``).
        inspector: Makes the inspector of statements and relations from a connector, if it has one.
    """

    loaded: Callable[[Session, str, str], Loaded | None]
    mark: Callable[[Session, str, Loaded], None]
    marked: Callable[[Session], list[str]]
    remove: Callable[[Session], list[str]]
    require_rights: Callable[[Session, str, str], None]
    journal: Callable[[Session, str], tuple[Unfinished, list[journal.Done]] | None]
    start_journal: Callable[[Session, LoadPlan], None]
    stages: Callable[
        [Session, str, Layout | None], tuple[Sequence[Stage[Statement]], Sequence[str]]
    ]
    indexer: Callable[
        [
            Callable[[], Session],
            int,
            threading.Event,
            Progress,
            StepLog[Session, Statement] | None,
        ],
        Indexer[Session, Statement],
    ]
    program: Callable[[Session, str, str], dict[str, Any]]
    isolation: Callable[[Session], Isolation]
    probes: Mapping[str, Asked[Session]] = field(default_factory=dict[str, Asked[Session]])
    inspector: Callable[[Callable[[], Session]], Inspector] | None = None


class SizedFiles(Protocol):
    """The files of a private server."""

    def total(self) -> int:
        """Bytes of tables, indexes and temporary files."""
        ...


class ServerTarget(ABC, Generic[Session, Statement, Private]):
    """A server product. The protocol of targets documents its methods.

    Attributes:
        name: The product: the target's folder.
        PRIVATE: Whether Dyno can start a private server of the product.
    """

    name: str
    PRIVATE: ClassVar = True
    SEVERAL_DATABASES: ClassVar = True

    def __init__(
        self,
        url: TargetUrl,
        out: Path,
        limits: Limits,
        private: Callable[[Path, Limits], Private],
        tuning: Callable[[Sequence[Setting]], ServerTuning[Session, Private]],
        inside: InSession[Session, Statement],
    ) -> None:
        """Does not access the server yet.

        Args:
            url: Its address; ``embedded:`` is a private server.
            out: The output folder, which contains the private server's folder.
            limits: Resources of a private server.
            private: Makes the private server in a folder.
            tuning: Takes settings.
            inside: Functions of the product in a session.
        """
        embedded = url.scheme == "embedded"
        self.url = url
        self._out, self._limits = out, limits
        self._home = (out / "engines" / self.name).resolve()
        self._server = private(self._home, limits) if embedded else None
        self._tune, self._inside = tuning, inside
        self._tuning = tuning(())
        self._here = ELSEWHERE
        self._no_cold = (
            "Dyno does not restart a server at a URL and cannot empty its machine's caches"
        ) + (f"; only embedded:{self.name} starts cold" if self.PRIVATE else "")
        cold = True if embedded else self._no_cold
        self.capabilities = Capabilities(cold=cold, resume=True, procedure=True)

    @property
    @abstractmethod
    def _called(self) -> str:
        """Its name in messages, such as ``PostgreSQL at db1:5432``."""

    @abstractmethod
    def connect(self, workload: str = "") -> Session:
        """Opens a session in which unqualified table names mean those of ``workload``."""

    @abstractmethod
    def wire(self, workload: str = "") -> dict[str, Any]:
        """Connection parameters for the Rust driver, with the workload's schema."""

    @abstractmethod
    def _reach(self, server: Private) -> None:
        """Stores the address of the started private server."""

    @abstractmethod
    def _facts(self, session: Session) -> TargetFacts: ...

    @abstractmethod
    def _whereabouts(self, session: Session) -> Here: ...

    @abstractmethod
    def _told(self, session: Session) -> Told: ...

    @abstractmethod
    def _create(
        self, session: Session, workload: str, layout: Layout | None, *, replace: bool
    ) -> None: ...

    @abstractmethod
    def _files(self, session: Session) -> SizedFiles | None:
        """Files of the private server; None if there is none."""

    @abstractmethod
    def _size(self, session: Session) -> int | None:
        """Bytes of a server at a URL, as it reports them; None without the right to query them."""

    @abstractmethod
    def _step_log(
        self, session: Session, workload: str, layout: Layout | None, meter: Meter
    ) -> StepLog[Session, Statement]:
        """Measures the steps after a load."""

    @abstractmethod
    def _stored(self, server: Private) -> dict[str, list[Path]]:
        """Paths of the private server's files."""

    def _admit(self, session: Session) -> None:
        """Rejects a server at a URL that is not usable."""

    def _finish(self, session: Session) -> dict[str, Any]:  # noqa: ARG002
        """Runs after all steps that follow a load; part of their seconds."""
        return {}

    def __enter__(self) -> Self:
        """Starts the private server, or checks that the one at the URL is usable.

        Raises:
            TargetError: If it cannot be started or used.
        """
        if self._server is not None:
            self._start(self._server)
            return self
        with closing(self.connect()) as session:
            self._admit(session)
            self._tuning.plan_sessions(session, self._called)
            self._here = self._whereabouts(session)
        with closing(self.connect()) as session:
            self._tuning.verify_sessions(session)
        return self

    def __exit__(self, *exc: object) -> None:
        """Stops the private server and restores what was changed for the run.

        Raises:
            TargetError: If something cannot be restored.
        """
        if self._server is not None:
            self._server.stop()
        self._tuning.left(restored=self._server is None or self._server.restored)

    def tune(self, asked: Sequence[Setting]) -> None:
        """Stores settings for the start (see :class:`dyno.contracts.tuning.Tunable`)."""
        self._tuning = self._tune(asked)
        if self._server is not None:
            self._tuning.give(self._server)

    def tuned(self) -> tuple[Applied, ...]:
        """The applied settings, as read back."""
        return self._tuning.applied

    def cool(self) -> Emptied:
        """Restarts the private server with none of its data cached.

        Raises:
            UsageError: If the server is at a URL.
            TargetError: If Dyno cannot verify that the caches are empty.
        """
        if self._server is None:
            raise UsageError(f"{self._no_cold}.")
        self._server.pause()
        emptied = empty(files_under(self.data_paths()))
        self._start(self._server)
        return emptied

    def _start(self, server: Private) -> None:
        try:
            server.start()
        except TargetError as error:
            raise self._tuning.advised(error, server) from error
        self._reach(server)
        try:
            with closing(self.connect()) as session:
                self._tuning.verify_server(session, server)
        except BaseException:
            with contextlib.suppress(TargetError):  # the first error is reported
                server.stop()
            raise

    def facts(self) -> TargetFacts:
        """Version and settings, read back from the live system."""
        with closing(self.connect()) as session:
            return self._facts(session)

    def require_rights(self, workload: str) -> None:
        """Rejects a user without the right to create the tables (see ``contracts.rights``)."""
        with closing(self.connect()) as session:
            self._inside.require_rights(session, self._called, workload)

    def create_tables(self, workload: str, *, replace: bool, layout: Layout | None = None) -> None:
        """Creates the workload's tables (see the protocol)."""
        self.require_rights(workload)
        with closing(self.connect()) as session:
            self._create(session, workload, layout, replace=replace)

    def space_probe(self) -> tuple[Probe, bool] | None:
        """Bytes of the private server's files; of another server what it reports."""
        with closing(self.connect()) as session:
            files = self._files(session)
            if files is not None:
                return files.total, True
            return None if self._size(session) is None else (self._asked_size, False)

    def _asked_size(self) -> int:
        with closing(self.connect()) as session:
            return self._size(session) or 0

    def loaded(self, workload: str) -> Loaded | None:
        """Reads Dyno's mark.

        Raises:
            TargetError: If another user loaded the data, and this one may not use it.
        """
        with closing(self.connect()) as session:
            return self._inside.loaded(session, self._called, workload)

    def mark(self, workload: str, loaded: Loaded) -> None:
        """Writes Dyno's mark on the workload's tables."""
        with closing(self.connect()) as session:
            self._inside.mark(session, workload, loaded)

    def marked(self) -> list[str]:
        """Objects with Dyno's mark (see :class:`~dyno.contracts.target.Removable`)."""
        with closing(self.connect()) as session:
            return self._inside.marked(session)

    def remove(self) -> list[str]:
        """Removes the marked objects."""
        with closing(self.connect()) as session:
            return self._inside.remove(session)

    def load(self, plan: LoadPlan, control: Any) -> LoadOutcome:
        """Generates and loads the rows with the Rust loader.

        Raises:
            DynoError: If the private server exited, with the reason.
            _core.EngineError: Any other error of the loader.
        """
        from dyno import _core

        wire, done = self.wire(plan.workload), self._done(plan)
        try:
            return compiled.load(wire, plan, control, done)
        except _core.EngineError as error:
            reason = self.exit_reason() if error.args[0] in _SERVER_GONE else None
            if reason is None:
                raise
            raise reason from error

    def unfinished(self, workload: str) -> Unfinished | None:
        """The interrupted load in the journal, if any."""
        with closing(self.connect()) as session:
            found = self._inside.journal(session, workload)
        return None if found is None else found[0]

    def _done(self, plan: LoadPlan) -> list[journal.Done]:
        """The loaded parts, from a journal that is ready for more."""
        with closing(self.connect()) as session:
            found = self._inside.journal(session, plan.workload) if plan.resume else None
            return journal.ready(plan, found, lambda: self._inside.start_journal(session, plan))

    def index(
        self,
        workload: str,
        control: threading.Event,
        progress: Progress,
        layout: Layout | None = None,
    ) -> dict[str, Any]:
        """Adds keys, indexes, sort order and statistics after a load.

        Returns:
            Seconds by step, and ``total``; ``space`` and ``notes`` as in the protocol.
        """
        start = time.monotonic()
        with closing(self.connect()) as session, Meter() as meter:
            log = self._step_log(session, workload, layout, meter)
            stages, notes = self._inside.stages(session, workload, layout)
            threads = self._limits.threads
            indexer = self._inside.indexer(self.connect, threads, control, progress, log)
            indexer.expect([stage.steps for stage in stages])
            for stage in stages:
                (indexer.run_alone if stage.alone else indexer.run)(stage.steps)
            return {
                **indexer.seconds,
                **self._finish(session),
                "total": time.monotonic() - start,
                "space": log.records(indexer.seconds),
                "notes": list(notes),
            }

    def program(self, workload: str) -> dict[str, Any]:
        """Creates the workload's procedures (see the protocol)."""
        with closing(self.connect()) as session:
            return self._inside.program(session, self._called, workload)

    def isolation(self) -> Isolation:
        """Isolation levels (see :mod:`dyno.contracts.isolation`)."""
        with closing(self.connect()) as session:
            return self._inside.isolation(session)

    def probes(self) -> list[SessionProbe[Session]]:
        """Its probes; each has its own session."""
        probes = self._inside.probes.items()
        return [SessionProbe(name, self.observer, asked) for name, asked in probes]

    def inspector(self) -> Inspector | None:
        """Its inspector of statements and relations."""
        make = self._inside.inspector
        return None if make is None else make(self.observer)

    def observer(self) -> Session:
        """Opens a session for probes and the inspector."""
        return self.connect()

    def data_paths(self) -> list[Path]:
        """The server's data folder, if it is known and on this machine."""
        return self.storage().get("data", [])[:1]

    def storage(self) -> dict[str, list[Path]]:
        """Data, log and temporary files of a server on this machine, and its tablespaces."""
        return self._here.storage if self._server is None else self._stored(self._server)

    @contextlib.contextmanager
    def told(self) -> Generator[Told]:
        """What the server says about its process and files; the process is of this session."""
        with closing(self.connect()) as session:
            yield self._told(session)

    def unplaced(self) -> list[str]:
        """Why some of a server's files could not be found."""
        return list(self._here.notes)

    def process_ids(self) -> list[int]:
        """The server's main process, if it is on this machine; others are its children."""
        pid = self._here.pid if self._server is None else self._server.pid
        return [] if pid is None else [pid]

    def exit_reason(self) -> DynoError | None:
        """Why the private server exited; None if it is running."""
        return None if self._server is None else self._server.exit_reason()
