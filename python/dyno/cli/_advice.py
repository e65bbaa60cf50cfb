"""Prints advice: tables for a terminal, or one JSON document."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dyno.safety import plainjson
from dyno.safety.text import plain

if TYPE_CHECKING:
    from rich.console import Console

    from dyno.decide.advise.section import Asked, Section, Table
    from dyno.decide.advise.system import System
    from dyno.studies.proofs import Proof

_STYLES = {
    "high": "bold red",
    "medium": "yellow",
    "low": "cyan",
    "fulfilled": "green",
    "not readable": "magenta",
    "not applicable": "dim",
    "proven better": "green",
    "worse": "bold red",
    "withdrawn": "dim",
}
_WIDEST = 160
_NARROW = 100
_WHOLE = ("Severity", "Area", "Rule", "Advice", "Proof")
"""Columns of short names."""
_WIDE = (
    *("Area", "A call>", "min–max>", "Kind", "Not cached>", "Method", "Score>", "Joined>"),
    *("Rows>", "Columns>", "Change"),
)
"""Columns that a narrow terminal has no space for."""


@dataclass(frozen=True)
class Advice:
    """All that is said of a system.

    Attributes:
        sections: By the kind of advice.
        proofs: What studies found, by the name of the variant.
    """

    system: System
    sections: dict[str, Section]
    proofs: Mapping[str, Proof] = field(default_factory=dict[str, "Proof"])

    @property
    def shown(self) -> dict[str, Section]:
        """The sections with the proofs beside."""
        from dyno.decide.advise.proven import beside

        return {name: beside(section, self.proofs) for name, section in self.sections.items()}


def advice(systems: Sequence[System], asked: Asked) -> list[Advice]:
    """Every kind of advice on each system."""
    from dyno.decide.advise.kinds import kinds

    return [
        Advice(
            system,
            {
                kind.name: section
                for kind in kinds()
                if (section := kind.advise(system, asked)) is not None
            },
        )
        for system in systems
    ]


def show(
    found: Sequence[Advice],
    *,
    as_json: bool,
    more: Mapping[str, Any] | None = None,
    folder: Path | None = None,
) -> int:
    """Prints advice; returns the exit code.

    Args:
        found: The advice.
        as_json: Whether to print a JSON document.
        more: More of the JSON document.
        folder: Where to write layouts and studies; None to write nothing.

    Raises:
        UsageError: If a file of that name exists already.
    """
    from dyno.cli import _advised
    from dyno.decide.advise.proven import document

    written: list[Path] = []
    if folder is not None:
        every = [section for one in found for section in one.sections.values()]
        written = _advised.write(every, folder)
        more = {**(more or {}), "written": [str(path) for path in written]}

    violated = [
        name for one in found for section in one.shown.values() for name in section.violated
    ]
    if as_json:
        documents = [
            {
                "title": one.system.title,
                **{name: section.document for name, section in one.sections.items()},
                "variants": [
                    {"kind": name, **variant}
                    for name, section in one.sections.items()
                    for variant in document(section, one.proofs)
                ],
            }
            for one in found
        ]
        click.echo(plainjson.dumps(_head(violated) | {"systems": documents, **(more or {})}))
    else:
        console = _console()
        for one in found:
            _print(console, one.system, one.shown)
        if folder is not None:
            _advised.tell(written, folder)
    return 1 if violated else 0


def _head(violated: Sequence[str]) -> dict[str, Any]:
    return {
        "run": None,
        "bundle": None,
        "valid": not violated,
        "reasons": list(dict.fromkeys(violated)),
    }


def require_rule(name: str) -> None:
    """Refuses a rule that does not exist.

    Raises:
        UsageError: With the nearest name.
    """
    from dyno.decide.advise.practices import rules
    from dyno.errors import unknown

    known = [rule.name for rule in rules()]
    if name not in known:
        raise unknown("rule", name, known)


def explain(systems: Sequence[System], name: str, *, as_json: bool) -> int:
    """Prints one rule with its outcomes; returns the exit code."""
    from dyno.decide.advise.kinds.practices import document, judged
    from dyno.decide.advise.practices import rules

    (rule,) = (one for one in rules() if one.name == name)
    found = [(system, one) for system in systems for one in judged(system, [rule])]
    violated = [name for _, one in found if one.verdict.outcome == "violated"]
    if as_json:
        listed = [{"system": system.title, **document(one)} for system, one in found]
        click.echo(plainjson.dumps(_head(violated) | {"verdicts": listed}))
        return 1 if violated else 0
    lines = [
        ("Rule", f"{rule.name} ({rule.area}, {rule.severity})"),
        ("Looks at", rule.looks_at),
        ("Wants", rule.wants),
        ("Why", rule.why),
        ("Source", rule.source),
        ("Test it", f"dyno study run {rule.study}" if rule.study else "no shipped study"),
    ]
    for system, one in found:
        verdict = one.verdict
        subject = f", {verdict.subject}" if verdict.subject else ""
        lines.append(("", ""))
        lines.append(("System", f"{system.title}{subject}"))
        lines.append(("Outcome", f"{verdict.outcome}{': ' * bool(verdict.reason)}{verdict.reason}"))
        lines += [("Found", verdict.found)] if verdict.found else []
        lines += [("Wanted", verdict.wanted)] if verdict.wanted else []
        lines += [("Fix it" if not n else "", line) for n, line in enumerate(verdict.commands)]
    width = _console().width
    for head, text in lines:
        click.echo(_wrapped(head, plain(text), width, command=head in ("Fix it", "")))
    return 1 if violated else 0


def _wrapped(head: str, text: str, width: int, *, command: bool) -> str:
    indent = f"{head:10}"
    if command:  # to be copied
        return f"{indent}{text}".rstrip()
    return textwrap.fill(
        text, width, initial_indent=indent, subsequent_indent=" " * 10,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _console() -> Console:
    from rich.console import Console

    found = Console(file=sys.stdout, highlight=False, emoji=False, markup=False, soft_wrap=False)
    found.width = min(found.width, _WIDEST)
    return found


def _print(console: Console, system: System, sections: dict[str, Section]) -> None:
    from rich.text import Text

    console.print(Text(plain(system.title), style="bold"))
    for section in sections.values():
        console.print()
        console.print(Text(section.title, style="bold underline"))
        for sentence in section.sentences:
            console.print(Text(plain(sentence)))
        for table in section.tables:
            console.print()
            _table(console, table)
        if section.commands:
            console.print("\nCommands that fix it. Dyno runs none of them.")
            for title, commands in section.commands.items():
                console.print(Text(f"  {plain(title)}", style="bold"))
                for line in commands:
                    click.echo(f"    {plain(line)}")
        if section.closing:
            console.print()
        for line in section.closing:
            console.print(Text(plain(line)))
    console.print()


def _table(console: Console, table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    if table.title:
        console.print(Text(table.title, style="italic"))
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    kept = [
        n for n, name in enumerate(table.columns) if console.width >= _NARROW or name not in _WIDE
    ]
    for column in (table.columns[n] for n in kept):
        numeric = column.endswith(">")
        drawn.add_column(
            column.rstrip(">"),
            justify="right" if numeric else "left",
            no_wrap=numeric or column in _WHOLE,
            overflow="fold",
        )
    for number, row in enumerate(table.rows):
        mark = table.marks[number] if table.marks else ""
        cells = [Text(plain(row[n])) for n in kept]
        if mark:
            place = 1 if table.columns[1] == "Proof" else 0
            cells[place].stylize(_STYLES.get(mark, ""))
        drawn.add_row(*cells)
    console.print(drawn)
