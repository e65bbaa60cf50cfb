"""The process that holds chdb: one directory, one thread a session. Started by ``engine``.

``docs/decisions/0007`` tells why it is a process of its own. It imports nothing of Dyno's, to be
there soon, and ends with the Dyno that started it: as soon as the other end of its control socket
is closed.

The control socket takes ``session`` (with the session's socket, and the pipe that its rows come
through if it is to load) and ``cancel``. On a session's socket a request is a word (``setup``,
``execute``, ``insert``), a statement and its number, and has one answer: ``("rows", bytes)`` with
an Arrow stream, or ``("error", text)``. What ``setup`` did holds for the session's whole life.
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
    """What the statements of a session are known by in the engine (``log_comment``)."""
    return f"dyno-{session}"


@dataclass
class Statement:
    """Which statement a session is at; a cancellation may cross its end on the way.

    Attributes:
        current: The number of the one under way; 0 between two.
        cancelled: The last one that was to be cancelled.
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
        """Takes control messages until the other end is closed."""
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
        """Stops what runs and leaves the directory whole."""
        self._kill("LIKE 'dyno-%'")
        self._root.close()

    def _cancel(self, statement: Statement, mark: str, number: int) -> None:
        """Ends the statement of that number, be it yet to come; never the one after it."""
        with statement.lock:
            statement.cancelled = max(statement.cancelled, number)
        while True:
            with statement.lock:
                # Until it is on the engine's list it cannot be found there.
                if statement.current != number or self._kill(f"= '{mark}'"):
                    return
            time.sleep(_POLL_S)

    def _kill(self, sessions: str) -> bool:
        """Whether a statement was found, or cannot be: an engine at its limit may refuse even this.

        It then goes on, and Dyno ends the process.
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
                        # chdb puts what a failed statement has written of its answer in front of
                        # the next answer of the same connection, unasked.
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
    """Rows from the pipe to its end; then the other side says whether that was all of them."""
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
        rows.close()  # who writes into it learns of the failure at once
        channel.recv()
        raise
    if channel.recv()[0] != "commit":
        inserter.cancel()
        return 0
    return inserter.finish().rows_written


def main(handle: int, address: str) -> None:
    """Serves until Dyno is gone.

    Args:
        handle: The control socket.
        address: The directory, with the engine's own options as chdb takes them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for Dyno, which cancels what runs
    control = socket.socket(fileno=handle)
    try:
        server = Server(control, address)
    except BaseException as error:
        control.send(json.dumps({"error": str(error)}).encode()[:MESSAGE])
        os._exit(1)
    server.serve()
    # A statement that heeds no cancellation must not keep the process; and chdb's own way out
    # can fault while one runs, so Python's is not taken.
    last = threading.Timer(_LAST_S, os._exit, (1,))
    last.daemon = True
    last.start()
    server.close()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
