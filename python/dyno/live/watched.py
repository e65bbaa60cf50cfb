"""A run as it is recorded: reads what is new in a bundle, and keeps it in bins."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dyno.bundle import progress
from dyno.bundle.model import Run, those
from dyno.bundle.phases.oltp import OltpDetail
from dyno.bundle.reader import Bundle
from dyno.bundle.tables import Table, counts
from dyno.errors import UsageError
from dyno.live import members
from dyno.live.bins import NS, Array
from dyno.live.courses import Course, added
from dyno.live.journal import Journal
from dyno.live.operations import Completed, Operations, of_histograms, of_queries
from dyno.live.sampled import Samples, encoded, numbers
from dyno.live.tail import Tail
from dyno.workspace.lock import OutLock

if TYPE_CHECKING:
    import pyarrow as pa

_SLICE_S = 0.05
"""How long samples are read at a time, beside a batch of operations."""
_SILENT_S = 5.0
"""After this time without anything new, the run may have been killed."""


class Watched:
    """A bundle that is followed. :meth:`poll` and readers take turns by :attr:`lock`.

    Attributes:
        path: The folder of the bundle.
        run: Its head, as last read.
        version: Grows with everything new.
        head_version: Grows with changes of phases and facts.
        loaded: Whether everything that was there at first has been read.
        problems: What could not be read.
    """

    def __init__(self, path: Path, *, two_threads: bool = False) -> None:
        """Opens the bundle; :meth:`poll` reads its tables.

        Args:
            path: The folder of the bundle.
            two_threads: Reads samples in a second thread, as they take about as long as
                operations. Not for a daemon thread: work can no longer be handed to another
                thread once the process has begun to end.

        Raises:
            UsageError: If it is not a bundle.
        """
        self.path = path
        self.lock = threading.Lock()
        self.run: Run = Bundle.open(path).run
        self.samples = Samples(self.run.clock.unix_ns)
        self.operations = Operations(self.run.clock.unix_ns)
        self._covered_ns: dict[str, int] = {}
        self.journal = Journal(path)
        self.progress: progress.Progress | None = None
        self.version = self.head_version = 0
        self.loaded = False
        self.problems: list[str] = []
        self._tails: dict[str, Tail] = {}
        self._broken: set[str] = set()
        self._head_stamp: tuple[int, int] | None = None
        self._heard = time.monotonic()
        self._cut_off = False
        self._work: Iterator[None] | None = None
        self._beside = ThreadPoolExecutor(1) if two_threads else None

    @property
    def origin_ns(self) -> int:
        """Start of the run, ns since the Unix epoch: time 0 of the page."""
        return self.samples.origin_ns

    @property
    def status(self) -> str:
        """The status of the run; ``cut off`` if its process is gone."""
        return "cut off" if self.run.status == "running" and self._cut_off else self.run.status

    @property
    def running(self) -> bool:
        """Whether more may come."""
        return self.status == "running"

    @property
    def end_s(self) -> float:
        """The time of the newest data, in s since the start of the run."""
        newest = max(self.samples.last_ns, self.operations.last_ns, self.origin_ns + NS)
        return (newest - self.origin_ns) / NS

    def poll(self, budget_s: float = 0.2) -> bool:
        """Reads what is new, for about ``budget_s``; returns whether everything is read."""
        until = time.monotonic() + budget_s
        with self.lock:
            if self._work is None:
                self._work = self._read()
            for _ in self._work:
                if time.monotonic() > until:
                    return False
            self._work = None
            if not self.loaded:
                self.loaded = True
                self.version += 1
            return True

    def close(self) -> None:
        """Closes the files."""
        if self._beside is not None:
            self._beside.shutdown()
        with self.lock:
            for tail in self._tails.values():
                tail.close()

    def _read(self) -> Iterator[None]:
        """Reads everything new, and stops after each batch."""
        before = self.version
        with self._noted("run.json"):
            self._read_head()
        self.version += self.journal.read()
        found = progress.read(self.path)
        if found != self.progress:
            self.progress = found
            self.version += 1
        yield
        samples = added([self._course("samples", self._add_samples)])
        others = added([self._course(name, add) for name, add in self._tables()])
        more = True
        while more:
            if self._beside is None:
                more = _advance(samples, 0) | _advance(others, 0)
            else:
                beside = self._beside.submit(_advance, samples, _SLICE_S)
                more = _advance(others, 0)
                more |= beside.result()
            yield
        self._listen(self.version != before)

    def _read_head(self) -> None:
        status = (self.path / "run.json").stat()
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._head_stamp:
            self.run = Bundle.open(self.path).run
            self._head_stamp = stamp
            self.head_version += 1
            self.version += 1

    def _tables(self) -> list[tuple[str, Callable[[pa.RecordBatch], None]]]:
        """The tables of operations with how their rows are added."""
        levels = {phase.detail.level: phase.detail for phase in those(self.run.phases, OltpDetail)}
        named = sorted(
            {
                path.stem
                for path in (self.path / "ops").glob("*")
                if path.suffix in (".jsonl", ".parquet") and not path.name.startswith(".")
            }
        )
        found: list[tuple[str, Callable[[pa.RecordBatch], None]]] = [
            ("queries", self._add_queries),
            ("during", self._add_queries),
            ("io_intervals", self._add_storage),
        ]
        for level in named:
            whole = None if level not in levels else levels[level].part_of
            if whole is None:
                found.append((f"ops/{level}", partial(self._add_operations, level, 1)))
            elif whole not in named or f"ops/{level}" in self._tails:
                parts = sum(one.part_of == whole for one in levels.values())
                found.append((f"ops/{level}", partial(self._add_operations, level, parts)))
        return [one for one in found if not self._is_sum_of_read(one[0], levels)]

    def _is_sum_of_read(self, table: str, levels: dict[str | None, OltpDetail]) -> bool:
        """Whether the table adds up levels that were read while they ran."""
        parts = (name for name, detail in levels.items() if f"ops/{detail.part_of}" == table)
        return table not in self._tails and any(f"ops/{name}" in self._tails for name in parts)

    def _course(self, name: str, add: Callable[[pa.RecordBatch], None]) -> Course:
        tail = self._tails.setdefault(name, Tail(self.path, name))
        batches = () if name in self._broken else tail.batches()
        time_of = "end_ns" if "end_ns" in Table.of(name).value else "t_ns"

        def add_and_tell(batch: pa.RecordBatch) -> None:
            add(batch)
            self.version += 1

        return Course(batches, time_of, add_and_tell, partial(self._noted, name))

    @contextlib.contextmanager
    def _noted(self, name: str) -> Generator[None]:
        """Notes what cannot be read, once, and reads it no more."""
        try:
            yield
        except (UsageError, OSError) as error:
            if name not in self._broken:
                self._broken.add(name)
                self.problems.append(f"{name}: {error}")
                self.version += 1
                self.head_version += 1

    def _listen(self, anything: bool) -> None:
        """Finds out whether the run was killed when nothing new came for a while."""
        now = time.monotonic()
        if anything:
            self._heard = now
        if self.run.status == "running" and (now - self._heard > _SILENT_S or not self.loaded):
            cut_off = not OutLock.held(self.path.parent)
            if cut_off != self._cut_off:
                self._cut_off = cut_off
                self.version += 1
                self.head_version += 1
        elif anything:
            self._cut_off = False

    def _add_samples(self, batch: pa.RecordBatch) -> None:
        self.samples.add(batch, self._tails["samples"].until_ns)

    def _add_operations(self, level: str, parts: int, batch: pa.RecordBatch) -> None:
        names, codes = encoded(batch, "op")
        t_ns = numbers(batch, "t_ns", np.int64)
        done = numbers(batch, "done", np.int64) + numbers(batch, "rolled_back", np.int64)
        errors, where = encoded(batch, "errors")
        failed = np.array([sum(counts(text).values()) for text in errors], float)[where]
        seconds = np.nan_to_num(numbers(batch, "seconds", np.float64)) / parts
        rows = of_histograms(t_ns, seconds, done.astype(float), failed, _texts(batch, "response"))
        member = members.of_level(self.run, level)
        names = [members.named(member, name) for name in names]
        self.operations.add(names, codes, rows, self._tails[f"ops/{level}"].until_ns)
        moments, first = np.unique(t_ns, return_index=True)
        known_ns = self._covered_ns.get(level, 0)
        new = moments > known_ns
        self.operations.cover(member or "", names, moments[new], seconds[first][new])
        self._covered_ns[level] = int(moments.max(initial=known_ns))

    def _add_queries(self, batch: pa.RecordBatch) -> None:
        names, codes = members.of_queries(self.run, batch)
        errors, where = encoded(batch, "error")
        failed = np.array([error is not None for error in errors])[where]
        seconds = np.nan_to_num(numbers(batch, "seconds", np.float64))
        end_ns = numbers(batch, "end_ns", np.int64)
        self.operations.add(names, codes, of_queries(end_ns, seconds, failed))

    def _add_storage(self, batch: pa.RecordBatch) -> None:
        t_ns = numbers(batch, "t_ns", np.int64)
        seconds = np.nan_to_num(numbers(batch, "seconds", np.float64))
        alike = {int(moment): int(many) for moment, many in zip(*_counted(t_ns), strict=True)}
        shared = seconds / np.array([alike[int(one)] for one in t_ns.tolist()])
        for place, name in enumerate(("read", "write")):
            done = numbers(batch, f"{name}s", np.int64).astype(float)
            if done.any() or name in self.operations.by_name:
                latencies = _texts(batch, f"{name}_latency")
                rows: Completed = of_histograms(t_ns, shared, done, np.zeros(len(t_ns)), latencies)
                self.operations.add(["read", "write"], np.full(len(t_ns), place), rows)


def _advance(work: Iterator[None], seconds: float) -> bool:
    """Goes on for some time; returns whether there may be more to do."""
    until = time.monotonic() + seconds
    return any(time.monotonic() >= until for _ in work)


def _counted(values: Array) -> tuple[Array, Array]:
    return np.unique(values, return_counts=True)


def _texts(batch: pa.RecordBatch, name: str) -> pa.Array[Any]:
    import pyarrow as pa

    at = batch.schema.get_field_index(name)
    return pa.nulls(batch.num_rows, pa.string()) if at < 0 else batch.column(at)
