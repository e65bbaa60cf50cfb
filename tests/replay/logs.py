"""Logs of servers, made for tests."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path

LAST = "\t\t    1 Ping\t\n"
"""The end of a general log, after which its last statement is complete."""

Said = tuple[float, str, str]
"""Seconds after the start of the log, the session, and the message."""


def stamp(at_s: float, zone: str = "UTC") -> str:
    """A time stamp of PostgreSQL; the log begins at 14:00."""
    ms = round(at_s * 1000)
    minutes, ms = divmod(ms, 60_000)
    return f"2026-11-26 14:{minutes:02}:{ms // 1000:02}.{ms % 1000:03} {zone}"


def as_csv(said: Iterable[Said], database: str = "shop") -> str:
    """A log of ``log_destination = csvlog``."""
    out = io.StringIO()
    # The module quotes where it must; PostgreSQL quotes all texts, which means the same.
    writer = csv.writer(out, lineterminator="\n")
    for number, (at_s, session, message) in enumerate(said):
        writer.writerow(
            [stamp(at_s), "app", database, 77, "[local]", session, number, "SELECT", stamp(0),
             "3/0", 0, "LOG", "00000", message, *[""] * 8, "psql", "client backend", "", 0]
        )  # fmt: skip
    return out.getvalue()


def as_json(said: Iterable[Said], database: str = "shop") -> str:
    """A log of ``log_destination = jsonlog``."""
    return "".join(
        json.dumps(
            {"timestamp": stamp(at_s), "dbname": database, "session_id": session,
             "error_severity": "LOG", "message": message}
        ) + "\n"
        for at_s, session, message in said
    )  # fmt: skip


def shop(count: int, gap_s: float = 0.002, sessions: int = 4) -> list[Said]:
    """Transactions of several sessions: BEGIN, a SELECT, an UPDATE and COMMIT."""
    texts = (
        "BEGIN",
        "SELECT stock FROM item WHERE id = {0}",
        "UPDATE item SET stock = stock - 1 WHERE id = {0}",
        "COMMIT",
    )
    return [
        (
            number * gap_s,
            f"a.{number % sessions + 1:x}",
            "statement: " + texts[number // sessions % 4].format(number),
        )
        for number in range(count)
    ]


def written(folder: Path, text: str, name: str = "server.log") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
