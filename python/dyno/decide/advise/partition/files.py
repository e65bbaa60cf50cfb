"""What a proposal for Dyno's own data becomes: layouts, variants, and the study that proves it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from dyno import workloads
from dyno.contracts.databases import workload_of
from dyno.decide.advise.amounts import percent
from dyno.decide.advise.loads import Load
from dyno.decide.advise.partition.bounds import Bounds
from dyno.decide.advise.partition.proposal import Proposal
from dyno.decide.advise.section import Variant
from dyno.decide.advise.system import System
from dyno.layouts import DEFAULT
from dyno.layouts.bounds import Bound
from dyno.studies.form import LAYOUT

_METRICS = {"dss": ("total_s", "query_s"), "oltp": ("tps", "p95_ms")}
_UNITS = {"rows": "with equal numbers of rows"}
_USERS = 8
_STUDY = """\
# Written by `dyno advise`.
question = {question}
design = {design}
rule = {rule}
misleads = {misleads}
pairs = 5
headline = [{headline}]
exploratory = [{exploratory}]
base_name = "whole"

[base]
workload = {workload}
target = {target}
scale = {scale}
"""


def obstacle(found: Proposal) -> str:
    """Why no layout of Dyno's holds a proposal; a clause, empty if one does."""
    table, choice = found.table, found.choice
    if table is None or choice is None:
        return "no table or column was found to partition"
    load = table.load
    if load is None:
        return "layouts and studies are for tables of Dyno's workloads"
    reasons = {
        "studies load one database of a workload": load.database != workload_of(load.database),
        "the scale of its data is unknown": load.scale is None,
        f"its data has the layout {load.layout}, so more than the partitions would differ": (
            load.layout != DEFAULT
        ),
        f"{choice.column.name} may be NULL, and NULL is in no range of a layout": (
            choice.column.nullable
        ),
        "the bounds are missing": not choice.cuts,
    }
    return next((why for why, holds in reasons.items() if holds), "")


def variants(found: Proposal) -> list[Variant]:
    """A variant for each number of partitions; a layout stands in it as its text."""
    if found.table is None or found.choice is None or obstacle(found):
        return []
    return [
        Variant(
            f"{found.table.short} in {count}",
            {LAYOUT: layout(found, cut)},
            f"statements with {percent(found.choice.restricted)} of the weight can prune some of "
            f"{count} partitions",
        )
        for count, cut in found.choice.cuts.items()
    ]


def layout(found: Proposal, cut: Bounds) -> str:
    """A layout file."""
    if found.table is None or found.choice is None:
        raise ValueError(found)
    name, count = found.choice.column.name, len(cut.values) + 1
    how = _UNITS.get(cut.unit, f"that begin with a {cut.unit}")
    bounds = ", ".join(map(_toml, cut.values))
    return (
        f"# {found.table.short} in {count} ranges of {name} {how}, as `dyno advise` found them;\n"
        "# a bound belongs to the range on its right.\n\n"
        f"[tables.{_key(found.table.short)}.partition]\n"
        f"column = {json.dumps(name)}\n"
        f"bounds = [{bounds}]\n"
    )


def files(system: System, found: Proposal, folder: Path) -> dict[str, str]:
    """Layouts and study by name; empty if :func:`obstacle` has a reason.

    Args:
        system: What was advised.
        found: The proposal.
        folder: Where they will be.
    """
    if obstacle(found) or found.table is None or found.choice is None or found.table.load is None:
        return {}
    stem = f"{system.db.target}-{found.table.short}-by-{found.choice.column.name}"
    stem = re.sub(r"[^a-z0-9_-]", "_", stem.lower())[:100]
    made: dict[str, str] = {}
    paths: dict[str, str] = {}
    for (count, cut), variant in zip(found.choice.cuts.items(), variants(found), strict=True):
        made[f"{stem}-{count}.toml"] = layout(found, cut)
        paths[variant.name] = str(folder.absolute() / f"{stem}-{count}.toml")
    made[f"{stem}-study.toml"] = study(system, found, found.table.load, paths)
    return made


def study(system: System, found: Proposal, load: Load, layouts: Mapping[str, str]) -> str:
    """The study that compares the table as it is with the layouts.

    Args:
        system: What was advised.
        found: The proposal.
        load: The data.
        layouts: Paths of layouts by variant.
    """
    if found.table is None or found.choice is None:
        raise ValueError(found)
    kind = workloads.get(load.database).kind
    headline, exploratory = _METRICS[kind]
    table, column = found.table.short, found.choice.column.name
    parts = " and ".join(f"{word}" for word in layouts)
    lines = _STUDY.format(
        question=_text(f"Do partitions of {table} by {column} make {load.database} faster?"),
        design=_text(
            f"The same data with {table} unpartitioned, and in {parts} ranges of {column}; all on "
            "the volumes of the target."
        ),
        rule=_text("Better if the whole 95 % interval of the first metric is on the better side."),
        misleads=_text(
            "On one volume, partitions help by being skipped only. Statements without a condition "
            f"on {column} may get slower; so may searches by indexes that lack it."
        ),
        headline=_text(headline),
        exploratory=_text(exploratory),
        workload=_text(load.database),
        target=_text(system.db.address.replace(":***@", "@")),
        scale=f"{load.scale:g}",
    )
    if load.days is not None:
        lines += f"\n[base.load]\ndays = {load.days}\n"
    if kind == "oltp":
        lines += f"\n[base.run]\nusers = {load.users or _USERS}\n"
    for name, path in layouts.items():
        lines += f'\n[[variants]]\nname = {_text(name)}\n"{LAYOUT}" = {_text(path)}\n'
    return lines


def _toml(value: Bound) -> str:
    return str(value) if isinstance(value, int) else _text(str(value))


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(value: str) -> str:
    """A basic string of TOML; JSON escapes what TOML must, but for DEL."""
    return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")
