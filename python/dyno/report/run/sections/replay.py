"""The classes of statements of a replayed log, and what was left out."""

from __future__ import annotations

from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.replayed import REASONS, Replayed
from dyno.report.kit.blocks import Block, Column, Section, Table
from dyno.report.kit.formats import decimal_bytes, operation_title, rounded
from dyno.report.run.page import Page
from dyno.safety.text import plain

ORDER = 52
_SHORT = 200


def section(page: Page) -> Section | None:
    """A table of classes; None without a replay."""
    found = next(
        (
            phase.detail.replayed
            for phase in page.phases_of(OltpDetail)
            if phase.detail.replayed is not None
        ),
        None,
    )
    if found is None:
        return None
    blocks: list[Block] = [_classes(found)]
    if found.left_out:
        blocks.append(_left_out(found.left_out))
    return Section("replay", "Replayed log", blocks, _lead(found))


def _lead(found: Replayed) -> str:
    size = "" if found.bytes is None else f", {decimal_bytes(found.bytes)}"
    return (
        f"{plain(found.file or 'A log')}{size}: {rounded(found.statements)} statements of "
        f"{rounded(found.sessions)} sessions, at most {rounded(found.at_once)} at once, in "
        f"{rounded(found.span_s)} s; replayed at speed {found.speed or 1:g}."
    )


def _classes(found: Replayed) -> Table:
    columns = [
        Column("Operation"),
        Column("In the log", numeric=True),
        Column("Kind"),
        Column("Statement", wide=True),
    ]
    rows = [
        [
            plain(operation_title(one.operation or "")),
            rounded(one.count),
            plain(one.kind or ""),
            _short(plain(one.text or "all other classes")),
        ]
        for one in found.classes
    ]
    return Table("Statements by class", columns, rows, "? stands for literals.")


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[:_SHORT].rstrip()} …"


def _words(reason: str) -> str:
    text = REASONS.get(reason, plain(reason))
    return f"{text[:1].upper()}{text[1:]}"


def _left_out(reasons: dict[str, int]) -> Table:
    rows = [[_words(reason), rounded(count)] for reason, count in reasons.items()]
    return Table("Left out", [Column("Statements"), Column("Number", numeric=True)], rows)
