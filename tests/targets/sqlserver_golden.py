"""Statements for SQL Server as files; ``python -m tests.targets.sqlserver_golden`` writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from dyno import workloads
from dyno.contracts import schema
from dyno.contracts.flash import Part, Wanted
from dyno.contracts.layout import Layout
from dyno.contracts.partitioning import Cut, Stored
from dyno.layouts.resolve import Resolver
from dyno.layouts.spec import parse, read
from dyno.layouts.spread import spread
from dyno.targets import parse as parse_url
from dyno.targets.sqlserver import (
    buildmemory,
    database,
    filegroups,
    flash,
    governor,
    logchain,
    partitions,
    readback,
    scoped,
    script,
    settling,
    sliding,
    state,
)
from dyno.targets.sqlserver.address import Address
from dyno.targets.sqlserver.connection import Session
from dyno.targets.sqlserver.filegroups import Primary
from dyno.targets.sqlserver.repartition import PARTITIONING
from dyno.targets.sqlserver.tempfiles import TempFile
from dyno.targets.sqlserver.tuning import (
    DURABILITY,
    GRANT,
    MAXDOP,
    MEMORY,
    PAGE_VERIFY,
    RECOVERY,
    SNAPSHOT,
    TEMP_FILES,
    THRESHOLD,
)
from dyno.targets.window import WINDOW, slice_name
from tests.targets.sqlserver_recorder import SERVER_2022, Recorder

FOLDER = Path(__file__).parent / "golden" / "sqlserver"
COLLATION = "Latin1_General_100_BIN2_UTF8"
VOLUMES = tuple(f"/mnt/{letter}" for letter in "abcdefghij")

OWN: dict[str, tuple[str, str]] = {
    "columns-beside-rows": (
        "tpch",
        '[[tables.lineitem.indexes]]\ncolumns = ["l_partkey", "l_quantity", "l_shipdate"]\n'
        'form = "column"\n',
    ),
    "columns-ordered": (
        "tpch",
        '[tables.lineitem]\nform = "column"\ncluster = ["l_shipdate"]\n',
    ),
    "columns-partitioned": (
        "tpch",
        '[tables.lineitem]\nform = "column"\n[tables.lineitem.partition]\ncolumn = "l_shipdate"\n'
        "count = 4\n",
    ),
    "compression-page": ("tpch", 'compression = "page"\nindexes = "default+foreign"\n'),
    "preallocated": ("tpch", "preallocate_gb = 10.0\n"),
    "compression-row-heap": ("tpch", 'compression = "row"\nindexes = "none"\n'),
    "windows-volumes": (
        "tpch",
        "[volumes]\ndata = 'E:\\data'\nlog = 'F:\\log'\n",
    ),
}


def written(workload: str, name: str, text: str = "") -> Layout:
    """A layout of a preset, or of a text."""
    found = parse(name, text) if text else read(name)[2]
    return Resolver(name, "preset", workloads.get(workload), 8).layout(found)


def statements(wanted: Layout) -> list[str]:
    """All statements of a load, from the database to statistics, and those that undo ranges."""
    workload, tables = wanted.workload, schema.tables(wanted.workload)
    found = database.created(workload, SERVER_2022, wanted, Primary(_data_folder(wanted)))
    found += script.statements(SERVER_2022, workload, wanted)
    found += partitions.drop([table["name"] for table in tables if _cut(wanted, table)])
    return [one for one in found if not one.startswith("--")]


def _data_folder(wanted: Layout) -> str:
    windows = any(":" in volume for volume in wanted.data_volumes())
    return "C:\\data" if windows else "/var/opt/mssql/data"


def _cut(wanted: Layout, table: Mapping[str, Any]) -> bool:
    return bool(wanted.design(table["name"]).partitions)


def layouts() -> Iterator[tuple[str, Layout]]:
    """Layouts by the name of their file."""
    for preset in ("default", "bare", "clustered", "keys-foreign", "columnar-2", "column-index"):
        yield f"tpch-{preset}", written("tpch", preset)
    yield "tpch-partitioned-4", written("tpch", "partitioned-4")
    for count in (1, 3, 4, 5, 6):
        for preset in ("partitioned-4", "partitioned-8"):
            placed = spread(written("tpch", preset), VOLUMES[:count], 1)
            yield f"tpch-{preset}-on-{count}", placed
        yield f"tpcc-on-{count}", spread(written("tpcc", "default"), VOLUMES[:count], 8)
    for preset, count in (("trades-4", 6), ("trades-8", 10)):
        yield f"brokerage-{preset}", written("brokerage", preset)
        placed = spread(written("brokerage", preset), VOLUMES[:count], 8)
        yield f"brokerage-{preset}-on-{count}", placed
    yield "tpcc-warehouses-4", written("tpcc", "warehouses-4")
    yield "tpcc-warehouses-8", written("tpcc", "warehouses-8")
    for name, (workload, text) in OWN.items():
        yield f"{workload}-{name}", written(workload, name, text)


class _Window(sliding.SqlServerWindow):
    """The window without its first look at the tables."""

    def sizes(self) -> dict[str, int]:
        return {"lineitem": 1 << 30}


def window() -> list[str]:
    """Two partitions come into the window, and the first one goes."""
    recorder = Recorder()
    left = [(WINDOW, "dyno:tpch window"), (slice_name(2), "dyno:tpch window")]
    recorder.known = [
        ("SELECT COUNT_BIG", lambda _: [(1600,)]),
        ("SELECT o.name", lambda _: left),
        ("", lambda _: []),
    ]
    own = _Window(lambda: cast("Session", recorder), "tpch")
    own._create()  # pyright: ignore[reportPrivateUsage]
    for number in (1, 2):
        own.fill(number)
        own.attach(number)
    own.detach(1)
    own.drop(1)
    own.clear()
    own.close()
    return [text for text in recorder.sent if text != "SELECT COUNT_BIG(*) FROM [dbo].[lineitem]"]


def settings() -> list[str]:
    """Each setting, set and restored."""
    first = TempFile("tempdev", "T:\\tempdb.mdf", 1000 * 1024 + 64, 10, percent=True)
    large = replace(first, kib=3 << 30, most_kib=4 << 30)
    added = replace(first, name="dyno_temp_2", path="T:\\dyno_temp_2.ndf")
    now = state.State(temp_files=(first,))
    found: list[str] = []
    for name, value, before in (
        (state.ADVANCED, "1", "0"),
        (MEMORY, "4096", "2147483647"),
        (MAXDOP, "4", "0"),
        (THRESHOLD, "50", "5"),
        (state.GOVERNOR, "1", "0"),
        (GRANT, "12", "25"),
        (TEMP_FILES, "2", "1"),
    ):
        then = state.State(stored={name: value}, temp_files=(first, added))
        found += state.assign(name, "", value, now)
        found += state.restore(name, "", before, value, then)
    found += state.assign(TEMP_FILES, "", "2", state.State(temp_files=(large,)))
    for name, values in (
        (PAGE_VERIFY, ("CHECKSUM", "NONE", "TORN_PAGE_DETECTION")),
        (DURABILITY, ("FORCED", "DISABLED", "ALLOWED")),
        (RECOVERY, ("SIMPLE", "BULK_LOGGED", "FULL")),
        (SNAPSHOT, ("ON", "OFF")),
    ):
        found += [text for value in values for text in state.assign(name, "dyno_tpch", value, now)]
    return found


def reading() -> list[str]:
    """All that is read of a server: its settings, files and filegroups."""
    recorder = Recorder()
    recorder.known = []
    readback.settings(cast("Session", recorder))
    readback.counters(cast("Session", recorder))
    known: dict[str, tuple[float, ...]] = {
        r"SELECT MAX\(CAST\(max_target": (1,),
        r"SELECT CAST\(s\.request_max": (25, 25, 0),
        r"SELECT CAST\(c\.is_enabled": (0, 0, 0, 0),
    }
    recorder.known = [(pattern, lambda _, row=row: [row]) for pattern, row in known.items()]
    recorder.known.append(("", lambda _: []))
    state.read(cast("Session", recorder), [MEMORY, GRANT, TEMP_FILES, RECOVERY])
    recorder.version = replace(SERVER_2022, number=(14, 0, 3465, 1))
    state.read(cast("Session", recorder), [GRANT])
    governor.refusal(cast("Session", recorder))
    state.workspace_bytes(recorder)
    recorder.execute(settling.QUERY)
    recorder.execute(logchain.STARTED)
    recorder.execute(scoped.query("dyno_tpch"))
    state.staged(recorder)
    state.identity(recorder)
    recorder.execute(buildmemory.USED.format(57))
    filegroups.groups(recorder, "dyno_tpch")
    filegroups.files(recorder, "dyno_tpch")
    return recorder.sent


def moves() -> list[str]:
    """What moves tempdb and the log of a database onto flash, and back."""
    recorder = Recorder()
    recorder.known[:0] = [
        (r"SELECT DB_NAME\(\)", lambda _: [("dyno_tpch",)]),
        (r"SELECT CAST\(SERVERPROPERTY", lambda _: [("/var/opt/mssql/data/",)]),
    ]
    address = Address.parse(parse_url("mssql://dba@db1/dyno_tpch"))
    found: list[str] = []
    parts: tuple[Part, ...] = ("temp", "log")
    for part in parts:
        for there, wanted in (
            ("/var/opt/mssql/data", Wanted(part, "/flash")),
            (f"/flash/dyno_flash_{part}", Wanted(part, back=True)),
        ):
            recorder.temp = [("tempdev", f"{there}/tempdb.mdf", 8192, 8192, 0, None)]
            recorder.files = [("dyno_tpch_log", None, f"{there}/dyno_tpch_log.ldf", 64)]
            found += flash.planned(cast("Session", recorder), address, wanted).script
    return [one for one in found if not one.startswith("--")]


def repartitioned() -> list[str]:
    """The commands that advice prints."""
    cut = Cut(
        "[shop].[dbo].[sale]",
        "sold_on",
        ("'2024-01-01'", "'2025-01-01'"),
        3,
        {
            "sale_pkey": ("id", "sold_on"),
            "by_number": ("number", "sold_on"),
            "by_day": ("sold_on",),
        },
        ("sale_pkey", "by_number"),
        primary="sale_pkey",
        stored={
            "sale_pkey": Stored(clustered=False),
            "by_number": Stored(constraint=False),
            "by_day": Stored(clustered=True),
        },
        rows_in="by_day",
    )
    heap = Cut("[shop].[dbo].[note]", "made", ("10", "20"), 3)
    return [*PARTITIONING.commands(cut), *PARTITIONING.commands(heap)]


def cases() -> dict[str, Sequence[str]]:
    """All statements, by the name of their file."""
    found: dict[str, Sequence[str]] = {name: statements(one) for name, one in layouts()}
    found["sliding-window"] = window()
    found["settings"] = settings()
    found["reading"] = reading()
    found["repartition"] = repartitioned()
    found["moves"] = moves()
    return found


def text(statements: Sequence[str]) -> str:
    """The contents of a file: a batch after the other."""
    return "".join(f"{statement}\nGO\n" for statement in statements)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, found in cases().items():
        (FOLDER / f"{name}.sql").write_text(text(found), encoding="utf-8")
