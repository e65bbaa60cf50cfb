"""What a page shows: one run, or the runs of a study one after another."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

from dyno.bundle import progress
from dyno.bundle.reader import list_bundles
from dyno.errors import UsageError
from dyno.live.watched import Watched
from dyno.studies.ending import ending
from dyno.studies.store import StudyStore
from dyno.workspace.lock import OutLock


def is_study(folder: Path) -> bool:
    """Whether a folder holds a study."""
    return (folder / "study.json").is_file()


def newest_run(study: Path) -> Path | None:
    """The bundle of the newest run or load of a study; None before the first."""
    found = [bundle.path for data in study.glob("data-*") for bundle in list_bundles(data)[:1]]
    return max(found, key=lambda path: path.name, default=None)


class Shown:
    """A run, or a study with its newest run.

    Attributes:
        watched: The run.
        version: Grows with everything new, also from run to run.
        head_version: Grows with changes of phases, facts and the schedule.
    """

    def __init__(self, path: Path, *, two_threads: bool = False) -> None:
        """Opens a bundle, or the newest one of a study; ``two_threads`` as for a bundle.

        Raises:
            UsageError: If it is neither, or the study has no run yet.
        """
        self._store = StudyStore.open(path) if is_study(path) else None
        run = path if self._store is None else newest_run(path)
        if run is None:
            raise UsageError(f"The study in {path} has no run yet.")
        self._two_threads = two_threads
        self.watched = Watched(run, two_threads=two_threads)
        self._before = 0
        self._stamp: object = None

    @property
    def version(self) -> int:
        """Grows with everything new, also from run to run."""
        return self._before + self.watched.version

    @property
    def head_version(self) -> int:
        """Grows with changes of phases, facts and the schedule."""
        return self._before + self.watched.head_version

    def poll(self, budget_s: float = 0.2) -> bool:
        """Reads what is new, for about ``budget_s``; returns whether everything is read."""
        if self._store is not None:
            self._follow(self._store)
        return self.watched.poll(budget_s)

    def close(self) -> None:
        """Closes the files."""
        self.watched.close()

    def schedule(self) -> dict[str, Any] | None:
        """The schedule of the study with the results of its runs; None for a single run.

        A run has the state ``planned``, ``running``, ``dropped``, or its verdict.
        """
        store = self._store
        if store is None:
            return None
        try:
            entries, begun, dropped = store.entries(), store.begun_run(), store.dropped()
            over = ending(store)
        except UsageError as error:
            return {"name": store.study.name, "text": str(error), "runs": []}
        last = {entry.place: entry for entry in entries}
        at_work = OutLock.held(store.folder)
        runs: list[dict[str, Any]] = []
        for slot in store.slots:
            entry = last.get(slot.place)
            state = "dropped" if slot.variant in dropped else "planned"
            if at_work and begun is not None and begun.place == slot.place:
                state, entry = "running", None
            elif entry is not None:
                state = entry.verdict
            length = None if entry is None else entry.ended - entry.started
            runs.append({"variant": slot.variant, "state": state, "seconds": length})
        text = store.study.question if at_work else over.text
        return {"name": store.study.name, "text": text, "runs": runs}

    def left(self) -> dict[str, Any] | None:
        """The step of a study at work, its share, and the seconds that are left, if known."""
        if self._store is None or not OutLock.held(self._store.folder):
            return None
        found = progress.read(self._store.folder)
        if found is None:
            return None
        left_s = found.run_left_s
        if left_s is not None:
            left_s = max(0.0, left_s - max(0.0, time.time() - found.t_ns / 1e9))
        return {"step": found.phase, "done": found.done, "total": found.total, "left_s": left_s}

    def _follow(self, store: StudyStore) -> None:
        """Goes on to the next run, and notices results."""
        stamp: list[object] = [OutLock.held(store.folder)]
        for path in sorted(store.folder.glob("*.json*")):
            with contextlib.suppress(OSError):
                stamp.append(path.stat().st_mtime_ns)
        if stamp == self._stamp:
            newest = None
        else:
            newest = newest_run(store.folder)
            self._stamp = stamp
            self._before += 1
        if newest is None and not self.watched.running:
            newest = newest_run(store.folder)
        if newest is not None and newest != self.watched.path:
            with contextlib.suppress(UsageError):  # its head is not there yet
                following = Watched(newest, two_threads=self._two_threads)
                before, self.watched = self.watched, following
                self._before += before.version + 1
                before.close()
