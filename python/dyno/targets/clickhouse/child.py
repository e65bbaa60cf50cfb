"""The chdb process: one directory, one thread per session. Started by ``engine``.

``docs/decisions/0007`` explains why it is a separate process. It imports nothing from Dyno, for a
fast start, and exits when its control socket is closed, so it never outlives Dyno.

The control socket accepts ``session`` (with the session's socket and, for a load, the pipe of its
rows) and ``cancel``. On a session's socket a request is a word (``setup``, ``execute``,
``insert``), a statement and its number. Each request has one response: ``("rows", bytes)`` with an
Arrow stream, or ``("error", text)``. The effects of ``setup`` last for the whole session.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import sys
import threading
import time
from dataclasses import dataclass, field
from io import FileIO
from multiprocessing.connection import Connection
from typing import Any

_CHUNK = 1 << 20
_LAST_S = 10.0
_POLL_S = 0.01
_CANCELLED = "Code: 394. DB::Exception: Query was cancelled."
MESSAGE = 1 << 16


def comment(session: int) -> str:
    """The ``log_comment`` that identifies the statements of a session in the engine."""
    return f"dyno-{session}"


@dataclass
class Statement:
    """The current statement of a session; a cancellation may arrive after its end.

    Attributes:
        current: The number of the running statement; 0 between two.
        cancelled: The last statement to cancel.
    """

    current: int = 0
    cancelled: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Server:
    """Sessions on one open directory."""

    def __init__(self, control: socket.socket, address: str) -> None:
        self._connect: Any = importlib.import_module("chdb").connect
        self._control = control
        self._address = address
        self._statements: dict[int, Statement] = {}
        self._root: Any = self._connect(address)

    def serve(self) -> None:
        """Handles control messages until the other end is closed."""
        self._control.send(json.dumps({"ready": True}).encode())
        while True:
            try:
                data, handles, _, _ = socket.recv_fds(self._control, MESSAGE, 2)
            except OSError:
                return
            if not data:
                return
            message = json.loads(data)
            number = message["session"]
            if message["do"] == "cancel":
                work = (self._statements[number], comment(number), message["statement"])
                threading.Thread(target=self._cancel, args=work, daemon=True).start()
            else:
                self._statements[number] = Statement()
                work = (self._statements[number], comment(number), *handles)
                threading.Thread(target=self._session, args=work, daemon=True).start()

    def close(self) -> None:
        """Stops running statements and closes the directory cleanly."""
        self._kill("LIKE 'dyno-%'")
        self._root.close()

    def _cancel(self, statement: Statement, mark: str, number: int) -> None:
        """Cancels the statement of that number, even before it starts; never the next one."""
        with statement.lock:
            statement.cancelled = max(statement.cancelled, number)
        while True:
            with statement.lock:
                # The engine can only find a statement that is on its list.
                if statement.current != number or self._kill(f"= '{mark}'"):
                    return
            time.sleep(_POLL_S)

    def _kill(self, sessions: str) -> bool:
        """Whether a statement was found, or cannot be: an engine at its limit may refuse even this.

        In the latter case, Dyno kills the process.
        """
        sql = f"KILL QUERY WHERE Settings['log_comment'] {sessions} ASYNC"
        try:
            return bool(self._root.query(sql, "TSV").bytes())
        except Exception:
            return True

    def _session(
        self, statement: Statement, mark: str, handle: int, pipe: int | None = None
    ) -> None:
        with contextlib.ExitStack() as open_things:
            channel = open_things.enter_context(Connection(handle))
            rows = pipe if pipe is None else open_things.enter_context(FileIO(pipe))
            setup = [f"SET log_comment = '{mark}'"]
            session: Any = None
            try:
                while True:
                    word, sql, number = channel.recv()
                    try:
                        session = session or self._open(setup)
                        with statement.lock:
                            statement.current = number
                            if statement.cancelled >= number:
                                raise RuntimeError(_CANCELLED)
                        answer = "rows", _answer(session, channel, word, sql, rows)
                        if word == "setup":
                            setup.append(sql)
                    except Exception as error:
                        answer = "error", str(error)
                        # chdb prepends the partial output of a failed statement to the next
                        # response of the same
                        # connection.
                        if session is not None:
                            session = session.close()
                    finally:
                        with statement.lock:
                            statement.current = 0
                    channel.send(answer)
            except (EOFError, OSError):
                pass
            finally:
                if session is not None:
                    session.close()

    def _open(self, setup: list[str]) -> Any:
        session = self._connect(self._address)
        for statement in setup:
            session.query(statement)
        return session


def _answer(session: Any, channel: Any, word: str, sql: str, rows: FileIO | None) -> bytes | int:
    if word == "insert" and rows is not None:
        return _insert(session, channel, sql, rows)
    return session.query(sql, "ArrowStream").bytes() or b""


def _insert(session: Any, channel: Any, sql: str, rows: FileIO) -> int:
    """Inserts rows from the pipe until EOF; then the other side confirms their completeness."""
    try:
        inserter = session.send_insert(sql, "ArrowStream")
        try:
            while chunk := rows.read(_CHUNK):
                inserter.append(chunk)
        except BaseException:
            with contextlib.suppress(Exception):
                inserter.cancel()
            raise
    except Exception:
        rows.close()  # the writer notices the failure at once
        channel.recv()
        raise
    if channel.recv()[0] != "commit":
        inserter.cancel()
        return 0
    return inserter.finish().rows_written


def main(handle: int, address: str) -> None:
    """Serves until Dyno exits.

    Args:
        handle: The control socket.
        address: The directory, with engine options in chdb's format.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Dyno handles Ctrl-C
    control = socket.socket(fileno=handle)
    try:
        server = Server(control, address)
    except BaseException as error:
        control.send(json.dumps({"error": str(error)}).encode()[:MESSAGE])
        os._exit(1)
    server.serve()
    # A statement that ignores cancellation must not block the exit. chdb's exit handlers can
    # crash while one runs, so they are skipped.
    last = threading.Timer(_LAST_S, os._exit, (1,))
    last.daemon = True
    last.start()
    server.close()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
