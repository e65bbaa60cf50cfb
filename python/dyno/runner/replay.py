"""The job of ``dyno replay``: replays a server's log."""

from __future__ import annotations

import hashlib
from typing import Any

from dyno import targets
from dyno.bundle import replayed, statements
from dyno.bundle.replayed import REASONS, WORKLOAD
from dyno.config.units import seconds_text
from dyno.contracts.captured import captured
from dyno.contracts.target import TargetUrl
from dyno.errors import UsageError
from dyno.plans.replay import ReplayPlan
from dyno.runner.ahead import Part
from dyno.runner.session import Job, Session
from dyno.runtime.progress import Progress, Silent
from dyno.safety.text import plain
from dyno.stages.drive.replay import Scanned, Selection, replay, scan
from dyno.workloads.own.workload import plural_of

_MOST_TEXT = 70


def job(asked: ReplayPlan, progress: Progress | None = None) -> Job:
    """Turns the plan into a job. Reads the log, and touches nothing else.

    Raises:
        UsageError: If the log is not usable, or of another product than the target.
    """
    url = targets.parse(asked.target)
    select = Selection(
        asked.log.expanduser().absolute(), asked.database, not asked.reads_only, asked.ddl,
        asked.span_s, asked.users,
    )  # fmt: skip
    if asked.ddl and asked.reads_only:
        raise UsageError("--ddl and --reads-only cannot be combined.")
    scanned = scan(select, progress or Silent())
    _require(scanned, url)

    def body(session: Session) -> None:
        title = f"Replay of {select.log.name} on {url.name}"
        with (
            session.target(asked.target) as target,
            session.events.phase(title) as shown,
            session.probed(target),
        ):
            replay(session.recorder, target, scanned, asked.speed, shown)

    facts = scanned.facts(asked.speed)
    record = {
        "target": url.redacted,
        "log": facts.model_dump(mode="json", exclude={"classes"}),
        statements.KEY: _recorded(scanned),
    }
    return Job(
        asked, record, (WORKLOAD,), asked.out, body, outline=tuple(outline(scanned, asked.speed)),
        parts=(Part(max(1.0, scanned.span_s / asked.speed)),), question=_question(scanned, url),
    )  # fmt: skip


def _require(scanned: Scanned, url: TargetUrl) -> None:
    """Refuses a target that does not understand the log, and a log of several databases.

    Raises:
        UsageError: With what to do.
    """
    server = captured(url.name)
    understands = server is not None and scanned.found["format"] in server.logs
    if not understands and url.scheme != "null":
        raise UsageError(
            f"{scanned.select.log.name} is a log of another product than {url.redacted}."
        )
    databases = scanned.found["databases"]
    if scanned.select.database is None and len(databases) > 1:
        every = sorted(databases, key=lambda name: -databases[name])
        named = ", ".join(f"{plain(name)} ({databases[name]:,})" for name in every[:5])
        raise UsageError(
            f"{scanned.select.log.name} has statements of {len(databases)} databases: {named}"
            f"{_unknown(scanned, ', and ')}. Choose one with --database."
        )


def _unknown(scanned: Scanned, before: str) -> str:
    """The statements whose database is unknown, if the log shows that of others."""
    count = scanned.found["unknown"]
    if not count or not scanned.found["databases"]:
        return ""
    return f"{before}{replayed.statements(count, REASONS['unknown'])}"


def _question(scanned: Scanned, url: TargetUrl) -> str:
    """Asks before statements change what is in the target."""
    writes, ddl = scanned.changes("write"), scanned.changes("ddl")
    if not writes + ddl or url.scheme == "null":
        return ""
    what = [replayed.statements(writes, "that change or lock rows")] if writes else []
    what += [replayed.statements(ddl, "that change tables")] if ddl else []
    return f"The replay runs {' and '.join(what)} in {url.redacted}. Run it?"


def _recorded(scanned: Scanned) -> dict[str, Any]:
    """The classes as the operations of a workload, for readers of the bundle."""
    classes = scanned.classes
    whole = scanned.found["statements"]
    texts = "\n".join(str(one.text) for one in classes)
    main = str(classes[0].operation)
    return statements.Recorded(
        file=scanned.select.log.name,
        sha256=hashlib.sha256(texts.encode()).hexdigest(),
        text="",
        title=f"Replay of {scanned.select.log.name}"[:200],
        mix={str(one.operation): (one.count or 0) / whole for one in classes},
        main=main,
        plural=plural_of(main),
    ).model_dump(mode="json")


def outline(scanned: Scanned, speed: float) -> list[str]:
    """The log in lines for a terminal."""
    found = scanned.found
    several = f"{found['sessions']:,} session{'s'[: found['sessions'] != 1]}"
    lines = [
        f"{scanned.select.log.name}: {replayed.statements(found['statements'], 'of')} {several}, "
        f"at most {found['at_once']:,} at once",
        f"{seconds_text(scanned.span_s)} in the log, {seconds_text(scanned.span_s / speed)} at "
        f"speed {speed:g}: {found['statements'] / max(scanned.span_s / speed, 1e-3):,.0f}/s",
    ]
    if unknown := _unknown(scanned, "also replayed: "):
        lines.append(unknown)
    for reason, (count, line) in found["left_out"].items():
        left = replayed.statements(count, REASONS[reason])
        lines.append(f"left out: {left}; the first is in line {line:,}")
    if found["cut_before"]:
        lines.append(f"left out: {found['cut_before']:,} lines before the first record")
    if found["cut_at"] is not None:
        lines.append(f"left out: the last record, in line {found['cut_at']:,}: it may be truncated")
    width = max(len(str(one.operation)) for one in scanned.classes)
    digits = max(len(f"{one.count or 0:,}") for one in scanned.classes) + 2
    for one in scanned.classes:
        text = plain(one.text or "all other classes")
        short = text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT].rstrip()}…"
        lines.append(f"{one.count or 0:>{digits},}  {one.operation!s:<{width}}  {short}")
    return lines
