"""Settings of one run on one server: applied, verified, restored."""

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
"""Reads changes back, from their old values and how each was applied.

Raises ``TargetError`` if the live system has another value.
"""


class ServerTuning(ABC, Generic[Session, Private]):
    """The settings of one target.

    A private server starts with them. On a server at a URL, Dyno sets session parameters only, in
    each of its sessions.

    Attributes:
        sessions: Parameters that every session sets, by name.
        applied: The values read back.
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
        """Starts the private server with the settings."""

    def verify_server(self, session: Session, server: Private) -> None:
        """Reads back the settings of the private server.

        Raises:
            TargetError: If the server has another value.
        """
        if self._changes:
            self.applied = tuple(self._read_server(session, server))

    def plan_sessions(self, session: Session, server: str) -> None:
        """Determines the parameters for sessions on a server at a URL.

        Args:
            session: A session with the server.
            server: Its name in messages.

        Raises:
            UsageError: If a setting needs a change of the server's configuration.
            TargetError: If this user may not set a parameter.
        """
        if not self._changes:
            return
        self._plan(session, server)
        self._how = {
            item.name: IN_SESSIONS if item.name in self.sessions else AS_IT_IS
            for item in self._changes
        }

    def verify_sessions(self, session: Session) -> None:
        """Reads back the parameters of a session.

        Raises:
            TargetError: If the session has another value.
        """
        if self._changes:
            self.applied = tuple(self._verify(session, self._changes, self._before, self._how))

    def left(self, *, restored: bool) -> None:
        """Records that the target was left, and whether its private server was restored."""
        self.applied = tuple(
            item.model_copy(update={"restored": restored or self._ends_with_server(item)})
            for item in self.applied
        )

    def advised(self, error: TargetError, server: Private) -> TargetError:  # noqa: ARG002
        """The error of a failed start, with advice on the settings."""
        return error

    @abstractmethod
    def _read_server(self, session: Session, server: Private) -> Sequence[Applied]:
        """The current values on the private server."""

    @abstractmethod
    def _plan(self, session: Session, server: str) -> None:
        """Sets ``_changes``, ``_before`` and ``sessions`` for the current server."""

    def _ends_with_server(self, item: Applied) -> bool:  # noqa: ARG002
        """Whether a setting ends with the server or the session."""
        return True

    def _value(self, word: str) -> str | None:
        """The value of a setting; None if not given."""
        return next((str(item.value) for item in self._asked if item.word == word), None)
