"""The results of a study as text."""

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
"""From this many pairs on, intervals keep their coverage also with skewed noise."""
MOST_HEADLINE, MOST_EXPLORATORY, MOST_EFFECTS, MOST_FITS, MOST_INVALID = 24, 12, 8, 6, 5
_MOST_TERMS = 4

DISTURBED = (
    "Disturbed runs count: runs alternate and are compared in pairs, so the disturbance shows as "
    "noise in the interval."
)
"""Why a study uses disturbed runs."""

GROWS = {
    "linear": "linear",
    "less": "sublinear",
    "more": "superlinear",
    "inconclusive": "inconclusive",
}
"""Results of the linearity test."""


def lines(study: Study, found: Outcome, entries: Sequence[Entry] = ()) -> list[str]:
    """The outcome in lines of at most 80 columns: results, then caveats.

    Args:
        study: The study's definition.
        found: Its analysis.
        entries: The runs, for the reasons of those that do not count.
    """
    first = study.variants[0].name
    disturbed = f"{found.disturbed} disturbed, " if found.disturbed else ""
    made = _wrapped(f"Study {study.name}: {found.runs} runs, {disturbed}{found.invalid} invalid, "
                    f"baseline '{first}'")  # fmt: skip
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
        made += _wrapped(f"! '{name}' is disqualified: {why.removesuffix('.')}.")
    for drift in found.drift:
        if drift.certain:
            made += _wrapped(
                f"! {drift.metric} of '{first}' drifted by {signed(drift.percent)} % per run "
                f"({span(drift.low, drift.high)}); pairing cancels it."
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
    """The result of the valid runs alone."""
    if one.percent is None or one.low is None or one.high is None:
        why = (one.note or not_compared(one)).removeprefix("not compared: ")
        return f"Valid runs alone: too few ({why})."
    return (
        f"Valid runs alone: {signed(one.percent)} % ({span(one.low, one.high)}), "
        f"{one.verdict.upper()}; {one.pairs} pairs."
    )


def _wrapped(text: str, indent: int = 0) -> list[str]:
    # No line break before a per cent sign: textwrap does not break at no-break spaces.
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
        text += f" Minimum detectable effect: {digits(one.smallest)} %"
        takes = f"; {study.margin:g} % needs about"
        text += "." if one.needed is None else f"{takes} {one.needed:,} pairs."
    return text


def _value(value: float) -> str:
    """Three significant digits also below one."""
    return f"{value:#.3g}" if 0 < abs(value) < 1 else digits(value)


def coverage(compared: Sequence[Comparison]) -> str:
    """The coverage of the comparisons' intervals; empty without any."""
    pairs = [one.pairs for one in compared if one.estimand]
    if not pairs:
        return ""
    text = "Intervals: 95 % for the median shift (the pseudo-median), not for the mean."
    if min(pairs) < FEWEST_SOUND:
        text += f" Below {FEWEST_SOUND} pairs, coverage drops to 90 % if noise is skewed."
    return text


def not_compared(one: Comparison) -> str:
    """Why there is no shift, if the analysis has no reason."""
    return f"not compared: {one.pairs} valid pairs, at least 2 needed"


def _noise(one: Noise) -> str:
    """The noise between pairs, and the minimum detectable effects."""
    text = (
        f"Noise of {one.metric} between pairs: {digits(one.sd_percent)} % "
        f"({digits(one.low)} to {digits(one.high)}), {one.pairs} pairs"
    )
    each = "; ".join(
        f"{reach.percent:g} % with {reach.pairs:,} pairs ({_minutes(reach.minutes)})"
        for reach in one.reaches
    )
    return f"{text}. Minimum detectable effect: {each}." if each else f"{text}."


def _minutes(minutes: float) -> str:
    return seconds_text(60 * minutes)


def certain(found: Outcome) -> list[Comparison]:
    """Significant exploratory changes: regressions first, then by size."""
    others = [one for one in found.comparisons if not one.headline]
    others.sort(key=lambda one: -abs(one.percent or 0))
    rest = (one for word in ("better", "different") for one in others if one.verdict == word)
    return [*found.regressions, *rest]


def counted(comparisons: Sequence[Comparison]) -> str:
    """Counts by verdict: ``2 worse, 1 better``."""
    many = Counter(one.verdict for one in comparisons)
    text = f"{many['worse']} worse, {many['better']} better"
    return f"{text}, {many['different']} different" if many["different"] else text


def _regressions(found: Outcome) -> list[str]:
    significant = certain(found)
    others = sum(not one.headline for one in found.comparisons)
    made: list[str] = []
    if others:
        made.append(f"{others} other metrics: {counted(significant)}.")
    for one in significant[:MOST_EXPLORATORY]:
        shift = f"{signed(one.percent or 0)} % ({span(one.low or 0, one.high or 0)})"
        made += [f"  {line}" for line in textwrap.wrap(
            plain(f"{one.verdict:6} {one.variant}: {one.metric} {shift}"), COLUMNS - 2,
            subsequent_indent="  ",
        )]  # fmt: skip
    return made + _more(len(significant) - MOST_EXPLORATORY)


def _more(count: int) -> list[str]:
    """A line that counts the omitted ones."""
    return [f"  and {count} more in the report"] if count > 0 else []


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
    said = {"certain": "SIGNIFICANT", "none": "NONE", "inconclusive": "INCONCLUSIVE"}[one.verdict]
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
    """Disturbed runs that count, the first ones with reasons."""
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
    """Runs that do not count, the first ones with reasons."""
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
