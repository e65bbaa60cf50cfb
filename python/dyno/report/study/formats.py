"""Figures, shifts and verdicts of a study as the page says them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dyno.config.units import signed
from dyno.report.kit.blocks import Cell, Tone
from dyno.report.kit.formats import figure, operation_title, query_title
from dyno.studies.metrics import owner
from dyno.studies.outcome import Comparison
from dyno.studies.text import not_compared

VERDICTS: dict[str, tuple[Tone, str]] = {
    "better": ("good", "▲\N{NO-BREAK SPACE}better"),
    "worse": ("bad", "▼\N{NO-BREAK SPACE}worse"),
    "different": ("", "◆\N{NO-BREAK SPACE}different"),
    "equivalent": ("", "■\N{NO-BREAK SPACE}equivalent"),
    "inconclusive": ("muted", "●\N{NO-BREAK SPACE}inconclusive"),
    "certain": ("", "◆\N{NO-BREAK SPACE}certain"),
    "none": ("", "■\N{NO-BREAK SPACE}none"),
}
"""Tone and word of each verdict, with the shape that it has in the charts."""

_LONGEST_UNIT = 5


def title(name: str) -> str:
    """A figure in words with its unit: ``Time of each query, s: Q9``."""
    return _with_member(name, owner(name).meaning)


def named(name: str) -> str:
    """A figure in words without its unit: ``Time of each query: Q9``."""
    return _with_member(name, _parted(name)[0])


def unit(name: str) -> str:
    """The unit of a figure with a space before it; empty if its name is its unit."""
    found = _parted(name)[1]
    return f" {found}" if found else ""


def _parted(name: str) -> tuple[str, str]:
    """What a figure is, and its unit, which stands last: ``time of each query``, ``s``."""
    meaning = owner(name).meaning
    words, comma, last = meaning.rpartition(", ")
    return (words, last) if comma and len(last) <= _LONGEST_UNIT else (meaning, "")


def _with_member(name: str, text: str) -> str:
    member = member_of(name)
    text = f"{text[:1].upper()}{text[1:]}"
    return f"{text}: {member}" if member else text


def labels(names: Iterable[str]) -> dict[str, str]:
    """Figures where there is little room: members of one family alone, else with its name."""
    found = list(dict.fromkeys(names))
    one = len({name.partition(".")[0] for name in found if member_of(name)}) == 1
    made: dict[str, str] = {}
    for name in found:
        member, family = member_of(name), name.partition(".")[0]
        made[name] = (member if one else f"{member}, {family}") if member else named(name)
    return made


def member_of(name: str) -> str:
    """Which of a family it is: ``Q9``, ``New-Order``; empty if it is none of a family."""
    family, _, member = name.partition(".")
    if family.startswith("query_s"):
        return query_title(member)
    return operation_title(member) if family == "p95_ms" else member


def lowered(text: str) -> str:
    """A text inside a sentence."""
    return f"{text[:1].lower()}{text[1:]}"


def change(value: float | None) -> str:
    """``+12.3 %``, with a minus as long as the plus."""
    return "–" if value is None else f"{bare(value)} %"


def bare(value: float) -> str:
    """A change in percent without its sign of percent."""
    return signed(value).replace("-", "\N{MINUS SIGN}")


def span(low: float | None, high: float | None) -> str:
    """``+1.2 to +3.4 %``."""
    return "–" if low is None or high is None else f"{bare(low)} to {bare(high)} %"


def word(verdict: str) -> Cell:
    """A verdict as a cell."""
    tone, text = VERDICTS.get(verdict, ("muted", verdict))
    return Cell(text, tone)


def found(one: Comparison) -> str:
    """What would have been found, and what the margin takes; empty if that is not known."""
    if one.smallest is None or not math.isfinite(one.smallest):
        return ""
    return f"{one.pairs} pairs find a shift of {figure(one.smallest)} %"


def sentence(one: Comparison, margin: float) -> str:
    """A comparison in a sentence."""
    if one.percent is None or one.low is None or one.high is None:
        return f"{named(one.metric)} {one.note or not_compared(one)}."
    values = f", medians {figure(one.first)} and {figure(one.second)}{unit(one.metric)}"
    said = "" if one.disqualified else f"{one.verdict}: "  # that it cannot win is said already
    text = (
        f"{said}{named(one.metric)} {change(one.percent)} "
        f"(95 % interval {span(one.low, one.high)}){values}."
    )
    if one.verdict == "equivalent":
        text += f" The whole interval is inside the margin of ±{margin:g} %."
    if one.verdict == "inconclusive" and not one.disqualified:
        told = found(one)
        text += f" No answer follows: {told}" if told else " No answer follows"
        text += "." if one.needed is None else f"; {margin:g} % takes about {one.needed:,} pairs."
    return text
