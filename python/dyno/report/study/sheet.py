"""The page of a study: the answer first, then what it rests on."""

from __future__ import annotations

from collections import Counter

from dyno import __version__
from dyno.bundle.model import Reason
from dyno.report.kit.formats import moment, seconds
from dyno.report.kit.rendered import Head, Verdict, rendered
from dyno.report.study.formats import named, sentence
from dyno.report.study.page import StudyPage
from dyno.report.study.sections import makers
from dyno.safety.text import sentence as text_sentence
from dyno.studies import differences
from dyno.studies.ending import ALL_MADE
from dyno.studies.outcome import Comparison, Outcome
from dyno.studies.store import StudyStore
from dyno.studies.text import DISTURBED

_LONGEST_HEADING = 140
_MOST_VARIANTS, _MOST_FIGURES = 12, 3
_ORDER = ("better", "worse", "different", "equivalent", "inconclusive")


def study_sheet(book: StudyStore, outcome: Outcome) -> str:
    """The page of ``book``, of which analysis says ``outcome``; no database is needed.

    All text of the book and its bundles is escaped: it may be anybody's. Bundles that cannot be
    read any more are left out; what they gave stands in the book.

    Raises:
        UsageError: If the book cannot be read.
    """
    page = StudyPage.of(book, outcome)
    study = page.study
    question = study.question if 0 < len(study.question) <= _LONGEST_HEADING else ""
    return rendered(
        Head(
            "Dyno study",
            f"Dyno study {study.name}",
            question or f"Study {study.name}",
            _meta(page, named=not question),
            answer(page),
        ),
        [made for make in makers() if (made := make(page)) is not None],
        f"Made by Dyno {__version__} from the study {study.name} and the bundles of its runs.",
        list(page.notices),
    )


def answer(page: StudyPage) -> Verdict:
    """What the study says, a sentence for each variant, and what stands against it."""
    by_variant: dict[str, list[Comparison]] = {}
    for one in page.headline:
        by_variant.setdefault(one.variant, []).append(one)
    counts = Counter(one.verdict for one in page.headline if one.percent is not None)
    told = _foremost(by_variant)
    sentences = [Reason(code=name, message=_told(page, own)) for name, own in told]
    tone, stamp = _stamp(page, by_variant, counts)
    words = f"Against '{page.first.name}', in pairs of neighbouring runs."
    if len(by_variant) > _MOST_VARIANTS:
        words += (
            f" {_MOST_VARIANTS} of {len(by_variant)} variants, what is certain first and large "
            "shifts before small; all are told below."
        )
    noise = [one for one in page.outcome.noise if one.headline]
    reaches = [found for one in noise for found in one.reaches]
    reach = next((one for one in reaches if one.percent >= page.study.margin), None)
    if reach is not None:
        words = (
            f"Here {reach.pairs:,} pairs, which last {seconds(60 * reach.minutes)}, find a shift "
            f"of {reach.percent:g} % four times of five."
        )
    if not by_variant:
        words = "Nothing can be compared: no run gave a figure that the study is about."
    return Verdict(
        tone, stamp, words, tuple(sentences), tuple(_against(page, [name for name, _ in told]))
    )


def _stamp(
    page: StudyPage, by_variant: dict[str, list[Comparison]], counts: Counter[str]
) -> tuple[str, str]:
    if not counts:
        return "bad", "✗ No answer"
    if differences.same(page.study):
        differs = counts["better"] + counts["worse"] + counts["different"]
        if differs:
            return "bad", "✗ The same twice, and a difference: this machine does not stay the same"
        return "good", "✓ The same twice, and no difference"
    only = next(iter(by_variant.values()))
    if len(by_variant) == 1 and len(only) == 1:
        one = only[0]
        if one.disqualified:
            return "bad", f"✗ {one.variant} cannot win"
        return {
            "better": ("good", f"▲ {one.variant} is better"),
            "worse": ("bad", f"▼ {one.variant} is worse"),
            "different": ("open", f"◆ {one.variant} is different"),
            "equivalent": ("good", f"■ {one.variant} makes no difference that matters"),
            "inconclusive": ("open", f"● {one.variant}: inconclusive"),
        }[one.verdict]
    tone = "open"
    if counts["worse"] and not counts["better"]:
        tone = "bad"
    elif not counts["worse"] and (counts["better"] or counts["equivalent"] == counts.total()):
        tone = "good"
    return tone, ", ".join(f"{counts[word]} {word}" for word in _ORDER if counts[word])


def _foremost(by_variant: dict[str, list[Comparison]]) -> list[tuple[str, list[Comparison]]]:
    """All variants in their order; of very many those that say most."""
    found = list(by_variant.items())
    if len(found) > _MOST_VARIANTS:
        found.sort(key=lambda item: max(_weight(one) for one in item[1]), reverse=True)
    return found[:_MOST_VARIANTS]


def _weight(one: Comparison) -> tuple[bool, float]:
    return one.verdict in {"better", "worse", "different"}, abs(one.percent or 0.0)


def _told(page: StudyPage, own: list[Comparison]) -> str:
    """The sentence of a variant; of many figures how many went which way."""
    out = page.outcome.disqualified.get(own[0].variant)
    text = f"cannot win: {out.rstrip('.')}. " if out else ""
    if out and all(one.percent is None for one in own):
        return text.rstrip()
    if len(own) <= _MOST_FIGURES:
        first, *others = (sentence(one, page.study.margin) for one in own)
        return text + " ".join([first, *map(text_sentence, others)])
    counts = Counter(one.verdict for one in own)
    told = ", ".join(f"{word} in {counts[word]}" for word in _ORDER if counts[word])
    return f"{text}{told} of {len(own)} figures."


def _against(page: StudyPage, told: list[str]) -> list[str]:
    """What a reader must know before the figures; not again of variants that are ``told``."""
    out = page.outcome.disqualified
    made = [f"'{name}' cannot win: {why}" for name, why in out.items() if name not in told]
    made += [
        f"{named(one.metric)} of '{page.first.name}' drifted from run to run; see \"Runs over "
        'time".'
        for one in page.outcome.drift
        if one.certain
    ]
    if page.outcome.invalid:
        was = "was" if page.outcome.invalid == 1 else "were"
        made.append(f"{page.outcome.invalid} of {page.outcome.runs} runs {was} invalid.")
    if page.outcome.disturbed:
        was = "was" if page.outcome.disturbed == 1 else "were"
        made.append(
            f"{page.outcome.disturbed} of {page.outcome.runs} runs {was} disturbed. {DISTURBED} "
            f"{_alone(page)}"
        )
    missing = len(page.book.slots) - len({one.place for one in page.entries if one.counts})
    if missing:
        none = "no attempt was valid, or their variant was left out"
        why = none if page.ended == ALL_MADE else page.ended
        made.append(f"{missing} of {len(page.book.slots)} planned runs have no result: "
                    f"{why}. {page.resume}".rstrip())  # fmt: skip
    return made


def _alone(page: StudyPage) -> str:
    """Whether the valid runs alone say the same."""
    told = {(one.variant, one.metric): one for one in page.headline}
    few = sum(one.percent is None for one in page.outcome.undisturbed)
    other = sum(
        one.percent is not None and one.verdict != told[one.variant, one.metric].verdict
        for one in page.outcome.undisturbed
    )
    count = len(page.outcome.undisturbed)
    if few == count:
        return "Too few valid runs remain for a result without them."
    if few or other:
        many = [f"{other} with another verdict"] if other else []
        many += [f"{few} with too few runs"] if few else []
        return f"By valid runs alone, {' and '.join(many)} of {count} comparisons."
    return "Valid runs alone give the same verdicts."


def _meta(page: StudyPage, *, named: bool) -> str:
    """When and how much; the study's name too, unless the heading is it."""
    study = page.study
    words = [] if named else [f"Study {study.name}"]
    if page.entries:
        words.append(moment(int(page.entries[0].started * 1e9)))
        took = max(one.ended for one in page.entries) - page.entries[0].started
        words.append(f"took {seconds(took)}")
    words.append(f"{page.outcome.runs} runs of {len(study.variants)} variants")
    # Why it ended early is a long sentence, which stands among the warnings.
    words.append("ended early" if page.state.kind == "early" else page.ended)
    return " · ".join(words)
