"""Forecasts the duration of a study and the disk space of its data."""

from __future__ import annotations

import math
import shutil
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dyno import targets
from dyno.config.units import bytes_text, seconds_text
from dyno.errors import DiskFullError
from dyno.studies import lengths, saved
from dyno.studies.lengths import Length
from dyno.studies.model import Study
from dyno.studies.schedule import Slot
from dyno.studies.store import StudyStore
from dyno.targets import space


@dataclass(frozen=True)
class Data:
    """A data set of a study.

    Attributes:
        variants: Names of the variants that use it.
        space_bytes: Peak size of its engine and saved state in the study's folder; 0 if they are
            elsewhere.
        place: The user's database that holds it; empty if the engine is private.
        place_bytes: Peak size there, estimated from the scale.
        keep: Time to save its state after the load.
    """

    variants: tuple[str, ...]
    load: Length | None
    space_bytes: int
    workload: str = ""
    place: str = ""
    place_bytes: int = 0
    keep: Length = lengths.NOTHING


@dataclass(frozen=True)
class Forecast:
    """The expected duration and disk space of a study.

    Attributes:
        runs: One run per variant.
        resets: The reset before a run, per variant.
        data: The data sets to load.
        reloads: Repeated loads, as variants with different data share a database.
        shared: Whether the saved state shares its blocks with the data.
        invalid: The expected share of invalid runs.
        replace: Maximum number of repeats of invalid runs.
    """

    runs: Mapping[str, Length]
    resets: Mapping[str, Length]
    data: tuple[Data, ...]
    reloads: Mapping[str, float]
    shared: bool = False
    invalid: float = lengths.INVALID_SHARE
    replace: int = 0

    def left_s(
        self,
        slots: Sequence[Slot],
        took: Mapping[str, Sequence[float]],
        repeats: float = 0.0,
    ) -> float:
        """Seconds of the remaining runs, from the duration of earlier runs of the same variant.

        Variants without runs are scaled by the ratio of actual to forecast times so far.

        Args:
            slots: The remaining runs.
            took: Durations by variant, each including everything before the run.
            repeats: Expected number of repeated runs.
        """
        known = {name: statistics.median(each) for name, each in took.items() if each}
        thought = sum(self._cycle(name).seconds for name in known)
        pace = sum(known.values()) / thought if thought else 1.0
        each = [
            known[slot.variant]
            if slot.variant in known
            else pace * self._cycle(slot.variant).seconds
            for slot in slots
        ]
        ahead = {slot.variant for slot in slots}
        loads = [
            load
            for one, load in self._loads()
            if ahead & set(one.variants) and not known.keys() & set(one.variants)
        ]
        again = repeats * statistics.mean(each) if each else 0.0
        return sum(each) + pace * sum(one.seconds for one in loads) + again

    def total_s(self, slots: Sequence[Slot]) -> float:
        """Expected seconds of the whole study, including repeated runs."""
        return sum(self.reloads.values()) + self.left_s(slots, {}, self.repeats(len(slots)))

    def range_s(self, slots: Sequence[Slot]) -> tuple[float, float]:
        """Seconds at best, and usual maximum: with all repeats, on a busy machine."""
        again = sum(self.reloads.values())
        most = [self._cycle(slot.variant).most for slot in slots]
        loads = sum(one.most for _, one in self._loads())
        repeats = min(self.replace, len(slots)) * max(most, default=0.0)
        return self.left_s(slots, {}) + again, sum(most) + loads + repeats + 1.5 * again

    def repeats(self, runs: int, made: int = 0, share: float | None = None) -> float:
        """Expected number of repeats.

        Args:
            runs: The number of remaining runs.
            made: Repeats so far.
            share: The share of invalid runs; None for the forecast share.
        """
        return max(0.0, min(self.replace - made, runs * (self.invalid if share is None else share)))

    def _cycle(self, name: str) -> Length:
        """A run with its reset."""
        run, reset = self.runs[name], self.resets[name]
        return Length(run.seconds + reset.seconds, run.source, run.most + reset.most)

    def _loads(self) -> list[tuple[Data, Length]]:
        """Initial loads, with the copies of their state.

        A database of the user's has no copy to restore: the reset before each run is the load
        itself,
        also before the first run.
        """
        return [
            (one, Length(one.load.seconds + one.keep.seconds, "", one.load.most + one.keep.most))
            for one in self.data
            if one.load is not None and not (one.place and self.resets[one.variants[0]].seconds)
        ]

    @property
    def space_bytes(self) -> int:
        """Space for all data in the study's folder."""
        return sum(one.space_bytes for one in self.data)

    @property
    def elsewhere_bytes(self) -> dict[str, int]:
        """Space for data in databases of the user's: the largest of the sets that share one.

        The free space there is not checked, because the server may be another machine.
        """
        most: dict[tuple[str, str], int] = {}
        for one in self.data:
            if one.place:
                turn = one.place, one.workload
                most[turn] = max(most.get(turn, 0), one.place_bytes)
        found: dict[str, int] = {}
        for (place, _), size in most.items():
            found[place] = found.get(place, 0) + size
        return found

    def lines(self, study: Study, slots: Sequence[Slot], folder: Path) -> list[str]:
        """The forecast as text, shown before the start; the start is now."""
        found = [
            f"  data of {', '.join(one.variants)}: load about {seconds_text(one.load.seconds)} "
            f"({one.load.source})"
            for one in self.data
            if one.load is not None
        ]
        by = {name: (each.seconds, each.source) for name, each in self.runs.items()}
        for seconds, source in dict.fromkeys(by.values()):
            names = ", ".join(name for name, one in by.items() if one == (seconds, source))
            found.append(f"  a run of {names}: about {seconds_text(seconds)} ({source})")
        longest = max((one.seconds for one in self.resets.values()), default=0.0)
        if longest:
            found.append(f"  data restored before each run: about {seconds_text(longest)}")
        again = sum(self.reloads.values())
        if again:
            found.append(
                f"  variants with different data share a database, which is reloaded: "
                f"about {seconds_text(again)}"
            )
        found.append(self._duration(study, slots))
        if self.space_bytes:
            free = _free(folder)
            found.append(
                f"Space: about {bytes_text(self.space_bytes)} in {folder}; {bytes_text(free)} free."
            )
            if study.reset == "reload":
                shared = "shares the blocks of the data and needs no extra space"
                copied = "needs 1.5 times the size of the data"
                found.append(f"The saved state {shared if self.shared else copied}.")
        found += [
            f"Space: about {bytes_text(size)} at {place}, estimated from the scale; its free space "
            "is not checked."
            for place, size in self.elsewhere_bytes.items()
        ]
        return found

    def _duration(self, study: Study, slots: Sequence[Slot]) -> str:
        """The duration and the end time."""
        low, high = self.range_s(slots)
        limit = study.time_limit_s
        if limit is not None and limit < low:
            return f"Time limit {seconds_text(limit)}; all runs would take {between(low, high)}."
        if limit is not None:  # a pair that has started by then is completed
            pair = sum(self._cycle(one.name).most for one in study.variants)
            high = min(high, max(low, limit + pair))
        then = dict.fromkeys((_moment(low), _moment(high)))
        again = min(self.replace, len(slots))
        most = f" The upper value assumes a busy machine and {again} repeated runs."
        return f"Duration: {between(low, high)}, until {' to '.join(then)}.{most if again else ''}"

    def require_space(self, folder: Path) -> None:
        """Rejects a study whose data cannot fit.

        Raises:
            DiskFullError: If less than half of the estimated space is free.
        """
        free, needed = _free(folder), self.space_bytes
        if needed and free < needed / 2:
            raise DiskFullError(
                f"The data of this study needs about {bytes_text(needed)} in {folder}; "
                f"{bytes_text(free)} are free. Free space, or use a smaller --scale or another "
                "--out."
            )


def forecast(
    study: Study, slots: Sequence[Slot], earlier: Iterable[StudyStore], out: Path
) -> Forecast:
    """Forecasts from options, else from earlier runs, else by rules of thumb.

    Args:
        study: The study.
        slots: Its run order.
        earlier: Earlier studies on this machine.
        out: The folder of its data, or a future parent of it.
    """
    before = list(earlier)
    shared = study.reset == "reload" and saved.shares_blocks(_existing(out))
    data = _data(study, before, shared)
    loads = {name: one.load for one in data if one.load for name in one.variants}
    return Forecast(
        runs={one.name: lengths.run(one, before) for one in study.variants},
        resets={
            one.name: lengths.put_back(one, loads, shared, before)
            if study.reset == "reload"
            else lengths.NOTHING
            for one in study.variants
        },
        data=data,
        reloads=_reloads(study, slots, loads),
        shared=shared,
        invalid=lengths.invalid(study, before),
        replace=study.replace,
    )


def _data(study: Study, earlier: Sequence[StudyStore], shared: bool) -> tuple[Data, ...]:
    found: list[Data] = []
    for key in dict.fromkeys(one.data for one in study.variants):
        own = [one for one in study.variants if one.data == key]
        first = own[0]
        if first.workload == "io" or first.scale is None:
            continue
        name = targets.parse(first.target).name
        needed = space.required_bytes({name: lengths.raw_bytes(first)})
        own_bytes = needed if first.embedded else 0
        if study.reset == "reload" and not shared:
            own_bytes *= 2
        names = tuple(one.name for one in own)
        alone = first.verb == "load"  # then the runs are the only loads
        load = None if alone else lengths.load(first, earlier)
        place = "" if first.embedded else first.target
        keep = lengths.NOTHING
        if study.reset == "reload" and first.embedded:
            keep = lengths.put_back(first, {}, shared, earlier)
        elsewhere = needed if place else 0
        found.append(Data(names, load, own_bytes, first.workload, place, elsewhere, keep))
    return tuple(found)


def _reloads(study: Study, slots: Sequence[Slot], loads: Mapping[str, Length]) -> dict[str, float]:
    """Loads beyond the first of each data set, when variants alternate in one database."""
    found: dict[str, float] = {}
    if study.reset == "reload":
        return found
    there: dict[str, object] = {}
    seen: set[object] = set()
    for slot in slots:
        variant = study.variant(slot.variant)
        if variant.embedded or variant.name not in loads:
            continue
        place = f"{variant.workload} {variant.target}"
        if there.get(place) != variant.data and variant.data in seen:
            found[variant.name] = found.get(variant.name, 0.0) + loads[variant.name].seconds
        there[place] = variant.data
        seen.add(variant.data)
    return found


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _free(folder: Path) -> int:
    return shutil.disk_usage(_existing(folder)).free


def between(low: float, high: float) -> str:
    """A range of times in round numbers: ``about 90 s to 4 min``."""
    ends = dict.fromkeys(map(_roughly, (low, high)))
    return f"about {' to '.join(ends)}"


def _roughly(seconds: float) -> str:
    if seconds < 100:
        return f"{5 * math.ceil(seconds / 5)} s"
    minutes = round(seconds / 60) if seconds < 3600 else 5 * round(seconds / 300)
    return seconds_text(60 * minutes).removesuffix(" 0 s").removesuffix(" 0 min")


def _moment(seconds: float) -> str:
    """The end time on this machine's clock."""
    then = time.localtime(time.time() + seconds)
    same = time.strftime("%Y%m%d", then) == time.strftime("%Y%m%d")
    return time.strftime("%H:%M" if same else "%Y-%m-%d %H:%M", then)
