"""All limits of a run: creation, assignment to a server or to Dyno, and their effects."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyno.bundle.model import Confined
from dyno.config.settings import bytes_text
from dyno.confinement import keeper, launch, limits_asked, places
from dyno.confinement.group import Group
from dyno.confinement.limits_asked import Bound, Controller
from dyno.errors import TargetError, UsageError
from dyno.host import pagecache

if TYPE_CHECKING:
    from dyno.contracts.target import LimitedPlace, Limits

_WRITE_BACK = (
    "Version 1 of control groups limits direct and synchronous writes only: what the kernel writes "
    "back from the page cache later passes the limit by."
)

_EMPTIED = "The data was put out of the page cache first, so that the limit counts what is cached."
_CACHED = "Data that was in the page cache before stayed there: the limit does not count it."


class Confinement:
    """The limits of a run; the context manager creates the groups to enter."""

    def __init__(
        self, asked: Sequence[Bound], where: LimitedPlace, devices: Mapping[str, str] | None = None
    ) -> None:
        """Plans these limits without creating anything.

        Args:
            asked: The limits, at least one.
            where: The processes they apply to.
            devices: Block devices of the I/O limits, with their ``major:minor``.

        Raises:
            UsageError: If this process cannot create such a group.
        """
        self.asked = asked
        self.where: LimitedPlace = where
        self._devices = dict(devices or {})
        self._places = places.find(_controllers(asked))
        self._groups: list[Group] = []
        self._notes: list[str] = []
        self._effects: Confined | None = None

    def __enter__(self) -> Confinement:
        """Creates the groups, and verifies that a process can enter them.

        Raises:
            UsageError: If it cannot.
        """
        try:
            for place in self._places:
                self._groups.append(Group(place))
            for group in self._groups:
                group.limit(self.asked, list(self._devices.values()))
            self._try()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        """Removes the groups."""
        for group in self._groups:
            group.close()
        self._groups.clear()

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of the block devices of its I/O limits."""
        return tuple(self._devices)

    @property
    def launch(self) -> tuple[str, ...]:
        """The command prefix that starts a server within the limits."""
        return self._launch() if self.where == "server" else ()

    def fitted(self, limits: Limits, total_bytes: int | None) -> Limits:
        """The machine resources of an engine, reduced to the limits of the run."""
        total = limits.memory_bytes * 2 if total_bytes is None else total_bytes
        return replace(
            limits,
            memory_bytes=min(
                limits.memory_bytes, limits_asked.memory_bytes(self.asked, total) // 2
            ),
            threads=limits_asked.threads(self.asked, limits.threads),
            launch=self.launch,
            killed=self.killed,
        )

    @contextlib.contextmanager
    def within(self) -> Generator[None]:
        """Applies the limits to Dyno's own process within the block, if they are for it.

        Existing threads keep their CPUs; the other limits apply to all threads.

        Raises:
            UsageError: If it cannot enter the groups.
        """
        if self.where == "server":
            yield
            return
        before = os.sched_getaffinity(0)
        with contextlib.ExitStack() as leave:
            if self._limits_memory:
                leave.callback(self._kept())
            try:
                for group in self._groups:
                    launch.enter(str(group.members), os.getpid())
                    leave.callback(launch.enter, str(group.home), os.getpid())
                if (cpus := self._processors()) is not None:
                    os.sched_setaffinity(0, cpus)
                    leave.callback(os.sched_setaffinity, 0, before)
            except OSError as error:
                raise UsageError(
                    f"--limit: Dyno cannot enter its group: {error.strerror}."
                ) from error
            yield

    def charge(self, paths: Collection[Path]) -> None:
        """Evicts an engine's files from the page cache before it starts, if memory is limited.

        A cached page is already charged to another group: reading it again would not count.
        """
        files = pagecache.files_under(paths) if self._limits_memory else []
        if not files:
            return
        try:
            pagecache.empty(files)
        except (OSError, TargetError):
            self._notes.append(_CACHED)
        else:
            self._notes.append(_EMPTIED)

    def killed(self) -> str | None:
        """The limit for which the kernel killed a process; None if it did not."""
        return self._memory_words if any(group.killed() for group in self._groups) else None

    @contextlib.contextmanager
    def changing(
        self, devices: Collection[str] | None = None
    ) -> Generator[Callable[[str, float], None]]:
        """Yields a function that changes a limit, by name; the end restores them.

        Limits on I/O change on these of :attr:`devices`; by default on all of them.

        The effects of the limits are counted up to here.

        Raises:
            UsageError: If the kernel rejects a value.
        """
        self._effects = self.effects()
        chosen = self.devices if devices is None else devices
        numbers = [number for name, number in self._devices.items() if name in chosen]

        def change(name: str, value: float) -> None:
            bounds = [replace(one, value=value) for one in self.asked if one.word.name == name]
            for group in self._groups:
                group.limit(bounds, numbers)

        try:
            yield change
        finally:
            for group in self._groups:
                group.limit(self.asked, list(self._devices.values()))

    def effects(self) -> Confined:
        """The limits, and their effects so far."""
        if self._effects is not None:
            return self._effects
        found: dict[str, Any] = {}
        for group in self._groups:
            found |= group.effects()
        versions = [place.version for place in self._places]
        writes = any(bound.word.name.startswith("write_") for bound in self.asked)
        return Confined(
            where=self.where,
            version=max(versions, default=None),
            limits=limits_asked.as_record(self.asked),
            devices=self.devices,
            notes=(*self._notes, *([_WRITE_BACK] if writes and 1 in versions else [])),
            **found,
        )

    @property
    def _memory_words(self) -> str:
        sizes = [int(b.value) for b in self.asked if b.word.name == "memory"]
        return f"memory limit of {bytes_text(sizes[0])} (--limit memory)" if sizes else "no memory"

    @property
    def _limits_memory(self) -> bool:
        return "memory" in _controllers(self.asked)

    def _processors(self) -> frozenset[int] | None:
        return next((b.processors for b in self.asked if b.processors), None)

    def _launch(self) -> tuple[str, ...]:
        cpus = ",".join(map(str, sorted(self._processors() or ())))
        script = [sys.executable, "-I", "-S", launch.__file__, cpus]
        return (*script, *(str(group.members) for group in self._groups), "--")

    def _try(self) -> None:
        """Verifies with a child process that groups can be entered; permissions are no proof."""
        done = subprocess.run(
            [*self._launch(), sys.executable, "-I", "-S", "-c", ""],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise UsageError(f"--limit: no process can go where the limits hold: {reason}.")

    def _kept(self) -> Any:
        """Starts the process that reports a kill of Dyno; returns the function that ends it."""
        (group,) = (one for one in self._groups if "memory" in one.place.controllers)
        name = "memory.oom_control" if group.place.version == 1 else "memory.events"
        theirs, ours = os.pipe()
        try:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", keeper.__file__),
                    *(str(theirs), str(group.path / name)),
                    f"Dyno was killed, and the engine in it: {self._memory_words}.",
                ],
                pass_fds=[theirs],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(theirs)

        def leave() -> None:
            with contextlib.suppress(OSError):
                os.write(ours, b".")
            os.close(ours)
            process.wait()

        return leave


def confine(
    texts: Sequence[str],
    where: LimitedPlace,
    paths: Collection[Path],
    memory_bytes: int | None = None,
) -> Confinement | None:
    """The limits of a command line, checked but not applied. None without any.

    Args:
        texts: ``word=value``.
        where: The processes they apply to.
        paths: Current or future paths of the data.
        memory_bytes: The memory of this machine, if known.

    Raises:
        UsageError: One line with the invalid limit.
    """
    from dyno.confinement import devices

    asked = limits_asked.parse(texts)
    if not asked:
        return None
    limits_asked.require(asked, shared=where == "process", memory_bytes=memory_bytes)
    throttled = any(bound.word.controller == "io" for bound in asked)
    return Confinement(asked, where, devices.under(paths) if throttled else {})


def _controllers(asked: Sequence[Bound]) -> list[Controller]:
    found: dict[Controller, None] = {}
    for bound in asked:
        if bound.word.controller is not None:
            found[bound.word.controller] = None
    return list(found)
