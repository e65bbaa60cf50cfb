"""Stage: a workload's rows as files."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyno.bundle.columnar import FORMATS, Nowhere, is_device, write
from dyno.bundle.writer import file_error
from dyno.contracts.schema import table_names, tables
from dyno.errors import UsageError
from dyno.runtime.engine_calls import run_engine, watched
from dyno.runtime.progress import Progress
from dyno.safety.safefiles import replacing

if TYPE_CHECKING:
    from dyno import _core


WRITERS = 2
"""Columnar files that are encoded at the same time; each holds two row groups in memory."""


@dataclass(frozen=True)
class GeneratePlan:
    """What to write. ``part`` (from 1) restricts it to one of ``parts``.

    ``folder`` may be a device such as ``/dev/null``: rows are then formatted and not kept.
    """

    workload: str
    scale: float
    seed: int
    file_format: str
    folder: Path
    parts: int
    part: int | None
    threads: int
    replace: bool


def generate(plan: GeneratePlan, progress: Progress) -> dict[str, Any]:
    """Writes the files; each appears under its name only when it is whole.

    Returns:
        ``tables``: one dict a table with ``table``, ``rows``, ``bytes``, ``seconds``, ``files``.

    Raises:
        UsageError: If a file is there already and not ``replace``.
        DiskFullError: If the disk fills; the partial file is removed.
    """
    if plan.file_format in FORMATS:
        return _columnar(plan, progress)
    return run_engine(
        "generate",
        {
            "workload": plan.workload,
            "scale": plan.scale,
            "seed": plan.seed,
            "format": plan.file_format,
            "dir": str(plan.folder),
            "parts": plan.parts,
            "part": plan.part,
            "threads": plan.threads,
            "replace": plan.replace,
        },
        progress,
    )


def _columnar(plan: GeneratePlan, progress: Progress) -> dict[str, Any]:
    """Writes columnar files, the largest tables first and two at a time.

    One thread encodes a file: with the largest table alone, the other CPUs would wait for it.
    """
    from concurrent.futures import ThreadPoolExecutor

    from dyno import _core

    _core.prepare(plan.workload)  # while pyarrow is imported
    names = table_names(plan.workload)
    wanted = [plan.part] if plan.part is not None else list(range(1, plan.parts + 1))
    if not plan.replace and not is_device(plan.folder):
        for path in (_file(plan, table, part) for table in names for part in wanted):
            if path.exists():
                raise UsageError(f"{path} exists. Use --replace to overwrite it.")
    rows = {name: _core.rows(plan.workload, name, plan.scale, plan.seed)[0] for name in names}

    def work(control: _core.Control) -> list[dict[str, Any]]:
        control.set_total(sum(rows.values()) * len(wanted) // plan.parts)

        failures: list[BaseException] = []

        def table(name: str) -> dict[str, Any]:
            try:
                return _table(plan, name, wanted, control)
            except BaseException as error:
                failures.append(error)
                control.cancel()  # the other tables need not be finished
                raise

        with ThreadPoolExecutor(min(WRITERS, plan.threads)) as pool:
            largest_first = sorted(names, key=lambda name: -rows[name])
            jobs = {name: pool.submit(table, name) for name in largest_first}
        if failures:
            raise failures[0]  # the later ones are of tables that this one cancelled
        return [jobs[name].result() for name in names]

    return {"tables": watched(work, progress)}


def _table(
    plan: GeneratePlan, table: str, wanted: list[int], control: _core.Control
) -> dict[str, Any]:
    control.set_step(table)
    start = time.monotonic()
    written = [_write(plan, table, part, control) for part in wanted]
    return {
        "table": table,
        "rows": sum(rows for rows, _ in written),
        "bytes": sum(size for _, size in written),
        "seconds": time.monotonic() - start,
        "files": [_file(plan, table, part).name for part in wanted],
    }


def _file(plan: GeneratePlan, table: str, part: int) -> Path:
    stem = table if plan.parts == 1 else f"{table}.{part}"
    return plan.folder / f"{stem}.{plan.file_format}"


def _write(plan: GeneratePlan, table: str, part: int, control: _core.Control) -> tuple[int, int]:
    """One file, which appears under its name when it is whole; returns its rows and bytes."""
    import pyarrow as pa

    from dyno import _core

    stream = _core.arrow_stream(
        plan.workload, table, plan.scale, plan.seed, plan.threads, control, plan.parts, part
    )
    reader = pa.RecordBatchReader.from_stream(stream)
    columns = next(item["columns"] for item in tables(plan.workload) if item["name"] == table)
    prose = {column["name"] for column in columns if column["prose"]}
    if is_device(plan.folder):
        nowhere = Nowhere()
        rows = write(reader, nowhere, plan.file_format, prose)
        return rows, nowhere.count
    path = _file(plan, table, part)
    try:
        with replacing(path, follow=True, durable=False) as file:
            rows = write(reader, file, plan.file_format, prose)
        return rows, path.stat().st_size
    except OSError as error:
        raise file_error(error, path) from error
