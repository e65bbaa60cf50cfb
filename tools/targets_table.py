"""Prints docs/targets.md: what every target supports, from the targets' own declarations.

`python tools/targets_table.py > docs/targets.md`; a test compares the two.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from dyno import targets, workloads
from dyno.bundle.inside import SESSIONS, SOURCE
from dyno.config.settings import WORDS, Word
from dyno.contracts import flash, maintenance, plans
from dyno.contracts.inspection import Inspected
from dyno.contracts.meter import Metered
from dyno.contracts.probe import Probed
from dyno.contracts.target import Capabilities, Limits, Target
from dyno.errors import UsageError
from dyno.layouts.parts import LayoutParts
from dyno.targets import several

_SEVERAL = "several databases"
_NO_WORDS = "it has no settings"
_NO_SETTING = "it has no such setting"
_REPORTS_NONE = "it reports none"
_PLACE = "elsewhere"
"""Where the volumes of a layout are; not a capability."""

_OWN: dict[str, Literal["dss", "oltp"]] = {
    "own queries": "dss",
    "own transactions": "oltp",
}
"""Statements of one's own by kind; a file has one of them."""

_INSIDE = {"counters": SOURCE, "sessions by wait": SESSIONS, "statements": "", "tables": ""}
"""What is observed from inside, and the name of its probe if it is one."""

Answer = str | bool
"""Yes, the target's own name for it, or ``no: `` (or ``yes: ``) and the reason."""


def page() -> str:
    """The page as Markdown."""
    names = targets.names()
    return "\n".join(
        [
            "# Targets",
            "",
            "What each target supports. Every gap has a reason, shown here and in the error "
            "message.",
            "Addresses:",
            "",
            *_addresses(names),
            "",
            *_tested(names),
            *_section(
                "Workloads",
                names,
                [*workloads.names(), *_OWN],
                _workload,
                "What `dyno load` and `dyno run` do. A test enumerates the workloads and runs each "
                "on each target, or asserts the reason.",
            ),
            *_section(
                "Capabilities",
                names,
                [*_words(Capabilities), _SEVERAL],
                _capability,
                "`dss`: queries; `neutral`: all of them in portable SQL, unchanged; `oltp`: "
                "transactions; `load`: generated data; `cold`: a start with no data cached; "
                "`refresh`: refresh functions while queries run; `resume`: of interrupted loads; "
                "`procedure`: transactions as stored procedures; `mixed`: queries and transactions "
                "at the same time.",
            ),
            *_section(
                "Maintenance and plans",
                names,
                [*maintenance.NAMES, "plans", "metrics by query"],
                _during,
                "`dyno run --during TASK`, `--plans`, and bytes read, spilled and memory per "
                "query.",
            ),
            *_section(
                "Internal metrics",
                names,
                list(_INSIDE),
                _inside,
                "What a run records from inside the database: samples of its counters and of its "
                "active sessions by what they wait for, and what it counted by statement and by "
                "table. The samples have the same names in every engine; a metric that an engine "
                "does not count is absent.",
            ),
            *_inside_notes(names),
            *_section(
                "Layouts",
                names,
                [word for word in _words(LayoutParts) if word != _PLACE],
                _layout,
                "Parts of a layout (`dyno load --layout`) that an engine supports. A server at a "
                "URL may support fewer; the error message gives the reason.",
            ),
            *_section(
                "Moving to flash",
                names,
                list(flash.PARTS),
                _onto_flash,
                "Parts that `dyno accelerate move` moves onto flash and back, for a server at a "
                "URL. Dyno prints the commands for what needs a stopped server: the log, and "
                "temporary files of MariaDB and SQL Server ([accelerate.md](accelerate.md)).",
            ),
            *_section(
                "Settings",
                names,
                list(WORDS),
                _setting,
                "Portable setting names (`--set NAME=VALUE`) and the parameters they map to.",
            ),
            "### Values",
            "",
            "| setting | meaning | values |",
            "|---|---|---|",
            *(f"| {word.name} | {word.meaning} | {_values(word)} |" for word in WORDS.values()),
            "",
        ]
    )


def _values(word: Word) -> str:
    """What a setting can be set to."""
    if word.kind == "choice":
        return ", ".join(f"`{choice}`" for choice in word.choices)
    if word.kind == "count":
        return f"{word.least:,} to {word.most:,}"
    example = {
        "bytes": "`4GB`, or `25%` of this machine's memory",
        "seconds": "`5m`",
        "folder": "`/fast/temp`",
    }[word.kind]
    return f"such as {example}"


def _addresses(names: Sequence[str]) -> list[str]:
    rows = [
        f"| {name} | {', '.join(f'`{text}`' for text in targets.about(name)[1])} |"
        for name in names
    ]
    return ["| target | address |", "|---|---|", *rows]


def _tested(names: Sequence[str]) -> list[str]:
    """The products and versions that a target was tested with, if it supports several."""
    found = {name: targets.tried(name) for name in names}
    return [
        line
        for name, text in found.items()
        if text
        for line in (f"{name} was tested against {text}.", "")
    ]


def _section(
    title: str,
    names: Sequence[str],
    words: Sequence[str],
    answer: Callable[[str, str], Answer],
    lead: str = "",
) -> list[str]:
    """A table of words by targets; the reasons follow, each once."""
    reasons: dict[str, int] = {}
    rows: list[str] = []
    for word in words:
        cells = [_cell(name, answer(name, word), reasons) for name in names]
        rows.append(f"| {word} | {' | '.join(cells)} |")
    notes = [f"{number}. {text}." for text, number in reasons.items()]
    head = [f"| | {' | '.join(names)} |", f"|{'---|' * (len(names) + 1)}"]
    return [f"## {title}", "", *([lead, ""] if lead else []), *head, *rows, "", *notes, ""]


def _cell(name: str, answer: Answer, reasons: dict[str, int]) -> str:
    if answer is True:
        return "yes"
    text = str(answer)
    word, colon, why = text.partition(": ")
    if not colon or word not in {"yes", "no"}:
        return f"`{text}`"
    return f"{word} ({reasons.setdefault(f'{name}: {why}', len(reasons) + 1)})"


def _words(record: type) -> list[str]:
    return [field.name for field in fields(record)]


def _workload(name: str, word: str) -> Answer:
    """Whether it runs on a target, on data that Dyno loads there or on none."""
    kind = _OWN.get(word) or workloads.get(word).kind
    able = targets.about(name)[0]
    runs = able.dss if kind == "dss" else able.oltp
    if runs is not True or able.load is True:
        return _yes_or_why(runs)
    return f"yes: {able.load}"


def _capability(name: str, word: str) -> Answer:
    if word == _SEVERAL:
        return _yes_or_why(several.able(_opened(name)))
    return _yes_or_why(getattr(targets.about(name)[0], word))


def _layout(name: str, word: str) -> Answer:
    module = _module(name, "layout")
    parts = module.parts(_opened(name).url) if module else LayoutParts()
    return _yes_or_why(getattr(parts, word))


def _onto_flash(name: str, part: Any) -> Answer:
    return _yes_or_why(flash.lacks(name, part) or True)


def _setting(name: str, word: str) -> Answer:
    module = _module(name, "tuning")
    if module is None:
        return f"no: {_NO_WORDS}"
    if word in module.KNOBS:
        return str(module.KNOBS[word])
    return f"no: {getattr(module, 'LACKS', {}).get(word, _NO_SETTING)}"


def _during(name: str, word: str) -> Answer:
    target = _opened(name)
    try:
        if word == "plans":
            plans.require(target)
        elif word == "metrics by query":
            return True if isinstance(target, Metered) else f"no: {_REPORTS_NONE}"
        else:
            return _yes_or_why(maintenance.lacks(target, maintenance.parse(word)) or True)
    except UsageError as error:
        return f"no: {str(error).partition(': ')[2].rstrip('.')}"
    return True


def _inside(name: str, word: str) -> Answer:
    target, probe = _opened(name), _INSIDE[word]
    if reason := getattr(_module(name, "inside"), "LACKS", {}).get(word):
        return f"no: {reason}"
    if probe:
        known = {one.name for one in target.probes()} if isinstance(target, Probed) else set[str]()
        return True if probe in known else f"no: {_REPORTS_NONE}"
    counted = isinstance(target, Inspected) and target.inspector() is not None
    return counted or f"no: {_REPORTS_NONE}"


def _inside_notes(names: Sequence[str]) -> list[str]:
    """What each target needs for it, and what its values mean."""
    notes = {name: getattr(_module(name, "inside"), "NOTES", ()) for name in names}
    lines = [f"- {name}: {note}." for name, listed in notes.items() for note in listed]
    return [*lines, ""] if lines else []


def _yes_or_why(value: bool | str) -> Answer:
    return True if value is True else f"no: {value}"


def _opened(name: str) -> Target:
    """The target, before it is started."""
    url = targets.parse(targets.about(name)[1][0])
    return targets.open_target(url, Path(), Limits(1 << 30, 1))


def _module(name: str, part: str) -> ModuleType | Any:
    place = f"dyno.targets.{name}.{part}"
    return importlib.import_module(place) if importlib.util.find_spec(place) else None


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201
