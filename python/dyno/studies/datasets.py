"""The data sets of a study: loaded once for the variants that share them, and restored."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dyno import workloads
from dyno.config.units import bytes_text, seconds_text
from dyno.contracts.databases import schema_of
from dyno.errors import TargetError
from dyno.safety.safefiles import make_folder
from dyno.studies import asked, child, moments, saved
from dyno.studies.model import Variant
from dyno.studies.store import Note, StudyStore
from dyno.workspace.lock import OutLock

_LOADED = "loaded.json"
_WRONG = {"wrong-answers", "inconsistent", "incomplete"}
"""Reasons that concern the data itself, not the speed of its load."""
_POLL_S = 0.1
_LONGEST_END_S = 300.0


@dataclass
class Datasets:
    """The loaded data sets.

    Private engines have a folder for each data set. The user's server or database file holds one at
    a time; loading another one replaces it.
    """

    book: StudyStore
    say: Callable[[str], None]

    def ready(self, variant: Variant) -> Path:
        """Loads the variant's data if needed; returns the folder of its runs.

        Raises:
            TargetError: If the load fails.
        """
        number = self._number(variant)
        out = self.book.folder / f"data-{number}"
        make_folder(out)
        alone(out)
        if self._loads_each(variant):
            return out
        if asked.loads(variant, self.book.study, out) and {
            _loaded(self.book).get(place) for place in _places(variant, out)
        } != {number}:
            self._load(variant, out)
            if self.book.study.reset == "reload" and variant.embedded:
                self._keep(variant, out)
            _mark(self.book, _places(variant, out), number)
        return out

    def reset(self, variant: Variant, out: Path) -> None:
        """Restores the data to its state after the load: from the copy, or by a load.

        Raises:
            TargetError: If it fails.
        """
        if saved.is_kept(out):
            kept = saved.restore(out)
            self._note("restore", variant, kept.seconds, kept.size_bytes, kept.shared)
        else:
            self._load(variant, out)
            _mark(self.book, _places(variant, out), self._number(variant))

    def _loads_each(self, variant: Variant) -> bool:
        """Whether ``reset`` loads the data before each run, because it cannot keep a copy."""
        return self.book.study.reset == "reload" and not variant.embedded

    def _load(self, variant: Variant, out: Path) -> None:
        _mark(self.book, _places(variant, out), None)
        plans = asked.loads(variant, self.book.study, out)
        if not plans:
            return
        began = time.monotonic()
        for plan in plans:
            self.say(f"Load for {variant.name}: {plan.command}")
            ended = child.dyno(plan)
            wrong = [
                str(one.get("message", one["code"]))
                for one in ended.document.get("reasons") or []
                if one.get("code") in _WRONG
            ]
            if not ended.usable or wrong:
                reason = "; ".join(wrong) or ended.words
                raise TargetError(f"The data of '{variant.name}' cannot be made: {reason}")
        self._note("load", variant, time.monotonic() - began, saved.bytes_of(out / saved.ENGINES))

    def _keep(self, variant: Variant, out: Path) -> None:
        kept = saved.keep(out)
        self._note("keep", variant, kept.seconds, kept.size_bytes, kept.shared)
        how = "sharing its blocks" if kept.shared else "copied"
        self.say(f"Saved state: {bytes_text(kept.size_bytes)}, {how}, {seconds_text(kept.seconds)}")

    def _number(self, variant: Variant) -> int:
        """The number of its data set, from 1."""
        keys = list(dict.fromkeys(each.data for each in self.book.study.variants))
        return keys.index(variant.data) + 1

    def _note(
        self, kind: str, variant: Variant, seconds: float, size: int, shared: bool = False
    ) -> None:
        self.book.note(Note.model_validate({
            "kind": kind, "at": moments.now(), "variant": variant.name,
            "data": self._number(variant), "seconds": seconds, "size_bytes": size,
            "shared": shared,
        }))  # fmt: skip


def forget(book: StudyStore, out: Path) -> None:
    """Marks the data of private engines in a folder as not loaded."""
    _mark(book, [out.name], None)


def alone(out: Path) -> None:
    """Waits until no Dyno uses a folder: after a kill, a run first stops its server.

    Raises:
        TargetError: If one does not end.
    """
    deadline = time.monotonic() + _LONGEST_END_S
    while OutLock.held(out):
        if time.monotonic() > deadline:
            raise TargetError(f"Another dyno uses {out}. Stop it first.", kind="busy")
        time.sleep(_POLL_S)


def _places(variant: Variant, out: Path) -> list[str]:
    """The locations of the variant's data.

    Those are the folder of a private engine, or the tables of each workload in a user's database.
    """
    if variant.embedded:
        return [out.name]
    # Workloads may share a schema, and so may files with the same name.
    schemas = (schema_of(workloads.get(word).name) for word in variant.members)
    return [f"{schema} {variant.target}" for schema in dict.fromkeys(schemas)]


def _loaded(book: StudyStore) -> dict[str, int]:
    """Completely loaded data sets, by location."""
    try:
        return json.loads((book.folder / _LOADED).read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _mark(book: StudyStore, places: list[str], number: int | None) -> None:
    from dyno.bundle.writer import write_atomically

    known = {key: value for key, value in _loaded(book).items() if key not in places}
    if number is not None:
        known |= dict.fromkeys(places, number)
    write_atomically(book.folder / _LOADED, json.dumps(known))
