"""Even partitions: the partitions of a table have about the same size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dyno.config.units import bytes_text
from dyno.decide.advise.rule import Rule, Verdict, held
from dyno.decide.advise.sources import DSS, DYNO
from dyno.decide.advise.system import System, inapplicable

MOST = 4.0
_SMALL = 64_000_000


def _check(system: System) -> Iterable[Verdict]:
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    for table in system.catalog("tables").tables:
        if table.partition_of and table.bytes:
            sizes[table.partition_of].append(table.bytes)
    found = {name: each for name, each in sizes.items() if len(each) > 1 and sum(each) > _SMALL}
    if not found:
        raise inapplicable("no partitioned table has two partitions with data")
    for name, each in sorted(found.items()):
        mean, largest = sum(each) / len(each), max(each)
        yield held(
            largest <= MOST * mean,
            f"largest of {len(each)} partitions {bytes_text(largest)}, mean {bytes_text(mean)}",
            f"at most {MOST:g} times the mean",
            "# choose boundaries with equal numbers of rows: dyno layouts show partitioned-4",
        ).of(name)


RULE = Rule(
    name="even-partitions",
    area="storage",
    scope="database",
    severity="low",
    looks_at="sizes of the partitions of each table",
    wants=f"the largest at most {MOST:g} times the mean",
    why="Parallel work and volumes are as fast as the largest part. SQL Server fills the files of "
    "a group evenly for the same reason (trace flag 1117).",
    source=f"{DSS}, 7.3.1; {DYNO}",
    study="partitions",
    check=_check,
)
