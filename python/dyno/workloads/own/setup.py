"""The setup of a file: statements after a load, which may only change tables that they create."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from dyno.errors import UsageError, nearest
from dyno.workloads.own import sql
from dyno.workloads.own.forms import Setup, Step, chosen
from dyno.workloads.own.spec import File, Table

CARRIER = "dyno_setup"
"""A table with one row, for Dyno's mark on a setup without other tables."""

_VERBS = ("create", "insert", "update", "delete", "analyze")
_NAME = r"[`\"]?(?P<name>\w+)[`\"]?(?![\w`\".])"
_HEADS = {
    "create": re.compile(rf"create\s+(?:unlogged\s+)?(?P<what>table)\s+{_NAME}", re.IGNORECASE),
    "index": re.compile(
        rf"create\s+(?:unique\s+)?(?P<what>index)\s+(?:[`\"]?\w+[`\"]?\s+)?on\s+{_NAME}",
        re.IGNORECASE,
    ),
    "insert": re.compile(rf"insert\s+(?P<what>into)\s+{_NAME}", re.IGNORECASE),
    "update": re.compile(rf"(?P<what>update)\s+{_NAME}\s+set\b", re.IGNORECASE),
    "delete": re.compile(rf"(?P<what>delete)\s+from\s+{_NAME}\s*(?:$|where\b)", re.IGNORECASE),
    "analyze": re.compile(rf"(?P<what>analyze)\s+(?:table\s+)?{_NAME}", re.IGNORECASE),
}
_FROM = re.compile(r"(?<!distinct )\bfrom\b", re.IGNORECASE)
_SHARED = re.compile(
    r"\binherits\b|\bpartition\s+of\b|\bunion\s*=|\bengine\s*=?\s*(?:merge|mrg_myisam|federated|"
    r"connect|spider)\b",
    re.IGNORECASE,
)
"""What makes a change of the new table one of another table."""
_FORMS = (
    "CREATE TABLE name, CREATE INDEX name ON table, INSERT INTO table, UPDATE table, DELETE FROM "
    "table or ANALYZE table, with the plain name of a table in setup.creates"
)


def with_carrier(file: File) -> File:
    """The file with a table for the mark, if it has a setup and no other table."""
    if file.setup is None or file.tables:
        return file
    return file.model_copy(
        update={"tables": {CARRIER: Table(rows=1, key=["id"], columns={"id": "int row"})}}
    )


def steps(setup: Setup | None) -> list[Step]:
    """Its statements with a name each."""
    listed = [] if setup is None else setup.statements
    found = [Step(sql=one) if isinstance(one, str) else one for one in listed]
    return [
        step if step.name else step.model_copy(update={"name": f"setup_{number}"})
        for number, step in enumerate(found, start=1)
    ]


def statements(setup: Setup | None, target: str) -> Sequence[tuple[str, str]]:
    """Name and SQL of each statement for a target.

    Raises:
        UsageError: If one has no SQL for it.
    """
    found: list[tuple[str, str]] = []
    for step in steps(setup):
        text = chosen(step.texts, target)
        if text is None:
            raise UsageError(f"setup.{step.name} has no SQL for {target}.")
        found.append((str(step.name), sql.parsed(text, f"setup.{step.name}", _VERBS).sql))
    return found


def require(file: File) -> None:
    """Refuses a setup that touches other tables than its own.

    Raises:
        UsageError: With the statement.
    """
    if file.setup is None:
        return
    own = file.setup.creates
    if twice := next((name for name in own if name in file.tables or own.count(name) > 1), None):
        raise UsageError(f"setup.creates: '{twice}' is listed twice, or is already in [tables].")
    if CARRIER in {*own, *file.tables}:
        raise UsageError(f"{CARRIER} is a reserved table name.")
    named = [step.name for step in steps(file.setup)]
    if again := next((name for name in named if named.count(name) > 1), None):
        raise UsageError(f"setup.{again} is defined twice.")
    created: set[str] = set()
    for step in steps(file.setup):
        if not step.texts:
            raise UsageError(f"setup.{step.name} has no sql.")
        for target, text in step.texts.items():
            where = f"setup.{step.name}{f', for {target}' if target else ''}"
            created |= _require(text, where, own, file.tables)
    if lacking := next((name for name in own if name not in created), None):
        raise UsageError(f"setup.creates has '{lacking}', which no statement creates.")


def _require(text: str, where: str, own: Collection[str], tables: Collection[str]) -> set[str]:
    """Refuses a statement about another table; returns the one that it creates, if any."""
    parsed = sql.parsed(text, where, _VERBS)
    if parsed.names:
        raise UsageError(f"{where} has the parameter :{parsed.names[0]}; a setup has none.")
    verb = re.match(r"\w+", parsed.sql)
    word = verb[0].lower() if verb else ""
    heads = ("create", "index") if word == "create" else (word,)
    head = next((found for one in heads if (found := _HEADS[one].match(parsed.sql))), None)
    if head is None:
        raise UsageError(f"{where} is not allowed; write {_FORMS}.")
    what, name = head["what"].lower(), head["name"]
    known = [*own, *tables] if what in {"index", "analyze"} else own
    if name.lower() == "if":
        raise UsageError(f"{where} has IF NOT EXISTS; Dyno refuses tables that exist. Remove it.")
    if name not in known:
        hint = nearest(name, known) if known else "setup.creates is empty."
        listed = "in setup.creates or [tables]" if known is not own else "in setup.creates"
        raise UsageError(f"{where} names the table '{name}', which is not {listed}. {hint}")
    allowed = {"into": ["insert", "into"], "update": ["update"], "delete": ["delete"]}
    # In SQL Server, a name after FROM may be an alias of the name before SET.
    joined = what == "update" and any(_FROM.search(_outer(text)) for text in parsed.bare)
    if parsed.changes != allowed.get(what, []) or joined:
        raise UsageError(f"{where} changes more than one table; use one statement for each.")
    if what == "table" and any(_SHARED.search(text) for text in parsed.bare):
        raise UsageError(f"{where} creates a table that shares the rows of another one.")
    return {name} if what == "table" else set()


def _outer(text: str) -> str:
    """A text without what is in parentheses."""
    inner = re.compile(r"\([^()]*\)")
    while (cut := inner.sub(" ", text)) != text:
        text = cut
    return text
