"""How the figures came about, and what they must not be taken for."""

from __future__ import annotations

from dyno.report.kit.blocks import Column, Fact, Facts, Section, Table
from dyno.report.run.page import Page
from dyno.report.storage.method import method

ORDER = 100


def section(page: Page) -> Section | None:
    """Definitions of what the sheet shows, and the rules that it was judged by."""
    facts: list[Fact] = []
    facts += method(page)
    if page.query_targets:
        facts.append(
            Fact(
                "Query seconds",
                "From submission to the last row. The same generated data in every target; "
                "answers are compared between targets, and with published ones where there are.",
            )
        )
    if page.levels:
        facts += [
            Fact(
                "Response and service time",
                "Response runs from the intended start to the end, service from the send to the "
                "end. They differ where a transaction had to wait for its turn.",
            ),
            Fact(
                "Throughput",
                "Commits and the rollbacks that the workload prescribes, in the measured window "
                "only. New orders per minute count commits.",
            ),
        ]
    if page.criteria:
        facts.append(
            Fact(
                "Criteria",
                "A limit is kept if the figure of the whole window is inside it; intervals beyond "
                "it are told. Latencies of volumes are means over requests, from queueing to "
                "completion; CPU is the whole machine's.",
            )
        )
    if page.search is not None:
        facts.append(
            Fact(
                "The most inside the limits",
                "The load grows by a factor until a limit breaks; then the geometric middle of "
                "what passes and what fails is tried, until the gap is within 5 % (or one user). "
                "The largest load must pass two windows. A window that is not steady is measured "
                "again, longer.",
            )
        )
    if any(page.value(level.metrics.left_out_s) is not None for level in page.levels):
        facts.append(
            Fact(
                "Until steady",
                "The level went on until MSER-5 and a slope test found its end steady for as long "
                "as asked. What came before stays in the bundle, marked as settling.",
            )
        )
    facts += [
        Fact(
            "Percentiles",
            "Read off merged histograms of three significant digits; never averaged.",
        ),
        Fact("Units", "MB and GB are powers of ten, MiB and GiB powers of two."),
        Fact(
            "Limits",
            "Named from one run by the most utilised resource. They are likely causes, not "
            "proven ones.",
        ),
        Fact("Every figure", "estimates.json in the bundle holds each with its formula or file."),
    ]
    return Section("method", "Method", [Facts(facts), *_rules(page)], folded=True)


def _rules(page: Page) -> list[Table]:
    """The rules of the judgement, those on validity and those on what limits."""
    captions = {
        "validity": ("When figures may not be believed", "Why"),
        "limit": ("When something is named as the limit", "What it means"),
    }
    return [
        Table(
            caption,
            [Column("Rule"), Column("Holds when", wide=True), Column(why, wide=True)],
            [
                (rule.code.replace("-", " "), rule.definition, rule.explanation)
                for rule in page.rules
                if rule.about == about
            ],
            folded=True,
        )
        for about, (caption, why) in captions.items()
        if any(rule.about == about for rule in page.rules)
    ]
