"""Proposals as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dyno.contracts.partitioning import Partitioning
from dyno.decide.advise.partition import commands
from dyno.decide.advise.partition.columns import SKIPS, Choice
from dyno.decide.advise.partition.files import obstacle, variants
from dyno.decide.advise.partition.proposal import Proposal
from dyno.decide.advise.partition.work import Work


def of(found: Sequence[Proposal], done: Work, engine: Partitioning) -> dict[str, Any]:
    """All proposals, with what they are judged by."""
    return {
        "reason": None,
        "unit": done.unit,
        "source": done.source,
        "statements": len(done.statements),
        "unparsed": done.unread,
        "unparsed_share": done.unread_share,
        "left_out": done.left,
        "tables": [_told(one, done, engine) for one in found],
    }


def _told(found: Proposal, done: Work, engine: Partitioning) -> dict[str, Any]:
    head = {"table": found.name, "share": found.share, "bytes": found.bytes}
    if found.choice is None:
        return {**head, "advised": False, "reason": found.reason}
    choice = found.choice
    return {
        **head,
        "advised": True,
        "reason": None,
        **_choice(choice),
        "others": [_choice(one) for one in found.others],
        "aligned": found.aligned,
        "unaligned": found.unaligned,
        "keys_without_column": found.blocking,
        "foreign_keys": [] if found.table is None else list(found.table.facts.foreign_keys),
        "effects": [
            {
                "statement": one.name,
                "share": share,
                "condition": form,
                "skips": form in SKIPS[choice.method],
            }
            for one, share, form in found.effects(done)
        ],
        "commands": {title: list(lines) for title, lines in commands.of([found], engine).items()},
        "variants": [
            {"name": one.name, "changes": dict(one.changes), "why": one.why}
            for one in variants(found)
        ],
        "no_study": obstacle(found) or None,
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {
        "column": choice.column.name,
        "method": choice.method,
        "score": choice.score,
        "restricted": choice.restricted,
        "conditions": dict(choice.forms),
        "counts": list(choice.counts),
        "bounds_from": choice.spread or None,
        "bounds": {
            str(count): {"unit": cut.unit, "at": list(cut.texts), "shares": list(cut.shares)}
            for count, cut in choice.cuts.items()
        },
    }
