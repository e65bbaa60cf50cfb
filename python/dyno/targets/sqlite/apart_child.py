"""The process of a session on a file that the driver has open in Dyno's process.

Started by ``apart``. It imports nothing from Dyno, for a fast start, and exits when its socket is
closed, so it never outlives Dyno. Requests: ``("execute", sql)`` with one response, ``("rows",
columns, rows)`` or ``("error", class, text, code)``; ``("backup", file)``, whose rows are the pages
and schema objects of the source; ``("cancel", "")`` without a response. The first response is that
to opening the file.
"""

from __future__ import annotations

import json
import queue
import signal
import sqlite3
import sys
import threading
from contextlib import closing
from multiprocessing.connection import Connection
from typing import Any

PAGES = 256
"""Pages per backup step; a backup can be stopped between two steps."""


def main(handle: int, file: str, timeout_s: float, pragmas: dict[str, Any]) -> None:
    """Serves until Dyno exits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Dyno handles Ctrl-C
    channel: Connection[Any, Any] = Connection(handle)
    try:
        session = sqlite3.connect(
            file, timeout_s, isolation_level=None, check_same_thread=False, cached_statements=0
        )
        for name, value in pragmas.items():
            session.execute(f"PRAGMA {name} = {value}")
    except sqlite3.Error as error:
        channel.send(_error_response(error))
        return
    channel.send(("rows", [], []))
    requests: queue.SimpleQueue[tuple[str, str] | None] = queue.SimpleQueue()
    cancelled = threading.Event()
    work = (channel, session, requests, cancelled)
    threading.Thread(target=_listen, args=work, daemon=True).start()
    while (request := requests.get()) is not None:
        word, text = request
        backup = word == "backup"
        answer = _backup(session, text, cancelled) if backup else _execute(session, text)
        try:
            channel.send(answer)
        except OSError:
            break
    session.close()


def _listen(
    channel: Connection[Any, Any],
    session: sqlite3.Connection,
    requests: queue.SimpleQueue[tuple[str, str] | None],
    cancelled: threading.Event,
) -> None:
    """Receives requests while a statement runs."""
    try:
        while True:
            word, text = channel.recv()
            if word == "cancel":
                cancelled.set()
                session.interrupt()
            else:
                cancelled.clear()
                requests.put((word, text))
    except (EOFError, OSError):
        requests.put(None)
        cancelled.set()
        session.interrupt()


def _execute(session: sqlite3.Connection, sql: str) -> tuple[Any, ...]:
    try:
        cursor = session.execute(sql)
        return "rows", [str(column[0]) for column in cursor.description or ()], cursor.fetchall()
    except (sqlite3.Error, MemoryError) as error:
        return _error_response(error)


def _backup(session: sqlite3.Connection, file: str, cancelled: threading.Event) -> tuple[Any, ...]:
    """Copies the file in one snapshot; returns its pages and schema objects."""

    def step(_status: int, _left: int, _total: int) -> None:
        if cancelled.is_set():
            raise sqlite3.OperationalError("interrupted")

    try:
        session.execute("BEGIN")
        try:
            names = session.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            pages = session.execute("PRAGMA page_count").fetchone()[0]
            with closing(sqlite3.connect(file)) as copy:
                session.backup(copy, pages=PAGES, progress=step)
        finally:
            session.execute("ROLLBACK")
    except (sqlite3.Error, MemoryError) as error:
        return _error_response(error)
    return "rows", ["pages", "names"], [(pages, names)]


def _error_response(error: Exception) -> tuple[str, str, str, int]:
    code = getattr(error, "sqlite_errorcode", None) or 0
    return "error", type(error).__name__, str(error), int(code)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), json.loads(sys.argv[4]))
