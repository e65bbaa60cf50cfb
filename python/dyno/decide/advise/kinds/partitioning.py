"""Partitioning: which tables, by which column, what it helps, and the study that proves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dyno.config.units import bytes_text, digits
from dyno.contracts.partitioning import Cut, Partitioning
from dyno.decide.advise.amounts import percent, plural, some, stopped
from dyno.decide.advise.partition import files, tables, work
from dyno.decide.advise.partition.columns import SKIPS, Choice
from dyno.decide.advise.partition.files import obstacle, variants
from dyno.decide.advise.partition.predicates import Form
from dyno.decide.advise.partition.proposal import LEAST_SHARE, Proposal, plain_name, proposals
from dyno.decide.advise.partition.work import Work
from dyno.decide.advise.section import Asked, Kind, Section, Table
from dyno.decide.advise.system import System

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
    return Section(
        _TITLE,
        [_sentence(one, done.unit) for one in advised] or ["No table should be partitioned."],
        [_ranking(found), *(_effects(one, done, asked) for one in advised)],
        _commands(advised, engine),
        _closing(system, advised, done, engine),
        _document(found, done, engine),
        variants=[variant for one in advised for variant in variants(one)],
        files=_files(system, advised),
    )


def _nothing(reason: str) -> Section:
    document = {"reason": reason, "tables": []}
    return Section(_TITLE, closing=[f"Not judged: {stopped(reason)}"], document=document)


def _unasked(system: System) -> str:
    notes = [note for note in system.uses.notes if "statements" in note]
    return notes[0].rstrip(".") if notes else "no statement that reads its tables was counted"


def _unread(done: Work) -> str:
    return f"none of {plural(done.unread, 'statement')} could be parsed" if done.unread else ""


def _whose(unit: str) -> str:
    return "queries" if unit == "one each" else unit


def _sentence(found: Proposal, unit: str) -> str:
    choice = _chosen(found)
    counts = " or ".join(map(str, choice.counts))
    what = f"{counts} ranges of" if choice.method == "range" else f"{counts} partitions by hash of"
    return (
        f"{found.name} ({percent(found.share)} of the reads): {what} {choice.column.name}. "
        f"Statements with {percent(choice.restricted)} of its {_whose(unit)} can prune."
    )


def _chosen(found: Proposal) -> Choice:
    if found.choice is None:
        raise ValueError(found)
    return found.choice


def _ranking(found: Sequence[Proposal]) -> Table:
    """Each table with its columns; the first of a table is advised."""
    rows: list[tuple[str, ...]] = []
    for one in found:
        head = (one.name, f"{100 * one.share:.1f} %", _size(one))
        if one.choice is None:
            rows.append((*head, _NONE, _NONE, _NONE, one.reason))
        for place, choice in enumerate(() if one.choice is None else (one.choice, *one.others[:2])):
            rows.append(
                (
                    *(head if not place else ("", "", "")),
                    choice.column.name,
                    choice.method if not place else f"({choice.method})",
                    digits(round(choice.score, 2)),
                    _conditions(choice),
                )
            )
    columns = ("Table", "Share>", "Size>", "Column", "Method", "Score>", "Conditions on it")
    return Table(columns, rows, "Tables with a tenth of the reads and more, and their columns")


def _size(found: Proposal) -> str:
    return _NONE if found.bytes is None else bytes_text(found.bytes)


def _conditions(choice: Choice) -> str:
    return "; ".join(
        f"{_FORMS[form]} {percent(choice.forms[form])}"
        for form in _FORMS
        if choice.forms.get(form, 0.0) >= _SEEN
    )


def _effects(found: Proposal, done: Work, asked: Asked) -> Table:
    """What prunes and what does not."""
    choice = _chosen(found)
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
        return "only while it runs" if form == "join" else "no"
    return "in part" if form == "half" else "yes"


def _commands(advised: Sequence[Proposal], engine: Partitioning) -> dict[str, tuple[str, ...]]:
    """Commands for tables that no layout of Dyno's creates."""
    made: dict[str, tuple[str, ...]] = {}
    for one in advised:
        if one.table is not None and one.table.load is None:
            for count in _chosen(one).counts[:1]:
                cut = _cut(one, count)
                if cut is not None:
                    made[f"{one.name} in {count} partitions"] = engine.commands(cut)
    return made


def _cut(found: Proposal, count: int) -> Cut | None:
    choice, table = _chosen(found), found.table
    bounds: tuple[str, ...] = ()
    if choice.method == "range":
        if count not in choice.cuts:
            return None
        texts = choice.cuts[count].texts
        quoted = choice.column.kind in ("date", "timestamp")
        bounds = tuple(f"'{text}'" if quoted else text for text in texts)
    if table is None:
        return None
    column, blocking = choice.column.name, found.blocking
    return Cut(
        table.facts.name,
        column,
        bounds,
        count,
        {
            name: (*columns, column) if name in blocking else columns
            for name, columns in table.facts.keys.items()
        },
        tuple(blocking),
        tuple(table.indexes.values()),
        table.facts.foreign_keys,
        choice.column.nullable,
        table.facts.primary_key,
    )


def _closing(
    system: System, advised: Sequence[Proposal], done: Work, engine: Partitioning
) -> list[str]:
    lines: list[str] = []
    for one in advised:
        lines += [_bounds(one), _keys(one, engine)]
        lines += [f"{one.name}: no study can prove it here: {obstacle(one)}."] * bool(obstacle(one))
    hashed = [one.name for one in advised if _chosen(one).method == "hash" and not obstacle(one)]
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


def _bounds(found: Proposal) -> str:
    choice = _chosen(found)
    head = f"{found.name} by {choice.column.name}: "
    if not choice.cuts:
        if choice.method == "hash":
            return f"{head}a hash needs no bounds."
        return (
            f"{head}the bounds are missing, because no histogram of the column is known; give the "
            "live TARGET, and gather statistics."
        )
    parts = [
        f"{count} {'by rows' if cut.unit == 'rows' else f'by {cut.unit}'} "
        f"({percent(min(cut.shares))} to {percent(max(cut.shares))} of the rows each) at "
        f"{', '.join(cut.texts)}"
        for count, cut in choice.cuts.items()
    ]
    return f"{head}{'; '.join(parts)}. The bounds are from {choice.spread}."


def _keys(found: Proposal, engine: Partitioning) -> str:
    parts: list[str] = []
    name = _chosen(found).column.name
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
    choice = _chosen(found)
    name = choice.column.name.lower()
    by_value = choice.forms.get("equality", 0.0) > choice.restricted / 2
    return by_value and any(columns and plain_name(columns[0]) == name for columns in found.indexes)


def _cache(system: System) -> float | None:
    from dyno.decide.advise.system import GapError

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


def _document(found: Sequence[Proposal], done: Work, engine: Partitioning) -> dict[str, Any]:
    return {
        "reason": None,
        "unit": done.unit,
        "source": done.source,
        "statements": len(done.statements),
        "unparsed": done.unread,
        "unparsed_share": done.unread_share,
        "left_out": done.left,
        "tables": [_told(one, done, engine) for one in found],
    }


def _told(found: Proposal, done: Work, engine: Partitioning) -> dict[str, Any]:
    head = {"table": found.name, "share": found.share, "bytes": found.bytes}
    if found.choice is None:
        return {**head, "advised": False, "reason": found.reason}
    choice = found.choice
    return {
        **head,
        "advised": True,
        "reason": None,
        **_choice(choice),
        "others": [_choice(one) for one in found.others],
        "aligned": found.aligned,
        "unaligned": found.unaligned,
        "keys_without_column": found.blocking,
        "foreign_keys": [] if found.table is None else list(found.table.facts.foreign_keys),
        "effects": [
            {
                "statement": one.name,
                "share": share,
                "condition": form,
                "skips": form in SKIPS[choice.method],
            }
            for one, share, form in found.effects(done)
        ],
        "commands": {title: list(lines) for title, lines in _commands([found], engine).items()},
        "variants": [
            {"name": one.name, "changes": dict(one.changes), "why": one.why}
            for one in variants(found)
        ],
        "no_study": obstacle(found) or None,
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {
        "column": choice.column.name,
        "method": choice.method,
        "score": choice.score,
        "restricted": choice.restricted,
        "conditions": dict(choice.forms),
        "counts": list(choice.counts),
        "bounds_from": choice.spread or None,
        "bounds": {
            str(count): {"unit": cut.unit, "at": list(cut.texts), "shares": list(cut.shares)}
            for count, cut in choice.cuts.items()
        },
    }


KIND = Kind("partitioning", 30, _advise)
