"""A session in another process, for work during transactions.

Meanwhile the driver's copy of SQLite has the file open in Dyno's process. POSIX locks belong to a
process and not to a library: a second copy in the process would not see the locks of the first, and
would release them.
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
"""Timeout in seconds for the write lock: users without pauses release it only for moments."""

_STOP_S = 5.0
"""Timeout of its exit. A session that waits for a lock ignores requests."""


class ApartSession:
    """Implements ``Connection`` of ``dyno.contracts.target``. Closing it ends its process."""

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
                    # -P: no modules from the working directory.
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
        """Runs one statement to the last row (see the protocol)."""
        self._send("execute", sql)
        return self._answer()

    def backup(self, file: Path) -> tuple[int, int]:
        """Copies the whole file to another one, in one snapshot; returns pages and schema objects.

        Raises:
            TargetError: If it was cancelled or failed.
        """
        self._send("backup", str(file))
        (row,) = self._answer().rows
        return int(row[0]), int(row[1])

    def cancel(self) -> None:
        """Stops the running statement or backup."""
        with contextlib.suppress(TargetError):
            self._send("cancel", "")

    def close(self) -> None:
        """Ends the process; uncommitted changes are rolled back."""
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
            with self._lock:  # cancellations come from another thread
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
