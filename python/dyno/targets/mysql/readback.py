"""Settings read back from the live server: which ones sessions may set, and verification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dyno.bundle.model import Applied
from dyno.config.settings import bytes_text
from dyno.contracts.tuning import Change, not_applied
from dyno.targets.mysql.connection import MysqlConnection, literal
from dyno.targets.mysql.version import Version

_OF_SESSIONS = {
    "join_buffer_size",
    "join_buffer_space_limit",
    "max_heap_table_size",
    "max_tmp_session_space_usage",
    "sort_buffer_size",
    "tmp_disk_table_size",
    "tmp_table_size",
}
_ONLY_AT_START = {"large_pages", "performance_schema", "tmpdir"}
_CHUNKS = ("innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances")


def read(session: MysqlConnection, names: Iterable[str]) -> dict[str, str]:
    """The session's values of the variables; unknown ones are left out."""
    listed = ", ".join(literal(name) for name in names)
    rows = session.execute(f"SHOW SESSION VARIABLES WHERE Variable_name IN ({listed})").rows
    return {str(name).lower(): str(value) for name, value in rows}


def amount(text: str | None) -> int | None:
    """A value as a number, a switch as 1 or 0; None for others."""
    if text is None:
        return None
    return {"ON": 1, "OFF": 0}.get(text, int(text) if text.isdigit() else None)


def defaults(session: MysqlConnection, names: Iterable[str]) -> dict[str, str]:
    """MariaDB's defaults of the variables."""
    listed = ", ".join(literal(name.upper()) for name in names)
    rows = session.execute(
        "SELECT variable_name, default_value FROM information_schema.system_variables "  # noqa: S608
        f"WHERE variable_name IN ({listed})"  # (trusted names)
    ).rows
    return {str(name).lower(): str(value) for name, value in rows if value is not None}


def verify(
    session: MysqlConnection,
    changes: Sequence[Change],
    before: Mapping[str, str],
    how: Mapping[str, str],
) -> list[Applied]:
    """Reads every change back.

    Args:
        session: A session with the changes.
        changes: The requested changes.
        before: Values without the changes.
        how: How each was applied.

    Raises:
        TargetError: If the server has another value.
    """
    shown = read(session, [*(item.name for item in changes), *_CHUNKS])
    applied: list[Applied] = []
    for item in changes:
        found = shown.get(item.name)
        rounding = "" if found is None or _equal(item, found) else _rounding(item, found, shown)
        if found is None or not (rounding or _equal(item, found)):
            raise not_applied(item, session.version.product, found)
        note = "; ".join(note for note in (item.note, rounding) if note)
        applied.append(item.applied(found, before.get(item.name, ""), how[item.name], note))
    return applied


def for_sessions(
    session: MysqlConnection, changes: Sequence[Change], server: str
) -> dict[str, str]:
    """The changes that every session must make on a server at a URL.

    Values that the server already has need no change.

    Raises:
        UsageError: If the server lacks one, or one is server-wide, which Dyno does not change.
    """
    shown = read(session, [*(item.name for item in changes), *_CHUNKS])
    wanted: dict[str, str] = {}
    for item in changes:
        found = shown.get(item.name)
        if found is None:
            raise item.missing(server)
        if _equal(item, found) or _rounding(item, found, shown):
            continue
        if item.name not in _OF_SESSIONS:
            why = f"which is server-wide; {server} has {found}"
            raise item.left_to_owner(why, _todo(item, session.version))
        wanted[item.name] = item.value
    return wanted


def _todo(item: Change, version: Version) -> str:
    fixed = item.name in _ONLY_AT_START or (
        item.name == "innodb_log_file_size"
        and not (version.is_mariadb and version.number >= (10, 9))
    )
    if fixed:
        return f"On the server: put {item.name} = {item.value} into my.cnf and restart."
    return f"On the server: SET GLOBAL {item.name} = {item.value};"


def _equal(item: Change, found: str) -> bool:
    if item.amount is None:
        return item.value.rstrip("/") == found.rstrip("/")
    return item.amount == amount(found)


def _rounding(item: Change, found: str, shown: Mapping[str, str]) -> str:
    """A note if the buffer pool was rounded up to whole chunks; else empty."""
    if item.name != "innodb_buffer_pool_size" or item.amount is None:
        return ""
    unit = (amount(shown.get(_CHUNKS[0])) or 0) * (amount(shown.get(_CHUNKS[1])) or 1)
    if not unit or amount(found) != -(-item.amount // unit) * unit:
        return ""
    return f"the server rounded it up to a multiple of {bytes_text(unit)}"
