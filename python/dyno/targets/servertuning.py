"""The settings of one run on one server: given, applied, verified, restored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from dyno.bundle.model import Applied
from dyno.config.settings import Setting
from dyno.contracts.target import Connection
from dyno.contracts.tuning import Change
from dyno.errors import TargetError

Session = TypeVar("Session", bound=Connection)
Private = TypeVar("Private")

AS_IT_IS = "the server's value"
AT_START = "at server start"
IN_SESSIONS = "in each session"
"""How a setting was applied, for the record."""

Verify = Callable[
    [Session, Sequence[Change], Mapping[str, str], Mapping[str, str]], Sequence[Applied]
]
"""Reads changes back, given their values before and how each was applied.

Raises ``TargetError`` where the live system has something else.
"""


class ServerTuning(ABC, Generic[Session, Private]):
    """What is asked of one target.

    A private server is started with it. A server that is not Dyno's own is left as it is: each of
    Dyno's sessions there sets what a session may.

    Attributes:
        sessions: Parameters that every session sets, by name.
        applied: What was read back.
    """

    def __init__(
        self, asked: Sequence[Setting], changes: list[Change], verify: Verify[Session]
    ) -> None:
        self._asked = list(asked)
        self._changes = changes
        self._verify = verify
        self._before: Mapping[str, str] = {}
        self._how: dict[str, str] = {}
        self.sessions: dict[str, str] = {}
        self.applied: tuple[Applied, ...] = ()

    @abstractmethod
    def give(self, server: Private) -> None:
        """Has the private server start with them."""

    def verify_server(self, session: Session, server: Private) -> None:
        """Reads back what the private server was started with.

        Raises:
            TargetError: If it has something else.
        """
        if self._changes:
            self.applied = tuple(self._read_server(session, server))

    def plan_sessions(self, session: Session, server: str) -> None:
        """Finds out what sessions of a server that is not Dyno's have to set.

        Args:
            session: Asks the server.
            server: What messages call it.

        Raises:
            UsageError: If something needs the server's own configuration.
            TargetError: If this user may not set something.
        """
        if not self._changes:
            return
        self._plan(session, server)
        self._how = {
            item.name: IN_SESSIONS if item.name in self.sessions else AS_IT_IS
            for item in self._changes
        }

    def verify_sessions(self, session: Session) -> None:
        """Reads back what a session has.

        Raises:
            TargetError: If it has something else.
        """
        if self._changes:
            self.applied = tuple(self._verify(session, self._changes, self._before, self._how))

    def left(self, *, restored: bool) -> None:
        """Notes that the target was left, and whether its private server was restored."""
        self.applied = tuple(
            item.model_copy(update={"restored": restored or self._ends_with_server(item)})
            for item in self.applied
        )

    def advised(self, error: TargetError, server: Private) -> TargetError:  # noqa: ARG002
        """The error of a start that failed, with what the settings may have to do with it."""
        return error

    @abstractmethod
    def _read_server(self, session: Session, server: Private) -> Sequence[Applied]:
        """What the private server has of the changes."""

    @abstractmethod
    def _plan(self, session: Session, server: str) -> None:
        """Sets ``_changes``, ``_before`` and ``sessions`` for the server as it is."""

    def _ends_with_server(self, item: Applied) -> bool:  # noqa: ARG002
        """Whether a setting is gone once the server or the session is."""
        return True

    def _value(self, word: str) -> str | None:
        """What is asked for a word; None if nothing."""
        return next((str(item.value) for item in self._asked if item.word == word), None)
