"""What a study says, as text and as a document."""

from __future__ import annotations

import textwrap
from typing import Any

from dyno.studies.book import Book
from dyno.studies.metrics import owner
from dyno.studies.model import Study
from dyno.studies.outcome import Comparison, Outcome
from dyno.units import digits

MOST_EXPLORATORY = 12


def lines(study: Study, found: Outcome) -> list[str]:
    """The outcome in lines of at most 80 columns."""
    first = study.variants[0].name
    made = [f"Study {study.name}: {found.runs} runs, {found.invalid} invalid, against '{first}'"]
    if study.question:
        made += textwrap.wrap(study.question, 80)
    for comparison in (one for one in found.comparisons if one.headline):
        made += _headline(study, comparison)
    made += _regressions(found)
    for name, why in found.disqualified.items():
        made += textwrap.wrap(f"! '{name}' cannot win: {why}", 80, subsequent_indent="  ")
    for drift in found.drift:
        if drift.certain:
            made.append(
                f"! {drift.metric} of '{first}' drifted by {drift.percent:+.2g} % from run to run "
                f"({drift.low:+.2g} to {drift.high:+.2g}); pairs of neighbours make up for it."
            )
    return made


def _headline(study: Study, one: Comparison) -> list[str]:
    head = f"{one.variant}: {one.metric} "
    if one.percent is None or one.low is None or one.high is None:
        return [f"{head}not compared: {one.pairs} valid pairs; two at least are needed."]
    text = (
        f"{head}{one.percent:+.3g} % ({one.low:+.3g} to {one.high:+.3g}), {one.verdict.upper()}; "
        f"{one.first:,.4g} to {one.second:,.4g}, {one.pairs} pairs, p {one.p:.2g}."
    )
    if one.verdict == "inconclusive":
        text += (
            f" So many pairs find a shift of {digits(one.smallest or 0)} %; "
            f"{study.margin:g} % takes about {one.needed:,}."
        )
    return textwrap.wrap(text, 80, subsequent_indent="  ")


def _regressions(found: Outcome) -> list[str]:
    """Exploratory figures that changed for certain, worse ones first."""
    told = [
        one for one in found.comparisons
        if not one.headline and one.verdict in {"worse", "better"} and one.percent is not None
    ]  # fmt: skip
    told.sort(key=lambda one: (one.verdict != "worse", -abs(one.percent or 0)))
    made = [
        f"  {one.verdict:7}{one.variant}: {one.metric} {one.percent:+.3g} % "
        f"({one.low:+.3g} to {one.high:+.3g})"
        for one in told[:MOST_EXPLORATORY]
    ]
    if len(told) > MOST_EXPLORATORY:
        made.append(f"  and {len(told) - MOST_EXPLORATORY} more (--json)")
    return made


def document(book: Book, found: Outcome) -> dict[str, Any]:
    """The outcome with all runs, for ``--json``."""
    return {
        "study": book.study.model_dump(mode="json"),
        "folder": str(book.folder),
        "outcome": found.model_dump(mode="json"),
        "wishes": {one.metric: owner(one.metric).wish for one in found.comparisons},
        "runs": [entry.model_dump(mode="json") for entry in book.entries()],
    }
