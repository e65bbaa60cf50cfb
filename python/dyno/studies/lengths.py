"""Durations of a study's runs and loads: from options, earlier runs, or rules of thumb."""

from __future__ import annotations

import contextlib
import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dyno import profiles, targets, workloads
from dyno.config.units import parse_seconds
from dyno.errors import UsageError
from dyno.plans.fields import DEFAULT_OUT
from dyno.plans.levels import Levels
from dyno.profiles import spec as profile_spec
from dyno.studies.earlier import alike
from dyno.studies.model import Study, Variant
from dyno.studies.store import Entry, Note, StudyStore
from dyno.studies.taken import invalid_share

_AROUND_S = {"embedded": (8.0, 20.0), "null": (2.0, 5.0)}
_AROUND_SERVER_S = 5.0, 12.0
"""Rules of thumb: the overhead of a run (start, verification, verdict, stop) in seconds, on an
idle and on a busy machine.
"""
_PASS_S = {"row store": 30.0, "column store": 3.0}
"""Rules of thumb: seconds for the 22 queries once, at scale 1."""
_LOAD_MB_PER_S = {"row store": 15.0, "column store": 60.0}
"""Rules of thumb: raw MB/s into tables, with keys and indexes."""
_COPY_MB_PER_S = 150.0, 25.0
"""Rules of thumb: MB/s of a copy, usual and slow."""
_RULE, _AGAIN = 2.0, 1.25
"""Factors from expected to maximum time: for a rule of thumb, and for earlier measurements."""
INVALID_SHARE = 0.05
"""A rule of thumb: the share of invalid runs."""
_SEARCH_WINDOWS = 12
_USUAL_DURATION = "60s"
_PARTS = 3
"""Before, during and after maintenance."""
_USUAL_STREAMS = 2


@dataclass(frozen=True)
class Length:
    """Expected seconds, their source, and the usual maximum."""

    seconds: float
    source: str
    most: float


NOTHING = Length(0.0, "", 0.0)


def run(variant: Variant, earlier: Sequence[StudyStore]) -> Length:
    """The duration of one run of a variant."""
    took, source = _measured(variant, earlier)
    if took:
        usual = statistics.median(took)
        return Length(usual, source, max(_AGAIN * usual, *took))
    if variant.workload == "io":
        return _storage(variant)
    if variant.verb == "load":
        return load(variant, earlier)
    scheme = variant.target.partition(":")[0]
    around, longest = around_s(scheme)
    if variant.kind == "oltp" or len(variant.members) > 1:
        windows = _windows(variant)
        return Length(windows + around, "from its options", windows + longest)
    store = targets.store(targets.parse(variant.target).name) or "row store"
    once = _PASS_S[store] * (variant.scale or 1.0)
    test = str(variant.run.get("test", "power"))
    streams = variant.run.get("streams", _USUAL_STREAMS)
    once_only = variant.run.get("no-warming") or variant.run.get("no_warming")
    often = 0.0 if test == "throughput" else 1.0 if once_only else 2.0
    often += float(streams) if test != "power" and not isinstance(streams, str) else 0.0
    source = f"a rule of thumb for a {store}"
    usual, most = once * often, _RULE * once * often
    if "during" in variant.run:
        # Each part also lasts until every query has run.
        part_s = parse_seconds(str(variant.run.get("duration", _USUAL_DURATION)))
        usual += _PARTS * max(part_s, once)
        most += _PARTS * max(part_s, _RULE * once)
    return Length(usual + around, source, most + longest)


def around_s(scheme: str) -> tuple[float, float]:
    """The overhead of a run outside its windows, usual and maximum, by the scheme of its target."""
    return _AROUND_S.get(scheme, _AROUND_SERVER_S)


def invalid(study: Study, earlier: Sequence[StudyStore]) -> float:
    """The expected share of invalid runs, from earlier similar runs."""
    found: list[Entry] = []
    for book in earlier:
        kinds = {one.name: one for one in book.study.variants}
        with contextlib.suppress(UsageError):
            found += [
                entry
                for entry in book.entries()
                if entry.variant in kinds and alike(kinds[entry.variant], study.variants[0])
            ]
    return invalid_share(found, INVALID_SHARE, 2 * len(study.variants))


def _windows(variant: Variant) -> float:
    """Seconds of all levels of a transaction run, including warm-up."""
    given = {name.replace("_", "-"): str(value) for name, value in variant.run.items()}
    search = "find-max" in given
    levels = Levels(
        out=DEFAULT_OUT, think=given.get("think") == "True", duration=given.get("duration"),
        warmup=given.get("warmup"),
    )  # fmt: skip
    pause_s = max(workloads.named(name).transactions.pause_s for name in variant.members)
    window = levels.duration_s(searched=search, pause_s=pause_s)
    window = parse_seconds(given.get("until-steady", f"{window}s"))
    warmup = levels.warmup_s(pause_s)
    often = _SEARCH_WINDOWS if search else 1
    return often * (warmup + window * (_PARTS if "during" in given else 1))


def _storage(variant: Variant) -> Length:
    given = {name.replace("_", "-"): value for name, value in variant.run.items()}
    name = str(given.get("profile", profiles.DEFAULT))
    step = given.get("step")
    found = profile_spec.read(name).fitted(None, None if step is None else parse_seconds(str(step)))
    volumes = len(shlex.split(variant.target))
    arms = volumes if given.get("compare") or given.get("scaling") else 1
    fills = str(given.get("fill", "")).count(",") + 1
    often = arms * int(given.get("repeat", 1)) * fills
    longest = found.longest_s * often
    return Length(longest, "at most, by its profile", longest)


def _measured(variant: Variant, earlier: Sequence[StudyStore]) -> tuple[list[float], str]:
    """Earlier runs of the same variant, or else the same work with other settings."""
    same: list[float] = []
    like: list[float] = []
    for book in earlier:
        try:
            entries = [entry for entry in book.entries() if entry.counts]
        except UsageError:
            continue
        kinds = {one.name: one for one in book.study.variants}
        for entry in entries:
            other = kinds.get(entry.variant)
            if other is None or not alike(other, variant):
                continue
            if (other.verb, other.run) != (variant.verb, variant.run):
                continue
            own = (other.load, other.settings, other.limits) == (
                variant.load, variant.settings, variant.limits
            )  # fmt: skip
            (same if own else like).append(entry.ended - entry.started)
    for found, words in ((same, "the same"), (like, "the like")):
        if found:
            return found, f"median of {len(found)} runs of {words}"
    return [], ""


def raw_bytes(variant: Variant) -> float:
    """The size of the rows that a variant loads."""
    many, days = _whole(variant, "databases") or 1, _whole(variant, "days")
    return many * sum(
        workloads.named(word).raw_bytes(variant.scale_of(word) or 0.0, days)
        for word in variant.members
    )


def _whole(variant: Variant, option: str) -> int | None:
    """An option of the load that is a whole number; None without it."""
    value = variant.load.get(option)
    return value if isinstance(value, int) else None


def load(variant: Variant, earlier: Sequence[StudyStore]) -> Length:
    """Duration of a load: that of the target's last load of the workload, scaled by its size."""
    for book in reversed(earlier):
        kinds = {one.name: one for one in book.study.variants}
        for note in reversed(_notes(book)):
            other = kinds.get(note.variant)
            if note.kind != "load" or other is None or not other.scale or not variant.scale:
                continue
            if (other.workload, other.target) == (variant.workload, variant.target):
                size, own = raw_bytes(variant), raw_bytes(other)
                if not own:
                    continue
                seconds = note.seconds * size / own
                same = own == size
                source = "as before" if same else f"scaled from scale {other.scale:g}"
                return Length(seconds, source, (_AGAIN if same else _RULE) * seconds)
    store = targets.store(targets.parse(variant.target).name) or "row store"
    around, longest = around_s("embedded" if variant.embedded else "")
    rows = raw_bytes(variant) / (_LOAD_MB_PER_S[store] * 1e6)
    return Length(rows + around, f"a rule of thumb for a {store}", _RULE * rows + longest)


def _notes(book: StudyStore) -> list[Note]:
    try:
        return book.notes()
    except UsageError:
        return []


def put_back(
    variant: Variant, loads: Mapping[str, Length], shared: bool, earlier: Sequence[StudyStore]
) -> Length:
    """The time to restore the data to its state after the load."""
    if not variant.embedded:
        return loads.get(variant.name, NOTHING)
    if shared or variant.scale is None:
        return NOTHING
    size = raw_bytes(variant) * targets.expansion(targets.parse(variant.target).name)
    rates = [
        note.size_bytes / note.seconds
        for book in earlier
        for note in _notes(book)
        if note.kind in {"keep", "restore"} and not note.shared and note.seconds and note.size_bytes
    ]
    if rates:
        return Length(size / statistics.median(rates), "as copies before", size / min(rates))
    usual, slow = (1e6 * rate for rate in _COPY_MB_PER_S)
    return Length(size / usual, "a rule of thumb for copies", size / slow)
