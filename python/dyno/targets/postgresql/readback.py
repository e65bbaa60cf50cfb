"""Settings read back from the live server: which ones may change, and verification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dyno.bundle.model import Applied
from dyno.contracts.tuning import Change, not_applied
from dyno.errors import TargetError
from dyno.targets.postgresql.connection import PostgresConnection

_UNITS = {"B": 1, "kB": 1 << 10, "8kB": 1 << 13, "MB": 1 << 20, "s": 1, "min": 60}


@dataclass(frozen=True)
class Shown:
    """A parameter as the server shows it.

    Attributes:
        text: With the unit that the server prefers.
        amount: In bytes, seconds or a count; None for a word.
        context: Who may change it and when; see ``pg_settings``.
        default: The value without any configuration.
    """

    text: str
    setting: str
    amount: int | None
    context: str
    default: str

    def equals(self, change: Change) -> bool:
        """Whether it has the value of the change."""
        if change.amount is None:
            return self.setting == change.value
        return self.amount == change.amount


def read(session: PostgresConnection, names: Iterable[str]) -> dict[str, Shown]:
    """The parameters ``names``; those that this version lacks are left out."""
    listed = ", ".join(f"'{name}'" for name in names)
    rows = session.execute(
        "SELECT name, current_setting(name), setting, unit, context, boot_val "  # noqa: S608
        f"FROM pg_settings WHERE name IN ({listed})"  # (trusted names)
    ).rows
    return {
        str(name): Shown(
            str(text), str(setting), _amount(setting, unit), str(context), _with_unit(default, unit)
        )
        for name, text, setting, unit, context, default in rows
    }


def verify(
    session: PostgresConnection,
    changes: Sequence[Change],
    before: Mapping[str, str],
    how: Mapping[str, str],
) -> list[Applied]:
    """Reads every change back.

    Args:
        session: A session with the changes.
        changes: The requested changes.
        before: Values without the changes; the server's default if one is missing.
        how: How each was applied.

    Raises:
        TargetError: If the server has another value.
    """
    notes = ("hash_mem_multiplier", "huge_pages_status")
    shown = read(session, [*(item.name for item in changes), *notes])
    applied: list[Applied] = []
    for item in changes:
        found = shown.get(item.name)
        if found is None or not found.equals(item):
            text = None if found is None else found.text
            raise not_applied(item, "PostgreSQL", text)
        earlier = before.get(item.name, found.default)
        applied.append(item.applied(found.text, earlier, how[item.name], _note(item, shown)))
    return applied


def for_sessions(
    session: PostgresConnection, changes: Sequence[Change], server: str
) -> dict[str, str]:
    """The changes that every session must make on a server at a URL.

    Values that the server already has need no change.

    Raises:
        UsageError: If one needs the server's configuration, which Dyno does not change.
        TargetError: If this user may not set one, with the GRANT.
    """
    shown = read(session, [item.name for item in changes])
    wanted: dict[str, str] = {}
    for item in changes:
        found = shown.get(item.name)
        if found is None:
            raise item.missing(server)
        if found.equals(item):
            continue
        if found.context not in {"user", "superuser"}:
            when = _WHEN.get(found.context, "when the cluster is created")
            why = f"which {server} accepts only {when}; it has {found.text}"
            raise item.left_to_owner(why, _todo(item))
        if found.context == "superuser" and not _may_set(session, item.name):
            raise TargetError(_denied(session, item, server), kind="denied")
        wanted[item.name] = item.value
    return wanted


_WHEN = {"sighup": "from its configuration", "postmaster": "when it starts"}


def _todo(item: Change) -> str:
    if item.name == "data_checksums":
        option = "--enable" if item.value == "on" else "--disable"
        return f"Stop it and run pg_checksums {option} on its data folder."
    after = (
        "SELECT pg_reload_conf();"
        if item.name in {"checkpoint_timeout", "max_wal_size", "min_wal_size"}
        else "restart it."
    )
    return f"On the server: ALTER SYSTEM SET {item.name} = '{item.value}'; {after}"


def _may_set(session: PostgresConnection, name: str) -> bool:
    if session.raw.info.server_version < 150000:
        return session.execute("SELECT current_setting('is_superuser')").rows[0][0] == "on"
    question = f"SELECT has_parameter_privilege(current_user, '{name}', 'SET')"
    return session.execute(question).rows[0][0] is True


def _denied(session: PostgresConnection, item: Change, server: str) -> str:
    user = session.execute("SELECT quote_ident(current_user)").rows[0][0]
    if session.raw.info.server_version < 150000:
        return (
            f"{item.word}={item.asked} maps to {item.name}, which only a superuser may set "
            f"on {server} (PostgreSQL 14); connect as one, or omit it."
        )
    return (
        f"{item.word}={item.asked} maps to {item.name}, which {user} may not set on "
        f"{server}. As a superuser: GRANT SET ON PARAMETER {item.name} TO {user};"
    )


def _note(item: Change, shown: dict[str, Shown]) -> str:
    if item.name == "work_mem":
        factor = shown["hash_mem_multiplier"].text
        return f"{item.note}; a hash may use {factor} times as much (hash_mem_multiplier)"
    if item.name == "huge_pages" and "huge_pages_status" in shown:
        return f"huge pages in use: {shown['huge_pages_status'].text}"
    return item.note


def _amount(setting: str, unit: str | None) -> int | None:
    try:
        return int(setting) * _UNITS.get(unit or "", 1)
    except ValueError:
        return None


def _with_unit(value: str | None, unit: str | None) -> str:
    if value is None:
        return ""
    if unit is None or value in {"0", "-1"}:
        return value
    if unit == "8kB":
        return f"{int(value) * 8}kB"
    return f"{value}{unit}"
