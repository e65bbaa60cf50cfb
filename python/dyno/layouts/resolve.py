"""A layout fitted to a workload: names checked, bounds typed, partitions written out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any

from dyno import workloads
from dyno.contracts import schema
from dyno.contracts.layout import TABLESPACE, IndexDesign, Layout, TableDesign
from dyno.contracts.workload import Workload
from dyno.errors import UsageError, nearest
from dyno.layouts import bounds as ranges
from dyno.layouts import spec


def resolve(
    text: str,
    workload: str,
    scale: float,
    indexes: Iterable[str] = (),
    days: int | None = None,
) -> Layout:
    """The layout that ``text`` names (a preset or a file) for a workload at a scale.

    Args:
        text: What names it.
        workload: The workload.
        scale: The scale of its data.
        indexes: Added to its own, each as ``TABLE:COLUMN,COLUMN``.
        days: Initial days of the data; None for the workload's usual number.

    Raises:
        UsageError: One line on what is wrong, with the nearest right name.
    """
    name, source, written = spec.read(text)
    resolver = Resolver(name, source, workloads.get(workload), scale, days)
    return resolver.layout(extra(written, indexes))


def extra(written: spec.Spec, indexes: Iterable[str]) -> spec.Spec:
    """A layout with more indexes, each as ``TABLE:COLUMN,COLUMN``.

    Raises:
        UsageError: If one is written in another way.
    """
    tables = dict(written.tables)
    for text in indexes:
        table, _, listed = text.partition(":")
        columns = [column.strip() for column in listed.split(",")]
        if not table or not all(columns):
            raise UsageError(f"'{text}' is not TABLE:COLUMN,COLUMN, such as orders:o_orderdate.")
        old = tables.get(table, spec.TableSpec())
        more = spec.IndexSpec(columns=columns)
        tables[table] = old.model_copy(update={"indexes": [*old.indexes, more]})
    return written.model_copy(update={"tables": tables})


def place(volume: str, where: str, *, folder: bool = False) -> str:
    """A volume as it is written: the full path of a folder, or a tablespace unless ``folder``.

    Raises:
        UsageError: If it is neither; ``where`` says what of.
    """
    if volume.startswith(TABLESPACE) and len(volume) > len(TABLESPACE) and not folder:
        return volume
    if PureWindowsPath(volume).is_absolute():  # on the machine of a server
        return volume
    path = Path(volume).expanduser()
    if not path.is_absolute():
        also = "" if folder else f", or {TABLESPACE}NAME for an existing tablespace"
        raise UsageError(f"{where} is '{volume}'; use the absolute path of a folder{also}.")
    return str(path)


class Resolver:
    """Fits one layout to one workload."""

    def __init__(
        self, name: str, source: str, workload: Workload, scale: float, days: int | None = None
    ) -> None:
        self._name, self._source = name, source
        self._workload, self._scale, self._days = workload, scale, days
        self._tables = {table["name"]: table for table in schema.tables(workload.name)}

    def layout(self, written: spec.Spec) -> Layout:
        """The whole layout.

        Raises:
            UsageError: If a name, bound or volume is wrong.
        """
        for table in written.tables:
            self._known("table", table, self._tables, f"tables.{table}")
        designs = {
            table: self._table(table, written.tables.get(table, spec.TableSpec()), written)
            for table in self._tables
        }
        layout = Layout(
            name=self._name,
            source=self._source,
            workload=self._workload.name,
            indexes=written.indexes,
            tables={name: design for name, design in designs.items() if design != TableDesign()},
            data=self._volume(written.volumes.data, "volumes.data"),
            log=self._volume(written.volumes.log, "volumes.log", folder=True),
            temp=self._volume(written.volumes.temp, "volumes.temp"),
            preallocate_bytes=round((written.preallocate_gb or 0) * 1e9),
        )
        self._require_own_names(layout)
        return layout

    def _table(self, table: str, written: spec.TableSpec, whole: spec.Spec) -> TableDesign:
        where = f"tables.{table}"
        cut = self._partitions(table, written.partition) if written.partition else {}
        return TableDesign(
            form=written.form or whole.form,
            compression=written.compression or whole.compression,
            cluster=self._columns(table, written.cluster, f"{where}.cluster"),
            indexes=tuple(
                self._index(table, index, f"{where}.indexes[{number}]")
                for number, index in enumerate(written.indexes)
            ),
            volume=self._volume(written.volume, f"{where}.volume"),
            **cut,
        )

    def _partitions(self, table: str, written: spec.PartitionSpec) -> dict[str, Any]:
        where = f"tables.{table}.partition"
        column = self._column(table, written.column, f"{where}.column")
        kind = column["kind"]
        if column["nullable"]:
            raise self._wrong(
                f"{where}.column: {written.column} is nullable, and NULL is in no range; use "
                "another column."
            )
        if (written.count is None) == (written.bounds is None):
            raise self._wrong(f"{where}: set either count or bounds.")
        volumes = [
            self._volume(volume, f"{where}.volumes[{number}]") or ""
            for number, volume in enumerate(written.volumes)
        ]
        try:
            if written.bounds is not None:
                found = [
                    ranges.typed(kind, value, f"{where}.bounds[{number}]")
                    for number, value in enumerate(written.bounds)
                ]
                ranges.require_order(found, f"{where}.bounds")
            else:
                found = self._spread(table, written)
        except UsageError as error:
            raise self._wrong(str(error)) from error
        return {
            "partition_by": written.column,
            "bounds": tuple(map(ranges.text, found)),
            "side": written.side,
            "partitions": ranges.cut(table, kind, found, written.side, volumes),
        }

    def _spread(self, table: str, written: spec.PartitionSpec) -> list[ranges.Bound]:
        where = f"tables.{table}.partition.count"
        known = self._workload.ranges.get((table, written.column))
        if known is None:
            columns = ", ".join(name for of, name in self._workload.ranges if of == table)
            raise UsageError(
                f"{where}: Dyno does not know the range of "
                f"{written.column}{f' (known: {columns})' if columns else ''}; set bounds."
            )
        low, high = known(self._scale, self._days)
        return ranges.spread(low, high, written.count or 0, where)

    def _index(self, table: str, written: spec.IndexSpec, where: str) -> IndexDesign:
        columns = self._columns(table, written.columns, f"{where}.columns")
        return IndexDesign(
            name=written.name or f"{table}_by_{'_'.join(columns)}"[:50],
            columns=columns,
            form=written.form,
        )

    def _columns(self, table: str, names: Sequence[str], where: str) -> tuple[str, ...]:
        for number, name in enumerate(names):
            self._column(table, name, f"{where}[{number}]")
            if name in names[:number]:
                raise self._wrong(f"{where}[{number}] repeats {name}.")
        return tuple(names)

    def _column(self, table: str, name: str, where: str) -> dict[str, Any]:
        columns = {column["name"]: column for column in self._tables[table]["columns"]}
        self._known(f"column of {table}", name, columns, where)
        return columns[name]

    def _known(self, what: str, name: str, known: Iterable[str], where: str) -> None:
        words = list(known)
        if name not in words:
            raise self._wrong(f"{where}: unknown {what} '{name}'. {nearest(name, words)}")

    def _volume(self, volume: str | None, where: str, *, folder: bool = False) -> str | None:
        if volume is None:
            return None
        try:
            return place(volume, where, folder=folder)
        except UsageError as error:
            raise self._wrong(str(error)) from None

    def _require_own_names(self, layout: Layout) -> None:
        """Names of indexes are shared by all tables of a schema."""
        taken = {index.name for index in self._workload.indexes if layout.secondary}
        taken |= {f"{table}_pkey" for table in self._tables}
        for table, design in layout.tables.items():
            for number, index in enumerate(design.indexes):
                if index.name in taken:
                    raise self._wrong(
                        f"tables.{table}.indexes[{number}]: the name {index.name} is already in "
                        "use; "
                        "choose another."
                    )
                taken.add(index.name)

    def _wrong(self, message: str) -> UsageError:
        return UsageError(f"Layout {self._name}: {message}")
