"""All limits of one run: put in force, given to a server or taken by Dyno, and read at the end."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Collection, Generator, Mapping, Sequence
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
    """Limits of a run, as a context manager: inside it they can be entered."""

    def __init__(
        self, asked: Sequence[Bound], where: LimitedPlace, devices: Mapping[str, str] | None = None
    ) -> None:
        """That of these limits; nothing is touched.

        Args:
            asked: The limits, at least one.
            where: Whom they hold for.
            devices: Block devices that those on I/O are for, with their ``major:minor``.

        Raises:
            UsageError: If this process cannot have such a group.
        """
        self.asked = asked
        self.where: LimitedPlace = where
        self._devices = dict(devices or {})
        self._places = places.find(_controllers(asked))
        self._groups: list[Group] = []
        self._notes: list[str] = []

    def __enter__(self) -> Confinement:
        """Makes the groups, and tries that a process can go there.

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
    def launch(self) -> tuple[str, ...]:
        """What a server's command line begins with, which puts it where the limits hold."""
        return self._launch() if self.where == "server" else ()

    def fitted(self, limits: Limits, total_bytes: int | None) -> Limits:
        """What an engine is given of the machine, within the limits of the run."""
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
        """Has the limits hold for Dyno's own process inside the block, if they are for it.

        Threads that were there before keep their processors; the other limits hold for all.

        Raises:
            UsageError: If it cannot go there.
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
        """Puts an engine's files out of the page cache, before it starts, if memory is limited.

        A page that is in the cache already is nobody's new memory: read again, it would not count.
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
        """The limit that the kernel killed a process for; None if it did not."""
        return self._memory_words if any(group.killed() for group in self._groups) else None

    def figures(self) -> Confined:
        """What was asked, and what it did so far."""
        found: dict[str, Any] = {}
        for group in self._groups:
            found |= group.figures()
        versions = [place.version for place in self._places]
        writes = any(bound.word.name.startswith("write_") for bound in self.asked)
        return Confined(
            where=self.where,
            version=max(versions, default=None),
            limits=limits_asked.as_record(self.asked),
            devices=tuple(self._devices),
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
        """Has a process of its own go there, which tells more than looking at rights."""
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
        """Starts who tells of it if Dyno is killed; returns what sends it home."""
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
    """The limits that a command line asks for, checked; nothing is touched. None without any.

    Args:
        texts: ``word=value``.
        where: Whom they hold for.
        paths: Where the data lies, or will.
        memory_bytes: The memory of this machine, if it is known.

    Raises:
        UsageError: One line on what cannot be.
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
