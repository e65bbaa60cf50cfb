"""The size of a day of samples, and what writing it costs, from the series of a real recording.

An hour at 1 s is made up and written as `dyno watch` writes it: pieces of ten minutes, then joined;
a day has 24 of it. Each series takes its values at random from the recorded ones. Values that vary
get 1 % of noise, so that no number is repeated that the machine would not repeat; the series of
each device are there for 20 volumes.
`python benches/day.py SAMPLES`, the table `samples` of a run, as JSON lines or Parquet
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from dyno.bundle.tables import Table, read_table
from dyno.bundle.writer import Recorder

HOURS_A_DAY, PIECES, PIECE_S, VOLUMES = 24, 6, 600, 20
START_NS = 1_760_000_000_000_000_000


def series(rows: Iterable[dict[str, Any]]) -> list[tuple[dict[str, Any], Any]]:
    """The texts of each series, with its recorded values; those of a device for each volume."""
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for row in rows:
        found[row["source"], row["subject"], row["metric"], row["unit"]].append(row["value"])
    device = next(iter(sorted(key[1] for key in found if key[0] == "disk")))
    every: list[tuple[dict[str, Any], Any]] = []
    for (source, subject, metric, unit), values in found.items():
        if source in ("disk", "nested_disk") and (source, subject) != ("disk", device):
            continue
        copies = [f"nvme{at}n1" for at in range(VOLUMES)] if source == "disk" else [subject]
        for one in copies:
            texts = {"source": source, "subject": one, "metric": metric, "unit": unit}
            every.append((texts, np.array(values)))
    return every


def measure(rows: Iterable[dict[str, Any]]) -> str:
    """Writes the hour; returns sizes and times of a day in words."""
    every, chance = series(rows), np.random.default_rng(1)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        recorder = Recorder(Path(folder), "watch", {}, ())
        rotating = 0.0
        for piece in range(PIECES):
            late = chance.exponential(2e-4, PIECE_S) * 1e9
            times = START_NS + (piece * PIECE_S + np.arange(PIECE_S)) * 10**9 + late.astype(int)
            columns = [_made(values, chance) for _, values in every]
            for at, t_ns in enumerate(times.tolist()):
                recorder.add("samples", (
                    {"t_ns": t_ns, **texts, "value": column[at]}
                    for (texts, _), column in zip(every, columns, strict=True)
                ))  # fmt: skip
            start = time.process_time()
            recorder.rotate("samples")
            rotating += time.process_time() - start
        waiting = sum(one.stat().st_size for one in (recorder.path / "pieces").iterdir())
        start, cpu = time.perf_counter(), time.process_time()
        recorder.finish("done")
        took, cpu = time.perf_counter() - start, time.process_time() - cpu
        size = (recorder.path / "samples.parquet").stat().st_size
        recorder.close()
    day = HOURS_A_DAY
    return (f"{len(every)} series: {day * size / 1e6:.0f} MB a day ({day * waiting / 1e6:.0f} MB "
            f"before it is joined); writing {rotating / PIECES:.2f} s of CPU every ten minutes, "
            f"joining {day * took:.0f} s ({day * cpu:.0f} s of CPU)")  # fmt: skip


def _made(values: Any, chance: np.random.Generator) -> list[float]:
    found = chance.choice(values, PIECE_S)
    if (values == np.round(values)).all():
        return found.tolist()
    return (found * (1 + 0.01 * chance.standard_normal(PIECE_S))).tolist()


def main() -> None:
    path = Path(sys.argv[1])
    print(measure(read_table(path.parent, path.stem, Table.SAMPLES).to_pylist()))


if __name__ == "__main__":
    main()
