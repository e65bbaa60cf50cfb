"""Method: order, pairs, statistics, versions, commands."""

from __future__ import annotations

from dyno import __version__
from dyno.report.kit.blocks import Block, Code, Fact, Facts, Section, Text
from dyno.report.kit.formats import seconds
from dyno.report.study.page import StudyPage
from dyno.studies import asked

ORDER = 100

_RESET = {
    "nothing": "nothing: what the run before left is there",
    "restart": "restart the server",
    "cold": "restart the server and drop its caches",
    "reload": "restore the data to its state after the load",
}
_METHODS = {
    "student": "Hodges-Lehmann estimate of the log ratios of the pairs, with a Student t interval; "
    "up to 5 pairs it includes at least the smallest and the largest shift",
    "hodges-lehmann": "Hodges-Lehmann estimate of the log ratios of the pairs, with the interval "
    "of the signed-rank test",
}
_MOST_COMMANDS = 64


def section(page: StudyPage) -> Section | None:
    """Facts on design and statistics, then the command lines."""
    study = page.study
    methods = dict.fromkeys(one.method for one in page.outcome.comparisons if one.method)
    facts = [
        Fact(
            "Order",
            f"{len(page.book.slots)} planned runs, {study.pairs} per variant, in randomised blocks "
            f"with alternating order (ABBA); seed {study.seed}.",
        ),
        Fact("Before each run", f"{_RESET.get(study.reset, study.reset)}."),
        Fact("Parameters", "The runs of a pair use the same random parameters, from a seed derived "
             "from the study's seed and the pair's number. Pairs share no random numbers."),
        Fact(
            "Invalid runs",
            f"They do not count and are repeated, at most {study.replace} in total. This page "
            "lists all of them.",
        ),
        Fact("End", f"{page.ended}{_limit(page)}."),
    ]  # fmt: skip
    facts += [Fact("Shift", f"{_METHODS.get(name, name)}.") for name in methods]
    facts += [
        Fact(
            "Multiple comparisons",
            "Headline metrics: Holm's method, which controls the family-wise error rate. Other "
            "metrics: Benjamini-Hochberg, which controls the false discovery rate.",
        ),
        *_confidence(page),
        Fact("Margin", f"±{study.margin:g} %: a shift within it is irrelevant in practice."),
        Fact("Drift", "Theil-Sen slope of the baseline's log values over its runs."),
        Fact("Dyno", ", ".join(_versions(page))),
    ]
    facts += [Fact(f"Target of {name}", text) for name, text in _targets(page).items()]
    blocks: list[Block] = [Facts(facts), Text("Commands", "\n".join(_commands(page)))]
    if study.source == "preset":
        blocks.insert(0, Code(f"dyno study {study.name}"))
    lead = (
        "From the study's journal and the bundles of its runs; `dyno study show` rebuilds the page."
    )
    return Section("method", "Method", blocks, lead)


def _confidence(page: StudyPage) -> list[Fact]:
    """The confidence level of the intervals: above 95 % if a study may end early."""
    held = [one.confidence for one in page.outcome.comparisons if one.confidence is not None]
    if not held:
        return []
    low, high = (f"{100 * one:.3g}" for one in (min(held), max(held)))
    made = f"{low} %" if low == high else f"{low} to {high} %"
    return [
        Fact(
            "Intervals",
            f"Confidence level {made}, for the median shift (the pseudo-median: the median of all "
            "pairwise averages). In simulations, coverage is 92 to 98 % from 5 pairs on, also with "
            "skewed noise; 90 % with 3 or 4 pairs and strong skew; less if a variant has a rare "
            "second mode. The intervals do not cover the mean of skewed noise.",
        )
    ]


def _limit(page: StudyPage) -> str:
    limit = page.study.time_limit_s
    return "" if limit is None else f"; no pair starts after {seconds(limit)}"


def _versions(page: StudyPage) -> list[str]:
    made = dict.fromkeys(bundle.run.dyno for bundle in page.bundles.values())
    return [*(f"runs by {version}" for version in made), f"this page by {__version__}"]


def _targets(page: StudyPage) -> dict[str, str]:
    """Product and version by variant; one entry if all are the same."""
    found = {
        name: ", ".join(dict.fromkeys(f"{facts.version}" for facts in bundle.run.targets.values()))
        for name, bundle in page.bundles.items()
    }
    known = {name: text for name, text in found.items() if text}
    if len(set(known.values())) == 1 and len(known) > 1:
        return {"all variants": next(iter(known.values()))}
    return {f"'{name}'": text for name, text in list(known.items())[:_MOST_COMMANDS]}


def _commands(page: StudyPage) -> list[str]:
    """The load and run commands of each variant."""
    lines: list[str] = []
    for variant in page.study.variants[:_MOST_COMMANDS]:
        lines.append(f"# {variant.name}")
        lines += asked.typed(variant, page.study)
    return lines
