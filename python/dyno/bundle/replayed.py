"""What a bundle records of a replayed log."""

from __future__ import annotations

from dyno.bundle.detail import Int, Many, Number, Part

WORKLOAD = "own_replay"
"""The workload of a replay, in names and plans."""
OTHER = "other"
"""The operation of all classes of statements without one of their own."""
LOOP = "log"
"""The loop of a replay: statements start when they did in the log."""
REASONS = {
    "database": "of another database",
    "unknown": "of sessions whose database the log does not show",
    "writes": "that change or lock rows (--reads-only)",
    "ddl": "that change tables (--ddl replays them)",
    "prepared": "that drop statements which the application prepared by the protocol",
    "pinned": "that change settings the replay keeps, such as the encoding",
    "never": "about users, rights, files or the server, or that Dyno cannot parse",
    "parameters": "without the values of their parameters",
    "encoding": "that are not UTF-8",
    "sessions": "of sessions beyond --users",
    "own": "of Dyno's own observers",
    "inner": "of procedures, functions or triggers, which run with their callers",
}
"""Which statements are left out, in words that follow their number."""


def statements(count: int, which: str = "") -> str:
    """``1 statement``, ``2,000 statements of another database``."""
    return f"{count:,} statement{'s'[: count != 1]} {which}".rstrip()


class StatementClass(Part):
    """Statements that differ in literals only.

    Attributes:
        operation: Its name among the operations.
        text: Its text, with ``?`` for literals.
        kind: What it does: ``read``, ``control``, ``session``, ``write`` or ``ddl``.
        count: Its statements in the replayed part of the log.
    """

    operation: str | None = None
    text: str | None = None
    kind: str | None = None
    count: Int | None = None


class Replayed(Part):
    """A replayed log.

    Attributes:
        file: Its name, without the folder.
        format: ``postgres_csv``, ``postgres_json`` or ``general``.
        bytes: Its size, as far as it was read.
        speed: How much faster than in the log.
        database: The database of the log whose statements were replayed; None for all.
        statements: Statements of the log that were to be replayed.
        sessions: Their sessions, and ``at_once`` the most of them at once.
        span_s: Time from the first to the last of them in the log.
        classes: The most frequent classes.
        left_out: Statements that were left out, by reason (``REASONS``).
    """

    file: str | None = None
    format: str | None = None
    bytes: Int | None = None
    speed: Number | None = None
    database: str | None = None
    statements: Int | None = None
    sessions: Int | None = None
    at_once: Int | None = None
    span_s: Number | None = None
    classes: Many[StatementClass] = ()
    left_out: dict[str, Int] | None = None
