"""Drafts a file of statements from what a server really runs, for ``dyno capture``. Reads only."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dyno import host, targets
from dyno.contracts.advice import Advised, Catalog, TableFacts
from dyno.contracts.captured import Captured as Server
from dyno.contracts.captured import captured
from dyno.contracts.inspection import Inspected, StatementUse
from dyno.contracts.target import Target, TargetUrl
from dyno.errors import TargetError, UsageError
from dyno.plans.fields import DEFAULT_OUT
from dyno.runtime.engine_calls import run_engine
from dyno.runtime.progress import Silent
from dyno.stages.drive.replay import without_statements
from dyno.workloads.own import spec
from dyno.workloads.own.draft.draft import Draft, Ran, Together, draft
from dyno.workloads.own.draft.parameters import table_name
from dyno.workloads.own.draft.written import text_of
from dyno.workspace import engine_folders


@dataclass(frozen=True)
class Captured:
    """A drafted file.

    Attributes:
        text: The file.
        draft: What it is made of.
        notes: What the user must know.
    """

    text: str
    draft: Draft
    notes: tuple[str, ...]


def capture(
    target: str,
    source: str,
    *,
    seconds: float | None,
    top: int,
    name: str,
    with_values: bool,
) -> Captured:
    """Drafts a file.

    Args:
        target: URL of the database.
        source: The name of the server's counters, or the path of a log.
        seconds: How long to watch the counters; None: since they were last reset.
        top: The most transactions.
        name: Name of the workload, from the file's.
        with_values: Whether values of the log may be in the file.

    Raises:
        UsageError: If the source does not fit the target, or the log is not usable.
        TargetError: If the server does not count statements, with the remedy.
    """
    url = targets.parse(target)
    server = captured(url.name)
    if server is None:
        raise UsageError(f"Dyno cannot read statements of {url.name}.")
    counted = source == server.counters
    if not counted and source in (known := _sources()):
        raise UsageError(
            f"--from {source} belongs to {known[source]}, "
            f"but {url.redacted} is a {url.name} server."
        )
    if not counted and seconds is not None:
        raise UsageError("--for applies to counters of a server; a log has its own length.")
    if counted and with_values:
        raise UsageError(f"--with-values needs a log; {source} has no values.")
    together = None if counted else _of_log(Path(source), url, server)
    if url.scheme == "embedded":
        engine_folders.claim(DEFAULT_OUT.absolute(), url.name)
    limits = host.limits(host.collect(Path.cwd(), window_s=0.0, wait=lambda _: None))
    with targets.open_target(url, DEFAULT_OUT.absolute(), limits) as opened:
        if not isinstance(opened, Advised):
            raise UsageError(f"Dyno cannot read statements and tables of {url.name}.")
        notes: Sequence[str] = ()
        if together is None:
            together, notes = _of_counters(opened, source, seconds)
        catalog = opened.catalog()
    made = draft(
        sorted(together, key=lambda one: -one.count), _tables(catalog), server, top,
        with_values=with_values,
    )  # fmt: skip
    if not made.transactions:
        left = ", ".join(f"{count:,}: {reason}" for reason, count in made.left_out.items())
        raise UsageError(f"{source} has no usable statement. {left}".rstrip())
    period = "since its counters were reset" if seconds is None else f"in {seconds:g} s"
    since = f" {period}" if counted else ""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = [
        f"Drafted by dyno capture on {now} from {Path(source).name} of {url.redacted}{since}.",
        "weight is the number of executions. Look at every draw: values are equally likely.",
    ]
    text = text_of(made, name, name.replace("_", " ").capitalize(), about)
    return Captured(text, made, tuple(notes) + _checked(text, made, name))


def name_of(path: Path | None) -> str:
    """The name of a workload for a file."""
    stem = "captured" if path is None else path.stem.lower()
    plain = re.sub(r"[^a-z0-9_]+", "_", stem).strip("_")[:40]
    plain = plain if plain[:1].isalpha() else f"w_{plain}"
    return re.sub(r"_[0-9]+$", "", plain)


def _checked(text: str, made: Draft, name: str) -> tuple[str, ...]:
    """What the strict reader says of a file without open values."""
    if made.open:
        return ()
    try:
        spec.read(text, "the draft", name)
    except UsageError as error:
        return (f"The draft needs a change before it runs: {error}",)
    return ()


def _of_counters(
    target: Target, source: str, seconds: float | None
) -> tuple[list[Together], list[str]]:
    """Statements as the server counts them.

    Raises:
        TargetError: If it does not, with the remedy.
    """
    if seconds is None:
        found = target.catalog().uses if isinstance(target, Advised) else None
    elif isinstance(target, Inspected):
        inspector = target.inspector()
        found = None
        if inspector is not None:
            try:
                inspector.begin()
                threading.Event().wait(seconds)
                found = inspector.end()
            finally:
                inspector.close()
    else:
        found = None
    statements: Sequence[StatementUse] = () if found is None else found.statements
    notes = [] if found is None else list(found.notes)
    if not statements:
        why = "; ".join(notes) or "nothing ran"
        raise TargetError(f"{source} shows no statements: {why}.", kind="database")
    ran = [
        Together(one.calls, (Ran(one.text),))
        for one in statements
        if "dyno observer" not in one.text
    ]
    return ran, [one for one in notes if "statement" in one]


def _sources() -> dict[str, str]:
    """Names of counters, and of the targets that have them."""
    found = ((name, captured(name)) for name in targets.names())
    return {server.counters: name for name, server in found if server is not None}


def _of_log(path: Path, url: TargetUrl, server: Server) -> list[Together]:
    """The transactions of a log.

    Raises:
        UsageError: If it is not a log, or damaged; or of another product than the target.
    """
    if "/" not in str(path) and not path.suffix and not path.exists():
        known = ", ".join([*_sources(), "the path of a log"])
        raise UsageError(f"--from {path}: unknown. Use {known}.")
    plan = {"select": {"log": str(path.expanduser().absolute()), "writes": True}}

    found = run_engine("shape_log", plan, Silent())
    if found["format"] not in server.logs:
        raise UsageError(f"{path.name} is a log of another product than {url.redacted}.")
    if not any(found[key] for key in ("transactions", "rolled_back", "unshaped", "left_out")):
        raise UsageError(without_statements(path, found["format"]))
    return [
        Together(
            one["count"],
            [
                Ran(each["sql"], True, each["parameters"], each["runs"] / one["count"])
                for each in one["statements"]
            ],
            one["explicit"],
        )
        for one in found["transactions"]
    ]


def _tables(catalog: Catalog) -> Mapping[str, TableFacts]:
    """Tables by name without schema, in lower case; without names that several schemas have."""
    found: dict[str, TableFacts] = {}
    twice: set[str] = set()
    for table in catalog.tables:
        name = table_name(table).lower()
        twice |= {name} & found.keys()
        found[name] = table
    return {name: table for name, table in found.items() if name not in twice}
