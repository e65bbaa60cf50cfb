"""What a study says, as text."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from dyno.config.units import digits, seconds_text, signed
from dyno.safety.text import NO_BREAK, plain, sentence
from dyno.studies.model import Study
from dyno.studies.outcome import Comparison, Effect, Fit, Noise, Outcome, Parameter
from dyno.studies.store import Entry

COLUMNS = 80
FEWEST_SOUND = 5
"""Pairs from which on an interval covers what it says where noise is skewed on one side, too."""
MOST_HEADLINE, MOST_EXPLORATORY, MOST_EFFECTS, MOST_FITS, MOST_INVALID = 24, 12, 8, 6, 5
_MOST_TERMS = 4

DISTURBED = (
    "Disturbed runs count: runs alternate and are compared in pairs, so the disturbance shows as "
    "noise in the interval."
)
"""Why a study uses what a single run must not be judged by."""

GROWS = {
    "linear": "in proportion",
    "less": "less than in proportion",
    "more": "more than in proportion",
    "inconclusive": "whether in proportion is open",
}
"""What the test of a fit says."""


def lines(study: Study, found: Outcome, entries: Sequence[Entry] = ()) -> list[str]:
    """The outcome in lines of at most 80 columns: the answer, then what speaks against it.

    Args:
        study: What was asked.
        found: What its runs say.
        entries: The runs, for the reasons of those that do not count.
    """
    first = study.variants[0].name
    disturbed = f"{found.disturbed} disturbed, " if found.disturbed else ""
    made = _wrapped(f"Study {study.name}: {found.runs} runs, {disturbed}{found.invalid} invalid, "
                    f"against '{first}'")  # fmt: skip
    made += _wrapped(study.question) if study.question else []
    headline = [one for one in found.comparisons if one.headline]
    alone = {(one.variant, one.metric): one for one in found.undisturbed}
    for comparison in headline[:MOST_HEADLINE]:
        made += _wrapped(_headline(study, comparison))
        quiet = alone.get((comparison.variant, comparison.metric))
        made += [] if quiet is None else [f"  {line}" for line in _wrapped(by_valid(quiet), 2)]
    made += _more(len(headline) - MOST_HEADLINE)
    made += _wrapped(coverage(headline))
    for one in (one for one in found.noise if one.headline):
        made += _wrapped(_noise(one))
    made += _regressions(found)
    effects = [one for one in found.effects if one.headline]
    for effect in effects[:MOST_EFFECTS]:
        made += _wrapped(_effect(effect))
    made += _more(len(effects) - MOST_EFFECTS)
    fits = [one for one in found.fits if one.headline]
    for fit in fits[:MOST_FITS]:
        made += _wrapped(_fit(fit))
    made += _more(len(fits) - MOST_FITS)
    for name, why in found.disqualified.items():
        made += _wrapped(f"! '{name}' cannot win: {why.removesuffix('.')}.")
    for drift in found.drift:
        if drift.certain:
            made += _wrapped(
                f"! {drift.metric} of '{first}' drifted by {signed(drift.percent)} % from run to "
                f"run ({span(drift.low, drift.high)}); pairs of neighbours make up for it."
            )
    for note in found.notes:
        made += _wrapped(f"! {sentence(note)}")
    return made + _disturbed(entries) + _invalid(entries)


def span(low: float, high: float) -> str:
    """An interval of changes in percent: ``+1.2 to +3.4``."""
    return f"{signed(low)} to {signed(high)}"


def levels_words(factors: Sequence[str], levels: Iterable[object]) -> str:
    """Levels with their factors: ``users=4 memory=1GB``."""
    pairs = zip(factors, levels, strict=False)
    return " ".join(f"{path.rpartition('.')[2]}={level}" for path, level in pairs)


def usl_words(usl: dict[str, Parameter]) -> str:
    """Parameters of the universal scalability law with their intervals; empty without them."""
    names = {
        "sigma": ("contention", 100.0, " %"),
        "kappa": ("coherence", 100.0, " %"),
        "peak": ("peak at", 1.0, ""),
    }
    return ", ".join(
        f"{word} {digits(scale * one.value)}{unit} "
        f"({digits(scale * one.low)} to {_end(scale * one.high)})"
        for name, (word, scale, unit) in names.items()
        if (one := usl.get(name)) is not None and math.isfinite(one.value * one.low)
    )


def _end(value: float) -> str:
    return digits(value) if math.isfinite(value) else "none"


def by_valid(one: Comparison) -> str:
    """What the valid runs say without the disturbed ones."""
    if one.percent is None or one.low is None or one.high is None:
        why = (one.note or not_compared(one)).removeprefix("not compared: ")
        return f"By valid runs alone: too few ({why})."
    return (
        f"By valid runs alone: {signed(one.percent)} % ({span(one.low, one.high)}), "
        f"{one.verdict.upper()}; {one.pairs} pairs."
    )


def _wrapped(text: str, indent: int = 0) -> list[str]:
    # A figure stays on the line of its sign of percent: no-break spaces are none to textwrap.
    kept = plain(text).replace(" %", f"{NO_BREAK}%")
    lines = textwrap.wrap(kept, COLUMNS - indent, subsequent_indent="  ", break_on_hyphens=False)
    return [line.replace(NO_BREAK, " ") for line in lines]


def p_value(p: float | None) -> str:
    """``0.0031``, ``< 0.0001``; ``–`` for none."""
    if p is None or not math.isfinite(p):
        return "–"
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def _headline(study: Study, one: Comparison) -> str:
    head = f"{one.variant}: {one.metric} "
    if one.percent is None or one.low is None or one.high is None:
        return f"{head}{one.note or not_compared(one)}."
    text = f"{head}{signed(one.percent)} % ({span(one.low, one.high)}), {one.verdict.upper()}"
    if one.first is not None and one.second is not None:
        text += f"; medians {_value(one.first)} and {_value(one.second)}"
    text += f", {one.pairs} pairs{'' if one.p is None else f', p {p_value(one.p)}'}."
    text += _note(one.note)
    if one.verdict == "inconclusive" and one.smallest is not None and math.isfinite(one.smallest):
        text += f" {one.pairs} pairs find a shift of {digits(one.smallest)} %"
        takes = f"; {study.margin:g} % takes about"
        text += "." if one.needed is None else f"{takes} {one.needed:,} pairs."
    return text


def _value(value: float) -> str:
    """Three digits also below one, as that of a query that is quick."""
    return f"{value:#.3g}" if 0 < abs(value) < 1 else digits(value)


def coverage(compared: Sequence[Comparison]) -> str:
    """What the intervals of comparisons cover; empty without any."""
    pairs = [one.pairs for one in compared if one.estimand]
    if not pairs:
        return ""
    text = "Intervals: 95 % for the median shift (the pseudo-median), not for the mean."
    if min(pairs) < FEWEST_SOUND:
        text += f" Below {FEWEST_SOUND} pairs they cover it less often (90 %) if noise is skewed."
    return text


def not_compared(one: Comparison) -> str:
    """Why there is no shift, where analysis says no more."""
    return f"not compared: {one.pairs} valid pairs, and two at least are needed"


def _noise(one: Noise) -> str:
    """The noise of pairs, and what a shift takes to be found in it."""
    text = (
        f"Noise of {one.metric}, from pair to pair: {digits(one.sd_percent)} % "
        f"({digits(one.low)} to {digits(one.high)}), {one.pairs} pairs"
    )
    each = "; ".join(
        f"{reach.percent:g} % by {reach.pairs:,} pairs, {_minutes(reach.minutes)}"
        for reach in one.reaches
    )
    return f"{text}. Shifts that are found here: {each}." if each else f"{text}."


def _minutes(minutes: float) -> str:
    return seconds_text(60 * minutes)


def certain(found: Outcome) -> list[Comparison]:
    """Exploratory figures that changed for certain, worse ones first, large ones before small."""
    others = [one for one in found.comparisons if not one.headline]
    others.sort(key=lambda one: -abs(one.percent or 0))
    rest = (one for word in ("better", "different") for one in others if one.verdict == word)
    return [*found.regressions, *rest]


def counted(told: Sequence[Comparison]) -> str:
    """How many of them went which way: ``2 got worse, 1 better``."""
    many = Counter(one.verdict for one in told)
    text = f"{many['worse']} got worse, {many['better']} better"
    return f"{text}, {many['different']} just different" if many["different"] else text


def _regressions(found: Outcome) -> list[str]:
    told = certain(found)
    others = sum(not one.headline for one in found.comparisons)
    made: list[str] = []
    if others:
        made.append(f"Of {others} other figures {counted(told)}.")
    for one in told[:MOST_EXPLORATORY]:
        shift = f"{signed(one.percent or 0)} % ({span(one.low or 0, one.high or 0)})"
        made += [f"  {line}" for line in textwrap.wrap(
            plain(f"{one.verdict:6} {one.variant}: {one.metric} {shift}"), COLUMNS - 2,
            subsequent_indent="  ",
        )]  # fmt: skip
    return made + _more(len(told) - MOST_EXPLORATORY)


def _more(count: int) -> list[str]:
    """That there are more than are told here."""
    return [f"  and {count} more, on the page"] if count > 0 else []


def _effect(one: Effect) -> str:
    kind = "Effect of" if len(one.factors) == 1 else "Interaction of"
    names = " and ".join(path.rpartition(".")[2] for path in one.factors)
    shown = sorted(one.terms, key=lambda term: -abs(term.percent))[:1]
    if len(one.terms) <= _MOST_TERMS or len(one.factors) == 1:
        shown = one.terms
    most = "" if len(shown) == len(one.terms) else "at most "
    terms = most + "; ".join(
        f"{levels_words(one.factors, term.levels)} {signed(term.percent)} % "
        f"({span(term.low, term.high)})"
        for term in shown
    )
    said = {"certain": "CERTAIN", "none": "NONE", "inconclusive": "INCONCLUSIVE"}[one.verdict]
    return (
        f"{kind} {names} on {one.metric}: {said}, partial eta² {digits(one.share_percent)} %, "
        f"p {p_value(one.p)}: {terms}.{_note(one.note)}"
    )


def _fit(one: Fit) -> str:
    at = f" at {levels_words(list(one.at), one.at.values())}" if one.at else ""
    exponent = one.exponent
    text = (
        f"{one.metric} over {one.factor.rpartition('.')[2]}{at}: {GROWS[one.linear].upper()}; as "
        f"x^{digits(exponent.value)} ({digits(exponent.low)} to {digits(exponent.high)})."
    )
    usl = usl_words(one.usl)
    return f"{text}{f' USL: {usl}.' if usl else ''}{_note(one.note)}"


def _note(text: str) -> str:
    return f" {sentence(text)}" if text else ""


def _disturbed(entries: Sequence[Entry]) -> list[str]:
    """Runs that count though they were disturbed, the first of them with their reasons."""
    own = [entry for entry in entries if entry.disturbed]
    made = [
        line
        for entry in own[:MOST_INVALID]
        for line in _wrapped(
            f"~ Run {entry.place + 1} of '{entry.variant}' was disturbed: {entry.why_not}."
        )
    ]
    more = len(own) - MOST_INVALID
    made += [f"~ and {more} more"] if more > 0 else []
    return made + (_wrapped(f"~ {DISTURBED}") if own else [])


def _invalid(entries: Sequence[Entry]) -> list[str]:
    """Runs that do not count, the first of them with their reasons."""
    own = [entry for entry in entries if not entry.counts]
    made = [
        line
        for entry in own[:MOST_INVALID]
        for line in _wrapped(
            f"! Run {entry.place + 1} of '{entry.variant}', attempt {entry.attempt}, does not "
            f"count: {entry.why_not}."
        )
    ]
    more = len(own) - MOST_INVALID
    return [*made, f"! and {more} more"] if more > 0 else made
