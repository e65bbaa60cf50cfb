"""The summary for a terminal: at most ten lines of 80 columns, plus the reasons.

Comparisons of volumes may be longer.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from dyno.bundle import check_names, metrics
from dyno.bundle.model import CriterionResult, Estimate, Finding
from dyno.bundle.reader import Bundle
from dyno.contracts.databases import workload_of
from dyno.report.kit.formats import (
    VERDICTS,
    bytes_text,
    decimal_bytes,
    fixed,
    rounded,
    seconds,
)
from dyno.report.run import (
    capacity,
    certify,
    devices,
    freshness,
    mix,
    transactions,
    volumes,
    watched,
)
from dyno.report.run.cache import word as word_of
from dyno.report.run.maintenance import costs
from dyno.report.run.page import Page
from dyno.report.run.steps import database_of
from dyno.report.run.trials import by_database, missing, scores, trials
from dyno.report.run.trials import unit as unit_of
from dyno.report.storage.lines import lines as storage_lines
from dyno.safety.plainjson import finite
from dyno.safety.text import plain

COLUMNS = 80
MOST_LINES = 10
_STORAGE_LINES = 3
"""Lines for storage; a profile with more extends the summary."""

_LABEL = 14
_MOST_REASONS = 5
"""More reasons are only counted."""
_REASON_LINES = 4
"""Lines per reason: Dyno's own need three; a foreign bundle's may be of any length."""


def summary(
    bundle: Bundle, estimates: Iterable[Estimate], findings: Iterable[Finding]
) -> list[str]:
    """The verdict, a line per measured part, and the notices."""
    page = Page.of(bundle, estimates, findings)
    storage = _storage(page)
    mixed = [line for label, text in mix.lines(page) for line in _wrapped(label, text)]
    lines = [
        _head(page),
        *storage,
        *(_line(label, text) for label, text in watched.lines(page)),
        _line("Loads", _loads(page)),
        _line("Load rate", _rates(page)),
        _line("Queries", _queries(page)),
        _line("Streams", _streams(page)),
        _line("Freshness", freshness.line(page)),
        _line("Intervals", certify.line(page)),
        _line("Transactions", transactions.line(page, COLUMNS - _LABEL)),
        *mixed,
        _line("Maximum", capacity.line(page)),
        *_wrapped("Criteria", _criteria(page)),
        *_wrapped("Maintenance", _maintenance(page)),
        _line("Checks", _checks(page)),
        # Last: the first to go where lines are many.
        _line("Volumes", "" if page.run.validity.reasons else volumes.line(page)),
    ]
    notices, reasons = _notices(page), _reasons(page)
    why = [] if reasons else _why(page)
    most = MOST_LINES + max(0, len(storage) - _STORAGE_LINES) - len(notices) - len(why)
    most += len(mixed)
    kept = [line for line in lines if line][: max(1, most)]
    return [*kept, *(reasons or why), *notices]


def _cut(text: str, columns: int = COLUMNS) -> str:
    # Many console fonts lack the narrow no-break space.
    text = plain(text.replace("\N{NARROW NO-BREAK SPACE}", " "))
    return text if len(text) <= columns else f"{text[: columns - 1].rstrip()}…"


def _line(label: str, text: str) -> str:
    return _cut(f"{label:<{_LABEL}}{text}") if text else ""


def _head(page: Page) -> str:
    head = f"{VERDICTS[page.run.validity.verdict]}  {page.run.verb} {page.run.run}"
    machine = _machine(page)
    return _cut(f"{head}, {machine}" if machine else head)


def _reasons(page: Page) -> list[str]:
    """The reasons why the run is not valid."""
    reasons = page.run.validity.reasons
    if len(reasons) == 1:
        return _wrapped("Reason", reasons[0].message, _REASON_LINES)
    lines: list[str] = []
    for place, reason in enumerate(reasons[:_MOST_REASONS]):
        label = f"{len(reasons)} reasons" if place == 0 else ""
        lines += _wrapped(label, f"{place + 1}. {reason.message}", _REASON_LINES)
    more = len(reasons) - _MOST_REASONS
    return [*lines, _line("", f"{more} more in the report")] if more > 0 else lines


def _why(page: Page) -> list[str]:
    """The bottleneck of a valid run, wrapped to at most two lines."""
    if page.verdict is not None and page.verdict.verdict is not None:
        # Validity and criteria have lines of their own.
        verdict = page.verdict.verdict
        if page.run.verb == "io" and not verdict.limits:
            return []  # a storage profile measures storage only
        label, text = (
            ("Bottleneck", verdict.limits) if verdict.limits else ("Verdict", verdict.measured)
        )
    elif page.verdict is not None:  # judged by an earlier version
        label, text = "Verdict", page.verdict.message
    else:
        return []
    return _wrapped(label, text)


def _wrapped(label: str, text: str, most: int = 2) -> list[str]:
    """A label and its text, wrapped to at most ``most`` lines."""
    text = plain(text.replace("\N{NARROW NO-BREAK SPACE}", " "))
    wrapped = textwrap.wrap(text, COLUMNS - _LABEL, max_lines=most, placeholder=" …")
    return [f"{label if not place else '':<{_LABEL}}{part}" for place, part in enumerate(wrapped)]


def _machine(page: Page) -> str:
    host = page.run.host
    words: list[str] = []
    cpu, memory, storage = (host.get(name) for name in ("cpu", "memory", "storage"))
    if isinstance(cpu, dict) and isinstance(cpu.get("logical"), int):
        words.append(f"{cpu['logical']} CPUs")
    if isinstance(memory, dict) and (total := finite(memory.get("total_bytes"))) is not None:
        words.append(bytes_text(total))
    if page.run.targets and not devices.in_output(page.run):
        words.append(devices.short(page.run))
    elif isinstance(storage, dict) and storage.get("fs_type"):
        words.append(f"{storage['fs_type']} on {storage.get('disk') or storage.get('fs_source')}")
    elif isinstance(storage, dict) and storage.get("device"):
        words.append(str(storage["device"]))
    return ", ".join(words)


def _storage(page: Page) -> list[str]:
    lines = storage_lines(page)
    return [_line("" if place else "Storage", line) for place, line in enumerate(lines)]


def _loads(page: Page) -> str:
    words: dict[str, None] = {}
    for phase in page.phases("load"):
        workload = database_of(phase)
        took = page.value(metrics.Load(workload, phase.target).seconds)
        if took is not None:
            own = workload_of(workload)
            days, scale = page.days(own), page.scale(own)
            size = "" if days is None else f" {scale:g}, {days} days,"
            words[f"{workload}{size} {page.title(phase.target)} {seconds(took)}"] = None
    return ", ".join(words)


def _rates(page: Page) -> str:
    """Load rates by number of streams, if there are several."""
    words: list[str] = []
    for workload, target in page.loads:
        rates = page.load_rates(workload, target)
        if len(rates) > 1:
            shown = ", ".join(f"{item.streams}: {rounded(item.gb_per_h)}" for item in rates)
            words.append(f"{page.title(target)} GB/h by streams {shown}")
    return "; ".join(words)


def _queries(page: Page) -> str:
    words: list[str] = []
    for target in page.query_targets:
        total = page.value(metrics.Queries(target).power_total_s)
        text = "incomplete" if total is None else f"{fixed(total, 2 if total < 10 else 1)} s"
        words.append(f"{page.title(target)} {text}")
    if not words:
        return ""
    scale = page.query_scale
    # Warm caches are the default.
    caches = {"first": "first pass", "cold": "cold", "cold-each-query": "each cold"}
    how = caches.get(word_of(page.run) or "")
    parts = [*([] if scale is None else [f"SF {scale:g}"]), *([] if how is None else [how])]
    at = f"{', '.join(parts)}: " if parts else ""
    for other in page.query_targets[1:]:
        ratio = page.value(metrics.QueriesPair(page.query_targets[0], other).geomean_ratio)
        if ratio:
            words.append(f"{rounded(ratio)}x (geometric mean)")
    return at + ", ".join(words)


def _streams(page: Page) -> str:
    """Power, throughput and composite, or why they are missing."""
    reasons = missing(page)
    words: list[str] = []
    each: list[str] = []
    unit = ""
    for target in dict.fromkeys(trial.target for trial in trials(page)):
        parts = [f"{name} {rounded(value)}" for name, value in scores(page, target).items()]
        plain = page.value(metrics.Queries(target).throughput_score)
        if plain is not None:
            what = "throughput without refresh" if page.refreshes else "throughput"
            parts.append(f"{what} {rounded(plain)}")
        unit = unit_of(page, target) or unit
        if not parts and target in reasons:
            parts.append(reasons[target])
        if parts:
            words.append(", ".join(parts))
        apart = by_database(page, target)
        if apart:
            each.append(apart)
    found = " ".join(["; ".join(words), unit.split(" at ")[0]]).strip()
    return "; ".join(filter(None, [found, *each]))


def _criteria(page: Page) -> str:
    """Binding criteria and failures come first, because long lines are truncated."""
    named = _limits(page.criteria, "FAILED", binding=True)
    usual = _limits(page.criteria, "failed", binding=False)
    return "; ".join(
        [*([named] if named else []), *([f"default limits: {usual}"] if usual else [])]
    )


def _limits(criteria: Iterable[CriterionResult], word: str, *, binding: bool) -> str:
    results = [item for item in criteria if item.binding is binding]
    failed = [item for item in results if item.passed is False]
    kept = sum(item.passed is True for item in results)
    missing = sum(item.passed is None for item in results)
    limits = list(dict.fromkeys(item.criterion for item in failed))
    words = [
        f"{len(failed)} {word} ({', '.join(limits)})" if failed else "",
        f"{kept} passed" if kept else "",
        f"{missing} not evaluated" if missing else "",
    ]
    return ", ".join(word for word in words if word)


def _maintenance(page: Page) -> str:
    """Change in throughput, throughput before and during, duration, and space."""
    words: list[str] = []
    for cost in costs(page):
        phase = cost.phase
        which = phase.detail.database
        what = [
            f"{phase.detail.maintenance}",
            "" if which is None else f"of database {which}",
        ]
        if phase.detail.error or phase.status != "done":
            words.append(" ".join(filter(None, [*what, "FAILED"])))
            continue
        if phase.detail.estimate_only:
            at = metrics.Maintenance(phase.name)
            size = decimal_bytes(page.value(at.space_estimate_bytes))
            what.append(f"{size} of extra space estimated in {seconds(page.value(at.estimate_s))}")
            words.append(" ".join(filter(None, what)))
            continue
        if cost.change:
            what.append(f"{cost.change} %{', not significant' * cost.perhaps_none}")
        what += [f"({rates})" for rates in cost.rates]
        if cost.round_s is not None:
            what.append(f"in {seconds(cost.round_s)}")
        text = " ".join(filter(None, what))
        at = metrics.Maintenance(phase.name)
        peak, estimate = page.value(at.space_peak_bytes), page.value(at.space_estimate_bytes)
        if peak is not None and estimate is not None and (peak or estimate):
            text += f", {decimal_bytes(peak)} extra space, {decimal_bytes(estimate)} estimated"
        words.append(text)
    return "; ".join(words)


def _checks(page: Page) -> str:
    answers = page.answer_checks
    groups = {
        "answers": check_names.ANSWERS,
        "streams": (check_names.AMONG_STREAMS,),
        "order": (check_names.ORDER,),
        "conditions": (check_names.CONDITION,),
        "isolation": (check_names.ISOLATION,),
    }
    known = tuple(start for starts in groups.values() for start in starts)
    others = [check.passed for check in page.checks if not check.name.startswith(known)]
    results = {"data": others}
    for label, starts in groups.items():
        results[label] = [c.passed for c in page.checks if c.name.startswith(starts)]
    # Agreement among streams does not verify answers; a difference is an error.
    results["answers"] = [check.passed for check in answers]
    results["streams"] = [
        c.passed
        for c in page.checks
        if c.name.startswith(check_names.AMONG_STREAMS) and c not in answers
    ]
    warned = sum(1 for item in page.findings if item.level == "warning")
    parts = [
        _counts(results, "FAILED", passed=False),  # first: long lines are truncated
        _counts(results, "ok", passed=True),
        "answers not verified" if page.unproven else "",
        f"{warned} warning{'' if warned == 1 else 's'}" if warned else "",
    ]
    return "; ".join(part for part in parts if part)


def _counts(results: dict[str, list[bool | None]], word: str, *, passed: bool) -> str:
    """``data 64, answers 110 ok``."""
    found = {label: each.count(passed) for label, each in results.items() if passed in each}
    return (
        f"{', '.join(f'{label} {count}' for label, count in found.items())} {word}" if found else ""
    )


def _notices(page: Page) -> list[str]:
    return [
        line
        for notice in dict.fromkeys(page.run.notices)
        for line in textwrap.wrap(plain(notice), COLUMNS, max_lines=3, placeholder=" …")
    ]
