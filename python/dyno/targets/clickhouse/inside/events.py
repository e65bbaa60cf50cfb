"""Probe ``database``: ClickHouse's event counters and memory.

``read_mbps`` and ``written_mbps`` are all bytes of files, spilled data included; ``temp_written``
is compressed. ``logical_mbps``: the columns that queries read, uncompressed. ClickHouse has no
cache of pages of its own, no log and no locks of rows, and chdb has no list of waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dyno.bundle.inside import SOURCE, Inside
from dyno.contracts.probe import Sample
from dyno.targets.clickhouse.connection import ClickhouseConnection
from dyno.targets.counters import Counters
from dyno.targets.sessionprobe import Ask

_BYTES: Mapping[Inside, str] = {
    Inside.logical_mbps: "SelectedBytes",
    Inside.read_mbps: "ReadBufferFromFileDescriptorReadBytes",
    Inside.written_mbps: "WriteBufferFromFileDescriptorWriteBytes",
    Inside.temp_written: "ExternalProcessingCompressedBytesTotal",
}
_FILES = "ExternalProcessingFilesTotal"
_MEMORY = "MemoryTracking"
_EVENTS = ", ".join(f"'{name}'" for name in (*_BYTES.values(), _FILES))
_QUERY = (
    f"SELECT event, toInt64(value) FROM system.events WHERE event IN ({_EVENTS}) "  # noqa: S608
    f"UNION ALL SELECT metric, value FROM system.metrics WHERE metric = '{_MEMORY}' "
    "SETTINGS system_events_show_zero_values = 1"
)


def reader(target: str) -> Ask[ClickhouseConnection]:
    """A reader of the counters; rates cover the time since its previous reading.

    Args:
        target: The subject of its samples.
    """
    counters = Counters()

    def read(session: ClickhouseConnection, now_ns: int) -> Sequence[Sample]:
        shown = {str(name): float(value) for name, value in session.execute(_QUERY).rows}
        memory = shown.pop(_MEMORY, None)
        seconds, grown = counters.growth(now_ns, shown)
        # Right after a start the account may be below zero, until it is compared with the system's.
        values = {} if memory is None or memory <= 0 else {Inside.memory: memory}
        values |= {
            one: grown[name] / 1e6 / seconds for one, name in _BYTES.items() if name in grown
        }
        files = grown.get(_FILES)
        if files is not None:
            values[Inside.temp_files] = files / seconds
            if files > 0 and Inside.temp_written in values:
                written = values[Inside.temp_written] * 1e6
                values[Inside.temp_file] = written / values[Inside.temp_files]
        return [Sample(SOURCE, target, one, value, one.unit) for one, value in values.items()]

    return read
