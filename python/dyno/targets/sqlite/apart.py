"""A session in another process, for work during transactions.

Dyno's process then has the file open through the driver's copy of SQLite. Locks belong to a process
and not to a library: a second copy in it would not see those of the first, and undo them.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dyno.contracts.target import QueryResult
from dyno.errors import TargetError
from dyno.runtime import helpers
from dyno.targets.sqlite import apart_child
from dyno.targets.sqlite.errors import classed

_PATIENCE_S = 30.0
"""How long it waits for the write lock: users without a pause leave it free for moments only."""

_STOP_S = 5.0
"""Timeout of its exit. A session that waits for a lock ignores requests."""


class ApartSession:
    """See ``Connection`` in ``dyno.contracts.target``. Ends its process when it is closed."""

    def __init__(self, file: Path, pragmas: Mapping[str, int | str]) -> None:
        """Opens the file.

        Raises:
            TargetError: If it cannot be opened.
        """
        self._file = file
        self._lock = threading.Lock()
        mine, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [
                    # -P: nothing in the working directory is taken for a module.
                    *(sys.executable, "-P", apart_child.__file__, str(theirs.fileno())),
                    *(str(file), str(_PATIENCE_S), json.dumps(dict(pragmas))),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        helpers.add(self._process.pid)
        self._channel: Connection[Any, Any] = Connection(mine.detach())
        try:
            self._answer()
        except BaseException:
            self.close()
            raise

    def execute(self, sql: str) -> QueryResult:
        """Runs one statement to its last row (see the protocol)."""
        self._send("execute", sql)
        return self._answer()

    def backup(self, file: Path) -> tuple[int, int]:
        """Copies the whole file into another one, as of one moment; returns pages and names.

        Raises:
            TargetError: If it was cancelled, or could not be done.
        """
        self._send("backup", str(file))
        (row,) = self._answer().rows
        return int(row[0]), int(row[1])

    def cancel(self) -> None:
        """Stops the statement or the backup under way."""
        with contextlib.suppress(TargetError):
            self._send("cancel", "")

    def close(self) -> None:
        """Ends the process; what was not committed is rolled back."""
        with self._lock:
            self._channel.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        helpers.remove(self._process.pid)

    def _send(self, word: str, sql: str) -> None:
        try:
            with self._lock:  # a cancellation comes from another thread
                self._channel.send((word, sql))
        except OSError as error:
            raise self._gone() from error

    def _answer(self) -> QueryResult:
        try:
            word, *answer = self._channel.recv()
        except (EOFError, OSError) as error:
            raise self._gone() from error
        if word == "rows":
            columns, rows = answer
            return QueryResult(columns, rows)
        name, text, code = answer
        error = getattr(sqlite3, name, sqlite3.Error)(text)
        error.sqlite_errorcode = code
        raise classed(error, self._file) from error

    def _gone(self) -> TargetError:
        return TargetError("The process of a SQLite session has exited.", kind="connection_lost")
