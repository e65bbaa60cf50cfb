"""Probe: attributes CPU time in each phase, from counters at its start and end.

It covers phases of any length, down to the resolution of the counters. Its result is stored with
the phase (``dyno.bundle.model.CpuUse``). An agent, which knows no phases, lets it tell samples.
Other processes are listed by name. All processes are read at the start and end of a phase and every
few seconds between, so a process that ends meanwhile loses only its last seconds.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dyno.bundle.model import CpuUse, Taken
from dyno.contracts.probe import Sample, UnavailableError
from dyno.host.cpu_times import CpuTimes, parse_stat
from dyno.host.files import ROOT
from dyno.host.processes import Process, family, processes
from dyno.runtime import helpers
from dyno.safety.text import plain
from dyno.stages.observe.base import read_source

EVERY_NS = 5_000_000_000
MOST_NAMED = 5
_MOST_NAMES = 500
_MOST_TOLD = 50
_LEAST_TOLD_PERCENT = 2.0


@dataclass(frozen=True)
class Mark:
    """Counters at the start of a phase: those of all CPUs, and the sums of this probe."""

    cpu: CpuTimes
    own_ticks: int
    others: Counter[str]


class WorkProbe:
    """Reads ``/proc/stat`` and ``/proc/<pid>/stat``. Any thread may call it."""

    name = "work"

    def __init__(self, root: Path = ROOT, pid: int | None = None, *, tell: bool = False) -> None:
        """Opens nothing.

        Args:
            root: Folder with ``proc``.
            pid: Dyno's process; by default this one.
            tell: Whether readings return the CPU of other processes: source ``others``, the name
                as subject, metric ``cpu`` (% of one CPU since the last reading that returned any).
        """
        self._root = root
        self._tell = tell
        self._told: Counter[str] = Counter()
        self._named: dict[str, None] = {}
        self._pid = os.getpid() if pid is None else pid
        self._hz = os.sysconf("SC_CLK_TCK")
        self._lock = threading.Lock()
        self._servers: frozenset[int] = frozenset()
        self._last: dict[tuple[int, int], Process] | None = None
        self._last_own: set[tuple[int, int]] = set()
        self._last_ns: int | None = None
        self._own_ticks = 0
        self._others: Counter[str] = Counter()

    def watch(self, pids: Iterable[int]) -> None:
        """Sets the processes under test. Their descendants are included."""
        known = frozenset(pids)
        with self._lock:
            self._add_up()  # attribute the time so far to the previous owners
            self._servers = known

    def read(self, now_ns: int) -> list[Sample]:
        """Adds up CPU time every few seconds. Returns samples only if it is to tell them."""
        with self._lock:
            last_ns = self._last_ns
            if last_ns is not None and now_ns - last_ns < EVERY_NS:
                return []
            self._last_ns = now_ns
            self._add_up()
            return [] if last_ns is None or not self._tell else self._taken(now_ns - last_ns)

    def _taken(self, length_ns: int) -> list[Sample]:
        """The CPU of the busiest other processes, and of those that were told before."""
        grown, self._told = self._others - self._told, self._others.copy()
        shares = {name: 1e11 * ticks / self._hz / length_ns for name, ticks in grown.items()}
        for name, _ in grown.most_common(MOST_NAMED):
            if shares[name] >= _LEAST_TOLD_PERCENT and len(self._named) < _MOST_TOLD:
                self._named[name] = None
        return [
            Sample("others", plain(name), "cpu", shares.get(name, 0.0), "%") for name in self._named
        ]

    def begin(self) -> Mark | None:
        """Returns the counters at the start of a phase; None if this machine has none."""
        with self._lock:
            self._add_up()
            cpu = self._cpu()
            return None if cpu is None else Mark(cpu, self._own_ticks, self._others.copy())

    def end(self, mark: Mark) -> CpuUse | None:
        """Returns the CPU time used since ``mark``."""
        with self._lock:
            cpu = self._cpu()
            self._add_up()
            if cpu is None:
                return None
            own, others = self._own_ticks - mark.own_ticks, self._others - mark.others
            watched = bool(self._servers)
        busy = _grown(mark.cpu, cpu, "user", "system")
        steal = _grown(mark.cpu, cpu, "steal")
        total = busy + steal + _grown(mark.cpu, cpu, "iowait", "idle")
        return CpuUse(
            ticks=total,
            total_s=total / self._hz,
            busy_s=busy / self._hz,
            steal_s=steal / self._hz,
            own_s=own / self._hz,
            servers=watched,
            others=tuple(
                Taken(name=name, cpu_s=ticks / self._hz)
                for name, ticks in others.most_common(MOST_NAMED)
            ),
        )

    def _cpu(self) -> CpuTimes | None:
        try:
            return parse_stat(read_source(self._root / "proc/stat")).get("cpu")
        except (UnavailableError, ValueError):
            return None

    def _add_up(self) -> None:
        """Adds the CPU time of every process since the last reading to the sum of its owner."""
        read = processes(self._root)
        own_pids = family([self._pid, *helpers.pids(), *self._servers], read)
        now = {(one.pid, one.started): one for one in read}
        own = {key for key in now if key[0] in own_pids}
        if self._last is not None:
            self._own_ticks += self._own_growth(self._last, now, own)
            for key, one in now.items():
                known = self._last.get(key)
                grown = one.ticks - (0 if known is None else known.ticks)
                if key not in own and grown > 0:
                    self._count(one.name, grown)
        self._last, self._last_own = now, own

    def _own_growth(
        self,
        last: dict[tuple[int, int], Process],
        now: dict[tuple[int, int], Process],
        own: set[tuple[int, int]],
    ) -> int:
        """Returns the CPU time of Dyno and the servers. A parent includes its ended children."""
        pids = {key[0] for key in own}
        before = 0
        for key in self._last_own | (own & last.keys()):
            one = last[key]
            # The time of an ended process moves to its parent, if the parent is in the set.
            if key in now or one.parent in pids:
                before += one.ticks + one.reaped_ticks
        return max(sum(now[key].ticks + now[key].reaped_ticks for key in own) - before, 0)

    def _count(self, name: str, ticks: int) -> None:
        # Kernel workers have names like kworker/3:1-events, and the suffix changes.
        name = name.partition("/")[0] or name
        if name in self._others or len(self._others) < _MOST_NAMES:
            self._others[name] += ticks


def _grown(before: CpuTimes, after: CpuTimes, *names: str) -> int:
    return sum(max(getattr(after, name) - getattr(before, name), 0) for name in names)


def open_probe(root: Path) -> WorkProbe:
    """Opens the probe."""
    return WorkProbe(root)
