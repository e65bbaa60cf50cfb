"""Probe: CPU and memory of Dyno and of the local database servers.

Subject ``dyno`` covers this process with all threads, in-process engines and helper processes.
Subject ``server`` exists while server processes are watched and covers them with all descendants.
Metrics: ``cpu`` (% of one CPU since the last reading) and ``rss`` (B); for ``server`` also
``processes`` (count).

``rss`` of several processes is the sum of their private pages plus the largest shared size of one
process. Shared pages, such as a buffer pool that all map, thus count once. It is a lower bound.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from dyno.contracts.probe import Sample
from dyno.host.files import ROOT
from dyno.runtime import helpers
from dyno.stages.observe.process_tree import ProcessTree

_ATTEMPTS = 5


class Usage(NamedTuple):
    """Usage of one process.

    Attributes:
        cpu_s: CPU time of the process and of its ended children that it waited for. The sum over a
            tree loses nothing when a child ends.
        shared_bytes: The part of ``rss_bytes`` that other processes may also map.
    """

    cpu_s: float
    rss_bytes: int
    shared_bytes: int


class ProcessProbe:
    """Reads Dyno and the watched processes through psutil."""

    name = "process"

    def __init__(self, root: Path = ROOT) -> None:
        self._tree = ProcessTree(root)
        self._dyno = psutil.Process()
        self._dyno_cpu_ns: int | None = None
        self._helpers: dict[int, Usage] = {}
        self._last_ns = 0
        self._lock = threading.Lock()
        self._watched: tuple[psutil.Process, ...] = ()
        self._known: dict[int, psutil.Process] = {}
        self._trees: dict[psutil.Process, dict[int, Usage]] = {}

    def watch(self, pids: Iterable[int]) -> None:
        """Replaces the watched servers. Skips processes that have ended."""
        trees: dict[psutil.Process, list[int]] = {}
        for pid in sorted(set(pids)):
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                trees[process] = self._tree.pids(process)
        # A descendant of another watched process is counted there.
        below = {pid for tree in trees.values() for pid in tree[1:]}
        with self._lock:
            self._watched = tuple(process for process in trees if process.pid not in below)

    def read(self, now_ns: int) -> list[Sample]:
        """Returns CPU since the last reading, and current memory."""
        seconds = (now_ns - self._last_ns) / 1e9
        self._last_ns = now_ns
        with self._lock:
            watched = self._watched
        return self._read_dyno(seconds) + self._read_servers(watched, seconds)

    def _read_dyno(self, seconds: float) -> list[Sample]:
        last_ns, self._dyno_cpu_ns = self._dyno_cpu_ns, time.process_time_ns()
        read = {pid: usage for pid in helpers.pids() if (usage := self._usage(pid)) is not None}
        before, self._helpers = self._helpers, read
        rss = self._dyno.memory_info().rss + resident_bytes(read.values())
        rows = [Sample("process", "dyno", "rss", float(rss), "B")]
        if last_ns is not None and seconds > 0:
            helped_s = sum(read[pid].cpu_s - before[pid].cpu_s for pid in read.keys() & before)
            cpu = ((self._dyno_cpu_ns - last_ns) / 1e7 + 100 * helped_s) / seconds
            rows.append(Sample("process", "dyno", "cpu", cpu, "%"))
        return rows

    def _read_servers(self, watched: Sequence[psutil.Process], seconds: float) -> list[Sample]:
        trees = {process: self._read_tree(process) for process in watched if process.is_running()}
        last, self._trees = self._trees, {process: tree for process, tree in trees.items() if tree}
        self._known = {pid: self._known[pid] for tree in self._trees.values() for pid in tree}
        return server_samples(last, self._trees, seconds)

    def _read_tree(self, process: psutil.Process) -> dict[int, Usage]:
        """Returns the usage of each process of a tree; empty if the tree keeps changing.

        The sum must include every process, or the time of a missed one appears in one later
        interval. A child that ends after its parent was read is in neither, and the kernel may skip
        children while others end (proc_pid_task_children(5)). The whole tree is then read again.
        """
        before = self._trees.get(process, {})
        for _ in range(_ATTEMPTS):
            pids = self._tree.pids(process)
            skipped = any(self._is_child_of(pid, pids) for pid in before.keys() - set(pids))
            usages = {pid: usage for pid in pids if (usage := self._usage(pid)) is not None}
            if len(usages) == len(pids) and not skipped:
                return usages
        return {}

    def _is_child_of(self, pid: int, parents: Sequence[int]) -> bool:
        """Whether a process of the last reading still runs below one of ``parents``."""
        process = self._known[pid]
        with contextlib.suppress(psutil.Error):
            return process.is_running() and process.ppid() in parents
        return False

    def _usage(self, pid: int) -> Usage | None:
        """Returns the usage of a process; None if it has ended."""
        try:
            process = self._known.get(pid)
            if process is None:
                process = self._known[pid] = psutil.Process(pid)
            cpu, memory = process.cpu_times(), process.memory_info()
        except psutil.Error:
            return None
        ended = getattr(cpu, "children_user", 0.0) + getattr(cpu, "children_system", 0.0)
        return Usage(cpu.user + cpu.system + ended, memory.rss, getattr(memory, "shared", 0))


def server_samples(
    before: dict[psutil.Process, dict[int, Usage]],
    after: dict[psutil.Process, dict[int, Usage]],
    seconds: float,
) -> list[Sample]:
    """Returns the metrics of all servers together from two readings ``seconds`` apart.

    Each reading maps watched process → process id in its tree → usage. CPU covers the trees in both
    readings.
    """
    usages = {pid: usage for tree in after.values() for pid, usage in tree.items()}
    if not usages:
        return []
    values = [
        ("rss", float(resident_bytes(usages.values())), "B"),
        ("processes", float(len(usages)), "count"),
    ]
    both = before.keys() & after.keys()
    if both and seconds > 0:
        used_s = sum(max(_cpu_s(after[tree]) - _cpu_s(before[tree]), 0.0) for tree in both)
        values.append(("cpu", 100 * used_s / seconds, "%"))
    return [Sample("process", "server", metric, value, unit) for metric, value, unit in values]


def _cpu_s(tree: dict[int, Usage]) -> float:
    """Returns the CPU time of a tree. It decreases when a process moves to another parent."""
    return sum(usage.cpu_s for usage in tree.values())


def resident_bytes(usages: Collection[Usage]) -> int:
    """Returns the memory of processes with shared pages; see the module docstring."""
    private = sum(usage.rss_bytes - usage.shared_bytes for usage in usages)
    return private + max((usage.shared_bytes for usage in usages), default=0)


def open_probe(root: Path) -> ProcessProbe:
    """Opens the probe."""
    return ProcessProbe(root)
