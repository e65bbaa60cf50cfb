"""Changes tested against what ran: the study of them, and what studies found already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dyno import workloads
from dyno.errors import DynoError
from dyno.safety.text import sentence
from dyno.studies import earlier
from dyno.studies.analysis import outcome
from dyno.studies.build import build
from dyno.studies.ending import ending
from dyno.studies.form import INDEX, Base, StudySpec
from dyno.studies.model import Reset, Study, Value, Variant
from dyno.studies.outcome import Comparison
from dyno.studies.store import StudyStore
from dyno.studies.variants import changed

Changes = Mapping[str, Value]
"""By path, as in ``[[variants]]``."""

Word = Literal["proven better", "no difference found", "worse", "not proven"]
_WORDS: dict[str, Word] = {"better": "proven better", "worse": "worse"}

AS_IT_IS = "as it is"
"""The name of the baseline."""


@dataclass(frozen=True)
class Basis:
    """What ran, as the base of a study.

    Attributes:
        reset: What each run starts from; None for the usual one.
        users: Whether queries ran in several streams, without a power test.
    """

    base: Base
    reset: Reset | None = None
    users: bool = False


@dataclass(frozen=True)
class Proof:
    """What a study found of a change.

    Attributes:
        percent, low, high: The shift of ``metric`` with its interval; None without one.
        confidence: Of the interval, a share of 1.
        pairs: Pairs of runs that count.
        smallest: The smallest shift that they could have found, in percent.
        folder: The folder of the study, with the bundles of its runs.
        note: Why there is no answer; a sentence.
    """

    verdict: Word
    metric: str
    pairs: int
    folder: Path
    percent: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    smallest: float | None = None
    note: str = ""


def study_of(
    basis: Basis, asked: Mapping[str, Changes], *, name: str, pairs: int, time_limit: str | None
) -> Study:
    """The study of changes against what ran, by the name of each variant.

    Raises:
        UsageError: If a change is not one of a study.
    """
    kind = workloads.get(basis.base.workload).kind
    total = "users_total_s" if basis.users else "total_s"
    spec = StudySpec(
        question="Is the advice right on this machine?",
        design="What ran, and the same with each piece of advice, in alternating order.",
        rule="Advice is proven if it is significantly better, and withdrawn if it is worse.",
        pairs=pairs,
        headline=["tps"] if kind == "oltp" else [total],
        exploratory=["p95_ms"] if kind == "oltp" else ["query_s"],
        reset=basis.reset,
        time_limit=time_limit,
        base=basis.base,
        base_name=AS_IT_IS,
        variants=[{"name": one, **beside(basis, changes)} for one, changes in asked.items()],
    )
    return build(name, "dyno advise", "The study of the advice", spec)


def beside(basis: Basis, changes: Changes) -> dict[str, Value]:
    """Changes to what ran; an index comes beside those that it was loaded with."""
    found = dict(changes)
    if INDEX in found:
        known = str(basis.base.load.get("index", ""))
        found[INDEX] = f"{known} {found[INDEX]}".strip()
    return found


def proofs(out: Path, basis: Basis, asked: Mapping[str, Changes]) -> dict[str, Proof]:
    """What the studies under ``out`` found of these changes to what ran, by name.

    A study counts if its baseline is what ran and one of its variants is the change. Of several,
    the newest with an answer counts.

    Raises:
        UsageError: If a change is not one of a study.
    """
    base = _content(changed(basis.base, AS_IT_IS, {}))
    wanted = {
        name: _content(changed(basis.base, name, beside(basis, own))) for name, own in asked.items()
    }
    found: dict[str, Proof] = {}
    for book in reversed(earlier.books(out)):
        if _content(book.study.variants[0]) != base or not _as_reset(book.study, basis):
            continue
        named = {_content(one): one.name for one in book.study.variants[1:]}
        for name, content in wanted.items():
            answered = name in found and found[name].verdict != "not proven"
            if content in named and not answered:
                proof = _proof(book, named[content])
                if name not in found or proof.verdict != "not proven":
                    found[name] = proof
    return found


def _as_reset(study: Study, basis: Basis) -> bool:
    return (study.reset == "cold") == (basis.reset == "cold")


def _content(variant: Variant) -> str:
    """All of a variant but its name."""
    return variant.model_copy(update={"name": "", "levels": {}}).model_dump_json()


def _proof(book: StudyStore, variant: str) -> Proof:
    """The answer of a study; one that was stopped by the user or by an error has none yet."""
    try:
        state, found = ending(book), outcome(book)
    except DynoError as error:
        return Proof("not proven", "", 0, book.folder, note=str(error))
    one = _headline(found.comparisons, variant)
    if one is None or one.percent is None:
        why = found.disqualified.get(variant) or state.text
        return Proof("not proven", "", 0, book.folder, note=sentence(why))
    shown = Proof(
        _WORDS.get(one.verdict, "no difference found"),
        one.metric,
        one.pairs,
        book.folder,
        one.percent,
        one.low,
        one.high,
        one.confidence,
        one.smallest,
    )
    why = ""
    if state.kind not in {"over", "limit", "early"}:
        why = f"{state.runs - state.missing} of {state.runs} runs: {state.text}"
    elif variant in found.disqualified or AS_IT_IS in found.disqualified:
        why = found.disqualified.get(variant) or found.disqualified[AS_IT_IS]
    return _unproven(shown, sentence(why)) if why else shown


def _unproven(proof: Proof, note: str) -> Proof:
    return Proof(
        "not proven", proof.metric, proof.pairs, proof.folder, proof.percent, proof.low,
        proof.high, proof.confidence, proof.smallest, note,
    )  # fmt: skip


def _headline(found: Iterable[Comparison], variant: str) -> Comparison | None:
    """The comparison that answers; the study of another person may have several headlines."""
    own: Sequence[Comparison] = [one for one in found if one.variant == variant and one.headline]
    worse = [one for one in own if one.verdict == "worse"]
    return next(iter(worse or own), None)
