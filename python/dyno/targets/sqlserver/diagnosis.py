"""The text report of ``dyno doctor URL --report FILE``, for someone without access to the server.

It has versions, rights, settings and the views that Dyno reads, each with its error where it
failed. It has no passwords, no names of databases, tables or logins of others, and no rows of
theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib.metadata import version as package_version
from typing import Any

from dyno.contracts.target import TargetUrl
from dyno.errors import DynoError
from dyno.targets.sqlserver import TRIED
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.diagnosed import SECTIONS, VIEWS

_LONGEST = 400
"""Characters of a value."""


def report(url: TargetUrl, address: Address) -> str:
    """The report. Changes nothing on the server.

    Args:
        url: The target's URL.
        address: The same, parsed.
    """
    lines = [*_head(url, address)]
    try:
        with closing(Session.open(address)) as session:
            lines += _sections(session)
    except DynoError as error:
        lines += ["", "login", f"  FAILED  {error.kind}: {error}"]
    text = "\n".join(lines) + "\n"
    return text.replace(address.password, "***") if len(address.password) > 2 else text


def _head(url: TargetUrl, address: Address) -> Iterator[str]:
    from dyno import __version__

    yield f"Dyno {__version__}, pymssql {package_version('pymssql')}; tested against {TRIED}"
    yield f"target {url.redacted}"
    mode = "on" if address.encrypt else "off"
    yield f"encrypt {mode}, trust {'yes' if address.trust else 'no'}, ca {address.ca or 'system'}"


def _sections(session: Session) -> Iterator[str]:
    for title, questions in SECTIONS.items():
        yield ""
        yield title
        for name, sql in questions.items():
            yield from _answer(session, name, sql)
    yield ""
    yield "views"
    for view in VIEWS:
        yield _readable(session, view)


def _answer(session: Session, name: str, sql: str) -> Iterator[str]:
    try:
        result = session.execute(sql)
    except DynoError as error:
        yield f"  {name}: FAILED  {error.kind}: {error}"
        return
    if len(result.rows) == 1 and len(result.columns) == 1:
        yield f"  {name}: {_shown(result.rows[0][0])}"
        return
    yield f"  {name}: {', '.join(result.columns)}" if result.columns else f"  {name}: ok"
    for row in result.rows:
        yield f"    {_row(row)}"


def _readable(session: Session, view: str) -> str:
    try:
        session.execute(f"SELECT TOP (0) * FROM {view}")  # noqa: S608  (not input)
    except DynoError as error:
        return f"  {view}: FAILED  {error.kind}: {error}"
    return f"  {view}: ok"


def _row(row: Sequence[Any]) -> str:
    return ", ".join(map(_shown, row))


def _shown(value: Any) -> str:
    text = " ".join(str("NULL" if value is None else value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
