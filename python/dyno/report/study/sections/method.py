"""How the answer came about: order, pairs, statistics, versions, commands."""

from __future__ import annotations

from dyno import __version__
from dyno.report.kit.blocks import Block, Code, Fact, Facts, Section, Text
from dyno.report.kit.formats import seconds
from dyno.report.study.page import StudyPage
from dyno.studies import asked

ORDER = 100

_RESET = {
    "nothing": "nothing: what the run before left is there",
    "restart": "the server is started again",
    "cold": "the server is started again and its caches are empty",
    "reload": "the data is what it was after the load",
}
_METHODS = {
    "student": "the Hodges-Lehmann estimate of the logarithms of the pairs' ratios, with Student's "
    "interval; up to 5 pairs it reaches to the smallest and the largest shift at least",
    "hodges-lehmann": "the Hodges-Lehmann estimate of the logarithms of the pairs' ratios, with "
    "the interval of the signed-rank test",
}
_MOST_COMMANDS = 64


def section(page: StudyPage) -> Section | None:
    """Facts on design and statistics; then the command lines."""
    study = page.study
    methods = dict.fromkeys(one.method for one in page.outcome.comparisons if one.method)
    facts = [
        Fact(
            "Order",
            f"{len(page.book.slots)} runs planned, {study.pairs} of each variant, in blocks by "
            f"lot, there and back; seed {study.seed}.",
        ),
        Fact("Before each run", f"{_RESET.get(study.reset, study.reset)}."),
        Fact("Parameters", "The runs of a pair draw the same: their seed is derived from the "
             "study's and the pair's number. Different pairs share no random numbers."),
        Fact(
            "Invalid runs",
            f"They do not count, and are made again, {study.replace} at most in all. None of them "
            "is left out here.",
        ),
        Fact("End", f"{page.ended}{_limit(page)}."),
    ]  # fmt: skip
    facts += [Fact("Shift", f"{_METHODS.get(name, name)}.") for name in methods]
    facts += [
        Fact(
            "Many questions",
            "Headline figures are adjusted by Holm's method, which keeps the chance of any false "
            "yes; others by Benjamini's and Hochberg's, which keeps the share of false ones.",
        ),
        *_confidence(page),
        Fact("Margin", f"±{study.margin:g} %: a shift within it does not matter."),
        Fact("Drift", "Theil's and Sen's slope of the first variant's logarithms over its runs."),
        Fact("Dyno", ", ".join(_versions(page))),
    ]
    facts += [Fact(f"Target of {name}", text) for name, text in _targets(page).items()]
    blocks: list[Block] = [Facts(facts), Text("Commands", "\n".join(_commands(page)))]
    if study.source == "preset":
        blocks.insert(0, Code(f"dyno study {study.name}"))
    lead = (
        "From the book of the study and the bundles of its runs; `dyno study show` does it again."
    )
    return Section("method", "Method", blocks, lead)


def _confidence(page: StudyPage) -> list[Fact]:
    """At what the intervals were made: more than 95 % where a study may end early."""
    held = [one.confidence for one in page.outcome.comparisons if one.confidence is not None]
    if not held:
        return []
    low, high = (f"{100 * one:.3g}" for one in (min(held), max(held)))
    made = f"{low} %" if low == high else f"{low} to {high} %"
    return [
        Fact(
            "Intervals",
            f"Made at {made}. They cover the median shift: the pseudo-median, which half of the "
            "averages of two pairs' shifts lie above. With 5 pairs and more 92 to 98 % of "
            "simulated studies cover it, also where one variant's noise is skewed; 90 % with 3 or "
            "4 pairs and much skew, and fewer where one variant has a second, rarer mode. They do "
            "not cover the mean of skewed noise.",
        )
    ]


def _limit(page: StudyPage) -> str:
    limit = page.study.time_limit_s
    return "" if limit is None else f"; no pair begins after {seconds(limit)}"


def _versions(page: StudyPage) -> list[str]:
    made = dict.fromkeys(bundle.run.dyno for bundle in page.bundles.values())
    return [*(f"runs by {version}" for version in made), f"this page by {__version__}"]


def _targets(page: StudyPage) -> dict[str, str]:
    """Product and version under each variant; once where all have the same."""
    found = {
        name: ", ".join(dict.fromkeys(f"{facts.version}" for facts in bundle.run.targets.values()))
        for name, bundle in page.bundles.items()
    }
    told = {name: text for name, text in found.items() if text}
    if len(set(told.values())) == 1 and len(told) > 1:
        return {"every variant": next(iter(told.values()))}
    return {f"'{name}'": text for name, text in list(told.items())[:_MOST_COMMANDS]}


def _commands(page: StudyPage) -> list[str]:
    """The load and the first run of each variant, as they would be typed."""
    lines: list[str] = []
    for variant in page.study.variants[:_MOST_COMMANDS]:
        lines.append(f"# {variant.name}")
        lines += asked.typed(variant, page.study)
    return lines
