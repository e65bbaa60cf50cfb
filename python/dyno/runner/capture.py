"""Drafts a workload file from what a server really runs, for ``dyno capture``. Reads only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dyno import host, targets
from dyno.contracts.advice import Advised
from dyno.contracts.captured import captured
from dyno.errors import UsageError
from dyno.plans.fields import DEFAULT_OUT
from dyno.runner import capturing
from dyno.workloads.own import spec
from dyno.workloads.own.draft.draft import Draft, draft
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
    database: str | None,
    top: int,
    name: str,
    with_values: bool,
) -> Captured:
    """Drafts a file.

    Args:
        target: URL of the database.
        source: The name of the server's counters, or the path of a log.
        seconds: How long to watch the counters; None: since they were last reset.
        database: Only statements of this database of the log; None: of that of the URL.
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
    if not counted and source in (known := capturing.sources()):
        raise UsageError(
            f"--from {source} belongs to {known[source]}, "
            f"but {url.redacted} is a {url.name} server."
        )
    if not counted and seconds is not None:
        raise UsageError("--for applies to counters of a server; a log has its own length.")
    if counted and with_values:
        raise UsageError(f"--with-values needs a log; {source} has no values.")
    if counted and database is not None:
        raise UsageError(f"--database applies to a log; {source} counts by the URL's database.")
    if not counted:
        capturing.require_log(Path(source), url, server)
    if url.scheme == "embedded":
        engine_folders.claim(DEFAULT_OUT.absolute(), url.name)
    limits = host.limits(host.collect(Path.cwd(), window_s=0.0, wait=lambda _: None))
    with targets.open_target(url, DEFAULT_OUT.absolute(), limits) as opened:
        if not isinstance(opened, Advised):
            raise UsageError(f"Dyno cannot read statements and tables of {url.name}.")
        current = capturing.database_of(opened, server)
        if counted:
            together, notes = capturing.of_counters(opened, source, seconds, current)
        else:
            together, notes = capturing.of_log(
                Path(source), database or current, unknown=database is None
            )
        tables = capturing.tables_for(opened, together, server, current)
    made = draft(
        sorted(together, key=lambda one: -one.count), tables, server, top,
        with_values=with_values,
    )  # fmt: skip
    if not made.transactions:
        left = [f"{count:,}: {reason}." for reason, count in made.left_out.items()]
        raise UsageError(" ".join([f"{source} has no usable statement.", *notes, *left]))
    period = "since its counters were reset" if seconds is None else f"in {seconds:g} s"
    since = f" {period}" if counted else ""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = [
        f"Drafted by dyno capture on {now} from {Path(source).name} of {url.redacted}{since}.",
        "weight is the number of executions. Look at every draw: values are equally likely.",
    ]
    text = text_of(made, name, name.replace("_", " ").capitalize(), about)
    return Captured(text, made, tuple(notes) + made.notes + _checked(text, made, name))


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
