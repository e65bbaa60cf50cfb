"""How long a study takes and what room its data needs, told before anything runs."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dyno import space, targets
from dyno.errors import DiskFullError
from dyno.studies import lengths, saved
from dyno.studies.book import Book
from dyno.studies.lengths import Length
from dyno.studies.model import Study
from dyno.studies.schedule import Slot
from dyno.units import bytes_text, seconds_text


@dataclass(frozen=True)
class Data:
    """A data set of a study.

    Attributes:
        variants: Names of those that use it.
        room_bytes: What its engine and the saved state take in the study's folder at the peak; 0
            where they lie elsewhere.
        place: The database of the user's that they lie in instead; empty where it is Dyno's own.
        place_bytes: What they take there at the peak, by the scale.
    """

    variants: tuple[str, ...]
    load: Length | None
    room_bytes: int
    workload: str = ""
    place: str = ""
    place_bytes: int = 0


@dataclass(frozen=True)
class Forecast:
    """What a study takes.

    Attributes:
        runs: Of each variant, one run.
        resets: Of each variant, what is done before a run.
        data: What is loaded.
        reloads: Loads that are made again as variants with other data share a database.
        shared: Whether the saved state shares its blocks with the data.
    """

    runs: Mapping[str, Length]
    resets: Mapping[str, float]
    data: tuple[Data, ...]
    reloads: Mapping[str, float]
    shared: bool = False

    def left_s(self, slots: Iterable[Slot], took: Mapping[str, Sequence[float]]) -> float:
        """Seconds of the runs that are left, where earlier ones have told from what they took."""
        return sum(
            statistics.median(took[slot.variant])
            if took.get(slot.variant)
            else self.runs[slot.variant].seconds + self.resets[slot.variant]
            for slot in slots
        )

    def total_s(self, slots: Sequence[Slot]) -> float:
        """Seconds of the whole study."""
        loads = sum(
            one.load.seconds
            for one in self.data
            # In a database of the user's there is no copy to put back: what is done before each run
            # is the load itself, also before the first.
            if one.load is not None and not (one.place and self.resets[one.variants[0]])
        )
        return loads + sum(self.reloads.values()) + self.left_s(slots, {})

    @property
    def room_bytes(self) -> int:
        """What all data takes in the study's folder."""
        return sum(one.room_bytes for one in self.data)

    @property
    def elsewhere_bytes(self) -> dict[str, int]:
        """What data takes in databases of the user's: of sets that take turns there the largest.

        What is free there is not looked at: the server may be another machine.
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
        """What is told before it begins, now being the beginning."""
        found = [
            f"  data of {', '.join(one.variants)}: loads in about {seconds_text(one.load.seconds)} "
            f"({one.load.source})"
            for one in self.data
            if one.load is not None
        ]
        by = {name: (each.seconds, each.source) for name, each in self.runs.items()}
        for seconds, source in dict.fromkeys(by.values()):
            names = ", ".join(name for name, one in by.items() if one == (seconds, source))
            found.append(f"  a run of {names}: about {seconds_text(seconds)} ({source})")
        if any(self.resets.values()):
            longest = max(self.resets.values())
            found.append(f"  data put back before each run: about {seconds_text(longest)}")
        again = sum(self.reloads.values())
        if again:
            found.append(
                f"  variants with other data share a database, which is loaded again in turn: "
                f"about {seconds_text(again)}"
            )
        total = self.total_s(slots)
        limit = study.time_limit_s
        if limit is not None and limit < total:
            found.append(f"At most {seconds_text(limit)} by its time limit; all runs would take")
            found.append(f"about {seconds_text(total)}.")
            total = limit
        else:
            found.append(f"It takes about {seconds_text(total)}, until {_moment(total)}.")
        if self.room_bytes:
            free = _free(folder)
            found.append(
                f"Room: about {bytes_text(self.room_bytes)} in {folder}; {bytes_text(free)} free."
            )
            if study.reset == "reload":
                shared = "shares the blocks of the data, and needs none"
                copied = "is a copy of the data, and half of that"
                found.append(f"The saved state {shared if self.shared else copied}.")
        found += [
            f"Room: about {bytes_text(size)} at {place}, by the scale; what is free there is not "
            "looked at."
            for place, size in self.elsewhere_bytes.items()
        ]
        return found

    def require_room(self, folder: Path) -> None:
        """Refuses what cannot fit.

        Raises:
            DiskFullError: If there is less than half of what it probably takes.
        """
        free, needed = _free(folder), self.room_bytes
        if needed and free < needed / 2:
            raise DiskFullError(
                f"The data of this study takes about {bytes_text(needed)} in {folder}, "
                f"{bytes_text(free)} are free; free some, or give a smaller --scale or another "
                "--out."
            )


def forecast(study: Study, slots: Sequence[Slot], earlier: Iterable[Book], out: Path) -> Forecast:
    """From options where they tell, else from earlier runs, else by rules of thumb.

    Args:
        study: What is to run.
        slots: Its order.
        earlier: Studies that ran here before.
        out: Where its data will lie, or what will be above it.
    """
    before = list(earlier)
    shared = study.reset == "reload" and saved.shares_blocks(_existing(out))
    data = _data(study, before, shared)
    loads = {name: one.load.seconds for one in data if one.load for name in one.variants}
    return Forecast(
        runs={one.name: lengths.run(one, before) for one in study.variants},
        resets={
            one.name: lengths.put_back(one, loads, shared) if study.reset == "reload" else 0.0
            for one in study.variants
        },
        data=data,
        reloads=_reloads(study, slots, loads),
        shared=shared,
    )


def _data(study: Study, earlier: Sequence[Book], shared: bool) -> tuple[Data, ...]:
    found: list[Data] = []
    for key in dict.fromkeys(one.data for one in study.variants):
        own = [one for one in study.variants if one.data == key]
        first = own[0]
        if first.workload == "io" or first.scale is None:
            continue
        name = targets.parse(first.target).name
        needed = space.required_bytes({name: lengths.raw_bytes(first)})
        room = needed if first.embedded else 0
        if study.reset == "reload" and not shared:
            room *= 2
        names = tuple(one.name for one in own)
        alone = first.verb == "load"  # then there is none but the runs themselves
        load = None if alone else lengths.load(first, earlier)
        place = "" if first.embedded else first.target
        found.append(Data(names, load, room, first.workload, place, needed if place else 0))
    return tuple(found)


def _reloads(study: Study, slots: Sequence[Slot], loads: Mapping[str, float]) -> dict[str, float]:
    """Loads beyond the first of each data set, of variants that share one database in turn."""
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
            found[variant.name] = found.get(variant.name, 0.0) + loads[variant.name]
        there[place] = variant.data
        seen.add(variant.data)
    return found


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _free(folder: Path) -> int:
    return shutil.disk_usage(_existing(folder)).free


def _moment(seconds: float) -> str:
    """When that is over, on the clock of this machine."""
    then = time.localtime(time.time() + seconds)
    same = time.strftime("%Y%m%d", then) == time.strftime("%Y%m%d")
    return time.strftime("%H:%M" if same else "%Y-%m-%d %H:%M", then)
