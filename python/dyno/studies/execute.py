"""Runs a study, each run in its own process, and records it in the journal."""

from __future__ import annotations

import contextlib
import math
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dyno.bundle import progress
from dyno.config.units import seconds_text
from dyno.errors import DynoError, Interrupted, TargetError
from dyno.safety.text import NO_BREAK
from dyno.studies import futility, loads, moments, runs, taken
from dyno.studies.analysis import tight
from dyno.studies.datasets import Datasets
from dyno.studies.ending import ALL_MADE, INTERRUPTED, LIMIT
from dyno.studies.forecast import Forecast
from dyno.studies.model import Variant
from dyno.studies.outcome import Futility
from dyno.studies.schedule import Slot
from dyno.studies.store import Entry, Note, StudyStore

MOST_FAILURES = 2
"""A variant is dropped after this many consecutive failed runs."""
_THE_MACHINES = {"background-load", "cpu-steal", "clock", "disturbed", "throttled"}
"""Reasons caused by the machine, not by a variant; with the codes of earlier versions."""
_COLUMNS = 80


@dataclass
class Work:
    """A study in progress.

    Attributes:
        say: Receives a line for each run.
        ahead: The forecast of run times, until runs have measured them.
    """

    book: StudyStore
    say: Callable[[str], None]
    ahead: Forecast
    _start: float = field(default_factory=time.monotonic)
    _before_s: float = 0.0
    _dropped: dict[str, str] = field(default_factory=dict[str, str])
    _futility: Futility | None = None

    def run(self) -> str:
        """Executes the remaining runs; returns why it ended.

        Raises:
            Interrupted: If the user stopped it; the journal has the completed runs.
            TargetError: If the data of the first variant cannot be loaded.
        """
        self._before_s = self.book.begin_session()
        self._dropped = self.book.dropped()
        for name, why in self._dropped.items():
            self.say(f"! {name} remains dropped: {why}")
        try:
            self._adopt()
            reason = self._slots()
        except (KeyboardInterrupt, Interrupted):
            self._end("interrupted", INTERRUPTED)
            raise
        except BaseException as error:
            self._end("failed", f"stopped by an error: {error}".rstrip("."))
            raise
        self._end("early" if self._futility else "done", reason)
        return reason

    def _end(self, how: Literal["done", "early", "interrupted", "failed"], text: str) -> None:
        progress.remove(self.book.folder)
        ended = Note(kind="ended", at=moments.now(), text=text, how=how, futility=self._futility)
        with contextlib.suppress(DynoError):  # on a full disk; the runs report it
            self.book.note(ended)

    def _adopt(self) -> None:
        """Records a run that completed before the study was killed."""
        entry = runs.adopted(self.book)
        if entry is not None:
            self.book.add(entry)
            self._report(f"{self._words(entry)}; it completed before the study was killed")

    def _slots(self) -> str:
        for slot in self.book.slots:
            entries = self.book.entries()
            reason = self._hopeless() or self._over(slot, entries)
            if reason:
                break
            self._slot(slot, entries)
        else:
            reason = ALL_MADE
        return reason

    def _hopeless(self) -> str:
        """Why no comparison is possible any more; empty if one is."""
        first, *others = (variant.name for variant in self.book.study.variants)
        if first in self._dropped:
            return f"the baseline '{first}' was dropped"
        if all(name in self._dropped for name in others):
            return f"nothing is left to compare with '{first}'"
        return ""

    def _over(self, slot: Slot, entries: list[Entry]) -> str:
        """Why no new pair starts; empty if one does."""
        study = self.book.study
        first = self.book.slots[slot.place - 1].pair != slot.pair if slot.place else True
        begun = any(entry.pair >= slot.pair for entry in entries)
        if not first or begun or not entries:
            return ""
        limit = math.inf if study.time_limit_s is None else study.time_limit_s
        time_s = limit - self._before_s - (time.monotonic() - self._start)
        if time_s < 0:
            return LIMIT
        if not study.early_stop:
            return ""
        if tight(study, entries, self._dropped):
            return f"every headline interval is within {study.margin:g} %"
        left = study.pairs - slot.pair
        self._futility = futility.futility(study, entries, left, time_s, self._dropped)
        return futility.words(self._futility) if self._futility else ""

    def _slot(self, slot: Slot, entries: list[Entry]) -> None:
        study = self.book.study
        own = [entry for entry in entries if entry.place == slot.place]
        if slot.variant in self._dropped or any(entry.counts for entry in own):
            return
        self._tell(slot, entries)
        variant = study.variant(slot.variant)
        stock = Datasets(self.book, self._report)
        while True:
            again = sum(entry.attempt > 1 for entry in self.book.entries())
            if own and again >= study.replace:
                self._drop(slot.variant, own)
                return
            try:
                out = stock.ready(variant)
                if variant.verb == "load":
                    loads.remove_engines(out)
                elif study.reset == "reload":
                    stock.reset(variant, out)
            except TargetError as error:
                if variant.data == study.variants[0].data or error.kind == "busy":
                    raise
                self._leave_out(slot.variant, str(error))
                return
            entry = self._run(slot, len(own) + 1, variant, out)
            own.append(entry)
            self.book.add(entry)
            self._report(self._words(entry))
            if entry.counts:
                return

    def _tell(self, slot: Slot, entries: list[Entry]) -> None:
        """Writes the step and the time that is left, for the live page and the terminal."""
        many = len(self.book.slots)
        progress.write(
            self.book.folder,
            progress.Progress(
                t_ns=time.time_ns(), phase=f"Run {slot.place + 1} of {many}: {slot.variant}",
                done=slot.place, total=many, text=slot.variant,
                run_left_s=self._left_s(self.book.slots[slot.place :], entries),
            ),
        )  # fmt: skip

    def _left_s(self, rest: list[Slot], entries: list[Entry]) -> float:
        """Expected seconds of the runs in ``rest`` that are not dropped, with repeats."""
        rest = [slot for slot in rest if slot.variant not in self._dropped]
        share = taken.invalid_share(entries, self.ahead.invalid, len(self.book.study.variants))
        again = sum(one.attempt > 1 for one in entries)
        cycles = taken.cycles(self.book.study, entries, self.book.notes())
        return self.ahead.left_s(rest, cycles, self.ahead.repeats(len(rest), again, share))

    def _drop(self, name: str, own: list[Entry]) -> None:
        last = [entry for entry in self.book.entries() if entry.variant == name][-MOST_FAILURES:]
        if len(last) < MOST_FAILURES or not all(_came_to_nothing(entry) for entry in last):
            return
        self._leave_out(name, own[-1].why_not)

    def _leave_out(self, name: str, why: str) -> None:
        self._dropped[name] = why
        self.book.note(Note(kind="dropped", at=moments.now(), variant=name, text=why))
        self._report(f"! {name} is dropped: {why.removesuffix('.')}.")

    def _run(self, slot: Slot, attempt: int, variant: Variant, out: Path) -> Entry:
        return runs.make(self.book, slot, attempt, variant, out)

    def _report(self, text: str) -> None:
        lines = textwrap.wrap(text, _COLUMNS, subsequent_indent="  ", break_on_hyphens=False)
        self.say("\n".join(lines).replace(NO_BREAK, " "))

    def _words(self, entry: Entry) -> str:
        slots = self.book.slots
        entries = self.book.entries()
        rest = [slot for slot in slots[entry.place + 1 :] if slot.variant not in self._dropped]
        left = self._left_s(rest, entries)
        times = f"[{entry.ended - entry.started:.0f} s"
        times += f"; {seconds_text(left)} left]" if rest else "]"
        times = times.replace(" ", NO_BREAK)
        head = f"{entry.place + 1}/{len(slots)} {entry.variant}: "
        if not entry.counts:
            return f"{head}INVALID ({entry.why_not})  {times}"
        head += "DISTURBED, " if entry.disturbed else ""
        values = [
            f"{name} {value:,.4g}"
            for name, value in entry.figures.items()
            if name.partition(".")[0] in self.book.study.headline
        ]
        what = values[0]
        for more in values[1:]:  # the metrics that fit on the line
            if len(f"{head}{what}, {more}  {times}") <= _COLUMNS:
                what += f", {more}"
        beyond = f"; {'; '.join(entry.broken)}" if entry.broken else ""
        return f"{head}{what}{beyond}  {times}"


def _came_to_nothing(entry: Entry) -> bool:
    only_the_machine = bool(entry.codes) and set(entry.codes) <= _THE_MACHINES
    return not entry.counts and not only_the_machine
