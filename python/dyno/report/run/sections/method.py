"""How the metrics are defined and computed."""

from __future__ import annotations

from dyno.report.kit.blocks import Column, Fact, Facts, Section, Table
from dyno.report.run.page import Page
from dyno.report.storage.method import method

ORDER = 100


def section(page: Page) -> Section | None:
    """Definitions of the metrics, and the rules behind the verdict."""
    facts: list[Fact] = []
    facts += method(page)
    if page.query_targets:
        facts.append(
            Fact(
                "Query seconds",
                "From submission to the last row. All targets hold the same generated data. Dyno "
                "compares answers between targets, and with published answers if available.",
            )
        )
    if page.levels:
        facts += [
            Fact(
                "Response and service time",
                "Response time: from the intended start to the end. Service time: from the send to "
                "the end. The difference is queueing.",
            ),
            Fact(
                "Throughput",
                "Commits, and rollbacks that the workload prescribes, in the measured window. New "
                "orders per minute count commits only.",
            ),
        ]
    if page.criteria:
        facts.append(
            Fact(
                "Criteria",
                "A limit passes if the value of the whole window is within it; violations by "
                "interval are listed. Volume latencies are means over requests, from queueing to "
                "completion. CPU is that of the whole machine.",
            )
        )
    if page.search is not None:
        facts.append(
            Fact(
                "Maximum within limits",
                "The load grows geometrically until a limit fails. Then bisection (geometric mean) "
                "narrows the gap to 5 % or one user. The maximum must pass two windows. An "
                "unsteady window is repeated with a longer duration.",
            )
        )
    if any(page.value(level.metrics.left_out_s) is not None for level in page.levels):
        facts.append(
            Fact(
                "Until steady",
                "The level was extended until MSER-5 and a trend test found the last --duration "
                "steady. Earlier intervals stay in the bundle, marked as settling. What the driver "
                "counts without intervals includes them: its schedule, its CPU time, the write "
                "lock and page caches.",
            )
        )
    facts += [
        Fact(
            "Percentiles",
            "From merged histograms with three significant digits; never averaged.",
        ),
        Fact("Units", "MB and GB are powers of ten, MiB and GiB powers of two."),
        Fact(
            "Bottlenecks",
            "The most utilised resource of one run. A likely cause, not a proven one.",
        ),
        Fact("All metrics", "estimates.json in the bundle has each with its formula or file."),
    ]
    return Section("method", "Method", [Facts(facts), *_rules(page)], folded=True)


def _rules(page: Page) -> list[Table]:
    """The validity rules and the bottleneck rules."""
    captions = {
        "validity": ("Validity rules", "Why"),
        "limit": ("Bottleneck rules", "Meaning"),
    }
    return [
        Table(
            caption,
            [Column("Rule"), Column("Condition", wide=True), Column(why, wide=True)],
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
