"""Adds what sysstat recorded on a server's machine to a finished run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyno.agent.address import machine_name
from dyno.bundle.machines import at, split
from dyno.bundle.model import Run
from dyno.bundle.reader import Bundle
from dyno.bundle.tables import Table, to_arrow
from dyno.bundle.writer import file_error, write_atomically
from dyno.contracts.probe import Sample
from dyno.errors import UsageError
from dyno.safety import safefiles
from dyno.stages.observe.sysstat import Recorded, read

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Imported:
    """What was added.

    Attributes:
        machine: Name of the machine in the record.
        samples: Number of samples.
        moments: Number of times with samples.
        seconds: Length of the run that they cover.
    """

    machine: str
    samples: int
    moments: int
    seconds: float


def bring(
    bundle: Bundle,
    files: Sequence[Path],
    machine: str = "",
    offset_s: float = 0.0,
    *,
    replace: bool = False,
) -> Imported:
    """Adds recordings of one machine, from the time of the run, to its samples.

    Args:
        bundle: A finished run, whose server was on another machine.
        files: Recordings by iostat or sar (``stages.observe.sysstat``).
        machine: The machine's name in the record; by default its own.
        offset_s: Seconds that the machine's clock was ahead of the run's.
        replace: Whether samples of that machine are replaced.

    Raises:
        UsageError: If a file is not valid or none covers the run, the run is not finished or its
            server ran on this machine, or there are samples of the machine.
        DiskFullError, TargetError: If the bundle cannot be written.
    """
    run = bundle.run
    known = [read(path) for path in files]
    names = {machine_name(machine or one.machine) for one in known}
    if len(names) > 1:
        raise UsageError(f"The files come from several machines: {', '.join(sorted(names))}.")
    name = names.pop()
    targets = _targets(run, name)
    rows = _rows(run, known, name, offset_s)
    found = bundle.table("samples")
    old = [split(source).machine == name for source in found["source"].to_pylist()]
    if any(old) and not replace:
        raise UsageError(f"The run has samples of {name} already; use --yes to replace them.")
    _write(bundle.path, found, old, rows)
    cpus = next((one.processors for one in known if one.processors), None)
    facts = {} if cpus is None else {"cpu": {"logical": cpus, "usable": cpus}}
    machines = {**run.machines, name: {**facts, **run.machines.get(name, {})}}
    changed = run.model_copy(update={"targets": targets, "machines": machines})
    write_atomically(bundle.path / "run.json", changed.model_dump_json(indent=1))
    moments = sorted({row["t_ns"] for row in rows})
    return Imported(name, len(rows), len(moments), (moments[-1] - moments[0]) / 1e9)


def _targets(run: Run, name: str) -> dict[str, object]:
    """The targets of the run, those elsewhere on the machine."""
    if run.status == "running":
        raise UsageError(f"{run.run} is not finished.")
    elsewhere = {
        target: facts
        for target, facts in run.targets.items()
        if facts.place == "elsewhere" and facts.machine in {"", name}
    }
    if not elsewhere:
        raise UsageError(f"{run.run} has no unobserved server on another machine.")
    moved = {
        target: facts.model_copy(update={"machine": name}) for target, facts in elsewhere.items()
    }
    return {**run.targets, **moved}


def _rows(run: Run, known: Sequence[Recorded], name: str, offset_s: float) -> list[dict[str, Any]]:
    """The samples from the time of the run, on its clock, as rows in order."""
    ends = [phase.end_ns for phase in run.phases if phase.end_ns is not None]
    first, last = run.clock.unix_ns, max(ends, default=run.clock.unix_ns)
    shift_ns = round(offset_s * 1e9)
    moments: dict[int, dict[tuple[str, str, str], Sample]] = {}
    for one in known:
        for t_ns, samples in one.readings:
            if first < t_ns - shift_ns <= last:
                at_once = moments.setdefault(t_ns - shift_ns, {})
                for sample in samples:  # of several files the first counts
                    at_once.setdefault((sample.source, sample.subject, sample.metric), sample)
    if not moments:
        raise UsageError(
            "No file covers the time of the run. If the clocks of the machines differ, give "
            "--offset, the seconds that the server's clock was ahead."
        )
    return [
        {"t_ns": t_ns, **sample._asdict(), "source": at(sample.source, name)}
        for t_ns in sorted(moments)
        for sample in moments[t_ns].values()
    ]


def _write(folder: Path, found: pa.Table, old: Sequence[bool], rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "samples.parquet"
    kept = found.filter(pa.array([not one for one in old], pa.bool_()))
    try:
        with safefiles.replacing(path) as file:
            pq.write_table(pa.concat_tables([kept, to_arrow(rows, Table.SAMPLES)]), file,
                           compression="zstd")  # fmt: skip
    except OSError as error:
        raise file_error(error, path) from error
