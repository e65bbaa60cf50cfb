"""Formats metrics, shifts and verdicts of a study."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dyno.config.units import signed
from dyno.report.kit.blocks import Cell, Tone
from dyno.report.kit.formats import operation_title, query_title, rounded
from dyno.studies.metrics import owner
from dyno.studies.outcome import Comparison
from dyno.studies.text import not_compared

VERDICTS: dict[str, tuple[Tone, str]] = {
    "better": ("good", "▲\N{NO-BREAK SPACE}better"),
    "worse": ("bad", "▼\N{NO-BREAK SPACE}worse"),
    "different": ("", "◆\N{NO-BREAK SPACE}different"),
    "equivalent": ("", "■\N{NO-BREAK SPACE}equivalent"),
    "inconclusive": ("muted", "●\N{NO-BREAK SPACE}inconclusive"),
    "certain": ("", "◆\N{NO-BREAK SPACE}significant"),
    "none": ("", "■\N{NO-BREAK SPACE}none"),
}
"""Tone and text of each verdict, with its shape in the charts."""

_LONGEST_UNIT = 5


def title(name: str) -> str:
    """The title of a metric with its unit: ``Query time, s: Q9``."""
    return _with_member(name, owner(name).meaning)


def named(name: str) -> str:
    """The title of a metric without its unit: ``Query time: Q9``."""
    return _with_member(name, _parted(name)[0])


def unit(name: str) -> str:
    """The unit of a metric with a leading space; empty if its title is its unit."""
    found = _parted(name)[1]
    return f" {found}" if found else ""


def _parted(name: str) -> tuple[str, str]:
    """The meaning of a metric and its unit: ``query time``, ``s``."""
    meaning = owner(name).meaning
    words, comma, last = meaning.rpartition(", ")
    return (words, last) if comma and len(last) <= _LONGEST_UNIT else (meaning, "")


def _with_member(name: str, text: str) -> str:
    member = member_of(name)
    text = f"{text[:1].upper()}{text[1:]}"
    return f"{text}: {member}" if member else text


def labels(names: Iterable[str]) -> dict[str, str]:
    """Short labels: the member of a single family, else with the family's name."""
    found = list(dict.fromkeys(names))
    one = len({name.partition(".")[0] for name in found if member_of(name)}) == 1
    made: dict[str, str] = {}
    for name in found:
        member = member_of(name)
        words = lowered(_parted(name)[0].partition(" by ")[0])
        made[name] = (member if one else f"{member}, {words}") if member else named(name)
    return made


def member_of(name: str) -> str:
    """The member of a family: ``Q9``, ``New-Order``; empty without a family."""
    family, _, member = name.partition(".")
    if family.startswith("query_s"):
        return query_title(member)
    return operation_title(member) if family == "p95_ms" else member


def lowered(text: str) -> str:
    """A text in the middle of a sentence."""
    return f"{text[:1].lower()}{text[1:]}"


def change(value: float | None) -> str:
    """``+12.3 %``, with a minus as long as the plus."""
    return "–" if value is None else f"{bare(value)} %"


def bare(value: float) -> str:
    """A change in percent without the per cent sign."""
    return signed(value).replace("-", "\N{MINUS SIGN}")


def span(low: float | None, high: float | None) -> str:
    """``+1.2 to +3.4 %``."""
    return "–" if low is None or high is None else f"{bare(low)} to {bare(high)} %"


def word(verdict: str) -> Cell:
    """A verdict as a cell."""
    tone, text = VERDICTS.get(verdict, ("muted", verdict))
    return Cell(text, tone)


def found(one: Comparison) -> str:
    """The minimum detectable effect; empty if unknown."""
    if one.smallest is None or not math.isfinite(one.smallest):
        return ""
    return f"Minimum detectable effect with {one.pairs} pairs: {rounded(one.smallest)} %"


def sentence(one: Comparison, margin: float) -> str:
    """A comparison in a sentence."""
    if one.percent is None or one.low is None or one.high is None:
        return f"{named(one.metric)} {one.note or not_compared(one)}."
    values = f", medians {rounded(one.first)} and {rounded(one.second)}{unit(one.metric)}"
    said = "" if one.disqualified else f"{one.verdict}: "  # the caller states it
    text = (
        f"{said}{named(one.metric)} {change(one.percent)} "
        f"(95 % interval {span(one.low, one.high)}){values}."
    )
    if one.verdict == "equivalent":
        text += f" The whole interval is within the margin of ±{margin:g} %."
    if one.verdict == "inconclusive" and not one.disqualified:
        reason = found(one)
        text += f" {reason}" if reason else " Noise is too high"
        text += "." if one.needed is None else f"; {margin:g} % needs about {one.needed:,} pairs."
    return text
