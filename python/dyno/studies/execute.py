"""Makes the runs of a study, each a process of its own, and writes them into its book."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dyno.bundle import Bundle
from dyno.errors import DynoError, Interrupted, TargetError
from dyno.servers import become
from dyno.studies import commands, loads, saved
from dyno.studies.analysis import tight
from dyno.studies.book import Book, Entry
from dyno.studies.metrics import METRICS
from dyno.studies.model import Variant
from dyno.studies.schedule import Slot

_USABLE = {0, 1}
_LEAST_PAIRS = 5
MOST_FAILURES = 2
"""A variant whose runs came to nothing so often in a row is left out of the rest."""


@dataclass
class Work:
    """A study that goes on.

    Attributes:
        say: Hears a line for each run.
    """

    book: Book
    say: Callable[[str], None]
    _start: float = field(default_factory=time.monotonic)
    _dropped: dict[str, str] = field(default_factory=dict[str, str])

    def run(self) -> str:
        """Makes what is left to be made; returns why it ended.

        Raises:
            Interrupted: If the user stopped it; what ended before is in the book.
            TargetError: If the data of the first variant cannot be made.
        """
        for slot in self.book.slots:
            entries = self.book.entries()
            reason = self._over(slot, entries)
            if reason:
                break
            self._slot(slot, entries)
        else:
            reason = "all runs made"
        self.book.tell({"ended": reason, "dropped": self._dropped})
        return reason

    def _over(self, slot: Slot, entries: list[Entry]) -> str:
        """Why no new pair is begun; empty if one is."""
        study = self.book.study
        first = self.book.slots[slot.place - 1].pair != slot.pair if slot.place else True
        if not first or not entries:
            return ""
        limit = study.time_limit_s
        if limit is not None and time.monotonic() - self._start > limit:
            return "the time limit was reached"
        if tight(study, entries, _LEAST_PAIRS):
            return f"every headline interval is within {study.margin:g} %"
        return ""

    def _slot(self, slot: Slot, entries: list[Entry]) -> None:
        study = self.book.study
        own = [entry for entry in entries if entry.place == slot.place]
        if slot.variant in self._dropped or any(entry.valid for entry in own):
            return
        variant = study.variant(slot.variant)
        out = self._data(variant)
        while True:
            again = sum(entry.attempt > 1 for entry in self.book.entries())
            if own and again >= study.replace:
                self._drop(slot.variant, own)
                return
            if variant.verb == "load":
                loads.remove_engines(out)
            elif study.reset == "reload":
                self._reset(variant, out)
            entry = self._run(slot, len(own) + 1, variant, out)
            own.append(entry)
            self.book.add(entry)
            self.say(self._words(entry))
            if entry.valid:
                return

    def _drop(self, name: str, own: list[Entry]) -> None:
        failures = [entry for entry in self.book.entries() if entry.variant == name]
        if len(failures) < MOST_FAILURES or any(e.valid for e in failures[-MOST_FAILURES:]):
            return
        self._dropped[name] = "; ".join(own[-1].reasons)
        self.say(f"! {name} is left out of the rest: {self._dropped[name]}")

    def _data(self, variant: Variant) -> Path:
        """The folder with the variant's data, which is loaded unless it was."""
        keys = list(dict.fromkeys(each.data for each in self.book.study.variants))
        out = self.book.folder / f"data-{keys.index(variant.data) + 1}"
        out.mkdir(parents=True, exist_ok=True)
        mark = out / ".loaded"
        if not mark.exists():
            self._load(variant, out)
            if self.book.study.reset == "reload" and variant.target.startswith("embedded:"):
                saved.keep(out)
            mark.touch()
        return out

    def _reset(self, variant: Variant, out: Path) -> None:
        """The data as it was after the load: from the copy, or else loaded again."""
        if saved.is_kept(out):
            saved.restore(out)
        else:
            self._load(variant, out)

    def _load(self, variant: Variant, out: Path) -> None:
        words = commands.load(variant, out)
        if not words:
            return
        self.say(f"Load for {variant.name}: dyno {' '.join(words)}")
        code, _, error = self._process(words)
        if code not in _USABLE:
            raise TargetError(f"The data of '{variant.name}' cannot be made: {error}")

    def _run(self, slot: Slot, attempt: int, variant: Variant, out: Path) -> Entry:
        study = self.book.study
        started = time.time()
        words = commands.run(variant, study.reset, study.seed + slot.pair, out)
        code, document, error = self._process(words)
        figures, reasons, bundle, valid = self._read(document)
        if code not in _USABLE:
            valid, reasons = False, (error,)
        if valid and not any(name.partition(".")[0] in study.headline for name in figures):
            valid, reasons = False, (*reasons, "the run has none of the headline figures")
        return Entry(
            place=slot.place,
            attempt=attempt,
            variant=slot.variant,
            pair=slot.pair,
            bundle=bundle,
            code=code,
            valid=valid,
            reasons=reasons,
            figures=figures,
            started=started,
            ended=time.time(),
        )

    def _read(
        self, document: dict[str, Any]
    ) -> tuple[dict[str, float], tuple[str, ...], str | None, bool]:
        study = self.book.study
        path = document.get("bundle")
        if not isinstance(path, str):
            return {}, (), None, False
        figures: dict[str, float] = {}
        try:
            estimates = Bundle.open(Path(path)).estimates()
        except DynoError as error:
            return {}, (str(error),), path, False
        for name in (*study.headline, *study.exploratory):
            figures |= METRICS[name].of(estimates)
        told = document.get("reasons") or []
        reasons = [str(one.get("message", one.get("code", ""))) for one in told]
        broken = [
            str(one["criterion"]) + " was not kept"
            for one in document.get("criteria") or []
            if one.get("passed") is False and one.get("binding")
        ]
        relative = str(Path(path).relative_to(self.book.folder))
        return figures, (*reasons, *broken), relative, document.get("valid") is not False

    def _process(self, words: list[str]) -> tuple[int, dict[str, Any], str]:
        """Runs ``dyno`` so that it ends when this process does; code, document, last words."""
        command = [
            *(sys.executable, "-I", "-S", become.__file__),
            *(str(os.getpid()), str(int(signal.SIGTERM)), "self", str(Path.cwd())),
            *(sys.executable, "-m", "dyno", *words),
        ]
        # A session of its own: Ctrl-C reaches this process alone, which hands it on once.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, start_new_session=True,
        )  # fmt: skip
        try:
            told, error = process.communicate()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise Interrupted("Interrupted.") from None
        lines = [line for line in error.splitlines() if line.strip()]
        last = next((line for line in reversed(lines) if line.startswith("dyno: ")), "")
        try:
            document = json.loads(told) if told.strip() else {}
        except ValueError:
            document = {}
        words_ = last.removeprefix("dyno: ") or (
            lines[-1] if lines else f"exit code {process.returncode}"
        )
        return process.returncode, document if isinstance(document, dict) else {}, words_

    def _words(self, entry: Entry) -> str:
        done = f"{entry.place + 1}/{len(self.book.slots)}"
        took = entry.ended - entry.started
        headline = [
            f"{name} {value:,.4g}"
            for name, value in entry.figures.items()
            if name.partition(".")[0] in self.book.study.headline
        ]
        what = ", ".join(headline) if entry.valid else f"INVALID ({'; '.join(entry.reasons)})"
        return f"{done} {entry.variant}: {what}  [{took:.0f} s]"
