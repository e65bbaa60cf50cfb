"""Durations of a study's runs so far, including the time between them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dyno.studies.model import Study
from dyno.studies.store import Entry, Note


def cycles(study: Study, entries: Sequence[Entry], notes: Sequence[Note]) -> dict[str, list[float]]:
    """Seconds of each run by variant, from the end of the previous run to its own end.

    This includes restores and reloads of data, and process start and stop. It excludes pauses
    between sessions and one-time work: the first load of a data set.

    Args:
        study: The study.
        entries: Its runs, in order.
        notes: Its other events.
    """
    data = {one.name: one.data for one in study.variants}
    sessions = [note.at for note in notes if note.kind == "begun"]
    loaded: set[object] = set()
    found: dict[str, list[float]] = {}
    before = float("-inf")
    for entry in entries:
        key = data.get(entry.variant)
        session = max((at for at in sessions if at <= entry.started), default=0.0)
        since = max(before, session)
        if since > session and key in loaded:
            waited = entry.started - before
        else:
            waited = sum(
                note.seconds
                for note in notes
                if note.kind == "restore" and since <= note.at <= entry.started
            )
        loaded.add(key)
        before = entry.ended
        took = max(waited, 0.0) + max(entry.ended - entry.started, 0.0)
        found.setdefault(entry.variant, []).append(took)
    return found


def invalid_share(entries: Sequence[Entry], expected: float, weight: float) -> float:
    """The share of invalid runs; ``expected`` has the weight of ``weight`` runs."""
    invalid = sum(not entry.counts for entry in entries)
    return (invalid + expected * weight) / (len(entries) + weight)
