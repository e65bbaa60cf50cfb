"""The headline metrics, and what is missing."""

from __future__ import annotations

from dataclasses import replace

from dyno.bundle import check_names, metrics
from dyno.bundle.model import Check
from dyno.bundle.phases.maintenance import MaintenanceDetail
from dyno.report.kit.blocks import Block, Card, Cards, Note, Notes, Section
from dyno.report.kit.formats import fixed, rounded, seconds, users_title
from dyno.report.run import capacity, mix
from dyno.report.run.certify import combined, values
from dyno.report.run.maintenance import costs
from dyno.report.run.page import Page
from dyno.report.run.steps import loads_that_stayed, which
from dyno.report.run.trials import trials
from dyno.report.storage.answer import none_inside
from dyno.report.storage.curves import headlines, is_grid, load_title
from dyno.report.storage.lines import best_text
from dyno.report.storage.places import FilledSet, places

ORDER = 10

NARROW = "\N{NARROW NO-BREAK SPACE}"

_MOST_PLACES = 4
"""The most volume sets and fill levels of a storage profile with a group of cards each."""


def section(page: Page) -> Section | None:
    """Cards for storage, loads, queries, transactions and maintenance."""
    groups = [*_storage(page), *_loads(page), _queries(page)]
    groups += mix.cards(page) if mix.shown(page) else [_transactions(page)]
    groups += [_certificate(page), _maintenance(page)]
    blocks: list[Block] = [group for group in groups if group is not None]
    missing = _missing(page)
    if missing:
        blocks.append(Notes(missing))
    return Section("headlines", "Summary", blocks) if blocks else None


def _storage(page: Page) -> list[Cards]:
    """A group for each volume set at each fill level; with many, only the first metric of each."""
    found = places(page)
    groups = [(place, _of_place(place)) for place in found]
    if len(found) > _MOST_PLACES:
        firsts = [
            replace(cards[0], label=place.title, detail=f"{cards[0].label}, {cards[0].detail}")
            for place, cards in groups
            if cards
        ]
        return [Cards("Storage", firsts)] if firsts else []
    return [Cards(f"Storage{place.of}", cards) for place, cards in groups if cards]


def _of_place(place: FilledSet) -> list[Card]:
    ceiling = place.volume_set.ceiling
    cards: list[Card] = []
    for curve in headlines(place.curves):
        best = curve.best
        if best is None:
            continue
        bound = curve.metric == "iops" or best.confirmed is not None
        words = [curve.size] if is_grid(place.curves) else []
        if bound:
            words.append(f"{ceiling.of} ≤ {rounded(ceiling.ms)} ms")
        at = "–" if best.load is None else load_title(best.load)
        words.append(at if bound else f"at {at}")
        detail = ", ".join(words)
        if best.low is not None and best.high is not None:
            detail += f"; 95{NARROW}%: {rounded(best.low)} to {rounded(best.high)}"
        if best.confirmed == 0:
            detail += "; not confirmed"
        cards.append(Card(curve.kind, rounded(best.value), curve.unit, detail))
    return cards + [
        Card(curve.kind, "–", curve.unit, best_text(curve, ceiling)) for curve in none_inside(place)
    ]


def _loads(page: Page) -> list[Cards]:
    """Cards for a load-only run; other runs show loads in a section."""
    groups: dict[str, list[Card]] = {}
    for phase in [] if page.query_targets or page.levels else loads_that_stayed(page):
        workload = metrics.loaded(phase)
        at = metrics.Load(workload, phase.target)
        took, speed = page.value(at.seconds), page.value(at.gb_per_h)
        if took is None:
            continue
        index = page.value(metrics.Index(workload, phase.target).seconds)
        then = "" if index is None else f"then {seconds(index)} for keys, indexes, statistics"
        title = f"{page.title(phase.target)}{which(phase)}"
        cards = groups.setdefault(str(phase.detail.workload), [])
        cards.append(Card(f"{title}, load", fixed(took, 2 if took < 10 else 1), "s", then))
        if speed is not None:
            streams = phase.detail.streams
            with_ = "" if streams is None else f"with {streams:g} stream{'s'[: streams != 1]}"
            cards.append(Card(f"{title}, load rate", rounded(speed), "GB/h", with_))
    return [
        Cards(f"Load of {workload}{_at(page, workload)}", cards, page.notice(workload))
        for workload, cards in groups.items()
    ]


def _at(page: Page, workload: str) -> str:
    scale = page.scale(workload)
    return "" if scale is None else f", scale {scale:g}"


def _queries(page: Page) -> Cards | None:
    cards: list[Card] = []
    for target in page.query_targets:
        total = page.value(metrics.Queries(target).power_total_s)
        name = "" if page.queried is None else page.queried.name
        loaded = page.value(metrics.Load(name, target).seconds)
        detail = f"loaded in {seconds(loaded)}" if loaded is not None else ""
        done = page.value(metrics.Queries(target).queries_done) or 0
        label = f"{page.title(target)}, {done:.0f} {'query' if done == 1 else 'queries'}"
        if total is None:
            cards.append(Card(label, "–", "", "queries missing: no total"))
        else:
            cards.append(Card(label, fixed(total, 2 if total < 10 else 1), "s", detail))
        cards += _full_test(page, target)
    streamed = dict.fromkeys(trial.target for trial in trials(page))
    for target in [one for one in streamed if one not in page.query_targets]:
        cards += _full_test(page, target)
    for other in page.query_targets[1:]:
        first = page.query_targets[0]
        ratio = page.value(metrics.QueriesPair(first, other).geomean_ratio)
        if ratio:
            ahead, behind = (other, first) if ratio >= 1 else (first, other)
            cards.append(
                Card(
                    f"{page.title(ahead)} against {page.title(behind)}",
                    rounded(max(ratio, 1 / ratio)),
                    "× faster",
                    "geometric mean of the queries",
                )
            )
    if not cards:
        return None
    match = page.answers_equal
    if match is not None:
        cards.append(_proof("Answers", "equal" if match else "differ", page.answer_checks))
    elif page.unproven:
        cards.append(Card("Answers", "–", "", "not verified: no expected answers for this data"))
    scale = page.query_scale
    at = "" if scale is None else f", scale factor {scale:g}"
    named = f": {page.own_title}" if page.own_title else ""
    return Cards(f"Decision support{named}{at}", cards, page.query_notice)


def _full_test(page: Page, target: str) -> list[Card]:
    """The composite of power and throughput; only tests with both refresh functions have it.

    Workloads without such functions have the throughput alone.
    """
    at = metrics.Queries(target)
    alone = page.value(at.throughput_score)
    if not page.refreshes and alone is not None:
        title = f"{page.title(target)}, throughput"
        return [Card(title, rounded(alone), "queries/h", "of all streams")]
    power, rate, both = (page.value(key) for key in (at.power, at.throughput, at.composite))
    if both is None:
        return []
    within = f"power {rounded(power)}, throughput {rounded(rate)}"
    return [Card(f"{page.title(target)}, composite", rounded(both), "queries/h", within)]


def _transactions(page: Page) -> Cards | None:
    if page.search is not None:
        return capacity.cards(page)
    best = page.best_level
    if best is None:
        return None
    of = best.metrics
    at = users_title(best.phase.detail if best.phase else None, best.name)
    main = page.transactions
    p95 = page.value(of.operation(main.main).response("p95"))
    if any(one.detail.level == best.name for one in page.phases_of(MaintenanceDetail)):
        at += ", maintenance included"
    pace = f"unpaced, with {at}" if page.unpaced(best) else f"with {at}"
    cards = [
        Card("Transactions", rounded(page.value(of.tps)), "/s", f"with {at}"),
        Card(main.plural_title, rounded(page.value(of.per_min(main.plural))), "/min", pace),
    ]
    if p95 is not None:
        cards.append(Card(f"{main.title} response", rounded(p95), "ms", f"95th percentile, {at}"))
    holds = page.passed(check_names.CONDITION)
    if holds is not None:
        checks = [check for check in page.checks if check.name.startswith(check_names.CONDITION)]
        cards.append(_proof("Consistency", "pass" if holds else "FAIL", checks))
    count = f", {page.driven_scale}" if page.driven_scale else ""
    return Cards(f"Transactions{count}", cards, page.transaction_notice)


def _maintenance(page: Page) -> Cards | None:
    """The change in throughput during each maintenance operation."""
    cards: list[Card] = []
    workloads: list[str] = []
    for cost in costs(page):
        words = [*([cost.interval] if cost.interval else []), *cost.rates]
        if cost.round_s is not None:
            words.append(f"{seconds(cost.round_s)} per round")
        if cost.phase.detail.error is not None:
            words.append("failed")
        unit = "%" if cost.change else ""
        cards.append(Card(cost.phase.title, cost.change or "–", unit, ", ".join(words)))
        workloads.append(str(cost.phase.detail.workload))
    if not cards:
        return None
    notice = " ".join(filter(None, map(page.notice, dict.fromkeys(workloads))))
    return Cards("Throughput change during maintenance", cards, notice)


def _proof(label: str, word: str, checks: list[Check]) -> Card:
    held = sum(check.passed is True for check in checks)
    made = sum(check.passed is not None for check in checks)
    return Card(label, word, "", f"{held} of {made} checks passed")


def _certificate(page: Page) -> Cards | None:
    """A card for the last interval of each target, which has all queries."""
    cards = [
        Card(f"{name}, {phase.detail.test}", rounded(found["queries_per_h"]),
             "queries/h", f"{rounded(found['physical_mbps'])} MB/s from storage")
        for name, phase in combined(page).items()
        for found in [values(page, phase)]
    ]  # fmt: skip
    return Cards("Certificate", cards) if cards else None


def _missing(page: Page) -> list[Note]:
    """Phases that did not complete, and kinds of results the run does not have."""
    notes = [
        Note(f"{phase.title} did not complete: {phase.status}.", "bad")
        for phase in page.run.phases
        if phase.status != "done"
    ]
    parts = {
        "Storage": bool(places(page)),
        "Decision support": bool(page.query_targets or page.phases("dss")),
        "Transactions": bool(page.levels),
    }
    asked = page.run.verb not in {"io", "watch", "certify"}  # which do nothing else
    absent = [part for part, there in parts.items() if not there and asked]
    if absent:
        notes.append(Note(f"Not in this run: {', '.join(absent).lower()}.", "muted"))
    return notes
