"""The settings of one run on one server: changed, verified, restored.

Dyno changes the instance only for settings that the user named with ``--set``, and options of the
databases of the job only. A journal lists the changes before they are made. The end of the run
restores them, and after a kill the next run with the same ``--out`` does.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from dyno import workloads
from dyno.bundle.model import Applied
from dyno.config.settings import Setting
from dyno.contracts import databases
from dyno.contracts.tuning import Change, not_applied
from dyno.errors import DynoError, TargetError, UsageError
from dyno.targets.servertuning import AS_IT_IS, ServerTuning
from dyno.targets.sqlserver import editions, governor, logchain, rights, scoped, settling, state
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.settingsjournal import Changed, Journal
from dyno.targets.sqlserver.state import State
from dyno.targets.sqlserver.tuning import (
    CONFIGURED,
    GRANT,
    MAXDOP,
    MEMORY,
    OF_DATABASES,
    RECOVERY,
    TEMP_FILES,
    changes,
)

ON_SERVER = "on the server"
IN_DATABASES = "in Dyno's databases"
"""How a setting was applied, for the record."""

_BABELFISH = "Babelfish's settings are those of PostgreSQL; set them in its postgresql.conf"
_STAGED = "RECONFIGURE would also apply what somebody has stored: {names}; apply or revert it first"
_NO_SHRINK = "only a member of sysadmin can remove the files again (DBCC SHRINKFILE in tempdb)"
_EMPTIED_S = 10.0
_POLL_S = 0.2
_EMPTYING = (
    " The file is in use: run DBCC FREEPROCCACHE first, which removes all plans, or remove the "
    "file right after a restart of the server."
)
_CLOUD = "Azure sets it by the service tier"
_CLOUD_RECOVERY = "an Azure SQL Managed Instance keeps FULL, for its own backups"


class Tuning(ServerTuning[Session, Any]):
    """The requested settings of one SQL Server.

    Attributes:
        places: The databases of the job: options are set in these only.
    """

    def __init__(self, asked: Sequence[Setting] = (), home: Path | None = None) -> None:
        """Takes settings.

        Args:
            asked: The settings.
            home: The folder of the target under ``--out``, for the journal.

        Raises:
            UsageError: If a value is out of the server's range.
        """
        super().__init__(asked, changes(asked), self._read_back)
        self.places: Set[str] = frozenset()
        self._home = home or Path()
        self._journal: Journal | None = None
        self._failed = False
        self._recovery: dict[str, str] = {}

    def give(self, server: Any) -> None:
        """Does nothing: there is no private SQL Server."""

    def plan_sessions(self, session: Session, server: str) -> None:
        """Restores what a killed run left, then changes what this run asks for.

        Raises:
            UsageError: If this server does not have a setting, or another run has changed some.
            TargetError: If it rejects a change; what was changed before is restored.
        """
        self._journal = Journal(self._home, server, state.identity(session))
        if self._changes or self._journal.path.exists():
            if self._journal.acquire():
                self._undo(session)
            elif self._changes:
                raise UsageError(
                    f"Another run of Dyno has changed settings of {server}; wait for its end."
                )
        super().plan_sessions(session, server)
        done = {item.name for item in self._journal.read()}
        self._how = {
            item.name: (IN_DATABASES if item.name in OF_DATABASES else ON_SERVER)
            if item.name in done or item.name in OF_DATABASES
            else AS_IT_IS
            for item in self._changes
        }

    def verify_sessions(self, session: Session) -> None:
        """Reads every change back.

        Raises:
            TargetError: If the server has another value; the old ones are restored.
        """
        try:
            super().verify_sessions(session)
        except BaseException:
            self._undo(session)
            raise

    def adopt(self, session: Session, database: str) -> None:
        """Sets the requested options of a database that Dyno has just created."""
        if self._journal is None:
            return
        now = state.read(session, self._names())
        for item in _planned(self._changes, now, [database]):
            if item.database:
                self._apply(session, item, now)
        for change in self._changes:
            if change.name == MAXDOP:
                scoped.verify(session, change, [database])

    def restore(self, connect: Callable[[], Session]) -> None:
        """Restores what the run changed; does nothing if nothing was changed.

        Raises:
            TargetError: With the statements to run, if the server rejects one.
        """
        if self._journal is None or not self._journal.held:
            return
        try:
            self._failed = True
            if self._journal.read():
                with closing(connect()) as session:
                    self._undo(session)
            self._failed = False
        finally:
            self._journal.release()

    def left(self, *, restored: bool) -> None:
        """See the base class."""
        super().left(restored=restored and not self._failed)

    def _ends_with_server(self, item: Applied) -> bool:  # noqa: ARG002
        return False

    def _read_server(self, session: Session, server: Any) -> Sequence[Applied]:  # noqa: ARG002
        return ()

    def require(self, session: Session, server: str) -> None:
        """Rejects settings that this server does not have, or not with these values.

        Raises:
            UsageError: With the reason.
        """
        if self._changes:
            self._wanted(session, server)

    def _wanted(self, session: Session, server: str) -> State:
        """The current values; refuses changes that they do not allow.

        The space for sorts and hashes follows the memory, so it is not known before that is set.
        """
        _require(session, self._changes, server)
        names = self._names()
        if GRANT in names and MEMORY not in names:
            self._changes = changes(self._asked, state.workspace_bytes(session))
        now = state.read(session, names)
        _planned(self._changes, now, self._own(now))
        return now

    def _own(self, now: State) -> list[str]:
        return [name for name in now.databases if name in self.places & now.open]

    def _names(self) -> list[str]:
        return [item.name for item in self._changes]

    def _plan(self, session: Session, server: str) -> None:
        now = self._wanted(session, server)
        self._before = {name: _before(now, name, self._own(now)) for name in self._names()}
        try:
            self._recovery = {name: now.get(RECOVERY, name) or "" for name in self._own(now)}
            self._set_memory(session, now)
            now = state.read(session, self._names())
            for item in _planned(self._changes, now, self._own(now)):
                self._apply(session, item, now)
        except BaseException:
            self._undo(session)
            raise

    def _read_back(
        self,
        session: Session,
        asked: Sequence[Change],
        before: Mapping[str, str],
        how: Mapping[str, str],
    ) -> list[Applied]:
        """Reads every change back.

        Raises:
            TargetError: If the server has another value.
        """
        now = state.read(session, [item.name for item in asked])
        own = self._own(now)
        found: list[Applied] = []
        for item in asked:
            places = own if item.name in OF_DATABASES else [""]
            values = {now.get(item.name, place) for place in places}
            if values - {item.value}:
                wrong = next(value for value in values if value != item.value)
                raise not_applied(item, str(session.version), wrong)
            created = "" if places else "set when Dyno creates the database"
            limit = editions.note(session.version, item)
            seen = self._seen(session, now, item)
            note = "; ".join(filter(None, (created, item.note, limit, seen)))
            shown = item.value if places else ""
            found.append(item.applied(shown, before.get(item.name, ""), how[item.name], note))
        return found

    def _seen(self, session: Session, now: State, item: Change) -> str:
        """A note on what limits a value that is in effect.

        Raises:
            TargetError: If something overrides it.
        """
        if item.name == MAXDOP:
            usable = state.read(session, [RECOVERY]) if self.places else now
            return scoped.verify(session, item, self._own(usable))
        if item.name == RECOVERY:
            own = self._own(now)
            before = {place: self._recovery.get(place, "") for place in own}
            return logchain.broken(before, item.value) or logchain.note(session, own, item.value)
        return ""

    def _set_memory(self, session: Session, now: State) -> None:
        """Sets the memory if it is requested, and determines what depends on it."""
        memory = [item for item in self._changes if item.name == MEMORY]
        for item in _planned(memory, now, ()):
            self._apply(session, item, now)
        for one in memory:
            note = settling.settle(session, int(one.value) << 20)
            space = state.workspace_bytes(session) if GRANT in self._names() else None
            self._changes = [
                replace(item, note="; ".join(filter(None, (item.note, note))))
                if item.name == MEMORY
                else item
                for item in changes(self._asked, space)
            ]

    def _apply(self, session: Session, item: Changed, now: State) -> None:
        """Notes a change, then makes it."""
        assert self._journal is not None  # noqa: S101  (set before any change)
        self._journal.write([*self._journal.read(), item])
        for statement in state.assign(item.name, item.database, item.value, now):
            right = state.right(item.name)
            state.execute(session, item.name, item.database, statement, right)
        if item.name == RECOVERY and logchain.starts(item.before, item.value):
            session.execute(logchain.start(item.database), logchain.right(item.database))

    def _undo(self, session: Session) -> None:
        """Restores the changes in the journal, the newest first.

        A value that another user has changed since stays. What cannot be restored stays in the
        journal, with the switches that it may need.

        Raises:
            TargetError: With the statements to run, if the server rejects one.
        """
        assert self._journal is not None  # noqa: S101  (set before any change)
        left = self._journal.read()
        kept: list[Changed] = []
        failed: TargetError | None = None
        while left:
            item = left.pop()
            if failed is not None and item.name in (state.GOVERNOR, state.ADVANCED):
                kept.insert(0, item)
                continue
            try:
                _restore(session, item)
            except TargetError as error:
                failed = failed or error
                kept.insert(0, item)
            self._journal.write([*left, *kept])
        if failed is not None:
            raise failed


def is_own(database: str) -> bool:
    """Whether a database is one of Dyno's, by its name."""
    homes = {re.escape(databases.schema_of(name)) for name in workloads.names()}
    return (
        re.fullmatch(rf"(?:{'|'.join(sorted(homes))}|dyno_own_\w+)(?:_\d+)?", database) is not None
    )


def _restore(session: Session, item: Changed) -> None:
    """Restores a change.

    Pages of tempdb are freed behind the statement that used them, so its files take some attempts.

    Raises:
        TargetError: With the statements to run, if the server rejects one.
    """
    end = time.monotonic() + (_EMPTIED_S if item.name == TEMP_FILES else 0.0)
    while True:
        now = state.read(session, _read_with(item.name))
        statements = state.restore(item.name, item.database, item.before, item.value, now)
        try:
            for statement in statements:
                state.execute(session, item.name, item.database, statement)
        except DynoError as error:
            if time.monotonic() >= end:
                raise _unrestored(item, statements, error) from error
        else:
            return
        threading.Event().wait(_POLL_S)


def _planned(asked: Sequence[Change], now: State, own: Sequence[str]) -> list[Changed]:
    """The values that differ from the requested ones, in the order in which they are set."""
    found: list[Changed] = []
    for change in asked:
        for database in own if change.name in OF_DATABASES else ("",):
            before = now.get(change.name, database, used=False)
            if before is None or _has(now, change, before):
                continue
            if change.name == TEMP_FILES and int(before) > int(change.value):
                raise UsageError(
                    f"{change.word}={change.asked}: tempdb has {before} data files, and Dyno "
                    "removes only its own."
                )
            found += _switches(change.name, now, found)
            found.append(Changed(change.name, database, before, change.value))
    return found


def _has(now: State, change: Change, before: str) -> bool:
    """Whether a value needs no change."""
    if change.name == GRANT:  # while the governor is off, the stored share has no effect
        return before == change.value == now.get(GRANT)
    return before in ("", change.value)


def _switches(name: str, now: State, planned: Sequence[Changed]) -> list[Changed]:
    """What must be on to set a value."""
    switch = {GRANT: state.GOVERNOR, **dict.fromkeys(CONFIGURED, state.ADVANCED)}.get(name)
    if switch is None or now.get(switch) != "0" or any(item.name == switch for item in planned):
        return []
    return [Changed(switch, "", "0", "1")]


def _read_with(name: str) -> list[str]:
    return [GRANT] if name == state.GOVERNOR else [name]


def _before(now: State, name: str, own: Sequence[str]) -> str:
    if name not in OF_DATABASES:
        return now.get(name, used=False) or ""
    values = {database: now.get(name, database) or "" for database in own}
    if len(set(values.values())) <= 1:
        return next(iter(values.values()), "")
    return ", ".join(f"{value} in {database}" for database, value in values.items())


def _require(session: Session, asked: Sequence[Change], server: str) -> None:
    """Rejects settings that the connected product does not have.

    Raises:
        UsageError: With the reason.
    """
    for item in asked:
        reason = ""
        if session.version.is_babelfish:
            reason = _BABELFISH
        elif session.version.is_cloud and item.name == RECOVERY:
            reason = _CLOUD_RECOVERY
        elif session.version.is_cloud and item.name not in OF_DATABASES:
            reason = _CLOUD
        elif item.name == GRANT:
            reason = governor.refusal(session)
        elif item.name == TEMP_FILES and not _is_sysadmin(session):
            reason = _NO_SHRINK
        elif item.name in CONFIGURED and (staged := state.staged(session)):
            reason = _STAGED.format(names=", ".join(staged))
        if reason:
            raise UsageError(f"{item.word}={item.asked}: {server} cannot have it: {reason}.")


def _is_sysadmin(session: Session) -> bool:
    return bool(session.execute(f"SELECT {rights.SYSADMIN}").rows[0][0])


def _unrestored(item: Changed, statements: Sequence[str], error: DynoError) -> TargetError:
    where = f" of {item.database}" if item.database else ""
    more = _EMPTYING if item.name == TEMP_FILES else ""
    return TargetError(
        f"{item.name}{where} was {item.before} before the run and could not be restored: {error} "
        f"The next run with this output folder tries again; or run: {'; '.join(statements)};{more}",
        kind="database",
    )
