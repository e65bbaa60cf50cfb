"""Writes the run bundle during a run. It is readable at any time, also after a kill."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

from pydantic_core import PydanticSerializationError, to_json

from dyno import __version__
from dyno.bundle import pieces
from dyno.bundle.detail import Detail, interruptible
from dyno.bundle.model import (
    Check,
    Clock,
    ClockCheck,
    CpuUse,
    Estimate,
    Finding,
    Phase,
    Run,
    TargetFacts,
    Validity,
)
from dyno.bundle.phases import kind_of
from dyno.bundle.tables import Table, spool_to_parquet
from dyno.errors import DiskFullError, DynoError, Interrupted, TargetError, UsageError
from dyno.safety import safefiles
from dyno.safety.text import require_text
from dyno.safety.unwritable import why

D = TypeVar("D", bound=Detail)


def _line(row: dict[str, Any]) -> bytes:
    """Encodes a row of a spool as JSON."""
    # A third of the time of json, which matters between two queries. Lone surrogates need json.
    try:
        return to_json(row) + b"\n"
    except PydanticSerializationError:
        return json.dumps(row).encode("ascii") + b"\n"


def write_atomically(path: Path, text: str) -> None:
    """Replaces ``path`` atomically: after a crash it holds the old or the new text, never a part.

    Raises:
        DiskFullError, TargetError: If it cannot be written.
        UsageError: If ``path`` exists and is not a regular file.
    """
    try:
        with safefiles.replacing(path) as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise file_error(error, path) from error


def write_judgement(
    bundle: Path, estimates: Iterable[Estimate], findings: Iterable[Finding]
) -> None:
    """Writes the results of analysis and verdict to a bundle.

    Raises:
        DiskFullError, TargetError: If it cannot be written.
    """
    for name, items in (("estimates", estimates), ("findings", findings)):
        text = json.dumps([item.model_dump() for item in items], indent=1)
        write_atomically(bundle / f"{name}.json", text)


def file_error(error: OSError, path: Path) -> DynoError:
    """Returns the one-line error for an operating-system error at ``path``."""
    if error.errno in (28, 122):  # ENOSPC, EDQUOT
        return DiskFullError(f"No space left while writing {path}; free some or give --out DIR.")
    return TargetError(f"Cannot write {path}: {why(error, path)}.", kind="io")


RESERVE_BYTES = 8 << 20
"""Space reserve for the end of a run, so that a bundle can be closed on a full disk."""


def _fill(path: Path, size: int) -> None:
    try:
        with safefiles.append(path, new=True) as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        raise file_error(error, path) from error


def _append(file: BinaryIO, lines: bytes) -> None:
    """Appends all of ``lines`` or, after an error, nothing, so that later lines stay whole."""
    start = os.fstat(file.fileno()).st_size
    try:
        # A nearly full disk accepts a part and rejects the rest.
        while lines:
            lines = lines[file.write(lines) :]
    except BaseException:
        with contextlib.suppress(OSError):
            os.truncate(file.fileno(), start)
        raise


def new_run_id() -> str:
    """Returns a sortable name: UTC time in seconds, and the fraction as four hex digits."""
    seconds, rest_ns = divmod(time.time_ns(), 10**9)
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))
    return f"{moment}-{rest_ns * 0x10000 // 10**9:04x}"


def _make_folder(out: Path) -> Path:
    """Creates the folder of a new bundle. If the name exists, a slightly later time is used."""
    while True:
        path = out / new_run_id()
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            if not out.is_dir():
                raise
            continue
        (path / "ops").mkdir()
        return path


class CpuMeter(Protocol):
    """Attributes CPU time between two points in time. It never fails."""

    def begin(self) -> Any:
        """Returns the counters at the start; None if there are none."""
        ...

    def end(self, mark: Any) -> CpuUse | None:
        """Returns the CPU time used since the start."""
        ...


@dataclass
class Recording(Generic[D]):
    """A phase in progress.

    Attributes:
        detail: The detail to store at the end of the phase.
    """

    _recorder: Recorder
    _name: str
    detail: D

    def save_detail(self, detail: D) -> None:
        """Sets ``detail`` and saves it immediately, so that it survives a kill."""
        self.detail = detail
        self._recorder.save_detail(self._name, detail)


class Recorder:
    """Writes one bundle. Thread-safe. The bundle is readable after every method."""

    def __init__(
        self,
        out: Path,
        verb: str,
        plan: dict[str, Any],
        workloads: tuple[str, ...],
        notices: tuple[str, ...] = (),
    ) -> None:
        """Creates ``out/<run-id>/`` with its head and journal.

        Raises:
            UsageError: If the folder cannot be created, or its name is not UTF-8.
        """
        require_text(str(out.absolute()), str(Path.cwd()))
        self.clock = Clock.now()
        self._asleep_ns = _asleep_ns()
        try:
            self.path = _make_folder(out)
        except OSError as error:
            message = f"Cannot create a run in {out}: {why(error, out)}. Give another --out DIR."
            raise UsageError(message) from error
        self._reserve = self.path / ".reserve"
        try:
            _fill(self._reserve, RESERVE_BYTES)
        except DynoError:
            shutil.rmtree(self.path, ignore_errors=True)  # an empty bundle has no use
            raise
        self.meter: CpuMeter | None = None
        self._lock = threading.RLock()
        self._spools: dict[str, BinaryIO] = {}
        self._checks: list[Check] = []
        self._journal: BinaryIO = safefiles.append(self.path / "events.jsonl")
        self.run = Run(
            run=self.path.name,
            dyno=__version__,
            verb=verb,
            workloads=workloads,
            plan=plan,
            clock=self.clock,
            notices=notices,
        )
        self._save()
        self.event("run-started", verb=verb, plan=plan)

    def event(self, name: str, **fields: Any) -> None:
        """Appends one line to the journal durably."""
        line = json.dumps({"t_ns": self.clock.unix_now_ns(), "event": name, **fields}, default=str)
        with self._lock:
            try:
                _append(self._journal, f"{line}\n".encode())
                os.fsync(self._journal.fileno())
            except OSError as error:
                raise file_error(error, self.path / "events.jsonl") from error

    def update(self, **fields: Any) -> None:
        """Replaces fields of the head and saves it."""
        with self._lock:
            self.run = self.run.model_copy(update=fields)
            self._save()

    def set_host(self, host: dict[str, Any]) -> None:
        """Stores the facts of the machine."""
        self.update(host=host)

    def set_target(self, name: str, facts: TargetFacts) -> None:
        """Stores the facts and settings of a target."""
        with self._lock:
            self.update(targets={**self.run.targets, name: facts})

    @contextlib.contextmanager
    def phase(
        self, name: str, title: str, detail: D, target: str | None = None
    ) -> Generator[Recording[D]]:
        """Records a phase of the run with this type of detail.

        ``detail`` holds the facts known at the start. The ``detail`` of the yielded recording at
        the end is stored.

        An exception ends the phase as ``interrupted`` or ``failed`` and propagates.

        Raises:
            ValueError: If the bundle has a phase of that name, because metrics of both phases would
                share their names.
        """
        if any(known.name == name for known in self.run.phases):
            raise ValueError(f"The run already has a phase called {name}.")
        recording = Recording(self, name, detail)
        meter = self.meter
        mark = None if meter is None else meter.begin()
        start = self.clock.unix_now_ns()
        phase = Phase(
            name=name,
            title=title,
            kind=kind_of(type(detail)),
            target=target,
            start_ns=start,
            detail=detail,
        )
        status = "done"
        try:
            self.event("phase-started", phase=name, title=title)
            self._put_phase(phase)
            yield recording
        except (KeyboardInterrupt, Interrupted):
            status = "interrupted"
            raise
        except BaseException:
            status = "failed"
            raise
        finally:
            last = recording.detail
            ended = {"end_ns": self.clock.unix_now_ns(), "status": status, "detail": last}
            cpu = None if meter is None or mark is None else meter.end(mark)
            self._put_phase(phase.model_copy(update={**ended, "cpu": cpu}))
            stored = interruptible(lambda: last.model_dump(mode="json"))
            self.event("phase-ended", phase=name, status=status, detail=stored)

    def save_detail(self, name: str, detail: Detail) -> None:
        """Saves the known detail of the active phase ``name``, so that it survives a kill."""
        with self._lock:
            phase = next(known for known in self.run.phases if known.name == name)
            self._put_phase(phase.model_copy(update={"detail": detail}))

    def add(self, table: str, rows: Iterable[dict[str, Any]]) -> None:
        """Appends rows to the spool of a table such as ``samples``, down to the kernel."""
        lines = b"".join([_line(row) for row in rows])
        if not lines:
            return
        with self._lock:
            try:
                file = self._spools.get(table)
                if file is None:
                    file = self._spools[table] = safefiles.append(self.spool(table))
                _append(file, lines)
            except OSError as error:
                raise file_error(error, self.spool(table)) from error

    def spool(self, table: str) -> Path:
        """Returns the spool file of a table. The Rust engines append to it directly."""
        return self.path / f"{table}.jsonl"

    def rotate(self, table: str, compress: Callable[[Path, str], None] = pieces.compress) -> None:
        """Converts the rows of a table so far to a Parquet piece, which takes less space.

        Args:
            table: The table.
            compress: Converts a piece; called without the lock, so that rows can be added.

        Raises:
            DiskFullError, TargetError: If it cannot be written. The rows remain readable.
        """
        spool = self.spool(table)
        try:
            with self._lock:
                file = self._spools.pop(table, None)
                if file is None:
                    return
                file.close()
                piece = pieces.add(self.path, table, spool)
            compress(piece, table)
        except OSError as error:
            raise file_error(error, spool) from error

    def add_checks(self, checks: Iterable[Check]) -> None:
        """Adds checks to ``checks.json``."""
        with self._lock:
            self._checks.extend(checks)
            text = json.dumps([check.model_dump() for check in self._checks], indent=1)
            write_atomically(self.path / "checks.json", text)

    @property
    def checks(self) -> list[Check]:
        """Returns the checks so far."""
        with self._lock:
            return list(self._checks)

    def cut_checks(self, count: int) -> list[Check]:
        """Truncates ``checks.json`` to the first ``count`` checks and returns the others."""
        with self._lock:
            kept, cut = self._checks[:count], self._checks[count:]
            self._checks = kept
            if cut:
                self.add_checks(())
            return cut

    def close_spools(self) -> None:
        """Closes the files of all tables. Later rows reopen them."""
        with self._lock:
            for file in self._spools.values():
                file.close()
            self._spools.clear()

    def finish(self, status: str, error: str | None = None) -> None:
        """Converts the spools to Parquet and closes the record of observations.

        The verdict follows and only adds ``estimates.json`` and ``findings.json``.

        Raises:
            DiskFullError, TargetError: If a table or the head cannot be written.
            UsageError: If a table is damaged. It stays as it is; the others and the head are saved.
        """
        with self._lock:
            self._reserve.unlink(missing_ok=True)
            self.close_spools()
            fault = self._convert()
            if fault is not None and error is None:
                status, error = "failed", str(fault)
            # An interrupt can arrive between the end of a phase and its record.
            end = {"end_ns": self.clock.unix_now_ns(), "status": status}
            phases = [
                phase if phase.end_ns is not None else phase.model_copy(update=end)
                for phase in self.run.phases
            ]
            self.run = self.run.model_copy(
                update={
                    "status": status,
                    "error": error,
                    "phases": tuple(phases),
                    "clock_check": self._clock_check(),
                }
            )
            self._save()
            self.event("run-ended", status=status, error=error)
            if fault is not None:
                raise fault

    def _convert(self) -> DynoError | None:
        """Converts all tables that it can to Parquet; returns the first error."""
        faults: list[DynoError] = []

        def attempt(convert: Callable[[], object], spool: Path) -> None:
            try:
                convert()
            except OSError as error:
                faults.append(file_error(error, spool))
            except UsageError as error:
                faults.append(error)

        for table in (joined := pieces.tables(self.path)):
            attempt(partial(pieces.join, self.path, table), self.spool(table))
        for spool in sorted(self.path.rglob("*.jsonl")):
            name = spool.relative_to(self.path).with_suffix("").as_posix()
            # What could not be joined stays in pieces, which its table is read from.
            if name != "events" and name not in joined and spool.parent.name != pieces.FOLDER:
                attempt(partial(spool_to_parquet, spool, Table.of(name)), spool)
        return faults[0] if faults else None

    def judge(
        self, validity: Validity, estimates: Iterable[Estimate], findings: Iterable[Finding]
    ) -> None:
        """Stores the results of analysis and verdict."""
        write_judgement(self.path, estimates, findings)
        self.update(validity=validity)

    def close(self) -> None:
        """Closes the journal."""
        with self._lock:
            self._journal.close()

    def _clock_check(self) -> ClockCheck:
        set_ns = time.time_ns() - self.clock.unix_now_ns()
        before, now = self._asleep_ns, _asleep_ns()
        asleep_s = None if before is None or now is None else (now - before) / 1e9
        # Wall time continues during suspend: that is not a step of the clock.
        return ClockCheck(set_s=set_ns / 1e9 - (asleep_s or 0.0), asleep_s=asleep_s)

    def _put_phase(self, phase: Phase) -> None:
        with self._lock:  # phases of several threads may overlap
            others = [old for old in self.run.phases if old.name != phase.name]
            self.update(phases=(*others, phase))

    def _save(self) -> None:
        text = interruptible(lambda: self.run.model_dump_json(indent=1))
        write_atomically(self.path / "run.json", text)


def _asleep_ns() -> int | None:
    """Returns the suspend time since boot in ns; None if the system does not report it."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return None if clock is None else time.clock_gettime_ns(clock) - time.monotonic_ns()
