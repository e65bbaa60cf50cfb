"""Makes the runs of a study, each a process of its own, and writes them into its book."""

from __future__ import annotations

import contextlib
import math
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dyno.bundle import Bundle
from dyno.errors import DynoError, TargetError
from dyno.studies import child, commands, criteria, loads
from dyno.studies.analysis import tight
from dyno.studies.book import Book, Entry, Note
from dyno.studies.forecast import Forecast
from dyno.studies.metrics import METRICS
from dyno.studies.model import Variant
from dyno.studies.schedule import Slot
from dyno.studies.stock import Stock, alone
from dyno.units import seconds_text

MOST_FAILURES = 2
"""A variant whose runs came to nothing so often in a row is left out of the rest."""
_THE_MACHINES = {"disturbed", "throttled", "clock"}
"""Codes of reasons that lie in the machine, not in a variant: its next run may be valid."""
_COLUMNS = 80


@dataclass
class Work:
    """A study that goes on.

    Attributes:
        say: Hears a line for each run.
        ahead: How long its runs take, as far as they have not told themselves.
    """

    book: Book
    say: Callable[[str], None]
    ahead: Forecast
    _start: float = field(default_factory=time.monotonic)
    _before_s: float = 0.0
    _dropped: dict[str, str] = field(default_factory=dict[str, str])

    def run(self) -> str:
        """Makes what is left to be made; returns why it ended.

        Raises:
            Interrupted: If the user stopped it; what ended before is in the book.
            TargetError: If the data of the first variant cannot be made.
        """
        self._before_s = self.book.begin_session()
        self._dropped = self.book.dropped()
        for name, why in self._dropped.items():
            self.say(f"! {name} stays left out: {why}")
        try:
            return self._slots()
        finally:
            with contextlib.suppress(DynoError):  # on a full disk: the runs tell
                self.book.note(Note(kind="ended", at=time.time()))

    def _slots(self) -> str:
        for slot in self.book.slots:
            entries = self.book.entries()
            reason = self._hopeless() or self._over(slot, entries)
            if reason:
                break
            self._slot(slot, entries)
        else:
            reason = "all runs made"
        self.book.tell({"ended": reason, "dropped": self._dropped})
        return reason

    def _hopeless(self) -> str:
        """Why nothing is left to compare; empty if something is."""
        first, *others = (variant.name for variant in self.book.study.variants)
        if first in self._dropped:
            return f"'{first}', which the others are compared with, came to nothing"
        if all(name in self._dropped for name in others):
            return f"nothing is left to compare with '{first}'"
        return ""

    def _over(self, slot: Slot, entries: list[Entry]) -> str:
        """Why no new pair is begun; empty if one is."""
        study = self.book.study
        first = self.book.slots[slot.place - 1].pair != slot.pair if slot.place else True
        begun = any(entry.pair >= slot.pair for entry in entries)
        if not first or begun or not entries:
            return ""
        limit = study.time_limit_s
        if limit is not None and self._before_s + time.monotonic() - self._start > limit:
            return "the time limit was reached"
        if tight(study, entries):
            return f"every headline interval is within {study.margin:g} %"
        return ""

    def _slot(self, slot: Slot, entries: list[Entry]) -> None:
        study = self.book.study
        own = [entry for entry in entries if entry.place == slot.place]
        if slot.variant in self._dropped or any(entry.valid for entry in own):
            return
        variant = study.variant(slot.variant)
        stock = Stock(self.book, self._tell)
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
            self._tell(self._words(entry))
            if entry.valid:
                return

    def _drop(self, name: str, own: list[Entry]) -> None:
        last = [entry for entry in self.book.entries() if entry.variant == name][-MOST_FAILURES:]
        if len(last) < MOST_FAILURES or not all(_came_to_nothing(entry) for entry in last):
            return
        self._leave_out(name, "; ".join(own[-1].reasons))

    def _leave_out(self, name: str, why: str) -> None:
        self._dropped[name] = why
        self.book.note(Note(kind="dropped", at=time.time(), variant=name, text=why))
        self._tell(f"! {name} is left out of the rest: {why}")

    def _run(self, slot: Slot, attempt: int, variant: Variant, out: Path) -> Entry:
        study = self.book.study
        alone(out)
        started = time.time()
        ended = child.dyno(commands.run(variant, study.reset, study.seed + slot.pair, out))
        found = self._read(ended.document)
        if not ended.usable:
            found |= {"valid": False, "reasons": (ended.words,)}
        figures: dict[str, float] = found["figures"]
        if found["valid"] and not any(name.partition(".")[0] in study.headline for name in figures):
            found |= {"valid": False, "reasons": ("the run has none of the headline figures",)}
        if found["valid"]:
            kinds = {one.workload for one in study.variants}
            beyond = criteria.broken(study.criteria, kinds, figures)
            found["broken"] = (*found["broken"], *beyond)
        return Entry(
            place=slot.place,
            attempt=attempt,
            variant=slot.variant,
            pair=slot.pair,
            code=ended.code,
            started=started,
            ended=time.time(),
            **found,
        )

    def _read(self, document: dict[str, Any]) -> dict[str, Any]:
        """What a run's entry has from its bundle and what it printed."""
        study = self.book.study
        nothing: dict[str, Any] = {"bundle": None, "valid": False, "figures": {}, "broken": ()}
        path = document.get("bundle")
        if not isinstance(path, str):
            return nothing
        bundle = str(Path(path).relative_to(self.book.folder))
        try:
            estimates = Bundle.open(Path(path)).estimates()
        except DynoError as error:
            return {**nothing, "bundle": bundle, "reasons": (str(error),)}
        figures: dict[str, float] = {}
        for name in (*study.headline, *study.exploratory):
            figures |= METRICS[name].of(estimates)
        told = document.get("reasons") or []
        return {
            "bundle": bundle,
            "valid": document.get("valid") is not False,
            # The book is JSON, which has no number for what is none.
            "figures": {name: value for name, value in figures.items() if math.isfinite(value)},
            "reasons": tuple(str(one.get("message", one.get("code", ""))) for one in told),
            "codes": tuple(str(one.get("code", "")) for one in told),
            "broken": tuple(
                f"{one['criterion']} was not kept"
                for one in document.get("criteria") or []
                if one.get("passed") is False and one.get("binding")
            ),
        }

    def _tell(self, text: str) -> None:
        self.say("\n".join(textwrap.wrap(
            text, _COLUMNS, subsequent_indent="  ", break_on_hyphens=False
        )))  # fmt: skip

    def _words(self, entry: Entry) -> str:
        slots = self.book.slots
        took: dict[str, list[float]] = {}
        for one in self.book.entries():
            took.setdefault(one.variant, []).append(one.ended - one.started)
        rest = [slot for slot in slots[entry.place + 1 :] if slot.variant not in self._dropped]
        left = self.ahead.left_s(rest, took)
        times = f"[{entry.ended - entry.started:.0f} s"
        times += f"; {seconds_text(left)} left]" if rest else "]"
        head = f"{entry.place + 1}/{len(slots)} {entry.variant}: "
        if not entry.valid:
            return f"{head}INVALID ({'; '.join(entry.reasons)})  {times}"
        figures = [
            f"{name} {value:,.4g}"
            for name, value in entry.figures.items()
            if name.partition(".")[0] in self.book.study.headline
        ]
        what = figures[0]
        for more in figures[1:]:  # those that fit on the line
            if len(f"{head}{what}, {more}  {times}") <= _COLUMNS:
                what += f", {more}"
        beyond = f"; {'; '.join(entry.broken)}" if entry.broken else ""
        return f"{head}{what}{beyond}  {times}"


def _came_to_nothing(entry: Entry) -> bool:
    only_the_machine = bool(entry.codes) and set(entry.codes) <= _THE_MACHINES
    return not entry.valid and not only_the_machine
