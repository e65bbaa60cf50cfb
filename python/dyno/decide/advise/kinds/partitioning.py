"""Partitioning: which tables, by which column, what it helps, and the study that proves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dyno.contracts.partitioning import Partitioning
from dyno.decide.advise.amounts import percent, plural, some, stopped
from dyno.decide.advise.partition import commands, document, files, tables, work
from dyno.decide.advise.partition.columns import SKIPS, Choice
from dyno.decide.advise.partition.files import obstacle, variants
from dyno.decide.advise.partition.predicates import Form
from dyno.decide.advise.partition.proposal import (
    LEAST_SHARE,
    Proposal,
    chosen,
    plain_name,
    proposals,
)
from dyno.decide.advise.partition.work import Work
from dyno.decide.advise.section import Asked, Kind, Section, Table
from dyno.decide.advise.system import GapError, System

_TITLE = "Partitioning"
_NONE = "–"
_FORMS: dict[Form, str] = {
    "equality": "by value",
    "range": "between two values",
    "half": "above or below a value",
    "join": "in a join",
    "hidden": "in an expression",
}
_HEADS = {"reads": "Reads", "time": "Time", "bytes read": "Bytes read", "one each": "Share"}
_SEEN = 0.001
_LISTED_FORMS: tuple[Form, ...] = ("equality", "range", "half", "join")
_COLUMNS = 2
"""Further columns that are listed."""
_LISTED = 8
"""Statements of a table that are listed without ``--all``."""


def _advise(system: System, asked: Asked) -> Section | None:
    if system.database is None:
        return None
    engine = "" if system.db.dialect is None else system.db.dialect.partitioning
    if not isinstance(engine, Partitioning):
        return _nothing(engine or f"Dyno does not know how {system.db.product} partitions tables")
    if not system.uses.tables:
        notes = "; ".join(note.rstrip(".") for note in system.uses.notes)
        return _nothing(notes or "the reads of its tables are unknown")
    known = tables.of_system(system)
    done = work.of_system(system, known)
    if not done.statements:
        return _nothing(_unread(done) or _unasked(system))
    found = proposals(system, known, done, engine)
    if not found:
        return _nothing(f"no table has {percent(LEAST_SHARE)} of the reads")
    advised = [one for one in found if one.choice is not None]
    effects = [_effects(one, done, asked) for one in advised]
    made = [_ranking(found), _bounds(advised), *effects]
    return Section(
        _TITLE,
        [_sentence(one, done.unit) for one in advised] or ["No table should be partitioned."],
        [table for table in made if table.rows],
        commands.of(advised, engine),
        _closing(system, found, done, engine),
        document.of(found, done, engine),
        variants=[variant for one in advised for variant in variants(one)],
        files=_files(system, advised),
    )


def _nothing(reason: str) -> Section:
    found = {"reason": reason, "tables": []}
    return Section(_TITLE, closing=[f"Not judged: {stopped(reason)}"], document=found)


def _unasked(system: System) -> str:
    notes = [note for note in system.uses.notes if "statements" in note]
    return notes[0].rstrip(".") if notes else "no statement that reads its tables was counted"


def _unread(done: Work) -> str:
    return f"none of {plural(done.unread, 'statement')} could be parsed" if done.unread else ""


def _whose(unit: str) -> str:
    return "queries" if unit == "one each" else unit


def _prunable(choice: Choice, unit: str) -> str:
    share = percent(choice.restricted)
    if unit == "one each":
        return f"{share} of the statements on it can prune."
    return f"Weighted by {unit}, {share} of the statements on it can prune."


def _sentence(found: Proposal, unit: str) -> str:
    choice = chosen(found)
    counts = " or ".join(map(str, choice.counts))
    what = f"{counts} ranges of" if choice.method == "range" else f"{counts} partitions by hash of"
    return (
        f"{found.name} ({percent(found.share)} of the reads): {what} {choice.column.name}. "
        f"{_prunable(choice, unit)}"
    )


def _ranking(found: Sequence[Proposal]) -> Table:
    """Each table with its columns; the first of a table is advised."""
    rows: list[tuple[str, ...]] = []
    for one in found:
        head = (one.name, f"{100 * one.share:.1f} %")
        if one.choice is None:
            rows.append((*head, *[_NONE] * 7))
            continue
        for place, choice in enumerate((one.choice, *one.others[:_COLUMNS])):
            rows.append(
                (
                    *(("", "") if place else head),
                    choice.column.name,
                    f"({choice.method})" if place else choice.method,
                    f"{choice.score:.2f}",
                    *(_part(choice.forms.get(form, 0.0)) for form in _LISTED_FORMS),
                )
            )
    columns = (
        *("Table", "Share>", "Column", "Method", "Score>"),
        *("Equality>", "Range>", "One-sided>", "Join>"),
    )
    return Table(columns, rows, "Tables with the most reads, and the conditions on their columns")


def _part(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= _SEEN else _NONE


def _bounds(advised: Sequence[Proposal]) -> Table:
    """Where the tables are cut."""
    rows: list[tuple[str, ...]] = []
    for one in advised:
        for count, cut in chosen(one).cuts.items():
            least, most = (f"{100 * share:.1f}" for share in (min(cut.shares), max(cut.shares)))
            first = not rows or rows[-1][0] != one.name
            rows.append(
                (
                    one.name if first else "",
                    str(count),
                    cut.unit,
                    f"{least}–{most} %",
                    ", ".join(cut.texts),
                )
            )
    columns = ("Table", "Partitions>", "By", "Rows each>", "Bounds")
    return Table(columns, rows, "Lower bounds of the partitions after the first")


def _effects(found: Proposal, done: Work, asked: Asked) -> Table:
    """What prunes and what does not."""
    choice = chosen(found)
    effects = found.effects(done)
    listed = effects if asked.every else effects[:_LISTED]
    rows = [
        (one.name, f"{100 * share:.1f} %", _verdict(choice, form), _FORMS[form] if form else _NONE)
        for one, share, form in listed
    ]
    if len(effects) > len(listed):
        rest = effects[len(listed) :]
        rows.append((f"{len(rest)} more", f"{100 * sum(one[1] for one in rest):.1f} %", "", ""))
    title = f"Statements on {found.name} with partitions by {choice.column.name}"
    return Table(("Statement", f"{_HEADS[done.unit]}>", "Prunes", "Condition"), rows, title)


def _verdict(choice: Choice, form: Form | None) -> str:
    if form not in SKIPS[choice.method]:
        return "at run time only" if form == "join" else "no"
    return "in part" if form == "half" else "yes"


def _closing(
    system: System, found: Sequence[Proposal], done: Work, engine: Partitioning
) -> list[str]:
    advised = [one for one in found if one.choice is not None]
    lines = [f"No advice on {one.name}: {one.reason}." for one in found if one.choice is None]
    for one in advised:
        lines += [_spread(one), _keys(one, engine)]
        lines += [f"{one.name}: no study can prove it here: {obstacle(one)}."] * bool(obstacle(one))
    hashed = [one.name for one in advised if chosen(one).method == "hash" and not obstacle(one)]
    if hashed:
        lines.append(
            f"{some(hashed)}: layouts have ranges only; with ranges of equal rows, conditions by "
            "value prune as with a hash."
        )
    searched = [one.name for one in advised if _searched(one)]
    if searched:
        lines.append(
            f"{some(searched)}: an index that begins with the column finds these rows already, so "
            "pruning saves little there; partitions on separate volumes may still help."
        )
    by = "" if done.unit == "one each" else f", weighted by {done.unit}"
    lines.append(f"Statements: {done.source}{by}.")
    if done.unread:
        lines.append(
            f"{plural(done.unread, 'statement')} with {percent(done.unread_share)} of the "
            f"{_whose(done.unit)} could not be parsed and count for no column."
        )
    if done.left:
        lines.append(
            f"{plural(done.left, 'statement')} with the least {_whose(done.unit)} were left out."
        )
    cache = _cache(system)
    fits = [one.name for one in advised if cache and one.bytes and one.bytes < cache]
    if fits:
        lines.append(
            f"{some(fits)}: smaller than the cache, so partitions save CPU time rather than I/O."
        )
    if any(not obstacle(one) for one in advised):
        lines.append(
            "--write FOLDER writes a layout for each number of partitions, and the study that "
            "compares them."
        )
    return lines


def _spread(found: Proposal) -> str:
    choice = chosen(found)
    head = f"{found.name} by {choice.column.name}: "
    if choice.cuts:
        return f"{head}the bounds are from {choice.spread}."
    if choice.method == "hash":
        return f"{head}a hash needs no bounds."
    return (
        f"{head}the bounds are missing, because no histogram of the column is known; give the live "
        "TARGET, and gather statistics."
    )


def _keys(found: Proposal, engine: Partitioning) -> str:
    parts: list[str] = []
    name = chosen(found).column.name
    if found.blocking:
        parts.append(
            f"{some(found.blocking)} must include {name} and then no longer "
            f"{'enforce' if len(found.blocking) > 1 else 'enforces'} the other columns alone "
            f"({engine.keys})"
        )
    others = [one for one in found.unaligned if one not in found.blocking]
    if others:
        parts.append(f"searches by {some(others)} visit every partition")
    if found.aligned:
        parts.append(f"aligned: {some(found.aligned)}")
    if found.blocking and found.table is not None and found.table.facts.foreign_keys:
        parts.append(f"foreign keys to drop: {some([*found.table.facts.foreign_keys])}")
    return f"{found.name}: {'; '.join(parts) or 'it has no index'}."


def _searched(found: Proposal) -> bool:
    """Whether its statements ask for values that an index leads to without partitions."""
    choice = chosen(found)
    name = choice.column.name.lower()
    by_value = choice.forms.get("equality", 0.0) > choice.restricted / 2
    return by_value and any(columns and plain_name(columns[0]) == name for columns in found.indexes)


def _cache(system: System) -> float | None:
    try:
        return system.amount("cache")
    except GapError:
        return None


def _files(system: System, advised: Sequence[Proposal]) -> Any:
    if all(obstacle(one) for one in advised):
        return None

    def made(folder: Path) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for one in advised:
            found |= files.files(system, one, folder)
        return found

    return made


KIND = Kind("partitioning", 30, _advise)
