"""Several workloads or targets at once: what the page, the summary and the document show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dyno import workloads
from dyno.bundle import check_names, metrics, mixes
from dyno.bundle.model import Estimate, Phase
from dyno.bundle.phases.mix import Member, MixDetail
from dyno.contracts.transactions import Transactions
from dyno.report.kit.blocks import Card, Cards
from dyno.report.kit.formats import rounded, seconds, with_unit
from dyno.report.run.levels import bounds
from dyno.report.run.page import Page


@dataclass(frozen=True)
class Shown:
    """A member in a window.

    Attributes:
        window: The window.
        member: The member.
        at: Its metrics.
    """

    window: Phase[MixDetail]
    member: Member
    at: metrics.MixMember

    @property
    def name(self) -> str:
        """Its name in the run; the workload of the only member on the only target."""
        return str(self.member.name or self.member.workload)

    @property
    def drives(self) -> bool:
        """Whether it has transactions."""
        return self.member.level is not None

    @property
    def main(self) -> Transactions:
        """The operations of its workload."""
        return workloads.driven([str(self.member.workload)])

    def load(self) -> str:
        """``8 users``, ``2 streams``."""
        count, word = self.member.users or 0, "user" if self.drives else "stream"
        return f"{count:g} {word}{'s'[: count != 1]}"

    def rate(self, page: Page) -> tuple[float | None, str]:
        """Its throughput and the unit."""
        if self.drives:
            return page.value(self.at.tps), "transactions/s"
        return page.value(self.at.queries_per_h), "queries/h"

    def times(self, page: Page) -> tuple[str, str]:
        """Median and 95th percentile of its response times."""
        if self.drives:
            found = (page.value(self.at.p50_ms), page.value(self.at.p95_ms))
            p50, p95 = (None if value is None else value / 1000 for value in found)
        else:
            p50, p95 = page.value(self.at.p50_s), page.value(self.at.p95_s)
        return seconds(p50), seconds(p95)

    def failed(self, page: Page) -> float | None:
        """Failed transactions of its level, or queries in the window."""
        if self.drives:
            return page.value(metrics.Level(self.member.level).errors)
        return page.value(self.at.queries_failed)


@dataclass(frozen=True)
class Against:
    """A member among the others, against itself alone.

    Attributes:
        throughput, p95: Changes in %; None if they were not measured.
    """

    name: str
    pairs: int
    throughput: Estimate | None
    p95: Estimate | None


def shown(page: Page, *, alone: bool | None = None) -> list[Shown]:
    """Every member of every window; of those of one kind only, if ``alone`` is not None."""
    return [
        Shown(window, member, metrics.MixWindow(window.detail.name).member(member.name))
        for window in mixes.windows(page.run)
        if alone is None or (window.detail.alone is not None) is alone
        for member in window.detail.members
    ]


def against(page: Page) -> list[Against]:
    """The slowdown of each member that was also measured by itself."""
    found: list[Against] = []
    for name in metrics.Slowdown.members(page.known):
        at = metrics.Slowdown(name)
        pairs = int(page.value(at.pairs) or 0)
        parts = page.estimate(at.throughput_percent), page.estimate(at.p95_percent)
        found.append(Against(name, pairs, *parts))
    return found


def totals(page: Page) -> list[tuple[str, metrics.MixTotal]]:
    """Workloads with a sum over targets, and its metrics."""
    found: list[tuple[str, metrics.MixTotal]] = []
    for window in mixes.together(page.run):
        named = dict.fromkeys(str(member.workload) for member in window.detail.members)
        scopes = [(name, metrics.MixTotal(window.detail.name, name)) for name in named]
        found += [(name, at) for name, at in scopes if page.value(at.targets) is not None]
    return found


def change(found: Estimate | None) -> str:
    """``-38 % (-42 to -33)``."""
    if found is None:
        return "–"
    text = f"{found.value:+.0f} %"
    if found.low is None or found.high is None:
        return text
    return f"{text} ({found.low:+.0f} to {found.high:+.0f})"


def ended(page: Page) -> str:
    """How members ended that did not run to their end."""
    return "interrupted" if page.run.status == "interrupted" else "failed"


def rounds(page: Page) -> list[Shown]:
    """The members of the first window with all of them."""
    first = next(iter(mixes.together(page.run)), None)
    return [one for one in shown(page, alone=False) if one.window is first]


def _has_rounds(page: Page) -> bool:
    return len({one.window.name for one in shown(page, alone=False)}) > 1


def lines(page: Page) -> list[tuple[str, str]]:
    """Labels and texts for a terminal: a line per member, per sum and per slowdown."""
    every = rounds(page)
    found: list[tuple[str, str]] = []
    many = _has_rounds(page)
    for one in every:
        value, unit = one.rate(page)
        p95 = one.times(page)[1]
        text = f"{one.name} {one.load()}: {rounded(value)} {unit}; p95 {p95}"
        if one.member.error is not None:
            text = f"{one.name}: {ended(page)}"
        found.append(("", text + (" (round 1)" if many else "")))
    for name, at in totals(page):
        parts = [f"{rounded(page.value(at.targets))} targets"]
        parts += [
            f"{rounded(value)} {unit}"
            for key, unit in (
                (at.tps, "transactions/s"),
                (at.queries, "queries"),
                (at.queries_per_h, "queries/h"),
            )
            if (value := page.value(key)) is not None
        ]
        found.append(("", f"{name}, sum of {', '.join(parts)}"))
    named = [("Together" if place == 0 else "", text) for place, (_, text) in enumerate(found)]
    slower = [
        f"{one.name} throughput {change(one.throughput)}, p95 {change(one.p95)}"
        for one in against(page)
    ]
    return [
        *named,
        *(("Vs alone" if place == 0 else "", text) for place, text in enumerate(slower)),
    ]


def cards(page: Page) -> list[Cards]:
    """A card for each member, each sum and the slowdown."""
    found: list[Card] = []
    many = _has_rounds(page)
    for one in rounds(page):
        value, unit = one.rate(page)
        label = f"{one.name}, {one.load()}{', round 1' if many else ''}"
        if one.member.error is not None:
            found.append(Card(label, "–", "", ended(page)))
        else:
            p95 = f"95th percentile {one.times(page)[1]}"
            found.append(Card(label, rounded(value), unit, p95))
    for name, at in totals(page):
        tps, rate, count = (page.value(key) for key in (at.tps, at.queries_per_h, at.queries))
        targets = f"{rounded(page.value(at.targets))} targets"
        words = f"{targets}, {count:,.0f} queries" if count is not None else targets
        unit = "transactions/s" if tps is not None else "queries/h"
        found.append(Card(f"{name}, sum", rounded(rate if tps is None else tps), unit, words))
    for one in against(page):
        value, _, interval = change(one.throughput).partition(" % ")
        words = ["throughput", *([interval] if interval else [])]
        detail = f"{' '.join(words)}; p95 {change(one.p95)}; "
        detail += f"{one.pairs} pair{'s'[: one.pairs != 1]} of windows"
        unit = "" if one.throughput is None else "%"
        found.append(Card(f"{one.name}, together vs alone", value.removesuffix(" %"), unit, detail))
    holds = page.passed(check_names.CONDITION)
    if holds is not None:
        found.append(Card("Consistency", "pass" if holds else "FAIL", "", "conditions of the data"))
    notices = dict.fromkeys(page.notice(str(one.member.workload)) for one in rounds(page))
    return [Cards("At the same time", found, " ".join(filter(None, notices)))] if found else []


def entry(page: Page) -> dict[str, Any] | None:
    """The windows, sums and slowdowns in the JSON document; None without several at once."""
    windows = mixes.windows(page.run)
    if not windows:
        return None
    every = shown(page)
    return {
        "windows": [_window(page, window, every) for window in windows],
        "totals": [
            {"workload": name, **{key.last: page.value(key) for key in _of_total(at)}}
            for name, at in totals(page)
        ],
        "slowdown": [
            {
                "member": one.name,
                "pairs": one.pairs,
                **{
                    f"{key.last}{suffix}": value
                    for key in (at.throughput_percent, at.p95_percent)
                    for suffix, value in (
                        ("", page.value(key)),
                        ("_interval", bounds(page, key)),
                    )
                },
            }
            for one in against(page)
            for at in [metrics.Slowdown(one.name)]
        ],
    }


def _of_total(at: metrics.MixTotal) -> tuple[metrics.Key, ...]:
    return (at.targets, at.tps, at.queries, at.queries_per_h)


def _window(page: Page, window: Phase[MixDetail], every: list[Shown]) -> dict[str, Any]:
    at = metrics.MixWindow(window.detail.name)
    return {
        "window": window.detail.name,
        "round": window.detail.round,
        "alone": window.detail.alone,
        "status": window.status,
        "common_s": page.value(at.common_s),
        "apart_s": page.value(at.apart_s),
        "members": [_member(page, one) for one in every if one.window is window],
    }


def _member(page: Page, one: Shown) -> dict[str, Any]:
    at, main = one.at, one.main
    keys = (
        (at.tps, at.per_min(main.plural), at.p50_ms, at.p95_ms)
        if one.drives
        else (at.queries, at.queries_failed, at.queries_per_h, at.p50_s, at.p95_s)
    )
    return {
        "member": one.member.name,
        "workload": one.member.workload,
        "target": one.member.target,
        "level": one.member.level,
        "users": one.member.users,
        "error": one.member.error,
        **{key.last: page.value(key) for key in keys},
    }


def load_text(page: Page, one: Shown) -> str:
    """Throughput with its unit."""
    value, unit = one.rate(page)
    return with_unit(value, unit)
