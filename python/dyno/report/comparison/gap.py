"""The application gap as text: a table of at most 80 columns and an explanation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dyno.bundle.model import Estimate, Finding, Phase, tells
from dyno.bundle.phases.dss import DssDetail
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.report.kit.formats import (
    bytes_text,
    decimal_bytes,
    figure,
    target_title,
    users_title,
)
from dyno.safety.text import plain

COLUMNS = 80
_LABEL, _TOOK, _SHARE = 24, 8, 11
_REST = (9, 10, 7)
_JOINT = "\N{NARROW NO-BREAK SPACE}"
_STORAGE = ("limit-storage", "limit-synchronous-writes")
_MOST_PERCENT = 105.0
_OWN = 0.8
"""Below this share of the device's reads, others read from it too."""
_PATTERNS = {"sequential": "sequential", "random": "random", "mix": "of the mix"}


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
    values: dict[str, float]
    sources: dict[str, str]
    limit: Finding | None

    @property
    def by_storage(self) -> bool | None:
        """Whether storage was the bottleneck; None if unknown."""
        if self.limit is None or self.limit.code == "limit-unattributed":
            return None
        return self.limit.code in _STORAGE

    @property
    def document(self) -> dict[str, Any]:
        """It for other programs."""
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
    listed = list(estimates)
    found: list[Gap] = []
    for phase in application.run.phases:
        start = f"gap.{phase.name}."
        own = {e.name.removeprefix(start): e for e in listed if e.name.startswith(start)}
        if own:
            found.append(
                Gap(
                    phase,
                    title_of(application, phase),
                    {name: estimate.value for name, estimate in own.items()},
                    {
                        name.removesuffix("_profile"): estimate.source
                        for name, estimate in own.items()
                        if name.endswith("_profile")
                    },
                    limits.get(phase.name),
                )
            )
    return found


def title_of(application: Bundle, phase: Phase) -> str:
    """``Power test PostgreSQL``, ``16 users PostgreSQL``."""
    what = {"power": "Power test", "throughput": "Throughput"}
    test = "Queries"
    if tells(phase, DssDetail):
        test = what.get(phase.detail.test or "power", test)
    elif tells(phase, OltpDetail):
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


def _table(unit: str, kind: str, found: Sequence[Gap], parts: Sequence[str]) -> list[str]:
    widths = (*(_SHARE for _ in parts), *_REST)
    heads = [*(_PATTERNS[part] for part in parts), "I/O size", "in flight", "writes"]
    lines = [f"{f'{unit} at the device':<{_LABEL + _TOOK}}{_row(heads, widths)}"]
    first = found[0].values
    best = [figure(first.get(f"{part}_profile")) for part in parts]
    told = next((part for part in parts if f"{part}_profile" in first), parts[0])
    block = bytes_text(first.get(f"{told}_profile_io_bytes"))
    depth = figure(first.get(f"{told}_profile_depth"))
    cells = _row([*best, block, depth, ""], widths)
    mix = found[0].sources.get("mix", "best").partition(",")[0].removeprefix("random ")
    lines.append(f"{f'Profile, {mix}':<{_LABEL + _TOOK}}{cells}")
    for one in found:
        values = one.values
        shares = [_percent(values.get(f"{part}_share_percent")) for part in parts]
        took = figure(values.get(f"application_{kind}"))
        rest = [
            bytes_text(values.get("io_bytes")),
            figure(values.get("queue_length")),
            _percent(values.get("write_percent")),
        ]
        label = _cut(one.title, _LABEL - 1)
        lines.append(f"{label:<{_LABEL}}{took:>{_TOOK}}{_row([*shares, *rest], widths)}")
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
        told = one.limit.message.partition(": ")[2]
        words.append(f"{told[:1].upper()}{told[1:]}")
    words += [f"{text}." for text in _reasons(one)]
    return " ".join(words)


def _reasons(one: Gap) -> Iterable[str]:
    values = one.values
    shares = [value for name, value in values.items() if name.endswith("_share_percent")]
    if shares and min(shares) > _MOST_PERCENT:
        yield "It exceeded the profile, which had a smaller queue depth or other users of the disk"
    asked, cached = values.get("engine_read_bytes"), values.get("cache_percent")
    read = values.get("device_read_bytes")
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
    part = "sequential" if one.phase.kind == "dss" else "mix"
    if f"{part}_profile_depth" not in values and one.phase.kind == "dss":
        part = "random"
    depth, queue = values.get(f"{part}_profile_depth"), values.get("queue_length")
    if depth and queue is not None and queue < depth / 2:
        yield f"Queue depth was {figure(queue)}; the profile's best used {figure(depth)}"
    block, size = values.get(f"{part}_profile_io_bytes"), values.get("io_bytes")
    if block and size and not 0.5 <= size / block <= 2:
        yield f"I/O size was {bytes_text(size)}; the profile used {bytes_text(block)}"
    writes = values.get("write_percent")
    if writes is not None and writes >= 1:
        yield f"{writes:.0f} % of the I/Os were writes"
    busy, used = values.get("cpu_busy"), values.get("utilisation")
    if busy is not None and used is not None:
        yield f"CPU was {busy:.0f} % busy, the device {used:.0f} % utilised"


def _percent(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.2g} %"


def _cut(text: str, columns: int) -> str:
    text = plain(text)
    return text if len(text) <= columns else f"{text[: columns - 1].rstrip()}…"
