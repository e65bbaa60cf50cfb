"""The application gap as text: a table of at most 80 columns and an explanation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dyno.bundle import metrics
from dyno.bundle.metrics.gap import REFERENCES, Reference
from dyno.bundle.metrics.io import Rate
from dyno.bundle.model import Estimate, Finding, Phase, has_detail
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.report.kit.formats import (
    bytes_text,
    decimal_bytes,
    rounded,
    target_title,
    users_title,
)
from dyno.safety.text import plain

COLUMNS = 80
_LABEL, _TOOK, _SHARE = 24, 8, 11
_REST = (9, 10, 7)
_JOINT = "\N{NARROW NO-BREAK SPACE}"
_OF_STORAGE = ("storage", "synchronous-writes", "log", "data", "temp")
_MOST_PERCENT = 105.0
_OWN = 0.8
"""Below this share of the device's reads, others read from it too."""
_PATTERNS: dict[Reference, str] = {
    "sequential": "sequential",
    "random": "random",
    "mix": "of the mix",
}


@dataclass(frozen=True)
class Gap:
    """One phase of an application against the profile.

    Attributes:
        title: Its title.
        values: Its metrics by the last part of their names, such as ``application_mbps``.
        sources: The base of each share.
        limit: Its bottleneck; None if not analysed.
    """

    phase: Phase
    title: str
    at: metrics.Gap
    known: metrics.Estimates
    values: dict[str, float]
    sources: dict[Reference, str]
    limit: Finding | None

    def value(self, key: metrics.Key) -> float | None:
        """The value of one of its metrics, if there is one."""
        return self.known.value(key)

    @property
    def by_storage(self) -> bool | None:
        """Whether storage was the bottleneck; None if unknown."""
        if self.limit is None or self.limit.code == "limit-unattributed":
            return None
        return self.limit.code.removeprefix("limit-") in _OF_STORAGE

    @property
    def document(self) -> dict[str, Any]:
        """The phase as JSON."""
        return {
            "phase": self.phase.name,
            "title": self.title,
            "target": self.phase.target,
            **self.values,
            "profile": self.sources,
            "storage_set_the_pace": self.by_storage,
            "limit": None if self.limit is None else self.limit.message,
        }


def gaps(
    application: Bundle, estimates: Iterable[Estimate], findings: Iterable[Finding]
) -> list[Gap]:
    """The phases with gap metrics, in order."""
    limits = {item.phase: item for item in findings if item.code.startswith("limit-")}
    known = metrics.Estimates(estimates)
    found: list[Gap] = []
    for phase in application.run.phases:
        at = metrics.Gap(phase.name)
        own = known.of(at)
        if own:
            found.append(
                Gap(
                    phase,
                    title_of(application, phase),
                    at,
                    known,
                    {name: estimate.value for name, estimate in own.items()},
                    {
                        part: profile.source
                        for part in REFERENCES
                        if (profile := known.estimate(at.share(part).profile)) is not None
                    },
                    limits.get(phase.name),
                )
            )
    return found


def title_of(application: Bundle, phase: Phase) -> str:
    """``Power test PostgreSQL``, ``16 users PostgreSQL``."""
    what = {"power": "Power test", "throughput": "Throughput"}
    test = "Queries"
    if has_detail(phase, DssDetail):
        test = what.get(phase.detail.test or "power", test)
    elif has_detail(phase, OltpDetail):
        test = users_title(phase.detail, str(phase.detail.level))
    return f"{test} {target_title(application.run, phase.target)}"


def gap_lines(found: Sequence[Gap]) -> list[str]:
    """The tables of queries and transactions, and a paragraph per phase."""
    lines: list[str] = []
    queries = [one for one in found if one.phase.kind == "dss"]
    levels = [one for one in found if one.phase.kind != "dss"]
    if queries:
        lines += _table("MB/s", "mbps", queries, ("sequential", "random"))
    if levels:
        lines += [*([""] if lines else []), *_table("IOPS", "iops", levels, ("mix",))]
    for one in found:
        # No line break before %.
        text = plain(_why(one).replace(_JOINT, " ")).replace(" %", f"{_JOINT}%")
        lines += ["", *(line.replace(_JOINT, " ") for line in textwrap.wrap(text, COLUMNS))]
    return lines


def _table(unit: str, kind: Rate, found: Sequence[Gap], parts: Sequence[Reference]) -> list[str]:
    widths = (*(_SHARE for _ in parts), *_REST)
    heads = [*(_PATTERNS[part] for part in parts), "I/O size", "in flight", "writes"]
    lines = [f"{f'{unit} at the device':<{_LABEL + _TOOK}}{_row(heads, widths)}"]
    first = found[0]
    shares = [first.at.share(part) for part in parts]
    best = [rounded(first.value(share.profile)) for share in shares]
    known = next((one for one in shares if first.value(one.profile) is not None), shares[0])
    block = bytes_text(first.value(known.profile_io_bytes))
    depth = rounded(first.value(known.profile_depth))
    cells = _row([*best, block, depth, ""], widths)
    mix = first.sources.get("mix", "best").partition(",")[0].removeprefix("random ")
    lines.append(f"{f'Profile, {mix}':<{_LABEL + _TOOK}}{cells}")
    for one in found:
        at = one.at
        reached = [_percent(one.value(at.share(part).share_percent)) for part in parts]
        took = rounded(one.value(at.application(kind)))
        rest = [
            bytes_text(one.value(at.io_bytes)),
            rounded(one.value(at.queue_length)),
            _percent(one.value(at.write_percent)),
        ]
        label = _cut(one.title, _LABEL - 1)
        lines.append(f"{label:<{_LABEL}}{took:>{_TOOK}}{_row([*reached, *rest], widths)}")
    return [line.replace(_JOINT, " ").rstrip() for line in lines]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))


def _why(one: Gap) -> str:
    """The bottleneck, and the causes of the gap."""
    verdict = {
        True: "storage was the bottleneck",
        False: "storage was not the bottleneck",
        None: "bottleneck not identified",
    }[one.by_storage]
    words = [f"{one.title}: {verdict}."]
    if one.limit is not None and one.by_storage is not None:
        message = one.limit.message.partition(": ")[2]
        words.append(f"{message[:1].upper()}{message[1:]}")
    words += [f"{text}." for text in _reasons(one)]
    return " ".join(words)


def _reasons(one: Gap) -> Iterable[str]:
    value, at = one.value, one.at
    reached = (value(at.share(of).share_percent) for of in REFERENCES)
    shares = [share for share in reached if share is not None]
    if shares and min(shares) > _MOST_PERCENT:
        yield "It exceeded the profile, which had a smaller queue depth or other users of the disk"
    asked, cached = value(at.engine_read_bytes), value(at.cache_percent)
    read = value(at.device_read_bytes)
    if asked is not None and read is not None and asked < _OWN * read:
        yield (
            f"The device read {decimal_bytes(read)}, the engine only {decimal_bytes(asked)} of it; "
            "the rest is temporary files or other processes"
        )
    elif asked == 0:
        yield "The engine read nothing: its cache held the data"
    elif asked is not None and cached is not None and cached >= 1:
        yield (
            f"The page cache served {cached:.0f} % of the {decimal_bytes(asked)} that the engine "
            "read"
        )
    against = at.share("sequential" if one.phase.kind == "dss" else "mix")
    if value(against.profile_depth) is None and one.phase.kind == "dss":
        against = at.share("random")
    depth, queue = value(against.profile_depth), value(at.queue_length)
    if depth and queue is not None and queue < depth / 2:
        yield f"Queue depth was {rounded(queue)}; the profile's best used {rounded(depth)}"
    block, size = value(against.profile_io_bytes), value(at.io_bytes)
    if block and size and not 0.5 <= size / block <= 2:
        yield f"I/O size was {bytes_text(size)}; the profile used {bytes_text(block)}"
    writes = value(at.write_percent)
    if writes is not None and writes >= 1:
        yield f"{writes:.0f} % of the I/Os were writes"
    busy, used = value(at.cpu_busy), value(at.utilisation)
    if busy is not None and used is not None:
        yield f"CPU was {busy:.0f} % busy, the device {used:.0f} % utilised"


def _percent(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.2g} %"


def _cut(text: str, columns: int) -> str:
    text = plain(text)
    return text if len(text) <= columns else f"{text[: columns - 1].rstrip()}…"
